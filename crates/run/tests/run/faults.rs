//! I/O errors and short transfers.
//!
//! Start reading at [`the_first_error_ends_the_job`].

use crate::builder::{BLOCK, US, failure_text, reads, set_depth, sim_reader, simulate, simulate_one, writes};
use ferrio_run::MessageStream;
use ferrio_spec::engines::options::sim;
use ferrio_spec::{DirectionMix, ErrorClasses, JobSpec};
use ferrio_sys::errno::{EIO, ENOSPC};

/// 100 reads of 100 us on a device with this `sim_fault`.
fn faulty(fault: &str) -> JobSpec {
    let mut job = sim_reader("j", "fixed:100us", 100);
    job.engine.options.set(&sim::FAULT, fault);
    job
}

#[test]
fn the_first_error_ends_the_job() {
    let (outcome, events) = simulate(vec![faulty("eio@10")]);
    assert_eq!(outcome.n_failed, 1);
    let stats = &outcome.record.workers[0].stats;
    assert_eq!(stats.errno, EIO);
    let text = failure_text(&outcome);
    assert!(text.starts_with("file:failure.rs:"), "{text}");
    assert!(text.ends_with(", func=io_u error, error=Input/output error"), "{text}");
    // Ten were issued, nine moved data.
    let read = reads(stats);
    assert_eq!((read.n_issued, read.n_completed, read.bytes, read.clat.n_samples), (10, 9, 9 * BLOCK, 9));
    assert_eq!(read.runtime_ns, 10 * 100 * US);
    let expected = "fio: io_u error on file j.0.0: Input/output error: read offset=36864, buflen=4096";
    assert_eq!(events.text(MessageStream::Error), expected);
}

#[test]
fn an_error_among_several_in_flight_ends_the_job() {
    // All 8 complete at the same time, so that the failed one is reaped together with others.
    for nth in [1, 4, 8, 50] {
        let mut job = faulty(&format!("eio@{nth}"));
        job.engine.options.set(&sim::CHANNELS, 8);
        set_depth(&mut job, 8);
        job.queue.batch_complete_max = 8;
        let (outcome, events) = simulate(vec![job]);
        let read = reads(&outcome.record.workers[0].stats);
        assert_eq!(outcome.n_failed, 1, "{nth}");
        assert_eq!(read.n_issued, read.n_completed + 1, "{nth}: all others are waited for and counted");
        assert_eq!(events.n_errors(), 1, "{nth}");
    }
}

#[test]
fn every_error_in_flight_is_told_and_the_first_is_the_job_s() {
    let mut job = faulty("eio@2,eio@5");
    job.engine.options.set(&sim::CHANNELS, 8);
    set_depth(&mut job, 8);
    job.queue.batch_complete_max = 8;
    let (outcome, events) = simulate(vec![job]);
    assert_eq!((outcome.n_failed, outcome.record.workers[0].stats.errno), (1, EIO));
    assert_eq!(events.n_errors(), 2);
    assert_eq!(reads(&outcome.record.workers[0].stats).n_completed, 6);
}

#[test]
fn continue_on_error_counts_and_goes_on() {
    for depth in [1, 4] {
        let mut job = faulty("eio@/10");
        set_depth(&mut job, depth);
        job.errors.continue_on.read = true;
        let (outcome, events) = simulate(vec![job]);
        let stats = &outcome.record.workers[0].stats;
        assert_eq!((outcome.n_failed, stats.errno, failure_text(&outcome).as_str()), (0, EIO, ""));
        assert_eq!((stats.tolerated.n_total, stats.tolerated.first_errno), (10, EIO));
        assert_eq!((reads(stats).n_issued, reads(stats).n_completed, reads(stats).bytes), (100, 90, 90 * BLOCK));
        assert_eq!(events.messages, []);
        assert!(outcome.record.workers[0].settings.show_errors);
    }
}

#[test]
fn classes_are_apart() {
    let mut job = faulty("read=eio@5");
    job.errors.continue_on = ErrorClasses { read: false, write: true, verify: true };
    assert_eq!(simulate(vec![job.clone()]).0.n_failed, 1);
    let mut writer = faulty("write=eio@5");
    writer.pattern.mix = DirectionMix::Write;
    writer.errors.continue_on = ErrorClasses { read: true, write: false, verify: true };
    assert_eq!(simulate(vec![writer.clone()]).0.n_failed, 1);
    writer.errors.continue_on.write = true;
    let (outcome, _) = simulate(vec![writer]);
    assert_eq!((outcome.n_failed, writes(&outcome.record.workers[0].stats).n_completed), (0, 99));
}

