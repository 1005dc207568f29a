//! The `disk_util` array.
//!
//! Must not know: jobs. Start reading at [`write()`].

use super::writer::JsonWriter;
use crate::compat;
use crate::view::DiskReport;
use ferrio_stats::DiskCounters;

/// Writes the array, nothing without devices.
pub(super) fn write(writer: &mut JsonWriter, disks: &[DiskReport]) {
    if disks.is_empty() {
        return;
    }
    writer.array("disk_util", |writer| {
        for disk in disks {
            writer.element(|writer| write_one(writer, disk));
        }
    });
}

/// Writes the members of a device's object.
pub(super) fn write_one(writer: &mut JsonWriter, disk: &DiskReport) {
    writer.string("name", &disk.name);
    counters(writer, "", &disk.counters);
    if let Some(slaves) = &disk.slaves {
        counters(writer, "aggr_", slaves);
    }
}

fn counters(writer: &mut JsonWriter, prefix: &str, counters: &DiskCounters) {
    let figures = [
        ("read_ios", counters.ios[0]),
        ("write_ios", counters.ios[1]),
        ("read_sectors", counters.sectors[0]),
        ("write_sectors", counters.sectors[1]),
        ("read_merges", counters.merges[0]),
        (compat::write_merges(prefix), counters.merges[1]),
        ("read_ticks", counters.ticks_ms[0]),
        ("write_ticks", counters.ticks_ms[1]),
        ("in_queue", counters.in_queue_ms),
    ];
    for (name, figure) in figures {
        writer.integer(&format!("{prefix}{name}"), figure);
    }
    writer.float(&format!("{prefix}util"), counters.util_percent);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_a_stacked_device() {
        let slave = DiskCounters { merges: [1, 2], util_percent: 7.5, ..DiskCounters::default() };
        let stacked = DiskReport::stacked("md0".into(), DiskCounters::default(), &[slave]);
        let text = JsonWriter::document(|writer| write(writer, &[stacked]));
        let read: serde_json::Value = serde_json::from_str(&text).expect("valid JSON");
        let device = read["disk_util"][0].as_object().expect("an object");
        let keys: Vec<&str> = device.keys().map(String::as_str).collect();
        let plain = "read_ios write_ios read_sectors write_sectors read_merges write_merges read_ticks write_ticks \
                     in_queue util";
        let mut expected = vec!["name".to_owned()];
        expected.extend(plain.split_whitespace().map(str::to_owned));
        let aggregated = plain.replace("write_merges", "write_merge");
        expected.extend(aggregated.split_whitespace().map(|key| format!("aggr_{key}")));
        assert_eq!(keys, expected);
        assert_eq!((device["aggr_write_merge"].as_u64(), device["aggr_util"].as_f64()), (Some(2), Some(7.5)));
    }

    #[test]
    fn nothing_without_devices() {
        assert_eq!(JsonWriter::document(|writer| write(writer, &[])), "{\n\n}\n");
    }
}
