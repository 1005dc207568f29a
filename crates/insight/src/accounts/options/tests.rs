//! Options of jobs whose figures are known: as asked, not as asked, not seen, and in vain before a run.

use crate::audit;
use crate::rules::testing::{TestRun, job, layer};
use ferrio_spec::{BlockShare, DirectionMix, RandomDistribution, SizeSpec, SyncMode};
use ferrio_stats::{
    DrawCounts, FileTurns, HotDraws, IoCounters, LayerKind, OptionOutcome, ProcessIo, Reading, ReplayStats,
};
use ferrio_units::PerDirection;

/// What became of an option of the first job.
pub(super) fn outcome(scene: &mut TestRun, option: &str, value: &str) -> OptionOutcome {
    scene.jobs[0].given_options = vec![(option.to_owned(), value.to_owned())];
    let accounts = audit(&scene.made()).accounts.expect("accounts");
    accounts.jobs[0].options[0].outcome.clone()
}

pub(super) fn missed(scene: &mut TestRun, option: &str, value: &str) -> Option<String> {
    match outcome(scene, option, value) {
        OptionOutcome::NotAsAsked(why) => Some(why),
        _ => None,
    }
}

/// 25,600 I/Os of 4 KiB in 10 s.
#[test]
fn rates_are_compared_with_what_was_done() {
    let mut scene = TestRun::new(job("a", DirectionMix::Read));
    scene.jobs[0].pace.ios_per_sec.0[0] = 2560;
    assert_eq!(outcome(&mut scene, "rate_iops", "2560"), OptionOutcome::AsAsked);
    scene.jobs[0].pace.ios_per_sec.0[0] = 5120;
    assert_eq!(missed(&mut scene, "rate_iops", "5120").as_deref(), Some("2,560 of 5,120/s"));
    // A rate that is exceeded is none either.
    scene.jobs[0].pace.ios_per_sec.0[0] = 1000;
    assert_eq!(missed(&mut scene, "rate_iops", "1000").as_deref(), Some("2,560 of 1,000/s"));
}

#[test]
fn a_mix_is_compared_with_its_share() {
    let mut scene = TestRun::new(job("a", DirectionMix::ReadWrite));
    scene.jobs[0].pattern.rwmix_read = 50;
    assert_eq!(outcome(&mut scene, "rwmixread", "50"), OptionOutcome::AsAsked);
    scene.jobs[0].pattern.rwmix_read = 95;
    assert_eq!(missed(&mut scene, "rwmixread", "95").as_deref(), Some("50 % reads of 95 %"));
    let mut reads = TestRun::new(job("a", DirectionMix::Read));
    assert_eq!(missed(&mut reads, "rwmixread", "95").as_deref(), Some("the job does not mix reads and writes"));
}

#[test]
fn draws_are_compared_with_their_shares() {
    let mut random = job("a", DirectionMix::Read);
    random.pattern.random = true;
    random.pattern.percentage_random.0[0] = 50;
    let mut scene = TestRun::new(random);
    let drawn = |n_at_random: u64| {
        let n_following = PerDirection([1000 - n_at_random, 0, 0]);
        let n_at_random = PerDirection([n_at_random, 0, 0]);
        Some(Box::new(DrawCounts { n_at_random, n_following, ..DrawCounts::default() }))
    };
    assert!(matches!(outcome(&mut scene, "percentage_random", "50"), OptionOutcome::NotSeen(_)));
    // Five deviations of 1,000 draws are 7.9 %.
    scene.stats().features.draws = drawn(580);
    assert_eq!(outcome(&mut scene, "percentage_random", "50"), OptionOutcome::AsAsked);
    scene.stats().features.draws = drawn(600);
    assert_eq!(missed(&mut scene, "percentage_random", "50").as_deref(), Some("60 % at random of 50 %"));

    scene.jobs[0].pattern.distribution = RandomDistribution::Zipf { theta: 1.2, center: None };
    let hot = |n_hot: u64| {
        let hot = Some(HotDraws { n_drawn: 1000, n_hot, n_wanted: 200.0 });
        Some(Box::new(DrawCounts { hot, ..DrawCounts::default() }))
    };
    // Five deviations of a fifth are 6.3 %.
    scene.stats().features.draws = hot(270);
    assert_eq!(outcome(&mut scene, "random_distribution", "zipf:1.2"), OptionOutcome::AsAsked);
    scene.stats().features.draws = hot(300);
    let why = missed(&mut scene, "random_distribution", "zipf:1.2");
    assert_eq!(why.as_deref(), Some("30 % of the I/Os at the hottest blocks of 20 %"));
}

