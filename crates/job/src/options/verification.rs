//! Applies the options of verification to a draft, and checks their combination.
//!
//! Must not know: blocks. Start reading at [`lower`].
//! Facts: reference "Verify"; texts as observed on fio 3.41.

use crate::compat;
use crate::contradiction::Contradiction;
use crate::error::JobError;
use crate::options::draft::{ApplyContext, Draft, Open};
use crate::options::drafts::VerifyDraft;
use crate::value::{Value, pattern};
use ferrio_spec::engines::{Data, by_name};
use ferrio_spec::{
    BufferSpec, DirectionMix, FileService, HeaderLayout, JobSpec, TrimBacklogSpec, VERIFY_METHODS, VerifiedWrites,
    VerifyBacklogSpec, VerifyCompression, VerifyContentSpec, VerifyForm, VerifyMethod, VerifySpec, ZoneSpec,
};
use ferrio_units::DataDirection;
use std::path::PathBuf;

/// Most threads of `verify_async`.
const MAX_THREADS: u32 = 1024;

type Applied = Result<(), JobError>;

/// Nothing is trimmed unless both a percentage and a backlog are given.
fn lower_trims(given: TrimBacklogSpec) -> Option<TrimBacklogSpec> {
    let batch = if given.batch == 0 { given.backlog } else { given.batch };
    (given.percent > 0 && given.backlog > 0).then_some(TrimBacklogSpec { batch, ..given })
}

pub(super) fn method(draft: &mut Draft, value: &Value, _: &mut ApplyContext<'_>) -> Applied {
    let word = value.word()?;
    draft.open.verify.method = VERIFY_METHODS.iter().find(|def| def.name == word).map(|def| def.method);
    Ok(())
}

pub(super) fn verify_pattern(draft: &mut Draft, value: &Value, context: &mut ApplyContext<'_>) -> Applied {
    draft.open.verify.pattern = Some(pattern::parse_with_offsets(value.text()?, context.environment)?);
    Ok(())
}

pub(super) fn header_seed(draft: &mut Draft, value: &Value, _: &mut ApplyContext<'_>) -> Applied {
    draft.open.verify.header_seed = Some(value.bool()?);
    Ok(())
}

pub(super) fn write_sequence(draft: &mut Draft, value: &Value, _: &mut ApplyContext<'_>) -> Applied {
    draft.open.verify.write_sequence = Some(value.bool()?);
    Ok(())
}

/// `fsynced` implies completed: a block that was fsynced had completed before.
pub(super) fn policy(draft: &mut Draft, value: &Value, _: &mut ApplyContext<'_>) -> Applied {
    draft.open.verify.is_fsynced = value.words()?.0.iter().any(|choice| choice.word == "fsynced");
    Ok(())
}

pub(super) fn async_cpus(draft: &mut Draft, value: &Value, _: &mut ApplyContext<'_>) -> Applied {
    match value {
        Value::Cpus(cpus) => draft.open.verify.thread_cpus = Some(cpus.clone()),
        _ => return Err(JobError::NotParsed),
    }
    Ok(())
}

pub(super) fn layout(draft: &mut Draft, value: &Value, _: &mut ApplyContext<'_>) -> Applied {
    draft.open.verify.layout = Some(if value.word()? == "3.33" { HeaderLayout::V2 } else { HeaderLayout::V3 });
    Ok(())
}

pub(super) fn crash_log(draft: &mut Draft, value: &Value, _: &mut ApplyContext<'_>) -> Applied {
    draft.open.verify.crash_log = Some(PathBuf::from(value.text()?));
    Ok(())
}

/// The reason why the blocks of a job could not be judged after a crash; `None`: they can be.
fn cannot_be_judged(job: &JobSpec, draft: &VerifyDraft, method: VerifyMethod) -> Option<&'static str> {
    let pattern = &job.pattern;
    let block_bytes = pattern.block_size[DataDirection::Write].min_bytes;
    let align = pattern.block_align[DataDirection::Write];
    let hops = !pattern.random && pattern.rw_postfix != 0;
    // The directions and offsets of a trace are known only when it was read.
    let is_trace = job.replay.is_set();
    let writes = is_trace || matches!(pattern.mix, DirectionMix::Write | DirectionMix::ReadWrite);
    let overlaps = !has_one_size(job) || align.is_some_and(|align| align != block_bytes) || hops;
    [
        (!writes || draft.is_only, "the job must write, and trim nothing"),
        (lower_trims(draft.trims).is_some(), "what is trimmed is not judged"),
        (!matches!(method.def().form, VerifyForm::Header(_)), "the method keeps no header in its blocks"),
        (draft.pattern.is_some(), "blocks of a verify_pattern cannot be told from older ones"),
        (draft.layout == Some(HeaderLayout::V2), "headers of 3.33 cannot tell the writes apart"),
        (!is_trace && overlaps, "blocks must not lie over parts of others: one block size, and no blockalign"),
    ]
    .into_iter()
    .find_map(|(is_so, why)| is_so.then_some(why))
}

