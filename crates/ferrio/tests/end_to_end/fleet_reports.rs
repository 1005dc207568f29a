//! What a fleet has measured in all forms: formats of fio, jsonl, records, the history, the page.
//!
//! Start reading at [`formats_of_fio_name_the_hosts`].

use crate::fleets::{VIRTUAL, document, fleet, scratch};
use crate::support::{Program, Run, Scratch};
use serde_json::Value;
use std::fs;

/// Ten seconds of virtual time: long enough for intervals of confidence.
const TIMED: &str = "--time_based --runtime=10";

fn with_history(run: Run, scratch: &Scratch) -> Run {
    run.env("XDG_STATE_HOME", &scratch.join("state").display().to_string()).env("FERRIO_STATE", "")
}

fn ferrio(scratch: &Scratch, arguments: &str) -> Run {
    with_history(Run::new(Program::Ferrio, scratch.path(), arguments), scratch)
}

fn hostnames(document: &Value) -> Vec<&str> {
    document["jobs"].as_array().expect("jobs").iter().filter_map(|job| job["hostname"].as_str()).collect()
}

#[test]
fn formats_of_fio_name_the_hosts() {
    let scratch = scratch("fleet-fio");
    let job = format!("--name=s {VIRTUAL} --numjobs=2 --number_ios=1000");
    fleet(&scratch, "a,b", &format!("--output-format=json --output=all.json {job}")).finish().succeeded();
    let text = fs::read_to_string(scratch.join("all.json")).expect("a report");
    let all: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(hostnames(&all), ["a", "a", "b", "b"]);
    let grouped =
        fleet(&scratch, "a,b", &format!("--output-format=json+ --group_reporting {job}")).finish().succeeded();
    let grouped = document(&grouped);
    assert_eq!(grouped["jobs"].as_array().map(Vec::len), Some(1), "{grouped}");
    assert_eq!(grouped["jobs"][0]["read"]["total_ios"].as_u64(), Some(4_000), "{grouped}");
    assert_eq!(hostnames(&grouped), [""; 0], "they are of several hosts");
    let terse = fleet(&scratch, "a,b", &format!("--minimal {job}")).finish().succeeded();
    assert_eq!(terse.stdout.lines().filter(|line| line.starts_with("3;")).count(), 4, "{}", terse.stdout);
    let normal = fleet(&scratch, "a,b", &format!("--output-format=normal {job}")).finish().succeeded();
    assert_eq!(normal.stdout.matches("\n<b> s: (groupid=0, jobs=1)").count(), 2, "{}", normal.stdout);
    let both = fleet(&scratch, "a,b", &format!("--json --minimal {job}")).finish();
    assert!(both.code == Some(2) && both.stderr.contains("give one of them"), "{}", both.all());
}

/// The record has all that a report of the run had, and what each host has measured.
#[test]
fn a_record_of_hosts_is_read_again() {
    let scratch = scratch("fleet-record");
    let job = format!("--name=s {VIRTUAL} {TIMED}");
    let run = fleet(&scratch, "a,b", &format!("--output-format=json --record=r.ferrio --keep=pair {job}"));
    let run = with_history(run, &scratch).finish().succeeded();
    let again = ferrio(&scratch, "report --output-format=json r.ferrio").finish().succeeded();
    assert_eq!(document(&again), document(&run));
    let precision = &document(&run)["ferrio"]["precision"][0];
    assert!(precision["ios_per_sec"]["interval"]["low"].is_number(), "{precision}");
    let shown = ferrio(&scratch, "history show pair").finish().succeeded();
    assert!(shown.stdout.contains("\n2 hosts (a, b), started within "), "{}", shown.stdout);
    assert!(
        shown.stdout.contains("\n  a       read ") && shown.stdout.contains("\n  b       read "),
        "{}",
        shown.stdout
    );
    let compared = ferrio(&scratch, "compare r.ferrio history:pair").finish();
    assert!(compared.stdout.contains("same"), "{}", compared.all());
    let csv = ferrio(&scratch, "report --csv r.ferrio").finish().succeeded();
    let results: Vec<&str> = csv.stdout.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert_eq!(results, ["r.ferrio", "a", "b"]);
    let anonymous = ferrio(&scratch, "report --anonymous --output-format=json r.ferrio").finish().succeeded();
    assert_eq!(hostnames(&document(&anonymous)), ["host-0", "host-1"]);
}

