//! Oddities of fio in the stream of I/Os: behaviour that jobs written for fio depend on, and that a tool designed today
//! would not have.
//!
//! Each is a function here, so that no loop and no other rule has to mention one. Its comment describes fio's
//! behaviour, that of a native run ([`Compatibility`](ferrio_spec::Compatibility)), and where the difference shows. The
//! functions are called when a stream is made and when a file or a pass ends, never for each I/O. All oddities were
//! seen on fio 3.41; the end-to-end tests compare traces with the peer's.
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
    OffsetRules, draws_past_window, map_unit_bytes, missed_past_end, n_blocks_behind_map, n_places, n_skewed_blocks,
    n_starts, skew_unit_bytes, with_reach,
};
