//! How a kept run is named: by its number, its name, or its place from the end.
//!
//! Must not know: the database. Start reading at [`RunSelector::of`].

use std::fmt;

/// Names one kept run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunSelector {
    /// The run of this number.
    Number(i64),
    /// `last`, `last-1`, ...: the run that was kept last, the one before it, ...
    Back(i64),
    /// The last run with this name.
    Name(String),
    /// The baseline of another run.
    Baseline,
}

impl RunSelector {
    /// The run that a word means. A number that no run can have means none.
    pub fn of(word: &str) -> Self {
        let number = |digits: &str| {
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| digits.parse().unwrap_or(i64::MAX))
        };
        match word {
            "last" => Self::Back(0),
            "baseline" => Self::Baseline,
            _ => {
                let back = word.strip_prefix("last-").and_then(number).map(Self::Back);
                back.or_else(|| number(word).map(Self::Number)).unwrap_or_else(|| Self::Name(word.to_owned()))
            }
        }
    }
}

impl fmt::Display for RunSelector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(formatter, "{number}"),
            Self::Back(0) => formatter.write_str("last"),
            Self::Back(back) => write!(formatter, "last-{back}"),
            Self::Name(name) => formatter.write_str(&ferrio_units::terminal_text::escape_name(name)),
            Self::Baseline => formatter.write_str("baseline"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_mean_runs() {
        for (word, selector) in [
            ("7", RunSelector::Number(7)),
            ("007", RunSelector::Number(7)),
            ("last", RunSelector::Back(0)),
            ("last-2", RunSelector::Back(2)),
            ("last-x", RunSelector::Name("last-x".to_owned())),
            ("-7", RunSelector::Name("-7".to_owned())),
            ("baseline", RunSelector::Baseline),
            ("99999999999999999999", RunSelector::Number(i64::MAX)),
        ] {
            assert_eq!(RunSelector::of(word), selector, "{word}");
        }
        assert_eq!(RunSelector::of("last-2").to_string(), "last-2");
    }
}
