//! Accounts of a run: what was asked and what was done, by option, by second and by its end.
//!
//! Rules find what somebody has thought of; an account has a row for everything. Must not know: how accounts are shown. Start reading at
//! [`accounts_of`], then `options/mod.rs`.

mod asked;
mod ending;
pub mod options;
mod time;

use crate::audit_input::{AuditInput, AuditedJob};
use ferrio_stats::{Accounts, Finding, JobAccount};

/// The accounts of a run. `findings`: what rules have found in it.
pub(crate) fn accounts_of(case: &AuditInput<'_>, findings: &[Finding]) -> Accounts {
    let account = |job: &AuditedJob<'_>| JobAccount {
        job: job.name.to_owned(),
        options: options::account(case, job, findings),
        time: time::account(case, job),
    };
    Accounts { ending: ending::of(case), jobs: case.jobs.iter().map(account).collect() }
}
