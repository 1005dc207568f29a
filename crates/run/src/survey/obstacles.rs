//! Why jobs cannot start: the steps of a run that come before its first I/O, as far as they change nothing.
//!
//! Nothing that a job or a command of the run may still make is missed. Must not know: conclusions from what is found. Start reading at [`find`].

use crate::error::{Failure, failure};
use crate::files::size::{self, SetupWait};
use crate::files::{named_paths, naming};
use crate::logs;
use crate::plan::{RunPlan, WorkerPlan};
use crate::replay;
use crate::worker::{check_engine, check_state};
use crate::zones::sizes;
use crate::{engine_notes, layout};
use ferrio_stats::note::{During, RunNote};
use ferrio_stats::{Note, StartObstacle};
use ferrio_sys::Errno;
use ferrio_sys::errno::{EAGAIN, ENOENT};
use ferrio_sys::file::{FileInfo, FileKind};
use ferrio_units::ArenaKind;
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};

const ENOTDIR: i32 = Errno::NOTDIR.raw_os_error();

/// Clones of a job that are looked at.
const MOST_CLONES: u32 = 256;

/// The first obstacle of each job.
pub(super) fn find(plan: &RunPlan, readonly: bool) -> Vec<StartObstacle> {
    let scene = StartScene::of(plan, readonly);
    let mut found: Vec<StartObstacle> = Vec::new();
    for (index, worker) in plan.workers.iter().enumerate() {
        let job_index = worker.job_index as u32;
        if worker.clone_index >= MOST_CLONES || found.last().is_some_and(|last| last.job_index == job_index) {
            continue;
        }
        if let Err(failure) = scene.check(index, worker)
            && !failure.is_stopped()
        {
            found.push(StartObstacle { job_index, failure });
        }
    }
    for obstacle in queues(&plan.workers) {
        if !found.iter().any(|known| known.job_index == obstacle.job_index) {
            found.push(obstacle);
        }
    }
    found
}

/// What the jobs of a run may make for each other.
struct StartScene<'a> {
    plan: &'a RunPlan,
    readonly: bool,
    /// The first worker that names a path.
    first_by_path: HashMap<PathBuf, usize>,
    /// A job runs a command, or its engine may run a program: that may make anything.
    runs_commands: bool,
    /// A job finds the names of its files in a trace.
    has_replay: bool,
    has_sizes_in_zones: bool,
}

impl<'a> StartScene<'a> {
    fn of(plan: &'a RunPlan, readonly: bool) -> Self {
        let mut first_by_path = HashMap::new();
        for (index, worker) in plan.workers.iter().enumerate() {
            for path in named_paths(worker) {
                first_by_path.entry(path).or_insert(index);
            }
        }
        let runs_command = |worker: &WorkerPlan| {
            worker.spec.surroundings.exec_prerun.is_some()
                || worker.spec.surroundings.exec_postrun.is_some()
                || worker.engine.def.moves_nothing()
        };
        Self {
            plan,
            readonly,
            first_by_path,
            runs_commands: plan.workers.iter().any(runs_command),
            has_replay: plan.workers.iter().any(|worker| worker.spec.replay.is_set()),
            has_sizes_in_zones: sizes::are_in(plan),
        }
    }

    fn check(&self, index: usize, worker: &WorkerPlan) -> Result<(), Failure> {
        self.check_state(worker)?;
        if worker.spec.replay.is_set() {
            self.check_traces(index, worker)?;
        } else {
            self.check_files(index, worker)?;
        }
        check_engine(worker)?;
        if self.runs_commands {
            return Ok(());
        }
        self.check_memory(worker)?;
        self.check_outputs(worker)
    }

    /// The state of an earlier run is read before all jobs, unless the job makes its files itself.
    fn check_state(&self, worker: &WorkerPlan) -> Result<(), Failure> {
        let has_other = self.plan.workers.iter().any(|other| {
            other.job_index != worker.job_index && other.spec.verify.as_ref().is_some_and(|verify| verify.saves_state)
        });
        if self.runs_commands || !is_early(worker) && has_other {
            return Ok(());
        }
        check_state(worker)
    }

    fn check_traces(&self, index: usize, worker: &WorkerPlan) -> Result<(), Failure> {
        if self.runs_commands {
            return Ok(());
        }
        let is_made = |path: &Path| {
            let others = self.plan.workers.iter().enumerate().filter(|(other, _)| *other != index);
            self.first_by_path.contains_key(path)
                || others.map(|(_, other)| other).any(|other| {
                    let merged = other.spec.replay.merge.as_ref().map(|merge| merge.output.as_path());
                    other.spec.write_iolog.as_deref() == Some(path) || merged == Some(path)
                })
        };
        replay::check_traces(worker, &is_made)
    }

    fn check_files(&self, index: usize, worker: &WorkerPlan) -> Result<(), Failure> {
        let targets = worker.engine.def.targets;
        if worker.engine.def.moves_nothing() || targets.are_sized_by_engine() || self.has_sizes_in_zones {
            return Ok(());
        }
        // What is made before the worker looks is not known.
        if !is_early(worker) && (self.runs_commands || self.plan.n_groups > 1 || self.has_replay) {
            return Ok(());
        }
        if targets.are_files() && self.may_be_made(index, worker) {
            return Ok(());
        }
        let found = naming::found(worker)?;
        if targets.are_files() {
            named_paths(worker).iter().try_for_each(|path| check_parents(path))?;
        }
        let wait = SetupWait { stop: &|| false, in_vain: &Cell::default() };
        let set = size::file_set(worker, &found, wait)?;
        layout::check_before(worker, &set, self.readonly)
    }

