//! Memory filled with the words of four interleaved sequences, each word a multiple of the one before: with the widest
//! multiplication that this CPU has, chosen when the program runs.
//!
//! Must not know: the use of the words. Start reading at [`fill`]. A later word can be computed without those between
//! (a factor to the power of the distance), so that several groups of four are made at the same time and none waits for
//! another.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "instructions beyond those of every x86-64 may only run where the CPU has them")
)]

#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::{
    __m256i, __m512i, _mm256_add_epi64, _mm256_loadu_si256, _mm256_mul_epu32, _mm256_set1_epi64x, _mm256_slli_epi64,
    _mm256_srli_epi64, _mm256_storeu_si256, _mm512_broadcast_i64x4, _mm512_castsi512_si256, _mm512_extracti64x4_epi64,
    _mm512_mullo_epi64, _mm512_set_epi64, _mm512_set1_epi64, _mm512_storeu_si512,
};

/// Interleaved sequences.
const N_LANES: usize = 4;
/// Bytes of one word of each lane.
const GROUP_BYTES: usize = N_LANES * size_of::<u64>();
/// Registers that are in work at once: no product waits for the one before.
#[cfg(target_arch = "x86_64")]
const N_REGISTERS: usize = 4;
/// Bytes filled in one step with AVX2.
#[cfg(target_arch = "x86_64")]
const CHUNK_BYTES_AVX2: usize = N_REGISTERS * size_of::<__m256i>();
/// Bytes filled in one step with AVX-512.
#[cfg(target_arch = "x86_64")]
const CHUNK_BYTES_AVX512: usize = N_REGISTERS * size_of::<__m512i>();

/// Bytes filled in one step of the widest way: pieces that are multiples of it need no shorter steps at their ends.
pub const PIECE_UNIT_BYTES: usize = 256;

/// Fills whole groups of 32 bytes with the next little-endian words of the lanes, moves the lanes on by `FACTOR` each, and
/// gives back the rest of the buffer, shorter than a group. The words are the same on every machine.
#[inline]
pub fn fill<'a, const FACTOR: u64>(lanes: &mut [u64; N_LANES], buffer: &'a mut [u8]) -> &'a mut [u8] {
    let n_whole_bytes = buffer.len() / GROUP_BYTES * GROUP_BYTES;
    let (groups, rest) = buffer.split_at_mut(n_whole_bytes);
    if !fill_wide::<FACTOR>(lanes, groups) {
        fill_narrow::<FACTOR>(lanes, groups);
    }
    rest
}

/// Fills whole pieces of a buffer: the start of each, `words_bytes` long, as [`fill`] does, and the rest of it with
/// zeroes. Returns the rest of the buffer: all of it if pieces and starts are no multiples of [`PIECE_UNIT_BYTES`], or
/// if this CPU has no wide multiplication.
#[inline]
pub fn fill_pieces<'a, const FACTOR: u64>(
    lanes: &mut [u64; N_LANES],
    buffer: &'a mut [u8],
    piece_bytes: usize,
    words_bytes: usize,
) -> &'a mut [u8] {
    let is_even = [piece_bytes, words_bytes].iter().all(|bytes| bytes.is_multiple_of(PIECE_UNIT_BYTES));
    if !is_even || piece_bytes == 0 || words_bytes > piece_bytes {
        return buffer;
    }
    let n_whole_bytes = buffer.len() / piece_bytes * piece_bytes;
    let is_filled = fill_pieces_wide::<FACTOR>(lanes, &mut buffer[..n_whole_bytes], piece_bytes, words_bytes);
    if is_filled { &mut buffer[n_whole_bytes..] } else { buffer }
}

