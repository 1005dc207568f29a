//! `ferrio compare`: what is the same, faster or slower in new results.
//!
//! Must not know: how results are compared and shown. Start reading at [`run`].

use crate::shared::comparison::{self, CompareOptions, ComparedResults, PROGRAM};
use crate::ui::arguments;
use crate::ui::console::Console;
use clap::{CommandFactory, Parser};
use std::ffi::OsString;
use std::process::ExitCode;

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Parser)]
#[command(
    name = "ferrio compare",
    bin_name = "ferrio compare",
    about = "Compare results: same, faster, slower, different, or can't tell",
    long_about = LONG_ABOUT,
    after_help = "Exit code: 0; 1 if a condition of --fail-if is met; 2 after an error; 3 if the results do not decide a condition (0 with --allow-unknown).",
)]
struct Request {
    #[command(flatten)]
    compared: ComparedResults,
    #[command(flatten)]
    options: CompareOptions,
}

const LONG_ABOUT: &str = "\
Compare results: same, faster, slower, different, or can't tell.

  ferrio compare before.json after.json
  ferrio compare before.json before_*.log after.json after_*.log
  ferrio compare before1.json before2.json before3.json \\
         --against after1.json after2.json after3.json
  ferrio compare before/ after/

Results are reports of fio and ferrio (JSON, text, terse) with their performance logs, those of \
ferrio run --json, records (--record), kept runs (history:RUN), and folders of repeated runs and sweeps (ferrio run --repeat N --record FOLDER, ferrio sweep), point by point. Without \
--against, each result is compared with the first one.

Faster and slower rest on repeated runs, which show how much one run differs \
from the next. One run on each side is at most different: by the course of both \
(logs, records, the precision that ferrio run tells), or by a change that is \
larger than noise.

  --fail-if 'read.iops < -5%'         certainly more than 5 % slower
  --fail-if 'p99 > 10% and p99 > 50us'
  --fail-if 'sync.p99 > 20% or job1:write.bw is slower'

Figures are iops, bw, mean, p50, p95, p99, p99.9, p99.99, max and any; read, \
write, trim or sync and a job may stand before them. A change has a unit: %, \
iops, ns, us, ms, s, kB/s, MB/s, GB/s. Verdicts are same, faster, slower, \
differs and unknown. The interval of the change decides (of repeated runs, or \
of the course of two); where it reaches to both sides of the value or there is \
none, the exit code is 3, so that a step of CI does not pass by chance.";

/// The command, for help, manual page and completions.
pub(crate) fn describe() -> clap::Command {
    Request::command()
}

/// Runs the command with its arguments (the command's name first).
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    match arguments::parse::<Request>(PROGRAM, arguments) {
        Ok(request) => comparison::answer(&request.compared, &request.options, &mut Console::of_command(PROGRAM)),
        Err(code) => code,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Request, String> {
        let words = ["compare"].iter().chain(words).map(OsString::from);
        Request::try_parse_from(words).map_err(|error| error.to_string())
    }

    #[test]
    fn arguments_are_understood() {
        let request = parsed(&["a", "b", "--against", "c", "d", "--threshold=2.5%"]).expect("a request");
        assert_eq!((request.compared.results.len(), request.compared.against.len()), (2, 2));
        assert!((request.options.threshold - 2.5).abs() < 1e-9);
        assert_eq!(parsed(&["a", "b"]), parsed(&["a", "b", "--threshold", "1"]));
        for bad in
            [&[][..], &["a", "--threshold=-1"], &["a", "--threshold=nan"], &["a", "--threshold=100%"], &["a", "--x"]]
        {
            assert!(parsed(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn lines_of_help_fit_80_columns() {
        let help = arguments::help_text(describe());
        assert!(help.lines().all(|line| line.len() <= 80), "{help}");
    }
}
