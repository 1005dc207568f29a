//! SHA-1 (FIPS 180-4) of eight messages at once: in two thirds of the time that the CPU's own instructions for SHA-1 take for one
//! after the other, each of which waits for the one before it.
//!
//! Must not know: what is summed. Start reading at [`of_each`].
#![expect(unsafe_code, reason = "instructions beyond those of every x86-64 may only run where the CPU has them")]

use super::lanes::{self, Messages, add, add_choice, add_parity, rotated, splat, states};
use super::{N_LANES, has_lanes};
use core::arch::x86_64::{__m256i, _mm256_and_si256, _mm256_set_epi64x, _mm256_shuffle_epi8, _mm256_xor_si256};
use ferrio_units::checksum::padding::Tail;

/// State at the start: FIPS 180-4, section 5.3.1.
const START: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
/// Constants of the four rounds: section 4.2.1.
const ROUNDS: [u32; 4] = [0x5a82_7999, 0x6ed9_eba1, 0x8f1b_bcdc, 0xca62_c1d6];

/// The state of each at its end.
pub(super) fn of_each(messages: [&[u8]; N_LANES]) -> Option<[[u32; 5]; N_LANES]> {
    let messages = Messages::new(messages, Tail::big_endian).filter(|_| has_lanes())?;
    // SAFETY: the CPU has the instructions.
    Some(unsafe { digest(&messages) })
}

#[target_feature(enable = "avx2")]
fn digest(messages: &Messages<'_>) -> [[u32; 5]; N_LANES] {
    let mut state = [splat(0); 5];
    for (register, word) in state.iter_mut().zip(START) {
        *register = splat(word);
    }
    for blocks in messages.runs() {
        for index in 0..blocks[0].len() {
            compress(&mut state, lanes::words(blocks.map(|blocks| &blocks[index])));
        }
    }
    states(state)
}

#[target_feature(enable = "avx2")]
#[inline]
fn compress(state: &mut [__m256i; 5], mut words: [__m256i; 16]) {
    for word in &mut words {
        *word = swapped(*word);
    }
    let [mut a, mut b, mut c, mut d, mut last] = *state;
    macro_rules! step {
        ($round:ident, $number:expr, $index:expr, $a:ident, $b:ident, $c:ident, $d:ident, $e:ident) => {
            if $index >= 16 {
                words[$index % 16] = next_word(&words, $index);
            }
            let sum = add($e, add(words[$index % 16], splat(ROUNDS[$number])));
            $e = add($round(sum, $b, $c, $d), rotated::<5, 27>($a));
            $b = rotated::<30, 2>($b);
        };
    }
    // Five steps bring each word back to its place.
    macro_rules! steps {
        ($round:ident, $number:expr, $($index:expr),*) => {$(
            step!($round, $number, $index, a, b, c, d, last);
            step!($round, $number, $index + 1, last, a, b, c, d);
            step!($round, $number, $index + 2, d, last, a, b, c);
            step!($round, $number, $index + 3, c, d, last, a, b);
            step!($round, $number, $index + 4, b, c, d, last, a);
        )*};
    }
    steps!(add_choice, 0, 0, 5, 10, 15);
    steps!(add_parity, 1, 20, 25, 30, 35);
    steps!(add_majority, 2, 40, 45, 50, 55);
    steps!(add_parity, 3, 60, 65, 70, 75);
    for (register, end) in state.iter_mut().zip([a, b, c, d, last]) {
        *register = add(*register, end);
    }
}

/// Word `index` of the schedule, of which the last 16 are kept.
#[target_feature(enable = "avx2")]
#[inline]
fn next_word(words: &[__m256i; 16], index: usize) -> __m256i {
    let [a, b, c, d] = [3, 8, 14, 16].map(|back| words[(index - back) % 16]);
    rotated::<1, 31>(_mm256_xor_si256(_mm256_xor_si256(a, b), _mm256_xor_si256(c, d)))
}

/// Words of the other order of bytes.
#[target_feature(enable = "avx2")]
#[inline]
fn swapped(words: __m256i) -> __m256i {
    let (low, high) = (0x0405_0607_0001_0203, 0x0c0d_0e0f_0809_0a0b);
    _mm256_shuffle_epi8(words, _mm256_set_epi64x(high, low, high, low))
}

/// `sum` and, bit by bit, what most of three words have. The halves have no bit in common.
#[target_feature(enable = "avx2")]
#[inline]
fn add_majority(sum: __m256i, b: __m256i, c: __m256i, d: __m256i) -> __m256i {
    add(add(sum, _mm256_and_si256(c, d)), _mm256_and_si256(b, _mm256_xor_si256(c, d)))
}
