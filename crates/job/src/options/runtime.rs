//! How often and how long a job runs, its clock and its buffers' memory.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::apply;
use crate::options::apply_pace;
use crate::options::definition::{Apply, Category, OptionDef, option};
use crate::options::kind::{ANY, Choice, Kind, at_least, choice, refused_choice};
use ferrio_spec::DeviationKind::{Different, Mended, Stricter};

const CLOCKSOURCE: &[Choice] = &[
    choice("gettimeofday", "gettimeofday()"),
    choice("clock_gettime", "clock_gettime()"),
    choice("cpu", "Time stamp counter of the CPU"),
];

const MEM: &[Choice] = &[
    choice("malloc", "Heap"),
    choice("shm", "System V shared memory"),
    choice("shmhuge", "System V shared memory in huge pages"),
    choice("mmap", "Mapping, anonymous or of a file"),
    choice("mmapshared", "The same, shared"),
    choice("mmaphuge", "Mapping in huge pages"),
    refused_choice("cudamalloc", "Memory of a GPU", "needs the CUDA library"),
];

pub(crate) const OPTIONS: &[OptionDef] = &[
    option("loops", Kind::Int(ANY), "How many passes over the job")
        .default("1")
        .place(Category::General, "runtime")
        .applies(Apply::U32(|draft| &mut draft.job.limits.loops)),
    option("numjobs", Kind::Int(at_least(1)), "Number of identical clones to start")
        .default("1")
        .place(Category::General, "runtime")
        .applies(Apply::U32(|draft| &mut draft.job.numjobs))
        .deviates(Mended, "A run may have 1,000,000 jobs; fio fails above 4096.")
        .deviates(Stricter, "The value 0 is refused."),
    option("startdelay", Kind::SecondsPair, "Wait before starting; low-high gives a random delay per clone")
        .default("0")
        .place(Category::General, "runtime")
        .applies(Apply::With(apply::startdelay)),
    option("runtime", Kind::DrawnSeconds, "Stop after this much time (0 = no limit)")
        .aliases(&["timeout"])
        .default("0")
        .place(Category::General, "runtime")
        .long(
            "With runtime=2s-5s (of ferrio, the same as uniform:2s-5s) each clone of the job draws its runtime once, before it begins; all lengths \
             in between are equally likely. With exponential:20s runtimes last 20 s in the mean, most of them less and a few several times as long. \
             They come from a random stream of their own (randseed, randrepeat), so that no other draw of the job changes. The report of \
             `ferrio run` shows what was drawn; in JSON of `ferrio` called like fio it is in `ferrio.drawn_runtimes`. As in fio, all loops of a job share its runtime.",
        )
        .applies(Apply::With(apply_pace::runtime))
        .deviates(Mended, "The runtime of each clone can be drawn (2s-5s, uniform:LOW-HIGH, exponential:MEAN); fio takes only a fixed one."),
    option("time_based", Kind::Flag, "Repeat the workload until runtime is used up")
        .place(Category::General, "runtime")
        .applies(Apply::Bool(|draft| &mut draft.job.limits.time_based)),
    option("verify_only", Kind::Flag, "Skip the writes, only check what an earlier identical run wrote")
        .place(Category::General, "runtime")
        .applies(Apply::Bool(|draft| &mut draft.open.verify.is_only))
        .deviates(Mended, "Blocks that the earlier run trimmed are not called damaged: they are left out, or read as zeroes, as in that run. With a read_iolog and with emulated zones of zonemode=zbd, all data that the earlier run left is read; with several passes, the data that the last one left.")
        .deviates(Stricter, "Files are opened for reading only, so that a missing or short file is an error; fio makes it again. Refused without verify; with do_verify=0, time_based, rates of reads and writes, a skewed file_service_type, or verify_policy=fsynced without verify_state_load; on zoned devices; with several I/Os in flight that may overlap in part without serialize_overlap; and with trim_percentage beside verify_backlog or more than one pass."),
    option("ramp_time", Kind::Seconds, "Run this long before statistics start; not part of runtime")
        .place(Category::General, "runtime")
        .applies(Apply::U64(|draft| &mut draft.job.limits.ramp_time_us))
        .deviates(Different, "A job that ends within its ramp has counted nothing; fio 3.41 counts its I/Os, without latencies."),
    option("ramp_size", Kind::Size(at_least(1)), "Transfer this much before statistics start; excludes ramp_time")
        .place(Category::General, "runtime")
        .applies(Apply::U64(|draft| &mut draft.job.limits.ramp_bytes))
        .deviates(Mended, "The ramp ends when the bytes have moved; in fio it ends up to a second later."),
    option("clocksource", Kind::Choice(CLOCKSOURCE), "Timer used for latency stamps")
        .place(Category::General, "clock")
        .applies(Apply::Nothing)
        .deviates(Different, "The value has no effect: ferrio uses a reliable time stamp counter, otherwise clock_gettime."),
    option("mem", Kind::Choice(MEM), "Where I/O buffers come from; mmap kinds take ':path'")
        .aliases(&["iomem"])
        .default("malloc")
        .place(Category::Io, "")
        .applies(Apply::With(apply::memory)),
    option("iomem_align", Kind::Int(ANY), "Extra byte offset from page alignment for buffers")
        .aliases(&["mem_align"])
        .default("0")
        .under("iomem")
        .place(Category::Io, "")
        .applies(Apply::U64(|draft| &mut draft.job.buffers.align_bytes)),
];
