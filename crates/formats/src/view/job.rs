//! The blocks of a report: a worker, or the workers of a group summed.
//!
//! Must not know: how a block is printed. Start reading at [`JobReport`].

use crate::words;
use ferrio_stats::{
    HostPart, PriorityStat, PriorityStats, ReportSettings, RunRecord, SteadyState, ThreadStats, WorkerRecord,
};
use std::borrow::Cow;
use std::collections::HashMap;

/// One block of the report: a job, or the jobs of a group summed (`group_reporting`).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JobReport<'a> {
    /// Name of the first member.
    pub name: Cow<'a, str>,
    /// Description of the first member.
    pub description: Option<Cow<'a, str>>,
    pub group_index: u32,
    pub n_members: u32,
    /// Process id of the first member.
    pub pid: u32,
    /// Options of the last member (JSON `job options`), together with the name of the first, as in fio.
    pub given_options: Cow<'a, [(String, String)]>,
    pub settings: Cow<'a, ReportSettings>,
    /// Sum of the members' figures.
    pub stats: Cow<'a, ThreadStats>,
    /// The failure in the report's brackets; empty if there is none or if it was tolerated.
    pub failure_text: String,
    /// The depth that the last member's search by latency found; `iodepth` for a job without a search, 0 for one that
    /// never ran.
    pub latency_depth: u32,
    /// The search for a steady state (`steadystate_duration`), of all members together.
    pub steady_state: Option<Cow<'a, SteadyState>>,
    /// Members that a signal killed, so that their figures cover only a part of their work.
    pub killed: Vec<KilledMember>,
    /// The jobs of all servers of `--client`, of which fio leaves out units.
    pub is_sum_of_clients: bool,
    /// Runtimes that the members have drawn (`runtime=2s-5s`), microseconds.
    pub drawn_runtimes_us: Vec<u64>,
    /// The host of all members, of a run on several hosts; `None`: there is one host, or they are of several.
    pub host: Option<Cow<'a, str>>,
}

/// A worker that a signal killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KilledMember {
    /// Its process id.
    pub pid: u32,
    pub signal: i32,
}

/// The blocks of a run.
pub(super) fn reports(record: &RunRecord) -> Vec<JobReport<'_>> {
    let workers = &record.workers;
    let tells_priorities = tells_priorities(workers);
    let mut hosts: HashMap<u32, &str> = HashMap::new();
    for HostPart { name, workers, .. } in record.hosts() {
        hosts.extend(workers.iter().map(|number| (*number, name.as_str())));
    }
    let mut jobs: Vec<JobReport<'_>> = Vec::new();
    for worker in workers.iter().filter(|worker| worker.settings.is_reported) {
        let host = hosts.get(&worker.number).map(|host| Cow::Borrowed(*host));
        let report = JobReport { host, ..JobReport::of_worker(worker, tells_priorities) };
        // This also joins a job before it that does not ask for it.
        let joins = worker.settings.group_reporting;
        match jobs.last_mut() {
            Some(group) if joins && group.group_index == worker.group_index => group.add_member(report),
            _ => jobs.push(report),
        }
    }
    jobs
}

impl<'a> JobReport<'a> {
    fn of_worker(worker: &'a WorkerRecord, tells_priorities: bool) -> Self {
        Self {
            name: Cow::Borrowed(&worker.name),
            description: worker.description.as_deref().map(Cow::Borrowed),
            group_index: worker.group_index,
            n_members: 1,
            pid: worker.pid,
            given_options: Cow::Borrowed(&worker.given_options),
            settings: Cow::Borrowed(&worker.settings),
            stats: shown_stats(worker, tells_priorities),
            failure_text: worker.fate.failure.as_ref().map_or_else(String::new, words::failure),
            latency_depth: latency_depth(worker),
            steady_state: worker.steady_state().map(Cow::Borrowed),
            killed: killed(worker).into_iter().collect(),
            is_sum_of_clients: false,
            drawn_runtimes_us: worker.settings.drawn_runtime_us.into_iter().collect(),
            host: None,
        }
    }

    /// Adds another job of the group (`group_reporting`). Name, description, process id and settings stay those of the
    /// first member; the options are replaced.
    fn add_member(&mut self, member: Self) {
        self.n_members += 1;
        self.given_options = member.given_options;
        self.latency_depth = member.latency_depth;
        // The first error stays.
        if self.stats.errno == 0 {
            self.failure_text = member.failure_text;
        }
        self.stats.to_mut().merge(&member.stats);
        self.killed.extend(member.killed);
        self.drawn_runtimes_us.extend(member.drawn_runtimes_us);
        self.host = self.host.take().filter(|host| member.host.as_ref() == Some(host));
    }
}

/// True if jobs or I/Os differ in their priorities.
fn tells_priorities(workers: &[WorkerRecord]) -> bool {
    let first = workers.first().map(|worker| worker.priority.ioprio);
    let differs = |worker: &WorkerRecord| Some(worker.priority.ioprio) != first;
    workers.iter().any(|worker| differs(worker) || worker.priority.is_by_io)
}

fn shown_stats(worker: &WorkerRecord, tells_priorities: bool) -> Cow<'_, ThreadStats> {
    let mut stats = Cow::Borrowed(&*worker.stats);
    if tells_priorities {
        tell_priority(worker, stats.to_mut());
    }
    if worker.settings.unified_mixed {
        stats.to_mut().unify();
    }
    stats
}

/// If single I/Os have no priorities, all I/Os of a job have that of the job.
fn tell_priority(worker: &WorkerRecord, stats: &mut ThreadStats) {
    for direction in &mut stats.directions.0 {
        let latency = if worker.settings.lat_percentiles { &direction.lat } else { &direction.clat };
        if direction.priorities.0.is_empty() && latency.n_samples > 0 {
            let own = PriorityStat { ioprio: worker.priority.ioprio, latency: latency.clone() };
            direction.priorities = PriorityStats(vec![own]);
        }
    }
}

/// The depth of a job that never did I/O is 0; if its figures are lost it is that of its options.
fn latency_depth(worker: &WorkerRecord) -> u32 {
    let fate = &worker.fate;
    match worker.stats.latency_search.depth {
        0 if fate.was_let_go && (fate.is_cut_short || !fate.has_ended) => worker.iodepth,
        depth => depth,
    }
}

fn killed(worker: &WorkerRecord) -> Option<KilledMember> {
    let signal = worker.fate.killed_by.filter(|_| worker.fate.is_cut_short)?;
    Some(KilledMember { pid: worker.pid, signal })
}
