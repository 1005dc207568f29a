//! Both answers of each function: in a run of fio's options, and in a native one.
//!
//! Start reading at [`both`]. Expected values: the comments of the functions, and arithmetic.

use super::*;
use crate::plan::{RunPlan, WorkerPlan};
use ferrio_spec::{
    BlockRange, Compatibility, DirectionMix, JobSpec, RunSpec, SizeSpec, VerifyBacklogSpec, VerifyMethod,
    VerifyPattern, VerifySpec,
};
use ferrio_units::DataDirection;
use ferrio_workload::Rounds;
use ferrio_workload::shape::{Extent, Shape};

/// A change to a job with the defaults of the option table.
type Change = fn(&mut JobSpec);

/// A job that reads blocks of 4 KiB in sequence with psync, as a process.
const PLAIN: Change = |_| ();
const MIX: Change = |job| job.pattern.mix = DirectionMix::ReadWrite;
const TRIMS: Change = |job| job.pattern.mix = DirectionMix::Trim;
const VERIFIED: Change = |job| {
    job.pattern.mix = DirectionMix::Write;
    job.verify = Some(VerifySpec::of(VerifyMethod::Md5));
};
const WITH_BACKLOG: Change = |job| {
    VERIFIED(job);
    let backlog = VerifyBacklogSpec { blocks: 4, batch: 4 };
    job.verify.iter_mut().for_each(|verify| verify.backlog = Some(backlog));
};
const UNCHECKED: Change = |job| {
    let mut verify = VerifySpec::of(VerifyMethod::Null);
    verify.content.pattern = Some(VerifyPattern { bytes: vec![1, 2], offsets_at: Vec::new() });
    job.verify = Some(verify);
};
/// Blocks of other directions than that of the job are of 512 bytes and 64 KiB.
const UNUSED_SIZES: Change = |job| {
    job.pattern.block_size[DataDirection::Write] = BlockRange { min_bytes: 512, max_bytes: 512 };
    job.pattern.block_size[DataDirection::Trim] = BlockRange { min_bytes: 65_536, max_bytes: 65_536 };
};
const SHARE: Change = |job| job.extent.io_size = Some(SizeSpec::Percent(1));
const LIBAIO: Change = |job| "libaio".clone_into(&mut job.engine.name);
const LIBISCSI: Change = |job| "libiscsi".clone_into(&mut job.engine.name);
const PAIRS: Change = |job| job.pattern.mix = DirectionMix::TrimWrite;

fn worker(compatibility: Compatibility, change: impl FnOnce(&mut JobSpec)) -> WorkerPlan {
    let mut job = JobSpec::default();
    change(&mut job);
    RunPlan::new(RunSpec { global_options: Vec::new(), jobs: vec![job], compatibility, ..RunSpec::default() })
        .unwrap()
        .workers
        .remove(0)
}

/// The answers for a job of fio and for the same native job.
fn both<T>(change: impl Fn(&mut JobSpec), answer: impl Fn(&WorkerPlan) -> T) -> [T; 2] {
    [Compatibility::Fio, Compatibility::Native].map(|compatibility| answer(&worker(compatibility, &change)))
}

#[test]
fn locks_and_schedulers_are_left_by_fio_only() {
    assert_eq!(both(PLAIN, unlocks_before_done), [true, false]);
    assert_eq!(both(PLAIN, leaves_scheduler), [true, false]);
    assert_eq!(both(TRIMS, refuses_trims_of_files), [true, false]);
}

#[test]
fn figures_of_nothing_are_those_of_fio() {
    assert_eq!(both(PLAIN, counts_unrepeated), [true, false]);
    assert_eq!(both(PLAIN, lacks_disks_of_trace), [true, false]);
}

// A pass of 10 bytes in a job of 30.
#[test]
fn pairs_count_twice_or_together() {
    let pass_bytes = |worker: &WorkerPlan| pass_bytes_of_pairs(worker, 10, 30);
    assert_eq!((both(PAIRS, pass_bytes), both(PAIRS, ios_counted_as_one)), ([40, 20], [2, 1]));
    assert_eq!((both(MIX, pass_bytes), both(MIX, ios_counted_as_one)), ([10, 10], [1, 1]));
    let without_limit = |worker: &WorkerPlan| pass_bytes_of_pairs(worker, 10, u64::MAX);
    assert_eq!(both(PAIRS, without_limit), [u64::MAX, 20]);
}

type YesNo = fn(&WorkerPlan) -> bool;

#[test]
fn figures_have_both_answers() {
    let rows: [(&str, Change, YesNo, [bool; 2]); 16] = [
        ("idle turns take time", PLAIN, times_idle_turns, [false, true]),
        ("states of blocks", PLAIN, keeps_block_states, [false, true]),
        ("states of trimmed blocks", TRIMS, keeps_block_states, [true, true]),
        ("disable_lat", |job| job.reporting.disable_lat = true, silences_latency_limit, [true, false]),
        ("gtod_reduce", |job| job.reporting.gtod_reduce = true, silences_latency_limit, [true, false]),
        ("latencies are measured", PLAIN, silences_latency_limit, [false, false]),
        ("rates of what is read back", VERIFIED, samples_read_back, [false, true]),
        ("the place of a missed block", PLAIN, traces_missed_place, [true, false]),
        ("syncs of fsync_on_close", PLAIN, traces_closing_sync, [false, true]),
        ("writes of a mix", MIX, tells_unread_mix, [false, true]),
        ("writes of a writer", VERIFIED, tells_unread_mix, [true, true]),
        ("the depth of psync", PLAIN, tells_capped_depth, [true, true]),
        ("the depth of libiscsi", LIBISCSI, tells_capped_depth, [true, false]),
        ("the depth of http", |job| "http".clone_into(&mut job.engine.name), tells_capped_depth, [true, true]),
        ("a process that burns CPU", PLAIN, counts_cpu_job_as_io, [true, false]),
        ("a thread that burns CPU", |job| job.worker.thread = true, counts_cpu_job_as_io, [false, false]),
    ];
    for (what, change, answer, expected) in rows {
        assert_eq!(both(change, answer), expected, "{what}");
    }
    assert_eq!(both(TRIMS, opened_direction), [None, Some(DataDirection::Trim)]);
    assert_eq!(both(MIX, opened_direction), [Some(DataDirection::Read); 2]);
    assert_eq!(both(|job| job.queue.iodepth = 8, searched_depths), [8, 1]);
}

