//! Names of the files of a worker.
//!
//! Must not know: sizes. Start reading at [`targets`].
//! Facts: reference "File set-up", keywords of `filename_format`.

use crate::error::{Failure, errno_of, failure};
use crate::plan::WorkerPlan;
use ferrio_spec::FileType;
use ferrio_stats::note::{During, FileNote};
use ferrio_stats::{FailedStep, Note};
use ferrio_sys::errno::{EINVAL, ENOENT, ENOMEM};
use ferrio_sys::file::{FileInfo, FileKind};
use ferrio_sys::limits::{self, Resource};
use ferrio_sys::system_info::memory_bytes;
use ferrio_units::byte_text;
use std::path::{Path, PathBuf};

/// The default of `filename_format`.
pub(super) const DEFAULT_FORMAT: &str = "$jobname.$jobnum.$filenum";

/// A path, and what exists there.
#[derive(Debug, Clone)]
pub(crate) struct FoundFile {
    pub(super) path: PathBuf,
    pub(super) name: String,
    pub(super) kind: FileKind,
    pub(super) exists: bool,
}

/// The paths that a job names, or its generated ones. Directories are not searched.
pub(crate) fn named_paths(worker: &WorkerPlan) -> Vec<PathBuf> {
    let spec = &worker.spec.target;
    if spec.filenames.is_empty() {
        let replay = &worker.spec.replay;
        return if replay.is_set() { replay.redirect.clone().into_iter().collect() } else { generated(worker) };
    }
    spec.filenames.iter().enumerate().map(|(index, name)| in_directory(worker, index, name)).collect()
}

/// A line for each file found below the trees of `opendir`. A tree that cannot be read is an error only when the job
/// starts.
pub(crate) fn tell_trees(worker: &WorkerPlan) -> impl Iterator<Item = Note> {
    let found = worker.spec.target.opendirs.iter().filter_map(|tree| files_below(tree).ok());
    found.map(|found| FileNote::TreeHas { n_files: found.len() }.into())
}

/// The files of a worker: those named, those found, or generated names. Nothing is made.
pub(crate) fn found(worker: &WorkerPlan) -> Result<Vec<FoundFile>, Failure> {
    let spec = &worker.spec.target;
    let mut paths: Vec<PathBuf> = if spec.filenames.is_empty() { Vec::new() } else { named_paths(worker) };
    for tree in &spec.opendirs {
        let found = files_below(tree).map_err(|error| {
            let errno = error.raw_os_error().unwrap_or(libc_eio());
            let during = During::OpenDirectory(tree.display().to_string());
            failure!(errno, "opendir").explained(Note::system(during, &error))
        })?;
        paths.extend(found);
    }
    if paths.is_empty() && !spec.opendirs.is_empty() {
        let note = FileNote::TreesAreEmpty { job: worker.spec.name.clone() };
        return Err(failure!(ENOENT, "opendir").explained(note));
    }
    if paths.is_empty() {
        check_number(worker)?;
        paths = generated(worker);
    }
    paths.into_iter().map(|path| target(worker, path)).collect()
}

/// As [`found`], and makes the directories of those that are not there.
pub(crate) fn targets(worker: &WorkerPlan) -> Result<Vec<FoundFile>, Failure> {
    let targets = found(worker)?;
    let is_missing = |target: &&FoundFile| !target.exists && worker.engine.def.targets.are_files();
    targets.iter().filter(is_missing).try_for_each(|target| make_parents(&target.path))?;
    Ok(targets)
}

const fn libc_eio() -> i32 {
    5
}

