//! Files that hold data and are shorter than a job needs them: what the layout does to them, and refusals before any file is touched.
//!
//! Must not know: how files are written. Start reading at [`check`] and [`laid_over`].

use super::write::{LayoutNeed, end_of, failed, needs_layout};
use crate::error::{Failure, failure};
use crate::events::{MessageStream, RunEvent};
use crate::files::{FilePlan, FileSet};
use crate::plan::WorkerPlan;
use ferrio_spec::Fallocate;
use ferrio_stats::LaidOver;
use ferrio_stats::note::FileNote;
use ferrio_sys::errno::{EFBIG, ENOENT, ENOSPC};
use ferrio_sys::file::{Access, FileInfo, OpenRequest};
use ferrio_sys::file_space;
use ferrio_sys::limits::{Resource, soft_limit};
use std::path::Path;

/// The files of a job that only reads which hold data and would be replaced or made longer.
pub(crate) fn laid_over(worker: &WorkerPlan, set: &FileSet) -> Vec<LaidOver> {
    let how = LayoutNeed::of(worker);
    if worker.spec.changes_files() || worker.spec.is_verify_only() || !needs_layout_at_all(worker) {
        return Vec::new();
    }
    let held = set.files.iter().filter(|file| needs_layout(file) && file.file_bytes > 0);
    let of_file = |file: &FilePlan| LaidOver {
        job_index: worker.job_index as u32,
        path: file.path.display().to_string(),
        held_bytes: file.file_bytes,
        wanted_bytes: (!worker.spec.extent.fill_device).then(|| end_of(file)),
        is_replaced: how.replaces(),
    };
    held.map(of_file).collect()
}

fn needs_layout_at_all(worker: &WorkerPlan) -> bool {
    worker.engine.def.targets.are_files() && !worker.spec.layout.create_on_open
}

/// Tells of each such file what becomes of it.
pub(super) fn tell(worker: &WorkerPlan, files: &[LaidOver], events: &mut dyn FnMut(RunEvent)) {
    for file in files {
        let note = FileNote::LaidOver { job: worker.spec.name.clone(), file: file.clone() };
        events(RunEvent::Message(MessageStream::Error, note.into()));
    }
}

/// Fails before any file is touched if a file would be lost for nothing: because none may be made, because the user may not
/// write to it, or because there is no room for what would be written.
pub(super) fn check(worker: &WorkerPlan, set: &FileSet, how: LayoutNeed) -> Result<(), Failure> {
    check_creation(worker, set, how)?;
    let held = set.files.iter().filter(|file| needs_layout(file) && file.file_bytes > 0);
    // Other layouts open the file themselves, and change nothing where they may not.
    for file in held.filter(|_| how.replaces()) {
        let request = OpenRequest { access: Access::Write, ..OpenRequest::default() };
        request.open(&file.path).map_err(|error| failed(&error, "open"))?;
    }
    check_rooms(worker, set, how)
}

/// Fails if a file would have to be made and none may be.
pub(super) fn check_creation(worker: &WorkerPlan, set: &FileSet, how: LayoutNeed) -> Result<(), Failure> {
    let mut files = set.files.iter().filter(|file| needs_layout(file));
    if !worker.spec.target.allow_file_create
        && files.any(|file| how.replaces() || FileInfo::of_path(&file.path).is_err())
    {
        return Err(failure!(ENOENT, "open").explained(FileNote::CreationDisallowed));
    }
    Ok(())
}

/// Fails if there is no room for what would be written to files that hold data.
pub(super) fn check_rooms(worker: &WorkerPlan, set: &FileSet, how: LayoutNeed) -> Result<(), Failure> {
    let files = || set.files.iter().filter(|file| needs_layout(file));
    let held = || files().filter(|file| file.file_bytes > 0);
    let allocates = how.writes() || worker.spec.layout.fallocate == Fallocate::Keep;
    if worker.spec.extent.fill_device || !allocates {
        return Ok(());
    }
    held().try_for_each(|file| check_room(file, files(), how))
}

/// Fails if what the layout writes on the file system of a file does not fit there, or into the limit of the process for files.
fn check_room<'a>(file: &FilePlan, files: impl Iterator<Item = &'a FilePlan>, how: LayoutNeed) -> Result<(), Failure> {
    let refused = |errno, room_bytes| {
        let (wanted_bytes, held_bytes) = (end_of(file), file.file_bytes);
        let note = FileNote::NoRoom { file: file.name.clone(), held_bytes, wanted_bytes, room_bytes };
        Err(failure!(errno, "layout").explained(note))
    };
    if let Some(limit) = soft_limit(Resource::Fsize).filter(|limit| *limit < end_of(file)) {
        return refused(EFBIG, limit);
    }
    let looked_at = |path: &Path| FileInfo::of_path(path).map_err(|error| failed(&error, "stat"));
    let its_device = looked_at(&file.path)?.on_device;
    let space = file_space::file_system_space(&file.path).map_err(|error| failed(&error, "statfs"))?;
    let (mut wanted_bytes, mut room_bytes) = (0u64, space.available_bytes);
    for file in files {
        let place = if file.file_bytes > 0 { Some(&*file.path) } else { file.path.parent() };
        let place = place.filter(|place| !place.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // A directory that is made later is on the file system of the one above it, or a mount that nobody knows of.
        let Ok(info) = FileInfo::of_path(place) else { continue };
        if info.on_device != its_device {
            continue;
        }
        let kept_bytes = if how.replaces() { 0 } else { file.file_bytes };
        wanted_bytes = wanted_bytes.saturating_add(end_of(file).saturating_sub(kept_bytes));
        if how.replaces() && file.file_bytes > 0 {
            room_bytes = room_bytes.saturating_add(info.allocated_bytes);
        }
    }
    if wanted_bytes > room_bytes { refused(ENOSPC, room_bytes) } else { Ok(()) }
}
