//! Cures of findings about reports that were made elsewhere: the cure of most is another run, whose report is in order.
//!
//! Start reading at [`FAULTS`].

use super::write_file;
use crate::findings::{findings_of, has, ids};
use crate::support::{Program, Run, Scratch, skip};
use serde_json::{Value, json};

/// The rules of the tests below.
pub(super) const REPORTED: &[&str] = &[
    "below-any-device",
    "disk-did-fewer-requests",
    "figures-repeated",
    "latencies-disagree",
    "figures-no-numbers",
    "latency-times-rate",
    "path-in-memory",
    "rate-times-time",
    "statistics-out-of-order",
    "steady-at-zero",
];

type Fault = (&'static str, fn(&mut Value));

/// A rule, and what makes its fault in a report of the run that its cure asks for.
const FAULTS: &[Fault] = &[
    ("below-any-device", |report| {
        for latency in ["clat_ns", "lat_ns"] {
            report["jobs"][0]["read"][latency]["mean"] = json!(604.0);
        }
    }),
    ("disk-did-fewer-requests", |report| report["disk_util"][0]["read_ios"] = json!(3)),
    ("figures-repeated", |report| {
        let jobs = report["jobs"].as_array_mut().expect("jobs");
        let mut copy = jobs[0].clone();
        copy["jobname"] = json!("b");
        jobs.push(copy);
    }),
    ("latencies-disagree", |report| {
        for (_, latency_ns) in report["jobs"][0]["read"]["clat_ns"]["percentile"].as_object_mut().expect("percentiles")
        {
            *latency_ns = json!(latency_ns.as_u64().unwrap_or_default() / 1000);
        }
    }),
    ("latency-times-rate", |report| report["jobs"][0]["read"]["lat_ns"]["mean"] = json!(1e9)),
    ("path-in-memory", |report| report["jobs"][0]["job options"]["directory"] = json!("/dev/shm")),
    ("rate-times-time", |report| {
        for rate in ["bw", "bw_bytes"] {
            let doubled = 2 * report["jobs"][0]["read"][rate].as_u64().unwrap_or_default();
            report["jobs"][0]["read"][rate] = json!(doubled);
        }
    }),
    ("statistics-out-of-order", |report| {
        report["jobs"][0]["read"]["clat_ns"]["percentile"]["99.000000"] = json!(1);
    }),
    ("steady-at-zero", |report| {
        let outcome = json!({"ss": "iops:10.000000%", "duration": 2, "attained": 1, "criterion": "1.0%", "max_deviation": 0.0, "slope": 0.0,
            "data": {"bw_mean": 0, "iops_mean": 0, "iops": [0, 0], "bw": [0, 0]}});
        report["jobs"][0]["steadystate"] = outcome;
    }),
];

/// The names of the findings about a report.
fn about(scratch: &Scratch, report: &str) -> Vec<String> {
    scratch.write("report.json", report);
    let checked = Run::new(Program::Ferrio, scratch.path(), "check --json --result=report.json").finish();
    let document: Value = serde_json::from_str(&checked.stdout).unwrap_or_else(|_| panic!("{}", checked.all()));
    ids(&document["findings"])
}

/// A report of direct reads of a file with data, as fio writes it, without the counters that fio before 3.36 did not have.
fn report_of(scratch: &Scratch) -> Value {
    let job = "--name=a --filename=f --rw=randread --bs=4k --direct=1 --ioengine=psync --time_based --runtime=1500ms";
    let arguments = format!("{job} --output-format=json");
    let finished = Run::new(Program::Ferrio, scratch.path(), &arguments).finish().succeeded();
    let mut report: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    report.as_object_mut().expect("a document").remove("ferrio");
    for disk in report["disk_util"].as_array_mut().into_iter().flatten() {
        let counters = disk.as_object_mut().expect("counters");
        counters.retain(|name, _| !name.ends_with("_sectors"));
    }
    report
}

#[test]
fn a_report_of_another_run_is_in_order() {
    let test = "a_report_of_another_run_is_in_order";
    let scratch = Scratch::new("cures-reports");
    write_file(scratch.path(), "f", 16);
    if has(&findings_of(scratch.path(), "--name=a --filename=f --rw=read --bs=1m --direct=1"), "target-in-memory") {
        return skip(test, "the directory of the tests is in memory");
    }
    let right = report_of(&scratch);
    if right["disk_util"].as_array().is_none_or(|disks| disks.len() != 1) {
        return skip(test, "no disk is known under the directory of the tests, or there are several");
    }
    let told = about(&scratch, &right.to_string());
    for (rule, fault) in FAULTS {
        let mut wrong = right.clone();
        fault(&mut wrong);
        assert!(has(&about(&scratch, &wrong.to_string()), rule) && !has(&told, rule), "{rule}: {told:?}");
    }
    // Not a number, which JSON does not have and fio writes.
    let printed = right.to_string();
    let (before, rest) = printed.split_once("\"iops_stddev\":").expect("a deviation");
    let (_, behind) = rest.split_once(',').expect("more keys");
    assert!(has(&about(&scratch, &format!("{before}\"iops_stddev\":-nan,{behind}")), "figures-no-numbers"));
    assert!(!has(&told, "figures-no-numbers"), "{told:?}");
}
