//! How the effect of each option is seen: a row for each option of the option table, in files by subject.
//!
//! Must not know: how options are parsed. Start reading at [`account`], then [`effects`].

mod amount;
mod contents;
mod direction;
mod draws;
mod durability;
mod engines;
mod pace;
mod queue;
mod structure;
mod system;
mod trace;
mod verify;

use super::asked::{Asked, not, not_run, unseen};
use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::given::{given, is_inherited, value_of};
use ferrio_stats::{Finding, OptionAccount, OptionOutcome};

/// How the effect of an option is seen.
#[derive(Clone, Copy)]
pub(crate) enum Seen {
    /// It names or arranges something: there is no effect that a run could miss.
    Structure,
    /// Nothing that is measured shows it: why.
    Nowhere(&'static str),
    /// Figures or the system show it.
    Measured(fn(&Asked<'_, '_>) -> OptionOutcome),
}

/// A row of the table.
#[derive(Clone, Copy)]
pub struct OptionEffect {
    /// Canonical names of the options.
    pub names: &'static [&'static str],
    /// Why it can have no effect beside the other options of the job, or on its targets; `None`: it can. No figure has a part in it, so that it is
    /// known before a run.
    pub(crate) in_vain: fn(&Asked<'_, '_>) -> Option<String>,
    pub(crate) seen: Seen,
}

impl OptionEffect {
    const fn of(names: &'static [&'static str], seen: Seen) -> Self {
        Self { names, in_vain: |_| None, seen }
    }

    const fn measured(names: &'static [&'static str], done: fn(&Asked<'_, '_>) -> OptionOutcome) -> Self {
        Self::of(names, Seen::Measured(done))
    }

    const fn nowhere(names: &'static [&'static str], why: &'static str) -> Self {
        Self::of(names, Seen::Nowhere(why))
    }

    const fn in_vain_if(mut self, in_vain: fn(&Asked<'_, '_>) -> Option<String>) -> Self {
        self.in_vain = in_vain;
        self
    }
}

const TABLES: [&[OptionEffect]; 12] = [
    amount::EFFECTS,
    contents::EFFECTS,
    direction::EFFECTS,
    draws::EFFECTS,
    durability::EFFECTS,
    engines::EFFECTS,
    pace::EFFECTS,
    queue::EFFECTS,
    structure::EFFECTS,
    system::EFFECTS,
    trace::EFFECTS,
    verify::EFFECTS,
];

/// All rows.
pub fn effects() -> impl Iterator<Item = &'static OptionEffect> {
    TABLES.into_iter().flatten()
}

fn effect_of(name: &str) -> Option<&'static OptionEffect> {
    effects().find(|effect| effect.names.contains(&name))
}

/// What became of the options of a job. Those of the whole run come first, unless the job has its own.
pub(crate) fn account(case: &AuditInput<'_>, job: &AuditedJob<'_>, findings: &[Finding]) -> Vec<OptionAccount> {
    given(case, job)
        .map(|(name, value)| {
            let asked = Asked { case, job, name, value, findings };
            OptionAccount { option: name.to_owned(), asked: value.to_owned(), outcome: outcome(&asked) }
        })
        .collect()
}

/// Options of a job that can have no effect beside the others.
pub(crate) fn in_vain(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Vec<OptionAccount> {
    let reason = |(name, value): (&str, &str)| {
        let asked = Asked { case, job, name, value, findings: &[] };
        let why = (effect_of(name)?.in_vain)(&asked).filter(|_| !is_for_others(&asked))?;
        Some(OptionAccount { option: name.to_owned(), asked: value.to_owned(), outcome: not(why) })
    };
    given(case, job).filter_map(reason).collect()
}

/// The option stands in `[global]`, and another job has an effect of it: it is there for that one.
fn is_for_others(asked: &Asked<'_, '_>) -> bool {
    let name = asked.name;
    let is_global = |job: &AuditedJob<'_>| is_inherited(asked.case, job, name);
    let has_effect = |job: &AuditedJob<'_>| {
        let of_job = value_of(asked.case, job, name).map(|value| Asked { job, value, ..*asked });
        of_job.is_some_and(|of_job| effect_of(name).is_some_and(|effect| (effect.in_vain)(&of_job).is_none()))
    };
    is_global(asked.job)
        && asked.case.jobs.iter().any(|job| job.index != asked.job.index && is_global(job) && has_effect(job))
}

fn outcome(asked: &Asked<'_, '_>) -> OptionOutcome {
    let Some(effect) = effect_of(asked.name) else {
        return unseen("this version does not know the option");
    };
    if let Some(why) = (effect.in_vain)(asked) {
        return if is_for_others(asked) { OptionOutcome::Structure } else { not(why) };
    }
    match effect.seen {
        Seen::Structure => OptionOutcome::Structure,
        Seen::Nowhere(why) => unseen(why),
        Seen::Measured(_) if asked.figures().is_none() || asked.spec().layout.create_only => not_run(),
        Seen::Measured(done) => done(asked),
    }
}

#[cfg(test)]
mod beside_tests;
#[cfg(test)]
mod tests;
