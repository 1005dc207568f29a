//! `io_submit_mode=offload` in real runs: with every engine, no I/O is lost, and reads return what was written.
//!
//! Start reading at [`every_engine_verifies_by_a_pool`].

use crate::builder::{Events, reader, reads, run, set_depth, settings, simulate_one, spec, writes};
use crate::scratch::Scratch;
use crate::verify::{figures, verified};
use ferrio_run::{MessageStream, Run, RunError};
use ferrio_spec::{BlockRange, DirectionMix, JobSpec, SizeSpec, VerifyMethod};
use ferrio_units::PerDirection;

fn offloaded(engine: &str, scratch: &Scratch, thread: bool) -> JobSpec {
    let mut job = verified(VerifyMethod::Crc32c);
    engine.clone_into(&mut job.engine.name);
    job.engine.options.clear();
    job.target.directories = vec![scratch.path().to_owned()];
    job.submission.offload = true;
    job.worker.thread = thread;
    job.pattern.random = true;
    job.pattern.rw_postfix = 1;
    set_depth(&mut job, 4);
    job
}

#[test]
fn every_engine_verifies_by_a_pool() {
    let scratch = Scratch::new("offload");
    for engine in ["psync", "pvsync", "pvsync2", "mmap", "libaio", "io_uring", "posixaio"] {
        // The C library's threads for POSIX AIO do not survive fork(), but the child's library still waits for them.
        // Other tests of this process may have such threads now.
        let kinds: &[bool] = if engine == "posixaio" { &[true] } else { &[false, true] };
        for thread in kinds.iter().copied() {
            let (outcome, events) = run(vec![offloaded(engine, &scratch, thread)]);
            assert_eq!(events.text(MessageStream::Error), "", "{engine} {thread}");
            assert_eq!(figures(&outcome), (64, 64, 0), "{engine} {thread}");
            let stats = &outcome.record.workers[0].stats;
            // Each I/O has its samples, and as many were counted as were submitted.
            for figures in [writes(stats), reads(stats)] {
                assert_eq!((figures.slat.n_samples, figures.clat.n_samples, figures.lat.n_samples), (64, 64, 64));
            }
            assert_eq!(stats.depth.0.iter().sum::<u64>(), 128, "{engine}");
        }
    }
}

#[test]
fn engines_that_move_the_position_are_refused() {
    let scratch = Scratch::new("offload-refused");
    for engine in ["sync", "vsync"] {
        let (outcome, events) = run(vec![offloaded(engine, &scratch, false)]);
        assert_eq!(outcome.n_failed, 1);
        let text = events.text(MessageStream::Error);
        assert!(text.contains("io_submit_mode") && text.contains(engine) && text.contains("psync"), "{text}");
    }
}

#[test]
fn errors_are_those_of_their_ios() {
    let mut job = reader("w", "psync", 16);
    job.pattern.mix = DirectionMix::Write;
    job.target.filenames = vec!["/dev/full".to_owned()];
    job.submission.offload = true;
    set_depth(&mut job, 4);
    let (outcome, events) = run(vec![job]);
    assert_eq!(
        (outcome.n_failed, outcome.record.workers[0].stats.errno),
        (1, 28),
        "{}",
        events.text(MessageStream::Error)
    );
}

/// The simulated device never waits during submission, so the figures are the same, to the nanosecond.
#[test]
fn the_simulated_device_needs_no_threads() {
    let mut job = crate::builder::sim_reader("j", "uniform:10us-1ms", 200);
    set_depth(&mut job, 8);
    let inline = simulate_one(job.clone());
    job.submission.offload = true;
    let offload = simulate_one(job);
    assert_eq!((reads(&inline).clat.sum_ns, inline.depth.0), (reads(&offload).clat.sum_ns, offload.depth.0));
}

/// Two jobs that write to the same blocks, and one that reads them, through a mapping, which does not exclude any of
/// them: each block comes from a single writer.
#[test]
fn overlapping_ios_of_jobs_wait_for_each_other() {
    const BLOCK_BYTES: u64 = 256 << 10;
    for threads in [[false; 3], [true; 3], [true, false, true]] {
        let scratch = Scratch::new("offload-overlap");
        let path = scratch.path().join("shared");
        std::fs::write(&path, vec![0xaa; 4 * BLOCK_BYTES as usize]).unwrap();
        let job = |thread: bool, mix: DirectionMix, byte: u8| {
            let mut job = reader("j", "mmap", 1);
            job.target.filenames = vec![path.to_string_lossy().into_owned()];
            job.extent.size = Some(SizeSpec::Bytes(4 * BLOCK_BYTES));
            job.extent.io_size = Some(SizeSpec::Bytes(200 * BLOCK_BYTES));
            job.pattern.mix = mix;
            job.pattern.block_size = PerDirection::all(BlockRange { min_bytes: BLOCK_BYTES, max_bytes: BLOCK_BYTES });
            job.buffers.pattern = Some(vec![byte]);
            (job.submission.offload, job.submission.serialize_overlap, job.worker.thread) = (true, true, thread);
            set_depth(&mut job, 2);
            job
        };
        let mixes = [DirectionMix::Write, DirectionMix::Read, DirectionMix::Write];
        let jobs =
            threads.into_iter().zip(mixes).zip([0xaa, 0, 0x55]).map(|((thread, mix), byte)| job(thread, mix, byte));
        let (outcome, events) = run(jobs.collect());
        assert_eq!((outcome.n_failed, events.text(MessageStream::Error)), (0, String::new()));
        let counts = |job: &ferrio_stats::WorkerRecord| writes(&job.stats).n_completed + reads(&job.stats).n_completed;
        assert!(outcome.record.workers.iter().all(|job| counts(job) == 200));
        for block in std::fs::read(&path).unwrap().chunks(BLOCK_BYTES as usize) {
            assert!(block.iter().all(|byte| *byte == block[0]) && [0xaa, 0x55].contains(&block[0]), "{threads:?}");
        }
    }
}

/// Such a process would wait for threads that do not survive `fork()`.
#[test]
fn posixaio_in_threads_and_processes_of_one_run_is_refused() {
    let scratch = Scratch::new("offload-mixed");
    let jobs = |threads: [bool; 2]| {
        let of = |thread| {
            let mut job = reader("j", "posixaio", 1);
            job.target.directories = vec![scratch.path().to_owned()];
            job.worker.thread = thread;
            job
        };
        Run::new(spec(threads.map(of).to_vec()), settings()).unwrap().go(&mut Events::default())
    };
    for mixed in [[true, false], [false, true]] {
        assert!(matches!(jobs(mixed), Err(RunError::ThreadsAndProcesses { engine: "posixaio", .. })));
    }
    assert!(!matches!(jobs([true, true]), Err(RunError::ThreadsAndProcesses { .. })));
}
