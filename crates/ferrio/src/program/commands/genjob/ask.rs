//! The questions: one for each part of the request that was not given.
//!
//! Questions go to the standard error, so that the job file may go to the standard output. Must not know: targets, options of
//! jobs. Start reading at [`all`].

use super::Request;
use super::request::{JobGoal, JobRequest, RUNTIME_SEC, block_size};
use crate::ui::console::Console;
use crate::ui::{byte_size, job_text};
use anyhow::anyhow;
use clap::ValueEnum;
use std::io::{BufRead, Read as _};

/// So many answers to a question may be wrong.
const MAX_TRIES: usize = 5;

const MAX_ANSWER_BYTES: u64 = 8192;

/// Where answers come from, and questions go to.
struct Dialogue<'a> {
    answers: &'a mut dyn BufRead,
    console: &'a mut Console,
}

/// Asks for all that was not given.
///
/// # Errors
/// In words: the answers ended, or contradict each other.
pub(super) fn all(request: &Request, answers: &mut dyn BufRead, console: &mut Console) -> anyhow::Result<JobRequest> {
    let mut ask = Dialogue { answers, console };
    let measure = match request.measure {
        Some(measure) => measure,
        None => ask.question(
            "What to measure: latency, iops, bandwidth, mixed, database or log-writer?",
            "latency",
            &|text| JobGoal::from_str(text, true).map_err(|_| anyhow!("that is none of them")),
        )?,
    };
    let usual = measure.usual();
    let target = match &request.target {
        Some(target) => target.clone(),
        None => ask.question("On which directory, file or device?", ".", &job_text::check_value)?,
    };
    let may_write = request.write || ask.question("May the job write?", "no", &yes_or_no)?;
    let overwrites = request.overwrite
        || (may_write && ask.question("May it destroy data that are there already?", "no", &yes_or_no)?);
    let read_share = match request.read_share {
        Some(share) => share,
        None if measure == JobGoal::LogWriter => usual.read_share,
        None if !may_write => 100,
        None => ask.question("Percent of reads?", &usual.read_share.to_string(), &|text| number(text, 0, 100))?,
    };
    let block_bytes = match request.block_size {
        Some(bytes) => bytes,
        None => ask.question("Size of a block?", &usual.block_bytes.to_string(), &block_size)?,
    };
    let depth = match request.depth {
        Some(depth) => depth,
        None if measure == JobGoal::LogWriter => usual.depth,
        None => ask.question("I/Os in flight together?", &usual.depth.to_string(), &|text| number(text, 1, 65_536))?,
    };
    let size_bytes = match request.size {
        Some(bytes) => Some(bytes),
        None => ask.question("Size of the data (- for what is usual)?", "-", &size)?,
    };
    let runtime_sec = match request.runtime {
        Some(seconds) => seconds,
        None => ask.question("Seconds?", &RUNTIME_SEC.to_string(), &|text| number(text, 1, 10_000_000))?,
    };
    let is_direct = !request.buffered && ask.question("Past the page cache?", "yes", &yes_or_no)?;
    let wanted =
        JobRequest { measure, target, overwrites, read_share, block_bytes, depth, size_bytes, runtime_sec, is_direct };
    wanted.check(may_write)
}

impl Dialogue<'_> {
    /// The answer to a question; an empty one is the default.
    fn question<T>(
        &mut self,
        question: &str,
        default: &str,
        parse: &dyn Fn(&str) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        for _ in 0..MAX_TRIES {
            self.console.error(&format!("{question} [{default}] "));
            let answer = self.line()?;
            let answer = answer.trim();
            match parse(if answer.is_empty() { default } else { answer }) {
                Ok(value) => return Ok(value),
                Err(why) => self.console.error(&format!("{answer}: {why}\n")),
            }
        }
        Err(anyhow!("{MAX_TRIES} answers were not understood: given up"))
    }

    fn line(&mut self) -> anyhow::Result<String> {
        let mut bytes = Vec::new();
        let read = self.answers.take(MAX_ANSWER_BYTES).read_until(b'\n', &mut bytes);
        match read {
            Ok(0) => Err(anyhow!("the answers have ended before the questions")),
            Ok(_) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) => Err(anyhow!("the answer cannot be read: {error}")),
        }
    }
}

fn yes_or_no(text: &str) -> anyhow::Result<bool> {
    match text.to_ascii_lowercase().as_str() {
        "y" | "yes" => Ok(true),
        "n" | "no" => Ok(false),
        _ => Err(anyhow!("yes or no is wanted")),
    }
}

fn number(text: &str, min: u64, max: u64) -> anyhow::Result<u64> {
    let number = text.parse().ok().filter(|number| (min..=max).contains(number));
    number.ok_or_else(|| anyhow!("a number from {min} to {max} is wanted"))
}

fn size(text: &str) -> anyhow::Result<Option<u64>> {
    if text == "-" { Ok(None) } else { byte_size::parse(text).map(Some) }
}
