//! The arguments of `ferrio sweep`: its own among those of fio's jobs.
//!
//! Must not know: how a sweep is made. Start reading at [`SweepRequest::take`].

use super::keep;
use crate::ui::described::{of_jobs, switch, value};
use crate::ui::exit::Exit;
use crate::ui::permits::{ALLOW_HELP, ALLOW_VALUE};
use crate::ui::words::{take_switch, take_value};
use crate::ui::words::{take_text, text_of};
use anyhow::anyhow;
use clap::{Command, ValueHint};
use ferrio::sweep::limit::{Bracket, LatencyLimit};
use ferrio::sweep::outcome::SweepOutcome;
use ferrio::sweep::space::{Space, SweepAxis};
use ferrio::sweep::{FEWEST_RUNS, RunHabits, UntilKnown};
use ferrio_units::value::{TimeUnit, parse_time_us};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Most runs at a point with `--until` and without `--repeat`.
const MOST_UNTIL: u32 = 30;

/// By how much the ends of the answer to `--max` may differ, without `--precision`.
const PRECISION: f64 = 0.05;

/// What `--rest` needs.
const REST: &str = "a time: --rest 10s";

/// What is wanted.
pub(super) struct SweepRequest {
    pub(super) work: SweepWork,
    pub(super) shown: ShownSweep,
    /// The name of `--keep`, empty without one; `None`: the runs are not kept.
    pub(super) keep: Option<String>,
    /// The time that all runs may take.
    pub(super) time: Option<Duration>,
}

/// What is shown of an outcome, and how.
#[derive(Debug, Clone, Copy)]
pub(super) struct ShownSweep {
    pub(super) report: SweepReport,
    /// The knee is the answer.
    pub(super) is_about_knee: bool,
}

impl ShownSweep {
    /// The exit code where the answer is none.
    pub(super) fn code(self, outcome: &SweepOutcome) -> Option<ExitCode> {
        let is_found = !outcome.knees.is_empty() && outcome.knees.iter().all(|knee| knee.is_inside);
        let is_open = outcome.limit.as_ref().is_some_and(|answer| answer.bracket == Bracket::default());
        (is_open || !outcome.is_known() || (self.is_about_knee && !is_found)).then(|| Exit::Undecided.into())
    }
}

/// What is to be done.
pub(super) enum SweepWork {
    New(Box<NewSweep>),
    /// The missing runs of a sweep are made.
    Resume(PathBuf),
    /// The outcome so far is shown.
    Show(PathBuf),
}

/// A sweep that begins.
pub(super) struct NewSweep {
    /// Job files and options of fio.
    pub(super) words: Vec<String>,
    pub(super) space: Space,
    pub(super) n_repeats: u32,
    pub(super) until: Option<UntilKnown>,
    pub(super) order_seed: Option<u64>,
    pub(super) habits: RunHabits,
    /// Latencies that are not to be exceeded: the largest value of the parameter is searched for.
    pub(super) limits: Vec<LatencyLimit>,
    /// By how much the ends of the answer may differ, a share.
    pub(super) precision: f64,
    pub(super) folder: Option<PathBuf>,
    /// The runs are told and not made.
    pub(super) is_plan_only: bool,
    /// An open loop is run beside the points.
    pub(super) has_open_loop: bool,
}

/// How the outcome is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SweepReport {
    Text,
    Json,
    Csv,
}

impl SweepReport {
    /// Takes `--json` or `--csv`.
    fn take(words: &mut Vec<OsString>) -> anyhow::Result<Self> {
        match (take_switch(words, "--json"), take_switch(words, "--csv")) {
            (true, true) => Err(anyhow!("--json and --csv are two forms of one report: give one of them")),
            (true, false) => Ok(Self::Json),
            (false, true) => Ok(Self::Csv),
            (false, false) => Ok(Self::Text),
        }
    }

    pub(super) fn is_for_programs(self) -> bool {
        self != Self::Text
    }
}

