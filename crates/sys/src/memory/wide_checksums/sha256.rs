//! SHA-256 (FIPS 180-4) of several messages at once: that of sixteen takes half of the time that the CPU's own instructions for
//! SHA-256 take for one after the other; that of eight longer than they, but less than without them.
//!
//! Must not know: the data. Start reading at [`DIGEST`].

use super::lanes::{Digest, ParallelMessages, digest_by_blocks};
use ferrio_units::checksum::padding::Tail;
use ferrio_units::checksum::sha::START_256;

/// Constants of the steps: section 4.2.2.
const STEPS: [u32; 64] = [
    0x428a_2f98,
    0x7137_4491,
    0xb5c0_fbcf,
    0xe9b5_dba5,
    0x3956_c25b,
    0x59f1_11f1,
    0x923f_82a4,
    0xab1c_5ed5,
    0xd807_aa98,
    0x1283_5b01,
    0x2431_85be,
    0x550c_7dc3,
    0x72be_5d74,
    0x80de_b1fe,
    0x9bdc_06a7,
    0xc19b_f174,
    0xe49b_69c1,
    0xefbe_4786,
    0x0fc1_9dc6,
    0x240c_a1cc,
    0x2de9_2c6f,
    0x4a74_84aa,
    0x5cb0_a9dc,
    0x76f9_88da,
    0x983e_5152,
    0xa831_c66d,
    0xb003_27c8,
    0xbf59_7fc7,
    0xc6e0_0bf3,
    0xd5a7_9147,
    0x06ca_6351,
    0x1429_2967,
    0x27b7_0a85,
    0x2e1b_2138,
    0x4d2c_6dfc,
    0x5338_0d13,
    0x650a_7354,
    0x766a_0abb,
    0x81c2_c92e,
    0x9272_2c85,
    0xa2bf_e8a1,
    0xa81a_664b,
    0xc24b_8b70,
    0xc76c_51a3,
    0xd192_e819,
    0xd699_0624,
    0xf40e_3585,
    0x106a_a070,
    0x19a4_c116,
    0x1e37_6c08,
    0x2748_774c,
    0x34b0_bcb5,
    0x391c_0cb3,
    0x4ed8_aa4a,
    0x5b9c_ca4f,
    0x682e_6ff3,
    0x748f_82ee,
    0x78a5_636f,
    0x84c8_7814,
    0x8cc7_0208,
    0x90be_fffa,
    0xa450_6ceb,
    0xbef9_a3f7,
    0xc671_78f2,
];

/// The digest of messages that are padded as [`ferrio_units::checksum::sha`] says.
pub(super) const DIGEST: Digest<8> =
    Digest { tail: Tail::little_endian, of_eight: eight::digest, of_sixteen: sixteen::digest };

/// Step `$first + $index`, whose word is at `$index`.
macro_rules! step {
    ($words:ident, $first:ident, $index:expr,
     $a:ident, $b:ident, $c:ident, $d:ident, $e:ident, $f:ident, $g:ident, $h:ident) => {
        let sum = add($h, add($words[$index], splat(STEPS[$first + $index])));
        let sum = add_choice(sum, $e, $f, $g);
        let sum = add_parity(sum, rotated::<26, 6>($e), rotated::<21, 11>($e), rotated::<7, 25>($e));
        $d = add($d, sum);
        let sum = add_majority(sum, $a, $b, $c);
        $h = add_parity(sum, rotated::<30, 2>($a), rotated::<19, 13>($a), rotated::<10, 22>($a));
    };
}

/// Eight steps bring each word back to its place.
macro_rules! steps {
    ($words:ident, $first:ident, $index:expr,
     [$a:ident, $b:ident, $c:ident, $d:ident, $e:ident, $f:ident, $g:ident, $h:ident]) => {
        step!($words, $first, $index, $a, $b, $c, $d, $e, $f, $g, $h);
        step!($words, $first, $index + 1, $h, $a, $b, $c, $d, $e, $f, $g);
        step!($words, $first, $index + 2, $g, $h, $a, $b, $c, $d, $e, $f);
        step!($words, $first, $index + 3, $f, $g, $h, $a, $b, $c, $d, $e);
        step!($words, $first, $index + 4, $e, $f, $g, $h, $a, $b, $c, $d);
        step!($words, $first, $index + 5, $d, $e, $f, $g, $h, $a, $b, $c);
        step!($words, $first, $index + 6, $c, $d, $e, $f, $g, $h, $a, $b);
        step!($words, $first, $index + 7, $b, $c, $d, $e, $f, $g, $h, $a);
    };
}

/// The digest in registers of a kind, which takes `$instructions`.
macro_rules! digest_in {
    ($registers:ident, $instructions:literal) => {
        mod $registers {
            use super::super::lanes::$registers::{
                N_LANES, Register, add, add_choice, add_majority, add_parity, rotated, shifted, splat, states, swapped,
                words,
            };
            use super::{ParallelMessages, START_256, STEPS, digest_by_blocks};

            digest_by_blocks!($instructions, START_256);

            #[target_feature(enable = $instructions)]
            #[inline]
            fn compress(state: &mut [Register; 8], mut words: [Register; 16]) {
                for word in &mut words {
                    *word = swapped(*word);
                }
                let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
                for first in [0, 16, 32, 48] {
                    if first > 0 {
                        schedule(&mut words);
                    }
                    steps!(words, first, 0, [a, b, c, d, e, f, g, h]);
                    steps!(words, first, 8, [a, b, c, d, e, f, g, h]);
                }
                for (register, end) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
                    *register = add(*register, end);
                }
            }

            /// The words of the next sixteen steps: section 6.2.2.
            #[target_feature(enable = $instructions)]
            #[inline]
            fn schedule(words: &mut [Register; 16]) {
                for index in 0..16 {
                    let [back_15, back_7, back_2] = [1, 9, 14].map(|ahead| words[(index + ahead) % 16]);
                    let sum = add(words[index], back_7);
                    let sum =
                        add_parity(sum, rotated::<25, 7>(back_15), rotated::<14, 18>(back_15), shifted::<3>(back_15));
                    words[index] =
                        add_parity(sum, rotated::<15, 17>(back_2), rotated::<13, 19>(back_2), shifted::<10>(back_2));
                }
            }
        }
    };
}

digest_in!(eight, "avx2");
digest_in!(sixteen, "avx512f,avx512bw");
