//! Findings about the course of a run, on simulated devices, each beside a control that differs in one thing.
//!
//! Start reading at [`findings_of`].

use crate::support::{Program, Run, Scratch, succeeds_once};
use serde_json::Value;

/// Names of the rules with findings about a run of a slow simulated device, of which the machine's own speed is no part.
fn findings_of(arguments: &str) -> Vec<String> {
    let scratch = Scratch::new("findings-course");
    let job = "--name=s --ioengine=sim --rw=randread --size=1g --time_based";
    let finished =
        Run::new(Program::Ferrio, scratch.path(), &format!("run --json {job} {arguments}")).finish().succeeded();
    let document: Value =
        serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("{error}: {}", finished.all()));
    let findings = document["findings"].as_array().expect("a list");
    findings.iter().map(|finding| finding["id"].as_str().expect("a name").to_owned()).collect()
}

fn has(findings: &[String], id: &str) -> bool {
    findings.iter().any(|found| found == id)
}

/// 600 credits, of which a second at the burst rate takes 400: after 1.5 s the rate falls from 500 to 100.
#[test]
fn a_burst_that_ends_is_told() {
    assert!(succeeds_once(|| {
        let burst = findings_of("--sim_service=fixed:1ms --sim_burst=iops:100/500/600 --runtime=5");
        has(&burst, "rate-fell") && !has(&burst, "rate-drifts")
    }));
    // The control: the same device with as many credits as the run takes.
    assert!(succeeds_once(|| {
        let steady = findings_of("--sim_service=fixed:1ms --sim_burst=iops:100/500/1000000 --runtime=5");
        !has(&steady, "rate-fell")
    }));
}

/// Each second the device pauses for 0.7 s.
#[test]
fn stalls_are_told() {
    assert!(succeeds_once(|| {
        has(&findings_of("--sim_service=fixed:1ms --sim_stall=1s/700ms --runtime=4"), "stalls")
    }));
    // The control: pauses that are shorter than three intervals.
    assert!(succeeds_once(|| {
        !has(&findings_of("--sim_service=fixed:1ms --sim_stall=1s/20ms --runtime=4"), "stalls")
    }));
}
