//! Jobs that write what other jobs write or read.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::ranges::shared_part;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::unexamined::EvidenceKind;
use ferrio_spec::{DirectoryPer, SizeSpec};
use ferrio_stats::Severity;
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "jobs-share-blocks",
    title: "Several jobs use the same blocks at the same time",
    severity: Severity::Misleading,
    what: "The targets that jobs of one group, or clones of one job, name, and the parts of them that they use; a link, or a loop device \
           and its file, are the same target. It is reported where the parts of two overlap, and one of the two writes or both read in sequence. Jobs that hit the same blocks at random, and do not \
           verify them, are a note of their own.",
    why: "Clones that read the same blocks in the same order find them in a cache that another one has filled; writers of the same \
          blocks wait for each other, and leave data that nobody can verify.",
    example: "--name=a --filename=/data/file --numjobs=4 --rw=read --direct=1",
    cure: "Give each clone a part of its own, with --offset_increment and a smaller --size, or files of its own, without --filename. Clones that are to go through the file together have --shared_stream=NAME.",
    needs: &[EvidenceKind::Options],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case| observations(case, false),
};

pub(crate) const AT_RANDOM: FindingRule = FindingRule {
    id: "jobs-overwrite-at-random",
    title: "Several jobs write the same blocks at random",
    severity: Severity::Note,
    what: "The targets that jobs of one group, or clones of one job, name, and the parts of them that they use. It is reported where the parts of two \
           overlap, one of the two writes, and both draw their blocks at random and do not verify them.",
    why: "They seldom meet on a block, so the figures are those of random I/O. Which data stays is chance.",
    example: "--name=a --filename=/dev/sdx --numjobs=4 --rw=randwrite --direct=1 --size=10g",
    cure: "Nothing, if the data does not matter; else give each clone a part of its own, with --offset_increment and a smaller --size.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case| observations(case, true),
};

fn observations(case: &AuditInput<'_>, at_random: bool) -> Vec<Observation> {
    let is_wanted = |job: &AuditedJob<'_>, other: &AuditedJob<'_>| is_harmless(job, other) == at_random;
    let mut found: Vec<Observation> =
        case.jobs.iter().filter(|job| is_wanted(job, job)).filter_map(among_clones).collect();
    for (index, job) in case.jobs.iter().enumerate() {
        let others = case.jobs[index + 1..].iter().filter(|other| is_wanted(job, other));
        found.extend(others.filter_map(|other| between(job, other)));
    }
    found
}

/// Both draw blocks at random, so that they seldom meet, and nobody looks at the data.
fn is_harmless(job: &AuditedJob<'_>, other: &AuditedJob<'_>) -> bool {
    [job, other].iter().all(|job| job.spec.pattern.random && job.spec.verify.is_none())
}

fn among_clones(job: &AuditedJob<'_>) -> Option<Observation> {
    let extent = &job.spec.extent;
    let moves = match (extent.offset_increment, extent.size) {
        (SizeSpec::Bytes(0) | SizeSpec::Percent(0), _) => false,
        // The part of a clone does not end where that of the next one begins.
        (SizeSpec::Bytes(step), Some(SizeSpec::Bytes(size))) => step >= size,
        _ => true,
    };
    let name = shared_name(job)?;
    if job.n_clones < 2 || moves || !job.has_files() {
        return None;
    }
    // Clones take the entries of `directory` in turn, unless files do.
    let target = &job.spec.target;
    let is_apart = target.directories.len() > 1 && target.directory_per == DirectoryPer::Clone;
    if is_apart || job.spec.extent.file_append {
        return None;
    }
    let what = what_they_do(job, job)?;
    let explanation = match extent.offset_increment {
        SizeSpec::Bytes(step) if step > 0 => format!(
            "The {} clones {what} the same blocks of {name}: offset_increment is less than their size.",
            job.n_clones
        ),
        _ => format!("The {} clones {what} the same blocks of {name}.", job.n_clones),
    };
    Some(Observation::of(job, Vec::new(), explanation))
}

/// The files that all clones of a job have; `None`: each has its own.
fn shared_name(job: &AuditedJob<'_>) -> Option<String> {
    let target = &job.spec.target;
    if let Some(name) = target.filenames.first() {
        return Some(name.clone());
    }
    let format = target.filename_format.as_deref()?;
    (!format.contains("$jobnum")).then(|| format!("the files of filename_format={format}"))
}

fn between(job: &AuditedJob<'_>, other: &AuditedJob<'_>) -> Option<Observation> {
    let is_together =
        job.group == other.group && job.spec.grouping.wait_for.is_none() && other.spec.grouping.wait_for.is_none();
    let name = shared_part(job, other).filter(|_| is_together)?;
    let what = what_they_do(job, other)?;
    let explanation = format!("The jobs {} and {} {what} the same blocks of {name}.", job.name, other.name);
    Some(Observation::of_jobs([job, other], Vec::new(), explanation))
}

