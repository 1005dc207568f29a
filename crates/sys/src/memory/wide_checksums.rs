//! Checksums with instructions that only some CPUs have, if they are faster than the libraries: CRC-32C, and digests of
//! several messages together.
//!
//! Must not know: the data. Start reading at [`crc32c`], then [`md5_of_each`].

#[cfg(target_arch = "x86_64")]
mod carryless;
#[cfg(target_arch = "x86_64")]
mod lanes;
#[cfg(target_arch = "x86_64")]
mod md5;
#[cfg(target_arch = "x86_64")]
mod sha1;
#[cfg(target_arch = "x86_64")]
mod sha256;

use ferrio_units::checksum;

/// Most messages whose digests any CPU makes at once.
pub const MAX_LANES: usize = 16;

/// CRC-32C in the form of [`checksum::crc32c`]: from all ones, not inverted at the end.
#[inline]
pub fn crc32c(data: &[u8]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if let Some(crc) = carryless::crc32c(data) {
        return crc;
    }
    checksum::crc32c(data)
}

/// Numbers of messages for which this CPU computes MD5 and SHA-1 together, largest first; empty: it computes them one
/// by one.
pub fn lane_counts() -> &'static [usize] {
    #[cfg(target_arch = "x86_64")]
    return match (lanes::sixteen::is_there(), lanes::eight::is_there()) {
        (true, _) => &[lanes::sixteen::N_LANES, lanes::eight::N_LANES],
        (false, true) => &[lanes::eight::N_LANES],
        (false, false) => &[],
    };
    #[cfg(not(target_arch = "x86_64"))]
    &[]
}

/// The same for SHA-256, if it does not take longer than one by one: a CPU may have instructions for the digest itself.
pub fn sha256_lane_counts() -> &'static [usize] {
    let counts = lane_counts();
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("sha") {
        return counts.split_last().map_or(counts, |(_, more)| more);
    }
    counts
}

/// Calls `put` with the MD5 of each message; all messages must have one length. False, without any effect: the lengths
/// differ, or their number is not in [`lane_counts`].
pub fn md5_of_each(messages: &[&[u8]], mut put: impl FnMut(usize, [u8; 16])) -> bool {
    #[cfg(target_arch = "x86_64")]
    return md5::DIGEST.of_each(messages, |index, state| put(index, checksum::md5::bytes_of(state)));
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (messages, &mut put);
        false
    }
}

/// The same with the words of SHA-1.
pub fn sha1_of_each(messages: &[&[u8]], mut put: impl FnMut(usize, [u32; 5])) -> bool {
    #[cfg(target_arch = "x86_64")]
    return sha1::DIGEST.of_each(messages, &mut put);
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (messages, &mut put);
        false
    }
}

/// The same with the words of SHA-256 for messages with the padding of [`checksum::sha`], which is not the standard's.
pub fn sha256_of_each(messages: &[&[u8]], mut put: impl FnMut(usize, [u32; 8])) -> bool {
    #[cfg(target_arch = "x86_64")]
    return sha256::DIGEST.of_each(messages, &mut put);
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (messages, &mut put);
        false
    }
}

#[cfg(test)]
mod tests;
