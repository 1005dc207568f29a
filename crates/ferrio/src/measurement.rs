//! The results of a run.
//!
//! Must not know: how a run is made, forms of files. Start reading at [`Measurement`].

use crate::session::{VERSION, adopted};
use crate::{AuditFinding, Error, Io, IoFigures, UnexaminedSubject};
use ferrio_formats::{JobResult, RunResult};
use ferrio_formats::{RenderOptions, record_file, render, view};
use ferrio_job::SystemEnvironment;
use ferrio_spec::{OutputFormat, OutputFormats};
use ferrio_stats::{RunRecord, WorkerRecord};
use ferrio_sys::output::{AtomicFile, ProtectedPaths};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The results of a run, from [`Runner::run`](crate::Runner::run) or from a file ([`read`](crate::read)): figures of each job, and what the
/// audit says of them.
///
/// ```
/// use ferrio::{Io, Job, Runner, Severity};
///
/// # fn main() -> Result<(), ferrio::Error> {
/// let mut runner = Runner::new();
/// runner.add(&Job::new("a").option("ioengine", "null").option("rw", "randrw").option("size", "1m"))?;
/// let measured = runner.run()?;
/// for job in measured.jobs() {
///     for (kind, figures) in job.all_figures() {
///         println!("{} {}: {} I/Os", job.name(), kind.name(), figures.n_ios());
///     }
/// }
/// let is_wrong = measured.findings().any(|finding| finding.severity() == Severity::Wrong);
/// println!("a figure does not mean what its name says: {is_wrong}");
/// # assert_eq!(measured.n_failed(), 0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Measurement {
    result: RunResult,
    record: Option<Box<RunRecord>>,
}

/// The results of a job with all its clones, or of a group of jobs.
///
/// ```
/// # use ferrio::{Io, Job, Runner};
/// # fn main() -> Result<(), ferrio::Error> {
/// # let mut runner = Runner::new();
/// # runner.add(&Job::new("a").option("ioengine", "null").option("rw", "write").option("size", "1m"))?;
/// # let measured = runner.run()?;
/// let job = measured.job("a").expect("the run has this job");
/// assert!(job.figures(Io::Read).is_none());
/// assert_eq!(job.figures(Io::Write).map(|writes| writes.bytes()), Some(1 << 20));
/// assert_eq!(job.error(), None);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct JobMeasurement<'a> {
    job: &'a JobResult,
    run: &'a RunResult,
}

impl Measurement {
    pub(crate) fn of_run(record: RunRecord) -> Self {
        Self { result: ferrio_formats::of_record(&record), record: Some(Box::new(record)) }
    }

    /// That of a file; a report that nobody has audited is audited.
    pub(crate) fn of_file(mut result: RunResult) -> Self {
        adopted::examine(&mut result, &SystemEnvironment::new(VERSION));
        Self { result, record: None }
    }

    pub(crate) fn to_result(&self) -> RunResult {
        self.result.clone()
    }

    /// A short name: that of the file.
    pub fn name(&self) -> &str {
        &self.result.name
    }

    /// The program that measured, with its version; empty: unknown.
    pub fn program(&self) -> &str {
        &self.result.program
    }

    /// When the report was made.
    pub fn time(&self) -> Option<SystemTime> {
        self.result.timestamp_ms.map(|ms| SystemTime::UNIX_EPOCH + Duration::from_millis(ms))
    }

