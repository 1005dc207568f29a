//! Whether storage is good enough for a program: recipes of loads and limits, runs of the loads, and a verdict for each limit.
//!
//! A recipe is a file of data (TOML). Its limits have sources; a recipe without limits only describes. Must not know: terminals, signals, how a verdict is
//! shown. Start reading at [`Recipe`], then [`Fitting`] and [`FitOutcome`].

mod catalogue;
mod check;
mod disturbed;
mod error;
mod fitting;
mod headroom;
mod outcome;
mod rate_shortfall;
mod recipe;
mod runs;
mod scale;
mod tail;
mod together;

pub use catalogue::{Catalogue, NAMES};
pub use check::CheckOutcome;
pub use disturbed::DisturbedRuns;
pub use error::{FitError, FitLimitFault, RecipeFault};
pub use ferrio_insight::limits::{FitBound, FitVerdict, LimitSource};
pub use fitting::Fitting;
pub use headroom::Headroom;
pub use outcome::{FitOutcome, LoadOutcome};
pub use rate_shortfall::RateShortfall;
pub use recipe::{FitLimit, FitLoad, FitTrace, Recipe, TracedFigure};
pub use scale::NotScaled;
pub use tail::ShareBeyond;
pub use together::IosTogether;
