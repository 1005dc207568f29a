//! How files are spread, preallocated, synced and opened.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{Apply, Category, OptionDef, option};
use crate::options::kind::{ANY, Choice, Kind, at_least, choice};
use crate::options::{apply, distribution};
use ferrio_spec::DeviationKind::{Different, Mended, Stricter};

const FILE_SERVICE_TYPE: &[Choice] = &[
    choice("random", "A random file"),
    choice("zipf", "Zipf over the files"),
    choice("pareto", "Pareto over the files"),
    choice("normal", "Normal over the files"),
    choice("gauss", "Same as normal"),
    choice("roundrobin", "The next file"),
    choice("sequential", "Finish one file, then the next"),
];

const FALLOCATE: &[Choice] = &[
    choice("none", "No preallocation"),
    choice("native", "fallocate(), errors ignored"),
    choice("posix", "posix_fallocate()"),
    choice("keep", "fallocate() that keeps the file size"),
    choice("truncate", "ftruncate() to the final size"),
    choice("0", "Same as 'none'"),
    choice("1", "Same as 'posix'"),
];

const FADVISE_HINT: &[Choice] = &[
    choice("0", "No advice"),
    choice("1", "Sequential or random, by the workload"),
    choice("random", "Always random"),
    choice("sequential", "Always sequential"),
    choice("noreuse", "POSIX_FADV_NOREUSE"),
];

const SYNC_FILE_RANGE: &[Choice] = &[
    choice("wait_before", "SYNC_FILE_RANGE_WAIT_BEFORE"),
    choice("write", "SYNC_FILE_RANGE_WRITE"),
    choice("wait_after", "SYNC_FILE_RANGE_WAIT_AFTER"),
];

pub(crate) const OPTIONS: &[OptionDef] = &[
    option("nrfiles", Kind::Int(at_least(1)), "How many files the job spreads over")
        .aliases(&["nr_files"])
        .default("1")
        .place(Category::File, "")
        .applies(Apply::U32(|draft| &mut draft.job.target.nrfiles))
        .deviates(Stricter, "The value 0 is refused; fio does no I/O and reports success."),
    option("openfiles", Kind::Int(ANY), "Most files kept open at once (0 or > nrfiles means nrfiles)")
        .place(Category::File, "")
        .applies(Apply::U32(|draft| &mut draft.job.target.openfiles))
        .deviates(Different, "A file that is done makes room for another at once; fio 3.41 first waits for the file's I/Os in flight.")
        .deviates(Mended, "Random jobs that are time_based go through all files; in fio, those above openfiles never get an I/O. A file has its turn until all of its blocks were chosen, or, without a map, until it had as many I/Os as it has blocks. While written data is read back, no more than openfiles are open either."),
    option(
        "file_service_type",
        Kind::Choice(FILE_SERVICE_TYPE),
        "Rule for picking the next file; ':n' = I/Os per pick (or distribution parameter)",
    )
    .default("roundrobin")
    .under("nrfiles")
    .place(Category::File, "")
    .applies(Apply::With(distribution::set_file_service))
        .deviates(Stricter, "Parameters without a meaning, and anything behind a parameter, are refused. Parameters without a meaning are a theta of zipf that is negative or not a number, and a count that is not a number, which is 0 in fio."),
    option("fallocate", Kind::Choice(FALLOCATE), "Preallocation call used while laying files out")
        .default("native")
        .place(Category::File, "")
        .applies(Apply::With(apply::fallocate)),
    option("fadvise_hint", Kind::Choice(FADVISE_HINT), "posix_fadvise advice given at open")
        .default("1")
        .place(Category::File, "")
        .applies(Apply::With(apply::fadvise_hint)),
    option("fsync", Kind::Int(ANY), "Insert fsync after every n writes (0 = never)")
        .default("0")
        .place(Category::File, "")
        .applies(Apply::U32(|draft| &mut draft.job.durability.fsync_blocks)),
    option("fdatasync", Kind::Int(ANY), "Same with fdatasync")
        .default("0")
        .place(Category::File, "")
        .applies(Apply::U32(|draft| &mut draft.job.durability.fdatasync_blocks)),
    option("write_barrier", Kind::Int(ANY), "Flag every n-th write as barrier on engines that can")
        .default("0")
        .place(Category::Io, "")
        .applies(Apply::With(apply::write_barrier)),
    option(
        "sync_file_range",
        Kind::ChoiceSet(SYNC_FILE_RANGE),
        "sync_file_range flags, comma joined, with ':n' = once per n writes",
    )
    .place(Category::File, "")
    .applies(Apply::With(apply::sync_file_range))
        .deviates(Stricter, "An unknown flag behind others, and a count that is not a number, are refused; fio 3.41 skips them."),
    option("direct", Kind::Bool, "Open with O_DIRECT")
        .default("0")
        .place(Category::Io, "io-type")
        .applies(Apply::Bool(|draft| &mut draft.job.durability.direct)),
    option("atomic", Kind::Bool, "Issue writes with RWF_ATOMIC; engine must support it")
        .default("0")
        .place(Category::Io, "io-type")
        .applies(Apply::Bool(|draft| &mut draft.job.durability.atomic)),
    option("buffered", Kind::Bool, "Inverse spelling of direct")
        .default("1")
        .place(Category::Io, "io-type")
        .applies(Apply::With(apply::buffered)),
    option("overwrite", Kind::Bool, "Lay a regular file out with data before a write job starts")
        .default("0")
        .place(Category::File, "")
        .applies(Apply::Bool(|draft| &mut draft.job.layout.overwrite)),
];
