//! Pages that follow a run, and clients and servers that hang.

use super::{Follower, HELD, Served};
use crate::support::send;
use rustix::process::Signal;
use serde_json::Value;
use std::io::Write;

/// Groups of jobs that are processes begin while the server has threads of its own kind; a page sees them wait, run and end.
#[test]
fn a_page_follows_groups_of_processes_to_the_report() {
    let jobs = "--ioengine=null --size=1t --rate_iops=1000 --time_based --runtime=1200ms --name=first --numjobs=2 --runtime=3 --name=second \
                --stonewall --name=third --stonewall";
    let served = Served::start("web-groups", jobs);
    let mut follower = Follower::new(&served, "page");
    let is = |index: usize, state: &'static str| move |now: &Value| now["jobs"][index]["state"] == state;
    follower.wait_for("now", |now| is(0, "runs")(now) && is(1, "waits")(now) && is(2, "waits")(now));
    follower.wait_for("now", |now| is(0, "ended")(now) && is(1, "runs")(now) && is(2, "waits")(now));
    let now = follower.wait_for("now", |now| is(1, "ended")(now) && is(2, "runs")(now));
    assert!(now["n_running"] == 1 && now["all"][0].as_f64().is_some_and(|iops| iops > 0.0), "{now}");
    // The counts of a job that has ended are those of its whole.
    let told = now["jobs"][0]["n_ios"].as_u64();
    // A page that comes late gets the course from its start.
    let course = Follower::new(&served, "").wait_for("course", |_| true);
    let points = course["points"]["all"].as_array().expect("points");
    assert!(!points.is_empty() && points[0][0].as_f64().is_some_and(|iops| iops > 0.0), "{course}");
    assert_eq!(follower.wait_for("end", |_| true)["has_reports"], true);
    let result = served.get("/result.json").json();
    assert_eq!(result["jobs"][0]["n_ios"].as_u64(), told);
    assert!(served.get("/").content.contains("<h1>Results of "));
    let finished = served.finish().0.succeeded();
    assert!(finished.stdout.contains("rules have looked") || finished.stdout.contains("To do:"), "{}", finished.stdout);
}

const WHOLE: &str = "--json --name=a --ioengine=null --size=1t --bs=4k --rate_iops=2000 --number_ios=3000";

/// The run has done its I/Os, and its server has ended with it.
fn is_whole(mut served: Served) {
    let pid = served.server();
    served.let_go();
    let finished = served.finish().0.succeeded();
    let document: Value = serde_json::from_str(&finished.stdout).expect("a document");
    assert_eq!((&document["jobs"][0]["n_ios"], &document["jobs"][0]["bytes"]), (&3000.into(), &(3000 * 4096).into()));
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
}

/// Clients that do not read, that do not go on, and that wait for nothing: the run ends with all its figures.
#[test]
fn clients_that_hang_cost_no_figures() {
    let served = Served::start("web-hung-client", &format!("{WHOLE} {HELD}"));
    let hung: Vec<_> = ["GET /events?page HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET / HTTP/1.1\r\nHost: lo", ""]
        .map(|text| {
            let mut socket = served.connect();
            socket.write_all(text.as_bytes()).expect("it is sent");
            socket
        })
        .into();
    is_whole(served);
    drop(hung);
}

/// A server that hangs or dies: the run ends with all its figures.
#[test]
fn a_server_that_hangs_or_dies_costs_no_figures() {
    for signal in [Signal::STOP, Signal::KILL] {
        let mut served = Served::start("web-hung-server", &format!("{WHOLE} {HELD}"));
        send(served.server(), signal);
        served.let_go();
        let finished = served.finish().0.succeeded();
        let document: Value = serde_json::from_str(&finished.stdout).expect("a document");
        assert_eq!(document["jobs"][0]["n_ios"], 3000, "{signal:?}");
    }
}

#[test]
fn a_signal_ends_the_run_and_pages_get_its_report() {
    for (signal, number) in [(Signal::INT, 2), (Signal::TERM, 15)] {
        let job = "--json --name=a --ioengine=null --size=1t --rate_iops=1000 --time_based --runtime=60";
        let mut served = Served::start("web-signal", job);
        let mut follower = Follower::new(&served, "page");
        follower.wait_for("now", |now| now["jobs"][0]["state"] == "runs");
        // The terminal sends it to all.
        send(served.server(), signal);
        send(served.pid(), signal);
        assert_eq!(follower.wait_for("end", |_| true)["has_reports"], true);
        assert_eq!(served.get("/result.json").json()["jobs"][0]["job"], "a");
        served.get("/");
        let code = served.finish().0.code;
        assert_eq!(code, Some(128), "{number}");
    }
}
