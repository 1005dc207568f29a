//! Limits of the control group and of the process that may be what a run measures.
//!
//! Must not know: the use of the limits. Start reading at [`collect`].

mod weights;

use ferrio_stats::provenance::{DeviceFacts, IoLimit, LimitFacts};
use ferrio_sys::block_device::{BlockDevice, DeviceNumber};
use ferrio_sys::cgroup::OwnGroups;
use ferrio_sys::limits::{Privilege, Resource, has_privilege, reachable_limit, soft_limit};
use std::fs::read_to_string;

/// Limits in one line of a file of a control group: device number, direction, bytes and I/Os a second.
type Line<'a> = (&'a str, bool, Option<u64>, Option<u64>);

/// Limits on a machine with this memory, for I/O to these devices.
pub(super) fn collect(devices: &[DeviceFacts], memory_bytes: u64) -> LimitFacts {
    LimitFacts {
        io: io_limits(devices),
        memory_bytes: memory_limit().filter(|limit| *limit < memory_bytes),
        file_size_bytes: soft_limit(Resource::Fsize),
        locked_bytes: soft_limit(Resource::Memlock).filter(|_| !has_privilege(Privilege::LockMemory)),
        open_files: reachable_limit(Resource::Nofile),
        cpu_ms_per_sec: cpu_quota(),
        io_weights: weights::collect(devices),
    }
}

/// The smallest CPU quota of the group of this process and those above it, milliseconds a second.
fn cpu_quota() -> Option<u64> {
    let OwnGroups { is_v2, directories } = OwnGroups::find("cpu")?;
    let quota = |directory: &std::path::PathBuf| {
        let read = |name: &str| read_to_string(directory.join(name)).ok();
        if is_v2 {
            return quota_ms_per_sec(&read("cpu.max")?);
        }
        quota_ms_per_sec(&format!("{} {}", read("cpu.cfs_quota_us")?.trim(), read("cpu.cfs_period_us")?.trim()))
    };
    directories.iter().filter_map(quota).min()
}

/// `quota period`, microseconds. Without a limit the quota is `max` or -1.
fn quota_ms_per_sec(text: &str) -> Option<u64> {
    let (quota, period) = text.trim().split_once(' ')?;
    let (quota, period): (u64, u64) = (quota.parse().ok()?, period.parse().ok()?);
    quota.saturating_mul(1000).checked_div(period)
}

/// The smallest limit of the group of this process and those above it.
fn memory_limit() -> Option<u64> {
    let OwnGroups { is_v2, directories } = OwnGroups::find("memory")?;
    let name = if is_v2 { "memory.max" } else { "memory.limit_in_bytes" };
    // Without a limit version 2 says `max`, version 1 a number near 2^63.
    let limit = |directory: &std::path::PathBuf| read_to_string(directory.join(name)).ok()?.trim().parse().ok();
    directories.iter().filter_map(limit).min()
}

/// Limits of the group of this process, and of those above it, for I/O to these devices.
pub(in crate::evidence) fn io_limits(devices: &[DeviceFacts]) -> Vec<IoLimit> {
    let Some(v1) = OwnGroups::find("blkio") else { return Vec::new() };
    let (groups, directories) = if v1.is_v2 {
        let groups = OwnGroups::find("io").unwrap_or(v1);
        let directories = groups.directories.len();
        (groups, directories)
    } else {
        // In version 1 groups are side by side for this controller: limits of those above do not apply.
        (v1, 1)
    };
    let mut limits: Vec<IoLimit> = Vec::new();
    for directory in &groups.directories[..directories] {
        let read = |name: &str| read_to_string(directory.join(name)).unwrap_or_default();
        if groups.is_v2 {
            add(&mut limits, v2_lines(&read("io.max")), devices);
            continue;
        }
        for (name, is_write, is_bytes) in [
            ("blkio.throttle.read_bps_device", false, true),
            ("blkio.throttle.write_bps_device", true, true),
            ("blkio.throttle.read_iops_device", false, false),
            ("blkio.throttle.write_iops_device", true, false),
        ] {
            add(&mut limits, v1_lines(&read(name), is_write, is_bytes), devices);
        }
    }
    limits
}

