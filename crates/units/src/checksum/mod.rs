//! Checksums in the forms in which fio stores them in verified blocks. Some differ from the textbook; their comments
//! say so.
//!
//! Must not know: headers, blocks. Start reading at [`Checksum`]; a new one is a file with its function, and a row there.
//! Facts: reference "Verify header", table of methods.

mod crc7;
pub mod md5;
pub mod padding;
pub mod sha;

use crc_fast::CrcAlgorithm;
use sha3::Digest;

/// Bytes of the longest stored form (SHA-512).
pub const MAX_CHECKSUM_BYTES: usize = 128;

/// Time for a checksum, compared with making random contents of the same length and comparing them. For 4 KiB that
/// takes about 0.1 µs, slow checksums take 0.6 µs (XXH32), 2 µs and more (the others).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cost {
    Cheap,
    Dear,
}

/// Writes the stored form over the data, whose bytes are in the row, to the slice.
type Store = fn(&[u8], &mut [u8]);

/// Makes the enumeration and what is known of each checksum from one row: name, bytes of the stored form, cost, function.
macro_rules! checksums {
    ($($(#[doc = $doc:literal])+ $name:ident, $n_bytes:literal, $cost:ident, $store:expr;)+) => {
        /// A checksum over some bytes, in its stored form.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Checksum {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Checksum {
            const fn row(self) -> (usize, Cost, Store) {
                match self {
                    $(Self::$name => ($n_bytes, Cost::$cost, $store),)+
                }
            }
        }
    };
}

checksums! {
    /// MD5.
    Md5, 16, Dear, |data, out| out.copy_from_slice(&md5::md5(data));
    /// CRC-64, reflected polynomial 0x95AC9329AC4BC9B5, from 0.
    Crc64, 8, Cheap, |data, out| out.copy_from_slice(&crc(CrcAlgorithm::Crc64Redis, data).to_ne_bytes());
    /// CRC-32 with the most significant bit first, polynomial 0x04C11DB7, from 0, not inverted: not that of zlib.
    Crc32, 4, Cheap, store_crc32;
    /// CRC-32C from all ones, not inverted at the end.
    Crc32c, 4, Cheap, |data, out| out.copy_from_slice(&crc32c(data).to_ne_bytes());
    /// CRC-16/ARC.
    Crc16, 2, Cheap, |data, out| out.copy_from_slice(&(crc(CrcAlgorithm::Crc16Arc, data) as u16).to_ne_bytes());
    /// CRC-7, polynomial 0x09, in the low bits of a byte.
    Crc7, 1, Dear, |data, out| out.copy_from_slice(&[crc7::crc7(data)]);
    /// fio's own form of SHA-256: see `sha.rs`.
    Sha256, 64, Dear, sha::store_256;
    /// SHA-512, followed by half of the last block of the padded message.
    Sha512, 128, Dear, sha::store_512;
    /// The value that fio up to 3.33 (at least) stores for SHA-512, though it is none: see `sha.rs`.
    Sha512Unfinished, 128, Cheap, sha::store_512_unfinished;
    /// SHA3-224.
    Sha3_224, 28, Dear, |data, out| out.copy_from_slice(&sha3::Sha3_224::digest(data));
    /// SHA3-256.
    Sha3_256, 32, Dear, |data, out| out.copy_from_slice(&sha3::Sha3_256::digest(data));
    /// SHA3-384.
    Sha3_384, 48, Dear, |data, out| out.copy_from_slice(&sha3::Sha3_384::digest(data));
    /// SHA3-512.
    Sha3_512, 64, Dear, |data, out| out.copy_from_slice(&sha3::Sha3_512::digest(data));
    /// XXH32 with the seed 1.
    Xxh32, 4, Dear, |data, out| out.copy_from_slice(&xxhash_rust::xxh32::xxh32(data, 1).to_ne_bytes());
    /// SHA-1 as five words in the byte order of the machine.
    Sha1, 20, Dear, sha::store_1;
    /// XXH3 of 64 bits, little endian: ferrio's own.
    Xxh3, 8, Cheap, |data, out| out.copy_from_slice(&xxhash_rust::xxh3::xxh3_64(data).to_le_bytes());
}

impl Checksum {
    /// Bytes of the stored form.
    pub const fn n_bytes(self) -> usize {
        self.row().0
    }

    /// True if it takes much longer than making random contents of the same length and comparing them.
    pub const fn outweighs_contents(self) -> bool {
        matches!(self.row().1, Cost::Dear)
    }

    /// Writes the stored form over `data` to `out`.
    ///
    /// # Panics
    /// If `out` is not [`Checksum::n_bytes`] bytes long.
    pub fn store(self, data: &[u8], out: &mut [u8]) {
        (self.row().2)(data, out);
    }
}

fn crc(algorithm: CrcAlgorithm, data: &[u8]) -> u64 {
    crc_fast::checksum(algorithm, data)
}

/// The CRC with the same polynomial and start, but inverted at the end.
fn store_crc32(data: &[u8], out: &mut [u8]) {
    out.copy_from_slice(&(!crc(CrcAlgorithm::Crc32Cksum, data) as u32).to_ne_bytes());
}

/// CRC-32C as fio always uses it: from all ones, not inverted at the end.
pub fn crc32c(data: &[u8]) -> u32 {
    !(crc_fast::checksum(CrcAlgorithm::Crc32Iscsi, data) as u32)
}

/// CRC-16/T10-DIF of parts that follow each other: the guard of 16 bits in protection information.
pub fn crc16_t10dif(parts: &[&[u8]]) -> u16 {
    of_parts(CrcAlgorithm::Crc16T10Dif, parts) as u16
}

/// CRC-64/NVME of parts that follow each other: the guard of 64 bits.
pub fn crc64_nvme(parts: &[&[u8]]) -> u64 {
    of_parts(CrcAlgorithm::Crc64Nvme, parts)
}

fn of_parts(algorithm: CrcAlgorithm, parts: &[&[u8]]) -> u64 {
    let mut digest = crc_fast::Digest::new(algorithm);
    for part in parts {
        digest.update(part);
    }
    digest.finalize()
}

#[cfg(test)]
mod tests;
