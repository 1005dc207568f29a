//! jhash: Bob Jenkins's lookup3 hash in the variant of the reference. Part of the seed of skewed distributions.
//!
//! Must not know: the hashed data.

/// Start value of the three words, to which the length is added.
const INITIAL: u32 = 0x61C8_8647;

/// Bytes mixed in at a time.
const BLOCK_BYTES: usize = 12;

/// The hash of some bytes; their length counts modulo 2^32.
///
/// Blocks of 12 bytes before the last add only their bytes 0, 4 and 8, as in the reference; lookup3 adds whole words. The
/// last 1 to 12 bytes are as in lookup3.
pub fn jhash(bytes: &[u8]) -> u32 {
    let mut state = [INITIAL.wrapping_add(bytes.len() as u32); 3];
    let mut rest = bytes;
    while rest.len() > BLOCK_BYTES {
        for (word, place) in state.iter_mut().zip([0, 4, 8]) {
            *word = word.wrapping_add(rest[place].into());
        }
        mix(&mut state);
        rest = &rest[BLOCK_BYTES..];
    }
    if rest.is_empty() {
        return state[2];
    }
    let mut last = [0; BLOCK_BYTES];
    last[..rest.len()].copy_from_slice(rest);
    for (word, bytes) in state.iter_mut().zip(last.as_chunks::<4>().0) {
        *word = word.wrapping_add(u32::from_le_bytes(*bytes));
    }
    finish(&mut state);
    state[2]
}

/// lookup3's reversible mixing of a block: word, word it is mixed with, word that takes the sum, rotation.
fn mix(state: &mut [u32; 3]) {
    for (x, y, z, rotation) in [(0, 2, 1, 4), (1, 0, 2, 6), (2, 1, 0, 8), (0, 2, 1, 16), (1, 0, 2, 19), (2, 1, 0, 4)] {
        state[x] = state[x].wrapping_sub(state[y]) ^ state[y].rotate_left(rotation);
        state[y] = state[y].wrapping_add(state[z]);
    }
}

/// lookup3's final mixing.
fn finish(state: &mut [u32; 3]) {
    for (x, y, rotation) in [(2, 1, 14), (0, 2, 11), (1, 0, 25), (2, 1, 16), (0, 2, 4), (1, 0, 14), (2, 1, 24)] {
        state[x] = (state[x] ^ state[y]).wrapping_sub(state[y].rotate_left(rotation));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Jenkins's published values for "Four score and seven years ago" do not apply (other start, other blocks), so the
    /// mixing is held against a spelt-out lookup3 on one short block.
    #[test]
    fn one_block_is_lookup3() {
        let start = INITIAL + 5;
        let (mut a, mut b, mut c) =
            (start.wrapping_add(u32::from_le_bytes(*b"hell")), start.wrapping_add(u32::from(b'o')), start);
        c = (c ^ b).wrapping_sub(b.rotate_left(14));
        a = (a ^ c).wrapping_sub(c.rotate_left(11));
        b = (b ^ a).wrapping_sub(a.rotate_left(25));
        c = (c ^ b).wrapping_sub(b.rotate_left(16));
        a = (a ^ c).wrapping_sub(c.rotate_left(4));
        b = (b ^ a).wrapping_sub(a.rotate_left(14));
        c = (c ^ b).wrapping_sub(b.rotate_left(24));
        assert_eq!(jhash(b"hello"), c);
    }

    #[test]
    fn nothing_hashes_to_the_start_value() {
        assert_eq!(jhash(b""), INITIAL);
    }

    #[test]
    fn bytes_that_are_not_added_do_not_count() {
        let mut name = *b"a-rather-long-file-name.dat";
        let hash = jhash(&name);
        name[1] ^= 1;
        assert_eq!(jhash(&name), hash);
        name[26] ^= 1;
        assert_ne!(jhash(&name), hash);
    }
}
