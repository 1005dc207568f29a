//! A pipe between a buffer and a file or socket, with `splice(2)` and `vmsplice(2)`: data moves as pages where the kernel can.
//!
//! Must not know: engines. Start reading at [`Pipe`].
#![expect(unsafe_code, reason = "vmsplice takes addresses")]

use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::pipe::{IoSliceRaw, PipeFlags, SpliceFlags};

/// A pipe whose both ends are in one hand.
#[derive(Debug)]
pub struct Pipe {
    reader: OwnedFd,
    writer: OwnedFd,
    n_bytes: usize,
}

impl Pipe {
    /// An empty pipe.
    pub fn new() -> Result<Self, Errno> {
        let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        let n_bytes = rustix::pipe::fcntl_getpipe_size(&writer)?;
        Ok(Self { reader, writer, n_bytes })
    }

    /// Moves up to `length` bytes from a file into the pipe, from `offset` on, or from the present position (a socket).
    /// With `more` the caller comes back for the rest.
    pub fn fill_from(
        &self,
        file: impl AsFd,
        mut offset: Option<u64>,
        length: usize,
        more: bool,
    ) -> Result<usize, Errno> {
        let flags = if more { SpliceFlags::MORE } else { SpliceFlags::empty() };
        rustix::pipe::splice(file, offset.as_mut(), &self.writer, None, length, flags)
    }

    /// Moves up to `length` bytes from the pipe to a file, at `offset`, or to the present position (a socket). With
    /// `more` the caller has more to come.
    pub fn drain_to(
        &self,
        file: impl AsFd,
        mut offset: Option<u64>,
        length: usize,
        more: bool,
    ) -> Result<usize, Errno> {
        let flags = if more { SpliceFlags::MORE } else { SpliceFlags::empty() };
        rustix::pipe::splice(&self.reader, None, file, offset.as_mut(), length, flags)
    }

    /// Gives pages of a buffer to the pipe, as many as it takes now; `EAGAIN` if it is full. Later changes of the
    /// buffer show in the pipe, and at the destination of these pages.
    pub fn fill_with(&self, buffer: &[u8]) -> Result<usize, Errno> {
        let slice = [IoSliceRaw::from_slice(buffer)];
        // SAFETY: the address and length are those of a slice; the kernel holds the pages for itself and only reads them.
        unsafe { rustix::pipe::vmsplice(&self.writer, &slice, SpliceFlags::NONBLOCK) }
    }

    /// Copies from a buffer to the pipe, which has to be empty, up to its capacity: later changes of the buffer do not
    /// matter.
    pub fn fill_with_copy(&self, buffer: &[u8]) -> Result<usize, Errno> {
        rustix::io::write(&self.writer, &buffer[..buffer.len().min(self.n_bytes)])
    }

    /// Copies from the pipe to a buffer, which it may fill in part.
    pub fn drain_into(&self, buffer: &mut [u8]) -> Result<usize, Errno> {
        let slice = [IoSliceRaw::from_slice_mut(buffer)];
        // SAFETY: the address and length are those of a slice that is borrowed mutably until the call is over.
        unsafe { rustix::pipe::vmsplice(&self.reader, &slice, SpliceFlags::MOVE) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::TempDir;

    #[test]
    fn data_goes_through_the_pipe_and_back() {
        let dir = TempDir::new("pipe");
        let path = dir.path().join("file");
        let file = std::fs::File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        let pipe = Pipe::new().unwrap();
        let written: Vec<u8> = (0..5000_u32).map(|index| index as u8).collect();
        assert_eq!(pipe.fill_with(&written), Ok(5000));
        assert_eq!(pipe.drain_to(&file, Some(100), 5000, false), Ok(5000));
        let mut read = vec![0; 5000];
        assert_eq!(pipe.fill_from(&file, Some(100), 6000, false), Ok(5000));
        assert_eq!(pipe.drain_into(&mut read), Ok(5000));
        assert_eq!(read, written);
        // Behind the end there is nothing, and an empty pipe has no room for a megabyte at once.
        assert_eq!(pipe.fill_from(&file, Some(9000), 100, false), Ok(0));
        let megabyte = vec![1; 1 << 20];
        assert_eq!(pipe.fill_with_copy(&megabyte), Ok(pipe.n_bytes));
        assert_eq!(pipe.drain_to(&file, Some(0), 10, false), Ok(10));
        let pipe = Pipe::new().unwrap();
        assert!(pipe.fill_with(&megabyte).is_ok_and(|n| n < megabyte.len()));
    }
}
