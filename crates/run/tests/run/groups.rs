//! Jobs with a common report.
//!
//! Start reading at [`members_are_merged_exactly`].

use crate::builder::{BLOCK, MS, US, reads, sim_reader, simulate, writes};
use ferrio_formats::fio_view;
use ferrio_spec::engines::options::sim;
use ferrio_spec::{DirectionMix, JobSpec, UnifiedReporting};
use ferrio_units::DataDirection;

/// 100 I/Os of 100 us and 50 of 300 us.
fn two_jobs(change: impl Fn(&mut JobSpec)) -> Vec<JobSpec> {
    let mut jobs = vec![sim_reader("fast", "fixed:100us", 100), sim_reader("slow", "fixed:300us", 50)];
    jobs.iter_mut().for_each(change);
    jobs
}

#[test]
fn members_are_merged_exactly() {
    let (outcome, _) = simulate(two_jobs(|job| job.grouping.group_reporting = true));
    let view = fio_view(&outcome.record);
    assert_eq!((outcome.record.workers.len(), view.jobs.len(), view.groups.len()), (2, 1, 1));
    let report = &view.jobs[0];
    assert_eq!((&*report.name, report.n_members), ("fast", 2));
    let read = reads(&report.stats);
    assert_eq!((read.n_issued, read.n_completed, read.bytes), (150, 150, 150 * BLOCK));
    assert_eq!(read.runtime_ns, 15 * MS, "the longest: 50 of 300 us");
    assert_eq!((read.clat.n_samples, read.clat.min_ns, read.clat.max_ns), (150, 100 * US, 300 * US));
    let mean = (100.0 * 100e3 + 50.0 * 300e3) / 150.0;
    assert!((read.clat.mean_ns() - mean).abs() < 1e-6);
    let deviation = ((100.0 * (100e3 - mean).powi(2) + 50.0 * (300e3 - mean).powi(2)) / 149.0_f64).sqrt();
    assert!((read.clat.standard_deviation_ns() - deviation).abs() < 1e-6);
    assert_eq!(report.stats.total_runtime_ns, 10 * MS + 15 * MS, "CPU percentages are over the sum");
}

#[test]
fn jobs_apart_share_their_group() {
    let (outcome, _) = simulate(two_jobs(|_| ()));
    let view = fio_view(&outcome.record);
    assert_eq!((view.jobs.len(), view.groups.len()), (2, 1));
    let group = &view.groups[0].directions[DataDirection::Read];
    assert_eq!(group.bytes, 150 * BLOCK);
    assert_eq!((group.min_runtime_ms, group.max_runtime_ms), (10, 15));
    assert_eq!(group.bw_bytes_per_sec, 150 * BLOCK * 1_000 / 15);
    assert_eq!(group.max_bw_bytes_per_sec, 100 * BLOCK * 1_000 / 10);
    assert_eq!(group.min_bw_bytes_per_sec, 50 * BLOCK * 1_000 / 15);
}

#[test]
fn samples_of_members_add_up() {
    let timed = |job: &mut JobSpec| {
        job.limits.time_based = true;
        job.limits.runtime_us = 1_200_000;
        job.grouping.group_reporting = true;
    };
    let mut jobs = two_jobs(timed);
    // 200 us: the windows of 500 ms are met exactly.
    jobs[1] = sim_reader("slow", "fixed:200us", 50);
    timed(&mut jobs[1]);
    let (outcome, _) = simulate(jobs);
    let view = fio_view(&outcome.record);
    let iops = &reads(&view.jobs[0].stats).iops;
    // Two samples of 10000 and two of 5000.
    assert_eq!((iops.n_samples, iops.min, iops.max), (4, 15_000, 15_000));
    assert!((iops.mean - 15_000.0).abs() < 1e-6);
}

#[test]
fn clones_are_members_with_streams_of_their_own() {
    let mut job = sim_reader("j", "uniform:50us-150us", 100);
    job.numjobs = 4;
    let (apart, _) = simulate(vec![job.clone()]);
    assert_eq!(apart.record.workers.len(), 4);
    let sums: Vec<u128> = apart.record.workers.iter().map(|report| reads(&report.stats).clat.sum_ns).collect();
    assert!((1..4).all(|index| sums[index] != sums[0]), "{sums:?}");
    job.grouping.group_reporting = true;
    let (together, _) = simulate(vec![job]);
    let view = fio_view(&together.record);
    let report = &view.jobs[0];
    assert_eq!((report.n_members, reads(&report.stats).clat.sum_ns), (4, sums.iter().sum()));
}

#[test]
fn stonewall_and_new_group_begin_groups() {
    let mut jobs: Vec<JobSpec> = ["a", "b", "c", "d"].map(|name| sim_reader(name, "fixed:100us", 10)).into();
    for job in &mut jobs {
        job.grouping.group_reporting = true;
    }
    jobs[1].grouping.new_group = true;
    jobs[3].grouping.stonewall = true;
    jobs[3].numjobs = 2;
    let (outcome, _) = simulate(jobs);
    let view = fio_view(&outcome.record);
    let groups: Vec<(u32, u32)> = view.jobs.iter().map(|job| (job.group_index, job.n_members)).collect();
    assert_eq!(groups, [(0, 1), (1, 2), (2, 2)]);
    assert_eq!(view.groups.len(), 3);
}

#[test]
fn a_job_without_group_reporting_starts_a_report() {
    let mut jobs: Vec<JobSpec> = ["a", "b", "c", "d"].map(|name| sim_reader(name, "fixed:100us", 10)).into();
    for index in [0, 1, 3] {
        jobs[index].grouping.group_reporting = true;
    }
    let (outcome, _) = simulate(jobs);
    let view = fio_view(&outcome.record);
    let members: Vec<u32> = view.jobs.iter().map(|job| job.n_members).collect();
    // The last job joins the report before it, whether that job asks for it or not (as seen on fio 3.41).
    assert_eq!(members, [2, 2]);
}

#[test]
fn a_job_without_stats_is_in_no_report_and_no_sum() {
    let mut jobs = two_jobs(|_| ());
    jobs[1].reporting.stats = false;
    let (outcome, _) = simulate(jobs);
    let view = fio_view(&outcome.record);
    assert_eq!((outcome.record.workers.len(), view.jobs.len()), (2, 1));
    assert_eq!(view.groups[0].directions[DataDirection::Read].bytes, 100 * BLOCK);
}

#[test]
fn unified_reports_count_all_as_reads() {
    let mut job = sim_reader("j", "read=fixed:100us,write=fixed:300us", 100);
    job.pattern.mix = DirectionMix::ReadWrite;
    job.reporting.unified = UnifiedReporting::Mixed;
    let (outcome, _) = simulate(vec![job]);
    let view = fio_view(&outcome.record);
    let stats = &view.jobs[0].stats;
    assert_eq!((reads(stats).n_completed, writes(stats).n_completed), (100, 0));
    assert_eq!((reads(stats).clat.min_ns, reads(stats).clat.max_ns), (100 * US, 300 * US));
    assert_eq!(view.groups[0].directions[DataDirection::Read].bytes, 100 * BLOCK);
}

#[test]
fn the_first_error_of_a_group_is_shown() {
    let mut jobs = two_jobs(|job| job.grouping.group_reporting = true);
    jobs[1].engine.options.set(&sim::FAULT, "eio@5");
    let (outcome, _) = simulate(jobs);
    let view = fio_view(&outcome.record);
    assert_eq!((outcome.n_failed, view.jobs[0].stats.errno), (1, 5));
    assert_eq!(reads(&view.jobs[0].stats).n_completed, 104);
}
