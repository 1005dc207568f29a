//! Idleness of the CPUs (`--idle-prof`).
//!
//! Must not know: the measurement, formats. Start reading at [`CpuIdleness::new`].

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CpuShare {
    pub cpu: u32,
    /// Share of the time in which no other task wanted the CPU, percent, 0 to 100.
    pub idle_percent: f64,
}

/// All CPUs together, and each of them if that is wanted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CpuIdleness {
    /// Mean over all CPUs, percent.
    pub system_percent: f64,
    /// Each CPU; empty if that is not wanted.
    pub cpus: Vec<CpuShare>,
    /// Mean time of the unit of work used for the measurement, microseconds.
    pub unit_mean_us: f64,
    /// Standard deviation of that time over the CPUs.
    pub unit_stddev_us: f64,
}

impl CpuIdleness {
    /// Sums up the CPUs; `units_us` has the time of a unit for each.
    pub fn new(cpus: &[CpuShare], shows_each: bool, units_us: &[f64]) -> Self {
        let idle: Vec<f64> = cpus.iter().map(|share| share.idle_percent).collect();
        let (system_percent, _) = mean_and_deviation(&idle);
        let (unit_mean_us, unit_stddev_us) = mean_and_deviation(units_us);
        let cpus = if shows_each { cpus.to_vec() } else { Vec::new() };
        Self { system_percent, cpus, unit_mean_us, unit_stddev_us }
    }
}

/// Mean and standard deviation (of a sample) of values; zeroes if there are none.
fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    if values.is_empty() {
        return (0.0, 0.0);
    }
    let n_values = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n_values;
    if values.len() == 1 {
        return (mean, 0.0);
    }
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (mean, (squares / (n_values - 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_two_cpus() {
        let share = |cpu, idle_percent| CpuShare { cpu, idle_percent };
        let cpus = [share(0, 41.5), share(3, 54.0)];
        let each = CpuIdleness::new(&cpus, true, &[8.0, 12.0]);
        assert_eq!((each.system_percent, each.unit_mean_us, each.unit_stddev_us), (47.75, 10.0, 8_f64.sqrt()));
        assert_eq!(each.cpus, cpus);
        assert!(CpuIdleness::new(&cpus, false, &[8.0, 12.0]).cpus.is_empty());
        let one = CpuIdleness::new(&cpus[..1], true, &[8.0]);
        assert_eq!((one.system_percent, one.unit_stddev_us), (41.5, 0.0));
    }
}
