//! Options that others of the same job take the effect from, and amounts that a run did not come to.

use super::tests::{in_vain, missed, outcome};
use crate::rules::testing::{MIB, TestRun, job};
use ferrio_spec::{DirectionMix, FileLocking, FileService, SizeSpec, StridedSpec, SyncMode, ZoneSpec};
use ferrio_stats::note::{Note, ReplayNote, TraceRemark};
use ferrio_stats::{MessageStream, OptionOutcome, ReplayStats};

fn before(mix: DirectionMix) -> TestRun {
    TestRun::new(job("a", mix)).before()
}

#[test]
fn a_rate_of_a_direction_that_the_job_lacks_limits_nothing() {
    let mut scene = before(DirectionMix::Write);
    scene.jobs[0].pace.bytes_per_sec.0 = [MIB, 0, 0];
    let why = in_vain(&mut scene, &[("rate", "1m,")]);
    assert_eq!(why.as_deref(), Some("it is for reads, and the job has none: a comma divides reads, writes and trims"));
    scene.jobs[0].pace.bytes_per_sec.0 = [MIB, MIB, MIB];
    assert_eq!(in_vain(&mut scene, &[("rate", "1m")]), None);
    scene.jobs[0].pace.bytes_per_sec.0 = [0, MIB, 0];
    assert_eq!(in_vain(&mut scene, &[("rate", ",1m")]), None);
}

#[test]
fn a_rate_of_less_than_one_io_in_the_run_is_told() {
    // 10 s, in blocks of 4 KiB.
    let mut scene = TestRun::new(job("a", DirectionMix::Read));
    scene.jobs[0].pace.bytes_per_sec.0[0] = 100;
    let why = missed(&mut scene, "rate", "100");
    assert_eq!(why.as_deref(), Some("at this rate an I/O comes every 41 s, and the job ran for 10 s"));
    scene.jobs[0].pace.bytes_per_sec.0[0] = 1000;
    assert!(matches!(outcome(&mut scene, "rate", "1000"), OptionOutcome::NotSeen(_)));
}

#[test]
fn the_range_of_sizes_rules_before_the_size() {
    let mut scene = before(DirectionMix::ReadWrite);
    let mut of = |options: &[(&str, &str)]| in_vain(&mut scene, options);
    // In any order, as in fio 3.41.
    for options in [[("bs", "4k"), ("bsrange", "4k-64k")], [("bsrange", "4k-64k"), ("bs", "4k")]] {
        assert_eq!(of(&options).as_deref(), Some("bsrange=4k-64k says how large blocks are"));
    }
    assert!(of(&[("bs", "4k"), ("bssplit", "4k/50:8k/50")]).is_some());
    assert_eq!(of(&[("bs", "4k"), ("bsrange", ",4k-64k")]), None, "one direction");
}

#[test]
fn a_window_that_shows_all_never_moves() {
    let mut scene = before(DirectionMix::Read);
    let mut of = |zone: u64, range: u64| {
        let window = StridedSpec { zone_bytes: zone * MIB, range_bytes: range * MIB, skip_bytes: 0 };
        scene.jobs[0].zones = ZoneSpec::Strided(window);
        in_vain(&mut scene, &[("zonemode", "strided")])
    };
    // The job has 100 MiB.
    assert!(of(100, 100).is_some_and(|why| why.contains("there is one zone")));
    assert_eq!(of(10, 10), None);
    assert_eq!(of(100, 10), None, "a part of the file again and again");
}

#[test]
fn pauses_and_steady_states_that_do_not_fit_are_told() {
    let mut scene = before(DirectionMix::Read);
    (scene.jobs[0].pace.pauses.pause_us, scene.jobs[0].pace.pauses.spin_us) = (1000, 5000);
    let why = in_vain(&mut scene, &[("thinktime_spin", "5ms"), ("thinktime", "1ms")]);
    assert_eq!(why.as_deref(), Some("the whole pause of 1000 us is spun, and no more"));
    scene.jobs[0].pace.pauses.spin_us = 1000;
    assert_eq!(in_vain(&mut scene, &[("thinktime_spin", "1ms"), ("thinktime", "1ms")]), None);

    scene.jobs[0].steady_state.duration_us = 10_000_000;
    scene.jobs[0].limits.runtime_us = 2_000_000;
    let of = |scene: &mut TestRun| in_vain(scene, &[("steadystate_duration", "10"), ("steadystate", "iops:10%")]);
    let why = of(&mut scene);
    assert_eq!(why.as_deref(), Some("the job ends after 2 s, before its window of 10 s is full"));
    scene.jobs[0].limits.runtime_us = 60_000_000;
    assert_eq!(of(&mut scene), None);
}

