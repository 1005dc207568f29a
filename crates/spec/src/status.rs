//! Status of an engine or an option in ferrio.
//!
//! Must not know: which engines and options exist. Start reading at [`Status`].

/// Status of an engine, an option, or one value of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Works as in fio.
    Supported,
    /// Works, with a difference that the text names.
    Deviates(&'static str),
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
}
