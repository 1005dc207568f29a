//! The oddities of fio in a run: what fio does, jobs written for it depend on, and a tool designed today would not do.
//!
//! Each is a function of its own here, so that no loop carries one as an aside. It says what fio does, what depends on it, and
//! for a worker whose [`Compatibility`](ferrio_spec::Compatibility) is native gives what is done instead. It is asked while a job is
//! planned or prepared, when a file or a pass ends, never for each I/O. All of it as seen on fio 3.41; the comparisons with the
//! peer in the tests end to end hold it.
//! Must not know: loops, files, engines' code. Start reading anywhere.

mod figures;
mod passes;
mod sizes;

pub(crate) use figures::{
    counts_cpu_job_as_io, opened_direction, searched_depths, silences_latency_limit, tells_unread_mix,
    times_idle_turns, traces_closing_sync, traces_missed_place,
};
pub(crate) use passes::{
    counts_read_back, ends_pass_by_bytes, heeds_number_of_ios, is_done_without_a_byte, opens_empty_file, pass_bytes,
    smallest_pass_bytes, syncs_all_at_end, wants_another_pass,
};
pub(crate) use sizes::{
    bytes_without_file, io_bytes_of_share, is_refused_io_size, name_of_clones, size_unit_bytes, unchecked_pattern,
};
