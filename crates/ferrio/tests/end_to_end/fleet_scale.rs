//! Fleets of many hosts and of hosts that fail, with workers here.
//!
//! Start reading at [`percentiles_of_64_hosts_are_those_of_all_samples`].

use crate::fleets::{document, fleet, scratch};
use crate::support::{Program, Run, send};
use rustix::process::Signal;
use serde_json::Value;

/// Each host has a device of its own. One process with all devices draws the same samples.
#[test]
fn percentiles_of_64_hosts_are_those_of_all_samples() {
    let scratch = scratch("fleet-64");
    let device = "ioengine=sim\nsim_time=virtual\nsim_seed=7\nrw=randread\nsize=64m\nnumber_ios=1000\n";
    scratch.write("fleet.fio", format!("[global]\n{device}[s]\nsim_service=exponential:1$rank0us\n"));
    let jobs: Vec<String> = (0..64).map(|rank| format!("[s{rank}]\nsim_service=exponential:1{rank}0us\n")).collect();
    let jobs = jobs.concat();
    scratch.write("one.fio", format!("[global]\n{device}group_reporting\n{jobs}"));
    let hosts: Vec<String> = (0..64).map(|rank| format!("h{rank}")).collect();
    let run = fleet(&scratch, &hosts.join(","), "--json fleet.fio").finish().succeeded();
    let all = document(&run);
    let one = Run::new(Program::Ferrio, scratch.path(), "--output-format=json+ one.fio").finish().succeeded();
    let one = &document(&one)["jobs"][0]["read"];
    let figures = &all["jobs"][0];
    assert_eq!((figures["n_ios"].as_u64(), figures["n_clones"].as_u64()), (Some(64_000), Some(64)), "{figures}");
    let latency = &one["clat_ns"];
    for (figure, of_one) in [
        ("p50_ns", &latency["percentile"]["50.000000"]),
        ("p99_ns", &latency["percentile"]["99.000000"]),
        ("p999_ns", &latency["percentile"]["99.900000"]),
        ("max_ns", &latency["max"]),
    ] {
        assert_eq!(figures[figure].as_u64(), of_one.as_u64(), "{figure}: {figures} {latency}");
    }
    let means = [&figures["mean_ns"], &latency["mean"]].map(|mean| mean.as_f64().expect("a mean"));
    assert!((means[0] - means[1]).abs() < 0.01, "{means:?}");
    let hosts: &Vec<Value> = all["hosts"].as_array().expect("hosts");
    let ranks: Vec<Option<u64>> = hosts.iter().map(|host| host["rank"].as_u64()).collect();
    assert_eq!(ranks, (0..64).map(Some).collect::<Vec<_>>());
    assert!(all["fleet"]["start_spread_ns"].is_u64(), "{}", all["fleet"]);
}

/// In the place of ssh: host b is on its way for longer than a connection may take.
const SLOW: &str = "#!/bin/sh\necho $$ > on.$1\n[ $1 != b ] || sleep $WAIT\nshift\nexec sh -c \"exec $*\"\n";

fn with_slow_host(wait: &str) -> (crate::support::Scratch, Run) {
    let scratch = scratch("fleet-slow");
    scratch.write("shell", SLOW);
    let run = fleet(&scratch, "a,b", "--name=r --ioengine=null --size=1m --rw=read --json").env("WAIT", wait);
    (scratch, run)
}

/// The host that has come first is heard while the other one is on its way.
#[test]
fn a_host_that_comes_late_takes_no_other_away() {
    let (_scratch, run) = with_slow_host("12");
    let document = document(&run.finish().succeeded());
    assert_eq!(document["hosts"].as_array().map(Vec::len), Some(2), "{document}");
}

/// A host that does not come is not waited for after Ctrl-C, nor when another one cannot come.
#[test]
fn a_launch_is_given_up() {
    let stays_away = SLOW.replace("|| sleep", "|| exec sleep");
    let (scratch, run) = with_slow_host("600");
    scratch.write("shell", &stays_away);
    let mut run = run.start();
    run.wait_until("both launches", |_| scratch.join("on.a").exists() && scratch.join("on.b").exists());
    send(run.pid(), Signal::INT);
    let ended = run.finish();
    assert!(ended.code.is_some_and(|code| code != 0) && ended.stdout.is_empty(), "{}", ended.all());
    assert!(ended.stderr.contains("stopped before the start"), "{}", ended.all());
    let (scratch, run) = with_slow_host("600");
    scratch.write("shell", stays_away.replace("shift", "[ $1 = b ] || exit 7; shift"));
    let ended = run.finish();
    assert!(ended.code == Some(2) && ended.stderr.contains("a: no ferrio answers there"), "{}", ended.all());
}
