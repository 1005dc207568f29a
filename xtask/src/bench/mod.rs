//! `xtask bench`: cost of an I/O with ferrio and with fio, measured side by side.
//!
//! Both programs run alternately with the same options (fio, ferrio, fio, ferrio, ...), so that a change of the
//! machine's speed affects both; only the ratio of each pair counts, never a single figure. The figures of a run with
//! few I/Os are subtracted from those of a run with many, so that start-up and end do not count. Must not know: how
//! ferrio works inside.
//! Start reading at [`run`]; the cases are in [`cases::CASES`].

mod case;
mod cases;
mod figures;
mod machine;
mod measure;
mod print;
mod programs;
mod raw;
mod report;
mod stage;

use crate::callgrind;
use anyhow::{Context, Result, bail, ensure};
use case::{Case, Goal, Work};
use cases::CASES;
use figures::{Figures, MeanClats, Pair};
use machine::{Machine, Noise};
use measure::Sample;
use programs::Programs;
pub(crate) use programs::build_release;
use raw::Raw;
use report::Report;
use stage::Stage;
use std::path::Path;
use std::process::Command;

/// I/Os of the longer run under callgrind.
const N_COUNTED: u64 = 30_000;

/// Settings from the command line.
struct Settings<'a> {
    names: Vec<&'a str>,
    n_pairs: usize,
    /// Fewer I/Os and pairs: to see that a case works, not to judge by.
    is_quick: bool,
    /// File for the figures of each pair.
    csv: Option<&'a Path>,
}

/// Pairs of runs without `--pairs`.
const DEFAULT_PAIRS: usize = 5;
const QUICK_PAIRS: usize = 2;
/// `--quick` does this part of the I/Os.
const QUICK_DIVISOR: u64 = 8;

/// Runs the cases that are named, or all, and says which goals were met.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<String> {
    let settings = parse(arguments)?;
    let chosen: Vec<&Case> =
        CASES.iter().filter(|case| settings.names.is_empty() || settings.names.contains(&case.name)).collect();
    let programs = Programs::find(root)?;
    let machine = Machine::describe(&programs);
    println!("{machine}");
    let mut raw = Raw::create(settings.csv, &machine)?;
    let mut summary = Vec::new();
    for case in chosen {
        summary.push(run_case(case, &settings, &programs, &mut raw)?);
    }
    Ok(format!("\nsummary (ferrio to fio, medians)\n{}", summary.join("\n")))
}

fn parse<'a>(arguments: &[&'a str]) -> Result<Settings<'a>> {
    let mut settings = Settings { names: Vec::new(), n_pairs: 0, is_quick: false, csv: None };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match *argument {
            "--quick" => settings.is_quick = true,
            "--pairs" => {
                let number = rest.next().context("--pairs needs a number")?;
                settings.n_pairs = number.parse().with_context(|| format!("--pairs {number}: not a number"))?;
                ensure!(settings.n_pairs > 0, "--pairs 0: at least one");
            }
            "--csv" => settings.csv = Some(Path::new(*rest.next().context("--csv needs a file")?)),
            name if CASES.iter().any(|case| case.name == name) => settings.names.push(name),
            name => bail!("no case {name}; there are:\n{}", print::list_of(CASES)),
        }
    }
    if settings.n_pairs == 0 {
        settings.n_pairs = if settings.is_quick { QUICK_PAIRS } else { DEFAULT_PAIRS };
    }
    Ok(settings)
}

