//! The forms of SHA-1, SHA-256 and SHA-512 that fio stores.
//!
//! - SHA-1: its five words, each in the order of bytes of the machine.
//! - SHA-256: the message is padded with its length in bits *little endian*, so that no state is that of the standard;
//!   stored are the low byte of each of the eight words of the state, then bytes 8 to 63 of the last block of the padded
//!   message.
//! - SHA-512: the standard digest, then bytes 64 to 127 of the last block of the padded message.
//! - SHA-512 of fio 3.33, as seen in its files: the first block of the message, its front overwritten with what follows the
//!   last whole block. It says nothing of the blocks between.
//!
//! Must not know: headers, blocks of files. Start reading at [`state_256`].

use super::padding::{Tail, n_bits, pad};
use sha2::Digest;
use sha2::digest::block_buffer::EagerBuffer;
use sha2::digest::consts::U64;
use sha2::digest::generic_array::GenericArray;

/// State of SHA-256 at the start: FIPS 180-4, section 5.3.3.
pub const START_256: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

pub(super) fn store_1(data: &[u8], out: &mut [u8]) {
    let digest = sha1::Sha1::digest(data);
    for (word, stored) in digest.chunks_exact(4).zip(out.chunks_exact_mut(4)) {
        // The digest has its words big endian.
        let word = u32::from_be_bytes([word[0], word[1], word[2], word[3]]);
        stored.copy_from_slice(&word.to_ne_bytes());
    }
}

/// The state of SHA-256 after a message, padded as said above.
pub fn state_256(data: &[u8]) -> [u32; 8] {
    let mut state = START_256;
    // All whole blocks at once: one by one each costs a look for the CPU's instructions, and the state goes to memory and back.
    EagerBuffer::<U64>::default().digest_blocks(data, |blocks| sha2::compress256(&mut state, blocks));
    for block in Tail::little_endian(data).blocks() {
        sha2::compress256(&mut state, std::slice::from_ref(GenericArray::from_slice(block)));
    }
    state
}

/// The stored form of SHA-256 over `data`, from the state after it.
pub fn stored_256(state: [u32; 8], data: &[u8]) -> [u8; 64] {
    // One or two blocks, never none.
    let mut stored = Tail::little_endian(data).blocks().last().copied().unwrap_or([0; 64]);
    for (stored, word) in stored.iter_mut().zip(state) {
        *stored = word as u8;
    }
    stored
}

pub(super) fn store_256(data: &[u8], out: &mut [u8]) {
    out.copy_from_slice(&stored_256(state_256(data), data));
}

pub(super) fn store_512(data: &[u8], out: &mut [u8]) {
    let mut tail = [0; 256];
    let n_tail = pad::<16>(data.chunks_exact(128).remainder(), &mut tail);
    tail[n_tail - 8..n_tail].copy_from_slice(&n_bits(data).to_be_bytes());
    let (digest, rest) = out.split_at_mut(64);
    digest.copy_from_slice(&sha2::Sha512::digest(data));
    rest.copy_from_slice(&tail[n_tail - 64..n_tail]);
}

pub(super) fn store_512_unfinished(data: &[u8], out: &mut [u8]) {
    let n_first = data.len().min(out.len());
    out.fill(0);
    out[..n_first].copy_from_slice(&data[..n_first]);
    let rest = data.chunks_exact(128).remainder();
    out[..rest.len()].copy_from_slice(rest);
}
