//! What an audit could not examine: the evidence that a rule rests on is missing, for a job that the rule is about.
//!
//! A rule without evidence has no finding; that must not look like a rule that has found nothing wrong. [`SUBJECTS`] says which rules
//! rest on which evidence. Rules that are not in it need only what every record has: options, figures, facts about machine and devices.
//! Must not know: how findings are shown. Start reading at [`of`].

mod gaps;

use crate::case::Case;
use crate::rules::RULES;
use ferrio_stats::Unexamined;

/// More reasons for one subject than this are told as one.
const MOST_REASONS: usize = 3;

/// Evidence of one kind, and the rules that rest on it.
#[derive(Debug)]
pub struct Subject {
    /// In a few words.
    pub name: &'static str,
    /// Short names of the rules.
    pub rules: &'static [&'static str],
    /// What a user without rights does not see of it; empty: the same as root.
    pub without_root: &'static str,
    gaps: fn(&Case<'_>) -> Vec<Gap>,
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
        name: "the work of the devices",
        rules: &["device-did-less", "lower-device-did-less", "other-users"],
        without_root: "the disks below a loop device whose file is in a directory that the user cannot enter",
        gaps: gaps::devices,
    },
    Subject {
        name: "the page cache",
        rules: &["direct-not-honoured", "direct-writes-copied", "writes-still-dirty", "earlier-writes"],
        without_root: "files of other owners that the user may not write",
        gaps: gaps::page_cache,
    },
    Subject {
        name: "holes in the files",
        rules: &["reads-of-unwritten-extents"],
        without_root: "files that the user may not read, among them the file behind a loop device",
        gaps: gaps::extents,
    },
    Subject {
        name: "the contents of the blocks that were read",
        rules: &["reads-of-zeroes", "files-hold-zeroes"],
        without_root: "",
        gaps: gaps::contents,
    },
    Subject {
        name: "the kernel's account of the jobs",
        rules: &["process-read-less", "other-users", "buffered-below-page"],
        without_root: "",
        gaps: gaps::accounts,
    },
    Subject {
        name: "the bytes that were read for each job",
        rules: &["device-did-less", "process-read-less", "reads-of-unwritten-extents"],
        without_root: "",
        gaps: gaps::reads_of_threads,
    },
    Subject {
        name: "reads and writes of whole pages for smaller blocks",
        rules: &["buffered-below-page"],
        without_root: "",
        gaps: gaps::parts_of_pages,
    },
    Subject { name: "flushes of the devices", rules: &["sync-without-flush"], without_root: "", gaps: gaps::flushes },
    Subject {
        name: "the targets",
        rules: &[
            "colon-in-filename",
            "posixaio-one-file",
            "file-under-dev",
            "target-in-memory",
            "target-on-network",
            "short-file",
        ],
        without_root: "",
        gaps: gaps::targets,
    },
    Subject {
        name: "the size of the range",
        rules: &["range-read-again", "range-trimmed-again", "few-hot-blocks"],
        without_root: "",
        gaps: gaps::ranges,
    },
    Subject {
        name: "waits for a CPU",
        rules: &["waits-for-cpu", "tail-waits-for-cpu", "verification-cost"],
        without_root: "",
        gaps: gaps::cpu_turns,
    },
    Subject {
        name: "the course of the run",
        rules: &["rate-fell", "first-reads-slower", "rate-drifts", "stalls"],
        without_root: "",
        gaps: gaps::course,
    },
    Subject {
        name: "earlier runs on the targets",
        rules: &["same-blocks-again"],
        without_root: "",
        gaps: gaps::earlier_runs,
    },
    Subject {
        name: "CPU time that others took",
        rules: &["stolen-cpu-time", "cpu-quota"],
        without_root: "",
        gaps: gaps::host_cpu,
    },
    Subject {
        name: "stalls for memory",
        rules: &["memory-stalls"],
        without_root: "all of it, where `/proc/pressure` is for root alone",
        gaps: gaps::pressure,
    },
    Subject { name: "steps of the clock", rules: &["clock-trouble"], without_root: "", gaps: gaps::clock },
    Subject {
        name: "heat",
        rules: &["slowed-by-heat"],
        without_root: "sensors that are for root alone",
        gaps: gaps::heat,
    },
];

/// Nothing of the record could be examined.
pub(crate) fn all(reason: String) -> Unexamined {
    let rules = RULES.iter().map(|rule| rule.id.to_owned()).collect();
    Unexamined { subject: "the run".to_owned(), reason, rules, ..Unexamined::default() }
}

/// What could not be examined in a run. Before it there is nothing to be examined but options and targets.
pub(crate) fn of(case: &Case<'_>) -> Vec<Unexamined> {
    if case.is_before() {
        return Vec::new();
    }
    SUBJECTS.iter().flat_map(|subject| of_subject(subject, case)).collect()
}

fn of_subject(subject: &Subject, case: &Case<'_>) -> Vec<Unexamined> {
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
                    rules: subject.rules.iter().map(|&rule| rule.to_owned()).collect(),
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
    fn subjects_name_rules_that_there_are() {
        for id in SUBJECTS.iter().flat_map(|subject| subject.rules) {
            assert!(RULES.iter().any(|rule| rule.id == *id), "{id}");
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
        let gaps = |_: &Case<'_>| {
            let gap = |number: u32| Gap {
                job: Some(number.to_string()),
                reason: format!("reason {}", number % 5),
                is_of_machine: false,
            };
            (0..10).map(gap).collect()
        };
        let record = TestRun::new(job("a", DirectionMix::Read)).made();
        let case = Case::of(&record).expect("a case");
        let found = of_subject(&Subject { name: "it", rules: &[], without_root: "", gaps }, &case);
        let outline: Vec<_> = found.iter().map(|found| (found.reason.as_str(), found.jobs.len())).collect();
        assert_eq!(outline, [("reason 0", 2), ("reason 1", 2), ("several reasons", 6)]);
    }
}
