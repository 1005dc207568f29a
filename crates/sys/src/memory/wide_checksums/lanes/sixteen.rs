//! Registers of 512 bits: words of sixteen messages. A rotation is one instruction, and so is any function of three words.
//!
//! Must not know: which digest is made. Start reading at [`words`].
#![expect(unsafe_code, reason = "registers are loaded from memory and stored to it by their address")]

use super::BLOCK_BYTES;
use core::arch::x86_64::{
    __m512i, _mm512_add_epi32, _mm512_loadu_si512, _mm512_rol_epi32, _mm512_set1_epi32, _mm512_set4_epi32,
    _mm512_shuffle_epi8, _mm512_shuffle_i32x4, _mm512_srli_epi32, _mm512_storeu_si512, _mm512_ternarylogic_epi32,
    _mm512_unpackhi_epi32, _mm512_unpackhi_epi64, _mm512_unpacklo_epi32, _mm512_unpacklo_epi64, _mm512_xor_si512,
};

/// Messages side by side.
pub(in super::super) const N_LANES: usize = 16;

/// The same word of each message.
pub(in super::super) type Register = __m512i;

/// Functions of three bits: bit `4 b + 2 c + d` of each is its value for them.
const CHOICE: i32 = 0b1100_1010;
const PARITY: i32 = 0b1001_0110;
const MAJORITY: i32 = 0b1110_1000;
const INVERTED: i32 = 0b0011_1001;

/// This CPU has the instructions.
pub(in super::super) fn is_there() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw")
}

/// The 16 words of a block of each message.
#[target_feature(enable = "avx512f")]
#[inline]
pub(in super::super) fn words(blocks: [&[u8; BLOCK_BYTES]; N_LANES]) -> [Register; 16] {
    let mut rows = [_mm512_set1_epi32(0); N_LANES];
    for (row, block) in rows.iter_mut().zip(blocks) {
        // SAFETY: the block is as long as a register, and may lie anywhere.
        *row = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
    }
    transposed(&rows)
}

/// Rows become columns.
#[target_feature(enable = "avx512f")]
#[inline]
fn transposed(rows: &[Register; 16]) -> [Register; 16] {
    let mut quarters = [[_mm512_set1_epi32(0); 4]; 4];
    for (quarter, rows) in quarters.iter_mut().zip(rows.as_chunks().0) {
        *quarter = transposed_quarters(rows);
    }
    let mut columns = [_mm512_set1_epi32(0); 16];
    for index in 0..4 {
        let [a, b, c, d] = quarters.each_ref().map(|quarter| quarter[index]);
        let front = [_mm512_shuffle_i32x4::<0b01_00_01_00>(a, b), _mm512_shuffle_i32x4::<0b01_00_01_00>(c, d)];
        let back = [_mm512_shuffle_i32x4::<0b11_10_11_10>(a, b), _mm512_shuffle_i32x4::<0b11_10_11_10>(c, d)];
        columns[index] = _mm512_shuffle_i32x4::<0b10_00_10_00>(front[0], front[1]);
        columns[index + 4] = _mm512_shuffle_i32x4::<0b11_01_11_01>(front[0], front[1]);
        columns[index + 8] = _mm512_shuffle_i32x4::<0b10_00_10_00>(back[0], back[1]);
        columns[index + 12] = _mm512_shuffle_i32x4::<0b11_01_11_01>(back[0], back[1]);
    }
    columns
}

/// From four rows: each register has, quarter by quarter, one column of each quarter of theirs.
#[target_feature(enable = "avx512f")]
#[inline]
fn transposed_quarters(rows: &[Register; 4]) -> [Register; 4] {
    let low = [_mm512_unpacklo_epi32(rows[0], rows[1]), _mm512_unpacklo_epi32(rows[2], rows[3])];
    let high = [_mm512_unpackhi_epi32(rows[0], rows[1]), _mm512_unpackhi_epi32(rows[2], rows[3])];
    [
        _mm512_unpacklo_epi64(low[0], low[1]),
        _mm512_unpackhi_epi64(low[0], low[1]),
        _mm512_unpacklo_epi64(high[0], high[1]),
        _mm512_unpackhi_epi64(high[0], high[1]),
    ]
}

