//! Companions: jobs that do no I/O (they burn CPU, or run a program) end together with the jobs that do.
//!
//! Must not know: how workers are ended. Start reading at [`Companions::due`].
//! Facts: fio 3.41 with `cpuio` and `exec` jobs that start before, with and after other jobs.

use super::record::CrewRecord;
use crate::plan::RunPlan;
use ferrio_engine::EndsWith;

/// Knowledge about the jobs that do I/O.
pub(super) struct Companions {
    /// For each job, the event that ends it; empty: no job is a companion.
    ends_with: Vec<EndsWith>,
    /// Number of jobs with I/O that had ended at the last look.
    n_ended: usize,
}

/// Phase of a job.
#[derive(Clone, Copy, PartialEq, Eq)]
enum JobPhase {
    Waiting,
    Running,
    Ended,
}

impl Companions {
    pub(super) fn new(plan: &RunPlan) -> Self {
        let mut ends_with: Vec<EndsWith> = plan.workers.iter().map(|worker| worker.rhythm.ends_with).collect();
        if ends_with.iter().all(|ends_with| *ends_with == EndsWith::Nothing) {
            ends_with = Vec::new();
        }
        Self { ends_with, n_ended: 0 }
    }

    /// The workers that are to end now.
    pub(super) fn due(&mut self, records: &[CrewRecord]) -> Vec<usize> {
        if self.ends_with.is_empty() {
            return Vec::new();
        }
        let progress = |record: &CrewRecord| match record {
            _ if record.has_ended() => JobPhase::Ended,
            _ if record.is_waiting() => JobPhase::Waiting,
            _ => JobPhase::Running,
        };
        self.look(&records.iter().map(progress).collect::<Vec<_>>())
    }

    /// Companions to end. As seen on fio 3.41, all end when the last job with I/O ends, unless a job of any kind still
    /// waits for its turn. A companion with `exit_on_io_done` ends as soon as all jobs with I/O have ended, even if it
    /// has not begun. Without any job with I/O, none ends.
    fn look(&mut self, jobs: &[JobPhase]) -> Vec<usize> {
        let does_io = |ends_with: &EndsWith| *ends_with == EndsWith::Nothing;
        let of_io =
            || jobs.iter().zip(&self.ends_with).filter(|(_, ends_with)| does_io(ends_with)).map(|(job, _)| *job);
        let n_ended = of_io().filter(|job| *job == JobPhase::Ended).count();
        let has_just_ended = n_ended > std::mem::replace(&mut self.n_ended, n_ended);
        if n_ended == 0 || of_io().any(|job| job != JobPhase::Ended) {
            return Vec::new();
        }
        let all_end = has_just_ended && !jobs.contains(&JobPhase::Waiting);
        let ends = |index: &usize| {
            let ends_with = self.ends_with[*index];
            jobs[*index] != JobPhase::Ended
                && (ends_with == EndsWith::NoIo || (all_end && ends_with == EndsWith::LastIo))
        };
        (0..jobs.len()).filter(ends).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::JobPhase::{Ended, Running, Waiting};
    use super::*;

    /// Job 0 burns CPU, jobs 1 and 2 do I/O.
    fn companions(ends_with: EndsWith) -> Companions {
        Companions { ends_with: vec![ends_with, EndsWith::Nothing, EndsWith::Nothing], n_ended: 0 }
    }

    #[test]
    fn what_accompanies_io_ends_with_the_last() {
        let mut beside = companions(EndsWith::LastIo);
        assert!(beside.look(&[Running, Running, Running]).is_empty());
        assert!(beside.look(&[Running, Ended, Running]).is_empty());
        assert_eq!(beside.look(&[Running, Ended, Ended]), [0]);
        assert!(beside.look(&[Ended, Ended, Ended]).is_empty());
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
        let mut alone = Companions { ends_with: vec![EndsWith::NoIo], n_ended: 0 };
        assert!(alone.look(&[Running]).is_empty());
    }

    #[test]
    fn one_that_ends_by_itself_is_neither_ended_nor_waited_for() {
        let mut beside =
            Companions { ends_with: vec![EndsWith::ItsOwn, EndsWith::Nothing, EndsWith::NoIo], n_ended: 0 };
        assert!(beside.look(&[Running, Running, Running]).is_empty());
        assert_eq!(beside.look(&[Running, Ended, Running]), [2]);
        // It is no job that does I/O.
        let mut alone = Companions { ends_with: vec![EndsWith::ItsOwn, EndsWith::NoIo], n_ended: 0 };
        assert!(alone.look(&[Ended, Running]).is_empty());
    }
}
