//! The links between a device and the memory of the machine: PCI Express, Serial ATA, USB. Each bounds the rate of data.
//!
//! Must not know: rates that were measured. Start reading at [`HardwareLink::slowest`].

use super::BlockDevice;
use std::path::Path;

/// A link with its speed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HardwareLink {
    /// In words, such as `PCIe 8.0 GT/s x4`.
    pub name: String,
    /// Bytes per second in one direction, after the line code.
    pub bytes_per_sec: u64,
}

impl HardwareLink {
    /// The slowest link on the way to a device; `None`: sysfs names none, or this is a virtual machine, whose links are inventions of
    /// its host and bound nothing.
    pub fn slowest(device: &BlockDevice) -> Option<Self> {
        let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let is_virtual =
            cpu.lines().any(|line| line.starts_with("flags") && line.split(' ').any(|flag| flag == "hypervisor"));
        if is_virtual { None } else { Self::above(&device.directory) }
    }

    /// The slowest link of a directory of sysfs and those above it. The directory of an NVMe disk is below that of its controller,
    /// which is below that of the PCI device.
    fn above(directory: &Path) -> Option<Self> {
        // Above `/sys/devices` there is no device.
        let devices = directory.ancestors().take_while(|above| above.file_name().is_some_and(|name| name != "devices"));
        devices
            .flat_map(|device| [pci(device), usb(device), sata(device)])
            .flatten()
            .min_by_key(|link| link.bytes_per_sec)
    }
}

fn text(directory: &Path, name: &str) -> Option<String> {
    std::fs::read_to_string(directory.join(name)).ok().map(|text| text.trim().to_owned())
}

/// The number in front of a unit: `8.0 GT/s PCIe`, `6.0 Gbps`. Thousandths, so that 2.5 is a whole number.
fn thousandths(text: &str) -> Option<u64> {
    let (whole, part) = text.split(' ').next()?.split_once('.').unwrap_or((text.split(' ').next()?, "0"));
    let part: u64 = part.get(..1)?.parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(part * 100)
}

fn pci(directory: &Path) -> Option<HardwareLink> {
    let speed = text(directory, "current_link_speed")?;
    let width: u64 = text(directory, "current_link_width")?.parse().ok()?;
    let giga_transfers = thousandths(&speed)?;
    // Of ten bits eight are data up to 5 GT/s, of 130 bits 128 above. Above 32 GT/s the code is denser, and all bits are counted.
    let (data, line) = match giga_transfers {
        ..=5_000 => (8, 10),
        5_001..=32_000 => (128, 130),
        _ => (1, 1),
    };
    let bits_per_sec = giga_transfers.checked_mul(1_000_000)?.checked_mul(width)?.checked_mul(data)? / line;
    let name = format!("PCIe {} x{width}", speed.trim_end_matches(" PCIe"));
    (bits_per_sec > 0).then_some(HardwareLink { name, bytes_per_sec: bits_per_sec / 8 })
}

/// A device of USB has a number of its bus, and a speed in megabits per second.
fn usb(directory: &Path) -> Option<HardwareLink> {
    text(directory, "busnum")?;
    let megabits = thousandths(&text(directory, "speed")?)?;
    // The codes of USB differ by version, so all bits are counted.
    let bytes_per_sec = megabits.checked_mul(1000)? / 8;
    (bytes_per_sec > 0).then(|| HardwareLink { name: format!("USB {} Mbit/s", megabits / 1000), bytes_per_sec })
}

/// The directory of a port of Serial ATA (`ata3`) has that of its link (`link3`), which has its speed.
fn sata(directory: &Path) -> Option<HardwareLink> {
    let number = directory.file_name()?.to_str()?.strip_prefix("ata").filter(|number| number.parse::<u32>().is_ok())?;
    let link = format!("link{number}");
    let speed = text(directory, &format!("{link}/ata_link/{link}/sata_spd"))?;
    // Of ten bits eight are data.
    let bytes_per_sec = thousandths(&speed)?.checked_mul(1_000_000)? / 10;
    (bytes_per_sec > 0).then(|| HardwareLink { name: format!("SATA {speed}"), bytes_per_sec })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::TempDir;

    fn with(files: &[(&str, &str)], device: &str) -> Option<HardwareLink> {
        let dir = TempDir::new("links");
        let root = dir.path().join("devices");
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, format!("{text}\n")).unwrap();
        }
        std::fs::create_dir_all(root.join(device)).unwrap();
        HardwareLink::above(&root.join(device))
    }

    #[test]
    fn the_slowest_link_on_the_way_counts() {
        let files = [
            ("pci0000:00/0000:00:01.0/current_link_speed", "8.0 GT/s PCIe"),
            ("pci0000:00/0000:00:01.0/current_link_width", "16"),
            ("pci0000:00/0000:00:01.0/0000:01:00.0/current_link_speed", "8.0 GT/s PCIe"),
            ("pci0000:00/0000:00:01.0/0000:01:00.0/current_link_width", "4"),
        ];
        let nvme = with(&files, "pci0000:00/0000:00:01.0/0000:01:00.0/nvme/nvme0/nvme0n1");
        // 8 GT/s on 4 lanes, 128 of 130 bits are data: 3.94 GB/s.
        assert_eq!(nvme, Some(HardwareLink { name: "PCIe 8.0 GT/s x4".into(), bytes_per_sec: 3_938_461_538 }));
        let disk = [("pci0/ata3/link3/ata_link/link3/sata_spd", "6.0 Gbps")];
        let sata = with(&disk, "pci0/ata3/host2/target2:0:0/2:0:0:0/block/sda");
        assert_eq!(sata, Some(HardwareLink { name: "SATA 6.0 Gbps".into(), bytes_per_sec: 600_000_000 }));
        let stick = [("pci0/usb1/1-2/busnum", "1"), ("pci0/usb1/1-2/speed", "480")];
        assert_eq!(
            with(&stick, "pci0/usb1/1-2/1-2:1.0/host3/block/sdb").map(|link| link.bytes_per_sec),
            Some(60_000_000)
        );
    }

    #[test]
    fn speeds_that_are_not_known_bound_nothing() {
        for (speed, width) in
            [("Unknown", "4"), ("8.0 GT/s PCIe", "0"), ("", ""), ("99999999999999999999 GT/s", "4"), (".é", "1")]
        {
            let files = [("a/current_link_speed", speed), ("a/current_link_width", width)];
            assert_eq!(with(&files, "a/nvme0n1"), None, "{speed:?} {width:?}");
        }
        assert_eq!(with(&[("ata9/link9/ata_link/link9/sata_spd", "<unknown>")], "ata9/sda"), None);
        assert_eq!(with(&[], "virtual/block/loop0"), None);
    }
}