impl SweepRequest {
    /// Takes the arguments (the command's name first).
    ///
    /// # Errors
    /// In words: a value is missing or wrong, or two options do not go together.
    pub(super) fn take(arguments: &[OsString]) -> anyhow::Result<Self> {
        let mut words = arguments[1..].to_vec();
        let shown =
            ShownSweep { report: SweepReport::take(&mut words)?, is_about_knee: take_switch(&mut words, "--knee") };
        let keep = keep::take(&mut words)?;
        let resume = take_value(&mut words, "--resume", "the folder of a sweep")?;
        let show = take_value(&mut words, "--show", "the folder of a sweep")?;
        let time = take_time(&mut words)?;
        let work = match (resume, show) {
            (None, Some(_)) if time.is_some() => {
                return Err(anyhow!("--time is for runs that are made: --resume FOLDER --time TIME goes on"));
            }
            (None, None) => SweepWork::New(NewSweep::take(words)?.into()),
            (None, Some(_)) if keep.is_some() => {
                return Err(anyhow!("--keep is for runs that are made: --resume FOLDER --keep keeps all of a sweep"));
            }
            (Some(_), Some(_)) => return Err(anyhow!("--resume shows the outcome too: leave out --show")),
            (Some(_), None) | (None, Some(_)) if !words.is_empty() => {
                let word = words[0].to_string_lossy();
                return Err(anyhow!("{word} has no effect: the folder has jobs and parameters of its sweep"));
            }
            (Some(folder), None) => SweepWork::Resume(folder.into()),
            (None, Some(folder)) => SweepWork::Show(folder.into()),
        };
        Ok(Self { work, shown, keep, time })
    }
}

impl NewSweep {
    fn take(mut words: Vec<OsString>) -> anyhow::Result<Self> {
        let axes = take_all(&mut words, "--over", "an option with values: --over bs=4k,64k")?;
        let conditions = take_all(&mut words, "--where", "a condition: --where 'bs * iodepth <= 4m'")?;
        let (n_repeats, until) = take_repeats(&mut words)?;
        let limits = take_all(&mut words, "--max", "a latency: --max p99=2ms")?;
        let has_open_loop = take_switch(&mut words, "--open-loop");
        if has_open_loop && !limits.is_empty() {
            return Err(anyhow::Error::msg(
                "--open-loop stands beside the points of a closed loop, and --max has none: leave out one of them"
                    .to_owned(),
            ));
        }
        let limits = limits.iter().map(|text| LatencyLimit::parse(text)).collect::<Result<Vec<_>, _>>();
        let precision = take_text(&mut words, "--precision", "a percentage: --precision 5%")?;
        let order = take_text(&mut words, "--order", "random, given, or the seed of an order")?;
        let rest = take_text(&mut words, "--rest", REST)?;
        let mut file = |name| take_value(&mut words, name, "a job file").map(|file| file.map(PathBuf::from));
        let (first, before_each) = (file("--first")?, file("--before-each")?);
        let folder = take_value(&mut words, "--folder", "a folder that is not there yet")?;
        let drops_caches = take_switch(&mut words, "--drop-caches");
        let is_plan_only = take_switch(&mut words, "--plan");
        if axes.is_empty() {
            return Err(anyhow!("there is no parameter: give one, such as --over bs=4k,64k or --over iodepth=1..32"));
        }
        let axes = axes.iter().map(|text| SweepAxis::parse(text)).collect::<Result<_, _>>();
        let space = axes.and_then(|axes| Space::new(axes, &conditions))?;
        Ok(Self {
            words: words.into_iter().map(text_of).collect::<Result<_, _>>()?,
            space,
            n_repeats,
            until,
            order_seed: order_seed(order.as_deref())?,
            limits: limits.map_err(|reason| anyhow!("--max {reason}"))?,
            precision: precision.as_deref().map_or(Ok(PRECISION), share)?,
            habits: RunHabits { rest_ms: rest.as_deref().map_or(Ok(0), rest_ms)?, drops_caches, first, before_each },
            folder: folder.map(PathBuf::from),
            is_plan_only,
            has_open_loop,
        })
    }
}

/// `ferrio run --repeat`.
pub(super) struct RepeatedRun {
    /// Job files and options of fio.
    pub(super) words: Vec<String>,
    /// Number of runs, or the most with `until`.
    pub(super) n_repeats: u32,
    pub(super) until: Option<UntilKnown>,
    pub(super) habits: RunHabits,
    /// The folder of the records, where they are wanted.
    pub(super) folder: Option<PathBuf>,
    pub(super) shown: SweepReport,
    /// The name of `--keep`, empty without one; `None`: the runs are not kept.
    pub(super) keep: Option<String>,
    /// The time that all runs may take.
    pub(super) time: Option<Duration>,
}

/// Options of `ferrio run` that are about one run.
const OF_ONE_RUN: [&str; 5] = ["--live", "--web", "--html", "--output-format", "--output"];

