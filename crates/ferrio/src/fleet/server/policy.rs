//! What the jobs of clients may do on a server: I/O on files below the directory in which it was started, unless its file allows more.
//!
//! Must not know: connections. Start reading at [`ServerPolicy::refusals`].

use ferrio_job::Invocation;
use ferrio_job::beyond::{BeyondKind, files_beside_targets, is_log};
use ferrio_spec::engines::by_name;
use ferrio_spec::{JobSpec, RunSpec};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// Longest file that is read, bytes.
const MOST_BYTES: u64 = 1 << 15;

/// What is said of each option that is not allowed.
const NOT_ALLOWED: &str = "the policy of this server does not allow that";

/// Options that set something of the machine, beside files.
const SETTINGS: [&str; 2] = ["ioscheduler", "cgroup"];

/// What jobs may do; by default I/O on files below [`Self::home`] alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerPolicy {
    /// The directory in which the server was started.
    #[serde(skip)]
    home: PathBuf,
    /// Further directories whose files they may read and write.
    pub directories: Vec<PathBuf>,
    /// Devices that they may read and write.
    pub devices: Vec<PathBuf>,
    /// They run programs: `exec_prerun`, `exec_postrun`, the engine `exec`, the command of a trigger.
    pub programs: bool,
    /// They load libraries (`ioengine=PATH`).
    pub libraries: bool,
    /// They set the I/O scheduler of a device, or make control groups.
    pub settings: bool,
    /// Nothing is written. Performance logs go to the client, and are written there.
    pub readonly: bool,
    /// Most jobs of a client, with their clones.
    pub most_jobs: u32,
}

impl Default for ServerPolicy {
    fn default() -> Self {
        Self {
            home: PathBuf::new(),
            directories: Vec::new(),
            devices: Vec::new(),
            programs: false,
            libraries: false,
            settings: false,
            readonly: false,
            most_jobs: 1_000,
        }
    }
}

/// There is no policy.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// The file cannot be read.
    #[error("{}: {}", path.display(), ferrio_units::error_text(source))]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// It is none.
    #[error("{}: {}", path.display(), source.message())]
    Text {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<toml::de::Error>,
    },
}

impl ServerPolicy {
    /// The policy of a server that starts in this directory.
    pub fn of_home(home: PathBuf) -> Self {
        Self { home, ..Self::default() }
    }

    /// The policy that a file has for such a server.
    ///
    /// # Errors
    /// The file cannot be read, or holds something else.
    pub fn read(path: &Path, home: PathBuf) -> Result<Self, PolicyError> {
        let failed = |source| PolicyError::File { path: path.to_owned(), source };
        let mut text = String::new();
        fs::File::open(path).map_err(failed)?.take(MOST_BYTES).read_to_string(&mut text).map_err(failed)?;
        let policy: Self = toml::from_str(&text)
            .map_err(|source| PolicyError::Text { path: path.to_owned(), source: Box::new(source) })?;
        Ok(Self { home, ..policy })
    }

    /// As [`Self::of_home`], for a process that has this policy from its server.
    pub(super) fn with_home(self, home: PathBuf) -> Self {
        Self { home, ..self }
    }

    /// Why jobs are not run, a line for each reason; none: they may run.
    pub(super) fn refusals(&self, invocation: &Invocation, has_trigger: bool) -> Vec<String> {
        let refused = |what: String, how: &str| format!("{what}: {NOT_ALLOWED} ({how})");
        let mut lines = Vec::new();
        // Performance logs go to the client: nothing is written here.
        for one in invocation.beyond(|_| true).into_iter().filter(|one| !one.is_log()) {
            let (is_allowed, how) = match one.kind {
                BeyondKind::Programs => (self.programs, "programs = true"),
                BeyondKind::Libraries => (self.libraries, "libraries = true"),
                BeyondKind::Outside => {
                    let is_within = self.roots().any(|root| one.is_within(root));
                    (is_within || self.devices.iter().any(|device| one.is_within(device)), "directories, devices")
                }
            };
            if !is_allowed {
                lines.push(refused(one.option.clone(), how));
            }
        }
        let sets = |option: &str| SETTINGS.iter().any(|name| option.split('=').next() == Some(name));
        for change in invocation.changes.iter().filter(|change| !is_log(&change.option)) {
            if self.readonly {
                lines.push(refused(change.option.clone(), "readonly = false"));
            } else if !self.settings && sets(&change.option) {
                lines.push(refused(change.option.clone(), "settings = true"));
            }
        }
        if has_trigger && !self.programs {
            lines.push(refused("--trigger-remote".to_owned(), "programs = true"));
        }
        lines.extend(self.refused_jobs(&invocation.run));
        lines
    }