/// Uses instructions that every CPU has.
fn fill_narrow<const FACTOR: u64>(lanes: &mut [u64; N_LANES], buffer: &mut [u8]) {
    let mut words = *lanes;
    for group in buffer.as_chunks_mut::<GROUP_BYTES>().0 {
        for (bytes, word) in group.as_chunks_mut().0.iter_mut().zip(&mut words) {
            *bytes = word.to_le_bytes();
            *word = word.wrapping_mul(FACTOR);
        }
    }
    *lanes = words;
}

/// Uses wide instructions; returns false without any effect if there are none.
#[cfg(target_arch = "x86_64")]
#[inline]
fn fill_wide<const FACTOR: u64>(lanes: &mut [u64; N_LANES], buffer: &mut [u8]) -> bool {
    if has_avx512() {
        // SAFETY: the CPU has the instructions.
        unsafe { fill_avx512::<FACTOR>(lanes, buffer) }
    } else if is_x86_feature_detected!("avx2") {
        // SAFETY: as above.
        unsafe { fill_avx2::<FACTOR>(lanes, buffer) }
    } else {
        return false;
    }
    true
}

/// There are no wide instructions that multiply 64 bits.
#[cfg(not(target_arch = "x86_64"))]
fn fill_wide<const FACTOR: u64>(_lanes: &mut [u64; N_LANES], _buffer: &mut [u8]) -> bool {
    false
}

/// Whole pieces with wide instructions; false, and nothing is done, where there are none.
#[cfg(target_arch = "x86_64")]
#[inline]
fn fill_pieces_wide<const FACTOR: u64>(
    lanes: &mut [u64; N_LANES],
    pieces: &mut [u8],
    piece_bytes: usize,
    words_bytes: usize,
) -> bool {
    if has_avx512() {
        // SAFETY: the CPU has the instructions.
        unsafe { fill_pieces_avx512::<FACTOR>(lanes, pieces, piece_bytes, words_bytes) }
    } else if is_x86_feature_detected!("avx2") {
        // SAFETY: as above.
        unsafe { fill_pieces_avx2::<FACTOR>(lanes, pieces, piece_bytes, words_bytes) }
    } else {
        return false;
    }
    true
}

/// Whole pieces with wide instructions: there are none.
#[cfg(not(target_arch = "x86_64"))]
fn fill_pieces_wide<const FACTOR: u64>(
    _lanes: &mut [u64; N_LANES],
    _pieces: &mut [u8],
    _piece_bytes: usize,
    _words_bytes: usize,
) -> bool {
    false
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq")
}

/// The factor that takes a lane this many words further.
#[cfg(target_arch = "x86_64")]
const fn ahead(factor: u64, n_words: u32) -> i64 {
    factor.wrapping_pow(n_words).cast_signed()
}

/// The registers of AVX-512, of two words of each lane: the first holds the next words, each other those after the one before.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn start_avx512<const FACTOR: u64>(lanes: &[u64; N_LANES]) -> [__m512i; N_REGISTERS] {
    let next = const { ahead(FACTOR, 1) };
    let both = _mm512_set_epi64(next, next, next, next, 1, 1, 1, 1);
    let first = _mm512_mullo_epi64(_mm512_broadcast_i64x4(load(lanes)), both);
    let mut registers = [first; N_REGISTERS];
    let starts = const { [ahead(FACTOR, 2), ahead(FACTOR, 4), ahead(FACTOR, 6)] };
    for (register, start) in registers[1..].iter_mut().zip(starts) {
        *register = _mm512_mullo_epi64(first, _mm512_set1_epi64(start));
    }
    registers
}

/// 256 bytes at a time: a multiplication of eight words is one instruction.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn fill_chunks_avx512<const FACTOR: u64>(
    registers: &mut [__m512i; N_REGISTERS],
    chunks: &mut [[u8; CHUNK_BYTES_AVX512]],
) {
    let step = _mm512_set1_epi64(const { ahead(FACTOR, 8) });
    for chunk in chunks {
        for (bytes, register) in chunk.as_chunks_mut().0.iter_mut().zip(&mut *registers) {
            store_avx512(bytes, *register);
            *register = _mm512_mullo_epi64(*register, step);
        }
    }
}

