//! The command of a trigger, from the moment at which the trigger comes to the end of the command.
//!
//! Must not know: what pulls the trigger. Start reading at [`TriggerCommand::look`].

use super::crew::Crew;
use super::reports::ANSWER_LIMIT;
use super::scene::Scene;
use crate::events::{MessageStream, RunEvent, RunObserver};
use ferrio_spec::Trigger;
use ferrio_stats::Note;
use ferrio_stats::note::During;
use ferrio_sys::signals::reset_in_program;
use std::io;
use std::os::fd::AsFd;
use std::process::{Child, Command};
use std::time::Instant;

/// The command of the trigger.
#[derive(Debug, Default)]
pub(super) struct TriggerCommand {
    /// When the trigger came, until the command is started.
    triggered_at: Option<Instant>,
    command: Option<Child>,
}

impl TriggerCommand {
    /// The trigger has come.
    pub(super) fn pull(&mut self, scene: &Scene) {
        self.triggered_at.get_or_insert_with(|| scene.time.now());
    }

    /// What the command does may be the end of the machine: the states of verified jobs are on disk before it, unless one
    /// cannot answer.
    pub(super) fn look(&mut self, crew: &Crew, scene: &Scene, observer: &mut dyn RunObserver) {
        let Some(triggered_at) = self.triggered_at else { return };
        if !crew.is_saving(scene) || scene.time.since(triggered_at) >= ANSWER_LIMIT {
            self.triggered_at = None;
            self.start(&scene.settings.control.trigger, observer);
        }
    }

    /// The jobs end meanwhile; fio waits with that until the command has ended.
    fn start(&mut self, trigger: &Trigger, observer: &mut dyn RunObserver) {
        let Some(text) = trigger.command.as_deref().filter(|_| self.command.is_none()) else { return };
        let mut command = Command::new("/bin/sh");
        reset_in_program(command.args(["-c", text]));
        let started = match trigger.keeps_stdout_free.then(|| io::stderr().as_fd().try_clone_to_owned()).transpose() {
            Ok(stderr) => stderr.into_iter().fold(&mut command, |command, stderr| command.stdout(stderr)).spawn(),
            Err(error) => Err(error),
        };
        match started {
            Ok(child) => self.command = Some(child),
            Err(error) => complain(Note::system(During::StartTrigger, &error), observer),
        }
    }

    /// Waits for the command. How it ended is its own affair.
    pub(super) fn finish(&mut self, observer: &mut dyn RunObserver) {
        if let Some(Err(error)) = self.command.take().map(|mut child| child.wait()) {
            complain(Note::system(During::AwaitTrigger, &error), observer);
        }
    }
}

fn complain(note: Note, observer: &mut dyn RunObserver) {
    observer.event(RunEvent::Message(MessageStream::Error, note));
}
