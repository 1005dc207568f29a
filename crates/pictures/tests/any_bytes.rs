//! Any bytes as a file of results: results that can be shown, drawn and compared, or an error that names the file.
//!
//! Start reading at [`survive`]. The cases are the same in every run; `PROPTEST_CASES` makes more of them.

use ferrio_formats::record_file;
use ferrio_formats::{ResultFile, RunResult, read_files};
use ferrio_insight::compare::compare;
use ferrio_pictures::plot::{KINDS, PictureFormat, picture, picture_file};
use ferrio_pictures::{comparison, page};
use ferrio_stats::{DirectionSeries, JobSeries, LatencyStat, RECORD_FORMAT, RunRecord, ThreadStats, WorkerRecord};
use ferrio_units::checksum::crc32c;
use ferrio_units::{DataDirection, PerDirection};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

const HOSTILE: &str = "</script><script>alert(1)</script><img src=x onerror=alert(2)>";

/// A report with all keys that are read, in two jobs.
const REPORT: &str = r#"{ "fio version" : "fio-3.42", "timestamp" : 1795177401, "timestamp_ms" : 1795177401123,
"global options" : { "size" : "1g", "rw" : "</script><script>alert(1)</script>" },
"jobs" : [ { "jobname" : "</script><script>alert(1)</script><img src=x onerror=alert(2)>", "groupid" : 0, "error" : 5,
  "job options" : { "bs" : "4k" },
  "read" : { "io_bytes" : 2031616, "bw_bytes" : 20944494, "bw" : 20453, "iops" : 5113.402062, "runtime" : 97, "total_ios" : 496,
    "slat_ns" : { "min" : 1, "max" : 9, "mean" : 5.0, "stddev" : 1.0, "N" : 496 },
    "clat_ns" : { "min" : 34101, "max" : 7967022, "mean" : 113520.221774, "stddev" : 570503.301067, "N" : 496,
      "percentile" : { "1.000000" : 34560, "99.990000" : 7962624 }, "bins" : { "7962624" : 1, "34560" : 495 } },
    "lat_ns" : { "min" : 34101, "max" : 7967022, "mean" : 113520.221774, "stddev" : 570503.301067, "N" : 496 },
    "bw_min" : 100, "bw_max" : 300, "bw_mean" : 200.5, "bw_dev" : 3.0, "bw_samples" : 2,
    "iops_min" : 10, "iops_max" : 30, "iops_mean" : 20.5, "iops_stddev" : 3.0, "iops_samples" : 2 },
  "usr_cpu" : 1.5, "sys_cpu" : 2.5, "ctx" : 7, "majf" : 1, "minf" : 2, "iodepth_level" : { "1" : 100.0, ">=64" : 0.0 } },
 { "jobname" : "b", "groupid" : 1, "mixed" : { "io_bytes" : 4096, "bw" : 4, "iops" : 1.0, "runtime" : 1000, "total_ios" : 1,
    "clat_ns" : { "min" : 5, "max" : 5, "mean" : 5.0, "stddev" : 0.0, "N" : 1 } } } ],
"client_stats" : [ { "jobname" : "c", "hostname" : "h" } ],
"disk_util" : [ { "name" : "vda", "read_ios" : 7, "write_ios" : 8, "read_sectors" : 16, "write_sectors" : 16, "util" : 12.5 } ] }
"#;

const NATIVE: &str = r#"{ "version" : "9", "timestamp_ms" : 1795177401123, "elapsed_ns" : 1000, "jobs" : [
 { "job" : "j", "direction" : "read", "n_ios" : 10, "bytes" : 40960, "runtime_ns" : 1000000, "bytes_per_sec" : 40960000.0,
   "ios_per_sec" : 10000.0, "mean_ns" : 100.5, "p50_ns" : 99, "p99_ns" : 120, "p999_ns" : 130, "max_ns" : 140 },
 { "job" : "j", "direction" : "write", "n_ios" : 10, "bytes" : 40960, "runtime_ns" : 1000000, "bytes_per_sec" : 40960000.0,
   "ios_per_sec" : 10000.0, "mean_ns" : 100.5, "max_ns" : 140 } ] }
