//! Order between jobs.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::apply;
use crate::options::definition::{Apply, Category, OptionDef, option};
use crate::options::kind::{Choice, Kind, choice};

const EXIT_WHAT: &[Choice] =
    &[choice("group", "Jobs of the same group"), choice("stonewall", "All jobs that run"), choice("all", "Everything")];

pub(crate) const OPTIONS: &[OptionDef] = &[
    option("exitall", Kind::Flag, "First job to finish ends the others selected by exit_what")
        .place(Category::General, "process")
        .applies(Apply::Bool(|draft| &mut draft.job.grouping.exitall)),
    option("exit_what", Kind::Choice(EXIT_WHAT), "Scope of exitall: same group, all running, or everything")
        .default("group")
        .place(Category::General, "process")
        .applies(Apply::With(apply::exit_what)),
    option("exitall_on_error", Kind::Flag, "Like exitall but only when a job fails")
        .place(Category::General, "process")
        .applies(Apply::Bool(|draft| &mut draft.job.grouping.exitall_on_error)),
    option("stonewall", Kind::Flag, "Start only after all earlier jobs ended; opens a new group")
        .aliases(&["wait_for_previous"])
        .place(Category::General, "process")
        .applies(Apply::Bool(|draft| &mut draft.job.grouping.stonewall)),
    option("new_group", Kind::Flag, "Open a new reporting group without waiting")
        .place(Category::General, "process")
        .applies(Apply::Bool(|draft| &mut draft.job.grouping.new_group)),
    option("thread", Kind::Flag, "Use a pthread instead of a forked process")
        .place(Category::General, "process")
        .applies(Apply::Bool(|draft| &mut draft.job.worker.thread)),
];
