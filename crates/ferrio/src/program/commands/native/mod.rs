//! The native commands that take fio's job files and options: `ferrio run` and `ferrio check`.
//!
//! Must not know: rules, how figures are laid out. Start reading at [`run::run`] and [`check::run`].

pub(crate) mod check;
pub(crate) mod describe;
mod ending;
pub(crate) mod errors;
pub(crate) mod fleet;
mod live;
pub(crate) mod run;
mod viewers;
mod web;

use crate::ui::own_options;
use crate::ui::permits::{Author, Permits, readonly_refusal};
use anyhow::anyhow;
use clap::{Args, ValueHint};
use ferrio::session::VERSION;
use ferrio_job::invocation::Invocation;
use ferrio_job::message::{Message, OutputStream};
use ferrio_job::{Mode, SystemEnvironment};
use ferrio_spec::FormatKind;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::IsTerminal;
use std::path::PathBuf;
use web::{ViewOptions, WebOptions};

/// Options for reports in fio's formats, which the native commands do not write.
const REPORTS_OF_FIO: [&str; 6] =
    ["--output-format", "--minimal", "--append-terse", "--terse-version", "--status-interval", "--eta"];

/// Those among them that a fleet has beside its own report.
const FORMATS_OF_FIO: [&str; 4] = ["--output-format", "--minimal", "--append-terse", "--terse-version"];

/// The format that `run` writes too, and what sets the length of its intervals.
const JSONL: &str = "--output-format=jsonl";
const INTERVAL: &str = "--status-interval";

/// The parsed arguments of a native command.
struct Request {
    own: OwnOptions,
    invocation: Invocation,
    /// Files that were read for the invocation.
    inputs: Vec<PathBuf>,
}

// The report for programs.
#[derive(Debug, Args)]
pub(super) struct JsonOption {
    /// Print the whole result as JSON
    #[arg(long)]
    json: bool,
}

// The figures for programs.
#[derive(Debug, Args)]
pub(super) struct CsvOption {
    /// Print the figures with commas and a header, a line for each job and direction, without findings
    #[arg(long)]
    csv: bool,
}

// The page of a run.
#[derive(Debug, Args)]
pub(super) struct PageOption {
    /// Write a page with charts too
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    html: Option<PathBuf>,
}

/// The options that are not fio's; all but `--json` are of `run` alone.
#[derive(Default)]
struct OwnOptions {
    json: bool,
    csv: bool,
    /// `--output-format=jsonl`.
    jsonl: bool,
    /// Formats of fio are asked for.
    of_fio: bool,
    live: bool,
    web: Option<WebOptions>,
    /// `--html`: the file of the page.
    html: Option<PathBuf>,
}

impl OwnOptions {
    /// Takes them out of the arguments.
    fn take(command: &str, words: &mut Vec<OsString>) -> anyhow::Result<Self> {
        let JsonOption { json } = own_options::take(words)?;
        if command == "check" {
            return Ok(Self { json, ..Self::default() });
        }
        let CsvOption { csv } = own_options::take(words)?;
        let PageOption { html } = own_options::take(words)?;
        let views: ViewOptions = own_options::take(words)?;
        let live = views.live;
        if csv && json {
            return Err(anyhow!("--json and --csv are two forms of one report: give one of them"));
        }
        let jsonl = take_jsonl(words);
        if jsonl && (csv || json) {
            return Err(anyhow!("{JSONL} has all figures already: leave out --json and --csv"));
        }
        let has_name = |word: &OsString| word.to_str().is_some_and(|word| FORMATS_OF_FIO.contains(&name_of(word)));
        let of_fio = command == "fleet" && words.iter().any(|word| word != JSONL && has_name(word));
        if of_fio && (csv || json || jsonl) {
            return Err(anyhow!(
                "--json, --csv, {JSONL} and the formats of fio are forms of one report: give one of them"
            ));
        }
        Ok(Self { json, csv, jsonl, of_fio, live, web: WebOptions::of(views)?, html })
    }
}

fn name_of(word: &str) -> &str {
    word.split('=').next().unwrap_or_default()
}

/// True if the lines of jsonl are asked for; the option then is one word.
fn take_jsonl(words: &mut Vec<OsString>) -> bool {
    let (name, value) = ("--output-format", "jsonl");
    if let Some(index) = words.windows(2).position(|pair| pair[0] == name && pair[1] == value) {
        words.remove(index + 1);
        words[index] = JSONL.into();
    }
    words.iter().any(|word| word == JSONL)
}

