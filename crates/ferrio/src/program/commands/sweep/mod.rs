//! `ferrio sweep`: the same jobs with many values of some options, each run kept as a whole result in a folder.
//!
//! Must not know: how runs are made, how points follow from parameters. Start reading at [`run`].

mod answers;
mod keep;
mod loops;
pub(crate) mod page;
pub(crate) mod repeated;
mod request;
pub(crate) mod scaled;
pub(crate) mod table;

use crate::shared::hosts::{RunPlace, RunsOnHosts};
use crate::shared::keeping::Keeping;
use crate::ui::arguments;
use crate::ui::console::Console;
use crate::ui::exit::{self, Exit};
use crate::ui::permits::{Author, Permits, readonly_refusal};
use crate::ui::runs_on_terminal::RunsOnTerminal;
use crate::ui::signals::Signals;
use anyhow::anyhow;
use ferrio::session::VERSION;
use ferrio::session::runs::RunsEnding;
use ferrio::sweep::limit::{LatencyLimit, LimitSearch};
use ferrio::sweep::outcome::SweepOutcome;
use ferrio::sweep::space::{Space, SweepAxis, SweepPoint};
use ferrio::sweep::{JobsOfPlan, OpenLoop, OpenSweep, SweepFolder, SweepPlan, SweptJobs};
use ferrio_job::{Mode, SystemEnvironment, Template};
use ferrio_run::Handle;
use ferrio_spec::RunSpec;
use ferrio_units::Wording;
use request::{Making, NewSweep, ShownSweep, SweepReport, SweepRequest, SweepWork};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

pub(crate) use request::describe;

const PROGRAM: &str = "ferrio sweep";

/// Runs at a value of a search that are made at most, without `--repeat`.
const MOST_RUNS_AT_A_VALUE: u32 = 12;
/// Runs that an end of the answer of a search has at least.
const FEWEST_RUNS_AT_AN_END: u32 = 3;

/// Why no knee can be looked for.
const NO_KNEE: &str = "--knee needs a parameter that is the load (iodepth, numjobs, rate_iops, rate or hosts) with at least four ascending values";

/// Runs the command with its arguments (the command's name first).
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let mut console = Console::of_command(PROGRAM);
    if arguments.len() == 1 || arguments[1] == "--help" || arguments[1] == "-h" {
        console.report(&arguments::help_text(describe()));
        return exit::at_end(arguments.len() == 1);
    }
    let mut arguments = arguments.to_vec();
    let done = Permits::take(&mut arguments)
        .and_then(|permits| Ok((SweepRequest::take(&arguments)?, permits)))
        .and_then(|(request, permits)| answer(request, &permits, &mut console));
    done.unwrap_or_else(|reason| {
        console.error(&format!("{PROGRAM}: {reason}\n"));
        Exit::Failed.into()
    })
}

fn answer(request: SweepRequest, permits: &Permits, console: &mut Console) -> anyhow::Result<ExitCode> {
    let shown = request.shown;
    let keeping = match request.keep.as_deref().map(|name| Keeping::of(Some(name), Some(PROGRAM), console)) {
        Some(Err(code)) => return Ok(code),
        keeping => keeping.and_then(Result::ok).flatten(),
    };
    match request.work {
        SweepWork::Show(path) => {
            let folder = SweepFolder::open(&path)?;
            let outcome = show(&folder, shown, console)?;
            Ok(shown.code(&outcome).unwrap_or_else(|| exit::at_end(console.has_failed)))
        }
        SweepWork::Resume(path) => {
            // The jobs are read in the directory in which the sweep began.
            let path = std::path::absolute(&path).map_err(|error| anyhow!(ferrio_units::error_text(&error)))?;
            let mut open = SweepFolder::open(&path).and_then(SweepFolder::lock)?;
            let jobs = &open.folder.plan.jobs;
            let place = &jobs.directory;
            let entered = std::env::set_current_dir(place);
            entered.map_err(|error| anyhow!("{}: {}", place.display(), ferrio_units::error_text(&error)))?;
            let (template, spec) = jobs_of(&jobs.words, (permits, Author::File), request.making.place.has_hosts())?;
            check_files(&open.folder.plan, permits)?;
            check_hosts(&request.making.place, &open.folder.plan)?;
            if JobsOfPlan::options_of(&spec) != jobs.options {
                return Err(anyhow!("the jobs are not those with which the sweep began: begin a new one"));
            }
            let template = in_open_loop(template, &open.folder.plan)?;
            make(&mut open, template, (shown, &request.making), keeping.as_ref(), console)
        }
        SweepWork::New(new) => begin(*new, (shown, &request.making), permits, keeping.as_ref(), console),
    }
}

