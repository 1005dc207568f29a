//! Options of the engine `sg`.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{OptionDef, option};
use crate::options::kind::{ANY, Choice, Kind, choice};

const SG_WRITE_MODE: &[Choice] = &[
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

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[
    option("hipri", Kind::Flag, "HIPRI flag for polled completion").of_engines(&["sg"]),
    option("readfua", Kind::Bool, "FUA on reads").default("0").of_engines(&["sg"]),
    option("writefua", Kind::Bool, "FUA on writes").default("0").of_engines(&["sg"]),
    option("sg_write_mode", Kind::Choice(SG_WRITE_MODE), "SCSI command used for writes")
        .default("write")
        .of_engines(&["sg"]),
    option("stream_id", Kind::Int(ANY), "Stream for WRITE STREAM").default("0").of_engines(&["sg"]),
];
