//! Measurements and their display; contents of buffers.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{Apply, Category, OptionDef, option};
use crate::options::kind::{ANY, Choice, Kind, at_most, between, choice};
use crate::options::{apply, apply_buffers};
use ferrio_spec::DeviationKind::{Different, Mended, Stricter};

const DEDUPE_MODE: &[Choice] = &[choice("repeat", "The block before"), choice("working_set", "A block of a fixed set")];

pub(crate) const OPTIONS: &[OptionDef] = &[
    option("group_reporting", Kind::Flag, "One summed report for consecutive jobs of a group")
        .place(Category::Stat, "")
        .applies(Apply::Bool(|draft| &mut draft.job.grouping.group_reporting)),
    option("stats", Kind::Bool, "0 = collect and report nothing for this job")
        .default("1")
        .place(Category::Stat, "")
        .applies(Apply::Bool(|draft| &mut draft.job.reporting.stats)),
    option("zero_buffers", Kind::Flag, "Write zeroes")
        .place(Category::Io, "io-buf")
        .applies(Apply::Bool(|draft| &mut draft.job.buffers.zero)),
    option("refill_buffers", Kind::Flag, "New random contents for every write")
        .place(Category::Io, "io-buf")
        .applies(Apply::Bool(|draft| &mut draft.job.buffers.refill))
        .deviates(Different, "The value 0 has no effect beside buffer_compress_percentage and dedupe_percentage; fio then writes the same data each time."),
    option("scramble_buffers", Kind::Bool, "Stamp offset/time words into each 512 bytes of a reused buffer")
        .default("1")
        .place(Category::Io, "io-buf")
        .applies(Apply::With(apply::scramble_buffers)),
    option("buffer_pattern", Kind::Pattern, "Fixed fill for write buffers (no %o)")
        .place(Category::Io, "io-buf")
        .applies(Apply::With(apply_buffers::buffer_pattern)),
    option("buffer_compress_percentage", Kind::Int(at_most(100)), "Share of each chunk that is zero/pattern")
        .neutral("0")
        .place(Category::Io, "io-buf")
        .applies(Apply::U32(|draft| &mut draft.job.buffers.compress_percent))
        .deviates(Mended, "With 0 and 100, scramble_buffers still makes the blocks differ; in fio all blocks of 0 are the same."),
    option("buffer_compress_chunk", Kind::Int(ANY), "Unit for the compress percentage")
        .default("512")
        .under("buffer_compress_percentage")
        .place(Category::Io, "io-buf")
        .applies(Apply::With(apply_buffers::compress_chunk))
        .deviates(Mended, "It counts for verified blocks too, if it is given; fio compresses their blocks as wholes."),
    option("dedupe_percentage", Kind::Int(at_most(100)), "Share of write blocks repeating earlier content")
        .place(Category::Io, "io-buf")
        .applies(Apply::OptionalU32(|draft| &mut draft.open.dedupe.percent))
        .deviates(Different, "Beside buffer_pattern all blocks hold the pattern; fio fills them with random data.")
        .deviates(Mended, "If blocks have several sizes, pieces of the smallest one repeat, so that the share is right; fio repeats whole blocks."),
    option("dedupe_global", Kind::Bool, "Take duplicates from other jobs' content too")
        .default("0")
        .under("dedupe_percentage")
        .place(Category::Io, "io-buf")
        .applies(Apply::Bool(|draft| &mut draft.job.buffers.dedupe_global))
        .deviates(Stricter, "The option is refused without dedupe_mode=working_set; fio ignores it."),
    option("dedupe_mode", Kind::Choice(DEDUPE_MODE), "Duplicate the previous block or one of a fixed set")
        .default("repeat")
        .under("dedupe_percentage")
        .place(Category::Io, "io-buf")
        .applies(Apply::With(apply_buffers::dedupe_mode)),
    option("dedupe_working_set_percentage", Kind::Int(at_most(100)), "Size of that set in percent of size")
        .default("5")
        .under("dedupe_percentage")
        .place(Category::Io, "io-buf")
        .applies(Apply::OptionalU32(|draft| &mut draft.open.dedupe.working_set_percent)),
    option("clat_percentiles", Kind::Bool, "Report completion latency percentiles")
        .default("1")
        .place(Category::Stat, "")
        .applies(Apply::Bool(|draft| &mut draft.job.reporting.clat_percentiles)),
    option("lat_percentiles", Kind::Bool, "Report total latency percentiles")
        .default("0")
        .place(Category::Stat, "")
        .applies(Apply::Bool(|draft| &mut draft.job.reporting.lat_percentiles)),
    option("slat_percentiles", Kind::Bool, "Report submission latency percentiles")
        .default("0")
        .place(Category::Stat, "")
        .applies(Apply::Bool(|draft| &mut draft.job.reporting.slat_percentiles)),
    option(
        "percentile_list",
        Kind::FloatList { max_len: 20, min: Some(0.0), max: Some(100.0) },
        "Which percentiles (max 20), ':'-separated",
    )
    .default("1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99")
    .place(Category::Stat, "")
    .applies(Apply::With(apply::percentile_list)),
    option("significant_figures", Kind::Int(between(1, 10)), "Digits used for scaled numbers in normal output")
        .default("4")
        .place(Category::Stat, "")
        .applies(Apply::U32(|draft| &mut draft.job.reporting.significant_figures)),
    option("disk_util", Kind::Bool, "Report block device statistics")
        .default("1")
        .place(Category::Stat, "")
        .applies(Apply::Bool(|draft| &mut draft.job.reporting.disk_util)),
    option("gtod_reduce", Kind::Bool, "Drop slat/clat/lat stats and most clock reads")
        .default("0")
        .place(Category::Stat, "")
        .applies(Apply::With(apply::gtod_reduce)),
    option("disable_lat", Kind::Bool, "No total latency stats")
        .default("0")
        .under("gtod_reduce")
        .place(Category::Stat, "")
        .applies(Apply::Bool(|draft| &mut draft.job.reporting.disable_lat)),
    option("disable_clat", Kind::Bool, "No completion latency stats")
        .default("0")
        .under("gtod_reduce")
        .place(Category::Stat, "")
        .applies(Apply::Bool(|draft| &mut draft.job.reporting.disable_clat)),
    option("disable_slat", Kind::Bool, "No submission latency stats")
        .default("0")
        .under("gtod_reduce")
        .place(Category::Stat, "")
        .applies(Apply::Bool(|draft| &mut draft.job.reporting.disable_slat)),
    option("disable_bw_measurement", Kind::Bool, "No rows of single I/Os in the bandwidth log")
        .aliases(&["disable_bw"])
        .default("0")
        .under("gtod_reduce")
        .place(Category::Stat, "")
        .applies(Apply::Bool(|draft| &mut draft.job.reporting.disable_bw)),
];