/// Begins a sweep, or only tells what it would do.
fn begin(
    new: NewSweep,
    (shown, making): (ShownSweep, &Making),
    permits: &Permits,
    keeping: Option<&Keeping>,
    console: &mut Console,
) -> anyhow::Result<ExitCode> {
    let (template, spec) = jobs_of(&new.words, (permits, Author::User), making.place.has_hosts())?;
    let environment = SystemEnvironment::new(VERSION);
    let plan = plan_of(new.words, &spec, &new.space)?.with_repeats(new.n_repeats, new.until);
    let plan = plan?.with_around_runs(new.order_seed, new.around_runs);
    let ends: Vec<SweepPoint> = [plan.points.first(), plan.points.last()].into_iter().flatten().cloned().collect();
    let plan = if new.limits.is_empty() { plan } else { searching(plan, new.limits, new.precision)? };
    let template = in_open_loop(template, &plan)?;
    let points = if plan.limit.is_some() { &ends } else { &plan.points };
    ferrio::sweep::check(&template, &plan.axes, points, &environment)?;
    let plan = if new.has_open_loop { plan.with_open_loop() } else { plan };
    check_open_loop(&template, &plan)?;
    if shown.is_about_knee && !plan.has_load() {
        return Err(anyhow!(NO_KNEE));
    }
    check_files(&plan, permits)?;
    check_hosts(&making.place, &plan)?;
    let times = plan.points.iter().map(|point| {
        let spec = ferrio::sweep::session_at(&template, point, &environment).ok()?;
        ferrio::sweep::longest(&spec)
    });
    let all: Option<Duration> = if plan.limit.is_some() {
        let longest = ends
            .iter()
            .map(|point| ferrio::sweep::longest(&ferrio::sweep::session_at(&template, point, &environment).ok()?));
        longest.collect::<Option<Vec<_>>>().and_then(|times| times.into_iter().max())
    } else {
        times.sum()
    };
    let n_times = if plan.limit.is_some() { LimitSearch::MOST_RUNS as u32 } else { plan.n_repeats };
    let text = table::plan_text(&plan, all.map(|all| all.saturating_mul(n_times)));
    if new.is_plan_only {
        console.report(&text);
        return Ok(ExitCode::SUCCESS);
    }
    let path = new.folder.unwrap_or_else(|| default_folder(&template));
    let mut open = SweepFolder::create(&path, plan)?;
    if !shown.report.is_for_programs() {
        console.report(&text);
    }
    make(&mut open, template, (shown, making), keeping, console)
}

/// Looks whether the jobs take the options of an open loop, if one is wanted.
fn check_open_loop(template: &Template, plan: &SweepPlan) -> anyhow::Result<()> {
    let Some(point) = plan.points.first().filter(|_| plan.has_open_loop) else { return Ok(()) };
    if let Some(reason) = OpenLoop::refusal(&plan.axes, &plan.jobs.options) {
        return Err(anyhow!("--open-loop: {reason}"));
    }
    let spec = ferrio::sweep::session_at(template, &OpenLoop::example(point), &SystemEnvironment::new(VERSION));
    spec.map(|_| ()).map_err(|error| anyhow!("--open-loop: {error}"))
}

/// A plan that searches for a limit along its only parameter.
fn searching(plan: SweepPlan, limits: Vec<LatencyLimit>, precision: f64) -> anyhow::Result<SweepPlan> {
    let [axis] = &plan.axes[..] else {
        return Err(anyhow!("a limit (--max) is searched along one parameter: give one --over"));
    };
    let most_runs = if plan.n_repeats > 1 { plan.n_repeats } else { MOST_RUNS_AT_A_VALUE };
    if most_runs < FEWEST_RUNS_AT_AN_END {
        return Err(anyhow!(
            "--max needs at least {FEWEST_RUNS_AT_AN_END} runs at a value: --repeat {most_runs} is too small"
        ));
    }
    let search = LimitSearch::new(limits, axis, precision, most_runs)?;
    Ok(plan.searching(search))
}