#[test]
fn skewed_choices_of_blocks_and_files_are_compared_with_their_law() {
    let mut random = job("a", DirectionMix::Read);
    random.pattern.random = true;
    random.pattern.distribution = RandomDistribution::Normal { deviation_percent: 20.0, center: None };
    (random.target.nrfiles, random.target.filenames) = (4, Vec::new());
    random.target.file_service =
        ferrio_spec::FileService::Skewed(RandomDistribution::Zipf { theta: 1.2, center: None });
    let mut scene = TestRun::new(random);
    for (option, value) in [("random_distribution", "normal:20"), ("file_service_type", "zipf:1.2")] {
        let mut of = |n_hot: u64| {
            let hot = Some(HotDraws { n_drawn: 1000, n_hot, n_wanted: 200.0 });
            let draws = DrawCounts { hot, hot_files: hot, ..DrawCounts::default() };
            scene.stats().features.draws = Some(Box::new(draws));
            outcome(&mut scene, option, value)
        };
        assert_eq!(of(270), OptionOutcome::AsAsked);
        assert!(matches!(of(300), OptionOutcome::NotAsAsked(_)));
    }
    // All blocks alike is what there is without the option.
    scene.jobs[0].pattern.distribution = RandomDistribution::Uniform;
    scene.stats().features.draws = None;
    assert_eq!(outcome(&mut scene, "random_distribution", "random"), OptionOutcome::AsAsked);
    assert!(matches!(outcome(&mut scene, "file_service_type", "zipf:1.2"), OptionOutcome::NotSeen(_)));
}

/// 25,600 I/Os of 4 KiB in each direction that the job has.
#[test]
fn sizes_beside_verification_are_those_of_all_blocks() {
    let mut scene = TestRun::new(job("a", DirectionMix::ReadWrite));
    scene.jobs[0].verify = Some(ferrio_spec::VerifySpec::of(ferrio_spec::VerifyMethod::Crc32c));
    let mut with = |bytes: u64| {
        for size in &mut scene.jobs[0].pattern.block_size.0 {
            (size.min_bytes, size.max_bytes) = (bytes, bytes);
        }
        outcome(&mut scene, "bs", "4k")
    };
    assert_eq!(with(4096), OptionOutcome::AsAsked);
    // What else has been read is not known.
    assert!(matches!(with(8192), OptionOutcome::NotSeen(_)));
}

/// As fio 3.41 tells it with iodepth=4: 236,216,320 bytes in 57,666 I/Os of 4 KiB.
#[test]
fn bytes_in_flight_at_the_end_of_a_ramp_make_no_larger_blocks() {
    let mut scene = TestRun::new(job("a", DirectionMix::Read));
    (scene.jobs[0].limits.ramp_time_us, scene.jobs[0].queue.iodepth) = (500_000, 4);
    let figures = &mut scene.stats().directions.0[0];
    (figures.bytes, figures.n_completed) = (236_216_320, 57_666);
    assert_eq!(outcome(&mut scene, "bs", "4k"), OptionOutcome::AsAsked);
    scene.stats().directions.0[0].bytes += 4096;
    assert!(missed(&mut scene, "bs", "4k").is_some());
}

