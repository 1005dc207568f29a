//! Figures of runs: latency, counters, depths, samples, and the record of a finished run.
//!
//! Must not know: output formats, engines, how jobs run.
//! Start reading at [`thread_stats`] (the counts of a worker), then [`record`] (the record of a run).
#![forbid(unsafe_code)]

mod counters;
mod course;
mod distribution;
mod figures;
mod findings;
mod metric;
pub mod note;
mod records;
pub mod thread_stats;
pub mod wire;

pub use counters::block_states::{BlockState, BlockStates};
pub use counters::depth::{BatchCounts, DepthCounts};
pub use counters::draws::{DrawCounts, FileTurns, HotDraws};
pub use counters::feature_stats::{FeatureStats, ForeignDatagrams, RateStats};
pub use counters::idleness::{CpuIdleness, CpuShare};
pub use counters::object_requests::{ObjectRequest, ObjectRequestKind, ObjectRequests, RequestFigures};
pub use counters::priority::{PriorityStat, PriorityStats};
pub use counters::replay::{ReplayStats, VerifyStats};
pub use counters::resource_usage::{HelperUsage, ResourceUsage};
pub use counters::server_steps::{NetworkFigures, ServerSteps};
pub use counters::steady_state::{SteadySample, SteadyState};
pub use counters::{block_states, depth, feature_stats, idleness, priority, resource_usage, steady_state};
pub use course::eta::{EtaLimits, EtaSnapshot};
pub use course::log::{HistogramRow, LogColumns, LogFile, LogId, LogKind, LogRow, LogSink};
pub use course::series::halved;
pub use course::series::{DirectionSeries, JobSeries, StretchTimes};
pub use course::stretch::{IntervalStats, JobEnd, LoggedEvent, StretchHost};
pub use course::{eta, log, series, stretch};
pub use distribution::histogram::Histogram;
pub use distribution::latency::{LatencyBuckets, LatencyStat};
pub use distribution::percentile::{full_percentiles, has_few_beyond, percentiles};
pub use distribution::precision::{Confidence, Estimate, ImprecisionReason, JobPrecision};
pub use distribution::samples::SampleStat;
pub use distribution::{histogram, latency, percentile, precision, samples};
pub use ferrio_sys::extents::ExtentBytes;
pub use ferrio_sys::limits::CpuTurns;
pub use figures::{
    Figures, IoKind, JobFigures, LEAST_IOS_OF_RATE, LEAST_NS_OF_RATE, LatencyFigures, LatencyKind, Percentile,
    SampledRate, per_second,
};
pub use findings::accounts::{
    Accounts, BytesAccount, EndedBy, JobAccount, LevelBytes, OptionAccount, OptionOutcome, RunEnding, TimeAccount,
    TimeCounts, TimePart,
};
pub use findings::failure::{ErrorCause, FailedStep, Failure, OTHER_DATA};
pub use findings::finding::{Audit, Finding, Measured, Severity, Unexamined, Unit};
pub use findings::messages;
pub use findings::messages::{MessageStream, ReportMessage, RunMessages};
pub use metric::{FigureName, FigureSubject, Metric, MetricUnit, MetricValueFault, NoFigure};
pub use note::Note;
pub use records::anonymous::Anonymizer;
pub use records::clones::{ClonesTogether, JobIntervalStats};
pub use records::evidence::{
    BackingFile, BackingPart, CacheCourse, CpuTimes, DeviceCache, DeviceLink, DiskCounters, DiskRecord, DriveHeat,
    EarlierRun, Evidence, FileCache, Heat, HostClock, HostCpu, IoCounters, JobTargets, LaidOver, LayerKind, MemoryCopy,
    PageCache, PartitionPlace, Pressure, ProcessIo, ReadSample, Reading, Stall, Stalls, StartObstacle, StorageLayer,
    StoredBytes, TargetAlias, TargetKind, TargetPlace, TargetSize, Throttling, WorkerIo,
};
pub use records::hosts::{HostPart, HostsTogether};
pub use records::places::{HostPlaces, PartitionedRange, SharedPlace, UsedPlace};
pub use records::provenance::Provenance;
pub use records::record::{
    RECORD_FORMAT, RecordOrigin, RunRecord, SteadyPart, WorkerFate, WorkerPriority, WorkerRecord,
};
pub use records::reported::{
    DiskGap, DiskRequests, ReportedClass, ReportedFacts, ReportedMisfit, ReportedRate, ReportedRow, ReportedStatistic,
    ReportedSteady,
};
pub use records::settings::ReportSettings;
pub use records::{anonymous, clones, evidence, provenance, record};
pub use thread_stats::{DirectionStats, ErrorCounts, LatencySearch, LatencyTarget, ThreadStats, bw_bytes_per_sec};
