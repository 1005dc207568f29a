//! Tests of the reader of lines, with lines as docs/jsonl.md describes them.

use super::*;
use crate::results::{Quantity, TimeSeries};
use ferrio_units::DataDirection;

const RUN: &str = r#"{"record":"run","format":1,"version":"9","epoch_ms":5,"interval_ms":1000.0,"provenance":{},"global_options":[["direct","1"]],"jobs":[{"name":"j","group":0,"first_number":1,"n_clones":2,"options":{"given_options":[["bs","4k"]]}}]}"#;

fn span(kind: &str, number: u32, from_ms: u32, n_ios: u32) -> String {
    let to_ms = from_ms + 1000;
    format!(
        r#"{{"record":"{kind}","job":"j","job_number":{number},"group":0,"start_ms":{from_ms}.0,"end_ms":{to_ms}.0,"read":{{"ios":{n_ios},"bytes":{},"runtime_ms":1000.0,"iops":{n_ios}.0,"bw_bytes":{}.0,"slat_ns":{{"n":0}},"clat_ns":{{"n":{n_ios},"sum":{},"min":100,"max":100,"mean":100.0,"stddev":0.0,"histogram":[[100,{n_ios}]]}}}},"cpu":{{"user_ms":10.0,"system_ms":20.0}},"error":0}}"#,
        n_ios * 4096,
        n_ios * 4096,
        n_ios * 100,
    )
}

fn course(lines: &[String]) -> Result<RunResult, ReadErrorKind> {
    let mut course = RunLines::default();
    for line in lines {
        course.add(line.as_bytes())?;
    }
    course.into_result()
}

fn rates(series: &[TimeSeries]) -> Vec<(u64, f64)> {
    let iops = series.iter().find(|series| series.quantity == Quantity::Iops).expect("rates");
    iops.filled().map(|(time_ns, bin)| (time_ns / 1_000_000, bin.max)).collect()
}

#[test]
fn workers_are_jobs_with_a_course() {
    let lines = [
        RUN.to_owned(),
        span("interval", 1, 0, 10),
        span("interval", 2, 0, 30),
        r#"{"record":"message","text":"m"}"#.to_owned(),
        span("interval", 1, 1000, 20),
        span("job", 1, 0, 33),
        span("job", 2, 0, 30),
        r#"{"record":"end"}"#.to_owned(),
    ];
    let result = course(&lines).expect("a run");
    let names: Vec<&str> = result.jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!((names, result.remarks.len()), (vec!["j (1)", "j (2)"], 0));
    let job = &result.jobs[0];
    assert_eq!(rates(&job.series), [(500, 10.0), (1500, 20.0)]);
    assert_eq!(job.options, [("bs".to_owned(), "4k".to_owned())]);
    assert_eq!(job.option(&result.global_options, "direct"), Some("1"));
    let read = job.directions[DataDirection::Read].as_ref().expect("reads");
    assert_eq!((read.n_ios, read.runtime_ns), (33, 1_000_000_000));
    // 10 ms of 1,000.
    assert!((job.cpu.unwrap().user_percent - 1.0).abs() < 1e-9);
    let heat = job.series.iter().find_map(|series| series.heat.as_ref()).expect("a distribution");
    assert_eq!(heat.total(), [(100, 30)]);
}

#[test]
fn a_run_that_was_cut_off_has_its_intervals() {
    let result = course(&[RUN.to_owned(), span("interval", 1, 0, 10), span("interval", 1, 1000, 30)]).expect("a run");
    let read = result.jobs[0].directions[DataDirection::Read].as_ref().expect("reads");
    assert_eq!((read.n_ios, read.bytes), (40, 40 * 4096));
    assert!((read.ios_per_sec - 20.0).abs() < 1e-9);
    let clat = read.clat.as_ref().expect("latencies");
    assert_eq!((clat.n_samples, clat.percentile(50.0).map(|found| found.latency_ns)), (40, Some(100)));
    assert!(result.remarks[0].contains("cut off"), "{:?}", result.remarks);
}

#[test]
fn what_cannot_be_is_an_error() {
    let bad = |from: &str, to: &str| span("interval", 1, 0, 10).replace(from, to);
    for (lines, reason) in [
        (vec![span("interval", 1, 0, 1)], "the first record"),
        (vec![RUN.replace("\"format\":1", "\"format\":2")], "format is 2"),
        (vec![RUN.to_owned(), bad("\"iops\":10.0", "\"iops\":-1.0")], "a rate is -1"),
        (vec![RUN.to_owned(), bad("\"end_ms\":1000.0", "\"end_ms\":1e300")], "a time is 1"),
        (vec![RUN.to_owned(), bad("\"ios\":10", "\"ios\":-10")], "JSON"),
    ] {
        let error = course(&lines).expect_err(reason).to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn workers_and_distributions_are_bounded() {
    // The memory of a worker depends on their number, so that there are no more than the first line says.
    let third = course(&[RUN.to_owned(), span("job", 1, 0, 1), span("job", 2, 0, 1), span("job", 3, 0, 1)]);
    assert_eq!(third.expect_err("two"), ReadErrorKind::TooMany { what: "workers", found: 3, most: 2 });
    let many = RUN.replace("\"n_clones\":2", "\"n_clones\":18446744073709551615");
    assert!(matches!(course(&[many]), Err(ReadErrorKind::TooMany { what: "workers", .. })));
    for kind in ["interval", "job"] {
        let pairs = vec!["[1,1]"; 100_000].join(",");
        let line = span(kind, 1, 0, 1).replace("[[100,1]]", &format!("[{pairs}]"));
        let error = course(&[RUN.to_owned(), line]).expect_err("too long");
        assert!(matches!(error, ReadErrorKind::TooMany { found: 100_000, .. }), "{error}");
    }
}
