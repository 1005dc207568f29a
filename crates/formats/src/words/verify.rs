//! Remarks and refusals of verification, in words.
//!
//! Must not know: when they are shown. Start reading at [`text`].

use super::{block, system};
use ferrio_stats::note::{Remedy, StateFault, UnjudgedTrace, VerifyNote};
use ferrio_units::errno_text;

pub(super) fn text(note: &VerifyNote, mark: &str) -> String {
    // tidy: table
    match note {
        VerifyNote::BadBlock(bad) => block::text(bad, mark),
        VerifyNote::HasFileTwice { file } => {
            format!("{mark}verify: the job has file {file} twice: it would write over its own blocks")
        }
        VerifyNote::TooManyWrites { of_pass: Some(pass), limit, remedies } => format!(
            "{mark}verify: a pass has {} writes to be remembered, at most {limit} can be ({} bytes of memory); {}",
            pass.n_writes,
            pass.limit_bytes,
            advice(remedies)
        ),
        VerifyNote::TooManyWrites { of_pass: None, limit, remedies } => {
            format!("{mark}verify: too many writes to be remembered, at most {limit} can be; {}", advice(remedies))
        }
        VerifyNote::UncountedPasses => {
            format!(
                "{mark}verify_only: how many passes a job with verify_backlog has done, whose writes lie over others and whose \
             io_size is beyond its size, is not known"
            )
        }
        VerifyNote::UncountedTrims => {
            format!(
                "{mark}verify_only: what a job with trim_percentage has trimmed when is known of one pass without \
             verify_backlog only"
            )
        }
        VerifyNote::RacedWrites => {
            format!(
                "{mark}verify_only: of writes or trims over parts of others that were in flight together nobody knows which \
             came last: both runs need serialize_overlap=1 or iodepth=1"
            )
        }
        VerifyNote::CheckerPanicked => {
            format!("{mark}verify_async: a thread has panicked: its block is not checked. This is a bug")
        }
        VerifyNote::NoMemoryToCheck { n_blocks } => format!("{mark}verify_async: no memory for {n_blocks} blocks"),
        VerifyNote::EndOfState { number, n_writes: Some(n_writes) } => {
            format!("Stop verify because seq {number} >= {n_writes}")
        }
        VerifyNote::EndOfState { number, n_writes: None } => {
            format!("Stop verify because seq {number} was an inflight write")
        }
        VerifyNote::StateUnreadable { path, errno } => {
            format!("{mark}open state file: {}\n{mark}state file: {path} (for_write=0)", errno_text(*errno))
        }
        VerifyNote::StateBroken { path, fault } => {
            format!("{}\n{mark}state file: {path} (for_write=0)", broken_state(*fault, mark))
        }
        VerifyNote::StateNotWritten { path, error } => {
            let why = error.as_ref().map(system::said);
            let why = why.unwrap_or_else(|| "it would be larger than any that is read".to_owned());
            format!("{mark}write state file {path}: {why}")
        }
        VerifyNote::JournalOfNothing { engine } => format!("{mark}verify_crash_log: engine {engine} keeps nothing"),
        VerifyNote::JournalOfOtherWrites => {
            format!(
                "{mark}verify_crash_log: writes by zeroes or verify (write_mode) leave no data that could be judged"
            )
        }
        VerifyNote::JournalIsOwnFile { path } => {
            format!("{mark}verify_crash_log: {path} is a file of the job itself")
        }
        VerifyNote::JournalOfTrace(why) => format!("{mark}verify_crash_log: {}", unjudged(*why)),
        VerifyNote::StateOfReads => {
            format!(
                "{mark}verify_state_load cannot be combined with a read_iolog that writes nothing: a state tells of writes by \
             their numbers, which reads of a trace do not have"
            )
        }
        VerifyNote::NoRoomForHeader { area_bytes, header_bytes } => format!(
            "{mark}Blocksize too small to hold a header and checksum of {area_bytes} bytes (a header has {header_bytes}): the \
             trace has I/Os whose lengths no larger interval divides"
        ),
    }
}

fn advice(remedies: &[Remedy]) -> String {
    let words = remedies.iter().map(|remedy| match remedy {
        Remedy::LargerBlocks => "larger blocks",
        Remedy::FewerWrites => "fewer writes (size, io_size, number_ios, loops)",
        Remedy::SmallBacklog => "a small verify_backlog, which reads back between writes",
        Remedy::Regeneration => "experimental_verify=1, which remembers none",
    });
    format!("run with {}", words.collect::<Vec<_>>().join(", or "))
}

/// The reason why a file is no state.
fn broken_state(fault: StateFault, mark: &str) -> String {
    match fault {
        StateFault::NoHeader => format!("{mark}failed reading verify state header"),
        StateFault::Version(version) => format!("{mark}unsupported ({version}) version in verify state header"),
        StateFault::Length { found, wanted } => {
            format!("{mark}failed reading verify state: it has {found} bytes, and is to have {wanted}")
        }
        StateFault::Corrupt => format!("{mark}verify state is corrupt"),
    }
}

/// The reason why the blocks of a trace cannot be judged.
fn unjudged(why: UnjudgedTrace) -> &'static str {
    match why {
        UnjudgedTrace::WritesNothing => "the trace writes nothing",
        UnjudgedTrace::Trims => "the trace trims, and what is trimmed is not judged",
        UnjudgedTrace::SharesFiles => "several files of the trace are one",
        UnjudgedTrace::WritesParts => {
            "writes of the trace may lie over parts of others: all must have one length, at multiples of it"
        }
    }
}
