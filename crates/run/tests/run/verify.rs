//! Verification on the simulated device: which methods find which damage, and that they report nothing else.
//!
//! Start reading at [`damage_is_found_by_every_method_that_can`].

use crate::builder::{Events, job, set_depth, simulate};
use ferrio_run::{MessageStream, RunOutcome};
use ferrio_spec::engines::options::sim;
use ferrio_spec::{
    BlockRange, DirectionMix, ErrorClasses, HeaderLayout, JobSpec, RandomDistribution, SizeSpec, VERIFY_METHODS,
    VerifiedWrites, VerifyBacklogSpec, VerifyContentSpec, VerifyMethod, VerifyPattern, VerifySpec,
};
pub(crate) use ferrio_sys::errno::EILSEQ;
use ferrio_units::DataDirection;
use proptest::prelude::*;

pub(crate) const N_BLOCKS: u64 = 64;

/// A job that writes 64 blocks of 4 KiB and reads them back, on a device that stores data.
pub(crate) fn verified(method: VerifyMethod) -> JobSpec {
    let mut job = job("v");
    "sim".clone_into(&mut job.engine.name);
    job.engine.options.set(&sim::SERVICE, "fixed:10us");
    job.engine.options.set(&sim::DATA, true);
    job.extent.size = Some(SizeSpec::Bytes(N_BLOCKS * 4096));
    job.pattern.mix = DirectionMix::Write;
    let needs_pattern = matches!(method, VerifyMethod::Pattern | VerifyMethod::PatternHeader);
    let pattern = needs_pattern.then(|| VerifyPattern { bytes: vec![0xc3, 0x17], offsets_at: Vec::new() });
    let content = VerifyContentSpec { pattern, ..VerifyContentSpec::of(method) };
    job.verify = Some(VerifySpec { content, saves_state: false, ..VerifySpec::of(method) });
    job
}

pub(crate) fn figures(outcome: &RunOutcome) -> (u64, u64, i32) {
    let stats = &outcome.record.workers[0].stats;
    let n = |direction| stats.directions[direction].n_completed;
    (n(DataDirection::Write), n(DataDirection::Read), stats.errno)
}

#[test]
fn what_is_written_is_read_back() {
    for def in VERIFY_METHODS {
        for (random, iodepth) in [(false, 1), (true, 1), (true, 8)] {
            let mut job = verified(def.method);
            job.pattern.random = random;
            job.pattern.rw_postfix = random.into();
            set_depth(&mut job, iodepth);
            let (outcome, events) = simulate(vec![job]);
            assert_eq!(events.text(MessageStream::Error), "", "{}", def.name);
            assert_eq!(figures(&outcome), (N_BLOCKS, N_BLOCKS, 0), "{}", def.name);
        }
    }
}

/// The 20th write is damaged: the job ends with the read that reveals it.
fn damaged(method: VerifyMethod, fault: &str) -> (RunOutcome, Events) {
    let mut job = verified(method);
    job.engine.options.set(&sim::FAULT, &format!("write={fault}@20"));
    simulate(vec![job])
}

#[test]
fn damage_is_found_by_every_method_that_can() {
    for def in VERIFY_METHODS {
        for (fault, words) in [("flip", "1 bit is flipped"), ("torn", "torn: "), ("lost", "all zeroes")] {
            let (outcome, events) = damaged(def.method, fault);
            let blind = match def.method {
                VerifyMethod::Null => true,
                // `meta` checks only the header, which is in the first sector of a torn block; it does not see a bit
                // elsewhere.
                VerifyMethod::Meta => fault != "lost",
                _ => false,
            };
            let expected = if blind { (N_BLOCKS, N_BLOCKS, 0) } else { (N_BLOCKS, 20, EILSEQ) };
            assert_eq!(figures(&outcome), expected, "{} {fault}", def.name);
            let text = events.text(MessageStream::Error);
            assert_eq!(text.contains(words), !blind, "{} {fault}: {text}", def.name);
            assert_eq!(text.contains("(requested block: offset=77824, length=4096"), !blind, "{text}");
        }
    }
}

