//! Many runs of the same jobs: repeated, or with other values of some options. Each run is a session and a record like any other.
//!
//! A sweep has a folder, which holds its plan and a record for each run. A record appears in it when it is whole, so that a sweep that was killed at
//! any moment goes on where it was. Must not know: terminals, signals, how outcomes are shown. Start reading at [`SweepPlan`], then
//! [`SweepFolder`] and [`outcome`].

mod error;
mod expected;
mod folder;
pub mod limit;
mod making;
mod open_loop;
pub mod outcome;
mod own_numbers;
mod plan;
mod session;
pub mod space;
mod until;

pub use error::{PlanFault, SweepError};
pub use expected::longest;
pub use ferrio_stats::NoFigure;
pub use folder::{OpenSweep, SweepFolder};
pub use making::SweptJobs;
pub use open_loop::{OPEN_LOOP_SHARES, OpenLoop};
pub use own_numbers::with_own_numbers;
pub use plan::{AroundRuns, JobsOfPlan, SweepPlan, SweepStep};
pub use session::{check, session_at};
pub use until::{FEWEST_RUNS, UntilError, UntilKnown};
