//! Latencies by priority: of single I/Os, and of jobs in a group.
//!
//! Start reading at [`shares_have_their_own_latencies`]. The expected numbers of I/Os are those of fio 3.41 for the
//! same jobs.

use crate::builder::{BLOCK, first_block, reader, run, set_depth, sim_reader, simulate, simulate_one};
use crate::scratch::Scratch;
use ferrio_spec::{CommandPrioritySpec, DirectionMix, JobSpec, PriorityShare, UnifiedReporting};
use ferrio_stats::{DirectionStats, ThreadStats};
use ferrio_testing::skip_part;
use ferrio_units::{DataDirection, PerDirection};

fn share(percent: u32, class: u8, level: u8) -> PriorityShare {
    PriorityShare { block_bytes: None, percent, class, level, hint: 0 }
}

fn set_shares(job: &mut JobSpec, reads: &[PriorityShare], writes: &[PriorityShare]) {
    let shares = PerDirection([reads.to_vec(), writes.to_vec(), Vec::new()]);
    job.engine.command_priority = CommandPrioritySpec { shares };
}

/// (class, level, samples) of all priorities in the report.
fn shown(direction: &DirectionStats) -> Vec<(u16, u16, u64)> {
    let shown = direction.priorities.shown();
    shown.iter().map(|stat| (stat.class(), stat.level(), stat.latency.n_samples)).collect()
}

fn of(stats: &ThreadStats, direction: DataDirection) -> Vec<(u16, u16, u64)> {
    shown(&stats.directions[direction])
}

#[test]
fn shares_have_their_own_latencies() {
    let mut job = sim_reader("j", "fixed:100us", 2_048);
    set_shares(&mut job, &[share(30, 2, 4)], &[share(30, 2, 4)]);
    let stats = simulate_one(job);
    assert_eq!(of(&stats, DataDirection::Read), [(0, 0, 1_439), (2, 4, 609)]);
    let reads = &stats.directions[DataDirection::Read];
    let mut sum = reads.priorities.0[0].latency.clone();
    sum.merge(&reads.priorities.0[1].latency);
    assert_eq!(sum, reads.clat, "the parts are the whole");
    assert!(of(&stats, DataDirection::Write).is_empty());
}

#[test]
fn the_total_latency_is_told_apart_where_its_percentiles_are_wanted() {
    let mut job = sim_reader("j", "fixed:100us", 2_048);
    set_depth(&mut job, 8);
    set_shares(&mut job, &[share(100, 3, 0)], &[]);
    (job.worker.prio, job.reporting.lat_percentiles) = (Some(5), true);
    let stats = simulate_one(job);
    let reads = &stats.directions[DataDirection::Read];
    assert_eq!(reads.priorities.0.len(), 2);
    assert_eq!((reads.priorities.0[0].class(), reads.priorities.0[0].level()), (2, 5));
    assert_eq!(reads.priorities.0[1].latency, reads.lat);
    assert!(of(&stats, DataDirection::Read).is_empty(), "one alone is not shown");
}

#[test]
fn latencies_that_are_not_measured_are_not_told_apart() {
    let mut job = sim_reader("j", "fixed:100us", 100);
    set_shares(&mut job, &[share(50, 1, 0)], &[]);
    job.reporting.disable_clat = true;
    assert!(of(&simulate_one(job), DataDirection::Read).is_empty());
}

#[test]
fn passes_repeat_their_priorities() {
    let mut job = sim_reader("j", "fixed:10us", 2_048);
    set_shares(&mut job, &[share(20, 1, 0)], &[]);
    job.limits.loops = 2;
    job.extent.io_size = None;
    assert_eq!(of(&simulate_one(job), DataDirection::Read), [(0, 0, 2 * 1_631), (1, 0, 2 * 417)]);
}

#[test]
fn the_ramp_is_forgotten() {
    let mut job = sim_reader("j", "fixed:100us", 1_000);
    set_shares(&mut job, &[share(50, 1, 0)], &[]);
    (job.limits.time_based, job.limits.runtime_us, job.limits.ramp_time_us) = (true, 100_000, 200_000);
    let stats = simulate_one(job);
    let reads = &stats.directions[DataDirection::Read];
    assert_eq!(reads.priorities.n_samples(), reads.n_completed);
}

#[test]
fn directions_are_put_together_by_priority() {
    let mut job = sim_reader("j", "fixed:10us", 2_048);
    (job.pattern.mix, job.pattern.random) = (DirectionMix::ReadWrite, true);
    set_shares(&mut job, &[share(20, 2, 4)], &[share(50, 3, 5)]);
    let apart = simulate_one(job.clone());
    let (reads, writes) = (of(&apart, DataDirection::Read), of(&apart, DataDirection::Write));
    job.reporting.unified = UnifiedReporting::Mixed;
    let mixed = of(&first_block(&simulate(vec![job]).0), DataDirection::Read);
    assert_eq!(mixed, [(0, 0, reads[0].2 + writes[0].2), reads[1], writes[1]]);
}

#[test]
fn jobs_of_a_group_are_told_apart_by_theirs() {
    let group = |prios: [Option<u32>; 3]| {
        let jobs = prios.into_iter().map(|prio| {
            let mut job = sim_reader("j", "fixed:10us", 2_048);
            (job.worker.prio, job.grouping.group_reporting) = (prio, true);
            job
        });
        let mut jobs: Vec<JobSpec> = jobs.collect();
        set_shares(&mut jobs[2], &[share(30, 1, 0)], &[]);
        first_block(&simulate(jobs).0)
    };
    // The third job draws from its own stream: fio counts 601 for the second and this many for the third.
    let stats = group([Some(3), None, None]);
    let counts = of(&stats, DataDirection::Read);
    assert_eq!((counts[0], counts[1].0, counts[2].0), ((2, 3, 2_048), 0, 1));
    assert_eq!(counts[1].2 + counts[2].2, 2 * 2_048);
    let mut alike = sim_reader("j", "fixed:10us", 16);
    (alike.worker.prio, alike.grouping.group_reporting, alike.numjobs) = (Some(3), true, 3);
    assert!(of(&first_block(&simulate(vec![alike]).0), DataDirection::Read).is_empty());
}

/// The kernel accepts them, too.
#[test]
fn asynchronous_engines_pass_priorities_on() {
    let scratch = Scratch::new("priorities");
    for engine in ["libaio", "io_uring"] {
        let mut job = reader("j", engine, 2_048);
        job.target.directories = vec![scratch.path().to_owned()];
        set_depth(&mut job, 4);
        set_shares(&mut job, &[share(20, 2, 7)], &[]);
        let (outcome, events) = run(vec![job]);
        if outcome.n_failed > 0 {
            skip_part!("asynchronous_engines_pass_priorities_on", "with {engine}: {events:?}");
            continue;
        }
        let stats = &outcome.record.workers[0].stats;
        assert_eq!(of(stats, DataDirection::Read), [(0, 0, 1_631), (2, 7, 417)], "{engine}");
        assert_eq!(stats.directions[DataDirection::Read].bytes, 2_048 * BLOCK);
    }
    let (outcome, _) = run(vec![reader("j", "null", 8)]);
    assert!(outcome.record.workers[0].stats.directions[DataDirection::Read].priorities.0.is_empty());
}