    /// The jobs in their order. With group reporting, a group that was read from a report is one of them.
    pub fn jobs(&self) -> impl Iterator<Item = JobMeasurement<'_>> {
        self.result.jobs.iter().map(|job| JobMeasurement { job, run: &self.result })
    }

    /// The first job of this name.
    pub fn job(&self, name: &str) -> Option<JobMeasurement<'_>> {
        self.jobs().find(|job| job.name() == name)
    }

    /// Number of jobs that failed, or that a signal killed. A report that was read does not tell of signals.
    pub fn n_failed(&self) -> usize {
        let Some(record) = &self.record else { return self.jobs().filter(|job| job.error().is_some()).count() };
        let has_failed = |worker: &&WorkerRecord| worker.fate.failure.is_some() || worker.fate.killed_by.is_some();
        record.workers.iter().filter(has_failed).map(|worker| worker.job_index).collect::<BTreeSet<_>>().len()
    }

    /// Where the evidence contradicts a figure, or a figure is easily misread, the worst first. That there are none says something only of
    /// what was examined: see [`Measurement::unexamined`].
    pub fn findings(&self) -> impl Iterator<Item = AuditFinding<'_>> {
        self.result.findings().map(AuditFinding)
    }

    /// What the audit could not examine, and why.
    pub fn unexamined(&self) -> impl Iterator<Item = UnexaminedSubject<'_>> {
        self.result.audit.iter().flat_map(|audit| &audit.unexamined).map(UnexaminedSubject)
    }

    /// What a reader has to know about the reading of the file, in sentences.
    pub fn remarks(&self) -> &[String] {
        &self.result.remarks
    }

    /// Messages of the run: failures of jobs with their reasons, and remarks.
    pub fn messages(&self) -> Vec<String> {
        let notes = self.record.iter().flat_map(|record| record.messages.kept());
        notes.map(|message| ferrio_formats::native::note_text(&message.note).trim().to_owned()).collect()
    }

    /// The report of fio in JSON, with the keys of fio 3.42.
    ///
    /// # Errors
    /// The measurement was read from a file.
    pub fn fio_json(&self) -> Result<String, Error> {
        let record = self.record.as_ref().ok_or(Error::NotARun)?;
        let formats = OutputFormats::from_iter([OutputFormat::Json]);
        Ok(render(&view::fio_view(record), &formats, &RenderOptions::default()))
    }

    /// Saves the record of the run in a file, which [`read`](crate::read) and the commands of the program read. Every later version reads it.
    ///
    /// # Errors
    /// The file cannot be written, or the measurement was read from a file.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let (path, record) = (path.as_ref(), self.record.as_ref().ok_or(Error::NotARun)?);
        let file = AtomicFile::create(path, &Arc::new(ProtectedPaths::default()));
        let written = file.and_then(|file| file.write(&record_file::encode(record)));
        written.map_err(|reason| Error::Write { path: path.to_path_buf(), reason })
    }
}

impl<'a> JobMeasurement<'a> {
    /// Its name.
    pub fn name(self) -> &'a str {
        &self.job.name
    }

    /// Its error, an errno; `None`: it did not fail, or a signal killed it.
    pub fn error(self) -> Option<i32> {
        (self.job.error != 0).then_some(self.job.error)
    }

    /// Number of errors that the job went on after (`continue_on_error`).
    pub fn n_errors(self) -> u64 {
        self.job.n_errors
    }

    /// Figures of a kind of I/O; `None`: it did none.
    pub fn figures(self, kind: Io) -> Option<IoFigures<'a>> {
        self.job.get(kind).map(IoFigures::new)
    }

    /// Figures of each kind of I/O that the job did.
    pub fn all_figures(self) -> impl Iterator<Item = (Io, IoFigures<'a>)> {
        self.job.kinds().map(|(kind, figures)| (kind, IoFigures::new(figures)))
    }

    /// An option that was given for it or for all jobs, as it was written.
    pub fn option(self, name: &str) -> Option<&'a str> {
        self.job.option(&self.run.global_options, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_stats::{Failure, WorkerFate};

    #[test]
    fn a_job_fails_by_its_error_or_by_a_signal_and_once_with_all_its_clones() {
        let worker = |job_index: u32, fate: WorkerFate| WorkerRecord { job_index, fate, ..WorkerRecord::default() };
        let failed = || WorkerFate { failure: Some(Failure::new(5, "x", "read")), ..WorkerFate::default() };
        let killed = WorkerFate { killed_by: Some(9), ..WorkerFate::default() };
        let workers =
            vec![worker(0, WorkerFate::default()), worker(1, failed()), worker(1, failed()), worker(2, killed)];
        let measured = Measurement::of_run(RunRecord { workers, ..RunRecord::default() });
        assert_eq!(measured.n_failed(), 2);
    }
}