/// Chunks first, then the rest.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq")]
fn fill_avx512<const FACTOR: u64>(lanes: &mut [u64; N_LANES], buffer: &mut [u8]) {
    let mut registers = start_avx512::<FACTOR>(lanes);
    let (chunks, tail) = buffer.as_chunks_mut();
    fill_chunks_avx512::<FACTOR>(&mut registers, chunks);
    if tail.is_empty() {
        // The index of the last register is known here, so that no register has to go through memory.
        return store_words(lanes, _mm512_castsi512_si256(registers[0]));
    }
    let (wholes, half) = tail.as_chunks_mut();
    for (bytes, register) in wholes.iter_mut().zip(&registers) {
        store_avx512(bytes, *register);
    }
    let last = registers[wholes.len()];
    if let [group] = half.as_chunks_mut().0 {
        store(group, _mm512_castsi512_si256(last));
        store_words(lanes, _mm512_extracti64x4_epi64::<1>(last));
    } else {
        store_words(lanes, _mm512_castsi512_si256(last));
    }
}

/// Pieces, without leaving the registers between them.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq")]
fn fill_pieces_avx512<const FACTOR: u64>(
    lanes: &mut [u64; N_LANES],
    pieces: &mut [u8],
    piece_bytes: usize,
    words_bytes: usize,
) {
    let mut registers = start_avx512::<FACTOR>(lanes);
    for piece in pieces.chunks_exact_mut(piece_bytes) {
        let (words, zeroes) = piece.split_at_mut(words_bytes);
        fill_chunks_avx512::<FACTOR>(&mut registers, words.as_chunks_mut().0);
        for bytes in zeroes.as_chunks_mut().0 {
            store_avx512(bytes, _mm512_set1_epi64(0));
        }
    }
    store_words(lanes, _mm512_castsi512_si256(registers[0]));
}

/// The registers of AVX2, of a word of each lane: the first holds the next words, each other those after the one before.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn start_avx2<const FACTOR: u64>(lanes: &[u64; N_LANES]) -> [__m256i; N_REGISTERS] {
    let first = load(lanes);
    let mut registers = [first; N_REGISTERS];
    let starts = const { [ahead(FACTOR, 1), ahead(FACTOR, 2), ahead(FACTOR, 3)] };
    for (register, start) in registers[1..].iter_mut().zip(starts) {
        *register = multiply_avx2(first, start);
    }
    registers
}

/// 128 bytes at a time: a multiplication of four words is made of three of halves.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn fill_chunks_avx2<const FACTOR: u64>(registers: &mut [__m256i; N_REGISTERS], chunks: &mut [[u8; CHUNK_BYTES_AVX2]]) {
    for chunk in chunks {
        for (group, register) in chunk.as_chunks_mut().0.iter_mut().zip(&mut *registers) {
            store(group, *register);
            *register = multiply_avx2(*register, const { ahead(FACTOR, 4) });
        }
    }
}

/// Chunks first, then the rest.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn fill_avx2<const FACTOR: u64>(lanes: &mut [u64; N_LANES], buffer: &mut [u8]) {
    let mut registers = start_avx2::<FACTOR>(lanes);
    let (chunks, tail) = buffer.as_chunks_mut();
    fill_chunks_avx2::<FACTOR>(&mut registers, chunks);
    if tail.is_empty() {
        return store_words(lanes, registers[0]);
    }
    let groups = tail.as_chunks_mut().0;
    for (group, register) in groups.iter_mut().zip(&registers) {
        store(group, *register);
    }
    store_words(lanes, registers[groups.len()]);
}

