//! The virtual device: the completion time of each I/O, and its fault if it has one.
//!
//! I/Os are taken in the order in which they arrive. Each passes the burst limits, then is served by a cache (hit time, no
//! channel needed) or by the channel that is free first; nothing starts within a stall. A sync is done when everything
//! taken before it is done, the write cache has drained, and its own service time is over; it needs no channel.
//! Must not know: buffers, clocks, slots. Start reading at [`SimDevice::take`].

use super::bucket::Bucket;
use super::burst::Burst;
use super::error::SimTextError;
use super::fault::{Faults, SimFault};
use super::parse;
use super::read_cache::{self, ReadCache};
use super::service::ServiceModel;
use super::stall::StallModel;
use ferrio_units::Direction;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A write cache: `sim_write_cache=SIZE/HIT_TIME/DRAIN_RATE`. A write is done after the hit time, once there is room;
/// the cache drains to the media at a constant rate, at no cost to other I/Os. A write larger than the cache bypasses
/// it.
#[derive(Debug)]
pub(crate) struct WriteCache {
    size_bytes: u64,
    hit_ns: u64,
    room: Bucket,
}

/// A read cache with its hit time.
#[derive(Debug)]
pub(crate) struct TimedReadCache {
    hit_ns: u64,
    cache: ReadCache,
}

#[derive(Debug)]
pub(crate) struct SimDevice {
    pub(crate) service: ServiceModel,
    pub(crate) channels: Channels,
    pub(crate) read_cache: Option<TimedReadCache>,
    pub(crate) write_cache: Option<WriteCache>,
    pub(crate) stall: Option<StallModel>,
    pub(crate) burst: Burst,
    pub(crate) faults: Faults,
    /// The time at which all I/Os taken so far are done.
    pub(crate) all_done_ns: u64,
}

/// The times at which the channels are free again.
#[derive(Debug)]
pub(crate) struct Channels(BinaryHeap<Reverse<u64>>);

#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    pub(crate) direction: Direction,
    /// First byte on the device.
    pub(crate) address: u64,
    pub(crate) length_bytes: u64,
    /// Time of arrival, since the start of the engine.
    pub(crate) now_ns: u64,
}

/// Fate of an I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SimOutcome {
    /// Time of completion, since the start of the engine.
    pub(crate) done_ns: u64,
    pub(crate) fault: SimFault,
}

impl SimDevice {
    pub(crate) fn take(&mut self, arrival: &Arrival) -> SimOutcome {
        let (fault, delay_ns) = self.faults.next(arrival.direction, arrival.length_bytes);
        let done_ns =
            if arrival.direction.is_sync() { self.sync(arrival, delay_ns) } else { self.transfer(arrival, delay_ns) };
        self.all_done_ns = self.all_done_ns.max(done_ns);
        SimOutcome { done_ns, fault }
    }

    fn sync(&mut self, arrival: &Arrival, delay_ns: u64) -> u64 {
        let drained_ns = self.write_cache.as_ref().map_or(0, |cache| cache.room.full_ns());
        let start_ns = self.after_stall(arrival.now_ns.max(self.all_done_ns).max(drained_ns));
        start_ns.saturating_add(self.service.draw_ns(arrival.direction, 0)).saturating_add(delay_ns)
    }

    fn transfer(&mut self, arrival: &Arrival, delay_ns: u64) -> u64 {
        let admitted_ns = self.burst.admit(arrival.now_ns, arrival.length_bytes);
        let done_ns = match self.cached(arrival, admitted_ns) {
            Some(done_ns) => done_ns.saturating_add(delay_ns),
            None => self.serve(arrival, admitted_ns, delay_ns),
        };
        if let (Direction::Write, Some(stall)) = (arrival.direction, &mut self.stall) {
            stall.written(arrival.length_bytes, done_ns);
        }
        done_ns
    }

    /// Completion time by a cache, if a cache takes the I/O.
    fn cached(&mut self, arrival: &Arrival, admitted_ns: u64) -> Option<u64> {
        let (address, length_bytes) = (arrival.address, arrival.length_bytes);
        match arrival.direction {
            Direction::Read => {
                let reads = self.read_cache.as_mut()?;
                let is_hit = reads.cache.read(address, length_bytes);
                let hit_ns = reads.hit_ns;
                is_hit.then(|| self.after_stall(admitted_ns).saturating_add(hit_ns))
            }
            Direction::Write => {
                let start_ns = self.after_stall(admitted_ns);
                let writes = self.write_cache.as_mut().filter(|cache| length_bytes <= cache.size_bytes)?;
                Some(writes.room.take(start_ns, length_bytes).saturating_add(writes.hit_ns))
            }
            _ => {
                if let Some(reads) = &mut self.read_cache {
                    reads.cache.remove(address, length_bytes);
                }
                None
            }
        }
    }

    /// Completion time by a channel.
    fn serve(&mut self, arrival: &Arrival, admitted_ns: u64, delay_ns: u64) -> u64 {
        let start_ns = self.after_stall(admitted_ns.max(self.channels.earliest_free_ns()));
        let service_ns = self.service.draw_ns(arrival.direction, arrival.length_bytes);
        let done_ns = start_ns.saturating_add(service_ns).saturating_add(delay_ns);
        self.channels.occupy_earliest(done_ns);
        done_ns
    }

    fn after_stall(&self, start_ns: u64) -> u64 {
        self.stall.as_ref().map_or(start_ns, |stall| stall.after(start_ns))
    }
}

impl Channels {
    /// Channels that are all free.
    pub(crate) fn new(n_channels: usize) -> Self {
        Self(vec![Reverse(0); n_channels.max(1)].into())
    }

    fn earliest_free_ns(&self) -> u64 {
        self.0.peek().map_or(0, |free| free.0)
    }

    fn occupy_earliest(&mut self, until_ns: u64) {
        if let Some(mut free) = self.0.peek_mut() {
            *free = Reverse(until_ns);
        }
    }
}

impl TimedReadCache {
    /// Parses `SIZE/HIT_TIME`.
    pub(crate) fn parse(text: &str) -> Result<Self, SimTextError> {
        let [size, hit] = parse::parts(text, "SIZE/HIT_TIME, such as 64m/5us")?;
        let size_bytes = parse::bytes(size)?;
        if !(read_cache::PAGE_BYTES..=read_cache::MAX_BYTES).contains(&size_bytes) {
            return Err(SimTextError::ReadCache(size.to_owned()));
        }
        Ok(Self { hit_ns: parse::time_ns(hit)?, cache: ReadCache::new(size_bytes) })
    }
}

impl WriteCache {
    /// Parses `SIZE/HIT_TIME/DRAIN_RATE`.
    pub(crate) fn parse(text: &str) -> Result<Self, SimTextError> {
        let values = text.strip_suffix("/s").unwrap_or(text);
        let [size, hit, drain] = parse::parts(values, "SIZE/HIT_TIME/DRAIN_RATE, such as 16m/10us/200m/s")?;
        let size_bytes = parse::positive(size, parse::bytes(size)?)?;
        let room = Bucket::new(size_bytes, parse::bytes_per_sec(drain)?);
        Ok(Self { size_bytes, hit_ns: parse::time_ns(hit)?, room })
    }
}

#[cfg(test)]
mod tests;
