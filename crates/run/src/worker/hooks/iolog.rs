//! `write_iolog`: writes a trace of the I/Os that a worker issues, version 3.
//!
//! Must not know: loops. Start reading at [`IoLog::issue`].
//! Facts: reference, text format of `write_iolog` and `read_iolog`.

use crate::error::{Failure, failure};
use crate::worker::core::WorkerCore;
use ferrio_stats::Note;
use ferrio_stats::note::During;
use ferrio_sys::errno::EIO;
use ferrio_sys::output::{self, OutputStart, ProtectedPaths};
use ferrio_units::Direction;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// An open trace. Lines are collected and written in whole lines, so that several workers may append to one file.
pub(crate) struct IoLog {
    out: BufWriter<File>,
}

/// Bytes collected before a write.
const BUFFER_BYTES: usize = 64 << 10;

/// Most bytes of a line without its file name.
const REST_BYTES: usize = 96;

impl IoLog {
    /// Opens the trace for appending; a new file gets its first line.
    pub(crate) fn open(path: &Path, kept: &ProtectedPaths) -> Result<Self, Failure> {
        Self::open_file(path, kept).map_err(|error| {
            let note = Note::system(During::WriteIolog(path.display().to_string()), &error);
            failure!(error.raw_os_error().unwrap_or(EIO), "write_iolog").explained(note)
        })
    }

    fn open_file(path: &Path, kept: &ProtectedPaths) -> io::Result<Self> {
        let file = output::open(path, OutputStart::Append, kept)?;
        let is_new = file.metadata()?.len() == 0;
        let mut out = BufWriter::with_capacity(BUFFER_BYTES, file);
        if is_new {
            out.write_all(b"fio version 3 iolog\n")?;
            out.flush()?;
        }
        Ok(Self { out })
    }

    /// Called before an I/O is handed to the engine.
    pub(crate) fn issue(&mut self, core: &WorkerCore<'_>, slot_index: u32) -> Result<(), Failure> {
        let slot = core.slots.get(slot_index);
        let unit = &slot.unit;
        let (offset, length) = if unit.direction.is_sync() {
            (slot.data_offset, 0)
        } else {
            (unit.offset_bytes, unit.length_bytes as u64)
        };
        let path = &core.files.plan(unit.file_index).path;
        let logged = self.io(time_us(core), path, unit.direction.name(), offset, length);
        logged.map_err(|error| failed(&error))
    }

    /// Called after a file was synced outside of the stream of I/Os; `offset_bytes` is the position of the stream.
    pub(crate) fn synced(&mut self, core: &WorkerCore<'_>, file_index: u32, offset_bytes: u64) {
        let path = &core.files.plan(file_index).path;
        // The next line meets the same error, and ends the job with it.
        let _ = self.io(time_us(core), path, Direction::Sync.name(), offset_bytes, 0);
    }

    /// Called after a file was added, opened or closed.
    pub(crate) fn file(&mut self, core: &WorkerCore<'_>, file_index: u32, action: &str) {
        // The next I/O meets the same error, and ends the job with it.
        let _ = self.write_file(time_us(core), &core.files.plan(file_index).path, action);
    }

    fn write_file(&mut self, time_us: u64, path: &Path, action: &str) -> io::Result<()> {
        self.begin(time_us, path)?;
        writeln!(self.out, "{action}")
    }

    fn io(&mut self, time_us: u64, path: &Path, action: &str, offset: u64, length: u64) -> io::Result<()> {
        self.begin(time_us, path)?;
        writeln!(self.out, "{action} {offset} {length}")
    }

    /// Begins a line with its time and file; a line is never split between two writes. A path is written byte by byte
    /// as it is.
    fn begin(&mut self, time_us: u64, path: &Path) -> io::Result<()> {
        let name = path.as_os_str().as_bytes();
        if self.out.buffer().len() + name.len() + REST_BYTES > BUFFER_BYTES {
            self.out.flush()?;
        }
        write!(self.out, "{time_us} ")?;
        self.out.write_all(name)?;
        self.out.write_all(b" ")
    }

    /// Writes the remaining lines.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        self.out.flush().map_err(|error| failed(&error))
    }
}

fn time_us(core: &WorkerCore<'_>) -> u64 {
    core.clock.now_ns().saturating_sub(core.control.epoch_ns()) / 1_000
}

fn failed(error: &io::Error) -> Failure {
    failure!(error.raw_os_error().unwrap_or(EIO), "write iolog")
}