/// The jobs of a search along a rate: its latencies are those of users, who come at random times and do not wait for each other, unless the jobs say otherwise.
fn in_open_loop(mut template: Template, plan: &SweepPlan) -> anyhow::Result<Template> {
    let Some(search) =
        plan.limit.as_ref().filter(|search| ["rate", "rate_iops"].contains(&search.option.name.as_str()))
    else {
        return Ok(template);
    };
    // The two options need a rate.
    let rate = (search.option.name.as_str(), search.ends.0.max(1).to_string());
    let defaults = [("rate_process", "poisson".to_owned()), ("rate_latency", "response".to_owned())];
    let is_given = |name: &str| plan.jobs.options.iter().flatten().any(|(given, _)| given == name);
    let environment = SystemEnvironment::new(VERSION);
    for (name, value) in std::iter::once(rate).chain(defaults.into_iter().filter(|(name, _)| !is_given(name))) {
        let set = template.set(search.option.job.as_deref(), name, Some(&value), &environment);
        set?;
    }
    Ok(template)
}

/// A plan for the jobs of a command line, which are read in the directory of this program.
fn plan_of(words: Vec<String>, spec: &RunSpec, space: &Space) -> anyhow::Result<SweepPlan> {
    let directory = std::env::current_dir().map_err(|error| anyhow!(ferrio_units::error_text(&error)))?;
    let lost = spec.jobs.iter().find_map(|job| job.engine.secret_without_source());
    if let Some(name) = lost {
        return Err(anyhow!(
            "{name}: a sweep keeps its jobs in its folder, and no file may hold this secret; give it as {name}=env:NAME or {name}=file:PATH"
        ));
    }
    let jobs = JobsOfPlan { words, directory, options: JobsOfPlan::options_of(spec) };
    SweepPlan::new(jobs, space).map_err(anyhow::Error::from)
}

/// The folder beside the files of the user: the name of the first job, with `.sweep` behind it.
fn default_folder(template: &Template) -> PathBuf {
    let name = template.job_names().next().unwrap_or("jobs");
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let name: String = name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    PathBuf::from(format!("{}.sweep", name.trim_start_matches('.')))
}

/// How the runs of a sweep have ended: the signal that has ended them, and the runs that are to be made and all of them.
struct EndedRuns {
    ending: RunsEnding,
    signal: Option<i32>,
    n_left: usize,
    n_all: usize,
}

/// Makes the runs that are missing: those of the points, then those of the open loop beside them.
fn runs(open: &mut OpenSweep, template: Template, making: &Making, console: &mut Console) -> anyhow::Result<EndedRuns> {
    let begun = Instant::now();
    // Before any other thread, such as those of hosts.
    let signals = Signals::listen(true)?;
    let handle = Handle::new()?;
    signals.steer(handle.clone());
    let mut hosts = RunsOnHosts::start(&making.place, &handle)?;
    let time = making.time;
    let environment = SystemEnvironment::new(VERSION);
    let habits = &open.folder.plan.around_runs;
    let spec_of = |file: &Path| spec_of_file(file, &Permits::all(), making.place.has_hosts());
    let of_file = |file: &Option<PathBuf>| file.as_deref().map(spec_of).transpose();
    let jobs = SweptJobs {
        template,
        first: of_file(&habits.first)?,
        before_each: of_file(&habits.before_each)?,
        environment: &environment,
    };
    let mut driver = |open: &mut OpenSweep, time| runs_of(open, &jobs, (&signals, hosts.as_mut(), time), console);
    let mut ended = driver(open, time);
    if ended.as_ref().is_ok_and(|ended| ended.ending == RunsEnding::All) && open.folder.plan.has_open_loop {
        let mut beside = open.begin_open_loop(&jobs)?;
        ended = driver(&mut beside, time.map(|time| time.saturating_sub(begun.elapsed())));
    }
    if let Some(hosts) = hosts {
        hosts.end();
    }
    ended
}

