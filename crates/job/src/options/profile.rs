//! Options of the built-in profiles.
//!
//! Rows only; the effect of a row is in `profiles`. Must not know: how values are parsed.

use crate::options::definition::{Apply, OptionDef, option};
use crate::options::draft::Draft;
use crate::options::kind::{ANY, Kind, between};
use crate::profiles::act::ActDraft;
use crate::profiles::tiobench::TiobenchDraft;
use ferrio_spec::DeviationKind::{Different, Mended, Stricter};

fn act(draft: &mut Draft) -> &mut ActDraft {
    &mut draft.open.profile.act
}

fn tiobench(draft: &mut Draft) -> &mut TiobenchDraft {
    &mut draft.open.profile.tiobench
}

const OBEYED: &str =
    "The option is obeyed; fio ignores it. In a job without the profile a message says that it has no effect.";

pub(crate) const OPTIONS: &[OptionDef] = &[
    option("device-names", Kind::Text, "Comma list of devices (required)")
        .of_profile("act")
        .applies(Apply::Text(|draft| &mut act(draft).device_names))
        .deviates(Mended, "Names are not cut off, and empty ones are skipped."),
    option("load", Kind::Int(ANY), "Load multiple")
        .default("1")
        .of_profile("act")
        .applies(Apply::U32(|draft| &mut act(draft).load))
        .deviates(Stricter, "The value 0 is refused; in fio it removes all limits."),
    option("test-duration", Kind::Seconds, "Length of the run")
        .default("24h")
        .of_profile("act")
        .applies(Apply::U64(|draft| &mut act(draft).duration_us))
        .deviates(Mended, "Units are obeyed; fio takes 2s for 2000000 s.")
        .deviates(Stricter, "A run without a duration is refused."),
    option("threads-per-queue", Kind::Int(ANY), "Reader clones per device")
        .default("8")
        .of_profile("act")
        .applies(Apply::U32(|draft| &mut act(draft).n_threads))
        .deviates(Stricter, "More threads than reads a second are refused; in fio they remove all limits."),
    option("read-req-num-512-blocks", Kind::Int(ANY), "Sectors per read")
        .default("3")
        .of_profile("act")
        .applies(Apply::U32(|draft| &mut act(draft).n_sectors))
        .deviates(Stricter, "Values with which fio divides by zero are refused."),
    option("large-block-op-kbytes", Kind::Int(ANY), "Write size value")
        .default("131072")
        .long("In spite of its name the value is in bytes, as in fio.")
        .of_profile("act")
        .applies(Apply::U32(|draft| &mut act(draft).write_bytes))
        .deviates(Stricter, "A value smaller than a read is refused; fio divides by zero."),
    option("prep", Kind::Flag, "Only run the zero and salt passes")
        .of_profile("act")
        .applies(Apply::Bool(|draft| &mut act(draft).prepares))
        .deviates(Different, "The report has no table of latencies."),
    option("size", Kind::Size(between(1, 1 << 20)), "File set size in MiB (default 4096*mb_memory bytes)")
        .long("A plain number of MiB.")
        .of_profile("tiobench")
        .applies(Apply::With(|draft, value, _| {
            tiobench(draft).size_mib = u64::try_from(value.number()?).ok();
            Ok(())
        }))
        .deviates(Mended, OBEYED),
    option("block", Kind::Int(ANY), "Block size")
        .default("4096")
        .of_profile("tiobench")
        .applies(Apply::U32(|draft| &mut tiobench(draft).block_bytes))
        .deviates(Mended, OBEYED),
    option("numruns", Kind::Int(ANY), "Loops")
        .of_profile("tiobench")
        .applies(Apply::U32(|draft| &mut tiobench(draft).n_runs))
        .deviates(Mended, OBEYED),
    option("dir", Kind::Text, "Directory")
        .of_profile("tiobench")
        .applies(Apply::Text(|draft| &mut tiobench(draft).directory))
        .deviates(Mended, OBEYED),
    option("threads", Kind::Int(ANY), "Clones")
        .of_profile("tiobench")
        .applies(Apply::U32(|draft| &mut tiobench(draft).n_threads))
        .deviates(Mended, OBEYED),
];
