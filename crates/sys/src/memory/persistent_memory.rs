//! Copies to persistent memory: the data leaves the caches of the CPU, by the best instruction that this CPU has for it.
//!
//! Facts: SNIA NVM programming model; Intel's and Arm's manuals. A copy is on its way to the memory when it returns, and is there
//! when [`WriteBack::drain`] has returned. Must not know: mappings. Start reading at [`WriteBack::of_cpu`].
#![expect(unsafe_code, reason = "instructions that write back cache lines, and stores past the caches")]

/// Length of a cache line, bytes, on every machine with such memory.
#[cfg(target_arch = "x86_64")]
const LINE_BYTES: usize = 64;

/// Length of a store past the caches, bytes.
#[cfg(target_arch = "x86_64")]
const STREAM_BYTES: usize = 16;

/// Length of such a store by AVX, bytes.
#[cfg(target_arch = "x86_64")]
const WIDE_BYTES: usize = 32;

/// Bytes that are copied by the caches before their lines are written back: the CPU writes these back while it copies the next ones.
const PART_BYTES: usize = 512;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyKind {
    /// By the caches, whose lines are then written back.
    Temporal,
    /// Past the caches, where the CPU has such stores; else as [`CopyKind::Temporal`].
    NonTemporal,
}

/// The instruction by which this CPU writes back a cache line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteBack {
    /// `clwb`: the line stays in the cache.
    Clwb,
    /// `clflushopt`: the line leaves the cache.
    Clflushopt,
    /// `clflush`: the line leaves the cache, one line after the other.
    Clflush,
    /// `dc cvap`: to the point of persistence.
    Cvap,
    /// `dc cvac`: to the memory.
    Cvac,
}

impl WriteBack {
    /// The best one of this CPU; `None`: the architecture has no instruction for it that a program may use.
    #[cfg(target_arch = "x86_64")]
    pub fn of_cpu() -> Option<Self> {
        let is_there = std::arch::x86_64::__cpuid(0).eax >= 7;
        let features = if is_there { std::arch::x86_64::__cpuid_count(7, 0).ebx } else { 0 };
        Some(match features {
            _ if features & 1 << 24 != 0 => Self::Clwb,
            _ if features & 1 << 23 != 0 => Self::Clflushopt,
            _ => Self::Clflush,
        })
    }

    /// The best one of this CPU; `None`: the architecture has no instruction for it that a program may use.
    #[cfg(target_arch = "aarch64")]
    pub fn of_cpu() -> Option<Self> {
        Some(if std::arch::is_aarch64_feature_detected!("dpb") { Self::Cvap } else { Self::Cvac })
    }

    /// The best one of this CPU; `None`: the architecture has no instruction for it that a program may use.
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub fn of_cpu() -> Option<Self> {
        None
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Clwb => "clwb",
            Self::Clflushopt => "clflushopt",
            Self::Clflush => "clflush",
            Self::Cvap => "dc cvap",
            Self::Cvac => "dc cvac",
        }
    }

    /// Waits until all earlier copies of this thread are in the memory.
    #[inline]
    pub fn drain(self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every x86-64 has this instruction, which changes no memory.
        unsafe {
            std::arch::x86_64::_mm_sfence();
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: every aarch64 has this instruction, which changes no memory.
        unsafe {
            core::arch::asm!("dsb sy", options(nostack, preserves_flags));
        }
    }

    /// Copies, and sends the copied lines on their way to the memory.
    ///
    /// # Safety
    /// `len` bytes are readable from `from` and writable from `to`, and do not overlap.
    #[inline]
    pub(crate) unsafe fn copy(self, kind: CopyKind, from: *const u8, to: *mut u8, len: usize) {
        #[cfg(target_arch = "x86_64")]
        if kind == CopyKind::NonTemporal {
            // The parts before the first and behind the last whole store.
            let head = (to as usize).next_multiple_of(STREAM_BYTES).saturating_sub(to as usize).min(len);
            let body = (len - head) / STREAM_BYTES * STREAM_BYTES;
            // SAFETY: the three parts lie within what the caller vouches for, one behind the other.
            unsafe {
                self.copy_cached(from, to, head);
                stream(from.add(head), to.add(head), body);
                self.copy_cached(from.add(head + body), to.add(head + body), len - head - body);
            }
            return;
        }
        let _ = kind;
        // SAFETY: as the caller vouches for.
        unsafe { self.copy_cached(from, to, len) };
    }

    /// As [`WriteBack::copy`], by the caches.
    ///
    /// # Safety
    /// As for [`WriteBack::copy`].
    #[inline]
    unsafe fn copy_cached(self, from: *const u8, to: *mut u8, len: usize) {
        let line_bytes = line_bytes();
        let mut done = 0;
        while done < len {
            let part = PART_BYTES.min(len - done);
            // SAFETY: as the caller vouches for; each line holds at least a byte of what was just written.
            unsafe {
                let to = to.add(done);
                std::ptr::copy_nonoverlapping(from.add(done), to, part);
                let end = to as usize + part;
                let mut line = to as usize / line_bytes * line_bytes;
                while line < end {
                    self.write_back(line);
                    line += line_bytes;
                }
            }
            done += part;
        }
    }

    /// Writes back the line at an address.
    ///
    /// # Safety
    /// The address belongs to a line that holds mapped memory, and this CPU has the instruction.
    #[inline]
    unsafe fn write_back(self, line: usize) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `of_cpu` has found the instruction; it changes no values.
        unsafe {
            match self {
                Self::Clwb => core::arch::asm!("clwb [{}]", in(reg) line, options(nostack, preserves_flags)),
                Self::Clflushopt => {
                    core::arch::asm!("clflushopt [{}]", in(reg) line, options(nostack, preserves_flags));
                }
                _ => std::arch::x86_64::_mm_clflush(line as *const u8),
            }
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above; `dc cvap` is written as the system instruction that it is, as assemblers know it only by extension.
        unsafe {
            match self {
                Self::Cvap => {
                    core::arch::asm!("sys #3, c7, c12, #1, {}", in(reg) line, options(nostack, preserves_flags));
                }
                _ => core::arch::asm!("dc cvac, {}", in(reg) line, options(nostack, preserves_flags)),
            }
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let _ = line;
    }
}

/// Length of the lines that are written back, bytes.
#[cfg(target_arch = "x86_64")]
const fn line_bytes() -> usize {
    LINE_BYTES
}

/// Length of the lines that are written back, bytes.
#[cfg(target_arch = "aarch64")]
fn line_bytes() -> usize {
    let cache_type: u64;
    // SAFETY: programs may read this register, which Linux guarantees.
    unsafe { core::arch::asm!("mrs {}, ctr_el0", out(reg) cache_type, options(nomem, nostack, preserves_flags)) };
    4 << (cache_type >> 16 & 0xF)
}

/// Length of the lines that are written back, bytes.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const fn line_bytes() -> usize {
    64
}