fn runs_of(
    open: &mut OpenSweep,
    jobs: &SweptJobs<'_>,
    (signals, hosts, time): (&Signals, Option<&mut RunsOnHosts>, Option<Duration>),
    console: &mut Console,
) -> anyhow::Result<EndedRuns> {
    let plan = &open.folder.plan;
    let n_steps = if plan.limit.is_some() { 0 } else { plan.n_runs() };
    let mut driver = RunsOnTerminal::start(signals, n_steps).within(time).on(hosts).telling(console);
    let ending = open.make(jobs, &mut driver);
    driver.end();
    let signal = signals.first();
    let ending = ending?;
    Ok(EndedRuns { ending, signal, n_left: open.folder.missing().len(), n_all: open.folder.plan.n_runs() })
}

/// Makes the runs that are missing, and shows all of them.
fn make(
    open: &mut OpenSweep,
    template: Template,
    (shown, making): (ShownSweep, &Making),
    keeping: Option<&Keeping>,
    console: &mut Console,
) -> anyhow::Result<ExitCode> {
    let EndedRuns { ending, signal, n_left, n_all } = runs(open, template, making, console)?;
    if let Some(keeping) = keeping {
        let name = name_of(&open.folder);
        keep::keep(keeping, &open.folder, &name, console);
        if let Some(beside) = open.folder.open_loop()? {
            keep::keep(keeping, &beside, &name, console);
        }
    }
    match ending {
        RunsEnding::All | RunsEnding::OutOfTime => {
            let outcome = show(&open.folder, shown, console)?;
            if ending == RunsEnding::OutOfTime {
                let (n_left, path) = (left_text(&open.folder, n_left, n_all), open.folder.path().display().to_string());
                console.error(&format!(
                    "{PROGRAM}: the time is over, {n_left}; go on: ferrio sweep --resume {path} --time TIME\n"
                ));
            }
            let points = || outcome.points.iter().chain(outcome.open_loop.iter().flat_map(|open| &open.figures.points));
            let n_failed: usize = points().map(|point| point.n_failed).sum();
            if n_failed > 0 {
                let n_runs: usize = points().map(|point| point.n_runs).sum();
                console.error(&format!("{PROGRAM}: jobs failed in {n_failed} of {n_runs} runs\n"));
                return Ok(Exit::Failed.into());
            }
            Ok(shown.code(&outcome).unwrap_or_else(|| exit::at_end(console.has_failed)))
        }
        RunsEnding::Stopped => {
            let left = match &open.folder.plan.limit {
                Some(_) => "before the limit was found".to_owned(),
                None => left_text(&open.folder, n_left, n_all),
            };
            let path = open.folder.path().display();
            console.error(&format!("{PROGRAM}: ended {left}; go on: ferrio sweep --resume {path}\n"));
            Ok(exit::by_signal(signal))
        }
    }
}

/// How many runs are to be made.
fn left_text(folder: &SweepFolder, n_left: usize, n_all: usize) -> String {
    if folder.plan.limit.is_none() {
        return format!("with {n_left} of {n_all} runs to make");
    }
    // A search does not know how many runs it needs.
    let n_made = (0..folder.plan.points.len()).map(|index| folder.every_record(index).count()).sum::<usize>();
    let n_more = LimitSearch::MOST_RUNS.saturating_sub(n_made);
    format!("after {n_made} runs of the search: up to {n_more} more narrow the answer, and measure it again")
}

fn show(folder: &SweepFolder, shown: ShownSweep, console: &mut Console) -> anyhow::Result<SweepOutcome> {
    let outcome = SweepOutcome::read(folder)?;
    let (csv, json) = (outcome.csv(), document(&outcome));
    let page = page::page(&outcome, title(folder));
    for (name, content) in [("points.csv", &csv), ("outcome.json", &json), ("index.html", &page)] {
        if let Err(error) = folder.write(name, content.as_bytes()) {
            console.error(&format!("{PROGRAM}: {error}\n"));
            console.has_failed = true;
        }
    }
    match shown.report {
        SweepReport::Json => console.report(&json),
        SweepReport::Csv => console.report(&csv),
        SweepReport::Text => console.report(&table::outcome_text(&outcome, folder.path(), shown.is_about_knee)),
    }
    Ok(outcome)
}