#[test]
fn sizes_by_order_are_those_of_following_and_random_blocks() {
    let mut random = job("a", DirectionMix::Read);
    (random.pattern.random, random.pattern.bs_is_seq_rand) = (true, true);
    random.pattern.percentage_random.0[0] = 25;
    for (size, bytes) in random.pattern.block_size.0.iter_mut().zip([1024, 13_312, 4096]) {
        (size.min_bytes, size.max_bytes) = (bytes, bytes);
    }
    let mut scene = TestRun::new(random);
    // A quarter of 13 KiB and three quarters of 1 KiB are 4 KiB.
    let draws = |n_at_random: u64| {
        let (at_random, following) = (PerDirection([n_at_random, 0, 0]), PerDirection([1000 - n_at_random, 0, 0]));
        Some(Box::new(DrawCounts { n_at_random: at_random, n_following: following, ..DrawCounts::default() }))
    };
    scene.stats().features.draws = draws(250);
    for option in ["bs", "bs_is_seq_rand"] {
        assert_eq!(outcome(&mut scene, option, "1"), OptionOutcome::AsAsked);
    }
    scene.stats().features.draws = draws(500);
    let why = missed(&mut scene, "bs", "1k,13k");
    let cut = "reads of 4 KiB on average, and 7 KiB were asked for: the map of used blocks cuts large ones short (norandommap)";
    assert_eq!(why.as_deref(), Some(cut));
}

/// 25,600 reads that took 300 us.
#[test]
fn a_latency_target_is_surely_met_where_completion_and_submission_together_meet_it() {
    let mut scene = TestRun::new(job("a", DirectionMix::Read));
    "libaio".clone_into(&mut scene.jobs[0].engine.name);
    (scene.jobs[0].queue.iodepth, scene.jobs[0].latency.target_us) = (8, 500);
    scene.jobs[0].latency.percentile = 99.0;
    scene.stats().latency_search.depth = 1;
    let figures = &mut scene.stats().directions.0[0];
    figures.lat.histogram = None;
    assert!(matches!(outcome(&mut scene, "latency_target", "500"), OptionOutcome::NotSeen(_)));
    let slat = &mut scene.stats().directions.0[0].slat;
    (0..25_600).for_each(|_| slat.record(100_000));
    assert_eq!(outcome(&mut scene, "latency_target", "500"), OptionOutcome::AsAsked);
    // The longest submission may have been that of any of them.
    scene.stats().directions.0[0].slat.record(300_000);
    assert!(matches!(outcome(&mut scene, "latency_target", "500"), OptionOutcome::NotSeen(_)));
    scene.jobs[0].latency.target_us = 200;
    assert!(matches!(outcome(&mut scene, "latency_target", "200"), OptionOutcome::NotAsAsked(_)));
}

#[test]
fn files_are_counted_and_measured() {
    let mut several = job("a", DirectionMix::Read);
    (several.target.nrfiles, several.target.filenames) = (4, Vec::new());
    several.extent.filesize = Some((1 << 20, 2 << 20));
    let mut scene = TestRun::new(several);
    (scene.places[0].n_files, scene.places[0].now.size_bytes) = (4, 6 << 20);
    for option in ["nrfiles", "filesize"] {
        assert_eq!(outcome(&mut scene, option, "4"), OptionOutcome::AsAsked);
    }
    (scene.places[0].n_files, scene.places[0].now.size_bytes) = (5, 11 << 20);
    for option in ["nrfiles", "filesize"] {
        assert!(matches!(outcome(&mut scene, option, "4"), OptionOutcome::NotSeen(_)), "{option}");
    }
    // Each I/O is on a file of its own, of which only a sample was looked at.
    "filecreate".clone_into(&mut scene.jobs[0].engine.name);
    scene.jobs[0].target.nrfiles = 25_600;
    assert_eq!(outcome(&mut scene, "nrfiles", "25600"), OptionOutcome::AsAsked);
}

#[test]
fn a_delay_is_that_after_jobs_that_begin_at_once() {
    let mut scene = TestRun::new(job("a", DirectionMix::Read));
    scene.jobs[0].limits.startdelay_us = (2_000_000, 2_000_000);
    scene.stats().job_start_ms = 102_050;
    assert!(matches!(outcome(&mut scene, "startdelay", "2"), OptionOutcome::NotSeen(_)));
    scene.add(job("b", DirectionMix::Read), crate::rules::testing::place("/data/b"));
    scene.record.workers[1].stats.job_start_ms = 100_000;
    assert_eq!(outcome(&mut scene, "startdelay", "2"), OptionOutcome::AsAsked);
    scene.stats().job_start_ms = 101_000;
    assert_eq!(missed(&mut scene, "startdelay", "2").as_deref(), Some("1 of 2 s"));
}

