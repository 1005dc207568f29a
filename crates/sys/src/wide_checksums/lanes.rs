//! Blocks of eight messages side by side: a register holds the same word of each.
//!
//! Must not know: which digest is made. Start reading at [`Messages`], then [`words`].
#![expect(unsafe_code, reason = "registers are loaded from memory and stored to it by their address")]

use super::N_LANES;
use core::arch::x86_64::{
    __m256i, _mm256_add_epi32, _mm256_and_si256, _mm256_loadu_si256, _mm256_or_si256, _mm256_permute2x128_si256,
    _mm256_set1_epi32, _mm256_slli_epi32, _mm256_srli_epi32, _mm256_storeu_si256, _mm256_unpackhi_epi32,
    _mm256_unpackhi_epi64, _mm256_unpacklo_epi32, _mm256_unpacklo_epi64, _mm256_xor_si256,
};
use ferrio_units::checksum::padding::Tail;

/// Bytes of a block of MD5 and SHA-1.
pub(super) const BLOCK_BYTES: usize = 64;

/// Messages of one length.
pub(super) struct Messages<'a> {
    whole: [&'a [[u8; BLOCK_BYTES]]; N_LANES],
    tails: [Tail; N_LANES],
}

impl<'a> Messages<'a> {
    /// `None`: their lengths differ.
    pub(super) fn new(messages: [&'a [u8]; N_LANES], tail: fn(&[u8]) -> Tail) -> Option<Self> {
        if messages.iter().any(|message| message.len() != messages[0].len()) {
            return None;
        }
        Some(Self { whole: messages.map(|message| message.as_chunks().0), tails: messages.map(tail) })
    }

    /// All their blocks, in two runs.
    pub(super) fn runs(&self) -> [[&[[u8; BLOCK_BYTES]]; N_LANES]; 2] {
        [self.whole, self.tails.each_ref().map(Tail::blocks)]
    }
}

/// The 16 words of a block of each message.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn words(blocks: [&[u8; BLOCK_BYTES]; N_LANES]) -> [__m256i; 16] {
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
fn load(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: the array is as long as a register, and may lie anywhere.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// Rows become columns.
#[target_feature(enable = "avx2")]
#[inline]
fn transposed(rows: [__m256i; 8]) -> [__m256i; 8] {
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

/// Of four rows: each register has one column of their lower halves and one of their upper halves.
#[target_feature(enable = "avx2")]
#[inline]
fn transposed_halves(rows: &[__m256i]) -> [__m256i; 4] {
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
pub(super) fn states<const WORDS: usize>(registers: [__m256i; WORDS]) -> [[u32; WORDS]; N_LANES] {
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
pub(super) fn splat(word: u32) -> __m256i {
    _mm256_set1_epi32(word.cast_signed())
}

#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn add(a: __m256i, b: __m256i) -> __m256i {
    _mm256_add_epi32(a, b)
}

/// Rotated left by `BITS`; `REST` is 32 less that.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn rotated<const BITS: i32, const REST: i32>(words: __m256i) -> __m256i {
    const { assert!(BITS + REST == 32) };
    _mm256_or_si256(_mm256_slli_epi32::<BITS>(words), _mm256_srli_epi32::<REST>(words))
}

/// `sum` and, bit by bit, `c` where `b` is set, else `d`.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn add_choice(sum: __m256i, b: __m256i, c: __m256i, d: __m256i) -> __m256i {
    add(sum, _mm256_xor_si256(d, _mm256_and_si256(b, _mm256_xor_si256(c, d))))
}

/// `sum` and the parity of three words.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn add_parity(sum: __m256i, b: __m256i, c: __m256i, d: __m256i) -> __m256i {
    add(sum, _mm256_xor_si256(b, _mm256_xor_si256(c, d)))
}
