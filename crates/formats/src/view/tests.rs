//! Groups, limits and priorities as in fio, from records made by hand.

use super::*;
use ferrio_stats::{
    DiskCounters, DiskRecord, Evidence, LatencySearch, LatencyStat, ReportSettings, ThreadStats, WorkerFate,
    WorkerRecord,
};
use ferrio_units::DataDirection;

fn worker(name: &str, group_index: u32, bytes: u64) -> WorkerRecord {
    let mut stats =
        ThreadStats { latency_search: LatencySearch { depth: 4, ..Default::default() }, ..ThreadStats::default() };
    let read = &mut stats.directions[DataDirection::Read];
    (read.n_issued, read.bytes, read.runtime_ns) = (1, bytes, 1_000_000);
    stats.directions[DataDirection::Write] = read.clone();
    let given_options = vec![("name".to_owned(), name.to_owned())];
    WorkerRecord {
        name: name.to_owned(),
        group_index,
        given_options,
        stats: Box::new(stats),
        ..WorkerRecord::default()
    }
}

fn summed(mut worker: WorkerRecord) -> WorkerRecord {
    worker.settings.group_reporting = true;
    worker
}

fn record(workers: Vec<WorkerRecord>) -> RunRecord {
    RunRecord { workers, ..RunRecord::default() }
}

/// Expected: fio 3.41 shows the name of the first job, and options and depth of the last; a job with `group_reporting`
/// also joins a job before it without that option.
#[test]
fn members_are_summed_with_the_block_before() {
    let mut last = summed(worker("c", 0, 5));
    (last.stats.latency_search.depth, last.pid) = (8, 7);
    last.fate = WorkerFate { killed_by: Some(9), is_cut_short: true, ..WorkerFate::default() };
    let record =
        record(vec![worker("a", 0, 1), summed(worker("b", 0, 3)), last, summed(worker("d", 1, 2)), worker("e", 1, 2)]);
    let view = fio_view(&record);
    let blocks: Vec<(&str, u32, u32)> =
        view.jobs.iter().map(|job| (&*job.name, job.group_index, job.n_members)).collect();
    assert_eq!(blocks, [("a", 0, 3), ("d", 1, 1), ("e", 1, 1)]);
    let first = &view.jobs[0];
    assert_eq!(
        (&*first.given_options[0].1, first.latency_depth, first.stats.directions[DataDirection::Read].bytes),
        ("c", 8, 9)
    );
    assert_eq!(first.killed, [KilledMember { pid: 7, signal: 9 }]);
    assert_eq!(view.groups.iter().map(|group| group.directions[DataDirection::Read].bytes).collect::<Vec<_>>(), [9, 4]);
}

/// Reads of 1 ms and 3 ms, in a group with a job of 2 ms and a group with one of 4 ms; a job without the option is not in the sum.
fn in_three_groups() -> Vec<WorkerRecord> {
    let of = |group_index, runtime_ms: u64, latencies_ns: &[u64]| {
        let mut worker = worker("a", group_index, 1 << 20);
        let read = &mut worker.stats.directions[DataDirection::Read];
        read.runtime_ns = runtime_ms * 1_000_000;
        read.clat = LatencyStat::new(true);
        for latency_ns in latencies_ns {
            read.clat.record(*latency_ns);
        }
        read.bw.record(7);
        worker.settings.report_total = true;
        worker
    };
    let mut other = of(1, 9, &[1]);
    other.settings.report_total = false;
    vec![of(0, 1, &[10]), of(0, 2, &[20]), other, of(2, 4, &[30, 50])]
}

#[test]
fn groups_are_summed_over_the_sum_of_their_times() {
    let record = record(in_three_groups());
    let view = fio_view(&record);
    let total = view.total.as_ref().expect("jobs ask for it");
    assert_eq!((total.job.n_members, total.n_groups, &total.mixed), (3, 2, &None));
    let [read, write, trim] = &total.job.stats.directions.0;
    assert_eq!((read.bytes, read.n_issued, read.runtime_ms()), (3 << 20, 3, 6));
    assert_eq!((read.bw_bytes_per_sec(), read.whole_ios_per_sec()), ((3 << 20) * 1000 / 6, 500));
    assert_eq!((read.clat.n_samples, read.clat.min_ns, read.clat.max_ns), (4, 10, 50));
    assert!((read.clat.mean_ns() - 27.5).abs() < 1e-9);
    // All writes took 1 ms.
    assert_eq!((write.bytes, write.runtime_ms(), trim.runtime_ms()), (3 << 20, 2, 0));
    assert_eq!(read.bw.n_samples, 0);
    // The blocks and the groups are as without it.
    let plain = self::record(
        in_three_groups()
            .into_iter()
            .map(|mut worker| {
                worker.settings.report_total = false;
                worker
            })
            .collect(),
    );
    let plain = fio_view(&plain);
    assert_eq!((plain.total.is_none(), &plain.groups), (true, &view.groups));
    assert_eq!(crate::normal::render(&view).matches("Run status group").count(), 3);
}

/// The time of joined directions is the longest of a group, and the sum of these over the groups.
#[test]
fn joined_directions_are_summed_over_groups() {
    let unified = |change: fn(&mut ReportSettings)| {
        let mut workers = in_three_groups();
        for worker in &mut workers {
            change(&mut worker.settings);
        }
        record(workers)
    };
    let both = unified(|settings| settings.unified_both = true);
    let both = fio_view(&both).total.and_then(|total| total.mixed).expect("a sum of directions");
    assert_eq!((both.bytes, both.runtime_ms()), (6 << 20, 6));
    let mixed = unified(|settings| settings.unified_mixed = true);
    let mixed = fio_view(&mixed).total.expect("a sum").job.stats.directions.clone();
    let of = |direction: DataDirection| (mixed[direction].bytes, mixed[direction].runtime_ms());
    assert_eq!((of(DataDirection::Read), of(DataDirection::Write)), ((6 << 20, 6), (0, 0)));
}

