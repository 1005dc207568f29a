//! Memory filled with the words of four interleaved sequences, each word a multiple of the one before: with the widest
//! multiplication that this CPU has, chosen when the program runs.
//!
//! Must not know: what the words are for. Start reading at [`fill`].
//! Words further on are known without those between them (a factor to the power of the distance), so that several groups
//! of four are made at once and none waits for another.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "instructions beyond those of every x86-64 may only run where the CPU has them")
)]

#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::{
    __m256i, __m512i, _mm256_add_epi64, _mm256_loadu_si256, _mm256_mul_epu32, _mm256_set1_epi64x, _mm256_slli_epi64,
    _mm256_srli_epi64, _mm256_storeu_si256, _mm512_loadu_si512, _mm512_mullo_epi64, _mm512_set1_epi64,
    _mm512_storeu_si512,
};

/// Interleaved sequences.
const N_LANES: usize = 4;
/// Bytes of one word of each lane.
const GROUP_BYTES: usize = N_LANES * size_of::<u64>();
/// Registers that are in work at once: no product waits for the one before.
#[cfg(target_arch = "x86_64")]
const N_REGISTERS: usize = 4;

/// Fills whole groups of 32 bytes with the next little-endian words of the lanes, moves the lanes on, and gives back the
/// rest of the buffer, shorter than a group. The words are the same on every machine.
#[inline]
pub fn fill<'a>(lanes: &mut [u64; N_LANES], factor: u64, buffer: &'a mut [u8]) -> &'a mut [u8] {
    let rest = fill_wide(lanes, factor, buffer);
    fill_narrow(lanes, factor, rest)
}

/// With what every CPU has.
fn fill_narrow<'a>(lanes: &mut [u64; N_LANES], factor: u64, buffer: &'a mut [u8]) -> &'a mut [u8] {
    let (groups, rest) = buffer.as_chunks_mut::<GROUP_BYTES>();
    let mut words = *lanes;
    for group in groups {
        for (bytes, word) in group.as_chunks_mut().0.iter_mut().zip(&mut words) {
            *bytes = word.to_le_bytes();
            *word = word.wrapping_mul(factor);
        }
    }
    *lanes = words;
    rest
}

/// As much as wide instructions do, where there are any; gives back the rest.
#[cfg(target_arch = "x86_64")]
#[inline]
fn fill_wide<'a>(lanes: &mut [u64; N_LANES], factor: u64, buffer: &'a mut [u8]) -> &'a mut [u8] {
    if has_avx512() {
        // SAFETY: the CPU has the instructions.
        unsafe { fill_avx512(lanes, factor, buffer) }
    } else if is_x86_feature_detected!("avx2") {
        // SAFETY: as above.
        unsafe { fill_avx2(lanes, factor, buffer) }
    } else {
        buffer
    }
}

/// As much as wide instructions do: there are none that multiply 64 bits.
#[cfg(not(target_arch = "x86_64"))]
fn fill_wide<'a>(_lanes: &mut [u64; N_LANES], _factor: u64, buffer: &'a mut [u8]) -> &'a mut [u8] {
    buffer
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq")
}

/// The next `WORDS` words, in the order of memory.
#[cfg(target_arch = "x86_64")]
fn words_ahead<const WORDS: usize>(lanes: [u64; N_LANES], factor: u64) -> [u64; WORDS] {
    let mut words = [0; WORDS];
    words[..N_LANES].copy_from_slice(&lanes);
    for index in N_LANES..WORDS {
        words[index] = words[index - N_LANES].wrapping_mul(factor);
    }
    words
}

/// 256 bytes at a time: a multiplication of eight words is one instruction.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq")]
fn fill_avx512<'a>(lanes: &mut [u64; N_LANES], factor: u64, buffer: &'a mut [u8]) -> &'a mut [u8] {
    const REGISTER_WORDS: usize = size_of::<__m512i>() / size_of::<u64>();
    const WORDS: usize = N_REGISTERS * REGISTER_WORDS;
    let (chunks, rest) = buffer.as_chunks_mut::<{ WORDS * size_of::<u64>() }>();
    let words: [u64; WORDS] = words_ahead(*lanes, factor);
    let step = _mm512_set1_epi64(factor.wrapping_pow((WORDS / N_LANES) as u32).cast_signed());
    let mut registers = [step; N_REGISTERS];
    for (register, words) in registers.iter_mut().zip(words.as_chunks::<REGISTER_WORDS>().0) {
        // SAFETY: the array is as long as a register, and may lie anywhere.
        *register = unsafe { _mm512_loadu_si512(words.as_ptr().cast()) };
    }
    for chunk in chunks {
        for (bytes, register) in chunk.as_chunks_mut::<{ size_of::<__m512i>() }>().0.iter_mut().zip(&mut registers) {
            // SAFETY: the array is as long as a register, and may lie anywhere.
            unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), *register) };
            *register = _mm512_mullo_epi64(*register, step);
        }
    }
    let mut next = [0; REGISTER_WORDS];
    // SAFETY: as above.
    unsafe { _mm512_storeu_si512(next.as_mut_ptr().cast(), registers[0]) };
    lanes.copy_from_slice(&next[..N_LANES]);
    rest
}

