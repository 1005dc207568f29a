//! The courses of jobs that nothing holds back on purpose, and changes of their rates.
//!
//! Must not know: the work of devices. Start reading at [`free_courses`].

use super::asked::{is_held_back, waits_at_end, waits_beside_rate};
use super::kept::FreeCourse;
use crate::audit_input::{AuditInput, AuditedJob};
use crate::course::JobCourse;
use ferrio_inference::{Change, change_point, mean, trend};
use ferrio_stats::JobSeries;
use ferrio_stats::histogram::{N_FULL_BUCKETS, bucket_latency_ns};
use ferrio_units::DataDirection;

/// A change by less than this share of the higher rate is within what devices do.
const LEAST_CHANGE: f64 = 0.2;
/// A short beginning has this multiple of the later rate.
const MULTIPLE: f64 = 2.0;
/// Share of all I/Os that a short beginning has beyond the later rate.
const LEAST_BEYOND: f64 = 0.1;
/// Fewest intervals behind a short beginning.
const FEWEST_STEADY_INTERVALS: usize = 15;
/// Fewest intervals before and after a change.
const LEAST_INTERVALS: usize = 8;
/// The two levels have to explain this share of the variance.
const EXPLAINED: f64 = 0.7;
/// A part is steady if its rate changes by less than this share of it, or by less than a third of the change between the parts.
const STEADY: f64 = 0.15;
/// With fewer I/Os in an interval before the change, their number says little.
const LEAST_IOS: f64 = 10.0;

/// The jobs with I/O that nothing holds back on purpose, each with its course.
pub(crate) fn free_courses<'c>(case: &'c AuditInput<'_>) -> &'c [FreeCourse] {
    case.kept.courses.get_or_init(|| {
        let series = case.record.series.iter();
        let jobs = series.filter_map(|series| Some((case.jobs.get(series.job_index as usize)?, series)));
        let free = jobs.filter(|(job, _)| !is_held_back(job) && !job.engine.moves_nothing());
        let course = free.filter_map(|(job, series)| {
            let course = JobCourse::of(series).ok()?;
            let ios = without_end(job, course.all_ios(series));
            let change = steady_change(&ios).or_else(|| short_begin(&ios));
            Some(FreeCourse { job_index: job.index as usize, interval_secs: course.seconds(), ios, change })
        });
        course.collect()
    })
}

/// The course of a job that has a rate, and nothing else that holds it back.
pub(crate) struct PacedCourse {
    pub(crate) job_index: usize,
    pub(crate) interval_secs: f64,
    /// I/Os in each interval.
    pub(crate) ios: Vec<f64>,
    /// I/Os that the rate wants in each.
    pub(crate) wanted: f64,
    /// Mean completion latency in each, nanoseconds; empty: it was not measured.
    pub(crate) latencies: Vec<f64>,
}

impl PacedCourse {
    /// The place from which on the job did less than its rate, by more than a twentieth. What comes later waits: a job that is late catches up as fast as the device lets it,
    /// so that its I/Os are those of the device from there on.
    pub(crate) fn fall(&self) -> Option<Change> {
        let change = change_point(&self.ios)?;
        let (first, second) = self.ios.split_at(change.index);
        let has_kept_it = change.before >= ENOUGH * self.wanted && change.before >= LEAST_IOS_OF_RATE;
        let falls = change.after < ENOUGH * self.wanted && change.after < ENOUGH * change.before;
        let is_clear = change.explained >= EXPLAINED_OF_RATE && first.len().min(second.len()) >= LEAST_INTERVALS;
        // A device that stands still now and then catches up.
        let last = &second[second.len() / 2..];
        let stays = mean(last) < ENOUGH * self.wanted;
        (has_kept_it && falls && is_clear && stays).then_some(change)
    }

    /// The place from which on I/Os took less than half of the time that they took before, and did so to the end.
    pub(crate) fn sped_up(&self) -> Option<Change> {
        let change = change_point(&self.latencies)?;
        let (first, second) = self.latencies.split_at(change.index);
        let falls = change.after > 0.0 && MULTIPLE * change.after < change.before;
        let is_clear = change.explained >= EXPLAINED && first.len().min(second.len()) >= LEAST_INTERVALS;
        let most = (change.before - change.after) / 3.0;
        (falls && is_clear && is_steady(first, most) && is_steady(second, most)).then_some(change)
    }
}

/// A job that does this share of its rate keeps it.
const ENOUGH: f64 = 0.95;
/// The rate is known, so that fewer I/Os and less of the variance tell.
const LEAST_IOS_OF_RATE: f64 = 5.0;
const EXPLAINED_OF_RATE: f64 = 0.5;