fn target(worker: &WorkerPlan, path: PathBuf) -> Result<FoundFile, Failure> {
    let name = path.to_string_lossy().into_owned();
    if !worker.engine.def.targets.are_files() {
        return Ok(FoundFile { path, name, kind: FileKind::Regular, exists: false });
    }
    if name == "-" {
        // As seen on fio 3.41: such a job cannot get beyond its size, whatever is at the other end of the pipe.
        let note = FileNote::StandardStream { job: worker.spec.name.clone() };
        return Err(failure!(EINVAL, "get_file_size").explained(note));
    }
    let declared = worker.spec.target.filetype.map(|kind| match kind {
        FileType::Regular => FileKind::Regular,
        FileType::Block => FileKind::Block,
        FileType::Character => FileKind::Character,
    });
    match FileInfo::of_path(&path) {
        Ok(info) if !is_target(info.kind) => Err(failure!(EINVAL, FailedStep::NoTarget)
            .explained(FileNote::NoSize { job: worker.spec.name.clone(), file: name })),
        Ok(info) => Ok(FoundFile { kind: declared.unwrap_or(info.kind), path, name, exists: true }),
        Err(error) if error.errno() == Some(2) || error.errno() == Some(20) => {
            Ok(FoundFile { path, name, kind: declared.unwrap_or(FileKind::Regular), exists: false })
        }
        Err(error) => Err(failure!(errno_of(&error), "stat").explained(Note::system(During::Nothing, &error))),
    }
}

/// False for pipes and sockets: they have no offsets to read and write.
pub(crate) fn is_target(kind: FileKind) -> bool {
    !matches!(kind, FileKind::Fifo | FileKind::Other)
}

/// Makes the directories in the path of a file, accessible only for their owner.
fn make_parents(path: &Path) -> Result<(), Failure> {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() && !parent.is_dir() => {
            ferrio_sys::file::create_directories(parent, 0o700).map_err(|error| {
                let note = Note::system(During::Nothing, &error);
                failure!(errno_of(&error), "create directories").explained(note)
            })
        }
        _ => Ok(()),
    }
}

/// The path of a name in its directory; `file_index` is its place in the list of the job's names. A name from the root stays as it is.
fn in_directory(worker: &WorkerPlan, file_index: usize, name: &str) -> PathBuf {
    let path = PathBuf::from(byte_text::to_os_string(name));
    match worker.spec.target.directory_of(worker.clone_index, file_index) {
        Some(directory) if !name.starts_with('/') => directory.join(path),
        _ => path,
    }
}

/// Memory that a file of a job takes, its names included, bytes: more than 300 were counted.
const BYTES_A_FILE: u64 = 400;

/// Refuses more files than the memory of the machine, or that this process may take, has room for.
fn check_number(worker: &WorkerPlan) -> Result<(), Failure> {
    let n_files = u64::from(worker.spec.target.nrfiles) * u64::from(worker.spec.numjobs);
    let needed_bytes = n_files.saturating_mul(BYTES_A_FILE);
    let limit_bytes = limits::soft_limit(Resource::As).unwrap_or(u64::MAX).min(memory_bytes());
    if needed_bytes <= limit_bytes {
        return Ok(());
    }
    let job = worker.spec.name.clone();
    let note = FileNote::TooManyFiles { job, n_files, needed_bytes, limit_bytes };
    Err(failure!(ENOMEM, "nrfiles").explained(note))
}

fn generated(worker: &WorkerPlan) -> Vec<PathBuf> {
    let spec = &worker.spec.target;
    if spec.nrfiles == 1 && spec.filename_format.is_none() {
        // If a device, pipe or directory has the name of the job, that is the job's target.
        let named = in_directory(worker, 0, &worker.spec.section);
        let special = |info: FileInfo| info.kind != FileKind::Regular && info.kind != FileKind::Directory;
        if worker.engine.def.targets.are_files() && FileInfo::of_path(&named).is_ok_and(special) {
            return vec![named];
        }
    }
    let format = spec.filename_format.as_deref().unwrap_or(DEFAULT_FORMAT);
    let name = |file: u32| expand(format, &worker.spec.section, worker.clone_index, file);
    (0..spec.nrfiles).map(|file| in_directory(worker, file as usize, &name(file))).collect()
}

