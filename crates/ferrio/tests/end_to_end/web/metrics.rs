//! `/metrics` and `/result.json` beside the result of the run.

use super::{Follower, Served};
use crate::support::send;
use rustix::process::Signal;
use serde_json::Value;
use std::collections::BTreeMap;

/// Values by name with labels.
fn values(text: &str) -> BTreeMap<String, f64> {
    assert!(text.ends_with("\n# EOF\n"), "{text}");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let value = |line: &str| {
        let (name, value) = line.rsplit_once(' ').expect("a name and a value");
        (name.to_owned(), value.parse().expect("a number"))
    };
    let values: Vec<(String, f64)> = lines.map(value).collect();
    let by_name: BTreeMap<String, f64> = values.iter().cloned().collect();
    assert_eq!(values.len(), by_name.len(), "a name is there twice: {text}");
    by_name
}

/// A count, which is a whole number.
fn count(values: &BTreeMap<String, f64>, name: &str) -> u64 {
    let value = values.get(name).unwrap_or_else(|| panic!("no {name} in {values:?}"));
    assert!(value.fract() == 0.0, "{name} {value}");
    *value as u64
}

/// The buckets of a job and direction: their bounds in seconds, and the counts, which include those of smaller bounds.
fn buckets(text: &str, labels: &str) -> Vec<(f64, u64)> {
    let begin = format!("ferrio_latency_seconds_bucket{{{labels},le=\"");
    let bucket = |line: &str| {
        let (bound, count) = line.strip_prefix(&begin)?.split_once("\"} ")?;
        let bound = if bound == "+Inf" { f64::INFINITY } else { bound.parse().expect("a bound") };
        Some((bound, count.parse().expect("a count")))
    };
    text.lines().filter_map(bucket).collect()
}

/// The figures of a row of the result are those of the metrics.
fn compare(text: &str, row: &Value) {
    let metrics = values(text);
    let (job, direction) = (row["job"].as_str().expect("a name"), row["direction"].as_str().expect("a direction"));
    let labels = format!("job=\"{job}\",direction=\"{direction}\"");
    let number = |key: &str| row[key].as_u64().unwrap_or_else(|| panic!("no {key} in {row}"));
    assert_eq!(count(&metrics, &format!("ferrio_ios_total{{{labels}}}")), number("n_ios"));
    assert_eq!(count(&metrics, &format!("ferrio_bytes_total{{{labels}}}")), number("bytes"));
    let n_errors =
        |direction: &&str| count(&metrics, &format!("ferrio_errors_total{{job=\"{job}\",direction=\"{direction}\"}}"));
    assert_eq!([direction, "sync"].iter().map(n_errors).sum::<u64>(), number("n_errors"));
    assert_eq!(count(&metrics, &format!("ferrio_latency_seconds_count{{{labels}}}")), number("n_latencies"));
    let sum_secs = metrics[&format!("ferrio_latency_seconds_sum{{{labels}}}")];
    let expected_secs = row["mean_ns"].as_f64().expect("a mean") * number("n_latencies") as f64 / 1e9;
    assert!((sum_secs - expected_secs).abs() <= 1e-6 + expected_secs * 1e-9, "{sum_secs} {expected_secs}");
    let buckets = buckets(text, &labels);
    assert_eq!((buckets.len(), buckets.last().map(|(_, count)| *count)), (28, Some(number("n_latencies"))));
    for (power, pair) in buckets.windows(2).enumerate() {
        assert!(pair[0].1 <= pair[1].1, "{buckets:?}");
        assert!((pair[0].0 * 1e6 - f64::from(1 << power)).abs() < 1e-6, "{buckets:?}");
    }
    // Half of the I/Os were no slower than the median, 99 % no slower than p99.
    for (key, share) in [("p50_ns", 0.5), ("p99_ns", 0.99)] {
        let limit_secs = number(key) as f64 / 1e9;
        let within = buckets.iter().find(|(bound, _)| *bound >= limit_secs).map(|(_, count)| *count as f64);
        let below =
            buckets.iter().rfind(|(bound, _)| *bound < limit_secs / 1.02).map_or(0.0, |(_, count)| *count as f64);
        let wanted = share * number("n_latencies") as f64;
        assert!(
            within.is_some_and(|count| count >= wanted.floor()) && below <= wanted.ceil(),
            "{key} {row} {buckets:?}"
        );
    }
}

