//! The extents of a file on its medium: written, unwritten, compressed and shared ones, and holes (`FS_IOC_FIEMAP`).
//!
//! Must not know: the use of the file. Start reading at [`ExtentBytes::of_file`]. The call does not sync: data that is
//! still in the page cache is reported as delayed, and stays there.
#![expect(unsafe_code, reason = "ioctl with a structure of variable length")]

use crate::error::{Context, Result};
use crate::files::file_cache::bytes_to_write;
use rustix::fd::{AsFd, AsRawFd};
use serde::{Deserialize, Serialize};
use std::ops::Range;

const N_PER_CALL: usize = 256;
/// A file of more extents is looked at no further: 4 million calls would take minutes.
const MAX_EXTENTS: u64 = 1 << 18;

const FS_IOC_FIEMAP: libc::Ioctl = 0xC020_660B_u32 as libc::Ioctl;

/// Flags of an extent (`linux/fiemap.h`).
mod flag {
    pub(super) const LAST: u32 = 0x1;
    pub(super) const DELAYED: u32 = 0x4;
    pub(super) const ENCODED: u32 = 0x8;
    pub(super) const UNWRITTEN: u32 = 0x800;
    pub(super) const SHARED: u32 = 0x2000;
}

/// Bytes of a file, or of several, by the kind of their extents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ExtentBytes {
    pub n_extents: u64,
    /// Data on the medium.
    pub written_bytes: u64,
    /// Allocated but never written: a read gives zeroes without using the device.
    pub unwritten_bytes: u64,
    /// In the page cache, which has yet to write them.
    pub delayed_bytes: u64,
    /// In no extent: a read gives zeroes without using the device.
    pub hole_bytes: u64,
    /// Part of the written bytes that is compressed or otherwise encoded.
    pub encoded_bytes: u64,
    /// Part of the written bytes that is shared with other files.
    pub shared_bytes: u64,
}

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Clone, Copy)]
struct FileExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

/// `struct fiemap` with room for extents.
#[repr(C)]
struct Request {
    start: u64,
    length: u64,
    flags: u32,
    n_mapped: u32,
    n_room: u32,
    reserved: u32,
    extents: [FileExtent; N_PER_CALL],
}

impl ExtentBytes {
    /// Looks at the extents of a file up to a size. `None`: it has too many to look at.
    ///
    /// # Errors
    /// A file system that does not tell (`EOPNOTSUPP`), or no regular file.
    pub fn of_file(file: impl AsFd, size_bytes: u64) -> Result<Option<Self>> {
        Self::of_range(file, 0..size_bytes)
    }

    /// Looks at the extents in a range of a file, in bytes. `None`: it has too many to look at.
    ///
    /// # Errors
    /// A file system that does not tell (`EOPNOTSUPP`), or no regular file.
    pub fn of_range(file: impl AsFd, range: Range<u64>) -> Result<Option<Self>> {
        // Before the extents: what is written between the two is data in both. An older kernel does not tell.
        let waiting_bytes = bytes_to_write(&file, &range).unwrap_or(0);
        let mut map = Self::default();
        let mut start = range.start;
        'calls: while start < range.end {
            let request = ask(&file, start, range.end - start)?;
            let n_mapped = (request.n_mapped as usize).min(N_PER_CALL);
            for extent in &request.extents[..n_mapped] {
                map.add(extent, &range);
                start = extent.logical.saturating_add(extent.length);
                if extent.flags & flag::LAST != 0 {
                    break 'calls;
                }
            }
            if n_mapped == 0 {
                break;
            }
            if map.n_extents >= MAX_EXTENTS {
                return Ok(None);
            }
        }
        map.hole_bytes = (range.end.saturating_sub(range.start))
            .saturating_sub(map.written_bytes + map.unwritten_bytes + map.delayed_bytes);
        map.delay(waiting_bytes);
        Ok(Some(map))
    }

    /// Extents are unwritten until the page cache has written what waits for them.
    fn delay(&mut self, waiting_bytes: u64) {
        let n_bytes = waiting_bytes.saturating_sub(self.delayed_bytes).min(self.unwritten_bytes);
        self.unwritten_bytes -= n_bytes;
        self.delayed_bytes += n_bytes;
    }

    /// Bytes that a read gets without asking a device.
    pub fn without_data_bytes(&self) -> u64 {
        self.unwritten_bytes.saturating_add(self.hole_bytes)
    }

    /// The sums with the bytes of another file.
    #[must_use]
    pub fn with(self, more: Self) -> Self {
        Self {
            n_extents: self.n_extents.saturating_add(more.n_extents),
            written_bytes: self.written_bytes.saturating_add(more.written_bytes),
            unwritten_bytes: self.unwritten_bytes.saturating_add(more.unwritten_bytes),
            delayed_bytes: self.delayed_bytes.saturating_add(more.delayed_bytes),
            hole_bytes: self.hole_bytes.saturating_add(more.hole_bytes),
            encoded_bytes: self.encoded_bytes.saturating_add(more.encoded_bytes),
            shared_bytes: self.shared_bytes.saturating_add(more.shared_bytes),
        }
    }

    fn add(&mut self, extent: &FileExtent, range: &Range<u64>) {
        let end = extent.logical.saturating_add(extent.length).min(range.end);
        let n_bytes = end.saturating_sub(extent.logical.max(range.start));
        self.n_extents += 1;
        match extent.flags {
            flags if flags & flag::UNWRITTEN != 0 => self.unwritten_bytes += n_bytes,
            flags if flags & flag::DELAYED != 0 => self.delayed_bytes += n_bytes,
            flags => {
                self.written_bytes += n_bytes;
                self.encoded_bytes += if flags & flag::ENCODED == 0 { 0 } else { n_bytes };
                self.shared_bytes += if flags & flag::SHARED == 0 { 0 } else { n_bytes };
            }
        }
    }
}