/// The verification of a job; `None`: it does not verify.
pub(crate) fn lower(job: &JobSpec, open: &Open) -> Result<Option<VerifySpec>, Contradiction> {
    let draft = &open.verify;
    // A pattern without a method turns on the check of that pattern.
    let method = draft.method.or(draft.pattern.is_some().then_some(VerifyMethod::PatternHeader));
    let Some(method) = method else {
        if draft.crash_log.is_some() {
            return Err(Contradiction::VerifyMissing("verify_crash_log"));
        }
        let alone = [(draft.is_only, "verify_only"), (draft.loads_state, "verify_state_load")];
        let alone = alone.into_iter().find(|(is_set, _)| *is_set);
        return alone.map_or(Ok(None), |(_, name)| Err(Contradiction::VerifyMissing(name)));
    };
    if let Some(contradiction) = contradiction(job, open, method) {
        return Err(contradiction);
    }
    let content = VerifyContentSpec {
        method,
        layout: draft.layout.unwrap_or_default(),
        interval_bytes: interval_bytes(job, draft.interval_bytes),
        header_at: draft.header_at,
        pattern: draft.pattern.clone(),
        pattern_interval_bytes: draft.pattern_interval_bytes,
        compression: compression(&job.buffers, open.dedupe.compress_chunk_bytes),
    };
    // The directions of a trace are not known yet.
    let writes = job.replay.is_set() || !matches!(job.pattern.mix, DirectionMix::Read | DirectionMix::Trim);
    // An engine that sends data cannot read it back.
    let is_kept = by_name(&job.engine.name).is_none_or(|engine| engine.data != Data::Sent);
    let reads_back = draft.reads_back && writes && is_kept;
    let reads = reads(job, open, reads_back)?;
    // The seeds and numbers of an earlier run are unknown, unless the user states that they are the same.
    let by_default = reads != VerifiedWrites::OfEarlierRun;
    Ok(Some(VerifySpec {
        content,
        reads_back,
        recognises_layouts: draft.layout.is_none()
            && (!writes || job.replay.is_set() || reads == VerifiedWrites::OfEarlierRun),
        // Headers on media that another run wrote have seeds and numbers of their own.
        checks_seed: draft.header_seed.unwrap_or(by_default) && writes,
        checks_sequence: draft.write_sequence.unwrap_or(by_default) && writes && has_one_size(job),
        is_fatal: draft.is_fatal,
        dumps: draft.dumps,
        trims: lower_trims(draft.trims).filter(|_| writes),
        reads,
        saves_state: draft.saves_state,
        loads_state: draft.loads_state,
        crash_log: draft.crash_log.clone(),
        // A switch says it, for all jobs.
        dump_directory: None,
        // Without writes there is no backlog to read.
        backlog: backlog(draft).filter(|_| reads_back),
        n_threads: draft.n_threads,
        thread_cpus: draft.thread_cpus.clone(),
    }))
}

/// As fio 3.41: the options of compressible data apply here, over whole blocks; the other options of buffers do not.
fn compression(buffers: &BufferSpec, piece_bytes: u32) -> Option<VerifyCompression> {
    let percent = buffers.compress_percent;
    let tail = || buffers.pattern.clone().unwrap_or_default();
    (1..100).contains(&percent).then(|| VerifyCompression { percent, piece_bytes, tail: tail() })
}

/// Adjusts the options of buffers to verification.
pub(crate) fn lower_buffers(job: &mut JobSpec) {
    job.buffers.scramble = compat::scramble(job.buffers.scramble, job.verify.is_some());
}

