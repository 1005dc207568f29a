//! The arguments of `ferrio sweep`: its own among those of fio's jobs.
//!
//! Must not know: how a sweep is made. Start reading at [`SweepRequest::take`].

use crate::shared::hosts::{HostsOptions, RunPlace};
use crate::shared::repeat_options::{RepeatOptions, n_repeats, rest_ms, whole_time};
use crate::ui::described::of_jobs;
use crate::ui::exit::Exit;
use crate::ui::own_options::{self, text_of};
use crate::ui::permits::AllowOptions;
use anyhow::anyhow;
use clap::{Args, Command, ValueHint};
use ferrio::sweep::limit::{Bracket, LatencyLimit};
use ferrio::sweep::outcome::SweepOutcome;
use ferrio::sweep::space::{Space, SweepAxis};
use ferrio::sweep::{AroundRuns, FEWEST_RUNS, UntilKnown};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Most runs at a point with `--until` and without `--repeat`.
const MOST_UNTIL: u32 = 30;

/// By how much the ends of the answer to `--max` may differ, without `--precision`.
const PRECISION: f64 = 0.05;

pub(super) struct SweepRequest {
    pub(super) work: SweepWork,
    pub(super) shown: ShownSweep,
    /// The name of `--keep`, empty without one; `None`: the runs are not kept.
    pub(super) keep: Option<String>,
    pub(super) making: Making,
}

/// Where the runs are made, and how long all of them may take.
#[derive(Debug)]
pub(super) struct Making {
    pub(super) time: Option<Duration>,
    pub(super) place: RunPlace,
}

impl Making {
    /// `--drop-caches` beside hosts is refused: it drops the caches of this machine.
    fn of(time: Option<Duration>, hosts: HostsOptions, drops_caches: bool) -> anyhow::Result<Self> {
        if drops_caches && hosts.has_hosts() {
            return Err(anyhow!("--drop-caches is not built for several hosts: drop them in exec_prerun"));
        }
        if let Some(name) = hosts.without_hosts() {
            return Err(anyhow!("{name} has no effect without hosts: give --hosts or --hostfile"));
        }
        Ok(Self { time, place: RunPlace::of_options(hosts) })
    }
}

