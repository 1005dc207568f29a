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
    _mm256_srli_epi64, _mm256_storeu_si256, _mm512_broadcast_i64x4, _mm512_castsi512_si256, _mm512_extracti64x4_epi64,
    _mm512_mullo_epi64, _mm512_set_epi64, _mm512_set1_epi64, _mm512_storeu_si512,
};

/// Interleaved sequences.
const N_LANES: usize = 4;
/// Bytes of one word of each lane.
const GROUP_BYTES: usize = N_LANES * size_of::<u64>();
/// Registers that are in work at once: no product waits for the one before.
#[cfg(target_arch = "x86_64")]
const N_REGISTERS: usize = 4;

/// Fills whole groups of 32 bytes with the next little-endian words of the lanes, moves the lanes on by `FACTOR` each, and
/// gives back the rest of the buffer, shorter than a group. The words are the same on every machine.
#[inline]
pub fn fill<'a, const FACTOR: u64>(lanes: &mut [u64; N_LANES], buffer: &'a mut [u8]) -> &'a mut [u8] {
    let n_whole_bytes = buffer.len() / GROUP_BYTES * GROUP_BYTES;
    let (groups, rest) = buffer.split_at_mut(n_whole_bytes);
    if !fill_wide::<FACTOR>(lanes, groups) {
        fill_narrow::<FACTOR>(lanes, groups);
    }
    rest
}

/// With what every CPU has.
fn fill_narrow<const FACTOR: u64>(lanes: &mut [u64; N_LANES], buffer: &mut [u8]) {
    let mut words = *lanes;
    for group in buffer.as_chunks_mut::<GROUP_BYTES>().0 {
        for (bytes, word) in group.as_chunks_mut().0.iter_mut().zip(&mut words) {
            *bytes = word.to_le_bytes();
            *word = word.wrapping_mul(FACTOR);
        }
    }
    *lanes = words;
}

/// With wide instructions; false, and nothing is done, where there are none.
#[cfg(target_arch = "x86_64")]
#[inline]
fn fill_wide<const FACTOR: u64>(lanes: &mut [u64; N_LANES], buffer: &mut [u8]) -> bool {
    if has_avx512() {
        // SAFETY: the CPU has the instructions.
        unsafe { fill_avx512::<FACTOR>(lanes, buffer) }
    } else if is_x86_feature_detected!("avx2") {
        // SAFETY: as above.
        unsafe { fill_avx2::<FACTOR>(lanes, buffer) }
    } else {
        return false;
    }
    true
}

/// With wide instructions: there are none that multiply 64 bits.
#[cfg(not(target_arch = "x86_64"))]
fn fill_wide<const FACTOR: u64>(_lanes: &mut [u64; N_LANES], _buffer: &mut [u8]) -> bool {
    false
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq")
}

/// What a lane is multiplied with to be so many words further on.
#[cfg(target_arch = "x86_64")]
const fn ahead(factor: u64, n_words: u32) -> i64 {
    factor.wrapping_pow(n_words).cast_signed()
}

/// 256 bytes at a time, then what is left of them: a multiplication of eight words, two of each lane, is one instruction.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq")]
fn fill_avx512<const FACTOR: u64>(lanes: &mut [u64; N_LANES], buffer: &mut [u8]) {
    const REGISTER_BYTES: usize = size_of::<__m512i>();
    let next = const { ahead(FACTOR, 1) };
    let both = _mm512_set_epi64(next, next, next, next, 1, 1, 1, 1);
    let first = _mm512_mullo_epi64(_mm512_broadcast_i64x4(load(lanes)), both);
    let mut registers = [first; N_REGISTERS];
    let starts = const { [ahead(FACTOR, 2), ahead(FACTOR, 4), ahead(FACTOR, 6)] };
    for (register, start) in registers[1..].iter_mut().zip(starts) {
        *register = _mm512_mullo_epi64(first, _mm512_set1_epi64(start));
    }
    let step = _mm512_set1_epi64(const { ahead(FACTOR, 8) });
    let (chunks, tail) = buffer.as_chunks_mut::<{ N_REGISTERS * REGISTER_BYTES }>();
    for chunk in chunks {
        for (bytes, register) in chunk.as_chunks_mut::<REGISTER_BYTES>().0.iter_mut().zip(&mut registers) {
            // SAFETY: the array is as long as a register, and may lie anywhere.
            unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), *register) };
            *register = _mm512_mullo_epi64(*register, step);
        }
    }
    if tail.is_empty() {
        // Which register is last is known then: none has to go through memory.
        return store_words(lanes, _mm512_castsi512_si256(registers[0]));
    }
    let (wholes, half) = tail.as_chunks_mut::<REGISTER_BYTES>();
    for (bytes, register) in wholes.iter_mut().zip(&registers) {
        // SAFETY: as above.
        unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), *register) };
    }
    let last = registers[wholes.len()];
    if let [group] = half.as_chunks_mut().0 {
        store(group, _mm512_castsi512_si256(last));
        store_words(lanes, _mm512_extracti64x4_epi64::<1>(last));
    } else {
        store_words(lanes, _mm512_castsi512_si256(last));
    }
}

