//! Recorded terse lines of a development version of fio, read into results and written again: the text must be the
//! same.

use crate::common::{PrintedLatency, assert_same_text, bucket_value_shown_as, count_of, histogram_with_ranks, rank};
use ferrio_formats::terse::{self, TerseVersion};
use ferrio_formats::view::{DiskReport, FioView, GroupReport, JobReport};
use ferrio_stats::{DepthCounts, DirectionStats, DiskCounters, LatencyBuckets, ResourceUsage, RunRecord, ThreadStats};
use std::borrow::Cow;
use std::str::FromStr;

/// The samples are from I/Os of 4 KiB.
const BLOCK_KIB: u64 = 4;
/// Runtime for which percentages of CPU time have six decimals.
const RUNTIME_MS: u64 = 100_000_000;
const N_PERCENTILES: usize = 17;

/// The fields of a line, one after the other.
struct Fields<'a>(std::str::Split<'a, char>);

impl<'a> Fields<'a> {
    fn next(&mut self) -> &'a str {
        self.0.next().expect("one more field")
    }

    fn number<T: FromStr>(&mut self) -> T {
        let field = self.next();
        field.trim_end_matches('%').parse().unwrap_or_else(|_| panic!("{field:?} is no number"))
    }

    fn numbers<T: FromStr, const N: usize>(&mut self) -> [T; N] {
        std::array::from_fn(|_| self.number())
    }
}

fn latency(fields: &mut Fields<'_>, n_samples: u64) -> PrintedLatency {
    let [min_us, max_us]: [u64; 2] = fields.numbers();
    let [mean_us, deviation_us]: [f64; 2] = fields.numbers();
    PrintedLatency {
        n_samples: if max_us == 0 { 0 } else { n_samples },
        min_ns: min_us * 1000,
        max_ns: max_us * 1000,
        mean_ns: mean_us * 1000.0,
        deviation_ns: deviation_us * 1000.0,
    }
}

fn direction(fields: &mut Fields<'_>, version: TerseVersion) -> DirectionStats {
    let kib: u64 = fields.number();
    let [_bw, _iops]: [u64; 2] = fields.numbers();
    let n_ios = kib / BLOCK_KIB;
    let runtime_ms: u64 = fields.number();
    let slat = latency(fields, n_ios);
    let clat = latency(fields, n_ios);
    let slots: [&str; 20] = std::array::from_fn(|_| fields.next());
    let ranked = slots[..N_PERCENTILES].iter().filter(|_| n_ios > 0).map(|slot| {
        let (percentile, shown_us) = slot.split_once("%=").expect("a percentile and its value");
        let shown_us: u64 = shown_us.parse().expect("whole microseconds");
        let value_ns = bucket_value_shown_as(shown_us, |value_ns| value_ns / 1000);
        (rank(percentile.parse().expect("a number"), n_ios), value_ns)
    });
    let histogram = histogram_with_ranks(ranked.collect(), n_ios);
    let lat = latency(fields, n_ios);
    // These runs were too short for samples: all are zeroes.
    let n_sample_fields = if version == TerseVersion::V5 { 11 } else { 5 };
    (0..n_sample_fields).for_each(|_| assert!(fields.next().trim_end_matches('%').chars().all(|c| "0.".contains(c))));
    DirectionStats {
        n_issued: n_ios,
        bytes: kib << 10,
        runtime_ns: runtime_ms * 1_000_000,
        slat: slat.stat(None),
        clat: clat.stat(Some(histogram)),
        lat: lat.stat(None),
        ..DirectionStats::default()
    }
}

fn usage(fields: &mut Fields<'_>) -> ResourceUsage {
    let cpu_ns = |share: f64| (share * RUNTIME_MS as f64 / 100.0).round() as u64 * 1_000_000;
    let [user, system]: [f64; 2] = fields.numbers();
    let [context_switches, major_faults, minor_faults] = fields.numbers();
    let (user_ns, system_ns) = (cpu_ns(user), cpu_ns(system));
    ResourceUsage { user_ns, system_ns, context_switches, major_faults, minor_faults, ..ResourceUsage::default() }
}

fn disk(fields: &mut Fields<'_>, name: &str) -> DiskReport {
    let counters = DiskCounters {
        ios: fields.numbers(),
        merges: fields.numbers(),
        ticks_ms: fields.numbers(),
        in_queue_ms: fields.number(),
        util_percent: fields.number(),
        ..DiskCounters::default()
    };
    DiskReport { name: name.to_owned(), counters, slaves: None }
}

fn thread_stats(fields: &mut Fields<'_>, version: TerseVersion) -> ThreadStats {
    let n_directions = if version == TerseVersion::V3 { 2 } else { 3 };
    let mut stats = ThreadStats { total_runtime_ns: RUNTIME_MS * 1_000_000, ..ThreadStats::default() };
    stats.directions.0[..n_directions].fill_with(|| direction(fields, version));
    let n_issued = stats.n_issued();
    stats.usage = usage(fields);
    stats.depth = DepthCounts(fields.numbers().map(|share: f64| count_of(share, n_issued, 0.1)));
    let us: [f64; 10] = fields.numbers();
    let ms: [f64; 12] = fields.numbers();
    stats.latency_buckets = LatencyBuckets {
        ns: [0; 10],
        us: us.map(|share| count_of(share, n_issued, 0.01)),
        ms: ms.map(|share| count_of(share, n_issued, 0.01)),
    };
    stats
}

/// The result for the line of one job with a description.
fn run_result(text: &str, version: TerseVersion) -> FioView<'static> {
    let line = text.trim_end().replace('\n', "");
    let mut fields = Fields(line.split(';'));
    assert_eq!(fields.number::<u32>(), version.number());
    let program = if version == TerseVersion::V2 { "" } else { fields.next() };
    let name = fields.next().to_owned();
    let group_index = fields.number();
    assert_eq!(fields.next(), "0", "no error");
    let stats = thread_stats(&mut fields, version);
    let mut last = fields.next();
    let mut disks = Vec::new();
    while last != "desc" {
        disks.push(disk(&mut fields, last));
        last = fields.next();
    }
    let jobs = vec![JobReport {
        name: name.into(),
        description: Some(last.to_owned().into()),
        group_index,
        n_members: 1,
        pid: 1,
        latency_depth: stats.latency_search.depth,
        stats: Cow::Owned(stats),
        ..JobReport::default()
    }];
    FioView {
        record: Cow::Owned(RunRecord { version: program.to_owned(), ..RunRecord::default() }),
        groups: GroupReport::from_jobs(&jobs),
        jobs,
        disks: Some(disks),
        ..FioView::default()
    }
}

#[test]
fn all_versions() {
    let samples = [
        (TerseVersion::V2, include_str!("../fixtures/terse-v2.txt")),
        (TerseVersion::V3, include_str!("../fixtures/terse-v3.txt")),
        (TerseVersion::V4, include_str!("../fixtures/terse-v4.txt")),
        (TerseVersion::V5, include_str!("../fixtures/terse-v5.txt")),
    ];
    for (version, expected) in samples {
        let ours = terse::render(&run_result(expected, version), version);
        for (index, (our_field, field)) in ours.split(';').zip(expected.split(';')).enumerate() {
            assert_eq!(our_field, field, "{version:?}, field {}", index + 1);
        }
        assert_same_text(&format!("{version:?}"), &ours, expected);
    }
}
