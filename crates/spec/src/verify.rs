//! Verification of written data (`verify` and its family).
//!
//! Must not know: blocks, headers. Start reading at [`VERIFY_METHODS`], then [`VerifySpec`].
//! Facts: reference "Verify header", table of methods.

use ferrio_units::checksum::Checksum;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

pub struct VerifyMethodDef {
    /// The word of the option.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
    pub method: VerifyMethod,
    pub number: u8,
    /// Data that it stores in a block.
    pub form: VerifyForm,
}

/// Data that a method stores in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerifyForm {
    /// Nothing is stored or checked.
    Nothing,
    /// The whole block is a pattern.
    Bare,
    /// A header before the data, and behind it a checksum over the data if there is one.
    Header(Option<Checksum>),
}

/// Makes the enumeration and the table from one row each: name, number in a header, word of the option, help, form.
macro_rules! verify_methods {
    ($($method:ident, $number:literal, $name:literal, $help:literal, $form:expr;)+) => {
        /// The methods, by their words in the table.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum VerifyMethod {
            $(#[doc = concat!("`", $name, "`.")] $method,)+
        }

        /// All methods, in the order of the enumeration.
        pub const VERIFY_METHODS: &[VerifyMethodDef] = &[
            $(VerifyMethodDef {
                name: $name,
                help: $help,
                method: VerifyMethod::$method,
                number: $number,
                form: $form,
            },)+
        ];
    };
}

verify_methods! {
    Md5, 2, "md5", "MD5", VerifyForm::Header(Some(Checksum::Md5));
    Crc64, 3, "crc64", "CRC-64", VerifyForm::Header(Some(Checksum::Crc64));
    Crc32, 4, "crc32", "CRC-32", VerifyForm::Header(Some(Checksum::Crc32));
    Crc32cIntel, 5, "crc32c-intel", "Same as crc32c", VerifyForm::Header(Some(Checksum::Crc32c));
    Crc32c, 5, "crc32c", "CRC-32C", VerifyForm::Header(Some(Checksum::Crc32c));
    Crc16, 7, "crc16", "CRC-16", VerifyForm::Header(Some(Checksum::Crc16));
    Crc7, 8, "crc7", "CRC-7", VerifyForm::Header(Some(Checksum::Crc7));
    Sha1, 16, "sha1", "SHA-1", VerifyForm::Header(Some(Checksum::Sha1));
    Sha256, 9, "sha256", "SHA-256", VerifyForm::Header(Some(Checksum::Sha256));
    Sha512, 10, "sha512", "SHA-512", VerifyForm::Header(Some(Checksum::Sha512));
    Sha3_224, 11, "sha3-224", "SHA3-224", VerifyForm::Header(Some(Checksum::Sha3_224));
    Sha3_256, 12, "sha3-256", "SHA3-256", VerifyForm::Header(Some(Checksum::Sha3_256));
    Sha3_384, 13, "sha3-384", "SHA3-384", VerifyForm::Header(Some(Checksum::Sha3_384));
    Sha3_512, 14, "sha3-512", "SHA3-512", VerifyForm::Header(Some(Checksum::Sha3_512));
    Xxhash, 15, "xxhash", "XXH32", VerifyForm::Header(Some(Checksum::Xxh32));
    // A number that fio does not use: fio takes such a block for one of another method.
    Xxh3, 64, "xxh3", "XXH3 of 64 bits, the fastest (ferrio's own)", VerifyForm::Header(Some(Checksum::Xxh3));
    Meta, 1, "meta", "Header only", VerifyForm::Header(None);
    Pattern, 18, "pattern", "Given pattern, no header", VerifyForm::Bare;
    PatternHeader, 17, "pattern_hdr", "Given pattern, with header", VerifyForm::Header(None);
    Null, 19, "null", "Pretend to verify", VerifyForm::Nothing;
}

impl VerifyMethod {
    /// Its row of the table.
    pub fn def(self) -> &'static VerifyMethodDef {
        &VERIFY_METHODS[self as usize]
    }
}

/// Layout of the header before a block's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum HeaderLayout {
    /// 48 bytes, as fio 3.42 has it.
    #[default]
    V3,
    /// 40 bytes, as fio 3.33 has it (seen in its files).
    V2,
}

impl HeaderLayout {
    /// The word of `verify_header_layout` for it: the version of fio.
    pub const fn word(self) -> &'static str {
        match self {
            Self::V3 => "3.42",
            Self::V2 => "3.33",
        }
    }
}

/// Contents of blocks (`verify_pattern`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyPattern {
    /// Its bytes, repeated over a block; not empty.
    pub bytes: Vec<u8>,
    /// Positions at which eight bytes are the offset in the file (`%o`), ascending.
    pub offsets_at: Vec<usize>,
}

/// Data of verified blocks that is partly compressible (`buffer_compress_percentage`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyCompression {
    /// Share of each piece that is not random, percent: 1 to 99, at the end of the piece.
    pub percent: u32,
    /// Length of a piece (`buffer_compress_chunk`), bytes; 0: the whole block.
    #[serde(default)]
    pub piece_bytes: u32,
    /// Contents of that part (`buffer_pattern`), repeated; empty: zeroes.
    pub tail: Vec<u8>,
}

