//! Fleets of many hosts and of hosts that fail, with workers here.
//!
//! Start reading at [`percentiles_of_64_hosts_are_those_of_all_samples`].

use crate::fleets::{document, fleet, scratch};
use crate::support::{Program, Run};
use serde_json::Value;

/// Each host has a device of its own. One process with all devices draws the same samples.
#[test]
fn percentiles_of_64_hosts_are_those_of_all_samples() {
    let scratch = scratch("fleet-64");
    let device = "ioengine=sim\nsim_time=virtual\nsim_seed=7\nrw=randread\nsize=64m\nnumber_ios=1000\n";
    scratch.write("fleet.fio", format!("[global]\n{device}[s]\nsim_service=exponential:1$rank0us\n"));
    let jobs: String = (0..64).map(|rank| format!("[s{rank}]\nsim_service=exponential:1{rank}0us\n")).collect();
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
