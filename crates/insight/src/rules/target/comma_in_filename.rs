//! Names of several targets with a comma or a space between them.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::unexamined::EvidenceKind;
use ferrio_stats::{Severity, TargetKind};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "comma-in-filename",
    title: "The name of the file has a comma",
    severity: Severity::Misleading,
    what: "Before a run: the names of filename. It is reported where a name has a comma, is not there, and what follows the comma looks like another name of the same kind.",
    why: "Several targets are divided by colons. With a comma they are one file of a long name, which the run makes.",
    example: "--name=a --filename=/data/one,/data/two --rw=write --size=1g",
    cure: "Put a colon between the names: filename=/data/one:/data/two.",
    needs: &[EvidenceKind::Targets],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case| case.jobs.iter().filter_map(|job| of_job(case, job, ',')).collect(),
};

pub(crate) const SPACE: FindingRule = FindingRule {
    id: "space-in-filename",
    title: "The name of the file has a space",
    severity: Severity::Misleading,
    what: "Before a run: the names of filename. It is reported where a name has spaces, is not there, and what follows each space looks like another name of the same kind.",
    why: "Several targets are divided by colons. With a space they are one file of a long name, which the run makes.",
    example: "--name=a \"--filename=/data/one /data/two\" --rw=write --size=1g",
    cure: "Put a colon between the names: filename=/data/one:/data/two.",
    needs: &[EvidenceKind::Targets],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["comma-in-filename"],
    find: |case| case.jobs.iter().filter_map(|job| of_job(case, job, ' ')).collect(),
};

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>, mark: char) -> Option<Observation> {
    let is_missing = job.places.iter().any(|place| matches!(place.kind, TargetKind::Missing | TargetKind::Other));
    if !case.is_before() || !is_missing || !job.has_files() {
        return None;
    }
    let name = job.spec.target.filenames.iter().find(|name| is_list(name, mark))?;
    let parts: Vec<&str> = parts_of(name, mark).collect();
    let explanation = format!("filename={name} names one file and not {}.", parts.len());
    let cure = format!("Put a colon between the names: filename={}.", parts.join(":"));
    Some(Observation { cure: Some(cure), ..Observation::of(job, Vec::new(), explanation) })
}

/// Several spaces are one.
fn parts_of(name: &str, mark: char) -> impl Iterator<Item = &str> {
    name.trim().split(mark).map(str::trim).filter(move |part| mark != ' ' || !part.is_empty())
}

fn but_last(name: &str) -> &str {
    name.char_indices().next_back().map_or("", |(end, _)| &name[..end])
}

fn is_list(name: &str, mark: char) -> bool {
    let mut parts = parts_of(name, mark);
    let first = parts.next().unwrap_or_default();
    let directory = first.rfind('/').map_or("", |end| &first[..=end]);
    let is_path = |part: &str| part.starts_with(['/', '.']) || (!directory.is_empty() && part.starts_with(directory));
    // Names without directories have the same beginning or ending: `a1,a2`, `one.dat,two.dat`.
    let is_alike = |part: &str| {
        let ending = |name: &str| name.rsplit_once('.').map(|(_, ending)| ending.to_owned());
        let word = |name: &str| name.trim_end_matches(|letter: char| letter.is_ascii_digit()).to_owned();
        // `sda`, `sdb`.
        let is_next = part != first && part.len() == first.len() && part.len() > 1 && but_last(part) == but_last(first);
        is_next
            || ending(part).is_some_and(|its| Some(its) == ending(first))
            || (part != word(part) && word(part) == word(first))
    };
    let others: Vec<&str> = parts.collect();
    !first.is_empty()
        && !others.is_empty()
        && others.iter().all(|part| !part.is_empty() && (is_path(part) || is_alike(part)))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::TargetKind;

    fn is_told(name: &str, kind: TargetKind) -> bool {
        found(name, kind).contains(&"comma-in-filename".to_owned())
    }

    fn found(name: &str, kind: TargetKind) -> Vec<String> {
        let mut job = job("a", DirectionMix::Write);
        job.target.filenames = vec![name.to_owned()];
        let mut scene = TestRun::new(job).before();
        scene.places[0].kind = kind;
        scene.found()
    }

    #[test]
    fn a_list_with_spaces_is_told_where_no_such_file_is_there() {
        for list in ["/data/a /data/b", "./a  ./b", "f1 f2", "a.dat b.dat", "sda sdb"] {
            assert_eq!(found(list, TargetKind::Missing), ["space-in-filename"], "{list}");
            assert!(found(list, TargetKind::File).is_empty(), "{list}");
        }
        for name in ["my file", "/data/my file", "/data/two words.dat", "plain "] {
            assert!(found(name, TargetKind::Missing).is_empty(), "{name}");
        }
        assert_eq!(found("/data/a, /data/b", TargetKind::Missing), ["comma-in-filename"], "one cause is enough");
    }

    #[test]
    fn a_list_with_commas_is_told_where_no_such_file_is_there() {
        for list in ["/data/a,/data/b", "./a,./b", "f1,f2", "a.dat,b.dat", "/dev/sda,/dev/sdb,/dev/sdc"] {
            assert!(is_told(list, TargetKind::Missing), "{list}");
            assert!(!is_told(list, TargetKind::File), "{list}");
        }
        for name in ["main.c,v", "/data/a,b", "x,", "plain"] {
            assert!(!is_told(name, TargetKind::Missing), "{name}");
        }
    }
}