#[test]
fn only_listed_errors_are_ignored() {
    let mut full = faulty("eio@50");
    full.pattern.mix = DirectionMix::Write;
    full.engine.options.set(&sim::CAPACITY, (90 * BLOCK) as i64);
    // continue_on_error covers EIO but not ENOSPC.
    let mut job = full.clone();
    job.errors.continue_on.write = true;
    let (outcome, _) = simulate(vec![job.clone()]);
    assert_eq!((outcome.n_failed, outcome.record.workers[0].stats.errno), (1, ENOSPC));
    // The error that ends the job is counted too, as in fio 3.41.
    let counted = outcome.record.workers[0].stats.tolerated;
    assert_eq!((counted.n_total, counted.first_errno), (2, EIO));
    // A list replaces the default errors.
    job.errors.ignore[1] = Some(vec![ENOSPC]);
    let (outcome, _) = simulate(vec![job.clone()]);
    assert_eq!((outcome.n_failed, outcome.record.workers[0].stats.errno), (1, EIO));
    job.errors.ignore[1] = Some(vec![ENOSPC, EIO]);
    let (outcome, _) = simulate(vec![job]);
    let stats = &outcome.record.workers[0].stats;
    assert_eq!((outcome.n_failed, stats.tolerated.n_total, stats.tolerated.first_errno), (0, 11, EIO));
    assert_eq!(writes(stats).n_completed, 89);
}

#[test]
fn a_full_device_may_be_the_aim() {
    let mut job = faulty("eio@1000");
    job.pattern.mix = DirectionMix::Write;
    job.extent.fill_device = true;
    job.engine.options.set(&sim::CAPACITY, (90 * BLOCK) as i64);
    let (outcome, events) = simulate(vec![job]);
    let stats = &outcome.record.workers[0].stats;
    assert_eq!((outcome.n_failed, stats.errno, writes(stats).n_completed), (0, 0, 90));
    assert!(events.text(MessageStream::Error).contains("No space left on device"), "{:?}", events.messages);
}

#[test]
fn a_device_that_fills_with_several_in_flight() {
    let mut job = sim_reader("j", "fixed:100us", 100);
    job.pattern.mix = DirectionMix::Write;
    job.extent.fill_device = true;
    job.engine.options.set(&sim::CAPACITY, (90 * BLOCK) as i64);
    job.engine.options.set(&sim::CHANNELS, 8);
    set_depth(&mut job, 8);
    let (outcome, _) = simulate(vec![job]);
    let stats = &outcome.record.workers[0].stats;
    assert_eq!((outcome.n_failed, stats.errno, writes(stats).n_completed), (0, 0, 90));
}

#[test]
fn tolerated_errors_are_told_on_request() {
    let mut job = faulty("eio@/40");
    job.errors.continue_on.read = true;
    job.errors.dump = true;
    let (outcome, events) = simulate(vec![job]);
    assert_eq!((outcome.n_failed, events.messages.len()), (0, 2));
}

#[test]
fn a_short_transfer_goes_on_with_its_rest() {
    for depth in [1, 4] {
        let mut job = faulty("short@/10");
        set_depth(&mut job, depth);
        let stats = simulate_one(job);
        let read = reads(&stats);
        // Every tenth arrival is cut short: 100 I/Os and their rests are 111 arrivals, of which 11 are cut.
        assert_eq!((read.n_short, read.n_issued, read.n_completed, read.bytes), (11, 100, 100, 100 * BLOCK), "{depth}");
        assert_eq!(read.clat.n_samples, 100, "{depth}");
        assert_eq!(read.slat.n_samples, 100, "an I/O is handed over once, its rest is no new I/O");
        assert_eq!(read.lat.n_samples, 100, "{depth}");
        // Depths count I/Os; counting rests would give percentages above 100.
        assert_eq!(stats.depth.0.iter().sum::<u64>(), 100, "{depth}");
    }
}

#[test]
fn the_latency_of_a_short_transfer_is_that_of_the_whole() {
    let stats = simulate_one(faulty("short@10"));
    let read = reads(&stats);
    assert_eq!((read.clat.min_ns, read.clat.max_ns), (100 * US, 200 * US));
    assert_eq!((read.lat.min_ns, read.lat.max_ns), (100 * US, 200 * US));
    assert_eq!(read.runtime_ns, 101 * 100 * US);
}

#[test]
fn a_transfer_may_come_short_twice() {
    // The rest of 2048 bytes is cut to 1024; the next rest is moved whole.
    let stats = simulate_one(faulty("short@10,short@11"));
    let read = reads(&stats);
    assert_eq!((read.n_short, read.n_completed, read.bytes), (1, 100, 100 * BLOCK), "one I/O came short");
    assert_eq!(read.clat.max_ns, 300 * US);
}

#[test]
fn reads_behind_the_end_of_the_device_move_nothing() {
    let mut job = sim_reader("j", "fixed:100us", 100);
    job.engine.options.set(&sim::CAPACITY, (50 * BLOCK) as i64);
    let (outcome, _) = simulate(vec![job]);
    let stats = &outcome.record.workers[0].stats;
    // As with those engines of fio that complete later: no error, and 0 bytes.
    assert_eq!((outcome.n_failed, stats.errno), (0, 0));
    assert_eq!((reads(stats).n_completed, reads(stats).bytes), (100, 50 * BLOCK));
}

#[test]
fn a_failed_job_leaves_the_others_alone() {
    let (outcome, _) = simulate(vec![faulty("eio@1"), sim_reader("ok", "fixed:100us", 100)]);
    assert_eq!(outcome.n_failed, 1);
    assert_eq!(reads(&outcome.record.workers[1].stats).n_completed, 100);
}
