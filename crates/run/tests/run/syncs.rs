//! Syncs between writes and at the end.
//!
//! Start reading at [`every_n_writes`]. Facts of the reference: a sync follows when the number of writes is a multiple
//! of n, but never at the very end; syncs at the end are neither counted nor measured (its sample of `end_fsync=1` has
//! `issued rwts: total=0,16384,0,0`).

use crate::builder::{BLOCK, MS, US, reads, run, set_depth, sim_reader, simulate_one, writes};
use crate::scratch::Scratch;
use ferrio_run::MessageStream;
use ferrio_spec::engines::options::sim;
use ferrio_spec::{DirectionMix, JobSpec, SizeSpec};
use ferrio_stats::ThreadStats;

/// 16 writes of 100 us, syncs of 1 ms.
fn with(change: impl FnOnce(&mut JobSpec)) -> ThreadStats {
    let mut job = sim_reader("j", "fixed:100us,sync=fixed:1ms", 16);
    job.pattern.mix = DirectionMix::Write;
    change(&mut job);
    simulate_one(job)
}

fn assert_syncs(stats: &ThreadStats, n_syncs: u64) {
    assert_eq!((stats.n_syncs_issued, stats.sync.n_samples), (n_syncs, n_syncs));
    assert_eq!((writes(stats).n_completed, writes(stats).bytes), (16, 16 * BLOCK));
    // Syncs count for the depths, not for the I/Os.
    assert_eq!((stats.n_issued(), stats.depth.0[0]), (16, 16 + n_syncs));
}

#[test]
fn every_n_writes() {
    let stats = with(|job| job.durability.fsync_blocks = 4);
    assert_syncs(&stats, 3);
    assert_eq!((stats.sync.min_ns, stats.sync.max_ns), (MS, MS));
    assert_eq!(writes(&stats).runtime_ns, 16 * 100 * US + 3 * MS);
    assert_eq!(writes(&stats).clat.max_ns, 100 * US);
    // Sync latencies are not in the coarse buckets.
    assert_eq!(stats.latency_buckets.ms.iter().sum::<u64>(), 0);
    assert_syncs(&with(|job| job.durability.fdatasync_blocks = 5), 3);
    assert_syncs(&with(|job| job.durability.fsync_blocks = 16), 0);
    assert_syncs(&with(|job| job.durability.fsync_blocks = 1), 15);
}

#[test]
fn fsync_goes_before_fdatasync() {
    let stats = with(|job| {
        job.durability.fsync_blocks = 4;
        job.durability.fdatasync_blocks = 6;
    });
    // After 4, 6, 8 and 12 (both): once each.
    assert_syncs(&stats, 4);
}

#[test]
fn readers_do_not_sync() {
    let stats = with(|job| {
        job.pattern.mix = DirectionMix::Read;
        job.durability.fsync_blocks = 4;
    });
    assert_eq!((stats.n_syncs_issued, reads(&stats).n_completed), (0, 16));
}

#[test]
fn mixed_jobs_count_their_writes_only() {
    let stats = with(|job| {
        job.pattern.mix = DirectionMix::ReadWrite;
        job.durability.fsync_blocks = 4;
    });
    // Another I/O follows after every fourth write, except at the end of the job.
    let n_writes = writes(&stats).n_completed;
    assert!(stats.n_syncs_issued == n_writes / 4 || stats.n_syncs_issued == (n_writes - 1) / 4);
    assert_eq!(stats.n_issued(), 16);
}

/// Expected: figures of the reference for `rw=randrw bs=4k fsync=64 size=32m` (its sample in JSON).
#[test]
fn a_mix_syncs_as_often_as_the_reference() {
    let stats = with(|job| {
        "null".clone_into(&mut job.engine.name);
        job.pattern.mix = DirectionMix::ReadWrite;
        (job.pattern.random, job.pattern.rw_postfix) = (true, 1);
        job.extent.size = Some(SizeSpec::Bytes(32 << 20));
        job.durability.fsync_blocks = 64;
    });
    assert_eq!((reads(&stats).n_issued, writes(&stats).n_issued, stats.n_syncs_issued), (4_050, 4_142, 64));
}

