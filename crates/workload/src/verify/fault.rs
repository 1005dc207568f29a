//! A fault in a block: its text in fio's words, and a guess at the kind of damage.
//!
//! Must not know: how blocks are checked. Start reading at [`Fault::text`], then [`diagnose`].
//! Facts: reference "Failure messages".

use ferrio_spec::{HeaderLayout, VerifyMethod};
use std::fmt::Write as _;

/// Length of a sector: the unit that devices write as a whole.
const SECTOR_BYTES: usize = 512;

/// A fault and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Offset of the interval in its file, bytes.
    pub offset_bytes: u64,
    /// Length of the interval, bytes.
    pub length_bytes: u64,
    /// Kind of the fault.
    pub kind: FaultKind,
}

/// Kind of a fault in an interval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultKind {
    /// The interval does not begin with a header.
    Magic {
        /// The number found instead of the magic number.
        found: u16,
    },
    /// The header has another version.
    Version {
        /// Version in the header.
        found: u8,
    },
    /// The header is for an interval of another length.
    Length {
        /// Length in the header.
        found: u32,
        /// Expected length.
        wanted: u32,
    },
    /// The block comes from another write, with another seed.
    Seed {
        /// Seed in the header.
        found: u64,
        /// Expected seed.
        wanted: u64,
    },
    /// The block belongs to another offset.
    Offset {
        /// Offset in the header.
        found: u64,
        /// Expected offset.
        wanted: u64,
    },
    /// The block comes from another write, older or newer.
    Sequence {
        /// Number in the header.
        found: u64,
        /// Expected number.
        wanted: u64,
    },
    /// The header itself is damaged.
    HeaderCrc {
        /// Checksum stored in the header.
        stored: u32,
        /// Checksum computed over the header.
        computed: u32,
    },
    /// The block was written with another method of verification.
    Method {
        /// Number of the method in the header.
        found: u8,
        /// Expected number.
        wanted: u8,
    },
    /// The data is damaged.
    Checksum {
        /// Method of verification.
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

/// The block that contains a fault.
#[derive(Debug, Clone, Copy)]
pub struct Requested<'a> {
    /// Name of the file.
    pub file: &'a str,
    /// Offset of the block, bytes.
    pub offset_bytes: u64,
    /// Length of the block, bytes.
    pub length_bytes: u64,
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

    /// The lines that fio prints.
    pub fn text(&self, requested: &Requested<'_>) -> String {
        let place = format!(
            "at file {} offset {}, length {} (requested block: offset={}, length={}",
            requested.file, self.offset_bytes, self.length_bytes, requested.offset_bytes, requested.length_bytes
        );
        let header = |what: &str| format!("verify: bad {what} {place})");
        match &self.kind {
            FaultKind::Magic { found } => header(&format!("magic header {found:x}, wanted {:x}", super::header::MAGIC)),
            FaultKind::Version { found } => {
                format!("verify: unsupported header version {found:x}, wanted {:x} {place})", super::header::VERSION)
            }
            FaultKind::Length { found, wanted } => header(&format!("header length {found}, wanted {wanted}")),
            FaultKind::Seed { found, wanted } => header(&format!("header rand_seed {found}, wanted {wanted}")),
            FaultKind::Offset { found, wanted } => header(&format!("header offset {found}, wanted {wanted}")),
            FaultKind::Sequence { found, wanted } => header(&format!("header numberio {found}, wanted {wanted}")),
            FaultKind::HeaderCrc { stored, computed } => {
                header(&format!("header crc {stored:x}, calculated {computed:x}"))
            }
            FaultKind::Method { found, wanted } => {
                format!("fio: verify type mismatch ({found} media, {wanted} given)")
            }
            FaultKind::Checksum { method, stored, computed } => {
                let name = &method.def().name;
                let short = &name[..name.len().min(8)];
                format!(
                    "{short}: verify failed {place}, flags=8)\n       Expected CRC: {}\n       Received CRC: {}",
                    hex(stored),
                    hex(computed)
                )
            }
            FaultKind::Pattern { at, found, wanted } => {
                let n_bits = (found ^ wanted).count_ones();
                format!(
                    "fio: got pattern '{found:02x}', wanted '{wanted:02x}'. Bad bits {n_bits}\n\
                     fio: bad pattern block offset {at}\npattern: verify failed {place}, flags=8)"
                )
            }
            FaultKind::Uncovered { at, found, wanted } => format!(
                "verify: bad data {place}, flags=8)\n       its checksum does not cover byte {at} of the block, which is \
                 {found:02x}, wanted {wanted:02x}"
            ),
            FaultKind::Cut => format!("verify: block too short for its header {place})"),
            FaultKind::NotZero { at } => format!(
                "verify failed for zeroed data at file {} offset {}, length {}, block offset {at}",
                requested.file, self.offset_bytes, self.length_bytes
            ),
        }
    }
}

