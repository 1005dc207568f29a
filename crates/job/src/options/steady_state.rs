//! The value of `steadystate`, and the checks of its options' combination.
//!
//! Must not know: when a job is steady. Start reading at [`criterion`], then [`refusal`].

use crate::compat;
use crate::error::JobError;
use crate::message::UserLine;
use crate::options::draft::{ApplyContext, Draft};
use crate::refused_value::RefusedValue;
use crate::value::Value;
use ferrio_spec::{JobSpec, SteadyCriterion, SteadyMetric, SteadyStateSpec};
use ferrio_units::KbBase;
use ferrio_units::value::{TimeUnit, parse_integer, parse_time_us};

/// Sets the criterion from `KIND:LIMIT[%]`.
pub(crate) fn criterion(draft: &mut Draft, value: &Value, context: &mut ApplyContext<'_>) -> Result<(), JobError> {
    let (metric, is_slope) = match value.word()? {
        "iops" => (SteadyMetric::Iops, false),
        "bw" => (SteadyMetric::Bw, false),
        "bw_slope" => (SteadyMetric::Bw, true),
        "lat" => (SteadyMetric::Lat, false),
        "lat_slope" => (SteadyMetric::Lat, true),
        _ => (SteadyMetric::Iops, true),
    };
    let text = value.rest().ok_or(RefusedValue::SteadyLimitMissing)?;
    let is_percent = text.ends_with('%');
    let limit = if is_percent {
        decimal(compat::without_percent_signs(text)).ok_or(RefusedValue::SteadyPercent)?
    } else {
        absolute(metric, text, draft.kb_base())?
    };
    draft.job.steady_state.criterion = SteadyCriterion { metric, is_slope, limit, is_percent };
    context.messages.parse(|| match metric {
        _ if is_percent => format!("set steady state threshold to {limit:.6}%"),
        SteadyMetric::Iops => format!("set steady state IOPS threshold to {limit:.6}"),
        SteadyMetric::Bw => format!("set steady state BW threshold to {limit:.0}"),
        SteadyMetric::Lat => format!("set steady state latency threshold to {} nsec", compat::leading_number(text)),
    });
    if metric == SteadyMetric::Lat && !is_percent && text != compat::leading_number(text) {
        context.messages.parse(|| format!("{text} is taken as {limit:.0} nsec"));
    }
    Ok(())
}

fn absolute(metric: SteadyMetric, text: &str, kb_base: KbBase) -> Result<f64, RefusedValue> {
    match metric {
        SteadyMetric::Iops => decimal(text).ok_or(RefusedValue::SteadyLimit("IOPS")),
        SteadyMetric::Bw => {
            parse_integer(text, kb_base).map(|bytes| bytes as f64).map_err(|_| RefusedValue::SteadyLimit("BW"))
        }
        SteadyMetric::Lat => latency_ns(text).ok_or(RefusedValue::SteadyLimit("latency")),
    }
}