    /// The same for what jobs read, and for their number.
    fn refused_jobs(&self, run: &RunSpec) -> Vec<String> {
        let n_jobs: u64 = run.jobs.iter().map(|job| u64::from(job.numjobs)).sum();
        let mut lines = Vec::new();
        if n_jobs > u64::from(self.most_jobs) {
            lines.push(format!("{n_jobs} jobs: the policy of this server allows {} (most_jobs)", self.most_jobs));
        }
        for job in &run.jobs {
            // It drives devices by itself, whichever option names them.
            if job.engine.name == "libblkio" && !self.libraries {
                lines.push(format!("{}: ioengine=libblkio: {NOT_ALLOWED} (libraries = true)", job.name));
            }
            let named = [&job.given_options, &run.global_options].map(|options| files_beside_targets(options)).concat();
            let refused = paths_of(job).into_iter().chain(named).find(|path| !self.allows(path));
            lines.extend(refused.map(|path| {
                let (name, path) = (&job.name, path.display());
                format!("{name}: {path}: {NOT_ALLOWED} (directories, devices)")
            }));
        }
        lines
    }

    fn roots(&self) -> impl Iterator<Item = &PathBuf> {
        std::iter::once(&self.home).chain(&self.directories)
    }

    /// True if a file may be used: it is below a directory, where symbolic links lead it, or is a device that is named.
    pub(super) fn allows(&self, path: &Path) -> bool {
        let Some(real) = real_path(&self.home.join(path)) else { return false };
        let leads_to = |allowed: &PathBuf| fs::canonicalize(allowed).ok();
        let is_plain = fs::metadata(&real).map_or(true, |about| about.is_file() || about.is_dir());
        let is_below = || self.roots().filter_map(leads_to).any(|root| real.starts_with(root));
        let is_named = || self.devices.iter().filter_map(leads_to).any(|device| real == device);
        is_nothing(&real) || (is_plain && is_below()) || is_named()
    }
}

/// Devices that keep nothing.
fn is_nothing(path: &Path) -> bool {
    ["/dev/null", "/dev/zero", "/dev/full"].iter().any(|nothing| path == Path::new(nothing))
}

/// Where a path leads: the deepest part of it that exists, with its symbolic links followed, and the rest; `None`: the rest climbs.
fn real_path(path: &Path) -> Option<PathBuf> {
    let mut rest = Vec::new();
    let mut there = path;
    loop {
        if let Ok(real) = fs::canonicalize(there) {
            return Some(rest.iter().rev().fold(real, |path, part| path.join(part)));
        }
        // A link that leads to nothing would be followed when the file is made.
        if fs::symlink_metadata(there).is_ok() {
            return None;
        }
        match there.components().next_back()? {
            Component::Normal(part) => rest.push(part.to_owned()),
            _ => return None,
        }
        there = there.parent()?;
    }
}

/// The files and directories of a job that are named.
fn paths_of(job: &JobSpec) -> Vec<PathBuf> {
    let target = &job.target;
    let are_files = by_name(&job.engine.name).is_none_or(|engine| engine.targets.are_files());
    let mut paths: Vec<PathBuf> = target.opendirs.iter().chain(&target.directories).cloned().collect();
    if are_files {
        for name in target.filenames.iter().chain(&target.filename_format) {
            let below = target.directories.iter().map(|directory| directory.join(name));
            paths.extend(below);
            if target.directories.is_empty() {
                paths.push(PathBuf::from(name));
            }
        }
        // A device that has the name of the job is its target.
        paths.push(PathBuf::from(&job.section));
    }
    paths.extend(job.replay.traces.iter().map(PathBuf::from));
    paths
}
