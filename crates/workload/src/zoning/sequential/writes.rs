//! The zone that a write goes to, and the preparation of that zone.
//!
//! Must not know: reads. Start reading at [`Placing::write`], then [`Placing::target`] and [`Placing::another`]. The
//! order of the choices is that of fio 3.41, as its lines of `--debug=zbd` show it.

use super::placing::{Halt, Placing};
use super::{FileZones, whole};
use crate::zone_table::Awaited;
use crate::zoning::{DrawnIo, ZoningFailureKind};
use ferrio_units::DataDirection;

impl Placing<'_> {
    /// Empties the zones of the range, before a pass whose writes are verified.
    pub(super) fn empty_range(&mut self) -> Result<(), Halt> {
        for zone in self.file.first..self.file.end {
            if self.is_sequential(zone) && (self.zones.written(zone) > 0 || self.zones.holder(zone).is_some()) {
                self.quiet(zone)?;
                self.reset(zone)?;
                self.close(zone);
            }
        }
        Ok(())
    }

    pub(super) fn write(&mut self, drawn_zone: usize, drawn: DrawnIo) -> Result<DrawnIo, Halt> {
        if drawn.length_bytes > self.zones.table().layout().zone_bytes {
            return Err(Halt::Failed(ZoningFailureKind::BlockExceedsZone, drawn_zone));
        }
        let zone = self.target(drawn_zone, drawn.offset_bytes)?;
        self.claim(zone)?;
        let is_above = self.is_above_threshold();
        let is_due = is_above && self.is_reset_due();
        if is_due || !self.has_room(zone) {
            self.quiet(zone)?;
            self.reset(zone)?;
        }
        let min_bytes = self.rules.min_bytes[DataDirection::Write];
        let left_bytes = self.left_bytes(zone);
        if !self.has_room(zone) {
            let capacity_bytes = self.capacity(zone);
            return Err(Halt::Failed(ZoningFailureKind::CapacityBelowBlock { capacity_bytes, min_bytes }, zone));
        }
        self.count_for_resets(is_above, is_due);
        let whole_bytes = if left_bytes < min_bytes { left_bytes } else { whole(left_bytes, min_bytes) };
        let written_bytes = self.zones.written(zone);
        let length_bytes = drawn.length_bytes.min(whole_bytes).min(drawn.at_most_bytes);
        self.zones.activate(zone);
        self.zones.hold(zone, self.rules.worker);
        self.zones.set_written(zone, written_bytes + length_bytes);
        Ok(DrawnIo { offset_bytes: self.start(zone) + written_bytes, length_bytes, ..drawn })
    }

    /// The zone of a write. A zone with less than a block left is finished, and the write goes to the next one.
    fn target(&mut self, drawn_zone: usize, offset_bytes: u64) -> Result<usize, Halt> {
        let mut zone = self.file.moved_to.unwrap_or(drawn_zone);
        let n_zones = self.file.end.saturating_sub(self.file.first);
        for _ in 0..n_zones {
            let has_moved = self.file.moved_to.is_some();
            if !self.is_remnant(zone) || (self.rules.keeps_written && has_moved) {
                break;
            }
            self.quiet(zone)?;
            self.finish(zone)?;
            zone = self.after(zone)?;
            self.file.moved_to = Some(zone);
        }
        let is_kept = self.rules.keeps_written && !self.has_room(zone);
        if !is_kept && self.obtain(zone)? { Ok(zone) } else { self.another(offset_bytes) }
    }

    /// The next zone of the range; only random jobs start again after the last.
    fn after(&self, zone: usize) -> Result<usize, Halt> {
        let FileZones { first, end, .. } = *self.file;
        let mut after = zone + 1..end;
        if let Some(next) = after.find(|zone| self.is_sequential(*zone)) {
            return Ok(next);
        }
        let found = if self.rules.random { (first..end).find(|zone| self.is_sequential(*zone)) } else { None };
        found.ok_or(Halt::Nowhere)
    }

    /// Another zone for a write whose own zone may not be opened, or has no room and must keep its contents.
    fn another(&mut self, offset_bytes: u64) -> Result<usize, Halt> {
        let picked = self.pick_open(offset_bytes)?;
        if let Some(picked) = picked.filter(|zone| self.has_room(*zone)) {
            return Ok(picked);
        }
        // If the number of open zones is limited, zones after the picked one come first.
        let has_limit = self.zones.table().limits().max_open > 0;
        let after = if has_limit { picked.unwrap_or(self.file.first) + 1 } else { self.zone_of(offset_bytes)? };
        if let Some(opened) = self.open_one_from(after)? {
            return Ok(opened);
        }
        let FileZones { first, end, .. } = *self.file;
        let mut open_here = self.open_in(first, end);
        if let Some(open) = open_here.find(|zone| self.has_room(*zone)) {
            return Ok(open);
        }
        if picked.is_none() {
            return self.take_a_place(offset_bytes);
        }
        // No zone has room for a block: the picked zone is written again, unless it must keep its contents.
        picked.filter(|_| !self.rules.keeps_written).ok_or(Halt::Nowhere)
    }

    fn open_in(&self, first: usize, end: usize) -> impl Iterator<Item = usize> {
        self.zones.open_zones().map(|(open, _)| open).filter(move |open| (first..end).contains(open))
    }

    /// The open zone of the range that an offset selects.
    fn pick_open(&self, offset_bytes: u64) -> Result<Option<usize>, Halt> {
        let FileZones { first, end, start_bytes, end_bytes, .. } = *self.file;
        self.wait_for_closing()?;
        let n_open = self.open_in(first, end).count();
        // Cannot overflow: the offset is below the length, and there are at most as many open zones as zones.
        let place = u128::from(offset_bytes - start_bytes) * n_open as u128;
        let index = (place / u128::from((end_bytes - start_bytes).max(1))) as usize;
        Ok(self.open_in(first, end).nth(index))
    }

    /// The first zone, from `from` upwards, that has room and may be opened.
    fn open_one_from(&self, from: usize) -> Result<Option<usize>, Halt> {
        let FileZones { first, end, .. } = *self.file;
        let max_open = self.zones.table().limits().max_open;
        if max_open > 0 && self.zones.n_open() >= max_open {
            return Ok(None);
        }
        for zone in (from..end).chain(first..from) {
            if self.is_sequential(zone) && self.has_room(zone) && !self.zones.is_open(zone) && self.obtain(zone)? {
                return Ok(Some(zone));
            }
        }
        Ok(None)
    }

    /// Makes sure that a zone is among the open ones. False: no more zones may be open.
    fn obtain(&self, zone: usize) -> Result<bool, Halt> {
        let limits = self.zones.table().limits();
        if limits.max_open == 0 || self.zones.is_open(zone) {
            return Ok(true);
        }
        let job_max_open = self.rules.spec.job_max_open as usize;
        let is_own = |(_, owner): &(usize, u32)| *owner == self.rules.worker;
        let is_at_job_limit = || job_max_open > 0 && self.zones.open_zones().filter(is_own).count() >= job_max_open;
        if self.zones.n_open() >= limits.max_open || !self.zones.may_open(zone) || is_at_job_limit() {
            self.wait_for_closing()?;
            return Ok(false);
        }
        self.zones.open(zone, self.rules.worker);
        Ok(true)
    }

    /// Waits for an open zone whose last write is in flight, as that zone will make room for another.
    fn wait_for_closing(&self) -> Result<(), Halt> {
        let is_full = |zone: usize| self.zones.written(zone) >= self.capacity(zone);
        let mut open = self.zones.open_zones().map(|(zone, _)| zone);
        if open.any(|zone| is_full(zone) && self.zones.holder(zone).is_some()) {
            Err(self.wait(Awaited::Place))
        } else {
            Ok(())
        }
    }

    /// Called when no zone of the range is open and none may be opened, because zones of other jobs take all places.
    /// While these jobs run, one of their zones will be done sooner or later; the place of a zone that no job uses any
    /// longer is taken.
    fn take_a_place(&self, offset_bytes: u64) -> Result<usize, Halt> {
        let limits = self.zones.table().limits();
        let zone = self.first_with_room(offset_bytes)?;
        let is_awaited = self.zones.open_zones().any(|(_, owner)| owner != 0);
        if !self.zones.may_activate(zone) {
            let failed = Halt::Failed(ZoningFailureKind::TooManyActive(limits.max_active), zone);
            return Err(if is_awaited { self.wait(Awaited::Place) } else { failed });
        }
        if is_awaited && self.is_patient {
            return Err(self.wait(Awaited::Place));
        }
        // A zone that was opened on request stays open, and keeps its place on the device.
        let gives_way = |(open, _): &(usize, u32)| !self.zones.is_open_by_request(*open) || self.zones.may_open(zone);
        let mut ways = self.zones.open_zones().filter(gives_way).peekable();
        if ways.peek().is_none() {
            let failed = Halt::Failed(ZoningFailureKind::TooManyOpen(limits.max_device_open), zone);
            return Err(if is_awaited { self.wait(Awaited::Place) } else { failed });
        }
        let is_idle = |(open, _): &(usize, u32)| self.zones.holder(*open).is_none();
        let (idle, _) = ways.find(is_idle).ok_or_else(|| self.wait(Awaited::Place))?;
        self.zones.close(idle);
        self.zones.open(zone, self.rules.worker);
        Ok(zone)
    }

    /// The first zone, from that of an offset upwards, that has room; preferably one that the device allows to be
    /// written. If contents need not be kept, a zone without room is written again.
    fn first_with_room(&self, offset_bytes: u64) -> Result<usize, Halt> {
        let FileZones { first, end, .. } = *self.file;
        let from = self.zone_of(offset_bytes)?;
        let with_room = || {
            let zones = (from..end).chain(first..from);
            zones.filter(|zone| self.is_sequential(*zone) && self.has_room(*zone))
        };
        let found = with_room().find(|zone| self.zones.may_activate(*zone)).or_else(|| with_room().next());
        found.or(Some(from).filter(|_| !self.rules.keeps_written)).ok_or(Halt::Nowhere)
    }

    fn left_bytes(&self, zone: usize) -> u64 {
        self.capacity(zone).saturating_sub(self.zones.written(zone))
    }

    /// True if a block of the smallest size fits behind the written part, or if the options allow to write a remainder.
    fn has_room(&self, zone: usize) -> bool {
        let left_bytes = self.left_bytes(zone);
        left_bytes >= self.rules.min_bytes[DataDirection::Write] || (self.rules.spec.writes_remainder && left_bytes > 0)
    }

    /// True if there is a remainder in which no block fits.
    fn is_remnant(&self, zone: usize) -> bool {
        self.left_bytes(zone) > 0 && !self.has_room(zone)
    }

    /// True if so much of the range is written that zones are reset though they have room.
    fn is_above_threshold(&self) -> bool {
        let (spec, file) = (&self.rules.spec, &*self.file);
        let Some(range) = file.range.filter(|_| spec.reset_frequency > 0.0) else { return false };
        self.zones.written_in_range(range) as f64 >= spec.reset_threshold * file.zones_bytes as f64
    }

    /// True if the zone of the next write is to be reset. The interval is rounded down to a whole number of writes.
    fn is_reset_due(&self) -> bool {
        (self.file.n_since_reset + 1) as f64 >= (1.0 / self.rules.spec.reset_frequency).trunc()
    }

    fn count_for_resets(&mut self, was_above: bool, was_due: bool) {
        self.file.n_since_reset = if was_due { 0 } else { self.file.n_since_reset + u64::from(was_above) };
    }

    /// Resets a zone to which no I/O is in flight.
    fn reset(&mut self, zone: usize) -> Result<(), Halt> {
        if self.zones.written(zone) == 0 {
            return Ok(());
        }
        let failed = |errno| Halt::Failed(ZoningFailureKind::Reset(errno), zone);
        self.zones.table().reset_device(zone).map_err(failed)?;
        self.n_resets += 1;
        self.zones.set_written(zone, 0);
        self.zones.settle(zone);
        self.zones.deactivate(zone);
        Ok(())
    }

    /// Finishes a zone to which no I/O is in flight and no more data will be written.
    fn finish(&mut self, zone: usize) -> Result<(), Halt> {
        let failed = |errno| Halt::Failed(ZoningFailureKind::Finish(errno), zone);
        self.zones.table().finish_on_device(zone).map_err(failed)?;
        self.zones.set_written(zone, self.capacity(zone));
        self.zones.settle(zone);
        self.close(zone);
        self.zones.deactivate(zone);
        Ok(())
    }

    fn close(&mut self, zone: usize) {
        self.zones.close(zone);
        self.has_closed = true;
    }
}
