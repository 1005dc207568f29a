//! Contents of the write buffers.
//!
//! Must not know: where buffers live. Start reading at [`BufferContents`]; bytes are in `fill`, repeated data in `seeds`.
//! Facts: reference "Buffers" (one fill at the start, stamps in every 512 bytes before each write, or a fill per write).

pub(crate) mod fill;
mod seeds;

use ferrio_spec::{BufferSpec, Compatibility};
use ferrio_units::random::{SeedTable, Taus88};
use fill::{Compression, RandomWords, fill_pattern};
use seeds::FillSeeds;

pub use seeds::DedupeSet;

use std::sync::Arc;

/// Bytes between two stamps.
const SECTOR_BYTES: usize = 512;
/// Offset of the time stamp in a sector: seconds, then nanoseconds.
const TIME_STAMP_OFFSET: usize = 48;

/// Treatment of a buffer before a write.
#[derive(Debug, Clone)]
pub enum BufferContents {
    Untouched,
    /// Offset and time are stamped into every sector, so that blocks differ a little.
    Scrambled,
    /// It is filled with new data.
    Refilled(Box<Refill>),
}

/// Source of new data.
#[derive(Debug, Clone)]
pub struct Refill {
    seeds: FillSeeds,
    /// Bytes filled from one seed. With repeated data this is the smallest block, so that the share of repeats holds
    /// for blocks of all sizes.
    piece_bytes: usize,
    kind: DataKind,
}

impl Refill {
    fn new(spec: &BufferSpec, kind: DataKind, plan: &ContentsPlan, seeds: FillSeeds) -> Self {
        let block_bytes = usize::try_from(plan.block_bytes).unwrap_or(usize::MAX).max(1);
        Self { seeds, piece_bytes: if spec.dedupe.is_some() { block_bytes } else { usize::MAX }, kind }
    }

    #[inline]
    fn fill(&mut self, buffer: &mut [u8]) {
        let Self { seeds, piece_bytes, kind } = self;
        for piece in buffer.chunks_mut(*piece_bytes) {
            kind.fill(piece, || seeds.next());
        }
    }
}

/// Contents of files before the job has written to them. As seen on fio 3.41, no two blocks of a file are equal, unless
/// the options ask for equal ones (`dedupe_percentage`, a pattern, zeroes), whether the job refills its write buffers
/// or not.
#[derive(Debug, Clone)]
pub struct LayoutContents {
    refill: Refill,
    /// Seed of the first piece.
    first: Option<u64>,
}

impl LayoutContents {
    /// Contents for the files of a job.
    pub fn new(spec: &BufferSpec, plan: &ContentsPlan, seeds: &SeedTable) -> Self {
        let (seeds, first) = FillSeeds::of_layout(spec.dedupe, seeds, plan);
        Self { refill: Refill::new(spec, DataKind::new(spec), plan, seeds), first }
    }

    /// Fills a buffer with the next block.
    pub fn fill(&mut self, buffer: &mut [u8]) {
        let Some(seed) = self.first.take() else { return self.refill.fill(buffer) };
        let (first, rest) = buffer.split_at_mut(self.refill.piece_bytes.min(buffer.len()));
        self.refill.kind.fill(first, || seed);
        self.refill.fill(rest);
    }
}

#[derive(Debug, Clone)]
enum DataKind {
    Zeroes,
    Random,
    Pattern(Arc<[u8]>),
    /// Random pieces that end with the pattern, or with zeroes if that is empty.
    Compressible(Compression, Arc<[u8]>),
}

impl DataKind {
    fn new(spec: &BufferSpec) -> Self {
        let pattern: Arc<[u8]> = spec.pattern.clone().unwrap_or_default().into();
        match spec.compress_percent {
            percent @ 1..=99 => {
                let piece_bytes = usize::try_from(spec.compress_chunk_bytes).unwrap_or(usize::MAX);
                Self::Compressible(Compression { percent, piece_bytes }, pattern)
            }
            _ if !pattern.is_empty() => Self::Pattern(pattern),
            // No byte of a piece is random: zeroes.
            100.. => Self::Zeroes,
            // Data with a repeated share (`dedupe_percentage`) is never zeroes, since then all of it would repeat.
            _ if spec.zero && spec.dedupe.is_none() => Self::Zeroes,
            _ => Self::Random,
        }
    }