/// 128 bytes at a time: a multiplication of four words is made of three of halves.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn fill_avx2<'a>(lanes: &mut [u64; N_LANES], factor: u64, buffer: &'a mut [u8]) -> &'a mut [u8] {
    const WORDS: usize = N_REGISTERS * N_LANES;
    let (chunks, rest) = buffer.as_chunks_mut::<{ WORDS * size_of::<u64>() }>();
    let words: [u64; WORDS] = words_ahead(*lanes, factor);
    let step = _mm256_set1_epi64x(factor.wrapping_pow(N_REGISTERS as u32).cast_signed());
    let step_high = _mm256_srli_epi64::<32>(step);
    let mut registers = [step; N_REGISTERS];
    for (register, words) in registers.iter_mut().zip(words.as_chunks::<N_LANES>().0) {
        // SAFETY: the array is as long as a register, and may lie anywhere.
        *register = unsafe { _mm256_loadu_si256(words.as_ptr().cast()) };
    }
    for chunk in chunks {
        for (bytes, register) in chunk.as_chunks_mut::<GROUP_BYTES>().0.iter_mut().zip(&mut registers) {
            // SAFETY: the array is as long as a register, and may lie anywhere.
            unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), *register) };
            *register = multiply_avx2(*register, step, step_high);
        }
    }
    // SAFETY: as above.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), registers[0]) };
    rest
}

/// Lower halves of the products of four words: (a * 2^32 + b)(c * 2^32 + d) is (ad + bc) * 2^32 + bd below 2^64.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn multiply_avx2(words: __m256i, step: __m256i, step_high: __m256i) -> __m256i {
    let upper = _mm256_mul_epu32(_mm256_srli_epi64::<32>(words), step);
    let crossed = _mm256_add_epi64(upper, _mm256_mul_epu32(words, step_high));
    _mm256_add_epi64(_mm256_slli_epi64::<32>(crossed), _mm256_mul_epu32(words, step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Word by word.
    fn plain(lanes: &mut [u64; N_LANES], factor: u64, n_groups: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for _ in 0..n_groups {
            for lane in &mut *lanes {
                bytes.extend(lane.to_le_bytes());
                *lane = lane.wrapping_mul(factor);
            }
        }
        bytes
    }

    type Fill = for<'a> fn(&mut [u64; N_LANES], u64, &'a mut [u8]) -> &'a mut [u8];

    /// All ways that this machine has.
    fn ways() -> Vec<Fill> {
        let mut ways: Vec<Fill> = vec![fill, fill_narrow];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                // SAFETY: the CPU has the instructions.
                ways.push(|lanes, factor, buffer| unsafe { fill_avx2(lanes, factor, buffer) });
            } else {
                eprintln!("SKIPPED every_way_gives_the_same_words with AVX2: the CPU has none");
            }
            if has_avx512() {
                // SAFETY: the CPU has the instructions.
                ways.push(|lanes, factor, buffer| unsafe { fill_avx512(lanes, factor, buffer) });
            } else {
                eprintln!("SKIPPED every_way_gives_the_same_words with AVX-512: the CPU has none");
            }
        }
        ways
    }

    proptest! {
        #[test]
        fn every_way_gives_the_same_words(
            seeds in any::<[u64; N_LANES]>(),
            factor in any::<u64>(),
            lengths in prop::collection::vec(0usize..1_000, 1..4),
        ) {
            for way in ways() {
                let (mut lanes, mut expected_lanes) = (seeds, seeds);
                for length in &lengths {
                    let mut buffer = vec![0xee; *length];
                    let n_filled = length - way(&mut lanes, factor, &mut buffer).len();
                    prop_assert!(length - n_filled < 8 * GROUP_BYTES && n_filled.is_multiple_of(GROUP_BYTES));
                    let expected = plain(&mut expected_lanes, factor, n_filled / GROUP_BYTES);
                    prop_assert_eq!(&buffer[..n_filled], expected);
                    prop_assert!(buffer[n_filled..].iter().all(|byte| *byte == 0xee), "the rest is left alone");
                    prop_assert_eq!(lanes, expected_lanes);
                }
            }
        }
    }

    #[test]
    fn all_whole_groups_are_filled() {
        for length in 0..300 {
            let mut buffer = vec![0; length];
            assert_eq!(fill(&mut [1, 2, 3, 5], 7, &mut buffer).len(), length % GROUP_BYTES);
        }
    }
}