fn decimal(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

/// A time with a unit, or nanoseconds.
fn latency_ns(text: &str) -> Option<f64> {
    match text.strip_suffix("ns").unwrap_or(text) {
        number if number.ends_with(|c: char| c.is_ascii_digit()) => decimal(number),
        text => {
            let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
            let is_unit = ["d", "h", "m", "s", "ms", "us"].iter().any(|known| unit.eq_ignore_ascii_case(known));
            let us = parse_time_us(text, TimeUnit::Microseconds).ok().filter(|_| is_unit);
            us.map(|us| us as f64 * 1_000.0)
        }
    }
}

/// The reason why window and interval are refused, if they are.
pub(crate) fn refusal(job: &JobSpec) -> Option<UserLine> {
    let SteadyStateSpec { duration_us, interval_us, criterion, .. } = job.steady_state;
    if duration_us == 0 {
        return None;
    }
    if interval_us < 1_000_000 {
        return Some(UserLine::named("ss_check_interval must be at least 1s"));
    }
    if criterion.metric == SteadyMetric::Lat && job.reporting.disable_clat {
        return Some(UserLine::named("steadystate needs the completion latencies that disable_clat leaves out"));
    }
    let is_window = duration_us > interval_us && duration_us.is_multiple_of(interval_us);
    (!is_window).then(|| {
        UserLine::named(format!("ss_duration {duration_us}us must be multiple of ss_check_interval {interval_us}us"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::draft_of;

    fn parsed(text: &str) -> Result<SteadyStateSpec, JobError> {
        draft_of(&[("ss", text)]).map(|draft| draft.job.steady_state)
    }

    // Expected values: `ss` in fio 3.41's report on such jobs. (fio 3.41 has no latency criteria; later versions do.)
    #[test]
    fn kinds_and_limits() {
        use SteadyMetric::{Bw, Iops, Lat};
        for (text, metric, is_slope, limit, is_percent) in [
            ("iops:50%", Iops, false, 50.0, true),
            ("iops:50%%", Iops, false, 50.0, true),
            ("iops_slope:0.01%", Iops, true, 0.01, true),
            ("iops:1e3", Iops, false, 1000.0, false),
            ("iops:-1", Iops, false, -1.0, false),
            ("bw:1k", Bw, false, 1024.0, false),
            ("bw_slope:2m", Bw, true, 2_097_152.0, false),
            ("bw:1500000k", Bw, false, 1_536_000_000.0, false),
            ("bw_slope:90%", Bw, true, 90.0, true),
            ("lat:3%", Lat, false, 3.0, true),
            ("lat:20us", Lat, false, 20_000.0, false),
            ("lat_slope:1ms", Lat, true, 1_000_000.0, false),
            ("lat:500ns", Lat, false, 500.0, false),
            ("lat:500", Lat, false, 500.0, false),
        ] {
            let expected = SteadyCriterion { metric, is_slope, limit, is_percent };
            assert_eq!(parsed(text).unwrap().criterion, expected, "{text}");
        }
    }

    // Expected values: texts as fio 3.41 prints them, except for latencies, and for text that is no number or comes
    // after one, which fio ignores.
    #[test]
    fn bad_limits_are_explained() {
        for (text, line) in [
            ("iops", "fio: steadystate threshold must be specified in addition to criterion"),
            ("iops:", "fio: steadystate IOPS threshold postfix parsing failed"),
            ("iops:abc", "fio: steadystate IOPS threshold postfix parsing failed"),
            ("iops:2k", "fio: steadystate IOPS threshold postfix parsing failed"),
            ("iops:inf", "fio: steadystate IOPS threshold postfix parsing failed"),
            ("bw_slope:1.5", "fio: steadystate BW threshold postfix parsing failed"),
            ("bw:abc", "fio: steadystate BW threshold postfix parsing failed"),
            ("iops:%%", "fio: could not parse steadystate threshold percentage"),
            ("bw_slope:x5%", "fio: could not parse steadystate threshold percentage"),
            ("lat:soon", "fio: steadystate latency threshold postfix parsing failed"),
            ("lat:1%x", "fio: steadystate latency threshold postfix parsing failed"),
            ("lat:1sec", "fio: steadystate latency threshold postfix parsing failed"),
        ] {
            assert_eq!(parsed(text).unwrap_err().line(), line, "{text}");
        }
        assert!(matches!(parsed("foo:1"), Err(JobError::UnknownWord(_))));
    }

    #[test]
    fn windows_are_several_intervals() {
        let steady = |duration_us, interval_us| {
            let mut job = Draft::new().job;
            (job.steady_state.duration_us, job.steady_state.interval_us) = (duration_us, interval_us);
            refusal(&job).is_none()
        };
        for (duration_us, interval_us, expected) in [
            (0, 1_000_000, true),
            (0, 10, true),
            (2_000_000, 1_000_000, true),
            (1_000_000, 1_000_000, false),
            (2_500_000, 1_000_000, false),
            (6_000_000, 3_000_000, true),
            (2_000_000, 500_000, false),
            (500_000, 1_000_000, false),
        ] {
            assert_eq!(steady(duration_us, interval_us), expected, "{duration_us} {interval_us}");
        }
        let mut blind = Draft::new().job;
        (blind.steady_state.duration_us, blind.steady_state.criterion.metric) = (2_000_000, SteadyMetric::Lat);
        assert_eq!(refusal(&blind), None);
        blind.reporting.disable_clat = true;
        assert!(refusal(&blind).is_some());
    }
}
