//! Tests of the reader of reports, with reports as fio writes them.

use super::*;
use crate::results::SteadyOutcome;
use ferrio_units::DataDirection;

fn parsed(text: &str) -> Result<RunResult, ReadError> {
    read(&ResultFile::on_disk("run.json"), text.as_bytes())
}

const REPORT: &str = r#"{
  "fio version" : "fio-3.33",
  "timestamp" : 1795177401,
  "global options" : { "size" : "1g", "size" : "2g" },
  "jobs" : [ {
    "jobname" : "j", "groupid" : 3, "error" : 5,
    "read" : {
      "io_bytes" : 2031616, "bw_bytes" : 20944494, "bw" : 20453, "iops" : 5113.402062, "runtime" : 97, "total_ios" : 496,
      "clat_ns" : { "min" : 34101, "max" : 7967022, "mean" : 113520.221774, "stddev" : 570503.301067, "N" : 496,
        "percentile" : { "1.000000" : 34560, "99.990000" : 7962624 },
        "bins" : { "7962624" : 1, "34560" : 495 } },
      "bw_min" : 100, "bw_max" : 300, "bw_mean" : 200.5, "bw_dev" : 3.0, "bw_samples" : 2
    },
    "write" : { "io_bytes" : 0, "total_ios" : 0 },
    "usr_cpu" : 1.5, "iodepth_level" : { "1" : 100.0, ">=64" : 0.0 }, "latency_us" : { "2" : 0.0, "50" : 99.5 }, "latency_ms" : { "10" : 0.25, ">=2000" : 0.25 }
  } ],
  "disk_util" : [ { "name" : "vda", "read_ios" : 7, "read_sectors" : 16, "util" : 12.5 } ]
}"#;

#[test]
fn figures_are_in_base_units() {
    let result = parsed(REPORT).expect("a report");
    assert_eq!((result.program.as_str(), result.timestamp_ms), ("fio-3.33", Some(1_795_177_401_000)));
    assert_eq!(result.global_options, [("size".into(), "1g".into()), ("size".into(), "2g".into())]);
    let job = &result.jobs[0];
    assert_eq!((job.name.as_str(), job.group_index, job.error), ("j", 3, 5));
    let active: Vec<DataDirection> = job.active().map(|(direction, _)| direction).collect();
    assert_eq!(active, [DataDirection::Read]);
    let read = job.directions[DataDirection::Read].as_ref().expect("reads");
    assert_eq!((read.n_ios, read.runtime_ns, read.bytes_per_sec), (496, 97_000_000, 20_944_494.0));
    let sampled = read.sampled_bytes_per_sec.expect("samples");
    assert_eq!((sampled.min, sampled.mean, sampled.n_samples), (102_400.0, 205_312.0, 2));
    let clat = read.clat.as_ref().expect("latencies");
    assert_eq!(clat.bins, [(34_560, 495), (7_962_624, 1)]);
    let percentile = |percent| clat.percentile(percent).map(|found| found.latency_ns);
    assert_eq!((percentile(1.0), percentile(50.0)), (Some(34_560), Some(34_560)));
    assert_eq!(job.depths, [("1".to_owned(), 100.0), (">=64".to_owned(), 0.0)]);
    let classes: Vec<_> = job.latency_classes.iter().map(|class| (class.up_to_ns, class.percent)).collect();
    assert_eq!(classes, [(Some(50_000), 99.5), (Some(10_000_000), 0.25), (None, 0.25)]);
    assert_eq!((result.disks[0].read_bytes, result.disks[0].written_bytes), (Some(8192), None));
}

