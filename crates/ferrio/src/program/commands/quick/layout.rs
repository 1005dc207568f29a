//! Fills the file with data that no device can compress, so that the tests meet written extents only, and finds out
//! whether direct I/O works.
//!
//! Must not know: the tests. Start reading at [`lay_out`].

use super::check_signals;
use super::size::{self, FileSize};
use super::target_file::TargetFile;
use crate::ui::signals::Signals;
use crate::ui::step_bar::StepBar;
use anyhow::{Context, Result, bail};
use ferrio_sys::file_cache::{self, CacheAdvice};
use ferrio_sys::file_space::{self, Preallocation};
use ferrio_sys::{Arena, ArenaKind, ArenaRequest, Errno, file_io};
use ferrio_units::humanize::bytes_text;
use ferrio_units::random::{Taus258, system_seed};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Size of one write.
const CHUNK_BYTES: usize = 4 << 20;
/// Size of the first write, which shows whether direct I/O works: the block size of the small tests.
const PROBE_BYTES: usize = 4096;
/// With the page cache, written data is synced after this many bytes, so that the bar shows true progress and a signal
/// does not have to wait long.
const SYNC_BYTES: u64 = 64 << 20;
/// A file of the default size is not written for longer than this.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// The file after laying out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LaidOut {
    /// Its size, in whole MiB.
    pub(super) bytes: u64,
    /// Smaller than planned, because writing took long.
    pub(super) is_cut: bool,
    /// Direct I/O works on it.
    pub(super) is_direct: bool,
}

/// Writes the whole file and waits until it is on the medium.
///
/// # Errors
/// Errors of the medium, and a signal that came meanwhile.
pub(super) fn lay_out(
    file: &TargetFile,
    size: FileSize,
    is_memory: bool,
    signals: &Signals,
    progress: &mut StepBar,
) -> Result<LaidOut> {
    progress.step("writing the file", size.bytes);
    let failed = || format!("cannot fill {} with {}", file.path().display(), bytes_text(size.bytes));
    reserve(file, size.bytes).with_context(failed)?;
    let mut buffer = new_buffer()?;
    let direct = if is_memory { None } else { open_direct(file, &mut buffer).with_context(failed)? };
    // A new seed for each run, so that a store that removes duplicates has not seen the data before.
    let random = Taus258::new(system_seed());
    let mut writer = BlockWriter { file, direct: direct.as_ref(), signals, buffer, random };
    let bytes = writer.write_until(size, progress).with_context(failed)?;
    finish(file, bytes).with_context(failed)?;
    Ok(LaidOut { bytes, is_cut: bytes < size.bytes, is_direct: direct.is_some() })
}

/// Allocates the space at once, in few extents, if the file system supports that.
fn reserve(file: &TargetFile, bytes: u64) -> Result<()> {
    match file_space::preallocate(file.opened(), Preallocation::Native, 0, bytes) {
        Err(error) if error.errno() == Some(Errno::NOSPC.raw_os_error()) => Err(error.into()),
        _ => Ok(()),
    }
}

fn new_buffer() -> Result<Arena> {
    let request =
        ArenaRequest { kind: ArenaKind::Malloc, size_bytes: CHUNK_BYTES, offset_bytes: 0, hugepage_bytes: 2 << 20 };
    Ok(Arena::new(&request)?)
}

/// The file past the page cache, if the file system lets one block of the small tests be written that way. Some refuse
/// when the file is opened, some not before the first write.
fn open_direct(file: &TargetFile, buffer: &mut Arena) -> Result<Option<OwnedFd>> {
    let invalid = Errno::INVAL.raw_os_error();
    let direct = match file.open_direct() {
        Err(error) if error.errno() == Some(invalid) => return Ok(None),
        result => result?,
    };
    match file_io::pwrite(&direct, buffer.slice(0, PROBE_BYTES), PROBE_BYTES as u64) {
        Err(errno) if errno.raw_os_error() == invalid => Ok(None),
        Err(errno) => Err(std::io::Error::from(errno).into()),
        Ok(_) => Ok(Some(direct)),
    }
}

struct BlockWriter<'a> {
    file: &'a TargetFile,
    direct: Option<&'a OwnedFd>,
    signals: &'a Signals,
    buffer: Arena,
    random: Taus258,
}

impl BlockWriter<'_> {
    /// Writes up to the size, or less when the time is over. Returns the bytes written.
    fn write_until(&mut self, size: FileSize, progress: &mut StepBar) -> Result<u64> {
        let started_at = Instant::now();
        let mut written = 0;
        while written < size.bytes {
            check_signals(self.signals)?;
            let n = size.bytes.saturating_sub(written).min(CHUNK_BYTES as u64);
            self.write_chunk(written, n as usize)?;
            written += n;
            if self.direct.is_none() && written.is_multiple_of(SYNC_BYTES) {
                file_cache::sync_data(self.file.opened()).map_err(std::io::Error::from)?;
            }
            progress.set(written, "");
            if !size.is_fixed && written >= size::MIN_BYTES && started_at.elapsed() > TIME_LIMIT {
                break;
            }
        }
        Ok(written)
    }

    fn write_chunk(&mut self, offset: u64, len: usize) -> Result<()> {
        let chunk = self.buffer.slice_mut(0, len);
        for word in chunk.chunks_exact_mut(8) {
            word.copy_from_slice(&self.random.next_u64().to_ne_bytes());
        }
        let to = self.direct.unwrap_or_else(|| self.file.opened());
        let mut done = 0;
        while done < len {
            match file_io::pwrite(to, self.buffer.slice(done, len - done), offset + done as u64) {
                Ok(0) => bail!("nothing could be written at {}", offset + done as u64),
                Ok(n) => done += n,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(std::io::Error::from(errno).into()),
            }
        }
        Ok(())
    }
}

/// Cuts off reserved space that was not written, and waits for the medium.
fn finish(file: &TargetFile, bytes: u64) -> Result<()> {
    file_space::truncate(file.opened(), bytes).map_err(std::io::Error::from)?;
    file_cache::sync(file.opened()).map_err(std::io::Error::from)?;
    // Only advice: the tests drop the cache themselves.
    let _ = file_cache::advise(file.opened(), 0, 0, CacheAdvice::DontNeed);
    Ok(())
}
