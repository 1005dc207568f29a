//! Verification of written data, and trims within it.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{Apply, Category, OptionDef, option};
use crate::options::kind::{ANY, Choice, Kind, at_least, at_most, choice};
use crate::options::verification;
use ferrio_spec::DeviationKind::{Different, Mended, Stricter};
use ferrio_spec::VERIFY_METHODS;

/// The word for none, then those of the table.
const VERIFY: &[Choice] = &{
    let mut words = [choice("0", "No verification"); VERIFY_METHODS.len() + 1];
    let mut index = 0;
    while index < VERIFY_METHODS.len() {
        words[index + 1] = choice(VERIFY_METHODS[index].name, VERIFY_METHODS[index].help);
        index += 1;
    }
    words
};

const VERIFY_POLICY: &[Choice] =
    &[choice("completed", "All completed writes"), choice("fsynced", "Writes before the last completed fsync")];

pub(crate) const OPTIONS: &[OptionDef] = &[
    option("verify", Kind::Choice(VERIFY), "Checksum or pattern kept in each written block and checked afterwards")
        .default("0")
        .place(Category::Io, "verify")
        .applies(Apply::With(verification::method))
        .deviates(Different, "Files are synced before they are read back, so that reads come from the device; fio 3.41 may read the page cache. Errors have a further line with the kind of damage. buffer_compress_percentage works beside verification; fio ignores it.")
        .deviates(Mended, "Traces with overlapping writes, trim_verify_zero=0 and strided zones give no false alarm; fio 3.41 looks for the wrong write.")
        .deviates(Stricter, "trim_percentage and verify_crash_log are refused with zonemode=zbd, where a trim resets a whole zone. verify_state_load is refused if the blocks read have no numbers of writes (a read_iolog that writes nothing, random reads with zonemode=zbd)."),
    option("do_verify", Kind::Bool, "Run the read-back phase after writing")
        .default("1")
        .under("verify")
        .place(Category::Io, "verify")
        .applies(Apply::Bool(|draft| &mut draft.open.verify.reads_back)),
    option(
        "verify_policy",
        Kind::ChoiceSet(VERIFY_POLICY),
        "Which writes are checked: all completed or only those before the last fsync",
    )
    .default("completed")
    .under("verify")
    .place(Category::Io, "verify")
    .applies(Apply::With(verification::policy))
        .deviates(Mended, "With several files, an fsync covers only its own file."),
    option("verifysort", Kind::Deprecated, "Accepted and ignored (deprecated)")
        .place(Category::Io, "verify")
        .applies(Apply::Nothing),
    option("verifysort_nr", Kind::Deprecated, "Accepted and ignored (deprecated)")
        .place(Category::Io, "verify")
        .applies(Apply::Nothing),
    option(
        "verify_interval",
        Kind::Int(at_least(96)),
        "Distance between verify headers inside a block; must divide block size",
    )
    .under("verify")
    .place(Category::Io, "verify")
        .deviates(Mended, "A fault in any interval fails the job; fio 3.41 reports each, but fails only for the last interval of a block. With a read_iolog the interval divides all I/Os; fio 3.41 has headers for bytes past the end of a block.")
    .applies(Apply::U32(|draft| &mut draft.open.verify.interval_bytes)),
    option("verify_offset", Kind::Int(at_least(48)), "Byte position of the header inside each interval")
        .under("verify")
        .place(Category::Io, "verify")
        .applies(Apply::U32(|draft| &mut draft.open.verify.header_at))
        .deviates(Stricter, "Less room than header and checksum need is refused; fio 3.41 overwrites one with the other and calls good blocks damaged."),
    option("verify_pattern", Kind::Pattern, "Fill data: decimals, 0x bytes, \"text\", 'file', %o (block offset)")
        .under("verify")
        .place(Category::Io, "verify")
        .applies(Apply::With(verification::verify_pattern)),
    option("verify_pattern_interval", Kind::Int(ANY), "Restart the pattern (and %o) every n bytes")
        .default("0")
        .under("verify")
        .place(Category::Io, "verify")
        .applies(Apply::U32(|draft| &mut draft.open.verify.pattern_interval_bytes)),
    option("verify_fatal", Kind::Bool, "Stop the job at the first bad block")
        .default("0")
        .under("verify")
        .place(Category::Io, "verify")
        .applies(Apply::Bool(|draft| &mut draft.open.verify.is_fatal)),
    option("verify_dump", Kind::Bool, "Save received and expected data of bad blocks to files")
        .default("0")
        .under("verify")
        .place(Category::Io, "verify")
        .applies(Apply::Bool(|draft| &mut draft.open.verify.dumps)),
    option("verify_async", Kind::Int(ANY), "Number of helper threads doing the checking (0 = inline)")
        .default("0")
        .under("verify")
        .place(Category::Io, "verify")
        .applies(Apply::U32(|draft| &mut draft.open.verify.n_threads))
        .deviates(Different, "A job may wait for its threads, because memory for unchecked blocks is limited. Faults are reported in the order of its reads."),
    option("verify_backlog", Kind::Size(ANY), "Start checking once this many blocks are pending instead of at the end")
        .neutral("0")
        .under("verify")
        .place(Category::Io, "verify")
        .applies(Apply::U64(|draft| &mut draft.open.verify.backlog))
        .deviates(Different, "Reads and writes come in the same order at every iodepth, because the job waits for all I/Os in flight before it reads back.")
        .deviates(Mended, "Seeds in headers are checked, verify_policy=fsynced is obeyed, and blocks read back do not count for number_ios. With experimental_verify blocks are read between writes; fio 3.41 reads all at the end.")
        .deviates(Stricter, "The option is refused with verify_only if writes of a pass overlap and io_size is larger than the size."),
    option(
        "verify_backlog_batch",
        Kind::Int(ANY),
        "How many pending blocks to check per batch (default: all of backlog)",
    )
    .neutral("0")
    .under("verify")
    .place(Category::Io, "verify")
    .applies(Apply::U32(|draft| &mut draft.open.verify.backlog_batch)),
    option("verify_async_cpus", Kind::CpuList, "CPU list for verify helper threads")
        .under("verify_async")
        .place(Category::Io, "verify")
        .applies(Apply::With(verification::async_cpus))
        .deviates(Stricter, "A value that is no list of CPUs is refused; fio reads it as CPU 0."),
    option("experimental_verify", Kind::Bool, "Regenerate the I/O sequence for checking instead of remembering it")
        .under("verify")
        .place(Category::Io, "verify")
        .applies(Apply::Bool(|draft| &mut draft.open.verify.regenerates))
        .deviates(Mended, "The option works for random orders; fio 3.41 reads other blocks than it wrote, or none."),
    option("verify_state_load", Kind::Bool, "Load the saved state file to know where to stop checking")
        .default("0")
        .under("verify")
        .place(Category::Io, "verify")
        .applies(Apply::Bool(|draft| &mut draft.open.verify.loads_state))
        .deviates(Mended, "If writes may overlap, all writes that the state covers are checked; fio stops at the first later one.")
        .deviates(Stricter, "The option is refused without verify; fio looks for a file all the same."),
    option("verify_state_save", Kind::Bool, "Save write state at job end or trigger")
        .default("1")
        .under("verify")
        .place(Category::Io, "verify")
        .applies(Apply::Bool(|draft| &mut draft.open.verify.saves_state))
        .deviates(Mended, "A job that writes nothing (verify_only) leaves the state of the writer alone; fio replaces it."),
    option("verify_write_sequence", Kind::Bool, "Check the write sequence number in headers")
        .default("1")
        .under("verify")
        .place(Category::Io, "verify")
        .applies(Apply::With(verification::write_sequence)),
    option("verify_header_seed", Kind::Bool, "Check the buffer seed in headers")
        .default("1")
        .under("verify")
        .place(Category::Io, "verify")
        .applies(Apply::With(verification::header_seed)),
    option(
        "trim_percentage",
        Kind::Int(at_most(100)),
        "Share of written blocks that are trimmed again in a verify job",
    )
    .default("0")
    .under("verify")
    .place(Category::Io, "trim")
    .applies(Apply::U32(|draft| &mut draft.open.verify.trims.percent))
        .deviates(Different, "A block is trimmed after its write has landed, and nothing else is issued while a trim is in flight.")
        .deviates(Mended, "io_size, number_ios and syncs that are due after a trim are obeyed; fio writes more, or omits the sync."),
    option("trim_verify_zero", Kind::Bool, "Trimmed blocks must read back as zeroes")
        .default("1")
        .under("trim_percentage")
        .place(Category::Io, "trim")
        .applies(Apply::Bool(|draft| &mut draft.open.verify.trims.checks_zeroes)),
    option("trim_backlog", Kind::Size(ANY), "Begin trimming after this many blocks were written")
        .neutral("0")
        .under("trim_percentage")
        .place(Category::Io, "trim")
        .applies(Apply::U64(|draft| &mut draft.open.verify.trims.backlog)),
    option("trim_backlog_batch", Kind::Int(ANY), "How many blocks to trim per batch (default: backlog)")
        .neutral("0")
        .under("trim_percentage")
        .place(Category::Io, "trim")
        .applies(Apply::U64(|draft| &mut draft.open.verify.trims.batch)),
];