/// Contents of a verified block, and the checks on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyContentSpec {
    pub method: VerifyMethod,
    pub layout: HeaderLayout,
    /// `verify_interval`: bytes from header to header, reduced to the block sizes; 0: a header a block.
    pub interval_bytes: u32,
    /// `verify_offset`: place of the header in its interval; 0 is its start.
    pub header_at: u32,
    /// `verify_pattern`; else random data.
    pub pattern: Option<VerifyPattern>,
    /// `verify_pattern_interval`: the pattern starts again after this many bytes; 0: with each block.
    pub pattern_interval_bytes: u32,
    /// A part of random data compresses; `None`: none does.
    #[serde(default)]
    pub compression: Option<VerifyCompression>,
}

impl VerifyContentSpec {
    /// The effect of `verify=` alone: a header of the present layout at the start of each block.
    pub const fn of(method: VerifyMethod) -> Self {
        Self {
            method,
            layout: HeaderLayout::V3,
            interval_bytes: 0,
            header_at: 0,
            pattern: None,
            pattern_interval_bytes: 0,
            compression: None,
        }
    }
}

/// Verification: contents of blocks, the writes to check, and the effect of a fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifySpec {
    pub content: VerifyContentSpec,
    /// `do_verify`: written blocks are read back at the end of a pass.
    pub reads_back: bool,
    /// `verify_header_layout` was not given, and another run wrote the blocks: their headers may have either layout.
    pub recognises_layouts: bool,
    /// `verify_header_seed`: the seed in a header must be that of the write.
    pub checks_seed: bool,
    /// `verify_write_sequence`: the number in a header must be that of the write.
    pub checks_sequence: bool,
    /// `verify_fatal`: the first fault ends the job, whatever errors are tolerated.
    pub is_fatal: bool,
    /// `verify_dump`: blocks with a fault are kept in files, as received and as expected.
    pub dumps: bool,
    /// Writes that are trimmed again; `None`: none are.
    pub trims: Option<TrimBacklogSpec>,
    pub reads: VerifiedWrites,
    /// `verify_state_save`: the progress of the writes is kept in a file at the end of the job.
    pub saves_state: bool,
    /// `verify_state_load`: reads end where such a file says.
    pub loads_state: bool,
    /// `verify_crash_log`: the journal for the check after a crash.
    #[serde(default, with = "crate::targets::path_bytes::optional")]
    pub crash_log: Option<PathBuf>,
    /// `--aux-path`: the directory of these files; `None`: the working directory.
    pub dump_directory: Option<String>,
    /// Reads between writes; `None`: there are none.
    pub backlog: Option<VerifyBacklogSpec>,
    /// `verify_async`: threads that check blocks; 0: the job checks them itself.
    pub n_threads: u32,
    /// `verify_async_cpus`: CPUs of these threads; `None`: those of the job.
    pub thread_cpus: Option<Vec<u32>>,
}

impl VerifySpec {
    /// The effect of `verify=` alone in a job that writes: all blocks are read back at the end of a pass.
    pub const fn of(method: VerifyMethod) -> Self {
        Self {
            content: VerifyContentSpec::of(method),
            reads_back: true,
            recognises_layouts: false,
            checks_seed: true,
            checks_sequence: true,
            is_fatal: false,
            dumps: false,
            trims: None,
            reads: VerifiedWrites::Done,
            saves_state: true,
            loads_state: false,
            crash_log: None,
            dump_directory: None,
            backlog: None,
            n_threads: 0,
            thread_cpus: None,
        }
    }
}

/// The writes that are read back, and how a job knows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum VerifiedWrites {
    #[default]
    Done,
    /// Writes that an fsync has made durable (`verify_policy=fsynced`).
    Fsynced,
    /// All writes; none is remembered, the stream makes them again (`experimental_verify`).
    Regenerated,
    /// The writes that the job would do; an earlier run has done them (`verify_only`).
    OfEarlierRun,
}

/// Reads of written blocks before the end of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyBacklogSpec {
    /// `verify_backlog`: after a write with which a multiple of so many blocks wait, at least 1.
    pub blocks: u64,
    /// `verify_backlog_batch`: number of blocks that are read then, at least 1.
    pub batch: u64,
}

/// Writes that are trimmed again before they are read back (`trim_percentage` and its family).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrimBacklogSpec {
    /// `trim_percentage`: 1 to 100 of a hundred writes.
    pub percent: u32,
    /// `trim_backlog`: writes after which trims begin, at least 1.
    pub backlog: u64,
    /// `trim_backlog_batch`: trims that follow the first, at least 1.
    pub batch: u64,
    /// `trim_verify_zero`: trimmed blocks must read back as zeroes; otherwise they are not read back.
    pub checks_zeroes: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_the_order_of_the_methods() {
        for (index, def) in VERIFY_METHODS.iter().enumerate() {
            assert_eq!(def.method as usize, index, "{}", def.name);
            assert_eq!(def.method.def().name, def.name);
        }
    }

    /// crc32c-intel is crc32c by another name; all others have a number of their own.
    #[test]
    fn numbers_are_unique_but_for_one() {
        for def in VERIFY_METHODS {
            let n_same = VERIFY_METHODS.iter().filter(|other| other.number == def.number).count();
            assert_eq!(n_same, if def.number == 5 { 2 } else { 1 }, "{}", def.name);
        }
    }
}
