//! `buffer_compress_percentage`, `buffer_compress_chunk` and `buffer_pattern`, measured with zlib.

use super::{Written, assert_near, buffers};

const BLOCK_BYTES: usize = 64 << 10;
const N_BLOCKS: usize = 16;

/// Piece sizes: one sector, a size that divides nothing, a page, the whole block in both spellings.
const CHUNKS: [u64; 5] = [512, 3_000, 4_096, BLOCK_BYTES as u64, 0];

#[test]
fn data_compresses_as_asked() {
    for chunk_bytes in CHUNKS {
        for percent in (10..=90).step_by(10) {
            let spec = buffers(|spec| (spec.compress_percent, spec.compress_chunk_bytes) = (percent, chunk_bytes));
            let written = Written::new(&spec, BLOCK_BYTES, N_BLOCKS);
            let what = format!("{percent} % in pieces of {chunk_bytes}");
            assert_near(written.compressed_percent(), percent.into(), &what);
        }
    }
}

#[test]
fn patterns_compress_like_zeroes() {
    let long: Vec<u8> = (0..=255).collect();
    for pattern in [vec![0xAB], b"ferrio".to_vec(), long] {
        for chunk_bytes in CHUNKS {
            for percent in [10, 50, 90] {
                let spec = buffers(|spec| {
                    (spec.compress_percent, spec.compress_chunk_bytes) = (percent, chunk_bytes);
                    spec.pattern = Some(pattern.clone());
                });
                let written = Written::new(&spec, BLOCK_BYTES, N_BLOCKS);
                let what = format!("{percent} % of {} bytes in pieces of {chunk_bytes}", pattern.len());
                assert_near(written.compressed_percent(), percent.into(), &what);
                assert!(pattern.iter().all(|byte| written.bytes[BLOCK_BYTES / 2..].contains(byte)), "{what}");
            }
        }
    }
}

#[test]
fn random_data_does_not_compress_and_zeroes_do() {
    let random = Written::new(&buffers(|spec| spec.refill = true), BLOCK_BYTES, N_BLOCKS);
    assert_near(random.compressed_percent(), 0.0, "random data");
    let zeroes = Written::new(&buffers(|spec| spec.compress_percent = 100), BLOCK_BYTES, N_BLOCKS);
    assert_near(zeroes.compressed_percent(), 100.0, "zeroes");
}

/// Each block needs its own seed: equal bytes in two blocks would be found only by a compressor with a long range.
#[test]
fn no_block_is_written_twice() {
    for percent in [10, 50, 90] {
        let written = Written::new(&buffers(|spec| spec.compress_percent = percent), 4_096, 2_000);
        assert!(written.duplicate_percent() == 0.0, "{percent}");
    }
}
