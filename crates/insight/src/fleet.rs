//! Findings about a run on several hosts: one that is slower than the others, hosts that are not alike, hosts that did not run together.
//!
//! Must not know: how hosts are reached. Start reading at [`fleet_findings`].

use crate::outside_load::OutsideLoadFigures;
use crate::rules::FindingRule;
use crate::text;
use ferrio_stats::provenance::DeviceFacts;
use ferrio_stats::{
    Confidence, Estimate, Finding, JobPrecision, Measured, Provenance, RunRecord, Severity, SharedPlace,
};
use ferrio_units::DataDirection;
use std::collections::BTreeMap;

/// A host is slower.
pub const SLOW_HOST: FindingRule = FindingRule::of_several(
    "slow-host",
    "One host was slower than the others",
    "The I/Os a second of each host for the same job, with their intervals of confidence. It is reported of three hosts and more, where the upper end of a host's interval is more than a tenth below the \
     median of the others.",
    "The figures of all hosts together hide it: the storage may be good, and one host, its cable or its path is not. The slowest host decides when a parallel program goes on.",
    "ferrio fleet --hosts=a,b,c --name=a --ioengine=sim --rw=randread --size=1g",
    "Look at that host alone (ferrio run there), at its path to the storage (network, multipath, firmware), and at what else runs on it.",
);

/// Hosts are not alike.
pub const HOSTS_DIFFER: FindingRule = FindingRule::of_several(
    "hosts-differ",
    "The hosts are not alike",
    "Kernel, CPU, number of CPUs, memory, and model, scheduler and number of requests of the disks, of each host. It is reported where they differ.",
    "Differences between the figures of the hosts may be those of the hosts, not of the storage.",
    "ferrio fleet --hosts=a,b --name=a --rw=randread --size=1g",
    "Compare hosts of one kind, or make a run for each kind.",
);

/// Hosts did not run together.
pub const NOT_TOGETHER: FindingRule = FindingRule::of_several(
    "hosts-not-together",
    "The hosts did not run at the same time",
    "Start and end of the run on each host, on one clock. It is reported where all of them ran together for less than nine tenths of the time from the first start to the last end.",
    "In the rest of the time the storage had less to do: the sum of the hosts' rates was at no moment what the storage gave.",
    "ferrio fleet --hosts=a,b --name=a --rw=randread --size=1g",
    "Give the jobs a time (--time_based --runtime=60), so that all hosts end together.",
);

/// Several hosts used one place.
pub const SHARE_FILES: FindingRule = FindingRule::of_several(
    "hosts-share-files",
    "Several hosts used the same file or device",
    "The files and devices that the jobs of each host use, with the parts of them, by names that all hosts see alike: server and path, identity of the disk, number of the file. It is \
     reported where several hosts use the same part, and where several hosts write and it could not be told whether they have one place.",
    "What one host has read, the server or the storage may have in its cache for the next one, and hosts that write the same blocks wait for each other's locks, or overwrite each other's data. \
     The figures are then those of the sharing, not of the storage. A run whose hosts write to one place is refused unless that is allowed by --shared-writes.",
    "ferrio fleet --hosts=a,b --name=a --rw=randread --size=1g --filename=data",
    "Give each host a file of its own ($rank in its name), or a part of the file (--partition).",
);

/// A host for an audit.
#[derive(Debug, Clone, Copy)]
pub struct AuditedHost<'a> {
    /// Its name.
    pub name: &'a str,
    /// The boot of its machine; empty: unknown.
    pub machine: &'a str,
    /// What it has measured.
    pub record: &'a RunRecord,
    /// Start and end of its run on one clock, nanoseconds; `None`: unknown.
    pub window_ns: Option<(u64, u64)>,
    /// It was lost, so that its figures end early.
    pub is_partial: bool,
}

/// What is found about the hosts together; `shared` are the places that several of them used.
pub fn fleet_findings(hosts: &[AuditedHost<'_>], shared: &[SharedPlace]) -> Vec<Finding> {
    let mut findings = slow_hosts(hosts);
    findings.extend(not_together(hosts));
    findings.extend(differences(hosts));
    findings.extend(shared_places(shared));
    findings
}

/// The finding is about other programs on a device, and the jobs of other hosts of the same machine have moved as much: containers, or ranks of a
/// batch system, that share its disks.
pub fn is_load_of_fleet(finding: &Finding, host: &AuditedHost<'_>, hosts: &[AuditedHost<'_>]) -> bool {
    let Some(OutsideLoadFigures::Device { others_bytes, .. }) = OutsideLoadFigures::of(finding) else { return false };
    let is_fellow = |other: &&AuditedHost<'_>| other.machine == host.machine && other.name != host.name;
    let workers = hosts.iter().filter(is_fellow).flat_map(|fellow| &fellow.record.workers);
    let moved = workers.flat_map(|worker| worker.stats.directions.0.iter().map(|figures| figures.bytes as f64));
    !host.machine.is_empty() && others_bytes <= LOAD_OF_FLEET * moved.sum::<f64>()
}

