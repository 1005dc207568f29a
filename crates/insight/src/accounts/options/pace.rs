//! Options about rates, pauses, latencies that are wanted, and steady states.
//!
//! Start reading at [`EFFECTS`].

use super::OptionEffect;
use crate::accounts::asked::{Asked, as_asked_if, not, of_asked, unseen};
use crate::audit_input::AuditedJob;
use crate::measures::paces::{RateCourse, RateUnit};
use crate::text;
use ferrio_stats::histogram::bucket_latency_ns;
use ferrio_stats::{LatencyStat, OptionOutcome};
use ferrio_units::DataDirection;

pub(super) const EFFECTS: &[OptionEffect] = &[
    OptionEffect::measured(&["rate", "rate_iops"], rates)
        .in_vain_if(|asked| rate_of_no_use(asked).or_else(|| beyond_pauses(asked))),
    OptionEffect::measured(&["rate_min", "rate_iops_min"], least_rates),
    // A job with a longer one fails.
    OptionEffect::measured(&["max_latency"], |_| OptionOutcome::AsAsked),
    OptionEffect::nowhere(
        &["rate_process", "rate_cycle", "rate_ignore_thinktime", "rate_catch_up"],
        "the times of single I/Os are not recorded",
    )
    .in_vain_if(rate_in_vain),
    OptionEffect::measured(
        &["thinktime", "thinktime_spin", "thinktime_blocks", "thinktime_blocks_type", "thinktime_iotime"],
        pauses,
    )
    .in_vain_if(|asked| {
        let pauses = &asked.spec().pace.pauses;
        let is_beside = asked.name != "thinktime" && pauses.pause_us == 0;
        let is_beyond = asked.name == "thinktime_spin" && pauses.drawn.is_none() && pauses.spin_us > pauses.pause_us;
        match () {
            () if is_beside => Some("there is no thinktime".to_owned()),
            () if is_beyond => Some(format!("the whole pause of {} us is spun, and no more", pauses.pause_us)),
            () => None,
        }
    }),
    OptionEffect::nowhere(&["thinkcycles"], "the loops of the CPU are not measured by themselves"),
    OptionEffect::measured(&["latency_target", "latency_window", "latency_percentile", "latency_run"], latency_target)
        .in_vain_if(search_in_vain),
    OptionEffect::nowhere(&["flow", "flow_sleep", "flow_watermark"], "the turns of the jobs are not recorded")
        .in_vain_if(flow_in_vain),
    OptionEffect::measured(
        &["steadystate", "steadystate_duration", "steadystate_ramp_time", "steadystate_check_interval"],
        steady_state,
    )
    .in_vain_if(|asked| match asked.name {
        "steadystate" if asked.spec().steady_state.duration_us == 0 => {
            Some("there is no steadystate_duration".to_owned())
        }
        "steadystate" | "steadystate_duration" if asked.is_given("steadystate") => never_steady(asked),
        _ => (!asked.is_given("steadystate")).then(|| "there is no steadystate".to_owned()),
    }),
];

/// A rate of I/Os that the pauses of the job do not let it reach, in one direction.
fn beyond_pauses(asked: &Asked<'_, '_>) -> Option<String> {
    let pauses = &asked.spec().pace.pauses;
    let is_plain = pauses.pause_us > 0 && pauses.drawn.is_none() && pauses.io_time_us == 0;
    let mut used = asked.used();
    let (direction, other) = (used.next()?, used.next());
    let pace = &asked.spec().pace;
    let largest_bytes = asked.spec().pattern.block_size[direction].max_bytes.max(1);
    let wanted = match asked.name {
        "rate_iops" => f64::from(pace.ios_per_sec[direction]),
        _ => pace.bytes_per_sec[direction] as f64 / largest_bytes as f64,
    };
    let n_ios = f64::from(pauses.n_ios.unwrap_or(1).max(1));
    let most = n_ios * 1e6 / pauses.pause_us.max(1) as f64;
    (is_plain && other.is_none() && wanted > most)
        .then(|| format!("thinktime allows no more than {} I/Os a second", text::short(most)))
}