/// Pieces, without leaving the registers between them.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn fill_pieces_avx2<const FACTOR: u64>(
    lanes: &mut [u64; N_LANES],
    pieces: &mut [u8],
    piece_bytes: usize,
    words_bytes: usize,
) {
    let mut registers = start_avx2::<FACTOR>(lanes);
    for piece in pieces.chunks_exact_mut(piece_bytes) {
        let (words, zeroes) = piece.split_at_mut(words_bytes);
        fill_chunks_avx2::<FACTOR>(&mut registers, words.as_chunks_mut().0);
        for group in zeroes.as_chunks_mut().0 {
            store(group, _mm256_set1_epi64x(0));
        }
    }
    store_words(lanes, registers[0]);
}

/// Lower halves of the products of four words: (a * 2^32 + b)(c * 2^32 + d) is (ad + bc) * 2^32 + bd below 2^64.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn multiply_avx2(words: __m256i, factor: i64) -> __m256i {
    let (factor, factor_high) = (_mm256_set1_epi64x(factor), _mm256_set1_epi64x(factor >> 32));
    let upper = _mm256_mul_epu32(_mm256_srli_epi64::<32>(words), factor);
    let crossed = _mm256_add_epi64(upper, _mm256_mul_epu32(words, factor_high));
    _mm256_add_epi64(_mm256_slli_epi64::<32>(crossed), _mm256_mul_epu32(words, factor))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
