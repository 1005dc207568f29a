//! A finding: a figure that the evidence contradicts, or that is easily misread.
//!
//! Must not know: which rules there are, how findings are shown. Start reading at [`Finding`].

use serde::{Deserialize, Serialize};

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
    /// The measured values that it rests on.
    pub evidence: Vec<Measured>,
    /// Meaning of the evidence, in a sentence or two.
    pub explanation: String,
    /// How to avoid it, with the option to add.
    pub cure: String,
    /// The page that describes the rule.
    pub page: String,
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

    /// The word for it in JSON and in text.
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
    /// Name of the measured value, in a few words.
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
    /// Percent.
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

    /// A percentage.
    pub fn percent(what: &str, percent: f64) -> Self {
        Self { what: what.to_owned(), value: percent, unit: Unit::Percent }
    }

    /// A time.
    pub fn seconds(what: &str, seconds: f64) -> Self {
        Self { what: what.to_owned(), value: seconds, unit: Unit::Seconds }
    }
}