/// The job ends with the fault even if its pass ends before the loop handles its deadlines.
#[test]
fn damage_of_the_last_block_is_found() {
    for iodepth in [1, 8] {
        let mut job = verified(VerifyMethod::Crc32c);
        job.engine.options.set(&sim::FAULT, &format!("write=flip@{N_BLOCKS}"));
        set_depth(&mut job, iodepth);
        let (outcome, _) = simulate(vec![job]);
        assert_eq!((outcome.n_failed, figures(&outcome)), (1, (N_BLOCKS, N_BLOCKS, EILSEQ)), "{iodepth}");
    }
}

#[test]
fn a_misdirected_write_is_told_by_its_header() {
    let (outcome, events) = damaged(VerifyMethod::Xxhash, "misdirected");
    let (_, _, errno) = figures(&outcome);
    assert_eq!(errno, EILSEQ);
    let text = events.text(MessageStream::Error);
    // Its own place is empty, or the block that it overwrote is read first.
    assert!(text.contains("all zeroes") || text.contains("a block that belongs at offset 77824"), "{text}");
}

#[test]
fn all_faults_are_told_where_they_are_tolerated() {
    let mut job = verified(VerifyMethod::Crc32c);
    job.engine.options.set(&sim::FAULT, "write=lost@/8");
    job.errors.continue_on = ErrorClasses { verify: true, ..ErrorClasses::default() };
    let (outcome, events) = simulate(vec![job.clone()]);
    // fio 3.41 also shows the errno of such a job, and does not count it as failed.
    assert_eq!((outcome.n_failed, figures(&outcome)), (0, (N_BLOCKS, N_BLOCKS, EILSEQ)));
    assert_eq!(outcome.record.workers[0].stats.tolerated.n_total, N_BLOCKS / 8);
    assert_eq!(
        events.messages.iter().filter(|(stream, _)| *stream == MessageStream::Error).count() as u64,
        N_BLOCKS / 8
    );
    // With verify_fatal, this does not happen.
    job.verify.as_mut().unwrap().is_fatal = true;
    let (outcome, _) = simulate(vec![job]);
    assert_eq!(figures(&outcome), (N_BLOCKS, 8, EILSEQ));
}

#[test]
fn without_do_verify_nothing_is_read() {
    let mut job = verified(VerifyMethod::Md5);
    job.verify.as_mut().unwrap().reads_back = false;
    assert_eq!(figures(&simulate(vec![job]).0), (N_BLOCKS, 0, 0));
}

/// A file that was done is closed: it is opened again, synced, and read back. As in fio, the sync is not counted.
#[test]
fn all_of_several_files_is_read_back() {
    let mut job = verified(VerifyMethod::Md5);
    job.target.nrfiles = 4;
    let (outcome, events) = simulate(vec![job]);
    assert_eq!(events.text(MessageStream::Error), "");
    assert_eq!(figures(&outcome), (N_BLOCKS, N_BLOCKS, 0));
    assert_eq!(outcome.record.workers[0].stats.n_syncs_issued, 0);
}

/// Reads of a mix are not checked; its writes are read back.
#[test]
fn of_a_mix_only_writes_are_checked() {
    let mut job = verified(VerifyMethod::Crc64);
    job.pattern.mix = DirectionMix::ReadWrite;
    let (outcome, events) = simulate(vec![job]);
    assert_eq!(events.text(MessageStream::Error), "");
    let (n_writes, n_reads, errno) = figures(&outcome);
    assert_eq!((n_reads, errno), (N_BLOCKS, 0));
    assert!(n_writes > 0 && n_writes < N_BLOCKS);
}

#[test]
fn a_job_that_writes_until_its_time_is_over_reads_nothing() {
    let mut job = verified(VerifyMethod::Md5);
    (job.limits.time_based, job.limits.runtime_us) = (true, 10_000);
    let (outcome, events) = simulate(vec![job]);
    assert_eq!(events.text(MessageStream::Error), "");
    let (n_writes, n_reads, errno) = figures(&outcome);
    assert_eq!((n_reads, errno), (0, 0));
    assert!(n_writes > N_BLOCKS);
}

