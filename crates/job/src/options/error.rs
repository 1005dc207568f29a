//! Clocks of the report, errors, groups of processes, units, flow, steady state.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{Apply, Category, OptionDef, option};
use crate::options::kind::{ANY, Choice, Kind, at_most, between, choice};
use crate::options::{apply, steady_state};
use ferrio_spec::DeviationKind::{Different, Stricter};

const UNIFIED_RW_REPORTING: &[Choice] = &[
    choice("none", "A report for each direction"),
    choice("mixed", "One report over all directions"),
    choice("both", "Both"),
    choice("0", "Same as 'none'"),
    choice("1", "Same as 'mixed'"),
    choice("2", "Same as 'both'"),
];

const CONTINUE_ON_ERROR: &[Choice] = &[
    choice("none", "Stop at the first error"),
    choice("read", "Go on after read errors"),
    choice("write", "Go on after write errors"),
    choice("io", "Go on after read and write errors"),
    choice("verify", "Go on after verification errors"),
    choice("all", "Go on after all errors"),
    choice("0", "Same as 'none'"),
    choice("1", "Same as 'all'"),
];

const KB_BASE: &[Choice] = &[
    choice("1024", "Input swaps kB and KiB, output prefers powers of two"),
    choice("1000", "Input and output follow the SI"),
];

const UNIT_BASE: &[Choice] = &[choice("0", "By the engine"), choice("8", "Bytes"), choice("1", "Bits")];

const STEADYSTATE: &[Choice] = &[
    choice("iops", "Maximum deviation of IOPS"),
    choice("iops_slope", "Slope of IOPS"),
    choice("bw", "Maximum deviation of bandwidth"),
    choice("bw_slope", "Slope of bandwidth"),
    choice("lat", "Maximum deviation of latency"),
    choice("lat_slope", "Slope of latency"),
];

