//! `ferrio run --repeat`: the same jobs several times, and how sure their figures are.
//!
//! Must not know: how runs are made, how intervals are. Start reading at [`run`].

use super::request::{RepeatedRun, SweepReport};
use super::table;
use super::{EndedRuns, document, jobs_of, plan_of};
use crate::shared::keeping::Keeping;
use crate::ui::console::Console;
use crate::ui::exit::{self, Exit};
use crate::ui::permits::{Author, Permits};
use ferrio::session::runs::RunsEnding;
use ferrio::sweep::SweepFolder;
use ferrio::sweep::outcome::{PointOutcome, SweepOutcome};
use ferrio::sweep::space::Space;
use ferrio_formats::native::{aligned, text_width, wrap};
use ferrio_insight::repeats::RepeatedFigure;
use ferrio_stats::IoKind;
use ferrio_units::humanize::counted;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const PROGRAM: &str = "ferrio run";

/// True if the arguments ask for repeated runs.
pub(crate) fn is_wanted(arguments: &[OsString]) -> bool {
    let is_it = |word: &str| ["--repeat", "--until"].iter().any(|name| word.split('=').next() == Some(name));
    let asks_for_help = arguments.get(1).is_some_and(|word| word == "--help" || word == "-h");
    !asks_for_help && arguments.iter().any(|word| word.to_str().is_some_and(is_it))
}

/// Runs the command with its arguments (the command's name first).
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let mut console = Console::of_command(PROGRAM);
    let mut arguments = arguments.to_vec();
    let done = Permits::take(&mut arguments)
        .and_then(|permits| Ok((RepeatedRun::take(&arguments)?, permits)))
        .and_then(|(request, permits)| make(request, &permits, &mut console));
    done.unwrap_or_else(|reason| {
        console.error(&format!("{PROGRAM}: {reason}\n"));
        Exit::Failed.into()
    })
}

/// A folder that is removed when the runs are over.
struct PassingFolder(PathBuf);

