//! Figures of runs: latency, counters, depths, samples, and the record of a finished run.
//!
//! Must not know: output formats, engines, how jobs run.
//! Start reading at [`thread_stats`] (the counts of a worker), then [`record`] (the record of a run).
#![forbid(unsafe_code)]

pub mod anonymous;
pub mod block_states;
pub mod clones;
mod counts;
pub mod depth;
mod difference;
pub mod eta;
pub mod evidence;
mod failure;
pub mod feature_stats;
mod figures;
mod finding;
pub mod histogram;
pub mod idleness;
pub mod latency;
pub mod log;
pub mod messages;
mod metric;
pub mod note;
mod object_requests;
pub mod percentile;
pub mod precision;
pub mod priority;
pub mod provenance;
pub mod record;
mod replay;
pub mod resource_usage;
pub mod samples;
pub mod series;
mod server_steps;
mod settings;
pub mod steady_state;
pub mod stretch;
pub mod thread_stats;
mod verify;
pub mod wire;

pub use anonymous::Anonymizer;
pub use block_states::{BlockState, BlockStates};
pub use clones::{ClonesTogether, JobIntervalStats};
pub use depth::{BatchCounts, DepthCounts};
pub use eta::{EtaLimits, EtaSnapshot};
pub use evidence::{
    BackingFile, BackingPart, CacheCourse, CpuTimes, DeviceCache, DeviceLink, DiskCounters, DiskRecord, DriveHeat,
    EarlierRun, Evidence, ExtentBytes, FileCache, Heat, HostClock, HostCpu, IoCounters, JobTargets, LaidOver,
    LayerKind, MemoryCopy, PageCache, PartitionPlace, Pressure, ProcessIo, ReadSample, Reading, Stall, Stalls,
    StorageLayer, StoredBytes, TargetAlias, TargetKind, TargetPlace, TargetSize, Throttling, WorkerIo,
};
pub use failure::{FailedStep, Failure, OTHER_DATA};
pub use feature_stats::{FeatureStats, ForeignDatagrams, RateStats};
pub use figures::{Figures, IoKind, JobFigures, LatencyFigures, LatencyKind, Percentile, SampledRate, per_second};
pub use finding::{Audit, Finding, FindingDirection, Measured, Severity, Unexamined, Unit};
pub use histogram::Histogram;
pub use idleness::{CpuIdleness, CpuShare};
pub use latency::{LatencyBuckets, LatencyStat};
pub use log::{HistogramRow, LogColumns, LogFile, LogId, LogKind, LogRow, LogSink};
pub use messages::{MessageStream, ReportMessage, RunMessages};
pub use metric::{FigureName, FigureSubject, Metric, MetricUnit, MetricValueFault, NoFigure};
pub use note::Note;
pub use object_requests::{ObjectRequest, ObjectRequestKind, ObjectRequests, RequestFigures};
pub use percentile::{full_percentiles, has_few_beyond, percentiles};
pub use precision::{Confidence, Estimate, ImprecisionReason, JobPrecision};
pub use priority::{PriorityStat, PriorityStats};
pub use provenance::Provenance;
pub use record::{RECORD_FORMAT, RecordOrigin, RunRecord, SteadyPart, WorkerFate, WorkerPriority, WorkerRecord};
pub use replay::ReplayStats;
pub use resource_usage::{CpuTurns, HelperUsage, ResourceUsage};
pub use samples::SampleStat;
pub use series::{DirectionSeries, JobSeries, StretchTimes};
pub use server_steps::{NetworkFigures, ServerSteps};
pub use settings::ReportSettings;
pub use steady_state::{SteadySample, SteadyState};
pub use stretch::{IntervalStats, JobEnd, LoggedEvent};
pub use thread_stats::{DirectionStats, ErrorCounts, LatencySearch, LatencyTarget, ThreadStats, bw_bytes_per_sec};
pub use verify::VerifyStats;
