//! Blocks of several messages side by side: a register holds the same word of each message.
//!
//! Registers of 256 bits (`eight`) and of 512 bits (`sixteen`) have the same operations under the same names, so that digests
//! are written once for both.
//!
//! Must not know: which digest is made. Start reading at [`Digest::of_each`], then [`ParallelMessages`] and [`eight`].
#![expect(unsafe_code, reason = "instructions beyond those of every x86-64 may only run where the CPU has them")]

pub(super) mod eight;
pub(super) mod sixteen;

use ferrio_units::checksum::padding::Tail;

/// Bytes of a block of MD5 and SHA-1.
pub(super) const BLOCK_BYTES: usize = 64;

/// A digest of several messages at once.
pub(super) struct Digest<const WORDS: usize> {
    /// Bytes behind the whole blocks of a message.
    pub(super) tail: fn(&[u8]) -> Tail,
    /// In the registers of [`eight`], whose instructions it takes.
    pub(super) of_eight: unsafe fn(&ParallelMessages<'_, { eight::N_LANES }>) -> [[u32; WORDS]; eight::N_LANES],
    pub(super) of_sixteen: unsafe fn(&ParallelMessages<'_, { sixteen::N_LANES }>) -> [[u32; WORDS]; sixteen::N_LANES],
}

impl<const WORDS: usize> Digest<WORDS> {
    /// Calls `put` with the state of each message at its end. False, without any effect: there is no kind of register
    /// with this number of lanes, the lengths differ, or this CPU lacks the instructions.
    pub(super) fn of_each(&self, messages: &[&[u8]], put: impl FnMut(usize, [u32; WORDS])) -> bool {
        if sixteen::is_there()
            && let Some(messages) = ParallelMessages::new(messages, self.tail)
        {
            // SAFETY: the CPU has the instructions.
            give(unsafe { (self.of_sixteen)(&messages) }, put);
            return true;
        }
        if eight::is_there()
            && let Some(messages) = ParallelMessages::new(messages, self.tail)
        {
            // SAFETY: as above.
            give(unsafe { (self.of_eight)(&messages) }, put);
            return true;
        }
        false
    }
}

fn give<const WORDS: usize, const N: usize>(states: [[u32; WORDS]; N], mut put: impl FnMut(usize, [u32; WORDS])) {
    states.into_iter().enumerate().for_each(|(index, state)| put(index, state));
}

/// The function of a digest that goes through all blocks of the messages, for a module that has the registers, the `compress` that
/// takes a block of each, and the state at the start.
macro_rules! digest_by_blocks {
    ($instructions:literal, $start:ident) => {
        #[target_feature(enable = $instructions)]
        pub(super) fn digest(messages: &ParallelMessages<'_, N_LANES>) -> [[u32; $start.len()]; N_LANES] {
            let mut state = [splat(0); $start.len()];
            for (register, word) in state.iter_mut().zip($start) {
                *register = splat(word);
            }
            for blocks in messages.runs() {
                for index in 0..blocks[0].len() {
                    compress(&mut state, words(blocks.map(|blocks| &blocks[index])));
                }
            }
            states(state)
        }
    };
}
pub(super) use digest_by_blocks;

/// `N` messages of one length.
pub(super) struct ParallelMessages<'a, const N: usize> {
    whole: [&'a [[u8; BLOCK_BYTES]]; N],
    tails: [Tail; N],
}

impl<'a, const N: usize> ParallelMessages<'a, N> {
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
