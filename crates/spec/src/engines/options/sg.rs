//! Options of the engine `sg`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{boolean, flag, number, untyped_word};
use crate::syntax::{ANY, Choice, choice};

const SG_WRITE_MODE_WORDS: &[Choice] = &[
    choice("write", "WRITE"),
    choice("write_and_verify", "WRITE AND VERIFY"),
    choice("verify", "Same as 'write_and_verify'"),
    choice("write_same", "WRITE SAME"),
    choice("same", "Same as 'write_same'"),
    choice("write_same_ndob", "WRITE SAME without data"),
    choice("verify_bytchk_00", "VERIFY, BYTCHK 00"),
    choice("verify_bytchk_01", "VERIFY, BYTCHK 01"),
    choice("verify_bytchk_11", "VERIFY, BYTCHK 11"),
    choice("write_stream", "WRITE STREAM"),
];

engine_options! {
    HIPRI: bool = flag("hipri", "HIPRI flag for polled completion").planned();
    READFUA: bool = boolean("readfua", "FUA on reads").default("0").planned();
    WRITEFUA: bool = boolean("writefua", "FUA on writes").default("0").planned();
    SG_WRITE_MODE: () = untyped_word("sg_write_mode", "SCSI command used for writes", SG_WRITE_MODE_WORDS)
        .default("write");
    STREAM_ID: i64 = number("stream_id", "Stream for WRITE STREAM", ANY).default("0").planned();
}
