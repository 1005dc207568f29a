//! Memory, mix, priorities of the worker.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::apply;
use crate::options::definition::{Apply, Category, OptionDef, option};
use crate::options::kind::{ANY, Kind, at_most, between};
use ferrio_spec::DeviationKind::Stricter;

pub(crate) const OPTIONS: &[OptionDef] = &[
    option("lockmem", Kind::Size(ANY), "mlock this much memory per worker (capped at physical minus 128 MiB)")
        .default("0")
        .place(Category::General, "")
        .applies(Apply::U64(|draft| &mut draft.job.worker.lockmem_bytes))
        .deviates(Stricter, "Memory that cannot be locked ends the job with an error; fio continues without it."),
    option("rwmixread", Kind::Int(at_most(100)), "Read share of a mixed job; sets rwmixwrite to the rest")
        .default("50")
        .place(Category::Io, "rwmix")
        .applies(Apply::With(apply::rwmixread)),
    option("rwmixwrite", Kind::Int(at_most(100)), "Write share of a mixed job; the later of the two wins")
        .default("50")
        .place(Category::Io, "rwmix")
        .applies(Apply::With(apply::rwmixwrite)),
    option("rwmixcycle", Kind::Removed, "Removed option, rejected")
        .place(Category::Io, "rwmix")
        .applies(Apply::Nothing),
    option("comm", Kind::Text, "Process name set with prctl")
        .place(Category::General, "desc")
        .applies(Apply::Text(|draft| &mut draft.job.worker.comm)),
    option("nice", Kind::Int(between(-20, 19)), "nice() increment")
        .default("0")
        .place(Category::General, "cred")
        .applies(Apply::With(apply::nice)),
    option("prio", Kind::Int(at_most(7)), "I/O priority level")
        .place(Category::General, "cred")
        .applies(Apply::OptionalU32(|draft| &mut draft.job.worker.prio)),
    option("prioclass", Kind::Int(at_most(3)), "I/O priority class: 0 none 1 RT 2 BE 3 idle")
        .place(Category::General, "cred")
        .applies(Apply::OptionalU32(|draft| &mut draft.job.worker.prioclass)),
    option("priohint", Kind::Int(at_most(1023)), "I/O priority hint")
        .place(Category::General, "cred")
        .applies(Apply::OptionalU32(|draft| &mut draft.job.worker.priohint)),
];
