//! How written data is checked (`verify` and its kin).
//!
//! Must not know: blocks, headers. Start reading at [`VERIFY_METHODS`], then [`VerifySpec`].
//! Facts: reference "Verify header", table of methods.

use ferrio_units::checksum::Checksum;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A method of `verify=`.
pub struct VerifyMethodDef {
    /// The word of the option.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// The method.
    pub method: VerifyMethod,
    /// Number of the method in a header.
    pub number: u8,
    /// What is stored in a block.
    pub form: VerifyForm,
}

/// What a method stores in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerifyForm {
    /// Nothing is stored and nothing is checked.
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
    // A number that the reference does not use: it takes such a block for one of another method.
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

/// What blocks are filled with (`verify_pattern`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyPattern {
    /// Its bytes, repeated over a block; not empty.
    pub bytes: Vec<u8>,
    /// Where in it eight bytes are the offset in the file (`%o`), ascending.
    pub offsets_at: Vec<usize>,
}

/// Data of verified blocks of which a part compresses (`buffer_compress_percentage`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyCompression {
    /// 1 to 99 of a hundred bytes at the end of each block are no random data.
    pub percent: u32,
    /// What stands there (`buffer_pattern`), repeated; empty: zeroes.
    pub tail: Vec<u8>,
}

/// What stands in a verified block, and what of it is checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyContentSpec {
    /// The method.
    pub method: VerifyMethod,
    /// Layout of headers.
    pub layout: HeaderLayout,
    /// `verify_interval`: bytes from header to header, reduced to the block sizes; 0: a header a block.
    pub interval_bytes: u32,
    /// `verify_offset`: place of the header in its interval; 0 is its start.
    pub header_at: u32,
    /// `verify_pattern`; else random data.
    pub pattern: Option<VerifyPattern>,
    /// `verify_pattern_interval`: the pattern starts anew every so many bytes; 0: with each block.
    pub pattern_interval_bytes: u32,
    /// A part of random data compresses; `None`: none does.
    #[serde(default)]
    pub compression: Option<VerifyCompression>,
}

impl VerifyContentSpec {
    /// What `verify=` of a method alone gives: a header of today's layout at the start of each block.
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

/// What is verified, and what a fault does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifySpec {
    /// What stands in a block.
    pub content: VerifyContentSpec,
    /// `do_verify`: what was written is read back at the end of a pass.
    pub reads_back: bool,
    /// `verify_header_layout` was not given, and another run wrote what is checked: its headers may have either layout.
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
    /// What is read back.
    pub reads: VerifiedWrites,
    /// `verify_state_save`: how far the writes came is kept in a file at the job's end.
    pub saves_state: bool,
    /// `verify_state_load`: what is read ends where such a file says.
    pub loads_state: bool,
    /// `verify_crash_log`: the journal for who looks after a crash.
    pub crash_log: Option<PathBuf>,
    /// `--aux-path`: the directory of these files; `None`: the working directory.
    pub dump_directory: Option<String>,
    /// What is read back between writes; `None`: nothing.
    pub backlog: Option<VerifyBacklogSpec>,
    /// `verify_async`: threads that check what was read; 0: the job does.
    pub n_threads: u32,
    /// `verify_async_cpus`: where those run; `None`: where the job does.
    pub thread_cpus: Option<Vec<u32>>,
}

impl VerifySpec {
    /// What `verify=` of a method alone gives to a job that writes: all is read back at the end of a pass.
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

/// Which writes are read back, and how a job knows of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum VerifiedWrites {
    /// All that were done, which are remembered.
    #[default]
    Done,
    /// Those that an fsync has made durable (`verify_policy=fsynced`).
    Fsynced,
    /// All that were done; none is remembered, the stream makes them once more (`experimental_verify`).
    Regenerated,
    /// Those that the job would do: an earlier run has done them (`verify_only`).
    OfEarlierRun,
}

/// When what was written is read back before the end of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyBacklogSpec {
    /// `verify_backlog`: after a write with which a multiple of so many blocks wait, at least 1.
    pub blocks: u64,
    /// `verify_backlog_batch`: so many are read back then, at least 1.
    pub batch: u64,
}

/// Which writes are trimmed again before what was written is read back (`trim_percentage` and its kin).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrimBacklogSpec {
    /// `trim_percentage`: 1 to 100 of a hundred writes.
    pub percent: u32,
    /// `trim_backlog`: writes after which trims begin, at least 1.
    pub backlog: u64,
    /// `trim_backlog_batch`: trims that follow the first, at least 1.
    pub batch: u64,
    /// `trim_verify_zero`: what was trimmed must read back as zeroes; else it is not read back.
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
