//! Reading a target with several threads.
//!
//! Each thread takes the next piece that nobody has taken. Must not know: how blocks are counted. Start reading at
//! [`Scan::run`].

use crate::repeats::pack::Packer;
use crate::repeats::repeat_figures::{PackedSizes, RepeatFigures, Unreadable};
use crate::repeats::table::CountedBlocks;
use ferrio_sys::arena::{Arena, ArenaKind, ArenaRequest};
use ferrio_sys::block_device;
use ferrio_sys::file::{Access, FileInfo, FileKind, OpenRequest};
use ferrio_sys::file_io::pread;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use xxhash_rust::xxh3::xxh3_128;

/// Bytes that are read at once, or one block if it is larger.
const PIECE_BYTES: usize = 1 << 20;

/// Time between two looks at the progress.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// The system's answer to an interrupted call.
const EINTR: i32 = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanRequest {
    pub block_bytes: usize,
    /// Number of threads, at least 1.
    pub n_threads: usize,
    /// Reads bypass the page cache.
    pub is_direct: bool,
    /// Compressed sizes are wanted.
    pub packs: bool,
    /// Memory for the table of blocks.
    pub memory_bytes: usize,
    /// So many of the most frequent blocks are listed.
    pub n_most: usize,
}

/// An open target.
#[derive(Debug)]
pub struct Scan {
    request: ScanRequest,
    file: OwnedFd,
    size_bytes: u64,
    piece_bytes: usize,
}

/// What the threads share.
struct ScanState<'a> {
    table: CountedBlocks,
    /// Offset of the next piece.
    next_bytes: AtomicU64,
    n_blocks: AtomicU64,
    n_zero_blocks: AtomicU64,
    n_running: AtomicU64,
    unreadable: Mutex<Option<Unreadable>>,
    stop: &'a AtomicBool,
}

impl Scan {
    pub const MIN_BLOCK_BYTES: usize = 512;
    pub const MAX_BLOCK_BYTES: usize = 64 << 20;

    /// Opens a target for reading.
    ///
    /// # Errors
    /// It cannot be opened, is no file or block device, or blocks of that size are not possible with it.
    pub fn open(path: &Path, request: ScanRequest) -> Result<Self, OpenError> {
        let block_bytes = request.block_bytes;
        if !(Self::MIN_BLOCK_BYTES..=Self::MAX_BLOCK_BYTES).contains(&block_bytes) {
            return Err(OpenError::BlockSize { block_bytes });
        }
        // Before it is opened: to open a pipe would wait for its other end.
        let info = FileInfo::of_path(path)?;
        match info.kind {
            FileKind::Regular | FileKind::Block => {}
            FileKind::Directory => return Err(OpenError::Kind("directory")),
            FileKind::Character => return Err(OpenError::Kind("character device")),
            FileKind::Fifo => return Err(OpenError::Kind("pipe")),
            FileKind::Other => return Err(OpenError::Kind("socket or unknown thing")),
        }
        let open = OpenRequest { access: Access::Read, is_direct: request.is_direct, ..OpenRequest::default() };
        let file = open.open(path)?;
        let is_device = info.kind == FileKind::Block;
        let size_bytes = if is_device { block_device::size_bytes(&file)? } else { info.size_bytes };
        let align_bytes = if is_device { block_device::logical_block_bytes(&file)? as usize } else { 512 };
        if request.is_direct && !block_bytes.is_multiple_of(align_bytes.max(1)) {
            return Err(OpenError::Alignment { block_bytes, align_bytes });
        }
        if size_bytes < block_bytes as u64 {
            return Err(OpenError::TooSmall { size_bytes, block_bytes });
        }
        let piece_bytes = (PIECE_BYTES / block_bytes).max(1) * block_bytes;
        Ok(Self { request, file, size_bytes, piece_bytes })
    }

    /// Size of the whole blocks.
    pub fn whole_bytes(&self) -> u64 {
        self.size_bytes - self.size_bytes % self.request.block_bytes as u64
    }