/// Replaces the keywords of `filename_format`; case does not matter.
fn expand(format: &str, job_name: &str, clone_index: u32, file: u32) -> String {
    let keywords = [
        ("$jobname", job_name.to_owned()),
        ("$jobnum", clone_index.to_string()),
        ("$filenum", file.to_string()),
        // Empty for a run without a client.
        ("$clientuid", String::new()),
    ];
    let mut out = String::with_capacity(format.len() + job_name.len());
    let mut rest = format;
    while let Some(first) = rest.chars().next() {
        let found = keywords.iter().find(|(keyword, _)| {
            rest.as_bytes().get(..keyword.len()).is_some_and(|head| head.eq_ignore_ascii_case(keyword.as_bytes()))
        });
        if let Some((keyword, value)) = found {
            out.push_str(value);
            rest = &rest[keyword.len()..];
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}

/// All regular files below a directory, sorted by name.
pub(super) fn files_below(tree: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut open = vec![tree.to_path_buf()];
    while let Some(directory) = open.pop() {
        let mut entries: Vec<_> = std::fs::read_dir(directory)?.collect::<Result<_, _>>()?;
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let kind = entry.file_type()?;
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::{expand, named_paths};
    use crate::plan::RunPlan;
    use ferrio_spec::{DirectoryPer, JobSpec, RunSpec};
    use std::path::PathBuf;

    /// The paths of each clone of a job.
    fn paths_of(change: impl FnOnce(&mut JobSpec)) -> Vec<String> {
        let mut job = JobSpec { name: "j".into(), section: "j".into(), numjobs: 2, ..JobSpec::default() };
        job.target.directories = ["/x", "/y"].map(PathBuf::from).to_vec();
        change(&mut job);
        let plan = RunPlan::new(RunSpec { jobs: vec![job], ..RunSpec::default() }).unwrap();
        let shown = |path: PathBuf| path.display().to_string();
        plan.workers
            .iter()
            .map(|worker| named_paths(worker).into_iter().map(shown).collect::<Vec<_>>().join(" "))
            .collect()
    }

    #[test]
    fn the_files_of_a_clone_are_together_or_spread() {
        let nrfiles =
            |directory_per| paths_of(|job| (job.target.nrfiles, job.target.directory_per) = (3, directory_per));
        assert_eq!(nrfiles(DirectoryPer::Clone), ["/x/j.0.0 /x/j.0.1 /x/j.0.2", "/y/j.1.0 /y/j.1.1 /y/j.1.2"]);
        assert_eq!(nrfiles(DirectoryPer::File), ["/x/j.0.0 /y/j.0.1 /x/j.0.2", "/x/j.1.0 /y/j.1.1 /x/j.1.2"]);
    }

    /// A name from the root stays where it is, and the place of the others does not depend on that.
    #[test]
    fn given_names_are_spread_too_and_clones_share_them() {
        let names = |directory_per| {
            paths_of(|job| {
                job.target.filenames = ["a", "/b", "c", "d"].map(str::to_owned).to_vec();
                job.target.directory_per = directory_per;
            })
        };
        assert_eq!(names(DirectoryPer::Clone), ["/x/a /b /x/c /x/d", "/y/a /b /y/c /y/d"]);
        assert_eq!(names(DirectoryPer::File), ["/x/a /b /x/c /y/d"; 2]);
    }

    #[test]
    fn keywords_of_any_case_are_replaced() {
        assert_eq!(expand("$jobname.$jobnum.$filenum", "t", 3, 7), "t.3.7");
        assert_eq!(expand("d/$FILENUM-$JobNum$x", "t", 3, 7), "d/7-3$x");
        assert_eq!(expand("$clientuid-$JOBNAME$jobnum$$filenum", "a/b", 1, 2), "-a/b1$2");
        assert_eq!(expand("ü$jobnameü", "t", 0, 0), "ütü");
    }
}
