//! What zones may change of a stream: where it stands in a file before an I/O is drawn, and where the I/O goes.
//!
//! A parameter of the stream, so that one without zones has none of this in its code. Must not know: which zones there are.
//! Start reading at [`Zoning`].

pub(crate) mod sequential;
pub(crate) mod table;
pub(crate) mod view;

use crate::cursor::FileCursor;
use ferrio_units::DataDirection;
use std::time::Duration;

/// An I/O as it was drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DrawnIo {
    pub(crate) direction: DataDirection,
    pub(crate) offset_bytes: u64,
    pub(crate) length_bytes: u64,
    /// It is cut to this wherever it goes: what follows was visited.
    pub(crate) at_most_bytes: u64,
}

/// An I/O that is done, or has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompletedIo {
    /// File of the job.
    pub file_index: u32,
    /// What it was.
    pub direction: DataDirection,
    /// Where it began.
    pub offset_bytes: u64,
    /// It did not do all that it was to.
    pub has_failed: bool,
}

/// Where an I/O goes that was drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placement {
    /// Here.
    At(DrawnIo),
    /// Its file has no place for it.
    Nowhere,
    /// It is not known before something else has happened.
    Wait(ZoneWait),
}

/// What has to happen before a stream can go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ZoneWait {
    /// The I/Os of the stream that are in flight are done.
    Own,
    /// Another job is done with something.
    Others(Awaited),
}

/// What another job has to be done with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// A zone to which it has writes in flight.
    Zone,
    /// A place among the zones that may be open.
    Place,
}

/// Why zones do not let a stream go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZoningFailure {
    /// What it is.
    pub kind: ZoningFailureKind,
    /// File of the job.
    pub file_index: usize,
    /// The zone.
    pub zone: usize,
}

/// What zones do not let a stream do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZoningFailureKind {
    /// The device did not reset the zone, for this errno.
    Reset(i32),
    /// The device did not finish the zone, for this errno.
    Finish(i32),
    /// A block is larger than a zone.
    BlockExceedsZone,
    /// Not even the smallest block fits into an empty zone.
    CapacityBelowBlock {
        /// Bytes that the zone can hold.
        capacity_bytes: u64,
        /// The smallest block.
        min_bytes: u64,
    },
    /// The zone cannot be begun: the device has so many others that are written in part, and takes no more.
    TooManyActive(usize),
    /// The zone cannot be opened: the device was asked to keep so many others open, and opens no more.
    TooManyOpen(usize),
}

/// The zones of a stream.
pub(crate) trait Zoning: std::fmt::Debug {
    /// I/Os go to other places than were drawn, by [`Zoning::turn`] and [`Zoning::place`].
    const PLACES_ANEW: bool = false;

    /// Prepares a file, once.
    fn open(&self, file: &mut FileCursor);

    /// An I/O of a file is about to be drawn.
    fn enter(&mut self, file: &mut FileCursor, direction: DataDirection);

    /// A file is about to be used, which a pass may have to be prepared for.
    fn ready(&mut self, file_index: usize) -> Option<ZoneWait> {
        let _ = file_index;
        None
    }

    /// What an I/O of a direction that was drawn does; only of mixes. `has_written`: the file was written to since it was begun.
    #[inline]
    fn turn(&mut self, direction: DataDirection, has_written: bool) -> DataDirection {
        let _ = has_written;
        direction
    }

    /// Where an I/O begins whose place was drawn, before its size is; `None`: its file has no place for it.
    fn begin(&mut self, file_index: usize, direction: DataDirection, offset_bytes: u64) -> Option<u64> {
        let _ = (file_index, direction);
        Some(offset_bytes)
    }

    /// Where an I/O that was drawn goes.
    fn place(&mut self, file_index: usize, drawn: DrawnIo) -> Placement {
        let _ = file_index;
        Placement::At(drawn)
    }

    /// An I/O that was placed is done.
    fn completed(&mut self, io: &CompletedIo) {
        let _ = io;
    }

    /// Nothing of the stream is in flight.
    fn drained(&mut self) {}

    /// Sleeps until another job may be done with a zone, or for `limit`.
    fn wait(&mut self, limit: Duration) {
        let _ = limit;
    }

    /// A pass begins.
    fn start_pass(&mut self) {}

    /// An I/O was issued.
    fn issued(&mut self, length_bytes: u64);

    /// A file starts over, or a pass begins.
    fn restart(&mut self);

    /// Zones that were reset to be written again.
    fn n_resets(&self) -> u64 {
        0
    }

    /// Why the stream cannot go on.
    fn failure(&self) -> Option<ZoningFailure> {
        None
    }
}

/// No zones.
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
