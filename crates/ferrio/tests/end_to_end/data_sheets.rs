//! `ferrio profile`: all parts of a data sheet, from a file that is removed or from a device that is only read.
//!
//! Start reading at [`all_parts_are_measured_and_the_file_is_removed`].

use crate::support::{Finished, LoopDevice, Program, Run, Scratch, is_root, send, skip};
use rustix::process::Signal;
use serde_json::Value;

fn run(scratch: &Scratch, arguments: &str) -> Finished {
    Run::new(Program::Ferrio, scratch.path(), arguments).finish()
}

fn document(finished: &Finished) -> Value {
    serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("{error}: {}", finished.all()))
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

/// The figure of a point's first job.
fn mean(point: &Value, kind: &str, metric: &str) -> f64 {
    let figures = list(&point["figures"]);
    let found = figures.iter().find(|figure| figure["of"] == kind && figure["metric"] == metric);
    found.and_then(|figure| figure["mean"].as_f64()).unwrap_or_else(|| panic!("no {kind} {metric}: {point:#}"))
}

#[test]
fn all_parts_are_measured_and_the_file_is_removed() {
    let scratch = Scratch::new("profile");
    let finished = run(&scratch, "profile . --time=8s --size=64m -o page.html --json").succeeded();
    let document = document(&finished);
    let outcome = &document["outcome"];
    assert_eq!(outcome["bytes"], 64 << 20);
    let sections = list(&outcome["sections"]);
    let sizes: Vec<(String, usize)> = sections
        .iter()
        .map(|one| (one["id"].as_str().unwrap_or_default().to_owned(), list(&one["points"]).len()))
        .collect();
    let expected = [
        ("first-write", 1),
        ("read-alone", 1),
        ("reads", 20),
        ("reads-of-users", 10),
        ("sequential-reads", 2),
        ("reads-through-cache", 2),
        ("reads-over-time", 1),
        ("write-alone", 1),
        ("syncs", 2),
        ("mixed", 4),
        ("sequential-writes", 2),
        ("writes-through-cache", 2),
        ("writes", 20),
        ("writes-over-time", 1),
    ];
    assert_eq!(sizes, expected.map(|(id, n_points)| (id.to_owned(), n_points)));
    // Each point has moved blocks of its size.
    for (id, kind) in [("reads", "read"), ("writes", "write")] {
        let section = sections.iter().find(|one| one["id"] == id).cloned().unwrap_or_default();
        for point in list(&section["points"]) {
            let kib: f64 = match point["options"]["bs"].as_str() {
                Some("1m") => 1_024.0,
                Some(size) => size.trim_end_matches('k').parse().unwrap_or(f64::NAN),
                None => f64::NAN,
            };
            let ratio = mean(&point, kind, "bw") / mean(&point, kind, "iops") / 1_024.0;
            assert!((ratio / kib - 1.0).abs() < 1e-6, "{ratio} {point:#}");
        }
    }
    let first = list(&sections[0]["points"])[0].clone();
    assert!((mean(&first, "write", "bw") / mean(&first, "write", "iops") / 1_048_576.0 - 1.0).abs() < 1e-6);
    // A sheet has a row for each part, and those of the long runs have their beginning and end.
    let rows: Vec<String> =
        list(&outcome["sheet"]).iter().map(|row| row["what"].as_str().unwrap_or_default().to_owned()).collect();
    for what in [
        "One read at a time",
        "Writes that must last",
        "Random reads by block size and depth: most IOPS",
        "Random reads over time: second half",
        "Random reads of users who do not wait for each other: 90 % of the fastest rate",
    ] {
        assert!(rows.iter().any(|row| row == what), "{what}: {rows:?}");
    }
    assert_eq!(scratch.names(), ["page.html"]);
    let page = scratch.read("page.html");
    assert!(page.contains("Data sheet") && page.contains("Not measured") && page.contains("<svg"), "{page}");
    assert!(
        page.contains("Closed loop and open loop of reads: read") && page.contains("<td class=\"words\">95 %</td>"),
        "{page}"
    );
    assert!(!page.contains("<script"), "{page}");
}

#[test]
fn a_device_is_only_read() {
    let test = "a_device_is_only_read";
    if !is_root(test) {
        return;
    }
    let scratch = Scratch::new("profile");
    let Some(device) = LoopDevice::new(&scratch, 64 << 20) else {
        return skip(test, "no loop device can be set up");
    };
    let before = std::fs::read(device.path()).expect("its contents");
    let finished = run(&scratch, &format!("profile {} --time=5s --json", device.path())).succeeded();
    let outcome = document(&finished)["outcome"].clone();
    let sections = list(&outcome["sections"]);
    assert!(sections.len() == 6 && sections.iter().all(|one| one["is_written"] == false), "{outcome:#}");
    let first = outcome["not_measured"][0].as_str().unwrap_or_default().to_owned();
    assert!(first.starts_with("What writes to the device: first write; one write at a time; "), "{first}");
    assert!(std::fs::read(device.path()).expect("its contents") == before);
}

#[test]
fn a_signal_ends_it_and_nothing_stays() {
    let scratch = Scratch::new("profile");
    let mut running = Run::new(Program::Ferrio, scratch.path(), "profile . --time=60s --size=64m").start();
    let file = scratch.join(&format!("ferrio-profile-{}/data", running.pid()));
    running.wait_until("the file is written", |_| std::fs::metadata(&file).is_ok_and(|facts| facts.len() == 64 << 20));
    send(running.pid(), Signal::TERM);
    let ended = running.finish();
    assert_eq!(ended.code, Some(143), "{}", ended.all());
    assert_eq!(scratch.names(), Vec::<String>::new());
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let scratch = Scratch::new("profile");
    scratch.write("file", "x");
    for (arguments, reason) in [
        ("file", "neither a directory nor a block device"),
        ("none", "No such file"),
        (". --time=1s", "at least 5 s"),
        (". --size=1m", "at least 64 MiB"),
        (". --size=1000t", "64 MiB are left alone"),
        (". --quick --time=10s", "cannot be used with"),
        (". -o none/page.html", "the page cannot be written"),
    ] {
        let refused = run(&scratch, &format!("profile {arguments}"));
        assert_eq!(refused.code, Some(2), "{arguments}: {}", refused.all());
        assert!(refused.stderr.contains(reason), "{arguments}: {}", refused.all());
        assert_eq!(scratch.names(), ["file"], "{arguments}");
    }
}
