//! Facts about the machine: page size, memory, CPUs, kernel, host name.
//!
//! Must not know: the callers.

use crate::processes::scheduling::{online_cpus, possible_cpus};
use std::io::Read;

/// The first CPU of `/proc/cpuinfo` is within this many bytes. The rest is not read: on machines with hundreds of CPUs it
/// takes milliseconds.
const CPU_INFO_BYTES: u64 = 4096;

/// Facts that do not change while a run lasts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemInfo {
    pub page_bytes: usize,
    pub memory_mib: u64,
    /// CPUs that are online, at least 1.
    pub n_online_cpus: u32,
    /// CPUs that may be there, at least as many as are online.
    pub n_possible_cpus: u32,
    /// Release of the kernel, such as `6.1.0-13-amd64`.
    pub kernel_release: String,
    pub host_name: String,
    /// Architecture as the kernel names it, such as `x86_64`.
    pub architecture: String,
}

impl SystemInfo {
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

pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// A text that the kernel draws when it starts: two hosts with the same one are name spaces of one machine. Empty if it is not told.
pub fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

pub fn memory_bytes() -> u64 {
    let info = rustix::system::sysinfo();
    // The width of totalram is that of the architecture; 128 bits hold every product.
    let bytes = u128::from(info.totalram) * u128::from(info.mem_unit);
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// Model name of the first CPU; `None` if the kernel does not provide it.
pub fn cpu_model() -> Option<String> {
    let mut text = Vec::new();
    std::fs::File::open("/proc/cpuinfo").ok()?.take(CPU_INFO_BYTES).read_to_end(&mut text).ok()?;
    cpu_model_in(&String::from_utf8_lossy(&text))
}

/// The key depends on the architecture: x86 and RISC-V, POWER, s390, older ARM.
fn cpu_model_in(text: &str) -> Option<String> {
    let value = |key: &str| {
        let fields = text.lines().filter_map(|line| line.split_once(':'));
        fields.filter(|(name, _)| name.trim() == key).map(|(_, value)| value.trim()).find(|value| !value.is_empty())
    };
    let keys = ["model name", "uarch", "cpu", "processor 0", "Model", "Hardware"];
    keys.into_iter().find_map(value).map(str::to_owned)
}

pub fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
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
    fn cpu_models_of_several_architectures() {
        let table = [
            ("processor\t: 0\nmodel name\t: AMD EPYC\nprocessor\t: 1\nmodel name\t: other\n", Some("AMD EPYC")),
            ("processor\t: 0\ncpu\t\t: POWER9, altivec supported\n", Some("POWER9, altivec supported")),
            ("processor 0: version = FF,  machine = 2964\n", Some("version = FF,  machine = 2964")),
            ("processor\t: 0\nCPU part\t: 0xd0c\n", None),
            ("", None),
        ];
        for (text, model) in table {
            assert_eq!(cpu_model_in(text).as_deref(), model, "{text}");
        }
    }

    #[test]
    fn memory_is_what_meminfo_says() {
        let text = std::fs::read_to_string("/proc/meminfo").unwrap();
        let kib: u64 = text.split_ascii_whitespace().nth(1).unwrap().parse().unwrap();
        assert_eq!(memory_bytes() >> 10, kib);
    }
}