/// Two groups of processes, the second one behind the first, and mixed directions: counts only grow, and at the end they are those of
/// the result.
#[test]
fn totals_only_grow_and_are_those_of_the_result_at_the_end() {
    let jobs = "--json --html=page.html --ioengine=null --size=1t --bs=4k --rate_iops=2000 --time_based --runtime=1500ms --name=first \
                --rw=randread --numjobs=2 --name=second --stonewall --rw=randrw --name=third --rw=trim --thread";
    let served = Served::start("web-metrics", jobs);
    let mut follower = Follower::new(&served, "page");
    let mut earlier: BTreeMap<String, f64> = BTreeMap::new();
    let mut n_grown = 0;
    loop {
        let (name, _) = follower.next_event().expect("an end");
        let text = served.get("/metrics").content;
        let now = values(&text);
        for (name, before) in earlier.iter().filter(|(name, _)| !name.starts_with("ferrio_in_flight")) {
            assert!(now[name] >= *before, "{name}: {before}, then {}", now[name]);
        }
        n_grown += u32::from(earlier.values().sum::<f64>() < now.values().sum::<f64>());
        earlier = now;
        if name == "end" {
            break;
        }
        let result = served.get("/result.json");
        assert!(result.status == 503 || result.json().get("jobs").is_some(), "{result:?}");
    }
    assert!(n_grown > 3, "{n_grown}");
    let (metrics, result, page) = (served.get("/metrics"), served.get("/result.json"), served.get("/"));
    let (finished, scratch) = served.finish();
    let document: Value = serde_json::from_str(&finished.succeeded().stdout).expect("a document");
    assert_eq!((result.status, result.json()), (200, document.clone()));
    let rows = document["jobs"].as_array().expect("rows");
    let kinds: Vec<&str> = rows.iter().filter_map(|row| row["direction"].as_str()).collect();
    assert_eq!(kinds, ["read", "read", "write", "trim"]);
    for row in rows {
        compare(&metrics.content, row);
    }
    // The report is that of --html.
    assert!((page.status, page.content.as_str()) == (200, scratch.read("page.html").as_str()), "{}", page.head);
}

/// Every fourth I/O fails, whatever its direction.
#[test]
fn errors_are_counted_by_direction() {
    let served = Served::start(
        "web-errors",
        "--json --name=a --ioengine=sim --sim_fault=eio@/4 --continue_on_error=all --rw=randrw --bs=4k --size=4m --rate_iops=1k,1k",
    );
    let mut follower = Follower::new(&served, "page");
    follower.wait_for("end", |_| true);
    let metrics = values(&served.get("/metrics").content);
    let document: Value = serde_json::from_str(&served.finish().0.succeeded().stdout).expect("a document");
    let [read, write, sync] = ["read", "write", "sync"]
        .map(|direction| count(&metrics, &format!("ferrio_errors_total{{job=\"a\",direction=\"{direction}\"}}")));
    // 1,024 I/Os, of which 256 fail.
    assert_eq!((read + write, sync, document["jobs"][0]["n_errors"].as_u64()), (256, 0, Some(256)));
    assert!(read > 64 && write > 64, "{read} {write}");
}

#[test]
fn while_a_run_goes_on_its_result_is_not_there() {
    let served = Served::start(
        "web-early",
        "--json --name=a --ioengine=null --size=1t --rate_iops=1000 --time_based --runtime=60",
    );
    let early = served.get("/result.json");
    assert!(early.status == 503 && early.head.contains("\r\nretry-after: "), "{early:?}");
    assert!(early.json()["error"].as_str().is_some_and(|text| text.contains("goes on")), "{early:?}");
    // Before its jobs run, a signal ends the program at once.
    let mut follower = Follower::new(&served, "page");
    follower.wait_for("now", |now| now["jobs"][0]["state"] == "runs");
    send(served.pid(), Signal::INT);
    follower.wait_for("end", |_| true);
    assert_eq!(served.finish().0.code, Some(128));
}

/// The form is that which a reader asks for.
#[test]
fn both_forms_of_metrics_have_the_same_values() {
    let served =
        Served::start("web-forms", "--name=a\\b --ioengine=null --size=1t --rate_iops=500 --time_based --runtime=60");
    let mut follower = Follower::new(&served, "page");
    // The run goes on until it is followed: a server that nobody follows ends with it.
    follower.wait_for("now", |now| now["all"][0].as_f64().is_some_and(|iops| iops > 0.0));
    send(served.pid(), Signal::INT);
    follower.wait_for("end", |_| true);
    let plain = served.get("/metrics");
    let open = served.ask("/metrics", "Host: localhost\r\nAccept: application/openmetrics-text;version=1.0.0\r\n");
    assert!(plain.head.contains("\r\ncontent-type: text/plain; version=0.0.4"), "{}", plain.head);
    assert!(open.head.contains("\r\ncontent-type: application/openmetrics-text; version=1.0.0"), "{}", open.head);
    assert_eq!(values(&plain.content), values(&open.content));
    assert!(open.content.contains("ferrio_ios_total{job=\"a\\\\b\",direction=\"read\"}"), "{}", open.content);
    assert!(
        open.content.contains("# TYPE ferrio_ios counter\n")
            && plain.content.contains("# TYPE ferrio_ios_total counter\n")
    );
    served.get("/");
    assert_eq!(served.finish().0.code, Some(128));
}
