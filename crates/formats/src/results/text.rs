//! Lines of texts that people have copied: from posts, mails and terminals.
//!
//! Must not know: formats. Start reading at [`lines_of`].

use crate::results::RunResult;
use std::borrow::Cow;

/// Longest line that is looked at, bytes; no line of a report is longer.
const LONGEST: usize = 64 << 10;

/// The lines of a text, with their numbers from 1. fio shows its progress between carriage returns, so that these part a line too.
pub(crate) fn lines_of(bytes: &[u8]) -> impl Iterator<Item = (u64, Cow<'_, str>)> {
    (1..).zip(bytes.split(|byte| *byte == b'\n')).flat_map(move |(number, line)| {
        line.split(|byte| *byte == b'\r')
            .map(move |part| (number, String::from_utf8_lossy(&part[..part.len().min(LONGEST)])))
    })
}

/// The line without blanks around it, and without the marks of a quotation before it.
pub(crate) fn clean(line: &str) -> &str {
    line.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '>').trim_end()
}

/// What a reader has to know of a job whose reads, writes and trims are in one.
pub(crate) fn mixed_remark(job: &str) -> String {
    format!(
        "The report of job {job:?} has reads, writes and trims in one (unified_rw_reporting): they are shown as reads."
    )
}

/// Words that C prints for what is no finite number.
const NO_NUMBERS: [&str; 4] = ["-nan", "nan", "-inf", "inf"];

/// The word is one that C prints for what is no finite number, with a percent sign or without.
pub(crate) fn is_no_number(word: &str) -> bool {
    NO_NUMBERS.contains(&word.strip_suffix('%').unwrap_or(word))
}

/// Enters the number of figures that are no numbers, and a remark about them.
pub(crate) fn tell_no_numbers(result: &mut RunResult, n_figures: usize) {
    result.gaps.n_no_numbers = u32::try_from(n_figures).unwrap_or(u32::MAX);
    match n_figures {
        0 => {}
        1 => result.remarks.push("1 figure of the file is nan or inf, which is no number: it counts as 0.".to_owned()),
        n => result
            .remarks
            .push(format!("{n} figures of the file are nan or inf, which are no numbers: they count as 0.")),
    }
}
