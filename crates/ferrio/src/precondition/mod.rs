//! Puts storage into the state in which its figures stay the same: it is filled (or read) once or more, and then carries a load in rounds until the rounds
//! are steady.
//!
//! The work has a folder with its plan and its progress, so that it goes on after any end. Must not know: terminals, signals, how an outcome is shown.
//! Start reading at [`PreconditionPlan`], then [`OpenPrecondition`] and [`SteadyWindow`].

mod contents;
mod error;
mod filling;
mod folder;
mod jobs;
mod plan;
mod steady;
mod target;
mod work;

pub use error::{PreconditionError, TargetFault};
pub use folder::{OpenPrecondition, PreconditionProgress, PreconditionRound};
pub use plan::{PreconditionPlan, PreconditionWay};
pub use steady::{SteadyWindow, WINDOW};
pub use target::PreconditionTarget;
pub use work::PreconditionEnding;
