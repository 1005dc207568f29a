//! Job files that `ferrio check` judges before they run: wrong ones, each with the words that name its fault, and right ones, of which it says nothing.
//!
//! Start reading at `plans/wrong.txt` and `plans/right.txt`. A job that cannot start, as `check` says, does not start in `ferrio run` either.

use crate::support::{Program, Run, Scratch};
use std::path::Path;

const WRONG: &str = include_str!("plans/wrong.txt");
const RIGHT: &str = include_str!("plans/right.txt");

/// A job file, the line before it, and what that says.
struct Plan {
    jobs: String,
    /// `check` ends with exit code 1, and so does the run.
    cannot_start: bool,
    /// A switch beside the file.
    switch: &'static str,
    words: Vec<&'static str>,
}

/// Plans begin with lines `--- [!] [--switch |] WORDS | WORDS`; `!` means that the job cannot start.
fn plans(text: &'static str) -> Vec<Plan> {
    let aio_max = std::fs::read_to_string("/proc/sys/fs/aio-max-nr").unwrap_or_default();
    let deeper = aio_max.trim().parse::<u64>().unwrap_or(0) + 1;
    let plan = |part: &'static str| {
        let (head, jobs) = part.split_once('\n').unwrap_or((part, ""));
        let mut words: Vec<&str> = head.split('|').map(str::trim).filter(|words| !words.is_empty()).collect();
        let cannot_start = words.first().is_some_and(|first| first.starts_with('!'));
        if let Some(first) = words.first_mut() {
            *first = first.trim_start_matches('!').trim();
        }
        let has_switch = words.first().is_some_and(|first| first.starts_with("--"));
        let switch = if has_switch { words.remove(0) } else { "" };
        Plan { jobs: jobs.replace("AIO_MAX", &deeper.to_string()), cannot_start, switch, words }
    };
    text.split("--- ").filter(|part| !part.trim().is_empty()).map(plan).collect()
}

/// The files that the plans name.
fn make_files(directory: &Path) {
    std::fs::write(directory.join("f"), vec![0x5a; 1 << 20]).expect("a file");
    std::fs::create_dir_all(directory.join("empty")).expect("a directory");
    std::fs::write(directory.join("good.log"), "fio version 2 iolog\nf add\nf open\nf read 0 4096\nf close\n")
        .expect("a trace");
    std::fs::write(directory.join("bad.log"), "fio version 2 iolog\nf add\nf jump 0 4096\n").expect("a trace");
}

fn checked(directory: &Path, plan: &Plan) -> (String, Option<i32>) {
    std::fs::write(directory.join("plan.fio"), &plan.jobs).expect("a job file");
    let finished = Run::new(Program::Ferrio, directory, &format!("check {} plan.fio", plan.switch)).finish();
    let text = format!("{}{}", finished.stdout, finished.stderr);
    (text.split_whitespace().collect::<Vec<_>>().join(" "), finished.code)
}

#[test]
fn each_wrong_plan_is_told_with_its_fault() {
    let scratch = Scratch::new("plans-wrong");
    make_files(scratch.path());
    let plans = plans(WRONG);
    assert!(plans.len() >= 32, "{}", plans.len());
    for plan in &plans {
        let (text, code) = checked(scratch.path(), plan);
        for words in &plan.words {
            assert!(text.contains(words), "{words} is not said of\n{}\n{text}", plan.jobs);
        }
        assert_eq!(plan.cannot_start, code == Some(1), "{code:?}\n{}\n{text}", plan.jobs);
        assert!(!text.contains("Nothing found before the run"), "{}", plan.jobs);
    }
}

#[test]
fn what_cannot_start_does_not_start() {
    let scratch = Scratch::new("plans-started");
    for plan in plans(WRONG).iter().filter(|plan| plan.cannot_start) {
        make_files(scratch.path());
        std::fs::write(scratch.path().join("plan.fio"), &plan.jobs).expect("a job file");
        let _ = std::fs::remove_file(scratch.path().join("missing"));
        let finished = Run::new(Program::Ferrio, scratch.path(), &format!("run {} plan.fio", plan.switch)).finish();
        assert!(matches!(finished.code, Some(1 | 2)), "{}\n{}{}", plan.jobs, finished.stdout, finished.stderr);
    }
}

#[test]
fn nothing_is_said_of_right_plans() {
    let scratch = Scratch::new("plans-right");
    make_files(scratch.path());
    let plans = plans(RIGHT);
    assert!(plans.len() >= 30, "{}", plans.len());
    for plan in &plans {
        let (text, code) = checked(scratch.path(), plan);
        assert_eq!(code, Some(0), "{}\n{text}", plan.jobs);
        for word in ["WRONG", "MISLEADING", "Without effect", "NOTE"] {
            assert!(!text.contains(word), "{}\n{text}", plan.jobs);
        }
    }
}
