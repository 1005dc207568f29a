//! Checksums by instructions that not every CPU has, where they are faster than what the libraries do: CRC-32C, and the
//! digests of several messages at once.
//!
//! Must not know: what is summed. Start reading at [`crc32c`], then [`md5_of_each`].

#[cfg(target_arch = "x86_64")]
mod carryless;
#[cfg(target_arch = "x86_64")]
mod lanes;
#[cfg(target_arch = "x86_64")]
mod md5;
#[cfg(target_arch = "x86_64")]
mod sha1;

use ferrio_units::checksum;

/// Messages whose digests are made at once.
pub const N_LANES: usize = 8;

/// CRC-32C as [`checksum::crc32c`] has it: from all ones, not inverted at the end.
#[inline]
pub fn crc32c(data: &[u8]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if let Some(crc) = carryless::crc32c(data) {
        return crc;
    }
    checksum::crc32c(data)
}

/// This CPU makes digests of several messages at once.
pub fn has_lanes() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// MD5 of messages of one length; `None`: they are not, or this CPU makes them one by one only.
pub fn md5_of_each(messages: [&[u8]; N_LANES]) -> Option<[[u8; 16]; N_LANES]> {
    #[cfg(target_arch = "x86_64")]
    return Some(md5::of_each(messages)?.map(checksum::md5::bytes_of));
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = messages;
        None
    }
}

/// The words of SHA-1 of messages of one length; `None`: they are not, or this CPU makes them one by one only.
pub fn sha1_of_each(messages: [&[u8]; N_LANES]) -> Option<[[u32; 5]; N_LANES]> {
    #[cfg(target_arch = "x86_64")]
    return sha1::of_each(messages);
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = messages;
        None
    }
}

#[cfg(test)]
mod tests;
