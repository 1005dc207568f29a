//! `ferrio run --live`: the process that shows a run on the whole terminal, seen from the run.
//!
//! It reads the keys, and asks for the end of the run by a signal, as the terminal would. Must not know: what is shown. Start reading at [`Viewer::start`], then [`Viewer::end`].

use super::viewers::fork_viewer;
use ferrio_live::link::FrameWriter;
use ferrio_live::terminal;
use ferrio_sys::process::{self, ChildEnd, Pid, Signal};
use ferrio_sys::terminal::TerminalState;
use std::io;
use std::time::{Duration, Instant};

/// Time for the viewer to take what is left, and to leave.
const LIMIT: Duration = Duration::from_secs(2);
/// Time between two looks at it.
const TICK: Duration = Duration::from_millis(5);

/// A viewer on the terminal.
pub(super) struct Viewer {
    process: Pid,
    /// The terminal as it was.
    state: TerminalState,
}

impl Viewer {
    /// Starts a viewer, to which frames go by a new writer behind the others.
    ///
    /// # Errors
    /// The terminal has no state, or the system has no room for another process.
    pub(super) fn start(writers: &mut Vec<FrameWriter>) -> io::Result<Self> {
        let state = TerminalState::of_stdout()?;
        let parent = process::process_id();
        let process = fork_viewer(writers, |reader| {
            let mut end_run = || drop(process::kill(parent, Signal::INT));
            terminal::show(reader, &mut end_run)
        })?;
        Ok(Self { process, state })
    }

    /// Waits until the viewer has left, for a short time, and makes sure that the terminal is as it was.
    pub(super) fn end(self, mut writer: FrameWriter) {
        let deadline = Instant::now() + LIMIT;
        while !writer.is_idle() && Instant::now() < deadline {
            writer.flush();
            std::thread::sleep(TICK);
        }
        drop(writer);
        let has_left = loop {
            match process::try_wait(self.process) {
                Ok(None) if Instant::now() < deadline => std::thread::sleep(TICK),
                Ok(None) => {
                    let _ = process::kill(self.process, Signal::KILL);
                    let _ = process::wait(self.process);
                    break false;
                }
                end => break matches!(end, Ok(Some(ChildEnd::Exited(0)))),
            }
        };
        if !has_left {
            self.state.leave_screen();
        }
        self.state.restore();
    }
}
