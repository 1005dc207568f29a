//! Places one I/O in the zones, under their lock: where it begins, and where a read or a trim goes.
//!
//! Must not know: how a write finds its zone (`writes`). Start reading at [`Placing::place`].

use super::{FileZones, Rules, whole};
use crate::zone_table::Awaited;
use crate::zone_table::ZonesView;
use crate::zoning::{DrawnIo, ZoneWait, ZoningFailureKind};
use ferrio_spec::ZoneSkip;
use ferrio_units::DataDirection;

/// Why an I/O is not placed now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Halt {
    /// The file has no place for it.
    Nowhere,
    /// Something else has to happen first.
    Wait(ZoneWait),
    /// The job cannot go on because of a zone.
    Failed(ZoningFailureKind, usize),
}

/// One I/O that is being placed.
pub(super) struct Placing<'a> {
    pub(super) rules: &'a Rules,
    pub(super) file: &'a mut FileZones,
    pub(super) zones: &'a ZonesView<'a>,
    /// I/Os of the job may be in flight.
    pub(super) may_be_in_flight: bool,
    /// The job may still wait for a place among the open zones.
    pub(super) is_patient: bool,
    /// Number of zones that were reset for the I/O.
    pub(super) n_resets: u64,
    pub(super) has_closed: bool,
}

