//! Pauses, rates, latency limits.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::apply_pace;
use crate::options::definition::{Apply, Category, OptionDef, option};
use crate::options::kind::{ANY, Choice, Kind, choice};
use ferrio_spec::DeviationKind::{Different, Mended, Stricter};

const THINKTIME_BLOCKS_TYPE: &[Choice] = &[choice("complete", "Completed I/Os"), choice("issue", "Issued I/Os")];

const RATE_PROCESS: &[Choice] = &[choice("linear", "Even spacing"), choice("poisson", "Poisson arrivals")];

const QUEUES: &str =
    "An I/O that is due does not wait for those in flight; in fio a job that has to wait first collects all results.";

pub(crate) const OPTIONS: &[OptionDef] = &[
    option("thinktime", Kind::DrawnMicroseconds, "Pause after completing thinktime_blocks I/Os")
        .default("0")
        .place(Category::Io, "thinktime")
        .long(
            "Pauses of people and programs differ. With exponential:2ms (of ferrio) they last 2 ms in the mean, most of them less and a \
             few several times as long; with uniform:1ms-5ms all lengths in between are equally likely. They come from a random \
             stream of their own (randseed, randrepeat), so that no other draw of the job changes.",
        )
        .applies(Apply::With(apply_pace::thinktime))
        .deviates(Mended, "The length of each pause can be drawn (exponential:MEAN, uniform:LOW-HIGH); fio takes only a fixed one."),
    option("thinktime_spin", Kind::Microseconds, "Part of the pause spent busy-looping (capped at thinktime)")
        .default("0")
        .under("thinktime")
        .place(Category::Io, "thinktime")
        .long("If thinktime is a distribution, the cap is the length of each single pause.")
        .applies(Apply::U64(|draft| &mut draft.job.pace.pauses.spin_us)),
    option("thinkcycles", Kind::Int(ANY), "Busy-loop count after every I/O")
        .default("0")
        .under("thinktime")
        .place(Category::Io, "thinktime")
        .applies(Apply::U32(|draft| &mut draft.job.pace.pauses.n_spins)),
    option("thinktime_blocks", Kind::Int(ANY), "I/Os between pauses")
        .default("1")
        .under("thinktime")
        .place(Category::Io, "thinktime")
        .applies(Apply::OptionalU32(|draft| &mut draft.job.pace.pauses.n_ios)),
    option("thinktime_blocks_type", Kind::Choice(THINKTIME_BLOCKS_TYPE), "Count completed or issued I/Os")
        .default("complete")
        .under("thinktime")
        .place(Category::Io, "thinktime")
        .applies(Apply::With(apply_pace::thinktime_blocks_type)),
    option("thinktime_iotime", Kind::Seconds, "Pause after this much time of I/O instead of a count")
        .default("0")
        .under("thinktime")
        .place(Category::Io, "thinktime")
        .applies(Apply::U64(|draft| &mut draft.job.pace.pauses.io_time_us)),
    option("rate", Kind::SizePerDirection(ANY), "Byte rate cap, per direction")
        .neutral("0")
        .place(Category::Io, "rate")
        .applies(Apply::With(apply_pace::rate))
        .deviates(Different, QUEUES),
    option("rate_min", Kind::SizePerDirection(ANY), "Fail the job if measured byte rate drops below this")
        .aliases(&["ratemin"])
        .neutral("0")
        .under("rate")
        .place(Category::Io, "rate")
        .applies(Apply::With(apply_pace::rate_min)),
    option("rate_iops", Kind::IntPerDirection(ANY), "IOPS cap, per direction")
        .neutral("0")
        .place(Category::Io, "rate")
        .applies(Apply::With(apply_pace::rate_iops))
        .deviates(Different, QUEUES),
    option("rate_iops_min", Kind::IntPerDirection(ANY), "Fail the job if measured IOPS drops below this")
        .neutral("0")
        .under("rate_iops")
        .place(Category::Io, "rate")
        .applies(Apply::With(apply_pace::rate_iops_min)),
    option("rate_process", Kind::Choice(RATE_PROCESS), "Spacing of rate-limited I/O: even or Poisson")
        .default("linear")
        .under("rate")
        .place(Category::Io, "rate")
        .applies(Apply::With(apply_pace::rate_process))
        .deviates(Mended, "The mean rate of poisson is exact; fio is up to 30 % off above 100,000 I/Os per second."),
    option("rate_cycle", Kind::Int(ANY), "Window over which *_min is judged (ms)")
        .aliases(&["ratecycle"])
        .default("1000")
        .under("rate")
        .place(Category::Io, "rate")
        .applies(Apply::U32(|draft| &mut draft.job.pace.cycle_ms)),
    option("rate_ignore_thinktime", Kind::Bool, "Do not catch up with the I/O that pauses of thinktime have cost")
        .under("rate")
        .place(Category::Io, "rate")
        .applies(Apply::Bool(|draft| &mut draft.job.pace.ignores_pauses)),
    option("max_latency", Kind::MicrosecondsPerDirection, "Fail the job when one I/O takes longer, per direction")
        .neutral("0")
        .place(Category::Io, "latprof")
        .applies(Apply::With(apply_pace::max_latency)),
    option("latency_target", Kind::Microseconds, "Search for the largest depth whose latency stays below this")
        .neutral("0")
        .place(Category::Io, "latprof")
        .applies(Apply::U64(|draft| &mut draft.job.latency.target_us))
        .deviates(Different, "No I/O is in flight when the depth changes, and a depth that misses the target in its last window is not taken.")
        .deviates(Stricter, "The option is refused without latency_window."),
    option("latency_window", Kind::Microseconds, "Length of one measuring step for latency_target")
        .neutral("0")
        .place(Category::Io, "latprof")
        .applies(Apply::U64(|draft| &mut draft.job.latency.window_us)),
    option(
        "latency_percentile",
        Kind::FloatList { max_len: 1, min: Some(0.0), max: Some(100.0) },
        "Share of I/Os that must be within latency_target",
    )
    .default("100")
    .place(Category::Io, "latprof")
    .applies(Apply::With(apply_pace::latency_percentile)),
    option("latency_run", Kind::Bool, "Keep adjusting depth instead of ending once it is stable")
        .default("0")
        .place(Category::Io, "latprof")
        .applies(Apply::Bool(|draft| &mut draft.job.latency.goes_on)),
];
