//! When a file, a pass or a job ends, and where the next begins.
//!
//! Must not know: places. Start reading anywhere.

use crate::plan::Rounds;
use ferrio_spec::Compatibility;

/// A file of which a rest remains that is shorter than a block is closed, and its pass ends, also where only time ends the job;
/// one without a rest starts over. Else both start over. Seen in traces and in the number of passes.
pub(crate) fn closes_for_rest(compatibility: Compatibility) -> bool {
    compatibility.is_fio()
}

/// With a skewed `file_service_type` a file that was gone through in sequence, or whose rest is shorter than a block, is closed
/// before it starts over, and is not the next by right. Else the file stays open. Seen in traces.
pub(crate) fn closes_before_restart(compatibility: Compatibility, lacks_room: bool, is_random: bool) -> bool {
    compatibility.is_fio() && (lacks_room || !is_random)
}

/// The next pass begins with the file after the last one of the pass before. Else with the first. Seen in the order of files.
pub(crate) fn goes_on_with_round(compatibility: Compatibility) -> bool {
    compatibility.is_fio()
}

/// A mix of reads and writes with an `io_size` beyond its size goes on at the start of a file; jobs of one direction have another
/// pass. Else the mix has one too. Seen in traces and in the number of opens.
pub(crate) fn rounds_of_mix(compatibility: Compatibility) -> Rounds {
    if compatibility.is_fio() { Rounds::OfWholeFiles } else { Rounds::None }
}

/// Where only time ends a job that reads back what it wrote: its passes end, and are read back, with engines that have a queue of
/// their own; with the others there is one pass, which time ends. Else passes end with every engine. Seen in what is read back.
pub(crate) fn passes_end_with_time(compatibility: Compatibility, queues: bool) -> bool {
    queues || !compatibility.is_fio()
}
