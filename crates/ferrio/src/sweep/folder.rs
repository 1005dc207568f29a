//! The folder of a sweep: its plan, and a record for each run that was made.
//!
//! `plan.json` is written first, and again when a search adds a point. A record gets its name when it is whole. Must not know: how a run is made, what records hold. Start reading at
//! [`SweepFolder::create`], then [`SweepFolder::open`].

use crate::session::runs::folder::{self, WorkFolder};
use crate::sweep::limit::RUNS_AGAIN;
use crate::sweep::outcome::SweepOutcome;
use crate::sweep::{AroundRuns, FEWEST_RUNS, OpenLoop, SweepError, SweepPlan, SweepStep, SweptJobs, session_at};
use ferrio_formats::{RunResult, of_record};
use ferrio_insight::repeats::repeats;
use ferrio_stats::RunRecord;
use std::path::{Path, PathBuf};

const PLAN: &str = "plan.json";
const RUNS: &str = "runs";
/// The folder of the open loop, which is a sweep of its own.
const OPEN_LOOP: &str = "open-loop";
/// Largest plan: 100,000 points take some 20 MB.
const MOST_PLAN_BYTES: u64 = 256 << 20;

/// A folder of a sweep, to be read.
#[derive(Debug)]
pub struct SweepFolder {
    path: PathBuf,
    /// Its plan.
    pub plan: SweepPlan,
}

/// A folder of a sweep whose runs this program makes: no other one does meanwhile.
#[derive(Debug)]
pub struct OpenSweep {
    /// The folder.
    pub folder: SweepFolder,
    /// The same folder, locked until this is dropped.
    work: WorkFolder,
}

impl SweepFolder {
    /// Makes the folder of a new sweep.
    ///
    /// # Errors
    /// It is there already, or cannot be made.
    pub fn create(path: &Path, plan: SweepPlan) -> Result<OpenSweep, SweepError> {
        let work = WorkFolder::create(path, RUNS)?;
        work.write(PLAN, plan.encode().as_bytes())?;
        Ok(OpenSweep { folder: Self { path: path.to_owned(), plan }, work })
    }

    /// Opens the folder of a sweep.
    ///
    /// # Errors
    /// It has no plan that can be read.
    pub fn open(path: &Path) -> Result<Self, SweepError> {
        let file = path.join(PLAN);
        let bytes = folder::read(&file, MOST_PLAN_BYTES)?.ok_or_else(|| SweepError::NoSweep(path.to_owned()))?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let plan = SweepPlan::decode(&text).map_err(|fault| SweepError::Plan { path: file, fault })?;
        Ok(Self { path: path.to_owned(), plan })
    }

