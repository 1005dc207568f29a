//! The influence of zones on a stream: the position in a file before an I/O is drawn, and the place where the I/O goes.
//!
//! Zones are a type parameter of the stream, so that a stream without zones has no code for them. Must not know: kinds
//! of zones.
//! Start reading at [`Zoning`].

pub(crate) mod sequential;

use crate::cursor::FileCursor;
use crate::zone_table::{Awaited, ZoneTable};
use ferrio_units::DataDirection;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DrawnIo {
    pub(crate) direction: DataDirection,
    pub(crate) offset_bytes: u64,
    pub(crate) length_bytes: u64,
    /// Largest length of the I/O wherever it goes: blocks behind that were visited.
    pub(crate) at_most_bytes: u64,
}

/// An I/O that is done or has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompletedIo<'a> {
    pub file_index: u32,
    pub direction: DataDirection,
    pub offset_bytes: u64,
    /// `Some`: the I/O moved less than its length.
    pub failure: Option<IoFailure<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoFailure<'a> {
    pub errno: i32,
    /// The contents of its buffer: the whole block, of which a part may be on the device.
    pub data: &'a [u8],
}

/// A zone whose device was asked for its state after a failed write, and to which the missing data was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZoneRepair {
    pub file_index: u32,
    pub zone: usize,
    /// The error of the write.
    pub errno: i32,
    /// The next write can go behind the failed one.
    pub has_succeeded: bool,
}

/// Place of an I/O that was drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placement {
    /// The I/O goes here.
    At(DrawnIo),
    /// The file has no place for the I/O.
    Nowhere,
    /// The place is not known yet; something else has to happen first.
    Wait(ZoneWait),
}

/// An event that a stream waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ZoneWait {
    /// All I/Os of this stream are done.
    Own,
    /// Another job has released something.
    Others(Awaited),
}

/// Why zones do not let a stream continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZoningFailure {
    pub kind: ZoningFailureKind,
    pub file_index: usize,
    pub zone: usize,
}

/// Kind of a failure because of zones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZoningFailureKind {
    /// The device failed to reset the zone, with this errno.
    Reset(i32),
    /// The device failed to finish the zone, with this errno.
    Finish(i32),
    /// A block is larger than a zone.
    BlockExceedsZone,
    /// Not even the smallest block fits into an empty zone.
    CapacityBelowBlock {
        /// Bytes that the zone can hold.
        capacity_bytes: u64,
        min_bytes: u64,
    },
    /// The zone cannot be written: this many other zones are partly written, and the device allows no more.
    TooManyActive(usize),
    /// The zone cannot be opened: this many other zones were opened on request, and the device allows no more.
    TooManyOpen(usize),
}

/// Zones that change when I/Os complete, and that a job shares with others.
pub trait SharedZoning {
    /// Called after an I/O of the job is done or has failed. `Some`: its zone was repaired after a failed write.
    fn completed(&mut self, io: &CompletedIo<'_>) -> Option<ZoneRepair>;

    /// Called when no I/O of the job is in flight.
    fn drained(&mut self);

    /// After [`Next::Held`](crate::Next::Held): what the stream waits for. The caller waits, and tells by [`SharedZoning::waited`].
    fn awaited(&mut self) -> Option<AwaitedRelease>;

    /// Called after a wait. `has_changed`: another job has released something.
    fn waited(&mut self, has_changed: bool);

    /// Number of zones that were reset to be written again.
    fn n_resets(&self) -> u64;

    /// Why the zones do not let the stream continue.
    fn failure(&self) -> Option<ZoningFailure>;
}

/// What another job has to release before a stream can continue.
#[derive(Debug)]
pub struct AwaitedRelease {
    table: Arc<ZoneTable>,
    what: Awaited,
    /// The number of releases from before the zones were looked at.
    ticket: u32,
}

impl AwaitedRelease {
    /// Sleeps until another job may have released it, or for `limit`. False: nothing has changed.
    pub fn wait(&self, limit: Duration) -> bool {
        self.table.wait(self.what, self.ticket, limit)
    }
}

/// The zones of a stream.
pub(crate) trait Zoning: std::fmt::Debug {
    /// I/Os may go to other places than those drawn, by [`Zoning::turn`] and [`Zoning::place`].
    const PLACES_ANEW: bool = false;

    /// Prepares a file, once.
    fn open(&self, file: &mut FileCursor);

    /// Called before an I/O of a file is drawn.
    fn enter(&mut self, file: &mut FileCursor, direction: DataDirection);

    /// Called before a file is used; prepares it for the pass, which may have to wait.
    fn ready(&mut self, file_index: usize) -> Option<ZoneWait> {
        let _ = file_index;
        None
    }

    /// The direction of an I/O for which `direction` was drawn; called only for mixes. `has_written`: the file was
    /// written to since it was begun.
    #[inline]
    fn turn(&mut self, direction: DataDirection, has_written: bool) -> DataDirection {
        let _ = has_written;
        direction
    }

    /// Start of an I/O, from the drawn offset, before its size is drawn; `None`: the file has no place for it.
    fn begin(&mut self, file_index: usize, direction: DataDirection, offset_bytes: u64) -> Option<u64> {
        let _ = (file_index, direction);
        Some(offset_bytes)
    }

    /// Decides where an I/O that was drawn goes.
    fn place(&mut self, file_index: usize, drawn: DrawnIo) -> Placement {
        let _ = file_index;
        Placement::At(drawn)
    }

    /// Called when a pass begins.
    fn start_pass(&mut self) {}

    /// Called after an I/O was issued.
    fn issued(&mut self, length_bytes: u64);

    /// Called when a file starts over or a pass begins.
    fn restart(&mut self);

    /// The part that other jobs and the device have in the zones.
    fn shared(&self) -> Option<&dyn SharedZoning> {
        None
    }

    /// The same, mutable.
    fn shared_mut(&mut self) -> Option<&mut dyn SharedZoning> {
        None
    }
}

/// A stream without zones.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Unzoned;

impl Zoning for Unzoned {
    #[inline]
    fn open(&self, _: &mut FileCursor) {}

    #[inline]
    fn enter(&mut self, _: &mut FileCursor, _: DataDirection) {}

    #[inline]
    fn issued(&mut self, _: u64) {}

    #[inline]
    fn restart(&mut self) {}
}
