//! `write_iolog`: the trace of what a worker issued, version 3.
//!
//! Must not know: loops. Start reading at [`IoLog::io`].
//! Facts: reference, text format of `write_iolog` and `read_iolog`.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// An open trace. Lines are collected and written in whole lines, so that several workers may append to one file.
pub(super) struct IoLog {
    out: BufWriter<File>,
}

/// Bytes collected before a write.
const BUFFER_BYTES: usize = 64 << 10;

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
    pub(super) fn file(&mut self, time_us: u64, name: &str, action: &str) -> io::Result<()> {
        self.make_room(name.len() + 48)?;
        writeln!(self.out, "{time_us} {name} {action}")
    }

    /// An I/O was issued.
    pub(super) fn io(&mut self, time_us: u64, name: &str, action: &str, offset: u64, length: u64) -> io::Result<()> {
        self.make_room(name.len() + 96)?;
        writeln!(self.out, "{time_us} {name} {action} {offset} {length}")
    }

    /// A line is never split between two writes.
    fn make_room(&mut self, line_bytes: usize) -> io::Result<()> {
        if self.out.buffer().len() + line_bytes > BUFFER_BYTES { self.out.flush() } else { Ok(()) }
    }

    /// Writes what is left.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }
}
