//! The standard error of this process and of the programs that it starts, kept back while another process has the whole terminal.
//!
//! Must not know: what is written. Start reading at [`HeldErrors::hold`].

use rustix::fs::{MemfdFlags, SealFlags, SeekFrom};
use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

/// Bytes that are kept at most. What is written behind them fails, and is lost.
const MOST_BYTES: u64 = 1 << 20;

/// What was written to the standard error since it is held. It is the terminal again once this is dropped.
#[derive(Debug)]
pub struct HeldErrors {
    terminal: OwnedFd,
    held: File,
}

impl HeldErrors {
    /// Holds the standard error back; `None`: it is no terminal, and stays as it is.
    ///
    /// # Errors
    /// The system has no descriptor or no memory left.
    pub fn hold() -> io::Result<Option<Self>> {
        if !io::stderr().is_terminal() {
            return Ok(None);
        }
        let held = Self::memory()?;
        let terminal = rustix::io::fcntl_dupfd_cloexec(io::stderr(), 3)?;
        rustix::stdio::dup2_stderr(&held)?;
        Ok(Some(Self { terminal, held }))
    }

    /// A file of this length in memory, which cannot grow: programs on other hosts may write without end.
    fn memory() -> io::Result<File> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let held = File::from(rustix::fs::memfd_create("ferrio-errors", flags)?);
        held.set_len(MOST_BYTES)?;
        rustix::fs::fcntl_add_seals(&held, SealFlags::GROW)?;
        Ok(held)
    }

    /// Makes the terminal the standard error again; returns what was kept, in which bytes that are no text are replaced.
    pub fn release(self) -> String {
        written(&self.held)
    }
}

impl Drop for HeldErrors {
    fn drop(&mut self) {
        // Where it fails, there is no terminal any more.
        let _ = rustix::stdio::dup2_stderr(&self.terminal);
    }
}

/// What all writers of this file have written: they have its position in common.
fn written(held: &File) -> String {
    let length = rustix::fs::seek(held, SeekFrom::Current(0)).unwrap_or(0).min(MOST_BYTES);
    let mut bytes = vec![0; length as usize];
    let n_bytes = held.read_at(&mut bytes, 0).unwrap_or(0);
    String::from_utf8_lossy(&bytes[..n_bytes]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn what_all_writers_write_is_kept_up_to_a_bound() {
        let held = HeldErrors::memory().unwrap();
        let (mut one, mut other) = (held.try_clone().unwrap(), held.try_clone().unwrap());
        one.write_all(b"ssh: no such host\n").unwrap();
        other.write_all(b"\xffx\n").unwrap();
        assert_eq!(written(&held), "ssh: no such host\n\u{fffd}x\n");
        let line = [b'a'; 1000];
        let n_taken = (0..2 * MOST_BYTES / 1000).filter(|_| one.write_all(&line).is_ok()).count() as u64;
        assert!(n_taken >= MOST_BYTES / 1000 - 2 && n_taken * 1000 < MOST_BYTES, "{n_taken}");
        // A byte that is no text is shown as a letter of three.
        assert!(written(&held).chars().count() as u64 <= MOST_BYTES);
    }
}