#[test]
fn syncs_in_a_queue() {
    let stats = with(|job| {
        job.durability.fsync_blocks = 4;
        job.engine.options.set(&sim::CHANNELS, 4);
        set_depth(job, 4);
    });
    assert_eq!((stats.n_syncs_issued, stats.sync.n_samples, writes(&stats).n_completed), (3, 3, 16));
    assert_eq!(stats.depth.0.iter().sum::<u64>(), 19);
}

#[test]
fn failed_syncs_are_writes_to_continue_on_error() {
    let run = |continues: bool| {
        let mut job = sim_reader("j", "fixed:100us", 16);
        job.pattern.mix = DirectionMix::Write;
        job.durability.fsync_blocks = 4;
        job.errors.continue_on.write = continues;
        job.engine.options.set(&sim::FAULT, "sync=eio@2");
        crate::builder::simulate(vec![job]).0
    };
    assert_eq!(run(false).n_failed, 1);
    let outcome = run(true);
    assert_eq!((outcome.n_failed, outcome.record.workers[0].stats.tolerated.n_total), (0, 1));
    assert_eq!(outcome.record.workers[0].stats.sync.n_samples, 2);
}

/// Writes 64 KiB to real files.
fn on_files(change: impl FnOnce(&mut JobSpec)) -> ThreadStats {
    let scratch = Scratch::new("syncs");
    let mut job = crate::builder::reader("j", "psync", 16);
    job.pattern.mix = DirectionMix::Write;
    job.target.directories = vec![scratch.path().to_owned()];
    change(&mut job);
    let (mut outcome, events) = run(vec![job]);
    assert_eq!(outcome.n_failed, 0, "{:?}", events.messages);
    *outcome.record.workers.remove(0).stats
}

#[test]
fn syncs_of_the_end_are_not_counted() {
    assert_syncs(&on_files(|job| job.durability.end_fsync = true), 0);
    assert_syncs(&on_files(|job| job.durability.fsync_on_close = true), 0);
    let both = on_files(|job| {
        job.durability.end_fsync = true;
        job.durability.fsync_blocks = 4;
    });
    assert_syncs(&both, 3);
}

#[test]
fn files_that_close_are_synced_while_others_are_in_flight() {
    for engine in ["sim", "libaio"] {
        let scratch = Scratch::new("sync-close");
        let mut job = crate::builder::reader("j", engine, 64);
        job.pattern.mix = DirectionMix::Write;
        job.durability.fsync_on_close = true;
        job.target.nrfiles = 8;
        job.target.directories = vec![scratch.path().to_owned()];
        set_depth(&mut job, 8);
        job.queue.batch_complete_max = 8;
        if engine == "sim" {
            job.engine.options.set(&sim::CHANNELS, 8);
        }
        let (outcome, events) = run(vec![job]);
        assert_eq!((outcome.n_failed, &*events.messages), (0, &[][..]), "{engine}");
        let stats = &outcome.record.workers[0].stats;
        assert_eq!((writes(stats).n_completed, writes(stats).bytes), (64, 64 * BLOCK), "{engine}");
    }
}

/// /dev/null accepts writes but cannot be synced: fio 3.41 has the same message and exit code.
#[test]
fn a_sync_that_fails_at_the_end_fails_the_job() {
    let changes: [fn(&mut JobSpec); 3] = [
        |job| job.durability.end_fsync = true,
        |job| job.durability.fsync_on_close = true,
        |job| {
            job.durability.fsync_on_close = true;
            "libaio".clone_into(&mut job.engine.name);
            set_depth(job, 4);
            job.errors.ignore[1] = Some(vec![22]);
        },
    ];
    for change in changes {
        let mut job = crate::builder::reader("j", "psync", 4);
        job.pattern.mix = DirectionMix::Write;
        job.target.filenames = vec!["/dev/null".to_owned()];
        change(&mut job);
        let is_deep = job.queue.iodepth > 1;
        let (outcome, events) = run(vec![job]);
        let stats = &outcome.record.workers[0].stats;
        assert_eq!((outcome.n_failed, stats.errno, writes(stats).n_completed), (1, 22, 4), "{:?}", events.messages);
        let told = events.text(MessageStream::Error);
        assert!(told.ends_with("buflen=4096\nfio: end_fsync failed for file /dev/null"), "{told}");
        if !is_deep {
            let start = "fio: io_u error on file /dev/null: Invalid argument: sync offset=12288";
            assert!(told.starts_with(start), "{told}");
        }
    }
}
