//! A worker of a run, as the probes see it.
//!
//! Must not know: how a worker runs. Start reading at [`ProbedWorker`].

use ferrio_spec::JobSpec;
use ferrio_spec::engines::EngineDef;
use std::path::PathBuf;

/// A worker of a run: one clone of a job.
#[derive(Clone, Copy)]
pub(crate) struct ProbedWorker<'a> {
    pub(crate) spec: &'a JobSpec,
    pub(crate) engine: &'a EngineDef,
    pub(crate) job_index: u32,
    /// Number of the clone, 0 for the first one.
    pub(crate) clone_index: u32,
    /// Number of the worker in the run, from 1.
    pub(crate) number: u32,
    pub(crate) group_index: u32,
    pub(crate) paths: &'a dyn TargetPaths,
}

impl ProbedWorker<'_> {
    /// True if the targets of the job are files or devices with a path.
    pub(crate) fn has_files(&self) -> bool {
        self.engine.targets.are_files()
    }

    /// Index of the worker among those of the run.
    pub(crate) fn index(&self) -> usize {
        self.number as usize - 1
    }
}

/// Finds the paths of a worker's targets. This may look at files, which takes time and may block, so that probes ask only for the
/// paths that they need.
pub(crate) trait TargetPaths {
    /// The paths that the job names, or its generated ones. Directories are not searched.
    fn named(&self) -> Vec<PathBuf>;

    /// The paths that the job's I/O is expected to use, as far as they can be known before it starts; `laid_out` are those of the
    /// files that exist already. None if the job will do no I/O.
    fn expected(&self, laid_out: &[PathBuf]) -> Vec<PathBuf>;
}
