//! The program's own switches: names (among those of the options of jobs), arguments, help. Options of jobs are in the option table.
//!
//! Must not know: the effect of a switch (see [`super::parse`]). Start reading at [`SWITCHES`].

use super::getopt::{LongName, NameTarget};
use super::profile::Chosen;
use crate::options;
use crate::options::definition::{OptionDef, Status};
use ferrio_spec::DeviationKind::{self, Different, Mended, Stricter};
use ferrio_spec::OUTPUT_FORMAT_NAMES;

/// Identity of a switch; its row is in [`SWITCHES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    Debug,
    ParseOnly,
    MergeBlktraceOnly,
    Output,
    /// `--record`, which fio does not have.
    Record,
    /// `--keep`, which fio does not have.
    Keep,
    /// `--anonymous`, which fio does not have.
    Anonymous,
    /// `--safe`, which fio does not have.
    Safe,
    BandwidthLog,
    Minimal,
    OutputFormat,
    AppendTerse,
    TerseVersion,
    Version,
    Help,
    CpuclockTest,
    Crctest,
    Memcpytest,
    Cmdhelp,
    Enghelp,
    Showcmd,
    Readonly,
    Eta,
    EtaInterval,
    EtaNewline,
    StatusInterval,
    Section,
    AllocSize,
    WarningsFatal,
    MaxJobs,
    Profile,
    Server,
    Daemonize,
    Client,
    RemoteConfig,
    /// `--server-key`, which fio does not have.
    ServerKey,
    /// `--server-policy`, which fio does not have.
    ServerPolicy,
    IdleProf,
    InflateLog,
    TriggerFile,
    TriggerTimeout,
    Trigger,
    TriggerRemote,
    AuxPath,
    LatencyLog,
}

/// Whether a switch or option of the command line takes an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// Never.
    None,
    /// Always: behind `=`, or as the next word.
    Required,
    /// Only behind `=` (of a one-letter form: right behind the letter).
    Optional,
}

/// One row of the switch table.
#[derive(Debug, Clone, Copy)]
pub struct SwitchDef {
    pub switch: Switch,
    /// Long name.
    pub name: &'static str,
    /// The form of one letter, e.g. `-h`.
    pub letter: char,
    /// If the switch takes an argument.
    pub argument: Argument,
    /// Long name with a placeholder for the argument, as the usage shows it.
    pub shown: &'static str,
    /// Lines of help; empty for a switch that the usage text omits.
    pub help: &'static [&'static str],
    /// How much of the switch is built.
    pub status: Status,
}

impl SwitchDef {
    /// ferrio can act on it.
    pub const fn is_built(&self) -> bool {
        self.status.is_built()
    }

    const fn deviates(mut self, kind: DeviationKind, how: &'static str) -> Self {
        self.status = self.status.deviating(kind, how);
        self
    }

    /// The letter of its short form, if it has one.
    pub fn short(&self) -> Option<char> {
        (self.letter != NO_LETTER).then_some(self.letter)
    }
}

const fn row(
    switch: Switch,
    letter: char,
    name: &'static str,
    argument: Argument,
    shown: &'static str,
    help: &'static [&'static str],
) -> SwitchDef {
    SwitchDef { switch, name, letter, argument, shown, help, status: Status::Supported }
}

const fn withdrawn(mut row: SwitchDef) -> SwitchDef {
    row.status = Status::NotApplicable("withdrawn; fio refuses it too");
    row
}

use Argument::{None as No, Optional, Required};
use Switch as S;

/// Letter of a switch that only ferrio has; no argument can contain it.
const NO_LETTER: char = '\0';

const TRIGGERED: &str =
    "Jobs without verify end as they should; fio 3.41 crashes while it saves the state of their verification.";

const UNKNOWN_NAMES: &str = "An unknown name in the list is refused; fio leaves it out if it knows another one.";

