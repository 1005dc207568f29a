//! Verification that has nothing to look at, or that nobody does.

use crate::audit_input::{AuditInput, AuditedJob, is_for_files};
use crate::measures::given::value_of;
use crate::measures::ranges::shared_part;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::unexamined::EvidenceKind;
use ferrio_spec::{DirectionMix, VerifyMethod, VerifyPattern};
use ferrio_stats::{Severity, TargetKind};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "unmarked-blocks",
    title: "Nothing has marked the blocks that the job verifies",
    severity: Severity::Wrong,
    what: "Before a run: a job that only reads and verifies, its file, and the other jobs of the run. It is reported where the file is not there, or is shorter than the job needs, and no \
           job of the run writes it with verify.",
    why: "Verification compares a block with the mark that a write with the same verify= has put into it. Blocks that the layout writes have none, so the first one is an error.",
    example: "--name=a --rw=read --size=64m --verify=crc32c",
    cure: "Write the file first, by a job with the same verify=, size and bs, and a stonewall between them.",
    needs: &[EvidenceKind::Targets],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["cannot-start"],
    find: |case| case.jobs.iter().filter_map(|job| unmarked(case, job)).collect(),
};

pub(crate) const NOT_READ: FindingRule = FindingRule {
    id: "marks-not-read",
    title: "No job of the run verifies what is written",
    severity: Severity::Note,
    what: "Jobs that write with verify= and do_verify=0, and the other jobs. It is reported where no other job of the run reads the same target with verify=, \
           and no journal (verify_crash_log) is kept for a check after a crash.",
    why: "The option do_verify=0 leaves the marks in the blocks for a later job. In this run nothing is compared, so the run says nothing about the data.",
    example: "--name=a --rw=write --size=64m --verify=crc32c --do_verify=0",
    cure: "Leave out do_verify=0, or verify the blocks later by a job that reads with the same verify=.",
    needs: &[],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case| case.jobs.iter().filter_map(|job| not_read(case, job)).collect(),
};

pub(crate) const OTHER_KIND: FindingRule = FindingRule {
    id: "marks-of-another-kind",
    title: "The blocks have other marks than the job verifies",
    severity: Severity::Wrong,
    what: "A job that only reads and verifies, and the jobs before it that write the same target with verify. It is reported where all of these have another verify=, \
           verify_interval or verify_pattern than the job.",
    why: "Verification compares a block with the mark that the write has put into it: one of another method, or at other places, is taken for lost data.",
    example: "--name=w --filename=f --rw=write --size=64m --verify=crc32c --name=r --filename=f --rw=read --size=64m --verify=md5 --stonewall",
    cure: "Give both jobs the same verify=, verify_interval and verify_pattern.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["unmarked-blocks"],
    find: |case| case.jobs.iter().filter_map(|job| other_kind(case, job)).collect(),
};

fn other_kind(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let only_reads = job.spec.pattern.mix == DirectionMix::Read && !job.spec.replay.is_set();
    let mine = kind_of_marks(job).filter(|_| only_reads)?;
    let is_writer =
        |other: &&AuditedJob<'_>| other.index < job.index && other.does(DataDirection::Write) && uses_same(job, other);
    let writers: Vec<&AuditedJob<'_>> = case.jobs.iter().filter(is_writer).collect();
    // Blocks of a job that writes without verify have no marks, which another job may have given them later.
    let kinds: Vec<Marks<'_>> = writers.iter().filter_map(|writer| kind_of_marks(writer)).collect();
    let (last, its) = (writers.last()?, kinds.last()?);
    if kinds.len() < writers.len() || kinds.contains(&mine) {
        return None;
    }
    let shown = |bytes: u32| if bytes == 0 { "the size of a block".to_owned() } else { format!("{bytes} bytes") };
    let what = match () {
        () if its.method != mine.method => {
            let names = (its.method.def().name, mine.method.def().name);
            format!("with verify={}, and {} verifies them with verify={}", names.0, job.name, names.1)
        }
        () if its.interval_bytes != mine.interval_bytes => {
            let intervals = (shown(its.interval_bytes), shown(mine.interval_bytes));
            format!("at an interval of {}, and {} verifies them at {}", intervals.0, job.name, intervals.1)
        }
        () => format!("with another verify_pattern than that with which {} verifies them", job.name),
    };
    Some(Observation::of(job, Vec::new(), format!("{} marks the blocks {what}.", last.name)))
}

