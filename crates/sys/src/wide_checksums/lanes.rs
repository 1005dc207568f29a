//! Blocks of several messages side by side: a register holds the same word of each.
//!
//! Registers of 256 bits (`eight`) and of 512 bits (`sixteen`) have the same operations under the same names, so that digests
//! are written once for both.
//!
//! Must not know: which digest is made. Start reading at [`Messages`], then [`eight`].

pub(super) mod eight;
pub(super) mod sixteen;

use ferrio_units::checksum::padding::Tail;

/// Bytes of a block of MD5 and SHA-1.
pub(super) const BLOCK_BYTES: usize = 64;

/// `N` messages of one length.
pub(super) struct Messages<'a, const N: usize> {
    whole: [&'a [[u8; BLOCK_BYTES]]; N],
    tails: [Tail; N],
}

impl<'a, const N: usize> Messages<'a, N> {
    /// `None`: there are more or fewer, or their lengths differ.
    pub(super) fn new(messages: &[&'a [u8]], tail: fn(&[u8]) -> Tail) -> Option<Self> {
        let messages: [&[u8]; N] = messages.try_into().ok()?;
        if messages.iter().any(|message| message.len() != messages[0].len()) {
            return None;
        }
        Some(Self { whole: messages.map(|message| message.as_chunks().0), tails: messages.map(tail) })
    }

    /// All their blocks, in two runs.
    pub(super) fn runs(&self) -> [[&[[u8; BLOCK_BYTES]]; N]; 2] {
        [self.whole, self.tails.each_ref().map(Tail::blocks)]
    }
}
