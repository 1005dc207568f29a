//! The meaning of a command line, as a value: the result of [`crate::parse`].
//!
//! Must not know: how messages are printed and jobs are run.

use crate::beyond::Beyond;
use crate::changes::ReadonlyChange;
use crate::command_line::remote::RemoteSettings;
use crate::debug::DebugSettings;
use crate::diagnostic::Diagnostic;
use crate::machine_tests::MachineTest;
use crate::message::Message;
use crate::origin::Origin;
use ferrio_spec::{ControlSettings, OutputFormats, RunSpec};
use std::fmt;
use std::path::PathBuf;

/// The task of this invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Run,
    /// Nothing more: `--parse-only` ends after the options were read.
    ParseOnly,
    /// `--version`: print the messages.
    Version,
    /// `--help`: print the messages.
    Help,
    /// `--cmdhelp`: print the messages.
    CmdHelp,
    /// `--enghelp`: print the messages.
    EngHelp,
    /// `--debug=help`: print the messages.
    DebugHelp,
    /// `--showcmd`: print the messages.
    ShowCmd,
    /// `--idle-prof=calibrate`: print how long a unit of the measurement takes.
    IdleCalibration,
    /// `--merge-blktrace-only`: merge the traces of the jobs, start none.
    MergeTraces,
    /// `--inflate-log`: print the rows of a compressed log.
    InflateLog,
    /// `--server`: run the jobs of clients.
    Serve,
    /// `--client`: run job files on servers.
    Client,
    /// `--crctest`, `--memcpytest`, `--cpuclock-test`: measure or test the machine, without a job.
    Machine(MachineTest),
}

/// Destination and formats of results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputSettings {
    /// `--output-format` and related switches.
    pub formats: OutputFormats,
    /// `--output`: this file instead of standard output.
    pub file: Option<PathBuf>,
    /// `--terse-version`: 2 to 5.
    pub terse_version: u8,
    /// `--bandwidth-log`: first part of the names of the logs.
    pub bandwidth_log: Option<PathBuf>,
    /// `--record`: a file that keeps the record of the run.
    pub record: Option<PathBuf>,
    /// `--keep`: the run is kept in the history, under this name; empty: without a name.
    pub keep: Option<String>,
    /// `--anonymous`: reports and the record leave out what they tell about the machine.
    pub is_anonymous: bool,
}

impl Default for OutputSettings {
    fn default() -> Self {
        Self {
            formats: OutputFormats::default(),
            file: None,
            terse_version: 3,
            bandwidth_log: None,
            record: None,
            keep: None,
            is_anonymous: false,
        }
    }
}

/// When to show the progress line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EtaWhen {
    /// If standard output is a terminal.
    #[default]
    Auto,
    Always,
    Never,
}

/// The progress line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EtaSettings {
    /// `--eta`.
    pub when: EtaWhen,
    /// `--eta-interval`, milliseconds, at least 250.
    pub interval_ms: u64,
    /// `--eta-newline`, milliseconds; `None`: overwrite the line.
    pub newline_ms: Option<u64>,
}

impl Default for EtaSettings {
    fn default() -> Self {
        Self { when: EtaWhen::Auto, interval_ms: 1000, newline_ms: None }
    }
}

/// The meaning of a valid command line.
#[derive(Debug, Clone, PartialEq)]
pub struct Invocation {
    pub mode: Mode,
    pub run: RunSpec,
    /// Destination and formats of results.
    pub output: OutputSettings,
    /// The progress line.
    pub eta: EtaSettings,
    /// When to report before the end, and events that end the jobs early.
    pub control: ControlSettings,
    /// `--readonly`; the jobs have been checked, files must not be laid out.
    pub readonly: bool,
    pub warnings_fatal: bool,
    pub debug: DebugSettings,
    /// `--inflate-log`: the log to print.
    pub inflate_log: Option<PathBuf>,
    /// Rows (hours) of the table of latencies that the profile `act` shows at the end of a run.
    pub n_latency_slices: Option<u64>,
    /// What the jobs may do beyond I/O on files of the directory that they are started in.
    pub(crate) maybe_beyond: Vec<Beyond>,
    /// What the jobs change beside their I/O, although they only read.
    pub changes: Vec<ReadonlyChange>,
    /// `--safe`: job files do no more than with native commands.
    pub is_safe: bool,
    /// Clients and servers.
    pub remote: RemoteSettings,
    /// Messages to print before the task starts, in this order.
    pub messages: Vec<Message>,
}

impl Invocation {
    /// What the jobs do beyond I/O on files of the directory that they are started in, by options of these origins. Their files and traces are looked at,
    /// which takes long where a server does not answer; parsing looks at none.
    pub fn beyond(&self, counts: impl Fn(&Origin) -> bool) -> Vec<Beyond> {
        let counted = self.maybe_beyond.iter().filter(|one| counts(&one.origin));
        counted.filter_map(|one| one.done_by(&self.run.jobs)).collect()
    }

    /// Names of the given options that a caller has to serve beside the run, however they were written: for reports, files of the whole run,
    /// and lines for people. A caller that does not serve one of them refuses it.
    pub fn options_of_reports(&self) -> impl Iterator<Item = &'static str> {
        let (output, control) = (&self.output, &self.control);
        let given = [
            (output.record.is_some(), "--record"),
            (output.keep.is_some(), "--keep"),
            (output.bandwidth_log.is_some(), "--bandwidth-log"),
            (control.status_interval.is_some(), "--status-interval"),
            (self.n_latency_slices.is_some(), "--profile=act"),
            (output.formats != OutputFormats::default(), "--output-format"),
            (output.file.is_some(), "--output"),
            (output.is_anonymous, "--anonymous"),
            (self.is_safe, "--safe"),
            (self.debug.mask != 0, "--debug"),
        ];
        given.into_iter().filter(|(is_given, _)| *is_given).map(|(_, name)| name)
    }
}

/// A command line that cannot be executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageError {
    /// Messages to print, in this order.
    pub messages: Vec<Message>,
    /// The refusals of options among them, as values.
    pub diagnostics: Vec<Diagnostic>,
    /// `--output`, if it came before the error: errors are written to that file, too.
    pub output_file: Option<PathBuf>,
    pub exit_code: u8,
}

/// All messages one after the other, in ferrio's own words.
impl fmt::Display for UsageError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.messages.iter().try_for_each(|(_, text)| text.fmt(formatter))
    }
}

impl std::error::Error for UsageError {}

impl UsageError {
    /// The refusals of options, a line each (the last one without its end), for programs and people that do not need fio's own lines; `None`: something else is wrong,
    /// and only the messages say what.
    pub fn refusals(&self) -> Option<String> {
        let lines: Vec<String> = self.diagnostics.iter().map(ToString::to_string).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}