/// The courses of jobs with rates in all directions that they use.
pub(crate) fn paced_courses(case: &AuditInput<'_>) -> Vec<PacedCourse> {
    let series = case.record.series.iter();
    let jobs = series.filter_map(|series| Some((case.jobs.get(series.job_index as usize)?, series)));
    let paced = jobs.filter(|(job, _)| !waits_beside_rate(job) && !job.engine.moves_nothing());
    let course = paced.filter_map(|(job, series)| {
        let wanted_per_sec = wanted_ios(job)?;
        let course = JobCourse::of(series).ok()?;
        let latencies = mean_latencies(&course, series);
        Some(PacedCourse {
            job_index: job.index as usize,
            interval_secs: course.seconds(),
            ios: without_end(job, course.all_ios(series)),
            wanted: wanted_per_sec * course.seconds(),
            latencies,
        })
    });
    course.collect()
}

/// The intervals before the syncs at the end of a job, during which it has no I/O.
fn without_end(job: &AuditedJob<'_>, mut ios: Vec<f64>) -> Vec<f64> {
    while waits_at_end(job) && ios.last() == Some(&0.0) {
        ios.pop();
        // The syncs began within the interval before.
        if ios.last().is_some_and(|n_ios| *n_ios > 0.0) {
            ios.pop();
            break;
        }
    }
    ios
}

/// I/Os a second that the rates of a job want; `None`: a direction that it uses has none.
pub(crate) fn wanted_ios(job: &AuditedJob<'_>) -> Option<f64> {
    let pace = &job.spec.pace;
    let of_direction = |direction: DataDirection| {
        let (ios, bytes) = (f64::from(pace.ios_per_sec[direction]), pace.bytes_per_sec[direction] as f64);
        let figures = job.figures(direction)?;
        let block_bytes = figures.bytes as f64 / figures.n_completed.max(1) as f64;
        match () {
            () if ios > 0.0 => Some(ios),
            () if bytes > 0.0 && block_bytes > 0.0 => Some(bytes / block_bytes),
            () => None,
        }
    };
    let used = DataDirection::ALL.into_iter().filter(|direction| job.does(*direction));
    let wanted: Vec<f64> = used.map(of_direction).collect::<Option<_>>()?;
    (!wanted.is_empty()).then(|| wanted.iter().sum::<f64>() * job.workers.len() as f64)
}

/// The mean completion latency in each interval; an interval without I/O has that of the one before it.
fn mean_latencies(course: &JobCourse, series: &JobSeries) -> Vec<f64> {
    let mut last = 0.0;
    let place = |index: usize| {
        let cells = series.directions.0.iter().filter_map(|direction| direction.latencies.get(index)).flatten();
        let (n, sum) = cells.fold((0.0, 0.0), |(n, sum), (bucket, count)| {
            let latency_ns = bucket_latency_ns(usize::from(*bucket).min(N_FULL_BUCKETS - 1)) as f64;
            (n + *count as f64, sum + latency_ns * *count as f64)
        });
        if n > 0.0 {
            last = sum / n;
        }
        last
    };
    (course.start()..course.start() + course.len()).map(place).collect()
}

/// The place at which a steady rate changed to another steady one, by more than a fifth of the higher of both.
fn steady_change(ios: &[f64]) -> Option<Change> {
    let change = change_point(ios)?;
    let (first, second) = ios.split_at(change.index);
    let (low, high) = (change.before.min(change.after), change.before.max(change.after));
    let is_large = low < (1.0 - LEAST_CHANGE) * high && change.before >= LEAST_IOS;
    let is_clear = change.explained >= EXPLAINED && first.len().min(second.len()) >= LEAST_INTERVALS;
    let most = (high - low) / 3.0;
    (is_large && is_clear && is_steady(first, most) && is_steady(second, most)).then_some(change)
}

/// A short beginning at a rate that is a multiple of the steady one after it: a small cache or credit. Its I/Os are a tenth of all or more, beyond those that the
/// later rate would have done.
fn short_begin(ios: &[f64]) -> Option<Change> {
    let after = mean(ios.get(ios.len() / 2..)?);
    let index = ios.iter().take_while(|n_ios| **n_ios > MULTIPLE * after).count();
    let (first, rest) = ios.split_at(index);
    // The change is within an interval.
    let rest = rest.get(1..).filter(|rest| rest.len() >= FEWEST_STEADY_INTERVALS)?;
    let (before, after) = (mean(first), mean(rest));
    let beyond: f64 = ios[..=index].iter().map(|n_ios| n_ios - after).sum();
    let is_large = index > 0 && before >= LEAST_IOS && beyond >= LEAST_BEYOND * ios.iter().sum::<f64>();
    let is_level = rest.iter().all(|n_ios| *n_ios < MULTIPLE * after);
    let change = Change { index, before, after, explained: 1.0 };
    (is_large && is_level && is_steady(rest, STEADY * after)).then_some(change)
}

/// The part does not change for certain by as much as `most`, or by 15 % of its rate if that is more.
fn is_steady(ios: &[f64], most: f64) -> bool {
    let limit = most.max(STEADY * mean(ios).abs());
    trend(ios).is_none_or(|trend| !trend.is_certain || trend.change.abs() < limit)
}