#[test]
fn batches_are_compared_with_their_limit() {
    let mut scene = TestRun::new(job("a", DirectionMix::Read));
    "libaio".clone_into(&mut scene.jobs[0].engine.name);
    scene.jobs[0].queue.iodepth = 32;
    scene.stats().submit.record(8);
    assert_eq!(outcome(&mut scene, "iodepth_batch", "8"), OptionOutcome::AsAsked);
    assert_eq!(missed(&mut scene, "iodepth_batch", "4").as_deref(), Some("1 batch was larger"));
    scene.stats().complete.record(16);
    assert_eq!(outcome(&mut scene, "iodepth_batch_complete_max", "16"), OptionOutcome::AsAsked);
    assert!(missed(&mut scene, "iodepth_batch_complete_max", "8").is_some());
}

/// 25,600 I/Os of 300 us in 10 s: 0.77 in flight.
#[test]
fn bursts_between_pauses_have_their_depth() {
    let mut scene = TestRun::new(job("a", DirectionMix::Read));
    "libaio".clone_into(&mut scene.jobs[0].engine.name);
    scene.jobs[0].queue.iodepth = 4;
    (scene.jobs[0].pace.pauses.pause_us, scene.jobs[0].pace.pauses.n_ios) = (1000, Some(4));
    assert_eq!(outcome(&mut scene, "iodepth", "4"), OptionOutcome::AsAsked);
    scene.jobs[0].pace.pauses.n_ios = Some(3);
    assert!(missed(&mut scene, "iodepth", "4").is_some());
}

#[test]
fn turns_of_files_are_compared_with_their_length() {
    let mut several = job("a", DirectionMix::Read);
    (several.target.nrfiles, several.target.filenames) = (4, Vec::new());
    let mut scene = TestRun::new(several);
    let mut of = |n_turns: u64| {
        let files = Some(FileTurns { n_ios: 1600, n_turns });
        scene.stats().features.draws = Some(Box::new(DrawCounts { files, ..DrawCounts::default() }));
        missed(&mut scene, "file_service_type", "roundrobin")
    };
    assert_eq!(of(1599), None);
    assert_eq!(of(99).as_deref(), Some("a turn of a file has 16 I/Os of 1"));
    // Two files of 800 blocks that are read whole, one after the other: a turn has 800 I/Os.
    scene.jobs[0].target.filenames = vec!["f".to_owned(), "g".to_owned()];
    scene.jobs[0].target.file_service = ferrio_spec::FileService::Sequential;
    scene.jobs[0].extent.size = None;
    (scene.places[0].n_files, scene.places[0].now.size_bytes) = (2, 1600 * 4096);
    for (n_turns, is_it) in [(1, true), (400, false)] {
        let files = Some(FileTurns { n_ios: 1600, n_turns });
        scene.stats().features.draws = Some(Box::new(DrawCounts { files, ..DrawCounts::default() }));
        let outcome = outcome(&mut scene, "file_service_type", "sequential");
        assert_eq!(outcome == OptionOutcome::AsAsked, is_it, "{outcome:?}");
    }
}

#[test]
fn syncs_are_counted() {
    let mut scene = TestRun::new(job("a", DirectionMix::Write));
    scene.jobs[0].durability.fsync_blocks = 8;
    scene.n_flushes = Some(3200);
    scene.stats().n_syncs_issued = 3200;
    assert_eq!(outcome(&mut scene, "fsync", "8"), OptionOutcome::AsAsked);
    scene.stats().n_syncs_issued = 100;
    assert!(missed(&mut scene, "fsync", "8").is_some_and(|why| why.starts_with("100 of 3,200")));
    let mut reads = TestRun::new(job("a", DirectionMix::Read));
    reads.jobs[0].durability.sync = SyncMode::Sync;
    assert_eq!(missed(&mut reads, "sync", "1").as_deref(), Some("the job only reads"));
}

#[test]
fn polling_needs_queues_for_it() {
    let mut scene = TestRun::new(job("a", DirectionMix::Read));
    assert!(matches!(outcome(&mut scene, "hipri", "1"), OptionOutcome::NotSeen(_)));
    let on = |polls: bool| {
        let mut disk = layer("vda", LayerKind::Disk, &[]);
        disk.polls = Some(polls);
        vec![layer("/data", LayerKind::FileSystem, &["vda"]), disk]
    };
    scene.layers(on(false));
    assert_eq!(missed(&mut scene, "hipri", "1").as_deref(), Some("the device has no poll queues"));
    scene.layers(on(true));
    assert_eq!(outcome(&mut scene, "hipri", "1"), OptionOutcome::AsAsked);
}

