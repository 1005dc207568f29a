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
pub(crate) fn recipe(limit: &str) -> String {
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
sim_time=virtual
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
    // A job that the load does not have is told before any run.
    scratch.write("own.toml", recipe("figure = \"read.p50\"\nmost = \"1s\"").replace("job = \"r\"", "job = \"log\""));
    let refused = run(&scratch, "fit ./own.toml . --json");
    let reason = "load reads: the limit of read.p50 is about a job that it does not have, log; there are r";
    assert!(refused.code == Some(2) && refused.stderr.contains(reason), "{}", refused.all());
    assert_eq!(scratch.names(), ["own.toml"]);
}

/// The device needs 14 ms for a sync and never less, so that 100 writes a second are at most 71: the limit of 20 s holds, and the load is not carried. On a busy machine
/// it may be the CPU, so that nobody can tell.
#[test]
fn a_load_that_is_not_carried_does_not_fit() {
    let scratch = Scratch::new("fit");
    let text = recipe("figure = \"sync.p99\"\nmost = \"20s\"").replace("rw=randread", "rw=write\nfdatasync=1");
    scratch.write("own.toml", text.replace("fixed:1ms", "fixed:1us,sync=fixed:14ms"));
    let judged = run(&scratch, "fit ./own.toml . --json -o page.html");
    let document: Value = serde_json::from_str(&judged.stdout).unwrap_or_else(|_| panic!("{}", judged.all()));
    let (load, verdict) = (&document["outcome"]["loads"][0], &document["outcome"]["verdict"]);
    let missed = &load["missed"];
    let expected = if missed["limited_by"] == "cpu" { (3, "cant_tell") } else { (1, "does_not_fit") };
    assert_eq!((judged.code, verdict.as_str()), (Some(expected.0), Some(expected.1)), "{document:#}");
    assert!(missed["job"] == "r" && missed["n_missed"] == load["n_runs"], "{document:#}");
    assert!(missed["wanted_per_sec"] == 100.0 && missed["least_per_sec"].as_f64() < Some(72.5), "{document:#}");
    let check = &load["checks"][0];
    assert!(check["verdict"] == "cant_tell" && check["contradicted_by"] == "rate-not-reached", "{document:#}");
    let page = scratch.read("page.html");
    assert!(page.contains("<p>Load reads: ") && page.contains(" of 100 I/Os a second)"), "{page}");
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
        ("fit etcd none", "/none: no directory can be made in it: No such file"),
        ("fit --headroom", "PATH"),
        ("fit etcd -o page.html", "PATH"),
        ("fit etcd . -o", "a value is required"),
        // Before any run.
        ("fit etcd . -o none/page.html", "the page cannot be written"),
        ("fit etcd . -o config/ferrio/fit/etcd.toml", "which is read"),
    ] {
        let refused = run(&scratch, arguments);
        assert!(refused.code == Some(2) && refused.stderr.contains(reason), "{arguments}: {}", refused.all());
        assert_eq!(scratch.names(), ["config"], "{arguments}");
    }
}

/// A second limit of the same load, which the simulated device breaks by so much that no other load on the machine hides it.
pub(crate) const BROKEN_LIMIT: &str = r#"
[[limit]]
load = "reads"
job = "r"
figure = "read.p50"
most = "10us"
means = "<b>Users</b> wait too long."
source = { title = "Agreement <1>", url = "https://example.org/?a&b", year = 2026, says = "Fast & sure." }
[[trace]]
program = "log 1.2"
load = "reads"
how = "By strace."
figure = [{ name = "reads a second", traced = 97.5, recipe = 100.0 }]
difference = [{ text = "The program rests at night." }]
"#;

