//! An option that was given to a job, with what can tell whether it was done.
//!
//! Must not know: single options. Start reading at [`Asked`].

use crate::audit_input::{AuditInput, AuditedJob, sum};
use crate::measures::given;
use crate::rules::RULES;
use crate::text;
use ferrio_spec::JobSpec;
use ferrio_stats::{DirectionStats, Finding, OptionOutcome, ThreadStats};
use ferrio_units::DataDirection;

/// An option of a job.
pub(crate) struct Asked<'c, 'a> {
    pub(crate) case: &'c AuditInput<'a>,
    pub(crate) job: &'c AuditedJob<'a>,
    /// Its canonical name.
    pub(crate) name: &'c str,
    /// Its value as it was given.
    pub(crate) value: &'c str,
    pub(crate) findings: &'c [Finding],
}

impl<'c, 'a> Asked<'c, 'a> {
    pub(crate) fn spec(&self) -> &'a JobSpec {
        self.job.spec
    }

    /// A switch that was given is on.
    pub(crate) fn is_on(&self) -> bool {
        !matches!(self.value, "0" | "false")
    }

    /// The job, or the whole run, gives an option of this name and does not turn it off.
    pub(crate) fn is_given(&self, name: &str) -> bool {
        self.value_of(name).is_some_and(|value| !matches!(value, "0" | "false"))
    }

    /// The value of another option, of the job or of the whole run; `None`: it is not given.
    pub(crate) fn value_of(&self, name: &str) -> Option<&'c str> {
        given::value_of(self.case, self.job, name)
    }

    /// The option that stands behind this one and says something else about the same thing, among the options of the job or among those of the whole
    /// run; `None`: there is none.
    pub(crate) fn overruled_by(&self, others: &[&'static str]) -> Option<(&'static str, &'c str)> {
        let lists: [&'c [(String, String)]; 2] = [&self.job.spec.given_options, &self.case.record.global_options];
        let list = lists.into_iter().find(|list| list.iter().any(|(name, _)| name == self.name))?;
        let place = list.iter().rposition(|(name, _)| name == self.name)?;
        list[place + 1..].iter().rev().find_map(|(name, value)| {
            let other = others.iter().find(|other| **other != self.name && *other == name)?;
            Some((*other, value.as_str()))
        })
    }

    /// The files of a clone; `None`: they are known only when the job starts.
    pub(crate) fn n_files(&self) -> Option<u64> {
        self.job.n_files()
    }

    /// The job repeats its work until its runtime is over.
    pub(crate) fn repeats_until_runtime(&self) -> bool {
        let limits = &self.spec().limits;
        limits.time_based && (limits.runtime_us > 0 || limits.runtime_drawn.is_some())
    }

    /// The figures of all clones; `None`: the job has not run, or a clone has failed.
    pub(crate) fn figures(&self) -> Option<&'c ThreadStats> {
        self.job.total.as_ref().filter(|_| self.job.failed.is_empty())
    }

    /// Number of clones with figures.
    pub(crate) fn n_clones(&self) -> u64 {
        self.job.workers.len() as u64
    }

    /// Directions of the pattern, with figures or without.
    pub(crate) fn used(&self) -> impl Iterator<Item = DataDirection> {
        let mix = self.spec().pattern.mix.directions();
        DataDirection::ALL.into_iter().filter(move |direction| mix[*direction])
    }

    pub(crate) fn of(&self, direction: DataDirection) -> Option<&'c DirectionStats> {
        self.figures().map(|figures| &figures.directions[direction])
    }

    /// I/Os that were done in all directions.
    pub(crate) fn n_done(&self) -> u64 {
        self.figures().map_or(0, |figures| sum(figures.directions.0.iter().map(|one| one.n_completed)))
    }

    /// Writes that were done.
    pub(crate) fn n_writes(&self) -> u64 {
        self.of(DataDirection::Write).map_or(0, |figures| figures.n_completed)
    }

    /// The longest time in which a direction was measured, seconds.
    pub(crate) fn measured_secs(&self) -> f64 {
        let runtimes = self.figures().into_iter().flat_map(|figures| figures.directions.0.iter());
        runtimes.map(|one| one.runtime_ns as f64 / 1e9).fold(0.0, f64::max)
    }

    /// The longest time of a clone, without its ramp, seconds.
    pub(crate) fn whole_secs(&self) -> f64 {
        self.job.workers.iter().map(|worker| worker.stats.total_runtime_ns as f64 / 1e9).fold(0.0, f64::max)
    }

    /// The first finding about this job that contradicts the option.
    pub(crate) fn found(&self) -> Option<&'c Finding> {
        let is_of_job =
            |finding: &&Finding| finding.jobs.is_empty() || finding.jobs.iter().any(|name| name == self.job.name);
        self.findings
            .iter()
            .filter(is_of_job)
            .find(|finding| RULES.iter().any(|rule| rule.id == finding.id && rule.contradicts.contains(&self.name)))
    }

    /// As asked, unless a finding contradicts it.
    pub(crate) fn unless_found(&self) -> OptionOutcome {
        if self.figures().is_none() {
            return not_run();
        }
        self.found().map_or(OptionOutcome::AsAsked, by_finding)
    }
}

/// An option that a finding contradicts.
pub(crate) fn by_finding(finding: &Finding) -> OptionOutcome {
    let mut letters = finding.title.chars();
    let first = letters.next().map(|first| first.to_lowercase().to_string()).unwrap_or_default();
    // A short name such as `CPU` stays as it is.
    let is_short = finding.title.split(' ').next().is_some_and(|word| word.len() > 1 && word == word.to_uppercase());
    let title = if is_short { finding.title.clone() } else { first + letters.as_str() };
    OptionOutcome::NotAsAsked(format!("{title} ({})", finding.id))
}

pub(crate) fn not_run() -> OptionOutcome {
    OptionOutcome::NotSeen("the job has no figures".to_owned())
}

pub(crate) fn not(how: impl Into<String>) -> OptionOutcome {
    OptionOutcome::NotAsAsked(how.into())
}

pub(crate) fn unseen(why: &str) -> OptionOutcome {
    OptionOutcome::NotSeen(why.to_owned())
}

/// As asked if it is so; else with both values.
pub(crate) fn as_asked_if(is_done: bool, how: impl FnOnce() -> String) -> OptionOutcome {
    if is_done { OptionOutcome::AsAsked } else { not(how()) }
}

/// `20 of 400/s`.
pub(crate) fn of_asked(done: f64, asked: f64, unit: &str) -> String {
    format!("{} of {}{unit}", text::short(done), text::short(asked))
}