#[test]
fn a_runtime_is_a_limit_unless_it_is_time_based() {
    let mut scene = TestRun::new(job("a", DirectionMix::Read));
    scene.jobs[0].limits.runtime_us = 60_000_000;
    scene.stats().total_runtime_ns = 10_000_000_000;
    assert_eq!(outcome(&mut scene, "runtime", "60"), OptionOutcome::AsAsked);
    scene.jobs[0].limits.time_based = true;
    assert_eq!(missed(&mut scene, "runtime", "60").as_deref(), Some("10 of 60 s"));
    scene.jobs[0].limits.runtime_us = 5_000_000;
    assert_eq!(missed(&mut scene, "runtime", "5").as_deref(), Some("10 of 5 s"));
}

/// The I/Os in flight are waited for when the time is over.
#[test]
fn a_runtime_may_end_with_its_longest_io() {
    let mut scene = TestRun::new(job("a", DirectionMix::Read));
    (scene.jobs[0].limits.runtime_us, scene.jobs[0].limits.time_based) = (3_000_000, true);
    scene.stats().total_runtime_ns = 3_500_000_000;
    assert_eq!(missed(&mut scene, "runtime", "3").as_deref(), Some("3.5 of 3 s"));
    scene.stats().directions.0[0].lat.record(400_000_000);
    assert_eq!(outcome(&mut scene, "runtime", "3"), OptionOutcome::AsAsked);
}

#[test]
fn a_size_is_gone_over_until_the_time_is_over() {
    let mut scene = TestRun::new(job("a", DirectionMix::Read));
    let limits = &mut scene.jobs[0].limits;
    (limits.runtime_us, limits.ramp_time_us) = (10_000_000, 1_000_000);
    assert!(matches!(outcome(&mut scene, "size", "100m"), OptionOutcome::NotSeen(_)));
    scene.jobs[0].limits.time_based = true;
    assert_eq!(outcome(&mut scene, "size", "100m"), OptionOutcome::AsAsked);
}

#[test]
fn sizes_that_are_nearly_the_same_are_meant_so() {
    let mut scene = TestRun::new(job("a", DirectionMix::Read));
    scene.jobs[0].target.nrfiles = 1000;
    scene.jobs[0].extent.filesize = Some((4096, 4096));
    let mut why = |size: u64| {
        scene.jobs[0].extent.size = Some(SizeSpec::Bytes(size));
        in_vain(&mut scene, &[("size", "4m")])
    };
    assert_eq!(why(4 << 20), None);
    assert!(why(8 << 20).is_some_and(|why| why.contains("no more than 3.91 MiB")));
}

#[test]
fn a_job_alone_that_read_all_from_storage_has_read_from_no_cache() {
    let mut scene = TestRun::new(job("a", DirectionMix::Read));
    scene.jobs[0].durability.direct = false;
    let mut seen = |read_bytes: u64| {
        let counters = IoCounters { read_bytes, ..IoCounters::default() };
        scene.record.evidence.process_io = Some(ProcessIo { total: Reading::Value(counters), workers: vec![] });
        outcome(&mut scene, "invalidate", "1") == OptionOutcome::AsAsked
    };
    assert!(seen(100 << 20) && !seen(50 << 20));
}

/// `ferrio run` heeds a number of I/Os beside a runtime, for each loop; fio does not.
#[test]
fn a_number_of_ios_beside_a_runtime_is_told_by_the_figures() {
    let mut scene = TestRun::new(job("a", DirectionMix::Read));
    let limits = &mut scene.jobs[0].limits;
    (limits.runtime_us, limits.time_based, limits.loops) = (60_000_000, true, 2);
    scene.stats().total_runtime_ns = 10_000_000_000;
    scene.jobs[0].extent.number_ios = 12_800;
    for (option, value) in [("number_ios", "12800"), ("loops", "2"), ("runtime", "60")] {
        assert_eq!(outcome(&mut scene, option, value), OptionOutcome::AsAsked, "{option}");
    }
    scene.jobs[0].extent.number_ios = 100;
    let why = missed(&mut scene, "number_ios", "100");
    assert_eq!(why.as_deref(), Some("time_based repeats the job until its runtime is over"));
}