#[test]
fn the_page_of_hosts_has_them_side_by_side() {
    let scratch = scratch("fleet-page");
    fleet(&scratch, "alpha,beta,gamma", &format!("--html=p.html --name=s {VIRTUAL} {TIMED}")).finish().succeeded();
    let page = fs::read_to_string(scratch.join("p.html")).expect("a page");
    let data = page.split("id=\"data\">").nth(1).and_then(|rest| rest.split("</script>").next()).expect("data");
    let views: Value = serde_json::from_str(data).expect("JSON");
    let charts = views[0].as_array().expect("charts");
    let heat = &charts[0]["content"]["heat"];
    assert_eq!(heat["rows"], serde_json::json!(["gamma", "beta", "alpha"]), "{heat}");
    let shades = &charts[1]["content"]["shades"]["rows"];
    let names: Vec<&str> = shades.as_array().expect("rows").iter().filter_map(|row| row[0].as_str()).collect();
    assert_eq!(names, ["all hosts", "alpha", "beta", "gamma"]);
    // Each host has a view of its own.
    assert_eq!(views.as_array().map(Vec::len), Some(4));
}

/// The intervals of a clone add up to its job, and no number is given twice.
#[test]
fn lines_have_host_and_rank() {
    let scratch = scratch("fleet-lines");
    let job = "--name=r --ioengine=null --size=1g --rw=randread --rate_iops=1000 --time_based --runtime=2 --numjobs=2";
    let run = fleet(&scratch, "a,b", &format!("--output-format=jsonl --status-interval=500ms --record=r.ferrio {job}"));
    let run = run.finish().succeeded();
    let lines: Vec<Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect();
    assert_eq!((&lines[0]["record"], &lines[0]["jobs"][0]["n_clones"]), (&"run".into(), &4.into()));
    assert_eq!(lines.last().map(|line| &line["record"]), Some(&"end".into()));
    let of = |record: &str, number: u64| -> Vec<&Value> {
        lines.iter().filter(|line| line["record"] == record && line["job_number"] == number).collect()
    };
    for (number, host, rank) in [(1, "a", 0), (2, "a", 0), (3, "b", 1), (4, "b", 1)] {
        let [end] = of("job", number)[..] else { panic!("{number}: {}", run.stdout) };
        let intervals = of("interval", number);
        let is_its = |line: &&&Value| line["host"] == host && line["rank"] == rank;
        assert!(intervals.len() >= 2 && intervals.iter().chain(&[end]).all(|line| is_its(&line)), "{}", run.stdout);
        let told: u64 = intervals.iter().filter_map(|line| line["read"]["ios"].as_u64()).sum();
        assert_eq!(Some(told), end["read"]["ios"].as_u64(), "{number}");
    }
    scratch.write("run.jsonl", &run.stdout);
    let csv = ferrio(&scratch, "report --csv run.jsonl").finish().succeeded();
    assert!(csv.stdout.contains("run.jsonl,r on b (2),"), "{}", csv.stdout);
    let again = ferrio(&scratch, "report --output-format=jsonl r.ferrio").finish().succeeded();
    // The first line has facts of one of the hosts.
    let told = |text: &str| -> Vec<String> {
        let lines = text.lines().skip(1).filter(|line| !line.starts_with("{\"record\":\"audit\""));
        lines.map(str::to_owned).collect()
    };
    assert!(told(&again.stdout) == told(&run.stdout), "{}", again.stdout.len());
}