#[inline]
fn load(lanes: &[u64; N_LANES]) -> __m256i {
    // SAFETY: the array is as long as a register, and may lie anywhere.
    unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
#[inline]
fn store(group: &mut [u8; GROUP_BYTES], words: __m256i) {
    // SAFETY: the array is as long as a register, and may lie anywhere.
    unsafe { _mm256_storeu_si256(group.as_mut_ptr().cast(), words) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
#[inline]
fn store_avx512(bytes: &mut [u8; size_of::<__m512i>()], words: __m512i) {
    // SAFETY: the array is as long as a register, and may lie anywhere.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), words) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
#[inline]
fn store_words(lanes: &mut [u64; N_LANES], words: __m256i) {
    // SAFETY: the array is as long as a register, and may lie anywhere.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), words) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_testing::{skip, skip_part};
    use proptest::prelude::*;

    /// Word by word.
    fn plain(lanes: &mut [u64; N_LANES], factor: u64, n_groups: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for _ in 0..n_groups {
            for lane in &mut *lanes {
                bytes.extend(lane.to_le_bytes());
                *lane = lane.wrapping_mul(factor);
            }
        }
        bytes
    }

    type Fill = fn(&mut [u64; N_LANES], &mut [u8]);

    /// All ways that this machine has to fill whole groups.
    fn ways<const FACTOR: u64>() -> Vec<Fill> {
        let mut ways: Vec<Fill> = vec![fill_narrow::<FACTOR>, |lanes, buffer| {
            assert!(fill::<FACTOR>(lanes, buffer).is_empty());
        }];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                // SAFETY: the CPU has the instructions.
                ways.push(|lanes, buffer| unsafe { fill_avx2::<FACTOR>(lanes, buffer) });
            } else {
                skip_part!("every_way_gives_the_same_words", "with AVX2: the CPU has none");
            }
            if has_avx512() {
                // SAFETY: the CPU has the instructions.
                ways.push(|lanes, buffer| unsafe { fill_avx512::<FACTOR>(lanes, buffer) });
            } else {
                skip_part!("every_way_gives_the_same_words", "with AVX-512: the CPU has none");
            }
        }
        ways
    }

    fn check<const FACTOR: u64>(seeds: [u64; N_LANES], lengths: &[usize]) -> Result<(), TestCaseError> {
        for way in ways::<FACTOR>() {
            let (mut lanes, mut expected_lanes) = (seeds, seeds);
            for n_groups in lengths {
                let mut buffer = vec![0xee; n_groups * GROUP_BYTES];
                way(&mut lanes, &mut buffer);
                prop_assert_eq!(&buffer, &plain(&mut expected_lanes, FACTOR, *n_groups));
                prop_assert_eq!(lanes, expected_lanes);
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn every_way_gives_the_same_words(
            seeds in any::<[u64; N_LANES]>(),
            lengths in prop::collection::vec(0usize..40, 1..5),
        ) {
            check::<0x61c8_8646_80b5_83eb>(seeds, &lengths)?;
            check::<{ u64::MAX }>(seeds, &lengths)?;
            check::<0x8000_0000>(seeds, &lengths)?;
        }
    }

    type FillPieces = fn(&mut [u64; N_LANES], &mut [u8], usize, usize);

    fn ways_of_pieces<const FACTOR: u64>() -> Vec<FillPieces> {
        let mut ways: Vec<FillPieces> = vec![];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                // SAFETY: the CPU has the instructions.
                ways.push(|lanes, buffer, piece, words| unsafe {
                    fill_pieces_avx2::<FACTOR>(lanes, buffer, piece, words);
                });
            }
            if has_avx512() {
                // SAFETY: the CPU has the instructions.
                ways.push(|lanes, buffer, piece, words| unsafe {
                    fill_pieces_avx512::<FACTOR>(lanes, buffer, piece, words);
                });
            }
        }
        if ways.is_empty() {
            skip!("pieces_are_words_and_zeroes", "the CPU has no wide multiplication");
        }
        ways
    }

    proptest! {
        #[test]
        fn pieces_are_words_and_zeroes(
            seeds in any::<[u64; N_LANES]>(),
            n_words_units in 0usize..4,
            n_zero_units in 0usize..4,
            n_pieces in 0usize..5,
        ) {
            const FACTOR: u64 = 0x61c8_8646_80b5_83eb;
            prop_assume!(n_words_units + n_zero_units > 0);
            let (words, zeroes) = (n_words_units * PIECE_UNIT_BYTES, n_zero_units * PIECE_UNIT_BYTES);
            let (mut lanes_after, mut expected) = (seeds, vec![]);
            for _ in 0..n_pieces {
                expected.extend(plain(&mut lanes_after, FACTOR, words / GROUP_BYTES));
                expected.extend(vec![0; zeroes]);
            }
            for way in ways_of_pieces::<FACTOR>() {
                let (mut lanes, mut buffer) = (seeds, vec![0xee; expected.len()]);
                way(&mut lanes, &mut buffer, words + zeroes, words);
                prop_assert_eq!(&buffer, &expected);
                prop_assert_eq!(lanes, lanes_after);
            }
        }
    }

    #[test]
    fn only_even_pieces_are_filled() {
        let rest = |piece_bytes, words_bytes, n_bytes: usize| {
            let (mut lanes, mut buffer) = ([1, 2, 3, 5], vec![0xee; n_bytes]);
            let rest = fill_pieces::<7>(&mut lanes, &mut buffer, piece_bytes, words_bytes);
            assert!(rest.iter().all(|byte| *byte == 0xee));
            (rest.len(), lanes == [1, 2, 3, 5])
        };
        for (piece_bytes, words_bytes) in [(0, 0), (512, 100), (500, 256), (256, 512)] {
            assert_eq!(rest(piece_bytes, words_bytes, 2_000), (2_000, true));
        }
        if !ways_of_pieces::<7>().is_empty() {
            assert_eq!(rest(512, 256, 2_000), (2_000 - 3 * 512, false));
            assert_eq!(rest(512, 0, 2_000), (2_000 - 3 * 512, true));
        }
    }

    #[test]
    fn all_whole_groups_are_filled_and_the_rest_is_left_alone() {
        for length in 0..600 {
            let mut buffer = vec![0xee; length];
            let rest = fill::<7>(&mut [1, 2, 3, 5], &mut buffer);
            assert_eq!(rest.len(), length % GROUP_BYTES);
            assert!(rest.iter().all(|byte| *byte == 0xee));
        }
    }
}
