//! CRC-32C by carry-less multiplication: of four times 128 bits in an instruction on CPUs with AVX-512, of two times on
//! those with VPCLMULQDQ but without AVX-512.
//!
//! Registers hold parts of the message. A multiplication with the remainder of a power moves each of them forward by
//! that many bits, and the result is added to the part there. The rest at the end is summed by the CPU's instruction
//! for CRC-32C. Bits are in the order of the code: the lowest bit of the first byte is that of the highest power.
//!
//! Must not know: the data. Start reading at [`crc32c`], then `sum_in`.
#![expect(unsafe_code, reason = "instructions beyond those of every x86-64 may only run where the CPU has them")]

use core::arch::x86_64::{_mm_crc32_u8, _mm_crc32_u32, _mm_crc32_u64};

/// The polynomial of CRC-32C, its highest power left out.
const POLYNOMIAL: u32 = 0x82f6_3b78;
/// Registers that are in work at once: no product waits for the one before.
const N_REGISTERS: usize = 4;

/// `None`: this CPU does not have the instructions.
#[inline]
pub(super) fn crc32c(data: &[u8]) -> Option<u32> {
    by_registers_of_512_bits(data).or_else(|| by_registers_of_256_bits(data))
}

/// `None`: this CPU does not have the instructions.
#[inline]
pub(super) fn by_registers_of_256_bits(data: &[u8]) -> Option<u32> {
    let is_there = is_x86_feature_detected!("vpclmulqdq")
        && is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("sse4.2");
    // SAFETY: the CPU has the instructions.
    is_there.then(|| unsafe { in_avx2(data) })
}

/// `None`: this CPU does not have the instructions.
#[inline]
pub(super) fn by_registers_of_512_bits(data: &[u8]) -> Option<u32> {
    let is_there = is_x86_feature_detected!("vpclmulqdq")
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("sse4.2");
    // SAFETY: the CPU has the instructions.
    is_there.then(|| unsafe { in_avx512(data) })
}

/// The sum by the registers of a module, which takes `$instructions`.
macro_rules! sum_in {
    ($name:ident, $registers:ident, $instructions:literal) => {
        #[target_feature(enable = $instructions)]
        fn $name(data: &[u8]) -> u32 {
            use $registers::{BYTES, folded, load, low_word, stored, xor};
            // A load that reaches over the end of a cache line takes twice as long.
            let (head, data) = data.split_at(data.as_ptr().align_offset(BYTES).min(data.len()));
            let start = add_bytes(u32::MAX, head);
            let (chunks, rest) = data.as_chunks::<BYTES>();
            // Bytes that are no whole group come before the groups, in the last registers: zeroes before a message do
            // not change the result.
            let (first, groups) = match chunks.as_rchunks::<N_REGISTERS>() {
                ([], []) => return add_bytes(start, data),
                ([], [first, groups @ ..]) => (&first[..], groups),
                (singles, groups) => (singles, groups),
            };
            // The start of the sum is added to the first bits of the message. No loop: the registers would be in memory.
            let place = |index: usize| match (first.len() + index).checked_sub(N_REGISTERS) {
                Some(0) => xor(load(&first[0]), low_word(start)),
                Some(at) => load(&first[at]),
                None => low_word(0),
            };
            let mut registers: [_; N_REGISTERS] = [place(0), place(1), place(2), place(3)];
            let far = const { factors(N_REGISTERS * BYTES) };
            for group in groups {
                for (register, chunk) in registers.iter_mut().zip(group) {
                    *register = folded(*register, far, load(chunk));
                }
            }
            // These additions do not wait for each other.
            let [a, b, c, last] = registers;
            let a = folded(a, const { factors(3 * BYTES) }, last);
            let b = folded(b, const { factors(2 * BYTES) }, a);
            let sum = folded(c, const { factors(BYTES) }, b);
            add_bytes(add_bytes(0, &stored(sum)), rest)
        }
    };
}

sum_in!(in_avx2, small, "avx2,vpclmulqdq,sse4.2");
sum_in!(in_avx512, large, "avx512f,vpclmulqdq,sse4.2");

/// Registers of AVX2.
mod small {
    use core::arch::x86_64::{
        __m256i, _mm256_clmulepi64_epi128, _mm256_loadu_si256, _mm256_set_epi64x, _mm256_storeu_si256, _mm256_xor_si256,
    };

