//! The folder of the work: its plan, its progress, and a record of each round.
//!
//! `plan.json` is written once, `progress.json` after each part and each round. Must not know: how runs are made. Start reading at
//! [`OpenPrecondition::create`], then [`OpenPrecondition::open`].

use crate::precondition::plan::FORM;
use crate::precondition::steady::SteadyWindow;
use crate::precondition::{PreconditionError, PreconditionPlan, PreconditionTarget, PreconditionWay};
use crate::session::runs::folder::{self, FolderError, WorkFolder};
use ferrio_stats::{Finding, RunRecord};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::Path;

const PLAN: &str = "plan.json";
const PROGRESS: &str = "progress.json";
const ROUNDS: &str = "rounds";
/// Largest file that is read: thousands of rounds with findings.
const MOST_BYTES: u64 = 64 << 20;

/// A round that was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PreconditionRound {
    /// I/Os per second of all jobs and directions.
    pub ios_per_sec: f64,
    /// Bytes per second of all jobs and directions.
    pub bytes_per_sec: f64,
    /// Mean latency of all I/Os, nanoseconds; `None`: it was not measured.
    pub mean_latency_ns: Option<f64>,
    /// The five rounds that end with this one; `None`: there are fewer since the work began or went on.
    pub window: Option<SteadyWindow>,
    /// What speaks against its figures.
    pub findings: Vec<Finding>,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PreconditionProgress {
    /// Bytes that were written or read in passes.
    pub pass_bytes: u64,
    /// The rounds, oldest first.
    pub rounds: Vec<PreconditionRound>,
    /// Number of rounds before the last time that the work went on. They do not count: storage recovers in a pause.
    pub n_before: usize,
}

impl PreconditionProgress {
    /// The last five rounds, if they are steady.
    pub fn steady(&self) -> Option<SteadyWindow> {
        self.rounds.get(self.n_before..)?.last()?.window.filter(|window| window.is_steady)
    }

    /// Adds a round, and judges those since the last pause.
    pub(crate) fn add(&mut self, round: PreconditionRound) {
        self.rounds.push(round);
        let rates: Vec<f64> = self.rounds.iter().skip(self.n_before).map(|round| round.ios_per_sec).collect();
        if let Some(last) = self.rounds.last_mut() {
            last.window = SteadyWindow::of(&rates);
        }
    }
}

/// Work whose folder no other program uses meanwhile.
#[derive(Debug)]
pub struct OpenPrecondition {
    /// The folder, locked until this is dropped.
    work: WorkFolder,
    /// The plan.
    pub plan: PreconditionPlan,
    /// What was done.
    pub progress: PreconditionProgress,
}

impl OpenPrecondition {
    /// Makes the folder of new work.
    ///
    /// # Errors
    /// It is there already, lies on the target, or cannot be made.
    pub fn create(path: &Path, plan: PreconditionPlan) -> Result<Self, PreconditionError> {
        let work = WorkFolder::create(path, ROUNDS)?;
        let this = Self { work, plan, progress: PreconditionProgress::default() };
        this.write(PLAN, &this.plan)?;
        this.write(PROGRESS, &this.progress)?;
        Ok(this)
    }

    /// Opens the folder of work that was begun, to go on. Its target must be the same, and free.
    ///
    /// # Errors
    /// It has no plan, or another program works in it; or as of [`PreconditionTarget::examine`].
    pub fn open(path: &Path) -> Result<Self, PreconditionError> {
        if !path.join(PLAN).is_file() {
            return Err(PreconditionError::NoPlan(path.to_owned()));
        }
        let work = WorkFolder::lock(path)?;
        let plan: PreconditionPlan = read(&path.join(PLAN))?;
        if plan.form != FORM {
            let reason = format!("it has form {}, and this version of ferrio reads form {FORM}", plan.form);
            return Err(PreconditionError::Form { path: path.join(PLAN), reason });
        }
        let now = PreconditionTarget::examine(&plan.target.path, plan.way == PreconditionWay::Write)?;
        plan.target.check_same(&now)?;
        let mut progress: PreconditionProgress = read(&path.join(PROGRESS))?;
        // Work that has come to its end stays as it is.
        if progress.steady().is_none() {
            progress.n_before = progress.rounds.len();
        }
        Ok(Self { work, plan: PreconditionPlan { target: now, ..plan }, progress })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.work.path()
    }