/// Every switch, in the order of fio's help.
pub const SWITCHES: &[SwitchDef] = &[
    row(
            S::Debug,
            'd',
            "debug",
            Required,
            "debug=options",
            &["Trace these groups, joined by commas; help lists them"],
        )
    .deviates(Different, "Lines describe the steps of ferrio, in fio's words where these are the same. The groups mutex, profile, net, compress, blktrace and helperthread are accepted and have no lines. Beside jsonl, lines go to the standard error."),
    row(S::ParseOnly, 'P', "parse-only", No, "parse-only", &["Read all options, start nothing"]),
    row(
            S::MergeBlktraceOnly,
            'A',
            "merge-blktrace-only",
            No,
            "merge-blktrace-only",
            &["Merge block traces, start nothing"],
        )
    .deviates(Stricter, "A run in which no job merges, or not all traces are merged, exits with 1."),
    row(S::Output, 'o', "output", Required, "output=file", &["Write all output to this file"]),
    row(
            S::BandwidthLog,
            'b',
            "bandwidth-log",
            Optional,
            "bandwidth-log[=prefix]",
            &["Write bandwidth logs of all jobs together"],
        )
    .deviates(Different, "Rows come at equal intervals, the shortest bwavgtime of the jobs. They come without a progress line, too.")
    .deviates(Stricter, "A log that cannot be opened or written is named and counts as a failed job in the exit code."),
    row(S::Minimal, 'm', "minimal", No, "minimal", &["Terse output only"]),
    row(
            S::OutputFormat,
            'F',
            "output-format",
            Required,
            "output-format=list",
            &["Formats joined by commas:", OUTPUT_FORMAT_NAMES],
        )
    .deviates(Mended, "A JSON document alone has notes and errors in ferrio.messages; fio writes them before it, so that it is no JSON. A document that cannot be written completely is removed from its file. Control characters in texts are escaped."),
    row(S::AppendTerse, 'f', "append-terse", Optional, "append-terse", &["Terse output beside the other formats"]),
    row(S::TerseVersion, 'V', "terse-version", Required, "terse-version=n", &["Version of terse output: 2 to 5 (3)"]),
    row(S::Version, 'v', "version", No, "version", &["Print the version"]),
    row(S::Help, 'h', "help", No, "help", &["Print this page"]),
    row(S::CpuclockTest, 'T', "cpuclock-test", No, "cpuclock-test", &["Test the clock of the CPUs"])
        .deviates(Different, "The lines about the calibration are those of ferrio."),
    row(S::Crctest, 'G', "crctest", Optional, "crctest[=list]", &["Measure the speed of checksums"])
        .deviates(Different, "The speeds are those of ferrio's checksums.")
        .deviates(Stricter, UNKNOWN_NAMES),
    row(S::Memcpytest, 'M', "memcpytest", Optional, "memcpytest[=list]", &["Measure the speed of memcpy"])
        .deviates(Different, "The speeds are those of ferrio's copies.")
        .deviates(Stricter, UNKNOWN_NAMES),
    row(S::Cmdhelp, 'c', "cmdhelp", Optional, "cmdhelp[=option]", &["Explain an option of jobs, or list all"]),
    row(
        S::Enghelp,
        'i',
        "enghelp",
        Optional,
        "enghelp[=engine[,option]]",
        &["List the engines, explain one, or one of its options"],
    ),
    row(S::Showcmd, 's', "showcmd", No, "showcmd", &["Print job files as command lines"]),
    row(S::Readonly, 'r', "readonly", No, "readonly", &["Refuse jobs that write or trim"])
        .deviates(Different, "A line on stderr names each option of a job file that changes something beside I/O. These are programs, logs, traces, engines that make or remove files. Native commands, and --safe, refuse them."),
    row(S::Eta, 'e', "eta", Required, "eta=when", &["Progress line: always, never, auto"]),
    row(S::EtaInterval, 'O', "eta-interval", Required, "eta-interval=t", &["Time between two progress lines"]),
    row(S::EtaNewline, 'E', "eta-newline", Required, "eta-newline=t", &["Begin a new progress line each 't'"]),
    row(S::StatusInterval, 'L', "status-interval", Required, "status-interval=t", &["Print a whole report each 't'"]),
    row(S::Section, 'x', "section", Required, "section=name", &["Run only this section of the job file; repeatable"]),
    row(S::AllocSize, 'a', "alloc-size", Required, "alloc-size=kb", &["Accepted; ferrio has no fixed memory pool"]),
    row(S::WarningsFatal, 'w', "warnings-fatal", No, "warnings-fatal", &["Treat warnings about options as errors"]),
    row(S::MaxJobs, 'j', "max-jobs", Required, "max-jobs=n", &["Accepted; ferrio has no fixed number of jobs"]),
    row(S::Profile, 'p', "profile", Required, "profile=name", &["Run a built-in set of jobs: act, tiobench"])
    .deviates(Different, "Options beside the profile count; fio overrides them. The profile's own options come after it.")
    .deviates(Stricter, "Other jobs beside a profile are refused; fio drops them."),
    row(S::Server, 'S', "server", Optional, "server[=address]", &["Serve jobs of clients that have this user's key"])
        .deviates(Stricter, "Clients need the server's key (--server-key), and without an address only 127.0.0.1 is listened to. Programs, libraries, devices and paths outside of the server's directory need a line of --server-policy. The protocol of fio is not spoken."),
    row(S::Daemonize, 'D', "daemonize", Required, "daemonize=file", &["Serve in the background; pid to file"])
        .deviates(Mended, "The command returns when the server listens and the file is written. In fio 3.42 it returns before."),
    row(S::Client, 'C', "client", Required, "client=host", &["Run the job files behind it on this server"])
        .deviates(Different, "Logs of servers on one host name the port. fio lets them overwrite each other. Reports of --status-interval are text alone, and in front of all clients it counts too. Lines of writes have no `; 0 zone resets`.")
        .deviates(Mended, "A JSON document alone has messages of servers in ferrio.messages. fio writes them before it. Logs of a server without a host's name, or on a local socket, are written; fio crashes, or writes none."),
    row(
        S::RemoteConfig,
        'R',
        "remote-config",
        Required,
        "remote-config=file",
        &["Job file on the server"],
    ),
    row(
        S::ServerKey,
        NO_LETTER,
        "server-key",
        Required,
        "server-key=file",
        &["Key that server and clients share", "(~/.config/ferrio/server.key, made if missing)"],
    ),
    row(
        S::ServerPolicy,
        NO_LETTER,
        "server-policy",
        Required,
        "server-policy=file",
        &["What the server allows beyond files below", "its directory (~/.config/ferrio/server.toml)"],
    ),
    row(
            S::IdleProf,
            'I',
            "idle-prof",
            Required,
            "idle-prof=kind",
            &["Report how idle the CPUs are: system, percpu; calibrate starts nothing"],
        )
    .deviates(Different, "The unit of work is not that of fio, so its times cannot be compared.")
    .deviates(Mended, "No figure is above 100 %, and CPUs that the process may not use are left out."),
    row(S::InflateLog, 'X', "inflate-log", Required, "inflate-log=file", &["Print a compressed log"]),
    row(
            S::TriggerFile,
            'W',
            "trigger-file",
            Required,
            "trigger-file=file",
            &["End all jobs when the file appears, and remove it"],
        )
    .deviates(Mended, TRIGGERED),
    row(
            S::TriggerTimeout,
            'B',
            "trigger-timeout",
            Required,
            "trigger-timeout=t",
            &["End all jobs after this time, in whole seconds"],
        )
    .deviates(Mended, TRIGGERED),
    row(
        S::Trigger,
        'H',
        "trigger",
        Required,
        "trigger=command",
        &["Command for the shell when trigger-file or trigger-timeout has ended the jobs"],
    ),
    row(S::TriggerRemote, 'J', "trigger-remote", Required, "trigger-remote=command", &["The same, run by the servers"])
        .deviates(Stricter, "A server runs the command only if its policy permits programs."),
    row(S::AuxPath, 'K', "aux-path", Required, "aux-path=path", &["Directory of the blocks that verify_dump keeps"]),
    row(
        S::Record,
        NO_LETTER,
        "record",
        Required,
        "record=file",
        &["Keep all figures in this file, for", "'ferrio report' to show again"],
    ),
    row(
        S::Keep,
        NO_LETTER,
        "keep",
        Optional,
        "keep[=name]",
        &["Keep the run, for 'ferrio history' to", "list, show and compare"],
    ),
    row(
        S::Anonymous,
        NO_LETTER,
        "anonymous",
        No,
        "anonymous",
        &["Reports and record without names of host,", "kernel, models, paths and mounts"],
    ),
    row(
        S::Safe,
        NO_LETTER,
        "safe",
        No,
        "safe",
        &["Job files run no program, load no library,", "and write nothing outside of this directory"],
    ),
    withdrawn(row(S::LatencyLog, 'l', "latency-log", Required, "latency-log", &[])),
];

