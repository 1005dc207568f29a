//! What zones may change of a stream: where it stands in a file before an I/O is drawn, and where the I/O goes.
//!
//! A parameter of the stream, so that one without zones has none of this in its code. Must not know: which zones there are.
//! Start reading at [`Zoning`].

pub(crate) mod sequential;
pub(crate) mod table;

use crate::cursor::FileCursor;
use ferrio_units::DataDirection;

/// An I/O as it was drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Drawn {
    pub(crate) direction: DataDirection,
    pub(crate) offset_bytes: u64,
    pub(crate) length_bytes: u64,
    /// It is cut to this wherever it goes: what follows was visited.
    pub(crate) at_most_bytes: u64,
}

/// A zone that could not be reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZoningFailure {
    /// What the device said.
    pub errno: i32,
    /// File of the job.
    pub file_index: usize,
    /// The zone.
    pub zone: usize,
}

/// The zones of a stream.
pub(crate) trait Zoning: std::fmt::Debug {
    /// I/Os go to other places than were drawn, by [`Zoning::turn`] and [`Zoning::place`].
    const PLACES_ANEW: bool = false;

    /// Prepares a file, once.
    fn open(&self, file: &mut FileCursor);

    /// An I/O of a file is about to be drawn.
    fn enter(&mut self, file: &mut FileCursor, direction: DataDirection);

    /// What an I/O of a direction that was drawn does; only of mixes.
    #[inline]
    fn turn(&mut self, file_index: usize, direction: DataDirection) -> DataDirection {
        let _ = file_index;
        direction
    }

    /// Where an I/O begins whose place was drawn, before its size is; `None`: its file has no place for it.
    fn begin(&mut self, file_index: usize, direction: DataDirection, offset_bytes: u64) -> Option<u64> {
        let _ = (file_index, direction);
        Some(offset_bytes)
    }

    /// Where an I/O that was drawn goes; `None`: its file has no place for it.
    fn place(&mut self, file_index: usize, drawn: Drawn) -> Option<Drawn> {
        let _ = file_index;
        Some(drawn)
    }

    /// An I/O was issued.
    fn issued(&mut self, length_bytes: u64);

    /// A pass begins, or a file starts over.
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
