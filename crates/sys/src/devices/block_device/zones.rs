//! Zoned block devices: their zones, as the kernel reports them, and resetting one.
//!
//! Must not know: why it is asked. Start reading at [`ZonedDevice`]; the layout of a report is that of `linux/blkzoned.h`.
#![expect(unsafe_code, reason = "ioctl with the kernel's own opcodes")]

use super::{BlockDevice, GROUP};
use crate::error::{Context, Error, Result};
use crate::files::file_io;
use crate::memory::arena::{Arena, ArenaKind, ArenaRequest};
use rustix::fd::{AsFd, OwnedFd};
use rustix::ioctl::{Getter, Opcode, Setter, Updater, ioctl, opcode};

const BLKREPORTZONE: Opcode = opcode::read_write::<[u8; HEADER_BYTES]>(GROUP, 130);
const BLKRESETZONE: Opcode = opcode::write::<ZoneRange>(GROUP, 131);
const BLKGETZONESZ: Opcode = opcode::read::<u32>(GROUP, 132);
const BLKFINISHZONE: Opcode = opcode::write::<ZoneRange>(GROUP, 136);

/// The kernel counts in sectors.
const SECTOR_BYTES: u64 = 512;

/// First sector (u64), number of zones (u32), flags (u32).
const HEADER_BYTES: usize = 16;

const ZONE_BYTES: usize = 64;

/// Most zeroes written at once.
const BYTES_AT_ONCE: usize = 128 << 10;

/// Zones asked for at once.
const ZONES_A_REPORT: usize = 128;

/// The capacity of zones is filled in (a flag of the kernel's answer).
const HAS_CAPACITY: u32 = 1;

/// The way in which a zone is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZoneKind {
    /// Anywhere.
    Conventional,
    /// Only at its write pointer.
    SequentialRequired,
    /// At its write pointer if it is to be fast, elsewhere at a cost.
    SequentialPreferred,
}

/// State of a zone, as reported by the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZoneCondition {
    NoWritePointer,
    Empty,
    /// Being written.
    ImplicitlyOpen,
    ExplicitlyOpen,
    /// Written in part, and not open.
    Closed,
    Full,
    /// The zone cannot be written any longer.
    ReadOnly,
    /// The zone cannot be used any longer.
    Offline,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zone {
    /// First byte.
    pub start_bytes: u64,
    /// Bytes to the next zone.
    pub length_bytes: u64,
    /// Bytes from its start that can be used.
    pub capacity_bytes: u64,
    /// Bytes written from its start; 0 without a write pointer.
    pub written_bytes: u64,
    /// The way in which it is written.
    pub kind: ZoneKind,
    pub condition: ZoneCondition,
}

/// Strictness of sequential writes to zones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZoneModel {
    /// The host: other writes fail.
    HostManaged,
    /// Sequential writes are only faster.
    HostAware,
}

impl ZoneModel {
    /// By sysfs (`queue/zoned`). `None`: the device has no zones.
    pub fn of(device: &BlockDevice) -> Option<Self> {
        match device.queue_attribute("zoned").as_deref() {
            Some("host-managed") => Some(Self::HostManaged),
            Some("host-aware") => Some(Self::HostAware),
            _ => None,
        }
    }
}

/// Argument of the calls that change zones, in sectors.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct ZoneRange {
    sector: u64,
    n_sectors: u64,
}

pub trait ZonedDevice: std::fmt::Debug + Send + Sync {
    /// Bytes from one zone to the next.
    fn zone_bytes(&self) -> Result<u64>;

    /// All zones, in order.
    fn report(&self) -> Result<Vec<Zone>>;

    /// Resets the zones in a range.
    fn reset(&self, start_bytes: u64, length_bytes: u64) -> Result<()>;

    /// Finishes the zones in a range, so that they count as written to their ends.
    fn finish(&self, start_bytes: u64, length_bytes: u64) -> Result<()>;

    fn written_bytes(&self, start_bytes: u64) -> Result<u64>;

    /// Writes zeroes past the page cache.
    fn write_zeroes(&self, start_bytes: u64, length_bytes: u64) -> Result<()>;

