//! Cures of findings of whole runs: what is wrong about a run, the run with its cure, and what is known of its figures.
//!
//! Start reading at [`ROWS`].

use super::{count, depth, figure, is_near, of_syncs, write_file};
use crate::findings::{findings_of, has, ids};
use crate::support::{Program, Run, Scratch, skip, succeeds_once};
use serde_json::Value;
use std::cell::Cell;

/// A rule, the run that it speaks about, the same run with its cure, and what is right about the figures of the second one beside those
/// of the first. `#` in a name is another number in each attempt.
type Row = (&'static str, &'static str, &'static str, fn(&Value, &Value) -> bool);

/// A file of 16 MiB, `f`, is there.
const FILE_MIB: usize = 16;

// tidy: table
pub(super) const ROWS: &[Row] = &[
    (
        "runtime-without-time-based",
        "--ioengine=sim --sim_time=virtual --sim_service=fixed:100us --rw=randread --size=1m --runtime=1",
        "--ioengine=sim --sim_time=virtual --sim_service=fixed:100us --rw=randread --size=1m --runtime=1 --time_based",
        |_, cured| figure(cured, "runtime_ns") > 0.95e9,
    ),
    (
        "rate-not-reached",
        "--ioengine=sim --sim_time=virtual --sim_service=fixed:5ms --rw=randread --size=1g --time_based --runtime=1 --rate_iops=1000",
        "--ioengine=sim --sim_time=virtual --sim_service=fixed:5ms --rw=randread --size=1g --time_based --runtime=1 --rate_iops=50",
        |_, cured| is_near(figure(cured, "ios_per_sec"), 50.0),
    ),
    (
        "memory-not-reached",
        "--filename=f --rw=randread --bs=4k --ioengine=psync --expect=memory",
        "--filename=f --rw=randread --bs=4k --ioengine=psync --expect=memory --pre_read=1 --invalidate=0",
        |wrong, cured| figure(cured, "bytes_per_sec") > figure(wrong, "bytes_per_sec"),
    ),
    (
        "rate-fell",
        "--ioengine=sim --sim_time=virtual --sim_service=fixed:1ms --sim_burst=iops:100/500/600 --rw=randread --size=1g --time_based --runtime=5",
        "--ioengine=sim --sim_time=virtual --sim_service=fixed:1ms --sim_burst=iops:100/500/600 --rw=randread --size=1g --time_based --runtime=3 \
         --ramp_time=2500ms",
        |_, cured| is_near(figure(cured, "ios_per_sec"), 100.0),
    ),
    (
        "first-reads-slower",
        "--ioengine=sim --sim_time=virtual --sim_service=fixed:4ms --sim_read_cache=64m/1ms --rw=randread --size=1m --direct=1 --time_based --runtime=3",
        "--ioengine=sim --sim_time=virtual --sim_service=fixed:4ms --sim_read_cache=64m/1ms --rw=randread --size=1m --direct=1",
        // Each of the blocks is a new one: 4 ms each, and never as fast as with the cache. A busy machine makes both slower.
        |wrong, cured| {
            let (with_cache, without) = (figure(wrong, "ios_per_sec"), figure(cured, "ios_per_sec"));
            count(cured, "n_ios") == 256 && without <= 251.0 && with_cache > without
        },
    ),
    (
        "reads-behind-end",
        "--filename=end-# --rw=rw --bs=4k --filesize=1m --create_on_open=1 --fallocate=none --ioengine=libaio --iodepth=4",
        "--filename=f --rw=rw --bs=4k --size=16m --ioengine=libaio --iodepth=4",
        |_, cured| count(cured, "bytes") == 4096 * count(cured, "n_ios") && count(cured, "n_errors") == 0,
    ),
    (
        "ramp-outlasts-job",
        "--ioengine=sim --sim_time=virtual --sim_service=fixed:100us --rw=randread --size=1m --ramp_time=2",
        "--ioengine=sim --sim_time=virtual --sim_service=fixed:100us --rw=randread --size=1m --ramp_time=200ms --time_based --runtime=300ms",
        |_, cured| figure(cured, "n_ios") > 0.0,
    ),
    (
        "no-io",
        "--filename=f --rw=randread --size=4m --direct=1 --ioengine=psync --time_based --runtime=1us",
        "--filename=f --rw=randread --size=4m --direct=1 --ioengine=psync --time_based --runtime=1s",
        |_, cured| figure(cured, "n_ios") > 0.0 && figure(cured, "runtime_ns") > 0.95e9,
    ),
    (
        "syncs-never-due",
        "--filename=f --rw=write --bs=64k --size=1m --ioengine=psync --fsync=100",
        "--filename=f --rw=write --bs=64k --size=1m --ioengine=psync --fsync=4",
        // 16 writes; the last group is not closed by a sync.
        |_, cured| of_syncs(cured, "n_ios") >= 3.0,
    ),
    (
        "posixaio-one-file",
        "--rw=randread --bs=4k --size=4m --direct=1 --ioengine=posixaio --iodepth=4 --unlink=1",
        "--rw=randread --bs=4k --size=4m --direct=1 --ioengine=posixaio --iodepth=4 --nrfiles=4 --unlink=1",
        |_, cured| figure(cured, "n_ios") > 0.0,
    ),
    (
        "few-hot-blocks",
        "--filename=f --rw=randread --bs=4k --size=16m --direct=1 --ioengine=psync --random_distribution=zipf:2.2 --io_size=16m",
        "--filename=f --rw=randread --bs=4k --size=16m --direct=1 --ioengine=psync --random_distribution=zipf:0.6 --io_size=16m",
        |_, cured| figure(cured, "n_ios") > 0.0,
    ),
    (
        "buffered-below-page",
        "--filename=f --rw=randread --bs=512 --size=16m --ioengine=psync --io_size=512k --norandommap",
        "--filename=f --rw=randread --bs=4k --size=16m --ioengine=psync --io_size=512k --norandommap",
        |_, cured| figure(cured, "n_ios") > 0.0,
    ),
    (
        "asynchronous-without-direct",
        "--filename=f --rw=randread --bs=4k --size=4m --ioengine=libaio --iodepth=8",
        "--filename=f --rw=randread --bs=4k --size=4m --ioengine=libaio --iodepth=8 --direct=1",
        |_, cured| depth(cured) > 4.0,
    ),
    (
        "latency-without-submission",
        "--filename=f --rw=randread --bs=64k --size=16m --ioengine=libaio",
        "--filename=f --rw=randread --bs=64k --size=16m --ioengine=psync",
        |wrong, cured| figure(cured, "mean_ns") > 5.0 * figure(wrong, "mean_ns"),
    ),
    (
        "depth-of-synchronous-engine",
        "--filename=f --rw=randread --bs=4k --size=4m --direct=1 --ioengine=psync --iodepth=8",
        "--filename=f --rw=randread --bs=4k --size=4m --direct=1 --ioengine=libaio --iodepth=8",
        |wrong, cured| depth(wrong) < 1.5 && depth(cured) > 4.0,
    ),
    (
        "writes-still-dirty",
        "--filename=d --rw=write --bs=1m --size=16m --ioengine=psync",
        "--filename=d --rw=write --bs=1m --size=16m --ioengine=psync --direct=1",
        |wrong, cured| figure(cured, "bytes_per_sec") < figure(wrong, "bytes_per_sec"),
    ),
    (
        "writes-still-dirty",
        "--filename=d --rw=write --bs=1m --size=16m --ioengine=psync",
        "--filename=d --rw=write --bs=1m --size=16m --ioengine=psync --end_fsync=1",
        |wrong, cured| figure(cured, "bytes_per_sec") < figure(wrong, "bytes_per_sec"),
    ),
    (
        "range-read-again",
        "--filename=f --rw=randread --bs=4k --size=1m --direct=1 --ioengine=psync --io_size=10m --norandommap",
        "--filename=f --rw=randread --bs=4k --size=16m --direct=1 --ioengine=psync --io_size=10m --norandommap",
        |_, cured| figure(cured, "bytes") < 16_777_216.0,
    ),
    (
        "ran-alone-in-part",
        "--filename=f --rw=randread --bs=4k --size=1m --direct=1 --ioengine=psync \
         --name=b --filename=f --rw=randread --bs=4k --direct=1 --ioengine=psync --time_based --runtime=2",
        "--filename=f --rw=randread --bs=4k --size=1m --direct=1 --ioengine=psync --time_based --runtime=1 \
         --name=b --filename=f --rw=randread --bs=4k --direct=1 --ioengine=psync --time_based --runtime=1",
        |_, cured| figure(cured, "runtime_ns") > 0.9e9,
    ),
    (
        "job-failed",
        "--ioengine=sim --sim_time=virtual --sim_service=fixed:1ms --sim_fault=read=eio@50 --rw=randread --size=1g --number_ios=200 \
         --continue_on_error=all",
        "--ioengine=sim --sim_time=virtual --sim_service=fixed:1ms --rw=randread --size=1g --number_ios=200",
        |wrong, cured| count(wrong, "n_errors") == 1 && count(cured, "n_errors") == 0 && count(cured, "n_ios") == 200,
    ),
    (
        "effect-of-parallelism",
        "--ioengine=sim --sim_time=virtual --sim_service=fixed:5ms --sim_channels=4 --rw=randread --size=1g --iodepth=4 --time_based --runtime=500ms \
         --name=b --stonewall --ioengine=sim --sim_time=virtual --sim_service=fixed:5ms --sim_channels=4 --rw=randread --size=1g --iodepth=16 \
         --time_based --runtime=500ms",
        "--ioengine=sim --sim_time=virtual --sim_service=fixed:5ms --sim_channels=4 --rw=randread --size=1g --iodepth=4 --time_based --runtime=500ms",
        // Four channels of 5 ms each: a deeper queue waits for 20 ms, and does no more. Other programs may hold up both.
        |_, cured| {
            (400.0..900.0).contains(&figure(cured, "ios_per_sec")) && (4e6..12e6).contains(&figure(cured, "mean_ns"))
        },
    ),
    (
        "few-samples",
        "--ioengine=sim --sim_time=virtual --sim_service=fixed:100us --rw=randread --size=1g --number_ios=100",
        "--ioengine=sim --sim_time=virtual --sim_service=fixed:100us --rw=randread --size=1g --number_ios=2000",
        |_, cured| count(cured, "n_latencies") == 2000,
    ),
    (
        // A cache of two thirds of the range fills up: at the end each third I/O takes 1 ms, and the others 5 us.
        "rate-drifts",
        "--ioengine=sim --sim_time=virtual --sim_service=fixed:1ms --sim_read_cache=64m/5us --rw=randread --norandommap --size=96m --time_based \
         --runtime=20",
        "--ioengine=sim --sim_time=virtual --sim_service=fixed:1ms --sim_read_cache=64m/5us --rw=randread --norandommap --size=96m --time_based \
         --runtime=20 --ramp_time=120",
        |_, cured| is_near(figure(cured, "ios_per_sec"), 1000.0 / (1.0 / 3.0 + 2.0 / 3.0 * 0.005)),
    ),
    (
        "closing-syncs-counted",
        "--filename=c --rw=write --bs=64k --size=8m --loops=40 --ioengine=psync --end_fsync=1",
        "--filename=c --rw=write --bs=64k --size=16m --ioengine=psync --direct=1 --sync=dsync",
        // Each write waits for the device, and the rate is that of these waits.
        |_, cured| depth(cured) > 0.7,
    ),
    (
        "new-files-written",
        "--filename=made-# --rw=write --bs=64k --size=4m --direct=1 --ioengine=psync",
        "--filename=made-# --rw=write --bs=64k --size=4m --direct=1 --ioengine=psync",
        |_, cured| count(cured, "n_ios") == 64,
    ),
    (
        "rate-changed-with-another-job",
        "--ioengine=sim --sim_time=virtual --sim_service=fixed:1ms --sim_burst=iops:100/500/600 --rw=randread --size=1g --time_based --runtime=4 \
         --name=b --ioengine=sim --sim_time=virtual --sim_service=fixed:1ms --rw=randread --size=1g --time_based --runtime=2 --startdelay=1500ms",
        "--ioengine=sim --sim_time=virtual --sim_service=fixed:1ms --sim_burst=iops:100/500/600 --rw=randread --size=1g --time_based --runtime=4 \
         --name=b --ioengine=sim --sim_time=virtual --sim_service=fixed:1ms --rw=randread --size=1g --time_based --runtime=2",
        // 600 credits and 100 a second: the fall is that of the device, whatever the other job does.
        |_, cured| is_near(figure(cured, "ios_per_sec"), 250.0) && has(&ids(&cured["findings"]), "rate-fell"),
    ),
    (
        "verification-cost",
        "--filename=p --rw=write --bs=256k --size=16m --ioengine=io_uring --iodepth=4 --time_based --runtime=300ms \
         --verify=sha3-512 --do_verify=0",
        "--filename=p --rw=write --bs=256k --size=16m --ioengine=io_uring --iodepth=4 --time_based --runtime=300ms",
        |wrong, cured| figure(cured, "bytes_per_sec") > 2.0 * figure(wrong, "bytes_per_sec"),
    ),
    (
        "preparation-counted",
        "--filename=p --rw=write --bs=256k --size=16m --ioengine=psync --time_based --runtime=300ms --verify=sha3-512 \
         --do_verify=0",
        "--filename=p --rw=write --bs=256k --size=16m --ioengine=psync --time_based --runtime=300ms",
        |wrong, cured| figure(cured, "bytes_per_sec") > 2.0 * figure(wrong, "bytes_per_sec"),
    ),
    (
        "latency-without-syncs",
        "--filename=s --rw=write --bs=4k --size=256k --ioengine=psync --fdatasync=1",
        "--filename=s --rw=write --bs=4k --size=256k --ioengine=psync --direct=1 --sync=dsync",
        // Each write waits for the device now, as each sync did.
        |wrong, cured| {
            figure(cured, "mean_ns") > 0.2 * of_syncs(wrong, "mean_ns")
                && figure(cured, "mean_ns") > 2.0 * figure(wrong, "mean_ns")
        },
    ),
    (
        "first-writes",
        "--filename=new-# --rw=randwrite --bs=4k --size=2m --direct=1 --ioengine=psync",
        "--filename=new-# --rw=randwrite --bs=4k --size=2m --direct=1 --ioengine=psync",
        |_, cured| count(cured, "n_ios") == 512,
    ),
    (
        "first-writes",
        "--filename=newer-# --rw=randwrite --bs=4k --size=2m --direct=1 --ioengine=psync",
        "--filename=newest-# --rw=randwrite --bs=4k --size=2m --direct=1 --ioengine=psync --overwrite=1",
        |_, cured| count(cured, "n_ios") == 512,
    ),
    (
        "overwrite-changed-nothing",
        "--filename=f --rw=randwrite --bs=4k --size=2m --direct=1 --ioengine=psync --overwrite=1",
        "--filename=removed-# --rw=randwrite --bs=4k --size=2m --direct=1 --ioengine=psync",
        // The run that it is compared with is that of first writes.
        |_, cured| has(&ids(&cured["findings"]), "first-writes"),
    ),
    (
        "faster-than-memory",
        "--filename=/dev/null --rw=write --bs=1m --size=100g --ioengine=psync --scramble_buffers=0 --time_based --runtime=200ms",
        "--filename=k --rw=write --bs=1m --size=16m --ioengine=psync --scramble_buffers=0 --time_based --runtime=200ms",
        |wrong, cured| figure(cured, "bytes_per_sec") < figure(wrong, "bytes_per_sec") / 3.0,
    ),
];

/// Runs every row of which `is_of` is true, and collects what fails.
fn failures(scratch: &Scratch, is_of: impl Fn(&Row) -> bool) -> Vec<String> {
    let attempt = Cell::new(0);
    let run = |arguments: &str| -> Value {
        let arguments = format!("run --json --name=a {}", arguments.replace('#', &attempt.get().to_string()));
        // A job that failed has its figures too.
        let finished = Run::new(Program::Ferrio, scratch.path(), &arguments).finish();
        serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("{error}: {}", finished.all()))
    };
    let failure = |(rule, wrong, cured, is_right): &Row| {
        let (is_told, is_gone) = (Cell::new(false), Cell::new(false));
        // Other programs of the machine may hide a time once.
        let is_cured = succeeds_once(|| {
            attempt.set(attempt.get() + 1);
            let first = run(wrong);
            if !has(&ids(&first["findings"]), rule) {
                return false;
            }
            is_told.set(true);
            let second = run(cured);
            let is_silent = !has(&ids(&second["findings"]), rule);
            is_gone.set(is_gone.get() || is_silent);
            is_silent && is_right(&first, &second)
        });
        let reason = match (is_told.get(), is_gone.get()) {
            (false, _) => format!("does not speak of {wrong}"),
            (true, false) => format!("is not cured by {cured}"),
            (true, true) => format!("has wrong figures with {cured}"),
        };
        (!is_cured).then(|| format!("{rule} {reason}"))
    };
    ROWS.iter().filter(|row| is_of(row)).filter_map(failure).collect()
}

fn is_simulated((_, wrong, ..): &Row) -> bool {
    wrong.contains("=sim ")
}

#[test]
fn cures_of_simulated_devices_are_cures() {
    let scratch = Scratch::new("cures-simulated");
    assert_eq!(failures(&scratch, is_simulated), Vec::<String>::new());
}

#[test]
fn cures_of_runs_are_cures() {
    let test = "cures_of_runs_are_cures";
    let scratch = Scratch::new("cures");
    write_file(scratch.path(), "f", FILE_MIB);
    if has(&findings_of(scratch.path(), "--name=a --filename=f --rw=read --bs=1m --direct=1"), "target-in-memory") {
        return skip(test, "the directory of the tests is in memory");
    }
    assert_eq!(failures(&scratch, |row| !is_simulated(row)), Vec::<String>::new());
}
