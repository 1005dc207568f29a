//! The line about the search for a steady state.
//!
//! Must not know: directions. Start reading at [`write()`].

use crate::compat;
use crate::direction_block;
use crate::text::put;
use ferrio_spec::SteadyMetric;
use ferrio_stats::{ReportSettings, SteadySample, SteadyState};
use ferrio_units::scale::{PrefixSystem, Scaler};

/// Appends the line; none without a search. Figures are means over the window.
pub(super) fn write(out: &mut String, settings: &ReportSettings, state: Option<&SteadyState>) {
    let Some(state) = state else { return };
    let style = direction_block::style(settings.kb_base, settings.unit_bits, settings.significant_figures);
    let bytes_per_sec = state.mean(|sample| sample.bytes_per_sec);
    let kilo_per_sec = compat::steady_kilo_per_sec(bytes_per_sec, settings.kb_base);
    let scaled = |kb_base| {
        let scaler = Scaler::new(PrefixSystem::primary(kb_base), style.rate_unit()).with_digits(style.n_digits);
        scaler.from_kilo().scale(kilo_per_sec)
    };
    put!(
        out,
        "  steadystate  : attained={}, bw={} ({}), iops={}",
        if state.is_attained { "yes" } else { "no" },
        scaled(style.kb_base),
        scaled(style.kb_base.other()),
        style.count(state.mean(|sample| sample.ios_per_sec)),
    );
    let metric = match state.criterion.metric {
        SteadyMetric::Iops => "iops",
        SteadyMetric::Bw => "bw",
        SteadyMetric::Lat => {
            put!(out, ", lat={}usec", style.count(state.mean(SteadySample::mean_clat_ns) / 1_000));
            "lat"
        }
    };
    let kind = if state.criterion.is_slope { "slope" } else { "mean dev" };
    let percent = if state.criterion.is_percent { "%" } else { "" };
    put!(out, ", {metric} {kind}={:.3}{percent}\n", state.figure);
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_spec::SteadyCriterion;

    fn line(settings: &ReportSettings, criterion: (SteadyMetric, bool, bool), samples: &[(u64, u64, u128)]) -> String {
        let (metric, is_slope, is_percent) = criterion;
        let criterion = SteadyCriterion { metric, is_slope, limit: 9_000.0, is_percent };
        let mut state = SteadyState::new(criterion, samples.len() as u64, samples.len());
        for (ios_per_sec, bytes_per_sec, clat_sum_ns) in samples {
            let (ios_per_sec, bytes_per_sec, clat_sum_ns) = (*ios_per_sec, *bytes_per_sec, *clat_sum_ns);
            state.add(SteadySample { ios_per_sec, bytes_per_sec, clat_sum_ns, n_clats: 1 });
        }
        let mut out = String::new();
        write(&mut out, settings, Some(&state));
        out
    }

    /// Expected: lines of fio 3.41, from the samples in its JSON.
    #[test]
    fn lines_of_the_peer() {
        let bw = [(1001, 4_100_586, 0), (1001, 4_100_100, 0)];
        let plain = ReportSettings::default();
        let decimal = ReportSettings { kb_base: 1000, ..plain.clone() };
        let bits = ReportSettings { unit_bits: true, ..plain.clone() };
        let table = [
            (&decimal, (SteadyMetric::Bw, false, true), "bw=4100kB/s (4100KiB/s), iops=1001, bw mean dev=0.006%"),
            (&bits, (SteadyMetric::Bw, true, true), "bw=31.3Mibit/s (32.0Mbit/s), iops=1001, bw slope=-0.012%"),
            (&plain, (SteadyMetric::Bw, true, false), "bw=4004KiB/s (4004kB/s), iops=1001, bw slope=-486.000"),
        ];
        for (settings, criterion, expected) in table {
            assert_eq!(line(settings, criterion, &bw), format!("  steadystate  : attained=yes, {expected}\n"));
        }
    }

    #[test]
    fn latency_has_a_mean() {
        let text =
            line(&ReportSettings::default(), (SteadyMetric::Lat, false, true), &[(1, 4096, 12_000), (1, 4096, 13_800)]);
        let expected = "  steadystate  : attained=yes, bw=4KiB/s (4kB/s), iops=1, lat=12usec, lat mean dev=6.977%\n";
        assert_eq!(text, expected);
    }
}
