//! Where the time of a job went: its clones' threads, divided without a rest.
//!
//! CPU time, waits for a CPU, pauses, syncs at the end are measured. A thread that is asleep otherwise waits for its I/Os, as long as their latencies say.
//! Must not know: rules. Start reading at [`account`].

use crate::audit_input::{AuditInput, AuditedJob};
use ferrio_stats::{TimeAccount, WorkerRecord};
use ferrio_units::DataDirection;

/// The time of a job; `None`: none of its clones has measured it.
pub(crate) fn account(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<TimeAccount> {
    let is_virtual = case.provenance.clock.source == "virtual";
    let workers = job.workers.iter().chain(&job.failed);
    workers.filter_map(|worker| of_worker(worker, is_virtual)).reduce(|one, other| one.plus(&other))
}

fn of_worker(worker: &WorkerRecord, is_virtual: bool) -> Option<TimeAccount> {
    let stats = &worker.stats;
    let counts = stats.features.times.as_deref().copied().unwrap_or_default();
    // Without the turns on a CPU nothing is known of sleeps; on virtual time there are none.
    let turns = if is_virtual { None } else { Some(stats.usage.cpu_turns?) };
    let mut left = stats.total_runtime_ns;
    // In the order of certainty: each part takes what is left of the time at most, so that the sum is never above it.
    let mut take = |part_ns: u64| {
        let taken = part_ns.min(left);
        left -= taken;
        taken
    };
    let mut account = TimeAccount { whole_ns: stats.total_runtime_ns, ..TimeAccount::default() };
    account.stopped_ns = take(counts.stopped_ns);
    // CPU time is exact. Pauses and steps at the ends of passes have used a CPU, too.
    if turns.is_some() {
        let beside_ns = counts.closing_cpu_ns.saturating_add(counts.set_up_cpu_ns);
        account.kernel_ns = take(stats.usage.system_ns.saturating_sub(beside_ns));
        account.computing_ns = take(stats.usage.user_ns.saturating_sub(counts.spun_ns));
    }
    account.pausing_ns = take(counts.paused_ns);
    account.flow_ns = take(counts.flow_ns);
    account.closing_syncs_ns = take(counts.closing_syncs_ns);
    account.set_up_ns = take(counts.set_up_ns);
    account.logs_ns = take(stats.log_stall_ns);
    // A thread may also wait for a CPU when it wakes up after a pause or a sync, of which it is a part.
    account.cpu_wait_ns = take(turns.map_or(0, |turns| turns.waited_ns));
    let has_io = stats.directions.0.iter().any(|one| one.n_issued > 0) || stats.sync.n_samples > 0;
    let measured_ns = in_flight_ns(worker);
    account.storage_ns =
        if is_virtual || (has_io && measured_ns.is_none()) { take(u64::MAX) } else { take(measured_ns.unwrap_or(0)) };
    account.unknown_ns = take(u64::MAX);
    debug_assert_eq!(account.parts().iter().map(|(_, part)| part).sum::<u64>(), account.whole_ns);
    Some(account)
}

/// The most time for which I/Os can have been in flight, by their latencies; `None`: latencies were not measured, or not of all of them.
fn in_flight_ns(worker: &WorkerRecord) -> Option<u64> {
    let stats = &worker.stats;
    let mut all_ns: u128 = stats.sync.sum_ns;
    for direction in DataDirection::ALL {
        let figures = &stats.directions[direction];
        if figures.n_issued == 0 && figures.n_completed == 0 {
            continue;
        }
        if figures.lat.n_samples < figures.n_completed {
            return None;
        }
        all_ns = all_ns.saturating_add(figures.lat.sum_ns);
    }
    Some(u64::try_from(all_ns).unwrap_or(u64::MAX))
}
