//! Zones of a namespace by its own commands: reports, resets, finishes.
//!
//! Must not know: why it is asked. Start reading at [`NvmeZones::of`].

use super::namespace::{Namespace, identify_zoned};
use super::{CommandPayload, CommandQueue, NvmeCommand, opcode, u32_at, u64_at};
use crate::devices::block_device::zones::{Zone, ZoneCondition, ZoneKind, ZonedDevice};
use crate::error::{Error, Result};
use rustix::fd::{AsFd, OwnedFd};

/// Length of the head of a report, and of each zone in it.
const HEAD_BYTES: usize = 64;
const ZONE_BYTES: usize = 64;

/// Zones asked for at once.
const ZONES_A_REPORT: usize = 1024;

/// Actions on a zone.
const FINISH: u32 = 2;
const RESET: u32 = 4;

/// Most bytes written at once.
const BYTES_AT_ONCE: u64 = 64 << 10;

/// An open namespace with zones.
#[derive(Debug)]
pub struct NvmeZones {
    device: OwnedFd,
    namespace: Namespace,
    zone_blocks: u64,
    max_open: u32,
    max_active: u32,
}

/// Blocks from one zone of a namespace to the next; `None`: it has no zones.
pub fn zone_blocks_of(device: impl AsFd, namespace: &Namespace) -> Option<u64> {
    let answer = identify_zoned(device, namespace.id).ok()?;
    Some(zone_blocks_in(&answer, namespace)).filter(|blocks| *blocks > 0)
}

/// The size of a zone is in the extension of the block's format.
fn zone_blocks_in(answer: &[u8; 4096], namespace: &Namespace) -> u64 {
    u64_at(answer, 2816 + 16 * namespace.format_index)
}

impl NvmeZones {
    /// The zones of an open namespace; `None`: it has none.
    pub fn of(device: OwnedFd) -> Result<Option<Self>> {
        let namespace = Namespace::of(&device).map_err(|(_, error)| error)?;
        let Ok(answer) = identify_zoned(&device, namespace.id) else { return Ok(None) };
        let zone_blocks = zone_blocks_in(&answer, &namespace);
        if zone_blocks == 0 {
            return Ok(None);
        }
        // The device counts from 0, and has no limit at all ones.
        let limit = |at| u32_at(&answer[..], at).wrapping_add(1);
        let (max_active, max_open) = (limit(4), limit(8));
        Ok(Some(Self { device, namespace, zone_blocks, max_open, max_active }))
    }

    /// Most zones that may be open; 0: no limit.
    pub fn max_open(&self) -> u32 {
        self.max_open
    }

    /// Most zones that may be partly written; 0: no limit.
    pub fn max_active(&self) -> u32 {
        self.max_active
    }

    fn block_bytes(&self) -> u64 {
        u64::from(self.namespace.unit_bytes())
    }

    fn report_from(&self, block: u64, n_zones: usize) -> Result<Vec<Zone>> {
        let mut answer = vec![0; HEAD_BYTES + n_zones * ZONE_BYTES];
        let mut command = self.command(opcode::ZONE_MANAGEMENT_RECEIVE, block);
        command.words_10[2] = (answer.len() / 4 - 1) as u32;
        // Only as many zones are counted as have room.
        command.words_10[3] = 1 << 16;
        super::wait_for(self.device.as_fd(), CommandQueue::Io, command, CommandPayload::Receive(&mut answer))?;
        decode(&answer, self.zone_blocks, self.block_bytes())
    }

    fn act(&self, action: u32, start_bytes: u64, length_bytes: u64) -> Result<()> {
        let first = start_bytes / self.block_bytes();
        let end = (start_bytes + length_bytes) / self.block_bytes();
        let mut block = first;
        while block < end {
            let mut command = self.command(opcode::ZONE_MANAGEMENT_SEND, block);
            command.words_10[3] = action;
            super::wait_for(self.device.as_fd(), CommandQueue::Io, command, CommandPayload::None)?;
            block += self.zone_blocks;
        }
        Ok(())
    }

    fn command(&self, opcode: u8, block: u64) -> NvmeCommand {
        let mut command = NvmeCommand::new(opcode, self.namespace.id);
        (command.words_10[0], command.words_10[1]) = (block as u32, (block >> 32) as u32);
        command
    }

    fn write_part(&self, start_bytes: u64, data: &[u8]) -> Result<()> {
        let n_blocks = data.len() as u64 / self.block_bytes();
        let mut command = self.command(opcode::WRITE, start_bytes / self.block_bytes());
        command.words_10[2] = (n_blocks.saturating_sub(1)) as u32;
        super::wait_for(self.device.as_fd(), CommandQueue::Io, command, CommandPayload::Send(data)).map(drop)
    }
}

impl ZonedDevice for NvmeZones {
    fn zone_bytes(&self) -> Result<u64> {
        Ok(self.zone_blocks * self.block_bytes())
    }

    fn report(&self) -> Result<Vec<Zone>> {
        let mut zones: Vec<Zone> = Vec::new();
        let mut block = 0;
        while block < self.namespace.n_blocks {
            let found = self.report_from(block, ZONES_A_REPORT)?;
            if found.is_empty() {
                break;
            }
            block += found.len() as u64 * self.zone_blocks;
            zones.extend(found);
        }
        Ok(zones)
    }

    fn reset(&self, start_bytes: u64, length_bytes: u64) -> Result<()> {
        self.act(RESET, start_bytes, length_bytes)
    }

