//! Width of the terminal behind a descriptor.
//!
//! Must not know: the output. Start reading at [`columns`].

use std::os::fd::AsFd;

/// Columns of the terminal behind a descriptor; `None`: it is no terminal, or its width is unknown.
pub fn columns(terminal: impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(terminal).ok()?;
    Some(usize::from(size.ws_col)).filter(|n_columns| *n_columns > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::{Winsize, tcsetwinsize};

    #[test]
    fn a_file_has_no_columns_and_a_terminal_may_have_some() {
        assert_eq!(columns(std::fs::File::open("/dev/null").unwrap()), None);
        let Ok(outer) = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY) else {
            eprintln!("SKIPPED a_file_has_no_columns_and_a_terminal_may_have_some: no pseudo terminal");
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