/// Measures a case and prints it; gives its line of the summary.
fn run_case(case: &Case, settings: &Settings<'_>, programs: &Programs, raw: &mut Raw) -> Result<String> {
    println!("\n{}: {}", case.name, case.about);
    let stage = match Stage::set(case.target)? {
        Ok(stage) => stage,
        Err(reason) => {
            println!("  SKIPPED {}: {reason}", case.name);
            return Ok(format!("  {:<24} SKIPPED: {reason}", case.name));
        }
    };
    let mut figures = Figures { pairs: Vec::new(), bare: None, instructions: None };
    let mut noise = Noise::start();
    println!("{}", print::pair_header(case));
    for index in 1..=settings.n_pairs {
        let pair = pair(case, settings, programs, &stage)?;
        println!("{}", print::pair_line(case, index, &pair));
        raw.pair(case, index, &pair)?;
        figures.pairs.push(pair);
    }
    let bare = bare_samples(case, settings, programs, &stage)?;
    raw.bare(case, &bare)?;
    // The best of them, since it shows the limit of the machine.
    figures.bare = bare.into_iter().min_by(|a, b| a.cpu_ns().total_cmp(&b.cpu_ns()));
    noise.finish(&figures);
    figures.instructions = instructions(case, programs, &stage)?;
    println!("{}", print::verdict(case, &figures, &noise));
    Ok(print::summary_line(case, &figures, &noise))
}

/// fio, then ferrio; before each the same without the extra options, where there are any.
fn pair(case: &Case, settings: &Settings<'_>, programs: &Programs, stage: &Stage) -> Result<Pair> {
    let both = |program: &Path| {
        let plain = if case.extra.is_empty() { None } else { Some(sample(case, "", settings, program, stage)?) };
        Ok::<_, anyhow::Error>((plain, sample(case, case.extra, settings, program, stage)?))
    };
    let ((plain_peer, peer), (plain_own, own)) = (both(&programs.peer)?, both(&programs.own)?);
    let plain = plain_peer.zip(plain_own).map(|(peer, own)| [peer, own]);
    let wants_clat = case.goals.iter().any(|goal| matches!(goal, Goal::ClatLowerBy(_)));
    let clat = |program: &Path| mean_clat_ns(case, settings, program, stage);
    let mean_clat_ns = if wants_clat {
        Some(MeanClats {
            peer: clat(&programs.peer)?,
            own: clat(&programs.own)?,
            bare: bare_clat_ns(case, settings, programs, stage)?,
        })
    } else {
        None
    };
    let beside = case.beside.map(|words| beside(words, stage)).transpose()?;
    let few = |program: &Path| quarter(case, settings, program, stage);
    let quarter = few(&programs.peer)?.zip(few(&programs.own)?).map(|(peer, own)| [peer, own]);
    Ok(Pair { plain, mean_clat_ns, beside, quarter, ..Pair::of(peer, own) })
}

/// The program beside, with its arguments.
fn beside(words: &str, stage: &Stage) -> Result<Sample> {
    let words = stage.expand(words);
    let (program, arguments) = words.split_first().context("a program beside without a name")?;
    stage.clear()?;
    measure::run(Path::new(program), arguments, false)
}

/// A whole run with a quarter of the I/Os, where that is measured.
fn quarter(case: &Case, settings: &Settings<'_>, program: &Path, stage: &Stage) -> Result<Option<Sample>> {
    let Work::Quarter { n_ios } = case.work else { return Ok(None) };
    sample(&Case { work: Work::Quarter { n_ios: n_ios / 4 }, ..*case }, "", settings, program, stage).map(Some)
}

/// Mean completion latency of reads, as a program reports it.
fn mean_clat_ns(case: &Case, settings: &Settings<'_>, program: &Path, stage: &Stage) -> Result<f64> {
    let n_ios = n_ios_of_latency(case, settings)?;
    let mut arguments = stage.expand(case.options);
    arguments.extend([format!("--number_ios={n_ios}"), "--output-format=json".to_owned()]);
    let output = Command::new(program).args(&arguments).output();
    let output = output.with_context(|| format!("cannot start {}", program.display()))?;
    let document: serde_json::Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("{} {} printed no document", program.display(), arguments.join(" ")))?;
    let mean = document["jobs"][0]["read"]["clat_ns"]["mean"].as_f64();
    mean.with_context(|| format!("{}: no mean latency in the document", program.display()))
}

