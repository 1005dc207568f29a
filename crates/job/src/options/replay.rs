//! Traces: recording, replaying, merging; commands around a job.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::apply_replay;
use crate::options::definition::{Apply, Category, OptionDef, option};
use crate::options::kind::{ANY, Kind, at_least};
use ferrio_spec::DeviationKind::{Different, Mended, Stricter};

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
        .deviates(Different, "Late I/Os do not delay the rest of the trace; fio adds up its delays. loops and time_based repeat the trace, and number_ios ends it.")
        .deviates(Mended, "A write of blktrace that flushes first is a write; in fio it is only a sync.")
        .deviates(Stricter, "Options that the trace would make ineffective (rate, fsync, fill_device, ...) are refused."),
    option("read_iolog_chunked", Kind::Bool, "Parse the log piecemeal while replaying")
        .default("0")
        .under("read_iolog")
        .place(Category::Io, "iolog")
        .applies(Apply::Nothing)
        .deviates(Different, "No effect: a trace is always read piece by piece. A trace from a pipe or socket is read to its end before the job starts."),
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
        .deviates(Stricter, "Negative numbers are refused."),
    option("replay_align", Kind::Int(ANY), "Round recorded offset (and size) up to this power of two")
        .under("read_iolog")
        .place(Category::Io, "iolog")
        .applies(Apply::With(apply_replay::replay_align))
        .deviates(Different, "Offsets and sizes of all traces are rounded up; fio rounds offsets down, and sizes only of blktrace."),
    option(
        "replay_time_scale",
        Kind::Int(at_least(1)),
        "Replay speed in percent: 200 = twice as fast, 50 = half speed",
    )
    .default("100")
    .under("read_iolog")
    .place(Category::Io, "iolog")
    .applies(Apply::With(apply_replay::replay_time_scale))
        .deviates(Mended, "The waits of traces of version 2 are scaled too; fio ignores the option there."),
    option("replay_skip", Kind::Text, "Leave out listed kinds: read,write,trim,sync")
        .under("read_iolog")
        .place(Category::Io, "iolog")
        .applies(Apply::With(apply_replay::replay_skip))
        .deviates(Different, "I/Os that are left out keep their time in the trace."),
    option("merge_blktrace_file", Kind::Text, "Where to store the merge of several blktraces before replay")
        .under("read_iolog")
        .place(Category::Io, "iolog")
        .applies(Apply::With(apply_replay::merge_file))
        .takes_bytes()
        .long(
            "Before the run, the traces of read_iolog are merged by the times of their events, and the job replays the merged \
             trace. It has the queue events of reads, writes and discards. Jobs may share it only if they merge the same traces.",
        )
        .deviates(Mended, "A failed merge removes its file and ends the run; fio leaves the file.")
        .deviates(Stricter, "The option is refused without read_iolog, and for a file that is not regular or is one of the traces."),
    option(
        "merge_blktrace_scalars",
        Kind::FloatList { max_len: 20, min: None, max: None },
        "Per-trace time scaling percent",
    )
    .under("read_iolog")
    .place(Category::Io, "iolog")
    .applies(Apply::With(apply_replay::merge_scalars))
        .deviates(Mended, "Fractions of a percent count, and a trace without I/O keeps its place in the list.")
        .deviates(Stricter, "0 and negative numbers are refused."),
    option("merge_blktrace_iters", Kind::FloatList { max_len: 20, min: None, max: None }, "Per-trace repeat count")
        .under("read_iolog")
        .place(Category::Io, "iolog")
        .applies(Apply::With(apply_replay::merge_iters))
        .deviates(Mended, "A pass begins where the scaled one before it ends; fio scales that time twice, and repeats the last record between two passes.")
        .deviates(Stricter, "Fractions, 0 and negative numbers are refused."),
    option("exec_prerun", Kind::Text, "Shell command run just before I/O; output to <job>.prerun.txt")
        .place(Category::General, "")
        .applies(Apply::Text(|draft| &mut draft.job.surroundings.exec_prerun))
        .takes_bytes()
        .deviates(Mended, "Output that the command sends to a file of its own (`echo 3 > mark`) goes there; in fio the file stays empty. All else that the command prints is in <job>.prerun.txt. In a job with read_iolog the command runs before the trace is opened, so that it can make the trace."),
    option("exec_postrun", Kind::Text, "Shell command run after the job; output to <job>.postrun.txt")
        .place(Category::General, "")
        .applies(Apply::Text(|draft| &mut draft.job.surroundings.exec_postrun))
        .takes_bytes()
        .deviates(Mended, "Output that the command sends to a file of its own goes there; in fio the file stays empty. All else that it prints is in <job>.postrun.txt, not only the output of its last part."),
    option("ioscheduler", Kind::Text, "Scheduler name written to the backing device's queue settings")
        .place(Category::File, "")
        .applies(Apply::Text(|draft| &mut draft.job.surroundings.ioscheduler)),
];
