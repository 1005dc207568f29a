//! The arguments of `ferrio precondition`: its own among options of a load.
//!
//! Must not know: how the work is done. Start reading at [`PreconditionRequest::take`].

use crate::ui::described::{switch, value};
use crate::ui::words::{take_switch, take_value};
use crate::ui::words::{take_text, text_of};
use anyhow::anyhow;
use clap::{Arg, ArgAction, Command, ValueHint};
use ferrio_manual::man::JOB_WORDS;
use ferrio_units::value::{TimeUnit, parse_time_us};
use std::ffi::OsString;
use std::path::PathBuf;

/// What is wanted.
pub(super) struct PreconditionRequest {
    pub(super) work: PreconditionWork,
    /// The question before data are destroyed is answered.
    pub(super) is_agreed: bool,
    pub(super) is_json: bool,
}

/// What is to be done.
pub(super) enum PreconditionWork {
    New(NewPrecondition),
    /// Work that was begun goes on.
    Resume(PathBuf),
}

/// Work that begins.
pub(super) struct NewPrecondition {
    pub(super) target: PathBuf,
    /// The target is only read.
    pub(super) is_read: bool,
    pub(super) n_passes: Option<u32>,
    pub(super) round_ms: Option<u64>,
    pub(super) most_rounds: Option<u32>,
    /// Options of the load.
    pub(super) load: Vec<String>,
    pub(super) folder: Option<PathBuf>,
    /// The work is told and not done.
    pub(super) is_plan_only: bool,
}

impl PreconditionRequest {
    /// Takes the arguments (the command's name first).
    ///
    /// # Errors
    /// In words: a value is missing or wrong, or two options do not go together.
    pub(super) fn take(arguments: &[OsString]) -> anyhow::Result<Self> {
        let mut words = arguments[1..].to_vec();
        let (is_agreed, is_json) = (take_switch(&mut words, "--yes"), take_switch(&mut words, "--json"));
        let resume = take_value(&mut words, "--resume", "the folder of work that was begun")?;
        let work = match (resume, words.first()) {
            (Some(folder), None) => PreconditionWork::Resume(folder.into()),
            (Some(_), Some(word)) => {
                return Err(anyhow!("{} has no effect: the folder has target and load", word.display()));
            }
            (None, _) => PreconditionWork::New(NewPrecondition::take(words)?),
        };
        Ok(Self { work, is_agreed, is_json })
    }
}

impl NewPrecondition {
    fn take(mut words: Vec<OsString>) -> anyhow::Result<Self> {
        let is_read = take_switch(&mut words, "--read");
        let is_plan_only = take_switch(&mut words, "--plan");
        let folder = take_value(&mut words, "--folder", "a folder that is not there yet")?;
        let passes = take_text(&mut words, "--passes", "a number of passes")?;
        let round = take_text(&mut words, "--round", "a time: --round 60s")?;
        let rounds = take_text(&mut words, "--rounds", "a number of rounds")?;
        let is_option = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
        if words.first().is_none_or(is_option) {
            return Err(anyhow!(
                "the first word is the device, or a file that is there: ferrio precondition /dev/nvme1n1"
            ));
        }
        let target = PathBuf::from(words.remove(0));
        let load = words.into_iter().map(text_of).collect::<Result<_, _>>()?;
        Ok(Self {
            target,
            is_read,
            n_passes: passes.as_deref().map(|text| number("--passes", text, 0, 100)).transpose()?,
            round_ms: round.as_deref().map(round_ms).transpose()?,
            most_rounds: rounds.as_deref().map(|text| number("--rounds", text, 0, 10_000)).transpose()?,
            load,
            folder: folder.map(PathBuf::from),
            is_plan_only,
        })
    }
}

fn number(name: &str, text: &str, least: u32, most: u32) -> anyhow::Result<u32> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| anyhow!("{name} {text}: it is no number from {least} to {most}"))
}

/// Shortest round.
const LEAST_ROUND_MS: u64 = 100;

fn round_ms(text: &str) -> anyhow::Result<u64> {
    let time =
        parse_time_us(text, TimeUnit::Seconds).map_err(|_| anyhow!("--round {text}: it is no time such as 60s"))?;
    let time_ms = time / 1_000;
    if time_ms < LEAST_ROUND_MS {
        return Err(anyhow!("--round {text}: a round takes at least {LEAST_ROUND_MS} ms"));
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
    let work = [
        switch("read", "Read the device instead of overwriting it: one pass, then rounds of reads"),
        value("passes", "N", "Passes over the device, 0 to 100 (2, or 1 with --read)"),
        value("round", "TIME", "Time of a round (60s)"),
        value("rounds", "N", "Most rounds, 0 to 10000 (25); 0: only the passes"),
    ];
    let habits = [
        switch("yes", "Do not ask before the data of the device are destroyed"),
        switch("plan", "Tell what would be done, and do nothing"),
        value("folder", "FOLDER", "The folder of the work; by default NAME.precondition here")
            .value_hint(ValueHint::DirPath),
        value("resume", "FOLDER", "Go on with work that was ended or killed").value_hint(ValueHint::DirPath),
        switch("json", "Print the outcome as JSON"),
    ];
    Command::new("ferrio precondition")
        .bin_name("ferrio precondition")
        .about("Fill storage until its figures stay the same")
        .args([target.value_hint(ValueHint::FilePath), load])
        .long_about(ABOUT)
        .args(work)
        .args(habits)
        .after_help(
            "The folder has plan.json, progress.json and a record of each round (rounds/), which ferrio report, plot and compare read. Rounds before a pause do not count: \
             an SSD recovers in it.\n\n\
             Exit code: 0: steady, or no rounds were wanted; 1: all rounds were made, and they are not steady; 2 after an error; 128 + n after signal n (130 after Ctrl-C).",
        )
}
