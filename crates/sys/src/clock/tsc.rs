//! The time stamp counter of x86-64: reading it, and whether it can be trusted.
//!
//! Must not know: calibration. On other architectures there is none, and `is_reliable` says so.
#![cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "the RDTSC instruction"))]

/// The kernel's list of clock sources that it still trusts for high-resolution timing.
const AVAILABLE_CLOCK_SOURCES: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";

/// The counter now.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn read() -> u64 {
    // SAFETY: RDTSC touches no memory and every x86-64 CPU has it. Where the process has forbidden it to itself
    // (PR_SET_TSC) it raises SIGSEGV, which is a defined end of the process.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Never called: there is no such clock here.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(super) fn read() -> u64 {
    0
}

/// True if the counter runs at one rate in all power states (CPUID), and the kernel has not found it unstable.
pub(super) fn is_reliable() -> bool {
    is_invariant() && kernel_trusts(std::fs::read_to_string(AVAILABLE_CLOCK_SOURCES).ok().as_deref())
}

/// The kernel drops an unstable TSC from its list. Without a list (no sysfs) the CPU's word is taken.
pub(super) fn kernel_trusts(available_clock_sources: Option<&str>) -> bool {
    available_clock_sources.is_none_or(|list| list.split_whitespace().any(|name| name == "tsc"))
}

/// CPUID leaf `0x8000_0007`, EDX bit 8: invariant TSC (both vendors' manuals).
#[cfg(target_arch = "x86_64")]
fn is_invariant() -> bool {
    const HIGHEST_EXTENDED_LEAF: u32 = 0x8000_0000;
    const POWER_MANAGEMENT_LEAF: u32 = 0x8000_0007;
    use core::arch::x86_64::__cpuid;
    __cpuid(HIGHEST_EXTENDED_LEAF).eax >= POWER_MANAGEMENT_LEAF && __cpuid(POWER_MANAGEMENT_LEAF).edx & (1 << 8) != 0
}

#[cfg(not(target_arch = "x86_64"))]
fn is_invariant() -> bool {
    false
}