"#;

/// Lines of a run of two workers.
fn lines() -> String {
    let run = r#"{"record":"run","format":1,"version":"9","epoch_ms":5,"interval_ms":1000.0,"provenance":{},"jobs":[{"name":"j","group":0,"first_number":1,"n_clones":2,"options":{"given_options":[["bs","4k"]]}}]}"#;
    let span = |kind: &str, number: u32, second: u32| {
        let (start, end) = (second * 1000, second * 1000 + 1000);
        format!(
            r#"{{"record":"{kind}","job":"j","job_number":{number},"group":0,"start_ms":{start}.0,"end_ms":{end}.0,"read":{{"ios":10,"bytes":40960,"runtime_ms":1000.0,"iops":10.0,"bw_bytes":40960.0,"slat_ns":{{"n":0}},"clat_ns":{{"n":10,"sum":1000,"min":100,"max":100,"mean":100.0,"stddev":0.0,"percentiles":{{"50.0":100}},"histogram":[[100,9],[200,1]]}}}},"cpu":{{"user_ms":10.0,"system_ms":20.0}},"error":0}}"#
        )
    };
    let mut all = vec![run.to_owned()];
    all.extend((0..30).flat_map(|second| [span("interval", 1, second), span("interval", 2, second)]));
    all.extend([span("job", 1, 0), r#"{"record":"message","text":"m"}"#.to_owned(), r#"{"record":"end"}"#.to_owned()]);
    all.join("\n") + "\n"
}

/// A record of two workers with a course.
fn record() -> Vec<u8> {
    let mut stats = ThreadStats { total_runtime_ns: 5, ..ThreadStats::default() };
    let read = &mut stats.directions[DataDirection::Read];
    read.clat = LatencyStat::new(true);
    for value in [3, 500, 70_000] {
        read.clat.record(value);
    }
    (read.n_issued, read.n_completed, read.bytes, read.runtime_ns) = (3, 3, 4096, 1_000_000);
    let worker = WorkerRecord { name: "j".to_owned(), stats: Box::new(stats), ..WorkerRecord::default() };
    let read = DirectionSeries {
        ios: vec![100; 3],
        bytes: vec![4096; 3],
        latencies: vec![vec![(3, 7)], vec![], vec![(500, 1), (600, 2)]],
    };
    let directions = PerDirection([read, DirectionSeries::default(), DirectionSeries::default()]);
    let interval_ns = 100_000_000;
    let series = JobSeries { interval_ns, clone_ns: vec![interval_ns; 3], directions, ..JobSeries::default() };
    record_file::encode(&RunRecord {
        workers: vec![worker.clone(), worker],
        series: vec![series],
        ..RunRecord::default()
    })
}

/// Puts a frame with the right checksum around the content of a record.
fn framed(content: &[u8]) -> Vec<u8> {
    let mut file = format!("ferrio record {RECORD_FORMAT}\n").into_bytes();
    file.extend((content.len() as u64).to_le_bytes());
    file.extend(crc32c(content).to_le_bytes());
    file.extend(content);
    file
}

fn files(files: &[(&str, &[u8])]) -> Result<Vec<RunResult>, String> {
    let files: Vec<ResultFile> = files.iter().map(|(name, bytes)| ResultFile::in_memory(*name, *bytes)).collect();
    read_files(&files).map_err(|error| error.to_string())
}

/// Reads files; shows, draws and compares what was read.
fn survive(given: &[(&str, &[u8])]) {
    let results = match files(given) {
        Ok(results) => results,
        Err(error) => {
            let names_file = given.iter().any(|(name, _)| error.starts_with(name));
            assert!(names_file && error.len() < 1000 && error.contains(": "), "{error}");
            return;
        }
    };
    let page = page::page(&results);
    assert_eq!(page.matches("<script").count(), 3);
    assert!(!page.contains("<img"));
    let figures = page.split("<h3>Figures").nth(1).and_then(|rest| rest.split("</table>").next()).unwrap_or_default();
    assert!(!figures.contains(">inf") && !figures.contains("\"inf") && !figures.contains(">NaN"), "{figures}");
    let reference = files(&[("reference.json", REPORT.as_bytes())]).expect("a report");
    for (base, new) in [(&results, &results), (&results, &reference), (&reference, &results)] {
        let compared = compare(base, new, 1.0);
        let figures = compared.jobs.iter().flat_map(|job| &job.figures);
        for figure in figures {
            let change = figure.change.map(|change| (change.percent, change.absolute, change.interval_percent));
            let ends = figure.change.and_then(|change| change.interval_absolute).unwrap_or_default();
            let numbers = [figure.base, figure.new].into_iter().flatten().chain(ends);
            assert!(numbers.into_iter().all(f64::is_finite), "{figure:?} {change:?}");
            let ends = change.and_then(|change| change.2).unwrap_or_default();
            assert!(ends.into_iter().all(f64::is_finite), "{figure:?}");
        }
        let page = comparison::page(&[compared]);
        assert!(!page.contains("<script") && !page.contains("<img"));
    }
    for kind in KINDS {
        let Ok(picture) = picture(kind, &results, None) else { continue };
        if let Ok(file) = picture_file(&picture, None, PictureFormat::Svg) {
            let text = String::from_utf8(file).expect("a text");
            assert!(!text.contains("<script") && !text.contains("<img") && !text.contains("=\"NaN"), "{}", kind.name);
        }
    }
}

/// Numbers that break what does not expect them, and texts that are no numbers.
fn extreme() -> impl Strategy<Value = &'static str> {
    select(vec![
        "0",
        "-1",
        "1",
        "18446744073709551615",
        "18446744073709551616",
        "9223372036854775807",
        "-9223372036854775808",
        "4294967295",
        "1e308",
        "1e999",
        "-1e308",
        "1e-308",
        "0.1",
        "NaN",
        "-nan",
        "inf",
        "null",
        "\"x\"",
        "[]",
        "{}",
        "true",
        "1e30",
        "999999999999999",
    ])
}

/// Replaces numbers of a text.
fn with_numbers(text: &str, changes: &[(Index, &str)]) -> String {
    let mut parts: Vec<String> = Vec::new();
    for letter in text.chars() {
        let is_digit = letter.is_ascii_digit();
        match parts.last_mut().filter(|last| last.ends_with(|end: char| end.is_ascii_digit()) == is_digit) {
            Some(last) => last.push(letter),
            None => parts.push(letter.to_string()),
        }
    }
    let numbers: Vec<usize> = (0..parts.len()).filter(|index| parts[*index].as_bytes()[0].is_ascii_digit()).collect();
    for (index, value) in changes {
        (*value).clone_into(&mut parts[*index.get(&numbers)]);
    }
    parts.concat()
}

/// Flips bits and perhaps cuts the end.
fn damaged(bytes: &[u8], flips: &[(Index, u8)], cut: Option<Index>) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (index, bit) in flips {
        let index = index.index(bytes.len());
        bytes[index] ^= 1 << (bit % 8);
    }
    bytes.truncate(cut.map_or(bytes.len(), |cut| cut.index(bytes.len())));
    bytes
}

