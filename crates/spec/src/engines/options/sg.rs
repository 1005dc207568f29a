//! Options of the engine `sg`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{boolean, flag, number, word};
use crate::DeviationKind::Stricter;
use crate::values::syntax::ANY;

words! {
    /// Commands of `sg_write_mode`.
    ScsiWriteMode {
        Write: "write", "WRITE";
        WriteAndVerify: "write_and_verify", "WRITE AND VERIFY";
        Verify: "verify", "Same as 'write_and_verify'";
        WriteSame: "write_same", "WRITE SAME";
        Same: "same", "Same as 'write_same'";
        WriteSameNoData: "write_same_ndob", "WRITE SAME without data";
        VerifyNothing: "verify_bytchk_00", "VERIFY, BYTCHK 00";
        VerifyAll: "verify_bytchk_01", "VERIFY, BYTCHK 01";
        VerifyOneBlock: "verify_bytchk_11", "VERIFY, BYTCHK 11";
        WriteStream: "write_stream", "WRITE STREAM";
    }
}

engine_options! {
    HIPRI: bool = flag("hipri", "HIPRI flag for polled completion");
    READFUA: bool = boolean("readfua", "FUA on reads").default("0");
    WRITEFUA: bool = boolean("writefua", "FUA on writes").default("0");
    SG_WRITE_MODE: ScsiWriteMode = word("sg_write_mode", "SCSI command used for writes")
        .deviates(Stricter, "The mode write_stream is refused: no device with streams is at hand to test it.");
    STREAM_ID: i64 = number("stream_id", "Stream for WRITE STREAM", ANY).default("0").planned();
}
