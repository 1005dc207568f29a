//! Jobs that change files: by writes and trims, and jobs that only read by what they do beside it.
//!
//! Must not know: options, permission. Start reading at [`may_change`].

use super::WRITTEN;
use ferrio_spec::engines::{Data, Opening, by_name};
use ferrio_spec::{JobSpec, SizeSpec};
use std::fs;
use std::path::{Path, PathBuf};

/// The files of a job that are looked at one by one; a job with more is taken for one that makes files.
const MOST_FILES: u64 = 10_000;

/// True if a job may change, make or remove one of its files.
pub(super) fn may_change(job: &JobSpec) -> bool {
    let engine = by_name(&job.engine.name);
    let makes_names = engine.is_some_and(|engine| engine.data == Data::Names || engine.opening == Opening::ToChange);
    let are_files = engine.is_none_or(|engine| engine.targets.are_files());
    let removes = job.layout.unlink || job.layout.unlink_each_loop;
    makes_names || are_files && (job.changes_files() || job.replay.is_set() || removes || lays_out(job))
}

/// True if a job changes files of this name, which it has from its section, or writes logs of it.
pub(super) fn writes_by_name(job: &JobSpec, name: &str) -> bool {
    let target = &job.target;
    let are_generated = target.filenames.is_empty() && target.opendirs.is_empty() && !job.replay.is_set();
    let has_unnamed_log =
        || job.given_options.iter().any(|(option, text)| text.is_empty() && WRITTEN.contains(&option.as_str()));
    (job.section == name && are_generated && may_change(job))
        || ((job.section == name || job.name == name) && has_unnamed_log())
}

/// True if a job that reads may have to make a file, or to make it longer.
fn lays_out(job: &JobSpec) -> bool {
    let extent = &job.extent;
    let target = &job.target;
    if extent.file_append || extent.fill_device {
        return true;
    }
    if !target.opendirs.is_empty() {
        return extent.filesize.is_some() || matches!(extent.size, Some(SizeSpec::Bytes(_)));
    }
    match files(job) {
        None => true,
        Some(files) => {
            let needed_bytes = needed_bytes(job, files.len() as u64 / u64::from(job.numjobs).max(1));
            files.iter().any(|file| is_missing_or_short(file, needed_bytes))
        }
    }
}

/// The files of all clones of a job; `None`: there are too many, or their names are made by a format.
fn files(job: &JobSpec) -> Option<Vec<PathBuf>> {
    let target = &job.target;
    let is_named = !target.filenames.is_empty();
    let n_files = if is_named { target.filenames.len() } else { target.nrfiles as usize };
    let is_format = !is_named && target.filename_format.is_some();
    if is_format || u64::from(job.numjobs).saturating_mul(n_files as u64) > MOST_FILES {
        return None;
    }
    let path = |clone: u32, file: usize| {
        let name = if is_named { target.filenames[file].clone() } else { format!("{}.{clone}.{file}", job.section) };
        target.directory_of(clone, file).map_or_else(|| PathBuf::from(&name), |directory| directory.join(&name))
    };
    // A device that has the name of the job is its target.
    let section = Path::new(&job.section);
    if !is_named && n_files == 1 && fs::metadata(section).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Some(vec![section.to_path_buf()]);
    }
    Some((0..job.numjobs).flat_map(|clone| (0..n_files).map(move |file| path(clone, file))).collect())
}

/// The length that each of so many files may need at most. A size that is a share of the files needs no more than there is.
fn needed_bytes(job: &JobSpec, n_files: u64) -> u64 {
    let extent = &job.extent;
    let size_bytes = match (extent.filesize, extent.size) {
        (Some((_, most_bytes)), _) => most_bytes,
        (None, Some(SizeSpec::Bytes(bytes))) => bytes.div_ceil(n_files.max(1)),
        _ => return 0,
    };
    let steps = extent.offset_increment.bytes_of(size_bytes).saturating_mul(u64::from(job.numjobs.saturating_sub(1)));
    size_bytes.saturating_add(extent.offset.bytes_of(size_bytes)).saturating_add(steps)
}

fn is_missing_or_short(file: &Path, needed_bytes: u64) -> bool {
    fs::metadata(file).map_or(true, |found| found.is_file() && found.len() < needed_bytes)
}
