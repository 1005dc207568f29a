//! Remarks and refusals of replays and of merging traces, in words.
//!
//! Must not know: when they are shown. Start reading at [`text`], then [`merge`].

use super::system;
use ferrio_stats::note::{MergeFault, MergeNote, ReplayNote, TraceFault, TracePlace, TraceRemark, TraceTrouble};
use ferrio_units::errno_text;
use ferrio_units::humanize::counted;

/// The line of a replay.
pub(super) fn text(note: &ReplayNote, mark: &str) -> String {
    match note {
        ReplayNote::Remark { whose, remark } => format!("{mark}{whose}: {}", remarked(remark)),
        ReplayNote::Refused { trace, why: TraceTrouble::System(error) } => {
            format!("{mark}read iolog {trace}: {}", system::said(error))
        }
        ReplayNote::Refused { trace, why } => format!("{} ({trace})", trouble(why, mark)),
        ReplayNote::BeyondEnd { trace, place, file, end_bytes, size_bytes } => format!(
            "{mark}{trace}: {}: with replay_offset an I/O ends at byte {end_bytes}, beyond the end of {file} ({size_bytes} bytes)",
            shown_place(*place)
        ),
        ReplayNote::Broken(why) => trouble(why, mark),
        ReplayNote::NoDevice { major, minor } => format!(
            "{mark}did not find replay device(s): {major}:{minor} is no block device of this machine; see replay_redirect"
        ),
    }
}

/// The line of a merge that failed.
pub(super) fn merge(note: &MergeNote, mark: &str) -> String {
    match note {
        MergeNote::NothingToMerge => {
            format!("{mark}--merge-blktrace-only: no job has read_iolog and merge_blktrace_file")
        }
        MergeNote::Stuck { job } => {
            format!("{mark}{job}: stuck while its traces are merged, given up after the second signal")
        }
        MergeNote::NoThread { job, errno } => {
            format!("{mark}{job}: the thread that merges its traces can't be started: {}", errno_text(*errno))
        }
        MergeNote::Failed { job, why } => format!("{mark}{job}: {}", in_the_way(why, mark)),
    }
}

/// The reason why a merged trace cannot be made.
fn in_the_way(why: &MergeFault, mark: &str) -> String {
    match why {
        MergeFault::OutputOfAnotherJob { output } => format!("{output} is what another job merges its traces to"),
        MergeFault::OutputIsNoFile { output } => format!("{output} is no regular file: traces are not merged to it"),
        MergeFault::OutputIsTrace { output } => format!("{output} is one of the traces that are merged to it"),
        MergeFault::Output { output, error } => format!("{output}: {}", system::said(error)),
        MergeFault::Trace { trace, why } => match why {
            TraceTrouble::System(error) => format!("could not open file: {trace}: {}", system::said(error)),
            TraceTrouble::Fault(TraceFault::NotBlktrace) => format!("file is not a blktrace: {trace}"),
            TraceTrouble::Fault(fault) => format!("{} ({trace})", faulty(fault)),
            TraceTrouble::Stopped => "stopped while it merged its traces".to_owned(),
        },
        MergeFault::Record(why) => trouble(why, mark),
    }
}

/// The reason why reading a trace ended, as a line.
fn trouble(why: &TraceTrouble, mark: &str) -> String {
    match why {
        TraceTrouble::System(error) => system::said(error),
        TraceTrouble::Fault(fault) => format!("{mark}{}", faulty(fault)),
        TraceTrouble::Stopped => "stopped".to_owned(),
    }
}

/// The fault of a trace, without the name of the program before it.
fn faulty(fault: &TraceFault) -> String {
    match fault {
        TraceFault::Empty => "unable to read iolog".to_owned(),
        TraceFault::Unsupported => "iolog version 1 is no longer supported".to_owned(),
        TraceFault::NotBlktrace => "file is not a blktrace".to_owned(),
        TraceFault::Magic { magic, offset } => format!("bad magic in blktrace data: {magic:x} (at byte {offset})"),
        TraceFault::Version { version, offset } => format!("bad blktrace version {version} (at byte {offset})"),
        TraceFault::TooManyFiles { n_files } => format!("the trace names more than {n_files} files"),
        TraceFault::NoIo { format } => format!("found no ios in {format} data"),
        TraceFault::Readonly { format, n_forbidden } => format!(
            "found no ios in {format} data that --readonly allows: it leaves out {n_forbidden} writes and trims"
        ),
        TraceFault::MovedAway { place, length_bytes, offset_bytes, by_bytes } => format!(
            "{}: replay_offset cannot move an I/O of {length_bytes} bytes at {offset_bytes} by {by_bytes} bytes: no file is so long",
            shown_place(*place)
        ),
        TraceFault::Changed => "the trace changed while it was read".to_owned(),
    }
}

fn shown_place(place: TracePlace) -> String {
    match place {
        TracePlace::Line(number) => format!("line {number}"),
        TracePlace::Byte(offset) => format!("offset {offset}"),
    }
}

fn remarked(remark: &TraceRemark) -> String {
    match remark {
        TraceRemark::BadLine { number, version, line } => format!("line {number}: bad iolog{version}: {line}"),
        TraceRemark::BadAction { number, line } => format!("line {number}: bad iolog file action: {line}"),
        TraceRemark::IgnoredWait { number, line } => {
            format!("line {number}: ignoring wait command with version 3: {line}")
        }
        TraceRemark::LongLine { number } => format!("line {number}: longer than any line of an iolog"),
        TraceRemark::CutRecord { offset } => format!("offset {offset}: the trace ends within a record"),
        TraceRemark::EmptyIos { offset } => format!("offset {offset}: I/Os without bytes are left out"),
        TraceRemark::ImpossibleIo { offset, length_bytes, sector } => {
            format!("offset {offset}: an I/O of {length_bytes} bytes at sector {sector}")
        }
        TraceRemark::Unaligned { length_bytes, offset_bytes } => {
            format!("{length_bytes} bytes at {offset_bytes} cannot be aligned")
        }
        TraceRemark::Forbidden { n_ios } => {
            format!("--readonly leaves out {}", counted(*n_ios, "write or trim", "writes and trims"))
        }
        TraceRemark::More { n_more } => format!("and {n_more} more entries that say nothing"),
    }
}
