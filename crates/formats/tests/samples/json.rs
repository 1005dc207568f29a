//! Recorded JSON documents of a development version of fio, read into results and written again: the text must be the
//! same.

use crate::common::{PrintedLatency, assert_same_text, count_of, histogram_of, histogram_with_ranks, rank, samples};
use ferrio_formats::view::{DiskReport, FioView, GroupReport, JobReport};
use ferrio_formats::{LocalTime, json};
use ferrio_spec::{SteadyCriterion, SteadyMetric};
use ferrio_stats::histogram::bucket_index;
use ferrio_stats::{
    BatchCounts, DepthCounts, DirectionStats, DiskCounters, Histogram, LatencyBuckets, LatencySearch, LatencyStat,
    PriorityStat, PriorityStats, ReportSettings, ResourceUsage, RunRecord, SteadySample, SteadyState, ThreadStats,
};
use ferrio_units::PerDirection;
use serde_json::Value;
use std::borrow::Cow;

fn integer(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("{key} is a whole number"))
}

fn float(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} is a number"))
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_else(|| panic!("{key} is a string")).to_owned()
}

fn pairs(value: &Value) -> Vec<(String, String)> {
    let members = value.as_object().into_iter().flatten();
    members.map(|(key, value)| (key.clone(), value.as_str().expect("options are strings").to_owned())).collect()
}

/// The percentiles of a latency, as (percentile, nanoseconds).
fn percentile_list(latency: &Value) -> Vec<(f64, u64)> {
    let members = latency["percentile"].as_object().into_iter().flatten();
    members.map(|(key, value)| (key.parse().expect("a number"), value.as_u64().expect("whole"))).collect()
}

fn histogram(latency: &Value, n_samples: u64) -> Option<Histogram> {
    if let Some(bins) = latency["bins"].as_object() {
        let number = |key: &str| key.parse::<u64>().expect("a bin is named by its value");
        let pairs = bins.iter().map(|(key, count)| (bucket_index(number(key)), count.as_u64().expect("whole")));
        return Some(histogram_of(pairs));
    }
    let list = percentile_list(latency);
    let ranked = list.iter().map(|(percentile, value_ns)| (rank(*percentile, n_samples), *value_ns)).collect();
    (!list.is_empty()).then(|| histogram_with_ranks(ranked, n_samples))
}

fn latency(value: &Value) -> LatencyStat {
    let figures = PrintedLatency {
        n_samples: integer(value, "N"),
        min_ns: integer(value, "min"),
        max_ns: integer(value, "max"),
        mean_ns: float(value, "mean"),
        deviation_ns: float(value, "stddev"),
    };
    figures.stat(histogram(value, figures.n_samples))
}

fn direction(value: &Value) -> DirectionStats {
    let sampled = |kind: &str, deviation: &str| {
        let key = |suffix: &str| format!("{kind}_{suffix}");
        samples(
            integer(value, &key("samples")),
            integer(value, &key("min")),
            integer(value, &key("max")),
            float(value, &key("mean")),
            float(value, &key(deviation)),
        )
    };
    DirectionStats {
        n_issued: integer(value, "total_ios"),
        n_completed: integer(value, "total_ios"),
        bytes: integer(value, "io_bytes"),
        n_short: integer(value, "short_ios"),
        n_dropped: integer(value, "drop_ios"),
        runtime_ns: integer(value, "runtime") * 1_000_000,
        slat: latency(&value["slat_ns"]),
        clat: latency(&value["clat_ns"]),
        lat: latency(&value["lat_ns"]),
        response: LatencyStat::default(),
        priorities: priorities(value),
        bw: sampled("bw", "dev"),
        iops: sampled("iops", "stddev"),
    }
}

fn priorities(direction: &Value) -> PriorityStats {
    let entries = direction["prios"].as_array().into_iter().flatten().map(|entry| {
        let part = |key: &str| integer(entry, key) as u16;
        let ioprio = part("prioclass") << 13 | part("priohint") << 3 | part("prio");
        PriorityStat { ioprio, latency: latency(&entry["clat_ns"]) }
    });
    PriorityStats(entries.collect())
}

fn shares<const N: usize>(value: &Value, whole: u64, floor: f64) -> [u64; N] {
    let members = value.as_object().expect("an object");
    let counts: Vec<u64> =
        members.values().map(|share| count_of(share.as_f64().expect("a number"), whole, floor)).collect();
    counts.try_into().expect("as many shares as buckets")
}

