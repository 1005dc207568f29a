//! Performance logs of runs: rows compared with arithmetic, for a device with known service times.
//!
//! Start reading at [`a_row_for_each_io`].

use crate::builder::{BLOCK, MS, US, reads, run, set_depth, sim_reader, simulate, simulate_one};
use crate::memory_logs::{Log, Logged, take_logs};
use ferrio_run::MessageStream;
use ferrio_spec::engines::options::sim;
use ferrio_spec::{DirectionMix, JobSpec, LogSpec, WindowValue};
use ferrio_stats::{LogKind, LogRow};
use ferrio_units::DataDirection;

/// A reader with 100 us for an I/O that logs everything under its name.
fn logged(name: &str, n_blocks: u64) -> JobSpec {
    let mut job = sim_reader(name, "fixed:100us", n_blocks);
    let prefix = Some(name.into());
    job.logs = LogSpec { bw: prefix.clone(), iops: prefix.clone(), latency: prefix, ..LogSpec::default() };
    job
}

/// The same with a row for each window.
fn windowed(name: &str, window_ms: u32, runtime_ms: u64) -> JobSpec {
    let mut job = logged(name, 1_000);
    job.limits.time_based = true;
    job.limits.runtime_us = runtime_ms * 1_000;
    job.logs.window_ms = window_ms;
    (job.reporting.bw_window_ms, job.reporting.iops_window_ms) = (window_ms.into(), window_ms.into());
    job
}

/// Logs of a job on virtual time, which must not fail.
fn logs_of(job: JobSpec) -> Logged {
    let name = job.name.clone();
    simulate_one(job);
    take_logs(&name)
}

/// A log of the first worker.
fn log(logs: &Logged, kind: LogKind) -> &Log {
    let log = logs.get(&(1, kind)).unwrap_or_else(|| panic!("there is no log of {kind:?}"));
    assert!(log.is_closed);
    log
}

fn kinds(logs: &Logged) -> Vec<LogKind> {
    logs.keys().map(|(_, kind)| *kind).collect()
}

/// Time, value and maximum of each row.
fn figures(log: &Log) -> Vec<(u64, u64, u64)> {
    log.rows.iter().map(|row| (row.time_ms, row.value, row.maximum)).collect()
}

#[test]
fn a_row_for_each_io() {
    let mut job = logged("each", 1_000);
    (job.logs.offset, job.logs.issue_time) = (true, true);
    let logs = logs_of(job);
    for (kind, value) in [
        (LogKind::Clat, 100 * US),
        (LogKind::Lat, 100 * US),
        (LogKind::Iops, 1),
        // 4096 bytes in 100 us are 40.96 MB a second.
        (LogKind::Bw, 40_960),
    ] {
        let rows = &log(&logs, kind).rows;
        assert_eq!(rows.len(), 1_000, "{kind:?}");
        for (index, row) in (0u64..).zip(rows) {
            let expected = LogRow {
                time_ms: (index + 1) * 100 * US / MS,
                value,
                maximum: 0,
                direction: DataDirection::Read,
                block_bytes: BLOCK,
                offset_bytes: index * BLOCK,
                ioprio: 0,
                issue_ns: if kind == LogKind::Clat { index * 100 * US } else { 0 },
            };
            assert_eq!(*row, expected, "{kind:?} {index}");
        }
    }
    let slat = &log(&logs, LogKind::Slat).rows;
    assert_eq!((slat.len(), slat[999].value, slat[999].time_ms), (1_000, 0, 99));
    assert_eq!((slat[999].issue_ns, slat[999].offset_bytes), (99_900 * US, 999 * BLOCK));
}

/// "samples are per I/O and in kB/s (1000), and iops samples are all 1" (reference, "Samples").
#[test]
fn rows_of_each_io_are_the_samples_of_the_report() {
    let stats = simulate_one(logged("samples", 1_000));
    let (bw, iops) = (reads(&stats).bw, reads(&stats).iops);
    assert_eq!((bw.n_samples, bw.min, bw.max), (1_000, 40_960, 40_960));
    assert_eq!((iops.n_samples, iops.min, iops.max), (1_000, 1, 1));
}

