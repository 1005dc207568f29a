//! Registers of 256 bits: words of eight messages.
//!
//! Must not know: which digest is made. Start reading at [`words`].
#![expect(unsafe_code, reason = "registers are loaded from memory and stored to it by their address")]

use super::BLOCK_BYTES;
use core::arch::x86_64::{
    __m256i, _mm256_add_epi32, _mm256_and_si256, _mm256_andnot_si256, _mm256_loadu_si256, _mm256_or_si256,
    _mm256_permute2x128_si256, _mm256_set_epi64x, _mm256_set1_epi32, _mm256_shuffle_epi8, _mm256_slli_epi32,
    _mm256_srli_epi32, _mm256_storeu_si256, _mm256_unpackhi_epi32, _mm256_unpackhi_epi64, _mm256_unpacklo_epi32,
    _mm256_unpacklo_epi64, _mm256_xor_si256,
};

/// Messages side by side.
pub(in super::super) const N_LANES: usize = 8;

/// The same word of each message.
pub(in super::super) type Register = __m256i;

/// This CPU has the instructions.
pub(in super::super) fn is_there() -> bool {
    is_x86_feature_detected!("avx2")
}

/// The 16 words of a block of each message.
#[target_feature(enable = "avx2")]
#[inline]
pub(in super::super) fn words(blocks: [&[u8; BLOCK_BYTES]; N_LANES]) -> [Register; 16] {
    let mut words = [_mm256_set1_epi32(0); 16];
    for (half, words) in words.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let mut rows = [_mm256_set1_epi32(0); N_LANES];
        for (row, block) in rows.iter_mut().zip(blocks) {
            *row = load(&block.as_chunks::<32>().0[half]);
        }
        *words = transposed(rows);
    }
    words
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(bytes: &[u8; 32]) -> Register {
    // SAFETY: the array is as long as a register, and may lie anywhere.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// Rows become columns.
#[target_feature(enable = "avx2")]
#[inline]
fn transposed(rows: [Register; 8]) -> [Register; 8] {
    let (front, back) = rows.split_at(4);
    let (front, back) = (transposed_halves(front), transposed_halves(back));
    [
        _mm256_permute2x128_si256::<0x20>(front[0], back[0]),
        _mm256_permute2x128_si256::<0x20>(front[1], back[1]),
        _mm256_permute2x128_si256::<0x20>(front[2], back[2]),
        _mm256_permute2x128_si256::<0x20>(front[3], back[3]),
        _mm256_permute2x128_si256::<0x31>(front[0], back[0]),
        _mm256_permute2x128_si256::<0x31>(front[1], back[1]),
        _mm256_permute2x128_si256::<0x31>(front[2], back[2]),
        _mm256_permute2x128_si256::<0x31>(front[3], back[3]),
    ]
}

/// From four rows: each register has one column of their lower halves and one of their upper halves.
#[target_feature(enable = "avx2")]
#[inline]
fn transposed_halves(rows: &[Register]) -> [Register; 4] {
    let low = [_mm256_unpacklo_epi32(rows[0], rows[1]), _mm256_unpacklo_epi32(rows[2], rows[3])];
    let high = [_mm256_unpackhi_epi32(rows[0], rows[1]), _mm256_unpackhi_epi32(rows[2], rows[3])];
    [
        _mm256_unpacklo_epi64(low[0], low[1]),
        _mm256_unpackhi_epi64(low[0], low[1]),
        _mm256_unpacklo_epi64(high[0], high[1]),
        _mm256_unpackhi_epi64(high[0], high[1]),
    ]
}

/// The state of each message.
#[target_feature(enable = "avx2")]
pub(in super::super) fn states<const WORDS: usize>(registers: [Register; WORDS]) -> [[u32; WORDS]; N_LANES] {
    let mut states = [[0; WORDS]; N_LANES];
    for (index, register) in registers.into_iter().enumerate() {
        let mut words = [0u32; N_LANES];
        // SAFETY: the array is as long as a register, and may lie anywhere.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), register) };
        for (state, word) in states.iter_mut().zip(words) {
            state[index] = word;
        }
    }
    states
}

/// A word in each lane.
#[target_feature(enable = "avx2")]
#[inline]
pub(in super::super) fn splat(word: u32) -> Register {
    _mm256_set1_epi32(word.cast_signed())
}

#[target_feature(enable = "avx2")]
#[inline]
pub(in super::super) fn add(a: Register, b: Register) -> Register {
    _mm256_add_epi32(a, b)
}

/// Rotated left by `BITS`; `REST` is 32 less that.
#[target_feature(enable = "avx2")]
#[inline]
pub(in super::super) fn rotated<const BITS: i32, const REST: i32>(words: Register) -> Register {
    const { assert!(BITS + REST == 32) };
    _mm256_or_si256(_mm256_slli_epi32::<BITS>(words), _mm256_srli_epi32::<REST>(words))
}

#[target_feature(enable = "avx2")]
#[inline]
pub(in super::super) fn shifted<const BITS: i32>(words: Register) -> Register {
    _mm256_srli_epi32::<BITS>(words)
}

/// `sum` and, bit by bit, `c` where `b` is set, else `d`.
#[target_feature(enable = "avx2")]
#[inline]
pub(in super::super) fn add_choice(sum: Register, b: Register, c: Register, d: Register) -> Register {
    add(sum, _mm256_xor_si256(d, _mm256_and_si256(b, _mm256_xor_si256(c, d))))
}

/// `sum` and the parity of three words.
#[target_feature(enable = "avx2")]
#[inline]
pub(in super::super) fn add_parity(sum: Register, b: Register, c: Register, d: Register) -> Register {
    add(sum, _mm256_xor_si256(b, _mm256_xor_si256(c, d)))
}

/// The same if `c` is the last of the words to be known: terms without it are added before. The halves have no bit in
/// common.
#[target_feature(enable = "avx2")]
#[inline]
pub(in super::super) fn add_late_choice(sum: Register, b: Register, c: Register, d: Register) -> Register {
    add(add(sum, _mm256_andnot_si256(b, d)), _mm256_and_si256(b, c))
}

/// `sum` plus the majority of three words, bit by bit. The halves have no bit in common.
#[target_feature(enable = "avx2")]
#[inline]
pub(in super::super) fn add_majority(sum: Register, b: Register, c: Register, d: Register) -> Register {
    add(add(sum, _mm256_and_si256(c, d)), _mm256_and_si256(b, _mm256_xor_si256(c, d)))
}

/// `sum` and, bit by bit, `c`, inverted where `b` is set or `d` is not.
#[target_feature(enable = "avx2")]
#[inline]
pub(in super::super) fn add_inverted(sum: Register, b: Register, c: Register, d: Register) -> Register {
    let not_d = _mm256_xor_si256(d, splat(u32::MAX));
    add(sum, _mm256_xor_si256(c, _mm256_or_si256(b, not_d)))
}

/// The parity of four words.
#[target_feature(enable = "avx2")]
#[inline]
pub(in super::super) fn parity([a, b, c, d]: [Register; 4]) -> Register {
    _mm256_xor_si256(_mm256_xor_si256(a, b), _mm256_xor_si256(c, d))
}

/// Words with reversed byte order.
#[target_feature(enable = "avx2")]
#[inline]
pub(in super::super) fn swapped(words: Register) -> Register {
    let (low, high) = (0x0405_0607_0001_0203, 0x0c0d_0e0f_0809_0a0b);
    _mm256_shuffle_epi8(words, _mm256_set_epi64x(high, low, high, low))
}
