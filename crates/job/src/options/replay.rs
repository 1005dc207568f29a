//! Traces: recording, replaying, merging; commands around a job.
//!
//! Rows only. Must not know: how values are parsed; what a row does is in its `apply` part.

use crate::options::apply_replay;
use crate::options::definition::{Apply, Category, OptionDef, option};
use crate::options::kind::{ANY, Kind, at_least};

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[
    option("write_iolog", Kind::Text, "Record issued I/O (v3 text log, appended)")
        .place(Category::Io, "iolog")
        .applies(Apply::With(apply_replay::write_iolog))
        .takes_bytes(),
    option(
        "read_iolog",
        Kind::Text,
        "Replay a text log or blktrace; ':' list gives one per clone; '-' stdin; unix sockets allowed",
    )
    .place(Category::Io, "iolog")
    .applies(Apply::With(apply_replay::read_iolog))
    .takes_bytes()
    .long(
        "An I/O is due at the time that the trace has for it, counted from its first; what comes late does not delay those \
         after it. How many came late is in the JSON output, under the key ferrio. Relative names are relative to the working \
         directory. A trace that is no regular file is copied to an unnamed file in $TMPDIR or /var/tmp first.",
    )
    .deviates(
        "late I/Os do not delay the rest of the trace (fio adds up its delays); a file that the trace does not open is \
         opened with its first I/O; a write of blktrace that flushes first is a write (in fio only a sync); loops and time_based repeat the trace; number_ios ends it; options that \
         the trace would make void (rate, fsync, fill_device, ...) are refused",
    ),
    option("read_iolog_chunked", Kind::Bool, "Parse the log piecemeal while replaying")
        .default("0")
        .under("read_iolog")
        .place(Category::Io, "iolog")
        .applies(Apply::Nothing)
        .deviates(
            "a trace is always read piece by piece, after a first pass over it for names and sizes; one that is still being \
             written to a pipe or socket is waited for",
        ),
    option("replay_no_stall", Kind::Bool, "Ignore recorded timing during replay")
        .default("0")
        .under("read_iolog")
        .place(Category::Io, "iolog")
        .applies(Apply::Bool(|draft| &mut draft.job.replay.no_stall)),
    option("replay_redirect", Kind::Text, "Send all replayed I/O to this target")
        .under("read_iolog")
        .place(Category::Io, "iolog")
        .applies(Apply::With(apply_replay::replay_redirect))
        .takes_bytes(),
    option("replay_scale", Kind::Int(ANY), "Divide recorded offsets by this")
        .default("1")
        .under("read_iolog")
        .place(Category::Io, "iolog")
        .applies(Apply::With(apply_replay::replay_scale))
        .deviates("negative numbers are refused"),
    option("replay_align", Kind::Int(ANY), "Round recorded offset (and size) up to this power of two")
        .under("read_iolog")
        .place(Category::Io, "iolog")
        .applies(Apply::With(apply_replay::replay_align))
        .deviates("offsets and sizes of all traces are rounded up; fio rounds offsets down, and sizes only of blktrace"),
    option(
        "replay_time_scale",
        Kind::Int(at_least(1)),
        "Replay speed in percent: 200 = twice as fast, 50 = half speed",
    )
    .default("100")
    .under("read_iolog")
    .place(Category::Io, "iolog")
    .applies(Apply::With(apply_replay::replay_time_scale))
    .deviates("scales the waits of version 2 too; fio does not"),
    option("replay_skip", Kind::Text, "Leave out listed kinds: read,write,trim,sync")
        .under("read_iolog")
        .place(Category::Io, "iolog")
        .applies(Apply::With(apply_replay::replay_skip))
        .deviates("what is left out keeps its time"),
    option("merge_blktrace_file", Kind::Text, "Where to store the merge of several blktraces before replay")
        .under("read_iolog")
        .place(Category::Io, "iolog")
        .applies(Apply::With(apply_replay::merge_file))
        .takes_bytes()
        .long(
            "Before the run the traces of read_iolog are merged by the times of their events, and what is replayed is the merged \
             trace. It has the queue events of reads, writes and discards. Jobs may share it only if they merge the same.",
        )
        .deviates(
            "the file has to be a regular one and none of the traces, and is removed when the merge fails, which ends the run \
             (fio leaves it); refused without read_iolog",
        ),
    option(
        "merge_blktrace_scalars",
        Kind::FloatList { max_len: 20, min: None, max: None },
        "Per-trace time scaling percent",
    )
    .under("read_iolog")
    .place(Category::Io, "iolog")
    .applies(Apply::With(apply_replay::merge_scalars))
    .deviates("fractions of a percent count; 0 and negative numbers are refused; a trace without I/O keeps its place in the list"),
    option("merge_blktrace_iters", Kind::FloatList { max_len: 20, min: None, max: None }, "Per-trace repeat count")
        .under("read_iolog")
        .place(Category::Io, "iolog")
        .applies(Apply::With(apply_replay::merge_iters))
        .deviates(
            "the last record is not repeated between two passes, and a pass begins where the scaled one before it ends (fio \
             scales that time twice); fractions, 0 and negative numbers are refused",
        ),
    option("exec_prerun", Kind::Text, "Shell command run just before I/O; output to <job>.prerun.txt")
        .place(Category::General, "")
        .applies(Apply::Text(|draft| &mut draft.job.surroundings.exec_prerun))
        .takes_bytes()
        .deviates(
            "output that the command sends to a file of its own, as in `echo 3 > mark`, goes there (fio adds a redirection of its own \
             behind it: the output is in <job>.prerun.txt, and mark is empty); a command that fails is told, before the job ends without I/O as in fio; all it prints is in the file; that of a job \
             with read_iolog runs before the trace is opened, so that it can make it",
        ),
    option("exec_postrun", Kind::Text, "Shell command run after the job; output to <job>.postrun.txt")
        .place(Category::General, "")
        .applies(Apply::Text(|draft| &mut draft.job.surroundings.exec_postrun))
        .takes_bytes()
        .deviates(
            "output that the command sends to a file of its own goes there, as with exec_prerun; all else that it prints is in \
             <job>.postrun.txt, not only what its last part prints",
        ),
    option("ioscheduler", Kind::Text, "Scheduler name written to the backing device's queue settings")
        .place(Category::File, "")
        .applies(Apply::Text(|draft| &mut draft.job.surroundings.ioscheduler))
        .deviates("set for the devices of all files of the job, once each; the jobs of one device should agree"),
];
