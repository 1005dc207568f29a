//! A run from its options to its audited record.
//!
//! Must not know: who observes it, what stops it. Start reading at [`Session::new`], then [`Session::run`].

use crate::session::VERSION;
use crate::session::last_runs;
use crate::session::observers::{self, Observer, Observers, Subscriber, Subscription};
use ferrio_formats::logs::LogFiles;
use ferrio_formats::native::note_text;
use ferrio_job::Invocation;
use ferrio_run::{Handle, LogOpener, PreparedRun, Run, RunError, RunOutcome, RunSettings, Start, TraceSettings};
use ferrio_spec::debug::GROUPS;
use ferrio_spec::{Compatibility, RunSpec};
use ferrio_stats::{RunMessages, RunRecord};
use std::path::PathBuf;

/// A run that has not begun.
///
/// Jobs without the option `thread` are processes, forked from the thread that calls [`Session::run`].
pub struct Session {
    /// The jobs.
    pub spec: RunSpec,
    /// Settings of the run.
    pub settings: RunSettings,
    /// The record is audited: it has findings, and the uncertainty of its figures.
    pub is_audited: bool,
    /// The run is remembered (feature `history`) for the next one on the same targets, and compared with the last one (see `FERRIO_STATE`).
    pub is_remembered: bool,
    handle: Handle,
    subscribers: Vec<Subscriber>,
}

/// The end of a session.
#[derive(Debug)]
pub struct SessionOutcome {
    /// The end of its run. The record has the audit, where it was asked for.
    pub run: RunOutcome,
    /// Why the run could not be remembered.
    pub not_remembered: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl SessionOutcome {
    /// What the run has said, in one line: the reasons of jobs that failed are among it.
    pub fn said(&self) -> String {
        let notes = self.run.record.messages.kept().iter().map(|message| note_text(&message.note).trim().to_owned());
        notes.collect::<Vec<_>>().join("; ")
    }
}

impl Session {
    /// A session of these jobs. It is audited and not remembered; logs of its jobs are written to files.
    ///
    /// # Errors
    /// The system has no descriptor left for its handle.
    pub fn new(spec: RunSpec) -> Result<Self, RunError> {
        Ok(Self::with_handle(spec, Handle::new()?))
    }

    /// A session of one of ferrio's own commands: with evidence from the files, and with the course of each job.
    ///
    /// # Errors
    /// As of [`Self::new`].
    pub fn native(spec: RunSpec) -> Result<Self, RunError> {
        Ok(Self::native_with_handle(spec, Handle::new()?))
    }

    /// As [`Self::native`], with a handle that was made before.
    pub fn native_with_handle(spec: RunSpec, handle: Handle) -> Self {
        let mut session = Self::with_handle(RunSpec { compatibility: Compatibility::Native, ..spec }, handle);
        session.settings.control.looks_into_files = true;
        session.settings.keeps_series = true;
        session
    }

    /// As [`Self::new`], with a handle that was made before.
    pub fn with_handle(spec: RunSpec, handle: Handle) -> Self {
        let open_logs = LogOpener::new(|kept| Box::new(LogFiles::new(kept)));
        Self {
            spec,
            settings: RunSettings { version: VERSION.to_owned(), open_logs, ..RunSettings::default() },
            is_audited: true,
            is_remembered: false,
            handle,
            subscribers: Vec::new(),
        }
    }

    /// A session of the jobs of a command line, which are taken out of it. `inputs`: the files that were read for it; `words`: the
    /// command line, for the record.
    ///
    /// # Errors
    /// The system has no descriptor left for its handle.
    pub fn of_invocation(
        invocation: &mut Invocation,
        inputs: Vec<PathBuf>,
        words: impl IntoIterator<Item = String>,
    ) -> Result<Self, RunError> {
        let mut session = Self::new(std::mem::take(&mut invocation.run))?;
        session.settings = RunSettings {
            readonly: invocation.readonly,
            trace: trace_settings(invocation),
            control: invocation.control.clone(),
            inputs,
            command_line: words.into_iter().collect(),
            ..session.settings
        };
        Ok(session)
    }

