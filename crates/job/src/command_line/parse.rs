//! Reads a command line from left to right, then the job files it names.
//!
//! Must not know: what options mean. Start reading at [`parse`].

use super::getopt::{Item, LongName, NameTarget, Words};
use super::profile::{self, Chosen, Profiles};
use super::remote::{ClientFile, RemoteSettings};
use super::switches::known_names;
use super::switches::{Switch, SwitchDef};
use super::{control, settings};
use crate::collector::{Collector, Section, Stopped};
use crate::debug::DebugSettings;
use crate::environment::Environment;
use crate::error::JobError;
use crate::explain;
use crate::help;
use crate::invocation::{EtaSettings, Invocation, Mode, OutputSettings, UsageError};
use crate::job_file::sections::{FileRequest, add_file};
use crate::message::{OutputStream, UserLine};
use crate::options::definition::OptionDef;
use crate::options::kind::Kind;
use crate::options::secret::shown_line;
use crate::origin::Origin;
use crate::suggest::did_you_mean;
use crate::template::Template;
use ferrio_spec::{ControlSettings, OutputFormat, OutputFormats, RunSpec};
use ferrio_units::{Wording, byte_text};
use std::ffi::OsString;
use std::ops::Range;
use std::path::PathBuf;

/// Reads `arguments`, the program's name first, and the job files they name.
///
/// # Errors
/// Parses a command line. If anything keeps the jobs from running, the error contains the messages and fio's exit code.
pub fn parse(arguments: &[OsString], environment: &dyn Environment) -> Result<Invocation, UsageError> {
    read(arguments, environment, false).map(|(invocation, _)| invocation)
}

/// As [`parse`], and keeps the jobs so that further options can be set on them. Values of `--aux-path` are not in the template.
pub fn parse_template(
    arguments: &[OsString],
    environment: &dyn Environment,
) -> Result<(Invocation, Template), UsageError> {
    read(arguments, environment, true)
}

fn read(
    arguments: &[OsString],
    environment: &dyn Environment,
    keeps_sections: bool,
) -> Result<(Invocation, Template), UsageError> {
    let (program, arguments) = arguments.split_first().map_or((None, &[][..]), |(first, rest)| (Some(first), rest));
    let program = program.map_or("fio".into(), |program| program.to_string_lossy());
    let mut reading = ArgumentReader::new(&program, environment);
    reading.collector.kept_sections = keeps_sections.then(Vec::new);
    match reading.read(arguments) {
        Ok(mode) => {
            let jobs = reading.collector.kept_sections.take().unwrap_or_default();
            let strictness = reading.collector.strictness;
            let invocation = reading.into_invocation(mode);
            let run = RunSpec { jobs: Vec::new(), ..invocation.run.clone() };
            Ok((invocation, Template { jobs, run, strictness }))
        }
        Err(Stopped) => Err(reading.into_error()),
    }
}

/// How the loop over the command line continues after a switch.
enum AfterSwitch {
    Continue,
    /// Leave at once.
    Leave(Mode),
}

/// Where the arguments have jobs.
#[derive(Default)]
struct NamedFiles {
    files: Vec<OsString>,
    /// `--section`.
    only_sections: Vec<String>,
    /// A job was begun on the command line.
    has_jobs: bool,
}

struct ArgumentReader<'a> {
    program: &'a str,
    collector: Collector<'a>,
    /// The job whose options are being read; `None`: options are defaults.
    job: Option<Section>,
    named: NamedFiles,
    show: bool,
    merges_only: bool,
    output: OutputSettings,
    eta: EtaSettings,
    control: ControlSettings,
    aux_path: Option<String>,
    debug: DebugSettings,
    inflate_log: Option<PathBuf>,
    profiles: Profiles,
    n_slices: Option<u64>,
    remote: RemoteSettings,
}

impl<'a> ArgumentReader<'a> {
    fn new(program: &'a str, environment: &'a dyn Environment) -> Self {
        Self {
            program,
            collector: Collector::new(environment),
            job: None,
            named: NamedFiles::default(),
            show: false,
            merges_only: false,
            output: OutputSettings::default(),
            eta: EtaSettings::default(),
            control: ControlSettings::default(),
            aux_path: None,
            debug: DebugSettings::default(),
            inflate_log: None,
            profiles: Profiles::default(),
            n_slices: None,
            remote: RemoteSettings::default(),
        }
    }