impl RepeatedRun {
    /// Takes the arguments (the command's name first).
    ///
    /// # Errors
    /// In words: a value is missing or wrong, or two options do not go together.
    pub(super) fn take(arguments: &[OsString]) -> anyhow::Result<Self> {
        let mut words = arguments[1..].to_vec();
        let is_of_one = |word: &OsString| {
            let name = word.to_str().and_then(|word| word.split('=').next());
            OF_ONE_RUN.into_iter().find(|other| name == Some(other))
        };
        if let Some(name) = words.iter().find_map(is_of_one) {
            return Err(anyhow!("{name} is about one run: with --repeat, give --json, --csv, or --record FOLDER"));
        }
        let shown = SweepReport::take(&mut words)?;
        let keep = keep::take(&mut words)?;
        let (n_repeats, until) = take_repeats(&mut words)?;
        let rest = take_text(&mut words, "--rest", REST)?;
        let time = take_time(&mut words)?;
        let folder = take_value(&mut words, "--record", "a folder that is not there yet")?;
        let drops_caches = take_switch(&mut words, "--drop-caches");
        let rest_ms = rest.as_deref().map_or(Ok(0), rest_ms)?;
        Ok(Self {
            words: words.into_iter().map(text_of).collect::<Result<_, _>>()?,
            n_repeats,
            until,
            habits: RunHabits { rest_ms, drops_caches, ..RunHabits::default() },
            folder: folder.map(PathBuf::from),
            shown,
            keep,
            time,
        })
    }
}

/// `--repeat` and `--until`.
fn take_repeats(words: &mut Vec<OsString>) -> anyhow::Result<(u32, Option<UntilKnown>)> {
    let number = take_text(words, "--repeat", "a number of runs")?;
    let until = take_text(words, "--until", "a figure: --until 'read.iops ± 2 %'")?;
    let until = until.map(|text| UntilKnown::parse(&text)).transpose().map_err(|reason| anyhow!("--until {reason}"))?;
    let number = number.as_deref().map_or(Ok(if until.is_some() { MOST_UNTIL } else { 1 }), repeats)?;
    if until.is_some() && number < FEWEST_RUNS {
        return Err(anyhow!("--until needs at least {FEWEST_RUNS} runs: --repeat {number} is too small"));
    }
    Ok((number, until))
}

fn repeats(text: &str) -> anyhow::Result<u32> {
    let number = text.parse().ok().filter(|number| (1..=10_000).contains(number));
    number.ok_or_else(|| anyhow!("--repeat {text}: it is no number from 1 to 10000"))
}

/// A percentage as a share.
fn share(text: &str) -> anyhow::Result<f64> {
    let percent =
        text.strip_suffix('%').unwrap_or(text).trim().parse().ok().filter(|percent| *percent > 0.0 && *percent < 100.0);
    percent
        .map(|percent: f64| percent / 100.0)
        .ok_or_else(|| anyhow!("--precision {text}: it is no percentage above 0 and below 100"))
}

/// `--time`: how long all runs may take.
fn take_time(words: &mut Vec<OsString>) -> anyhow::Result<Option<Duration>> {
    let Some(text) = take_text(words, "--time", "how long all runs may take: --time 5m")? else { return Ok(None) };
    let time_us = parse_time_us(&text, TimeUnit::Seconds).ok().filter(|time_us| *time_us > 0);
    time_us
        .map(|time_us| Some(Duration::from_micros(time_us)))
        .ok_or_else(|| anyhow!("--time {text}: it is no time such as 5m"))
}

fn rest_ms(text: &str) -> anyhow::Result<u64> {
    let time =
        parse_time_us(text, TimeUnit::Seconds).map_err(|_| anyhow!("--rest {text}: it is no time such as 10s"))?;
    Ok(time / 1_000)
}

fn order_seed(order: Option<&str>) -> anyhow::Result<Option<u64>> {
    match order {
        Some("given") => Ok(None),
        None | Some("random") => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
            Ok(Some(now))
        }
        Some(seed) => seed.parse().map(Some).map_err(|_| anyhow!("--order {seed}: it is random, given or a number")),
    }
}

/// All values of an option that may be given several times.
fn take_all(words: &mut Vec<OsString>, name: &str, needed: &str) -> anyhow::Result<Vec<String>> {
    let mut all = Vec::new();
    while let Some(text) = take_text(words, name, needed)? {
        all.push(text);
    }
    Ok(all)
}