/// Mean completion latency of the bare loop, which prints it last, after `mean`.
fn bare_clat_ns(case: &Case, settings: &Settings<'_>, programs: &Programs, stage: &Stage) -> Result<f64> {
    let n_ios = n_ios_of_latency(case, settings)?;
    let bare = case.bare.with_context(|| format!("{}: a goal of latency needs a bare loop", case.name))?;
    let output = Command::new(&programs.bare).args(stage.expand(bare)).arg(n_ios.to_string()).output();
    let text = String::from_utf8_lossy(&output.context("cannot start the bare loop")?.stdout).into_owned();
    let mean = text.split_once("mean ").and_then(|(_, rest)| rest.split_whitespace().next()?.parse().ok());
    mean.with_context(|| format!("no mean latency in what the bare loop printed: {text}"))
}

fn n_ios_of_latency(case: &Case, settings: &Settings<'_>) -> Result<u64> {
    let Work::PerIo { n_ios } = case.work else { bail!("{}: no latency of a whole run", case.name) };
    Ok(if settings.is_quick { n_ios / QUICK_DIVISOR } else { n_ios })
}

/// Instructions per I/O of fio and ferrio, where they are a goal and valgrind is there.
fn instructions(case: &Case, programs: &Programs, stage: &Stage) -> Result<Option<[u64; 2]>> {
    let is_wanted = case.goals.iter().any(|goal| matches!(goal, Goal::InstructionsBelow(_)));
    if !is_wanted || !callgrind::is_there() {
        return Ok(None);
    }
    let options = stage.expand(case.options);
    let count = |program: &Path| callgrind::instructions_per_io(program, &options, N_COUNTED);
    Ok(Some([count(&programs.peer)?, count(&programs.own)?]))
}

/// One figure of one program: per I/O, or of a whole run.
fn sample(case: &Case, extra: &str, settings: &Settings<'_>, program: &Path, stage: &Stage) -> Result<Sample> {
    let common = [stage.expand(case.options), stage.expand(extra)].concat();
    let run_with = |limit: Option<String>, output: &[String]| {
        let mut arguments = common.clone();
        arguments.extend(limit);
        arguments.extend_from_slice(output);
        stage.clear()?;
        measure::run(program, &arguments, case.measures_memory)
    };
    let run = |n_ios: Option<u64>| {
        run_with(n_ios.map(|n_ios| format!("--number_ios={n_ios}")), &["--output=/dev/null".to_owned()])
    };
    // fio ends up to 250 ms after its jobs, so the time of these is that of the report.
    let timed = |limit: String| {
        let report = Report::new();
        let sample = run_with(Some(limit), &report.options())?;
        Ok(Sample { wall_ns: report.runtime_ns()?, ..sample })
    };
    match case.work {
        Work::PerIo { n_ios } => per_io(n_ios, settings, |n_ios| timed(format!("--number_ios={n_ios}"))),
        Work::PerPass { n_passes, n_ios } => {
            let per_pass = per_io(n_passes, settings, |n_passes| timed(format!("--loops={n_passes}")))?;
            Ok(per_pass.less(&Sample::default(), n_ios as f64))
        }
        Work::WholeRun => run(None),
        // With `--quick` this number of I/Os stays the same, because the bytes per row are computed from it.
        Work::Quarter { n_ios } => run(Some(n_ios)),
    }
}

/// The bare loop of a case, as many times as there are pairs.
fn bare_samples(case: &Case, settings: &Settings<'_>, programs: &Programs, stage: &Stage) -> Result<Vec<Sample>> {
    let (Some(bare), Work::PerIo { n_ios }) = (case.bare, case.work) else { return Ok(Vec::new()) };
    let common = stage.expand(bare);
    (0..settings.n_pairs)
        .map(|_| {
            per_io(n_ios, settings, |n_ios| {
                measure::run(&programs.bare, &[common.clone(), vec![n_ios.to_string()]].concat(), false)
            })
        })
        .collect()
}

/// A long run less a short one, per I/O of the difference.
fn per_io(n_ios: u64, settings: &Settings<'_>, run: impl Fn(u64) -> Result<Sample>) -> Result<Sample> {
    let n_long = if settings.is_quick { n_ios / QUICK_DIVISOR } else { n_ios };
    let n_short = n_long / 10;
    let short = run(n_short)?;
    Ok(run(n_long)?.less(&short, (n_long - n_short) as f64))
}
