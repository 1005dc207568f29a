//! What the write buffers hold.
//!
//! Must not know: where buffers live. Start reading at [`BufferContents`].
//! Facts: reference "Buffers" (random fill once, stamps in every 512 bytes before each write).

use ferrio_job::spec::BufferSpec;
use ferrio_units::random::{GOLDEN_RATIO_64, SeedIndex, SeedTable, Taus88};

/// Bytes between two stamps.
const SECTOR_BYTES: usize = 512;
/// Place of the time stamp in a sector: seconds, then nanoseconds.
const TIME_STAMP_OFFSET: usize = 48;
/// Multipliers of the interleaved lanes of a random fill.
const LANES: [u64; 4] = [1, 2, 3, 5];

/// What happens to a buffer before a write.
#[derive(Debug, Clone)]
pub enum BufferContents {
    /// Nothing.
    Untouched,
    /// Offset and time are stamped into every sector, so that blocks differ a little.
    Scrambled,
    /// New random data.
    Refilled(Taus88),
}

impl BufferContents {
    /// The treatment that a job asks for.
    pub fn new(spec: &BufferSpec, seeds: &SeedTable) -> Self {
        if spec.refill && !spec.zero {
            return Self::Refilled(Taus88::from_table(seeds, SeedIndex::Buffer));
        }
        if spec.scramble.unwrap_or(!spec.zero) { Self::Scrambled } else { Self::Untouched }
    }

    /// Prepares the buffer of a write. `start_ns`: time of the I/O on the run's clock.
    #[inline]
    pub fn prepare(&mut self, buffer: &mut [u8], offset_bytes: u64, start_ns: u64) {
        match self {
            Self::Untouched => {}
            Self::Scrambled => scramble(buffer, offset_bytes, start_ns),
            Self::Refilled(stream) => fill_random(buffer, stream.buffer_seed()),
        }
    }

    /// True when the start time ends up in the data.
    pub fn needs_time(&self) -> bool {
        matches!(self, Self::Scrambled)
    }
}

/// First contents of a buffer: zeroes, or one random fill.
pub fn fill_first(buffer: &mut [u8], spec: &BufferSpec, stream: &mut Taus88) {
    if spec.zero {
        buffer.fill(0);
    } else {
        fill_random(buffer, stream.buffer_seed());
    }
}

/// Fills a buffer with words of four interleaved multiplicative lanes.
pub fn fill_random(buffer: &mut [u8], seed: u64) {
    let mut lanes = LANES.map(|factor| seed.wrapping_mul(factor));
    let mut chunks = buffer.chunks_exact_mut(32);
    for chunk in &mut chunks {
        for (word, lane) in chunk.chunks_exact_mut(8).zip(&mut lanes) {
            word.copy_from_slice(&lane.to_le_bytes());
            *lane = lane.wrapping_mul(GOLDEN_RATIO_64);
        }
    }
    // The rest goes on with the first lane only.
    for word in chunks.into_remainder().chunks_mut(8) {
        word.copy_from_slice(&lanes[0].to_le_bytes()[..word.len()]);
        lanes[0] = lanes[0].wrapping_mul(GOLDEN_RATIO_64);
    }
}

/// Stamps the offset into one of eight lines of 64 bytes, and the time, in every sector.
fn scramble(buffer: &mut [u8], offset_bytes: u64, start_ns: u64) {
    let (seconds, nanoseconds) = (start_ns / 1_000_000_000, start_ns % 1_000_000_000);
    let line = ((nanoseconds ^ offset_bytes) & 7) as usize;
    let mut sector_offset = offset_bytes;
    for sector in buffer.chunks_exact_mut(SECTOR_BYTES) {
        sector[line * 64..line * 64 + 8].copy_from_slice(&sector_offset.to_ne_bytes());
        sector[TIME_STAMP_OFFSET..TIME_STAMP_OFFSET + 8].copy_from_slice(&seconds.to_ne_bytes());
        sector[TIME_STAMP_OFFSET + 8..TIME_STAMP_OFFSET + 16].copy_from_slice(&nanoseconds.to_ne_bytes());
        sector_offset = sector_offset.wrapping_add(SECTOR_BYTES as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_stand_where_the_reference_has_them() {
        let mut buffer = vec![0xff; 1024];
        // 3 ns xor offset 4096: line 3; two sectors.
        scramble(&mut buffer, 4096, 7_000_000_003);
        let word = |at: usize| u64::from_ne_bytes(buffer[at..at + 8].try_into().unwrap());
        assert_eq!((word(192), word(512 + 192)), (4096, 4608));
        assert_eq!((word(48), word(56)), (7, 3));
        assert_eq!(word(512 + 56), 3);
        assert_eq!(word(0), u64::MAX);
    }

    #[test]
    fn random_fill_interleaves_lanes_and_ends_with_the_first() {
        let mut buffer = vec![0; 44];
        fill_random(&mut buffer, 7);
        let word = |at: usize| u64::from_le_bytes(buffer[at..at + 8].try_into().unwrap());
        assert_eq!([word(0), word(8), word(16), word(24)], [7, 14, 21, 35]);
        assert_eq!(word(32), 7u64.wrapping_mul(GOLDEN_RATIO_64));
    }
}