/// Load that is no larger than this part of what the jobs of fellow hosts have moved is theirs. File systems move more than they are given.
const LOAD_OF_FLEET: f64 = 1.2;

/// A finding for each kind of sharing: writes, what may be writes, reads.
fn shared_places(shared: &[SharedPlace]) -> Vec<Finding> {
    let kinds = [(true, true, Severity::Misleading), (true, false, Severity::Note), (false, true, Severity::Note)];
    let of_kind = |(is_written, is_certain, severity)| {
        let places: Vec<&SharedPlace> =
            shared.iter().filter(|place| (place.is_written, place.is_certain) == (is_written, is_certain)).collect();
        let first = places.first()?;
        let others = match places.len() - 1 {
            0 => String::new(),
            n => format!(", and {n} more"),
        };
        let (n_hosts, path) = (first.hosts.len(), &first.path);
        let explanation = match (is_written, is_certain) {
            (true, true) => format!("{n_hosts} hosts wrote to the same part of {path}{others}."),
            (true, false) => {
                format!(
                    "{n_hosts} hosts wrote to {path}{others}. Whether these are one place could not be told: they have no names that all hosts see alike."
                )
            }
            (false, _) => {
                format!("{n_hosts} hosts used the same part of {path}{others}: at most one of them wrote there.")
            }
        };
        let evidence = vec![Measured::count("places", places.len() as f64), Measured::count("hosts", n_hosts as f64)];
        Some(Finding { hosts: first.hosts.clone(), ..of_rule(&SHARE_FILES, severity, evidence, explanation) })
    };
    kinds.into_iter().filter_map(of_kind).collect()
}

/// Fewest hosts of which one may be called slow.
const FEWEST_HOSTS: usize = 3;
/// A host is slow from this part of the median of the others on.
const SLOW_PART: f64 = 0.9;
/// Part of the whole time in which all hosts ran together, at least.
const TOGETHER_PART: f64 = 0.9;

