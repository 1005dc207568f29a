//! A finding: a figure that the evidence contradicts, or that is easily misread.
//!
//! Must not know: which rules there are, how findings are shown. Start reading at [`Finding`].

use serde::{Deserialize, Serialize};

/// What a rule has found in the record of a run. It stands in JSON with these keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Short name of the rule, such as `device-did-less`; it does not change from version to version.
    pub id: String,
    /// The rule in a few words.
    pub title: String,
    /// How it bears on the figures.
    pub severity: Severity,
    /// Names of the jobs that it concerns; empty: all.
    pub jobs: Vec<String>,
    /// The measured values that it rests on.
    pub evidence: Vec<Measured>,
    /// What they mean, in a sentence or two.
    pub explanation: String,
    /// What to do about it, with the option to add.
    pub cure: String,
    /// The page that describes the rule.
    pub page: String,
}

/// How a finding bears on the figures, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// A figure is not what it says.
    Wrong,
    /// A figure is right and easily taken for another.
    Misleading,
    /// Something that a reader should know.
    Note,
}

impl Severity {
    /// All, the worst first.
    pub const ALL: [Self; 3] = [Self::Wrong, Self::Misleading, Self::Note];

    /// Its word in JSON and in text.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Wrong => "wrong",
            Self::Misleading => "misleading",
            Self::Note => "note",
        }
    }
}

/// A measured value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// What was measured, in a few words.
    pub what: String,
    /// The value. Counts are exact up to 2^53.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
}

/// Units of measured values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Things that are counted.
    Count,
    /// Parts of a hundred.
    Percent,
    /// Seconds.
    Seconds,
}

impl Measured {
    /// A number of bytes.
    pub fn bytes(what: &str, n_bytes: u64) -> Self {
        Self { what: what.to_owned(), value: n_bytes as f64, unit: Unit::Bytes }
    }

    /// A number of things.
    pub fn count(what: &str, count: f64) -> Self {
        Self { what: what.to_owned(), value: count, unit: Unit::Count }
    }

    /// Parts of a hundred.
    pub fn percent(what: &str, percent: f64) -> Self {
        Self { what: what.to_owned(), value: percent, unit: Unit::Percent }
    }

    /// A time.
    pub fn seconds(what: &str, seconds: f64) -> Self {
        Self { what: what.to_owned(), value: seconds, unit: Unit::Seconds }
    }
}
