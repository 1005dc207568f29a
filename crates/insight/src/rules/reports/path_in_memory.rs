//! Files in memory, by their paths in a report.

use crate::audit_input::AuditedJob;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::unexamined::EvidenceKind;
use ferrio_stats::Severity;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "path-in-memory",
    title: "The files are in memory, by their path",
    severity: Severity::Wrong,
    what: "In a report that was not measured here: the options filename and directory. It is reported for paths below /dev/shm, /run and \
           /sys/fs/cgroup, which are in memory on Linux. /tmp is in memory on some machines only, so nothing is said of it.",
    why: "There is no device below such files, so a run on them measures memory and the kernel.",
    example: "ferrio check --result=report.json   (of --directory=/dev/shm)",
    cure: "Give --directory on a file system of the storage that you want to measure; `df -T` shows them.",
    needs: &[EvidenceKind::Options],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case| if case.is_reported() { case.jobs.iter().filter_map(of_job).collect() } else { Vec::new() },
};

/// Mounted by every usual Linux as file systems in memory.
const IN_MEMORY: [&str; 4] = ["/dev/shm", "/run", "/var/run", "/sys/fs/cgroup"];

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    if !job.has_files() || job.engine.moves_nothing() {
        return None;
    }
    let target = &job.spec.target;
    let place = |path: &str| IN_MEMORY.into_iter().find(|place| is_below(path, place));
    let of_name = || target.filenames.iter().find_map(|name| Some((name.as_str(), place(name)?)));
    let of_directory = || {
        // A name with a path of its own is below no directory.
        let is_used = target.filenames.is_empty() || target.filenames.iter().any(|name| !name.starts_with('/'));
        let directories = target.directories.iter().filter(|_| is_used);
        directories.filter_map(|path| path.to_str()).find_map(|path| Some((path, place(path)?)))
    };
    let (path, place) = of_name().or_else(of_directory)?;
    let explanation =
        format!("{path} is below {place}, which is in memory on Linux: these are figures of memory, not of a device.");
    Some(Observation::of(job, Vec::new(), explanation))
}

fn is_below(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::RecordOrigin;

    #[test]
    fn paths_in_memory_are_told_and_others_are_not() {
        let found = |filename: &str, directory: &str, is_reported: bool| {
            let mut scene = TestRun::new(job("a", DirectionMix::Write));
            let target = &mut scene.jobs[0].target;
            target.filenames = [filename].into_iter().filter(|name| !name.is_empty()).map(str::to_owned).collect();
            target.directories = [directory].into_iter().filter(|name| !name.is_empty()).map(Into::into).collect();
            if is_reported {
                scene.record.origin = RecordOrigin::Report("fio-3.41".to_owned());
            }
            scene.found().contains(&"path-in-memory".to_owned())
        };
        for (filename, directory, expected) in [
            ("/dev/shm/f", "", true),
            ("f", "/dev/shm", true),
            ("", "/run/user/1000", true),
            ("/data/f", "/dev/shm", false),
            ("/dev/shmoo", "", false),
            ("/runs/f", "/tmp", false),
        ] {
            assert_eq!(found(filename, directory, true), expected, "{filename} {directory}");
            assert!(!found(filename, directory, false));
        }
    }
}
