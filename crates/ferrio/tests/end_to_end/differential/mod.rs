//! Reports of many jobs in all formats, compared with those of fio: keys, their order and types, counts, terse fields,
//! lines.
//!
//! Start reading at [`formats_agree_and_reports_are_those_of_the_peer`]; the jobs are in `cases`, the differences of the versions in `report`.

mod agreement;
mod cases;
mod report;

use crate::engines_net::free_port;
use crate::support::{Program, Run, Scratch, peer_too};
use cases::Extent;
use report::Report;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

fn job_file(case: &str) -> String {
    case.split_whitespace().filter(|word| *word != "|").map(|word| word.to_owned() + "\n").collect()
}

fn report_of(program: Program, case: &str, terse_version: usize) -> Result<Report, String> {
    let scratch = Scratch::new("differential");
    let port = free_port().to_string();
    let case = &case.replace("FREE_PORT", &port);
    scratch.write("jobs.fio", job_file(case));
    let arguments =
        format!("jobs.fio --output-format=normal,json+,terse --output=report --terse-version={terse_version}");
    let finished = Run::new(program, scratch.path(), &arguments)
        .with_clock_of_peer()
        .recorded("differential", &["report"])
        .finish();
    let what = finished.all();
    // The programs run one after the other, so each has a port of its own.
    let text = scratch.read("report").replace(&format!("\"port\" : \"{port}\""), "\"port\" : \"FREE_PORT\"");
    let report = Report::read(&text);
    let report = report.map_err(|error| format!("{program:?}: {error}: {what}"))?;
    Ok(Report { code: finished.code, is_quiet: finished.stderr.is_empty(), ..report })
}

/// The differences between the reports of both programs, if there are any.
fn compared(case: &str, extent: Extent, ours: &Report, theirs: &Report) -> Result<(), String> {
    ours.document()?;
    theirs.document()?;
    if ours.code != theirs.code {
        return Err(format!("exit code: ours {:?}, peer {:?}", ours.code, theirs.code));
    }
    // Programs that run fio take a word on the standard error for a failure.
    if ours.code == Some(0) && !ours.is_quiet && theirs.is_quiet {
        return Err("ours complains, the peer does not".to_owned());
    }
    let (is_counted, has_samples) = (extent == Extent::Counts, extent == Extent::Samples);
    let json = |report: &Report| report::json_lines(case, &report.json, is_counted);
    same("json", &json(ours), &json(theirs))?;
    let terse =
        |report: &Report| report.terse.iter().flat_map(|line| report::terse_fields(line)).collect::<Vec<String>>();
    same("terse", &terse(ours), &terse(theirs))?;
    let normal = |text: &str| report::normal_lines(text, has_samples);
    same("start", &normal(&ours.start), &normal(&theirs.start))?;
    same("normal", &normal(&ours.normal), &normal(&theirs.normal))
}

fn same(what: &str, ours: &[String], theirs: &[String]) -> Result<(), String> {
    let n_same = ours.iter().zip(theirs).take_while(|(ours, theirs)| ours == theirs).count();
    if n_same == ours.len() && n_same == theirs.len() {
        return Ok(());
    }
    let around = |lines: &[String]| {
        let shown = lines.iter().skip(n_same.saturating_sub(2)).take(5);
        shown.map(|line| line.trim().to_owned()).collect::<Vec<_>>().join(" / ")
    };
    let (n_ours, n_theirs) = (ours.len(), theirs.len());
    Err(format!(
        "{what} {n_same} of ours {n_ours} peer {n_theirs}\n    ours {}\n    peer {}",
        around(ours),
        around(theirs)
    ))
}

/// Complaints of all cases. fio spends most of the time asleep, so several cases run at once.
fn complaints(all: &[cases::Case], look: impl Fn(&str, Extent, usize) -> Result<(), String> + Sync) -> String {
    let next = AtomicUsize::new(0);
    let look_at_all = || {
        let mut text = String::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some((case, extent)) = all.get(index) else { return text };
            if let Err(difference) = look(case, *extent, 2 + index % 4) {
                writeln!(text, "{case}\n  {difference}").expect("a string");
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(look_at_all)).collect();
        workers.into_iter().map(|worker| worker.join().expect("it returns")).collect()
    })
}

/// What is wrong with the reports of a case: where formats of one report contradict each other, and where the reports of both programs differ.
fn look(case: &str, extent: Extent, terse_version: usize, has_peer: bool) -> Result<(), String> {
    let ours = report_of(Program::Ferrio, case, terse_version)?;
    agreement::check(&ours, terse_version)?;
    if !has_peer {
        return Ok(());
    }
    let theirs = report_of(Program::Peer, case, terse_version)?;
    // fio's report must pass the same checks as ferrio's, which shows that the checks are right.
    agreement::check(&theirs, terse_version).map_err(|reason| format!("peer: {reason}"))?;
    compared(case, extent, &ours, &theirs)
}

#[test]
fn formats_agree_and_reports_are_those_of_the_peer() {
    let has_peer = peer_too("formats_agree_and_reports_are_those_of_the_peer");
    let complaints =
        complaints(&cases::all(), |case, extent, terse_version| look(case, extent, terse_version, has_peer));
    assert!(complaints.is_empty(), "{complaints}");
}