    fn fill(&self, buffer: &mut [u8], seed: impl FnOnce() -> u64) {
        match self {
            Self::Zeroes => buffer.fill(0),
            Self::Random => RandomWords::new(seed()).fill(buffer),
            Self::Pattern(pattern) => fill_pattern(buffer, pattern, 0),
            Self::Compressible(compression, pattern) => {
                compression.fill(buffer, &mut RandomWords::new(seed()), pattern);
            }
        }
    }
}

/// Facts about a job that decide about its data, beside its options for buffers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentsPlan {
    /// The job reads into the same buffers.
    pub reads: bool,
    /// Bytes of the job's files.
    pub size_bytes: u64,
    /// Smallest block of a write, bytes.
    pub block_bytes: u64,
    /// `iodepth`, even if the engine has only one unit.
    pub iodepth: u32,
    /// `dedupe_global`: the sets of all jobs that share theirs, including this one's. Empty: the job has only its own.
    pub shared_sets: Arc<[DedupeSet]>,
    /// If the job has fio's oddities.
    pub compatibility: Compatibility,
}

impl ContentsPlan {
    /// A job of 1 MiB that only writes, in sequential blocks of this size.
    pub fn of_blocks(block_bytes: u64) -> Self {
        Self {
            reads: false,
            size_bytes: 1 << 20,
            block_bytes,
            iodepth: 1,
            shared_sets: Arc::new([]),
            compatibility: Compatibility::Fio,
        }
    }
}

impl BufferContents {
    /// The treatment that a job's options ask for.
    pub fn new(spec: &BufferSpec, plan: &ContentsPlan, seeds: &SeedTable) -> Self {
        let kind = DataKind::new(spec);
        let is_fixed = matches!(kind, DataKind::Zeroes | DataKind::Pattern(_));
        let refills = match &kind {
            DataKind::Compressible(..) => true,
            // Data that never changes is written again only where reads overwrite it.
            DataKind::Pattern(_) => plan.reads,
            DataKind::Zeroes => false,
            DataKind::Random => spec.refill || spec.dedupe.is_some(),
        };
        if refills {
            let seeds = FillSeeds::new(spec.dedupe, seeds, plan);
            return Self::Refilled(Box::new(Refill::new(spec, kind, plan, seeds)));
        }
        if spec.scramble.unwrap_or(!is_fixed) { Self::Scrambled } else { Self::Untouched }
    }

    /// Prepares the buffer of a write. `start_ns`: time of the I/O on the run's clock.
    #[inline]
    pub fn prepare(&mut self, buffer: &mut [u8], offset_bytes: u64, start_ns: u64) {
        match self {
            Self::Untouched => {}
            Self::Scrambled => scramble(buffer, offset_bytes, start_ns),
            Self::Refilled(refill) => refill.fill(buffer),
        }
    }

    /// True if the start time becomes part of the data.
    pub fn needs_time(&self) -> bool {
        matches!(self, Self::Scrambled)
    }
}

pub fn fill_first(buffer: &mut [u8], spec: &BufferSpec, stream: &mut Taus88) {
    DataKind::new(spec).fill(buffer, || stream.buffer_seed());
}

/// The same, with a pattern.
pub fn fill_with(buffer: &mut [u8], pattern: &[u8]) {
    fill_pattern(buffer, pattern, 0);
}

