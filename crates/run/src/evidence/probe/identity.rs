//! Targets of several jobs that are the same under different names, and the part of a file behind a loop device that a job uses.
//!
//! Must not know: rules. Start reading at [`Identities`].

use ferrio_spec::{ExtentSpec, SizeSpec};
use ferrio_stats::{BackingPart, TargetAlias};
use ferrio_sys::block_device::{BlockDevice, DeviceNumber};
use ferrio_sys::extents::ExtentBytes;
use ferrio_sys::file::{FileInfo, FileKind, OpenRequest};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// More aliases of a job than this are not kept.
const MAX_ALIASES: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Identity {
    Device(DeviceNumber),
    /// A file, from a byte on.
    File {
        device: DeviceNumber,
        inode: u64,
        start_bytes: u64,
    },
}

/// The first name of each target, and its job.
#[derive(Debug, Default)]
pub(super) struct Identities(HashMap<Identity, (u32, PathBuf)>);

impl Identities {
    /// Adds a target of a job; to its aliases too if an earlier job has it under another name.
    pub(super) fn add(&mut self, job_index: u32, path: &Path, info: &FileInfo, aliases: &mut Vec<TargetAlias>) {
        for identity in identities(info) {
            let (other_index, other) = self.0.entry(identity).or_insert_with(|| (job_index, path.to_owned()));
            if *other_index != job_index && *other != path && aliases.len() < MAX_ALIASES {
                aliases.push(TargetAlias {
                    path: path.display().to_string(),
                    other_index: *other_index,
                    other_path: other.display().to_string(),
                });
            }
        }
    }
}

/// A loop device is also the file behind it.
fn identities(info: &FileInfo) -> Vec<Identity> {
    let of_file =
        |info: &FileInfo, start_bytes| Identity::File { device: info.on_device, inode: info.inode, start_bytes };
    match info.kind {
        FileKind::Regular => vec![of_file(info, 0)],
        FileKind::Block => {
            let behind =
                backing_of(info.is_device).and_then(|(path, start)| Some((FileInfo::of_path(&path).ok()?, start)));
            let behind = behind.filter(|(info, _)| info.kind == FileKind::Regular);
            [Identity::Device(info.is_device)]
                .into_iter()
                .chain(behind.map(|(info, start)| of_file(&info, start)))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// The file behind a loop device, and the byte of it with which the device begins.
fn backing_of(number: DeviceNumber) -> Option<(PathBuf, u64)> {
    // Of the devices with partitions only the whole one begins there.
    let device = BlockDevice::by_number(number).ok().flatten().filter(|device| device.number == number)?;
    let start_bytes = device.attribute("loop/offset").and_then(|text| text.parse().ok()).unwrap_or(0);
    Some((device.loop_backing_file()?, start_bytes))
}

/// The part of the file behind a loop device that a job with clones uses, if its options say it in bytes.
pub(super) fn part_behind_loop(path: &Path, extent: &ExtentSpec, n_clones: u32) -> Option<BackingPart> {
    let info = FileInfo::of_path(path).ok().filter(|info| info.kind == FileKind::Block)?;
    let (SizeSpec::Bytes(offset), Some(SizeSpec::Bytes(size)), SizeSpec::Bytes(increment)) =
        (extent.offset, extent.size, extent.offset_increment)
    else {
        return None;
    };
    let (backing, start_bytes) = backing_of(info.is_device)?;
    let file = OpenRequest::default().open(&backing).ok()?;
    let file_bytes = FileInfo::of_path(&backing).ok()?.size_bytes;
    let start = start_bytes.saturating_add(offset);
    let moved = increment.saturating_mul(u64::from(n_clones.saturating_sub(1)));
    let end = start.saturating_add(moved).saturating_add(size).min(file_bytes);
    let size_bytes = end.checked_sub(start).filter(|bytes| *bytes > 0)?;
    let extents = ExtentBytes::of_range(file, start..end).ok()??;
    Some(BackingPart { size_bytes, extents })
}
