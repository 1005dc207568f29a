//! Options of the engines `io_uring,io_uring_cmd`.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::command_priority;
use crate::options::definition::{Apply, OptionDef, option};
use crate::options::kind::{ANY, Choice, Kind, at_most, between, choice};

const VERIFY_MODE: &[Choice] = &[choice("read", "Read back"), choice("compare", "Compare command")];

const CMD_TYPE: &[Choice] = &[choice("nvme", "NVMe"), choice("bsg", "SCSI through bsg")];

const CDB_LEN: &[Choice] =
    &[choice("0", "Smallest that fits"), choice("10", "10 bytes"), choice("16", "16 bytes"), choice("32", "32 bytes")];

const VERIFY_BYTCHK: &[Choice] =
    &[choice("0", "No data compared"), choice("1", "All data compared"), choice("3", "One block compared with all")];

const READ_MODE: &[Choice] = &[choice("read", "READ"), choice("prefetch", "PRE-FETCH")];

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[
    option("hipri", Kind::Flag, "Poll for completions (IORING_SETUP_IOPOLL)")
        .of_engines(&["io_uring", "io_uring_cmd"])
        .applies(Apply::Engine),
    option("readfua", Kind::Bool, "FUA on reads (io_uring_cmd)").default("0").of_engines(&["io_uring", "io_uring_cmd"]),
    option("writefua", Kind::Bool, "FUA on writes (io_uring_cmd)")
        .default("0")
        .of_engines(&["io_uring", "io_uring_cmd"]),
    option("write_mode", Kind::Text, "Command used for writes, single or weighted mix (io_uring_cmd)")
        .default("write")
        .of_engines(&["io_uring", "io_uring_cmd"]),
    option("verify_mode", Kind::Choice(VERIFY_MODE), "Read back or use compare command (io_uring_cmd)")
        .default("read")
        .of_engines(&["io_uring", "io_uring_cmd"]),
    option("fixedbufs", Kind::Flag, "Register I/O buffers with the ring")
        .of_engines(&["io_uring", "io_uring_cmd"])
        .applies(Apply::Engine),
    option("registerfiles", Kind::Flag, "Register file descriptors with the ring")
        .of_engines(&["io_uring", "io_uring_cmd"])
        .applies(Apply::Engine),
    option("sqthread_poll", Kind::Flag, "Let a kernel thread poll the submission queue")
        .of_engines(&["io_uring", "io_uring_cmd"])
        .applies(Apply::Engine),
    option("sqthread_poll_cpu", Kind::Int(ANY), "Pin that thread")
        .of_engines(&["io_uring", "io_uring_cmd"])
        .applies(Apply::Engine),
    option("nonvectored", Kind::Int(ANY), "1 plain read/write, 0 vectored, -1 probe kernel")
        .default("-1")
        .of_engines(&["io_uring", "io_uring_cmd"])
        .applies(Apply::Engine),
    option("uncached", Kind::Int(ANY), "RWF_DONTCACHE on buffered I/O")
        .of_engines(&["io_uring", "io_uring_cmd"])
        .applies(Apply::Engine),
    option("nowait", Kind::Bool, "RWF_NOWAIT on I/O").of_engines(&["io_uring", "io_uring_cmd"]).applies(Apply::Engine),
    option("force_async", Kind::Int(ANY), "Mark every n-th request IOSQE_ASYNC")
        .of_engines(&["io_uring", "io_uring_cmd"])
        .applies(Apply::Engine),
    option("cmd_type", Kind::Choice(CMD_TYPE), "Passthrough command family (io_uring_cmd)")
        .default("nvme")
        .of_engines(&["io_uring", "io_uring_cmd"]),
    option("cdb_len", Kind::Choice(CDB_LEN), "SCSI CDB size, 0 = smallest fitting (bsg)")
        .default("0")
        .of_engines(&["io_uring", "io_uring_cmd"]),
    option("verify_bytchk", Kind::Choice(VERIFY_BYTCHK), "BYTCHK field for VERIFY commands (bsg)")
        .default("0")
        .of_engines(&["io_uring", "io_uring_cmd"]),
    option("read_mode", Kind::Choice(READ_MODE), "READ or PRE-FETCH for reads (bsg)")
        .default("read")
        .of_engines(&["io_uring", "io_uring_cmd"]),
    option(
        "cmdprio_percentage",
        Kind::IntPerDirection(at_most(100)),
        "Share of I/Os sent with the alternate priority, read,write",
    )
    .neutral("0")
    .of_engines(&["io_uring", "io_uring_cmd"])
    .applies(Apply::With(command_priority::percentage)),
    option("cmdprio_class", Kind::IntPerDirection(between(1, 3)), "Class of the alternate priority")
        .of_engines(&["io_uring", "io_uring_cmd"])
        .applies(Apply::With(command_priority::class)),
    option("cmdprio_hint", Kind::IntPerDirection(at_most(1023)), "Hint of the alternate priority")
        .of_engines(&["io_uring", "io_uring_cmd"])
        .applies(Apply::With(command_priority::hint)),
    option("cmdprio", Kind::IntPerDirection(at_most(7)), "Level of the alternate priority")
        .of_engines(&["io_uring", "io_uring_cmd"])
        .applies(Apply::With(command_priority::level)),
    option("cmdprio_bssplit", Kind::Text, "Per block size shares bs/pct[/class/level[/hint]], joined by colons")
        .of_engines(&["io_uring", "io_uring_cmd"])
        .applies(Apply::With(command_priority::splits)),
    option("md_per_io_size", Kind::Int(ANY), "Separate metadata bytes per I/O (NVMe)")
        .default("0")
        .of_engines(&["io_uring", "io_uring_cmd"]),
    option("pi_act", Kind::Bool, "PRACT bit (NVMe)").default("1").of_engines(&["io_uring", "io_uring_cmd"]),
    option("pi_chk", Kind::Text, "Protection fields to check: GUARD,REFTAG,APPTAG")
        .of_engines(&["io_uring", "io_uring_cmd"]),
    option("apptag", Kind::Int(ANY), "Application tag").default("0x1234").of_engines(&["io_uring", "io_uring_cmd"]),
    option("apptag_mask", Kind::Int(ANY), "Application tag mask")
        .default("0xffff")
        .of_engines(&["io_uring", "io_uring_cmd"]),
    option("deac", Kind::Bool, "Deallocate bit for write zeroes")
        .default("0")
        .of_engines(&["io_uring", "io_uring_cmd"]),
];