    /// Reads the target. `look` is called with the bytes that were taken so far, several times a second; the scan ends early when
    /// it returns false.
    ///
    /// # Errors
    /// No memory, or no threads. A place that cannot be read is no error but part of the figures.
    pub fn run(&self, look: &mut dyn FnMut(u64) -> bool) -> Result<RepeatFigures, ScanFailure> {
        let stop = AtomicBool::new(false);
        let state = ScanState {
            table: CountedBlocks::new(self.request.memory_bytes),
            next_bytes: AtomicU64::new(0),
            n_blocks: AtomicU64::new(0),
            n_zero_blocks: AtomicU64::new(0),
            n_running: AtomicU64::new(0),
            unreadable: Mutex::new(None),
            stop: &stop,
        };
        let buffers: Result<Vec<Arena>, _> = (0..self.request.n_threads.max(1)).map(|_| self.buffer()).collect();
        let buffers = buffers?;
        let was_stopped = std::thread::scope(|scope| {
            for mut buffer in buffers {
                state.n_running.fetch_add(1, Ordering::Relaxed);
                let thread = std::thread::Builder::new().name("ferrio-scan".to_owned());
                let body = || {
                    let _ended = Ended(&state.n_running);
                    self.read_pieces(&state, &mut buffer);
                    drop(buffer);
                };
                if let Err(error) = thread.spawn_scoped(scope, body) {
                    stop.store(true, Ordering::Relaxed);
                    return Err(ScanFailure::Thread(error));
                }
            }
            let mut goes_on = true;
            while state.n_running.load(Ordering::Acquire) > 0 {
                goes_on = goes_on && look(state.next_bytes.load(Ordering::Relaxed).min(self.whole_bytes()));
                stop.store(!goes_on, Ordering::Relaxed);
                std::thread::sleep(LOOK_INTERVAL);
            }
            Ok(!goes_on)
        })?;
        Ok(self.figures(&state, was_stopped))
    }

    fn buffer(&self) -> ferrio_sys::Result<Arena> {
        let kind = ArenaKind::Malloc;
        Arena::new(&ArenaRequest { kind, size_bytes: self.piece_bytes, offset_bytes: 0, hugepage_bytes: 2 << 20 })
    }

    fn figures(&self, state: &ScanState<'_>, was_stopped: bool) -> RepeatFigures {
        let (sums, most_repeated) = state.table.figures(self.request.n_most);
        let n_blocks = state.n_blocks.load(Ordering::Relaxed);
        let packed = PackedSizes { all_bytes: sums.all_packed_bytes, distinct_bytes: sums.distinct_packed_bytes };
        RepeatFigures {
            block_bytes: self.request.block_bytes as u64,
            size_bytes: self.size_bytes,
            n_blocks_of_target: self.size_bytes / self.request.block_bytes as u64,
            n_blocks,
            n_zero_blocks: state.n_zero_blocks.load(Ordering::Relaxed),
            sampled_one_in: sums.sampled_one_in,
            n_counted: sums.n_counted,
            // An estimate may lie beyond what is possible.
            n_distinct: sums.n_distinct.min(n_blocks),
            n_repeated: sums.n_repeated.min(n_blocks / 2),
            packed: self.request.packs.then_some(packed),
            most_repeated,
            unreadable: *state.unreadable.lock().unwrap_or_else(PoisonError::into_inner),
            // A stop that came when all was read cut nothing short.
            was_stopped: was_stopped && n_blocks < self.size_bytes / self.request.block_bytes as u64,
        }
    }

    /// The work of a thread.
    fn read_pieces(&self, state: &ScanState<'_>, buffer: &mut Arena) {
        let block_bytes = self.request.block_bytes;
        let zeroes = xxh3_128(&vec![0; block_bytes]);
        let mut packer = self.request.packs.then(|| Packer::new(block_bytes));
        while !state.stop.load(Ordering::Relaxed) {
            let offset = state.next_bytes.fetch_add(self.piece_bytes as u64, Ordering::Relaxed);
            let Some(left) = self.whole_bytes().checked_sub(offset).filter(|left| *left > 0) else { return };
            let len = left.min(self.piece_bytes as u64) as usize;
            let n_read = self.read(state, buffer.slice_mut(0, len), offset);
            // Neighbours that are the same, such as zeroes, are counted at once: threads would wait for each other.
            let mut blocks =
                buffer.slice(0, n_read).chunks_exact(block_bytes).map(|block| (xxh3_128(block), block)).peekable();
            let mut n_done = 0;
            while let Some((value, block)) = blocks.next() {
                let mut n_times = 1;
                while blocks.next_if(|(next, _)| *next == value).is_some() {
                    n_times += 1;
                }
                let offset = offset + n_done * block_bytes as u64;
                n_done += u64::from(n_times);
                if value == zeroes {
                    state.n_zero_blocks.fetch_add(n_times.into(), Ordering::Relaxed);
                }
                let mut pack = || packer.as_mut().map_or(0, |packer| packer.packed_bytes(block));
                state.table.count(value, n_times, offset, &mut pack);
            }
            state.n_blocks.fetch_add(n_done, Ordering::Relaxed);
        }
    }

