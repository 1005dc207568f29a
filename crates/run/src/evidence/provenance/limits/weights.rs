//! The weight of the control group for devices that the kernel shares out by weight: those with the scheduler bfq, and those for which
//! the cost model is switched on (`io.cost.qos`).
//!
//! Must not know: the use of the weights. Start reading at [`collect`].

use ferrio_stats::provenance::{DeviceFacts, IoWeight};
use ferrio_sys::block_device::BlockDevice;
use ferrio_sys::cgroup::OwnGroups;
use std::fs::read_to_string;
use std::path::Path;

/// Weights of the group of this process for these devices; only where they have an effect.
pub(super) fn collect(devices: &[DeviceFacts]) -> Vec<IoWeight> {
    let found = OwnGroups::find("blkio").filter(|groups| !groups.is_v2).or_else(|| OwnGroups::find("io"));
    let Some(OwnGroups { is_v2, directories }) = found else { return Vec::new() };
    // Weights share out what the group above has: those above compare with others.
    let (Some(own), Some(root)) = (directories.first(), directories.last()) else { return Vec::new() };
    let costs = read_to_string(root.join("io.cost.qos")).unwrap_or_default();
    let bfq = if is_v2 { "io.bfq.weight" } else { "blkio.bfq.weight" };
    let of_device = |device: &DeviceFacts| {
        let number = || number_of(&device.name);
        match () {
            () if device.scheduler.as_deref() == Some("bfq") => weight(own, bfq, device, &number()?),
            () if is_v2 && is_enabled(&costs, &number()?) => weight(own, "io.weight", device, &number()?),
            () => None,
        }
    };
    devices.iter().filter_map(of_device).collect()
}

fn number_of(name: &str) -> Option<String> {
    let disks = BlockDevice::all().ok()?;
    disks.iter().find(|disk| disk.name == name).map(|disk| disk.number.to_string())
}

fn weight(group: &Path, setting: &str, device: &DeviceFacts, number: &str) -> Option<IoWeight> {
    let weight = weight_of(&read_to_string(group.join(setting)).ok()?, number)?;
    Some(IoWeight { device: device.name.clone(), weight, setting: setting.to_owned() })
}

/// Lines `default 100` and `8:0 50`; version 1 has the number alone.
fn weight_of(text: &str, number: &str) -> Option<u64> {
    let field =
        |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok());
    field(number).or_else(|| field("default")).or_else(|| text.trim().parse().ok())
}

/// Lines `8:0 enable=1 ctrl=auto ...`.
fn is_enabled(costs: &str, number: &str) -> bool {
    let rest = costs.lines().find_map(|line| line.strip_prefix(number)?.strip_prefix(' '));
    rest.is_some_and(|fields| fields.split(' ').any(|field| field == "enable=1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_of_the_device_comes_before_the_default() {
        let text = "default 100\n8:0 50\n8:16 900\n";
        assert_eq!(weight_of(text, "8:0"), Some(50));
        assert_eq!(weight_of(text, "8:1"), Some(100));
        assert_eq!(weight_of("200\n", "8:0"), Some(200));
        assert_eq!(weight_of("", "8:0"), None);
        assert_eq!(weight_of("default x\n", "8:0"), None);
    }

    #[test]
    fn a_cost_model_is_switched_on_for_each_device() {
        let costs = "8:0 enable=1 ctrl=auto rpct=95.00\n8:16 enable=0 ctrl=auto\n";
        assert!(is_enabled(costs, "8:0") && !is_enabled(costs, "8:16") && !is_enabled(costs, "8:1"));
        assert!(!is_enabled("", "8:0"));
    }
}
