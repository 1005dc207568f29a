//! The `Disk stats` block.
//!
//! Must not know: jobs. Start reading at [`write()`].

use crate::text::put;
use crate::view::DiskReport;
use ferrio_stats::DiskCounters;

/// Appends the block of the devices; nothing if there are none.
pub(super) fn write(out: &mut String, disks: &[DiskReport]) {
    if disks.is_empty() {
        return;
    }
    out.push_str("\nDisk stats (read/write):\n");
    for disk in disks {
        // A stacked device is indented further than its slaves, which have lines of their own.
        let indent = if disk.slaves.is_some() { "    " } else { "  " };
        put!(out, "{indent}{}: ", disk.name);
        counters(out, "", &disk.counters);
        if let Some(slaves) = &disk.slaves {
            out.push_str(", ");
            counters(out, "aggr", slaves);
        }
        out.push('\n');
    }
}

fn counters(out: &mut String, prefix: &str, counters: &DiskCounters) {
    let pairs = [
        ("ios", counters.ios),
        ("sectors", counters.sectors),
        ("merge", counters.merges),
        ("ticks", counters.ticks_ms),
    ];
    for (name, [read, write]) in pairs {
        put!(out, "{prefix}{name}={read}/{write}, ");
    }
    put!(out, "{prefix}in_queue={}, {prefix}util={:3.2}%", counters.in_queue_ms, counters.util_percent);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacked_devices_show_their_slaves() {
        let plain = DiskReport {
            name: "vda".into(),
            counters: DiskCounters {
                ios: [13_317, 7_031],
                sectors: [27_527, 7_032],
                ticks_ms: [2_696, 1_078],
                in_queue_ms: 3_774,
                util_percent: 82.83,
                ..DiskCounters::default()
            },
            slaves: None,
        };
        let stacked = DiskReport::stacked("md0".into(), DiskCounters::default(), std::slice::from_ref(&plain.counters));
        let mut out = String::new();
        write(&mut out, &[stacked, plain]);
        let expected = "\nDisk stats (read/write):\n    md0: ios=0/0, sectors=0/0, merge=0/0, ticks=0/0, in_queue=0, \
             util=0.00%, aggrios=13317/7031, aggrsectors=27527/7032, aggrmerge=0/0, aggrticks=2696/1078, \
             aggrin_queue=3774, aggrutil=82.83%\n  vda: ios=13317/7031, sectors=27527/7032, merge=0/0, \
             ticks=2696/1078, in_queue=3774, util=82.83%\n";
        assert_eq!(out, expected);
        write(&mut out, &[]);
        assert_eq!(out, expected);
    }
}
