//! The outcome of a run on many hosts: what each has measured, and all of it in one record.
//!
//! Statistics merge exactly: percentiles of all hosts are those of the histograms of all hosts. Must not know: how outcomes are shown.
//! Start reading at [`FleetOutcome::merged`].

use super::wire::MeasuredHost;
use crate::session::SessionOutcome;
use ferrio_insight::fleet::{AuditedHost, fleet_findings, is_load_of_fleet};
use ferrio_run::RunOutcome;
use ferrio_stats::{
    Audit, EndedBy, Estimate, Finding, HostPart, ImprecisionReason, JobPrecision, JobSeries, Provenance, RecordOrigin,
    RunEnding, RunRecord, SharedPlace, SteadyPart, WorkerRecord,
};
use std::collections::{BTreeMap, HashMap};

/// Most intervals of the course of all hosts together, as of one host.
pub(super) const MOST_INTERVALS: usize = 512;
const NS_PER_MS: u64 = 1_000_000;
/// Most hosts that are all named in one text.
const MOST_NAMED: usize = 4;

/// The hosts of a fleet as one name.
pub fn one_name(hosts: &[&str]) -> String {
    match hosts {
        [first, .., last] if hosts.len() > MOST_NAMED => format!("{first} to {last} ({} hosts)", hosts.len()),
        hosts => hosts.join(", "),
    }
}

/// What one host has done.
#[derive(Debug, Clone, PartialEq)]
pub struct HostOutcome {
    /// Rank of its worker.
    pub rank: u32,
    /// Its name.
    pub name: String,
    /// The boot of its machine; empty: unknown. Hosts that share it are containers or ranks of one machine.
    pub machine: String,
    /// Start of its run on the coordinator's `CLOCK_MONOTONIC`; `None`: it has not begun.
    pub began_ns: Option<u64>,
    /// Its clock minus the coordinator's.
    pub clock_offset_ns: i64,
    /// That offset is right to within so many nanoseconds; `None`: unknown.
    pub clock_uncertainty_ns: Option<u64>,
    /// Its outcome did not come: these are the figures of its intervals so far.
    pub is_partial: bool,
    /// What it has measured.
    pub outcome: MeasuredHost,
    /// Why it has run nothing, if it has refused its jobs.
    pub refused: Option<String>,
    /// Why it was lost, if it was.
    pub lost: Option<String>,
}

impl HostOutcome {
    fn audited(&self) -> AuditedHost<'_> {
        AuditedHost {
            name: &self.name,
            machine: &self.machine,
            record: &self.outcome.record,
            window_ns: self.window_ns(),
            is_partial: self.is_partial,
        }
    }

    /// Start of its run on its wall clock, milliseconds since 1970.
    fn start_ms(&self) -> u64 {
        let record = &self.outcome.record;
        record.timestamp_ms.saturating_sub(record.elapsed_ns / NS_PER_MS)
    }

    /// Time from its start to its last figure, on the coordinator's clock.
    fn window_ns(&self) -> Option<(u64, u64)> {
        let began_ns = self.began_ns?;
        Some((began_ns, began_ns.saturating_add(self.outcome.record.elapsed_ns)))
    }
}

/// The first start of all hosts.
#[derive(Debug, Clone, Copy)]
struct FirstStart {
    /// On the coordinator's `CLOCK_MONOTONIC`; `None`: no host has begun.
    at_ns: Option<u64>,
    /// On the wall clock of that host, milliseconds since 1970.
    at_ms: u64,
}

impl FirstStart {
    /// A moment of a host's wall clock, milliseconds since 1970, on that of the first host.
    fn on_one_clock(self, host: &HostOutcome, epoch_ms: u64) -> u64 {
        let later_ns = host.began_ns.zip(self.at_ns).map_or(0, |(began_ns, first_ns)| began_ns - first_ns);
        let since_ms = epoch_ms.saturating_sub(host.start_ms());
        self.at_ms.saturating_add(later_ns / NS_PER_MS).saturating_add(since_ms)
    }
}

/// A run on many hosts.
#[derive(Debug, Clone, PartialEq)]
pub struct FleetOutcome {
    /// The hosts, by rank.
    pub hosts: Vec<HostOutcome>,
    /// Time for which the start was agreed, on the coordinator's `CLOCK_MONOTONIC`.
    pub agreed_ns: u64,
    /// Places that several hosts have used.
    pub shared: Vec<SharedPlace>,
}

impl FleetOutcome {
    /// Start of the first host.
    fn first_start_ns(&self) -> Option<u64> {
        self.hosts.iter().filter_map(|host| host.began_ns).min()
    }

