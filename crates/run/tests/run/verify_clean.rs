//! Verification without damage reports nothing, with any options.
//!
//! Start reading at [`run_clean`].

use crate::builder::{set_depth, simulate};
use crate::verify::verified;
use ferrio_run::MessageStream;
use ferrio_spec::engines::options::sim;
use ferrio_spec::{
    BlockRange, DirectionMix, ErrorClasses, HeaderLayout, JobSpec, RandomDistribution, SizeSpec, TrimBacklogSpec,
    VERIFY_METHODS, VerifiedWrites, VerifyBacklogSpec, VerifyCompression,
};
use ferrio_units::PerDirection;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

/// Any allowed job with verification, in any combination.
fn any_job() -> impl Strategy<Value = JobSpec> {
    let order = (0..3usize, any::<bool>(), any::<bool>(), 0..4usize, any::<bool>(), any::<u64>());
    let sizes = (prop::array::uniform3((1u64..3, 0u64..3)), 1u64..200, any::<bool>(), 1u32..4, 1u32..4);
    let queue = (1u32..20, 1u32..8, 1u32..8, 1u32..4);
    let verify = (
        0..VERIFY_METHODS.len(),
        0..3usize,
        any::<bool>(),
        prop::option::of((1u32..101, 1u64..9, 1u64..9, any::<bool>())),
    );
    let syncs = (0u32..6, 0u32..6, any::<bool>(), 0..4usize);
    let backlog = prop::option::of((1u64..9, 1u64..9));
    let more = (backlog, 0u32..3, any::<bool>(), prop::option::of(1u32..100), prop::option::of(100u64..20_000));
    (order, sizes, queue, verify, syncs, more).prop_map(|(order, sizes, queue, verify, syncs, more)| {
        let (mix, random, norandommap, skew, seeded, seed) = order;
        let (blocks, io_blocks, has_io_size, nrfiles, openfiles) = sizes;
        let (iodepth, channels, batch, loops) = queue;
        let (method, reads, layout, trims) = verify;
        let (fsync, fdatasync, end_fsync, fault) = syncs;
        let (backlog, n_threads, serialized, compressed, runtime_us) = more;
        let mut job = verified(VERIFY_METHODS[method].method);
        job.pattern.mix = [DirectionMix::Write, DirectionMix::ReadWrite, DirectionMix::TrimWrite][mix];
        job.pattern.random = random;
        job.pattern.rw_postfix = random.into();
        job.pattern.norandommap = norandommap;
        if skew == 0 {
            job.pattern.distribution = RandomDistribution::Zipf { theta: 1.2, center: None };
        }
        job.pattern.randseed = seeded.then_some(seed);
        job.pattern.block_size = PerDirection(
            blocks.map(|(min, more)| BlockRange { min_bytes: min * 4096, max_bytes: (min + more) * 4096 }),
        );
        job.extent.io_size = has_io_size.then_some(SizeSpec::Bytes(io_blocks * 4096));
        (job.target.nrfiles, job.target.openfiles) = (nrfiles, openfiles.min(nrfiles));
        job.limits.loops = loops;
        (job.durability.fsync_blocks, job.durability.fdatasync_blocks) = (fsync, fdatasync);
        job.durability.end_fsync = end_fsync;
        job.submission.serialize_overlap = serialized;
        if let Some(runtime_us) = runtime_us {
            (job.limits.time_based, job.limits.runtime_us) = (runtime_us % 2 == 0, runtime_us);
        }
        set_depth(&mut job, iodepth);
        job.queue.batch_submit = batch.min(iodepth);
        job.engine.options.set(&sim::CHANNELS, channels.into());
        // Events that are no damage: short transfers, and tolerated errors.
        job.engine.options.set(&sim::FAULT, ["short@/5", "write=eio@/7", "trim=eio@/3", "stall:1ms@/9"][fault]);
        job.errors.continue_on = ErrorClasses { read: true, write: true, verify: false };
        let verify = job.verify.as_mut().unwrap();
        verify.content.layout = if layout { HeaderLayout::V2 } else { HeaderLayout::V3 };
        // As after lowering: intervals divide all blocks, and sequence numbers are checked only with a single block
        // size.
        verify.content.interval_bytes = 4096;
        verify.checks_sequence = blocks[1].1 == 0;
        verify.reads = [VerifiedWrites::Done, VerifiedWrites::Fsynced, VerifiedWrites::Regenerated][reads];
        verify.backlog = backlog.map(|(blocks, batch)| VerifyBacklogSpec { blocks, batch });
        verify.n_threads = n_threads;
        verify.content.compression =
            compressed.map(|percent| VerifyCompression { percent, piece_bytes: 0, tail: vec![7; 3] });
        if let (Some((percent, backlog, batch, checks_zeroes)), VerifiedWrites::Done) = (trims, verify.reads) {
            verify.trims = Some(TrimBacklogSpec { percent, backlog, batch, checks_zeroes });
        }
        job
    })
}

/// Runs jobs on a device that works correctly, and expects no report.
fn run_clean(n_jobs: u32) {
    let mut runner =
        TestRunner::new(ProptestConfig { cases: n_jobs, max_shrink_iters: 200, ..ProptestConfig::default() });
    let result = runner.run(&any_job(), |job| {
        let (outcome, events) = simulate(vec![job]);
        let text = events.text(MessageStream::Error);
        let alarms: Vec<&str> = text.lines().filter(|line| !line.starts_with("fio: io_u error")).collect();
        prop_assert!(alarms.is_empty(), "{alarms:?}");
        prop_assert_eq!(outcome.n_failed, 0);
        Ok(())
    });
    assert_eq!(result, Ok(()));
}

#[test]
fn clean_runs_raise_no_alarm() {
    run_clean(200);
}

#[test]
#[ignore = "takes a minute; run it when verification changes"]
fn ten_thousand_clean_runs_raise_no_alarm() {
    run_clean(10_000);
}
