//! The target of a job: what it is, and whether a job may write to it.
//!
//! Must not know: options of jobs. Start reading at [`JobTarget::look`].

use super::request::{JobGoal, JobRequest};
use anyhow::anyhow;
use ferrio_sys::block_device;
use ferrio_sys::errno::ENOENT;
use ferrio_sys::file::{FileInfo, FileKind, OpenRequest};
use ferrio_sys::mounts::use_of_device;
use ferrio_units::error_text;
use std::path::Path;

/// Size of the data, unless asked for otherwise and where the target has room.
const SIZE_BYTES: u64 = 1 << 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JobTargetKind {
    Directory,
    /// A file that is not there yet.
    NewFile,
    File,
    Device,
}

/// A target that suits the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct JobTarget {
    pub(super) kind: JobTargetKind,
    pub(super) size_bytes: u64,
}

impl JobTarget {
    /// Looks at the target, and changes nothing.
    ///
    /// # Errors
    /// In words: why the job must not be made for it.
    pub(super) fn look(wanted: &JobRequest) -> anyhow::Result<Self> {
        let path = Path::new(&wanted.target);
        let shown = path.display();
        if wanted.target.contains(':') {
            return Err(anyhow!("{shown}: a colon separates several files in a job: take another path"));
        }
        let info = match FileInfo::of_path(path) {
            Ok(info) => Some(info),
            Err(error) if error.errno() == Some(ENOENT) => None,
            Err(error) => return Err(error.into()),
        };
        let (kind, file_bytes) = match info.map(|info| (info.kind, info.size_bytes)) {
            None => (new_file(path)?, None),
            Some((FileKind::Directory, _)) => (JobTargetKind::Directory, None),
            // The job fills an empty file.
            Some((FileKind::Regular, 0)) => (JobTargetKind::NewFile, None),
            Some((FileKind::Regular, size_bytes)) => (JobTargetKind::File, Some(size_bytes)),
            Some((FileKind::Block, _)) => (JobTargetKind::Device, None),
            Some(_) => return Err(anyhow!("{shown} is neither a directory nor a file nor a block device")),
        };
        if matches!(kind, JobTargetKind::File | JobTargetKind::Device) {
            // Before a device is opened: one in use may refuse that.
            check_data(wanted, kind)?;
        }
        let has_bytes = if kind == JobTargetKind::Device { Some(device_bytes(path)?) } else { file_bytes };
        let size_bytes = size(wanted, has_bytes)?;
        Ok(Self { kind, size_bytes })
    }
}

/// A file can be made here.
fn new_file(path: &Path) -> anyhow::Result<JobTargetKind> {
    if path.symlink_metadata().is_ok() {
        return Err(anyhow!("{} is a symbolic link to nowhere", path.display()));
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // A path with a slash at its end is no file.
    if !parent.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(anyhow!("there is no {}, and no directory in which it could be made", path.display()));
    }
    Ok(JobTargetKind::NewFile)
}

fn device_bytes(path: &Path) -> anyhow::Result<u64> {
    let size = OpenRequest::default().open(path).and_then(|device| block_device::size_bytes(&device));
    size.map_err(|error| anyhow!("its size is not known: {error}"))
}

/// A job may write to a target with data: only if asked to, and never to a device in use.
fn check_data(wanted: &JobRequest, kind: JobTargetKind) -> anyhow::Result<()> {
    let shown = &wanted.target;
    if wanted.measure == JobGoal::Database {
        return Err(anyhow!("{shown}: a database has several files: name a directory or a new file"));
    }
    if !wanted.writes() {
        return Ok(());
    }
    if kind == JobTargetKind::Device {
        match use_of_device(Path::new(shown)) {
            Ok(None) => {}
            Ok(Some(usage)) => return Err(anyhow!("{shown} is {usage}: no job is made that writes to it")),
            Err(error) => {
                let why = std::error::Error::source(&error)
                    .and_then(|source| source.downcast_ref::<std::io::Error>())
                    .map_or_else(|| error.to_string(), error_text);
                return Err(anyhow!(
                    "{shown}: whether it is in use is not known ({why}): no job is made that writes to it"
                ));
            }
        }
    }
    if wanted.overwrites {
        return Ok(());
    }
    let what = if kind == JobTargetKind::Device { "is a device" } else { "is a file with data" };
    Err(anyhow!("{shown} {what}, and the job would destroy what is on it: allow that with --overwrite"))
}

fn size(wanted: &JobRequest, has_bytes: Option<u64>) -> anyhow::Result<u64> {
    let room = has_bytes.unwrap_or(u64::MAX);
    if room < wanted.block_bytes {
        return Err(anyhow!("{} has {room} bytes, less than a block", wanted.target));
    }
    let size_bytes = wanted.size_bytes.unwrap_or_else(|| SIZE_BYTES.max(wanted.block_bytes).min(room));
    if size_bytes > room {
        return Err(anyhow!("{} has {room} bytes, and the size is {size_bytes}", wanted.target));
    }
    Ok(size_bytes)
}
