//! Against the libraries: each message one by one.

use super::*;
use ::sha1::Digest;
use ferrio_testing::skip_part;
use proptest::prelude::*;

fn sha1_words(data: &[u8]) -> [u32; 5] {
    let digest = ::sha1::Sha1::digest(data);
    std::array::from_fn(|index| u32::from_be_bytes(digest[index * 4..][..4].try_into().unwrap()))
}

/// Some messages that differ, of any length; `data` is so much longer than they.
fn messages(data: &[u8], n: usize) -> Vec<&[u8]> {
    (0..n).map(|lane| &data[lane * 7..data.len() - MAX_MORE_BYTES + lane * 7]).collect()
}

const MAX_MORE_BYTES: usize = MAX_LANES * 7;

/// Results of a digest, in the order of the messages; `None`: it had no effect.
fn gathered<T>(digest: impl FnOnce(&mut dyn FnMut(usize, T)) -> bool) -> Option<Vec<T>> {
    let mut digests = Vec::new();
    let is_done = digest(&mut |index, digest| {
        assert_eq!(index, digests.len());
        digests.push(digest);
    });
    assert!(is_done || digests.is_empty());
    is_done.then_some(digests)
}

fn assert_each_is_that_of_the_library(data: &[u8]) {
    if lane_counts().is_empty() {
        skip_part!("each_is_that_of_the_library", "the CPU has no AVX2");
    }
    for n in lane_counts() {
        let messages = messages(data, *n);
        let md5 = messages.iter().map(|message| checksum::md5::md5(message)).collect();
        assert_eq!(gathered(|put| md5_of_each(&messages, put)), Some(md5), "{n} of {} bytes", messages[0].len());
        let sha1 = messages.iter().map(|message| sha1_words(message)).collect();
        assert_eq!(gathered(|put| sha1_of_each(&messages, put)), Some(sha1), "{n} of {} bytes", messages[0].len());
        let sha256 = messages.iter().map(|message| checksum::sha::state_256(message)).collect();
        assert_eq!(gathered(|put| sha256_of_each(&messages, put)), Some(sha256), "{n} of {} bytes", messages[0].len());
    }
}

/// Checks that none of the digests has any effect.
fn assert_nothing_is_done(messages: &[&[u8]]) {
    assert!(!md5_of_each(messages, |_, _| unreachable!()));
    assert!(!sha1_of_each(messages, |_, _| unreachable!()));
    assert!(!sha256_of_each(messages, |_, _| unreachable!()));
}

#[test]
fn lanes_need_one_length_and_one_of_the_counts() {
    for n in lane_counts() {
        let mut messages = vec![&b"abc"[..]; *n];
        messages[5] = b"ab";
        assert_nothing_is_done(&messages);
    }
    for n in (0..=2 * MAX_LANES).filter(|n| !lane_counts().contains(n)) {
        let messages = vec![&b"abc"[..]; n];
        assert_nothing_is_done(&messages);
    }
}

/// The padding takes one more block or two, and whole blocks are none, one or several.
#[test]
fn digests_of_each_at_every_length() {
    let data: Vec<u8> = (0..400 + MAX_MORE_BYTES as u32).map(|at| (at * at / 7) as u8).collect();
    for length in 0..=400 {
        assert_each_is_that_of_the_library(&data[..length + MAX_MORE_BYTES]);
    }
}

/// Both ways by multiplication, also where another would be taken.
#[cfg(target_arch = "x86_64")]
fn assert_crc32c_by_multiplication(data: &[u8]) {
    for (way, instructions) in [
        (carryless::by_registers_of_256_bits as fn(&[u8]) -> Option<u32>, "VPCLMULQDQ"),
        (carryless::by_registers_of_512_bits, "AVX-512"),
    ] {
        match way(data) {
            Some(crc) => assert_eq!(crc, checksum::crc32c(data), "{} bytes by {instructions}", data.len()),
            None => skip_part!("crc32c", "the CPU has no {instructions}"),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn crc32c_by_multiplication_at_every_length() {
    let data: Vec<u8> = (0..1200u32).map(|at| (at * at / 5) as u8).collect();
    for length in 0..=data.len() {
        assert_crc32c_by_multiplication(&data[..length]);
    }
}

proptest! {
    #[test]
    fn digests_of_each_are_those_one_by_one(data in prop::collection::vec(any::<u8>(), MAX_MORE_BYTES..500)) {
        assert_each_is_that_of_the_library(&data);
    }

    #[test]
    fn crc32c_is_that_of_the_library(data in prop::collection::vec(any::<u8>(), 0..700)) {
        prop_assert_eq!(crc32c(&data), checksum::crc32c(&data));
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn crc32c_by_multiplication(data in prop::collection::vec(any::<u8>(), 0..5000)) {
        assert_crc32c_by_multiplication(&data);
    }
}

/// FIPS 180-4 and RFC 1321 over "abc".
#[test]
fn digests_are_those_of_the_standards() {
    let sha1 = [0xa999_3e36, 0x4706_816a, 0xba3e_2571, 0x7850_c26c, 0x9cd0_d89d];
    for n in lane_counts() {
        let messages = vec![&b"abc"[..]; *n];
        assert_eq!(gathered(|put| sha1_of_each(&messages, put)), Some(vec![sha1; *n]));
        let md5 = gathered(|put| md5_of_each(&messages, put)).unwrap();
        assert!(md5.iter().all(|digest| digest.starts_with(&[0x90, 0x01, 0x50, 0x98])), "{n}");
    }
}
