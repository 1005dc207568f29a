//! The command of a trigger, from the trigger to the end of the command.
//!
//! Must not know: causes of triggers. Start reading at [`TriggerCommand::look`].

use super::reports::ANSWER_LIMIT;
use super::scene::Scene;
use super::workers::Workers;
use crate::events::{MessageStream, RunEvent, RunObserver};
use ferrio_spec::Trigger;
use ferrio_stats::Note;
use ferrio_stats::note::During;
use ferrio_sys::signals::reset_in_program;
use std::io;
use std::os::fd::AsFd;
use std::process::{Child, Command};
use std::time::Instant;

#[derive(Debug, Default)]
pub(super) struct TriggerCommand {
    /// Time of the trigger, until the command is started.
    triggered_at: Option<Instant>,
    command: Option<Child>,
}

impl TriggerCommand {
    pub(super) fn pull(&mut self, scene: &Scene) {
        self.triggered_at.get_or_insert_with(|| scene.time.now());
    }

    /// Starts the command when the states of verified jobs are on disk, or when a job does not answer, because the
    /// command may switch off the machine.
    pub(super) fn look(&mut self, workers: &Workers, scene: &Scene, observer: &mut dyn RunObserver) {
        let Some(triggered_at) = self.triggered_at else { return };
        if !workers.is_saving(scene) || scene.time.since(triggered_at) >= ANSWER_LIMIT {
            self.triggered_at = None;
            self.start(&scene.settings.control.trigger, observer);
        }
    }

    /// Starts the command. The jobs end at the same time; fio ends them only after the command.
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

    /// Waits for the command; its exit code does not matter.
    pub(super) fn finish(&mut self, observer: &mut dyn RunObserver) {
        if let Some(Err(error)) = self.command.take().map(|mut child| child.wait()) {
            complain(Note::system(During::AwaitTrigger, &error), observer);
        }
    }
}

fn complain(note: Note, observer: &mut dyn RunObserver) {
    observer.event(RunEvent::Message(MessageStream::Error, note));
}