/// Copies whole stores past the caches, by the widest stores of this CPU.
///
/// # Safety
/// As for [`WriteBack::copy`]; `to` and `len` are multiples of [`STREAM_BYTES`].
#[cfg(target_arch = "x86_64")]
#[inline]
unsafe fn stream(from: *const u8, to: *mut u8, len: usize) {
    // A store of 32 bytes has to be aligned to them.
    let head = if (to as usize).is_multiple_of(WIDE_BYTES) { 0 } else { STREAM_BYTES.min(len) };
    let body = (len - head) / WIDE_BYTES * WIDE_BYTES;
    if body == 0 || !std::arch::is_x86_feature_detected!("avx") {
        // SAFETY: as the caller vouches for.
        return unsafe { stream_narrow(from, to, len) };
    }
    // SAFETY: the three parts lie within what the caller vouches for, one behind the other; this CPU has the wide stores.
    unsafe {
        stream_narrow(from, to, head);
        stream_wide(from.add(head), to.add(head), body);
        stream_narrow(from.add(head + body), to.add(head + body), len - head - body);
    }
}

/// Copies by stores of [`STREAM_BYTES`].
///
/// # Safety
/// As for [`stream`].
#[cfg(target_arch = "x86_64")]
#[inline]
unsafe fn stream_narrow(from: *const u8, to: *mut u8, len: usize) {
    use std::arch::x86_64::{_mm_loadu_si128, _mm_stream_si128};
    use std::ffi::c_void;
    for at in (0..len).step_by(STREAM_BYTES) {
        // SAFETY: within what the caller vouches for, and aligned as the caller says.
        unsafe {
            let words = _mm_loadu_si128(from.add(at).cast());
            _mm_stream_si128(to.add(at).cast::<c_void>().cast(), words);
        }
    }
}

/// Copies by stores of [`WIDE_BYTES`], eight in a turn of the loop.
///
/// # Safety
/// As for [`WriteBack::copy`]; `to` and `len` are multiples of [`WIDE_BYTES`], and the CPU has AVX.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
unsafe fn stream_wide(from: *const u8, to: *mut u8, len: usize) {
    use std::arch::x86_64::{__m256i, _mm256_loadu_si256, _mm256_stream_si256};
    use std::ffi::c_void;
    const TURN: usize = 8;
    let (source, target) = (from.cast::<c_void>().cast::<__m256i>(), to.cast::<c_void>().cast::<__m256i>());
    let n_stores = len / WIDE_BYTES;
    let n_turns = n_stores / TURN;
    for turn in 0..n_turns {
        // SAFETY: within what the caller vouches for, and aligned as the caller says.
        unsafe {
            let (source, target) = (source.add(turn * TURN), target.add(turn * TURN));
            let words: [__m256i; TURN] = std::array::from_fn(|at| _mm256_loadu_si256(source.add(at)));
            for (at, word) in words.into_iter().enumerate() {
                _mm256_stream_si256(target.add(at), word);
            }
        }
    }
    for at in n_turns * TURN..n_stores {
        // SAFETY: as above.
        unsafe { _mm256_stream_si256(target.add(at), _mm256_loadu_si256(source.add(at))) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_copy_is_whole_and_touches_nothing_else() {
        let Some(best) = WriteBack::of_cpu() else { return };
        let source: Vec<u8> = (0..1024u32).map(|at| (at % 251) as u8 + 1).collect();
        let mut ways = vec![best];
        #[cfg(target_arch = "x86_64")]
        ways.push(WriteBack::Clflush);
        for way in ways {
            for kind in [CopyKind::Temporal, CopyKind::NonTemporal] {
                for (start, len) in (0..36).flat_map(|start| {
                    [0, 1, 15, 16, 17, 31, 32, 33, 47, 48, 63, 64, 65, 255, 256, 500, 800].map(|len| (start, len))
                }) {
                    let mut target = vec![0u8; 1024];
                    // SAFETY: both vectors have 1024 bytes, of which at most 35 + 800 are used.
                    unsafe { way.copy(kind, source[3..].as_ptr(), target[start..].as_mut_ptr(), len) };
                    way.drain();
                    assert_eq!(target[start..start + len], source[3..3 + len], "{way:?} {kind:?} {start} {len}");
                    assert!(
                        target[..start].iter().chain(&target[start + len..]).all(|byte| *byte == 0),
                        "{start} {len}"
                    );
                }
            }
        }
    }
}
