//! Reads a recorded report for people back into results, from the printed figures and the block size.
//!
//! Start reading at [`read`].

use crate::common::{
    PrintedLatency, bucket_value_shown_as, count_of, histogram_of, histogram_with_ranks, rank, samples,
};
use ferrio_formats::view::{DiskReport, FioView, GroupReport, JobReport};
use ferrio_stats::thread_stats::LatencyTarget;
use ferrio_stats::{
    BatchCounts, DepthCounts, DirectionStats, DiskCounters, ErrorCounts, LatencyStat, PriorityStat, PriorityStats,
    ReportSettings, ResourceUsage, SampleStat, ThreadStats,
};
use std::borrow::Cow;
use std::str::FromStr;

/// Runtime for which percentages of CPU time have two decimals.
const RUNTIME_MS: u64 = 10_000;

/// The results of a report. `block_bytes` is the length of each I/O.
pub(crate) fn read(report: &str, block_bytes: u64, settings: &ReportSettings) -> FioView<'static> {
    let mut jobs: Vec<JobReport<'static>> = Vec::new();
    let mut disks = None;
    let lines: Vec<&str> = report.lines().collect();
    let mut index = 0;
    while index < lines.len() {
        let line = lines[index];
        if line.contains(": (groupid=") {
            let n_lines = lines[index + 1..].iter().take_while(|line| line.starts_with(' ')).count();
            jobs.push(job(line, &lines[index + 1..=index + n_lines], block_bytes, settings));
            index += n_lines;
        } else if line.starts_with("Disk stats") {
            disks = Some(lines[index + 1..].iter().map(|line| disk(line)).collect());
            break;
        }
        index += 1;
    }
    FioView { groups: GroupReport::from_jobs(&jobs), jobs, disks, ..FioView::default() }
}

/// The text between two marks.
fn between<'a>(line: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = line.split_once(start).unwrap_or_else(|| panic!("no {start:?} in {line:?}"));
    rest.split_once(end).map_or(rest, |(value, _)| value).trim()
}

fn number<T: FromStr>(line: &str, start: &str, end: &str) -> T {
    let text = between(line, start, end);
    text.parse().unwrap_or_else(|_| panic!("{text:?} is no number in {line:?}"))
}

fn numbers(text: &str) -> Vec<u64> {
    text.split([',', '/']).map(|part| part.trim().parse().expect("a whole number")).collect()
}

fn job(header: &str, lines: &[&str], block_bytes: u64, settings: &ReportSettings) -> JobReport<'static> {
    let name = header.split(": (groupid=").next().expect("a name").to_owned();
    let mut stats = thread_stats(lines, block_bytes);
    stats.errno = number::<i32>(&header.replace(" (", ":").replace("err= ", "err="), "err=", ":");
    let failure_text = match stats.errno {
        0 => String::new(),
        _ => between(&header[header.find("err=").expect("an error")..], "(", ")").to_owned(),
    };
    let description = lines.iter().find(|line| line.starts_with("  Description  :"));
    JobReport {
        name: name.into(),
        description: description.map(|line| between(line, "[", "]").to_owned().into()),
        group_index: number(header, "(groupid=", ","),
        n_members: number(header, "jobs=", ")"),
        pid: number(header, " pid=", ":"),
        settings: Cow::Owned(settings.clone()),
        failure_text,
        latency_depth: stats.latency_search.depth,
        stats: Cow::Owned(stats),
        ..JobReport::default()
    }
}