/// Lines `8:0 rbps=1000 wbps=max riops=max wiops=100`.
fn v2_lines<'t>(text: &'t str) -> Vec<Line<'t>> {
    let of_line = |line: &'t str| -> Option<[Line<'t>; 2]> {
        let (number, fields) = line.split_once(' ')?;
        let field = |name: &str| {
            let mut fields = fields.split(' ').filter_map(|field| field.split_once('='));
            fields.find(|(key, _)| *key == name).and_then(|(_, value)| value.trim().parse().ok())
        };
        Some([(number, false, field("rbps"), field("riops")), (number, true, field("wbps"), field("wiops"))])
    };
    text.lines().filter_map(of_line).flatten().collect()
}

/// Lines `8:0 1000`.
fn v1_lines<'t>(text: &'t str, is_write: bool, is_bytes: bool) -> Vec<Line<'t>> {
    let of_line = |line: &'t str| -> Option<Line<'t>> {
        let (number, value) = line.split_once(' ')?;
        let value: Option<u64> = Some(value.trim().parse().ok()?);
        Some((number, is_write, value.filter(|_| is_bytes), value.filter(|_| !is_bytes)))
    };
    text.lines().filter_map(of_line).collect()
}

/// Adds limits for devices that the run uses. Of several limits the smallest one is in force.
fn add(limits: &mut Vec<IoLimit>, lines: Vec<Line<'_>>, devices: &[DeviceFacts]) {
    let is_set = |line: &Line<'_>| line.2.is_some() || line.3.is_some();
    for (number, is_write, bytes_per_sec, ios_per_sec) in lines.into_iter().filter(is_set) {
        let device = DeviceNumber::parse(number).and_then(|number| BlockDevice::by_number(number).ok().flatten());
        let Some(device) = device.filter(|device| devices.iter().any(|used| used.name == device.name)) else {
            continue;
        };
        let known = limits.iter_mut().find(|limit| limit.device == device.name && limit.is_write == is_write);
        let smaller = |old: Option<u64>, new: Option<u64>| old.into_iter().chain(new).min();
        match known {
            Some(limit) => {
                limit.bytes_per_sec = smaller(limit.bytes_per_sec, bytes_per_sec);
                limit.ios_per_sec = smaller(limit.ios_per_sec, ios_per_sec);
            }
            None => limits.push(IoLimit { device: device.name, is_write, bytes_per_sec, ios_per_sec }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_testing::skip;

    #[test]
    fn a_quota_is_a_share_of_its_period() {
        assert_eq!(quota_ms_per_sec("50000 100000\n"), Some(500));
        assert_eq!(quota_ms_per_sec("300000 200000"), Some(1500));
        for text in ["max 100000", "-1 100000", "50000", "", "50000 0"] {
            assert_eq!(quota_ms_per_sec(text), None, "{text}");
        }
    }

    #[test]
    fn limits_of_both_versions_are_read() {
        let v2 = "8:0 rbps=1000 wbps=max riops=max wiops=100\n8:16 rbps=x\nnothing\n";
        let expected = [
            ("8:0", false, Some(1000), None),
            ("8:0", true, None, Some(100)),
            ("8:16", false, None, None),
            ("8:16", true, None, None),
        ];
        assert_eq!(v2_lines(v2), expected);
        assert_eq!(v1_lines("8:0 1000\n8:16 -5\nTotal\n", true, true), [("8:0", true, Some(1000), None)]);
        assert_eq!(v1_lines("8:0 1000\n", false, false), [("8:0", false, None, Some(1000))]);
    }

    #[test]
    fn the_smallest_limit_of_a_device_in_use_counts() {
        let Some(disk) =
            BlockDevice::all().unwrap_or_default().into_iter().find(|disk| disk.attribute("dev").is_some())
        else {
            skip!("the_smallest_limit_of_a_device_in_use_counts", "no disk in /sys/block");
            return;
        };
        let number = disk.attribute("dev").unwrap_or_default();
        let used = DeviceFacts { name: disk.name.clone(), ..DeviceFacts::default() };
        let mut limits = Vec::new();
        for bytes in [2000, 1000, 3000] {
            add(
                &mut limits,
                vec![(&number, false, Some(bytes), None), (&number, true, None, None)],
                std::slice::from_ref(&used),
            );
        }
        add(&mut limits, vec![(&number, false, None, Some(50))], &[used]);
        let expected = IoLimit { device: disk.name, is_write: false, bytes_per_sec: Some(1000), ios_per_sec: Some(50) };
        assert_eq!(limits, std::slice::from_ref(&expected));
        add(&mut limits, vec![(&number, true, Some(1), None), ("x:y", true, Some(1), None)], &[]);
        assert_eq!(limits, [expected]);
    }
}
