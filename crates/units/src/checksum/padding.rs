//! The end of a message as MD5, SHA-1 and SHA-2 make it: a bit after it, zeroes, and its length in the last bytes of a block.
//!
//! Must not know: digests. Start reading at [`Tail`].

/// The one or two blocks behind the last whole block of 64 bytes.
#[derive(Debug, Clone, Copy)]
pub struct Tail {
    bytes: [u8; 128],
    n_bytes: usize,
}

impl Tail {
    /// The end of a message with its length in bits little endian, as in MD5.
    pub fn little_endian(data: &[u8]) -> Self {
        Self::new(data, n_bits(data).to_le_bytes())
    }

    /// The same big endian, as in SHA-1.
    pub fn big_endian(data: &[u8]) -> Self {
        Self::new(data, n_bits(data).to_be_bytes())
    }

    fn new(data: &[u8], length: [u8; 8]) -> Self {
        let mut bytes = [0; 128];
        let n_bytes = pad::<8>(data.as_chunks::<64>().1, &mut bytes);
        bytes[n_bytes - 8..n_bytes].copy_from_slice(&length);
        Self { bytes, n_bytes }
    }

    pub fn blocks(&self) -> &[[u8; 64]] {
        self.bytes[..self.n_bytes].as_chunks().0
    }
}

/// The length in bits. Cannot overflow: no slice is longer than 2^60 bytes.
pub(super) fn n_bits(data: &[u8]) -> u64 {
    data.len() as u64 * 8
}

/// Puts the rest of a message (less than a block) and the bit after it at the front of `tail`, which has room for two
/// blocks and is zero. Returns the length of the one or two blocks, at whose end `LENGTH` bytes are free.
pub(super) fn pad<const LENGTH: usize>(rest: &[u8], tail: &mut [u8]) -> usize {
    tail[..rest.len()].copy_from_slice(rest);
    tail[rest.len()] = 0x80;
    let block_bytes = tail.len() / 2;
    if rest.len() + 1 + LENGTH <= block_bytes { block_bytes } else { 2 * block_bytes }
}
