//! Any bytes as the answer of an HTTP server: data, or a fault in words, never a panic; and the same in whatever pieces they come.
//!
//! The first two bytes choose the pieces, the size of the block and what the answer is for.
#![no_main]

use ferrio_engine::fuzzing::http_answer;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [pieces, shape, bytes @ ..] = data else { return };
    let (block_bytes, reads) = (usize::from(shape >> 1), shape & 1 == 0);
    let whole = http_answer(bytes, bytes.len(), block_bytes, reads);
    let in_pieces = http_answer(bytes, usize::from(*pieces) + 1, block_bytes, reads);
    assert_eq!(whole.block.len(), block_bytes);
    // Only of a whole answer all is the same: of one with a fault, more or less may have been taken before it.
    assert_eq!(whole.error.is_some(), in_pieces.error.is_some(), "{whole:?} {in_pieces:?}");
    if whole.error.is_none() {
        assert_eq!(whole, in_pieces);
    }
    for text in [&whole.error, &whole.reason].into_iter().flatten() {
        assert!(!text.is_empty() && !text.contains(char::is_control), "{text:?}");
    }
});
