//! The page cache and the way to the medium: advice, syncs, write life-time hints. `sync_file_range` is in
//! [`crate::files::io_calls`].
//!
//! Must not know: when to sync. The syncs are called per I/O and return a bare errno.
#![expect(unsafe_code, reason = "fcntl for write hints, cachestat")]

use crate::error::{Context, Result};
use ferrio_units::WriteHint;
use rustix::fd::{AsFd, AsRawFd};
use rustix::io::Errno;
use std::num::NonZeroU64;
use std::ops::Range;

/// Advice to the page cache about a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheAdvice {
    /// Nothing special.
    Normal,
    /// Read in random order: no read-ahead.
    Random,
    /// Read in order: more read-ahead.
    Sequential,
    /// Used once.
    NoReuse,
    /// Not needed any more: clean pages are dropped.
    DontNeed,
}

/// Gives advice (`fadvise64`). A length of 0 means to the end of the file.
pub fn advise(file: impl AsFd, offset: u64, len: u64, advice: CacheAdvice) -> Result<()> {
    let raw = match advice {
        CacheAdvice::Normal => rustix::fs::Advice::Normal,
        CacheAdvice::Random => rustix::fs::Advice::Random,
        CacheAdvice::Sequential => rustix::fs::Advice::Sequential,
        CacheAdvice::NoReuse => rustix::fs::Advice::NoReuse,
        CacheAdvice::DontNeed => rustix::fs::Advice::DontNeed,
    };
    rustix::fs::fadvise(file, offset, NonZeroU64::new(len), raw)
        .context("fadvise64", format_args!("({advice:?}, {len} bytes at {offset})"))
}

/// Drops the page cache, directory entries and inodes of the whole machine, after a sync of all file systems.
///
/// # Errors
/// Only root may do it.
pub fn drop_all() -> std::io::Result<()> {
    rustix::fs::sync();
    std::fs::write("/proc/sys/vm/drop_caches", "3")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CachedPages {
    pub n_cached: u64,
    /// Waiting to be written.
    pub n_dirty: u64,
    pub n_writeback: u64,
    /// Once in the cache, and dropped.
    pub n_evicted: u64,
}

/// Cached pages of a whole file (`cachestat`, Linux 6.5 and newer).
pub fn cached_pages(file: impl AsFd) -> Result<CachedPages> {
    // A length of 0 means to the end of the file.
    cached_pages_of(file, [0; 2])
}

/// Bytes in a range of a file that the page cache has yet to write to the medium (`cachestat`, Linux 6.5 and newer).
pub(crate) fn bytes_to_write(file: impl AsFd, range: &Range<u64>) -> Result<u64> {
    let pages = cached_pages_of(file, [range.start, range.end.saturating_sub(range.start)])?;
    Ok(pages.n_dirty.saturating_add(pages.n_writeback).saturating_mul(rustix::param::page_size() as u64))
}

/// `range`: offset and length.
fn cached_pages_of(file: impl AsFd, range: [u64; 2]) -> Result<CachedPages> {
    // Of asm-generic/unistd.h; the same on every architecture but alpha.
    const CACHESTAT: libc::c_long = 451;
    let mut counts = [0_u64; 5];
    // SAFETY: the kernel reads two and writes five numbers of 64 bits, to which both pointers point.
    let result = unsafe {
        libc::syscall(CACHESTAT, file.as_fd().as_raw_fd(), range.as_ptr(), counts.as_mut_ptr(), 0 as libc::c_uint)
    };
    if result < 0 {
        return Err(std::io::Error::last_os_error()).context("cachestat", "");
    }
    let [n_cached, n_dirty, n_writeback, n_evicted, _] = counts;
    Ok(CachedPages { n_cached, n_dirty, n_writeback, n_evicted })
}

/// Writes data and metadata of a file to the medium.
#[inline]
pub fn sync(file: impl AsFd) -> std::result::Result<(), Errno> {
    rustix::fs::fsync(file)
}

/// Writes the data of a file to the medium, and as much metadata as is needed to read it back.
#[inline]
pub fn sync_data(file: impl AsFd) -> std::result::Result<(), Errno> {
    rustix::fs::fdatasync(file)
}

/// Writes the whole file system that a file is on to the medium.
#[inline]
pub fn sync_file_system(file: impl AsFd) -> std::result::Result<(), Errno> {
    rustix::fs::syncfs(file)
}

/// `F_SET_RW_HINT` of `fcntl(2)`: `F_LINUX_SPECIFIC_BASE` (1024) + 12.
const F_SET_RW_HINT: libc::c_int = 1036;

/// Sets the write hint of a file (of its inode: `F_SET_RW_HINT`).
pub fn set_write_hint(file: impl AsFd, hint: WriteHint) -> Result<()> {
    let value = hint as u64;
    // SAFETY: this command reads one u64 from the address, which is valid for the call.
    let result = unsafe { libc::fcntl(file.as_fd().as_raw_fd(), F_SET_RW_HINT, &raw const value) };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
        .context("fcntl", format_args!("(F_SET_RW_HINT, {hint:?})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::TempDir;
    use ferrio_testing::skip_part;

    #[test]
    fn a_file_can_be_advised_hinted_and_synced() {
        let dir = TempDir::new("cache");
        let file = std::fs::File::create(dir.path().join("file")).unwrap();
        file.set_len(1 << 16).unwrap();
        for advice in [
            CacheAdvice::Normal,
            CacheAdvice::Random,
            CacheAdvice::Sequential,
            CacheAdvice::NoReuse,
            CacheAdvice::DontNeed,
        ] {
            advise(&file, 0, 1 << 16, advice).unwrap();
        }
        advise(&file, 0, 0, CacheAdvice::DontNeed).unwrap();
        assert_eq!((sync(&file), sync_data(&file), sync_file_system(&file)), (Ok(()), Ok(()), Ok(())));
        if let Err(error) = set_write_hint(&file, WriteHint::Short) {
            skip_part!("a_file_can_be_advised_hinted_and_synced", "hint: {error}");
        }
    }

    #[test]
    fn a_pipe_takes_no_advice() {
        let (reader, _writer) = std::io::pipe().unwrap();
        assert_eq!(advise(&reader, 0, 0, CacheAdvice::DontNeed).unwrap_err().errno(), Some(libc::ESPIPE));
    }
}