/// What is shown of an outcome, and how.
#[derive(Debug, Clone, Copy)]
pub(super) struct ShownSweep {
    pub(super) report: SweepReport,
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

pub(super) enum SweepWork {
    New(Box<NewSweep>),
    /// The missing runs of a sweep are made.
    Resume(PathBuf),
    /// The outcome so far is shown.
    Show(PathBuf),
}

pub(super) struct NewSweep {
    /// Job files and options of fio.
    pub(super) words: Vec<String>,
    pub(super) space: Space,
    pub(super) n_repeats: u32,
    pub(super) until: Option<UntilKnown>,
    pub(super) order_seed: Option<u64>,
    pub(super) around_runs: AroundRuns,
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

// The forms of a report for programs.
#[derive(Debug, Args)]
struct ReportForms {
    /// Print the outcome as JSON
    #[arg(long)]
    json: bool,
    /// Print the outcome as CSV, a row for each point, job and direction
    #[arg(long)]
    csv: bool,
}

impl SweepReport {
    /// Takes `--json` or `--csv`.
    fn take(words: &mut Vec<OsString>) -> anyhow::Result<Self> {
        let forms: ReportForms = own_options::take(words)?;
        match (forms.json, forms.csv) {
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

// The parameters and the points.
#[derive(Debug, Args)]
struct SpaceOptions {
    /// A parameter: an option and its values; may be given several times. hosts=1,2,4 makes the runs on the first hosts of --hosts
    #[arg(long, value_name = "OPTION=VALUES")]
    over: Vec<String>,
    /// Make only the points for which it holds, such as 'bs * iodepth <= 4m and rw != write'; may be given several times
    #[arg(long = "where", value_name = "CONDITION")]
    conditions: Vec<String>,
    /// Make N runs at each point; intervals are then from the differences between runs
    #[arg(long, value_name = "N", value_parser = n_repeats)]
    repeat: Option<u32>,
    /// Repeat the runs at a point until the interval of a figure is small enough, such as 'read.iops ± 2 %', at least 6 and at most --repeat times (30 without it)
    #[arg(long, value_name = "FIGURE")]
    until: Option<String>,
    /// Then run the fastest point once more as an open loop: users come at random times, at 10 to 95 % of its rate, and do not wait for each other. The parameter of the load is iodepth or numjobs
    #[arg(long)]
    open_loop: bool,
    /// random, given (the order of the values), or a number: the seed of a random order
    #[arg(long, value_name = "ORDER", value_parser = order)]
    order: Option<SweepOrder>,
}

// The search for a limit.
#[derive(Debug, Args)]
struct LimitOptions {
    #[arg(
        long,
        value_name = "FIGURE=TIME",
        help = "Search for the largest value of the parameter (rate_iops, iodepth, numjobs, ...) at which a latency is not exceeded, such as p99=2ms or log:sync.p99=10ms; may be given several times. Along a rate, users come at random times (rate_process=poisson), and latencies are theirs (rate_latency=response), unless the jobs say otherwise. --repeat is the most runs at a value (12 without it)"
    )]
    max: Vec<String>,
    /// By how much the ends of the answer may differ (5% without it)
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    precision: Option<f64>,
}

// What is also for a sweep that goes on.
#[derive(Debug, Args)]
struct AnswerOptions {
    /// The answer is the knee: the load beyond which latency grows by a larger share than throughput. Exit code 3 where it is not between the values
    #[arg(long)]
    knee: bool,
    /// End the runs before they take longer than this, such as 5m, with the best answer so far; --resume goes on
    #[arg(long, value_name = "TIME", value_parser = whole_time)]
    time: Option<Duration>,
}

// What is done around each run.
#[derive(Debug, Args)]
struct HabitOptions {
    /// Pause between runs
    #[arg(long = "rest", value_name = "TIME", value_parser = rest_ms)]
    rest_ms: Option<u64>,
    /// Drop the page cache of the machine before each run (root)
    #[arg(long)]
    drop_caches: bool,
    /// Run these jobs once before all others, such as a fill of the device
    #[arg(long, value_name = "JOBFILE", value_hint = ValueHint::FilePath)]
    first: Option<PathBuf>,
    /// Run these jobs before each run
    #[arg(long, value_name = "JOBFILE", value_hint = ValueHint::FilePath)]
    before_each: Option<PathBuf>,
}

// Where the runs are kept, and what is done with a folder that is there.
#[derive(Debug, Args)]
struct FolderOptions {
    /// The folder of the sweep; by default JOB.sweep here
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    folder: Option<PathBuf>,
    /// Keep each run in the history under the name of the folder, or this one, with its point; with --resume those that are not kept yet
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    keep: Option<String>,
    /// Tell the points and the time, and make no run
    #[arg(long)]
    plan: bool,
    /// Make the runs of a sweep that are missing
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath, conflicts_with_all = ["folder", "plan"])]
    resume: Option<PathBuf>,
    /// Show what a sweep has found so far
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath, conflicts_with_all = ["folder", "plan"])]
    show: Option<PathBuf>,
}

