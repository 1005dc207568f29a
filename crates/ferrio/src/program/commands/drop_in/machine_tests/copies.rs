//! Speed of copies in memory, by size and way.
//!
//! Must not know: outputs. Start reading at [`mib_per_sec`].

use super::speed;
use std::hint::black_box;

/// Sizes of a copy, bytes.
pub(super) const SIZES: [usize; 11] = [8, 16, 96, 128, 256, 512, 2048, 8192, 131_072, 262_144, 524_288];

/// Copies below this size are made byte by byte in the way `hybrid`.
const HYBRID_BYTES: usize = 64;

/// Both buffers are walked through, so that small copies are not always those of the same bytes.
const BUFFER_BYTES: usize = 1 << 20;

/// Speed of copies of a size, in a way of the list.
pub(super) fn mib_per_sec(name: &str, n_bytes: usize) -> f64 {
    let copy: fn(&mut [u8], usize, usize) = match name {
        "memmove" => memmove,
        "simple" => simple,
        "hybrid" if n_bytes < HYBRID_BYTES => simple,
        _ => memcpy,
    };
    let mut buffer = vec![0x5A; 2 * BUFFER_BYTES];
    let mut at = 0;
    speed(n_bytes, || {
        copy(black_box(&mut buffer), at, n_bytes);
        at = if at + 2 * n_bytes <= BUFFER_BYTES { at + n_bytes } else { 0 };
    })
}

/// Both halves of the buffer do not overlap.
fn memcpy(buffer: &mut [u8], at: usize, n_bytes: usize) {
    let (from, to) = buffer.split_at_mut(BUFFER_BYTES);
    to[at..at + n_bytes].copy_from_slice(&from[at..at + n_bytes]);
}

fn memmove(buffer: &mut [u8], at: usize, n_bytes: usize) {
    buffer.copy_within(at..at + n_bytes, BUFFER_BYTES + at);
}

/// Byte by byte, which the compiler may not turn into one of the others.
fn simple(buffer: &mut [u8], at: usize, n_bytes: usize) {
    let (from, to) = buffer.split_at_mut(BUFFER_BYTES);
    for (to, from) in to[at..at + n_bytes].iter_mut().zip(&from[at..at + n_bytes]) {
        *to = black_box(*from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_copies_its_bytes_and_no_others() {
        for copy in [memcpy, memmove, simple] {
            let mut buffer: Vec<u8> = (0..2 * BUFFER_BYTES).map(|index| (index % 251) as u8).collect();
            let before = buffer.clone();
            copy(&mut buffer, 1_000, 300);
            let end = BUFFER_BYTES + 1_300;
            assert_eq!(buffer[BUFFER_BYTES + 1_000..end], before[1_000..1_300]);
            assert!(buffer[..BUFFER_BYTES + 1_000] == before[..BUFFER_BYTES + 1_000] && buffer[end..] == before[end..]);
        }
    }
}