/// The state of each message.
#[target_feature(enable = "avx512f")]
pub(in super::super) fn states<const WORDS: usize>(registers: [Register; WORDS]) -> [[u32; WORDS]; N_LANES] {
    let mut states = [[0; WORDS]; N_LANES];
    for (index, register) in registers.into_iter().enumerate() {
        let mut words = [0u32; N_LANES];
        // SAFETY: the array is as long as a register, and may lie anywhere.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), register) };
        for (state, word) in states.iter_mut().zip(words) {
            state[index] = word;
        }
    }
    states
}

/// A word in each lane.
#[target_feature(enable = "avx512f")]
#[inline]
pub(in super::super) fn splat(word: u32) -> Register {
    _mm512_set1_epi32(word.cast_signed())
}

#[target_feature(enable = "avx512f")]
#[inline]
pub(in super::super) fn add(a: Register, b: Register) -> Register {
    _mm512_add_epi32(a, b)
}

/// Rotated left by `BITS`; `REST` is 32 less that.
#[target_feature(enable = "avx512f")]
#[inline]
pub(in super::super) fn rotated<const BITS: i32, const REST: i32>(words: Register) -> Register {
    const { assert!(BITS + REST == 32) };
    _mm512_rol_epi32::<BITS>(words)
}

#[target_feature(enable = "avx512f")]
#[inline]
pub(in super::super) fn shifted<const BITS: u32>(words: Register) -> Register {
    _mm512_srli_epi32::<BITS>(words)
}

/// `sum` and, bit by bit, `c` where `b` is set, else `d`.
#[target_feature(enable = "avx512f")]
#[inline]
pub(in super::super) fn add_choice(sum: Register, b: Register, c: Register, d: Register) -> Register {
    add(sum, _mm512_ternarylogic_epi32::<CHOICE>(b, c, d))
}

/// The same: it takes one instruction, whichever of the words is the last to be known.
#[target_feature(enable = "avx512f")]
#[inline]
pub(in super::super) fn add_late_choice(sum: Register, b: Register, c: Register, d: Register) -> Register {
    add_choice(sum, b, c, d)
}

/// `sum` and the parity of three words.
#[target_feature(enable = "avx512f")]
#[inline]
pub(in super::super) fn add_parity(sum: Register, b: Register, c: Register, d: Register) -> Register {
    add(sum, _mm512_ternarylogic_epi32::<PARITY>(b, c, d))
}

/// `sum` plus the majority of three words, bit by bit.
#[target_feature(enable = "avx512f")]
#[inline]
pub(in super::super) fn add_majority(sum: Register, b: Register, c: Register, d: Register) -> Register {
    add(sum, _mm512_ternarylogic_epi32::<MAJORITY>(b, c, d))
}

/// `sum` and, bit by bit, `c`, inverted where `b` is set or `d` is not.
#[target_feature(enable = "avx512f")]
#[inline]
pub(in super::super) fn add_inverted(sum: Register, b: Register, c: Register, d: Register) -> Register {
    add(sum, _mm512_ternarylogic_epi32::<INVERTED>(b, c, d))
}

/// The parity of four words.
#[target_feature(enable = "avx512f")]
#[inline]
pub(in super::super) fn parity([a, b, c, d]: [Register; 4]) -> Register {
    _mm512_xor_si512(_mm512_ternarylogic_epi32::<PARITY>(a, b, c), d)
}

/// Words with reversed byte order.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
pub(in super::super) fn swapped(words: Register) -> Register {
    _mm512_shuffle_epi8(words, _mm512_set4_epi32(0x0c0d_0e0f, 0x0809_0a0b, 0x0405_0607, 0x0001_0203))
}