fn ask(file: &impl AsFd, start: u64, length: u64) -> Result<Box<Request>> {
    let empty = FileExtent { logical: 0, physical: 0, length: 0, reserved64: [0; 2], flags: 0, reserved: [0; 3] };
    let mut request = Box::new(Request {
        start,
        length,
        flags: 0,
        n_mapped: 0,
        n_room: N_PER_CALL as u32,
        reserved: 0,
        extents: [empty; N_PER_CALL],
    });
    // SAFETY: the kernel reads the header and writes at most `n_room` extents behind it, for which there is room.
    let result = unsafe { libc::ioctl(file.as_fd().as_raw_fd(), FS_IOC_FIEMAP, &raw mut *request) };
    if result < 0 {
        return Err(std::io::Error::last_os_error()).context("FS_IOC_FIEMAP", "");
    }
    Ok(request)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_testing::skip;

    fn extent(logical: u64, length: u64, flags: u32) -> FileExtent {
        FileExtent { logical, physical: 0, length, reserved64: [0; 2], flags, reserved: [0; 3] }
    }

    #[test]
    fn bytes_are_counted_by_kind_up_to_the_size() {
        let mut map = ExtentBytes::default();
        for extent in [
            extent(0, 4096, 0),
            extent(4096, 8192, flag::UNWRITTEN),
            extent(16384, 4096, flag::DELAYED),
            extent(20480, 4096, flag::ENCODED | flag::SHARED),
            extent(40960, 8192, flag::UNWRITTEN | flag::LAST),
        ] {
            map.add(&extent, &(0..45_056));
        }
        assert_eq!((map.written_bytes, map.unwritten_bytes, map.delayed_bytes), (8192, 12_288, 4096));
        assert_eq!((map.encoded_bytes, map.shared_bytes, map.n_extents), (4096, 4096, 5));
    }

    #[test]
    fn what_waits_in_the_page_cache_is_not_unwritten() {
        let of = |unwritten_bytes, delayed_bytes, waiting_bytes| {
            let mut map = ExtentBytes { unwritten_bytes, delayed_bytes, ..ExtentBytes::default() };
            map.delay(waiting_bytes);
            (map.unwritten_bytes, map.delayed_bytes)
        };
        assert_eq!(of(8192, 0, 4096), (4096, 4096));
        assert_eq!(of(8192, 4096, 4096), (8192, 4096), "these have no extents yet");
        assert_eq!(of(8192, 4096, 1 << 20), (0, 12_288));
    }

    #[test]
    fn an_allocated_file_is_unwritten_until_it_is_written() {
        use std::os::unix::fs::FileExt;
        let path = std::env::temp_dir().join(format!("ferrio-extents-{}", std::process::id()));
        let file = std::fs::File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
        let _ = std::fs::remove_file(&path);
        file.set_len(1 << 20).unwrap();
        let holes = match ExtentBytes::of_file(&file, 1 << 20) {
            Ok(map) => map.unwrap(),
            Err(error) => {
                skip!("an_allocated_file_is_unwritten_until_it_is_written", "{error}");
                return;
            }
        };
        assert_eq!(holes, ExtentBytes { hole_bytes: 1 << 20, ..ExtentBytes::default() });
        if let Err(error) = rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, 1 << 20) {
            skip!("an_allocated_file_is_unwritten_until_it_is_written", "{error}");
            return;
        }
        let allocated = ExtentBytes::of_file(&file, 1 << 20).unwrap().unwrap();
        if allocated.unwritten_bytes == 0 {
            skip!("an_allocated_file_is_unwritten_until_it_is_written", "this file system writes zeroes");
            return;
        }
        assert_eq!((allocated.unwritten_bytes, allocated.written_bytes), (1 << 20, 0));
        file.write_all_at(&vec![1; 65_536], 0).unwrap();
        if bytes_to_write(&file, &(0..1 << 20)).is_ok() {
            let waiting = ExtentBytes::of_file(&file, 1 << 20).unwrap().unwrap();
            assert_eq!(waiting.without_data_bytes(), (1 << 20) - 65_536);
        }
        file.sync_all().unwrap();
        let half = ExtentBytes::of_file(&file, 1 << 20).unwrap().unwrap();
        assert_eq!((half.unwritten_bytes, half.written_bytes), ((1 << 20) - 65_536, 65_536));
        let around = ExtentBytes::of_range(&file, 32_768..98_304).unwrap().unwrap();
        assert_eq!((around.unwritten_bytes, around.written_bytes), (32_768, 32_768));
    }
}
