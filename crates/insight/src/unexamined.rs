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
struct Subject {
    /// In a few words.
    name: &'static str,
    rules: &'static [&'static str],
    gaps: fn(&Case<'_>) -> Vec<Gap>,
}

/// Evidence that is missing.
struct Gap {
    /// Its job; `None`: all.
    job: Option<String>,
    reason: String,
}

/// All kinds of evidence that may be missing.
const SUBJECTS: &[Subject] = &[
    Subject {
        name: "the work of the devices",
        rules: &["device-did-less", "lower-device-did-less", "other-users"],
        gaps: gaps::devices,
    },
    Subject {
        name: "the page cache",
        rules: &["direct-not-honoured", "direct-writes-copied", "writes-still-dirty", "earlier-writes"],
        gaps: gaps::page_cache,
    },
    Subject { name: "holes in the files", rules: &["reads-of-unwritten-extents"], gaps: gaps::extents },
    Subject {
        name: "the contents of the blocks that were read",
        rules: &["reads-of-zeroes", "files-hold-zeroes"],
        gaps: gaps::contents,
    },
    Subject {
        name: "the kernel's account of the jobs",
        rules: &["process-read-less", "other-users"],
        gaps: gaps::accounts,
    },
    Subject {
        name: "the course of the run",
        rules: &["rate-fell", "first-reads-slower", "rate-drifts", "stalls"],
        gaps: gaps::course,
    },
    Subject { name: "earlier runs on the targets", rules: &["same-blocks-again"], gaps: gaps::earlier_runs },
    Subject { name: "CPU time that others took", rules: &["stolen-cpu-time", "cpu-quota"], gaps: gaps::host_cpu },
    Subject { name: "stalls for memory", rules: &["memory-stalls"], gaps: gaps::pressure },
    Subject { name: "steps of the clock", rules: &["clock-trouble"], gaps: gaps::clock },
    Subject { name: "heat", rules: &["slowed-by-heat"], gaps: gaps::heat },
];

/// Nothing of the record could be examined.
pub(crate) fn all(reason: String) -> Unexamined {
    let rules = RULES.iter().map(|rule| rule.id.to_owned()).collect();
    Unexamined { subject: "the run".to_owned(), reason, jobs: Vec::new(), rules }
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
    for Gap { job, reason } in (subject.gaps)(case) {
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
                });
                found.len() - 1
            }
        };
        if same.is_none() && index == MOST_REASONS - 1 && !found[index].jobs.is_empty() {
            "several reasons".clone_into(&mut found[index].reason);
        }
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

    #[test]
    fn before_a_run_nothing_is_missing() {
        assert_eq!(subjects(&TestRun::new(job("a", DirectionMix::Read)).before().made()), []);
    }

    #[test]
    fn many_reasons_are_told_as_one() {
        let gaps = |_: &Case<'_>| {
            let gap = |number: u32| Gap { job: Some(number.to_string()), reason: format!("reason {}", number % 5) };
            (0..10).map(gap).collect()
        };
        let record = TestRun::new(job("a", DirectionMix::Read)).made();
        let case = Case::of(&record).expect("a case");
        let found = of_subject(&Subject { name: "it", rules: &[], gaps }, &case);
        let outline: Vec<_> = found.iter().map(|found| (found.reason.as_str(), found.jobs.len())).collect();
        assert_eq!(outline, [("reason 0", 2), ("reason 1", 2), ("several reasons", 6)]);
    }
}
