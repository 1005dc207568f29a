//! Verification of written data, and trims within it.
//!
//! Rows only. Must not know: how values are parsed; what a row does is in its `apply` part.

use crate::options::definition::{Apply, Category, OptionDef, option};
use crate::options::kind::{ANY, Choice, Kind, at_least, at_most, choice};
use crate::options::verification;
use crate::spec::VERIFY_METHODS;

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
             a block shows; trims, replayed traces and the options that make other contents of buffers are refused \
             beside it; the state file is not written",
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
    .place(Category::Io, "verify"),
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
    .applies(Apply::U32(|draft| &mut draft.open.verify.interval_bytes)),
    option("verify_offset", Kind::Int(at_least(48)), "Byte position of the header inside each interval")
        .under("verify")
        .place(Category::Io, "verify")
        .applies(Apply::U32(|draft| &mut draft.open.verify.header_at)),
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
        .place(Category::Io, "verify"),
    option("verify_backlog", Kind::Size(ANY), "Start checking once this many blocks are pending instead of at the end")
        .neutral("0")
        .under("verify")
        .place(Category::Io, "verify"),
    option(
        "verify_backlog_batch",
        Kind::Int(ANY),
        "How many pending blocks to check per batch (default: all of backlog)",
    )
    .neutral("0")
    .under("verify")
    .place(Category::Io, "verify"),
    option("verify_async_cpus", Kind::CpuList, "CPU list for verify helper threads")
        .under("verify_async")
        .place(Category::Io, "verify"),
    option("experimental_verify", Kind::Bool, "Regenerate the I/O sequence for checking instead of remembering it")
        .under("verify")
        .place(Category::Io, "verify"),
    option("verify_state_load", Kind::Bool, "Load the saved state file to know where to stop checking")
        .under("verify")
        .place(Category::Io, "verify"),
    option("verify_state_save", Kind::Bool, "Save write state at job end or trigger")
        .default("0")
        .under("verify")
        .place(Category::Io, "verify"),
    option("verify_write_sequence", Kind::Bool, "Check the write sequence number in headers")
        .default("1")
        .under("verify")
        .place(Category::Io, "verify")
        .applies(Apply::Bool(|draft| &mut draft.open.verify.write_sequence)),
    option("verify_header_seed", Kind::Bool, "Check the buffer seed in headers")
        .default("1")
        .under("verify")
        .place(Category::Io, "verify")
        .applies(Apply::Bool(|draft| &mut draft.open.verify.header_seed)),
    option(
        "trim_percentage",
        Kind::Int(at_most(100)),
        "Share of written blocks that are trimmed again in a verify job",
    )
    .default("0")
    .under("verify")
    .place(Category::Io, "trim"),
    option("trim_verify_zero", Kind::Bool, "Trimmed blocks must read back as zeroes")
        .default("1")
        .under("trim_percentage")
        .place(Category::Io, "trim"),
    option("trim_backlog", Kind::Size(ANY), "Begin trimming after this many blocks were written")
        .neutral("0")
        .under("trim_percentage")
        .place(Category::Io, "trim"),
    option("trim_backlog_batch", Kind::Int(ANY), "How many blocks to trim per batch (default: backlog)")
        .neutral("0")
        .under("trim_percentage")
        .place(Category::Io, "trim"),
];
