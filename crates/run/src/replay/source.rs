//! Source of a trace: a file, standard input, a pipe, or a Unix socket.
//!
//! A trace is read twice. If the source can be read only once, it is first copied to a file without a name, on disk
//! rather than in memory.
//! Must not know: formats of traces. Start reading at [`open`].

use crate::plan::WorkerPlan;
use ferrio_sys::file;
use ferrio_sys::poll::wait_readable;
use ferrio_units::byte_text;
use ferrio_workload::replay::{TraceBytes, TraceError};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Bytes that are copied at once.
const COPY_BYTES: usize = 256 << 10;

/// Time after which a read that waits for data checks again whether the run is over.
const PATIENCE: Duration = Duration::from_millis(100);

#[derive(Debug)]
struct OpenTrace(File);

impl TraceBytes for OpenTrace {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(buffer, offset)
    }
}

/// The trace of a worker, as text of [`byte_text`]: clone n takes entry n mod count.
pub(super) fn of_worker(worker: &WorkerPlan) -> String {
    let traces = &worker.spec.replay.traces;
    // A job without traces is not replayed, so the default is never used.
    traces.get(worker.clone_index as usize % traces.len().max(1)).cloned().unwrap_or_default()
}

/// True if a trace is a file that may be read more than once; its name is a text of [`byte_text`].
pub(super) fn is_regular(name: &str) -> bool {
    name != "-" && std::fs::metadata(PathBuf::from(byte_text::to_os_string(name))).is_ok_and(|info| info.is_file())
}

/// Opens a trace by its name, a text of [`byte_text`]; gives up when `stop` returns true because the run is over.
pub(super) fn open(name: &str, stop: &dyn Fn() -> bool) -> Result<Arc<dyn TraceBytes>, TraceError> {
    if name == "-" {
        return copied(&mut io::stdin().lock(), stop);
    }
    let path = PathBuf::from(byte_text::to_os_string(name));
    let kind = std::fs::metadata(&path)?.file_type();
    if kind.is_socket() {
        return copied(&mut UnixStream::connect(path)?, stop);
    }
    if kind.is_dir() {
        return Err(io::Error::from_raw_os_error(21).into());
    }
    if kind.is_char_device() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a character device has no end").into());
    }
    if kind.is_fifo() { copied(&mut file::open_pipe(&path)?, stop) } else { Ok(Arc::new(OpenTrace(File::open(path)?))) }
}

fn copied(from: &mut (impl Read + AsFd), stop: &dyn Fn() -> bool) -> Result<Arc<dyn TraceBytes>, TraceError> {
    let mut file = unnamed_file()?;
    let mut buffer = vec![0; COPY_BYTES];
    loop {
        while wait_readable(&[from.as_fd()], PATIENCE).is_empty() {
            if stop() {
                return Err(TraceError::Stopped);
            }
        }
        match from.read(&mut buffer) {
            Ok(0) => return Ok(Arc::new(OpenTrace(file))),
            Ok(n) => file.write_all(&buffer[..n])?,
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// A file that disappears when it is closed, in a directory that is likely to be on a disk.
fn unnamed_file() -> io::Result<File> {
    let from_environment = std::env::var_os("TMPDIR").map(PathBuf::from);
    let places = from_environment.iter().map(PathBuf::as_path).chain([Path::new("/var/tmp"), Path::new("/tmp")]);
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for place in places {
        let path = place.join(format!("ferrio-trace-{}-{:?}", std::process::id(), std::thread::current().id()));
        match File::options().read(true).write(true).create_new(true).open(&path) {
            Ok(file) => return std::fs::remove_file(&path).map(|()| file),
            Err(error) => last = error,
        }
    }
    Err(last)
}