pub fn by_letter(letter: char) -> Option<&'static SwitchDef> {
    SWITCHES.iter().find(|def| def.letter == letter)
}

/// The names that the command line knows while the current job has this engine, those of a profile first: they count before
/// options of jobs that are called the same.
pub(super) fn known_names(engine: &str, profile: Option<&Chosen>) -> Vec<LongName> {
    let switches =
        SWITCHES.iter().map(|def| LongName { name: def.name, argument: def.argument, target: NameTarget::Switch(def) });
    let names = |def: &'static OptionDef| {
        let argument = if def.kind.value_is_optional() { Argument::Optional } else { Argument::Required };
        def.names().map(move |name| LongName { name, argument, target: NameTarget::Option(def) })
    };
    let own = profile.into_iter().flat_map(Chosen::options).flat_map(names);
    let options = options::general().chain(options::of_engine(engine)).flat_map(names);
    // Without a chosen profile the options of all profiles are accepted, without effect.
    let unchosen = profile.is_none().then(options::of_profiles_alone).into_iter().flatten().flat_map(names);
    // The option `profile` is reached through the switch of that name.
    own.chain(switches).chain(options.filter(|known| known.name != "profile")).chain(unchosen).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_letters_are_unique() {
        for (index, def) in SWITCHES.iter().enumerate() {
            for other in &SWITCHES[..index] {
                assert!(def.name != other.name, "{}", def.name);
                assert!(def.letter != other.letter || def.letter == NO_LETTER, "{}", def.name);
            }
            assert!(def.shown.starts_with(def.name), "{}", def.name);
            let option = crate::options::find_general(def.name);
            assert!(option.is_none() || def.name == "profile", "{}", def.name);
        }
    }
}
