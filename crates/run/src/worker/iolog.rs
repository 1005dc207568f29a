//! `write_iolog`: the trace of what a worker issued, version 3.
//!
//! Must not know: loops. Start reading at [`IoLog::io`].
//! Facts: reference, text format of `write_iolog` and `read_iolog`.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// An open trace. Lines are collected and written in whole lines, so that several workers may append to one file.
pub(super) struct IoLog {
    out: BufWriter<File>,
}

/// Bytes collected before a write.
const BUFFER_BYTES: usize = 64 << 10;

/// Most bytes of a line beside its name.
const REST_BYTES: usize = 96;

impl IoLog {
    /// Opens the trace for appending; a new file gets its heading.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        let is_new = file.metadata()?.len() == 0;
        let mut out = BufWriter::with_capacity(BUFFER_BYTES, file);
        if is_new {
            out.write_all(b"fio version 3 iolog\n")?;
            out.flush()?;
        }
        Ok(Self { out })
    }

    /// A file was added, opened or closed.
    pub(super) fn file(&mut self, time_us: u64, path: &Path, action: &str) -> io::Result<()> {
        self.begin(time_us, path)?;
        writeln!(self.out, "{action}")
    }

    /// An I/O was issued.
    pub(super) fn io(&mut self, time_us: u64, path: &Path, action: &str, offset: u64, length: u64) -> io::Result<()> {
        self.begin(time_us, path)?;
        writeln!(self.out, "{action} {offset} {length}")
    }

    /// Time and file of a line, which is never split between two writes. A path is written as it is, whatever its bytes.
    fn begin(&mut self, time_us: u64, path: &Path) -> io::Result<()> {
        let name = path.as_os_str().as_bytes();
        if self.out.buffer().len() + name.len() + REST_BYTES > BUFFER_BYTES {
            self.out.flush()?;
        }
        write!(self.out, "{time_us} ")?;
        self.out.write_all(name)?;
        self.out.write_all(b" ")
    }

    /// Writes what is left.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }
}
