//! Speed of checksums: those that verification uses, and hashes that fio measures too.
//!
//! Must not know: outputs. Start reading at [`mib_per_sec`].

use super::{hashes, speed};
use ferrio_units::checksum::{Checksum, MAX_CHECKSUM_BYTES};
use std::hint::black_box;

/// Bytes over which a checksum is made.
const DATA_BYTES: usize = 128 << 10;

/// The checksum of a name; `None`: it is a hash that verification does not use.
fn checksum(name: &str) -> Option<Checksum> {
    Some(match name {
        "md5" => Checksum::Md5,
        "crc64" => Checksum::Crc64,
        "crc32" => Checksum::Crc32,
        "crc32c" => Checksum::Crc32c,
        "crc16" => Checksum::Crc16,
        "crc7" => Checksum::Crc7,
        "sha1" => Checksum::Sha1,
        "sha256" => Checksum::Sha256,
        "sha512" => Checksum::Sha512,
        "xxhash" => Checksum::Xxh32,
        "sha3-224" => Checksum::Sha3_224,
        "sha3-256" => Checksum::Sha3_256,
        "sha3-384" => Checksum::Sha3_384,
        "sha3-512" => Checksum::Sha3_512,
        _ => return None,
    })
}

fn hash(name: &str, data: &[u8]) -> u64 {
    match name {
        "murmur3" => hashes::murmur3_32(data, 0).into(),
        "jhash" => hashes::lookup3(data, 0).into(),
        _ => hashes::fnv1a_64(data),
    }
}

/// Speed of a checksum or hash, by a name of the list.
pub(super) fn mib_per_sec(name: &str) -> f64 {
    let data: Vec<u8> = (0..DATA_BYTES).map(|index| (index.wrapping_mul(0x9E37_79B9) >> 13) as u8).collect();
    match checksum(name) {
        Some(checksum) => {
            let mut stored = [0; MAX_CHECKSUM_BYTES];
            speed(DATA_BYTES, || checksum.store(black_box(&data), black_box(&mut stored[..checksum.n_bytes()])))
        }
        None => speed(DATA_BYTES, || {
            black_box(hash(name, black_box(&data)));
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_job::machine_tests::CHECKSUMS;

    #[test]
    fn all_names_but_the_hashes_are_checksums() {
        let others: Vec<&str> = CHECKSUMS.into_iter().filter(|name| checksum(name).is_none()).collect();
        assert_eq!(others, ["murmur3", "jhash", "fnv"]);
    }
}
