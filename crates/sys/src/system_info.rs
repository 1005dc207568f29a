//! Facts about the machine: page size, memory, CPUs, kernel, host name.
//!
//! Must not know: who asks.

use crate::scheduling::{online_cpus, possible_cpus};

/// Facts that do not change while a run lasts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemInfo {
    /// Size of a page.
    pub page_bytes: usize,
    /// Memory, MiB.
    pub memory_mib: u64,
    /// CPUs that are online, at least 1.
    pub n_online_cpus: u32,
    /// CPUs that may be there, at least as many as are online.
    pub n_possible_cpus: u32,
    /// Release of the kernel, such as `6.1.0-13-amd64`.
    pub kernel_release: String,
    /// Name of this host.
    pub host_name: String,
    /// Architecture as the kernel names it, such as `x86_64`.
    pub architecture: String,
}

impl SystemInfo {
    /// Looks at the machine.
    pub fn read() -> Self {
        let names = rustix::system::uname();
        // Without sysfs, the CPUs that this process may run on.
        let allowed = || std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        let n_online_cpus = online_cpus().map_or_else(|_| allowed(), |cpus| cpus.len() as u32).max(1);
        Self {
            page_bytes: rustix::param::page_size(),
            memory_mib: memory_bytes() >> 20,
            n_online_cpus,
            n_possible_cpus: possible_cpus().map_or(0, |cpus| cpus.len() as u32).max(n_online_cpus),
            kernel_release: names.release().to_string_lossy().into_owned(),
            host_name: names.nodename().to_string_lossy().into_owned(),
            architecture: names.machine().to_string_lossy().into_owned(),
        }
    }
}

/// Memory of this machine, bytes.
pub fn memory_bytes() -> u64 {
    let info = rustix::system::sysinfo();
    // The width of totalram is that of the architecture; 128 bits hold every product.
    let bytes = u128::from(info.totalram) * u128::from(info.mem_unit);
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_plausible() {
        let info = SystemInfo::read();
        assert!(info.page_bytes.is_power_of_two() && info.memory_mib > 0);
        assert!(info.n_possible_cpus >= info.n_online_cpus && info.n_online_cpus > 0);
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
        assert_eq!(info.kernel_release, release.trim());
        assert_eq!(info.host_name, std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim());
        assert_eq!(info.architecture, std::env::consts::ARCH);
    }

    #[test]
    fn memory_is_what_meminfo_says() {
        let text = std::fs::read_to_string("/proc/meminfo").unwrap();
        let kib: u64 = text.split_ascii_whitespace().nth(1).unwrap().parse().unwrap();
        assert_eq!(memory_bytes() >> 10, kib);
    }
}
