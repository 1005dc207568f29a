//! Fills buffers with random words, patterns, or pieces that are partly each.
//!
//! Must not know: options. Start reading at [`RandomWords`].
//! Facts: reference "Buffers" (four interleaved multiplicative lanes; a piece is random first, then zeroes or pattern).

use ferrio_sys::multiply_fill;
use ferrio_units::random::GOLDEN_RATIO_64;

/// Multipliers of the interleaved lanes of a random fill.
const LANES: [u64; 4] = [1, 2, 3, 5];

/// A sequence of random bytes that continues from one fill to the next.
#[derive(Debug, Clone)]
pub(crate) struct RandomWords {
    lanes: [u64; 4],
}

impl RandomWords {
    pub(crate) fn new(seed: u64) -> Self {
        Self { lanes: LANES.map(|factor| seed.wrapping_mul(factor)) }
    }

    /// Fills several pieces at once, as long as that is faster than one after the other: `n_random` random bytes each,
    /// then zeroes. Returns the rest of the buffer.
    #[inline]
    fn fill_pieces<'a>(&mut self, buffer: &'a mut [u8], piece_bytes: usize, n_random: usize) -> &'a mut [u8] {
        multiply_fill::fill_pieces::<GOLDEN_RATIO_64>(&mut self.lanes, buffer, piece_bytes, n_random)
    }

    /// Fills a buffer with the next bytes.
    #[inline]
    pub(crate) fn fill(&mut self, buffer: &mut [u8]) {
        let rest = multiply_fill::fill::<GOLDEN_RATIO_64>(&mut self.lanes, buffer);
        // Words behind the last whole set of lanes come from the first lane alone.
        for word in rest.chunks_mut(8) {
            word.copy_from_slice(&self.lanes[0].to_le_bytes()[..word.len()]);
            self.lanes[0] = self.lanes[0].wrapping_mul(GOLDEN_RATIO_64);
        }
    }
}

/// Repeats a pattern over a buffer. `at` is the offset within the repeated pattern at which the buffer begins. An empty
/// pattern means zeroes.
pub(crate) fn fill_pattern(buffer: &mut [u8], pattern: &[u8], at: usize) {
    match pattern {
        [] => buffer.fill(0),
        [byte] => buffer.fill(*byte),
        _ => {
            let start = at % pattern.len();
            let n_filled = buffer.len().min(pattern.len());
            for (byte, value) in buffer[..n_filled].iter_mut().zip(pattern.iter().cycle().skip(start)) {
                *byte = *value;
            }
            repeat_head(buffer, n_filled);
        }
    }
}

/// Repeats the first `n_bytes` bytes of a buffer, at least one, over the rest of it.
pub(crate) fn repeat_head(buffer: &mut [u8], n_bytes: usize) {
    // Copies the filled part behind itself: each copy is twice as long as the one before.
    let mut n_filled = n_bytes;
    let mut n_left = buffer.len() - n_filled;
    while n_left > 0 {
        let n = n_filled.min(n_left);
        buffer.copy_within(..n, n_filled);
        n_filled += n;
        n_left -= n;
    }
}

/// The compressible share of each piece of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Compression {
    /// Share of a piece that is zeroes or pattern, percent: 1 to 99.
    pub(super) percent: u32,
    /// Length of a piece, bytes; 0: the whole buffer.
    pub(super) piece_bytes: usize,
}

impl Compression {
    /// Fills a buffer piece by piece.
    pub(super) fn fill(self, mut buffer: &mut [u8], words: &mut RandomWords, pattern: &[u8]) {
        let piece_bytes = if self.piece_bytes == 0 { buffer.len().max(1) } else { self.piece_bytes };
        if pattern.is_empty() {
            buffer = words.fill_pieces(buffer, piece_bytes, self.n_random(piece_bytes));
        }
        for (index, piece) in buffer.chunks_mut(piece_bytes).enumerate() {
            let n_random = self.n_random(piece.len());
            let (random, rest) = piece.split_at_mut(n_random);
            words.fill(random);
            fill_pattern(rest, pattern, index * piece_bytes + n_random);
        }
    }

    /// Number of random bytes of a piece. Cannot overflow: a buffer is far below 2^57 bytes.
    fn n_random(self, piece_bytes: usize) -> usize {
        piece_bytes * (100 - self.percent as usize) / 100
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn random_fill_interleaves_lanes_and_ends_with_the_first() {
        let mut buffer = vec![0; 44];
        RandomWords::new(7).fill(&mut buffer);
        let word = |at: usize| u64::from_le_bytes(buffer[at..at + 8].try_into().unwrap());
        assert_eq!([word(0), word(8), word(16), word(24)], [7, 14, 21, 35]);
        assert_eq!(word(32), 7u64.wrapping_mul(GOLDEN_RATIO_64));
    }

    // fio 3.41: 30 % of pieces of 512 bytes leaves 154 zeroes at the end of each.
    #[test]
    fn pieces_are_random_first() {
        let mut buffer = vec![0xee; 8192];
        Compression { percent: 30, piece_bytes: 512 }.fill(
            &mut buffer,
            &mut RandomWords::new(0x0123_4567_89ab_cdef),
            &[],
        );
        for piece in buffer.chunks(512) {
            assert!(piece[358..].iter().all(|byte| *byte == 0));
            assert!(piece[..358].chunks(8).all(|word| word != [0; 8]));
        }
        assert_ne!(buffer[..358], buffer[512..512 + 358], "pieces differ");
    }

    // The same with pieces of 3000 bytes and the pattern 0xaabb in a block of 8 KiB: the last piece is shorter.
    #[test]
    fn the_last_piece_is_shorter() {
        let mut buffer = vec![0; 8192];
        let compression = Compression { percent: 30, piece_bytes: 3_000 };
        compression.fill(&mut buffer, &mut RandomWords::new(0x0123_4567_89ab_cdef), &[0xaa, 0xbb]);
        for (start, end) in [(2_100, 3_000), (5_100, 6_000), (6_000 + 2_192 * 70 / 100, 8_192)] {
            let expected: Vec<u8> = (start..end).map(|at| if at % 2 == 0 { 0xaa } else { 0xbb }).collect();
            assert_eq!(buffer[start..end], expected);
        }
    }

    proptest! {
        #[test]
        fn a_pattern_repeats(
            pattern in prop::collection::vec(any::<u8>(), 0..40),
            n_bytes in 0usize..300,
            at in 0usize..1000,
        ) {
            let mut buffer = vec![0x55; n_bytes];
            fill_pattern(&mut buffer, &pattern, at);
            for (index, byte) in buffer.iter().enumerate() {
                let expected = if pattern.is_empty() { 0 } else { pattern[(at + index) % pattern.len()] };
                prop_assert_eq!(*byte, expected);
            }
        }
    }
}