pub(crate) const OPTIONS: &[OptionDef] = &[
    option("gtod_cpu", Kind::Int(ANY), "Keep this CPU free of all jobs of the run")
        .place(Category::General, "clock")
        .applies(Apply::With(apply::gtod_cpu))
        .deviates(Different, "No thread publishes the time; the CPU is kept free of all jobs.")
        .deviates(Stricter, "A CPU that does not exist is refused."),
    option("job_start_clock_id", Kind::Int(ANY), "clock_gettime id for job_start in JSON")
        .default("0")
        .place(Category::General, "clock")
        .applies(Apply::U32(|draft| &mut draft.job.reporting.job_start_clock_id))
        .deviates(Stricter, "A clock that does not exist ends the job with an error; fio ignores it."),
    option("unified_rw_reporting", Kind::Choice(UNIFIED_RW_REPORTING), "Sum directions into one report, or show both")
        .default("none")
        .place(Category::General, "")
        .applies(Apply::With(apply::unified_rw_reporting)),
    option("continue_on_error", Kind::Choice(CONTINUE_ON_ERROR), "Which failing I/Os do not end the job")
        .default("none")
        .place(Category::General, "error")
        .applies(Apply::With(apply::continue_on_error)),
    option("ignore_error", Kind::ErrorLists, "Errnos treated as harmless, lists for read,write,verify")
        .under("rw")
        .place(Category::General, "error")
        .applies(Apply::With(apply::ignore_error))
        .deviates(Stricter, "A number with anything behind it is refused; fio takes the number."),
    option("error_dump", Kind::Bool, "Print ignored errors too")
        .default("0")
        .place(Category::General, "error")
        .applies(Apply::Bool(|draft| &mut draft.job.errors.dump)),
    option("profile", Kind::Text, "Built-in job set to run (act, tiobench)")
        .place(Category::Profile, "")
        .not_applicable(
            "a profile is chosen on the command line (--profile); in a job file fio ignores this, whatever it names",
        ),
    option("cgroup", Kind::Text, "cgroup to place the job in")
        .place(Category::General, "cgroup")
        .applies(Apply::Text(|draft| &mut draft.job.surroundings.cgroup.name))
        .deviates(
            Stricter,
            "A job that is a thread is refused in cgroup v2, where it would move all jobs of its process.",
        ),
    option("cgroup_nodelete", Kind::Bool, "Leave the cgroup in place afterwards")
        .default("0")
        .under("cgroup")
        .place(Category::General, "cgroup")
        .applies(Apply::Bool(|draft| &mut draft.job.surroundings.cgroup.is_kept)),
    option("cgroup_weight", Kind::Int(between(100, 1000)), "blkio weight (cgroup v1 only)")
        .under("cgroup")
        .place(Category::General, "cgroup")
        .applies(Apply::OptionalU32(|draft| &mut draft.job.surroundings.cgroup.weight)),
    option("uid", Kind::Int(ANY), "setuid before running")
        .place(Category::General, "cred")
        .applies(Apply::OptionalU32(|draft| &mut draft.job.worker.uid)),
    option("gid", Kind::Int(ANY), "setgid before running")
        .place(Category::General, "cred")
        .applies(Apply::OptionalU32(|draft| &mut draft.job.worker.gid)),
    option("kb_base", Kind::Choice(KB_BASE), "1024 (compatible, inverted) or 1000 unit meaning for input and output")
        .default("1024")
        .place(Category::General, "")
        .applies(Apply::With(apply::kb_base)),
    option("unit_base", Kind::Choice(UNIT_BASE), "Show bandwidth in bytes (8) or bits (1)")
        .place(Category::General, "")
        .applies(Apply::With(apply::unit_base)),
    option("hugepage-size", Kind::Int(ANY), "Huge page size for shmhuge/mmaphuge")
        .default("2097152")
        .place(Category::General, "")
        .applies(Apply::U64(|draft| &mut draft.job.buffers.hugepage_bytes)),
    option("flow_id", Kind::Int(ANY), "Id of the flow group")
        .default("0")
        .place(Category::Io, "flow")
        .applies(Apply::U32(|draft| &mut draft.job.pace.flow.id)),
    option("flow", Kind::Int(at_most(1000)), "Relative weight inside the flow group (0 = off)")
        .default("0")
        .under("flow_id")
        .place(Category::Io, "flow")
        .applies(Apply::U32(|draft| &mut draft.job.pace.flow.weight))
        .deviates(Different, "A job that joins later does not make up for earlier I/Os of others."),
    option("flow_watermark", Kind::Deprecated, "Accepted and ignored (deprecated)")
        .place(Category::Io, "flow")
        .applies(Apply::Nothing),
    option("flow_sleep", Kind::Int(ANY), "Microseconds to sleep when ahead of share")
        .default("0")
        .under("flow_id")
        .place(Category::Io, "flow")
        .applies(Apply::U32(|draft| &mut draft.job.pace.flow.sleep_us)),
    option("steadystate", Kind::Choice(STEADYSTATE), "Stop criterion kind:limit[%] checked over a moving window")
        .aliases(&["ss"])
        .default("iops_slope:0.01%")
        .place(Category::General, "runtime")
        .applies(Apply::With(steady_state::criterion))
        .deviates(Stricter, "Anything but a unit behind the limit is refused."),
    option("steadystate_duration", Kind::Seconds, "Window length; 0 disables")
        .aliases(&["ss_dur"])
        .default("0")
        .under("steadystate")
        .place(Category::General, "runtime")
        .applies(Apply::U64(|draft| &mut draft.job.steady_state.duration_us)),
    option("steadystate_ramp_time", Kind::Seconds, "Ignore this initial time")
        .aliases(&["ss_ramp"])
        .default("0")
        .under("steadystate")
        .place(Category::General, "runtime")
        .applies(Apply::U64(|draft| &mut draft.job.steady_state.ramp_us)),
    option("steadystate_check_interval", Kind::Seconds, "Sampling period, global")
        .aliases(&["ss_interval"])
        .default("1")
        .under("steadystate")
        .place(Category::General, "runtime")
        .applies(Apply::U64(|draft| &mut draft.job.steady_state.interval_us)),
];
