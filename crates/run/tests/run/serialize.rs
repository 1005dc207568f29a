//! `serialize_overlap` on virtual time: which I/Os wait, for how long, and the effect on verification.
//!
//! Start reading at [`who_lies_over_another_waits_for_it`].

use crate::builder::{BLOCK, US, reads, set_depth, sim_reader, simulate, simulate_one, writes};
use crate::verify::{figures, verified};
use ferrio_run::MessageStream;
use ferrio_spec::engines::options::sim;
use ferrio_spec::{BlockRange, DirectionMix, ErrorClasses, JobSpec, RandomDistribution, VerifyMethod};

/// Writes of 100 us, eight at a time on eight channels, each starting a block after the one before it: all that are
/// longer than a block overlap their neighbours.
fn steps(n_ios: u64, block_blocks: u64) -> JobSpec {
    let mut job = sim_reader("j", "fixed:100us", n_ios * block_blocks);
    job.pattern.mix = DirectionMix::Write;
    let block_bytes = block_blocks * BLOCK;
    let range = BlockRange::one(block_bytes);
    job.pattern.block_size = ferrio_units::PerDirection::all(range);
    job.pattern.rw_postfix = -((block_bytes - BLOCK) as i64);
    job.submission.serialize_overlap = true;
    set_depth(&mut job, 8);
    job.engine.options.set(&sim::CHANNELS, 8);
    job
}

#[test]
fn who_lies_over_another_waits_for_it() {
    let stats = simulate_one(steps(8, 2));
    // Each overlaps the one before: one at a time, 100 us each. The wait is no latency.
    assert_eq!((writes(&stats).n_completed, writes(&stats).runtime_ns), (8, 800 * US));
    assert_eq!((writes(&stats).lat.max_ns, writes(&stats).slat.max_ns), (100 * US, 0));
    assert_eq!(stats.depth.0, [8, 0, 0, 0, 0, 0, 0]);
    // Adjacent blocks do not overlap: all run at the same time.
    let stats = simulate_one(steps(8, 1));
    assert_eq!(writes(&stats).runtime_ns, 100 * US);
    // Without the option none waits.
    let mut job = steps(8, 2);
    job.submission.serialize_overlap = false;
    assert_eq!(writes(&simulate_one(job)).runtime_ns, 100 * US);
}

/// A prepared batch is submitted for an I/O that waits for one of its units; depths count the I/Os in flight.
#[test]
fn batches_are_handed_over_for_who_waits() {
    let mut job = steps(8, 2);
    job.queue.batch_submit = 4;
    let stats = simulate_one(job);
    assert_eq!(writes(&stats).runtime_ns, 800 * US);
    assert_eq!(stats.depth.0, [8, 0, 0, 0, 0, 0, 0]);
}

/// If an I/O ends the job while another waits for it, the waiting one is not issued, and the job ends after the others
/// are done.
#[test]
fn a_fault_ends_the_job_while_one_waits() {
    for fault in ["write=eio@1", "write=eio@3"] {
        let mut job = steps(8, 2);
        job.engine.options.set(&sim::FAULT, fault);
        let (outcome, _) = simulate(vec![job]);
        let job = &outcome.record.workers[0];
        assert_eq!((outcome.n_failed, job.stats.errno), (1, 5), "{fault}");
        let n_writes = writes(&job.stats).n_completed;
        assert_eq!(n_writes, if fault.ends_with('1') { 0 } else { 2 }, "{fault}");
        assert_eq!(writes(&job.stats).n_issued, n_writes + 1, "{fault}");
    }
}

#[test]
fn reads_wait_for_writes_and_readers_for_nobody() {
    let mut job = steps(400, 2);
    job.pattern.mix = DirectionMix::ReadWrite;
    // Back to the previous place: reads and writes of one place.
    job.pattern.rw_postfix = -2 * BLOCK as i64;
    let stats = simulate_one(job);
    assert!(reads(&stats).n_completed > 0 && writes(&stats).n_completed > 0);
    assert_eq!(stats.depth.0, [400, 0, 0, 0, 0, 0, 0]);
    let mut job = steps(8, 2);
    job.pattern.mix = DirectionMix::Read;
    assert_eq!(reads(&simulate_one(job)).runtime_ns, 100 * US);
}

/// Sixty-four writes, of which many overlap others.
fn crowded(iodepth: u32, fault: Option<&str>) -> JobSpec {
    let mut job = verified(VerifyMethod::Crc32c);
    job.pattern.random = true;
    job.pattern.norandommap = true;
    job.pattern.rw_postfix = 1;
    job.pattern.distribution = RandomDistribution::Zipf { theta: 1.2, center: None };
    job.submission.serialize_overlap = true;
    set_depth(&mut job, iodepth);
    job.engine.options.set(&sim::CHANNELS, 16);
    job.engine.options.set(&sim::SERVICE, "uniform:1us-100us");
    if let Some(fault) = fault {
        job.engine.options.set(&sim::FAULT, fault);
    }
    job.errors.continue_on = ErrorClasses { write: true, ..ErrorClasses::default() };
    job
}

/// The blocks read back are those of a job with one I/O at a time: none is left out because of a race. A failed write
/// removes only itself, even while a newer one waits for it.
#[test]
fn verification_leaves_nothing_out() {
    for fault in [None, Some("write=eio@/3")] {
        let (one, _) = simulate(vec![crowded(1, fault)]);
        let (many, events) = simulate(vec![crowded(16, fault)]);
        assert_eq!(events.text(MessageStream::Error), "");
        assert_eq!(figures(&many), figures(&one), "{fault:?}");
        let (n_writes, n_reads, _) = figures(&many);
        assert!(n_reads > 5 && n_reads < n_writes, "{n_reads} of {n_writes}");
        let mut racing = crowded(16, fault);
        racing.submission.serialize_overlap = false;
        assert!(figures(&simulate(vec![racing]).0).1 < n_reads);
    }
}
