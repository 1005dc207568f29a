//! CRC-32C by multiplication without carries of two times 128 bits in an instruction, for CPUs that have it but not AVX-512,
//! for which `crc-fast` has its own ways.
//!
//! A register holds 256 bits of the message; it is brought 1024 bits further by a multiplication with the remainder of that
//! power, and added to what stands there. What is left of it at the end is summed by the CPU's instruction for CRC-32C.
//! Bits stand as the code has them: the lowest bit of the first byte is that of the highest power.
//!
//! Must not know: what is summed. Start reading at [`crc32c`].
#![expect(unsafe_code, reason = "instructions beyond those of every x86-64 may only run where the CPU has them")]

use core::arch::x86_64::{
    __m256i, _mm_crc32_u8, _mm_crc32_u64, _mm256_clmulepi64_epi128, _mm256_loadu_si256, _mm256_set_epi64x,
    _mm256_storeu_si256, _mm256_xor_si256,
};

/// The polynomial of CRC-32C, its highest power left out.
const POLYNOMIAL: u32 = 0x82f6_3b78;
/// Registers that are in work at once: no product waits for the one before.
const N_REGISTERS: usize = 4;
const REGISTER_BYTES: usize = 32;

/// `None`: this CPU does not have the instructions, or others that are faster.
#[inline]
pub(super) fn crc32c(data: &[u8]) -> Option<u32> {
    if is_x86_feature_detected!("avx512vl") { None } else { by_multiplication(data) }
}

/// `None`: this CPU does not have the instructions.
#[inline]
pub(super) fn by_multiplication(data: &[u8]) -> Option<u32> {
    let is_there = is_x86_feature_detected!("vpclmulqdq")
        && is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("sse4.2");
    // SAFETY: the CPU has the instructions.
    is_there.then(|| unsafe { crc32c_avx2(data) })
}

#[target_feature(enable = "avx2,vpclmulqdq,sse4.2")]
fn crc32c_avx2(data: &[u8]) -> u32 {
    let (chunks, _) = data.as_chunks::<REGISTER_BYTES>();
    let Some((first, rest)) = chunks.split_first_chunk::<N_REGISTERS>() else { return add_bytes(u32::MAX, data) };
    let mut registers = [_mm256_set_epi64x(0, 0, 0, 0); N_REGISTERS];
    for (register, chunk) in registers.iter_mut().zip(first) {
        *register = load(chunk);
    }
    // The start of the sum is added to the first bits of the message.
    registers[0] = _mm256_xor_si256(registers[0], _mm256_set_epi64x(0, 0, 0, u32::MAX.into()));
    let far = const { factors(N_REGISTERS * REGISTER_BYTES) };
    let (groups, singles) = rest.as_chunks::<N_REGISTERS>();
    for group in groups {
        for (register, chunk) in registers.iter_mut().zip(group) {
            *register = folded(*register, far, load(chunk));
        }
    }
    let near = const { factors(REGISTER_BYTES) };
    let [mut sum, others @ ..] = registers;
    for other in others {
        sum = folded(sum, near, other);
    }
    for chunk in singles {
        sum = folded(sum, near, load(chunk));
    }
    let mut bytes = [0; REGISTER_BYTES];
    // SAFETY: the array is as long as a register, and may lie anywhere.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), sum) };
    add_bytes(add_bytes(0, &bytes), &data[chunks.len() * REGISTER_BYTES..])
}

#[target_feature(enable = "avx")]
#[inline]
fn load(chunk: &[u8; REGISTER_BYTES]) -> __m256i {
    // SAFETY: the array is as long as a register, and may lie anywhere.
    unsafe { _mm256_loadu_si256(chunk.as_ptr().cast()) }
}

/// `next` and the register, brought to its place.
#[target_feature(enable = "avx2,vpclmulqdq")]
#[inline]
fn folded(register: __m256i, [early, late]: [i64; 2], next: __m256i) -> __m256i {
    let factors = _mm256_set_epi64x(late, early, late, early);
    let early = _mm256_clmulepi64_epi128::<0x00>(register, factors);
    let late = _mm256_clmulepi64_epi128::<0x11>(register, factors);
    _mm256_xor_si256(_mm256_xor_si256(early, late), next)
}

/// The sum goes on over some bytes, eight at a time.
#[target_feature(enable = "sse4.2")]
#[inline]
fn add_bytes(crc: u32, data: &[u8]) -> u32 {
    let (words, rest) = data.as_chunks::<8>();
    let crc = words.iter().fold(u64::from(crc), |crc, word| _mm_crc32_u64(crc, u64::from_le_bytes(*word)));
    // The instruction leaves the upper half zero.
    rest.iter().fold(crc as u32, |crc, byte| _mm_crc32_u8(crc, *byte))
}

/// What the earlier and the later 64 of 128 bits are multiplied with to be so many bytes further on. The earlier ones stand 64
/// powers higher. A product of two words of 64 bits in this order is 1 power too high, and a remainder in the lower half of a word
/// 32 powers.
const fn factors(n_bytes: usize) -> [i64; 2] {
    let n_bits = n_bytes as u64 * 8;
    [power(n_bits + 64 - 33) as i64, power(n_bits - 33) as i64]
}

/// The remainder of a power of x.
const fn power(mut exponent: u64) -> u32 {
    let (mut result, mut square) = (1 << 31, 1 << 30);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = product(result, square);
        }
        square = product(square, square);
        exponent >>= 1;
    }
    result
}

const fn product(a: u32, mut b: u32) -> u32 {
    let mut result = 0;
    let mut bit = 32;
    while bit > 0 {
        bit -= 1;
        if a >> bit & 1 == 1 {
            result ^= b;
        }
        b = if b & 1 == 1 { b >> 1 ^ POLYNOMIAL } else { b >> 1 };
    }
    result
}
