//! What storage can do, in one report: latency alone and under load, IOPS and bandwidth by block size and depth, mixed loads, syncs, the course of long runs, and what
//! the page cache adds.
//!
//! Each part is a small sweep over a file of its own (or, with reads alone, over a device). Must not know: terminals, signals, pages. Start reading at
//! [`SECTIONS`], then [`Profiling`] and [`ProfileOutcome`].

mod error;
mod outcome;
mod profiling;
mod section;
mod sheet;

pub use error::ProfileError;
pub use outcome::{ProfileFinding, ProfileOutcome, SectionOutcome};
pub use profiling::{ProfileTarget, Profiling};
pub use section::{ProfileSection, SECTIONS};
pub use sheet::SheetRow;
