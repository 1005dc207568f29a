//! The oddities of fio in a stream: what fio does, jobs written for it depend on, and a tool designed today would not do.
//!
//! Each is a function of its own here, so that no loop and no other rule carries one as an aside. It says what fio does, what
//! depends on it, and with [`Compatibility::Native`](ferrio_spec::Compatibility) gives what is done instead. It is asked when a stream
//! is made, when a file or a pass ends, never for each I/O. All of it as seen on fio 3.41; the traces of the peer in the tests
//! end to end hold it.
//! Must not know: streams. Start reading anywhere.

mod draws;
mod passes;
mod places;

pub(crate) use draws::{
    is_left_unmarked, keeps_run, last_output_of_split, loses_share, mix_streams, n_unwritten_fills, rate_io_bytes,
    split_bytes,
};
pub(crate) use passes::{
    closes_before_restart, closes_for_rest, goes_on_with_round, passes_end_with_time, rounds_of_mix,
};
pub(crate) use places::{
    Skips, draws_past_window, map_unit_bytes, missed_past_end, n_blocks_behind_map, n_places, n_skewed_blocks,
    n_starts, skew_unit_bytes, with_reach,
};