    fn into_invocation(mut self, mode: Mode) -> Invocation {
        Invocation {
            mode,
            output: self.output,
            eta: self.eta,
            control: self.control,
            readonly: self.collector.strictness.readonly,
            warnings_fatal: self.collector.strictness.warnings_fatal,
            debug: self.debug,
            inflate_log: self.inflate_log,
            n_latency_slices: self.n_slices,
            maybe_beyond: self.collector.take_beyond(),
            changes: std::mem::take(&mut self.collector.changes),
            is_safe: self.collector.strictness.is_safe,
            remote: self.remote,
            messages: self.collector.messages.take(),
            run: control::run_with_directory(self.collector.into_run(), self.aux_path.as_ref()),
        }
    }

    fn into_error(mut self) -> UsageError {
        let messages = &mut self.collector.messages;
        let diagnostics = messages.take_diagnostics();
        UsageError { messages: messages.take(), diagnostics, output_file: self.output.file, exit_code: 1 }
    }

    fn read(&mut self, arguments: &[OsString]) -> Result<Mode, Stopped> {
        // Names of job files need not be UTF-8 and are taken from `arguments`; an option checks its value itself. Every
        // other word has to be text.
        let texts: Vec<String> =
            arguments.iter().map(|argument| byte_text::from_bytes(argument.as_encoded_bytes())).collect();
        let mut words = Words::new(&texts);
        let mut n_read = 0;
        let mut engine = self.engine().to_owned();
        let mut names = known_names(&engine, self.profiles.chosen.as_ref());
        while let Some(item) = words.next(&names) {
            let taken = n_read..words.n_taken();
            n_read = taken.end;
            let takes_bytes = match &item {
                Item::File(_) => true,
                Item::Named(NameTarget::Option(def), ..) => def.name != "name",
                Item::Named(NameTarget::Switch(_), ..) | Item::Bad { .. } => false,
            };
            if !takes_bytes {
                self.refuse_what_is_no_text(arguments, taken)?;
            }
            match item {
                Item::File(index) => match self.remote.clients.last_mut() {
                    Some(client) => client.files.push(ClientFile::Sent(PathBuf::from(&arguments[index]))),
                    None => self.named.files.push(arguments[index].clone()),
                },
                Item::Bad { complaint, word } => return self.refuse_word(&complaint, &word, &names),
                Item::Named(NameTarget::Option(def), name, value) => self.option(def, name, value.as_deref())?,
                Item::Named(NameTarget::Switch(def), _, value) => {
                    if let AfterSwitch::Leave(mode) = self.switch(def, value.as_deref())? {
                        return Ok(mode);
                    }
                    if def.switch == Switch::Profile {
                        names = known_names(&engine, self.profiles.chosen.as_ref());
                    }
                }
            }
            if self.engine() != engine {
                self.engine().clone_into(&mut engine);
                names = known_names(&engine, self.profiles.chosen.as_ref());
            }
        }
        self.read_files()
    }

    fn refuse_what_is_no_text(&mut self, arguments: &[OsString], taken: Range<usize>) -> Result<(), Stopped> {
        let is_no_text = |index: &usize| arguments[*index].to_str().is_none();
        let Some(index) = taken.clone().find(is_no_text) else { return Ok(()) };
        // The program itself is number 0.
        let (number, shown) = (index + 1, arguments[index].to_string_lossy());
        self.collector.messages.err(UserLine::named(format!("argument {number} is not UTF-8: {shown}")));
        Err(Stopped)
    }

    fn engine(&self) -> &str {
        let section = self.job.as_ref().unwrap_or(&self.collector.defaults);
        &section.draft.job.engine.name
    }

