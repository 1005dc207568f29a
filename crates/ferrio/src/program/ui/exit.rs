//! Exit codes of native commands, in one table.
//!
//! `ferrio run` counts failed jobs as fio does; a command that a signal ends has 128 more. In the place of fio the codes are those of
//! fio (`drop_in`). Must not know: any command. Start reading at [`Exit`].

use crate::ui::console::Console;
use ferrio::session::SessionOutcome;
use std::process::ExitCode;

/// How a native command has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The command did what it was asked for.
    Fine = 0,
    /// A finding, a lost block or a difference that was asked to fail.
    Found = 1,
    /// The command could not do it.
    Failed = 2,
    /// The results do not decide.
    Undecided = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// The last line of the help of commands that find nothing.
pub(crate) const PLAIN: &str = "Exit code: 0; 2 after an error.";
/// The same of commands that end on a signal with the figures so far.
pub(crate) const PLAIN_OR_SIGNAL: &str = "Exit code: 0; 2 after an error; 128 + n after signal n (130 after Ctrl-C).";

/// The code of a command that a signal has ended; without one, it could not do it.
pub(crate) fn by_signal(signal: Option<i32>) -> ExitCode {
    // Signal numbers are below 65.
    signal.map_or(Exit::Failed.into(), |number| ExitCode::from((128 + number) as u8))
}

/// The code at the end of a command, part of whose work may have failed.
pub(crate) fn at_end(has_failed: bool) -> ExitCode {
    if has_failed { Exit::Failed.into() } else { Exit::Fine.into() }
}

/// Number of failed jobs, plus 128 if a signal ended the run. Incomplete output or logs count as one failed job.
pub(crate) fn exit_number(outcome: &SessionOutcome, signal: Option<i32>, console: &Console) -> u8 {
    let signal = if signal.is_some() { 128 } else { 0 };
    let has_lost = console.has_failed || outcome.run.n_logs_lost > 0;
    let code = (outcome.run.n_failed + signal + u32::from(has_lost)) & 0xff;
    code as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `ferrio help exit-codes`, the manual page and the glossary say the same.
    #[test]
    fn the_topic_has_all_codes() {
        let topic = ferrio_manual::topics::find("exit-codes").map(|topic| topic.text(200)).unwrap_or_default();
        for (exit, meaning) in [
            (Exit::Fine, "The command did what it was asked for."),
            (Exit::Found, "A finding or a difference that was asked to fail"),
            (Exit::Failed, "The command could not do it"),
            (Exit::Undecided, "The results do not decide"),
        ] {
            assert!(topic.contains(&format!("\n{}: {meaning}", exit as u8)), "{topic}");
        }
        assert!(PLAIN_OR_SIGNAL.starts_with(PLAIN.trim_end_matches('.')));
    }
}