#[test]
fn passes_have_both_answers() {
    let rows: [(&str, Change, YesNo, [bool; 2]); 12] = [
        ("number_ios with time", |job| job.limits.time_based = true, heeds_number_of_ios, [false, true]),
        ("number_ios", PLAIN, heeds_number_of_ios, [true, true]),
        ("a share of io_size", SHARE, |worker| wants_another_pass(worker, false, true), [false, true]),
        ("a share over zones", SHARE, |worker| wants_another_pass(worker, true, true), [true, true]),
        ("no io_size", PLAIN, |worker| wants_another_pass(worker, true, false), [false, false]),
        ("bytes that are read back", VERIFIED, counts_read_back, [true, false]),
        ("a file without I/O", PLAIN, opens_empty_file, [true, false]),
        ("a file of a trace", |job| job.replay.traces = vec!["t".to_owned()], opens_empty_file, [false, false]),
        ("fsync_on_close", |job| job.durability.fsync_on_close = true, syncs_all_at_end, [true, false]),
        ("end_fsync", |job| job.durability.end_fsync = true, syncs_all_at_end, [true, true]),
        ("a read of libaio", LIBAIO, |worker| empty_reads_are_done(worker), [true, false]),
        ("a read of psync", PLAIN, |worker| empty_reads_are_done(worker), [false, false]),
    ];
    for (what, change, answer, expected) in rows {
        assert_eq!(both(change, answer), expected, "{what}");
    }
    assert_eq!(both(UNUSED_SIZES, smallest_pass_bytes), [65_536, 4_096]);
}

#[test]
fn native_passes_end_by_bytes() {
    let ends = |queues: bool| {
        move |worker: &WorkerPlan| {
            let (pass_bytes, io_bytes, compatibility) = (10, 10, worker.compatibility);
            let shape = Shape::new(&worker.spec, Extent { pass_bytes, io_bytes, queues, compatibility });
            ends_pass_by_bytes(worker, shape, queues)
        }
    };
    assert_eq!((both(PLAIN, ends(false)), both(PLAIN, ends(true))), ([false, true], [true, true]));
    assert_eq!(both(WITH_BACKLOG, ends(true)), [false, false]);
}

// A pass of 10 bytes, of which 30 or 5 are to be done.
#[test]
fn native_passes_have_the_size() {
    let bytes = |io_bytes, rounds| move |worker: &WorkerPlan| pass_bytes(worker, 10, io_bytes, rounds);
    let free_writes: Change = |job| {
        (job.pattern.mix, job.pattern.random, job.pattern.norandommap) = (DirectionMix::Write, true, true);
    };
    assert_eq!(both(free_writes, bytes(30, Rounds::None)), [30, 10]);
    assert_eq!(both(SHARE, bytes(5, Rounds::None)), [5, 10]);
    assert_eq!(both(PLAIN, bytes(30, Rounds::OfBlocks)), [30, 30]);
}

// A range of 20 bytes at offset 10, or 0.
#[test]
fn native_ranges_end_where_they_do() {
    let end = |share, start_bytes| move |worker: &WorkerPlan| bytes_without_file(worker, share, start_bytes, 20);
    let filesize: Change = |job| job.extent.filesize = Some((100, 100));
    let creates: Change = |job| "filecreate".clone_into(&mut job.engine.name);
    assert_eq!(both(filesize, end(Some(50), 10)), [50, 30]);
    assert_eq!(both(filesize, end(None, 10)), [u64::MAX, 30]);
    assert_eq!((both(creates, end(None, 0)), both(creates, end(None, 10))), ([u64::MAX, 20], [30, 30]));
    assert_eq!(both(PLAIN, end(None, 10)), [30, 30]);
    let connects: Change = |job| "net".clone_into(&mut job.engine.name);
    assert_eq!(both(connects, end(None, 10)), [u64::MAX, 30]);
}

// Half of 100 bytes in all files, or of the size of 60.
#[test]
fn sizes_and_names_have_both_answers() {
    assert_eq!(both(UNUSED_SIZES, size_unit_bytes), [512, 4_096]);
    assert_eq!(both(PLAIN, |worker| io_bytes_of_share(worker, |bytes| bytes / 2, 100, 60)), [50, 30]);
    assert_eq!(both(SHARE, |worker| is_refused_io_size(worker, 10, 4_096)), [true, false]);
    assert_eq!(both(PLAIN, |worker| is_refused_io_size(worker, 10, 4_096)), [false, false]);
    let pattern = |worker: &WorkerPlan| unchecked_pattern(worker).map(<[u8]>::to_vec);
    assert_eq!((both(UNCHECKED, pattern), both(VERIFIED, pattern)), ([Some(vec![1, 2]), None], [None, None]));
    let job = JobSpec { name: "given".to_owned(), section: "section".to_owned(), ..JobSpec::default() };
    let name = |compatibility| name_of_clones(compatibility, &job);
    assert_eq!([name(Compatibility::Fio), name(Compatibility::Native)], ["section", "given"]);
}
