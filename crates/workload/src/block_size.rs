//! How long the next block is.
//!
//! Must not know: offsets (it is told what fits). Start reading at [`BlockSizes`].

use ferrio_job::spec::{BlockRange, DirectionMix, PatternSpec, RandomGenerator};
use ferrio_units::random::{Generator, GeneratorKind, SeedIndex, SeedTable};
use ferrio_units::{DataDirection, PerDirection};

/// Block sizes of the three directions, with a stream for each that varies.
#[derive(Debug, Clone)]
pub(crate) struct BlockSizes {
    kinds: PerDirection<BlockSize>,
    sequential_random: bool,
}

#[derive(Debug, Clone)]
enum BlockSize {
    Fixed(u64),
    Range { range: BlockRange, unaligned: bool, stream: Generator },
}

impl BlockSizes {
    pub(crate) fn new(pattern: &PatternSpec, seeds: &SeedTable) -> Self {
        let wide = pattern.random_generator == Some(RandomGenerator::Tausworthe64);
        let kind = if wide { GeneratorKind::Taus258 } else { GeneratorKind::Taus88 };
        let make = |direction| {
            let range = pattern.block_size[direction];
            if range.min_bytes == range.max_bytes {
                return BlockSize::Fixed(range.min_bytes);
            }
            let stream = Generator::from_table(kind, seeds, seed_index(pattern, direction));
            BlockSize::Range { range, unaligned: pattern.bs_unaligned, stream }
        };
        let kinds = PerDirection(DataDirection::ALL.map(make));
        Self { kinds, sequential_random: pattern.bs_is_seq_rand }
    }

    /// The next block of a direction that is not longer than `room_bytes`; `None` when even the smallest is.
    #[inline]
    pub(crate) fn next(&mut self, direction: DataDirection, random: bool, room_bytes: u64) -> Option<u64> {
        // bs_is_seq_rand: the read slot holds the sequential size, the write slot the random one.
        let slot = if self.sequential_random { usize::from(random) } else { direction.index() };
        match &mut self.kinds.0[slot] {
            BlockSize::Fixed(bytes) => (*bytes <= room_bytes).then_some(*bytes),
            BlockSize::Range { range, unaligned, stream } => draw(range, *unaligned, stream, room_bytes),
        }
    }
}

/// Trims that are followed by writes draw from the stream of the writes.
fn seed_index(pattern: &PatternSpec, direction: DataDirection) -> SeedIndex {
    if pattern.mix == DirectionMix::TrimWrite {
        return SeedIndex::BlockSizeWrite;
    }
    SeedIndex::block_size(direction)
}

/// `min + trunc(max * r)`, down to a multiple of the minimum, at most the maximum, drawn again until it fits.
fn draw(range: &BlockRange, unaligned: bool, stream: &mut Generator, room_bytes: u64) -> Option<u64> {
    if range.min_bytes > room_bytes {
        return None;
    }
    loop {
        let drawn = range.min_bytes.saturating_add(stream.below(range.max_bytes));
        let rounded = if unaligned { drawn } else { drawn - drawn % range.min_bytes.max(1) };
        let bytes = rounded.min(range.max_bytes);
        if bytes <= room_bytes {
            return Some(bytes);
        }
    }
}
