//! Heat: the time for which CPUs were slowed down because of it, and temperatures of drives.
//!
//! Must not know: conclusions from them. Start reading at [`cpu_throttled_ms`] and [`Temperature::read`].

use std::path::Path;

/// Directory of sysfs that has the CPUs.
const CPUS: &str = "/sys/devices/system/cpu";

/// For each CPU, by its number in order: the time since the machine was started for which its core or its package was slowed down
/// because of heat, milliseconds. Empty where the kernel does not count that: in virtual machines, on CPUs that are not Intel's.
pub fn cpu_throttled_ms() -> Vec<u64> {
    throttled_below(Path::new(CPUS))
}

fn throttled_below(directory: &Path) -> Vec<u64> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let number = |name: &str| name.strip_prefix("cpu")?.parse::<u32>().ok();
    let mut found: Vec<(u32, u64)> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let cpu = number(entry.file_name().to_str()?)?;
            let counters = entry.path().join("thermal_throttle");
            let times =
                ["core", "package"].map(|what| number_in(&counters.join(format!("{what}_throttle_total_time_ms"))));
            Some((cpu, times.into_iter().flatten().max()?))
        })
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, ms)| ms).collect()
}

/// A temperature of a drive and its limit, thousandths of a degree Celsius.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Temperature {
    pub now: i64,
    /// The drive warns, and slows down, from here on.
    pub limit: i64,
}

impl Temperature {
    /// From a directory of `hwmon`; the first sensor there is that of the whole drive. `None`: the drive tells no temperature, or no
    /// limit.
    pub fn read(directory: &Path) -> Option<Self> {
        let limits =
            ["temp1_max", "temp1_crit"].map(|name| number_in(&directory.join(name)).filter(|limit| *limit > 0));
        Some(Self { now: number_in(&directory.join("temp1_input"))?, limit: limits.into_iter().flatten().min()? })
    }
}

fn number_in<T: std::str::FromStr>(path: &Path) -> Option<T> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::TempDir;

    #[test]
    fn the_longer_of_core_and_package_counts() {
        let dir = TempDir::new("throttle");
        assert_eq!(throttled_below(dir.path()), Vec::<u64>::new());
        for (cpu, core, package) in
            [("cpu10", "7\n", "9\n"), ("cpu2", "5\n", "x\n"), ("cpu3", "", ""), ("cpufreq", "1\n", "1\n")]
        {
            let counters = dir.path().join(cpu).join("thermal_throttle");
            std::fs::create_dir_all(&counters).unwrap();
            std::fs::write(counters.join("core_throttle_total_time_ms"), core).unwrap();
            std::fs::write(counters.join("package_throttle_total_time_ms"), package).unwrap();
        }
        assert_eq!(throttled_below(dir.path()), [5, 9]);
    }

    #[test]
    fn a_temperature_needs_a_limit() {
        let dir = TempDir::new("temperature");
        let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        write("temp1_input", "41850\n");
        assert_eq!(Temperature::read(dir.path()), None);
        write("temp1_crit", "84850\n");
        assert_eq!(Temperature::read(dir.path()), Some(Temperature { now: 41_850, limit: 84_850 }));
        write("temp1_max", "81850\n");
        assert_eq!(Temperature::read(dir.path()), Some(Temperature { now: 41_850, limit: 81_850 }));
        // The word of a drive without a limit.
        write("temp1_max", "0\n");
        assert_eq!(Temperature::read(dir.path()).map(|found| found.limit), Some(84_850));
    }
}