    fn refuse_word(&mut self, complaint: &str, word: &str, names: &[LongName]) -> Result<Mode, Stopped> {
        let program = self.program;
        // The value may be a secret, of an engine that comes later or with a misspelt name.
        let shown = shown_line(word);
        let complaint = complaint.replace(word, &shown);
        self.collector.messages.err(format!("{program}: {complaint}"));
        self.collector.messages.err(format!("{program}: unrecognized option '{shown}'"));
        let text = word.trim_start_matches('-');
        if let Some(name) = did_you_mean(text, names.iter().map(|known| known.name)) {
            self.collector.messages.err(format!("Did you mean {name}?"));
        }
        let name = text.split_once('=').map_or(text, |(name, _)| name);
        if !names.iter().any(|known| known.name.starts_with(name)) {
            let engine = self.engine().to_owned();
            explain::unknown(&mut self.collector.messages, name, &engine, &Origin::CommandLine);
        }
        Err(Stopped)
    }

    /// An option of a job: `name` begins the next one, all others belong to the current one or to the defaults.
    fn option(&mut self, def: &'static OptionDef, called: &str, value: Option<&str>) -> Result<(), Stopped> {
        if value == Some("") && def.kind != Kind::Flag {
            return self.refuse(&JobError::ValueMissing(def.name), def, called, value);
        }
        if let ("name", true, Some(name)) = (def.name, def.is_general(), value) {
            return self.begin_job(name, def);
        }
        let result = if let (Some(chosen), true) = (&mut self.profiles.chosen, def.profile.is_some()) {
            chosen.set(&mut self.collector, def, value)
        } else if def.profile.is_some() && self.job.is_none() {
            self.profiles.unclaimed.push((def, value.map(str::to_owned)));
            Ok(())
        } else if let Some(mut section) = self.job.take() {
            let result = self.collector.set(&mut section, def, value);
            self.job = Some(section);
            explain::without_effect(&mut self.collector.messages, def, &Origin::CommandLine);
            result
        } else {
            let mut defaults = std::mem::take(&mut self.collector.defaults);
            let result = self.collector.set(&mut defaults, def, value);
            self.collector.defaults = defaults;
            result
        };
        result.or_else(|error| self.refuse(&error, def, called, value))
    }

    fn begin_job(&mut self, name: &str, def: &'static OptionDef) -> Result<(), Stopped> {
        self.finish_job()?;
        self.named.has_jobs = true;
        let skipped = !self.named.only_sections.is_empty() && !self.named.only_sections.iter().any(|only| only == name);
        if name.starts_with("global") || skipped {
            return Ok(());
        }
        let mut section = self.collector.begin(name)?;
        if let Err(error) = self.collector.set(&mut section, def, Some(name)) {
            return self.refuse(&error, def, def.name, Some(name));
        }
        self.job = Some(section);
        Ok(())
    }

    fn finish_job(&mut self) -> Result<(), Stopped> {
        self.job.take().map_or(Ok(()), |section| self.collector.finish(section))
    }

    /// `called`: the name that was given, which may be another one of the option.
    fn refuse(
        &mut self,
        error: &JobError,
        def: &'static OptionDef,
        called: &str,
        value: Option<&str>,
    ) -> Result<(), Stopped> {
        let text = match value {
            Some(value) => format!("{called}={}", def.shown(value)),
            None => called.to_owned(),
        };
        explain::refused(&mut self.collector.messages, error, def, &text, &Origin::CommandLine);
        Err(Stopped)
    }

