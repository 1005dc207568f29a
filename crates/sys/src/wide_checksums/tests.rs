//! Against the libraries: each message one by one.

use super::*;
use ::sha1::Digest;
use proptest::prelude::*;

fn sha1_words(data: &[u8]) -> [u32; 5] {
    let digest = ::sha1::Sha1::digest(data);
    std::array::from_fn(|index| u32::from_be_bytes(digest[index * 4..][..4].try_into().unwrap()))
}

/// Messages that differ, of any length.
fn messages(data: &[u8], length: usize) -> [&[u8]; N_LANES] {
    std::array::from_fn(|lane| &data[lane * 7..][..length])
}

#[test]
fn lanes_need_one_length() {
    let messages: [&[u8]; N_LANES] = std::array::from_fn(|lane| if lane == 5 { &b"ab"[..] } else { b"abc" });
    assert_eq!((md5_of_each(messages), sha1_of_each(messages)), (None, None));
}

proptest! {
    #[test]
    fn digests_of_each_are_those_one_by_one(data in prop::collection::vec(any::<u8>(), 56..500)) {
        if !has_lanes() {
            eprintln!("SKIPPED digests_of_each_are_those_one_by_one: the CPU has no AVX2");
            return Ok(());
        }
        let messages = messages(&data, data.len() - 56);
        prop_assert_eq!(md5_of_each(messages), Some(messages.map(checksum::md5::md5)));
        prop_assert_eq!(sha1_of_each(messages), Some(messages.map(sha1_words)));
    }

    #[test]
    fn crc32c_is_that_of_the_library(data in prop::collection::vec(any::<u8>(), 0..700)) {
        prop_assert_eq!(crc32c(&data), checksum::crc32c(&data));
    }

    /// Also where `crc-fast` would be asked.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn crc32c_by_multiplication(data in prop::collection::vec(any::<u8>(), 0..700)) {
        match carryless::by_multiplication(&data) {
            Some(crc) => prop_assert_eq!(crc, checksum::crc32c(&data)),
            None => eprintln!("SKIPPED crc32c_by_multiplication: the CPU has no VPCLMULQDQ"),
        }
    }
}

/// FIPS 180-4 and RFC 1321 over "abc".
#[test]
fn digests_are_those_of_the_standards() {
    if !has_lanes() {
        eprintln!("SKIPPED digests_are_those_of_the_standards: the CPU has no AVX2");
        return;
    }
    let messages = [&b"abc"[..]; N_LANES];
    let sha1 = [0xa999_3e36, 0x4706_816a, 0xba3e_2571, 0x7850_c26c, 0x9cd0_d89d];
    assert_eq!(sha1_of_each(messages), Some([sha1; N_LANES]));
    assert_eq!(md5_of_each(messages).map(|digests| digests[7][..4].to_vec()), Some(vec![0x90, 0x01, 0x50, 0x98]));
}