#[test]
fn averages_of_windows() {
    let mut job = windowed("windows", 100, 250);
    // Every second read takes 200 us: two reads in 300 us, 333 pairs and one more in 100 ms.
    job.engine.options.set(&sim::FAULT, "read=stall:100us@/2");
    let logs = logs_of(job);
    let rows = &log(&logs, LogKind::Clat).rows;
    assert_eq!(rows.iter().map(|row| row.time_ms).collect::<Vec<_>>(), [100, 200, 250]);
    for row in rows {
        // A window may hold one more of either kind: 100 us of 650 are 154 ns.
        assert!(row.value.abs_diff(150 * US) <= 154, "{row:?}");
        assert_eq!((row.maximum, row.block_bytes, row.offset_bytes, row.issue_ns), (0, 0, 0, 0));
    }
    assert_eq!(log(&logs, LogKind::Lat).rows, *rows);
    // 666 or 667 reads in 100 or 100.1 ms; the last window is incomplete, so it has no sample of rates.
    let rates = figures(log(&logs, LogKind::Iops));
    assert_eq!(rates.len(), 2);
    assert!(rates.iter().all(|(_, value, _)| (6_660..=6_670).contains(value)), "{rates:?}");
    assert_eq!(log(&logs, LogKind::Bw).rows.len(), 2);
}

/// As in fio 3.41: 3 s have 3 rows of 1 s, even if the last I/O ends a little earlier; a row has the time at the end of
/// its window, and the rows account for all bytes. A window that is begun and not completed has no row.
#[test]
fn the_last_window_of_rates_is_written() {
    // 10000 reads a second: 4000 bytes a read are 40000 KiB a second.
    for (n_blocks, n_rows) in [(30_000, 3), (29_990, 3), (29_900, 2), (30_010, 3), (39_000, 3)] {
        let mut job = logged("last", n_blocks);
        job.logs.window_ms = 1_000;
        (job.reporting.bw_window_ms, job.reporting.iops_window_ms) = (1_000, 1_000);
        let logs = logs_of(job);
        let (bw, iops) = (figures(log(&logs, LogKind::Bw)), figures(log(&logs, LogKind::Iops)));
        let times: Vec<u64> = iops.iter().map(|(time_ms, _, _)| *time_ms).collect();
        assert_eq!(times, [1_000, 2_000, 3_000][..n_rows], "{n_blocks}");
        let n_logged: u64 = iops.iter().map(|(_, per_second, _)| per_second).sum();
        assert_eq!(n_logged, n_blocks.min(n_rows as u64 * 10_000), "{n_blocks}");
        assert_eq!(bw.iter().map(|(_, kib, _)| kib).sum::<u64>(), n_logged * BLOCK / 1_024, "{n_blocks}");
        // The latencies of the incomplete window have a row of their own.
        assert_eq!(log(&logs, LogKind::Clat).rows.len() as u64, n_blocks.div_ceil(10_000), "{n_blocks}");
    }
}

#[test]
fn the_last_windows_of_jobs_that_share_a_file() {
    let mut job = windowed("ending", 100, 300);
    job.numjobs = 2;
    job.logs.shared_files = true;
    let (outcome, _) = simulate(vec![job]);
    assert_eq!(outcome.n_failed, 0);
    let logs = take_logs("ending");
    for kind in [LogKind::Bw, LogKind::Iops] {
        let mut times: Vec<u64> = logs[&(0, kind)].rows.iter().map(|row| row.time_ms).collect();
        // The order in which two rings are emptied depends on real time.
        times.sort_unstable();
        assert_eq!(times, [100, 100, 200, 200, 300, 300], "{kind:?}");
    }
}

/// As in fio 3.41: durations of I/Os are unknown, so there are no rows of single I/Os and no samples from them.
#[test]
fn without_latencies_there_are_no_rows_of_each_io() {
    for (gtod_reduce, disable_bw, n_iops) in [(true, false, 0), (true, true, 0), (false, true, 1_000)] {
        let mut job = logged("reduced", 1_000);
        (job.reporting.gtod_reduce, job.reporting.disable_bw) = (gtod_reduce, disable_bw);
        let stats = simulate_one(job);
        let logs = take_logs("reduced");
        assert_eq!((log(&logs, LogKind::Bw).rows.len(), log(&logs, LogKind::Iops).rows.len()), (0, n_iops));
        assert_eq!((reads(&stats).bw.n_samples, reads(&stats).iops.n_samples), (0, n_iops as u64));
    }
}