    /// Writes data; its place and length are whole blocks of the device.
    fn write(&self, start_bytes: u64, data: &[u8]) -> Result<()>;
}

/// An open device; past the page cache (`O_DIRECT`) if zeroes are to be written.
#[derive(Debug)]
pub struct OpenZonedDevice(pub OwnedFd);

impl OpenZonedDevice {
    fn report_from(&self, sector: u64) -> Result<Vec<Zone>> {
        let mut buffer = request(sector);
        // The kernel knows the length of the buffer by the number of zones in its header.
        // SAFETY: the opcode reads and writes the header and as many zones as the header asks for: exactly the buffer.
        unsafe { ioctl(self.0.as_fd(), Updater::<BLKREPORTZONE, ReportBuffer>::new(&mut buffer)) }
            .context("ioctl", "BLKREPORTZONE")?;
        decode(&buffer.0)
    }

    /// Writes in pieces from an aligned buffer of zeroes; `fill` puts the data at a place of the whole into it.
    fn write_from(&self, start_bytes: u64, length_bytes: u64, mut fill: impl FnMut(usize, &mut [u8])) -> Result<()> {
        let size_bytes = BYTES_AT_ONCE.min(usize::try_from(length_bytes).unwrap_or(usize::MAX));
        let request = ArenaRequest { kind: ArenaKind::Malloc, size_bytes, offset_bytes: 0, hugepage_bytes: 0 };
        let mut buffer = Arena::new(&request)?;
        let mut done_bytes = 0;
        while done_bytes < length_bytes {
            let wanted = size_bytes.min(usize::try_from(length_bytes - done_bytes).unwrap_or(usize::MAX));
            fill(done_bytes as usize, buffer.slice_mut(0, wanted));
            let written = file_io::pwrite(&self.0, buffer.slice(0, wanted), start_bytes + done_bytes);
            match written.context("pwrite", "zone")? {
                0 => return Err(malformed("its zone takes no data")),
                n_bytes => done_bytes += n_bytes as u64,
            }
        }
        Ok(())
    }
}

impl ZonedDevice for OpenZonedDevice {
    fn zone_bytes(&self) -> Result<u64> {
        // SAFETY: this opcode writes one u32.
        let n_sectors = unsafe { ioctl(self.0.as_fd(), Getter::<BLKGETZONESZ, u32>::new()) };
        Ok(u64::from(n_sectors.context("ioctl", "BLKGETZONESZ")?) * SECTOR_BYTES)
    }

    fn report(&self) -> Result<Vec<Zone>> {
        let mut zones: Vec<Zone> = Vec::new();
        let mut next_sector = 0;
        loop {
            let found = self.report_from(next_sector)?;
            let Some(last) = found.last() else { return Ok(zones) };
            let end_bytes = last.start_bytes.saturating_add(last.length_bytes.max(SECTOR_BYTES));
            if end_bytes / SECTOR_BYTES <= next_sector {
                return Err(malformed("zones do not follow each other"));
            }
            next_sector = end_bytes / SECTOR_BYTES;
            zones.extend(found);
        }
    }

    fn reset(&self, start_bytes: u64, length_bytes: u64) -> Result<()> {
        // SAFETY: this opcode reads one range.
        unsafe { ioctl(self.0.as_fd(), Setter::<BLKRESETZONE, _>::new(range(start_bytes, length_bytes))) }
            .context("ioctl", "BLKRESETZONE")
    }

    fn finish(&self, start_bytes: u64, length_bytes: u64) -> Result<()> {
        // SAFETY: this opcode reads one range.
        unsafe { ioctl(self.0.as_fd(), Setter::<BLKFINISHZONE, _>::new(range(start_bytes, length_bytes))) }
            .context("ioctl", "BLKFINISHZONE")
    }

    fn written_bytes(&self, start_bytes: u64) -> Result<u64> {
        let zones = self.report_from(start_bytes / SECTOR_BYTES)?;
        let zone = zones.first().filter(|zone| zone.start_bytes == start_bytes);
        zone.map(|zone| zone.written_bytes).ok_or_else(|| malformed("it has another zone than the one asked for"))
    }

