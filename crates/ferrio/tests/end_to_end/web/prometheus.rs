//! A real Prometheus reads the metrics of a run, and its checker accepts them (Debian's package prometheus).

use super::{Answer, Served};
use crate::support::{has_programs, send};
use rustix::process::Signal;
use serde_json::Value;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Nothing takes so long.
const LIMIT: Duration = Duration::from_secs(60);
const JOB: &str = "--ioengine=null --size=1t --bs=4k --rate_iops=1000 --time_based --runtime=60 --name=a\"b\\c --rw=randrw \
                   --name=second --numjobs=2 --thread";

#[test]
fn promtool_accepts_the_metrics() {
    if !has_programs("promtool_accepts_the_metrics", &["promtool"]) {
        return;
    }
    let served = Served::start("web-promtool", JOB);
    let mut text = String::new();
    while !text.contains("_bucket{job=\"second\",direction=\"read\",le=\"+Inf\"} ") {
        text = served.get("/metrics").content;
    }
    let mut command = Command::new("promtool");
    let checker =
        command.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut checker = checker.spawn().expect("promtool starts");
    checker.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("promtool reads");
    let output = checker.wait_with_output().expect("promtool ends");
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success() && said.is_empty(), "{said}\n{text}");
    send(served.pid(), Signal::INT);
    assert_eq!(served.finish().0.code, Some(128));
}

/// A server that is ended with its test.
struct Prometheus {
    server: Child,
    port: u16,
}

impl Prometheus {
    /// Starts a server that reads a run each second.
    fn start(served: &Served) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = free.local_addr().expect("an address").port();
        drop(free);
        let settings = format!(
            "global:\n  scrape_interval: 1s\nscrape_configs:\n  - job_name: ferrio\n    honor_labels: true\n    static_configs:\n      - targets: ['127.0.0.1:{}']\n",
            served.port
        );
        served.scratch.write("prometheus.yml", settings);
        let mut command = Command::new("prometheus");
        command.arg(format!("--config.file={}", served.scratch.join("prometheus.yml").display()));
        command.arg(format!("--storage.tsdb.path={}", served.scratch.join("prometheus").display()));
        command.arg(format!("--web.listen-address=127.0.0.1:{port}"));
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Self { server: child.expect("prometheus starts"), port }
    }

    /// The values of an expression with their labels; none where the server is not ready.
    fn query(&self, expression: &str) -> Vec<(Value, f64)> {
        let Ok(mut socket) = TcpStream::connect(("127.0.0.1", self.port)) else { return Vec::new() };
        // Answers to this version of the protocol are in one piece.
        let request = format!("GET /api/v1/query?query={expression} HTTP/1.0\r\nHost: localhost\r\n\r\n");
        socket.write_all(request.as_bytes()).expect("it is sent");
        let answer = Answer::read(socket);
        if answer.status != 200 {
            return Vec::new();
        }
        let results = answer.json()["data"]["result"].take();
        let value = |one: &Value| Some((one["metric"].clone(), one["value"][1].as_str()?.parse().ok()?));
        results.as_array().into_iter().flatten().filter_map(value).collect()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
fn prometheus_reads_the_metrics_of_a_run() {
    if !has_programs("prometheus_reads_the_metrics_of_a_run", &["prometheus"]) {
        return;
    }
    let served = Served::start("web-prometheus", JOB);
    let prometheus = Prometheus::start(&served);
    let begun = Instant::now();
    let ios = loop {
        let ios = prometheus.query("ferrio_ios_total");
        if ios.len() == 3 && ios.iter().all(|(_, value)| *value > 0.0) {
            break ios;
        }
        assert!(begun.elapsed() < LIMIT, "{ios:?}");
        std::thread::sleep(Duration::from_millis(50));
    };
    let mut names: Vec<String> =
        ios.iter().map(|(labels, _)| format!("{} {}", labels["job"], labels["direction"])).collect();
    names.sort();
    assert_eq!(names, [r#""a\"b\\c" "read""#, r#""a\"b\\c" "write""#, r#""second" "read""#]);
    // Both are of one look at the run.
    for expression in ["ferrio_ios_total-ferrio_latency_seconds_count", "ferrio_bytes_total-4096*ferrio_ios_total"] {
        let differences = prometheus.query(expression);
        assert!(
            differences.len() == 3 && differences.iter().all(|(_, value)| *value == 0.0),
            "{expression} {differences:?}"
        );
    }
    let p99 = prometheus.query("histogram_quantile(0.99,ferrio_latency_seconds_bucket)");
    assert!(p99.len() == 3 && p99.iter().all(|(_, value)| *value > 0.0 && *value < 1.0), "{p99:?}");
    drop(prometheus);
    send(served.pid(), Signal::INT);
    assert_eq!(served.finish().0.code, Some(128));
}
