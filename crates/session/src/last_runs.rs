//! The last run on each target, remembered from one native run to the next, to know when the same blocks are read again.
//!
//! The memory is a small file, `$XDG_STATE_HOME/ferrio/last-runs.json` (by default below `~/.local/state`), which is replaced at once and
//! never grows beyond [`MAX_TARGETS`] targets. `FERRIO_STATE=off` does without. A file that cannot be read or written changes nothing.
//! Must not know: rules. Start reading at [`look_up`] and [`look_back`].

use ferrio_stats::{EarlierRun, RunRecord};
use ferrio_sys::output::make_private;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The variable that switches the memory off, and its value for that.
const SWITCH: (&str, &str) = ("FERRIO_STATE", "off");
/// The oldest targets beyond these are forgotten.
const MAX_TARGETS: usize = 200;
/// A larger file is none of ours.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The file.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct RememberedRuns {
    /// The oldest first.
    targets: Vec<LastRun>,
}

/// The last run on a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct LastRun {
    target: TargetState,
    /// The I/Os of the job.
    pattern: String,
    /// End of the run, seconds since 1970.
    ended_secs: u64,
}

/// A target, with what changes where it is written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct TargetState {
    path: PathBuf,
    device: u64,
    inode: u64,
    size_bytes: u64,
    modified: (i64, i64),
}

/// A job's target and I/Os, now.
struct JobNow {
    job_index: u32,
    target: TargetState,
    pattern: String,
}

/// Adds to the record which of its jobs have the I/Os of the last run on their targets.
pub(crate) fn look_up(record: &mut RunRecord) {
    let Some(path) = file_path() else { return };
    let memory = read(&path).unwrap_or_default();
    let earlier = earlier_runs(&memory, &jobs_now(record), now_secs());
    // An empty list says that the memory was looked at.
    record.evidence.earlier_runs = Some(earlier);
}

/// Compares a run that is over with the last runs on its targets, and remembers it.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn look_back(record: &mut RunRecord) -> io::Result<()> {
    look_up(record);
    remember(record)
}

fn remember(record: &RunRecord) -> io::Result<()> {
    let (Some(path), jobs) = (file_path(), jobs_now(record)) else { return Ok(()) };
    if jobs.is_empty() {
        return Ok(());
    }
    let mut memory = read(&path).unwrap_or_default();
    put(&mut memory, jobs, now_secs());
    write(&path, &memory)
}

fn earlier_runs(memory: &RememberedRuns, jobs: &[JobNow], now_secs: u64) -> Vec<EarlierRun> {
    let of_job = |job: &JobNow| {
        let last = memory.targets.iter().find(|last| last.target == job.target && last.pattern == job.pattern)?;
        let seconds_ago = now_secs.saturating_sub(last.ended_secs);
        Some(EarlierRun { job_index: job.job_index, path: job.target.path.display().to_string(), seconds_ago })
    };
    jobs.iter().filter_map(of_job).collect()
}

/// A target has one place in the memory: that of its last job.
fn put(memory: &mut RememberedRuns, jobs: Vec<JobNow>, ended_secs: u64) {
    for JobNow { target, pattern, .. } in jobs {
        memory.targets.retain(|last| last.target.path != target.path);
        memory.targets.push(LastRun { target, pattern, ended_secs });
    }
    let n_too_many = memory.targets.len().saturating_sub(MAX_TARGETS);
    memory.targets.drain(..n_too_many);
}

/// The jobs with the first of their targets.
fn jobs_now(record: &RunRecord) -> Vec<JobNow> {
    let Some(provenance) = &record.provenance else { return Vec::new() };
    let of_job = |targets: &ferrio_stats::JobTargets| {
        let job = provenance.jobs.get(usize::try_from(targets.job_index).ok()?)?;
        let spec = job.options.as_deref()?;
        let pattern =
            (&spec.pattern, &spec.extent, &spec.zones, spec.numjobs, spec.durability.direct, job.first_number);
        let target = TargetState::of(Path::new(&targets.places.first()?.path))?;
        Some(JobNow { job_index: targets.job_index, target, pattern: serde_json::to_string(&pattern).ok()? })
    };
    record.targets().iter().filter_map(of_job).collect()
}

impl TargetState {
    fn of(path: &Path) -> Option<Self> {
        let path = path.canonicalize().ok()?;
        let facts = path.metadata().ok()?;
        Some(Self {
            device: facts.dev(),
            inode: facts.ino(),
            size_bytes: facts.size(),
            modified: (facts.mtime(), facts.mtime_nsec()),
            path,
        })
    }
}

