//! What is measured: latency, counters, depths, samples, and the model of a finished run.
//!
//! Must not know: output formats, engines, how jobs run.
//! Start reading at [`thread_stats`] (what one worker counts), then [`result`] (what a report is made from).
#![forbid(unsafe_code)]

pub mod block_states;
mod counts;
pub mod depth;
mod difference;
pub mod eta;
pub mod histogram;
pub mod idleness;
pub mod latency;
pub mod log;
pub mod messages;
pub mod percentile;
pub mod priority;
pub mod provenance;
mod replay;
pub mod result;
pub mod samples;
pub mod steady_state;
pub mod stretch;
pub mod thread_stats;
mod verify;

pub use block_states::{BlockState, BlockStates};
pub use depth::{BatchCounts, DepthCounts};
pub use eta::{EtaLimits, EtaSnapshot};
pub use histogram::Histogram;
pub use idleness::{CpuIdleness, CpuShare};
pub use latency::{LatencyBuckets, LatencyStat};
pub use log::{HistogramRow, LogColumns, LogFile, LogId, LogKind, LogRow, LogSink};
pub use messages::{MessageStream, Messages, ReportMessage};
pub use percentile::{full_percentiles, percentiles};
pub use priority::{PriorityStat, PriorityStats};
pub use provenance::Provenance;
pub use replay::ReplayStats;
pub use result::{DiskCounters, DiskReport, GroupDirection, GroupReport, JobReport, ReportSettings, RunResult};
pub use samples::SampleStat;
pub use steady_state::{SteadyCriterion, SteadyMetric, SteadySample, SteadyState};
pub use stretch::{JobEnd, Stretch};
pub use thread_stats::{DirectionStats, ErrorCounts, LatencyTarget, ResourceUsage, ThreadStats};
pub use verify::VerifyStats;
