//! Results of runs, read from files: reports (JSON, text, terse) and performance logs, of fio and of ferrio, and records of ferrio.
//! All become one model, [`RunResult`].
//!
//! The bytes of a file are not trusted: reading any bytes gives either a result that can be shown, or an error that names
//! the file, the line and the reason. Memory is bounded by [`SeriesLimits`], whatever the length of a file. The readers of formats are beside
//! their writers; [`read`] chooses one. Must not know: how results are shown or compared. Start reading at [`read`], then [`RunResult`].

mod anonymous;
pub(crate) mod error;
pub(crate) mod figure;
mod file;
mod heat;
mod jobs_together;
pub(crate) mod model;
pub(crate) mod provenance;
mod recorded;
mod series;
mod source;
pub(crate) mod text;

pub use error::{ReadError, ReadErrorKind};
pub use ferrio_stats::{Figures, IoKind, LatencyFigures, LatencyKind, Percentile, SampledRate};
pub use file::ResultFile;
pub use heat::{LatencyCounts, LatencyHeat};
pub use model::{
    CpuFigures, DiskFigures, HostResult, JobResult, LatencyClass, ReportGaps, RunResult, Shares, SteadyOutcome,
};
pub use recorded::of_record;
pub use series::{
    JoinFigures, NotTogether, Quantity, SeriesLimits, TimeBase, TimeBin, TimeInterval, TimeIntervals, TimeSeries,
    average, together,
};
pub use source::{read, read_files};
