//! `ferrio run --live`: the process that shows a run on the whole terminal, seen from the run.
//!
//! The viewer is forked before the program has any thread. It reads the keys, and asks for the end of the run by a signal, as the
//! terminal would. Must not know: what is shown. Start reading at [`Viewer::start`], then [`Viewer::end`].

use ferrio_live::link::{self, FrameWriter};
use ferrio_live::terminal;
use ferrio_sys::process::{self, ChildEnd, Pid, Signal};
use ferrio_sys::signals;
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
    /// Starts a viewer; frames go to it.
    ///
    /// # Errors
    /// The terminal has no state, or the system has no room for another process.
    pub(super) fn start() -> io::Result<(Self, FrameWriter)> {
        let state = TerminalState::of_stdout()?;
        let (writer, reader) = link::pair()?;
        let (mut writer, parent) = (Some(writer), process::process_id());
        let viewer = || {
            // The viewer sees the end of the run by the end of the socket, of which it must not hold the other end itself.
            drop(writer.take());
            // Ctrl-C and the like are for the run; the viewer stays until the run has ended.
            let _ = [Signal::INT, Signal::TERM, Signal::QUIT].map(signals::ignore);
            let mut end_run = || drop(process::kill(parent, Signal::INT));
            i32::from(terminal::show(reader, &mut end_run).is_err())
        };
        let process = process::fork(viewer).map_err(io::Error::other)?;
        let writer = writer.ok_or_else(|| io::Error::other("the socket is gone"))?;
        Ok((Self { process, state }, writer))
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
