//! The block device of the namespace behind a character device, by sysfs: both have the same data.
//!
//! Must not know: commands. Start reading at [`block_device_of`].

use crate::devices::SYS_DEV_CHAR;
use crate::devices::block_device::{DeviceNumber, path_of};
use crate::error::{Context, Error, Result};
use std::path::{Path, PathBuf};

/// Directory of sysfs with all block devices.
const SYS_BLOCK: &str = "/sys/block";

/// The class of the character devices of namespaces.
const CLASS: &str = "nvme-generic";

/// The way to the data of a namespace, beside its character device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockSide {
    At(PathBuf),
    /// None: the kernel hides the block device, because it does not understand the format.
    Hidden,
    /// The character device is none of a namespace.
    NotNvme,
}

/// The block device of the namespace whose character device has this number.
pub fn block_device_of(number: DeviceNumber) -> Result<BlockSide> {
    block_side(number, Path::new(SYS_DEV_CHAR), Path::new(SYS_BLOCK))
}

fn block_side(number: DeviceNumber, characters: &Path, blocks: &Path) -> Result<BlockSide> {
    let link = characters.join(number.to_string());
    let directory = std::fs::canonicalize(&link).context("resolve", link.display())?;
    let class = directory.join("subsystem");
    let class = std::fs::canonicalize(&class).context("resolve", class.display())?;
    if class.file_name().is_none_or(|name| name != CLASS) {
        return Ok(BlockSide::NotNvme);
    }
    let unknown = |reason: String| Error::Unavailable { what: "the block device of this namespace", reason };
    let name = directory.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let rest = name.strip_prefix("ng").ok_or_else(|| unknown(format!("the name {name} does not tell it")))?;
    let entry = blocks.join(format!("nvme{rest}"));
    let block = std::fs::canonicalize(&entry).context("resolve", entry.display())?;
    // A controller that came back under another number may have left the name to another namespace.
    if block.parent() != directory.parent() {
        return Err(unknown(format!("{} belongs to another controller", entry.display())));
    }
    let read = |attribute: &str| {
        let path = block.join(attribute);
        std::fs::read_to_string(&path).context("read", path.display())
    };
    if read("hidden")?.trim() == "1" {
        return Ok(BlockSide::Hidden);
    }
    let text = read("dev")?;
    let number = DeviceNumber::parse(&text).ok_or(Error::Parse { what: "number of a device", text })?;
    Ok(BlockSide::At(path_of(number).unwrap_or_else(|| Path::new("/dev").join(format!("nvme{rest}")))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A sysfs with one namespace, whose block device is below this controller.
    fn sysfs(name: &str, block_controller: &str, hidden: &str) -> PathBuf {
        let root = std::env::temp_dir().join(format!("ferrio-sys-{name}-{}", std::process::id()));
        let node = root.join("devices/nvme0/ng0n1");
        let block = root.join(format!("devices/{block_controller}/nvme0n1"));
        for directory in [
            &node,
            &block,
            &root.join("class/nvme-generic"),
            &root.join("class/mem"),
            &root.join("char"),
            &root.join("block"),
        ] {
            fs::create_dir_all(directory).unwrap();
        }
        fs::create_dir_all(root.join("devices/null")).unwrap();
        symlink(root.join("class/nvme-generic"), node.join("subsystem")).unwrap();
        symlink(root.join("class/mem"), root.join("devices/null/subsystem")).unwrap();
        fs::write(block.join("hidden"), hidden).unwrap();
        fs::write(block.join("dev"), "4095:1\n").unwrap();
        symlink(&node, root.join("char/242:0")).unwrap();
        symlink(root.join("devices/null"), root.join("char/1:3")).unwrap();
        symlink(&block, root.join("block/nvme0n1")).unwrap();
        root
    }

    fn side(root: &Path, major: u32, minor: u32) -> Result<BlockSide> {
        block_side(DeviceNumber { major, minor }, &root.join("char"), &root.join("block"))
    }

    #[test]
    fn a_namespace_has_the_block_device_of_its_name() {
        let root = sysfs("side", "nvme0", "0\n");
        assert_eq!(side(&root, 242, 0).unwrap(), BlockSide::At(PathBuf::from("/dev/nvme0n1")));
        assert_eq!(side(&root, 1, 3).unwrap(), BlockSide::NotNvme);
        assert!(side(&root, 9, 9).is_err());
        fs::remove_file(root.join("block/nvme0n1")).unwrap();
        assert!(side(&root, 242, 0).is_err());
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_hidden_one_and_one_of_another_controller_are_told_apart() {
        let hidden = sysfs("hidden", "nvme0", "1\n");
        assert_eq!(side(&hidden, 242, 0).unwrap(), BlockSide::Hidden);
        let other = sysfs("other", "nvme1", "0\n");
        assert!(side(&other, 242, 0).is_err());
        fs::remove_dir_all(hidden).unwrap();
        fs::remove_dir_all(other).unwrap();
    }
}
