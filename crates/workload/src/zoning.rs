//! What zones may change of a stream: where it stands in a file before an I/O is drawn.
//!
//! A parameter of the stream, so that one without zones has none of this in its code. Must not know: which zones there are.
//! Start reading at [`Zoning`].

use crate::cursor::FileCursor;
use ferrio_units::DataDirection;

/// The zones of a stream.
pub(crate) trait Zoning: std::fmt::Debug {
    /// Prepares a file, once.
    fn open(&self, file: &mut FileCursor);

    /// An I/O of a file is about to be drawn.
    fn enter(&mut self, file: &mut FileCursor, direction: DataDirection);

    /// An I/O was issued.
    fn issued(&mut self, length_bytes: u64);

    /// A pass begins, or a file starts over.
    fn restart(&mut self);
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