    /// True if nothing is left to be done.
    pub fn is_done(&self) -> bool {
        let are_passes_done = self.progress.pass_bytes >= self.plan.pass_bytes();
        are_passes_done && (self.plan.most_rounds == 0 || self.progress.steady().is_some())
    }

    pub(crate) fn keep_progress(&self) -> Result<(), PreconditionError> {
        self.write(PROGRESS, &self.progress)
    }

    /// Keeps the record of a round, which are numbered from 1.
    pub(crate) fn keep_record(&self, number: usize, record: &RunRecord) -> Result<(), PreconditionError> {
        self.work.keep(Path::new(ROUNDS).join(format!("round-{number:03}.record")), record)?;
        Ok(())
    }

    fn write(&self, name: &str, content: &impl Serialize) -> Result<(), PreconditionError> {
        let text = serde_json::to_vec_pretty(content)
            .map_err(|error| FolderError::File { path: self.path().join(name), source: error.into() })?;
        self.work.write(name, &text)?;
        Ok(())
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, PreconditionError> {
    let damaged = |reason: String| PreconditionError::Form { path: path.to_owned(), reason };
    let bytes = folder::read(path, MOST_BYTES)?.ok_or_else(|| damaged("it is not there".to_owned()))?;
    serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    fn round(ios_per_sec: f64) -> PreconditionRound {
        PreconditionRound { ios_per_sec, bytes_per_sec: 0.0, mean_latency_ns: None, window: None, findings: Vec::new() }
    }

    /// A folder, and the file that is its target.
    fn places(name: &str) -> (PathBuf, PathBuf) {
        let path = std::env::temp_dir().join(format!("ferrio-precondition-{name}-{}", std::process::id()));
        let file = path.with_extension("img");
        let _ = fs::remove_dir_all(&path);
        fs::write(&file, vec![1; 1 << 20]).expect("written");
        (path, file)
    }

    #[test]
    fn work_goes_on_and_rounds_before_a_pause_do_not_count() {
        let (path, file) = places("goes-on");
        let target = PreconditionTarget::examine(&file, true).expect("a target");
        let plan = PreconditionPlan::new(target, PreconditionWay::Write, "psync");
        let mut open = OpenPrecondition::create(&path, plan.clone()).expect("a folder");
        assert!(matches!(
            OpenPrecondition::create(&path, plan.clone()),
            Err(PreconditionError::Folder(FolderError::Exists(_)))
        ));
        assert!(matches!(OpenPrecondition::open(&path), Err(PreconditionError::Folder(FolderError::InUse(_)))));
        open.progress.pass_bytes = 1 << 20;
        (0..4).for_each(|_| open.progress.add(round(100.0)));
        open.keep_progress().expect("written");
        drop(open);
        let mut again = OpenPrecondition::open(&path).expect("goes on");
        assert_eq!((again.progress.pass_bytes, again.progress.rounds.len(), again.progress.n_before), (1 << 20, 4, 4));
        (0..4).for_each(|_| again.progress.add(round(100.0)));
        assert_eq!(again.progress.steady(), None);
        again.progress.add(round(100.0));
        assert!(again.progress.steady().is_some());
        again.keep_progress().expect("written");
        drop(again);
        assert!(OpenPrecondition::open(&path).expect("done").progress.steady().is_some());
        fs::write(&file, vec![1; 2 << 20]).expect("written");
        assert!(matches!(OpenPrecondition::open(&path), Err(PreconditionError::OtherTarget { .. })));
        fs::remove_dir_all(&path).and_then(|()| fs::remove_file(&file)).expect("removed");
    }

    #[test]
    fn other_folders_and_damaged_files_are_refused() {
        let (path, file) = places("damaged");
        fs::create_dir(&path).expect("made");
        assert!(matches!(OpenPrecondition::open(&path), Err(PreconditionError::NoPlan(_))));
        fs::write(path.join(PLAN), "{}").expect("written");
        assert!(matches!(OpenPrecondition::open(&path), Err(PreconditionError::Form { .. })));
        fs::remove_dir_all(&path).and_then(|()| fs::remove_file(&file)).expect("removed");
    }
}