    /// A handle that controls the run, from any thread, from now until its end.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Adds an observer that reads the events from a channel with room for `capacity` of them, at least one. The run does not wait for it.
    pub fn subscribe(&mut self, capacity: usize) -> Subscription {
        let (subscriber, subscription) = observers::channel(capacity);
        self.subscribers.push(subscriber);
        subscription
    }

    /// Merges the traces of the jobs that want it, and does nothing else (`--merge-blktrace-only`).
    ///
    /// # Errors
    /// The traces cannot be merged, or no job has any.
    pub fn merge_traces(self, observers: &mut [&mut dyn Observer]) -> Result<(), RunError> {
        let mut observers = Observers::new(observers, self.subscribers);
        ferrio_run::merge_only(self.spec, &self.settings.inputs, &self.handle, &mut observers)
    }

    /// Runs the jobs, and returns when they have ended. Each observer is called with each event, in order; the run waits for it.
    ///
    /// # Errors
    /// The run cannot be started or supervised.
    pub fn run(self, observers: &mut [&mut dyn Observer]) -> Result<SessionOutcome, RunError> {
        Ok(self.prepare(observers)?.go(Start::Now, observers))
    }

    /// Lays out the files, and starts the jobs that begin first, up to their first I/O.
    ///
    /// # Errors
    /// The run cannot be started.
    pub fn prepare(self, observers: &mut [&mut dyn Observer]) -> Result<PreparedSession, RunError> {
        let mut observers = Observers::new(observers, self.subscribers);
        let is_readonly = self.settings.readonly;
        let run = Run::with_handle(self.spec, self.settings, self.handle).prepare(&mut observers)?;
        let Observers { subscribers, messages, .. } = observers;
        let (is_audited, is_remembered) = (self.is_audited, self.is_remembered);
        Ok(PreparedSession { run, is_readonly, is_audited, is_remembered, subscribers, messages })
    }
}

/// A session whose jobs wait for the start. It stays in the thread that prepared it; dropping it ends the jobs.
pub struct PreparedSession {
    run: PreparedRun,
    is_readonly: bool,
    is_audited: bool,
    is_remembered: bool,
    subscribers: Vec<Subscriber>,
    messages: RunMessages,
}

impl PreparedSession {
    /// Begins at this time, and returns when the jobs have ended. Observers are as of [`Session::run`].
    pub fn go(self, start: Start, observers: &mut [&mut dyn Observer]) -> SessionOutcome {
        let mut observers = Observers::new(observers, self.subscribers);
        observers.messages = self.messages;
        let mut run = self.run.go(start, &mut observers);
        let record = &mut run.record;
        let remembered = match (self.is_remembered, self.is_readonly) {
            (true, false) => last_runs::look_back(record),
            // Nothing on the machine is changed.
            (true, true) => {
                last_runs::look_up(record);
                Ok(())
            }
            (false, _) => Ok(()),
        };
        let not_remembered = remembered.err().map(Into::into);
        record.messages = observers.messages;
        if self.is_audited {
            audit(record);
        }
        SessionOutcome { run, not_remembered }
    }
}

/// Adds to a record what the rules find, and the uncertainty of its figures.
pub fn audit(record: &mut RunRecord) {
    // Without a course there are no series, and this is an empty list.
    record.precision = Some(ferrio_insight::precision(record));
    record.audit = Some(ferrio_insight::audit(record));
}

/// Groups of `--debug` by name.
fn trace_settings(invocation: &Invocation) -> TraceSettings {
    let is_set = |index: &usize| invocation.debug.mask & (1 << *index) != 0;
    let names = (0..GROUPS.len()).filter(is_set).map(|index| GROUPS[index]);
    TraceSettings::new(names, invocation.debug.job_number.map(|number| number as usize))
}
