//! Names of kept runs.
//!
//! Must not know: runs. Start reading at [`RunName`].

use crate::history::RunSelector;
use std::fmt;
use std::str::FromStr;

/// Longest name, in characters.
pub const MAX_NAME_CHARS: usize = 100;

/// A name under which runs are kept. Several runs may have the same name, such as those of every night.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunName(String);

/// Why a text is no name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// It is empty.
    #[error("it is empty")]
    Empty,
    /// It is too long.
    #[error("it has {0} characters, and at most {MAX_NAME_CHARS} are allowed")]
    Long(usize),
    /// It has a character that is not allowed.
    #[error("it has the character {0:?}: control characters and / are not allowed")]
    Character(char),
    /// It begins or ends with a blank.
    #[error("it begins or ends with a blank")]
    Blank,
    /// It begins like an option.
    #[error("it begins with a dash")]
    Dash,
    /// It means something else where a run is named.
    #[error("numbers, last, last-N and baseline mean other runs")]
    Reserved,
}

impl RunName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for RunName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let n_characters = text.chars().count();
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        if n_characters > MAX_NAME_CHARS {
            return Err(NameError::Long(n_characters));
        }
        if let Some(character) = text.chars().find(|character| character.is_control() || *character == '/') {
            return Err(NameError::Character(character));
        }
        if text.trim() != text {
            return Err(NameError::Blank);
        }
        if text.starts_with('-') {
            return Err(NameError::Dash);
        }
        if !matches!(RunSelector::of(text), RunSelector::Name(_)) {
            return Err(NameError::Reserved);
        }
        Ok(Self(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_mean_something_else_are_refused() {
        for name in
            ["nightly", "a b", "'; DROP TABLE runs; --", "\u{4e2d}\u{6587}", "last-", "last-x", "1a", "%", "Last"]
        {
            assert_eq!(name.parse::<RunName>().map(|name| name.0), Ok(name.to_owned()), "{name}");
        }
        let long = "x".repeat(101);
        for (name, error) in [
            ("", NameError::Empty),
            (long.as_str(), NameError::Long(101)),
            ("a\nb", NameError::Character('\n')),
            ("a\u{1b}[2J", NameError::Character('\u{1b}')),
            ("../x", NameError::Character('/')),
            (" a", NameError::Blank),
            ("--all", NameError::Dash),
            ("12", NameError::Reserved),
            ("99999999999999999999", NameError::Reserved),
            ("last", NameError::Reserved),
            ("last-3", NameError::Reserved),
            ("baseline", NameError::Reserved),
        ] {
            assert_eq!(name.parse::<RunName>(), Err(error), "{name}");
        }
    }
}