/// fio counts no syncs of `fdatasync`, and none of a group: its numbers of latencies are right.
#[test]
fn syncs_are_as_many_as_their_latencies() {
    let syncs = |total_ios: u64, n: u64| {
        let lat = format!(r#""lat_ns" : {{ "min" : 5, "max" : 9, "mean" : 7.0, "stddev" : 1.0, "N" : {n} }}"#);
        let text =
            REPORT.replace("\"usr_cpu\"", &format!(r#""sync" : {{ "total_ios" : {total_ios}, {lat} }}, "usr_cpu""#));
        let mut jobs = parsed(&text).expect("a report").jobs;
        jobs.remove(0).syncs.map(|syncs| syncs.n_ios)
    };
    assert_eq!([syncs(0, 15), syncs(15, 15), syncs(0, 0)], [Some(15), Some(15), None]);
}

#[test]
fn a_search_for_a_steady_state_is_read() {
    let state = r#""steadystate" : { "ss" : "iops:10.000000%", "duration" : 5, "attained" : 1, "criterion" : "2.340000%" }, "usr_cpu""#;
    let result = parsed(&REPORT.replace("\"usr_cpu\"", state)).expect("a report");
    let expected = SteadyOutcome {
        job: "j".to_owned(),
        criterion: "iops:10%".to_owned(),
        window_secs: 5,
        is_attained: true,
        measured: "2.34%".to_owned(),
        mean_ios_per_sec: None,
    };
    assert_eq!(result.steady, [expected]);
    assert_eq!(parsed(REPORT).expect("a report").steady, []);
}

/// Jobs without response latencies are passed over; clones of a job have one name, and each its own latencies.
#[test]
fn response_latencies_are_those_of_their_jobs() {
    let job = |name: &str| {
        let figures = r#"{ "io_bytes" : 4096, "total_ios" : 1, "runtime" : 1 }"#;
        format!(r#"{{ "jobname" : "{name}", "groupid" : 1, "read" : {figures}, "write" : {figures} }}"#)
    };
    let response = |name: &str, direction: &str, mean: u64| {
        let latency = format!(
            r#"{{ "min" : 1, "max" : {mean}, "mean" : {mean}.0, "N" : 1, "percentile" : {{ "99.000000" : {mean} }} }}"#
        );
        format!(r#"{{ "jobname" : "{name}", "groupid" : 1, "direction" : "{direction}", "response_ns" : {latency} }}"#)
    };
    let told = [("a", "read", 10), ("a", "write", 20), ("a", "read", 30), ("a", "write", 40), ("b", "write", 50)];
    let text = format!(
        r#"{{ "fio version" : "fio-3.42", "jobs" : [ {} ], "ferrio" : {{ "version" : "1.0.0", "response" : [ {} ] }} }}"#,
        ["a", "a", "other", "b"].map(job).join(", "),
        told.map(|(name, direction, mean)| response(name, direction, mean)).join(", ")
    );
    let result = parsed(&text).expect("a report");
    let p99 = |job: &crate::JobResult, direction| {
        let response = job.directions[direction].as_ref()?.response.as_ref()?;
        response.percentile(99.0).map(|found| found.latency_ns)
    };
    let found: Vec<_> =
        result.jobs.iter().map(|job| (p99(job, DataDirection::Read), p99(job, DataDirection::Write))).collect();
    assert_eq!(found, [(Some(10), Some(20)), (Some(30), Some(40)), (None, None), (None, Some(50))]);
    // Of a job that is not there.
    let absent = text.replace(r#"{ "jobname" : "b""#, r#"{ "jobname" : "c""#);
    assert_eq!(parsed(&absent).expect("a report").jobs.len(), 4);
}

#[test]
fn messages_around_a_report_are_left_out_and_the_last_report_counts() {
    let second = REPORT.replace("496", "500");
    let result = parsed(&format!("fio: a message\n{REPORT}\n{second}\nfio: another\n")).expect("reports");
    assert_eq!(result.jobs[0].directions[DataDirection::Read].as_ref().map(|read| read.n_ios), Some(500));
    assert_eq!(result.remarks, ["The file has 2 reports; the figures are those of the last one."]);
}

#[test]
fn what_is_no_report_is_an_error_with_its_line() {
    let table: [(String, Option<u64>, &str); 11] = [
        (REPORT[..REPORT.len() - 2].to_owned(), Some(17), "EOF"),
        (format!("fio: a message\n{}", REPORT.replace("5113.402062", "-x")), Some(9), "invalid number"),
        (REPORT.replace("\"total_ios\" : 496", "\"total_ios\" : -1"), None, "total_ios is -1"),
        (REPORT.replace("\"7962624\" :", "\"x\" :"), None, "clat_ns.bins is x"),
        (REPORT.replace("1.5", "-1.5"), None, "usr_cpu is -1.5"),
        (REPORT.replace("\"1.000000\" : 34560", "\"1.000000\" : -5"), None, "clat_ns.percentile.1.000000 is -5"),
        (REPORT.replace("\"bw_min\" : 100", "\"bw_min\" : -1"), None, "bw_min is -1"),
        (REPORT.replace("\"timestamp\" : 1795177401", "\"timestamp\" : -1"), None, "timestamp is -1"),
        ("{}".to_owned(), None, "without the key"),
        ("{\"a\": ".to_owned() + &"[".repeat(100_000), Some(1), "EOF"),
        (REPORT.replace("\"jobs\" : [ {", "\"jobs\" : [ 3, {"), Some(5), "invalid type"),
    ];
    for (text, line, reason) in table {
        let error = parsed(&text).expect_err(reason);
        assert_eq!(error.line, line, "{error}");
        assert!(error.to_string().contains(reason) && error.to_string().starts_with("run.json"), "{error}");
    }
}

#[test]
fn figures_that_are_no_numbers_are_zero() {
    let result = parsed(&REPORT.replace("5113.402062", "-nan").replace("1.5", "nan")).expect("a report");
    assert_eq!(result.remarks, ["2 figures of the file are nan or inf, which are no numbers: they count as 0."]);
    assert_eq!(result.jobs[0].directions[DataDirection::Read].as_ref().map(|read| read.n_ios), Some(496));
    let result = parsed(&REPORT.replace("5113.402062", "nan")).expect("a report");
    assert_eq!(result.remarks, ["1 figure of the file is nan or inf, which is no number: it counts as 0."]);
}

#[test]
fn lists_are_bounded_before_they_take_memory() {
    let most = Limited::<()>::MOST;
    for (key, what) in [("jobs", "jobs"), ("client_stats", "jobs"), ("disk_util", "disks")] {
        let report = |n_elements: usize| {
            let elements = vec!["{}"; n_elements].join(",");
            parsed(&format!("{{\"fio version\" : \"fio-3.42\", \"{key}\" : [{elements}]}}"))
        };
        assert!(report(most).is_ok(), "{key}");
        let error = report(most + 7).expect_err(key);
        assert_eq!(error.kind, ReadErrorKind::TooMany { what, found: most + 7, most });
    }
}