#[test]
fn contents_that_another_option_fills_are_told() {
    let mut scene = before(DirectionMix::Write);
    scene.jobs[0].buffers.zero = true;
    assert_eq!(in_vain(&mut scene, &[("zero_buffers", "1")]), None);
    let why = in_vain(&mut scene, &[("refill_buffers", "1")]);
    assert_eq!(why.as_deref(), Some("zero_buffers says what the buffers hold"));
    scene.jobs[0].buffers.compress_percent = 50;
    let why = in_vain(&mut scene, &[("zero_buffers", "1")]);
    assert_eq!(why.as_deref(), Some("buffer_compress_percentage says what the buffers hold"));
    assert_eq!(in_vain(&mut scene, &[("refill_buffers", "1")]), None);
    scene.jobs[0].verify = Some(ferrio_spec::VerifySpec::of(ferrio_spec::VerifyMethod::Crc32c));
    assert_eq!(in_vain(&mut scene, &[("zero_buffers", "1")]), None, "verification fills them");
}

#[test]
fn a_sync_after_a_sync_is_told() {
    let mut scene = before(DirectionMix::Write);
    let mut of = |sync: SyncMode, fsync: u32, fdatasync: u32| {
        let durability = &mut scene.jobs[0].durability;
        (durability.sync, durability.fsync_blocks, durability.fdatasync_blocks) = (sync, fsync, fdatasync);
        in_vain(&mut scene, &[("fdatasync", "x")])
    };
    assert!(of(SyncMode::Dsync, 0, 1).is_some());
    assert!(of(SyncMode::None, 4, 8).is_some_and(|why| why.contains("fsync=4")));
    assert_eq!(of(SyncMode::None, 0, 1), None);
    assert_eq!(of(SyncMode::None, 8, 4), None);
    let why = in_vain(&mut scene, &[("write_barrier", "8")]);
    assert_eq!(why.as_deref(), Some("no engine here has barriers"));
}

#[test]
fn latencies_that_are_not_measured_have_no_percentiles_and_no_log() {
    let mut scene = before(DirectionMix::Read);
    let all = [("percentile_list", "99"), ("write_lat_log", "l"), ("write_hist_log", "h")];
    for option in all {
        assert_eq!(in_vain(&mut scene, &[option]), None, "{option:?}");
    }
    scene.jobs[0].reporting.gtod_reduce = true;
    for option in all {
        assert_eq!(in_vain(&mut scene, &[option]).as_deref(), Some("gtod_reduce measures no latencies"), "{option:?}");
    }
    assert_eq!(in_vain(&mut scene, &[("per_job_logs", "0")]).as_deref(), Some("the job writes no log"));
    assert_eq!(in_vain(&mut scene, &[("per_job_logs", "1")]), None);
}

#[test]
fn directories_and_open_files_beyond_what_there_is_are_told() {
    let mut scene = before(DirectionMix::Write);
    scene.jobs[0].target.filenames.clear();
    scene.jobs[0].target.nrfiles = 4;
    scene.jobs[0].target.directories = vec!["/a".into(), "/b".into()];
    let why = in_vain(&mut scene, &[("directory", "/a:/b")]);
    assert!(why.is_some_and(|why| why.starts_with("nothing is in /b: each clone")));
    scene.jobs[0].numjobs = 2;
    assert_eq!(in_vain(&mut scene, &[("directory", "/a:/b")]), None);
    assert_eq!(in_vain(&mut scene, &[("openfiles", "10")]).as_deref(), Some("the job has 4 files"));
    assert_eq!(in_vain(&mut scene, &[("openfiles", "4")]), None);
}

