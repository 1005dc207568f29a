//! No statistic loses accuracy for speed: the figures of whole runs equal those of a list of the same stamps.
//!
//! The engine that the loop calls notes the stamps of the calls. The results of the loop, its account and its
//! statistics are then compared with a list and a search. Start reading at [`compare`].

use crate::builder::{set_depth, sim_reader, simulate_one};
use crate::memory_logs::take_logs;
use crate::probe::{COMMIT_NS, Driven, drive};
use ferrio_spec::engines::options::sim;
use ferrio_spec::{DirectionMix, JobSpec, QueueSpec};
use ferrio_stats::LogKind;
use ferrio_units::DataDirection;
use reference::PlainStat;

#[path = "../../../stats/tests/plain_lists/reference.rs"]
mod reference;

const SERVICES: [&str; 5] = [
    "fixed:100us",
    "uniform:0-300ns",
    "exponential:80us,write=lognormal:20us/2,sync=exponential:1ms",
    "lognormal:5ms/3",
    "exponential:9s",
];

/// A random mix of reads and writes with syncs, all latencies with percentiles.
fn mixed(name: &str, service: &str, seed: u64) -> JobSpec {
    let mut job = sim_reader(name, service, 3_000);
    job.engine.options.set(&sim::SEED, seed.cast_signed());
    job.engine.options.set(&sim::CHANNELS, 5);
    job.pattern.randseed = Some(seed);
    (job.pattern.mix, job.pattern.random, job.pattern.rw_postfix) = (DirectionMix::ReadWrite, true, 1);
    job.durability.fsync_blocks = 16;
    let reporting = &mut job.reporting;
    (reporting.slat_percentiles, reporting.clat_percentiles, reporting.lat_percentiles) = (true, true, true);
    job
}

/// Compares the figures of a run with those of its stamps.
fn compare(driven: &Driven, what: &str) {
    let stats = &driven.outcome.stats;
    let mut all_clats = PlainStat::default();
    for direction in DataDirection::ALL {
        let [mut slat, mut clat, mut lat]: [PlainStat; 3] = Default::default();
        for io in driven.stamped.iter().filter(|io| io.direction.data() == Some(direction)) {
            slat.record(io.issue_ns - io.start_ns);
            clat.record(io.done_ns - io.issue_ns);
            lat.record(io.done_ns - io.start_ns);
            all_clats.record(io.done_ns - io.issue_ns);
        }
        let figures = &stats.directions[direction];
        for (plain, stat, kind) in
            [(slat, &figures.slat, "slat"), (clat, &figures.clat, "clat"), (lat, &figures.lat, "lat")]
        {
            let what = format!("{what}: {kind} of {direction:?}");
            plain.assert_same(stat, &what);
            plain.assert_same_variance(stat, &what);
        }
    }
    all_clats.assert_same_coarse(&stats.latency_buckets);
    let mut syncs = PlainStat::default();
    let is_sync = |io: &&crate::probe::Stamped| io.direction.data().is_none();
    driven.stamped.iter().filter(is_sync).for_each(|io| syncs.record(io.done_ns - io.issue_ns));
    syncs.assert_same(&stats.sync, &format!("{what}: syncs"));
    syncs.assert_same_variance(&stats.sync, &format!("{what}: syncs"));
}

/// The queues: depth 1, depth 32 one by one, and in batches.
fn queues() -> [QueueSpec; 3] {
    let one = QueueSpec { iodepth: 1, batch_submit: 1, batch_complete_min: 1, batch_complete_max: 1, low: 1 };
    let deep = QueueSpec { iodepth: 32, low: 32, ..one };
    [one, deep, QueueSpec { batch_submit: 8, batch_complete_min: 4, batch_complete_max: 16, low: 16, ..deep }]
}

#[test]
fn stamps_of_whole_runs() {
    for (seed, service) in (1..).zip(SERVICES) {
        for queue in queues() {
            let mut job = mixed("j", service, seed);
            job.queue = queue;
            // A commit takes time too, so that slat is not 0.
            job.engine.options.set(&COMMIT_NS, 137);
            let driven = drive(job);
            assert_eq!(driven.outcome.failure, None);
            let n_syncs = driven.outcome.stats.n_syncs_issued as usize;
            assert!(n_syncs > 0 && driven.stamped.len() == 3_000 + n_syncs);
            compare(&driven, &format!("{service} {queue:?}"));
        }
    }
}

/// The same for the rows that a run logs, because the loop with logs is a different one.
#[test]
fn rows_of_whole_runs() {
    for (iodepth, service) in [1, 32].into_iter().flat_map(|iodepth| SERVICES.map(|service| (iodepth, service))) {
        let name = format!("plain-{iodepth}-{service}");
        let mut job = mixed(&name, service, 7);
        job.logs.latency = Some(name.as_str().into());
        set_depth(&mut job, iodepth);
        let stats = simulate_one(job);
        let logs = take_logs(&name);
        for direction in DataDirection::ALL {
            let figures = &stats.directions[direction];
            for (kind, stat) in
                [(LogKind::Slat, &figures.slat), (LogKind::Clat, &figures.clat), (LogKind::Lat, &figures.lat)]
            {
                let mut plain = PlainStat::default();
                let rows = logs[&(1, kind)].rows.iter().filter(|row| row.direction == direction);
                rows.for_each(|row| plain.record(row.value));
                plain.assert_same(stat, &format!("{name}: {kind:?} of {direction:?}"));
                plain.assert_same_variance(stat, &format!("{name}: {kind:?} of {direction:?}"));
            }
        }
    }
}