fn thread_stats(job: &Value) -> ThreadStats {
    let directions = match job.get("read") {
        Some(_) => PerDirection(["read", "write", "trim"].map(|name| direction(&job[name]))),
        // unified_rw_reporting=mixed
        None => PerDirection([direction(&job["mixed"]), DirectionStats::default(), DirectionStats::default()]),
    };
    let n_issued = directions.0.iter().map(|direction| direction.n_issued).sum();
    let runtime_ms = integer(job, "job_runtime");
    let cpu_ns = |key: &str| (float(job, key) * runtime_ms as f64 / 100.0).round() as u64 * 1_000_000;
    ThreadStats {
        directions,
        sync: job.get("sync").map_or_else(LatencyStat::default, |sync| latency(&sync["lat_ns"])),
        n_syncs_issued: job.get("sync").map_or(0, |sync| integer(sync, "total_ios")),
        latency_buckets: LatencyBuckets {
            ns: shares(&job["latency_ns"], n_issued, 0.01),
            us: shares(&job["latency_us"], n_issued, 0.01),
            ms: shares(&job["latency_ms"], n_issued, 0.01),
        },
        depth: DepthCounts(shares(&job["iodepth_level"], n_issued, 0.1)),
        submit: BatchCounts(shares(&job["iodepth_submit"], 1_000, 0.1)),
        complete: BatchCounts(shares(&job["iodepth_complete"], 1_000, 0.1)),
        usage: ResourceUsage {
            user_ns: cpu_ns("usr_cpu"),
            system_ns: cpu_ns("sys_cpu"),
            context_switches: integer(job, "ctx"),
            major_faults: integer(job, "majf"),
            minor_faults: integer(job, "minf"),
            ..ResourceUsage::default()
        },
        total_runtime_ns: runtime_ms * 1_000_000,
        job_start_ms: job["job_start"].as_u64().unwrap_or(0),
        latency_search: LatencySearch { depth: integer(job, "latency_depth") as u32, ..LatencySearch::default() },
        ..ThreadStats::default()
    }
}

fn settings(job: &Value) -> ReportSettings {
    let of_kind = |kind: &str| {
        let lists = ["read", "write", "trim", "mixed"].map(|name| percentile_list(&job[name][kind]));
        lists.into_iter().find(|list| !list.is_empty())
    };
    let kinds = ["slat_ns", "clat_ns", "lat_ns"].map(of_kind);
    let list = kinds.iter().flatten().next().expect("some latency has percentiles");
    ReportSettings {
        percentiles: list.iter().map(|(percentile, _)| *percentile).collect(),
        slat_percentiles: kinds[0].is_some(),
        clat_percentiles: kinds[1].is_some(),
        lat_percentiles: kinds[2].is_some(),
        unified_mixed: job.get("read").is_none(),
        unified_both: job.get("read").is_some() && job.get("mixed").is_some(),
        ..ReportSettings::default()
    }
}

fn disk(value: &Value) -> DiskReport {
    let pair = |kind: &str| [integer(value, &format!("read_{kind}")), integer(value, &format!("write_{kind}"))];
    let counters = DiskCounters {
        ios: pair("ios"),
        merges: pair("merges"),
        // Debian's fio does not have these keys.
        sectors: if value.get("read_sectors").is_some() { pair("sectors") } else { [0; 2] },
        ticks_ms: pair("ticks"),
        in_queue_ms: integer(value, "in_queue"),
        util_percent: float(value, "util"),
        n_flushes: None,
    };
    DiskReport { name: text(value, "name"), counters, slaves: None }
}

/// The results that a document was written from.
pub(crate) fn run_result(document: &Value) -> FioView<'static> {
    let jobs: Vec<JobReport<'static>> = document["jobs"].as_array().expect("jobs").iter().map(job_report).collect();
    let disks = document["disk_util"].as_array().map(|disks| disks.iter().map(disk).collect());
    let first = &document["jobs"][0];
    FioView {
        record: Cow::Owned(RunRecord {
            version: text(document, "fio version"),
            timestamp_ms: integer(document, "timestamp_ms"),
            global_options: pairs(&document["global options"]),
            ..RunRecord::default()
        }),
        elapsed_secs: integer(first, "elapsed"),
        eta_secs: integer(first, "eta"),
        groups: GroupReport::from_jobs(&jobs),
        jobs,
        disks,
        ..FioView::default()
    }
}

fn job_report(job: &Value) -> JobReport<'static> {
    JobReport {
        name: text(job, "jobname").into(),
        description: job.get("desc").map(|_| text(job, "desc").into()),
        group_index: integer(job, "groupid") as u32,
        n_members: 1,
        pid: 1,
        given_options: pairs(&job["job options"]).into(),
        settings: Cow::Owned(settings(job)),
        stats: Cow::Owned(thread_stats(job)),
        latency_depth: integer(job, "latency_depth") as u32,
        steady_state: job.get("steadystate").map(steady_state).map(Cow::Owned),
        ..JobReport::default()
    }
}