/// The job has none of the directions that the rate limits.
fn rate_of_no_use(asked: &Asked<'_, '_>) -> Option<String> {
    let pace = &asked.spec().pace;
    let is_set = |direction: DataDirection| match asked.name {
        "rate_iops" => pace.ios_per_sec[direction] > 0,
        _ => pace.bytes_per_sec[direction] > 0,
    };
    let is_other = asked.spec().replay.is_set() || asked.spec().verify.is_some() || asked.job.engine.moves_nothing();
    let idle = DataDirection::ALL.into_iter().find(|direction| is_set(*direction))?;
    (!is_other && asked.value.contains(',') && !asked.used().any(is_set))
        .then(|| format!("it is for {}s, and the job has none: a comma divides reads, writes and trims", idle.name()))
}

/// A search for a depth that has no depths, or no time for a window.
fn search_in_vain(asked: &Asked<'_, '_>) -> Option<String> {
    let (latency, limits) = (&asked.spec().latency, &asked.spec().limits);
    let is_short = limits.runtime_us > 0 && limits.runtime_drawn.is_none() && limits.runtime_us < latency.window_us;
    let seconds = |us: u64| text::short(us as f64 / 1e6);
    match asked.name {
        "latency_target" if latency.target_us == 0 => None,
        _ if latency.target_us == 0 => Some("there is no latency_target".to_owned()),
        "latency_window" if is_short => Some(format!(
            "the job ends after {} s, before a window of {} s is over",
            seconds(limits.runtime_us),
            seconds(latency.window_us)
        )),
        // After the run it tells whether the target was met at this depth.
        "latency_target" if asked.case.is_before() && asked.spec().queue.iodepth == 1 => {
            Some("iodepth=1 leaves no depth to search for".to_owned())
        }
        _ => None,
    }
}

/// The runtime is over before the window of the steady state is full.
fn never_steady(asked: &Asked<'_, '_>) -> Option<String> {
    let (limits, steady) = (&asked.spec().limits, &asked.spec().steady_state);
    let needed_us = steady.duration_us.saturating_add(steady.ramp_us);
    let is_short = limits.runtime_us > 0 && limits.runtime_drawn.is_none() && limits.runtime_us < needed_us;
    is_short.then(|| {
        let seconds = |us: u64| text::short(us as f64 / 1e6);
        format!(
            "the job ends after {} s, before its window of {} s is full",
            seconds(limits.runtime_us),
            seconds(needed_us)
        )
    })
}

fn rate_in_vain(asked: &Asked<'_, '_>) -> Option<String> {
    let pace = &asked.spec().pace;
    let has_least = pace.min_bytes_per_sec.0.iter().any(|least| *least > 0)
        || pace.min_ios_per_sec.0.iter().any(|least| *least > 0);
    match asked.name {
        "rate_cycle" if has_least => None,
        _ if !pace.limits_rates() => Some("the job has no rate".to_owned()),
        "rate_ignore_thinktime" if asked.is_on() && !pace.pauses.is_set() => Some("there is no thinktime".to_owned()),
        _ => None,
    }
}

/// Turns are taken by several jobs.
fn flow_in_vain(asked: &Asked<'_, '_>) -> Option<String> {
    let flow = asked.spec().pace.flow;
    if flow.weight == 0 {
        return (asked.name != "flow" && asked.is_on()).then(|| "there is no flow".to_owned());
    }
    let mine = |job: &&AuditedJob<'_>| job.spec.pace.flow.weight > 0 && job.spec.pace.flow.id == flow.id;
    let n_workers: u32 = asked.case.jobs.iter().filter(mine).map(|job| job.n_clones).sum();
    (n_workers < 2).then(|| "no other job has its flow_id".to_owned())
}

/// Share of a rate from which on it is reached, and above which it is exceeded.
const ENOUGH: f64 = 0.95;
const TOO_MUCH: f64 = 1.05;
/// A rate that wants fewer I/Os says nothing.
const LEAST_IOS: f64 = 5.0;