    pub(super) const BYTES: usize = 32;

    #[target_feature(enable = "avx")]
    #[inline]
    pub(super) fn load(chunk: &[u8; BYTES]) -> __m256i {
        // SAFETY: the array is as long as a register, and may lie anywhere.
        unsafe { _mm256_loadu_si256(chunk.as_ptr().cast()) }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn stored(register: __m256i) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        // SAFETY: the array is as long as a register, and may lie anywhere.
        unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), register) };
        bytes
    }

    /// A register of zeroes but for its first 32 bits.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn low_word(word: u32) -> __m256i {
        _mm256_set_epi64x(0, 0, 0, word.into())
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn xor(a: __m256i, b: __m256i) -> __m256i {
        _mm256_xor_si256(a, b)
    }

    /// `next` and the register, brought to its place.
    #[target_feature(enable = "avx2,vpclmulqdq")]
    #[inline]
    pub(super) fn folded(register: __m256i, [early, late]: [i64; 2], next: __m256i) -> __m256i {
        let factors = _mm256_set_epi64x(late, early, late, early);
        let early = _mm256_clmulepi64_epi128::<0x00>(register, factors);
        let late = _mm256_clmulepi64_epi128::<0x11>(register, factors);
        xor(xor(early, late), next)
    }
}

/// Registers of AVX-512.
mod large {
    use core::arch::x86_64::{
        __m512i, _mm512_clmulepi64_epi128, _mm512_loadu_si512, _mm512_set_epi64, _mm512_set4_epi64,
        _mm512_storeu_si512, _mm512_ternarylogic_epi64, _mm512_xor_si512,
    };

    pub(super) const BYTES: usize = 64;
    /// The function of three bits that is their parity.
    const PARITY: i32 = 0b1001_0110;

    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn load(chunk: &[u8; BYTES]) -> __m512i {
        // SAFETY: the array is as long as a register, and may lie anywhere.
        unsafe { _mm512_loadu_si512(chunk.as_ptr().cast()) }
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn stored(register: __m512i) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        // SAFETY: the array is as long as a register, and may lie anywhere.
        unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), register) };
        bytes
    }

    /// A register of zeroes but for its first 32 bits.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn low_word(word: u32) -> __m512i {
        _mm512_set_epi64(0, 0, 0, 0, 0, 0, 0, word.into())
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn xor(a: __m512i, b: __m512i) -> __m512i {
        _mm512_xor_si512(a, b)
    }

    /// `next` and the register, brought to its place.
    #[target_feature(enable = "avx512f,vpclmulqdq")]
    #[inline]
    pub(super) fn folded(register: __m512i, [early, late]: [i64; 2], next: __m512i) -> __m512i {
        let factors = _mm512_set4_epi64(late, early, late, early);
        let early = _mm512_clmulepi64_epi128::<0x00>(register, factors);
        let late = _mm512_clmulepi64_epi128::<0x11>(register, factors);
        _mm512_ternarylogic_epi64::<PARITY>(early, late, next)
    }
}

/// The sum continues over some bytes, eight at a time, then four.
#[target_feature(enable = "sse4.2")]
#[inline]
fn add_bytes(crc: u32, data: &[u8]) -> u32 {
    let (words, rest) = data.as_chunks::<8>();
    let crc = words.iter().fold(u64::from(crc), |crc, word| _mm_crc32_u64(crc, u64::from_le_bytes(*word)));
    let (halves, rest) = rest.as_chunks::<4>();
    // The instruction leaves the upper half zero.
    let crc = halves.iter().fold(crc as u32, |crc, half| _mm_crc32_u32(crc, u32::from_le_bytes(*half)));
    rest.iter().fold(crc, |crc, byte| _mm_crc32_u8(crc, *byte))
}

/// Factors that take the earlier and the later 64 of 128 bits this many bytes forward. The earlier ones are 64 powers
/// higher. A product of two 64-bit words in this order is 1 power too high, and a remainder in the lower half of a word
/// 32 powers.
const fn factors(n_bytes: usize) -> [i64; 2] {
    let n_bits = n_bytes as u64 * 8;
    [power(n_bits + 64 - 33) as i64, power(n_bits - 33) as i64]
}

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