/// Checksums are shown byte by byte, as they are stored.
fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Apparent kind of damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// All bytes are zero: the block was never written, or was lost or trimmed.
    Zeroed,
    /// A trimmed block still holds what was written.
    NotTrimmed,
    /// Some sectors of a trimmed block are not zero.
    TrimmedInPart {
        /// Number of sectors that are not zero.
        n_bad: usize,
        /// Number of all sectors.
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
        /// Number of all sectors.
        n_sectors: usize,
    },
    /// Single bits differ.
    FlippedBits {
        /// Number of bits that differ.
        n_bits: u32,
    },
    /// A block of another run, whose headers have this layout.
    OtherLayout(HeaderLayout),
    /// None of these.
    Other,
}

/// Guesses what happened to a block. `expected`: the block as it should be, if that is known; `own`: the block as its
/// own header describes it, if it has one.
pub fn diagnose(fault: &Fault, received: &[u8], expected: Option<&[u8]>, own: Option<&[u8]>) -> Option<Damage> {
    if let FaultKind::NotZero { .. } = fault.kind {
        return Some(diagnose_trim(received, expected));
    }
    if received.iter().all(|byte| *byte == 0) {
        return Some(Damage::Zeroed);
    }
    if let FaultKind::Offset { found, .. } = fault.kind {
        return Some(Damage::Misdirected { belongs_at: found });
    }
    if matches!(fault.kind, FaultKind::Seed { .. } | FaultKind::Sequence { .. }) && own == Some(received) {
        return Some(Damage::Stale);
    }
    let expected = expected?;
    let n_bits: u32 = received.iter().zip(expected).map(|(found, wanted)| (found ^ wanted).count_ones()).sum();
    let sectors = received.chunks(SECTOR_BYTES).zip(expected.chunks(SECTOR_BYTES));
    let n_bad = sectors.filter(|(found, wanted)| found != wanted).count();
    let n_sectors = received.len().div_ceil(SECTOR_BYTES);
    Some(match fault.kind {
        // Up to one bit in a thousand counts as flipped bits.
        _ if n_bits as usize <= (received.len() / 125).max(1) => Damage::FlippedBits { n_bits },
        _ if n_bad < n_sectors => Damage::Torn { n_bad, n_sectors },
        FaultKind::Seed { .. } | FaultKind::Sequence { .. } => Damage::Stale,
        _ => Damage::Other,
    })
}

/// The same for a trimmed block. `written`: the block before the trim.
fn diagnose_trim(received: &[u8], written: Option<&[u8]>) -> Damage {
    if written.is_some_and(|written| written == received) {
        return Damage::NotTrimmed;
    }
    let n_bad = received.chunks(SECTOR_BYTES).filter(|sector| sector.iter().any(|byte| *byte != 0)).count();
    Damage::TrimmedInPart { n_bad, n_sectors: received.len().div_ceil(SECTOR_BYTES) }
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Zeroed => f.write_str("the block is all zeroes: never written, lost, or trimmed"),
            Self::NotTrimmed => f.write_str("not trimmed: the block is as it was written"),
            Self::TrimmedInPart { n_bad, n_sectors } => {
                write!(f, "trimmed in part: {n_bad} of {n_sectors} sectors are not zeroes")
            }
            Self::Stale => f.write_str("stale: a whole block of another write to this place"),
            Self::Misdirected { belongs_at } => write!(f, "misdirected: a block that belongs at offset {belongs_at}"),
            Self::Torn { n_bad, n_sectors } => {
                write!(f, "torn: {n_bad} of {n_sectors} sectors are not what was written")
            }
            Self::FlippedBits { n_bits: 1 } => f.write_str("1 bit is flipped"),
            Self::FlippedBits { n_bits } => write!(f, "{n_bits} bits are flipped"),
            Self::OtherLayout(layout) => {
                let version = layout.word();
                write!(
                    f,
                    "the header is that of fio {version}: another run wrote it; verify_header_layout={version} reads it"
                )
            }
            Self::Other => f.write_str("the data is none of this write"),
        }
    }
}
