//! In whose words a sentence is shown: some have marks that only fio has (its name before a line, a place in the source).
//!
//! Must not know: sentences. Start reading at [`Wording`].

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wording {
    /// Those of fio, to the letter: in its place, programs read them.
    Fio,
    /// Those of native commands and of the library.
    Own,
}

impl Wording {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Fio, Self::Own];

    /// The beginning of a line to which fio gives its name; empty in ferrio's own words.
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Fio => "fio: ",
            Self::Own => "",
        }
    }
}