    /// Takes the folder for this program.
    ///
    /// # Errors
    /// Another program has it.
    pub fn lock(self) -> Result<OpenSweep, SweepError> {
        let work = WorkFolder::lock(&self.path)?;
        work.remove_parts(RUNS, |name| {
            name.starts_with("point-") && name.contains(".record.") && name.rsplit('.').next() == Some("tmp")
        });
        Ok(OpenSweep { folder: self, work })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file of the record of a run.
    pub fn record_path(&self, step: SweepStep) -> PathBuf {
        self.path.join(record_name(step))
    }

    /// The record of a run; `None`: it was not made yet.
    ///
    /// # Errors
    /// It cannot be read, or is damaged.
    pub fn record(&self, step: SweepStep) -> Result<Option<RunRecord>, SweepError> {
        Ok(folder::read_record(&self.record_path(step))?)
    }

    /// The runs that are to be made, in their order. A run whose record is damaged is one of them, and one that its point does not need any more
    /// is none. A search for a limit says itself what it needs.
    pub fn missing(&self) -> Vec<SweepStep> {
        if self.plan.limit.is_some() {
            return Vec::new();
        }
        let is_missing = |step: &SweepStep| !matches!(self.record(*step), Ok(Some(_)));
        let mut missing: Vec<SweepStep> = self.plan.steps().into_iter().filter(is_missing).collect();
        if self.plan.until.is_some() {
            let needs_more: Vec<bool> = (0..self.plan.points.len()).map(|index| !self.is_decided(index)).collect();
            missing.retain(|step| needs_more[step.point_index]);
        }
        missing
    }

    /// True if further runs of a point do not tell more of what the plan wants to know ([`SweepPlan::until`]).
    pub fn is_decided(&self, point_index: usize) -> bool {
        let Some(until) = &self.plan.until else { return false };
        let results: Vec<RunResult> = self.records(point_index).flatten().map(|record| of_record(&record)).collect();
        results.len() >= FEWEST_RUNS as usize && until.is_decided(&repeats(&results))
    }

    /// The records of the runs of a point that were made.
    pub fn records(&self, point_index: usize) -> impl Iterator<Item = Result<RunRecord, SweepError>> {
        let steps = (0..self.plan.n_repeats).map(move |repeat_index| SweepStep { point_index, repeat_index });
        steps.filter_map(|step| self.record(step).transpose())
    }

    /// The records of the runs that have measured a point again at the end of a search. They are not among [`Self::records`].
    pub(crate) fn records_again(&self, point_index: usize) -> impl Iterator<Item = Result<RunRecord, SweepError>> {
        let n_runs = self.plan.n_repeats;
        let steps = (n_runs..n_runs + RUNS_AGAIN).map(move |repeat_index| SweepStep { point_index, repeat_index });
        steps.filter_map(|step| self.record(step).transpose())
    }

    /// The runs of a search whose records are damaged, or are not there although a later run of the same values was made.
    pub(crate) fn lost(&self) -> Vec<SweepStep> {
        let n_runs = self.plan.n_repeats;
        let in_turn = [0..n_runs, n_runs..n_runs + RUNS_AGAIN];
        let mut lost = Vec::new();
        for point_index in 0..self.plan.points.len() {
            for repeats in in_turn.clone() {
                let mut absent = Vec::new();
                for step in repeats.map(|repeat_index| SweepStep { point_index, repeat_index }) {
                    match self.record(step) {
                        Ok(None) => absent.push(step),
                        Ok(Some(_)) => lost.append(&mut absent),
                        Err(_) => {
                            lost.append(&mut absent);
                            lost.push(step);
                        }
                    }
                }
            }
        }
        lost
    }

    /// The records of all runs at a point that were made, also of those at the end of a search.
    pub fn every_record(&self, point_index: usize) -> impl Iterator<Item = Result<RunRecord, SweepError>> {
        self.records(point_index).chain(self.records_again(point_index))
    }

    /// Writes a file of the folder that is there when it is whole.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<PathBuf, SweepError> {
        Ok(folder::write(self.path.join(name), content)?)
    }
}

fn record_name(step: SweepStep) -> PathBuf {
    Path::new(RUNS).join(format!("point-{:05}-run-{:03}.record", step.point_index + 1, step.repeat_index + 1))
}

impl SweepFolder {
    /// The open loop beside the points; `None`: it has not begun.
    ///
    /// # Errors
    /// It is no sweep that can be read.
    pub fn open_loop(&self) -> Result<Option<Self>, SweepError> {
        let path = self.path.join(OPEN_LOOP);
        if !self.plan.has_open_loop || !path.exists() { Ok(None) } else { Self::open(&path).map(Some) }
    }
}

