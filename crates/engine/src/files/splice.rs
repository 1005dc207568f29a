//! `ioengine=splice`: `splice(2)` between the file and a pipe, `vmsplice(2)` between the pipe and the buffer.
//!
//! A pipe holds 64 KiB, so a larger block passes in parts, as in fio. Deviations: fio also tries to move the pages of a
//! read into its buffer (the kernel refuses), polls the pipe before each write (an empty pipe has room), and fails
//! trims with EIO.
//! Must not know: sockets. Start reading at `Splice`.

use crate::contract::{Engine, EngineError, EngineSetup, IoUnit, Prepare, Prepared};
use crate::files::inline::{Inline, Transfer};
use ferrio_sys::Errno;
use ferrio_sys::pipe::Pipe;
use std::os::fd::BorrowedFd;

/// Capacity of a pipe unless it is changed, bytes.
pub(crate) const PIPE_BYTES: usize = 64 << 10;

pub(crate) const PREPARE: Prepare = |_| Ok(Box::new(Idle));

/// The engine before it is started.
struct Idle;

impl Prepared for Idle {
    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        let pipe = new_pipe("splice")?;
        Box::new(Inline(Splice { pipe })).start(setup)
    }
}

pub(crate) fn new_pipe(engine: &'static str) -> Result<Pipe, EngineError> {
    Pipe::new().map_err(|errno| EngineError::Refused {
        engine,
        what: "pipe()".to_owned(),
        source: errno.into(),
        hint: "the process may have too many files open (ulimit -n)".to_owned(),
    })
}

/// Reads and writes at an offset, through a pipe that is empty between two I/Os.
struct Splice {
    pipe: Pipe,
}

impl Splice {
    /// Replaces the pipe if an I/O failed with data left in it.
    fn settle(&mut self, outcome: Result<usize, Errno>, n_moved: usize, is_empty: bool) -> Result<usize, Errno> {
        if !is_empty {
            self.pipe = Pipe::new()?;
        }
        if n_moved > 0 { Ok(n_moved) } else { outcome }
    }
}

impl Transfer for Splice {
    fn read(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &mut [u8]) -> Result<usize, Errno> {
        let mut n_moved = 0;
        while n_moved < buffer.len() {
            let rest = buffer.len() - n_moved;
            let part = rest.min(PIPE_BYTES);
            let offset = unit.offset_bytes + n_moved as u64;
            let n_filled = match self.pipe.fill_from(fd, Some(offset), part, rest > part) {
                Ok(n_filled) if n_filled > 0 => n_filled,
                outcome => return self.settle(outcome, n_moved, true),
            };
            let end = n_moved + n_filled;
            while n_moved < end {
                match self.pipe.drain_into(&mut buffer[n_moved..end]) {
                    Ok(n_drained) if n_drained > 0 => n_moved += n_drained,
                    outcome => return self.settle(outcome, n_moved, false),
                }
            }
        }
        Ok(n_moved)
    }

    fn write(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &[u8]) -> Result<usize, Errno> {
        let mut n_moved = 0;
        while n_moved < buffer.len() {
            let n_filled = match self.pipe.fill_with(&buffer[n_moved..]) {
                Ok(n_filled) if n_filled > 0 => n_filled,
                outcome => return self.settle(outcome, n_moved, true),
            };
            let end = n_moved + n_filled;
            while n_moved < end {
                match self.pipe.drain_to(fd, Some(unit.offset_bytes + n_moved as u64), end - n_moved, false) {
                    Ok(n_drained) if n_drained > 0 => n_moved += n_drained,
                    outcome => return self.settle(outcome, n_moved, false),
                }
            }
        }
        Ok(n_moved)
    }
}

#[cfg(test)]
mod tests {
    use crate::contract::IoUnit;
    use crate::testing::{
        BLOCK, N_BLOCKS, Rig, RigOptions, TestFile, check_closed_file, check_end_of_file, check_file_engine,
    };
    use ferrio_units::Direction;
    use std::fs::File;
    use std::os::fd::AsFd;

    #[test]
    fn files_are_read_written_and_synced() {
        check_file_engine("splice", RigOptions::default);
        check_file_engine("splice", || RigOptions { direct: true, ..RigOptions::default() });
        check_end_of_file("splice", RigOptions::default());
        check_closed_file("splice", RigOptions::default());
    }

    /// A write that the file refuses leaves pages in the pipe; the next I/O must not see them.
    #[test]
    fn what_failed_does_not_show_in_the_next_io() {
        let file = TestFile::new("splice");
        let mut rig = Rig::new("splice", Some(&file), RigOptions::default()).unwrap();
        let read_only = File::open(file.path()).unwrap();
        rig.open_second(read_only.as_fd());
        let failing = IoUnit { file_index: 1, ..rig.unit(Direction::Write, 0) };
        let results = rig.run(&[failing], |_, buffer| buffer.fill(0xee), |_, _, _| ());
        assert_eq!(results, [-i64::from(libc::EBADF)]);
        for block in [3, N_BLOCKS - 1] {
            let unit = rig.unit(Direction::Read, block);
            let results = rig.run(&[unit], |_, _| (), |_, buffer, _| assert_eq!(buffer[0], block as u8 + 1));
            assert_eq!(results, [BLOCK as i64]);
        }
    }
}
