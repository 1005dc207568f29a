//! A block that differs from what was written: the fault, and a guess at the kind of damage.
//!
//! Must not know: words, how blocks are checked. Start reading at [`BadBlock`].

use super::SystemError;
use ferrio_spec::{HeaderLayout, VerifyMethod};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A block that differs from what was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadBlock {
    pub file: String,
    pub offset_bytes: u64,
    pub length_bytes: u64,
    pub fault: Fault,
    /// The files that keep it (`verify_dump`).
    pub dumps: Vec<BlockDump>,
    /// The kind of damage, where it can be guessed.
    pub damage: Option<Damage>,
}

/// Data of a bad block in a file of its own (`verify_dump`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockDump {
    /// `received`, `expected`, `hdr_fail`.
    pub kind: Cow<'static, str>,
    pub path: String,
    /// Why the file could not be written.
    pub error: Option<SystemError>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Offset of the interval in its file, bytes.
    pub offset_bytes: u64,
    pub length_bytes: u64,
    pub kind: FaultKind,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FaultKind {
    /// The interval does not begin with a header.
    Magic {
        /// The number found instead of the magic number.
        found: u16,
        wanted: u16,
    },
    /// The header has another version.
    Version {
        found: u8,
        /// Expected version.
        wanted: u8,
    },
    /// The header is for an interval of another length.
    Length {
        found: u32,
        /// Expected length.
        wanted: u32,
    },
    /// The block comes from another write, with another seed.
    Seed {
        found: u64,
        /// Expected seed.
        wanted: u64,
    },
    /// The block belongs to another offset.
    Offset {
        found: u64,
        /// Expected offset.
        wanted: u64,
    },
    /// The block comes from another write, older or newer.
    Sequence {
        found: u64,
        /// Expected number.
        wanted: u64,
    },
    HeaderCrc {
        stored: u32,
        /// Checksum computed over the header.
        computed: u32,
    },
    /// The block was written with another method of verification.
    Method {
        found: u8,
        /// Expected number.
        wanted: u8,
    },
    /// The data is damaged.
    Checksum {
        method: VerifyMethod,
        /// Checksum stored before the data.
        stored: Vec<u8>,
        /// Checksum computed over the data.
        computed: Vec<u8>,
    },
    /// A byte of the data differs from the pattern.
    Pattern {
        /// Position of the byte in the block.
        at: usize,
        /// Byte found.
        found: u8,
        /// Byte of the pattern.
        wanted: u8,
    },
    /// A byte that the checksum does not cover differs from the data that were written.
    Uncovered {
        /// Position of the byte in the block.
        at: usize,
        /// Byte found.
        found: u8,
        /// Expected byte.
        wanted: u8,
    },
    /// The interval is shorter than header and checksum.
    Cut,
    /// A byte of a trimmed block is not zero.
    NotZero {
        /// Position of the byte in the block.
        at: usize,
    },
}

impl Fault {
    /// True if the fault is about the header, so that nothing is known about the data.
    pub fn is_of_header(&self) -> bool {
        match self.kind {
            FaultKind::Magic { .. }
            | FaultKind::Version { .. }
            | FaultKind::Length { .. }
            | FaultKind::Seed { .. }
            | FaultKind::Offset { .. }
            | FaultKind::Sequence { .. }
            | FaultKind::HeaderCrc { .. } => true,
            FaultKind::Method { .. }
            | FaultKind::Checksum { .. }
            | FaultKind::Pattern { .. }
            | FaultKind::Uncovered { .. }
            | FaultKind::Cut
            | FaultKind::NotZero { .. } => false,
        }
    }
}

/// Apparent kind of damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Damage {
    /// All bytes are zero: the block was never written, or was lost or trimmed.
    Zeroed,
    /// A trimmed block still holds what was written.
    NotTrimmed,
    /// Some sectors of a trimmed block are not zero.
    TrimmedInPart {
        /// Number of sectors that are not zero.
        n_bad: usize,
        n_sectors: usize,
    },
    /// A whole block of an earlier write to this offset.
    Stale,
    /// A whole block that was written for another offset.
    Misdirected {
        /// The other offset, bytes from the start of the file.
        belongs_at: u64,
    },
    /// Some sectors are as written, others are not.
    Torn {
        /// Number of sectors that are not as written.
        n_bad: usize,
        n_sectors: usize,
    },
    /// Single bits differ.
    FlippedBits { n_bits: u32 },
    /// A block of another run, whose headers have this layout.
    OtherLayout(HeaderLayout),
    /// None of these.
    Other,
}