    /// Another worker may make or lengthen one of the files before this one looks at them.
    fn may_be_made(&self, index: usize, worker: &WorkerPlan) -> bool {
        let is_fixed = |path: &Path| FileInfo::of_path(path).is_ok_and(|info| info.kind == FileKind::Block);
        let is_made = |path: &PathBuf| self.first_by_path.get(path).is_some_and(|first| *first < index);
        let is_below = |tree: &PathBuf| self.first_by_path.keys().any(|path| path.starts_with(tree));
        worker.spec.target.opendirs.iter().any(is_below)
            || named_paths(worker).iter().any(|path| is_made(path) && !is_fixed(path))
    }

    fn check_memory(&self, worker: &WorkerPlan) -> Result<(), Failure> {
        let kind = &worker.spec.buffers.memory;
        let (ArenaKind::Mmap(Some(path)) | ArenaKind::MmapShared(Some(path)) | ArenaKind::MmapHuge(Some(path))) = kind
        else {
            return Ok(());
        };
        self.check_directory(path).map_err(|error| {
            let during = During::File(path.display().to_string());
            failure!(ENOENT, "open mmap file").explained(Note::system(during, &error))
        })
    }

    /// The directories of traces and performance logs that the worker writes.
    fn check_outputs(&self, worker: &WorkerPlan) -> Result<(), Failure> {
        if let Some(path) = &worker.spec.write_iolog {
            self.check_directory(path).map_err(|error| {
                let during = During::WriteIolog(path.display().to_string());
                failure!(errno_of(&error), "write iolog").explained(Note::system(during, &error))
            })?;
        }
        for log in logs::files(worker) {
            self.check_directory(&log.prefix).map_err(|error| {
                let (path, errno) = (log.prefix.display().to_string(), errno_of(&error));
                failure!(errno, "fopen log").explained(RunNote::LogNotOpened { path, errno })
            })?;
        }
        Ok(())
    }

    /// Fails if the directory of a file is not there, and no job will make it for its own files.
    fn check_directory(&self, path: &Path) -> io::Result<()> {
        let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) else { return Ok(()) };
        if self.has_replay || self.first_by_path.keys().any(|file| file.starts_with(parent)) {
            return Ok(());
        }
        match std::fs::metadata(parent) {
            Ok(info) if info.is_dir() => Ok(()),
            Ok(_) => Err(io::Error::from_raw_os_error(ENOTDIR)),
            Err(error) => Err(error),
        }
    }
}

/// The files are made before any job starts.
fn is_early(worker: &WorkerPlan) -> bool {
    worker.spec.layout.create_serialize || worker.spec.layout.create_only
}

fn errno_of(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(ENOENT)
}

/// Fails if something else than a directory is in the path of a file.
fn check_parents(path: &Path) -> Result<(), Failure> {
    let above = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
    let nearest = above.map(|above| (above, std::fs::metadata(above))).find(|(_, info)| match info {
        Ok(_) => true,
        Err(error) => !matches!(error.raw_os_error(), Some(ENOENT | ENOTDIR)),
    });
    match nearest {
        Some((above, Ok(info))) if !info.is_dir() => {
            let during = During::File(above.display().to_string());
            let error = io::Error::from_raw_os_error(ENOTDIR);
            Err(failure!(ENOTDIR, "create directories").explained(Note::system(during, &error)))
        }
        _ => Ok(()),
    }
}

/// Jobs whose queues of native AIO do not fit into those of the system, together with those that begin with them.
fn queues(workers: &[WorkerPlan]) -> Vec<StartObstacle> {
    let number = |name: &str| -> Option<u64> {
        std::fs::read_to_string(format!("/proc/sys/fs/{name}")).ok()?.trim().parse().ok()
    };
    let (Some(limit), Some(taken)) = (number("aio-max-nr"), number("aio-nr")) else { return Vec::new() };
    let mut by_group: BTreeMap<u32, u64> = BTreeMap::new();
    let mut found = Vec::new();
    let is_native =
        |worker: &&WorkerPlan| ferrio_engine::takes_requests_of_system(&worker.engine.def) && !worker.offloads();
    for worker in workers.iter().filter(is_native) {
        let depth = u64::from(worker.queue().iodepth);
        let is_at_once = worker.start_delay_ns == 0 && worker.spec.grouping.wait_for.is_none();
        let sum = by_group.entry(worker.group_index).or_default();
        let beside = if is_at_once { *sum } else { 0 };
        if taken.saturating_add(beside).saturating_add(depth) > limit {
            let note = engine_notes::too_deep(worker.queue().iodepth, limit, taken + beside);
            let failure = failure!(EAGAIN, "init").explained(note);
            found.push(StartObstacle { job_index: worker.job_index as u32, failure });
        } else if is_at_once {
            *sum += depth;
        }
    }
    found
}
