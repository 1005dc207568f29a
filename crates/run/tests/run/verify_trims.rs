//! Trims in verified jobs on the simulated device: those of the mix, and those of written blocks.
//!
//! Start reading at [`what_is_trimmed_reads_as_zeroes`].

use crate::builder::{set_depth, simulate};
use crate::verify::{EILSEQ, N_BLOCKS, verified};
use ferrio_run::{MessageStream, RunOutcome};
use ferrio_spec::engines::options::sim;
use ferrio_spec::{BlockRange, DirectionMix, ErrorClasses, JobSpec, SizeSpec, TrimBacklogSpec, VerifyMethod};
use ferrio_units::{DataDirection, PerDirection};
use proptest::prelude::*;

const ALL: TrimBacklogSpec = TrimBacklogSpec { percent: 100, backlog: 4, batch: 4, checks_zeroes: true };

fn trimmed(trims: TrimBacklogSpec) -> JobSpec {
    let mut job = verified(VerifyMethod::Crc32c);
    job.verify.as_mut().unwrap().trims = Some(trims);
    job
}

/// Numbers of reads, writes and trims, and the errno.
fn figures(outcome: &RunOutcome) -> ([u64; 3], i32) {
    let stats = &outcome.record.workers[0].stats;
    (DataDirection::ALL.map(|direction| stats.directions[direction].n_completed), stats.errno)
}

#[test]
fn what_is_trimmed_reads_as_zeroes() {
    for (random, iodepth) in [(false, 1), (true, 1), (true, 8)] {
        let mut job = trimmed(ALL);
        job.pattern.random = random;
        job.pattern.rw_postfix = random.into();
        set_depth(&mut job, iodepth);
        job.engine.options.set(&sim::CHANNELS, 8);
        let (outcome, events) = simulate(vec![job.clone()]);
        assert_eq!(events.text(MessageStream::Error), "");
        assert_eq!(figures(&outcome), ([N_BLOCKS, N_BLOCKS, N_BLOCKS], 0), "{iodepth}");
        // Trimmed blocks that are not checked are not read.
        job.verify.as_mut().unwrap().trims = Some(TrimBacklogSpec { checks_zeroes: false, backlog: 1, ..ALL });
        let (outcome, _) = simulate(vec![job]);
        assert_eq!(figures(&outcome), ([0, N_BLOCKS, N_BLOCKS], 0), "{iodepth}");
    }
}

#[test]
fn a_trim_that_did_nothing_is_found() {
    for (fault, words) in
        [("trim=lost@9", "not trimmed: the block is as it was written"), ("trim=torn@9", "trimmed in part: ")]
    {
        let mut job = trimmed(ALL);
        job.engine.options.set(&sim::FAULT, fault);
        let (outcome, events) = simulate(vec![job]);
        // The ninth trim is that of the ninth block, which is the ninth to be read.
        assert_eq!(figures(&outcome), ([9, N_BLOCKS, N_BLOCKS], EILSEQ));
        let text = events.text(MessageStream::Error);
        assert!(text.contains("verify failed for zeroed data at file "), "{text}");
        assert!(text.contains("offset 32768, length 4096, block offset "), "{text}");
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn a_trim_that_fails_leaves_its_block_alone() {
    let mut job = trimmed(TrimBacklogSpec { backlog: 1, ..ALL });
    job.engine.options.set(&sim::FAULT, "trim=eio@/8");
    job.errors.continue_on = ErrorClasses { read: false, write: true, verify: false };
    let (outcome, _) = simulate(vec![job]);
    let n_failed = N_BLOCKS / 8;
    assert_eq!(figures(&outcome).0, [N_BLOCKS - n_failed, N_BLOCKS, N_BLOCKS - n_failed]);
    assert_eq!((outcome.n_failed, outcome.record.workers[0].stats.tolerated.n_total), (0, n_failed));
}

#[test]
fn trims_of_the_mix_raise_no_alarm() {
    for (random, iodepth) in [(false, 1), (false, 8), (true, 8)] {
        let mut job = verified(VerifyMethod::Md5);
        job.pattern.mix = DirectionMix::TrimWrite;
        job.pattern.random = random;
        job.pattern.rw_postfix = random.into();
        set_depth(&mut job, iodepth);
        job.engine.options.set(&sim::CHANNELS, 8);
        let (outcome, events) = simulate(vec![job]);
        assert_eq!(events.text(MessageStream::Error), "");
        assert_eq!(figures(&outcome), ([N_BLOCKS; 3], 0), "{random} {iodepth}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// A device that stores data correctly, and forgets trimmed blocks, gives no fault.
    #[test]
    fn no_false_alarm(
        (mix, random, norandommap) in (0..3usize, any::<bool>(), any::<bool>()),
        (percent, backlog, batch, checks_zeroes) in (0u32..101, 1u64..9, 1u64..9, any::<bool>()),
        (iodepth, channels, loops) in (1u32..20, 1u32..8, 1u32..3),
        blocks in prop::array::uniform3((1u64..3, 0u64..3)),
        (seed, io_blocks) in (any::<u64>(), 1u64..200),
    ) {
        let trims = TrimBacklogSpec { percent, backlog, batch, checks_zeroes };
        let mut job = verified(VerifyMethod::Xxhash);
        let verify = job.verify.as_mut().unwrap();
        verify.trims = (percent > 0).then_some(trims);
        // As after lowering: intervals divide all blocks, and sequence numbers are checked only with a single block
        // size.
        verify.content.interval_bytes = 4096;
        verify.checks_sequence = blocks[1].1 == 0;
        job.pattern.mix = [DirectionMix::Write, DirectionMix::ReadWrite, DirectionMix::TrimWrite][mix];
        job.pattern.random = random;
        job.pattern.rw_postfix = random.into();
        job.pattern.norandommap = norandommap;
        job.pattern.randseed = Some(seed);
        job.pattern.block_size =
            PerDirection(blocks.map(|(min, more)| BlockRange { min_bytes: min * 4096, max_bytes: (min + more) * 4096 }));
        job.extent.io_size = Some(SizeSpec::Bytes(io_blocks * 4096));
        job.limits.loops = loops;
        set_depth(&mut job, iodepth);
        job.engine.options.set(&sim::CHANNELS, channels.into());
        let (outcome, events) = simulate(vec![job]);
        prop_assert_eq!(events.text(MessageStream::Error), "");
        prop_assert_eq!(outcome.n_failed, 0);
    }
}
