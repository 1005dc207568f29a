//! Findings about the course of a run, on simulated devices, each beside a control that differs in one thing.
//!
//! Start reading at [`findings_of`].

use crate::support::{Program, Run, Scratch, succeeds_once};
use serde_json::Value;

/// Names of the rules with findings about a run of a slow simulated device, of which the machine's own speed is no part.
fn findings_of(arguments: &str) -> Vec<String> {
    let scratch = Scratch::new("findings-course");
    let job = "--name=s --ioengine=sim --sim_time=virtual --rw=randread --size=1g --time_based";
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

/// Pauses of a device, and what they cost: a quarter, two fifths, a tenth of the time; and a quarter of the I/Os of a rate.
#[test]
fn stalls_are_told() {
    let device = "--sim_service=fixed:1ms --runtime=4 --sim_stall";
    for stall in [
        "1s/700ms",
        "1s/250ms",
        "100ms/40ms",
        "2s/280ms",
        "1s/250ms --rate_iops=200",
        "1s/250ms --rate_iops=200 --iodepth=64",
    ] {
        assert!(succeeds_once(|| has(&findings_of(&format!("{device}={stall}")), "stalls")), "{stall}");
    }
    // The controls: pauses of a fiftieth of the time, and none.
    for stall in ["1s/20ms", "1s/0ms --rate_iops=200"] {
        assert!(succeeds_once(|| !has(&findings_of(&format!("{device}={stall}")), "stalls")), "{stall}");
    }
}

/// A neighbour on the same simulated device would be why the rate fell; here each job has a device of its own, and only their times count.
#[test]
fn a_fall_when_another_job_begins_names_no_burst() {
    let burst = "--sim_service=fixed:1ms --sim_burst=iops:100/500/600 --runtime=5";
    let beside = |delay: &str| {
        let other = "--name=b --ioengine=sim --sim_time=virtual --sim_service=fixed:1ms --rw=randread --size=1g --time_based --runtime=3";
        findings_of(&format!("{burst} {other} --startdelay={delay}"))
    };
    assert!(succeeds_once(|| {
        let found = beside("1500ms");
        has(&found, "rate-changed-with-another-job") && !has(&found, "rate-fell")
    }));
}

/// A minute on virtual time has the figures of arithmetic; a job on real time beside it could not keep step.
#[test]
fn all_jobs_of_a_run_are_on_virtual_time_or_none() {
    let scratch = Scratch::new("virtual");
    let job = "--name=s --ioengine=sim --sim_time=virtual --sim_service=fixed:1ms --rw=randread --size=1g --time_based --runtime=60 --numjobs=2";
    let finished = Run::new(Program::Ferrio, scratch.path(), &format!("run --json {job}")).finish().succeeded();
    let document: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    let rows = document["jobs"].as_array().expect("jobs");
    let figures = |name: &str| rows.iter().map(|row| row[name].as_u64().unwrap_or_default()).collect::<Vec<_>>();
    assert_eq!(
        (figures("n_ios").iter().sum::<u64>(), figures("p50_ns")[0] / 10_000),
        (120_000, 100),
        "{}",
        finished.stdout
    );
    for beside in ["--name=b --ioengine=sim --size=1m", "--name=b --ioengine=null --size=1m"] {
        let refused = Run::new(Program::Ferrio, scratch.path(), &format!("run {job} {beside}")).finish();
        assert_eq!(refused.code, Some(2), "{}", refused.all());
        assert!(refused.stderr.contains("b: other jobs of the run are on virtual time"), "{}", refused.all());
    }
}
