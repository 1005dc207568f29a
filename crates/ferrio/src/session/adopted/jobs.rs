//! The jobs of a result, each with the rows of its clones and its options as a specification.
//!
//! Must not know: figures. Start reading at [`of`].

use super::{facts, worker_counts};
use ferrio_formats::{JobResult, RunResult};
use ferrio_job::environment::AnyMachine;
use ferrio_job::{Environment, UsageError};
use ferrio_spec::JobSpec;
use ferrio_stats::provenance::JobOptions;
use ferrio_stats::{Failure, ReportedRow, WorkerFate, WorkerRecord};
use ferrio_units::Wording;
use std::ffi::OsString;

/// Most clones that a row of a group stands for: a report may name any number.
const MOST_CLONES: u32 = 10_000;

/// Why the options of a report make no job.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum OptionsError {
    #[error("the options of job {job} cannot be read: {why}")]
    Refused { job: String, why: String },
    #[error("the options of job {job} make no job")]
    NoJob { job: String },
}

pub(super) struct ReportedJob<'a> {
    /// Its options; where they cannot be read, those of a job without any.
    spec: JobSpec,
    /// Why they cannot be read.
    unreadable: Option<OptionsError>,
    rows: Vec<&'a JobResult>,
}

/// The jobs in the order of the report. Rows of the same name and options are the clones of one job.
pub(super) fn of<'a>(result: &'a RunResult, environment: &dyn Environment) -> Vec<ReportedJob<'a>> {
    let mut jobs: Vec<ReportedJob<'a>> = Vec::new();
    for row in &result.jobs {
        if let Some(job) = jobs.last_mut().filter(|job| job.takes(row)) {
            job.rows.push(row);
        } else {
            let (spec, unreadable) = match spec_of(row, &result.global_options, environment) {
                Ok(spec) => (spec, None),
                Err(reason) => (JobSpec { name: row.name.clone(), ..JobSpec::default() }, Some(reason)),
            };
            jobs.push(ReportedJob { spec, unreadable, rows: vec![row] });
        }
    }
    // Reports of fio 3.33 leave out options without a value: one row for all clones tells that they are a group.
    for job in &mut jobs {
        job.spec.grouping.group_reporting |= job.rows.len() == 1 && job.spec.numjobs > 1;
    }
    jobs
}

/// The specification that the options of a row make, read as on a command line on any machine.
fn spec_of(
    row: &JobResult,
    global: &[(String, String)],
    environment: &dyn Environment,
) -> Result<JobSpec, OptionsError> {
    // The options of an engine are known behind its name alone.
    let all = || global.iter().chain(&row.options).filter(|(name, _)| name != "name");
    let engines = all().filter(|(name, _)| name == "ioengine");
    let others = all().filter(|(name, _)| name != "ioengine");
    let word = |(name, value): &(String, String)| {
        OsString::from(if value.is_empty() { format!("--{name}") } else { format!("--{name}={value}") })
    };
    let start = ["fio".to_owned(), format!("--name={}", row.name)].map(OsString::from);
    let words: Vec<OsString> = start.into_iter().chain(engines.chain(others).map(word)).collect();
    let invocation = ferrio_job::parse(&words, &AnyMachine(environment)).map_err(|error| reason(row, &error))?;
    let spec = invocation.run.jobs.into_iter().next();
    spec.ok_or_else(|| OptionsError::NoJob { job: row.name.clone() })
}

/// The first message of the parser, in one line.
fn reason(row: &JobResult, error: &UsageError) -> OptionsError {
    let mut messages = error.messages.iter().map(|(_, text)| text.text(Wording::Own).trim());
    let first = messages.find(|text| !text.is_empty()).unwrap_or("no reason");
    let first = first.lines().next().unwrap_or_default();
    OptionsError::Refused { job: row.name.clone(), why: first.to_owned() }
}

impl ReportedJob<'_> {
    /// Whether a further row is one of its clones.
    fn takes(&self, row: &JobResult) -> bool {
        let first = self.rows[0];
        let is_alike = first.name == row.name && first.options == row.options && first.group_index == row.group_index;
        is_alike && !self.spec.grouping.group_reporting && self.rows.len() < self.spec.numjobs as usize
    }

    /// Why its options cannot be read.
    pub(super) fn unreadable(&self) -> Option<String> {
        self.unreadable.as_ref().map(ToString::to_string)
    }

    /// Number of its clones. A row of a group stands for all of them.
    fn n_clones(&self) -> u32 {
        let told = if self.spec.grouping.group_reporting { self.spec.numjobs.clamp(1, MOST_CLONES) } else { 1 };
        told.max(self.rows.len() as u32)
    }

    /// The records of its clones. The figures of a group are those of the first, because the report does not split them.
    pub(super) fn workers(&self, job_index: u32, first_number: u32) -> Vec<WorkerRecord> {
        let clone = |clone_index: u32| {
            let row = self.rows.get(clone_index as usize).copied();
            let error = row.map_or(0, |row| row.error);
            WorkerRecord {
                name: self.spec.name.clone(),
                job_index,
                clone_index,
                number: first_number + clone_index,
                group_index: self.rows[0].group_index,
                given_options: self.spec.given_options.clone(),
                directions: self.spec.pattern.mix.directions(),
                iodepth: self.spec.queue.iodepth,
                stats: Box::new(row.map(worker_counts::stats).unwrap_or_default()),
                fate: WorkerFate {
                    was_let_go: true,
                    has_ended: true,
                    failure: (error != 0).then(|| Failure::new(error, "", "report")),
                    ..WorkerFate::default()
                },
                ..WorkerRecord::default()
            }
        };
        (0..self.n_clones()).map(clone).collect()
    }

    /// What the report says about the rows of its clones.
    pub(super) fn rows(&self, first_number: u32, is_text: bool) -> impl Iterator<Item = ReportedRow> + '_ {
        (first_number..).zip(&self.rows).map(move |(number, row)| facts::row(number, row, is_text))
    }

    /// What the record says about its options.
    pub(super) fn into_options(self, first_number: u32) -> JobOptions {
        JobOptions {
            name: self.spec.name.clone(),
            group: self.rows[0].group_index,
            first_number,
            n_clones: self.n_clones(),
            options: self.unreadable.is_none().then(|| Box::new(self.spec)),
        }
    }
}
