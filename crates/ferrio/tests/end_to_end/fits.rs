//! `ferrio fit`: recipes, verdicts, and what is left behind.
//!
//! Start reading at [`verdicts_are_those_of_the_device`].

use crate::support::{Finished, Program, Run, Scratch, send};
use rustix::process::Signal;
use serde_json::Value;

fn run(scratch: &Scratch, arguments: &str) -> Finished {
    let run = Run::new(Program::Ferrio, scratch.path(), arguments);
    run.env("XDG_CONFIG_HOME", &scratch.join("config").display().to_string()).finish()
}

/// A recipe whose load is a simulated device that takes 1 ms for a read, with a limit.
fn recipe(limit: &str) -> String {
    format!(
        r#"
name = "own"
title = "A recipe"
about = "It reads."
[[load]]
name = "reads"
about = "100 reads a second."
seconds = 4
jobs = """
[r]
ioengine=sim
sim_service=fixed:1ms
rw=randread
size=64m
rate_iops=100
"""
scale = ["rate_iops"]
[[limit]]
load = "reads"
job = "r"
{limit}
means = "Users wait."
source = {{ title = "Book", url = "https://example.org", year = 2026, says = "So." }}
"#
    )
}

#[test]
fn all_recipes_are_listed_and_told() {
    let scratch = Scratch::new("fit");
    let list = run(&scratch, "fit").succeeded().stdout;
    let names: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    for name in ["etcd", "postgresql", "mysql", "kafka", "sqlite", "video-8k"] {
        assert!(names.contains(&name), "{list}");
    }
    let told = run(&scratch, "fit etcd").succeeded().stdout;
    assert!(
        told.contains("Limit: sync.p99 of wal") && told.contains("Source: ") && told.contains("https://"),
        "{told}"
    );
    let document: Value = serde_json::from_str(&run(&scratch, "fit --json").succeeded().stdout).expect("JSON");
    for recipe in document["recipes"].as_array().expect("recipes") {
        // Jobs of each recipe are jobs, here and for fio.
        for load in recipe["load"].as_array().expect("loads") {
            scratch.write("load.fio", load["jobs"].as_str().expect("jobs"));
            let parsed = run(&scratch, "load.fio --parse-only --directory=. --runtime=1");
            assert_eq!((parsed.code, &*parsed.stderr), (Some(0), ""), "{}: {}", recipe["name"], parsed.all());
        }
    }
}

#[test]
fn verdicts_are_those_of_the_device() {
    let scratch = Scratch::new("fit");
    let judged = |limit: &str| {
        scratch.write("own.toml", recipe(limit));
        run(&scratch, "fit ./own.toml . --json")
    };
    let verdict = |finished: &Finished| {
        let document: Value = serde_json::from_str(&finished.stdout).unwrap_or_else(|_| panic!("{}", finished.all()));
        document["outcome"]["verdict"].as_str().map(str::to_owned)
    };
    let fits = judged("figure = \"read.p50\"\nmost = \"500ms\"");
    assert_eq!((fits.code, verdict(&fits).as_deref()), (Some(0), Some("fits")), "{}", fits.all());
    // The device never takes less than 1 ms.
    let slow = judged("figure = \"read.p50\"\nmost = \"400us\"");
    assert_eq!((slow.code, verdict(&slow).as_deref()), (Some(1), Some("does_not_fit")), "{}", slow.all());
    let slow = judged("figure = \"read.iops\"\nleast = \"300\"");
    assert_eq!((slow.code, verdict(&slow).as_deref()), (Some(1), Some("does_not_fit")), "{}", slow.all());
    // The load has no writes.
    let unknown = judged("figure = \"write.p50\"\nmost = \"1s\"");
    assert_eq!((unknown.code, verdict(&unknown).as_deref()), (Some(3), Some("cant_tell")), "{}", unknown.all());
    assert_eq!(scratch.names(), ["own.toml"]);
}

#[test]
fn own_recipes_go_before_those_of_the_program() {
    let scratch = Scratch::new("fit");
    std::fs::create_dir_all(scratch.join("config/ferrio/fit")).expect("made");
    scratch.write(
        "config/ferrio/fit/etcd.toml",
        recipe("figure = \"read.p99\"\nmost = \"1s\"").replace("\"own\"", "\"etcd\""),
    );
    let told = run(&scratch, "fit etcd").succeeded().stdout;
    assert!(told.starts_with("A recipe\n"), "{told}");
    scratch.write("config/ferrio/fit/bad.toml", "name = 7\n");
    assert!(run(&scratch, "fit").succeeded().stdout.contains("bad.toml: it is no recipe"));
    for (arguments, reason) in [
        ("fit bad", "it is no recipe"),
        ("fit etdc", "did you mean etcd?"),
        ("fit ./none.toml .", "No such file"),
        ("fit etcd none", "No such file"),
        ("fit --headroom", "PATH"),
    ] {
        let refused = run(&scratch, arguments);
        assert!(refused.code == Some(2) && refused.stderr.contains(reason), "{arguments}: {}", refused.all());
    }
}

#[test]
fn headroom_is_where_a_limit_breaks() {
    let scratch = Scratch::new("fit");
    let limit = "figure = \"read.iops\"\nleast = \"95\"";
    scratch.write("own.toml", recipe(limit));
    let text = run(&scratch, "fit ./own.toml . --headroom").succeeded().stdout;
    // A larger load only raises the rate.
    assert!(text.contains("Headroom of reads: at least 32 times this load."), "{text}");
}

#[test]
fn a_signal_ends_it_and_nothing_stays() {
    let scratch = Scratch::new("fit");
    scratch.write("own.toml", recipe("figure = \"read.p50\"\nmost = \"1s\"").replace("seconds = 4", "seconds = 4000"));
    let mut running = Run::new(Program::Ferrio, scratch.path(), "fit ./own.toml .").start();
    running.wait_until("its directory is there", |running| scratch.names().len() > 1 && !running.jobs().is_empty());
    send(running.pid(), Signal::INT);
    let ended = running.finish();
    assert_eq!(ended.code, Some(130), "{}", ended.all());
    assert_eq!(scratch.names(), ["own.toml"]);
}
