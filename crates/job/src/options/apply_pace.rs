//! Applies the options of rates and pauses to a draft, and refuses contradictory ones.
//!
//! Must not know: how values are parsed, how rates are kept. Start reading at [`rate`], then [`refusals`].

use crate::error::JobError;
use crate::message::UserLine;
use crate::options::draft::{ApplyContext, Draft};
use crate::value::Value;
use ferrio_spec::{CatchUp, JobSpec, PaceSpec, RateLatency, RateProcess};
use ferrio_units::PerDirection;

type Applied = Result<(), JobError>;
type Context<'a, 'b> = &'a mut ApplyContext<'b>;

pub(super) fn rate(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    set_given(&mut draft.job.pace.bytes_per_sec, value, |number| number as u64)
}

pub(super) fn rate_min(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    set_given(&mut draft.job.pace.min_bytes_per_sec, value, |number| number as u64)
}

/// The number has 32 bits, and wraps as such.
pub(super) fn rate_iops(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    set_given(&mut draft.job.pace.ios_per_sec, value, |number| number as u32)
}

pub(super) fn rate_iops_min(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    set_given(&mut draft.job.pace.min_ios_per_sec, value, |number| number as u32)
}

pub(super) fn rate_process(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.pace.process = if value.word()? == "poisson" { RateProcess::Poisson } else { RateProcess::Linear };
    Ok(())
}

pub(super) fn max_latency(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    set_given(&mut draft.job.latency.max_us, value, |number| number as u64)
}

pub(super) fn latency_percentile(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    let Value::Floats(list, _) = value else { return Err(JobError::NotParsed) };
    draft.job.latency.percentile = list.first().copied().ok_or(JobError::NotParsed)?;
    Ok(())
}

pub(super) fn rate_latency(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    let is_response = value.word()? == "response";
    draft.job.pace.latency = if is_response { RateLatency::Response } else { RateLatency::Issue };
    Ok(())
}

pub(super) fn rate_catch_up(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.open.catch_up = Some(if value.word()? == "paced" { CatchUp::Paced } else { CatchUp::Burst });
    Ok(())
}

pub(super) fn thinktime(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    let pauses = &mut draft.job.pace.pauses;
    pauses.drawn = if let Value::Drawn(drawn) = value { Some(*drawn) } else { None };
    pauses.pause_us = match pauses.drawn {
        Some(drawn) => drawn.mean_us(),
        None => u64::try_from(value.number()?).map_err(|_| JobError::NotParsed)?,
    };
    Ok(())
}

pub(super) fn runtime(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    let limits = &mut draft.job.limits;
    limits.runtime_drawn = if let Value::Drawn(drawn) = value { Some(*drawn) } else { None };
    limits.runtime_us = match limits.runtime_drawn {
        Some(drawn) => drawn.mean_us(),
        None => u64::try_from(value.number()?).map_err(|_| JobError::NotParsed)?,
    };
    Ok(())
}

pub(super) fn thinktime_blocks_type(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.pace.pauses.counts_issued = value.word()? == "issue";
    Ok(())
}

/// Sets the directions that the value has; the others keep their setting.
fn set_given<T>(rates: &mut PerDirection<T>, value: &Value, convert: impl Fn(i64) -> T) -> Applied {
    for (direction, given) in value.numbers()?.iter() {
        if let Some(number) = given {
            rates[direction] = convert(*number);
        }
    }
    Ok(())
}

/// Default of `catch_up`: fio's burst, but none in a job that measures from the intended start of I/Os at even distances. Users who come at random are not
/// spaced: what is spaced is not served as fast as the storage can.
pub(crate) fn catch_up(pace: &PaceSpec, given: Option<CatchUp>) -> CatchUp {
    let is_spaced = pace.limits_rates() && pace.latency == RateLatency::Response && pace.process == RateProcess::Linear;
    given.unwrap_or(if is_spaced { CatchUp::Paced } else { CatchUp::Burst })
}

