//! What is known of a block before it is read or written, so that its checksums are not made one by one: those of several blocks
//! were made at once (`ahead`), or they were made when it was written (`written`). What comes from a device is compared with the data
//! of its seed; where it differs in any byte, its checksums are made from what came.
//!
//! Must not know: where seeds come from, files. Start reading at [`KnownBlock`].

pub mod ahead;
pub mod written;

/// A block that is known: its data without headers, and the checksums of its intervals.
#[derive(Debug, Clone, Copy)]
pub struct KnownBlock<'a> {
    pub(super) data: &'a [u8],
    /// Of its intervals, one after another.
    checksums: &'a [u8],
}

impl KnownBlock<'_> {
    /// The checksum of an interval, of so many bytes.
    pub(super) fn checksum(&self, index: usize, n_bytes: usize) -> &[u8] {
        &self.checksums[index * n_bytes..][..n_bytes]
    }
}
