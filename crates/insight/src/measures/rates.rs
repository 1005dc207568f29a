//! The courses of jobs that nothing holds back on purpose, and changes of their rates.
//!
//! Must not know: the work of devices. Start reading at [`free_courses`].

use super::asked::is_held_back;
use super::kept::FreeCourse;
use crate::case::Case;
use crate::course::JobCourse;
use ferrio_inference::{Change, change_point, mean, trend};

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
pub(crate) fn free_courses<'c>(case: &'c Case<'_>) -> &'c [FreeCourse] {
    case.kept.courses.get_or_init(|| {
        let series = case.record.series.iter();
        let jobs = series.filter_map(|series| Some((case.jobs.get(series.job_index as usize)?, series)));
        let free = jobs.filter(|(job, _)| !is_held_back(job) && !job.engine.moves_nothing());
        let course = free.filter_map(|(job, series)| {
            let course = JobCourse::of(series).ok()?;
            let ios = course.all_ios(series);
            let change = steady_change(&ios).or_else(|| short_begin(&ios));
            Some(FreeCourse { job_index: job.index as usize, interval_secs: course.seconds(), ios, change })
        });
        course.collect()
    })
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
