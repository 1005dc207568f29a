//! A colon in a file name, which separates two names.

use crate::audit_input::AuditedJob;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::unexamined::EvidenceKind;
use ferrio_stats::{Measured, Severity, TargetKind, TargetPlace};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "colon-in-filename",
    title: "The colon in filename has made several targets of one name",
    severity: Severity::Misleading,
    what: "The text of filename, and the targets that it names. It is reported where a colon separates it into several names, and at least one of \
           them was no file or device before the run, and where they do not look like names that somebody has listed: one begins with a digit, as the \
           minutes of a time and the parts of an address do, one is empty, or only some have a directory.",
    why: "A colon separates names (filename=/dev/sda:/dev/sdb). A path that contains one, such as a time, a PCI address or an IPv6 address, \
          becomes two targets, and the I/O goes to other files than meant.",
    example: "--name=a --filename=/data/backup-12:30 --rw=write --size=1g",
    cure: "Write a colon that belongs to a name as `\\:`; to have several targets, make sure that each of them is there.",
    needs: &[EvidenceKind::Targets],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case| case.jobs.iter().filter_map(of_job).collect(),
};

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    let names = &job.spec.target.filenames;
    if names.len() < 2 || !job.has_files() {
        return None;
    }
    // Files that the job itself has made or made longer were empty before.
    let was_nothing = |place: &TargetPlace| match place.kind {
        TargetKind::Missing | TargetKind::Other => true,
        TargetKind::File => is_new(job),
        _ => false,
    };
    if !job.places.iter().any(was_nothing) || !is_one_name_cut(names) {
        return None;
    }
    let shown: Vec<String> = names.iter().take(4).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > shown.len() { ", ..." } else { "" };
    let explanation = format!(
        "filename={} names {} targets: {}{more}. At least one of them was not there before the run.",
        names.join(":"),
        names.len(),
        shown.join(", ")
    );
    Some(Observation::of(job, vec![Measured::count("targets", names.len() as f64)], explanation))
}

/// The names are parts of one that has colons in it, and no list: a time such as `backup-12:30`, an address, `host:/path`.
fn is_one_name_cut(names: &[String]) -> bool {
    let begins_with_digit = |name: &String| name.starts_with(|first: char| first.is_ascii_digit());
    // Names that are all of one kind, such as `1:2:3`, are a list; a time has digits on both sides, too, and two parts of two digits.
    let are_numbers = names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    let is_time = are_numbers && names.iter().all(|name| name.len() == 2);
    let has_digits_cut = !are_numbers && names[1..].iter().any(begins_with_digit) && !are_alike(names);
    let has_directory = |name: &String| name.contains('/');
    let differ_in_directory = names.iter().any(has_directory) && !names.iter().all(has_directory);
    is_time || has_digits_cut || differ_in_directory || names.iter().any(String::is_empty)
}

/// The names have the same letters and marks, and digits at the same places: `1a` and `2a`.
fn are_alike(names: &[String]) -> bool {
    let shape = |name: &String| -> String {
        let letters = name.chars().map(|letter| if letter.is_ascii_digit() { '0' } else { letter });
        letters.collect::<String>()
    };
    names.windows(2).all(|pair| shape(&pair[0]) == shape(&pair[1]))
}

/// Files of the job were made before it began.
fn is_new(job: &AuditedJob<'_>) -> bool {
    job.workers.iter().any(|worker| worker.n_laid_out.is_some_and(|n_files| n_files > 0))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::TargetKind;

    fn is_told(names: &[&str], kind: TargetKind, n_laid_out: u64) -> bool {
        let mut job = job("a", DirectionMix::Write);
        job.target.filenames = names.iter().map(|name| (*name).to_owned()).collect();
        let mut scene = TestRun::new(job);
        scene.places[0].kind = kind;
        scene.record.workers[0].n_laid_out = Some(n_laid_out);
        scene.found().contains(&"colon-in-filename".to_owned())
    }

    #[test]
    fn two_names_of_which_one_was_not_there_are_told() {
        assert!(is_told(&["at-12", "30"], TargetKind::Missing, 0));
        assert!(is_told(&["at-12", "30"], TargetKind::File, 2));
        assert!(!is_told(&["at-12", "30"], TargetKind::File, 0), "both were there");
        assert!(!is_told(&["/dev/a", "/dev/b"], TargetKind::Block, 0));
        assert!(!is_told(&["x"], TargetKind::Missing, 0));
    }

    #[test]
    fn new_files_that_are_listed_are_no_mistake() {
        let lists: [&[&str]; 6] = [
            &["a", "b"],
            &["data", "log"],
            &["/mnt/x/f1", "/mnt/x/f2"],
            &["f1", "f2", "f3"],
            &["1", "2", "3"],
            &["1a", "2a"],
        ];
        for names in lists {
            assert!(!is_told(names, TargetKind::Missing, 0), "{names:?}");
        }
        let cut: [&[&str]; 6] = [
            &["backup-12", "30"],
            &["12", "30"],
            &["2026-11-29T12", "30", "00"],
            &["pci-0000", "00", "1f.2"],
            &["host", "/export/f"],
            &["fe80", "", "1"],
        ];
        for names in cut {
            assert!(is_told(names, TargetKind::Missing, 0), "{names:?}");
        }
    }
}