/// A state whose window has the recorded samples. The state in the sample file is by IOPS and in percent.
fn steady_state(object: &Value) -> SteadyState {
    let (kind, limit) = object["ss"].as_str().and_then(|ss| ss.split_once(':')).expect("kind and limit");
    let limit = limit.trim_end_matches('%').parse().expect("a number");
    let is_slope = kind == "iops_slope";
    let criterion = SteadyCriterion { metric: SteadyMetric::Iops, is_slope, limit, is_percent: true };
    let values = |key: &str| -> Vec<u64> { serde_json::from_value(object["data"][key].clone()).expect("numbers") };
    let (ios, bytes) = (values("iops"), values("bw"));
    let mut state = SteadyState::new(criterion, integer(object, "duration"), ios.len());
    for (ios_per_sec, bytes_per_sec) in ios.into_iter().zip(bytes) {
        state.add(SteadySample { ios_per_sec, bytes_per_sec, ..SteadySample::default() });
    }
    state
}

/// The documents of a file. `--status-interval` writes several.
fn documents(file: &str) -> Vec<(String, Value)> {
    let parsed = serde_json::Deserializer::from_str(file).into_iter::<Value>();
    let texts = file.split_inclusive("\n}\n");
    texts.map(str::to_owned).zip(parsed.map(|value| value.expect("valid JSON"))).collect()
}

fn check(name: &str, file: &str, detail: json::Detail, adjust: impl Fn(&Value, &mut FioView<'static>)) {
    for (text, value) in documents(file) {
        let mut result = run_result(&value);
        adjust(&value, &mut result);
        assert_same_text(name, &json::render_in(&result, detail, &LocalTime::utc()), &text);
    }
}

#[test]
fn one_job() {
    check("json-psync-randrw", include_str!("../fixtures/json-psync-randrw.json"), json::Detail::Plain, |_, _| {});
}

#[test]
fn steady_state_of_a_job() {
    check("json-steadystate", include_str!("../fixtures/json-steadystate.json"), json::Detail::Plain, |_, _| {});
}

#[test]
fn priorities_of_a_job() {
    check("json-prios", include_str!("../fixtures/json-prios.json"), json::Detail::Plain, |_, result| {
        // A single call took more than four: its percentage is shown as the least possible.
        result.jobs[0].stats.to_mut().complete = BatchCounts([0, 2_041, 1, 0, 0, 0, 0]);
    });
}

#[test]
fn two_jobs_with_global_options() {
    check(
        "json-two-jobs-globals",
        include_str!("../fixtures/json-two-jobs-globals.json"),
        json::Detail::Plain,
        |_, _| {},
    );
}

#[test]
fn bins() {
    check(
        "jsonplus-libaio-slat",
        include_str!("../fixtures/jsonplus-libaio-slat.json"),
        json::Detail::WithBins,
        |_, _| {},
    );
}

/// The third of these was taken after a call was counted and before its size was: 99.997321% of the calls have a size.
/// ferrio counts both together, so that one is left out.
#[test]
fn several_reports() {
    let file = include_str!("../fixtures/status-interval.json");
    let mut parts: Vec<&str> = file.split_inclusive("\n}\n").collect();
    assert_eq!(parts.len(), 4);
    parts.remove(2);
    check("status-interval", &parts.concat(), json::Detail::Plain, |_, _| {});
}

/// Reads and writes do not overlap in this sample: the percentiles of the sum are those of one of them, at other ranks.
#[test]
fn sum_beside_the_directions() {
    let file = include_str!("../fixtures/json-unified-both.json");
    check("json-unified-both", file, json::Detail::Plain, |document, result| {
        let job = &document["jobs"][0];
        let n_mixed = integer(&job["mixed"]["clat_ns"], "N");
        let n_writes = integer(&job["write"]["clat_ns"], "N");
        let sum_ranks: Vec<(u64, u64)> = percentile_list(&job["mixed"]["clat_ns"])
            .into_iter()
            .map(|(percentile, value_ns)| (rank(percentile, n_mixed), value_ns))
            .collect();
        for (index, name, n_before) in [(1, "write", 0), (0, "read", n_writes)] {
            let clat = &mut result.jobs[0].stats.to_mut().directions.0[index].clat;
            let mut ranked: Vec<(u64, u64)> = percentile_list(&job[name]["clat_ns"])
                .into_iter()
                .map(|(percentile, value_ns)| (rank(percentile, clat.n_samples), value_ns))
                .collect();
            let own = sum_ranks.iter().filter(|(at, _)| *at > n_before && *at <= n_before + clat.n_samples);
            ranked.extend(own.map(|(at, value_ns)| (at - n_before, *value_ns)));
            clat.histogram = Some(histogram_with_ranks(ranked, clat.n_samples));
        }
    });
}
