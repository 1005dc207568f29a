//! Accounts of a run: what was asked and what was done, by option, by second and by its end.
//!
//! Rules find what somebody has thought of; an account has a row for everything. Must not know: how accounts are shown. Start reading at
//! [`accounts_of`], then `options/mod.rs`.

mod asked;
mod bytes;
mod ending;
mod meanings;
pub mod options;
mod time;

use crate::audit_input::{AuditInput, AuditedJob};
use ferrio_stats::{Accounts, Finding, JobAccount, OptionAccount};

/// The accounts of a run. `findings`: what rules have found in it.
pub(crate) fn accounts_of(case: &AuditInput<'_>, findings: &[Finding]) -> Accounts {
    let account = |job: &AuditedJob<'_>| JobAccount {
        time: time::account(case, job),
        bytes: bytes::account(case, job),
        ..of_options(case, job, options::account(case, job, findings))
    };
    Accounts { ending: ending::of(case), jobs: case.jobs.iter().map(account).collect() }
}

/// What the options alone tell before the run: those that can have no effect, and what others mean; `None`: there is nothing to tell.
pub(crate) fn plan_of(case: &AuditInput<'_>) -> Option<Accounts> {
    let account = |job: &AuditedJob<'_>| of_options(case, job, options::in_vain(case, job));
    let jobs: Vec<JobAccount> = case.jobs.iter().map(account).collect();
    jobs.iter()
        .any(|job| !job.options.is_empty() || !job.meanings.is_empty())
        .then(|| Accounts { jobs, ..Accounts::default() })
}

fn of_options(case: &AuditInput<'_>, job: &AuditedJob<'_>, options: Vec<OptionAccount>) -> JobAccount {
    let meanings = meanings::of(case, job, &options);
    JobAccount { job: job.name.to_owned(), n_clones: job.n_clones, options, meanings, ..JobAccount::default() }
}

#[cfg(test)]
mod tests;