/// The marks of blocks.
#[derive(PartialEq, Eq)]
struct Marks<'a> {
    method: VerifyMethod,
    /// 0 where there is one mark in a block.
    interval_bytes: u32,
    /// The pattern, if it is what is compared.
    pattern: Option<&'a VerifyPattern>,
}

/// `None`: blocks have no marks.
fn kind_of_marks<'a>(job: &AuditedJob<'a>) -> Option<Marks<'a>> {
    let content = &job.spec.verify.as_ref()?.content;
    let method = content.method;
    let directions = [DataDirection::Read, DataDirection::Write].into_iter().filter(|direction| job.does(*direction));
    let block = directions.map(|direction| job.spec.pattern.block_size[direction].min_bytes).min()?;
    let interval = content.interval_bytes;
    let is_one = u64::from(interval) >= block;
    let is_pattern = matches!(method, VerifyMethod::Pattern | VerifyMethod::PatternHeader);
    let pattern = content.pattern.as_ref().filter(|_| is_pattern);
    let interval_bytes = if is_one || method == VerifyMethod::Pattern { 0 } else { interval };
    (method != VerifyMethod::Null).then_some(Marks { method, interval_bytes, pattern })
}

fn unmarked(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let verify = job.spec.verify.as_ref()?;
    let is_plain = verify.content.method != VerifyMethod::Null && !job.spec.replay.is_set();
    let only_reads = job.spec.pattern.mix == DirectionMix::Read && !job.spec.is_verify_only();
    if !case.is_before() || !is_plain || !only_reads || !job.has_files() {
        return None;
    }
    let is_short = case.record.evidence.laid_over.iter().any(|file| file.job_index == job.index);
    let missing = job.places.iter().find(|place| place.kind == TargetKind::Missing);
    let short = || job.places.iter().find(|place| is_short && is_for_files(place));
    let place = missing.or_else(short)?;
    let marks = |other: &AuditedJob<'_>| {
        other.does(DataDirection::Write) && other.spec.verify.is_some() && uses_same(job, other)
    };
    if case.jobs.iter().any(|other| other.index != job.index && marks(other)) {
        return None;
    }
    let what = if missing.is_some() { "is not there" } else { "is shorter than the job needs" };
    let explanation =
        format!("{} {what}: its layout puts no marks into the blocks, and verification will fail.", place.path);
    Some(Observation::of(job, Vec::new(), explanation))
}

/// Their files have the same names, or those of one section.
fn uses_same(job: &AuditedJob<'_>, other: &AuditedJob<'_>) -> bool {
    let (mine, its) = (&job.spec.target, &other.spec.target);
    let by_section = mine.filenames.is_empty() && its.filenames.is_empty() && job.spec.section == other.spec.section;
    let by_format = mine.filename_format.is_some() && mine.filename_format == its.filename_format;
    let by_name = mine.filenames.iter().any(|name| its.filenames.contains(name));
    by_section || by_format || by_name || shared_part(job, other).is_some()
}

