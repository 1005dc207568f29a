//! Size of the next block.
//!
//! Must not know: offsets (the caller says how much room there is). Start reading at [`BlockSizes`].

use crate::compat;
use crate::plan::WorkloadPlan;
use ferrio_spec::{BlockRange, BlockShare, Compatibility, DirectionMix, PatternSpec};
use ferrio_units::random::{Generator, SeedIndex};
use ferrio_units::{DataDirection, PerDirection};

/// Block sizes of the three directions; each direction whose size varies has its own random stream.
#[derive(Debug, Clone)]
pub(crate) struct BlockSizes {
    kinds: PerDirection<BlockSize>,
    sequential_random: bool,
}

#[derive(Debug, Clone)]
enum BlockSize {
    Fixed(u64),
    Range { range: BlockRange, unaligned: bool, stream: Generator },
    Split { entries: Box<[SplitEntry]>, min_bytes: u64, stream: Generator },
}

/// Room for a block: bytes from its start to where it must end at the latest. Blocks of several sizes end within the range of
/// the job, those of one size within the part of the file that they may reach ([`compat::with_reach`]).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    pub(crate) in_range_bytes: u64,
    pub(crate) in_file_bytes: u64,
}

/// A size of `bssplit`. A draw takes the first entry whose `last_output` is not below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SplitEntry {
    block_bytes: u64,
    last_output: u64,
}

impl BlockSizes {
    pub(crate) fn new(plan: &WorkloadPlan) -> Self {
        let WorkloadPlan { pattern, seeds, compatibility, .. } = plan;
        let kind = pattern.generator_kind();
        let make = |direction| {
            let range = pattern.block_size[direction];
            if range.min_bytes == range.max_bytes {
                return BlockSize::Fixed(range.min_bytes);
            }
            let stream = Generator::from_table(kind, seeds, seed_index(pattern, direction));
            let unit_bytes = if pattern.bs_unaligned { 1 } else { range.min_bytes };
            match entries(*compatibility, &pattern.block_split[direction], unit_bytes, stream.max_output()) {
                Some((entries, min_bytes)) => BlockSize::Split { entries, min_bytes, stream },
                None => BlockSize::Range { range, unaligned: pattern.bs_unaligned, stream },
            }
        };
        let kinds = PerDirection(DataDirection::ALL.map(make));
        Self { kinds, sequential_random: pattern.bs_is_seq_rand }
    }

    /// Size of the next block of a direction, not longer than its room; `None` if even the smallest block is longer.
    #[inline]
    pub(crate) fn next(&mut self, direction: DataDirection, random: bool, room: Room) -> Option<u64> {
        let room_bytes = room.in_range_bytes;
        // `bs_is_seq_rand`: the read slot holds the sequential size, the write slot the random one.
        let slot = if self.sequential_random { usize::from(random) } else { direction.index() };
        match &mut self.kinds.0[slot] {
            BlockSize::Fixed(block_bytes) => (*block_bytes <= room.in_file_bytes).then_some(*block_bytes),
            BlockSize::Range { range, unaligned, stream } => draw(range, *unaligned, stream, room_bytes),
            BlockSize::Split { min_bytes, .. } if *min_bytes > room_bytes => None,
            BlockSize::Split { entries, stream, .. } => Some(draw_entry(entries, stream, room_bytes)),
        }
    }
}

/// Trims draw from the stream of the writes if writes follow them. With `bs_is_seq_rand` the first slot is the
/// sequential size, which has its own stream.
fn seed_index(pattern: &PatternSpec, direction: DataDirection) -> SeedIndex {
    if pattern.mix == DirectionMix::TrimWrite && direction != DataDirection::Read {
        return SeedIndex::BlockSizeWrite;
    }
    SeedIndex::block_size(direction)
}

/// `min + trunc(max * r)`, rounded down to a multiple of the minimum, at most the maximum; drawn again until it fits.
fn draw(range: &BlockRange, unaligned: bool, stream: &mut Generator, room_bytes: u64) -> Option<u64> {
    if range.min_bytes > room_bytes {
        return None;
    }
    loop {
        let drawn = range.min_bytes.saturating_add(stream.below(range.max_bytes));
        let rounded = if unaligned { drawn } else { drawn - drawn % range.min_bytes.max(1) };
        let block_bytes = rounded.min(range.max_bytes);
        if block_bytes <= room_bytes {
            return Some(block_bytes);
        }
    }
}

/// The entries of a split, and the smallest of their sizes; `None` if the split is empty. The last entry takes any draw
/// that no other took.
fn entries(
    compatibility: Compatibility,
    shares: &[BlockShare],
    unit_bytes: u64,
    max_output: u64,
) -> Option<(Box<[SplitEntry]>, u64)> {
    let entry_of = |block_bytes: u64, last_output| SplitEntry {
        block_bytes: compat::split_bytes(compatibility, block_bytes, unit_bytes),
        last_output,
    };
    let (last, before) = shares.split_last()?;
    let mut percent = 0;
    let entry = |share: &BlockShare| {
        percent += u128::from(share.percent);
        Some(entry_of(share.block_bytes, compat::last_output_of_split(compatibility, percent, max_output)?))
    };
    let mut entries: Vec<SplitEntry> = before.iter().filter_map(entry).collect();
    entries.push(entry_of(last.block_bytes, u64::MAX));
    let min_bytes = entries.iter().map(|entry| entry.block_bytes).min()?;
    Some((entries.into(), min_bytes))
}

