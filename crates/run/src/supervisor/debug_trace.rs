//! Lines of the supervisor about its own work (`--debug`).
//!
//! Must not know: lines of workers. Start reading at [`trace()`].

use super::record::SupervisedWorker;
use super::scene::Scene;
use crate::events::{RunEvent, RunObserver};
use crate::link::board::WorkerState;
use crate::link::trace::{self, TraceGroup};
use ferrio_stats::{SteadySample, SteadyState};

/// Sends a line if its group is traced, unless only one job is traced and that job has started.
pub(super) fn trace(
    scene: &Scene,
    records: &[SupervisedWorker],
    observer: &mut dyn RunObserver,
    group: TraceGroup,
    text: impl FnOnce() -> String,
) {
    if scene.settings.trace.has(group) && !has_traced_started(scene, records) {
        observer.event(RunEvent::Trace(trace::line(group, &text())));
    }
}

/// True if the job of `job:N` has started.
fn has_traced_started(scene: &Scene, records: &[SupervisedWorker]) -> bool {
    let traced = scene.settings.trace.job_index().and_then(|index| records.get(index));
    traced.is_some_and(|record| record.pid != 0)
}

/// True if lines of this worker are not wanted (any more).
pub(super) fn is_other_than_traced(scene: &Scene, records: &[SupervisedWorker], index: usize) -> bool {
    scene.settings.trace.job_index() != Some(index) && has_traced_started(scene, records)
}

/// Sends lines about a worker that is about to be started.
pub(super) fn tell_launch(scene: &Scene, records: &[SupervisedWorker], observer: &mut dyn RunObserver, index: usize) {
    let how = if scene.is_thread(index) { "will pthread_create" } else { "will fork" };
    let created = || trace::state_change(0, WorkerState::Waiting, WorkerState::Created);
    trace(scene, records, observer, TraceGroup::Process, created);
    trace(scene, records, observer, TraceGroup::Process, || how.to_owned());
}

/// Lines about the result of a sample for the search for a steady state.
pub(super) fn steady_lines(scene: &Scene, index: usize, last_member: usize, state: &SteadyState) -> Vec<String> {
    if !scene.settings.trace.has(TraceGroup::SteadyState) {
        return Vec::new();
    }
    let worker = &scene.plan.workers[index];
    let interval_ms = worker.spec.steady_state.interval_us / 1_000;
    let sample = sample_text(last_member, worker.group_index, interval_ms, state);
    sample.into_iter().chain(state.is_full().then(|| steady_text(state))).collect()
}

/// The line for the newest sample of a group; `last_member` is its last member.
fn sample_text(last_member: usize, group: u32, interval_ms: u64, state: &SteadyState) -> Option<String> {
    let SteadySample { ios_per_sec, bytes_per_sec, .. } = state.newest()?;
    let (head, tail) = state.head_and_tail();
    Some(format!(
        "steadystate_check() thread: {last_member}, groupid: {group}, rate_msec: {interval_ms}, iops: {ios_per_sec}, \
         bw: {bytes_per_sec}, head: {head}, tail: {tail}"
    ))
}

/// The line for the last check of a search.
fn steady_text(state: &SteadyState) -> String {
    let values = state.values();
    let sum: u128 = values.iter().map(|value| u128::from(*value)).sum();
    let limit = state.criterion.limit;
    if state.criterion.is_slope {
        let products: u128 = values.iter().zip(0_u128..).map(|(value, place)| u128::from(*value) * place).sum();
        let (slope, figure) = (state.slope, state.figure);
        return format!(
            "sum_y: {sum}, sum_xy: {products}, slope: {slope:.6}, criterion: {figure:.6}, limit: {limit:.6}"
        );
    }
    let (n, mean) = (values.len(), sum as f64 / values.len().max(1) as f64);
    let (largest, figure) = (state.max_deviation, state.figure);
    format!(
        "intervals: {n}, sum_y: {sum}, mean: {mean:.6}, max diff: {largest:.6}, objective: {figure:.6}, limit: {limit:.6}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_spec::{SteadyCriterion, SteadyMetric};

    fn checked(is_slope: bool, limit: f64, samples: &[u64]) -> String {
        let criterion = SteadyCriterion { metric: SteadyMetric::Iops, is_slope, limit, is_percent: true };
        let mut state = SteadyState::new(criterion, samples.len() as u64, samples.len());
        for ios_per_sec in samples {
            state.add(SteadySample { ios_per_sec: *ios_per_sec, ..SteadySample::default() });
        }
        assert!(state.is_full());
        steady_text(&state)
    }

    // Expected: lines of fio 3.41 for two jobs with a common report, with another time.
    #[test]
    fn samples_are_told_as_by_the_reference() {
        let criterion = SteadyCriterion { metric: SteadyMetric::Iops, is_slope: false, limit: 1.0, is_percent: true };
        let mut state = SteadyState::new(criterion, 3, 3);
        let line = |iops: u64, bw: u64, places: &str| {
            format!("steadystate_check() thread: 1, groupid: 0, rate_msec: 1000, iops: {iops}, bw: {bw}, {places}")
        };
        assert_eq!(sample_text(1, 0, 1000, &state), None);
        for (ios_per_sec, bytes_per_sec, places) in [
            (374, 1_536_052, "head: 0, tail: 0"),
            (515, 2_113_658, "head: 0, tail: 1"),
            (478, 1_964_113, "head: 0, tail: 2"),
            (491, 2_017_308, "head: 1, tail: 0"),
            (505, 2_068_480, "head: 2, tail: 1"),
        ] {
            state.add(SteadySample { ios_per_sec, bytes_per_sec, ..SteadySample::default() });
            assert_eq!(sample_text(1, 0, 1000, &state), Some(line(ios_per_sec, bytes_per_sec, places)));
        }
    }

    // Expected: two lines of fio 3.41, one of a development version, and the slope of one of its runs.
    #[test]
    fn checks_are_told_as_by_the_reference() {
        let line =
            "intervals: 2, sum_y: 77, mean: 38.500000, max diff: 7.500000, objective: 19.480519, limit: 10.000000";
        assert_eq!(checked(false, 10.0, &[31, 46]), line);
        let line =
            "intervals: 2, sum_y: 90, mean: 45.000000, max diff: 1.000000, objective: 2.222222, limit: 10.000000";
        assert_eq!(checked(false, 10.0, &[46, 44]), line);
        let line =
            "intervals: 3, sum_y: 59, mean: 19.666667, max diff: 0.666667, objective: 3.389831, limit: 10.000000";
        assert_eq!(checked(false, 10.0, &[19, 20, 20]), line);
        let told = checked(true, 5.0, &[12_083, 14_266, 12_916]);
        assert_eq!(told, "sum_y: 39265, sum_xy: 40098, slope: 416.500000, criterion: 3.182304, limit: 5.000000");
    }
}
