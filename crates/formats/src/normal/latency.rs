//! A latency line: `clat (usec): min=.., max=.., avg=.., stdev=..`.
//!
//! Must not know: directions. Start reading at [`write()`].

use crate::text::put;
use ferrio_stats::LatencyStat;
use ferrio_units::scale::{PrefixSystem, ScaleUnit, Scaler};

/// Extremes have six digits, independent of `significant_figures`.
const EXTREMES: Scaler = Scaler::new(PrefixSystem::Si, ScaleUnit::None).with_digits(6);

/// Appends the line of a latency; none without samples.
pub(super) fn write(out: &mut String, name: &str, stat: &LatencyStat) {
    if stat.n_samples == 0 {
        return;
    }
    let deviation_ns = stat.standard_deviation_ns();
    let (divisor, unit) = unit_of(stat.min_ns, stat.max_ns, deviation_ns);
    put!(
        out,
        "    {name:>4} ({unit}): min={}, max={}, avg={:5.2}, stdev={:5.2}\n",
        EXTREMES.scale(stat.min_ns / divisor),
        EXTREMES.scale(stat.max_ns / divisor),
        stat.mean_ns() / divisor as f64,
        deviation_ns / divisor as f64
    );
}

/// Unit of a line in nanoseconds, and its name. A larger unit is used only if all three figures are large enough.
fn unit_of(min_ns: u64, max_ns: u64, deviation_ns: f64) -> (u64, &'static str) {
    if min_ns > 2_000_000 && max_ns > 99_999_999 && deviation_ns > 1_000_000.0 {
        (1_000_000, "msec")
    } else if min_ns > 2_000 && max_ns > 99_999 && deviation_ns > 1_000.0 {
        (1_000, "usec")
    } else {
        (1, "nsec")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_three_must_be_large() {
        let table = [
            ((2_001, 100_000, 1_000.5), "usec"),
            ((2_000, 100_000, 1_000.5), "nsec"),
            ((2_001, 99_999, 1_000.5), "nsec"),
            ((2_001, 100_000, 1_000.0), "nsec"),
            ((2_000_001, 100_000_000, 1_000_000.5), "msec"),
            ((2_000_001, 100_000_000, 1_000_000.0), "usec"),
            ((2_000_000, 100_000_000, 1_000_000.5), "usec"),
        ];
        for ((min_ns, max_ns, deviation_ns), unit) in table {
            assert_eq!(unit_of(min_ns, max_ns, deviation_ns).1, unit, "{min_ns} {max_ns} {deviation_ns}");
        }
    }

    #[test]
    fn no_line_without_samples() {
        let mut out = String::new();
        write(&mut out, "clat", &LatencyStat::default());
        assert_eq!(out, "");
    }
}
