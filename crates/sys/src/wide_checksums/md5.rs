//! MD5 of several messages at once: that of eight takes as long as that of one and a half, that of sixteen less.
//!
//! Must not know: what is summed. Start reading at [`of_each`]; the steps stand in `ferrio_units::checksum::md5`.
#![expect(unsafe_code, reason = "instructions beyond those of every x86-64 may only run where the CPU has them")]

use super::lanes::{self, Messages};
use ferrio_units::checksum::padding::Tail;

/// Gives `put` the state of each at its end. False, and nothing is done: they are not as many as there are lanes of a kind,
/// not of one length, or this CPU does not have the instructions.
pub(super) fn of_each(messages: &[&[u8]], mut put: impl FnMut(usize, [u32; 4])) -> bool {
    let eight = Messages::new(messages, Tail::little_endian).filter(|_| lanes::eight::is_there());
    let sixteen = Messages::new(messages, Tail::little_endian).filter(|_| lanes::sixteen::is_there());
    match (&eight, &sixteen) {
        (_, Some(messages)) => {
            // SAFETY: the CPU has the instructions.
            let states = unsafe { sixteen::digest(messages) };
            states.into_iter().enumerate().for_each(|(index, state)| put(index, state));
        }
        (Some(messages), None) => {
            // SAFETY: as above.
            let states = unsafe { eight::digest(messages) };
            states.into_iter().enumerate().for_each(|(index, state)| put(index, state));
        }
        (None, None) => return false,
    }
    true
}

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
            use super::Messages;
            use ferrio_units::checksum::md5::MD5_START;
            use ferrio_units::md5_steps;

            #[target_feature(enable = $instructions)]
            pub(super) fn digest(messages: &Messages<'_, N_LANES>) -> [[u32; 4]; N_LANES] {
                let mut state = [splat(0); 4];
                for (register, word) in state.iter_mut().zip(MD5_START) {
                    *register = splat(word);
                }
                for blocks in messages.runs() {
                    for index in 0..blocks[0].len() {
                        compress(&mut state, &words(blocks.map(|blocks| &blocks[index])));
                    }
                }
                states(state)
            }

            #[target_feature(enable = $instructions)]
            #[inline]
            fn compress(state: &mut [Register; 4], words: &[Register; 16]) {
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