    /// Time from the first start to the last end.
    fn whole_ns(&self) -> u64 {
        let windows: Vec<(u64, u64)> = self.hosts.iter().filter_map(HostOutcome::window_ns).collect();
        let begin = windows.iter().map(|window| window.0).min().unwrap_or_default();
        windows.iter().map(|window| window.1).max().unwrap_or_default().saturating_sub(begin)
    }

    /// Start of the first host's run on its wall clock, milliseconds since 1970: times of all hosts count from it, whatever their own clocks
    /// say.
    fn first_start_ms(&self) -> u64 {
        let begun = self.hosts.iter().filter(|host| host.began_ns.is_some() && !host.is_partial);
        begun.min_by_key(|host| host.began_ns).or(self.hosts.first()).map(HostOutcome::start_ms).unwrap_or_default()
    }

    /// The first start, to which all hosts are compared.
    fn first_start(&self) -> FirstStart {
        FirstStart { at_ns: self.first_start_ns(), at_ms: self.first_start_ms() }
    }

    /// All hosts in one record: a job's clones are those of all hosts, and its course is the sum of theirs.
    pub fn merged(&self) -> RunRecord {
        // A host that was lost has told no options and no facts.
        let whole = self.hosts.iter().find(|host| !host.is_partial).or(self.hosts.first());
        let template = whole.map(|host| host.outcome.record.clone()).unwrap_or_default();
        let (workers, numbers) = self.workers();
        let first = self.first_start();
        let mut merged = RunRecord {
            elapsed_ns: self.whole_ns(),
            timestamp_ms: self.first_start_ms().saturating_add(self.whole_ns() / NS_PER_MS),
            provenance: template.provenance.map(|facts| Box::new(self.provenance(*facts, &workers))),
            workers,
            series: self.series(),
            audit: Some(self.audit()),
            // What probes saw is of one host each.
            evidence: ferrio_stats::Evidence::default(),
            course: Vec::new(),
            precision: None,
            messages: ferrio_stats::RunMessages::default(),
            origin: RecordOrigin::Hosts(
                self.hosts.iter().zip(numbers).map(|(host, own)| part(host, own, first)).collect(),
            ),
            ..template
        };
        for message in self.hosts.iter().flat_map(|host| host.outcome.record.messages.kept()) {
            merged.messages.push(message.stream, message.note.clone());
        }
        merged.precision = Some(self.precision(&merged));
        merged
    }

    /// The workers of all hosts in the order of jobs, so that a job's clones stand together, those of a host in a row; and the numbers of those
    /// of each host.
    fn workers(&self) -> (Vec<WorkerRecord>, Vec<Vec<u32>>) {
        let of_host = |(index, host): (usize, &HostOutcome)| {
            let workers = host.outcome.record.workers.clone().into_iter().enumerate();
            workers.map(|(place, worker)| (index, place, worker)).collect::<Vec<_>>()
        };
        let mut all: Vec<(usize, usize, WorkerRecord)> = self.hosts.iter().enumerate().flat_map(of_host).collect();
        // Stable: the order of hosts stays.
        all.sort_by_key(|(.., worker)| worker.job_index);
        let places: HashMap<(usize, usize), u32> =
            (0..).zip(&all).map(|(index, (host, place, _))| ((*host, *place), index)).collect();
        let mut numbers = vec![Vec::new(); self.hosts.len()];
        let first = self.first_start();
        let worker = |(number, (host, _, mut worker)): (u32, (usize, usize, WorkerRecord))| {
            worker.number = number;
            if worker.stats.job_start_ms > 0 {
                worker.stats.job_start_ms = first.on_one_clock(&self.hosts[host], worker.stats.job_start_ms);
            }
            if let Some(own) = numbers.get_mut(host) {
                own.push(number);
            }
            if let Some(SteadyPart::Follows(leader)) = &mut worker.steady {
                *leader = places.get(&(host, *leader as usize)).copied().unwrap_or(*leader);
            }
            worker
        };
        let workers = (1..).zip(all).map(worker).collect();
        (workers, numbers)
    }

    /// The facts of a host as those of all: the jobs have the clones of all hosts.
    fn provenance(&self, mut facts: Provenance, workers: &[WorkerRecord]) -> Provenance {
        let names: Vec<&str> = self.hosts.iter().map(|host| host.name.as_str()).collect();
        facts.host_name = one_name(&names);
        for (index, job) in (0..).zip(&mut facts.jobs) {
            let own = || workers.iter().filter(|worker| worker.job_index == index);
            job.first_number = own().next().map_or(job.first_number, |worker| worker.number);
            job.n_clones = own().count().max(1) as u32;
        }
        facts
    }