    fn finish(&self, start_bytes: u64, length_bytes: u64) -> Result<()> {
        self.act(FINISH, start_bytes, length_bytes)
    }

    fn written_bytes(&self, start_bytes: u64) -> Result<u64> {
        let zones = self.report_from(start_bytes / self.block_bytes(), 1)?;
        let zone = zones.first().filter(|zone| zone.start_bytes == start_bytes);
        zone.map(|zone| zone.written_bytes).ok_or_else(|| malformed("it has another zone than the one asked for"))
    }

    fn write_zeroes(&self, start_bytes: u64, length_bytes: u64) -> Result<()> {
        let zeroes = vec![0; BYTES_AT_ONCE.min(length_bytes) as usize];
        let mut done_bytes = 0;
        while done_bytes < length_bytes {
            let part = BYTES_AT_ONCE.min(length_bytes - done_bytes);
            self.write_part(start_bytes + done_bytes, &zeroes[..part as usize])?;
            done_bytes += part;
        }
        Ok(())
    }

    fn write(&self, start_bytes: u64, data: &[u8]) -> Result<()> {
        let parts = data.chunks(BYTES_AT_ONCE as usize).enumerate();
        parts
            .into_iter()
            .try_for_each(|(index, part)| self.write_part(start_bytes + index as u64 * BYTES_AT_ONCE, part))
    }
}

/// The zones of a report, which is not trusted.
fn decode(report: &[u8], zone_blocks: u64, block_bytes: u64) -> Result<Vec<Zone>> {
    let n_zones = u64_at(report, 0);
    let zones = report[HEAD_BYTES..].chunks_exact(ZONE_BYTES);
    let n_room = zones.len() as u64;
    zones.take(n_zones.min(n_room) as usize).map(|zone| decode_zone(zone, zone_blocks, block_bytes)).collect()
}

fn decode_zone(zone: &[u8], zone_blocks: u64, block_bytes: u64) -> Result<Zone> {
    let in_bytes = |blocks: u64| blocks.checked_mul(block_bytes).ok_or_else(|| malformed("a zone ends past 2^64"));
    let (capacity_bytes, start_bytes) = (in_bytes(u64_at(zone, 8))?, in_bytes(u64_at(zone, 16))?);
    let length_bytes = in_bytes(zone_blocks)?;
    start_bytes.checked_add(length_bytes).ok_or_else(|| malformed("a zone ends past 2^64"))?;
    let capacity_bytes = capacity_bytes.min(length_bytes);
    let kind = match zone[0] & 0xF {
        2 => ZoneKind::SequentialRequired,
        _ => return Err(malformed("a zone is of an unknown kind")),
    };
    let condition = match zone[1] >> 4 {
        1 => ZoneCondition::Empty,
        2 => ZoneCondition::ImplicitlyOpen,
        3 => ZoneCondition::ExplicitlyOpen,
        4 => ZoneCondition::Closed,
        0xD => ZoneCondition::ReadOnly,
        0xE => ZoneCondition::Full,
        0xF => ZoneCondition::Offline,
        _ => return Err(malformed("a zone is in an unknown condition")),
    };
    let written_bytes = match condition {
        ZoneCondition::Empty | ZoneCondition::NoWritePointer => 0,
        ZoneCondition::Full => capacity_bytes,
        _ => {
            let pointer = u64_at(zone, 24).min(u64::MAX / block_bytes) * block_bytes;
            pointer.saturating_sub(start_bytes).min(capacity_bytes)
        }
    };
    Ok(Zone { start_bytes, length_bytes, capacity_bytes, written_bytes, kind, condition })
}

fn malformed(why: &str) -> Error {
    Error::Parse { what: "report of zones", text: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(kind: u8, state: u8, [capacity, start, pointer]: [u64; 3]) -> Vec<u8> {
        let mut bytes = vec![0; ZONE_BYTES];
        (bytes[0], bytes[1]) = (kind, state << 4);
        for (at, number) in [(8, capacity), (16, start), (24, pointer)] {
            bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    fn report(n_zones: u64, zones: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = vec![0; HEAD_BYTES];
        bytes[..8].copy_from_slice(&n_zones.to_le_bytes());
        bytes.extend(zones.iter().flatten());
        bytes
    }

    #[test]
    fn zones_are_decoded() {
        let zones =
            [zone(2, 1, [6, 0, 0]), zone(2, 2, [6, 8, 11]), zone(2, 0xE, [6, 16, u64::MAX]), zone(2, 4, [6, 24, 30])];
        let found = decode(&report(4, &zones), 8, 4096).unwrap();
        let written: Vec<u64> = found.iter().map(|zone| zone.written_bytes / 4096).collect();
        assert_eq!(written, [0, 3, 6, 6]);
        assert!(found.iter().all(|zone| (zone.capacity_bytes, zone.length_bytes) == (6 * 4096, 8 * 4096)));
        assert_eq!(found[1].condition, ZoneCondition::ImplicitlyOpen);
        // More zones than have room.
        assert_eq!(decode(&report(9, &zones), 8, 4096).unwrap().len(), 4);
    }

    #[test]
    fn a_report_that_cannot_be_is_an_error() {
        for bad in [zone(1, 1, [6, 0, 0]), zone(2, 9, [6, 0, 0]), zone(2, 1, [6, u64::MAX / 2, 0])] {
            assert!(decode(&report(1, &[bad]), 8, 4096).is_err());
        }
    }
}
