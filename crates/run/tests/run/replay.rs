//! Replayed traces: the I/Os, their times, and their files.
//!
//! Start reading at [`times_of_a_trace_are_kept`].

use crate::builder::{MS, US, job, reads, run, set_depth, simulate, simulate_one, writes};
use crate::memory_logs::take_logs;
use crate::scratch::Scratch;
use ferrio_run::MessageStream;
use ferrio_spec::engines::options::sim;
use ferrio_spec::{JobSpec, SizeSpec};
use ferrio_stats::{LogKind, ReplayStats, ThreadStats};
use std::os::unix::fs::FileExt;

/// A trace of version 3 from times (us), actions, offsets and lengths on one file.
fn trace(file: &str, ios: &[(u64, &str, u64, u64)]) -> String {
    let lines = ios.iter().map(|(us, action, offset, length)| format!("{us} {file} {action} {offset} {length}\n"));
    format!("fio version 3 iolog\n0 {file} add\n{}", lines.collect::<String>())
}

/// A job that replays this trace.
fn replayer(scratch: &Scratch, text: &str) -> JobSpec {
    let path = scratch.path().join("trace");
    std::fs::write(&path, text).unwrap();
    let mut job = job("j");
    job.replay.traces = vec![path.to_string_lossy().into_owned()];
    job
}

/// The same on the simulated device.
fn simulated(scratch: &Scratch, text: &str, service: &str) -> JobSpec {
    let mut job = replayer(scratch, text);
    "sim".clone_into(&mut job.engine.name);
    job.engine.options.set(&sim::SERVICE, service);
    job
}

/// Issue times (us after the start), offsets and lengths of all data I/Os, by the log of latencies.
fn issued(mut job: JobSpec, prefix: &str) -> (Vec<(u64, u64, u64)>, ThreadStats) {
    (job.logs.latency, job.logs.offset, job.logs.issue_time) = (Some(prefix.into()), true, true);
    let stats = simulate_one(job);
    let log = take_logs(prefix).remove(&(1, LogKind::Clat)).unwrap();
    let mut rows: Vec<_> = log.rows.iter().map(|row| (row.issue_ns / US, row.offset_bytes, row.block_bytes)).collect();
    rows.sort_unstable();
    (rows, stats)
}

const IOS: [(u64, &str, u64, u64); 5] = [
    (100, "read", 0, 4096),
    (150, "read", 8192, 512),
    (10_100, "write", 4096, 8192),
    (10_200, "sync", 0, 0),
    (1_000_100, "read", 1 << 40, 4096),
];

#[test]
fn times_of_a_trace_are_kept() {
    let scratch = Scratch::new("replay-times");
    let (rows, stats) = issued(simulated(&scratch, &trace("f", &IOS), "fixed:20us"), "replay-times");
    assert_eq!(rows, [(0, 0, 4096), (50, 8192, 512), (10_000, 4096, 8192), (1_000_000, 1 << 40, 4096)]);
    assert_eq!((reads(&stats).n_completed, writes(&stats).n_completed, stats.n_syncs_issued), (3, 1, 1));
    assert_eq!(stats.features.replay, Some(ReplayStats { n_timed: 5, n_late: 0, max_late_ns: 0 }));
    assert_eq!(reads(&stats).runtime_ns, 1_000 * MS + 20 * US);
}

#[test]
fn speed_and_its_absence() {
    let scratch = Scratch::new("replay-speed");
    let times = |prefix: &str, change: &dyn Fn(&mut JobSpec)| {
        let mut job = simulated(&scratch, &trace("f", &IOS), "fixed:20us");
        change(&mut job);
        let (rows, stats) = issued(job, prefix);
        (rows.into_iter().map(|row| row.0).collect::<Vec<_>>(), stats.features.replay.unwrap())
    };
    let (half, _) = times("replay-half", &|job| job.replay.time_scale_percent = 50);
    assert_eq!(half, [0, 100, 20_000, 2_000_000]);
    let (fast, _) = times("replay-fast", &|job| job.replay.time_scale_percent = 1_000);
    // The second is due after 5 us, when the first needs 15 us more.
    assert_eq!(fast, [0, 20, 1_000, 100_000]);
    let (none, figures) = times("replay-none", &|job| job.replay.no_stall = true);
    assert_eq!((none, figures), (vec![0, 20, 40, 80], ReplayStats::default()));
}

