//! Width of the terminal behind a descriptor, and its state before a full-screen view.
//!
//! Must not know: the output. Start reading at [`columns`].

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use std::io::{self, Write};
use std::os::fd::AsFd;

/// Settings of the terminal behind the standard output.
#[derive(Debug)]
pub struct TerminalState(Termios);

impl TerminalState {
    /// The present settings.
    ///
    /// # Errors
    /// The standard output is no terminal.
    pub fn of_stdout() -> io::Result<Self> {
        Ok(Self(tcgetattr(io::stdout())?))
    }

    /// Sets them again. A terminal that is gone needs none.
    pub fn restore(&self) {
        let _ = tcsetattr(io::stdout(), OptionalActions::Now, &self.0);
    }

    /// Leaves the screen of a full-screen program that did not do so itself, and shows the cursor.
    pub fn leave_screen(&self) {
        let mut stdout = io::stdout();
        let _ = stdout.write_all(b"\x1b[?1049l\x1b[?25h").and_then(|()| stdout.flush());
    }
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
