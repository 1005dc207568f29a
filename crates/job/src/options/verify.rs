//! Verification of written data, and trims within it.
//!
//! Rows only. Must not know: how values are parsed; what a row does is in its `apply` part.

use crate::options::definition::{Apply, Category, OptionDef, option};
use crate::options::kind::{ANY, Choice, Kind, at_least, at_most, choice};
use crate::options::verification;
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

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[
    option("verify", Kind::Choice(VERIFY), "Checksum or pattern kept in each written block and checked afterwards")
        .default("0")
        .place(Category::Io, "verify")
        .applies(Apply::With(verification::method))
        .deviates(
            "the header is that of 3.42 unless verify_header_layout says another; a line more says what kind of damage \
             a block shows; of the options of buffers buffer_compress_percentage counts beside it, over whole blocks, with \
             buffer_pattern for what compresses, and the others but scramble_buffers only with null, as in fio; a trace whose writes lie over \
             each other, trim_verify_zero=0 and strided zones give no false alarm (fio 3.41 looks for the wrong \
             write); refused are trim_percentage and verify_crash_log with zonemode=zbd, where a trim resets a whole zone, \
             and verify_state_load where what is read has no numbers of writes (a read_iolog that writes nothing, random \
             reads with zonemode=zbd)",
        ),
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
    .deviates("with several files an fsync counts for its own file"),
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
    .deviates(
        "one that does not divide the smallest and the largest block gives way to the largest that does, as in fio, \
         and with a read_iolog to the largest that divides all its I/Os, where fio 3.41 has headers of bytes past the end of a block; a \
         fault in any interval is an error of the job (fio 3.41 tells of each, but ends with an error only for the last \
         interval of a block)",
    )
    .applies(Apply::U32(|draft| &mut draft.open.verify.interval_bytes)),
    option("verify_offset", Kind::Int(at_least(48)), "Byte position of the header inside each interval")
        .under("verify")
        .place(Category::Io, "verify")
        .applies(Apply::U32(|draft| &mut draft.open.verify.header_at))
        .deviates("less than header and checksum take is refused; fio 3.41 writes one over the other, and calls good blocks damaged"),
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
        .deviates(
            "a job reads on no further than the memory for unchecked blocks, some for each thread, and tells faults in the \
             order of its reads",
        ),
    option("verify_backlog", Kind::Size(ANY), "Start checking once this many blocks are pending instead of at the end")
        .neutral("0")
        .under("verify")
        .place(Category::Io, "verify")
        .applies(Apply::U64(|draft| &mut draft.open.verify.backlog))
        .deviates(
            "with several I/Os in flight too the order is that of one at a time: what is in flight is waited for first; \
             seeds in headers are checked; what is read back does not count for number_ios; with verify_policy=fsynced what \
             is durable is read back; with experimental_verify it works (fio 3.41 reads all at the end); with verify_only, \
             which writes nothing to read between, all is read in one go, and it is refused where writes of a pass lie over \
             others and io_size is beyond the size: what was read back decided how many passes there were",
        ),
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
        .deviates("what is no list of CPUs is refused instead of read as CPU 0"),
    option("experimental_verify", Kind::Bool, "Regenerate the I/O sequence for checking instead of remembering it")
        .under("verify")
        .place(Category::Io, "verify")
        .applies(Apply::Bool(|draft| &mut draft.open.verify.regenerates))
        .deviates(
            "takes no memory for what was written, and works for random orders (fio 3.41 reads other blocks than it \
             wrote); where only memory knows what is there (writes over others, trims, a read_iolog, \
             verify_policy=fsynced, verify_state_load, rates of reads and writes) it is used, where fio reads other \
             blocks or none",
        ),
    option("verify_state_load", Kind::Bool, "Load the saved state file to know where to stop checking")
        .default("0")
        .under("verify")
        .place(Category::Io, "verify")
        .applies(Apply::Bool(|draft| &mut draft.open.verify.loads_state))
        .deviates(
            "files of fio 3.42, 3.41 and 3.33 are read; where writes may lie over each other all that the state tells of is \
             checked, in ascending order (fio stops at the first of later ones); refused without verify, where fio \
             looks for a file all the same",
        ),
    option("verify_state_save", Kind::Bool, "Save write state at job end or trigger")
        .default("1")
        .under("verify")
        .place(Category::Io, "verify")
        .applies(Apply::Bool(|draft| &mut draft.open.verify.saves_state))
        .deviates(
            "the file has the form that goes with verify_header_layout; a job that writes nothing (verify_only) leaves \
             that of the writer alone; at a trigger jobs that verify save their state before its command runs, others \
             have none",
        ),
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
    .deviates(
        "io_size is heeded, and with a trim_backlog_batch below trim_backlog number_ios too, where fio goes on while a \
         chosen block waits for its trim; a block whose write is in flight is trimmed once that has landed, and while a trim \
         is in flight nothing else is issued; a sync that is due after a trim is done, where fio leaves it out",
    ),
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
        .applies(Apply::U32(|draft| &mut draft.open.verify.trims.batch)),
];