#[test]
fn who_is_late_catches_up_and_is_counted() {
    let scratch = Scratch::new("replay-late");
    let ios: Vec<_> = (0..10).map(|n| (n * 1_000, "read", n * 4096, 4096)).collect();
    // 3 ms each for I/Os that are due each 1 ms: number n begins at 3 n ms, 2 n ms late.
    let (rows, stats) = issued(simulated(&scratch, &trace("f", &ios), "fixed:3ms"), "replay-late");
    assert!(rows.iter().enumerate().all(|(n, row)| row.0 == 3_000 * n as u64), "{rows:?}");
    assert_eq!(stats.features.replay, Some(ReplayStats { n_timed: 10, n_late: 9, max_late_ns: 18 * MS }));
}

#[test]
fn passes_and_limits_are_heeded() {
    let scratch = Scratch::new("replay-passes");
    let ios = [(5, "read", 0, 4096), (1_005, "read", 4096, 4096)];
    let counted = |change: &dyn Fn(&mut JobSpec)| {
        let mut job = simulated(&scratch, &trace("f", &ios), "fixed:100us");
        change(&mut job);
        let stats = simulate_one(job);
        (reads(&stats).n_completed, reads(&stats).runtime_ns)
    };
    assert_eq!(counted(&|_| {}), (2, 1_100 * US));
    assert_eq!(counted(&|job| job.limits.loops = 3), (6, 3_300 * US));
    assert_eq!(counted(&|job| job.extent.number_ios = 1), (1, 100 * US));
    // The fourth pass would begin at 3.3 ms, and its second I/O at 4.3 ms.
    let timed = |job: &mut JobSpec| (job.limits.time_based, job.limits.runtime_us) = (true, 4_000);
    assert_eq!(counted(&timed), (7, 4_000 * US));
    // Sizes in the options of such a job have no effect.
    assert_eq!(counted(&|job| job.extent.size = Some(SizeSpec::Bytes(1))), (2, 1_100 * US));
}

#[test]
fn files_of_a_trace_are_opened_as_it_says() {
    let scratch = Scratch::new("replay-files");
    let path = |name: &str| scratch.path().join(name).to_string_lossy().into_owned();
    let (first, second) = (path("first"), path("with a space"));
    std::fs::write(&first, vec![7; 8192]).unwrap();
    let text = format!(
        "fio version 2 iolog\n{first} add\n{second} add\n{first} open\n{first} read 0 8192\n{first} close\n\
         {second} open\n{second} write 4096 4096\n{second} sync 0 0\n{second} datasync 0 0\n{first} write 8192 512\n"
    );
    let (outcome, events) = run(vec![replayer(&scratch, &text)]);
    assert_eq!((outcome.n_failed, events.text(MessageStream::Error)), (0, String::new()));
    let stats = &outcome.record.workers[0].stats;
    assert_eq!((reads(stats).bytes, writes(stats).bytes, stats.n_syncs_issued), (8192, 4608, 2));
    let length = |path: &str| std::fs::metadata(path).unwrap().len();
    assert_eq!((length(&first), length(&second)), (8704, 8192));
    let mut kept = [0; 8192];
    std::fs::File::open(&first).unwrap().read_exact_at(&mut kept, 0).unwrap();
    assert_eq!(kept, [7; 8192]);
}

#[test]
fn clones_take_traces_in_turn_and_redirection_counts() {
    let scratch = Scratch::new("replay-clones");
    let path = |name: &str| scratch.path().join(name).to_string_lossy().into_owned();
    std::fs::write(path("target"), vec![0; 65_536]).unwrap();
    let mut job = replayer(&scratch, &trace("/nowhere/at/all", &[(1, "read", 0, 4096)]));
    std::fs::write(path("other"), trace("elsewhere", &[(1, "read", 0, 512), (1, "read", 512, 512)])).unwrap();
    job.replay.traces.push(path("other"));
    job.replay.redirect = Some(path("target").into());
    job.numjobs = 3;
    let (outcome, events) = run(vec![job]);
    assert_eq!((outcome.n_failed, events.text(MessageStream::Error)), (0, String::new()));
    let mut counts: Vec<_> = outcome.record.workers.iter().map(|job| reads(&job.stats).n_completed).collect();
    counts.sort_unstable();
    assert_eq!(counts, [1, 1, 2]);
}

