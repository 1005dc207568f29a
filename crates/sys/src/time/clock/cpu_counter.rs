//! The counter that a CPU keeps for the time: reading it, and whether it can be trusted. On x86-64 that is the time stamp counter
//! (`RDTSC`), on aarch64 the virtual counter of the generic timer (`CNTVCT_EL0`).
//!
//! Must not know: calibration. On other architectures there is none, and `is_reliable` says so.
#![cfg_attr(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    expect(unsafe_code, reason = "the instructions RDTSC and MRS")
)]

/// The kernel's list of clock sources that it still trusts for high-resolution timing.
const AVAILABLE_CLOCK_SOURCES: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";

/// The counter's name in records; `none` where there is none.
#[cfg(target_arch = "x86_64")]
pub const CPU_COUNTER: &str = "tsc";
/// The counter's name in records; `none` where there is none.
#[cfg(target_arch = "aarch64")]
pub const CPU_COUNTER: &str = "cntvct";
/// The counter's name in records; `none` where there is none.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub const CPU_COUNTER: &str = "none";

/// The kernel's name for a clock source that reads this counter.
pub(super) const KERNEL_NAME: &str = if cfg!(target_arch = "aarch64") { "arch_sys_counter" } else { "tsc" };

/// The counter now.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn read() -> u64 {
    // SAFETY: RDTSC touches no memory and every x86-64 CPU has it. Where the process has forbidden it to itself
    // (PR_SET_TSC) it raises SIGSEGV, which is a defined end of the process.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// The counter now.
#[cfg(target_arch = "aarch64")]
#[inline]
pub(super) fn read() -> u64 {
    let ticks: u64;
    // SAFETY: the instruction touches no memory, and Linux gives programs this register: where a CPU reads it wrong, the kernel
    // catches the instruction and answers in its place.
    unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack, preserves_flags)) };
    ticks
}

/// The counter once all instructions before are done, so that readings of several CPUs can be put in order.
pub fn cpu_counter_in_order() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction only waits, and every x86-64 CPU has it.
    unsafe {
        core::arch::x86_64::_mm_lfence();
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the instruction only waits, and touches no memory.
    unsafe {
        core::arch::asm!("isb", options(nostack, preserves_flags));
    }
    read()
}

/// Never called: there is no such clock here.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline]
pub(super) fn read() -> u64 {
    0
}

/// The frequency that the CPU states, hertz. `None` where it states none, as on x86-64.
#[cfg(target_arch = "aarch64")]
pub(super) fn stated_hz() -> Option<u64> {
    let hz: u64;
    // SAFETY: the instruction touches no memory, and Linux gives programs this register, which never changes.
    unsafe { core::arch::asm!("mrs {}, cntfrq_el0", out(reg) hz, options(nomem, nostack, preserves_flags)) };
    Some(hz)
}

/// The frequency that the CPU states, hertz. `None` where it states none, as on x86-64.
#[cfg(not(target_arch = "aarch64"))]
pub(super) fn stated_hz() -> Option<u64> {
    None
}

/// True if the counter runs at one rate in all power states, and the kernel has not found it unstable.
pub(super) fn is_reliable() -> bool {
    is_invariant() && kernel_trusts(std::fs::read_to_string(AVAILABLE_CLOCK_SOURCES).ok().as_deref())
}

/// The kernel drops an unstable counter from its list. Without a list (no sysfs) the CPU's word is taken.
pub(super) fn kernel_trusts(available_clock_sources: Option<&str>) -> bool {
    available_clock_sources.is_none_or(|list| list.split_whitespace().any(|name| name == KERNEL_NAME))
}

/// CPUID leaf `0x8000_0007`, EDX bit 8: invariant TSC (both vendors' manuals).
#[cfg(target_arch = "x86_64")]
fn is_invariant() -> bool {
    const HIGHEST_EXTENDED_LEAF: u32 = 0x8000_0000;
    const POWER_MANAGEMENT_LEAF: u32 = 0x8000_0007;
    use core::arch::x86_64::__cpuid;
    __cpuid(HIGHEST_EXTENDED_LEAF).eax >= POWER_MANAGEMENT_LEAF && __cpuid(POWER_MANAGEMENT_LEAF).edx & (1 << 8) != 0
}

/// On aarch64 always: the architecture demands that the counter of the system goes on at one rate in all power states.
#[cfg(not(target_arch = "x86_64"))]
fn is_invariant() -> bool {
    cfg!(target_arch = "aarch64")
}