#[test]
fn names_ask_for_nothing_and_what_is_not_known_is_not_seen() {
    let mut scene = TestRun::new(job("a", DirectionMix::Read));
    assert_eq!(outcome(&mut scene, "name", "a"), OptionOutcome::Structure);
    assert!(matches!(outcome(&mut scene, "norandommap", ""), OptionOutcome::NotSeen(_)));
    assert!(matches!(outcome(&mut scene, "no_such_option", "1"), OptionOutcome::NotSeen(_)));
}

#[test]
fn before_a_run_only_what_has_no_effect_is_told() {
    let mut scene = TestRun::new(job("a", DirectionMix::Read));
    scene.jobs[0].given_options = vec![("fsync".to_owned(), "1".to_owned()), ("bs".to_owned(), "4k".to_owned())];
    scene.jobs[0].durability.fsync_blocks = 1;
    let accounts = audit(&scene.before().made()).accounts.expect("accounts");
    let told: Vec<&str> = accounts.jobs[0].options.iter().map(|option| option.option.as_str()).collect();
    assert_eq!(told, ["fsync"]);
}

/// The reason that an option, of those of the first job, has no effect.
pub(super) fn in_vain(scene: &mut TestRun, options: &[(&str, &str)]) -> Option<String> {
    let owned = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    scene.jobs[0].given_options = owned.collect();
    let accounts = audit(&scene.made()).accounts?;
    match accounts.jobs[0].options.first()?.outcome.clone() {
        OptionOutcome::NotAsAsked(why) => Some(why),
        _ => None,
    }
}

#[test]
fn a_comma_divides_directions() {
    let mut scene = TestRun::new(job("a", DirectionMix::Write)).before();
    let mut of = |value| in_vain(&mut scene, &[("bs", value)]);
    assert_eq!(of("4k,8k").as_deref(), Some("4k is for reads, and the job has none: a comma divides directions"));
    for fits in ["8k", ",8k", "8k,8k"] {
        assert_eq!(of(fits), None, "{fits}");
    }
    assert!(of(",8k,4k").is_some_and(|why| why.starts_with("4k is for trims")));
    // Another job of the run has the direction, so the option may be meant for both.
    scene.add(job("b", DirectionMix::Read), crate::rules::testing::place("/data/b"));
    assert_eq!(in_vain(&mut scene, &[("bs", "4k,8k")]), None);
}

#[test]
fn the_later_of_two_opposites_counts() {
    let mut scene = TestRun::new(job("a", DirectionMix::ReadWrite)).before();
    scene.jobs[0].durability.direct = false;
    let mut of = |options: &[(&str, &str)]| in_vain(&mut scene, options);
    let why = of(&[("direct", "1"), ("buffered", "1")]);
    assert_eq!(why.as_deref(), Some("buffered=1 behind it counts"));
    assert_eq!(of(&[("direct", "0"), ("buffered", "1")]), None);
    let why = of(&[("rwmixread", "70"), ("rwmixwrite", "70")]);
    assert_eq!(why.as_deref(), Some("rwmixwrite=70 behind it counts"));
    assert_eq!(of(&[("rwmixread", "70"), ("rwmixwrite", "30")]), None);
}

