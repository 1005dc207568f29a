//! Contents of a block that are known before it is read or written, so that its checksums need not be computed one by
//! one: those of several blocks were computed together (`ahead`), or they were computed for the write (`written`). Data
//! from a device are compared with the data of their seed; if a byte differs, the checksums are computed from the data
//! that were read.
//!
//! Must not know: the source of the seeds, files. Start reading at [`KnownBlock`].

pub mod ahead;
pub mod written;

/// A block with known contents: its data without headers, and the checksums of its intervals.
#[derive(Debug, Clone, Copy)]
pub struct KnownBlock<'a> {
    pub(super) data: &'a [u8],
    /// Checksums of the intervals, one after another.
    checksums: &'a [u8],
}

impl KnownBlock<'_> {
    /// The checksum of an interval; `n_bytes` is its length.
    pub(super) fn checksum(&self, index: usize, n_bytes: usize) -> &[u8] {
        &self.checksums[index * n_bytes..][..n_bytes]
    }
}
