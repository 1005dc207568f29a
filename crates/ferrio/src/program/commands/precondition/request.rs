//! The arguments of `ferrio precondition`: its own among options of a load.
//!
//! Must not know: how the work is done. Start reading at [`PreconditionRequest::take`].

use crate::ui::own_options::{self, text_of};
use anyhow::anyhow;
use clap::{Arg, ArgAction, Args, Command, ValueHint};
use ferrio_manual::man::JOB_WORDS;
use ferrio_units::value::{TimeUnit, parse_time_us};
use std::ffi::OsString;
use std::path::PathBuf;

pub(super) struct PreconditionRequest {
    pub(super) work: PreconditionWork,
    /// The question before data are destroyed is answered.
    pub(super) is_agreed: bool,
    pub(super) is_json: bool,
}

pub(super) enum PreconditionWork {
    New(NewPrecondition),
    /// Work that was begun goes on.
    Resume(PathBuf),
}

/// Work that begins.
pub(super) struct NewPrecondition {
    pub(super) target: PathBuf,
    pub(super) load: Vec<String>,
    pub(super) options: WorkOptions,
    pub(super) folder: Option<PathBuf>,
    /// The work is told and not done.
    pub(super) is_plan_only: bool,
}

// What is done to the target.
#[derive(Debug, Args)]
pub(super) struct WorkOptions {
    /// Read the device instead of overwriting it: one pass, then rounds of reads
    #[arg(long)]
    pub(super) read: bool,
    /// Passes over the device, 0 to 100 (2, or 1 with --read)
    #[arg(long, value_name = "N", value_parser = n_passes)]
    pub(super) passes: Option<u32>,
    /// Time of a round (60s)
    #[arg(long = "round", value_name = "TIME", value_parser = round_ms)]
    pub(super) round_ms: Option<u64>,
    /// Most rounds, 0 to 10000 (25); 0: only the passes
    #[arg(long, value_name = "N", value_parser = n_rounds)]
    pub(super) rounds: Option<u32>,
}

// How it is done and told.
#[derive(Debug, Args)]
struct HabitOptions {
    /// Do not ask before the data of the device are destroyed
    #[arg(long)]
    yes: bool,
    /// Tell what would be done, and do nothing
    #[arg(long)]
    plan: bool,
    /// The folder of the work; by default NAME.precondition here
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    folder: Option<PathBuf>,
    /// Go on with work that was ended or killed
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath, conflicts_with_all = ["folder", "plan"])]
    resume: Option<PathBuf>,
    /// Print the outcome as JSON
    #[arg(long)]
    json: bool,
}

impl PreconditionRequest {
    /// Takes the arguments (the command's name first).
    pub(super) fn take(arguments: &[OsString]) -> anyhow::Result<Self> {
        let mut words = arguments[1..].to_vec();
        let habits: HabitOptions = own_options::take(&mut words)?;
        let (is_agreed, is_json) = (habits.yes, habits.json);
        let work = match (&habits.resume, words.first()) {
            (Some(folder), None) => PreconditionWork::Resume(folder.clone()),
            (Some(_), Some(word)) => {
                return Err(anyhow!("{} has no effect: the folder has target and load", word.display()));
            }
            (None, _) => PreconditionWork::New(NewPrecondition::take(words, habits)?),
        };
        Ok(Self { work, is_agreed, is_json })
    }
}

impl NewPrecondition {
    fn take(mut words: Vec<OsString>, habits: HabitOptions) -> anyhow::Result<Self> {
        let options = own_options::take(&mut words)?;
        let is_option = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
        if words.first().is_none_or(is_option) {
            return Err(anyhow!(
                "the first word is the device, or a file that is there: ferrio precondition /dev/nvme1n1"
            ));
        }
        let target = PathBuf::from(words.remove(0));
        let load = words.into_iter().map(text_of).collect::<Result<_, _>>()?;
        Ok(Self { target, load, options, folder: habits.folder, is_plan_only: habits.plan })
    }
}

fn n_passes(text: &str) -> anyhow::Result<u32> {
    number(text, 100)
}

fn n_rounds(text: &str) -> anyhow::Result<u32> {
    number(text, 10_000)
}

fn number(text: &str, most: u32) -> anyhow::Result<u32> {
    let number = text.parse().ok().filter(|number| *number <= most);
    number.ok_or_else(|| anyhow!("it is no number from 0 to {most}"))
}

const LEAST_ROUND_MS: u64 = 100;

fn round_ms(text: &str) -> anyhow::Result<u64> {
    let time = parse_time_us(text, TimeUnit::Seconds).map_err(|_| anyhow!("it is no time such as 60s"))?;
    let time_ms = time / 1_000;
    if time_ms < LEAST_ROUND_MS {
        return Err(anyhow!("a round takes at least {LEAST_ROUND_MS} ms"));
    }
    Ok(time_ms)
}

const ABOUT: &str = "\
Put an SSD or a cloud volume into the state in which its figures stay the same. A new or idle SSD is faster than it will ever be again, and some cloud \
volumes fetch each block on its first use.

  ferrio precondition /dev/nvme1n1                       for 4 KiB random writes
  ferrio precondition /dev/nvme1n1 --rw=randrw --bs=8k   for another load
  ferrio precondition /dev/nvme1n1 --read                destroy nothing

The device is overwritten twice with random data (128 KiB, sequentially), and then carries the load in rounds of a minute, at most 25, until five rounds are \
steady: their IOPS lie within 20 % of their mean, and the line through them rises or falls by at most 10 % of it. That is the rule of SNIA's Solid State \
Storage Performance Test Specification.

Without --read, all data of the device are destroyed. A device that is mounted or in use is refused, and one of which that can't be found out is too. The \
command asks before it begins; where there is no terminal, it needs --yes.";

/// The command, for help, manual page and completions.
pub(crate) fn describe() -> Command {
    let target =
        Arg::new("target").value_name("DEVICE").required(true).help("The block device, or a file that is there");
    let load =
        Arg::new(JOB_WORDS).value_name("OPTIONS").num_args(0..).action(ArgAction::Append).help(
            "Options of the load, as of fio's jobs (--rw=randwrite --bs=4k --iodepth=32 where they are not given)",
        );
    let command = Command::new("ferrio precondition")
        .bin_name("ferrio precondition")
        .about("Fill storage until its figures stay the same")
        .args([target.value_hint(ValueHint::FilePath), load])
        .long_about(ABOUT)
        .after_help(
            "The folder has plan.json, progress.json and a record of each round (rounds/), which ferrio report, plot and compare read. Rounds before a pause do not count: \
             an SSD recovers in it.\n\n\
             Exit code: 0: steady, or no rounds were wanted; 1: all rounds were made, and they are not steady; 2 after an error; 128 + n after signal n (130 after Ctrl-C).",
        );
    HabitOptions::augment_args(WorkOptions::augment_args(command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_on_takes_no_options_of_a_new_one() {
        let refusal = |words: &str| {
            let words: Vec<OsString> =
                std::iter::once("precondition").chain(words.split(' ')).map(OsString::from).collect();
            PreconditionRequest::take(&words).map(|_| ()).map_err(|error| error.to_string())
        };
        assert_eq!(refusal("--resume a --yes --json"), Ok(()));
        for other in ["--plan", "--folder=b", "--read", "--passes=1", "--bs=4k"] {
            let reason = refusal(&format!("--resume a {other}")).expect_err(other);
            let name = other.split('=').next().unwrap_or(other);
            assert!(reason.contains(name), "{reason}");
        }
    }
}
