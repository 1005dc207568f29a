//! What is drawn from the streams of a job, and what of it counts.
//!
//! Must not know: places. Start reading anywhere.

use ferrio_spec::Compatibility;
use ferrio_units::random::{Generator, GeneratorKind, SeedIndex, SeedTable};
use ferrio_units::{DataDirection, PerDirection};

/// The last output of the generator that takes an entry of `bssplit`, of which the shares up to it are so many percent: it is
/// taken if `trunc(r / percent) <= trunc(max_output / 100)`. Else the same share of all outputs. `None`: nothing is drawn for a
/// share of 0, which stands before all others. Seen in the sizes of blocks.
pub(crate) fn last_output_of_split(compatibility: Compatibility, percent: u128, max_output: u64) -> Option<u64> {
    let end = match compatibility {
        Compatibility::Fio => u128::from(max_output / 100 + 1) * percent,
        Compatibility::Native => (u128::from(max_output) + 1) * percent / 100,
    };
    Some(u64::try_from(end.checked_sub(1)?).unwrap_or(u64::MAX))
}

/// A size of `bssplit` is rounded down to the unit, as with a range, before it has to fit. Else it is taken as it was given. Seen
/// in the sizes of blocks.
pub(crate) fn split_bytes(compatibility: Compatibility, bytes: u64, unit_bytes: u64) -> u64 {
    if compatibility.is_fio() { bytes - bytes % unit_bytes.max(1) } else { bytes }
}

/// Whether a block follows the one before it (`percentage_random`) is drawn for each direction from a stream of its own, all of
/// which begin alike. Else each begins at a seed of its own. Seen in the order of offsets.
pub(crate) fn mix_streams(compatibility: Compatibility, seeds: &SeedTable) -> PerDirection<Generator> {
    let index = |direction| match (compatibility, direction) {
        (Compatibility::Fio, _) | (_, DataDirection::Read) => SeedIndex::SequentialMixRead,
        (_, DataDirection::Write) => SeedIndex::SequentialMixWrite,
        (_, DataDirection::Trim) => SeedIndex::SequentialMixTrim,
    };
    PerDirection(
        DataDirection::ALL.map(|direction| Generator::from_table(GeneratorKind::Taus88, seeds, index(direction))),
    )
}

/// The streams start anew with a pass, and a run of blocks in sequence (`rw=randread:8`) goes on from the pass before. Else it
/// begins anew too. Seen in the order of offsets.
pub(crate) fn keeps_run(compatibility: Compatibility) -> bool {
    compatibility.is_fio()
}

/// A pass begins with a draw of its direction: what a direction had left of its share in the pass before is lost. Else it goes on.
/// Seen in the order of reads and writes.
pub(crate) fn loses_share(compatibility: Compatibility) -> bool {
    compatibility.is_fio()
}

/// An I/O in sequence that had no place: the one that comes instead is not marked in the map, so that its block may come again. Else
/// it is marked. Seen in the order of offsets.
pub(crate) fn is_left_unmarked(compatibility: Compatibility, was_in_sequence: bool) -> bool {
    was_in_sequence && compatibility.is_fio()
}

/// What an I/O counts as for `rate_iops`, which is a rate of bytes: the smallest block with `bssplit`, and else, `None`, its own
/// length, so that of a range of sizes fewer I/Os are done than were asked for. Else each I/O counts as one. Seen in the rate.
pub(crate) fn rate_io_bytes(compatibility: Compatibility, has_split: bool, min_block_bytes: u64) -> Option<u64> {
    (has_split || !compatibility.is_fio()).then_some(min_block_bytes)
}

/// The buffer of each unit is filled before the first write, and what is drawn for that is not written: one draw for each with a
/// fixed set of repeated blocks, else one less. Else nothing is drawn in vain. Seen in which blocks repeat.
pub(crate) fn n_unwritten_fills(compatibility: Compatibility, iodepth: u32, has_fixed_set: bool) -> u32 {
    match (compatibility, has_fixed_set) {
        (Compatibility::Native, _) => 0,
        (Compatibility::Fio, true) => iodepth,
        (Compatibility::Fio, false) => iodepth.saturating_sub(1),
    }
}

#[cfg(test)]
mod tests {
    use super::Compatibility::{Fio, Native};
    use super::*;

    #[test]
    fn shares_of_a_split_end_where_the_quotient_does() {
        let (percent, max_output) = (30u128, 999);
        let last = last_output_of_split(Fio, percent, max_output).expect("a share");
        let is_taken = |output: u64| u128::from(output) / percent <= u128::from(max_output / 100);
        assert!(is_taken(last) && !is_taken(last + 1));
        assert_eq!(last_output_of_split(Fio, 0, max_output), None);
        assert_eq!((split_bytes(Fio, 5_000, 512), split_bytes(Fio, 5_000, 0)), (4_608, 5_000));
    }

    // 30 of 100 of the outputs 0 to 999, and of 0 to 32.
    #[test]
    fn native_shares_are_exact() {
        assert_eq!(last_output_of_split(Native, 30, 999), Some(299));
        assert_eq!((last_output_of_split(Native, 50, 32), last_output_of_split(Native, 0, 32)), (Some(15), None));
        assert_eq!(last_output_of_split(Native, 100, u64::MAX), Some(u64::MAX));
        assert_eq!(split_bytes(Native, 5_000, 512), 5_000);
    }
}
