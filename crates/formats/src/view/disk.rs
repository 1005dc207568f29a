//! The devices of a report; a stacked device also has the averages of its slaves.
//!
//! Must not know: how a device is printed. Start reading at [`DiskReport`].

use ferrio_stats::{DiskCounters, DiskRecord};

/// One device of the `Disk stats` block.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DiskReport {
    pub name: String,
    pub counters: DiskCounters,
    /// Averages over the slaves of a stacked device (utilisation: the largest).
    pub slaves: Option<DiskCounters>,
}

impl DiskReport {
    /// A device, stacked on slaves (md, dm) or plain if there are none. The counters of slaves are averaged (whole
    /// numbers, rounded down); of their utilisations the largest counts.
    pub fn stacked(name: String, counters: DiskCounters, slaves: &[DiskCounters]) -> Self {
        let average = |figure: fn(&DiskCounters) -> u64| {
            let sum: u128 = slaves.iter().map(|slave| u128::from(figure(slave))).sum();
            // Cannot fail: an average of u64 values fits into u64.
            u64::try_from(sum / slaves.len().max(1) as u128).unwrap_or(u64::MAX)
        };
        let aggregated = DiskCounters {
            ios: [average(|slave| slave.ios[0]), average(|slave| slave.ios[1])],
            merges: [average(|slave| slave.merges[0]), average(|slave| slave.merges[1])],
            sectors: [average(|slave| slave.sectors[0]), average(|slave| slave.sectors[1])],
            ticks_ms: [average(|slave| slave.ticks_ms[0]), average(|slave| slave.ticks_ms[1])],
            in_queue_ms: average(|slave| slave.in_queue_ms),
            util_percent: slaves.iter().map(|slave| slave.util_percent).fold(0.0, f64::max),
            n_flushes: None,
        };
        Self { name, counters, slaves: (!slaves.is_empty()).then_some(aggregated) }
    }
}

impl From<&DiskRecord> for DiskReport {
    fn from(disk: &DiskRecord) -> Self {
        Self::stacked(disk.name.clone(), disk.counters.clone(), &disk.slaves)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slaves_are_averaged() {
        let slave = |ios, util_percent| DiskCounters { ios: [ios, 2 * ios], util_percent, ..DiskCounters::default() };
        let stacked = DiskReport::stacked("md0".into(), DiskCounters::default(), &[slave(3, 40.0), slave(8, 10.0)]);
        let slaves = stacked.slaves.expect("there are two");
        assert_eq!((slaves.ios, slaves.util_percent), ([5, 11], 40.0));
        assert_eq!(DiskReport::stacked("vda".into(), DiskCounters::default(), &[]).slaves, None);
        let large = DiskCounters { in_queue_ms: u64::MAX, ..DiskCounters::default() };
        let stacked = DiskReport::stacked("md0".into(), large.clone(), &[large.clone(), large]);
        assert_eq!(stacked.slaves.map(|slaves| slaves.in_queue_ms), Some(u64::MAX));
    }
}
