//! What is to be preconditioned: a block device, or a file that is there. What must not be written to is refused here.
//!
//! Each run looks again whether the device is free, so that a mount in the meantime ends the work. Must not know: loads, rounds. Start reading at
//! [`PreconditionTarget::examine`].

use crate::precondition::contents::{LOOKED_AT_BYTES, told_by};
use crate::precondition::error::{PreconditionError, TargetFault};
use ferrio_sys::block_device::{self, BlockDevice};
use ferrio_sys::file::{FileInfo, FileKind};
use ferrio_sys::mounts::use_of_device;
use ferrio_sys::output::work_folder;
use ferrio_units::humanize::bytes_text;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Sizes are whole multiples of this, which all devices and file systems take with direct I/O.
const UNIT_BYTES: u64 = 4_096;

/// A target that may be preconditioned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreconditionTarget {
    /// Its absolute path.
    pub path: PathBuf,
    /// Its size; of a file, the part that is a whole multiple of 4 KiB.
    pub bytes: u64,
    /// It is a block device, not a file.
    pub is_device: bool,
    /// What the disk says that it is; `None`: it does not say, or it is a file.
    pub model: Option<String>,
    /// What is on it, in words. It is not compared: it changes with the work.
    pub contents: String,
}

impl PreconditionTarget {
    /// Looks at a path. With `is_written`, a target that is in use, or of which that cannot be found out, is refused.
    ///
    /// # Errors
    /// It is no block device and no file, has no blocks, or must not be written to.
    pub fn examine(path: &Path, is_written: bool) -> Result<Self, PreconditionError> {
        let refused = |fault: TargetFault| PreconditionError::Target { path: path.to_owned(), fault };
        let failed = |error: ferrio_sys::Error| refused(error.into());
        let absolute = std::fs::canonicalize(path).map_err(|error| refused(error.into()))?;
        let info = FileInfo::of_path(&absolute).map_err(failed)?;
        let (bytes, model) = match info.kind {
            FileKind::Block => {
                let disk = BlockDevice::behind_path(&absolute).map_err(failed)?;
                check_device(&absolute, disk.as_ref(), is_written).map_err(refused)?;
                (size_of(&absolute).map_err(refused)?, disk.and_then(|disk| model_of(&disk)))
            }
            FileKind::Regular => {
                check_file(&absolute, is_written).map_err(refused)?;
                (info.size_bytes / UNIT_BYTES * UNIT_BYTES, None)
            }
            FileKind::Directory => return Err(refused(TargetFault::Directory)),
            _ => return Err(refused(TargetFault::Kind)),
        };
        if bytes < UNIT_BYTES {
            return Err(refused(TargetFault::NoRoom));
        }
        let beginning = work_folder::read(&absolute, LOOKED_AT_BYTES as u64);
        let beginning = beginning.map_err(|error| refused(error.into()))?;
        let is_device = info.kind == FileKind::Block;
        Ok(Self { path: absolute, bytes, is_device, model, contents: told_by(&beginning).to_owned() })
    }

    /// Makes sure that it is the same one as another time.
    ///
    /// # Errors
    /// Its path, size or model is another.
    pub(crate) fn check_same(&self, now: &Self) -> Result<(), PreconditionError> {
        let facts = |target: &Self| (target.path.clone(), target.bytes, target.is_device, target.model.clone());
        if facts(self) == facts(now) {
            return Ok(());
        }
        let (path, was, is) = (now.path.clone(), self.to_string(), now.to_string());
        Err(PreconditionError::OtherTarget { path, was, is })
    }
}

impl fmt::Display for PreconditionTarget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}, {}", self.path.display(), bytes_text(self.bytes))?;
        self.model.iter().try_for_each(|model| write!(formatter, ", {model}"))
    }
}

/// Refuses a block device that must not be written to.
fn check_device(path: &Path, disk: Option<&BlockDevice>, is_written: bool) -> Result<(), TargetFault> {
    if !is_written {
        return Ok(());
    }
    match use_of_device(path) {
        Ok(None) => {}
        Ok(Some(found)) => return Err(TargetFault::Used(found.to_string())),
        Err(error) => return Err(TargetFault::UseUnknown(error.to_string())),
    }
    if disk.and_then(|disk| disk.attribute("ro")).is_some_and(|flag| flag == "1") {
        return Err(TargetFault::ReadOnly);
    }
    match disk.and_then(|disk| disk.queue_attribute("zoned")) {
        Some(kind) if kind != "none" => Err(TargetFault::Zoned(kind)),
        _ => Ok(()),
    }
}

/// Refuses a file that must not be written to: a device over it would lose its data.
fn check_file(path: &Path, is_written: bool) -> Result<(), TargetFault> {
    if !is_written {
        return Ok(());
    }
    let devices = BlockDevice::all().map_err(|error| TargetFault::UsersUnknown(error.to_string()))?;
    let is_it = |one: &Path| std::fs::canonicalize(one).is_ok_and(|one| one == path);
    let over = devices.iter().find(|device| device.loop_backing_file().is_some_and(|file| is_it(&file)));
    over.map_or(Ok(()), |device| Err(TargetFault::UsedBy(device.name.clone())))
}

fn size_of(path: &Path) -> Result<u64, TargetFault> {
    Ok(block_device::size_bytes(&File::open(path)?)?)
}

fn model_of(disk: &BlockDevice) -> Option<String> {
    let words = ["device/model", "device/serial"].iter().filter_map(|name| disk.attribute(name));
    let text = words.map(|word| word.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>().join(" ");
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(path: &str) -> String {
        PreconditionTarget::examine(Path::new(path), true).expect_err("refused").to_string()
    }

    #[test]
    fn what_is_none_is_refused() {
        assert!(refusal("/").contains("a directory"));
        assert!(refusal("/dev/null").contains("neither a block device nor a file"));
        assert!(refusal("/no/such").contains("No such file or directory"));
        assert!(refusal("/proc/version").contains("no room"));
    }

    #[test]
    fn a_file_is_a_target_of_whole_blocks() {
        let path = std::env::temp_dir().join(format!("ferrio-precondition-target-{}", std::process::id()));
        std::fs::write(&path, vec![7; 10_000]).expect("written");
        let target = PreconditionTarget::examine(&path, true).expect("a target");
        assert_eq!(
            (target.bytes, target.is_device, target.contents.as_str()),
            (8_192, false, "data of no kind that is known here")
        );
        assert!(target.check_same(&target).is_ok());
        let larger = PreconditionTarget { bytes: 12_288, ..target.clone() };
        assert!(target.check_same(&larger).expect_err("another").to_string().contains("12 KiB now"));
        std::fs::remove_file(&path).expect("removed");
    }
}