fn rates(asked: &Asked<'_, '_>) -> OptionOutcome {
    let unit = if asked.name == "rate_iops" { RateUnit::Ios } else { RateUnit::Bytes };
    let courses = asked.used().filter_map(|direction| RateCourse::of(asked.job, direction, unit));
    let all: Vec<RateCourse> = courses.collect();
    if let Some(slow) = all.iter().find(|course| course.n_wanted < 1.0 && course.n_wanted > 0.0) {
        let (ran, of_io) = (asked.measured_secs(), asked.measured_secs() / slow.n_wanted);
        return not(format!(
            "at this rate an I/O comes every {} s, and the job ran for {} s",
            text::short(of_io),
            text::short(ran)
        ));
    }
    let courses = all.into_iter();
    let courses: Vec<RateCourse> = courses.filter(|course| course.n_wanted >= LEAST_IOS).collect();
    if courses.is_empty() {
        return unseen("the job is too short to tell its rate, or has none in its directions");
    }
    let several = asked.used().count() > 1;
    let missed = courses.iter().filter_map(|course| {
        let (wanted, chance) = (course.wanted_per_sec, course.chance(asked.job));
        let is_reached = course.most_per_sec() >= wanted * (ENOUGH - chance);
        if is_reached && course.least_per_sec() <= wanted * (TOO_MUCH + chance) {
            return None;
        }
        let name = if several { format!("{} ", course.direction.name()) } else { String::new() };
        let unit = if unit == RateUnit::Ios { "/s" } else { " B/s" };
        Some(format!("{name}{}", of_asked(course.done_per_sec(), wanted, unit)))
    });
    let missed: Vec<String> = missed.collect();
    as_asked_if(missed.is_empty(), || missed.join(", "))
}

/// A job that falls below its least rate fails, unless it ends before it has been looked at twice.
fn least_rates(asked: &Asked<'_, '_>) -> OptionOutcome {
    let (pace, n_clones) = (&asked.spec().pace, asked.n_clones().max(1) as f64);
    let missed = asked.used().find_map(|direction| {
        let (one, seconds) = (asked.of(direction)?, asked.job.seconds(direction));
        let (least, done, unit) = match asked.name {
            "rate_min" => (pace.min_bytes_per_sec[direction] as f64, one.bytes as f64, " B/s"),
            _ => (f64::from(pace.min_ios_per_sec[direction]), one.n_completed as f64, "/s"),
        };
        let of_clone = done / seconds / n_clones;
        (seconds > 0.0 && of_clone < least * ENOUGH).then(|| of_asked(of_clone, least, unit))
    });
    as_asked_if(missed.is_none(), || {
        format!("{}, and the job ended before that was looked at", missed.unwrap_or_default())
    })
}

/// Pauses may be shorter by this share, as a run may end within one.
const PAUSED_SHARE: f64 = 0.9;

/// A larger sum of pauses than this share of the wanted one may be that of another number of them.
const MOST_PAUSED: f64 = 1.4;

fn pauses(asked: &Asked<'_, '_>) -> OptionOutcome {
    let pauses = &asked.spec().pace.pauses;
    let is_told = matches!(asked.name, "thinktime" | "thinktime_blocks");
    if !is_told || pauses.drawn.is_some() || pauses.io_time_us > 0 {
        return unseen("single pauses are not recorded");
    }
    let Some(times) = asked.figures().and_then(|figures| figures.features.times.as_deref()) else {
        return unseen("the time of pauses was not measured");
    };
    if pauses.pause_us == 0 {
        return OptionOutcome::AsAsked;
    }
    if asked.spec().limits.ramp_time_us > 0 || asked.spec().limits.ramp_bytes > 0 {
        return unseen("I/Os within the ramp are not counted");
    }
    let n_blocks = f64::from(pauses.n_ios.unwrap_or(1).max(1));
    let n_pauses = (asked.n_done() as f64 / n_blocks
        - asked.n_clones() as f64 * (1.0 + f64::from(asked.spec().queue.iodepth)))
    .max(0.0);
    let wanted = n_pauses * pauses.pause_us as f64 / 1e6;
    let done_secs = times.paused_ns as f64 / 1e9;
    if times.paused_ns == 0 && asked.n_done() > 0 {
        return not(format!("no pause was made: the first one comes after {n_blocks:.0} I/Os"));
    }
    let is_reached = done_secs >= wanted * PAUSED_SHARE;
    // Pauses get longer where the job waits for a CPU after them. A number of I/Os between them is told only by a time that fits.
    if asked.name == "thinktime_blocks" && is_reached && done_secs > wanted * MOST_PAUSED + pauses.pause_us as f64 / 1e6
    {
        return unseen("single pauses are not recorded");
    }
    as_asked_if(is_reached, || of_asked(done_secs, wanted, " s"))
}