#[test]
fn limits_that_others_do_not_let_be_reached_are_told() {
    let mut scene = TestRun::new(job("a", DirectionMix::Read)).before();
    scene.jobs[0].pace.ios_per_sec.0[0] = 201;
    scene.jobs[0].pace.pauses.pause_us = 5_000;
    let why = in_vain(&mut scene, &[("rate_iops", "201")]);
    assert_eq!(why.as_deref(), Some("thinktime allows no more than 200 I/Os a second"));
    scene.jobs[0].pace.ios_per_sec.0[0] = 200;
    assert_eq!(in_vain(&mut scene, &[("rate_iops", "200")]), None);

    scene.jobs[0].engine.name = "libaio".to_owned();
    scene.jobs[0].queue.iodepth = 4;
    let why = in_vain(&mut scene, &[("iodepth_batch", "5")]);
    assert_eq!(why.as_deref(), Some("no more than iodepth=4 are in flight"));
    assert_eq!(in_vain(&mut scene, &[("iodepth_batch", "4")]), None);
    assert_eq!(in_vain(&mut scene, &[("iodepth_batch_complete_max", "5")]), None);

    scene.jobs[0].extent.size = Some(SizeSpec::Percent(60));
    scene.jobs[0].extent.offset = SizeSpec::Percent(50);
    let why = in_vain(&mut scene, &[("size", "60%")]);
    assert_eq!(why.as_deref(), Some("behind offset=50% the file has 50 % more"));
    scene.jobs[0].extent.size = Some(SizeSpec::Percent(50));
    assert_eq!(in_vain(&mut scene, &[("size", "50%")]), None);

    let share = |block_bytes, percent| BlockShare { block_bytes, percent };
    scene.jobs[0].pattern.block_split.0[0] = vec![share(4096, 10), share(65_536, 10)];
    let why = in_vain(&mut scene, &[("bssplit", "4k/10:64k/10")]);
    let told = "its shares are 20 % together, and blocks of 64 KiB have the other 80 % too";
    assert_eq!(why.as_deref(), Some(told));
    scene.jobs[0].pattern.block_split.0[0] = vec![share(4096, 10), share(65_536, 90)];
    assert_eq!(in_vain(&mut scene, &[("bssplit", "4k/10:64k/90")]), None);
}

#[test]
fn pauses_that_never_come_and_traces_without_times_are_told() {
    let mut scene = TestRun::new(job("a", DirectionMix::Read));
    scene.jobs[0].pace.pauses.pause_us = 1;
    scene.jobs[0].pace.pauses.n_ios = Some(100_000);
    scene.stats().features.times = Some(Box::default());
    let why = missed(&mut scene, "thinktime", "1");
    assert_eq!(why.as_deref(), Some("no pause was made: the first one comes after 100000 I/Os"));
    let mut scene = TestRun::new(job("a", DirectionMix::Read));
    scene.jobs[0].replay.traces = vec!["trace.log".to_owned()];
    scene.stats().features.replay = Some(ReplayStats::default());
    let why = missed(&mut scene, "read_iolog", "trace.log");
    assert!(why.is_some_and(|why| why.starts_with("the trace has no times")));
    assert_eq!(missed(&mut scene, "filename", "/data/a").as_deref(), Some("the trace names the files"));
    scene.stats().features.replay = Some(ReplayStats { n_timed: 10, ..ReplayStats::default() });
    assert_eq!(outcome(&mut scene, "read_iolog", "trace.log"), OptionOutcome::AsAsked);
    scene.jobs[0].limits.runtime_us = 5_000_000;
    scene.stats().total_runtime_ns = 5_000_000_000;
    let why = missed(&mut scene, "read_iolog", "trace.log");
    assert_eq!(why.as_deref(), Some("runtime ended it after I/O number 25,600"));
}

/// Records come from anywhere: none makes the audit fail.
#[test]
fn accounts_of_strange_figures_are_made() {
    let mut scene = TestRun::new(job("a", DirectionMix::ReadWrite));
    let names: Vec<(String, String)> = super::effects()
        .flat_map(|effect| effect.names)
        .map(|name| ((*name).to_owned(), "18446744073709551615".to_owned()))
        .collect();
    scene.jobs[0].given_options = names;
    for extreme in [0, u64::MAX] {
        let stats = scene.stats();
        (stats.total_runtime_ns, stats.n_syncs_issued) = (extreme, extreme);
        for figures in &mut stats.directions.0 {
            (figures.n_completed, figures.n_issued, figures.bytes, figures.runtime_ns) =
                (extreme, extreme, extreme, extreme);
        }
        scene.jobs[0].limits.runtime_us = extreme;
        scene.jobs[0].extent.number_ios = extreme;
        let accounts = audit(&scene.made()).accounts.expect("accounts");
        assert_eq!(accounts.jobs[0].options.len(), scene.jobs[0].given_options.len());
    }
}
