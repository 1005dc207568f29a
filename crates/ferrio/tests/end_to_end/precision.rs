//! Intervals of the figures of a run: where they show, and when there are none.
//!
//! Start reading at [`a_run_says_how_exact_it_is`].

use crate::support::{Program, Run, Scratch};
use serde_json::Value;

const JOB: &str = "--name=s --ioengine=sim --sim_time=virtual --sim_service=exponential:300us --rw=randread --size=64m";

fn document(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_run_says_how_exact_it_is() {
    let scratch = Scratch::new("precision");
    let run = |arguments: &str| Run::new(Program::Ferrio, scratch.path(), arguments).finish().succeeded().stdout;
    let document = document(&run(&format!("run --json {JOB} --time_based --runtime=4")));
    let job = &document["jobs"][0];
    let precision = &job["precision"];
    assert_eq!((&precision["job"], &precision["direction"]), (&Value::from("s"), &Value::from("read")));
    let n_intervals = precision["n_intervals"].as_u64().unwrap_or(0);
    assert!((20..=40).contains(&n_intervals), "{precision}");
    // On a machine that is very busy there may be no interval; there is a reason then.
    for key in ["ios_per_sec", "bytes_per_sec", "p50_ns"] {
        let estimate = &precision[key];
        if let Some(interval) = estimate.get("interval") {
            let [low, value, high] = ["low", "value", "high"].map(|key| interval[key].as_f64().expect("a number"));
            assert!(0.0 < low && low <= value && value <= high, "{key}: {estimate}");
        } else {
            assert!(estimate["unknown"].is_string(), "{key}: {estimate}");
        }
    }
    let few = &precision["p999_ns"]["unknown"];
    assert!(job["n_ios"].as_u64() >= Some(100_000) || *few == "too_few_samples", "{precision}");
}

#[test]
fn a_short_run_has_no_intervals_and_says_so() {
    let scratch = Scratch::new("precision-short");
    let run = |arguments: &str| Run::new(Program::Ferrio, scratch.path(), arguments).finish().succeeded().stdout;
    let text = run(&format!("run {JOB} --number_ios=500"));
    assert!(!text.contains("(95 %)") && text.contains("No ± for these figures: the run is too short"), "{text}");
    // Of 500 I/Os 5 lie beyond the 99th percentile.
    assert!(text.lines().any(|line| line.starts_with("s ") && line.matches("s*").count() == 2), "{text}");
}

#[test]
fn the_drop_in_has_them_only_with_records_of_intervals() {
    let scratch = Scratch::new("precision-drop-in");
    let run = |arguments: &str| Run::new(Program::Ferrio, scratch.path(), arguments).finish().succeeded().stdout;
    let job = format!("{JOB} --number_ios=500 --eta=never");
    let plain = document(&run(&format!("{job} --output-format=json")));
    assert!(plain["ferrio"].get("precision").is_none(), "{}", plain["ferrio"]);
    let both = run(&format!("{job} --output-format=json,jsonl"));
    let start = both.find("\n{\n").or_else(|| both.starts_with("{\n").then_some(0)).expect("a document");
    let end = both.rfind("\n}").expect("its end");
    let with = document(&both[start..end + 2]);
    assert_eq!(
        with["ferrio"]["precision"][0]["ios_per_sec"]["unknown"], "too_few_intervals",
        "{}",
        with["ferrio"]["precision"]
    );
}