    fn write_zeroes(&self, start_bytes: u64, length_bytes: u64) -> Result<()> {
        self.write_from(start_bytes, length_bytes, |_, _| ())
    }

    fn write(&self, start_bytes: u64, data: &[u8]) -> Result<()> {
        self.write_from(start_bytes, data.len() as u64, |at, buffer| {
            buffer.copy_from_slice(&data[at..at + buffer.len()]);
        })
    }
}

fn range(start_bytes: u64, length_bytes: u64) -> ZoneRange {
    ZoneRange { sector: start_bytes / SECTOR_BYTES, n_sectors: length_bytes / SECTOR_BYTES }
}

/// Room for a report, aligned for the kernel's numbers.
#[repr(C, align(8))]
struct ReportBuffer([u8; HEADER_BYTES + ZONES_A_REPORT * ZONE_BYTES]);

fn request(sector: u64) -> Box<ReportBuffer> {
    let mut buffer = Box::new(ReportBuffer([0; HEADER_BYTES + ZONES_A_REPORT * ZONE_BYTES]));
    buffer.0[..8].copy_from_slice(&sector.to_ne_bytes());
    buffer.0[8..12].copy_from_slice(&(ZONES_A_REPORT as u32).to_ne_bytes());
    buffer
}

/// The zones of a report, which is not trusted.
fn decode(report: &[u8]) -> Result<Vec<Zone>> {
    let short = || malformed("it is too short");
    let header = report.get(..HEADER_BYTES).ok_or_else(short)?;
    let (n_zones, flags) = (u32_at(header, 8) as usize, u32_at(header, 12));
    let length = n_zones.checked_mul(ZONE_BYTES).ok_or_else(short)?;
    let zones = report[HEADER_BYTES..].get(..length).ok_or_else(short)?;
    zones.chunks_exact(ZONE_BYTES).map(|zone| decode_zone(zone, flags & HAS_CAPACITY != 0)).collect()
}

fn decode_zone(zone: &[u8], has_capacity: bool) -> Result<Zone> {
    let in_bytes = |at| u64_at(zone, at).checked_mul(SECTOR_BYTES).ok_or_else(|| malformed("a zone ends past 2^64"));
    let (start_bytes, length_bytes) = (in_bytes(0)?, in_bytes(8)?);
    start_bytes.checked_add(length_bytes).ok_or_else(|| malformed("a zone ends past 2^64"))?;
    let capacity_bytes = if has_capacity { in_bytes(32)?.min(length_bytes) } else { length_bytes };
    let kind = match zone[24] {
        1 => ZoneKind::Conventional,
        2 => ZoneKind::SequentialRequired,
        3 => ZoneKind::SequentialPreferred,
        _ => return Err(malformed("a zone is of an unknown kind")),
    };
    let condition = match zone[25] {
        0 => ZoneCondition::NoWritePointer,
        1 => ZoneCondition::Empty,
        2 => ZoneCondition::ImplicitlyOpen,
        3 => ZoneCondition::ExplicitlyOpen,
        4 => ZoneCondition::Closed,
        0xD => ZoneCondition::ReadOnly,
        0xE => ZoneCondition::Full,
        0xF => ZoneCondition::Offline,
        _ => return Err(malformed("a zone is in an unknown condition")),
    };
    // Only zones that are written in part have a pointer: in a full zone it may be anywhere, in others there may be any number.
    let written_bytes = match condition {
        _ if kind == ZoneKind::Conventional => 0,
        ZoneCondition::NoWritePointer | ZoneCondition::Empty => 0,
        ZoneCondition::Full => capacity_bytes,
        ZoneCondition::ImplicitlyOpen
        | ZoneCondition::ExplicitlyOpen
        | ZoneCondition::Closed
        | ZoneCondition::ReadOnly
        | ZoneCondition::Offline => {
            let pointer_sector = u64_at(zone, 16).min(u64::MAX / SECTOR_BYTES);
            (pointer_sector * SECTOR_BYTES).saturating_sub(start_bytes).min(capacity_bytes)
        }
    };
    Ok(Zone { start_bytes, length_bytes, capacity_bytes, written_bytes, kind, condition })
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |word| u32::from_ne_bytes(*word))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |word| u64::from_ne_bytes(*word))
}