#[test]
fn clones_that_wait_for_a_lock_are_told() {
    let mut scene = before(DirectionMix::Write);
    scene.jobs[0].target.filenames = vec!["/data/a".to_owned()];
    scene.jobs[0].numjobs = 4;
    assert_eq!(in_vain(&mut scene, &[("numjobs", "4")]), None);
    scene.jobs[0].target.locking = FileLocking::Exclusive;
    let why = in_vain(&mut scene, &[("numjobs", "4")]);
    assert_eq!(why.as_deref(), Some("lockfile=exclusive lets one of them at a time do I/O on /data/a"));
    (scene.jobs[0].target.locking, scene.jobs[0].pattern.mix) = (FileLocking::ReadWrite, DirectionMix::Read);
    assert_eq!(in_vain(&mut scene, &[("numjobs", "4")]), None, "readers do not wait for each other");
}

/// 100 MiB in 25,600 I/Os.
#[test]
fn passes_and_files_that_the_runtime_left_out_are_told() {
    let mut scene = TestRun::new(job("a", DirectionMix::Read));
    (scene.jobs[0].limits.loops, scene.jobs[0].limits.runtime_us) = (5, 10_000_000);
    let why = missed(&mut scene, "loops", "5");
    assert_eq!(why.as_deref(), Some("its runtime ended it after 1 of 5 passes"));
    (scene.jobs[0].limits.loops, scene.jobs[0].extent.size) = (2, Some(SizeSpec::Bytes(50 * MIB)));
    assert_eq!(outcome(&mut scene, "loops", "2"), OptionOutcome::AsAsked);

    scene.jobs[0].target.filenames.clear();
    scene.jobs[0].target.nrfiles = 30_000;
    let why = missed(&mut scene, "nrfiles", "30000");
    assert_eq!(why.as_deref(), Some("at most 25,601 of 30,000 files were used"));
    // Each has 2,560 blocks.
    (scene.jobs[0].target.nrfiles, scene.jobs[0].extent.size) = (100, Some(SizeSpec::Bytes(1000 * MIB)));
    scene.jobs[0].target.file_service = FileService::Sequential;
    let why = missed(&mut scene, "nrfiles", "100");
    assert_eq!(why.as_deref(), Some("at most 11 of 100 files were used"));
}

#[test]
fn lines_of_a_trace_that_were_left_out_are_told() {
    let mut scene = TestRun::new(job("a", DirectionMix::Read));
    scene.jobs[0].replay.traces = vec!["trace.log".to_owned()];
    scene.stats().features.replay = Some(ReplayStats { n_timed: 10, ..ReplayStats::default() });
    let remark = TraceRemark::BadLine { number: 4, version: 2, line: "f wait 100".to_owned() };
    let note = |whose: &str| Note::from(ReplayNote::Remark { whose: whose.to_owned(), remark: remark.clone() });
    scene.record.messages.push(MessageStream::Error, note("other.log"));
    assert_eq!(outcome(&mut scene, "read_iolog", "trace.log"), OptionOutcome::AsAsked);
    scene.record.messages.push(MessageStream::Error, note("trace.log"));
    let why = missed(&mut scene, "read_iolog", "trace.log");
    assert_eq!(why.as_deref(), Some("1 line of it was left out, as the messages of the run say"));
}

#[test]
fn searches_without_depths_or_time_are_told() {
    let mut scene = before(DirectionMix::Read);
    (scene.jobs[0].latency.target_us, scene.jobs[0].latency.window_us) = (10_000, 5_000_000);
    scene.jobs[0].limits.runtime_us = 2_000_000;
    let why = in_vain(&mut scene, &[("latency_window", "5s")]);
    assert_eq!(why.as_deref(), Some("the job ends after 2 s, before a window of 5 s is over"));
    let why = in_vain(&mut scene, &[("latency_target", "10ms")]);
    assert_eq!(why.as_deref(), Some("iodepth=1 leaves no depth to search for"));
    (scene.jobs[0].limits.runtime_us, scene.jobs[0].queue.iodepth) = (20_000_000, 8);
    assert_eq!(in_vain(&mut scene, &[("latency_window", "5s")]), None);
    assert_eq!(in_vain(&mut scene, &[("latency_target", "10ms")]), None);
}