fn latency_target(asked: &Asked<'_, '_>) -> OptionOutcome {
    let latency = &asked.spec().latency;
    if asked.name != "latency_target" {
        return OptionOutcome::AsAsked;
    }
    let depths: Vec<u32> = asked.job.workers.iter().map(|worker| worker.stats.latency_search.depth).collect();
    if depths.iter().any(|depth| *depth > 1) {
        return OptionOutcome::AsAsked;
    }
    // The distribution of lat is measured where it is asked for only. Completion latencies are no longer than it: too long ones miss the target too.
    let figures = DataDirection::ALL.into_iter().filter_map(|direction| asked.of(direction));
    let latencies = figures.map(|one| if one.lat.histogram.is_some() { &one.lat } else { &one.clat });
    let latencies: Vec<&LatencyStat> = latencies.filter(|latency| latency.n_samples > 0).collect();
    let n_all: u64 = latencies.iter().map(|latency| latency.n_samples).sum();
    // A bucket may begin below the target and end above it.
    let most_ns = latency.target_us.saturating_mul(1_020);
    let Some(n_within) = count_within(&latencies, most_ns) else {
        return unseen("the distribution of its latencies was not measured");
    };
    if n_all == 0 {
        return unseen("no latency was measured");
    }
    let share_of = |n: u64| 100.0 * n as f64 / n_all as f64;
    let (share, is_enough) = (share_of(n_within), |share: f64| share + 0.5 >= latency.percentile);
    let is_met = is_enough(share);
    if is_met && !asked.job.engine.is_inline() && !asked.spec().reporting.lat_percentiles {
        // Each latency is at most that of its completion and the longest submission together.
        let longest_ns = longest_submission_ns(asked);
        let n_surely = longest_ns.and_then(|longest_ns| count_within(&latencies, most_ns.saturating_sub(longest_ns)));
        return match n_surely {
            Some(n_surely) if is_enough(share_of(n_surely)) => OptionOutcome::AsAsked,
            _ => unseen("the distribution of total latencies was not measured: lat_percentiles=1"),
        };
    }
    as_asked_if(is_met, || {
        format!("{share:.1} % of {} % within {} us at a depth of 1", latency.percentile, latency.target_us)
    })
}

/// Latencies of at most `most_ns`; `None`: their distribution was not measured.
fn count_within(latencies: &[&LatencyStat], most_ns: u64) -> Option<u64> {
    let of_one = |latency: &&LatencyStat| {
        let within = latency.histogram.as_ref()?.folded().filter(|(index, _)| bucket_latency_ns(*index) <= most_ns);
        Some(within.map(|(_, count)| count).sum::<u64>())
    };
    latencies.iter().map(of_one).sum()
}

/// The longest submission of any direction; `None`: submissions were not measured.
fn longest_submission_ns(asked: &Asked<'_, '_>) -> Option<u64> {
    let with_ios = DataDirection::ALL.into_iter().filter_map(|direction| asked.of(direction));
    let longest =
        with_ios.filter(|one| one.clat.n_samples > 0).map(|one| (one.slat.n_samples > 0).then_some(one.slat.max_ns));
    longest.collect::<Option<Vec<u64>>>()?.into_iter().max()
}

fn steady_state(asked: &Asked<'_, '_>) -> OptionOutcome {
    let found = asked.job.workers.iter().find_map(|worker| worker.steady_state());
    match found {
        None => unseen("another job of its group has the steady state"),
        Some(state) => as_asked_if(state.is_attained, || "it was not attained".to_owned()),
    }
}