fn thread_stats(lines: &[&str], block_bytes: u64) -> ThreadStats {
    let line = |start: &str| *lines.iter().find(|line| line.trim_start().starts_with(start)).expect(start);
    let issued = numbers(between(line("issued rwts"), "total=", " "));
    let n_issued = issued[..3].iter().sum();
    let mut stats = ThreadStats { n_syncs_issued: issued[3], ..ThreadStats::default() };
    for (index, names) in [&["read", "mixed"][..], &["write"], &["trim"]].into_iter().enumerate() {
        let heads: Vec<String> = names.iter().map(|name| format!("  {name}: IOPS=")).collect();
        let start = lines.iter().position(|line| heads.iter().any(|head| line.starts_with(head)));
        stats.directions.0[index] =
            start.map_or_else(DirectionStats::default, |start| direction(&lines[start..], issued[index], block_bytes));
        stats.directions.0[index].n_issued = issued[index];
    }
    if let Some(start) = lines.iter().position(|line| line.starts_with("  fsync/")) {
        stats.sync = latency(&lines[start + 1..], "sync", issued[3]);
    }
    coarse_buckets(&mut stats, lines, n_issued);
    let depth = line("IO depths");
    stats.depth = DepthCounts(shares(depth).map(|share| count_of(share, n_issued, 0.1)));
    let calls = |line: &str| {
        BatchCounts(shares(line).map(|share| if (0.05..0.15).contains(&share) { 1 } else { (share * 1e4) as u64 }))
    };
    (stats.submit, stats.complete) = (calls(line("submit")), calls(line("complete")));
    stats.usage = usage(line("cpu"));
    stats.total_runtime_ns = RUNTIME_MS * 1_000_000;
    (stats.latency_search.target, stats.latency_search.depth) = latency_target(line("latency   :"));
    if let Some(errors) = lines.iter().find(|line| line.starts_with("     errors")) {
        stats.tolerated = ErrorCounts {
            n_total: number(errors, "total=", ","),
            first_errno: number(errors, "first_error=", "/"),
            ..ErrorCounts::default()
        };
    }
    stats
}

/// The direction whose heading is the first of `lines`.
fn direction(lines: &[&str], n_ios: u64, block_bytes: u64) -> DirectionStats {
    let is_end = |line: &str| !line.starts_with("   ");
    let n_lines = 1 + lines[1..].iter().take_while(|line| !is_end(line)).count();
    let lines = &lines[..n_lines];
    let head = lines[0];
    let runtime = head.rsplit_once('/').expect("a runtime").1;
    let sampled = |start: &str| {
        let line = lines.iter().find(|line| line.starts_with(start));
        line.map_or_else(SampleStat::default, |line| {
            samples(
                number(line, "samples=", ","),
                number(line, "min=", ","),
                number(line, "max=", ","),
                number(line, "avg=", ","),
                number(line, "stdev=", ","),
            )
        })
    };
    DirectionStats {
        bytes: n_ios * block_bytes,
        runtime_ns: number::<u64>(&format!("/{runtime}"), "/", "msec") * 1_000_000,
        slat: latency(lines, "slat", n_ios),
        clat: latency(lines, "clat", n_ios),
        lat: latency(lines, "lat", n_ios),
        priorities: priorities(lines, n_ios),
        bw: sampled("   bw ("),
        iops: sampled("   iops "),
        ..DirectionStats::default()
    }
}

/// Priorities, each with its percentage of the I/Os in the heading of its percentiles.
fn priorities(lines: &[&str], n_ios: u64) -> PriorityStats {
    let entries = lines.iter().filter(|line| line.contains(" prio ") && line.contains("% of IOs)")).map(|heading| {
        let (name, rest) = heading.trim_start().split_once(" (").expect("a share");
        let (share, _) = rest.split_once('%').expect("a share");
        let n_samples = count_of(share.parse().expect("a number"), n_ios, 0.0);
        let without_share = format!(" ({share}% of IOs)");
        let lines: Vec<String> = lines.iter().map(|line| line.replace(&without_share, "")).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let parts = numbers(name.rsplit_once(' ').expect("a priority").1);
        let ioprio = (parts[0] << 13 | parts[2] << 3 | parts[1]) as u16;
        PriorityStat { ioprio, latency: latency(&lines, name, n_samples) }
    });
    PriorityStats(entries.collect())
}

fn unit_ns(line: &str) -> u64 {
    match between(line, "(", ")") {
        "nsec" => 1,
        "usec" => 1_000,
        "msec" => 1_000_000,
        unit => panic!("unknown unit {unit}"),
    }
}