fn malformed(why: &str) -> Error {
    Error::Parse { what: "report of zones", text: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Start, length, write pointer, capacity in sectors; type and condition by their numbers in `linux/blkzoned.h`.
    type Row = ([u64; 4], u8, u8);

    fn report(flags: u32, n_zones: u32, rows: &[Row]) -> Vec<u8> {
        let mut bytes = 0_u64.to_ne_bytes().to_vec();
        bytes.extend(n_zones.to_ne_bytes());
        bytes.extend(flags.to_ne_bytes());
        for ([start, length, pointer, capacity], kind, condition) in rows {
            for number in [start, length, pointer] {
                bytes.extend(number.to_ne_bytes());
            }
            // Non-sequential and reset advice, and four bytes that are reserved.
            bytes.extend([*kind, *condition, 0, 0, 0, 0, 0, 0]);
            bytes.extend(capacity.to_ne_bytes());
            bytes.extend([0; 24]);
        }
        bytes
    }

    #[test]
    fn zones_are_decoded() {
        let rows =
            [([0, 8, u64::MAX, 0], 1, 0), ([8, 8, 11, 6], 2, 2), ([16, 8, 24, 6], 2, 0xE), ([24, 8, 24, 6], 3, 1)];
        let zones = decode(&report(HAS_CAPACITY, 4, &rows)).unwrap();
        let written: Vec<_> = zones.iter().map(|zone| (zone.written_bytes, zone.capacity_bytes)).collect();
        assert_eq!(written[1..], [(3 * 512, 6 * 512), (6 * 512, 6 * 512), (0, 6 * 512)]);
        assert_eq!((zones[2].start_bytes, zones[2].length_bytes), (16 * 512, 8 * 512));
        // scsi reports zones without a pointer in this way.
        assert_eq!((zones[0].kind, zones[0].written_bytes), (ZoneKind::Conventional, 0));
        assert_eq!((zones[1].kind, zones[1].condition), (ZoneKind::SequentialRequired, ZoneCondition::ImplicitlyOpen));
        assert_eq!((zones[3].kind, zones[3].condition), (ZoneKind::SequentialPreferred, ZoneCondition::Empty));
        // Without the flag the field is not filled in.
        let zones = decode(&report(0, 4, &rows)).unwrap();
        assert_eq!((zones[2].capacity_bytes, zones[2].written_bytes), (4096, 4096));
    }

    #[test]
    fn a_report_that_cannot_be_is_an_error() {
        let good = ([0, 8, 0, 8], 2, 1);
        assert!(decode(&report(1, 1, &[good])).is_ok());
        assert!(decode(&report(1, 2, &[good])).is_err());
        assert!(decode(&report(1, u32::MAX, &[good])).is_err());
        assert!(decode(&[0; 15]).is_err());
        for row in [([0, 8, 0, 8], 0, 1), ([0, 8, 0, 8], 2, 9), ([u64::MAX >> 9, 2, 0, 8], 2, 1)] {
            assert!(decode(&report(1, 1, &[row])).is_err(), "{row:?}");
        }
    }

    #[test]
    fn the_opcodes_are_those_of_the_kernel() {
        assert_eq!((BLKREPORTZONE, BLKRESETZONE), (0xC010_1282, 0x4010_1283));
        assert_eq!((BLKGETZONESZ, BLKFINISHZONE), (0x8004_1284, 0x4010_1288));
    }

    #[test]
    fn what_is_no_zoned_device_says_so() {
        let null = OpenZonedDevice(std::fs::File::open("/dev/null").unwrap().into());
        assert!(null.zone_bytes().is_err() && null.report().is_err());
        assert!(null.reset(0, 4096).is_err() && null.finish(0, 4096).is_err());
    }
}
