//! Status of an engine or an option in ferrio, the kinds of differences from fio, and the switch between fio's oddities and ferrio's own behaviour.
//!
//! Must not know: which engines and options exist. Start reading at [`Status`].

use serde::{Deserialize, Serialize};

/// Status of an engine, an option, or one value of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Works as in fio.
    Supported,
    /// Works, with differences, each of which has its kind.
    Deviates(Deviations),
    /// Known, not built yet, perhaps for the reason given: any value that would change something is refused.
    Planned(Option<&'static str>),
    /// Known, and will not come, for the reason given: any value that would change something is refused.
    NotApplicable(&'static str),
}

impl Status {
    /// Ferrio can act on it.
    pub const fn is_built(self) -> bool {
        matches!(self, Self::Supported | Self::Deviates(_))
    }

    /// The status of the same row with one more difference from fio.
    #[must_use]
    pub const fn deviating(self, kind: DeviationKind, how: &'static str) -> Self {
        let given = match self {
            Self::Deviates(given) => given,
            _ => Deviations { different: None, mended: None, stricter: None },
        };
        Self::Deviates(given.with(kind, how))
    }
}

/// What a difference from fio means for somebody who switches from fio to ferrio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviationKind {
    /// Both programs work, and the user sees another result.
    Different,
    /// In fio the case fails, hangs, crashes or is counted wrongly; ferrio handles it correctly.
    Mended,
    /// The program refuses a value or a case that fio ignores or misreads.
    Stricter,
}

impl DeviationKind {
    /// All kinds, the most important one for users first.
    pub const ALL: [Self; 3] = [Self::Different, Self::Mended, Self::Stricter];

    /// Its name in help and documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Different => "different result",
            Self::Mended => "mended",
            Self::Stricter => "stricter",
        }
    }
}

/// The differences of one row from fio: at most one text of each kind, which begins with a sentence of at most 25 words about what
/// a user sees; rare cases follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deviations {
    different: Option<&'static str>,
    mended: Option<&'static str>,
    stricter: Option<&'static str>,
}

impl Deviations {
    /// The text of a kind, if there is a difference of that kind.
    pub const fn of(self, kind: DeviationKind) -> Option<&'static str> {
        match kind {
            DeviationKind::Different => self.different,
            DeviationKind::Mended => self.mended,
            DeviationKind::Stricter => self.stricter,
        }
    }

    /// All texts with their kinds, in the order of [`DeviationKind::ALL`].
    pub fn texts(self) -> impl Iterator<Item = (DeviationKind, &'static str)> {
        DeviationKind::ALL.into_iter().filter_map(move |kind| Some((kind, self.of(kind)?)))
    }

    const fn with(mut self, kind: DeviationKind, how: &'static str) -> Self {
        assert!(self.of(kind).is_none(), "a row has one text of each kind");
        match kind {
            DeviationKind::Different => self.different = Some(how),
            DeviationKind::Mended => self.mended = Some(how),
            DeviationKind::Stricter => self.stricter = Some(how),
        }
        self
    }
}

/// Whether a run has the oddities of fio: roundings, limits and orders that jobs written for fio depend on, and that a tool
/// designed today would not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
pub enum Compatibility {
    /// A run that was described by fio's options has all of them.
    Fio,
    /// A run of a native command has none.
    #[default]
    Native,
}

impl Compatibility {
    /// True if the run has the oddities of fio.
    #[must_use]
    pub fn is_fio(self) -> bool {
        self == Self::Fio
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_in_the_order_of_the_kinds() {
        let status = Status::Supported.deviating(DeviationKind::Stricter, "s").deviating(DeviationKind::Different, "d");
        let Status::Deviates(deviations) = status else { panic!("{status:?}") };
        let texts: Vec<_> = deviations.texts().collect();
        assert_eq!(texts, [(DeviationKind::Different, "d"), (DeviationKind::Stricter, "s")]);
        assert_eq!(deviations.of(DeviationKind::Mended), None);
    }
}