impl SweepRequest {
    /// Takes the arguments (the command's name first).
    pub(super) fn take(arguments: &[OsString]) -> anyhow::Result<Self> {
        let mut words = arguments[1..].to_vec();
        let report = SweepReport::take(&mut words)?;
        let folder: FolderOptions = own_options::take(&mut words)?;
        let AnswerOptions { knee, time } = own_options::take(&mut words)?;
        let hosts: HostsOptions = own_options::take(&mut words)?;
        let shown = ShownSweep { report, is_about_knee: knee };
        let keep = folder.keep.clone();
        let work = match (&folder.resume, &folder.show) {
            (None, Some(_)) if time.is_some() => {
                return Err(anyhow!("--time is for runs that are made: --resume FOLDER --time TIME goes on"));
            }
            (None, Some(_)) if hosts.has_hosts() => {
                return Err(anyhow!("--hosts is for runs that are made: --resume FOLDER --hosts goes on"));
            }
            (None, None) => SweepWork::New(NewSweep::take(words, folder)?.into()),
            (None, Some(_)) if keep.is_some() => {
                return Err(anyhow!("--keep is for runs that are made: --resume FOLDER --keep keeps all of a sweep"));
            }
            (Some(_), Some(_)) => return Err(anyhow!("--resume shows the outcome too: leave out --show")),
            (Some(_), None) | (None, Some(_)) if !words.is_empty() => {
                let word = words[0].to_string_lossy();
                return Err(anyhow!("{word} has no effect: the folder has jobs and parameters of its sweep"));
            }
            (Some(folder), None) => SweepWork::Resume(folder.clone()),
            (None, Some(folder)) => SweepWork::Show(folder.clone()),
        };
        let drops_caches = matches!(&work, SweepWork::New(new) if new.around_runs.drops_caches);
        Ok(Self { work, shown, keep, making: Making::of(time, hosts, drops_caches)? })
    }
}

impl NewSweep {
    fn take(mut words: Vec<OsString>, folder: FolderOptions) -> anyhow::Result<Self> {
        let SpaceOptions { over, conditions, repeat, until, open_loop, order } = own_options::take(&mut words)?;
        let LimitOptions { max, precision } = own_options::take(&mut words)?;
        let habits: HabitOptions = own_options::take(&mut words)?;
        let (n_repeats, until) = repeats(repeat, until.as_deref())?;
        if open_loop && !max.is_empty() {
            return Err(anyhow!(
                "--open-loop stands beside the points of a closed loop, and --max has none: leave out one of them"
            ));
        }
        if over.is_empty() {
            return Err(anyhow!("there is no parameter: give one, such as --over bs=4k,64k or --over iodepth=1..32"));
        }
        let axes = over.iter().map(|text| SweepAxis::parse(text)).collect::<Result<_, _>>();
        let space = axes.and_then(|axes| Space::new(axes, &conditions))?;
        let limits = max.iter().map(|text| LatencyLimit::parse(text)).collect::<Result<_, _>>();
        Ok(Self {
            words: words.into_iter().map(text_of).collect::<Result<_, _>>()?,
            space,
            n_repeats,
            until,
            order_seed: order.unwrap_or(SweepOrder::Random).seed(),
            limits: limits.map_err(|error| anyhow!("--max {error}"))?,
            precision: precision.unwrap_or(PRECISION),
            around_runs: habits.into_around_runs(),
            folder: folder.folder,
            is_plan_only: folder.plan,
            has_open_loop: open_loop,
        })
    }
}

impl HabitOptions {
    fn into_around_runs(self) -> AroundRuns {
        let Self { rest_ms, drop_caches, first, before_each } = self;
        AroundRuns { rest_ms: rest_ms.unwrap_or_default(), drops_caches: drop_caches, first, before_each }
    }
}

/// `ferrio run --repeat`.
pub(super) struct RepeatedRun {
    /// Job files and options of fio.
    pub(super) words: Vec<String>,
    /// Number of runs, or the most with `until`.
    pub(super) n_repeats: u32,
    pub(super) until: Option<UntilKnown>,
    pub(super) around_runs: AroundRuns,
    /// The folder of the records, where they are wanted.
    pub(super) folder: Option<PathBuf>,
    pub(super) shown: SweepReport,
    /// The name of `--keep`, empty without one; `None`: the runs are not kept.
    pub(super) keep: Option<String>,
    pub(super) making: Making,
}

// The options of `ferrio run` that mean something else for several runs.
#[derive(Debug, Args)]
struct RecordsOptions {
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "")]
    keep: Option<String>,
    #[arg(long, value_name = "FOLDER")]
    record: Option<PathBuf>,
}

/// Options of `ferrio run` that are about one run.
const OF_ONE_RUN: [&str; 5] = ["--live", "--web", "--html", "--output-format", "--output"];

