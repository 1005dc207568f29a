//! Storage measured from a program of your own: jobs with the options of fio, figures that are exact, and an audit that says where a
//! figure does not mean what its name says.
//!
//! A [`Runner`] has jobs and runs them; a [`Job`] is a name with options, written as in a job file of fio. The result is a
//! [`Measurement`]: figures of each job, and the findings of the audit. [`read`] makes measurements of files too (reports of fio and of
//! ferrio in JSON, JSON lines, performance logs, saved records), and [`compare`] tells whether two of them differ.
//!
//! ```
//! use ferrio::{Io, Job, Runner};
//!
//! # fn main() -> Result<(), ferrio::Error> {
//! let job = Job::new("readers")
//!     .option("ioengine", "sim")
//!     .option("filename", "device")
//!     .option("rw", "randread")
//!     .option("size", "1g")
//!     .option("number_ios", "1000");
//! let mut runner = Runner::new();
//! runner.add(&job)?;
//! # runner.virtual_time(true);
//! let measured = runner.run()?;
//! assert_eq!(measured.n_failed(), 0, "{:?}", measured.messages());
//! let reads = measured.job("readers").and_then(|job| job.figures(Io::Read)).expect("the job reads");
//! let p99 = reads.latency().and_then(|latency| latency.percentile(99.0)).expect("1,000 samples");
//! println!("{:.0} reads a second, p99 {:?}", reads.ios_per_sec(), p99.latency);
//! for finding in measured.findings() {
//!     println!("{finding} {}", finding.cure());
//! }
//! # assert_eq!(reads.n_ios(), 1000);
//! # Ok(())
//! # }
//! ```
//!
//! # Options
//!
//! Options, their values and their defaults are those of fio. [`option_help`] has what an option does and takes, [`engine_help`] the options
//! of one engine. A job needs a target (`filename` or `directory`) and a `size`; it ends when it has done its size, or after `number_ios`
//! I/Os. For a job that lasts a time, give `runtime` (seconds, or with a unit: `500ms`) together with `time_based`, which starts over
//! when the size is done.
//!
//! The engine `sim` is a device that exists in memory alone. Its service times are known, so it shows what a program makes of figures:
//!
//! | option | value | default |
//! |---|---|---|
//! | `sim_service` | how long a channel works on an I/O: `fixed:T`, `uniform:T-T`, `exponential:MEAN` or `lognormal:MEDIAN/SIGMA`; times have a unit (`80us`) | `fixed:100us` |
//! | `sim_channels` | I/Os that it serves at the same time. Further ones wait: with one channel and `iodepth` 8 an I/O takes 8 service times | 1 |
//!
//! [`Runner::virtual_time`] lets such jobs run without waiting, and their figures are exact.
//!
//! # What a run does to the program around it
//!
//! Nothing here prints, ends the program, catches signals or has global state: several runs in one program, one after the other or side by
//! side, do not know of each other. Jobs are threads of the program; [`Runner::processes`] makes them processes, as fio's are. A run ends
//! when its jobs have ended, or when a [`Stopper`] says so from another thread.
//!
//! Jobs write to the targets that their options name, as `ferrio run` does. A device that is mounted or held is refused.
//!
//! # The program
//!
//! The feature `cli`, which is on by default, builds the program `ferrio`. A program that uses the library alone depends on
//! `ferrio = { version = "...", default-features = false }`.
// Users read the documentation of this crate, and of no other.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod comparison;
mod error;
mod files;
mod findings;
pub mod fit;
#[cfg(feature = "fleet")]
pub mod fleet;
mod help;
#[cfg(feature = "history")]
pub mod history;
mod interval;
mod io_figures;
mod job;
#[cfg(feature = "cli")]
pub mod live;
mod measurement;
pub mod own;
pub mod precondition;
pub mod profile;
mod runner;
pub mod session;
pub mod sweep;

#[doc(inline)]
pub use comparison::{ChangedFigure, compare};
#[doc(inline)]
pub use error::LibraryError as Error;
#[doc(inline)]
pub use error::RunFault;
#[doc(inline)]
pub use ferrio_insight::compare::ComparisonVerdict;
#[doc(inline)]
pub use ferrio_job::origin::Origin;
#[doc(inline)]
pub use ferrio_job::{Diagnostic, DiagnosticKind};
#[doc(inline)]
pub use ferrio_stats::{IoKind as Io, Severity};
#[doc(inline)]
pub use ferrio_units::DataDirection;
#[doc(inline)]
pub use files::read;
#[doc(inline)]
pub use findings::{AuditFinding, UnexaminedSubject};
#[doc(inline)]
pub use help::{engine_help, option_help};
#[doc(inline)]
pub use interval::IntervalOfJob;
#[doc(inline)]
pub use io_figures::{IoFigures, IoLatency, LatencyPercentile};
#[doc(inline)]
pub use job::Job;
#[doc(inline)]
pub use measurement::{JobMeasurement, Measurement};
#[doc(inline)]
pub use runner::{Runner, Stopper};