/// The heading of the page: the jobs, and where the runs are.
fn title(folder: &SweepFolder) -> String {
    let name = name_of(folder);
    let parameters: Vec<String> = folder.plan.axes.iter().map(SweepAxis::name).collect();
    format!("{name}: {}", parameters.join(" and "))
}

fn name_of(folder: &SweepFolder) -> String {
    folder.path().file_name().unwrap_or(folder.path().as_os_str()).display().to_string()
}

/// The outcome as JSON, written without a copy of it: a sweep may have many points.
fn document(outcome: &SweepOutcome) -> String {
    #[derive(serde::Serialize)]
    struct SweepDocument<'a> {
        version: &'static str,
        #[serde(flatten)]
        outcome: &'a SweepOutcome,
    }
    // Cannot fail: no map with keys that are not text, no writer.
    serde_json::to_string_pretty(&SweepDocument { version: VERSION, outcome }).unwrap_or_default() + "\n"
}

/// Looks whether there are as many hosts as the runs want.
fn check_hosts(place: &RunPlace, plan: &SweepPlan) -> anyhow::Result<()> {
    let most = plan.most_hosts()?;
    match most {
        Some(_) if !place.has_hosts() => Err(anyhow!("--over hosts needs the hosts: give --hosts or --hostfile")),
        Some(most) if u64::from(place.n_hosts()?) < most => {
            Err(anyhow!("hosts={most}: there are {} hosts", place.n_hosts()?))
        }
        _ => Ok(()),
    }
}

/// Looks at the job files of other runs than those of the sweep.
fn check_files(plan: &SweepPlan, permits: &Permits) -> anyhow::Result<()> {
    let mut files = [&plan.around_runs.first, &plan.around_runs.before_each].into_iter().flatten();
    files.try_for_each(|file| spec_of_file(file, permits, true).map(drop))
}

/// The jobs of a command line; those for several hosts leave to each host what differs there.
///
/// # Errors
/// In words: they are none, ask for reports of fio, or do what is not permitted.
fn jobs_of(
    words: &[String],
    (permits, author): (&Permits, Author),
    is_for_hosts: bool,
) -> anyhow::Result<(Template, RunSpec)> {
    let no_jobs = || "there are no jobs: name a job file, or give options of jobs".to_owned();
    if words.is_empty() {
        return Err(anyhow!(no_jobs()));
    }
    let arguments: Vec<OsString> =
        std::iter::once("ferrio").chain(words.iter().map(String::as_str)).map(OsString::from).collect();
    let environment = SystemEnvironment::new(VERSION).for_hosts(is_for_hosts);
    let parsed = ferrio_job::parse_template(&arguments, &environment);
    let (invocation, template) =
        parsed.map_err(|error| anyhow!(error.refusals().unwrap_or_else(|| said(&error.messages))))?;
    if let Some(name) = invocation.options_of_reports().next() {
        return Err(anyhow!("{name} has no effect in a sweep, which keeps each run in its folder"));
    }
    if invocation.mode != Mode::Run || template.job_names().next().is_none() {
        return Err(anyhow!(no_jobs()));
    }
    if let Some(lines) = permits.refusal(&invocation, author) {
        return Err(anyhow!(lines));
    }
    if let Some(lines) = readonly_refusal(&invocation, author) {
        return Err(anyhow!(lines));
    }
    Ok((template, invocation.run))
}

fn said(messages: &[ferrio_job::Message]) -> String {
    messages.iter().map(|(_, text)| text.text(Wording::Own).trim()).collect::<Vec<_>>().join("\n")
}

fn spec_of_file(path: &Path, permits: &Permits, is_for_hosts: bool) -> anyhow::Result<RunSpec> {
    let word = path.to_str().ok_or_else(|| anyhow!("{}: its name is no UTF-8", path.display()))?;
    jobs_of(&[word.to_owned()], (permits, Author::File), is_for_hosts)
        .map(|(_, spec)| spec)
        .map_err(|reason| anyhow!("{}: {reason}", path.display()))
}
