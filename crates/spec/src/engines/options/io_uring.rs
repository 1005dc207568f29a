//! Options of the engines `io_uring` and `io_uring_cmd`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{boolean, flag, number, number_flag, text, word};
use crate::DeviationKind::Mended;
use crate::values::syntax::ANY;

words! {
    /// Commands of `cmd_type`.
    CommandType {
        Nvme: "nvme", "NVMe";
        Bsg: "bsg", "SCSI through bsg";
    }
}

words! {
    /// Commands of `verify_mode`.
    VerifyReading {
        Read: "read", "Read back";
        Compare: "compare", "Compare command";
    }
}

words! {
    /// Lengths of `cdb_len`.
    CommandLength {
        Fitting: "0", "Smallest that fits";
        Ten: "10", "10 bytes";
        Sixteen: "16", "16 bytes";
        ThirtyTwo: "32", "32 bytes";
    }
}

words! {
    /// Values of `verify_bytchk`.
    BytesToCheck {
        Nothing: "0", "No data compared";
        All: "1", "All data compared";
        OneBlock: "3", "One block compared with all";
    }
}

words! {
    ReadMode {
        Read: "read", "READ";
        Prefetch: "prefetch", "PRE-FETCH";
    }
}

engine_options! {
    HIPRI: bool = flag("hipri", "Poll for completions (IORING_SETUP_IOPOLL)");
    READFUA: bool = boolean("readfua", "FUA on reads (io_uring_cmd)").default("0");
    WRITEFUA: bool = boolean("writefua", "FUA on writes (io_uring_cmd)").default("0");
    WRITE_MODE: &'static str = text("write_mode", "Command used for writes, single or weighted mix (io_uring_cmd)")
        .default("write")
        .long("One of write, zeroes, verify, zone_append (uncor is not built yet), or a mix such as write/70:zeroes/30; empty \
               percentages share what is left. In a verified job, what zeroes has written must be read as zeroes, and what verify has \
               only looked at is not read back.")
        .deviates(Mended, "What the rounding of empty percentages leaves over goes to the last entry; fio ends the pass there. Blocks that only \
                           write_mode=verify has looked at are not read back; fio reads them and fails. Zeroes can be verified; fio 3.41 fails (EFAULT).");
    VERIFY_MODE: VerifyReading = word("verify_mode", "Read back or use compare command (io_uring_cmd)")
        .long("compare: the device compares what the job has written with the same data, made again; they count as reads. A difference is status \
               type 0x02, code 0x85. Jobs that only read are not changed.")
        .deviates(Mended, "Headers of blocks can be compared, because they have no time in such jobs; fio 3.41 fails with verify methods that \
                           have a header.");
    FIXEDBUFS: bool = flag("fixedbufs", "Register I/O buffers with the ring");
    REGISTERFILES: bool = flag("registerfiles", "Register file descriptors with the ring");
    SQTHREAD_POLL: bool = flag("sqthread_poll", "Let a kernel thread poll the submission queue");
    SQTHREAD_POLL_CPU: Option<i64> = number("sqthread_poll_cpu", "Pin that thread", ANY);
    NONVECTORED: i64 = number("nonvectored", "1 plain read/write, 0 vectored, -1 probe kernel", ANY).default("-1");
    UNCACHED: bool = number_flag("uncached", "RWF_DONTCACHE on buffered I/O", ANY);
    NOWAIT: bool = boolean("nowait", "RWF_NOWAIT on I/O");
    FORCE_ASYNC: Option<i64> = number("force_async", "Mark every n-th request IOSQE_ASYNC", ANY);
    CMD_TYPE: CommandType = word("cmd_type", "Passthrough command family (io_uring_cmd)")
        .deviates(Mended, "A SCSI command that fails has err=5 and the sense data; fio gives the number of the status as the error.");
    CDB_LEN: CommandLength = word("cdb_len", "SCSI CDB size, 0 = smallest fitting (bsg)");
    VERIFY_BYTCHK: BytesToCheck = word("verify_bytchk", "BYTCHK field for VERIFY commands (bsg)");
    READ_MODE: ReadMode = word("read_mode", "READ or PRE-FETCH for reads (bsg)");
}