fn latency(lines: &[&str], name: &str, n_samples: u64) -> LatencyStat {
    let Some(line) = lines.iter().find(|line| line.trim_start().starts_with(&format!("{name} ("))) else {
        return LatencyStat::default();
    };
    let unit = unit_ns(line);
    let figures = PrintedLatency {
        n_samples,
        min_ns: number::<u64>(line, "min=", ",") * unit + unit / 2,
        max_ns: number::<u64>(line, "max=", ",") * unit + unit / 2,
        mean_ns: number::<f64>(line, "avg=", ",") * unit as f64,
        deviation_ns: number::<f64>(line, "stdev=", ",") * unit as f64,
    };
    let table = lines.iter().position(|line| line.trim_start().starts_with(&format!("{name} percentiles")));
    let histogram = table.map(|start| {
        let unit = unit_ns(lines[start]);
        let cells = lines[start + 1..].iter().take_while(|line| line.starts_with("     |"));
        let cells = cells.flat_map(|line| line.trim_start_matches("     |").split("],"));
        let ranked = cells.filter(|cell| !cell.trim().is_empty()).map(|cell| {
            let value_ns = bucket_value_shown_as(number(cell, "=[", "]"), |value_ns| value_ns.div_ceil(unit));
            (rank(number(&format!("|{cell}"), "|", "th="), n_samples), value_ns)
        });
        histogram_with_ranks(ranked.collect(), n_samples)
    });
    figures.stat(histogram.or_else(|| Some(histogram_of(std::iter::empty()))))
}

fn coarse_buckets(stats: &mut ThreadStats, lines: &[&str], n_issued: u64) {
    const LABELS: [&str; 12] = ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000"];
    for line in lines.iter().filter(|line| line.starts_with("  lat (")) {
        for cell in between(line, ": ", "\n").split(", ") {
            let (label, share) = cell.rsplit_once('=').expect("label and share");
            let index = LABELS.iter().position(|known| *known == label).expect("a known label");
            let count = count_of(share.trim_end_matches('%').parse().expect("a share"), n_issued, 0.01);
            match unit_ns(line) {
                1 => stats.latency_buckets.ns[index] = count,
                1_000 => stats.latency_buckets.us[index] = count,
                _ => stats.latency_buckets.ms[index] = count,
            }
        }
    }
}

/// The seven percentages of a line of depths or calls.
fn shares(line: &str) -> [f64; 7] {
    let cells: Vec<f64> = between(line, ": ", "\n")
        .split(", ")
        .map(|cell| cell.rsplit_once('=').expect("label and share").1.trim_end_matches('%').parse().expect("a share"))
        .collect();
    cells.try_into().expect("seven shares")
}

fn usage(line: &str) -> ResourceUsage {
    let cpu_ns = |start: &str| (number::<f64>(line, start, "%") * RUNTIME_MS as f64 / 100.0).round() as u64 * 1_000_000;
    ResourceUsage {
        user_ns: cpu_ns("usr="),
        system_ns: cpu_ns("sys="),
        context_switches: number(line, "ctx=", ","),
        major_faults: number(line, "majf=", ","),
        minor_faults: number(line, "minf=", ","),
        ..ResourceUsage::default()
    }
}

fn latency_target(line: &str) -> (LatencyTarget, u32) {
    let time_ns = |start: &str| {
        let text = between(line, start, ",");
        let factors = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
        let (digits, factor) = factors
            .iter()
            .find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)))
            .expect("a time with its unit");
        (digits.parse::<f64>().expect("a time") * factor) as u64
    };
    let target = LatencyTarget {
        target_ns: time_ns("target="),
        window_ns: time_ns("window="),
        percentile: number(line, "percentile=", "%"),
    };
    (target, number(line, "depth=", ","))
}

fn disk(line: &str) -> DiskReport {
    let pair = |start: &str| <[u64; 2]>::try_from(numbers(between(line, start, ","))).expect("two");
    DiskReport {
        name: line.split(':').next().expect("a name").trim().to_owned(),
        counters: DiskCounters {
            ios: pair("ios="),
            sectors: pair("sectors="),
            merges: pair("merge="),
            ticks_ms: pair("ticks="),
            in_queue_ms: number(line, "in_queue=", ","),
            util_percent: number(line, "util=", "%"),
            n_flushes: None,
        },
        slaves: None,
    }
}