/// Stamps the offset into one of eight lines of 64 bytes, and the time, in every sector.
fn scramble(buffer: &mut [u8], offset_bytes: u64, start_ns: u64) {
    let (seconds, nanoseconds) = (start_ns / 1_000_000_000, start_ns % 1_000_000_000);
    let line = ((nanoseconds ^ offset_bytes) & 7) as usize;
    let mut sector_offset = offset_bytes;
    for sector in buffer.chunks_exact_mut(SECTOR_BYTES) {
        sector[line * 64..line * 64 + 8].copy_from_slice(&sector_offset.to_ne_bytes());
        sector[TIME_STAMP_OFFSET..TIME_STAMP_OFFSET + 8].copy_from_slice(&seconds.to_ne_bytes());
        sector[TIME_STAMP_OFFSET + 8..TIME_STAMP_OFFSET + 16].copy_from_slice(&nanoseconds.to_ne_bytes());
        sector_offset = sector_offset.wrapping_add(SECTOR_BYTES as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_stand_where_the_reference_has_them() {
        let mut buffer = vec![0xff; 1024];
        // 3 ns xor offset 4096: line 3; two sectors.
        scramble(&mut buffer, 4096, 7_000_000_003);
        let word = |at: usize| u64::from_ne_bytes(buffer[at..at + 8].try_into().unwrap());
        assert_eq!((word(192), word(512 + 192)), (4096, 4608));
        assert_eq!((word(48), word(56)), (7, 3));
        assert_eq!(word(512 + 56), 3);
        assert_eq!(word(0), u64::MAX);
    }

    fn treatment(change: impl FnOnce(&mut BufferSpec)) -> BufferContents {
        let mut spec = ferrio_spec::JobSpec::default().buffers;
        change(&mut spec);
        BufferContents::new(&spec, &ContentsPlan::of_blocks(4096), &SeedTable::new(0x89, 1))
    }

    fn is_refilled(contents: &BufferContents) -> bool {
        matches!(contents, BufferContents::Refilled(_))
    }

    // Reference, "Buffers": which options refill a buffer for each write, and which switch stamps off.
    #[test]
    fn treatments() {
        assert!(treatment(|_| ()).needs_time());
        assert!(is_refilled(&treatment(|spec| spec.refill = true)));
        assert!(is_refilled(&treatment(|spec| spec.compress_percent = 50)));
        assert!(is_refilled(&treatment(|spec| spec.dedupe = Some((20, ferrio_spec::DedupeMode::Repeat)))));
        for untouched in [
            treatment(|spec| spec.zero = true),
            treatment(|spec| spec.pattern = Some(vec![1])),
            treatment(|spec| spec.compress_percent = 100),
        ] {
            assert!(matches!(untouched, BufferContents::Untouched));
        }
        let stamped = treatment(|spec| (spec.zero, spec.scramble) = (true, Some(true)));
        assert!(stamped.needs_time());
        let mut spec = ferrio_spec::JobSpec::default().buffers;
        spec.pattern = Some(vec![1, 2]);
        let mixed = BufferContents::new(
            &spec,
            &ContentsPlan { reads: true, ..ContentsPlan::of_blocks(4096) },
            &SeedTable::new(0x89, 1),
        );
        assert!(is_refilled(&mixed));
    }

    /// Expected values: fio 3.41, 100 blocks of 4 KiB with `dedupe_percentage=30` and its default seeds; the list tells
    /// which of the first 24 blocks repeat the last new one.
    #[test]
    fn repeated_blocks_are_those_of_the_peer() {
        let mut contents = treatment(|spec| spec.dedupe = Some((30, ferrio_spec::DedupeMode::Repeat)));
        let blocks: Vec<Vec<u8>> = (0..100u64)
            .map(|index| {
                let mut block = vec![0; 4096];
                contents.prepare(&mut block, index * 4096, 0);
                block
            })
            .collect();
        let first_of = |block: &Vec<u8>| blocks.iter().position(|other| other == block).unwrap();
        let first: Vec<usize> = blocks.iter().map(first_of).collect();
        let expected = [0, 1, 2, 2, 2, 5, 5, 7, 8, 9, 10, 11, 11, 13, 14, 15, 15, 15, 18, 18, 20, 21, 22, 23];
        assert_eq!(first[..24], expected);
        assert_eq!(first.iter().collect::<std::collections::BTreeSet<_>>().len(), 70);
    }
}
