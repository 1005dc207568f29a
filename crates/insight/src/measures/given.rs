//! The options that are given to a job: its own, and those of `[global]` that apply to it.
//!
//! Must not know: what options mean. Start reading at [`given`].

use crate::audit_input::{AuditInput, AuditedJob};

/// The last value of each option.
pub(crate) fn given<'c>(case: &'c AuditInput<'_>, job: &'c AuditedJob<'_>) -> impl Iterator<Item = (&'c str, &'c str)> {
    let own = &job.spec.given_options;
    let of_all = globals_of(case, job).iter().filter(|(name, _)| !own.iter().any(|(other, _)| other == name));
    let all: Vec<&(String, String)> = of_all.chain(own).collect();
    let mut last: Vec<(&str, &str)> = Vec::with_capacity(all.len());
    for (name, value) in all {
        last.retain(|(known, _)| known != name);
        last.push((name, value));
    }
    last.into_iter()
}

/// The last value of an option; `None`: it is not given.
pub(crate) fn value_of<'c>(case: &'c AuditInput<'_>, job: &AuditedJob<'c>, name: &str) -> Option<&'c str> {
    let mut all = globals_of(case, job).iter().chain(&job.spec.given_options);
    all.rfind(|(given, _)| given == name).map(|(_, value)| value.as_str())
}

/// A job has an option from `[global]`. Jobs of a report have all options for themselves, so that only another value tells one of their own.
pub(crate) fn is_inherited(case: &AuditInput<'_>, job: &AuditedJob<'_>, name: &str) -> bool {
    let own = job.spec.given_options.iter().rfind(|(other, _)| other == name);
    let of_all = globals_of(case, job).iter().rfind(|(other, _)| other == name);
    of_all.is_some_and(|of_all| own.is_none_or(|own| case.is_reported() && own == of_all))
}

/// The options of the whole run that apply to a job: not those of a section `[global]` behind it.
fn globals_of<'c>(case: &'c AuditInput<'_>, job: &AuditedJob<'_>) -> &'c [(String, String)] {
    let all = &case.record.global_options;
    let late = case.provenance.late_globals.iter().filter(|global| job.index < global.n_jobs_before);
    let n_late: usize = late.map(|global| global.options.len()).sum();
    &all[..all.len().saturating_sub(n_late)]
}