/// Contradictions of rates, latencies and ramps in fio 3.41's words: one line per direction.
pub(crate) fn refusals(job: &JobSpec) -> Vec<UserLine> {
    let pace = &job.pace;
    if job.latency.target_us > 0 && job.latency.window_us == 0 {
        return vec![UserLine::named("latency_target needs latency_window")];
    }
    if job.limits.ramp_time_us > 0 && job.limits.ramp_bytes > 0 {
        return vec![UserLine::named("cannot specify both ramp_time and ramp_size")];
    }
    let is_set = |rates: &[u64]| rates.iter().any(|rate| *rate > 0);
    let ios = pace.ios_per_sec.0.map(u64::from);
    if is_set(&pace.bytes_per_sec.0) && is_set(&ios) {
        return vec![UserLine::named("rate and rate_iops are mutually exclusive")];
    }
    let needs_rate = [
        ("rate_latency=response", pace.latency == RateLatency::Response),
        ("rate_catch_up=paced", pace.catch_up == CatchUp::Paced),
    ];
    if !pace.limits_rates()
        && let Some((option, _)) = needs_rate.into_iter().find(|(_, is_set)| *is_set)
    {
        return vec![UserLine::named(format!("{option} needs rate or rate_iops"))];
    }
    if pace.latency == RateLatency::Response && job.reporting.gtod_reduce {
        return vec![UserLine::named("rate_latency=response and gtod_reduce are mutually exclusive")];
    }
    let exceeds = |rate: u64, min: u64| rate > 0 && min > rate;
    let is_wrong = |index: &usize| {
        exceeds(pace.bytes_per_sec.0[*index], pace.min_bytes_per_sec.0[*index])
            || exceeds(ios[*index], pace.min_ios_per_sec.0[*index].into())
    };
    (0..3).filter(is_wrong).map(|index| UserLine::named(format!("minimum rate exceeds rate, ddir {index}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::draft_of;

    fn job(options: &[(&str, &str)]) -> JobSpec {
        draft_of(options).unwrap().job
    }

    fn pace(options: &[(&str, &str)]) -> PaceSpec {
        job(options).pace
    }

    // Expected values: the directions that fio 3.41 limits, as seen from its I/O.
    #[test]
    fn directions_inherit_as_those_of_the_peer() {
        let rates = |text: &str| pace(&[("rate_iops", text)]).ios_per_sec.0;
        assert_eq!(rates("1000"), [1_000; 3]);
        assert_eq!(rates("1000,500"), [1_000, 500, 500]);
        assert_eq!(rates("1000,"), [1_000, 0, 0]);
        assert_eq!(rates(",500"), [0, 500, 500]);
        assert_eq!(rates("1k,,20"), [1_024, 0, 20]);
        assert_eq!(rates("-1"), [u32::MAX; 3]);
        assert_eq!(pace(&[("rate_iops", "1000"), ("rate_iops", ",500")]).ios_per_sec.0, [1_000, 500, 500]);
        assert_eq!(pace(&[("rate", "8g,1m")]).bytes_per_sec.0, [8 << 30, 1 << 20, 1 << 20]);
        assert_eq!(pace(&[("ratemin", "1m")]).min_bytes_per_sec.0, [1 << 20; 3]);
    }

    // Expected values: lines of fio 3.41.
    #[test]
    fn rates_that_contradict_each_other_are_refused() {
        let lines = |options: &[(&str, &str)]| refusals(&job(options));
        assert_eq!(
            lines(&[("rate", "1000"), ("rate_iops", "100")]),
            ["fio: rate and rate_iops are mutually exclusive"]
        );
        let exceeds = |index: u32| format!("fio: minimum rate exceeds rate, ddir {index}");
        assert_eq!(lines(&[("rate", "1000"), ("rate_min", "2000")]), [exceeds(0), exceeds(1), exceeds(2)]);
        assert_eq!(lines(&[("rate_iops", "1000,,20"), ("rate_iops_min", "5000,1")]), [exceeds(0)]);
        assert_eq!(lines(&[("rate_min", "2000")]), [""; 0]);
        assert_eq!(lines(&[("rate", "1000"), ("rate_min", "1000")]), [""; 0]);
    }

    #[test]
    fn a_response_needs_a_rate_and_stamps() {
        let lines = |options: &[(&str, &str)]| refusals(&job(options));
        let response = ("rate_latency", "response");
        assert_eq!(lines(&[response]), ["fio: rate_latency=response needs rate or rate_iops"]);
        assert_eq!(lines(&[response, ("rate", ",1m")]), [""; 0]);
        assert_eq!(
            lines(&[response, ("rate", "1m"), ("gtod_reduce", "1")]),
            ["fio: rate_latency=response and gtod_reduce are mutually exclusive"]
        );
    }

    #[test]
    fn contradictions_of_latencies_and_ramps_are_refused() {
        let lines = |options: &[(&str, &str)]| refusals(&job(options));
        assert_eq!(lines(&[("latency_target", "5ms")]), ["fio: latency_target needs latency_window"]);
        assert_eq!(lines(&[("latency_target", "5ms"), ("latency_window", "1s")]), [""; 0]);
        assert_eq!(
            lines(&[("ramp_time", "1"), ("ramp_size", "1m")]),
            ["fio: cannot specify both ramp_time and ramp_size"]
        );
        assert_eq!(lines(&[("ramp_size", "1m")]), [""; 0]);
    }

    #[test]
    fn the_last_thinktime_counts() {
        use ferrio_spec::DrawnTime::{Exponential, Uniform};
        let last = |texts: &[&'static str]| {
            let options: Vec<(&str, &str)> = texts.iter().map(|text| ("thinktime", *text)).collect();
            let pauses = pace(&options).pauses;
            (pauses.pause_us, pauses.drawn)
        };
        assert_eq!(last(&["exponential:2ms"]), (2_000, Some(Exponential { mean_us: 2_000 })));
        assert_eq!(last(&["7", "uniform:1ms-5ms"]), (3_000, Some(Uniform { low_us: 1_000, high_us: 5_000 })));
        assert_eq!(last(&["uniform:0-1"]), (1, Some(Uniform { low_us: 0, high_us: 1 })));
        assert_eq!(last(&["exponential:2ms", "7"]), (7, None));
    }

    #[test]
    fn limits_of_latencies_are_read() {
        let latency = job(&[("max_latency", "5ms,1s"), ("latency_percentile", "99.5"), ("latency_run", "1")]).latency;
        assert_eq!(latency.max_us.0, [5_000, 1_000_000, 1_000_000]);
        assert!((latency.percentile - 99.5).abs() < 1e-12 && latency.goes_on);
    }

    #[test]
    fn who_measures_from_the_intended_start_catches_up_in_its_time() {
        let lowered = |options: &[(&str, &str)], given| catch_up(&pace(options), given);
        let (rate, response) = (("rate_iops", "10"), ("rate_latency", "response"));
        assert_eq!(lowered(&[rate], None), CatchUp::Burst);
        assert_eq!(lowered(&[rate, response], None), CatchUp::Paced);
        assert_eq!(lowered(&[rate, response, ("rate_process", "poisson")], None), CatchUp::Burst);
        assert_eq!(lowered(&[rate, response], Some(CatchUp::Burst)), CatchUp::Burst);
        assert_eq!(lowered(&[rate], Some(CatchUp::Paced)), CatchUp::Paced);
    }
}
