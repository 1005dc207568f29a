//! `ferrio compare`: results of ferrio and fio.
//!
//! Start reading at [`the_course_of_two_runs_is_compared`].

use crate::support::{Finished, Program, Run, Scratch};

fn run(scratch: &Scratch, arguments: &str) -> Finished {
    Run::new(Program::Ferrio, scratch.path(), arguments).finish()
}

/// The columns of the row of a figure.
fn row<'a>(text: &'a str, metric: &str) -> Vec<&'a str> {
    let mut lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines.find(|words| words.iter().take(2).any(|word| *word == metric)).unwrap_or_default()
}

/// A log of rates: one window of 500 ms a row, with a simple pattern of +-1 %.
fn log(scratch: &Scratch, name: &str, level: u32) {
    let rows: Vec<String> =
        (1..=80).map(|row: u32| format!("{}, {}, 0, 0, 0", row * 500, level + level / 100 * (row * row % 3))).collect();
    scratch.write(name, rows.join("\n") + "\n");
}

#[test]
fn the_course_of_two_runs_is_compared() {
    let scratch = Scratch::new("compare");
    log(&scratch, "a_iops.1.log", 10_000);
    log(&scratch, "b_iops.1.log", 9_000);
    let finished = run(&scratch, "compare a_iops.1.log b_iops.1.log").succeeded();
    let row = row(&finished.stdout, "iops");
    assert!(row.contains(&"slower") && row.contains(&"-10.0"), "{}", finished.all());
}

#[test]
fn bad_inputs_are_errors() {
    let scratch = Scratch::new("compare");
    scratch.write("half.json", "{\"fio version\": \"fio-3.41\", \"jobs\": [ {");
    log(&scratch, "a_iops.1.log", 10_000);
    for (arguments, reason) in [
        ("compare a_iops.1.log half.json", "half.json:1: its JSON cannot be read"),
        ("compare a_iops.1.log missing.json", "missing.json"),
        ("compare a_iops.1.log", "two are needed"),
        ("compare --no-such-option", "--no-such-option"),
    ] {
        let finished = run(&scratch, arguments);
        assert!(finished.code == Some(2) && finished.stderr.contains(reason), "{}", finished.all());
    }
}