fn slow_hosts(hosts: &[AuditedHost<'_>]) -> Vec<Finding> {
    let mut rates: BTreeMap<(&str, &str), Vec<(&str, Confidence)>> = BTreeMap::new();
    for host in hosts.iter().filter(|host| !host.is_partial) {
        let precision: &[JobPrecision] = host.record.precision.as_deref().unwrap_or_default();
        for job in precision {
            let Estimate::Interval(rate) = job.ios_per_sec else { continue };
            rates.entry((job.job.as_str(), job.direction.as_str())).or_default().push((host.name, rate));
        }
    }
    let of_job = |((job, direction), rates): (&(&str, &str), &Vec<(&str, Confidence)>)| {
        let found = rates.iter().filter_map(|(host, rate)| {
            let mut others: Vec<f64> =
                rates.iter().filter(|(other, _)| other != host).map(|(_, rate)| rate.value).collect();
            others.sort_by(f64::total_cmp);
            let median = *others.get(others.len() / 2)?;
            let is_slow = rates.len() >= FEWEST_HOSTS && rate.high < SLOW_PART * median;
            is_slow.then(|| slow(host, job, direction, rate.value, median))
        });
        found.collect::<Vec<_>>()
    };
    rates.iter().flat_map(of_job).collect()
}

fn slow(host: &str, job: &str, direction: &str, rate: f64, median: f64) -> Finding {
    let explanation = format!(
        "Host {host} did {} I/Os a second, and the others {} in the median: {} % less.",
        text::short(rate),
        text::short(median),
        text::short(100.0 * (1.0 - rate / median))
    );
    let evidence = vec![Measured::count("I/Os a second of the host", rate), Measured::count("of the others", median)];
    let direction = DataDirection::ALL.into_iter().find(|known| known.name() == direction);
    let jobs = vec![job.to_owned()];
    Finding {
        hosts: vec![host.to_owned()],
        jobs,
        direction,
        ..of_rule(&SLOW_HOST, Severity::Misleading, evidence, explanation)
    }
}

fn not_together(hosts: &[AuditedHost<'_>]) -> Option<Finding> {
    let windows: Vec<(u64, u64)> = hosts.iter().filter_map(|host| host.window_ns).collect();
    let (first, last) = (windows.iter().map(|window| window.0).min()?, windows.iter().map(|window| window.1).max()?);
    let begin = windows.iter().map(|window| window.0).max()?;
    let end = windows.iter().map(|window| window.1).min()?;
    let (whole, together) = (last.saturating_sub(first) as f64 / 1e9, end.saturating_sub(begin) as f64 / 1e9);
    if windows.len() < 2 || together >= TOGETHER_PART * whole {
        return None;
    }
    let ends_first = hosts
        .iter()
        .filter(|host| host.window_ns.is_some())
        .min_by_key(|host| host.window_ns.map(|window| window.1))?;
    let ends_last = hosts.iter().max_by_key(|host| host.window_ns.map(|window| window.1))?;
    let explanation = format!(
        "All hosts ran together for {} of {} s: {} ended first, {} last.",
        text::short(together),
        text::short(whole),
        ends_first.name,
        ends_last.name
    );
    let evidence =
        vec![Measured::seconds("all hosts ran", together), Measured::seconds("first start to last end", whole)];
    Some(of_rule(&NOT_TOGETHER, Severity::Misleading, evidence, explanation))
}

/// A fact about a host, as text.
type Fact = fn(&Provenance) -> String;

fn differences(hosts: &[AuditedHost<'_>]) -> Option<Finding> {
    let known: Vec<(&str, &Provenance)> =
        hosts.iter().filter_map(|host| Some((host.name, host.record.provenance.as_deref()?))).collect();
    let facts: [(&str, Fact); 5] = [
        ("kernel", |facts| facts.kernel_release.clone()),
        ("CPU", |facts| facts.cpu.model.clone().unwrap_or_default()),
        ("CPUs", |facts| facts.cpu.n_online.to_string()),
        ("memory, GiB", |facts| (facts.memory_bytes.saturating_add(1 << 29) >> 30).to_string()),
        ("disks", disks),
    ];
    let differ: Vec<String> = facts.iter().filter_map(|(name, fact)| difference(name, *fact, &known)).collect();
    if differ.is_empty() {
        return None;
    }
    let explanation = format!("They differ in {}.", differ.join("; in "));
    let evidence = vec![Measured::count("facts that differ", differ.len() as f64)];
    Some(of_rule(&HOSTS_DIFFER, Severity::Note, evidence, explanation))
}

/// The values of a fact with the hosts that have them; `None`: there is one value.
fn difference(name: &str, fact: Fact, known: &[(&str, &Provenance)]) -> Option<String> {
    let mut values: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (host, facts) in known {
        values.entry(fact(facts)).or_default().push(host);
    }
    let of_value = |(value, hosts): (&String, &Vec<&str>)| {
        let value = if value.is_empty() { "unknown" } else { value };
        format!("{value} ({})", hosts.join(", "))
    };
    (values.len() > 1).then(|| format!("{name}: {}", values.iter().map(of_value).collect::<Vec<_>>().join(", ")))
}

/// The disks behind the files, without their names: models and settings.
fn disks(facts: &Provenance) -> String {
    let of_disk = |disk: &DeviceFacts| {
        let scheduler = disk.scheduler.as_deref().unwrap_or("no scheduler");
        let requests = disk.nr_requests.map(|requests| format!(", {requests} requests")).unwrap_or_default();
        format!("{} {scheduler}{requests}", disk.model.as_deref().unwrap_or("unknown model"))
    };
    facts.devices.iter().map(of_disk).collect::<Vec<_>>().join(" + ")
}

fn of_rule(rule: &FindingRule, severity: Severity, evidence: Vec<Measured>, explanation: String) -> Finding {
    Finding {
        id: rule.id.to_owned(),
        title: rule.title.to_owned(),
        severity,
        jobs: Vec::new(),
        hosts: Vec::new(),
        direction: None,
        evidence,
        explanation,
        cure: rule.cure.to_owned(),
        page: rule.page(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(rate: f64, half: f64, kernel: &str) -> RunRecord {
        let estimate = Estimate::Interval(Confidence { value: rate, low: rate - half, high: rate + half });
        let precision = JobPrecision {
            job_index: 0,
            job: "r".to_owned(),
            direction: "read".to_owned(),
            confidence_percent: 95.0,
            interval_ns: 1,
            n_intervals: 100,
            autocorrelation: None,
            n_effective: None,
            ios_per_sec: estimate,
            bytes_per_sec: estimate,
            p50_ns: estimate,
            p99_ns: estimate,
            p999_ns: estimate,
            mean_ns: estimate,
        };
        let provenance = Provenance { kernel_release: kernel.to_owned(), ..Provenance::default() };
        RunRecord { precision: Some(vec![precision]), provenance: Some(Box::new(provenance)), ..RunRecord::default() }
    }

    fn found(hosts: &[(RunRecord, (u64, u64))]) -> Vec<(String, Vec<String>)> {
        let names = ["a", "b", "c", "d"];
        let host =
            |(name, (record, window)): (&&'static str, &(RunRecord, (u64, u64)))| (*name, record.clone(), *window);
        let hosts: Vec<(&str, RunRecord, (u64, u64))> = names.iter().zip(hosts).map(host).collect();
        let audited: Vec<AuditedHost<'_>> = hosts
            .iter()
            .map(|(name, record, window)| AuditedHost {
                name,
                machine: "",
                record,
                window_ns: Some(*window),
                is_partial: false,
            })
            .collect();
        fleet_findings(&audited, &[]).into_iter().map(|finding| (finding.id, finding.hosts)).collect()
    }

    #[test]
    fn a_host_is_slow_beyond_the_noise_of_its_own_figure() {
        let window = (0, 1_000);
        let with = |half| {
            found(&[
                (record(1_000.0, 5.0, "6.1"), window),
                (record(1_010.0, 5.0, "6.1"), window),
                (record(700.0, half, "6.1"), window),
            ])
        };
        assert_eq!(with(10.0), [("slow-host".to_owned(), vec!["c".to_owned()])]);
        assert!(with(300.0).is_empty());
        let two = found(&[(record(1_000.0, 5.0, "6.1"), window), (record(500.0, 5.0, "6.1"), window)]);
        assert!(two.is_empty(), "which of two is slow cannot be said");
    }

    #[test]
    fn sharing_is_graver_where_hosts_write() {
        let place = |is_written, is_certain| SharedPlace {
            path: "/mnt/data".to_owned(),
            hosts: vec!["a".to_owned(), "c".to_owned()],
            is_written,
            is_certain,
        };
        let found =
            fleet_findings(&[], &[place(false, true), place(true, true), place(true, true), place(true, false)]);
        let severities: Vec<Severity> = found.iter().map(|finding| finding.severity).collect();
        assert_eq!(severities, [Severity::Misleading, Severity::Note, Severity::Note]);
        assert!(found[0].explanation.contains("/mnt/data, and 1 more"), "{}", found[0].explanation);
        assert!(found[1].explanation.contains("could not be told"), "{}", found[1].explanation);
        assert_eq!(found[2].hosts, ["a", "c"]);
        assert!(fleet_findings(&[], &[]).is_empty());
    }

    /// Three hosts, of which two are of one machine, and the third has moved as much elsewhere.
    #[test]
    fn what_hosts_of_one_machine_do_to_each_other_is_no_load_of_others() {
        let mut worker = ferrio_stats::WorkerRecord::default();
        worker.stats.directions.0[0].bytes = 100;
        let record = RunRecord { workers: vec![worker], ..RunRecord::default() };
        let host = |name, machine| AuditedHost { name, machine, record: &record, window_ns: None, is_partial: false };
        let hosts = [host("a", "1"), host("b", "1"), host("c", "2")];
        let evidence = |bytes| vec![Measured::bytes("read by the job", 100), Measured::bytes("read by others", bytes)];
        let rule = crate::all_rules().find(|rule| rule.id == "other-users").expect("a rule");
        let is_own = |index: usize, bytes| {
            let finding = of_rule(rule, rule.severity, evidence(bytes), String::new());
            is_load_of_fleet(&finding, &hosts[index], &hosts)
        };
        assert!(is_own(0, 120) && !is_own(0, 121));
        assert!(!is_own(2, 1));
    }

    #[test]
    fn hosts_that_differ_or_ran_apart_are_told() {
        let apart = found(&[(record(1.0, 0.1, "6.1"), (0, 1_000)), (record(1.0, 0.1, "6.2"), (500, 1_500))]);
        let ids: Vec<&str> = apart.iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!(ids, ["hosts-not-together", "hosts-differ"]);
        assert!(found(&[(record(1.0, 0.1, "6.1"), (0, 1_000)), (record(1.0, 0.1, "6.1"), (10, 1_010))]).is_empty());
    }
}
