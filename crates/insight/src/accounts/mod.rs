//! Accounts of a run: what was asked and what was done, by option, by second and by its end.
//!
//! Rules find what somebody has thought of; an account has a row for everything. Must not know: how accounts are shown. Start reading at
//! [`accounts_of`], then `options/mod.rs`.

mod asked;
mod bytes;
mod ending;
pub mod options;
mod time;

use crate::audit_input::{AuditInput, AuditedJob};
use ferrio_stats::{Accounts, Finding, JobAccount};

/// The accounts of a run. `findings`: what rules have found in it.
pub(crate) fn accounts_of(case: &AuditInput<'_>, findings: &[Finding]) -> Accounts {
    let account = |job: &AuditedJob<'_>| JobAccount {
        job: job.name.to_owned(),
        n_clones: job.n_clones,
        options: options::account(case, job, findings),
        time: time::account(case, job),
        bytes: bytes::account(case, job),
    };
    Accounts { ending: ending::of(case), jobs: case.jobs.iter().map(account).collect() }
}

/// What the options alone tell before the run: those that can have no effect; `None`: each can have one.
pub(crate) fn plan_of(case: &AuditInput<'_>) -> Option<Accounts> {
    let account = |job: &AuditedJob<'_>| JobAccount {
        job: job.name.to_owned(),
        n_clones: job.n_clones,
        options: options::in_vain(case, job),
        time: None,
        bytes: Vec::new(),
    };
    let jobs: Vec<JobAccount> = case.jobs.iter().map(account).collect();
    jobs.iter().any(|job| !job.options.is_empty()).then(|| Accounts { jobs, ..Accounts::default() })
}

#[cfg(test)]
mod tests;
