//! Oddities of draws from the random streams of a job.
//!
//! Must not know: places. Start reading anywhere.

use ferrio_spec::Compatibility;
use ferrio_units::random::{Generator, GeneratorKind, SeedIndex, SeedTable};
use ferrio_units::{DataDirection, PerDirection};

/// The largest output of the generator that takes an entry of `bssplit`, where `percent` is the sum of the shares up to
/// this entry: fio takes it if `trunc(r / percent) <= trunc(max_output / 100)`. Native: the exact share of all outputs.
/// `None`: no output takes it, as the sum is 0. Shows in the sizes of blocks.
pub(crate) fn last_output_of_split(compatibility: Compatibility, percent: u128, max_output: u64) -> Option<u64> {
    let end = match compatibility {
        Compatibility::Fio => u128::from(max_output / 100 + 1) * percent,
        Compatibility::Native => (u128::from(max_output) + 1) * percent / 100,
    };
    Some(u64::try_from(end.checked_sub(1)?).unwrap_or(u64::MAX))
}

/// A size of `bssplit` is rounded down to the unit, like a size from a range, before it is checked against the room.
/// Native: the size is used as given. Shows in the sizes of blocks.
pub(crate) fn split_bytes(compatibility: Compatibility, bytes: u64, unit_bytes: u64) -> u64 {
    if compatibility.is_fio() { bytes - bytes % unit_bytes.max(1) } else { bytes }
}

/// The streams that draw whether a block follows the one before it (`percentage_random`): one for each direction, all with
/// the same seed. Native: each has its own seed. Shows in the order of offsets.
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

/// True if a run of sequential blocks (`rw=randread:8`) continues from the last pass although all streams start again.
/// Native: the run starts again, too. Shows in the order of offsets.
pub(crate) fn keeps_run(compatibility: Compatibility) -> bool {
    compatibility.is_fio()
}

/// True if the rest of a direction's share in the last pass is lost, so that a pass begins with a draw of the direction.
/// Native: the rest is kept. Shows in the order of reads and writes.
pub(crate) fn loses_share(compatibility: Compatibility) -> bool {
    compatibility.is_fio()
}

/// True if the I/O that replaces a sequential one without an offset is not marked in the map, so that its block may come
/// again. Native: it is marked. Shows in the order of offsets.
pub(crate) fn is_left_unmarked(compatibility: Compatibility, was_in_sequence: bool) -> bool {
    was_in_sequence && compatibility.is_fio()
}

/// The bytes that an I/O counts for `rate_iops`, which is kept as a rate of smallest blocks. With `bssplit` each I/O counts
/// as one of these; otherwise (`None`) its own length counts, so that a job with a range of sizes does fewer I/Os than
/// asked for. Native: each I/O counts as one. Shows in the rate.
pub(crate) fn rate_io_bytes(compatibility: Compatibility, has_split: bool, min_block_bytes: u64) -> Option<u64> {
    (has_split || !compatibility.is_fio()).then_some(min_block_bytes)
}

/// Number of draws before the first write whose data is never written. fio fills the buffer of each unit first: with a
/// fixed set of repeated blocks one draw for each unit, otherwise one fewer. Native: 0. Shows in which blocks repeat.
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

    /// Streams of one seed give the same first outputs.
    #[test]
    fn native_directions_draw_their_order_from_seeds_of_their_own() {
        let outputs = |compatibility| {
            let seeds = SeedTable::new(137, 1);
            mix_streams(compatibility, &seeds).0.map(|mut stream| stream.next_output())
        };
        let [read, write, trim] = outputs(Fio);
        assert!(read == write && write == trim);
        let [native_read, native_write, native_trim] = outputs(Native);
        assert_eq!(native_read, read);
        assert!(native_read != native_write && native_write != native_trim && native_trim != native_read);
    }

    #[test]
    fn native_passes_keep_what_is_left_and_start_again() {
        assert_eq!(
            ([keeps_run(Fio), keeps_run(Native)], [loses_share(Fio), loses_share(Native)]),
            ([true, false], [true, false])
        );
        let unmarked = |was_in_sequence| [Fio, Native].map(|whose| is_left_unmarked(whose, was_in_sequence));
        assert_eq!((unmarked(true), unmarked(false)), ([true, false], [false, false]));
    }

    #[test]
    fn each_native_io_counts_and_each_fill_is_written() {
        let bytes = |has_split| [Fio, Native].map(|whose| rate_io_bytes(whose, has_split, 512));
        assert_eq!((bytes(false), bytes(true)), ([None, Some(512)], [Some(512), Some(512)]));
        let n_fills = |has_fixed_set| [Fio, Native].map(|whose| n_unwritten_fills(whose, 8, has_fixed_set));
        assert_eq!((n_fills(true), n_fills(false)), ([8, 0], [7, 0]));
    }
}
