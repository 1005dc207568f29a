//! What is wrong with a block, in fio's words, and what kind of damage it looks like.
//!
//! Must not know: how blocks are checked. Start reading at [`Fault::text`], then [`diagnose`].
//! Facts: reference "Failure messages".

use ferrio_spec::{HeaderLayout, VerifyMethod};
use std::fmt::Write as _;

/// Bytes of a sector: what devices write as a whole.
const SECTOR_BYTES: usize = 512;

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Place of the interval in its file, bytes.
    pub offset_bytes: u64,
    /// Its length, bytes.
    pub length_bytes: u64,
    /// What is wrong.
    pub kind: FaultKind,
}

/// What is wrong with an interval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultKind {
    /// No header stands there.
    Magic {
        /// What does.
        found: u16,
    },
    /// A header of another version.
    Version {
        /// Its version.
        found: u8,
    },
    /// A header of an interval of another length.
    Length {
        /// What the header says.
        found: u32,
        /// What it ought to say.
        wanted: u32,
    },
    /// The block is of another write: its data has another seed.
    Seed {
        /// What the header says.
        found: u64,
        /// What it ought to say.
        wanted: u64,
    },
    /// The block belongs elsewhere.
    Offset {
        /// What the header says.
        found: u64,
        /// What it ought to say.
        wanted: u64,
    },
    /// The block is of another write: older or newer.
    Sequence {
        /// What the header says.
        found: u64,
        /// What it ought to say.
        wanted: u64,
    },
    /// The header itself is damaged.
    HeaderCrc {
        /// The checksum in it.
        stored: u32,
        /// The checksum over it.
        computed: u32,
    },
    /// The block was written with another method.
    Method {
        /// What the header says.
        found: u8,
        /// What it ought to say.
        wanted: u8,
    },
    /// The data is damaged.
    Checksum {
        /// The method.
        method: VerifyMethod,
        /// The checksum before the data.
        stored: Vec<u8>,
        /// The checksum over the data.
        computed: Vec<u8>,
    },
    /// A byte of the data is not that of the pattern.
    Pattern {
        /// Place of the byte in the block.
        at: usize,
        /// The byte.
        found: u8,
        /// That of the pattern.
        wanted: u8,
    },
    /// A byte that the checksum does not cover is not that of the data that were written.
    Uncovered {
        /// Place of the byte in the block.
        at: usize,
        /// The byte.
        found: u8,
        /// That of the data.
        wanted: u8,
    },
    /// There are fewer bytes than header and checksum take.
    Cut,
    /// A byte of what was trimmed is not zero.
    NotZero {
        /// Place of the byte in the block.
        at: usize,
    },
}

/// The block that a fault lies in.
#[derive(Debug, Clone, Copy)]
pub struct Requested<'a> {
    /// Name of the file.
    pub file: &'a str,
    /// Place of the block, bytes.
    pub offset_bytes: u64,
    /// Its length, bytes.
    pub length_bytes: u64,
}

impl Fault {
    /// The header is not the one that ought to be there; of the data nothing is known.
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

/// What a damaged block looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// Nothing but zeroes: never written, lost or trimmed.
    Zeroed,
    /// What was trimmed is there as it was written.
    NotTrimmed,
    /// Of what was trimmed some sectors are not zeroes.
    TrimmedInPart {
        /// Sectors that are not.
        n_bad: usize,
        /// All sectors.
        n_sectors: usize,
    },
    /// A whole block of an earlier write to this place.
    Stale,
    /// A whole block that was written for another place.
    Misdirected {
        /// That place, bytes from the start of the file.
        belongs_at: u64,
    },
    /// Some sectors are those that were written, others are not.
    Torn {
        /// Sectors that are not.
        n_bad: usize,
        /// All sectors.
        n_sectors: usize,
    },
    /// Single bits differ.
    FlippedBits {
        /// How many.
        n_bits: u32,
    },
    /// A block of another run, with headers of this layout.
    OtherLayout(HeaderLayout),
    /// None of these.
    Other,
}

/// Guesses what happened to a block. `expected` is what it ought to be, where that is known; `own` what it would be by its own
/// header, where there is one.
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
        // Up to one bit in a thousand.
        _ if n_bits as usize <= (received.len() / 125).max(1) => Damage::FlippedBits { n_bits },
        _ if n_bad < n_sectors => Damage::Torn { n_bad, n_sectors },
        FaultKind::Seed { .. } | FaultKind::Sequence { .. } => Damage::Stale,
        _ => Damage::Other,
    })
}

/// The same for what was trimmed. `written`: the block before the trim.
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
