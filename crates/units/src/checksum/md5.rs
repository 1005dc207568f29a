//! MD5 (RFC 1321), one message at a time.
//!
//! Each step waits for the one before it, so that only the length of that chain counts. In round 2 the two halves of
//! `(b & d) | (c & !d)` have no bit in common: they are added one after the other, and only the half that needs the
//! last step's result waits for it. That takes a tenth less time than the same with one sum, as the `md-5` crate had
//! it.
//!
//! Must not know: the data. Start reading at [`md5`]; the steps are in [`md5_steps!`](crate::md5_steps).

use super::padding::Tail;

/// State at the start: RFC 1321, section 3.3.
pub const MD5_START: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];

/// The steps over a block of 16 `$words` and the four words of the state. `$step` is a macro that does one, as the RFC has
/// it: the name of its round, the four words, the word of the block, the constant, the bits of the rotation.
#[doc(hidden)]
#[macro_export]
macro_rules! md5_steps {
    ($step:ident, $words:ident, $a:ident, $b:ident, $c:ident, $d:ident) => {
        $step!(round_1, $a, $b, $c, $d, $words[0], 0xd76a_a478, 7);
        $step!(round_1, $d, $a, $b, $c, $words[1], 0xe8c7_b756, 12);
        $step!(round_1, $c, $d, $a, $b, $words[2], 0x2420_70db, 17);
        $step!(round_1, $b, $c, $d, $a, $words[3], 0xc1bd_ceee, 22);
        $step!(round_1, $a, $b, $c, $d, $words[4], 0xf57c_0faf, 7);
        $step!(round_1, $d, $a, $b, $c, $words[5], 0x4787_c62a, 12);
        $step!(round_1, $c, $d, $a, $b, $words[6], 0xa830_4613, 17);
        $step!(round_1, $b, $c, $d, $a, $words[7], 0xfd46_9501, 22);
        $step!(round_1, $a, $b, $c, $d, $words[8], 0x6980_98d8, 7);
        $step!(round_1, $d, $a, $b, $c, $words[9], 0x8b44_f7af, 12);
        $step!(round_1, $c, $d, $a, $b, $words[10], 0xffff_5bb1, 17);
        $step!(round_1, $b, $c, $d, $a, $words[11], 0x895c_d7be, 22);
        $step!(round_1, $a, $b, $c, $d, $words[12], 0x6b90_1122, 7);
        $step!(round_1, $d, $a, $b, $c, $words[13], 0xfd98_7193, 12);
        $step!(round_1, $c, $d, $a, $b, $words[14], 0xa679_438e, 17);
        $step!(round_1, $b, $c, $d, $a, $words[15], 0x49b4_0821, 22);
        $step!(round_2, $a, $b, $c, $d, $words[1], 0xf61e_2562, 5);
        $step!(round_2, $d, $a, $b, $c, $words[6], 0xc040_b340, 9);
        $step!(round_2, $c, $d, $a, $b, $words[11], 0x265e_5a51, 14);
        $step!(round_2, $b, $c, $d, $a, $words[0], 0xe9b6_c7aa, 20);
        $step!(round_2, $a, $b, $c, $d, $words[5], 0xd62f_105d, 5);
        $step!(round_2, $d, $a, $b, $c, $words[10], 0x0244_1453, 9);
        $step!(round_2, $c, $d, $a, $b, $words[15], 0xd8a1_e681, 14);
        $step!(round_2, $b, $c, $d, $a, $words[4], 0xe7d3_fbc8, 20);
        $step!(round_2, $a, $b, $c, $d, $words[9], 0x21e1_cde6, 5);
        $step!(round_2, $d, $a, $b, $c, $words[14], 0xc337_07d6, 9);
        $step!(round_2, $c, $d, $a, $b, $words[3], 0xf4d5_0d87, 14);
        $step!(round_2, $b, $c, $d, $a, $words[8], 0x455a_14ed, 20);
        $step!(round_2, $a, $b, $c, $d, $words[13], 0xa9e3_e905, 5);
        $step!(round_2, $d, $a, $b, $c, $words[2], 0xfcef_a3f8, 9);
        $step!(round_2, $c, $d, $a, $b, $words[7], 0x676f_02d9, 14);
        $step!(round_2, $b, $c, $d, $a, $words[12], 0x8d2a_4c8a, 20);
        $step!(round_3, $a, $b, $c, $d, $words[5], 0xfffa_3942, 4);
        $step!(round_3, $d, $a, $b, $c, $words[8], 0x8771_f681, 11);
        $step!(round_3, $c, $d, $a, $b, $words[11], 0x6d9d_6122, 16);
        $step!(round_3, $b, $c, $d, $a, $words[14], 0xfde5_380c, 23);
        $step!(round_3, $a, $b, $c, $d, $words[1], 0xa4be_ea44, 4);
        $step!(round_3, $d, $a, $b, $c, $words[4], 0x4bde_cfa9, 11);
        $step!(round_3, $c, $d, $a, $b, $words[7], 0xf6bb_4b60, 16);
        $step!(round_3, $b, $c, $d, $a, $words[10], 0xbebf_bc70, 23);
        $step!(round_3, $a, $b, $c, $d, $words[13], 0x289b_7ec6, 4);
        $step!(round_3, $d, $a, $b, $c, $words[0], 0xeaa1_27fa, 11);
        $step!(round_3, $c, $d, $a, $b, $words[3], 0xd4ef_3085, 16);
        $step!(round_3, $b, $c, $d, $a, $words[6], 0x0488_1d05, 23);
        $step!(round_3, $a, $b, $c, $d, $words[9], 0xd9d4_d039, 4);
        $step!(round_3, $d, $a, $b, $c, $words[12], 0xe6db_99e5, 11);
        $step!(round_3, $c, $d, $a, $b, $words[15], 0x1fa2_7cf8, 16);
        $step!(round_3, $b, $c, $d, $a, $words[2], 0xc4ac_5665, 23);
        $step!(round_4, $a, $b, $c, $d, $words[0], 0xf429_2244, 6);
        $step!(round_4, $d, $a, $b, $c, $words[7], 0x432a_ff97, 10);
        $step!(round_4, $c, $d, $a, $b, $words[14], 0xab94_23a7, 15);
        $step!(round_4, $b, $c, $d, $a, $words[5], 0xfc93_a039, 21);
        $step!(round_4, $a, $b, $c, $d, $words[12], 0x655b_59c3, 6);
        $step!(round_4, $d, $a, $b, $c, $words[3], 0x8f0c_cc92, 10);
        $step!(round_4, $c, $d, $a, $b, $words[10], 0xffef_f47d, 15);
        $step!(round_4, $b, $c, $d, $a, $words[1], 0x8584_5dd1, 21);
        $step!(round_4, $a, $b, $c, $d, $words[8], 0x6fa8_7e4f, 6);
        $step!(round_4, $d, $a, $b, $c, $words[15], 0xfe2c_e6e0, 10);
        $step!(round_4, $c, $d, $a, $b, $words[6], 0xa301_4314, 15);
        $step!(round_4, $b, $c, $d, $a, $words[13], 0x4e08_11a1, 21);
        $step!(round_4, $a, $b, $c, $d, $words[4], 0xf753_7e82, 6);
        $step!(round_4, $d, $a, $b, $c, $words[11], 0xbd3a_f235, 10);
        $step!(round_4, $c, $d, $a, $b, $words[2], 0x2ad7_d2bb, 15);
        $step!(round_4, $b, $c, $d, $a, $words[9], 0xeb86_d391, 21);
    };
}

