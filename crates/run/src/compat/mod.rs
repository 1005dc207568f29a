//! Oddities of fio in a run: behaviour that jobs written for fio depend on, and that a tool designed today would not have.
//!
//! Each is a function here, so that no loop has to mention one. Its comment describes fio's behaviour, that of a native
//! run ([`Compatibility`](ferrio_spec::Compatibility)), and where the difference shows. The functions are called while
//! a job is planned or prepared, and when a file or a pass ends, never for each I/O that succeeds. All oddities were
//! seen on fio 3.41; the end-to-end tests compare them with the peer.
//! Must not know: loops, files, engines' code. Start reading anywhere.

mod oddities;
mod passes;
mod sizes;
#[cfg(test)]
mod tests;

pub(crate) use oddities::{
    counts_cpu_job_as_io, counts_unrepeated, keeps_block_states, lacks_disks_of_trace, opened_direction,
    samples_read_back, searched_depths, silences_latency_limit, tells_capped_depth, tells_unread_mix, times_idle_turns,
    traces_closing_sync, traces_missed_place,
};
pub(crate) use oddities::{leaves_scheduler, refuses_trims_of_files, unlocks_before_done};
pub(crate) use passes::{
    counts_read_back, empty_reads_are_done, ends_pass_by_bytes, heeds_number_of_ios, ios_counted_as_one,
    opens_empty_file, pass_bytes, pass_bytes_of_pairs, smallest_pass_bytes, syncs_all_at_end, wants_another_pass,
};
pub(crate) use sizes::{
    bytes_without_file, io_bytes_of_share, is_refused_io_size, name_of_clones, replaces_short_files, size_unit_bytes,
    unchecked_pattern,
};