fn not_read(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    // Blocks of a journal are for the check after a crash.
    let verify = job.spec.verify.as_ref().filter(|verify| !verify.reads_back && verify.crash_log.is_none())?;
    let is_asked = value_of(case, job, "do_verify") == Some("0");
    let is_plain = verify.content.method != VerifyMethod::Null && !job.spec.replay.is_set();
    let only_writes = job.does(DataDirection::Write) && !job.does(DataDirection::Read);
    if !is_asked || !is_plain || !only_writes {
        return None;
    }
    let reads = |other: &AuditedJob<'_>| {
        let is_read = other.does(DataDirection::Read) || other.spec.is_verify_only();
        is_read && other.spec.verify.is_some() && uses_same(job, other)
    };
    if case.jobs.iter().any(|other| other.index != job.index && reads(other)) {
        return None;
    }
    let explanation =
        "do_verify=0: the blocks are marked, and no job of this run reads them back. Nothing is verified.".to_owned();
    Some(Observation::of(job, Vec::new(), explanation))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job, place};
    use ferrio_spec::{DirectionMix, JobSpec, VerifyMethod, VerifySpec};
    use ferrio_stats::TargetKind;

    fn verified(name: &str, mix: DirectionMix) -> JobSpec {
        let mut job = job(name, mix);
        job.target.filenames = vec!["/data/file".to_owned()];
        job.verify = Some(VerifySpec::of(VerifyMethod::Md5));
        job
    }

    #[test]
    fn a_file_that_no_job_has_written_is_told() {
        let found = |kind, has_writer: bool| {
            let mut scene = TestRun::new(verified("a", DirectionMix::Read)).before();
            scene.places[0].kind = kind;
            if has_writer {
                let mut writer = verified("w", DirectionMix::Write);
                writer.grouping.stonewall = true;
                scene.add(writer, place("/data/file"));
                scene = scene.before();
            }
            scene.found().contains(&"unmarked-blocks".to_owned())
        };
        assert!(found(TargetKind::Missing, false));
        assert!(!found(TargetKind::Missing, true) && !found(TargetKind::File, false));
    }

    #[test]
    fn marks_of_another_method_or_at_other_places_are_told() {
        let found = |change: fn(&mut JobSpec)| {
            let mut writer = verified("w", DirectionMix::Write);
            change(&mut writer);
            let mut scene = TestRun::new(writer);
            let mut reader = verified("r", DirectionMix::Read);
            reader.grouping.stonewall = true;
            scene.add(reader, place("/data/file"));
            let scene = scene.before();
            let is_told = scene.found().contains(&"marks-of-another-kind".to_owned());
            is_told.then(|| scene.finding("marks-of-another-kind").explanation)
        };
        assert_eq!(found(|_| ()), None);
        let method = found(|job| job.verify = Some(VerifySpec::of(VerifyMethod::Crc32c))).expect("told");
        assert_eq!(method, "w marks the blocks with verify=crc32c, and r verifies them with verify=md5.");
        let places = found(|job| job.verify.as_mut().expect("verified").content.interval_bytes = 512).expect("told");
        assert_eq!(
            places,
            "w marks the blocks at an interval of 512 bytes, and r verifies them at the size of a block."
        );
        assert_eq!(found(|job| job.verify.as_mut().expect("verified").content.interval_bytes = 4096), None);
        assert_eq!(found(|job| job.target.filenames = vec!["/data/other".to_owned()]), None);
        assert_eq!(found(|job| job.verify = None), None, "marks may be there from before");
    }

    #[test]
    fn marks_that_no_job_reads_are_told() {
        let found = |reads_back: bool, has_reader: bool| {
            let mut writer = verified("w", DirectionMix::Write);
            writer.verify.as_mut().expect("verified").reads_back = reads_back;
            writer.given_options = vec![("do_verify".to_owned(), u8::from(reads_back).to_string())];
            let mut scene = TestRun::new(writer);
            if has_reader {
                let mut reader = verified("r", DirectionMix::Read);
                reader.grouping.stonewall = true;
                scene.add(reader, place("/data/file"));
            }
            let is_told = |scene: &TestRun| scene.found().contains(&"marks-not-read".to_owned());
            let after = is_told(&scene);
            scene.jobs[0].verify.as_mut().expect("verified").crash_log = Some("log".into());
            assert!(!is_told(&scene), "ferrio after-crash reads them");
            scene.jobs[0].verify.as_mut().expect("verified").crash_log = None;
            assert_eq!(is_told(&scene.before()), after);
            after
        };
        assert!(found(false, false));
        assert!(!found(true, false) && !found(false, true));
    }
}
