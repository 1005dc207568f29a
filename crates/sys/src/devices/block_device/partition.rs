//! A partition and its place on its disk, as sysfs shows them.
//!
//! Must not know: conclusions from the place. Start reading at [`Partition::by_number`].

use super::{DeviceNumber, SYS_DEV_BLOCK, file_name};
use std::path::Path;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// Name, such as `sda1`.
    pub name: String,
    /// Its first sector on the disk, in sectors of 512 bytes whatever the disk's own are.
    pub start_sector: u64,
}

impl Partition {
    /// The partition with this number; `None`: the number is that of a whole disk, or sysfs does not know it.
    pub fn by_number(number: DeviceNumber) -> Option<Self> {
        let directory = Path::new(SYS_DEV_BLOCK).join(number.to_string());
        Self::in_directory(&std::fs::canonicalize(directory).ok()?)
    }

    fn in_directory(directory: &Path) -> Option<Self> {
        let text = |name: &str| std::fs::read_to_string(directory.join(name)).ok();
        text("partition")?;
        let name = file_name(directory)?.replace('!', "/");
        Some(Self { name, start_sector: text("start")?.trim().parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::TempDir;

    #[test]
    fn a_disk_is_no_partition() {
        let dir = TempDir::new("partition");
        let partition = dir.path().join("sda/sda1");
        std::fs::create_dir_all(&partition).unwrap();
        std::fs::write(partition.join("start"), "2049\n").unwrap();
        assert_eq!(Partition::in_directory(&partition), None);
        std::fs::write(partition.join("partition"), "1\n").unwrap();
        let found = Partition { name: "sda1".to_owned(), start_sector: 2049 };
        assert_eq!(Partition::in_directory(&partition), Some(found));
        std::fs::write(partition.join("start"), "-1\n").unwrap();
        assert_eq!(Partition::in_directory(&partition), None);
        assert_eq!(Partition::by_number(DeviceNumber { major: 0, minor: 1 }), None);
    }
}