fn reads(job: &JobSpec, open: &Open, reads_back: bool) -> Result<VerifiedWrites, Contradiction> {
    let VerifyDraft { is_only, regenerates, is_fsynced, trims, loads_state, .. } = &open.verify;
    let refused = |why| Err(Contradiction::VerifyOnly(why));
    let is_skewed = matches!(job.target.file_service, FileService::Skewed(_));
    let has_rates = job.pace.limits_rates() && job.pattern.mix == DirectionMix::ReadWrite;
    if *is_only && (job.replay.is_set() || job.pattern.mix != DirectionMix::Read) {
        if is_skewed {
            return refused(
                "which file a skewed file_service_type picks depends on what is in flight: it cannot be combined with \
                 verify_only",
            );
        }
        if !reads_back {
            return refused("verify_only reads back what a job wrote: it needs do_verify=1 and writes");
        }
        if job.limits.time_based || has_rates {
            return refused(
                "verify_only cannot know what a job with time_based, or with rates of reads and writes has written",
            );
        }
        if *is_fsynced && !*loads_state {
            return refused(
                "verify_only with verify_policy=fsynced needs verify_state_load: the state tells what was synced",
            );
        }
        return Ok(VerifiedWrites::OfEarlierRun);
    }
    if !reads_back {
        return Ok(VerifiedWrites::Done);
    }
    // A job remembers its writes in memory if an option needs that, even when it could compute them again.
    let needs_memory =
        [is_skewed, *loads_state, lower_trims(*trims).is_some(), *is_fsynced, has_rates, job.replay.is_set()];
    if *regenerates && !needs_memory.contains(&true) {
        return Ok(VerifiedWrites::Regenerated);
    }
    Ok(if *is_fsynced { VerifiedWrites::Fsynced } else { VerifiedWrites::Done })
}

fn backlog(draft: &VerifyDraft) -> Option<VerifyBacklogSpec> {
    let batch = if draft.backlog_batch == 0 { draft.backlog } else { draft.backlog_batch.into() };
    (draft.backlog > 0).then_some(VerifyBacklogSpec { blocks: draft.backlog, batch })
}

fn contradiction(job: &JobSpec, open: &Open, method: VerifyMethod) -> Option<Contradiction> {
    let draft = &open.verify;
    let needs_pattern = matches!(method, VerifyMethod::Pattern | VerifyMethod::PatternHeader);
    if needs_pattern && draft.pattern.is_none() {
        return Some(Contradiction::PatternMissing(method.def().name));
    }
    if draft.n_threads > MAX_THREADS {
        return Some(Contradiction::VerifyThreads { n_threads: draft.n_threads, most: MAX_THREADS });
    }
    if let Some(contradiction) = contradiction_of_zones(job, draft) {
        return Some(contradiction);
    }
    if let Some(why) = cannot_be_judged(job, draft, method).filter(|_| draft.crash_log.is_some()) {
        return Some(Contradiction::CrashLog(why));
    }
    too_short(job, draft, method)
}

/// The device chooses where a write into a sequential zone goes, and a reset deletes what was written there. Options
/// that contradict this are refused.
fn contradiction_of_zones(job: &JobSpec, draft: &VerifyDraft) -> Option<Contradiction> {
    if !matches!(job.zones, ZoneSpec::Sequential(_)) {
        return None;
    }
    let reads_at_random = job.pattern.mix == DirectionMix::Read && job.pattern.random;
    let rows = [
        (
            draft.loads_state && reads_at_random,
            "verify_state_load in a job that reads at random: reads below write pointers come in another order than the \
             writes (verify_only has their order)",
        ),
        (draft.trims.percent > 0, "trim_percentage: a trim resets a whole zone"),
        (draft.crash_log.is_some(), "verify_crash_log: a reset, also by another job, takes away what was synced"),
    ];
    rows.into_iter().find_map(|(is_set, why)| is_set.then_some(Contradiction::VerifyOfZones(why)))
}

/// Refuses an interval that is too short for header and checksum. If both are behind the data, the data counts, too.
fn too_short(job: &JobSpec, draft: &VerifyDraft, method: VerifyMethod) -> Option<Contradiction> {
    let VerifyForm::Header(checksum) = method.def().form else { return None };
    let header_bytes = match draft.layout.unwrap_or_default() {
        HeaderLayout::V3 => 48,
        HeaderLayout::V2 => 40,
    };
    let area_bytes = header_bytes + checksum.map_or(0, |checksum| checksum.n_bytes() as u64);
    let smallest = smallest_block(job);
    let interval_bytes = match interval_bytes(job, draft.interval_bytes) {
        0 => smallest,
        interval_bytes => u64::from(interval_bytes),
    };
    if interval_bytes <= area_bytes {
        return Some(Contradiction::HeaderTooLarge(area_bytes));
    }
    let at = u64::from(draft.header_at);
    if at > 0 && at + area_bytes > interval_bytes {
        return Some(Contradiction::HeaderBeyondInterval);
    }
    (at > 0 && at < area_bytes).then_some(Contradiction::HeaderOverItself(area_bytes))
}

