//! The outcome of an audit: findings (figures that the evidence contradicts, or that are easily misread), and what could not be examined.
//!
//! Must not know: which rules there are, how findings are shown. Start reading at [`Audit`].

use crate::IoKind;
use crate::findings::accounts::{Accounts, OptionAccount, OptionOutcome, RunEnding};
use ferrio_units::DataDirection;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The outcome of an audit. That there are no findings says something only about what was examined.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Audit {
    /// Contradictions between evidence and figures, the worst first.
    pub findings: Vec<Finding>,
    /// What no rule could look at, by subject.
    #[serde(default)]
    pub unexamined: Vec<Unexamined>,
    /// Number of all rules; 0: not known, because an older version has examined the run.
    #[serde(default)]
    pub n_rules: u32,
    /// What was asked and what was done; `None`: not known, as of a run that has not begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accounts: Option<Box<Accounts>>,
}

impl Audit {
    /// Number of rules that could not look at all of the jobs, or at none.
    pub fn n_blind(&self) -> usize {
        self.unexamined.iter().flat_map(|unexamined| &unexamined.rules).collect::<BTreeSet<_>>().len()
    }

    /// The run has ended as it was asked to, with its options: false also where one of them had no effect.
    pub fn is_as_asked(&self) -> bool {
        let is_missed = |option: &OptionAccount| matches!(option.outcome, OptionOutcome::NotAsAsked(_));
        self.accounts.as_ref().is_none_or(|accounts| {
            accounts.ending == RunEnding::AsAsked && !accounts.jobs.iter().flat_map(|job| &job.options).any(is_missed)
        })
    }

    /// All that could not be examined is missing on this machine in each run.
    pub fn is_all_the_machine_has(&self) -> bool {
        self.unexamined.iter().all(|unexamined| unexamined.is_of_machine)
    }
}

/// A subject of which an audit could not examine all, and why. JSON documents contain it with these keys.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Unexamined {
    /// The subject in a few words, such as `the work of the devices`.
    pub subject: String,
    /// The missing evidence, and why it is missing.
    pub reason: String,
    /// Names of the affected jobs; empty: all.
    pub jobs: Vec<String>,
    /// Names of the rules that could not look.
    pub rules: Vec<String>,
    /// This machine never has the evidence (no sensor, no counter of the kernel): the same holds for each run on it, so that texts for
    /// people leave it out.
    #[serde(default)]
    pub is_of_machine: bool,
}

/// Result of a rule about the record of a run. JSON documents contain it with these keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Short name of the rule, such as `device-did-less`; it does not change from version to version.
    pub id: String,
    /// The rule in a few words.
    pub title: String,
    /// Its effect on the figures.
    pub severity: Severity,
    /// Names of the affected jobs; empty: all.
    pub jobs: Vec<String>,
    /// Names of the hosts on which it was found, of a run on several hosts; empty: it is about all of them, or there is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// The direction whose figures it is about; none: it is about the job as a whole, or an older version has examined the run.
    #[serde(default, with = "direction_word")]
    pub direction: Option<DataDirection>,
    /// The measured values that it rests on.
    pub evidence: Vec<Measured>,
    /// Meaning of the evidence, in a sentence or two.
    pub explanation: String,
    /// How to avoid it, with the option to add.
    pub cure: String,
    /// The page that describes the rule.
    pub page: String,
}

/// The direction of a finding as documents and records have it: `none`, `read`, `write`, `trim`.
mod direction_word {
    use ferrio_units::DataDirection;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<T, S>(direction: &T, serializer: S) -> Result<S::Ok, S::Error>
    where
        T: Into<Option<DataDirection>> + Copy,
        S: Serializer,
    {
        (*direction).into().map_or("none", DataDirection::name).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<DataDirection>, D::Error> {
        let word = String::deserialize(deserializer)?;
        let found = DataDirection::ALL.into_iter().find(|direction| direction.name() == word);
        if found.is_none() && word != "none" {
            return Err(D::Error::unknown_variant(&word, &["none", "read", "write", "trim"]));
        }
        Ok(found)
    }
}

impl Finding {
    /// True if both are of one rule, about the same jobs and direction: the evidence may differ.
    pub fn is_as(&self, other: &Self) -> bool {
        self.id == other.id && self.jobs == other.jobs && self.direction == other.direction
    }

    /// The jobs and the direction that it is about, such as `a, b: read`; empty: all jobs, and not one direction alone.
    pub fn scope(&self) -> String {
        let jobs = self.jobs.join(", ");
        let scope = match self.direction {
            None => jobs,
            Some(direction) if jobs.is_empty() => direction.name().to_owned(),
            Some(direction) => format!("{jobs}: {}", direction.name()),
        };
        match (self.hosts.as_slice(), scope.as_str()) {
            ([], _) => scope,
            (hosts, "") => format!("on {}", hosts.join(", ")),
            (hosts, _) => format!("{scope} on {}", hosts.join(", ")),
        }
    }

    /// It speaks about figures of a kind, which is a name of [`IoKind`]: syncs belong to the writes.
    pub fn is_about(&self, kind: &str) -> bool {
        let is_sync = kind == IoKind::Sync.name();
        match self.direction {
            None => true,
            Some(direction) => direction.name() == kind || direction == DataDirection::Write && is_sync,
        }
    }
}

/// Effect of a finding on the figures, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// A figure does not mean what its name says.
    Wrong,
    /// A figure is right and easily taken for another.
    Misleading,
    /// A fact that a reader should know.
    Note,
}

impl Severity {
    /// All, the worst first.
    pub const ALL: [Self; 3] = [Self::Wrong, Self::Misleading, Self::Note];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Wrong => "wrong",
            Self::Misleading => "misleading",
            Self::Note => "note",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Name of the measured value, in a few words.
    pub what: String,
    /// The value. Counts are exact up to 2^53.
    pub value: f64,
    pub unit: Unit,
}

/// Units of measured values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    Bytes,
    Count,
    Percent,
    Seconds,
}

impl Measured {
    pub fn bytes(what: &str, n_bytes: u64) -> Self {
        Self { what: what.to_owned(), value: n_bytes as f64, unit: Unit::Bytes }
    }

    pub fn count(what: &str, count: f64) -> Self {
        Self { what: what.to_owned(), value: count, unit: Unit::Count }
    }

    pub fn percent(what: &str, percent: f64) -> Self {
        Self { what: what.to_owned(), value: percent, unit: Unit::Percent }
    }

    pub fn seconds(what: &str, seconds: f64) -> Self {
        Self { what: what.to_owned(), value: seconds, unit: Unit::Seconds }
    }
}
