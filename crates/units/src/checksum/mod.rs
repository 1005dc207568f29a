//! Checksums in the forms in which the reference stores them in verified blocks. Some are no textbook forms; each says so.
//!
//! Must not know: headers, blocks. Start reading at [`Checksum`].
//! Facts: reference "Verify header", table of methods.

mod crc7;
pub mod md5;
pub mod padding;
pub mod sha;

use crc_fast::CrcAlgorithm;
use sha3::Digest;

/// Bytes of the longest stored form (SHA-512).
pub const MAX_CHECKSUM_BYTES: usize = 128;

/// A checksum over some bytes, in its stored form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Checksum {
    /// MD5.
    Md5,
    /// CRC-64, reflected polynomial 0x95AC9329AC4BC9B5, from 0.
    Crc64,
    /// CRC-32 by the most significant bit first, polynomial 0x04C11DB7, from 0, not inverted: not that of zlib.
    Crc32,
    /// CRC-32C from all ones, not inverted at the end.
    Crc32c,
    /// CRC-16/ARC.
    Crc16,
    /// CRC-7, polynomial 0x09, in the low bits of a byte.
    Crc7,
    /// A form of SHA-256 of the reference's own: see `sha.rs`.
    Sha256,
    /// SHA-512, followed by half of the last block of the padded message.
    Sha512,
    /// What fio up to 3.33 (at least) stores for SHA-512, which is none: see `sha.rs`.
    Sha512Unfinished,
    /// SHA3-224.
    Sha3_224,
    /// SHA3-256.
    Sha3_256,
    /// SHA3-384.
    Sha3_384,
    /// SHA3-512.
    Sha3_512,
    /// XXH32 with the seed 1.
    Xxh32,
    /// SHA-1 as five words in the order of bytes of the machine.
    Sha1,
    /// XXH3 of 64 bits, little endian: ferrio's own.
    Xxh3,
}

impl Checksum {
    /// Bytes of the stored form.
    pub const fn n_bytes(self) -> usize {
        match self {
            Self::Crc7 => 1,
            Self::Crc16 => 2,
            Self::Crc32 | Self::Crc32c | Self::Xxh32 => 4,
            Self::Crc64 | Self::Xxh3 => 8,
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha3_224 => 28,
            Self::Sha3_256 => 32,
            Self::Sha3_384 => 48,
            Self::Sha256 | Self::Sha3_512 => 64,
            Self::Sha512 | Self::Sha512Unfinished => 128,
        }
    }

    /// Writes the stored form over `data` to `out`.
    ///
    /// # Panics
    /// If `out` is not [`Checksum::n_bytes`] bytes long.
    pub fn store(self, data: &[u8], out: &mut [u8]) {
        let crc = |algorithm| crc_fast::checksum(algorithm, data);
        match self {
            Self::Md5 => out.copy_from_slice(&md5::md5(data)),
            Self::Crc64 => out.copy_from_slice(&crc(CrcAlgorithm::Crc64Redis).to_ne_bytes()),
            // Of the same polynomial and start, but inverted at the end.
            Self::Crc32 => out.copy_from_slice(&(!crc(CrcAlgorithm::Crc32Cksum) as u32).to_ne_bytes()),
            Self::Crc32c => out.copy_from_slice(&crc32c(data).to_ne_bytes()),
            Self::Crc16 => out.copy_from_slice(&(crc(CrcAlgorithm::Crc16Arc) as u16).to_ne_bytes()),
            Self::Crc7 => out.copy_from_slice(&[crc7::crc7(data)]),
            Self::Sha256 => sha::store_256(data, out),
            Self::Sha512 => sha::store_512(data, out),
            Self::Sha512Unfinished => sha::store_512_unfinished(data, out),
            Self::Sha3_224 => out.copy_from_slice(&sha3::Sha3_224::digest(data)),
            Self::Sha3_256 => out.copy_from_slice(&sha3::Sha3_256::digest(data)),
            Self::Sha3_384 => out.copy_from_slice(&sha3::Sha3_384::digest(data)),
            Self::Sha3_512 => out.copy_from_slice(&sha3::Sha3_512::digest(data)),
            Self::Xxh32 => out.copy_from_slice(&xxhash_rust::xxh32::xxh32(data, 1).to_ne_bytes()),
            Self::Sha1 => sha::store_1(data, out),
            Self::Xxh3 => out.copy_from_slice(&xxhash_rust::xxh3::xxh3_64(data).to_le_bytes()),
        }
    }
}

/// CRC-32C as the reference has it wherever it uses one: from all ones, not inverted at the end.
pub fn crc32c(data: &[u8]) -> u32 {
    !(crc_fast::checksum(CrcAlgorithm::Crc32Iscsi, data) as u32)
}

#[cfg(test)]
mod tests;
