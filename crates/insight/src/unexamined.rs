//! What an audit could not examine: the evidence that a rule rests on is missing, for a job that the rule is about.
//!
//! A rule without evidence has no finding; that must not look like a rule that has found nothing wrong. A rule names the kinds
//! of evidence that it rests on (`needs`), and [`SUBJECTS`] says when and why a run lacks one. Other rules need only what every record
//! has: options, figures, facts about machine and devices.
//! Must not know: how findings are shown. Start reading at [`of`].

mod gaps;

use crate::audit_input::AuditInput;
use crate::rules::{FindingRule, RULES};
use ferrio_stats::Unexamined;

/// More reasons for one subject than this are told as one.
const MOST_REASONS: usize = 3;

/// Kinds of evidence that a run may lack. A rule names those that it rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvidenceKind {
    /// Bytes that the devices below the targets have moved.
    Devices,
    /// The page cache of the machine and of the files.
    PageCache,
    /// Holes in the files.
    Extents,
    /// Blocks that were read, looked at after the run.
    Contents,
    /// I/O that the kernel charges to the processes of the run.
    Accounts,
    /// The reads of each job, where jobs are threads of one process.
    ReadsOfThreads,
    /// Reads and writes of whole pages for smaller blocks.
    PartsOfPages,
    /// Flushes that the devices were told.
    Flushes,
    Targets,
    /// The size of the range that a job reads or writes.
    Ranges,
    /// Turns of the threads on a CPU, and waits for one.
    CpuTurns,
    /// The intervals of the run.
    Course,
    /// The memory of earlier runs on the same targets.
    EarlierRuns,
    /// CPU time of the whole machine.
    HostCpu,
    /// Stalls for memory.
    Pressure,
    Clock,
    /// Temperatures and slowed-down CPUs and drives.
    Heat,
    /// The options of the jobs, which a report in text lacks.
    Options,
}

/// Evidence of one kind, as users see it.
#[derive(Debug)]
pub struct Subject {
    pub kind: EvidenceKind,
    /// In a few words.
    pub name: &'static str,
    /// What a user without rights does not see of it; empty: the same as root.
    pub without_root: &'static str,
    gaps: fn(&AuditInput<'_>) -> Vec<Gap>,
}

impl Subject {
    /// The rules that rest on it, in the order of their table.
    pub fn rules(&self) -> impl Iterator<Item = &'static FindingRule> {
        let kind = self.kind;
        RULES.iter().filter(move |rule| rule.needs.contains(&kind))
    }
}

/// Evidence that is missing.
struct Gap {
    /// Its job; `None`: all.
    job: Option<String>,
    reason: String,
    /// The machine never has it.
    is_of_machine: bool,
}

/// All kinds of evidence that may be missing.
pub const SUBJECTS: &[Subject] = &[
    Subject {
        kind: EvidenceKind::Devices,
        name: "the work of the devices",
        without_root: "the disks below a loop device whose file is in a directory that the user cannot enter",
        gaps: gaps::devices,
    },
    Subject {
        kind: EvidenceKind::PageCache,
        name: "the page cache",
        without_root: "files of other owners that the user may not write",
        gaps: gaps::page_cache,
    },
    Subject {
        kind: EvidenceKind::Extents,
        name: "holes in the files",
        without_root: "files that the user may not read, among them the file behind a loop device",
        gaps: gaps::extents,
    },
    Subject {
        kind: EvidenceKind::Contents,
        name: "the contents of the blocks that were read",
        without_root: "",
        gaps: gaps::contents,
    },
    Subject {
        kind: EvidenceKind::Accounts,
        name: "the kernel's account of the jobs",
        without_root: "",
        gaps: gaps::accounts,
    },
    Subject {
        kind: EvidenceKind::ReadsOfThreads,
        name: "the bytes that were read for each job",
        without_root: "",
        gaps: gaps::reads_of_threads,
    },
    Subject {
        kind: EvidenceKind::PartsOfPages,
        name: "reads and writes of whole pages for smaller blocks",
        without_root: "",
        gaps: gaps::parts_of_pages,
    },
    Subject { kind: EvidenceKind::Flushes, name: "flushes of the devices", without_root: "", gaps: gaps::flushes },
    Subject { kind: EvidenceKind::Targets, name: "the targets", without_root: "", gaps: gaps::targets },
    Subject { kind: EvidenceKind::Ranges, name: "the size of the range", without_root: "", gaps: gaps::ranges },
    Subject { kind: EvidenceKind::CpuTurns, name: "waits for a CPU", without_root: "", gaps: gaps::cpu_turns },
    Subject { kind: EvidenceKind::Course, name: "the course of the run", without_root: "", gaps: gaps::course },
    Subject {
        kind: EvidenceKind::EarlierRuns,
        name: "earlier runs on the targets",
        without_root: "",
        gaps: gaps::earlier_runs,
    },
    Subject { kind: EvidenceKind::HostCpu, name: "CPU time that others took", without_root: "", gaps: gaps::host_cpu },
    Subject {
        kind: EvidenceKind::Pressure,
        name: "stalls for memory",
        without_root: "all of it, where `/proc/pressure` is for root alone",
        gaps: gaps::pressure,
    },
    Subject { kind: EvidenceKind::Clock, name: "steps of the clock", without_root: "", gaps: gaps::clock },
    Subject {
        kind: EvidenceKind::Heat,
        name: "heat",
        without_root: "sensors that are for root alone",
        gaps: gaps::heat,
    },
    // A run here has its options; only reports can lack them.
    Subject { kind: EvidenceKind::Options, name: "the options of the jobs", without_root: "", gaps: |_| Vec::new() },
];

