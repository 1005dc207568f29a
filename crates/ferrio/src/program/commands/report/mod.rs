//! `ferrio report`: results as a page, or the reports of a run again, from its record (`--record`).
//!
//! Must not know: how a report or a page looks, how results are stored. Start reading at [`run`].

mod again;
pub(crate) mod examined;
mod page;

use crate::ui::arguments;
use crate::ui::exit;
use anyhow::anyhow;
use clap::{CommandFactory, Parser};
use ferrio_spec::{OUTPUT_FORMAT_NAMES, OutputFormat, OutputFormats};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Parser)]
#[command(
    name = "ferrio report",
    bin_name = "ferrio report",
    about = "Show results as a page, or the report of a run again",
    long_about = LONG_ABOUT,
    after_help = exit::PLAIN,
)]
struct Request {
    /// Files with results: reports (JSON, text, terse) and performance logs of fio or ferrio, records of ferrio (--record), kept runs (history:RUN)
    #[arg(value_name = "RESULT", required = true)]
    results: Vec<PathBuf>,
    #[arg(long, help = format!("The report of a record again, in formats joined by commas: {OUTPUT_FORMAT_NAMES}"), value_name = "LIST", value_parser = formats)]
    output_format: Option<OutputFormats>,
    /// Print a table with commas and a header, a line for each job and direction
    #[arg(long, conflicts_with = "output_format")]
    csv: bool,
    /// Version of terse output: 2 to 5
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(2..=5))]
    terse_version: u32,
    /// Leave out names of host, kernel, models, paths and mounts
    #[arg(long)]
    anonymous: bool,
    /// Write to this file: a page if it ends in .html, a table if it ends in .csv
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

const LONG_ABOUT: &str = "\
Show results as a page, or the report of a run again.

  ferrio report run.json -o page.html
  ferrio report run.json randread_*.log -o page.html
  ferrio report before.json after.json -o page.html

  ferrio report run.json          (headline figures, and findings about them)
  ferrio report --csv run.json

The page is one file with everything in it: findings, figures, and charts over \
time and of latencies. Charts of latencies need --output-format=json+; charts \
over time need performance logs (write_bw_log, write_iops_log, write_lat_log) \
or a record. ferrio run --html=page.html makes a page of its own run.

  ferrio --record=run.record JOBFILE
  ferrio report --output-format=json run.record

A report is that of the run to the byte. What the run printed beside its \
reports (start-up lines, progress) is not in the record. Lines of jsonl are \
there if the run wrote them too.";

impl Request {
    fn is_for_page(&self) -> bool {
        !self.csv && self.has_ending(&["html", "htm"])
    }

    fn is_for_table(&self) -> bool {
        self.csv || self.has_ending(&["csv"])
    }

    /// The ending of the output's name says what it is, unless a format is given.
    fn has_ending(&self, endings: &[&str]) -> bool {
        let ending = self.output.as_ref().and_then(|output| output.extension());
        self.output_format.is_none() && ending.is_some_and(|ending| endings.iter().any(|known| ending == *known))
    }
}

/// The command, for help, manual page and completions.
pub(crate) fn describe() -> clap::Command {
    Request::command()
}

/// Runs the command with its arguments (the command's name first).
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    match arguments::parse::<Request>("ferrio report", arguments) {
        Ok(request) if request.is_for_page() || request.is_for_table() => page::show(&request),
        Ok(request) => again::show(&request),
        Err(code) => code,
    }
}

/// Parses names of formats joined by commas.
fn formats(text: &str) -> anyhow::Result<OutputFormats> {
    let no_format = |name| format!("{name:?} is no format: allowed are {OUTPUT_FORMAT_NAMES}, joined by commas");
    text.split(',').map(|name| OutputFormat::from_name(name).ok_or_else(|| anyhow!(no_format(name)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Request, String> {
        let words = ["report"].iter().chain(words).map(OsString::from);
        Request::try_parse_from(words).map_err(|error| error.to_string())
    }

    #[test]
    fn formats_are_those_of_the_table() {
        let request = parsed(&["--output-format=json+,terse", "r"]).expect("a request");
        assert_eq!(
            request.output_format,
            Some(OutputFormats::from_iter([OutputFormat::JsonPlus, OutputFormat::Terse]))
        );
        assert_eq!(parsed(&["r"]).expect("a request").output_format, None);
        let error = parsed(&["--output-format=xml", "r"]).expect_err("no format");
        assert!(error.contains(OUTPUT_FORMAT_NAMES), "{error}");
        assert!(parsed(&["r", "-o", "page.html"]).expect("a request").is_for_page());
        for other in [&["r", "-o", "page.txt"][..], &["r", "-o", "page.html", "--output-format=json"], &["r"]] {
            assert!(!parsed(other).expect("a request").is_for_page(), "{other:?}");
        }
        for table in [&["r", "--csv"][..], &["r", "-o", "t.csv"], &["r", "--csv", "-o", "page.html"]] {
            let request = parsed(table).expect("a request");
            assert!(request.is_for_table() && !request.is_for_page(), "{table:?}");
        }
        assert!(parsed(&["r", "--csv", "--output-format=json"]).is_err());
        assert!(parsed(&[]).is_err() && parsed(&["--terse-version=6", "r"]).is_err());
    }
}
