//! Companions: jobs that do no I/O (they burn CPU, or run a program) end together with the jobs that do.
//!
//! Must not know: how workers are ended. Start reading at [`NoIoJobs::due`].
//! Facts: fio 3.41 with `cpuio` and `exec` jobs that start before, with and after other jobs.

use super::record::Phase;
use super::record::SupervisedWorker;
use crate::compat;
use crate::plan::{RunPlan, WorkerPlan};
use ferrio_engine::EndsWith;

/// Knowledge about the jobs that do I/O.
pub(super) struct NoIoJobs {
    /// For each job, the event that ends it; `None`: it does I/O. Empty: no job is a companion.
    ends_with: Vec<Option<EndsWith>>,
    /// If each job counts as a job with I/O. When the last of these has ended, the companions end.
    counts_as_io: Vec<bool>,
    /// Number of jobs with I/O that had ended at the last look.
    n_ended: usize,
}

impl NoIoJobs {
    pub(super) fn new(plan: &RunPlan) -> Self {
        let of_worker = |worker: &WorkerPlan| worker.rhythm.map(|rhythm| rhythm.ends_with);
        let mut ends_with: Vec<Option<EndsWith>> = plan.workers.iter().map(of_worker).collect();
        if ends_with.iter().all(Option::is_none) {
            ends_with = Vec::new();
        }
        let counts_as_io = |worker: &WorkerPlan| match of_worker(worker) {
            None => true,
            Some(EndsWith::LastIo | EndsWith::NoIo) => compat::counts_cpu_job_as_io(worker),
            Some(EndsWith::ItsOwn) => false,
        };
        Self { ends_with, counts_as_io: plan.workers.iter().map(counts_as_io).collect(), n_ended: 0 }
    }

    /// The workers that are to end now.
    pub(super) fn due(&mut self, records: &[SupervisedWorker]) -> Vec<usize> {
        if self.ends_with.is_empty() {
            return Vec::new();
        }
        self.look(&records.iter().map(SupervisedWorker::phase).collect::<Vec<_>>())
    }

    /// Companions to end. All end when the last job that counts as one with I/O ends, unless a job of any kind still waits for
    /// its turn. A companion with `exit_on_io_done` ends as soon as all jobs with I/O have ended, even if it has not begun.
    /// Without any job with I/O, it does not end for that.
    fn look(&mut self, jobs: &[Phase]) -> Vec<usize> {
        let counted = || jobs.iter().zip(&self.counts_as_io).filter(|(_, counts)| **counts).map(|(job, _)| *job);
        let n_ended = counted().filter(|job| *job == Phase::Ended).count();
        let has_just_ended = n_ended > std::mem::replace(&mut self.n_ended, n_ended);
        let all_end = has_just_ended && !jobs.contains(&Phase::Waiting) && counted().all(|job| job == Phase::Ended);
        let mut of_io = jobs.iter().zip(&self.ends_with).filter(|(_, ends_with)| ends_with.is_none()).peekable();
        let no_io_is_left = of_io.peek().is_some() && of_io.all(|(job, _)| *job == Phase::Ended);
        let ends = |index: &usize| {
            let is_due = match self.ends_with[*index] {
                Some(EndsWith::LastIo) => all_end,
                Some(EndsWith::NoIo) => all_end || no_io_is_left,
                None | Some(EndsWith::ItsOwn) => false,
            };
            is_due && jobs[*index] != Phase::Ended
        };
        (0..jobs.len()).filter(ends).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Phase::{Ended, Running, Waiting};
    use super::*;

    /// Job 0 burns CPU, jobs 1 and 2 do I/O.
    fn companions(ends_with: EndsWith) -> NoIoJobs {
        let ends_with = vec![Some(ends_with), None, None];
        NoIoJobs { ends_with, counts_as_io: vec![false, true, true], n_ended: 0 }
    }

    #[test]
    fn what_accompanies_io_ends_with_the_last() {
        let mut beside = companions(EndsWith::LastIo);
        assert!(beside.look(&[Running, Running, Running]).is_empty());
        assert!(beside.look(&[Running, Ended, Running]).is_empty());
        assert_eq!(beside.look(&[Running, Ended, Ended]), [0]);
        assert!(beside.look(&[Ended, Ended, Ended]).is_empty());
    }

    // Jobs 0 and 1 burn CPU, of which job 1 is a process that counts as one that does I/O; as seen on fio 3.41.
    #[test]
    fn what_counts_as_io_is_waited_for() {
        let beside = |ends_with| NoIoJobs { ends_with, counts_as_io: vec![false, true, true], n_ended: 0 };
        let mut default = beside(vec![Some(EndsWith::LastIo), Some(EndsWith::LastIo), None]);
        assert!(default.look(&[Running, Running, Ended]).is_empty());
        assert_eq!(default.look(&[Running, Ended, Ended]), [0]);
        let mut asked = beside(vec![Some(EndsWith::NoIo), Some(EndsWith::LastIo), None]);
        assert_eq!(asked.look(&[Running, Running, Ended]), [0]);
    }

    #[test]
    fn io_that_waits_is_waited_for() {
        assert!(companions(EndsWith::LastIo).look(&[Running, Ended, Waiting]).is_empty());
        assert!(companions(EndsWith::NoIo).look(&[Running, Ended, Waiting]).is_empty());
    }

    #[test]
    fn what_begins_after_the_io_runs_on_unless_it_asks_not_to() {
        let mut behind = companions(EndsWith::LastIo);
        assert!(behind.look(&[Waiting, Ended, Ended]).is_empty());
        assert!(behind.look(&[Running, Ended, Ended]).is_empty());
        assert_eq!(companions(EndsWith::NoIo).look(&[Waiting, Ended, Ended]), [0]);
    }

    #[test]
    fn without_io_none_ends() {
        let mut alone = NoIoJobs { ends_with: vec![Some(EndsWith::NoIo)], counts_as_io: vec![false], n_ended: 0 };
        assert!(alone.look(&[Running]).is_empty());
    }

    #[test]
    fn one_that_ends_by_itself_is_neither_ended_nor_waited_for() {
        let ends_with = vec![Some(EndsWith::ItsOwn), None, Some(EndsWith::NoIo)];
        let mut beside = NoIoJobs { ends_with, counts_as_io: vec![false, true, false], n_ended: 0 };
        assert!(beside.look(&[Running, Running, Running]).is_empty());
        assert_eq!(beside.look(&[Running, Ended, Running]), [2]);
        // A job with `ItsOwn` does not count as one with I/O, so its end does not end companions.
        let ends_with = vec![Some(EndsWith::ItsOwn), Some(EndsWith::NoIo)];
        let mut alone = NoIoJobs { ends_with, counts_as_io: vec![false; 2], n_ended: 0 };
        assert!(alone.look(&[Ended, Running]).is_empty());
    }
}