/// The arguments (the command's name first): some are the command's own, all others are fio's.
///
/// # Errors
/// The error contains the messages to print, with their streams.
fn parse(command: &str, arguments: &[OsString]) -> Result<Request, Vec<Message>> {
    let mut words = vec![OsString::from("ferrio")];
    words.extend(arguments.iter().skip(1).cloned());
    let refuse = |text: &dyn Display| vec![(OutputStream::Stderr, format!("ferrio {command}: {text}\n").into())];
    let is_run = command != "check";
    let own = OwnOptions::take(command, &mut words).map_err(|error| refuse(&error))?;
    let permits = if is_run { Permits::take(&mut words).map_err(|error| refuse(&error))? } else { Permits::all() };
    let jsonl = own.jsonl;
    let of_fio = |word: &OsString| {
        let word = word.to_str().unwrap_or_default();
        let name = name_of(word);
        if jsonl && (word == JSONL || name == INTERVAL) || own.of_fio && FORMATS_OF_FIO.contains(&name) {
            return None;
        }
        REPORTS_OF_FIO.contains(&name).then(|| name.to_owned())
    };
    if let Some(name) = words.iter().find_map(of_fio) {
        let own = if is_run { "--json for programs, and --output-format=jsonl" } else { "--json for programs" };
        let text = format!(
            "{name} belongs to the reports of fio, and this command has a report of its own ({own}); for that of fio \
             leave out the word {command}"
        );
        return Err(refuse(&text));
    }
    let environment = SystemEnvironment::new(VERSION).for_hosts(command == "fleet");
    let parsed = ferrio_job::parse(&words, &environment);
    let invocation = parsed.map_err(|error| match error.refusals() {
        Some(lines) => lines.lines().flat_map(|line| refuse(&line)).collect(),
        None => error.messages,
    })?;
    if let Some(name) = without_effect(&invocation, &own, is_run) {
        return Err(refuse(&format!("{name} has no effect here: leave out the word {command}")));
    }
    if own.of_fio && invocation.output.formats.has(FormatKind::Records) {
        return Err(refuse(&"jsonl is written while the run goes on: give it alone"));
    }
    let tells_early = [(jsonl, JSONL), (own.web.is_some(), "--web")].into_iter().find(|(is_wanted, _)| *is_wanted);
    if let Some((_, name)) = tells_early.filter(|_| invocation.output.is_anonymous) {
        return Err(refuse(&format!(
            "--anonymous and {name} do not go together: figures are shown before all names are known"
        )));
    }
    if own.live
        && let Some(text) = no_live_view(&invocation, jsonl)
    {
        return Err(refuse(&text));
    }
    if is_run && invocation.is_safe && permits.are_some() {
        return Err(refuse(&"--safe and --allow do not go together: this command is as --safe is, but for --allow"));
    }
    if let Some(lines) = permits.refusal(&invocation, Author::User) {
        return Err(lines.lines().flat_map(|line| refuse(&line)).collect());
    }
    if let Some(lines) = readonly_refusal(&invocation, Author::User) {
        return Err(lines.lines().flat_map(|line| refuse(&line)).collect());
    }
    match invocation.mode {
        Mode::Run => Ok(Request { own, invocation, inputs: environment.opened_files() }),
        _ if invocation.messages.is_empty() => Err(refuse(&"the options ask for something else than a run")),
        _ => Err(invocation.messages),
    }
}

/// Why a run cannot be shown on the whole terminal, and what to do.
fn no_live_view(invocation: &Invocation, is_jsonl: bool) -> Option<String> {
    if !std::io::stdout().is_terminal() {
        let cure = format!("leave it out, or follow the run with {JSONL}");
        return Some(format!("--live shows the run on a terminal, and the standard output is none: {cure}"));
    }
    let shares_screen = is_jsonl && invocation.output.file.is_none();
    shares_screen.then(|| format!("--live takes the whole terminal: give {JSONL} a file (--output=FILE)"))
}

/// The first option that only the front end of fio serves, however it was written.
fn without_effect(invocation: &Invocation, own: &OwnOptions, is_run: bool) -> Option<&'static str> {
    let is_served = |name: &str| match name {
        "--output" | "--anonymous" | "--debug" | "--safe" => true,
        "--keep" | "--record" => is_run,
        "--status-interval" => own.jsonl,
        "--output-format" => own.jsonl || own.of_fio,
        _ => false,
    };
    invocation.options_of_reports().find(|name| !is_served(name))
}