/// 128 bytes at a time, then what is left of them: a multiplication of four words is made of three of halves.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn fill_avx2<const FACTOR: u64>(lanes: &mut [u64; N_LANES], buffer: &mut [u8]) {
    let first = load(lanes);
    let mut registers = [first; N_REGISTERS];
    let starts = const { [ahead(FACTOR, 1), ahead(FACTOR, 2), ahead(FACTOR, 3)] };
    for (register, start) in registers[1..].iter_mut().zip(starts) {
        *register = multiply_avx2(first, start);
    }
    let (chunks, tail) = buffer.as_chunks_mut::<{ N_REGISTERS * GROUP_BYTES }>();
    for chunk in chunks {
        for (group, register) in chunk.as_chunks_mut().0.iter_mut().zip(&mut registers) {
            store(group, *register);
            *register = multiply_avx2(*register, const { ahead(FACTOR, 4) });
        }
    }
    if tail.is_empty() {
        return store_words(lanes, registers[0]);
    }
    let groups = tail.as_chunks_mut().0;
    for (group, register) in groups.iter_mut().zip(&registers) {
        store(group, *register);
    }
    store_words(lanes, registers[groups.len()]);
}

/// Lower halves of the products of four words: (a * 2^32 + b)(c * 2^32 + d) is (ad + bc) * 2^32 + bd below 2^64.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn multiply_avx2(words: __m256i, factor: i64) -> __m256i {
    let (factor, factor_high) = (_mm256_set1_epi64x(factor), _mm256_set1_epi64x(factor >> 32));
    let upper = _mm256_mul_epu32(_mm256_srli_epi64::<32>(words), factor);
    let crossed = _mm256_add_epi64(upper, _mm256_mul_epu32(words, factor_high));
    _mm256_add_epi64(_mm256_slli_epi64::<32>(crossed), _mm256_mul_epu32(words, factor))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
#[inline]
fn load(lanes: &[u64; N_LANES]) -> __m256i {
    // SAFETY: the array is as long as a register, and may lie anywhere.
    unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
#[inline]
fn store(group: &mut [u8; GROUP_BYTES], words: __m256i) {
    // SAFETY: the array is as long as a register, and may lie anywhere.
    unsafe { _mm256_storeu_si256(group.as_mut_ptr().cast(), words) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
#[inline]
fn store_words(lanes: &mut [u64; N_LANES], words: __m256i) {
    // SAFETY: the array is as long as a register, and may lie anywhere.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), words) }
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

    type Fill = fn(&mut [u64; N_LANES], &mut [u8]);

    /// All ways that this machine has to fill whole groups.
    fn ways<const FACTOR: u64>() -> Vec<Fill> {
        let mut ways: Vec<Fill> = vec![fill_narrow::<FACTOR>, |lanes, buffer| {
            assert!(fill::<FACTOR>(lanes, buffer).is_empty());
        }];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                // SAFETY: the CPU has the instructions.
                ways.push(|lanes, buffer| unsafe { fill_avx2::<FACTOR>(lanes, buffer) });
            } else {
                eprintln!("SKIPPED every_way_gives_the_same_words with AVX2: the CPU has none");
            }
            if has_avx512() {
                // SAFETY: the CPU has the instructions.
                ways.push(|lanes, buffer| unsafe { fill_avx512::<FACTOR>(lanes, buffer) });
            } else {
                eprintln!("SKIPPED every_way_gives_the_same_words with AVX-512: the CPU has none");
            }
        }
        ways
    }

    fn check<const FACTOR: u64>(seeds: [u64; N_LANES], lengths: &[usize]) -> Result<(), TestCaseError> {
        for way in ways::<FACTOR>() {
            let (mut lanes, mut expected_lanes) = (seeds, seeds);
            for n_groups in lengths {
                let mut buffer = vec![0xee; n_groups * GROUP_BYTES];
                way(&mut lanes, &mut buffer);
                prop_assert_eq!(&buffer, &plain(&mut expected_lanes, FACTOR, *n_groups));
                prop_assert_eq!(lanes, expected_lanes);
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn every_way_gives_the_same_words(
            seeds in any::<[u64; N_LANES]>(),
            lengths in prop::collection::vec(0usize..40, 1..5),
        ) {
            check::<0x61c8_8646_80b5_83eb>(seeds, &lengths)?;
            check::<{ u64::MAX }>(seeds, &lengths)?;
            check::<0x8000_0000>(seeds, &lengths)?;
        }
    }

    #[test]
    fn all_whole_groups_are_filled_and_the_rest_is_left_alone() {
        for length in 0..600 {
            let mut buffer = vec![0xee; length];
            let rest = fill::<7>(&mut [1, 2, 3, 5], &mut buffer);
            assert_eq!(rest.len(), length % GROUP_BYTES);
            assert!(rest.iter().all(|byte| *byte == 0xee));
        }
    }
}
