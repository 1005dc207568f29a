//! `ferrio run --live`: the processes that show a run on the whole terminal, seen from the run.
//!
//! The viewer reads the keys, and asks for the end of the run by a signal, as the terminal would. Its parent, the keeper, is in a session of
//! its own, which no signal of the terminal reaches. It gives the terminal back whenever the run or the viewer is gone or stopped. Must not
//! know: what is shown. Start reading at [`Viewer::start`], then [`Keeper::keep`] and [`Viewer::end`].

use super::viewers::fork_viewer;
use crate::ui::console::show_aside;
use crate::ui::stop_notice::{GOES_ON, GRACE, STOPS, StopNotice};
use ferrio::live::link::{FrameReader, FrameWriter};
use ferrio::live::terminal;
use ferrio_sys::poll::wait_readable;
use ferrio_sys::process::{self, ChildEnd, Pid, Signal};
use ferrio_sys::signals;
use ferrio_sys::terminal::{TerminalState, leave_screen};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Time for the viewer to take what is left, and to leave.
const LIMIT: Duration = Duration::from_secs(2);
/// Time between two looks at a process that is about to end or to stop.
const TICK: Duration = Duration::from_millis(5);
/// Time between two looks of the keeper at the run and the viewer.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

const IS_OVER: u8 = b'o';

pub(super) struct Viewer {
    process: Pid,
    control: UnixStream,
    state: TerminalState,
}

impl Viewer {
    /// Starts a viewer, to which frames go by a new writer behind the others.
    ///
    /// # Errors
    /// The terminal has no state, or the system has no room for another process.
    pub(super) fn start(writers: &mut Vec<FrameWriter>) -> io::Result<Self> {
        let state = TerminalState::of_stdout()?;
        let run = process::process_id();
        let (control, end_of_keeper) = UnixStream::pair()?;
        let mut control = Some(control);
        let process = fork_viewer(writers, |reader| {
            // The keeper sees the end of the run by the end of this socket.
            drop(control.take());
            Keeper::start(reader, end_of_keeper, run, &state).map(Keeper::keep)
        })?;
        let control = control.ok_or(io::ErrorKind::NotFound)?;
        Ok(Self { process, control, state })
    }

    /// What the run does before it is stopped by the shell and behind that; `None`: the system has no descriptors left.
    pub(super) fn stops(&self) -> Option<StopNotice> {
        self.control.try_clone().ok().map(StopNotice::new)
    }

    /// Waits until the viewer has left, for a short time, and makes sure that the terminal is as it was.
    pub(super) fn end(mut self, mut writer: FrameWriter) {
        let deadline = Instant::now() + LIMIT;
        let _ = self.control.write_all(&[IS_OVER]);
        while !writer.is_idle() && Instant::now() < deadline {
            writer.flush();
            std::thread::sleep(TICK);
        }
        drop(writer);
        if !matches!(end_of(self.process, deadline + GRACE), Some(ChildEnd::Exited(0))) {
            leave_screen();
            self.state.restore();
        }
    }
}

/// The end of a child, which is killed if it does not end in time; `None`: it cannot be waited for.
fn end_of(child: Pid, deadline: Instant) -> Option<ChildEnd> {
    loop {
        match process::try_wait(child) {
            Ok(None) if Instant::now() < deadline => std::thread::sleep(TICK),
            Ok(None) => {
                let _ = process::kill(child, Signal::KILL);
                return process::wait(child).ok();
            }
            end => return end.ok().flatten(),
        }
    }
}

/// The parent of the viewer.
struct Keeper<'a> {
    control: UnixStream,
    run: Pid,
    viewer: Pid,
    state: &'a TerminalState,
    /// The run has said that it stops, and not yet that it goes on.
    is_told_to_stop: bool,
    /// The viewer was stopped with the run.
    is_held: bool,
    /// The viewer is stopped, and the terminal was given back for it.
    is_free: bool,
}

