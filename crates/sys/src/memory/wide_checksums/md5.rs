//! MD5 of several messages together: eight take as long as one and a half, sixteen less.
//!
//! Must not know: the data. Start reading at [`DIGEST`]; the steps are in `ferrio_units::checksum::md5`.

use super::lanes::{Digest, ParallelMessages, digest_by_blocks};
use ferrio_units::checksum::padding::Tail;

pub(super) const DIGEST: Digest<4> =
    Digest { tail: Tail::little_endian, of_eight: eight::digest, of_sixteen: sixteen::digest };

/// A step, as `md5_steps` wants it.
macro_rules! step {
    ($round:ident, $a:ident, $b:ident, $c:ident, $d:ident, $word:expr, $constant:literal, $bits:literal) => {
        let sum = add($a, add($word, splat($constant)));
        $a = add($b, rotated::<$bits, { 32 - $bits }>($round(sum, $b, $c, $d)));
    };
}

/// The digest in registers of a kind, which takes `$instructions`.
macro_rules! digest_in {
    ($registers:ident, $instructions:literal) => {
        mod $registers {
            use super::super::lanes::$registers::{
                N_LANES, Register, add, add_choice as round_1, add_inverted as round_4, add_late_choice,
                add_parity as round_3, rotated, splat, states, words,
            };
            use super::{ParallelMessages, digest_by_blocks};
            use ferrio_units::checksum::md5::MD5_START;
            use ferrio_units::md5_steps;

            digest_by_blocks!($instructions, MD5_START);

            #[target_feature(enable = $instructions)]
            #[inline]
            fn compress(state: &mut [Register; 4], words: [Register; 16]) {
                let [mut a, mut b, mut c, mut d] = *state;
                md5_steps!(step, words, a, b, c, d);
                for (register, end) in state.iter_mut().zip([a, b, c, d]) {
                    *register = add(*register, end);
                }
            }

            /// The result of the last step chooses nothing: it is chosen, or not.
            #[target_feature(enable = $instructions)]
            #[inline]
            fn round_2(sum: Register, b: Register, c: Register, d: Register) -> Register {
                add_late_choice(sum, d, b, c)
            }
        }
    };
}

digest_in!(eight, "avx2");
digest_in!(sixteen, "avx512f,avx512bw");