impl RepeatedRun {
    /// Takes the arguments (the command's name first).
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
        let RecordsOptions { keep, record } = own_options::take(&mut words)?;
        let RepeatOptions { repeat, until, time, rest_ms, drop_caches } = own_options::take(&mut words)?;
        let hosts: HostsOptions = own_options::take(&mut words)?;
        let (n_repeats, until) = repeats(repeat, until.as_deref())?;
        Ok(Self {
            words: words.into_iter().map(text_of).collect::<Result<_, _>>()?,
            n_repeats,
            until,
            making: Making::of(time, hosts, drop_caches)?,
            around_runs: AroundRuns {
                rest_ms: rest_ms.unwrap_or_default(),
                drops_caches: drop_caches,
                ..AroundRuns::default()
            },
            folder: record,
            shown,
            keep,
        })
    }
}

/// `--repeat` and `--until`: the number of runs, and what ends them.
fn repeats(number: Option<u32>, until: Option<&str>) -> anyhow::Result<(u32, Option<UntilKnown>)> {
    let until = until.map(UntilKnown::parse).transpose().map_err(|error| anyhow!("--until {error}"))?;
    let number = number.unwrap_or(if until.is_some() { MOST_UNTIL } else { 1 });
    if until.is_some() && number < FEWEST_RUNS {
        return Err(anyhow!("--until needs at least {FEWEST_RUNS} runs: --repeat {number} is too small"));
    }
    Ok((number, until))
}

/// A percentage as a share.
fn share(text: &str) -> anyhow::Result<f64> {
    let percent = text.strip_suffix('%').unwrap_or(text).trim().parse().ok();
    let percent = percent.filter(|percent: &f64| *percent > 0.0 && *percent < 100.0);
    percent.map(|percent| percent / 100.0).ok_or_else(|| anyhow!("it is no percentage above 0 and below 100"))
}

#[derive(Debug, Clone, Copy)]
enum SweepOrder {
    Random,
    Given,
    Seeded(u64),
}

impl SweepOrder {
    /// The seed of the order; `None`: that of the values.
    fn seed(self) -> Option<u64> {
        match self {
            Self::Random => {
                Some(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64))
            }
            Self::Given => None,
            Self::Seeded(seed) => Some(seed),
        }
    }
}

fn order(text: &str) -> anyhow::Result<SweepOrder> {
    match text {
        "given" => Ok(SweepOrder::Given),
        "random" => Ok(SweepOrder::Random),
        seed => seed.parse().map(SweepOrder::Seeded).map_err(|_| anyhow!("it is random, given or a number")),
    }
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
    let command = of_jobs("ferrio sweep", "Run jobs with many values of options").long_about(ABOUT).after_help(
        "The folder has plan.json, a record of each run (runs/), points.csv, outcome.json and a page (index.html). ferrio report, plot and compare read the records.\n\n\
         Exit code: 0; 2 after an error, or where jobs failed; 3 where --knee finds none between the values, --max decides at none, or the figure of --until is not known well enough; 128 + n after signal n (130 after Ctrl-C).",
    );
    let command = AnswerOptions::augment_args(LimitOptions::augment_args(SpaceOptions::augment_args(command)));
    let command = AllowOptions::augment_args(HabitOptions::augment_args(command));
    ReportForms::augment_args(HostsOptions::augment_args(FolderOptions::augment_args(command)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_on_takes_no_options_of_a_new_one() {
        let refusal = |words: &str| {
            let words: Vec<OsString> = std::iter::once("sweep").chain(words.split(' ')).map(OsString::from).collect();
            SweepRequest::take(&words).map(|_| ()).map_err(|error| error.to_string())
        };
        assert_eq!(refusal("--resume a --knee --time=5m --json"), Ok(()));
        for other in ["--plan", "--folder=b", "--show=b", "--over=bs=4k", "--rest=5s"] {
            let reason = refusal(&format!("--resume a {other}")).expect_err(other);
            let name = other.split('=').next().unwrap_or(other);
            assert!(reason.contains(name), "{reason}");
        }
    }
}
