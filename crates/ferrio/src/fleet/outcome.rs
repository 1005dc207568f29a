//! The outcome of a run on many hosts: what each has measured, and all of it in one record.
//!
//! Statistics merge exactly: percentiles of all hosts are those of the histograms of all hosts. Must not know: how outcomes are shown.
//! Start reading at [`FleetOutcome::merged`].

use super::wire::MeasuredHost;
use crate::session::SessionOutcome;
use ferrio_insight::fleet::{AuditedHost, fleet_findings};
use ferrio_run::RunOutcome;
use ferrio_stats::{Audit, Finding, RunRecord, SharedPlace};

/// What one host has done.
#[derive(Debug, Clone, PartialEq)]
pub struct HostOutcome {
    /// Rank of its worker.
    pub rank: u32,
    /// Its name.
    pub name: String,
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
            record: &self.outcome.record,
            window_ns: self.window_ns(),
            is_partial: self.is_partial,
        }
    }

    /// Time from its start to its last figure, on the coordinator's clock.
    fn window_ns(&self) -> Option<(u64, u64)> {
        let began_ns = self.began_ns?;
        Some((began_ns, began_ns.saturating_add(self.outcome.record.elapsed_ns)))
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
    /// Time between the first and the last start; `None`: fewer than two hosts have begun.
    pub fn start_spread_ns(&self) -> Option<u64> {
        let starts = self.hosts.iter().filter_map(|host| host.began_ns);
        let (first, last) = (starts.clone().min()?, starts.clone().max()?);
        (starts.count() > 1).then_some(last - first)
    }

    /// Time in which all hosts ran; 0: there was none.
    pub fn common_ns(&self) -> u64 {
        let windows: Vec<(u64, u64)> = self.hosts.iter().filter_map(HostOutcome::window_ns).collect();
        let begin = windows.iter().map(|window| window.0).max().unwrap_or_default();
        let end = windows.iter().map(|window| window.1).min().unwrap_or_default();
        end.saturating_sub(begin)
    }

    /// Time from the first start to the last end.
    pub fn whole_ns(&self) -> u64 {
        let windows: Vec<(u64, u64)> = self.hosts.iter().filter_map(HostOutcome::window_ns).collect();
        let begin = windows.iter().map(|window| window.0).min().unwrap_or_default();
        windows.iter().map(|window| window.1).max().unwrap_or_default().saturating_sub(begin)
    }

    /// All hosts in one record: a job's clones are those of all hosts.
    pub fn merged(&self) -> RunRecord {
        let mut hosts = self.hosts.iter();
        let first = hosts.next().map(|host| host.outcome.record.clone()).unwrap_or_default();
        let mut merged = RunRecord {
            elapsed_ns: self.whole_ns(),
            workers: Vec::new(),
            // What probes saw, and the course, are of one host each.
            evidence: ferrio_stats::Evidence::default(),
            course: Vec::new(),
            series: Vec::new(),
            precision: None,
            audit: None,
            messages: ferrio_stats::RunMessages::default(),
            ..first
        };
        for host in &self.hosts {
            let record = &host.outcome.record;
            merged.timestamp_ms = merged.timestamp_ms.max(record.timestamp_ms);
            for message in record.messages.kept() {
                merged.messages.push(message.stream, message.note.clone());
            }
            merged.workers.extend(record.workers.iter().cloned());
        }
        // In the order of jobs, so that a job's clones on all hosts stand together; the sort keeps the order of hosts.
        merged.workers.sort_by_key(|worker| worker.job_index);
        for (index, worker) in merged.workers.iter_mut().enumerate() {
            worker.number = index as u32 + 1;
        }
        merged.audit = Some(self.audit());
        merged
    }

    /// What was found about the hosts together, and on each of them: each finding once, with the hosts that it is about.
    fn audit(&self) -> Audit {
        let audited: Vec<AuditedHost<'_>> = self.hosts.iter().map(HostOutcome::audited).collect();
        let mut all = Audit { findings: fleet_findings(&audited, &self.shared), ..Audit::default() };
        for host in &self.hosts {
            let Some(audit) = &host.outcome.record.audit else { continue };
            all.n_rules = all.n_rules.max(audit.n_rules);
            for finding in &audit.findings {
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