    /// Reads a piece up to the first place that cannot be read; the rest of the piece counts as unreadable.
    fn read(&self, state: &ScanState<'_>, buffer: &mut [u8], offset: u64) -> usize {
        let block_bytes = self.request.block_bytes;
        let mut n_read = 0;
        let errno = loop {
            if n_read == buffer.len() {
                return n_read;
            }
            match pread(&self.file, &mut buffer[n_read..], offset + n_read as u64) {
                Ok(0) => break None,
                Ok(n) => n_read += n,
                Err(error) if error.raw_os_error() == EINTR => {}
                Err(error) => break Some(error.raw_os_error()),
            }
        };
        let n_whole = n_read - n_read % block_bytes;
        let first_offset_bytes = offset + n_whole as u64;
        let n_blocks = ((buffer.len() - n_whole) / block_bytes) as u64;
        let mut unreadable = state.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
        let first = Unreadable { n_blocks: 0, first_offset_bytes, errno };
        let known = unreadable.get_or_insert(first);
        if first_offset_bytes < known.first_offset_bytes {
            *known = Unreadable { n_blocks: known.n_blocks, ..first };
        }
        known.n_blocks += n_blocks;
        n_whole
    }
}

/// Tells that a thread has ended, in whatever way.
struct Ended<'a>(&'a AtomicU64);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

/// Why a target cannot be opened for a scan.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A system call failed.
    #[error(transparent)]
    System(#[from] ferrio_sys::Error),
    /// It is neither a regular file nor a block device.
    #[error("it is a {0}; only files and block devices are scanned")]
    Kind(&'static str),
    #[error("it has {size_bytes} bytes, less than a block of {block_bytes} bytes")]
    TooSmall { size_bytes: u64, block_bytes: usize },
    /// A size of blocks that is not possible.
    #[error("blocks of {block_bytes} bytes: allowed are {min} to {max} bytes", min = crate::repeats::Scan::MIN_BLOCK_BYTES, max = crate::repeats::Scan::MAX_BLOCK_BYTES)]
    BlockSize { block_bytes: usize },
    /// Direct I/O needs other blocks.
    #[error("direct I/O needs blocks that are multiples of {align_bytes} bytes, and they have {block_bytes}")]
    Alignment {
        block_bytes: usize,
        /// Divides the size of a block for direct I/O.
        align_bytes: usize,
    },
}

/// Why a scan cannot run.
#[derive(Debug, thiserror::Error)]
pub enum ScanFailure {
    #[error(transparent)]
    Memory(#[from] ferrio_sys::Error),
    #[error("a thread cannot be started: {0}")]
    Thread(io::Error),
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// A file of 3 MiB in blocks of 4 KiB, each of them another one; removed at the end.
    struct TestFile(PathBuf);

    impl TestFile {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("ferrio-repeats-{}-{name}", std::process::id()));
            let content: Vec<u8> = (0..768_u32).flat_map(|number| number.to_le_bytes().repeat(1024)).collect();
            std::fs::write(&path, content).unwrap();
            Self(path)
        }
    }

    impl Drop for TestFile {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    const REQUEST: ScanRequest = ScanRequest {
        block_bytes: 4096,
        n_threads: 2,
        is_direct: false,
        packs: true,
        memory_bytes: 16 << 20,
        n_most: 0,
    };

    #[test]
    fn a_file_that_becomes_shorter_is_told() {
        let file = TestFile::new("shorter");
        let scan = Scan::open(&file.0, REQUEST).unwrap();
        std::fs::File::options().write(true).open(&file.0).unwrap().set_len((2 << 20) + 5000).unwrap();
        let figures = scan.run(&mut |_| true).unwrap();
        let unreadable = Unreadable { n_blocks: 255, first_offset_bytes: (2 << 20) + 4096, errno: None };
        assert_eq!((figures.n_blocks, figures.unreadable), (513, Some(unreadable)));
        assert!(!figures.is_complete() && !figures.was_stopped);
    }

    #[test]
    fn a_scan_ends_when_it_is_told_to() {
        let file = TestFile::new("stop");
        let scan = Scan::open(&file.0, ScanRequest { n_threads: 1, ..REQUEST }).unwrap();
        let figures = scan.run(&mut |_| false).unwrap();
        // It may have been done before it was asked.
        assert_eq!(figures.was_stopped, figures.n_blocks < 768);
        assert_eq!(figures.n_distinct, figures.n_blocks);
        let whole = scan.run(&mut |_| true).unwrap();
        assert_eq!((whole.n_blocks, whole.n_distinct, whole.was_stopped), (768, 768, false));
        assert!(whole.compressible_share().unwrap() > 0.9 && whole.repeating_share() == 0.0);
    }
}