/// What the run has said to its keeper.
#[derive(Default)]
struct ToldByRun {
    is_over: bool,
    wants_answer: bool,
}

impl<'a> Keeper<'a> {
    fn start(reader: FrameReader, control: UnixStream, run: Pid, state: &'a TerminalState) -> io::Result<Self> {
        control.set_nonblocking(true)?;
        // The terminal is given back even where the shell has given it to others already; and the shell stops the run, not these two.
        for signal in [Signal::HUP, Signal::TTOU, Signal::TTIN, Signal::TSTP] {
            signals::ignore(signal).map_err(io::Error::other)?;
        }
        let keeper = process::process_id();
        let show = || {
            let mut end_run = || drop(process::kill(run, Signal::INT));
            let is_kept = process::die_with_parent(keeper).is_ok_and(|is_there| is_there);
            i32::from(!is_kept || terminal::show(reader, state, &mut end_run).is_err())
        };
        let viewer = process::fork(show).map_err(io::Error::other)?;
        // Out of reach of signals for the group of the run, and of the hangup of the terminal.
        process::set_session().map_err(io::Error::other)?;
        Ok(Self { control, run, viewer, state, is_told_to_stop: false, is_held: false, is_free: false })
    }

    /// Looks at the run and the viewer until either is gone.
    fn keep(mut self) {
        loop {
            wait_readable(&[self.control.as_fd()], LOOK_INTERVAL);
            let told = self.listen();
            let is_over = told.is_over || process::parent_id() != Some(self.run);
            if let Ok(Some(end)) = process::try_wait(self.viewer) {
                self.clear_up(end);
                if !is_over && end != ChildEnd::Exited(0) {
                    show_aside("ferrio run: the live view has ended, and the run goes on\n");
                }
                return;
            }
            if is_over {
                break;
            }
            self.follow_stops();
            if told.wants_answer {
                let _ = self.control.write_all(&[STOPS]);
            }
        }
        // A viewer that is stopped has no screen to leave.
        let cancellation = if self.is_free { Duration::ZERO } else { LIMIT };
        if let Some(end) = end_of(self.viewer, Instant::now() + cancellation) {
            self.clear_up(end);
        }
    }

    /// Reads what the run has said.
    fn listen(&mut self) -> ToldByRun {
        let mut told = ToldByRun::default();
        let mut bytes = [0; 16];
        match self.control.read(&mut bytes) {
            Ok(0) => told.is_over = true,
            Ok(n_bytes) => {
                for byte in &bytes[..n_bytes] {
                    match *byte {
                        STOPS => (self.is_told_to_stop, told.wants_answer) = (true, true),
                        GOES_ON => self.is_told_to_stop = false,
                        _ => told.is_over = true,
                    }
                }
            }
            Err(_) => {}
        }
        told
    }

    /// Stops the viewer while the run is stopped, and gives the terminal back while the viewer is stopped, whatever has done so.
    fn follow_stops(&mut self) {
        let is_held = self.is_told_to_stop || process::is_stopped(self.run);
        if is_held != self.is_held {
            self.is_held = is_held;
            let signal = if is_held { Signal::STOP } else { Signal::CONT };
            let _ = process::kill(self.viewer, signal);
            // A signal that stops a process does so a moment later.
            let deadline = Instant::now() + GRACE;
            while is_held && !process::is_stopped(self.viewer) && Instant::now() < deadline {
                std::thread::sleep(TICK);
            }
        }
        let is_stopped = process::is_stopped(self.viewer);
        if is_stopped && !self.is_free {
            leave_screen();
            self.state.restore();
        }
        // A viewer that goes on takes the terminal anew.
        self.is_free = is_stopped;
    }

    /// Gives the terminal back for a viewer that has ended and may not have done so.
    fn clear_up(&self, end: ChildEnd) {
        if end != ChildEnd::Exited(0) && !self.is_free {
            leave_screen();
            self.state.restore();
        }
    }
}