impl Drop for PassingFolder {
    fn drop(&mut self) {
        // What is left in a directory for temporary files is in nobody's way.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn make(request: RepeatedRun, permits: &Permits, console: &mut Console) -> anyhow::Result<ExitCode> {
    let (template, spec) = jobs_of(&request.words, (permits, Author::User), request.making.place.has_hosts())?;
    let space = Space::new(Vec::new(), &[])?;
    let plan = plan_of(request.words, &spec, &space)?.with_repeats(request.n_repeats, request.until);
    let plan = plan?.with_around_runs(None, request.around_runs);
    let keeping = match request.keep.as_deref().map(|name| Keeping::of(Some(name), Some(PROGRAM), console)) {
        Some(Err(code)) => return Ok(code),
        keeping => keeping.and_then(Result::ok).flatten(),
    };
    let path = request.folder.clone().unwrap_or_else(passing_path);
    let mut open = SweepFolder::create(&path, plan)?;
    // Only a folder that this program has made is removed.
    let _passing = request.folder.is_none().then(|| PassingFolder(path));
    let EndedRuns { ending, signal, n_left, n_all } = super::runs(&mut open, template, &request.making, console)?;
    if let Some(keeping) = &keeping {
        super::keep::keep(keeping, &open.folder, "", console);
    }
    let outcome = SweepOutcome::read(&open.folder)?;
    if let Some(point) = outcome.points.first() {
        let text = match request.shown {
            SweepReport::Json => document(&outcome),
            SweepReport::Csv => outcome.csv(),
            SweepReport::Text => text(&outcome, point, request.folder.as_deref()),
        };
        console.report(&text);
    }
    let n_failed: usize = outcome.points.iter().map(|point| point.n_failed).sum();
    if n_failed > 0 {
        console.error(&format!("{PROGRAM}: jobs failed in {}\n", counted(n_failed as u64, "run", "runs")));
    }
    if ending == RunsEnding::OutOfTime {
        console.error(&format!("{PROGRAM}: the time is over, with {n_left} of {n_all} runs to make\n"));
    }
    match ending {
        RunsEnding::Stopped => Ok(exit::by_signal(signal)),
        RunsEnding::All | RunsEnding::OutOfTime if console.has_failed || n_failed > 0 => Ok(Exit::Failed.into()),
        RunsEnding::All | RunsEnding::OutOfTime => {
            Ok(if outcome.is_known() { Exit::Fine } else { Exit::Undecided }.into())
        }
    }
}

fn passing_path() -> PathBuf {
    std::env::temp_dir().join(format!("ferrio-repeats-{}", std::process::id()))
}

fn text(outcome: &SweepOutcome, point: &PointOutcome, folder: Option<&Path>) -> String {
    let jobs = outcome.jobs();
    let mut rows =
        vec![["job", "", "", "mean", "±", "between", "within", "lowest", "highest"].map(str::to_owned).to_vec()];
    for (job_index, job, kind) in &jobs {
        let mut name = (job.clone(), kind.name().to_owned());
        for metric in table::SHOWN {
            let Some(figure) = point.figure(*job_index, *kind, metric) else { continue };
            let (job, kind) = std::mem::take(&mut name);
            let mut row = vec![job, kind];
            row.extend(cells(figure));
            rows.push(row);
        }
    }
    let width = text_width(ferrio_sys::terminal::columns(std::io::stdout()));
    let runs = if point.n_runs == 1 { "1 run".to_owned() } else { format!("{} runs", point.n_runs) };
    let mut text = table::unknown(outcome).map_or(format!("{runs}\n"), |unknown| format!("{runs}. {unknown}\n"));
    text.push_str(&aligned(&rows, 3));
    text.push('\n');
    for words in jobs.iter().filter_map(|(job_index, job, kind)| kinds(point, *job_index, job, *kind)) {
        text.push_str(&wrap(&words, "", width));
        text.push('\n');
    }
    text.push_str(&wrap(LEGEND, "", width));
    text.push_str(&table::findings_text(outcome, width));
    if let Some(folder) = folder {
        // Writing to a text cannot fail.
        let _ = write!(text, "\n{}", wrap(&format!("Records: {}", folder.display()), "", width));
    }
    text
}

/// That the runs of a job are of two kinds.
fn kinds(point: &PointOutcome, job_index: usize, job: &str, kind: IoKind) -> Option<String> {
    let found = table::SHOWN.iter().find_map(|metric| Some((metric, point.figure(job_index, kind, *metric)?.kinds?)));
    let (metric, kinds) = found?;
    Some(format!(
        "The runs of {job} ({}) are of two kinds: {} of the {} runs is {:.1} times as large in {} as in the others. The mean is that of none of them, and how many there are of each is chance.",
        kind.name(),
        metric.name(),
        point.n_runs,
        kinds.times,
        kinds.n_larger
    ))
}

const LEGEND: &str = "mean: of rates the arithmetic mean of the runs, of latencies the geometric one. ±: half of the interval that has the true mean with a probability of 95 %, from the differences between the runs. between: standard \
                      deviation of the runs. within: how much a run alone would be off by chance, from its own course; where this is far smaller, longer runs \
                      tell no more, and more runs do. ?: not known. MB/s: millions of bytes a second. Latencies are from submission to completion, and those of users (rate_latency=response) from the time at which they came.";

fn cells(figure: &RepeatedFigure) -> [String; 7] {
    let value = |value: f64| figure.metric.cell(value);
    let percent = |value: Option<f64>| value.map_or("?".to_owned(), |value| format!("{value:.1} %"));
    let end = |end: Option<f64>| end.map(value).unwrap_or_default();
    [
        format!(
            "{}{}",
            figure.metric.heading(),
            if figure.is_doubtful { ferrio_formats::native::DOUBT_MARK } else { "" }
        ),
        value(figure.mean),
        percent(figure.half_width_percent()),
        percent(figure.between_percent),
        percent(figure.within_percent),
        end(figure.values.iter().copied().reduce(f64::min)),
        end(figure.values.iter().copied().reduce(f64::max)),
    ]
}
