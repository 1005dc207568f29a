//! Results that another program has measured, or that came without an audit, as the record of a run: rules can look at them as far as
//! their evidence goes.
//!
//! A report of fio has the options of its jobs as texts, their figures, and the counters of the disks. The options are read by the
//! parser of the command line, so that they mean what they mean in a run. Nothing about the machine is assumed: what the report does
//! not tell stays unknown in the record, and the audit names it.
//! Must not know: formats of reports. Start reading at [`record_of`], then [`examine`].

mod disks;
mod facts;
mod jobs;
mod worker_counts;

use ferrio_formats::RunResult;
use ferrio_job::Environment;
use ferrio_stats::{Provenance, RecordOrigin, RunRecord};

/// The record of the run that a result describes, with its audit. Of a job whose options cannot be read, only the figures are known:
/// then nothing is examined, and the audit says why.
pub fn record_of(result: &RunResult, environment: &dyn Environment) -> RunRecord {
    let mut record = RunRecord {
        version: result.program.clone(),
        timestamp_ms: result.timestamp_ms.unwrap_or_default(),
        global_options: result.global_options.clone(),
        origin: RecordOrigin::Report(result.program.clone()),
        ..RunRecord::default()
    };
    let (mut provenance, mut reason) = (Provenance::default(), None);
    let mut facts = facts::of(result);
    for job in jobs::of(result, environment) {
        let index = provenance.jobs.len() as u32;
        let first_number = record.workers.len() as u32 + 1;
        reason = reason.or_else(|| job.unreadable());
        let is_text = facts.lacks_options;
        facts.rows.extend(job.rows(first_number, is_text));
        record.workers.extend(job.workers(index, first_number));
        provenance.jobs.push(job.into_options(first_number));
    }
    disks::enter(result, &provenance, &mut facts, &mut record.evidence);
    record.evidence.reported = Some(Box::new(facts));
    record.provenance = Some(Box::new(provenance));
    record.audit = Some(reason.map_or_else(|| ferrio_insight::audit(&record), ferrio_insight::not_examined));
    record
}

/// Audits a result that nobody has audited. Logs alone have no program and no options, so that they cannot be.
pub fn examine(result: &mut RunResult, environment: &dyn Environment) {
    if result.audit.is_some() || !is_of_report(result) {
        return;
    }
    result.audit = record_of(result, environment).audit;
}

/// True of the result of a run with jobs; false of logs alone.
pub fn is_of_report(result: &RunResult) -> bool {
    !result.program.is_empty() && !result.jobs.is_empty()
}

#[cfg(test)]
mod tests;
