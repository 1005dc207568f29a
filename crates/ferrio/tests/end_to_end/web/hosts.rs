//! Pages that follow a fleet: its jobs on all hosts together, each host, and hosts that are lost.

use super::{Follower, Served};
use crate::fleets::worker;
use crate::support::send;
use rustix::process::Signal;

/// Two jobs on three hosts, one of which is killed. The run goes on until it is told to end.
#[test]
fn a_page_follows_the_hosts_of_a_fleet_to_the_report() {
    let jobs = "--on-lost-host=continue --web-token=secret-123 --ioengine=null --size=1t --rate_iops=500 --time_based --runtime=600 \
                --name=first --numjobs=2 --name=second";
    let mut served = Served::of_fleet("fleet-web", "a,b,c", jobs);
    let mut follower = Follower::new(&served, "page&token=secret-123");
    let now = follower.wait_for("now", |now| {
        let runs = |rank: usize| now["hosts"]["each"][rank][0] == "runs" && now["hosts"]["each"][rank][1] != 0.0;
        (0..3).all(runs) && now["hosts"]["slowest"].is_object() && now["n_running"] == 9
    });
    let course = Follower::new(&served, "page&token=secret-123").wait_for("course", |_| true);
    assert_eq!((&course["jobs"][0]["name"], &course["jobs"][0]["n_clones"]), (&"first".into(), &6.into()), "{course}");
    assert_eq!(course["hosts"], serde_json::json!(["a", "b", "c"]));
    assert!(now["jobs"][1]["state"] == "runs" && now["left_secs"].as_u64().is_some_and(|left| left > 500), "{now}");
    let pid = worker(&mut served.run, &served.scratch, "c");
    send(pid, Signal::KILL);
    let now = follower.wait_for("now", |now| now["hosts"]["lost"] == serde_json::json!(["c"]));
    assert_eq!((&now["hosts"]["each"][2][0], &now["n_running"]), (&"lost".into(), &6.into()), "{now}");
    let told = now["messages"].to_string();
    assert!(told.contains("host c is lost"), "{now}");
    let metrics = served.ask("/metrics?token=secret-123", "Host: localhost\r\n").content;
    assert!(metrics.contains("ferrio_host_lost{host=\"c\",rank=\"2\"} 1"), "{metrics}");
    assert!(metrics.contains("ferrio_host_ios_per_second{host=\"a\",rank=\"0\"} "), "{metrics}");
    send(served.pid(), Signal::INT);
    assert_eq!(follower.wait_for("end", |_| true)["has_reports"], true);
    let result = served.ask("/result.json?token=secret-123", "Host: localhost\r\n").json();
    let hosts = result["hosts"].as_array().expect("hosts");
    assert!(hosts.len() == 3 && hosts[2]["lost"].is_string() && hosts[0]["lost"].is_null(), "{result}");
    assert!(!result.to_string().contains("secret-123"), "{result}");
    let (finished, _scratch) = served.finish();
    assert!(finished.stdout.contains("first") && !finished.stdout.contains("secret-123"), "{}", finished.all());
}