impl Placing<'_> {
    /// A sequential I/O skips what the options leave out; a write skips the part behind the capacity of a zone.
    pub(super) fn begin(&self, direction: DataDirection, offset_bytes: u64) -> Result<u64, Halt> {
        let offset_bytes = self.skipped(direction, offset_bytes);
        let zone = self.zone_of(offset_bytes)?;
        let is_behind = self.is_sequential(zone) && offset_bytes >= self.start(zone) + self.capacity(zone);
        let begin_bytes =
            if is_behind && direction == DataDirection::Write { self.start(zone + 1) } else { offset_bytes };
        if begin_bytes < self.file.end_bytes { Ok(begin_bytes) } else { Err(Halt::Nowhere) }
    }

    pub(super) fn place(&mut self, drawn: DrawnIo) -> Result<DrawnIo, Halt> {
        let zone = self.zone_of(drawn.offset_bytes)?;
        let reads_anywhere = drawn.direction == DataDirection::Read && self.rules.spec.reads_beyond_written;
        if reads_anywhere || !self.is_sequential(zone) {
            let length_bytes = drawn.length_bytes.min(drawn.at_most_bytes);
            let is_read = drawn.direction == DataDirection::Read;
            let end_bytes = if is_read { self.file.block_end_bytes } else { self.file.end_bytes };
            if drawn.offset_bytes.saturating_add(length_bytes) > end_bytes {
                return Err(Halt::Nowhere);
            }
            let here = DrawnIo { length_bytes, ..drawn };
            let border = if reads_anywhere { None } else { self.border_in(zone, here) };
            return border.map_or(Ok(here), |border| self.place_at_border(zone, here, border));
        }
        match drawn.direction {
            DataDirection::Read => {
                let read =
                    if self.rules.random { self.random_read(zone, drawn)? } else { self.sequential_read(zone, drawn)? };
                let read = DrawnIo { length_bytes: read.length_bytes.min(read.at_most_bytes), ..read };
                self.wait_for_writes_of(read)?;
                Ok(read)
            }
            DataDirection::Write => self.write(zone, drawn),
            DataDirection::Trim => self.trim(zone, drawn),
        }
    }

    /// The first zone after `zone`, which can be written anywhere, that is written in sequence and that the I/O reaches.
    fn border_in(&self, zone: usize, io: DrawnIo) -> Option<usize> {
        let end_bytes = io.offset_bytes + io.length_bytes;
        let after = zone + 1..self.zones.table().layout().n_zones;
        after.take_while(|zone| self.start(*zone) < end_bytes).find(|zone| self.is_sequential(*zone))
    }

    /// The place of an I/O that was drawn across the start of the zone `border`: a device refuses reads and writes across
    /// it, as the part behind it would not be at the write pointer. The I/O ends there, if a block fits before it. Otherwise
    /// a write goes to the zone that it reaches, and a read begins earlier.
    fn place_at_border(&mut self, zone: usize, drawn: DrawnIo, border: usize) -> Result<DrawnIo, Halt> {
        let min_bytes = self.rules.min_bytes[drawn.direction];
        let border_bytes = self.start(border);
        let length_bytes = whole(border_bytes - drawn.offset_bytes, min_bytes);
        if length_bytes > 0 {
            return Ok(DrawnIo { length_bytes, ..drawn });
        }
        if drawn.direction == DataDirection::Write {
            return self.write(border, DrawnIo { offset_bytes: border_bytes, ..drawn });
        }
        let first_bytes = self.start(zone).max(self.file.start_bytes);
        let offset_bytes = border_bytes.checked_sub(min_bytes).filter(|offset_bytes| *offset_bytes >= first_bytes);
        let offset_bytes = offset_bytes.ok_or(Halt::Nowhere)?;
        Ok(DrawnIo { offset_bytes, length_bytes: min_bytes, ..drawn })
    }

    /// Chooses what to wait for. A job waits for its own I/Os first, so that no job waits for another that waits
    /// itself.
    pub(super) fn wait(&self, what: Awaited) -> Halt {
        Halt::Wait(if self.may_be_in_flight { ZoneWait::Own } else { ZoneWait::Others(what) })
    }

    /// Succeeds if no other job has writes in flight to a zone.
    pub(super) fn claim(&self, zone: usize) -> Result<(), Halt> {
        match self.zones.holder(zone) {
            Some((owner, _)) if owner != self.rules.worker => Err(self.wait(Awaited::Zone)),
            _ => Ok(()),
        }
    }

    /// Succeeds if no job has writes in flight to a zone and this job has nothing in flight at all, because it may be
    /// reading there.
    pub(super) fn quiet(&self, zone: usize) -> Result<(), Halt> {
        self.claim(zone)?;
        if self.may_be_in_flight { Err(Halt::Wait(ZoneWait::Own)) } else { Ok(()) }
    }

    pub(super) fn zone_of(&self, offset_bytes: u64) -> Result<usize, Halt> {
        self.zones.table().layout().zone_of(offset_bytes).ok_or(Halt::Nowhere)
    }

    pub(super) fn start(&self, zone: usize) -> u64 {
        zone as u64 * self.zones.table().layout().zone_bytes
    }

    pub(super) fn capacity(&self, zone: usize) -> u64 {
        self.zones.table().layout().shape(zone).capacity_bytes
    }

    pub(super) fn is_sequential(&self, zone: usize) -> bool {
        self.zones.table().layout().shape(zone).is_sequential
    }

    /// Sequential jobs may leave out a part of the file after each zone that is finished.
    fn skipped(&self, direction: DataDirection, offset_bytes: u64) -> u64 {
        let zone_bytes = self.zones.table().layout().zone_bytes;
        let skip_bytes = match self.rules.spec.skip {
            ZoneSkip::Bytes(bytes) => bytes,
            ZoneSkip::Zones(n_zones) => n_zones.saturating_mul(zone_bytes),
        };
        if skip_bytes == 0 || self.file.last_end_bytes[direction] != Some(offset_bytes) {
            return offset_bytes;
        }
        let Ok(zone) = self.zone_of(offset_bytes.saturating_sub(1)) else { return offset_bytes };
        let reads_written = direction == DataDirection::Read && !self.rules.spec.reads_beyond_written;
        let held_bytes = if reads_written { self.readable_bytes(zone) } else { self.capacity(zone) };
        if offset_bytes < self.start(zone) + held_bytes {
            return offset_bytes;
        }
        let next_bytes = self.start(zone).saturating_add(zone_bytes).saturating_add(skip_bytes);
        if next_bytes < self.file.end_bytes { next_bytes } else { self.file.start_bytes }
    }

    /// Number of bytes of a zone that the job can read; where others are writing, only those that are stored.
    fn readable_bytes(&self, zone: usize) -> u64 {
        if self.claim(zone).is_ok() { self.zones.written(zone) } else { self.zones.settled(zone) }
    }

    /// Start and end of the bytes of a zone that the job can read.
    fn readable(&self, zone: usize) -> (u64, u64) {
        let start = self.start(zone);
        let (first, end) = (start.max(self.file.start_bytes), start + self.readable_bytes(zone));
        (first, end.min(self.file.end_bytes))
    }

    fn holds_a_block(&self, zone: usize) -> bool {
        let (first, end) = self.readable(zone);
        end.saturating_sub(first) >= self.rules.min_bytes[DataDirection::Read]
    }

    /// Waits until the job's own writes to the range of a read are done.
    fn wait_for_writes_of(&self, read: DrawnIo) -> Result<(), Halt> {
        let Ok(zone) = self.zone_of(read.offset_bytes) else { return Ok(()) };
        let end_bytes = read.offset_bytes + read.length_bytes;
        let is_there = end_bytes <= self.start(zone) + self.zones.settled(zone) || self.zones.holder(zone).is_none();
        if is_there || !self.is_sequential(zone) { Ok(()) } else { Err(self.wait(Awaited::Zone)) }
    }

    /// The nearest zone that holds a block, and the drawn offset within it, as far as the zone is written.
    fn random_read(&self, zone: usize, drawn: DrawnIo) -> Result<DrawnIo, Halt> {
        let min_bytes = self.rules.min_bytes[DataDirection::Read];
        let found = self.nearest(zone, |zone| self.is_sequential(zone) && self.holds_a_block(zone))?;
        let (first, end) = self.readable(found);
        let length_bytes = drawn.length_bytes.min(whole(end - first, min_bytes));
        let n_places = end - first - length_bytes;
        let within = drawn.offset_bytes - self.start(zone).max(self.file.start_bytes);
        let within = within.checked_rem(n_places).unwrap_or(0);
        Ok(DrawnIo { offset_bytes: first + whole(within, min_bytes), length_bytes, ..drawn })
    }

    /// The drawn offset if it is written, otherwise the start of the next zone that holds a block.
    fn sequential_read(&self, zone: usize, drawn: DrawnIo) -> Result<DrawnIo, Halt> {
        let min_bytes = self.rules.min_bytes[DataDirection::Read];
        let (first, end) = self.readable(zone);
        let left_bytes = end.saturating_sub(drawn.offset_bytes);
        if left_bytes >= min_bytes && drawn.length_bytes >= end - first {
            // A read as long as all written data begins at the start.
            return Ok(DrawnIo { offset_bytes: first, length_bytes: whole(end - first, min_bytes), ..drawn });
        }
        if left_bytes >= min_bytes {
            return Ok(DrawnIo { length_bytes: drawn.length_bytes.min(whole(left_bytes, min_bytes)), ..drawn });
        }
        let mut after = zone + 1..self.file.end;
        let next = after.find(|zone| !self.is_sequential(*zone) || self.holds_a_block(*zone)).ok_or(Halt::Nowhere)?;
        if !self.is_sequential(next) {
            let start = self.start(next);
            let length_bytes = drawn.length_bytes.min(self.file.block_end_bytes.saturating_sub(start));
            return Ok(DrawnIo { offset_bytes: start, length_bytes, ..drawn });
        }
        let (first, end) = self.readable(next);
        let length_bytes = drawn.length_bytes.min(whole(end.saturating_sub(first), min_bytes)).max(min_bytes);
        Ok(DrawnIo { offset_bytes: first, length_bytes, ..drawn })
    }

    /// The zone itself or the nearest on both sides; if two are equally near, the one after it.
    fn nearest(&self, zone: usize, is_wanted: impl Fn(usize) -> bool) -> Result<usize, Halt> {
        let FileZones { first, end, .. } = *self.file;
        if is_wanted(zone) {
            return Ok(zone);
        }
        for distance in 1..end.saturating_sub(first) {
            let after = zone.checked_add(distance).filter(|zone| *zone < end);
            let before = zone.checked_sub(distance).filter(|zone| *zone >= first);
            if let Some(found) = [after, before].into_iter().flatten().find(|zone| is_wanted(*zone)) {
                return Ok(found);
            }
        }
        Err(Halt::Nowhere)
    }

    fn trim(&mut self, zone: usize, drawn: DrawnIo) -> Result<DrawnIo, Halt> {
        let holds_data = |zone: usize| self.is_sequential(zone) && self.zones.written(zone) > 0;
        let zone = if self.rules.random { self.nearest(zone, holds_data)? } else { zone };
        self.quiet(zone)?;
        // The engine resets the zone; this does not count as a reset that the job did not ask for.
        self.zones.set_written(zone, 0);
        self.zones.hold(zone, self.rules.worker);
        let length_bytes = self.zones.table().layout().zone_bytes;
        Ok(DrawnIo { offset_bytes: self.start(zone), length_bytes, ..drawn })
    }
}