/// Draws until an entry fits. The loop ends: at least one entry fits, and each is taken by at least a hundredth of all
/// draws.
#[inline]
fn draw_entry(entries: &[SplitEntry], stream: &mut Generator, room_bytes: u64) -> u64 {
    loop {
        let drawn = stream.next_output();
        if let Some(entry) = entries.iter().find(|entry| drawn <= entry.last_output && entry.block_bytes <= room_bytes)
        {
            return entry.block_bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_units::random::DEFAULT_RAND_SEED;
    use ferrio_units::random::{GeneratorKind, SeedTable};

    fn split(shares: &[(u64, u32)]) -> (Box<[SplitEntry]>, u64) {
        let shares: Vec<_> = shares.iter().map(|&(block_bytes, percent)| BlockShare { block_bytes, percent }).collect();
        entries(Compatibility::Fio, &shares, 1, 0xFFFF_FFFF).expect("there are shares")
    }

    fn stream() -> Generator {
        let seeds = SeedTable::new(DEFAULT_RAND_SEED, 1);
        Generator::from_table(GeneratorKind::Taus88, &seeds, SeedIndex::BlockSizeRead)
    }

    /// Sizes in a trace of fio 3.41 with `randrepeat=0 randseed=137`, in KiB.
    #[test]
    fn sizes_are_those_of_the_peer() {
        type Row<'a> = (&'a [(u64, u32)], [u64; 20]);
        let table: [Row<'_>; 3] = [
            (&[(4, 50), (8, 50)], [4, 8, 8, 4, 8, 4, 8, 4, 4, 4, 4, 4, 4, 4, 4, 8, 8, 8, 8, 8]),
            (&[(4, 10), (8, 20)], [8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 4, 4, 8, 8, 8, 8, 8]),
            (&[(1, 25), (32, 25), (4, 50)], [1, 4, 4, 32, 4, 1, 4, 1, 1, 1, 1, 32, 1, 1, 1, 4, 4, 4, 4, 4]),
        ];
        for (shares, expected) in table {
            let (entries, mut stream) = (split(shares).0, stream());
            assert_eq!(expected.map(|_| draw_entry(&entries, &mut stream, u64::MAX)), expected, "{shares:?}");
        }
    }

    /// Sizes in a trace of fio 3.41 with `randrepeat=0 randseed=137`, `bssplit=10k/40:7k/30:3k/30`, in KiB.
    #[test]
    fn sizes_are_rounded_down_to_multiples_of_the_smallest() {
        let shares = [(7, 30), (3, 30), (10, 40)];
        let shares = shares.map(|(block_bytes, percent)| BlockShare { block_bytes, percent });
        let (entries, _) = entries(Compatibility::Fio, &shares, 3, 0xFFFF_FFFF).expect("there are shares");
        let expected = [6, 9, 9, 3, 9, 6, 9, 6];
        let mut stream = stream();
        assert_eq!(expected.map(|_| draw_entry(&entries, &mut stream, u64::MAX)), expected);
    }

    #[test]
    fn what_does_not_fit_is_skipped() {
        let (entries, min_kib) = split(&[(1, 0), (2, 30), (8, 30), (4, 40)]);
        // Entries with a share of 0 are never drawn, however little room there is.
        assert_eq!((entries.len(), min_kib), (3, 2));
        let mut stream = stream();
        for room in 2..10 {
            let drawn: Vec<u64> = (0..1_000).map(|_| draw_entry(&entries, &mut stream, room)).collect();
            for kib in [2, 4, 8] {
                assert_eq!(drawn.contains(&kib), kib <= room, "{kib} of {room}");
            }
        }
    }

    /// Pearson's test: with two degrees of freedom one seed in a thousand gives a sum above 13.8; this seed is fixed.
    #[test]
    fn shares_are_kept() {
        let shares = [(4, 10), (32, 40), (64, 50)];
        let (entries, mut stream) = (split(&shares).0, stream());
        let n_draws = 100_000;
        let mut counts = std::collections::BTreeMap::<u64, f64>::new();
        (0..n_draws).for_each(|_| *counts.entry(draw_entry(&entries, &mut stream, 64)).or_default() += 1.0);
        let chi_square: f64 = shares
            .iter()
            .map(|(kib, percent)| {
                let expected = f64::from(n_draws) * f64::from(*percent) / 100.0;
                (counts[kib] - expected).powi(2) / expected
            })
            .sum();
        assert!(chi_square < 13.8, "{chi_square}");
    }

    #[test]
    fn wide_draws_have_wide_limits() {
        let shares = [BlockShare { block_bytes: 1, percent: 50 }, BlockShare { block_bytes: 2, percent: 50 }];
        let (entries, _) = entries(Compatibility::Fio, &shares, 1, u64::MAX).expect("there are shares");
        assert_eq!(entries[0].last_output, (u64::MAX / 100 + 1) * 50 - 1);
        assert_eq!(entries[1].last_output, u64::MAX);
    }
}
