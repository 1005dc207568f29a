//! Blocks that differ from what was written, in words.
//!
//! Must not know: when they are said. Start reading at [`text`].
//! Facts: reference "Failure messages".

use super::system;
use ferrio_stats::note::{BadBlock, BlockDump, Damage, FaultKind};
use std::fmt::Write as _;

/// The lines.
pub(super) fn text(block: &BadBlock, mark: &str) -> String {
    let mut text = faulty(block, mark);
    block.dumps.iter().for_each(|dump| text.push_str(&dumped(dump)));
    if let Some(damage) = block.damage {
        let _ = write!(text, "\n       {}", damaged(damage));
    }
    text
}

/// The lines of the fault, as fio prints them.
fn faulty(block: &BadBlock, mark: &str) -> String {
    let (file, fault) = (&block.file, &block.fault);
    let place = format!(
        "at file {file} offset {}, length {} (requested block: offset={}, length={}",
        fault.offset_bytes, fault.length_bytes, block.offset_bytes, block.length_bytes
    );
    let header = |what: &str| format!("verify: bad {what} {place})");
    match &fault.kind {
        FaultKind::Magic { found, wanted } => header(&format!("magic header {found:x}, wanted {wanted:x}")),
        FaultKind::Version { found, wanted } => {
            format!("verify: unsupported header version {found:x}, wanted {wanted:x} {place})")
        }
        FaultKind::Length { found, wanted } => header(&format!("header length {found}, wanted {wanted}")),
        FaultKind::Seed { found, wanted } => header(&format!("header rand_seed {found}, wanted {wanted}")),
        FaultKind::Offset { found, wanted } => header(&format!("header offset {found}, wanted {wanted}")),
        FaultKind::Sequence { found, wanted } => header(&format!("header numberio {found}, wanted {wanted}")),
        FaultKind::HeaderCrc { stored, computed } => header(&format!("header crc {stored:x}, calculated {computed:x}")),
        FaultKind::Method { found, wanted } => {
            format!("{mark}verify type mismatch ({found} media, {wanted} given)")
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
                "{mark}got pattern '{found:02x}', wanted '{wanted:02x}'. Bad bits {n_bits}\n\
                 {mark}bad pattern block offset {at}\npattern: verify failed {place}, flags=8)"
            )
        }
        FaultKind::Uncovered { at, found, wanted } => format!(
            "verify: bad data {place}, flags=8)\n       its checksum does not cover byte {at} of the block, which is \
             {found:02x}, wanted {wanted:02x}"
        ),
        FaultKind::Cut => format!("verify: block too short for its header {place})"),
        FaultKind::NotZero { at } => format!(
            "verify failed for zeroed data at file {file} offset {}, length {}, block offset {at}",
            fault.offset_bytes, fault.length_bytes
        ),
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

/// The line of a file that keeps a block, or not.
fn dumped(dump: &BlockDump) -> String {
    let BlockDump { kind, path, error } = dump;
    match error {
        None => format!("\n       {kind} data dumped as {path}"),
        Some(error) => format!("\n       {kind} data not dumped as {path}: {}", system::said(error)),
    }
}

/// The guess at the kind of damage.
fn damaged(damage: Damage) -> String {
    match damage {
        Damage::Zeroed => "the block is all zeroes: never written, lost, or trimmed".to_owned(),
        Damage::NotTrimmed => "not trimmed: the block is as it was written".to_owned(),
        Damage::TrimmedInPart { n_bad, n_sectors } => {
            format!("trimmed in part: {n_bad} of {n_sectors} sectors are not zeroes")
        }
        Damage::Stale => "stale: a whole block of another write to this place".to_owned(),
        Damage::Misdirected { belongs_at } => format!("misdirected: a block that belongs at offset {belongs_at}"),
        Damage::Torn { n_bad, n_sectors } => {
            format!("torn: {n_bad} of {n_sectors} sectors are not what was written")
        }
        Damage::FlippedBits { n_bits: 1 } => "1 bit is flipped".to_owned(),
        Damage::FlippedBits { n_bits } => format!("{n_bits} bits are flipped"),
        Damage::OtherLayout(layout) => {
            let version = layout.word();
            format!(
                "the header is that of fio {version}: another run wrote it; verify_header_layout={version} reads it"
            )
        }
        Damage::Other => "the data is none of this write".to_owned(),
    }
}
