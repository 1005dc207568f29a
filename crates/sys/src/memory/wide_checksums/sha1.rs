//! SHA-1 (FIPS 180-4) of several messages at once: that of eight takes two thirds of the time that the CPU's own instructions for
//! SHA-1 take for one after the other, each of which waits for the one before it; that of sixteen less.
//!
//! Must not know: the data. Start reading at [`DIGEST`].

use super::lanes::{Digest, ParallelMessages, digest_by_blocks};
use ferrio_units::checksum::padding::Tail;

/// State at the start: FIPS 180-4, section 5.3.1.
const START: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
/// Constants of the four rounds: section 4.2.1.
const ROUNDS: [u32; 4] = [0x5a82_7999, 0x6ed9_eba1, 0x8f1b_bcdc, 0xca62_c1d6];

pub(super) const DIGEST: Digest<5> =
    Digest { tail: Tail::big_endian, of_eight: eight::digest, of_sixteen: sixteen::digest };

macro_rules! step {
    ($round:ident, $number:expr, $words:ident, $index:expr, $a:ident, $b:ident, $c:ident, $d:ident, $e:ident) => {
        if $index >= 16 {
            $words[$index % 16] = next_word(&$words, $index);
        }
        let sum = add($e, add($words[$index % 16], splat(ROUNDS[$number])));
        $e = add($round(sum, $b, $c, $d), rotated::<5, 27>($a));
        $b = rotated::<30, 2>($b);
    };
}

/// Steps from each of some indexes: five bring each word back to its place.
macro_rules! steps {
    ($round:ident, $number:expr, $words:ident, [$a:ident, $b:ident, $c:ident, $d:ident, $e:ident], $($index:expr),*) => {$(
        step!($round, $number, $words, $index, $a, $b, $c, $d, $e);
        step!($round, $number, $words, $index + 1, $e, $a, $b, $c, $d);
        step!($round, $number, $words, $index + 2, $d, $e, $a, $b, $c);
        step!($round, $number, $words, $index + 3, $c, $d, $e, $a, $b);
        step!($round, $number, $words, $index + 4, $b, $c, $d, $e, $a);
    )*};
}

/// The digest in registers of a kind, which takes `$instructions`.
macro_rules! digest_in {
    ($registers:ident, $instructions:literal) => {
        mod $registers {
            use super::super::lanes::$registers::{
                N_LANES, Register, add, add_choice, add_majority, add_parity, parity, rotated, splat, states, swapped,
                words,
            };
            use super::{ParallelMessages, ROUNDS, START, digest_by_blocks};

            digest_by_blocks!($instructions, START);

            #[target_feature(enable = $instructions)]
            #[inline]
            fn compress(state: &mut [Register; 5], mut words: [Register; 16]) {
                for word in &mut words {
                    *word = swapped(*word);
                }
                let [mut a, mut b, mut c, mut d, mut last] = *state;
                steps!(add_choice, 0, words, [a, b, c, d, last], 0, 5, 10, 15);
                steps!(add_parity, 1, words, [a, b, c, d, last], 20, 25, 30, 35);
                steps!(add_majority, 2, words, [a, b, c, d, last], 40, 45, 50, 55);
                steps!(add_parity, 3, words, [a, b, c, d, last], 60, 65, 70, 75);
                for (register, end) in state.iter_mut().zip([a, b, c, d, last]) {
                    *register = add(*register, end);
                }
            }

            /// Word `index` of the schedule, of which the last 16 are kept.
            #[target_feature(enable = $instructions)]
            #[inline]
            fn next_word(words: &[Register; 16], index: usize) -> Register {
                let [a, b, c, d] = [3, 8, 14, 16].map(|back| words[(index - back) % 16]);
                rotated::<1, 31>(parity([a, b, c, d]))
            }
        }
    };
}

digest_in!(eight, "avx2");
digest_in!(sixteen, "avx512f,avx512bw");