const ABOUT: &str = "\
Run fio's jobs once for each combination of values of some options, each run a whole result in a folder, and show one table, with the findings of all runs \
once.

  ferrio sweep job.fio --over bs=4k,64k,1m --over iodepth=1..256
  ferrio sweep job.fio --over bs:iodepth=4k:32,1m:4 --repeat 3 --rest 5s
  ferrio sweep job.fio --over rate_iops=100..100000 --max p99=2ms

A value is written as in a job file. 1..256 doubles (1, 2, 4, ... 256), 1..10+3 adds, \
1..1000*10 multiplies; the last value is always the end. bs:iodepth=4k:32,1m:4 changes two options together. JOB.OPTION is an option of one job. \
Values that have commas are separated by semicolons: --over 'bs=4k,8k;64k'.

The order of the runs is random, so that a device that gets slower makes no point slower than its neighbours. A sweep that was ended or killed goes on with \
--resume FOLDER.";

/// The command, for help, manual page and completions.
pub(crate) fn describe() -> Command {
    let space = [
        value("over", "OPTION=VALUES", "A parameter: an option and its values; may be given several times"),
        value(
            "where",
            "CONDITION",
            "Make only the points for which it holds, such as 'bs * iodepth <= 4m and rw != write'; may be given several times",
        ),
        value("repeat", "N", "Make N runs at each point; intervals are then from the differences between runs"),
        value(
            "until",
            "FIGURE",
            "Repeat the runs at a point until the interval of a figure is small enough, such as 'read.iops ± 2 %', at least 6 and at most --repeat times (30 without it)",
        ),
        switch(
            "open-loop",
            "Then run the fastest point once more as an open loop: users come at random times, at 10 to 95 % of its rate, and do not wait for each other. The parameter of the load is iodepth or numjobs",
        ),
        value("order", "ORDER", "random, given (the order of the values), or a number: the seed of a random order"),
    ];
    let limit = [
        value(
            "max",
            "FIGURE=TIME",
            "Search for the largest value of the parameter (rate_iops, iodepth, numjobs, ...) at which a latency is not exceeded, such as p99=2ms or log:sync.p99=10ms; may be given several times. Along a rate, users come at random times (rate_process=poisson), and latencies are theirs (rate_latency=response), unless the jobs say otherwise. --repeat is the most runs at a value (12 without it)",
        ),
        switch(
            "knee",
            "The answer is the knee: the load beyond which latency grows by a larger share than throughput. Exit code 3 where it is not between the values",
        ),
        value("precision", "PERCENT", "By how much the ends of the answer may differ (5% without it)"),
    ];
    let habits = [
        value(
            "time",
            "TIME",
            "End the runs before they take longer than this, such as 5m, with the best answer so far; --resume goes on",
        ),
        value("rest", "TIME", "Pause between runs"),
        switch("drop-caches", "Drop the page cache of the machine before each run (root)"),
        value("first", "JOBFILE", "Run these jobs once before all others, such as a fill of the device")
            .value_hint(ValueHint::FilePath),
        value("before-each", "JOBFILE", "Run these jobs before each run").value_hint(ValueHint::FilePath),
    ];
    let outputs = [
        value("allow", ALLOW_VALUE, ALLOW_HELP),
        value("folder", "FOLDER", "The folder of the sweep; by default JOB.sweep here").value_hint(ValueHint::DirPath),
        value("keep", "NAME", "Keep each run in the history under the name of the folder, or this one, with its point; with --resume those that are not kept yet")
            .num_args(0..=1)
            .require_equals(true),
        switch("plan", "Tell the points and the time, and make no run"),
        value("resume", "FOLDER", "Make the runs of a sweep that are missing").value_hint(ValueHint::DirPath),
        value("show", "FOLDER", "Show what a sweep has found so far").value_hint(ValueHint::DirPath),
        switch("json", "Print the outcome as JSON"),
        switch("csv", "Print the outcome as CSV, a row for each point, job and direction"),
    ];
    of_jobs("ferrio sweep", "Run jobs with many values of options").long_about(ABOUT).args(space).args(limit).args(habits).args(outputs).after_help(
        "The folder has plan.json, a record of each run (runs/), points.csv, outcome.json and a page (index.html). ferrio report, plot and compare read the records.\n\n\
         Exit code: 0; 2 after an error, or where jobs failed; 3 where --knee finds none between the values, --max decides at none, or the figure of --until is not known well enough; 128 + n after signal n (130 after Ctrl-C).",
    )
}