#[test]
fn a_trace_that_cannot_be_is_the_error_of_its_job() {
    let scratch = Scratch::new("replay-bad");
    for (text, expected) in [
        ("", "fio: unable to read iolog"),
        ("fio version 1 iolog\n", "fio: iolog version 1 is no longer supported"),
        ("fio version 2 iolog\nf add\n", "fio: found no ios in iolog data"),
    ] {
        let (outcome, events) = simulate(vec![simulated(&scratch, text, "fixed:1us")]);
        assert_eq!(outcome.n_failed, 1);
        assert!(events.text(MessageStream::Error).starts_with(expected), "{}", events.text(MessageStream::Error));
    }
    let mut job = replayer(&scratch, "");
    job.replay.traces = vec!["/nowhere/at/all".to_owned()];
    let (outcome, events) = run(vec![job]);
    assert_eq!(outcome.n_failed, 1);
    assert!(
        events.text(MessageStream::Error).contains("read iolog /nowhere/at/all"),
        "{}",
        events.text(MessageStream::Error)
    );
    // A file that the trace reads must exist.
    let missing = scratch.path().join("missing").to_string_lossy().into_owned();
    let (outcome, _) = run(vec![replayer(&scratch, &trace(&missing, &[(1, "read", 0, 512)]))]);
    assert_eq!(outcome.n_failed, 1);
    // The length of a buffer that the trace decides has a bound.
    let mut job = simulated(&scratch, &trace("f", &[(1, "read", 0, 1 << 30)]), "fixed:1us");
    set_depth(&mut job, 1_024);
    let (outcome, events) = simulate(vec![job]);
    assert_eq!(outcome.n_failed, 1);
    assert!(events.text(MessageStream::Error).contains("are too much"), "{}", events.text(MessageStream::Error));
}

/// A record of blktrace by the header of Linux, little endian.
fn record(time_ns: u64, sector: u64, bytes: u32, action: u32) -> Vec<u8> {
    let words = |list: &[u32]| list.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
    let longs = [time_ns, sector].into_iter().flat_map(u64::to_le_bytes).collect();
    [words(&[0x6561_7407, 1]), longs, words(&[bytes, action, 1, 8 << 20 | 16, 0, 0])].concat()
}

#[test]
fn a_binary_trace_is_replayed_with_its_depth() {
    let scratch = Scratch::new("replay-blktrace");
    let (read, discard, flush) = (1 << 16 | 1, 0x2000 << 16 | 1, 4 << 16 | 1);
    let records = [
        record(0, 0, 0, 0x400 << 16),
        record(1_000_000, 0, 4096, read),
        record(1_000_000, 64, 4096, read),
        record(1_100_000, 128, 8192, read),
        record(1_400_000, 0, 4096, 1 << 16 | 8),
        record(1_400_000, 64, 4096, 1 << 16 | 8),
        record(1_400_000, 128, 8192, 1 << 16 | 8),
        record(2_000_000, 0, 0, flush),
        record(3_000_000, 1 << 20, 1 << 20, discard),
    ];
    let mut job = simulated(&scratch, "", "fixed:300us");
    job.engine.options.set(&sim::CHANNELS, 8);
    std::fs::write(&job.replay.traces[0], records.concat()).unwrap();
    job.replay.takes_depth = true;
    let (rows, stats) = issued(job, "replay-blktrace");
    assert_eq!(rows, [(0, 0, 4096), (0, 32_768, 4096), (100, 65_536, 8192), (2_000, 1 << 29, 1 << 20)]);
    assert_eq!(stats.n_syncs_issued, 1);
    assert_eq!(stats.features.replay, Some(ReplayStats { n_timed: 5, n_late: 0, max_late_ns: 0 }));
}
