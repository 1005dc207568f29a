//! MD5 of eight messages at once: eight times the work in about the time of one and a half.
//!
//! Must not know: what is summed. Start reading at [`of_each`]; the steps stand in `ferrio_units::checksum::md5`.
#![expect(unsafe_code, reason = "instructions beyond those of every x86-64 may only run where the CPU has them")]

use super::lanes::{self, Messages, add, rotated, splat, states};
use super::{N_LANES, has_lanes};
use core::arch::x86_64::{__m256i, _mm256_and_si256, _mm256_andnot_si256, _mm256_or_si256, _mm256_xor_si256};
use ferrio_units::checksum::md5::MD5_START;
use ferrio_units::checksum::padding::Tail;
use ferrio_units::md5_steps;

/// The state of each at its end.
pub(super) fn of_each(messages: [&[u8]; N_LANES]) -> Option<[[u32; 4]; N_LANES]> {
    let messages = Messages::new(messages, Tail::little_endian).filter(|_| has_lanes())?;
    // SAFETY: the CPU has the instructions.
    Some(unsafe { digest(&messages) })
}

#[target_feature(enable = "avx2")]
fn digest(messages: &Messages<'_>) -> [[u32; 4]; N_LANES] {
    let mut state = [splat(0); 4];
    for (register, word) in state.iter_mut().zip(MD5_START) {
        *register = splat(word);
    }
    for blocks in messages.runs() {
        for index in 0..blocks[0].len() {
            compress(&mut state, &lanes::words(blocks.map(|blocks| &blocks[index])));
        }
    }
    states(state)
}

#[target_feature(enable = "avx2")]
#[inline]
fn compress(state: &mut [__m256i; 4], words: &[__m256i; 16]) {
    macro_rules! step {
        ($round:ident, $a:ident, $b:ident, $c:ident, $d:ident, $word:expr, $constant:literal, $bits:literal) => {
            let sum = add($a, add($word, splat($constant)));
            $a = add($b, rotated::<$bits, { 32 - $bits }>($round(sum, $b, $c, $d)));
        };
    }
    let [mut a, mut b, mut c, mut d] = *state;
    md5_steps!(step, words, a, b, c, d);
    for (register, end) in state.iter_mut().zip([a, b, c, d]) {
        *register = add(*register, end);
    }
}

use lanes::{add_choice as round_1, add_parity as round_3};

/// The halves have no bit in common: that which needs the last step's result is added last.
#[target_feature(enable = "avx2")]
#[inline]
fn round_2(sum: __m256i, b: __m256i, c: __m256i, d: __m256i) -> __m256i {
    add(add(sum, _mm256_andnot_si256(d, c)), _mm256_and_si256(b, d))
}

#[target_feature(enable = "avx2")]
#[inline]
fn round_4(sum: __m256i, b: __m256i, c: __m256i, d: __m256i) -> __m256i {
    let not_d = _mm256_xor_si256(d, splat(u32::MAX));
    add(sum, _mm256_xor_si256(c, _mm256_or_si256(b, not_d)))
}
