//! Traces: recording, replaying, merging; commands around a job.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

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
        "An I/O is due at its time in the trace, counted from the first one; a late I/O does not delay later ones. The number \
         of late I/Os is in the JSON output, under the key ferrio. Relative names are relative to the working \
         directory. A trace that is no regular file is copied to an unnamed file in $TMPDIR or /var/tmp first.",
    )
    .deviates(
        "late I/Os do not delay the rest of the trace; fio adds up its delays. A file that the trace does not open is \
         opened with its first I/O. A write of blktrace that flushes first is a write; in fio it is only a sync. loops \
         and time_based repeat the trace, and number_ios ends it. Options that the trace would make ineffective (rate, \
         fsync, fill_device, ...) are refused.",
    ),
    option("read_iolog_chunked", Kind::Bool, "Parse the log piecemeal while replaying")
        .default("0")
        .under("read_iolog")
        .place(Category::Io, "iolog")
        .applies(Apply::Nothing)
        .deviates(
            "a trace is always read piece by piece, after a first pass over it for names and sizes. If it is still \
             being written to a pipe or socket, the job waits for its end.",
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
    .deviates("also scales the waits of version 2; fio does not"),
    option("replay_skip", Kind::Text, "Leave out listed kinds: read,write,trim,sync")
        .under("read_iolog")
        .place(Category::Io, "iolog")
        .applies(Apply::With(apply_replay::replay_skip))
        .deviates("I/Os that are left out keep their time"),
    option("merge_blktrace_file", Kind::Text, "Where to store the merge of several blktraces before replay")
        .under("read_iolog")
        .place(Category::Io, "iolog")
        .applies(Apply::With(apply_replay::merge_file))
        .takes_bytes()
        .long(
            "Before the run, the traces of read_iolog are merged by the times of their events, and the job replays the merged \
             trace. It has the queue events of reads, writes and discards. Jobs may share it only if they merge the same traces.",
        )
        .deviates(
            "a failed merge removes the file and ends the run; fio leaves it. The file must be a regular one and none \
             of the traces; the option is refused without read_iolog.",
        ),
    option(
        "merge_blktrace_scalars",
        Kind::FloatList { max_len: 20, min: None, max: None },
        "Per-trace time scaling percent",
    )
    .under("read_iolog")
    .place(Category::Io, "iolog")
    .applies(Apply::With(apply_replay::merge_scalars))
    .deviates(
        "fractions of a percent count; 0 and negative numbers are refused. A trace without I/O keeps its place in the \
         list.",
    ),
    option("merge_blktrace_iters", Kind::FloatList { max_len: 20, min: None, max: None }, "Per-trace repeat count")
        .under("read_iolog")
        .place(Category::Io, "iolog")
        .applies(Apply::With(apply_replay::merge_iters))
        .deviates(
            "the last record is not repeated between two passes. A pass begins where the scaled one before it ends; \
             fio scales that time twice. Fractions, 0 and negative numbers are refused.",
        ),
    option("exec_prerun", Kind::Text, "Shell command run just before I/O; output to <job>.prerun.txt")
        .place(Category::General, "")
        .applies(Apply::Text(|draft| &mut draft.job.surroundings.exec_prerun))
        .takes_bytes()
        .deviates(
            "if the command sends output to a file of its own, as in `echo 3 > mark`, the output goes there. fio \
             appends its own redirection, so the output is in <job>.prerun.txt and mark is empty. All else that the \
             command prints is in <job>.prerun.txt. A failed command is reported before the job ends without I/O, as \
             in fio. In a job with read_iolog the command runs before the trace is opened, so that it can make the \
             trace.",
        ),
    option("exec_postrun", Kind::Text, "Shell command run after the job; output to <job>.postrun.txt")
        .place(Category::General, "")
        .applies(Apply::Text(|draft| &mut draft.job.surroundings.exec_postrun))
        .takes_bytes()
        .deviates(
            "if the command sends output to a file of its own, the output goes there, as with exec_prerun. All else \
             that it prints is in <job>.postrun.txt, not only the output of its last part.",
        ),
    option("ioscheduler", Kind::Text, "Scheduler name written to the backing device's queue settings")
        .place(Category::File, "")
        .applies(Apply::Text(|draft| &mut draft.job.surroundings.ioscheduler))
        .deviates("set once for each device of the job's files; the jobs of one device should agree"),
];