    /// The course of each job on all hosts together, on the coordinator's clock.
    fn series(&self) -> Vec<JobSeries> {
        let first_ns = self.first_start_ns().unwrap_or_default();
        let mut all: BTreeMap<u32, JobSeries> = BTreeMap::new();
        // Those of a host that was lost have the longest intervals: they come last.
        let mut hosts: Vec<&HostOutcome> = self.hosts.iter().collect();
        hosts.sort_by_key(|host| host.is_partial);
        for host in hosts {
            let Some(began_ns) = host.began_ns else { continue };
            for series in &host.outcome.record.series {
                let new = || JobSeries::new(series.job_index, series.interval_ns);
                let sum = all.entry(series.job_index).or_insert_with(new);
                let mut series = series.clone();
                if host.is_partial {
                    // Latencies of long intervals would all stand at the ends of these.
                    series.drop_latencies();
                }
                sum.add_course(&series, began_ns - first_ns, MOST_INTERVALS);
            }
        }
        all.into_values().collect()
    }

    /// How exact the figures of all hosts together are.
    fn precision(&self, merged: &RunRecord) -> Vec<JobPrecision> {
        let mut precision = ferrio_insight::precision(merged);
        if self.hosts.iter().any(|host| host.is_partial) {
            for job in &mut precision {
                let rates = [&mut job.ios_per_sec, &mut job.bytes_per_sec, &mut job.mean_ns];
                let all = rates.into_iter().chain([&mut job.p50_ns, &mut job.p99_ns, &mut job.p999_ns]);
                all.for_each(|estimate| *estimate = Estimate::Unknown(ImprecisionReason::HostLost));
            }
        }
        precision
    }

    /// What was found about the hosts together, and on each of them: each finding once, with the hosts that it is about.
    fn audit(&self) -> Audit {
        let audited: Vec<AuditedHost<'_>> = self.hosts.iter().map(HostOutcome::audited).collect();
        let mut all = Audit { findings: fleet_findings(&audited, &self.shared), ..Audit::default() };
        for (host, its) in self.hosts.iter().zip(&audited) {
            let Some(audit) = &host.outcome.record.audit else { continue };
            all.n_rules = all.n_rules.max(audit.n_rules);
            if let Some(accounts) = &audit.accounts {
                match &mut all.accounts {
                    Some(known) => known.add(accounts),
                    None => all.accounts = Some(accounts.clone()),
                }
            }
            for finding in audit.findings.iter().filter(|finding| !is_load_of_fleet(finding, its, &audited)) {
                match all.findings.iter_mut().find(|other| other.is_as(finding)) {
                    Some(other) => other.hosts.push(host.name.clone()),
                    None => all.findings.push(Finding { hosts: vec![host.name.clone()], ..finding.clone() }),
                }
            }
            for unexamined in &audit.unexamined {
                if !all.unexamined.contains(unexamined) {
                    all.unexamined.push(unexamined.clone());
                }
            }
        }
        if let (Some(accounts), Some(lost)) = (&mut all.accounts, self.hosts.iter().find(|host| host.lost.is_some())) {
            let by = EndedBy::LostHost { host: lost.name.clone() };
            accounts.ending = RunEnding::Early { by, jobs: Vec::new() };
        }
        // Without names it is one of all hosts.
        let is_of_all =
            |finding: &&mut Finding| finding.hosts.len() == self.hosts.len() && self.hosts.len() > MOST_NAMED;
        all.findings.iter_mut().filter(is_of_all).for_each(|finding| finding.hosts.clear());
        all.findings.sort_by_key(|finding| finding.severity);
        all
    }

    /// The outcome as that of one session, whose record this is: [`Self::merged`].
    pub fn session_outcome(&self, record: RunRecord) -> SessionOutcome {
        let hosts = || self.hosts.iter().map(|host| &host.outcome);
        let run = RunOutcome {
            n_failed: hosts().map(|outcome| outcome.n_failed).sum(),
            is_stopped: hosts().any(|outcome| outcome.is_stopped),
            n_logs_lost: hosts().map(|outcome| outcome.n_logs_lost).sum(),
            record,
        };
        SessionOutcome { run, not_remembered: None }
    }
}

/// A host as a part of the record of all of them.
fn part(host: &HostOutcome, workers: Vec<u32>, first: FirstStart) -> HostPart {
    let own = &host.outcome.record;
    let timestamp_ms = first.on_one_clock(host, own.timestamp_ms);
    HostPart {
        name: host.name.clone(),
        rank: host.rank,
        workers,
        start_ns: host.began_ns.zip(first.at_ns).map(|(began_ns, first_ns)| began_ns - first_ns),
        clock_offset_ns: host.clock_offset_ns,
        clock_uncertainty_ns: host.clock_uncertainty_ns,
        lost: host.lost.clone(),
        is_partial: host.is_partial,
        n_intervals_lost: host.outcome.n_intervals_lost,
        record: RunRecord { workers: Vec::new(), timestamp_ms, ..own.clone() },
    }
}
