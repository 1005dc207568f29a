//! Hashes that fio measures and verification does not use. No kept library here has the first two.
//!
//! Must not know: how speed is measured.

/// `MurmurHash3`, x86, 32 bits (Austin Appleby, public domain).
pub(super) fn murmur3_32(data: &[u8], seed: u32) -> u32 {
    let mixed = |word: u32| word.wrapping_mul(0xCC9E_2D51).rotate_left(15).wrapping_mul(0x1B87_3593);
    let (words, rest) = data.as_chunks::<4>();
    let mut hash = words.iter().fold(seed, |hash, word| {
        (hash ^ mixed(u32::from_le_bytes(*word))).rotate_left(13).wrapping_mul(5).wrapping_add(0xE654_6B64)
    });
    if !rest.is_empty() {
        hash ^= mixed(little_endian(rest));
    }
    hash ^= data.len() as u32;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85EB_CA6B);
    hash = (hash ^ hash >> 13).wrapping_mul(0xC2B2_AE35);
    hash ^ hash >> 16
}

/// Bob Jenkins's lookup3 (`hashlittle`, public domain), on which the kernel's jhash is built.
pub(super) fn lookup3(data: &[u8], seed: u32) -> u32 {
    let start = 0xDEAD_BEEF_u32.wrapping_add(data.len() as u32).wrapping_add(seed);
    let (mut a, mut b, mut c) = (start, start, start);
    let mut left = data;
    while left.len() > 12 {
        let (block, rest) = left.split_at(12);
        a = a.wrapping_add(little_endian(&block[..4]));
        b = b.wrapping_add(little_endian(&block[4..8]));
        c = c.wrapping_add(little_endian(&block[8..]));
        (a, b, c) = mix(a, b, c);
        left = rest;
    }
    if left.is_empty() {
        return c;
    }
    let part = |range: std::ops::Range<usize>| {
        little_endian(left.get(range.start..range.end.min(left.len())).unwrap_or_default())
    };
    a = a.wrapping_add(part(0..4));
    b = b.wrapping_add(part(4..8));
    c = c.wrapping_add(part(8..12));
    last_mix(a, b, c)
}

/// Up to four bytes as a number; the missing ones are 0.
fn little_endian(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn mix(mut a: u32, mut b: u32, mut c: u32) -> (u32, u32, u32) {
    a = a.wrapping_sub(c) ^ c.rotate_left(4);
    c = c.wrapping_add(b);
    b = b.wrapping_sub(a) ^ a.rotate_left(6);
    a = a.wrapping_add(c);
    c = c.wrapping_sub(b) ^ b.rotate_left(8);
    b = b.wrapping_add(a);
    a = a.wrapping_sub(c) ^ c.rotate_left(16);
    c = c.wrapping_add(b);
    b = b.wrapping_sub(a) ^ a.rotate_left(19);
    a = a.wrapping_add(c);
    c = c.wrapping_sub(b) ^ b.rotate_left(4);
    (a, b.wrapping_add(a), c)
}

fn last_mix(mut a: u32, mut b: u32, mut c: u32) -> u32 {
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    (c ^ b).wrapping_sub(b.rotate_left(24))
}

/// FNV-1a, 64 bits.
pub(super) fn fnv1a_64(data: &[u8]) -> u64 {
    data.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that the authors of the hashes publish.
    #[test]
    fn hashes_are_those_of_their_authors() {
        assert_eq!(murmur3_32(b"", 0), 0);
        assert_eq!(murmur3_32(b"", 1), 0x514E_28B7);
        assert_eq!(murmur3_32(&[0x21, 0x43, 0x65, 0x87], 0), 0xF55B_516B);
        assert_eq!(murmur3_32(&[0x21, 0x43, 0x65], 0), 0x7E4A_8634);
        assert_eq!(lookup3(b"", 0), 0xDEAD_BEEF);
        assert_eq!(lookup3(b"", 0xDEAD_BEEF), 0xBD5B_7DDE);
        assert_eq!(lookup3(b"Four score and seven years ago", 0), 0x1777_0551);
        assert_eq!(lookup3(b"Four score and seven years ago", 1), 0xCD62_8161);
        assert_eq!(fnv1a_64(b""), 0xCBF2_9CE4_8422_2325);
        assert_eq!(fnv1a_64(b"foobar"), 0x8594_4171_F739_67E8);
    }
}
