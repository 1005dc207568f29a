//! The `CPU idleness` block.
//!
//! Must not know: jobs, the measurement. Start reading at [`write()`].

use crate::text::put;
use ferrio_stats::CpuIdleness;

/// Appends the block, with an empty line before it.
pub(super) fn write(out: &mut String, idleness: &CpuIdleness) {
    put!(out, "\nCPU idleness:\n  system: {:3.2}%\n", idleness.system_percent);
    if !idleness.cpus.is_empty() {
        let cpus: Vec<String> = idleness.cpus.iter().map(|share| format!("{:3.2}%", share.idle_percent)).collect();
        put!(out, "  percpu: {}\n", cpus.join(", "));
    }
    units(out, idleness);
}

/// The output of `--idle-prof=calibrate`: only the units, whatever the format.
pub fn calibration(idleness: &CpuIdleness) -> String {
    let mut out = String::from("CPU idleness:\n");
    units(&mut out, idleness);
    out
}

fn units(out: &mut String, idleness: &CpuIdleness) {
    let CpuIdleness { unit_mean_us, unit_stddev_us, .. } = idleness;
    put!(out, "  unit work: mean={unit_mean_us:3.2}us, stddev={unit_stddev_us:3.2}\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_stats::CpuShare;

    fn measured() -> CpuIdleness {
        let share = |cpu, idle_percent| CpuShare { cpu, idle_percent };
        CpuIdleness {
            system_percent: 47.694,
            cpus: vec![share(0, 41.46), share(1, 53.93)],
            unit_mean_us: 10.51,
            unit_stddev_us: 3.82,
        }
    }

    // Expected: the example of the reference.
    #[test]
    fn the_block_of_the_reference() {
        let mut out = String::new();
        write(&mut out, &measured());
        assert_eq!(
            out,
            "\nCPU idleness:\n  system: 47.69%\n  percpu: 41.46%, 53.93%\n  unit work: mean=10.51us, stddev=3.82\n"
        );
        out.clear();
        write(&mut out, &CpuIdleness { cpus: Vec::new(), ..measured() });
        assert_eq!(out, "\nCPU idleness:\n  system: 47.69%\n  unit work: mean=10.51us, stddev=3.82\n");
        assert_eq!(calibration(&measured()), "CPU idleness:\n  unit work: mean=10.51us, stddev=3.82\n");
    }
}
