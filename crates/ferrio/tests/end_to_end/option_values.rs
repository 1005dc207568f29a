//! The table of values in `crates/job/tests/values`, checked with both programs: each accepts and refuses the values as
//! recorded.
//!
//! All values of every eighth option are checked at once, as lines of one job file. Must not know: the reasons of
//! refusals.

use crate::support::{Program, Run, Scratch, has_peer};

const PEER: &str = include_str!("../../../job/tests/values/peer.tsv");
const DIFFERENCES: &str = include_str!("../../../job/tests/values/differences.tsv");

/// Option, engine, recorded verdict, and the lines of a job file with this verdict.
type Row = (&'static str, &'static str, &'static str, Vec<String>);

fn rows(table: &'static str, n_columns: usize) -> impl Iterator<Item = Row> {
    table.lines().filter(|line| !line.starts_with('#')).map(move |line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let values = fields[2 + n_columns..].iter();
        let lines = values.map(|value| format!("{}{}", fields[0], value.replace("\\t", "\t").replace("\\\\", "\\")));
        (fields[0], fields[1], fields[2], lines.collect())
    })
}

/// The lines that are refused, in order; `None` if the program died of a line. An unknown option at the end keeps the job from
/// running: with `--parse-only` the peer leaves out some of its checks.
fn refused(program: Program, engine: &str, lines: &[String]) -> Option<Vec<String>> {
    let scratch = Scratch::new("option-values");
    let engine = if engine.is_empty() { String::new() } else { format!("ioengine={engine}\n") };
    scratch.write("jobs", format!("[j]\nsize=16k\n{engine}{}\nno_such_option=1\n", lines.join("\n")));
    let finished = Run::new(program, scratch.path(), "jobs").recorded("values", &[]).finish();
    if program == Program::Peer && finished.signal.is_some() {
        return None;
    }
    assert!(finished.code == Some(1) && finished.stderr.contains("no_such_option"), "{}", finished.all());
    let said = finished.stderr.lines().filter_map(|line| line.strip_prefix("fio: failed parsing "));
    Some(said.map(|line| line.trim_end().to_owned()).collect())
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn recorded_values_are_still_those_of_both() {
    if !has_peer("recorded_values_are_still_those_of_both") {
        return;
    }
    let differs: Vec<(&str, &str, String)> = rows(DIFFERENCES, 2)
        .flat_map(|(option, engine, _, lines)| lines.into_iter().map(move |l| (option, engine, l)))
        .collect();
    // Every option has a few rows, one for each thing that is said. An engine that is not there stops the reading at once.
    for (option, engine, said, lines) in rows(PEER, 1).filter(|row| row.0 != "ioengine").step_by(8) {
        // For private options of an engine, fio's messages do not contain the value.
        let shown = |line: &String| if engine.is_empty() { line.trim_end() } else { option }.to_owned();
        let trimmed = |lines: &[String]| lines.iter().map(shown).collect();
        let expected = |lines: &[String]| Some(if said == "accepted" { Vec::new() } else { trimmed(lines) });
        let of_peer = refused(Program::Peer, engine, &lines);
        assert!(of_peer.is_none() || of_peer == expected(&lines), "{option} {engine} {said}: {of_peer:?}");
        let same: Vec<String> =
            lines.into_iter().filter(|line| !differs.contains(&(option, engine, line.clone()))).collect();
        let of_ferrio = refused(Program::Ferrio, engine, &same).map(|said| said.iter().map(shown).collect());
        assert_eq!(of_ferrio, expected(&same), "{option} {engine} {said}");
    }
}
