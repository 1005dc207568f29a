//! Width of the terminal behind a descriptor, and its state before a full-screen view.
//!
//! Must not know: the output. Start reading at [`columns`] and [`TerminalState`].

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::fd::AsFd;

/// Settings of the terminal behind the standard output.
#[derive(Debug)]
pub struct TerminalState(Termios);

impl TerminalState {
    /// The present settings.
    pub fn of_stdout() -> io::Result<Self> {
        Ok(Self(tcgetattr(io::stdout())?))
    }

    /// Sets them for a full-screen program, which gets each key at once.
    pub fn set_raw(&self) -> io::Result<()> {
        Ok(tcsetattr(io::stdout(), OptionalActions::Now, &self.raw())?)
    }

    /// Sets them again after [`set_raw`](Self::set_raw), unless another program, such as the shell, has set others meanwhile. A
    /// terminal that is gone needs none.
    pub fn restore(&self) {
        let raw = self.raw();
        let is_raw = |now: &Termios| {
            (now.local_modes, now.input_modes, now.output_modes) == (raw.local_modes, raw.input_modes, raw.output_modes)
        };
        if tcgetattr(io::stdout()).is_ok_and(|now| is_raw(&now)) {
            let _ = tcsetattr(io::stdout(), OptionalActions::Now, &self.0);
        }
    }

    fn raw(&self) -> Termios {
        let mut raw = self.0.clone();
        raw.make_raw();
        raw
    }
}

/// Leaves the screen of a full-screen program that did not do so itself, and shows the cursor.
pub fn leave_screen() {
    let mut stdout = io::stdout();
    // The first byte ends a sequence that the other program may have been in the midst of.
    let _ = stdout.write_all(b"\x18\x1b[m\x1b[?1049l\x1b[?25h").and_then(|()| stdout.flush());
}

/// True if this process may write to the terminal behind the standard output: the shell has not given it to other programs.
pub fn is_in_foreground() -> bool {
    // Of a terminal that is not that of this session no group can be read, and then no shell gives it away.
    rustix::termios::tcgetpgrp(io::stdout()).map_or(true, |group| group == rustix::process::getpgrp())
}

/// True if a terminal of this name (the variable `TERM`) knows no control sequence: it shows lines alone.
pub fn is_dumb(name: Option<&OsStr>) -> bool {
    name.is_none_or(|name| name.is_empty() || name == "dumb")
}

/// Columns and rows of the terminal behind the standard output, those that it says itself; `None`: they are unknown.
pub fn size() -> Option<(u16, u16)> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some((size.ws_col, size.ws_row)).filter(|(n_columns, n_rows)| *n_columns > 0 && *n_rows > 0)
}

/// Columns of the terminal behind a descriptor; `None`: it is no terminal, or its width is unknown.
pub fn columns(terminal: impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(terminal).ok()?;
    Some(usize::from(size.ws_col)).filter(|n_columns| *n_columns > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_testing::skip;
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::{Winsize, tcsetwinsize};

    #[test]
    fn terminals_without_a_name_are_dumb() {
        let is = |name: Option<&str>| is_dumb(name.map(OsStr::new));
        assert!(is(None) && is(Some("")) && is(Some("dumb")));
        assert!(!is(Some("xterm")) && !is(Some("linux")));
    }

    #[test]
    fn a_file_has_no_columns_and_a_terminal_may_have_some() {
        assert_eq!(columns(std::fs::File::open("/dev/null").unwrap()), None);
        let Ok(outer) = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY) else {
            skip!("a_file_has_no_columns_and_a_terminal_may_have_some", "no pseudo terminal");
            return;
        };
        grantpt(&outer).unwrap();
        unlockpt(&outer).unwrap();
        let name = ptsname(&outer, Vec::new()).unwrap();
        let inner = std::fs::File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        for (ws_col, expected) in [(40, Some(40)), (0, None), (200, Some(200))] {
            tcsetwinsize(&outer, Winsize { ws_row: 24, ws_col, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
            assert_eq!(columns(&inner), expected);
        }
    }
}