const NAMES: [&str; 8] =
    ["r.json", "x_bw.1.log", "x_iops.log", "x_lat.2.log", "x_clat.1.log", "x_clat_hist.1.log", "x_slat.1.log.fz", "r"];

/// A column of a log: often sensible, at times extreme.
fn column() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (0..3_u64).prop_map(|number| number.to_string()),
        4 => (0..100_000_u64).prop_map(|number| number.to_string()),
        1 => any::<u64>().prop_map(|number| number.to_string()),
        1 => select(vec!["18446744073709551615", "9223372036854775807", "0x2003", "-1", "", "nan", "1700000000000"])
            .prop_map(str::to_owned),
    ]
}

fn rows(n_columns: impl Into<proptest::collection::SizeRange>) -> impl Strategy<Value = String> {
    let row = vec(column(), n_columns).prop_map(|columns| columns.join(", "));
    vec(row, 0..40).prop_map(|rows| rows.join("\n"))
}

/// Rows with the right number and kinds of columns, and times and values of all sizes.
fn valid_rows() -> impl Strategy<Value = String> {
    let number = || prop_oneof![0..5_000_u64, any::<u64>(), Just(u64::MAX), Just(0)];
    let row = (number(), number(), 0..3_u64, number())
        .prop_map(|(time, value, direction, size)| format!("{time}, {value}, {direction}, {size}, 0"));
    vec(row, 1..60).prop_map(|rows| rows.join("\n"))
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

#[test]
fn the_documents_of_these_tests_are_read() {
    for (name, bytes, n_jobs) in [
        ("r.json", REPORT.as_bytes(), 3),
        ("r.json", NATIVE.as_bytes(), 1),
        ("r.jsonl", lines().as_bytes(), 2),
        ("r.record", &record(), 1),
        ("x_bw.1.log", b"1, 2, 0, 4096, 0\n", 1),
    ] {
        let read = files(&[(name, bytes)]).expect(name);
        assert_eq!(read[0].jobs.len(), n_jobs, "{name}");
        survive(&[(name, bytes)]);
    }
    assert!(REPORT.contains(HOSTILE));
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn any_bytes(bytes in vec(any::<u8>(), 0..300), name in select(NAMES.to_vec())) {
        survive(&[(name, &bytes)]);
        survive(&[("r.jsonl", &[b"{\"record\":", &bytes[..]].concat()), (name, &bytes)]);
        survive(&[("r.record", &framed(&bytes))]);
    }

    #[test]
    fn any_rows(rows in rows(1..9), wide in rows(4..40), name in select(NAMES.to_vec())) {
        survive(&[(name, rows.as_bytes())]);
        survive(&[("h_clat_hist.1.log", wide.as_bytes())]);
    }

    #[test]
    fn valid_rows_of_all_sizes(one in valid_rows(), other in valid_rows(), name in select(NAMES[1..6].to_vec())) {
        survive(&[(name, one.as_bytes()), ("x_clat.1.log", other.as_bytes()), ("x_clat.2.log", one.as_bytes())]);
        survive(&[("r.json", REPORT.as_bytes()), (name, one.as_bytes())]);
    }

    #[test]
    fn documents_with_extremes(changes in vec((any::<Index>(), extreme()), 1..4)) {
        survive(&[("r.json", with_numbers(REPORT, &changes).as_bytes())]);
        survive(&[("r.json", with_numbers(NATIVE, &changes).as_bytes())]);
        survive(&[("r.jsonl", with_numbers(&lines(), &changes).as_bytes())]);
    }

    #[test]
    fn damaged_files(flips in vec((any::<Index>(), any::<u8>()), 0..4), cut in any::<Option<Index>>()) {
        survive(&[("r.json", &damaged(REPORT.as_bytes(), &flips, cut))]);
        survive(&[("r.json", &damaged(NATIVE.as_bytes(), &flips, cut))]);
        survive(&[("r.jsonl", &damaged(lines().as_bytes(), &flips, cut))]);
        survive(&[("r.record", &damaged(&record(), &flips, cut))]);
        // With a right checksum, so that damage reaches what is behind it.
        let whole = record();
        let content = &whole[framed(&[]).len()..];
        survive(&[("r.record", &framed(&damaged(content, &flips, None)))]);
    }
}