#[test]
fn maxima_of_windows() {
    for (window_value, expected) in [
        (WindowValue::Maximum, [(100, 200 * US, 0), (200, 100 * US, 0)]),
        (WindowValue::Both, [(100, 100 * US + 100, 200 * US), (200, 100 * US, 100 * US)]),
    ] {
        let mut job = windowed("maxima", 100, 200);
        // The first read takes 100 us more: 1000 reads of 100 us, and 100 ns more in the mean of 1000 in the first window.
        job.engine.options.set(&sim::FAULT, "read=stall:100us@1");
        job.logs.window_value = window_value;
        let logs = logs_of(job);
        let rows = figures(log(&logs, LogKind::Clat));
        assert_eq!(rows.len(), 2, "{rows:?}");
        for ((time_ms, value, maximum), expected) in rows.into_iter().zip(expected) {
            assert!(value.abs_diff(expected.1) <= 1, "{value} {expected:?}");
            assert_eq!((time_ms, maximum), (expected.0, expected.2));
        }
    }
}

#[test]
fn directions_of_a_moment_are_in_order() {
    let mut job = windowed("mixed", 100, 200);
    job.pattern.mix = DirectionMix::ReadWrite;
    let logs = logs_of(job);
    let directions: Vec<_> =
        log(&logs, LogKind::Lat).rows.iter().map(|row| (row.time_ms, row.direction as u8)).collect();
    assert_eq!(directions, [(100, 0), (100, 1), (200, 0), (200, 1)]);
}

/// Times of the rows, and their buckets that are not empty.
fn histograms(logs: &Logged) -> Vec<(u64, Vec<(usize, u64)>)> {
    let filled = |counts: &[u64]| counts.iter().copied().enumerate().filter(|(_, count)| *count > 0).collect();
    log(logs, LogKind::ClatHist).histograms.iter().map(|row| (row.time_ms, filled(&row.counts[..]))).collect()
}

#[test]
fn histograms_count_what_came_since_the_row_before() {
    let mut job = windowed("histograms", 0, 250);
    job.logs = LogSpec { histogram: Some("histograms".into()), histogram_ms: 100, ..LogSpec::default() };
    job.reporting.clat_percentiles = false;
    let logs = logs_of(job);
    assert_eq!(kinds(&logs), [LogKind::ClatHist]);
    // The last one is shorter. 100 us is bucket 737 (reference, "Histogram").
    assert_eq!(histograms(&logs), [(100, vec![(737, 1_000)]), (200, vec![(737, 1_000)]), (250, vec![(737, 500)])]);
    assert!(log(&logs, LogKind::ClatHist).histograms.iter().all(|row| row.block_bytes == BLOCK));
}

#[test]
fn without_an_interval_there_is_one_histogram() {
    let mut job = windowed("one-histogram", 0, 250);
    job.logs = LogSpec { histogram: Some("one-histogram".into()), ..LogSpec::default() };
    assert_eq!(histograms(&logs_of(job)), [(250, vec![(737, 2_500)])]);
}

#[test]
fn nothing_is_logged_of_a_ramp() {
    let mut job = windowed("ramp", 100, 200);
    job.limits.ramp_time_us = 50_000;
    job.logs.window_ms = 0;
    let logs = logs_of(job);
    let rows = &log(&logs, LogKind::Clat).rows;
    assert_eq!((rows.len(), rows[0].time_ms, rows[1_999].time_ms), (2_000, 0, 200));
}