/// Describes the use of the same blocks by two jobs; `None` if it is harmless. Random reads of the same file are a
/// usual test.
fn what_they_do(job: &AuditedJob<'_>, other: &AuditedJob<'_>) -> Option<&'static str> {
    let [stream, other_stream] = [job, other].map(|job| &job.spec.grouping.shared_stream);
    // Jobs of one stream divide its blocks.
    if stream.is_some() && stream == other_stream {
        return None;
    }
    let changes = |job: &AuditedJob<'_>| job.does(DataDirection::Write) || job.does(DataDirection::Trim);
    let in_sequence = |job: &AuditedJob<'_>| !job.spec.pattern.random;
    match (changes(job), changes(other)) {
        (true, true) => Some("write"),
        (true, false) | (false, true) => Some("read and write"),
        (false, false) => (in_sequence(job) && in_sequence(other)).then_some("read, in the same order,"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{MIB, TestRun, job, place};
    use ferrio_spec::DirectionMix;

    fn clones(mix: DirectionMix, change: impl Fn(&mut ferrio_spec::JobSpec)) -> Vec<String> {
        let mut job = job("a", mix);
        job.numjobs = 4;
        job.target.filenames = vec!["/data/file".to_owned()];
        change(&mut job);
        TestRun::new(job).before().found()
    }

    #[test]
    fn clones_with_one_file_share_it() {
        assert_eq!(clones(DirectionMix::Write, |_| ()), ["jobs-share-blocks"]);
        assert_eq!(clones(DirectionMix::Read, |_| ()), ["jobs-share-blocks"]);
        assert_eq!(clones(DirectionMix::Read, |job| job.pattern.random = true), Vec::<String>::new());
        assert_eq!(clones(DirectionMix::Write, |job| job.numjobs = 1), Vec::<String>::new());
        assert_eq!(clones(DirectionMix::Write, |job| job.pattern.random = true), ["jobs-overwrite-at-random"]);
        let verified = |job: &mut ferrio_spec::JobSpec| {
            job.pattern.random = true;
            job.verify = Some(ferrio_spec::VerifySpec::of(ferrio_spec::VerifyMethod::Md5));
        };
        assert_eq!(clones(DirectionMix::Write, verified), ["jobs-share-blocks"]);
        let shared = |job: &mut ferrio_spec::JobSpec| job.grouping.shared_stream = Some("s".to_owned());
        assert_eq!(clones(DirectionMix::Write, shared), Vec::<String>::new());
        assert_eq!(clones(DirectionMix::Write, |job| job.target.filenames.clear()), Vec::<String>::new());
        let increment = |job: &mut ferrio_spec::JobSpec| job.extent.offset_increment = SizeSpec::Bytes(100 * MIB);
        assert_eq!(clones(DirectionMix::Write, increment), Vec::<String>::new());
        let too_small = |job: &mut ferrio_spec::JobSpec| job.extent.offset_increment = SizeSpec::Bytes(25 * MIB);
        assert_eq!(clones(DirectionMix::Write, too_small), ["jobs-share-blocks"]);
        let named = |format: &'static str| {
            clones(DirectionMix::Write, |job| {
                job.target.filenames.clear();
                job.target.filename_format = Some(format.to_owned());
            })
        };
        assert_eq!(named("data.$filenum"), ["jobs-share-blocks"]);
        assert_eq!(named("data.$jobnum.$filenum"), Vec::<String>::new());
        let in_directories = |directory_per| {
            clones(DirectionMix::Write, |job| {
                job.target.filenames = vec!["file".to_owned()];
                job.target.directories = vec!["/data".into(), "/more".into()];
                job.target.directory_per = directory_per;
            })
        };
        assert_eq!(in_directories(DirectoryPer::Clone), Vec::<String>::new());
        assert_eq!(in_directories(DirectoryPer::File), ["jobs-share-blocks"]);
    }

    #[test]
    fn another_name_of_a_file_is_no_other_file() {
        let mut one = job("one", DirectionMix::Write);
        one.target.filenames = vec!["/data/file".to_owned()];
        let mut two = ferrio_spec::JobSpec { name: "two".to_owned(), ..one.clone() };
        two.target.filenames = vec!["/data/link".to_owned()];
        let mut scene = TestRun::new(one);
        scene.add(two, place("/data/link"));
        assert_eq!(scene.found(), Vec::<String>::new());
        let alias = ferrio_stats::TargetAlias {
            path: "/data/link".to_owned(),
            other_index: 0,
            other_path: "/data/file".to_owned(),
        };
        scene.aliases.push((1, alias));
        let finding = scene.finding("jobs-share-blocks");
        assert_eq!(
            finding.explanation,
            "The jobs one and two write the same blocks of /data/file, which is also /data/link."
        );
        scene.jobs[1].extent.offset = SizeSpec::Bytes(100 * MIB);
        assert_eq!(scene.found(), Vec::<String>::new());
    }

    #[test]
    fn jobs_share_where_their_parts_overlap() {
        let pair = |offset: u64, mix| {
            let mut one = job("one", DirectionMix::Read);
            one.target.filenames = vec!["/data/file".to_owned()];
            let mut two = ferrio_spec::JobSpec { name: "two".to_owned(), ..one.clone() };
            (two.pattern.mix, two.extent.offset) = (mix, SizeSpec::Bytes(offset));
            let mut scene = TestRun::new(one);
            scene.add(two, place("/data/file"));
            scene.before()
        };
        let finding = pair(99 * MIB, DirectionMix::Write).finding("jobs-share-blocks");
        assert_eq!(
            (finding.jobs, finding.explanation.as_str()),
            (
                vec!["one".to_owned(), "two".to_owned()],
                "The jobs one and two read and write the same blocks of /data/file."
            )
        );
        assert_eq!(pair(100 * MIB, DirectionMix::Write).found(), Vec::<String>::new());
    }
}
