//! The compressed size of a block: deflate, each block for itself.
//!
//! Must not know: files. Start reading at [`Packer::packed_bytes`].

use flate2::{Compress, Compression, FlushCompress, Status};

/// Room for a block that does not shrink. Where the room ends before the block does, zlib-rs 0.6 panics at the block that comes
/// next, and `reset` does not prevent it.
const SPARE_BYTES: usize = 1024;

/// Compresses blocks of one size, and keeps only their sizes.
pub(crate) struct Packer {
    deflate: Compress,
    output: Vec<u8>,
}

impl Packer {
    pub(crate) fn new(block_bytes: usize) -> Self {
        let output = vec![0; block_bytes + block_bytes / 8 + SPARE_BYTES];
        Self { deflate: Compress::new(Compression::default(), false), output }
    }

    /// The size of a block after compression; a block that does not shrink has its own.
    pub(crate) fn packed_bytes(&mut self, block: &[u8]) -> u32 {
        self.deflate.reset();
        match self.deflate.compress(block, &mut self.output, FlushCompress::Finish) {
            Ok(Status::StreamEnd) => self.deflate.total_out().min(block.len() as u64) as u32,
            _ => block.len() as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_the_content() {
        let mut packer = Packer::new(4096);
        let mut state = 1_u64;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        })
        .take(4096)
        .collect();
        assert_eq!(packer.packed_bytes(&noise), 4096, "noise does not shrink");
        let mut half = noise.clone();
        half[2048..].fill(0);
        let of_half = packer.packed_bytes(&half);
        assert!((2048..2048 + 64).contains(&of_half), "{of_half}");
        assert!(packer.packed_bytes(&[0; 4096]) < 32);
        assert_eq!(packer.packed_bytes(&half), of_half, "a block does not depend on those before");
        for _ in 0..100 {
            assert_eq!(packer.packed_bytes(&noise), 4096);
        }
    }
}
