//! Properties of all formats: their order, hostile texts, extreme figures.

use ferrio_formats::terse::TerseVersion;
use ferrio_formats::view::{DiskReport, FioView, GroupReport, JobReport};
use ferrio_formats::{LocalTime, RenderOptions, json, normal};
use ferrio_spec::{OutputFormat, OutputFormats};
use ferrio_stats::{
    DirectionStats, DiskCounters, ErrorCounts, Histogram, LatencySearch, LatencyStat, PriorityStat, PriorityStats,
    ReportSettings, RunRecord, SampleStat, ThreadStats,
};
use ferrio_testing::skip_part;
use ferrio_units::{DataDirection, PerDirection};
use std::borrow::Cow;
use std::io::Write;
use std::process::{Command, Stdio};

fn run_of(stats: ThreadStats, settings: ReportSettings, text: &str) -> FioView<'static> {
    let jobs = vec![JobReport {
        name: text.to_owned().into(),
        description: Some(text.to_owned().into()),
        n_members: 1,
        pid: 1,
        given_options: vec![(text.to_owned(), text.to_owned()), (text.to_owned(), String::new())].into(),
        settings: Cow::Owned(settings),
        latency_depth: stats.latency_search.depth,
        stats: Cow::Owned(stats),
        ..JobReport::default()
    }];
    FioView {
        record: Cow::Owned(RunRecord {
            version: "fio-3.42".to_owned(),
            timestamp_ms: 1_795_177_401_629,
            global_options: vec![(text.to_owned(), text.to_owned())],
            ..RunRecord::default()
        }),
        elapsed_secs: 1,
        eta_secs: 2_147_483_647,
        groups: GroupReport::from_jobs(&jobs),
        jobs,
        disks: Some(vec![DiskReport { name: text.to_owned(), ..DiskReport::default() }]),
        ..FioView::default()
    }
}

fn reader(bytes: u64, runtime_ms: u64) -> ThreadStats {
    let mut stats = ThreadStats::default();
    let read = &mut stats.directions[DataDirection::Read];
    (read.n_issued, read.bytes, read.runtime_ns) = (bytes / 4096, bytes, runtime_ms * 1_000_000);
    stats
}

fn options() -> RenderOptions {
    RenderOptions { terse_version: TerseVersion::V3, zone: LocalTime::utc() }
}

#[test]
fn formats_have_one_order() {
    let result = run_of(reader(4096, 1), ReportSettings::default(), "j");
    let render =
        |formats: &[OutputFormat]| ferrio_formats::render(&result, &formats.iter().copied().collect(), &options());
    let (terse, normal) = (render(&[OutputFormat::Terse]), render(&[OutputFormat::Normal]));
    let (json, json_plus) = (render(&[OutputFormat::Json]), render(&[OutputFormat::JsonPlus]));
    assert_eq!(render(&[OutputFormat::Normal, OutputFormat::Json, OutputFormat::Terse]), terse + &json + &normal);
    assert_eq!(render(&[OutputFormat::JsonPlus, OutputFormat::Json]), json_plus);
    assert_eq!(render(&[]), "");
}