/// Nothing of the record could be examined.
pub(crate) fn all(reason: String) -> Unexamined {
    Unexamined { subject: "the run".to_owned(), reason, rules: names(RULES), ..Unexamined::default() }
}

/// Short names of rules.
pub(crate) fn names<'r>(rules: impl IntoIterator<Item = &'r FindingRule>) -> Vec<String> {
    rules.into_iter().map(|rule| rule.id.to_owned()).collect()
}

/// What could not be examined in a run. Before it there is nothing to be examined but options and targets.
pub(crate) fn of(case: &AuditInput<'_>) -> Vec<Unexamined> {
    if case.is_before() {
        return Vec::new();
    }
    SUBJECTS.iter().flat_map(|subject| of_subject(subject, case)).collect()
}

fn of_subject(subject: &Subject, case: &AuditInput<'_>) -> Vec<Unexamined> {
    let mut found: Vec<Unexamined> = Vec::new();
    for Gap { job, reason, is_of_machine } in (subject.gaps)(case) {
        let same = found.iter().position(|known| known.reason == reason);
        let index = match same {
            Some(index) => index,
            None if found.len() == MOST_REASONS => MOST_REASONS - 1,
            None => {
                found.push(Unexamined {
                    subject: subject.name.to_owned(),
                    reason,
                    jobs: Vec::new(),
                    rules: names(subject.rules()),
                    is_of_machine,
                });
                found.len() - 1
            }
        };
        if same.is_none() && index == MOST_REASONS - 1 && !found[index].jobs.is_empty() {
            "several reasons".clone_into(&mut found[index].reason);
        }
        found[index].is_of_machine &= is_of_machine;
        found[index].jobs.extend(job);
    }
    for unexamined in &mut found {
        if unexamined.jobs.len() == case.jobs.len() {
            unexamined.jobs.clear();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit;
    use crate::rules::testing::{TestRun, job, layer, place};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{LayerKind, RunRecord};

    #[test]
    fn each_kind_of_evidence_has_one_row_and_rules_that_need_it() {
        for kind in RULES.iter().flat_map(|rule| rule.needs) {
            assert_eq!(SUBJECTS.iter().filter(|subject| subject.kind == *kind).count(), 1, "{kind:?}");
        }
        for subject in SUBJECTS {
            assert!(subject.rules().next().is_some(), "{subject:?}");
        }
    }

    fn subjects(record: &RunRecord) -> Vec<(String, Vec<String>)> {
        audit(record).unexamined.into_iter().map(|unexamined| (unexamined.subject, unexamined.jobs)).collect()
    }

    #[test]
    fn a_run_whose_jobs_are_not_known_is_not_examined_at_all() {
        let mut record = TestRun::new(job("a", DirectionMix::Read)).made();
        record.provenance.as_mut().expect("a provenance").jobs[0].options = None;
        let audit = audit(&record);
        assert_eq!((audit.findings.len(), audit.n_blind(), audit.n_rules as usize), (0, RULES.len(), RULES.len()));
        assert_eq!(audit.unexamined[0].reason, "the options of job a are in a form of another version");
        assert_eq!(subjects(&RunRecord::default()), [("the run".to_owned(), vec![])]);
    }

    #[test]
    fn devices_that_cannot_be_seen_are_told_by_job() {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        let devices = |scene: &TestRun| subjects(&scene.made()).into_iter().find(|(name, _)| name.contains("devices"));
        assert_eq!(devices(&scene), None);
        scene.add(job("b", DirectionMix::Read), place("/srv/b"));
        scene.places[1].layer = Some("/srv".to_owned());
        let mut served = layer("/srv", LayerKind::Served, &[]);
        served.detail = "fuse.sshfs".to_owned();
        let mut disk = layer("vda", LayerKind::Disk, &[]);
        disk.bytes = Some([0, 0]);
        scene.layers(vec![layer("/data", LayerKind::FileSystem, &["vda"]), disk, served]);
        assert_eq!(devices(&scene), Some(("the work of the devices".to_owned(), vec!["b".to_owned()])));
        let audit = audit(&scene.made());
        assert!(audit.unexamined[0].reason.contains("/srv: a program serves it (fuse.sshfs)"), "{audit:?}");
    }

    /// The reason why a rule could not look at a scene.
    fn reason(scene: &TestRun, rule: &str) -> Option<String> {
        let found = audit(&scene.made()).unexamined.into_iter();
        found.filter(|part| part.rules.iter().any(|id| id == rule)).map(|part| part.reason).next()
    }

    #[test]
    fn flushes_that_are_not_counted_are_told() {
        let mut job = job("a", DirectionMix::Write);
        let without_sync = TestRun::new(job.clone());
        assert_eq!(reason(&without_sync, "sync-without-flush"), None);
        job.durability.end_fsync = true;
        let mut scene = TestRun::new(job);
        let unknown = reason(&scene, "sync-without-flush");
        assert_eq!(unknown.as_deref(), Some("no device with a queue of its own is known below /data/a.0.0"));
        scene.device.n_hardware_queues = Some(1);
        scene.device.write_cache = Some("write back".to_owned());
        let uncounted = reason(&scene, "sync-without-flush");
        assert_eq!(uncounted.as_deref(), Some("the kernel does not count those of vda"));
        scene.n_flushes = Some(3);
        assert_eq!(reason(&scene, "sync-without-flush"), None);
    }

    #[test]
    fn ranges_and_targets_that_are_not_known_are_told() {
        let mut spec = job("a", DirectionMix::Read);
        spec.extent.size = None;
        let mut scene = TestRun::new(spec);
        assert_eq!(reason(&scene, "range-read-again"), None);
        scene.places[0].kind = ferrio_stats::TargetKind::Missing;
        assert_eq!(reason(&scene, "range-read-again").as_deref(), Some("the size of the targets is not known"));
        let mut record = scene.made();
        record.evidence.targets = None;
        let targets = audit(&record).unexamined.into_iter().find(|part| part.subject == "the targets");
        let targets = targets.expect("no targets are known");
        assert!(targets.rules.contains(&"colon-in-filename".to_owned()), "{targets:?}");
    }

    #[test]
    fn an_account_that_others_share_is_told() {
        let mut small = job("small", DirectionMix::Write);
        (small.durability.direct, small.pattern.random) = (false, true);
        small.pattern.block_size = ferrio_units::PerDirection::all(ferrio_spec::BlockRange::one(512));
        let mut scene = TestRun::new(small);
        scene.record.evidence.process_io = Some(ferrio_stats::ProcessIo {
            total: ferrio_stats::Reading::Value(ferrio_stats::IoCounters::default()),
            workers: vec![],
        });
        assert_eq!(reason(&scene, "buffered-below-page"), None);
        let mut other = job("other", DirectionMix::Read);
        other.durability.direct = false;
        scene.add(other, place("/data/other"));
        let shared = reason(&scene, "buffered-below-page").expect("it is told");
        assert!(shared.contains("the I/O of other jobs"), "{shared}");
    }

    /// Each run on such a machine would have the same line.
    #[test]
    fn evidence_that_the_machine_never_has_is_told_as_such() {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        let of_heat = |scene: &TestRun| {
            let found = audit(&scene.made()).unexamined.into_iter().find(|part| part.subject == "heat");
            found.map(|part| part.is_of_machine)
        };
        assert_eq!(of_heat(&scene), Some(false), "it was not asked for");
        scene.record.evidence.heat = Some(ferrio_stats::Heat::default());
        assert_eq!(of_heat(&scene), Some(true), "there is no sensor");
    }

    #[test]
    fn before_a_run_nothing_is_missing() {
        assert_eq!(subjects(&TestRun::new(job("a", DirectionMix::Read)).before().made()), []);
    }

    #[test]
    fn many_reasons_are_told_as_one() {
        let gaps = |_: &AuditInput<'_>| {
            let gap = |number: u32| Gap {
                job: Some(number.to_string()),
                reason: format!("reason {}", number % 5),
                is_of_machine: false,
            };
            (0..10).map(gap).collect()
        };
        let record = TestRun::new(job("a", DirectionMix::Read)).made();
        let case = AuditInput::of(&record).expect("a case");
        let found = of_subject(&Subject { kind: EvidenceKind::Heat, name: "it", without_root: "", gaps }, &case);
        let outline: Vec<_> = found.iter().map(|found| (found.reason.as_str(), found.jobs.len())).collect();
        assert_eq!(outline, [("reason 0", 2), ("reason 1", 2), ("several reasons", 6)]);
    }
}
