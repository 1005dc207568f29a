//! What a viewer is told, as values that cross a socket.
//!
//! Must not know: sockets, screens. Start reading at [`LiveFrame`].

use crate::live::totals::{JobTotals, measured_latency};
use ferrio_stats::{Histogram, JobIntervalStats, LatencyStat, Severity, full_percentiles};
use ferrio_units::{DataDirection, PerDirection};
use serde::{Deserialize, Serialize};

/// Something that a viewer is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum LiveFrame {
    /// The jobs of the run; first.
    Begin {
        /// The words of the command line, for the title.
        title: String,
        /// The jobs, in their order.
        jobs: Vec<JobName>,
        /// Block devices behind the jobs' files, by their names in `/sys/block`.
        devices: Vec<String>,
    },
    /// What all clones of a job did in an interval.
    Interval(JobInterval),
    /// What a job has done since its start, for viewers that count. Frames may be left out, so these are no differences.
    Totals(JobTotals),
    /// The state of the run.
    State(RunState),
    /// What the rules find so far; it replaces what they found before.
    Findings(Vec<FindingLine>),
    /// A line that the run has written, without its end.
    Message(String),
    /// A job has ended with all its clones.
    JobEnded {
        /// Its index.
        job: u32,
        /// Number of its clones that failed or were killed.
        n_failed: u32,
    },
    /// So many hosts of a fleet have come, before [`LiveFrame::Begin`].
    HostsComing {
        /// Number of those that are here.
        n_here: u32,
        /// Number of all.
        n_hosts: u32,
    },
    /// The names of the hosts by rank, where jobs run on several; behind [`LiveFrame::Begin`].
    Hosts(Vec<String>),
    /// What a job did on one host in an interval.
    HostInterval(HostInterval),
    /// A job has ended on a host, with all its clones there.
    HostJobEnded {
        /// Rank of the host.
        rank: u32,
        /// Index of the job.
        job: u32,
    },
    /// A host is lost.
    HostLost {
        /// Its rank.
        rank: u32,
        /// What is known of the reason.
        reason: String,
    },
    /// The run is over: it is behind all figures.
    End,
    /// The reports of the run, which come when it is over; for viewers that show them.
    Reports(FinalReports),
}

/// The reports of a run that is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinalReports {
    /// ferrio's own report as JSON.
    pub document: String,
    /// The page with charts, as HTML.
    pub page: String,
}

/// A job with its clones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobName {
    /// Its name.
    pub name: String,
    /// Number of clones.
    pub n_clones: u32,
    /// The directions in which it does I/O; none where that is not known.
    pub directions: PerDirection<bool>,
}

/// What all clones of a job did in an interval: of [`JobIntervalStats`] only what viewers show, because frames wait in bounded memory for a
/// viewer that is slow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobInterval {
    /// Index of the job.
    pub job: u32,
    /// Start of the earliest clone's interval, nanoseconds since the start of the run.
    pub start_ns: u64,
    /// End of the latest clone's interval.
    pub end_ns: u64,
    /// By direction.
    pub directions: PerDirection<DirectionInterval>,
    /// Filled buckets of the latencies of syncs of any kind, by index.
    pub sync_latency: Vec<(u16, u64)>,
}

/// One direction in an interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DirectionInterval {
    /// I/Os a second: the sum of the clones' rates.
    pub iops: f64,
    /// Bytes a second: the sum of the clones' rates.
    pub bw_bytes: f64,
    /// Sum of the latencies, nanoseconds.
    pub latency_sum_ns: u64,
    /// Filled buckets of the latency, by index. Completion latencies, or total ones where the job measures percentiles of those.
    pub latency: Vec<(u16, u64)>,
}

impl JobInterval {
    /// What viewers show of the figures of all clones of the job at this index.
    pub fn new(job: u32, clones: &JobIntervalStats) -> Self {
        let stats = &clones.sum.stats;
        let direction = |direction: DataDirection| {
            let latency = measured_latency(&stats.directions[direction]);
            DirectionInterval {
                iops: clones.iops[direction],
                bw_bytes: clones.bw_bytes[direction],
                latency_sum_ns: u64::try_from(latency.sum_ns).unwrap_or(u64::MAX),
                latency: buckets(latency),
            }
        };
        Self {
            job,
            start_ns: clones.sum.start_ns,
            end_ns: clones.sum.end_ns,
            directions: PerDirection(DataDirection::ALL.map(direction)),
            sync_latency: buckets(&stats.sync),
        }
    }
}

/// What the clones of a job on one host did in an interval, in all directions together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HostInterval {
    /// Rank of the host.
    pub rank: u32,
    /// Index of the job.
    pub job: u32,
    /// Start of the earliest clone's interval, nanoseconds since the start of the host's run.
    pub start_ns: u64,
    /// End of the latest clone's interval.
    pub end_ns: u64,
    /// I/Os a second: the sum of the clones' rates.
    pub iops: f64,
    /// Bytes a second: the sum of the clones' rates.
    pub bw_bytes: f64,
    /// Latency of 99 % of the I/Os, nanoseconds; `None`: none was measured.
    pub p99_ns: Option<u64>,
}

impl HostInterval {
    /// What viewers show of the figures of all clones that the host with this rank has of the job at this index.
    pub fn new(rank: u32, job: u32, clones: &JobIntervalStats) -> Self {
        let mut latencies = Histogram::default();
        for direction in &clones.sum.stats.directions.0 {
            measured_latency(direction).histogram.iter().for_each(|histogram| latencies.merge(histogram));
        }
        let p99 = full_percentiles(&latencies, &[99.0]).first().map(|(_, latency_ns)| *latency_ns);
        Self {
            rank,
            job,
            start_ns: clones.sum.start_ns,
            end_ns: clones.sum.end_ns,
            iops: clones.iops.0.iter().sum(),
            bw_bytes: clones.bw_bytes.0.iter().sum(),
            p99_ns: p99.filter(|_| latencies.n_samples() > 0),
        }
    }
}

/// The filled buckets. Their number is below 2^16.
fn buckets(latency: &LatencyStat) -> Vec<(u16, u64)> {
    let filled = latency.histogram.iter().flat_map(Histogram::filled);
    filled.filter_map(|(index, count)| Some((u16::try_from(index).ok()?, count))).collect()
}

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct RunState {
    /// Number of workers that run.
    pub n_running: u32,
    /// Time left, seconds; `None`: not known.
    pub eta_secs: Option<u64>,
    /// All jobs are in their ramp time: nothing is counted yet.
    pub only_ramps: bool,
}

/// A finding in one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingLine {
    /// Its severity.
    pub severity: Severity,
    /// Its title.
    pub title: String,
    /// The jobs that it is about.
    pub jobs: Vec<String>,
}