#[test]
fn what_is_not_measured_is_not_logged() {
    let mut job = logged("disabled", 10);
    (job.reporting.disable_clat, job.reporting.disable_slat) = (true, true);
    let logs = logs_of(job);
    assert_eq!(kinds(&logs), [LogKind::Bw, LogKind::Iops, LogKind::Lat]);
    assert_eq!(log(&logs, LogKind::Lat).rows.len(), 10);
    let mut job = logged("silent", 10);
    job.reporting.stats = false;
    let (outcome, _) = simulate(vec![job]);
    assert_eq!(outcome.n_failed, 0);
    let logs = take_logs("silent");
    assert_eq!(kinds(&logs).len(), 5);
    assert!(logs.values().all(|log| log.rows.is_empty()));
}

#[test]
fn times_of_another_clock() {
    let mut job = logged("epoch", 10);
    job.logs.alternate_epoch = true;
    let before_ms = ferrio_sys::clock::wall_clock_ms();
    let logs = logs_of(job);
    let time_ms = log(&logs, LogKind::Lat).rows[9].time_ms;
    assert!((before_ms..=ferrio_sys::clock::wall_clock_ms() + 1).contains(&time_ms));
    let mut job = logged("no-such-clock", 10);
    (job.logs.alternate_epoch, job.logs.epoch_clock_id) = (true, 4_711);
    let (outcome, _) = simulate(vec![job]);
    assert_eq!((outcome.n_failed, outcome.record.workers[0].stats.errno), (1, 22));
}

/// Rows come faster than they are written: the worker waits, and no row is lost.
#[test]
fn no_row_is_lost() {
    for (thread, iodepth) in [(false, 1), (true, 1), (false, 16)] {
        let name = format!("many-{thread}-{iodepth}");
        let mut job = logged(&name, 150_000);
        "null".clone_into(&mut job.engine.name);
        job.engine.options.clear();
        job.worker.thread = thread;
        job.logs.offset = true;
        job.numjobs = 2;
        set_depth(&mut job, iodepth);
        let (outcome, events) = run(vec![job]);
        assert_eq!((outcome.n_failed, outcome.n_logs_lost, events.text(MessageStream::Error)), (0, 0, String::new()));
        let logs = take_logs(&name);
        for worker in [1, 2] {
            for kind in [LogKind::Clat, LogKind::Lat, LogKind::Bw, LogKind::Iops] {
                let offsets = logs[&(worker, kind)].rows.iter().map(|row| row.offset_bytes);
                assert!(offsets.eq((0..150_000).map(|index| index * BLOCK)), "{name} {worker} {kind:?}");
            }
            let n_slats = if iodepth == 1 { 0 } else { 150_000 };
            assert_eq!(logs[&(worker, LogKind::Slat)].rows.len(), n_slats);
        }
    }
}

#[test]
fn a_log_that_fails_is_told_and_the_job_goes_on() {
    let mut job = logged("full", 5_000);
    job.logs.bw = Some("intact".into());
    let (outcome, events) = simulate(vec![job]);
    assert_eq!(outcome.n_failed, 0);
    assert_eq!(reads(&outcome.record.workers[0].stats).n_completed, 5_000);
    assert_eq!(take_logs("intact")[&(1, LogKind::Bw)].rows.len(), 5_000);
    let errors = events.text(MessageStream::Error);
    assert!(errors.contains("fio: cannot write log full: No space left on device"), "{errors}");
    assert_eq!(outcome.n_logs_lost as usize, errors.lines().count());
    take_logs("full");
}

/// The message is fio's, with the name of the log; the log counts in the exit code like one that cannot be written.
#[test]
fn a_log_that_cannot_be_opened_is_told() {
    let (outcome, events) = simulate(vec![logged("missing", 10)]);
    assert_eq!((outcome.n_failed, outcome.n_logs_lost), (0, 5));
    assert_eq!(events.text(MessageStream::Error), ["fopen log: missing: No such file or directory"; 5].join("\n"));
}

#[test]
fn workers_may_share_a_file() {
    let mut job = logged("shared", 10);
    job.logs.shared_files = true;
    job.numjobs = 3;
    let (outcome, _) = simulate(vec![job]);
    assert_eq!(outcome.n_failed, 0);
    let logs = take_logs("shared");
    assert_eq!(logs[&(0, LogKind::Clat)].rows.len(), 30);
    assert_eq!(logs.len(), 5);
}
