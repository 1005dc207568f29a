//! What the times of a series count from.
//!
//! Must not know: figures. Start reading at [`TimeBase`].

/// What the times of a series count from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TimeBase {
    /// The start of the run with this number: all of its jobs have one clock.
    Run(u32),
    /// The start of jobs that began together; when this was, is unknown.
    Start {
        run: u32,
        /// Number of these jobs within the run.
        together: u32,
    },
    /// 1970 began: the wall clock.
    Wall,
    /// Nothing is known.
    #[default]
    Unknown,
}

impl TimeBase {
    /// The number of the run, if it is known.
    pub fn run(self) -> Option<u32> {
        match self {
            Self::Run(run) | Self::Start { run, .. } => Some(run),
            Self::Wall | Self::Unknown => None,
        }
    }

    /// True if equal times on both are the same moment.
    pub fn is_one_with(self, other: Self) -> bool {
        self == other && self != Self::Unknown
    }
}