impl OpenSweep {
    /// Goes on with the open loop beside the points, or begins it. All points have been run.
    ///
    /// # Errors
    /// The points are too slow, a record cannot be read, or the folder cannot be made.
    pub fn begin_open_loop(&self, jobs: &SweptJobs<'_>) -> Result<Self, SweepError> {
        if let Some(folder) = self.folder.open_loop()? {
            return folder.lock();
        }
        let closed = SweepOutcome::read(&self.folder)?;
        let beside = OpenLoop::beside(&closed).ok_or(SweepError::NoOpenLoop)?;
        let spec = session_at(&jobs.template, &closed.points[beside.at].point, jobs.environment)?;
        let n_clones = |name: &str| spec.jobs.iter().filter(|job| job.name == name).count();
        let space = beside.space(&closed, &n_clones)?;
        let plan = &self.folder.plan;
        let around_runs = AroundRuns { first: None, ..plan.around_runs.clone() };
        let plan = SweepPlan::new(plan.jobs.clone(), &space)?
            .with_repeats(plan.n_repeats, plan.until.clone())?
            .with_around_runs(plan.order_seed, around_runs);
        SweepFolder::create(&self.folder.path.join(OPEN_LOOP), plan)
    }

    /// The index of the point of a search with this value. A new point is in the plan before its first run.
    pub(crate) fn point_at(&mut self, value: u64) -> Result<usize, SweepError> {
        let n_points = self.folder.plan.points.len();
        let index = self.folder.plan.point_at(value);
        if self.folder.plan.points.len() > n_points {
            self.work.write(PLAN, self.folder.plan.encode().as_bytes())?;
        }
        Ok(index)
    }

    /// Keeps the record of a run.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(&self, step: SweepStep, record: &RunRecord) -> Result<(), SweepError> {
        self.work.keep(record_name(step), record)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::runs::folder::FolderError;
    use crate::sweep::space::{Space, SweepAxis};
    use crate::sweep::{AroundRuns, JobsOfPlan};
    use std::fs;

    fn plan() -> SweepPlan {
        let space = Space::new(vec![SweepAxis::parse("bs=4k,8k").expect("an axis")], &[]).expect("a space");
        let plan = SweepPlan::new(JobsOfPlan::default(), &space).and_then(|plan| plan.with_repeats(2, None));
        plan.expect("a plan").with_around_runs(Some(3), AroundRuns::default())
    }

    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("ferrio-sweep-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        path
    }

    #[test]
    fn runs_that_were_made_are_not_made_again() {
        let path = folder("again");
        let open = SweepFolder::create(&path, plan()).expect("a folder");
        let steps = open.folder.missing();
        assert_eq!(steps, plan().steps());
        let record = RunRecord { timestamp_ms: 17, ..RunRecord::default() };
        open.keep(steps[1], &record).expect("kept");
        assert!(matches!(SweepFolder::create(&path, plan()), Err(SweepError::Folder(FolderError::Exists(_)))));
        assert!(matches!(
            SweepFolder::open(&path).expect("a sweep").lock(),
            Err(SweepError::Folder(FolderError::InUse(_)))
        ));
        drop(open);
        let again = SweepFolder::open(&path).expect("a sweep");
        assert_eq!(again.missing(), [steps[0], steps[2], steps[3]]);
        assert_eq!(again.record(steps[1]).expect("read").map(|record| record.timestamp_ms), Some(17));
        // A damaged record, and a file that a killed program has left.
        fs::write(again.record_path(steps[2]), b"ferrio record 7\nxx").expect("written");
        let part = path.join(RUNS).join("point-00001-run-001.record.123.tmp");
        fs::write(&part, b"ferrio").expect("written");
        drop(again.lock().expect("free"));
        assert!(!part.exists());
        let again = SweepFolder::open(&path).expect("a sweep");
        assert_eq!(again.missing(), [steps[0], steps[2], steps[3]]);
        assert!(again.record(steps[2]).is_err());
        fs::remove_dir_all(&path).expect("removed");
    }

    #[test]
    fn other_folders_are_refused() {
        let path = folder("other");
        fs::create_dir(&path).expect("made");
        assert!(matches!(SweepFolder::open(&path), Err(SweepError::NoSweep(_))));
        fs::write(path.join(PLAN), "{}").expect("written");
        assert!(matches!(SweepFolder::open(&path), Err(SweepError::Plan { .. })));
        fs::remove_dir_all(&path).expect("removed");
    }
}