/// 2,560 I/Os of 4 KiB a second.
#[test]
fn a_least_rate_that_nobody_looked_at_is_told() {
    let mut scene = TestRun::new(job("a", DirectionMix::Read));
    scene.jobs[0].pace.min_ios_per_sec.0[0] = 5000;
    let why = missed(&mut scene, "rate_iops_min", "5000");
    assert_eq!(why.as_deref(), Some("2,560 of 5,000/s, and the job ended before that was looked at"));
    scene.jobs[0].pace.min_ios_per_sec.0[0] = 2560;
    assert_eq!(outcome(&mut scene, "rate_iops_min", "2560"), OptionOutcome::AsAsked);
}

/// `[global] rwmixread=70` is for the job that mixes.
#[test]
fn an_option_of_all_is_for_the_jobs_that_have_an_effect_of_it() {
    let told = |others: DirectionMix, is_own: bool, is_reported: bool| {
        let mut scene = before(DirectionMix::Read);
        scene.add(job("b", others), crate::rules::testing::place("/data/b"));
        let given = vec![("rwmixread".to_owned(), "70".to_owned())];
        if is_own {
            scene.jobs[0].given_options.clone_from(&given);
        } else {
            scene.record.global_options = given.clone();
        }
        if is_reported {
            // There each job has the options of all.
            scene.record.origin = ferrio_stats::RecordOrigin::Report("fio-3.41".to_owned());
            scene.record.evidence.reported = Some(Box::default());
            scene.jobs.iter_mut().for_each(|job| job.given_options = given.clone());
        }
        let plan = crate::audit(&scene.made()).accounts;
        let is_told = |option: &ferrio_stats::OptionAccount| matches!(option.outcome, OptionOutcome::NotAsAsked(_));
        plan.is_some_and(|plan| plan.jobs[0].options.iter().any(is_told))
    };
    assert!(!told(DirectionMix::ReadWrite, false, false));
    assert!(told(DirectionMix::Write, false, false));
    assert!(told(DirectionMix::ReadWrite, true, false));
    assert!(!told(DirectionMix::ReadWrite, false, true));
    assert!(told(DirectionMix::Write, false, true));
}

/// fio writes the sum of all directions as reads.
#[test]
fn one_row_for_all_directions_tells_nothing_of_each() {
    let of = |name: &str, value: &str, unified| {
        let mut scene = TestRun::new(job("a", DirectionMix::ReadWrite));
        let both = scene.stats();
        both.directions.0[1] = ferrio_stats::DirectionStats::default();
        scene.jobs[0].reporting.unified = unified;
        scene.record.origin = ferrio_stats::RecordOrigin::Report("fio-3.41".to_owned());
        scene.record.evidence.reported = Some(Box::default());
        outcome(&mut scene, name, value)
    };
    for (name, value) in [("rw", "randrw"), ("rwmixread", "70"), ("bs", "4k")] {
        let told = of(name, value, ferrio_spec::UnifiedReporting::Mixed);
        assert!(matches!(told, OptionOutcome::NotSeen(_)), "{name}: {told:?}");
    }
    let apart = of("rw", "randrw", ferrio_spec::UnifiedReporting::None);
    assert!(matches!(apart, OptionOutcome::NotAsAsked(_)), "{apart:?}");
}

/// fio 3.41 counts those in flight when the search ends, and not their bytes.
#[test]
fn a_search_for_a_latency_leaves_the_bytes_of_the_last_ios_out() {
    let of = |target_us: u64| {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        scene.jobs[0].queue.iodepth = 32;
        scene.jobs[0].latency.target_us = target_us;
        scene.stats().directions.0[0].bytes -= 31 * 4096;
        missed(&mut scene, "bs", "4k")
    };
    assert_eq!(of(20_000), None);
    assert!(of(0).is_some());
}

/// The file that a reading job makes has the contents of its buffers, as in fio 3.33 and 3.41; a device is as it is.
#[test]
fn contents_of_reads_are_those_of_the_layout() {
    let of = |kind| {
        let mut scene = before(DirectionMix::Read);
        scene.places[0].kind = kind;
        in_vain(&mut scene, &[("buffer_pattern", "0xff")])
    };
    assert_eq!(of(ferrio_stats::TargetKind::File), None);
    assert_eq!(of(ferrio_stats::TargetKind::Missing), None);
    assert_eq!(of(ferrio_stats::TargetKind::Block).as_deref(), Some("the job only reads"));
    let refilled = in_vain(&mut before(DirectionMix::Read), &[("refill_buffers", "1")]);
    assert_eq!(refilled.as_deref(), Some("the job only reads"));
}