/// Overlapping writes that were in flight together may have landed in either order.
#[test]
fn writes_that_raced_are_not_read_back() {
    let mut job = verified(VerifyMethod::Crc32c);
    job.extent.size = Some(SizeSpec::Bytes(2 * 4096));
    job.extent.io_size = Some(SizeSpec::Bytes(400 * 4096));
    job.pattern.random = true;
    job.pattern.norandommap = true;
    job.pattern.rw_postfix = 1;
    set_depth(&mut job, 16);
    job.engine.options.set(&sim::CHANNELS, 16);
    let (outcome, events) = simulate(vec![job]);
    assert_eq!(events.text(MessageStream::Error), "");
    let (n_writes, n_reads, errno) = figures(&outcome);
    assert_eq!((n_writes, errno), (400, 0));
    // Sixteen in flight on two blocks: hardly any write was alone on its block.
    assert!(n_reads < 200, "{n_reads}");
}

/// Nothing is remembered: the stream makes the writes again, also in a mix and in every loop.
#[test]
fn what_is_made_once_more_is_what_was_written() {
    for (mix, loops, iodepth) in [(DirectionMix::Write, 1, 1), (DirectionMix::ReadWrite, 2, 8)] {
        let mut job = verified(VerifyMethod::Crc32c);
        job.pattern.mix = mix;
        job.pattern.random = true;
        job.pattern.rw_postfix = 1;
        job.limits.loops = loops;
        set_depth(&mut job, iodepth);
        job.verify.as_mut().unwrap().reads = VerifiedWrites::Regenerated;
        let (outcome, events) = simulate(vec![job.clone()]);
        assert_eq!(events.text(MessageStream::Error), "");
        assert_eq!((figures(&outcome).1, figures(&outcome).2), (N_BLOCKS * u64::from(loops), 0));
        // It is the last write of the last loop.
        let n_writes = figures(&outcome).0;
        job.engine.options.set(&sim::FAULT, &format!("write=lost@{n_writes}"));
        assert_eq!(figures(&simulate(vec![job]).0).2, EILSEQ);
    }
    let mut job = verified(VerifyMethod::Crc32c);
    job.verify.as_mut().unwrap().reads = VerifiedWrites::Regenerated;
    // Failed writes are not checked.
    job.engine.options.set(&sim::FAULT, "write=eio@/8");
    job.errors.continue_on = ErrorClasses { write: true, ..ErrorClasses::default() };
    let (outcome, _) = simulate(vec![job.clone()]);
    assert_eq!((outcome.n_failed, figures(&outcome).1), (0, N_BLOCKS));
    // Writes overwrite others: only remembered writes show the newest.
    job.extent.io_size = Some(SizeSpec::Bytes(2 * N_BLOCKS * 4096));
    let (outcome, _) = simulate(vec![job]);
    assert_eq!(outcome.n_failed, 0);
    assert!(figures(&outcome).1 > N_BLOCKS / 2);
}

/// The reference's example: of twelve writes with fsync=5, ten are checked. A failed fsync makes nothing durable.
#[test]
fn only_what_was_fsynced_is_read_back() {
    let mut job = verified(VerifyMethod::Crc32c);
    job.extent.size = Some(SizeSpec::Bytes(12 * 4096));
    job.verify.as_mut().unwrap().reads = VerifiedWrites::Fsynced;
    assert_eq!(figures(&simulate(vec![job.clone()]).0), (12, 0, 0));
    job.durability.fsync_blocks = 5;
    assert_eq!(figures(&simulate(vec![job.clone()]).0), (12, 10, 0));
    // Writes in flight together with the fsync may not be covered by it.
    set_depth(&mut job, 4);
    job.engine.options.set(&sim::CHANNELS, 4);
    let (n_writes, n_reads, errno) = figures(&simulate(vec![job.clone()]).0);
    assert_eq!((n_writes, errno), (12, 0));
    assert!((6..=10).contains(&n_reads), "{n_reads}");
    set_depth(&mut job, 1);
    job.engine.options.set(&sim::FAULT, "sync=eio@2");
    job.errors.continue_on = ErrorClasses { write: true, ..ErrorClasses::default() };
    assert_eq!(figures(&simulate(vec![job]).0).1, 5);
}