#[test]
fn the_sum_has_a_part_in_the_report_and_a_key_in_json() {
    let record = record(in_three_groups());
    let view = fio_view(&record);
    let text = crate::normal::render(&view);
    let part = text.split("\nSum over all groups (jobs=3, groups=2):\n").nth(1).expect("a part");
    assert!(
        part.starts_with("  read: IOPS=500, BW=500MiB/s (524MB/s)(3072KiB/6msec)\n    clat (nsec): min=10, max=50,"),
        "{part}"
    );
    assert!(part.contains("     issued rwts: total=3,3,0,0 "), "{part}");
    assert!(!part.contains("   bw ("), "{part}");
    let document: serde_json::Value =
        serde_json::from_str(&crate::json::render(&view, crate::json::Detail::Plain)).expect("JSON");
    let total = &document["ferrio"]["total"];
    let number = |path: &str| total.pointer(path).and_then(serde_json::Value::as_u64);
    let found =
        ["/jobs", "/groups", "/read/total_ios", "/read/io_bytes", "/read/runtime", "/read/clat_ns/N", "/write/runtime"];
    assert_eq!(found.map(number), [3, 2, 3, 3 << 20, 6, 4, 2].map(Some));
    assert_eq!(total.pointer("/read/bw_min"), None);
    // Only ferrio's own key has it.
    assert_eq!(document.as_object().expect("an object").keys().filter(|key| key.contains("total")).count(), 0);
}

/// `stats=0`: the worker has no block, but its group exists, with the settings of its first worker.
#[test]
fn a_worker_without_reports_leaves_its_group() {
    let mut silent = worker("a", 0, 1);
    silent.settings = ReportSettings { is_reported: false, kb_base: 1000, ..ReportSettings::default() };
    let record = record(vec![silent, worker("b", 1, 2)]);
    let view = fio_view(&record);
    assert_eq!((view.jobs.len(), view.groups.len(), view.groups[0].kb_base), (1, 2, 1000));
    assert!(!view.groups[0].directions[DataDirection::Read].ran());
}

#[test]
fn directions_of_a_unified_job_are_one_and_the_record_keeps_them_apart() {
    let mut mixed = worker("a", 0, 3);
    mixed.settings.unified_mixed = true;
    let record = record(vec![mixed]);
    let view = fio_view(&record);
    let bytes = |stats: &ThreadStats| stats.directions.0.each_ref().map(|direction| direction.bytes);
    assert_eq!((bytes(&view.jobs[0].stats), bytes(&record.workers[0].stats)), ([6, 0, 0], [3, 3, 0]));
}

#[test]
fn priorities_are_told_where_workers_differ() {
    let of = |ioprio, values: &[u64]| {
        let mut worker = worker("a", 0, 1);
        worker.priority.ioprio = ioprio;
        let mut clat = LatencyStat::new(true);
        for value in values {
            clat.record(*value);
        }
        worker.stats.directions[DataDirection::Read].clat = clat;
        worker
    };
    let told = |workers| {
        let record = record(workers);
        fio_view(&record)
            .jobs
            .iter()
            .map(|job| job.stats.directions[DataDirection::Read].priorities.0.len())
            .collect::<Vec<_>>()
    };
    assert_eq!(told(vec![of(0, &[1]), of(0, &[2])]), [0, 0]);
    assert_eq!(told(vec![of(0, &[1]), of(0x4004, &[2]), of(0x4004, &[])]), [1, 1, 0]);
}

#[test]
fn a_job_that_never_ran_had_no_depth() {
    let of = |[was_let_go, is_cut_short, has_ended]: [bool; 3], depth| {
        let mut worker = worker("a", 0, 1);
        (worker.iodepth, worker.stats.latency_search.depth) = (16, depth);
        worker.fate = WorkerFate { was_let_go, is_cut_short, has_ended, ..WorkerFate::default() };
        fio_view(&record(vec![worker])).jobs[0].latency_depth
    };
    assert_eq!([of([false; 3], 0), of([true, false, false], 0), of([true, false, true], 3)], [0, 16, 3]);
    // Killed, and failed before its I/O: its figures are lost, and there were none.
    assert_eq!([of([true, true, true], 0), of([true, false, true], 0)], [16, 0]);
}

/// fio shows no remaining time before the third second has begun.
#[test]
fn estimates_have_their_limits() {
    let eta = |elapsed_ns, eta_secs| {
        let record = RunRecord { elapsed_ns, eta_secs, ..RunRecord::default() };
        let view = fio_view(&record);
        (view.elapsed_secs, view.eta_secs)
    };
    assert_eq!(eta(2_000_999_999, Some(5)), (2, ETA_UNKNOWN));
    assert_eq!(eta(2_001_000_000, Some(5)), (3, 5));
    assert_eq!(eta(9_000_000_000, None), (9, ETA_UNKNOWN));
}

#[test]
fn devices_are_there_when_they_were_watched() {
    assert_eq!(fio_view(&RunRecord::default()).disks, None);
    let slave = DiskCounters { in_queue_ms: 5, ..DiskCounters::default() };
    let disk = DiskRecord { name: "md0".to_owned(), counters: DiskCounters::default(), slaves: vec![slave.clone()] };
    let record =
        RunRecord { evidence: Evidence { disks: Some(vec![disk]), ..Evidence::default() }, ..RunRecord::default() };
    let disks = fio_view(&record).disks.expect("they were watched");
    assert_eq!((disks.len(), &disks[0].slaves), (1, &Some(slave)));
}