fn now_secs() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// The file of this user; `None`: nothing is remembered.
fn file_path() -> Option<PathBuf> {
    path_of(&|name| std::env::var_os(name).filter(|value| !value.is_empty()))
}

fn path_of(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if variable(SWITCH.0).is_some_and(|value| value == SWITCH.1) {
        return None;
    }
    let below_home = || variable("HOME").map(|home| Path::new(&home).join(".local/state"));
    let state = variable("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute()).or_else(below_home)?;
    Some(state.join("ferrio/last-runs.json"))
}

fn read(path: &Path) -> Option<RememberedRuns> {
    let is_ours = path.parent().is_some_and(is_of_this_user)
        && path.symlink_metadata().is_ok_and(|facts| facts.is_file() && facts.size() <= MAX_FILE_BYTES);
    is_ours.then(|| serde_json::from_slice(&std::fs::read(path).ok()?).ok()).flatten()
}

/// True if the directory, or the nearest one above it that is there, belongs to the user of this process. In any other directory
/// another user could plant links, and could not use what this process makes: so it is for root with the home of a user.
fn is_of_this_user(directory: &Path) -> bool {
    // The directory of the file itself may be no link; those above it may.
    let there =
        directory.symlink_metadata().ok().or_else(|| directory.ancestors().find_map(|place| place.metadata().ok()));
    there.is_some_and(|facts| facts.is_dir() && facts.uid() == ferrio_sys::process::effective_user())
}

/// A reader sees the file before or after, never a part.
fn write(path: &Path, memory: &RememberedRuns) -> io::Result<()> {
    let Some(directory) = path.parent() else { return Ok(()) };
    if !is_of_this_user(directory) {
        let text = format!("{} belongs to another user", directory.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let new = directory.join(format!("last-runs.{}.tmp", std::process::id()));
    let content = serde_json::to_vec(memory)?;
    // Left behind by an earlier process of this number; a link is removed, and not followed.
    let _ = std::fs::remove_file(&new);
    let written =
        make_private(&new).and_then(|mut file| file.write_all(&content)).and_then(|()| std::fs::rename(&new, path));
    if written.is_err() {
        // The file may not be there at all.
        let _ = std::fs::remove_file(&new);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(name: &str, pattern: &str, modified: i64) -> JobNow {
        let path = PathBuf::from(format!("/data/{name}"));
        let target = TargetState { path, device: 1, inode: 2, size_bytes: 3, modified: (modified, 0) };
        JobNow { job_index: 0, target, pattern: pattern.to_owned() }
    }

    #[test]
    fn the_last_run_on_a_target_counts_until_the_target_changes() {
        let mut memory = RememberedRuns::default();
        put(&mut memory, vec![job("a", "reads", 5)], 100);
        let again = |memory: &RememberedRuns, job| earlier_runs(memory, &[job], 160);
        assert_eq!(again(&memory, job("a", "reads", 5))[0].seconds_ago, 60);
        assert_eq!(again(&memory, job("a", "reads", 6)), []);
        assert_eq!(again(&memory, job("a", "other reads", 5)), []);
        assert_eq!(again(&memory, job("b", "reads", 5)), []);
        put(&mut memory, vec![job("a", "other reads", 5)], 120);
        assert_eq!(again(&memory, job("a", "reads", 5)), []);
    }

    #[test]
    fn the_oldest_targets_are_forgotten() {
        let mut memory = RememberedRuns::default();
        for number in 0..=MAX_TARGETS {
            put(&mut memory, vec![job(&number.to_string(), "reads", 5)], 100);
        }
        assert_eq!(memory.targets.len(), MAX_TARGETS);
        assert_eq!(memory.targets[0].target.path, Path::new("/data/1"));
    }

    #[test]
    fn the_file_is_where_the_user_wants_it() {
        let path = |variables: &[(&str, &str)]| {
            let find =
                |name: &str| variables.iter().find(|(of, _)| *of == name).map(|(_, value)| OsString::from(value));
            path_of(&find)
        };
        let file = |text: &str| Some(PathBuf::from(text));
        assert_eq!(path(&[("HOME", "/h")]), file("/h/.local/state/ferrio/last-runs.json"));
        assert_eq!(path(&[("HOME", "/h"), ("XDG_STATE_HOME", "/s")]), file("/s/ferrio/last-runs.json"));
        assert_eq!(path(&[("HOME", "/h"), ("XDG_STATE_HOME", "s")]), file("/h/.local/state/ferrio/last-runs.json"));
        assert_eq!(path(&[("HOME", "/h"), ("FERRIO_STATE", "off")]), None);
        assert_eq!(path(&[]), None);
    }
}