#[test]
fn a_page_shows_verdict_limits_load_and_traces() {
    let scratch = Scratch::new("fit");
    scratch.write("own.toml", recipe("figure = \"read.iops\"\nleast = \"50\"") + BROKEN_LIMIT);
    let judged = run(&scratch, "fit ./own.toml . -o page.html");
    assert_eq!(judged.code, Some(1), "{}", judged.all());
    assert_eq!(scratch.names(), ["own.toml", "page.html"]);
    let page = scratch.read("page.html");
    let headline = format!("DOES NOT FIT: {} is not good enough for own.", scratch.path().display());
    // The terminal breaks long lines.
    assert!(judged.stdout.contains("DOES NOT FIT: "), "{}", judged.all());
    for part in [
        &*format!("<h1>{headline}</h1>"),
        " runs, 0 bytes written.",
        "read.iops of r (load reads)",
        "at least 50/s ▸",
        "read.p50 of r (load reads)",
        "◂ at most 10.0 us",
        "times worse than the limit",
        "&lt;b&gt;Users&lt;/b&gt; wait too long.",
        "<a href=\"https://example.org/?a&amp;b\">Agreement &lt;1&gt;</a>, 2026",
        "Fast &amp; sure.",
        "sim_service=fixed:1ms",
        "<td class=\"words\">read</td>",
        "Compared with a trace of log 1.2 (load reads)",
        "97.5",
        "The program rests at night.",
        "<h2>Findings</h2>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    // Two limits, and at least four runs.
    let n_marks = page.matches("<circle class=\"told\"").count();
    assert!(n_marks >= 8 && n_marks.is_multiple_of(2), "{n_marks}: {page}");
    assert!(!page.contains("<script") && !page.contains("NaN"), "{page}");
}

#[test]
fn a_page_of_a_recipe_without_limits_has_its_figures() {
    let scratch = Scratch::new("fit");
    let whole = recipe("");
    let without = whole.split("[[limit]]").next().unwrap_or_default();
    scratch.write("own.toml", without);
    let judged = run(&scratch, "fit ./own.toml . --json --output page.html");
    assert_eq!(judged.code, Some(3), "{}", judged.all());
    let page = scratch.read("page.html");
    assert!(page.contains("<h1>NO VERDICT: ") && !page.contains("<h2>Limits</h2>"), "{page}");
    assert!(page.contains("<td class=\"words\">r</td>") && page.contains("rate_iops=100"), "{page}");
}

/// Of a recipe without limits it is told before the runs that there will be no verdict.
#[test]
fn a_recipe_without_limits_says_so_before_it_runs() {
    let scratch = Scratch::new("fit");
    let whole = recipe("");
    scratch.write("own.toml", whole.split("[[limit]]").next().unwrap_or_default());
    let judged = run(&scratch, "fit ./own.toml .");
    let words = judged.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let (told, answer) = (words.find("No limit is known"), words.find("NO VERDICT: "));
    assert!(told.is_some() && told < answer && judged.code == Some(3), "{}", judged.all());
    let known = run(&scratch, "fit postgresql").succeeded().stdout;
    assert!(known.contains("No limit is known"), "{known}");
}

/// The time is over after the first run, which is always made: the answer is that of one run, and says what more time would bring.
#[test]
fn a_fit_whose_time_is_over_answers() {
    let scratch = Scratch::new("fit");
    scratch.write("own.toml", recipe("figure = \"read.p50\"\nmost = \"500ms\""));
    let judged = run(&scratch, "fit ./own.toml . --time 1ms");
    assert!(
        judged.code == Some(3) && judged.stdout.contains("The time was over after 1 run: about "),
        "{}",
        judged.all()
    );
    scratch.write("own.toml", recipe("figure = \"read.p50\"\nmost = \"500ms\""));
    let document: Value =
        serde_json::from_str(&run(&scratch, "fit ./own.toml . --time 1ms --json").stdout).expect("JSON");
    assert!(document["outcome"]["is_out_of_time"] == true && document["outcome"]["loads"][0]["n_runs"] == 1);
    for time in ["0", "soon"] {
        let refused = run(&scratch, &format!("fit ./own.toml . --time {time}"));
        assert!(refused.code == Some(2) && refused.stderr.contains("no time such as 5m"), "{}", refused.all());
    }
}

#[test]
fn headroom_is_where_a_limit_breaks() {
    let scratch = Scratch::new("fit");
    // Far below the rate, so that a busy machine does not break it, and runs of which some had no CPU decide.
    let limit = "figure = \"read.iops\"\nleast = \"0.01\"";
    scratch.write("own.toml", recipe(limit));
    let text = run(&scratch, "fit ./own.toml . --headroom").succeeded().stdout;
    // A larger load only raises the rate.
    assert!(text.contains("Headroom of reads: at least 32 times this load."), "{text}");
}

#[test]
fn a_signal_ends_it_and_nothing_stays() {
    let scratch = Scratch::new("fit");
    let recipe = recipe("figure = \"read.p50\"\nmost = \"1s\"").replace("sim_time=virtual\n", "");
    scratch.write("own.toml", recipe.replace("seconds = 4", "seconds = 4000"));
    let mut running = Run::new(Program::Ferrio, scratch.path(), "fit ./own.toml . -o page.html").start();
    running.wait_until("its directory is there", |running| {
        scratch.names().iter().any(|name| name.starts_with("ferrio-fit-")) && !running.jobs().is_empty()
    });
    send(running.pid(), Signal::INT);
    let ended = running.finish();
    assert_eq!(ended.code, Some(130), "{}", ended.all());
    assert_eq!(scratch.names(), ["own.toml"]);
}