/// A lost write leaves what was there before: a whole block of the previous pass.
#[test]
fn stale_blocks_are_told() {
    for def in VERIFY_METHODS {
        let mut job = verified(def.method);
        job.limits.loops = 2;
        job.engine.options.set(&sim::FAULT, &format!("write=lost@{}", N_BLOCKS + 3));
        let (outcome, events) = simulate(vec![job]);
        // A bare pattern is the same in every pass, and `null` checks nothing.
        let blind = matches!(def.method, VerifyMethod::Null | VerifyMethod::Pattern);
        assert_eq!(figures(&outcome).2, if blind { 0 } else { EILSEQ }, "{}", def.name);
        let text = events.text(MessageStream::Error);
        assert_eq!(text.contains("stale: "), !blind, "{}: {text}", def.name);
    }
}

/// A short transfer is no damage: with every method, its rest is done.
#[test]
fn short_transfers_are_no_damage() {
    for (def, fault) in VERIFY_METHODS.iter().zip(["write=short@/3", "read=short@/3", "short@/2"].iter().cycle()) {
        let mut job = verified(def.method);
        job.engine.options.set(&sim::FAULT, fault);
        set_depth(&mut job, 4);
        let (outcome, events) = simulate(vec![job]);
        assert_eq!((events.text(MessageStream::Error), figures(&outcome)), (String::new(), (N_BLOCKS, N_BLOCKS, 0)));
    }
}

#[test]
fn every_loop_is_read_back() {
    let mut job = verified(VerifyMethod::Sha1);
    job.limits.loops = 3;
    assert_eq!(figures(&simulate(vec![job]).0), (3 * N_BLOCKS, 3 * N_BLOCKS, 0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// A device that stores data correctly gives no fault.
    #[test]
    fn no_false_alarm(
        method in 0..VERIFY_METHODS.len(),
        (random, norandommap, mixed) in any::<(bool, bool, bool)>(),
        iodepth in 1u32..20,
        (min_blocks, max_blocks) in (1u64..4, 0u64..3),
        loops in 1u32..3,
        (batch, channels) in (1u32..8, 1u32..8),
        layout in prop::bool::ANY,
        seed in any::<u64>(),
        (skewed, percentage_random) in (prop::bool::ANY, prop::sample::select(vec![0, 30, 100])),
        (serialized, n_threads) in (prop::bool::ANY, 0u32..3),
        backlog in prop::option::of((1u64..9, 1u64..9)),
    ) {
        let mut job = verified(VERIFY_METHODS[method].method);
        job.pattern.random = random;
        job.submission.serialize_overlap = serialized;
        job.pattern.rw_postfix = random.into();
        job.pattern.norandommap = norandommap;
        job.pattern.randseed = Some(seed);
        if skewed {
            job.pattern.distribution = RandomDistribution::Zipf { theta: 1.1, center: None };
        }
        job.pattern.percentage_random = ferrio_units::PerDirection::all(percentage_random);
        job.pattern.mix = if mixed { DirectionMix::ReadWrite } else { DirectionMix::Write };
        let range = BlockRange { min_bytes: min_blocks * 4096, max_bytes: (min_blocks + max_blocks) * 4096 };
        job.pattern.block_size = ferrio_units::PerDirection::all(range);
        job.limits.loops = loops;
        set_depth(&mut job, iodepth);
        job.queue.batch_submit = batch.min(iodepth);
        job.engine.options.set(&sim::CHANNELS, channels.into());
        let verify = job.verify.as_mut().unwrap();
        verify.n_threads = n_threads;
        verify.backlog = backlog.map(|(blocks, batch)| VerifyBacklogSpec { blocks, batch });
        verify.content.layout = if layout { HeaderLayout::V2 } else { HeaderLayout::V3 };
        verify.content.interval_bytes = if max_blocks > 0 { 4096 } else { 0 };
        verify.checks_sequence = max_blocks == 0;
        let (outcome, events) = simulate(vec![job]);
        prop_assert_eq!(events.text(MessageStream::Error), "");
        prop_assert_eq!(outcome.n_failed, 0);
    }
}