    fn switch(&mut self, def: &'static SwitchDef, value: Option<&str>) -> Result<AfterSwitch, Stopped> {
        let text = value.unwrap_or_default();
        match def.switch {
            Switch::Version | Switch::Help | Switch::Cmdhelp | Switch::Enghelp => {
                return self.answer(def.switch, value);
            }
            Switch::Debug if matches!(text, "help" | "?") => {
                self.print(help::usage::debug_groups());
                return Ok(AfterSwitch::Leave(Mode::DebugHelp));
            }
            Switch::Crctest | Switch::Memcpytest | Switch::CpuclockTest => return self.test_machine(def.switch, value),
            Switch::IdleProf if text == "calibrate" => return Ok(AfterSwitch::Leave(Mode::IdleCalibration)),
            Switch::Debug => {
                // As in fio, the file of `--output` receives the lines that follow the switch.
                let stream = if self.output.file.is_some() { OutputStream::Trace } else { OutputStream::Terminal };
                self.debug.add(text, stream, &mut self.collector.messages);
            }
            Switch::Profile => match Chosen::new(text) {
                Ok(chosen) => self.choose(chosen)?,
                Err(lines) => return self.refuse_switch(lines),
            },
            Switch::MergeBlktraceOnly => self.merges_only = true,
            Switch::Section | Switch::Readonly | Switch::WarningsFatal | Switch::StatusInterval
                if self.remote.forward(def.name, value) => {}
            Switch::ParseOnly => self.collector.parse_only = true,
            Switch::Showcmd => self.show = true,
            Switch::Safe => self.collector.strictness.is_safe = true,
            Switch::Readonly => self.collector.strictness.readonly = true,
            Switch::WarningsFatal => self.collector.strictness.warnings_fatal = true,
            Switch::Section => self.named.only_sections.push(text.to_owned()),
            Switch::AllocSize | Switch::MaxJobs => {}
            Switch::InflateLog => {
                self.inflate_log = Some(PathBuf::from(text));
                return Ok(AfterSwitch::Leave(Mode::InflateLog));
            }
            _ if def.is_built() && self.remote.set(def.switch, value) => {}
            _ if def.is_built() => self.output_switch(def.switch, text)?,
            Switch::LatencyLog => {
                let said = "--latency-log is deprecated. Use per-job latency log options.";
                return self.refuse_switch(vec![UserLine::named(said)]);
            }
            _ => {
                let said = UserLine::named(format!("--{}: known, but not yet supported by ferrio", def.name));
                return self.refuse_switch(vec![said]);
            }
        }
        Ok(AfterSwitch::Continue)
    }

    /// The profile of the run takes its options, also those that came before it.
    fn choose(&mut self, mut chosen: Chosen) -> Result<(), Stopped> {
        for (def, value) in std::mem::take(&mut self.profiles.unclaimed) {
            if !chosen.options().any(|own| own.name == def.name) {
                self.profiles.unclaimed.push((def, value));
            } else if let Err(error) = chosen.set(&mut self.collector, def, value.as_deref()) {
                self.refuse(&error, def, def.name, value.as_deref())?;
            }
        }
        self.profiles.chosen = Some(chosen);
        Ok(())
    }

    /// An option of a profile that no profile took becomes a default of all jobs, where it has no effect.
    fn leave_unclaimed(&mut self) -> Result<(), Stopped> {
        for (def, value) in std::mem::take(&mut self.profiles.unclaimed) {
            let mut defaults = std::mem::take(&mut self.collector.defaults);
            let result = self.collector.set(&mut defaults, def, value.as_deref());
            if self.profiles.chosen.is_none() {
                self.collector.defaults = defaults;
            }
            result.or_else(|error| self.refuse(&error, def, def.name, value.as_deref()))?;
            explain::without_effect(&mut self.collector.messages, def, &Origin::CommandLine);
        }
        Ok(())
    }

    /// Switches that say how results are shown.
    fn output_switch(&mut self, switch: Switch, text: &str) -> Result<(), Stopped> {
        let result = match switch {
            Switch::OutputFormat => settings::formats(text).map(|formats| self.output.formats = formats),
            Switch::TerseVersion => settings::terse_version(text).map(|version| self.output.terse_version = version),
            Switch::EtaInterval => settings::eta_interval_ms(text).map(|time_ms| self.eta.interval_ms = time_ms),
            Switch::EtaNewline => settings::eta_newline_ms(text).map(|time_ms| self.eta.newline_ms = Some(time_ms)),
            _ => control::set(&mut self.control, switch, text),
        };
        match switch {
            Switch::AuxPath => self.aux_path = Some(text.to_owned()),
            Switch::BandwidthLog => self.output.bandwidth_log = Some(control::bandwidth_log(text)),
            Switch::Output => self.output.file = Some(PathBuf::from(text)),
            Switch::Record => self.output.record = Some(PathBuf::from(text)),
            Switch::Keep => self.output.keep = Some(text.to_owned()),
            Switch::Anonymous => self.output.is_anonymous = true,
            Switch::Minimal => self.output.formats = OutputFormats::from_iter([OutputFormat::Terse]),
            Switch::AppendTerse => self.output.formats.add(OutputFormat::Terse),
            Switch::Eta => self.eta.when = settings::eta_when(text),
            _ => {}
        }
        result.or_else(|lines| self.refuse_switch(lines).map(|_| ()))
    }

