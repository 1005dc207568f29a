//! Lines are read back and compared with figures counted by hand.

use super::*;
use ferrio_stats::{Failure, LatencyStat, ThreadStats};
use ferrio_units::{DataDirection, PerDirection};
use serde_json::json;

fn stretch() -> IntervalStats {
    let mut stats = ThreadStats::default();
    let mut clat = LatencyStat::new(true);
    for value_ns in [100, 100, 1_000, 60_000_000_000] {
        clat.record(value_ns);
    }
    let read = &mut stats.directions[DataDirection::Read];
    (read.n_issued, read.n_completed, read.bytes, read.runtime_ns) = (5, 4, 16_384, 500_000_000);
    read.clat = clat;
    stats.usage.user_ns = 1_500_000;
    IntervalStats {
        job_name: "a \"job\"\n".to_owned(),
        job_number: 3,
        group_index: 1,
        directions: PerDirection([true, false, false]),
        percentiles: vec![50.0, 99.9],
        start_ns: 1_000_000_000,
        end_ns: 2_000_000_500,
        run_epoch_ms: 10_000,
        host: None,
        stats,
    }
}

fn read(line: &str) -> Value {
    assert!(line.ends_with('\n') && line.trim_end().lines().count() == 1, "{line}");
    serde_json::from_str(line).expect("valid JSON")
}

#[test]
fn an_interval() {
    let record = read(&interval(&stretch()));
    assert_eq!(record["record"], "interval");
    let expected = json!({"job": "a \"job\"\n", "job_number": 3, "group": 1, "start_ms": 1000.0, "end_ms": 2000.0005,
        "start_epoch_ms": 11_000, "end_epoch_ms": 12_000, "tolerated_errors": 0});
    for (key, value) in expected.as_object().expect("an object") {
        assert_eq!(&record[key], value, "{key}");
    }
    let figures = &record["read"];
    assert_eq!((&figures["ios"], &figures["issued"], &figures["bytes"]), (&json!(4), &json!(5), &json!(16_384)));
    // 4 I/Os in 1.0000005 s.
    assert!((figures["iops"].as_f64().expect("a number") - 4.0 / 1.000_000_5).abs() < 1e-9);
    let clat = &figures["clat_ns"];
    assert_eq!((&clat["n"], &clat["sum"]), (&json!(4), &json!(60_000_001_200_u64)));
    // 60 s is between 111 * 2^29 and 112 * 2^29.
    let minute_ns = (111_u64 << 29) + (1 << 28);
    assert_eq!(clat["histogram"], json!([[100, 2], [1_004, 1], [minute_ns, 1]]));
    assert_eq!(clat["percentiles"], json!({"50": 100, "99.9": minute_ns}));
    assert_eq!(clat.get("min"), None);
    assert_eq!(figures["slat_ns"], json!({"n": 0}));
    assert!(record.get("write").is_none() && record.get("sync").is_none());
    assert_eq!(record["cpu"]["user_ms"], 1.5);
}

#[test]
fn a_job_has_extremes_and_rates_over_its_runtime() {
    let mut stretch = stretch();
    stretch.stats.errno = 5;
    let failure = Some(Failure::new(5, "x.rs:1", "open"));
    let end = JobEnd { stretch, has_started: true, pid: 77, failure, killed_by: Some(9) };
    let record = read(&job(&end));
    assert_eq!((&record["record"], &record["pid"], &record["signal"]), (&json!("job"), &json!(77), &json!(9)));
    assert_eq!(
        (&record["error"], &record["error_text"]),
        (&json!(5), &json!("file:x.rs:1, func=open, error=Input/output error"))
    );
    assert_eq!((&record["read"]["iops"], &record["read"]["bw_bytes"]), (&json!(8.0), &json!(32_768.0)));
    let clat = &record["read"]["clat_ns"];
    assert_eq!((&clat["min"], &clat["max"]), (&json!(100), &json!(60_000_000_000_u64)));
}

#[test]
fn responses_stand_beside_latencies_where_they_are_measured() {
    let mut stretch = stretch();
    assert_eq!(read(&interval(&stretch))["read"].get("response_ns"), None);
    let mut response = LatencyStat::new(true);
    response.record(100);
    response.record(5_000);
    stretch.stats.directions[DataDirection::Read].response = response;
    let figures = &read(&interval(&stretch))["read"]["response_ns"];
    assert_eq!((&figures["n"], &figures["sum"], &figures["mean"]), (&json!(2), &json!(5_100), &json!(2_550.0)));
    // The bucket of 5000 begins at 78 * 64 and ends at 79 * 64.
    assert_eq!(figures["percentiles"], json!({"50": 100, "99.9": 5_024}));
    assert_eq!(figures["histogram"], json!([[100, 1], [5_024, 1]]));
    assert_eq!(figures.get("min"), None);
    let end = JobEnd { stretch, has_started: true, pid: 77, failure: None, killed_by: None };
    let whole = &read(&job(&end))["read"]["response_ns"];
    assert_eq!((&whole["min"], &whole["max"], &whole["n"]), (&json!(100), &json!(5_000), &json!(2)));
}

#[test]
fn the_frame() {
    let provenance = Provenance { ferrio_version: "1".to_owned(), memory_bytes: 7, ..Provenance::default() };
    let global_options = [("direct".to_owned(), "1".to_owned())];
    let first = FirstLine { provenance: &provenance, fio_version: "fio-3", global_options: &global_options };
    let record = read(&run(first, 5, 1_000.0));
    assert_eq!(record["global_options"], json!([["direct", "1"]]));
    assert_eq!((&record["record"], &record["format"], &record["version"]), (&json!("run"), &json!(1), &json!("1")));
    assert_eq!((&record["provenance"]["memory_bytes"], &record["jobs"]), (&json!(7), &json!([])));
    assert_eq!(record["provenance"].get("jobs"), None);
    let record = read(&message(MessageStream::Error, "\ntwo\nlines\n", 6));
    assert_eq!(record, json!({"record": "message", "epoch_ms": 6, "stream": "error", "text": "two\nlines"}));
    let record = read(&end(129, Some(2), 1.5, 7));
    assert_eq!(record, json!({"record": "end", "epoch_ms": 7, "exit": 129, "signal": 2, "elapsed_ms": 1.5}));
}
