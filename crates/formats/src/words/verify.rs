//! Remarks and refusals of verification, in words.
//!
//! Must not know: when they are shown. Start reading at [`text`].

use super::{block, system};
use ferrio_stats::note::{Remedy, StateFault, UnjudgedTrace, VerifyNote};
use ferrio_units::errno_text;

/// The words of a note.
pub(super) fn text(note: &VerifyNote) -> String {
    // tidy: table
    match note {
        VerifyNote::BadBlock(bad) => block::text(bad),
        VerifyNote::HasFileTwice { file } => {
            format!("fio: verify: the job has file {file} twice: it would write over its own blocks")
        }
        VerifyNote::TooManyWrites { of_pass: Some(pass), limit, remedies } => format!(
            "fio: verify: a pass has {} writes to be remembered, at most {limit} can be ({} bytes of memory); {}",
            pass.n_writes,
            pass.limit_bytes,
            advice(remedies)
        ),
        VerifyNote::TooManyWrites { of_pass: None, limit, remedies } => {
            format!("fio: verify: too many writes to be remembered, at most {limit} can be; {}", advice(remedies))
        }
        VerifyNote::UncountedPasses => {
            "fio: verify_only: how many passes a job with verify_backlog has done, whose writes lie over others and whose \
             io_size is beyond its size, is not known"
                .to_owned()
        }
        VerifyNote::UncountedTrims => {
            "fio: verify_only: what a job with trim_percentage has trimmed when is known of one pass without \
             verify_backlog only"
                .to_owned()
        }
        VerifyNote::RacedWrites => {
            "fio: verify_only: of writes or trims over parts of others that were in flight together nobody knows which \
             came last: both runs need serialize_overlap=1 or iodepth=1"
                .to_owned()
        }
        VerifyNote::CheckerPanicked => {
            "fio: verify_async: a thread has panicked: its block is not checked. This is a bug".to_owned()
        }
        VerifyNote::NoMemoryToCheck { n_blocks } => format!("fio: verify_async: no memory for {n_blocks} blocks"),
        VerifyNote::EndOfState { number, n_writes: Some(n_writes) } => {
            format!("Stop verify because seq {number} >= {n_writes}")
        }
        VerifyNote::EndOfState { number, n_writes: None } => {
            format!("Stop verify because seq {number} was an inflight write")
        }
        VerifyNote::StateUnreadable { path, errno } => {
            format!("fio: open state file: {}\nfio: state file: {path} (for_write=0)", errno_text(*errno))
        }
        VerifyNote::StateBroken { path, fault } => {
            format!("{}\nfio: state file: {path} (for_write=0)", broken_state(*fault))
        }
        VerifyNote::StateNotWritten { path, error } => {
            let why = error.as_ref().map(system::said);
            let why = why.unwrap_or_else(|| "it would be larger than any that is read".to_owned());
            format!("fio: write state file {path}: {why}")
        }
        VerifyNote::JournalOfNothing { engine } => format!("fio: verify_crash_log: engine {engine} keeps nothing"),
        VerifyNote::JournalOfOtherWrites => {
            "fio: verify_crash_log: writes by zeroes or verify (write_mode) leave no data that could be judged".to_owned()
        }
        VerifyNote::JournalIsOwnFile { path } => {
            format!("fio: verify_crash_log: {path} is a file of the job itself")
        }
        VerifyNote::JournalOfTrace(why) => format!("fio: verify_crash_log: {}", unjudged(*why)),
        VerifyNote::StateOfReads => {
            "fio: verify_state_load cannot be combined with a read_iolog that writes nothing: a state tells of writes by \
             their numbers, which reads of a trace do not have"
                .to_owned()
        }
        VerifyNote::NoRoomForHeader { area_bytes, header_bytes } => format!(
            "fio: Blocksize too small to hold a header and checksum of {area_bytes} bytes (a header has {header_bytes}): the \
             trace has I/Os whose lengths no larger interval divides"
        ),
    }
}

/// The text about remedies.
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
fn broken_state(fault: StateFault) -> String {
    match fault {
        StateFault::NoHeader => "fio: failed reading verify state header".to_owned(),
        StateFault::Version(version) => format!("fio: unsupported ({version}) version in verify state header"),
        StateFault::Length { found, wanted } => {
            format!("fio: failed reading verify state: it has {found} bytes, and is to have {wanted}")
        }
        StateFault::Corrupt => "fio: verify state is corrupt".to_owned(),
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