/// The sum beside the directions: its bandwidth has no unit.
#[test]
fn sum_has_no_unit() {
    let settings = ReportSettings { unified_both: true, ..ReportSettings::default() };
    let mut stats = reader(2 << 20, 1);
    stats.directions[DataDirection::Write] = stats.directions[DataDirection::Read].clone();
    let text = normal::render_in(&run_of(stats, settings, "j"), &LocalTime::utc());
    for line in [
        "  read: IOPS=512k, BW=2000MiB/s (2097MB/s)(2048KiB/1msec)\n",
        "  write: IOPS=512k, BW=2000MiB/s (2097MB/s)(2048KiB/1msec)\n",
        "  mixed: IOPS=1024k, BW=4000Mi (4194M)(4096KiB/1msec)\n",
        "  MIXED: bw=4000MiB/s (4194MB/s), 2000MiB/s-2000MiB/s (2097MB/s-2097MB/s), io=4096KiB (4194kB), run=1-1msec\n",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
}

/// Jobs without I/O appear only in the outputs for programs.
#[test]
fn idle_jobs() {
    let result = run_of(ThreadStats::default(), ReportSettings::default(), "idle");
    let text = normal::render_in(&FioView { disks: None, ..result.clone() }, &LocalTime::utc());
    assert_eq!(text, "\n\nRun status group 0 (all jobs):\n");
    let wanted = OutputFormats::from_iter([OutputFormat::Terse, OutputFormat::Json]);
    let text = ferrio_formats::render(&result, &wanted, &options());
    assert!(text.starts_with("3;fio-3.42;idle;0;0;") && text.contains("\"jobname\" : \"idle\""), "{text}");
}

fn extreme_stats() -> ThreadStats {
    let mut histogram = Histogram::default();
    histogram.record(u64::MAX);
    let latency = LatencyStat {
        n_samples: u64::MAX,
        min_ns: u64::MAX,
        max_ns: u64::MAX,
        sum_ns: u128::MAX,
        sum_squares: u128::MAX,
        histogram: Some(histogram),
    };
    let samples = SampleStat {
        n_samples: u64::MAX,
        min: u64::MAX,
        max: u64::MAX,
        mean: f64::INFINITY,
        sum_squared_deviations: f64::NAN,
    };
    let direction = DirectionStats {
        n_issued: u64::MAX,
        n_completed: u64::MAX,
        bytes: u64::MAX,
        n_short: u64::MAX,
        n_dropped: u64::MAX,
        runtime_ns: u64::MAX,
        slat: latency.clone(),
        clat: latency.clone(),
        lat: latency.clone(),
        response: LatencyStat::default(),
        priorities: PriorityStats(vec![
            PriorityStat { ioprio: u16::MAX, latency: latency.clone() },
            PriorityStat { ioprio: 0, latency: latency.clone() },
        ]),
        bw: samples,
        iops: samples,
    };
    let mut stats = ThreadStats {
        directions: PerDirection::all(direction),
        sync: latency,
        n_syncs_issued: u64::MAX,
        total_runtime_ns: u64::MAX,
        job_start_ms: u64::MAX,
        errno: i32::MIN,
        tolerated: ErrorCounts { n_total: u64::MAX, first_errno: i32::MAX, ..ErrorCounts::default() },
        latency_search: LatencySearch { depth: u32::MAX, ..LatencySearch::default() },
        ..ThreadStats::default()
    };
    stats.latency_buckets.ns.fill(u64::MAX);
    stats.latency_buckets.us.fill(u64::MAX);
    stats.latency_buckets.ms.fill(u64::MAX);
    stats.depth.0.fill(u64::MAX);
    stats.submit.0.fill(u64::MAX);
    stats.complete.0.fill(u64::MAX);
    stats.usage.user_ns = u64::MAX;
    stats
}

#[test]
fn extreme_figures() {
    let all = [OutputFormat::Terse, OutputFormat::Json, OutputFormat::JsonPlus, OutputFormat::Normal];
    for (significant_figures, kb_base, unit_bits) in [(0, 1000, true), (u32::MAX, 1024, false)] {
        let settings = ReportSettings {
            significant_figures,
            kb_base,
            unit_bits,
            percentiles: vec![f64::NAN, 0.0, 1e300, f64::MIN_POSITIVE, 50.0],
            percentile_digits: u32::MAX,
            lat_percentiles: true,
            slat_percentiles: true,
            unified_both: true,
            show_errors: true,
            ..ReportSettings::default()
        };
        let mut result = run_of(extreme_stats(), settings, "j");
        result.record.to_mut().timestamp_ms = u64::MAX;
        let worst = DiskCounters { ios: [u64::MAX; 2], util_percent: f64::NAN, ..DiskCounters::default() };
        result.disks = Some(vec![DiskReport::stacked("d".into(), worst.clone(), &[worst.clone(), worst])]);
        assert!(!ferrio_formats::render(&result, &all.into_iter().collect(), &options()).is_empty());
        let text = json::render_in(&result, json::Detail::WithBins, &LocalTime::utc());
        serde_json::from_str::<serde_json::Value>(&text).expect("valid JSON");
    }
}

const HOSTILE_TEXTS: [&str; 6] =
    ["a\"b\\c", "tab\tline\nend\r\0", "caf\u{e9} \u{1f600}", "\u{fffd}\u{fffd}", "\u{7f}\u{2028}", ""];

#[test]
fn hostile_texts_give_valid_json() {
    for text in HOSTILE_TEXTS {
        let result = run_of(reader(4096, 1), ReportSettings::default(), text);
        let document = json::render_in(&result, json::Detail::Plain, &LocalTime::utc());
        let read: serde_json::Value = serde_json::from_str(&document).expect("valid JSON");
        assert_eq!(read["jobs"][0]["jobname"], text);
        assert_eq!(read["jobs"][0]["desc"], text);
        assert_eq!(read["disk_util"][0]["name"], text);
    }
}

/// Common readers must accept the documents, even those with the same key twice.
#[test]
fn other_readers_take_it() {
    for (program, arguments) in
        [("jq", ["-e", ".jobs[0].jobname"]), ("python3", ["-c", "import json, sys; json.load(sys.stdin)"])]
    {
        if Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
            skip_part!("other_readers_take_it", "no {program}");
            continue;
        }
        for text in HOSTILE_TEXTS {
            let result = run_of(reader(4096, 1), ReportSettings::default(), text);
            let document = json::render_in(&result, json::Detail::Plain, &LocalTime::utc());
            let mut child = Command::new(program)
                .args(arguments)
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .spawn()
                .expect("it ran a moment ago");
            child.stdin.take().expect("piped").write_all(document.as_bytes()).expect("it reads all");
            assert!(child.wait().expect("a child").success(), "{program} refuses {text:?}");
        }
    }
}