fn smallest_block(job: &JobSpec) -> u64 {
    let sizes = &job.pattern.block_size;
    sizes[DataDirection::Write].min_bytes.min(sizes[DataDirection::Read].min_bytes)
}

fn has_one_size(job: &JobSpec) -> bool {
    let size = job.pattern.block_size[DataDirection::Write];
    size.min_bytes == size.max_bytes && job.pattern.block_split[DataDirection::Write].is_empty()
}

/// Intervals are no longer than the smallest block that is written, and divide every block: all are multiples of the smallest, or
/// the largest. As seen in headers of fio: an interval that does not divide these two gives way to the largest that does, and a block of
/// any length (`bs_unaligned`) is one interval (0).
fn interval_bytes(job: &JobSpec, given: u32) -> u32 {
    let (written, read) = (job.pattern.block_size[DataDirection::Write], job.pattern.block_size[DataDirection::Read]);
    let is_of_any_length = job.pattern.bs_unaligned && !has_one_size(job);
    if is_of_any_length || (given == 0 && has_one_size(job) && read == written) {
        return 0;
    }
    let (smallest, largest) = (written.min_bytes, written.max_bytes);
    let wanted = if given == 0 { smallest } else { u64::from(given).min(smallest) };
    let divides = wanted > 0 && smallest.is_multiple_of(wanted) && largest.is_multiple_of(wanted);
    u32::try_from(if divides { wanted } else { gcd(smallest, largest) }).unwrap_or(0)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_spec::BlockShare;

    /// Old blocks of the other layout must not pass for those of a job that wrote them itself.
    #[test]
    fn only_who_does_not_write_recognises_layouts() {
        for (text, recognises) in [
            ("rw=read", true),
            ("rw=randread verify_async=2", true),
            ("rw=write verify_only=1", true),
            ("rw=write", false),
            ("rw=randrw", false),
            ("rw=write do_verify=0", false),
            ("rw=write experimental_verify=1", false),
            ("rw=read verify_header_layout=3.42", false),
            ("rw=read verify_header_layout=3.33", false),
            ("rw=write verify_only=1 verify_header_layout=3.33", false),
        ] {
            let job = crate::options::zone_mode::tests::lowered(&format!("size=1m verify=crc32c {text}")).unwrap();
            assert_eq!(job.verify.unwrap().recognises_layouts, recognises, "{text}");
        }
    }

    #[test]
    fn a_method_alone_gives_the_defaults_of_the_specification() {
        let job = crate::options::zone_mode::tests::lowered("size=1m rw=write verify=crc32c").unwrap();
        assert_eq!(job.verify, Some(VerifySpec::of(VerifyMethod::Crc32c)));
    }

    #[test]
    fn intervals_divide_every_block() {
        let interval = |min_bytes, max_bytes, shares: &[u64], given| {
            let mut job = Draft::new().job;
            job.pattern.block_size = ferrio_units::PerDirection::all(ferrio_spec::BlockRange { min_bytes, max_bytes });
            let share = |block_bytes: &u64| BlockShare { block_bytes: *block_bytes, percent: 10 };
            job.pattern.block_split[DataDirection::Write] = shares.iter().map(share).collect();
            interval_bytes(&job, given)
        };
        assert_eq!(interval(4096, 4096, &[], 0), 0, "a header a block");
        // Expected values: sizes in the headers of fio's files. Between the smallest and the largest size fio uses only
        // multiples of the smallest.
        for (min_bytes, max_bytes, shares, given, expected) in [
            (4096, 4096, &[][..], 1000, 4096),
            (4096, 4096, &[], 96, 4096),
            (4096, 4096, &[], 8192, 4096),
            (4096, 4096, &[], 1024, 1024),
            (12_288, 12_288, &[], 8192, 12_288),
            (6144, 12_288, &[], 4096, 6144),
            (6144, 12_288, &[], 3072, 3072),
            (4096, 6144, &[], 0, 2048),
            (4096, 6144, &[], 3072, 2048),
            (4096, 6144, &[], 1024, 1024),
            (4096, 8192, &[4096, 6144, 8192], 0, 4096),
            (4096, 8192, &[4096, 6144, 8192], 1500, 4096),
            (4096, 65_536, &[], 512, 512),
        ] {
            assert_eq!(interval(min_bytes, max_bytes, shares, given), expected, "{min_bytes}-{max_bytes} {given}");
        }
    }
}
