//! Oddities of the ends of files and passes.
//!
//! Must not know: places. Start reading anywhere.

use crate::plan::Rounds;
use ferrio_spec::Compatibility;

/// True if a file is closed, and its pass ends, because its remainder is shorter than a block, even if the job is
/// time-based; a file without a remainder starts over. Native: both start over. Shows in traces and system calls.
pub(crate) fn closes_for_rest(compatibility: Compatibility) -> bool {
    compatibility.is_fio()
}

/// True if a file with a skewed `file_service_type` is closed before it starts over, and then another one may be picked:
/// it was read sequentially, or its remainder is shorter than a block. Native: it stays open. Shows in traces.
pub(crate) fn closes_before_restart(compatibility: Compatibility, lacks_room: bool, is_random: bool) -> bool {
    compatibility.is_fio() && (lacks_room || !is_random)
}

/// True if a pass begins with the file after the last one of the pass before. Native: it begins with the first file. Shows
/// in the order of files.
pub(crate) fn goes_on_with_round(compatibility: Compatibility) -> bool {
    compatibility.is_fio()
}

/// Behaviour of a sequential mix of reads and writes at the end of a file if `io_size` is larger than the size: it
/// continues at the start of the file, while a job with one direction has another pass. Native: a mix has another pass,
/// too. Shows in traces and system calls.
pub(crate) fn rounds_of_mix(compatibility: Compatibility) -> Rounds {
    if compatibility.is_fio() { Rounds::OfWholeFiles } else { Rounds::None }
}

/// True if a time-based job that reads back its writes has several passes, each of which is read back. In fio this
/// needs an engine that has a queue of its own; with others, there is one pass, which ends by time. Native: true with
/// every engine. Shows in the blocks that are read back.
pub(crate) fn passes_end_with_time(compatibility: Compatibility, queues: bool) -> bool {
    queues || !compatibility.is_fio()
}

#[cfg(test)]
mod tests {
    use super::Compatibility::{Fio, Native};
    use super::*;

    #[test]
    fn only_files_of_fio_are_closed_before_they_start_over() {
        assert_eq!([closes_for_rest(Fio), closes_for_rest(Native)], [true, false]);
        for (lacks_room, is_random, of_fio) in [(true, true, true), (false, false, true), (false, true, false)] {
            let closes = |compatibility| closes_before_restart(compatibility, lacks_room, is_random);
            assert_eq!([closes(Fio), closes(Native)], [of_fio, false], "{lacks_room} {is_random}");
        }
    }

    #[test]
    fn native_passes_begin_with_the_first_file_and_end_alike() {
        assert_eq!([goes_on_with_round(Fio), goes_on_with_round(Native)], [true, false]);
        assert_eq!([rounds_of_mix(Fio), rounds_of_mix(Native)], [Rounds::OfWholeFiles, Rounds::None]);
        let ends = |queues| [passes_end_with_time(Fio, queues), passes_end_with_time(Native, queues)];
        assert_eq!((ends(false), ends(true)), ([false, true], [true, true]));
    }
}