    fn refuse_switch(&mut self, lines: Vec<UserLine>) -> Result<AfterSwitch, Stopped> {
        for line in lines {
            self.collector.messages.err(line);
        }
        Err(Stopped)
    }

    fn read_files(&mut self) -> Result<Mode, Stopped> {
        self.finish_job()?;
        self.leave_unclaimed()?;
        if self.named.only_sections.first().is_some_and(|only| only == "global") {
            self.collector.messages.err(UserLine::named("can't use global as only section"));
            return Err(Stopped);
        }
        if let Some(mode) = self.remote_mode()? {
            return Ok(mode);
        }
        if let Some(chosen) = self.profiles.chosen.take() {
            return self.run_profile(chosen);
        }
        let files = std::mem::take(&mut self.named.files);
        let mut only_sections = std::mem::take(&mut self.named.only_sections);
        for (index, name) in files.iter().enumerate() {
            if index > 0 {
                self.collector.reset_defaults();
            }
            let request =
                FileRequest { name, follows_another: index > 0, only_sections: &only_sections, show: self.show };
            add_file(&mut self.collector, &request)?;
            only_sections.clear();
        }
        self.mode()
    }

    /// The task of a server or of its clients; `None`: jobs run here.
    fn remote_mode(&mut self) -> Result<Option<Mode>, Stopped> {
        let mode = self.remote.mode(self.named.has_jobs || !self.named.files.is_empty());
        let local = [
            (self.collector.parse_only, "--parse-only"),
            (self.show, "--showcmd"),
            (self.merges_only, "--merge-blktrace-only"),
            (!self.named.only_sections.is_empty(), "--section"),
            (self.aux_path.is_some(), "--aux-path"),
            (self.profiles.chosen.is_some(), "--profile"),
        ];
        if let (Ok(Some(_)), Some((_, name))) = (&mode, local.into_iter().find(|(is_given, _)| *is_given)) {
            let sentence = format!("{name} in front of --client, or with --server, has no effect on jobs of servers");
            return self.refuse_switch(vec![UserLine::named(sentence)]).and(Err(Stopped));
        }
        match mode {
            Ok(mode) => Ok(mode),
            Err(None) => Err(Stopped),
            Err(Some(sentence)) => self.refuse_switch(vec![UserLine::named(sentence)]).and(Err(Stopped)),
        }
    }

    fn run_profile(&mut self, chosen: Chosen) -> Result<Mode, Stopped> {
        if !self.named.files.is_empty() || self.named.has_jobs {
            let said = "a profile has jobs of its own: it takes no others";
            return self.refuse_switch(vec![UserLine::named(said)]).and(Err(Stopped));
        }
        self.n_slices = profile::expand(&mut self.collector, chosen)?;
        self.mode()
    }

    fn mode(&mut self) -> Result<Mode, Stopped> {
        self.collector.messages.parse(|| "free options".to_owned());
        if self.collector.parse_only {
            return Ok(Mode::ParseOnly);
        }
        if self.show {
            return Ok(Mode::ShowCmd);
        }
        if self.collector.n_jobs() > 0 {
            return Ok(if self.merges_only { Mode::MergeTraces } else { Mode::Run });
        }
        let version = self.collector.environment.version();
        // Commands of ferrio's own have pages of their own.
        self.collector.messages.err(UserLine::of(|wording| match wording {
            Wording::Fio => "No job(s) defined\n".to_owned(),
            Wording::Own => "There are no jobs: name a job file, or give options of jobs".to_owned(),
        }));
        self.print(UserLine::of(|wording| match wording {
            Wording::Fio => help::usage::usage(&version),
            Wording::Own => String::new(),
        }));
        Err(Stopped)
    }
}

mod answers;
#[cfg(test)]
mod profiles;
#[cfg(test)]
mod tests;