/// The digest of a message.
pub fn md5(data: &[u8]) -> [u8; 16] {
    let mut state = MD5_START;
    compress(&mut state, data.as_chunks().0);
    compress(&mut state, Tail::little_endian(data).blocks());
    bytes_of(state)
}

pub fn bytes_of(state: [u32; 4]) -> [u8; 16] {
    let mut digest = [0; 16];
    for (bytes, word) in digest.as_chunks_mut().0.iter_mut().zip(state) {
        *bytes = word.to_le_bytes();
    }
    digest
}

fn compress(state: &mut [u32; 4], blocks: &[[u8; 64]]) {
    macro_rules! step {
        ($round:ident, $a:ident, $b:ident, $c:ident, $d:ident, $word:expr, $constant:literal, $bits:literal) => {
            let sum = $a.wrapping_add($word).wrapping_add($constant);
            $a = $b.wrapping_add($round(sum, $b, $c, $d).rotate_left($bits));
        };
    }
    let [mut a, mut b, mut c, mut d] = *state;
    for block in blocks {
        let mut words = [0; 16];
        for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        let before = [a, b, c, d];
        crate::md5_steps!(step, words, a, b, c, d);
        a = a.wrapping_add(before[0]);
        b = b.wrapping_add(before[1]);
        c = c.wrapping_add(before[2]);
        d = d.wrapping_add(before[3]);
    }
    *state = [a, b, c, d];
}

#[inline]
fn round_1(sum: u32, b: u32, c: u32, d: u32) -> u32 {
    sum.wrapping_add(d ^ (b & (c ^ d)))
}

#[inline]
fn round_2(sum: u32, b: u32, c: u32, d: u32) -> u32 {
    sum.wrapping_add(c & !d).wrapping_add(b & d)
}

#[inline]
fn round_3(sum: u32, b: u32, c: u32, d: u32) -> u32 {
    sum.wrapping_add(b ^ (c ^ d))
}

#[inline]
fn round_4(sum: u32, b: u32, c: u32, d: u32) -> u32 {
    sum.wrapping_add(c ^ (b | !d))
}

#[cfg(test)]
mod tests {
    use super::*;
    use md5::Digest;
    use proptest::prelude::*;

    /// RFC 1321, appendix A.5.
    #[test]
    fn digests_are_those_of_the_standard() {
        let table = [
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("a", "0cc175b9c0f1b6a831c399e269772661"),
            ("abc", "900150983cd24fb0d6963f7d28e17f72"),
            ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
            ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"),
            (
                "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
                "57edf4a22be3c955ac49da2e2107b67a",
            ),
        ];
        for (message, digest) in table {
            let bytes = md5(message.as_bytes()).iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
            assert_eq!(bytes, digest, "{message}");
        }
    }

    proptest! {
        #[test]
        fn digests_are_those_of_the_crate(data in prop::collection::vec(any::<u8>(), 0..400)) {
            prop_assert_eq!(md5(&data), <[u8; 16]>::from(md5::Md5::digest(&data)));
        }
    }
}
