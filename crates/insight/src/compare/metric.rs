//! The figures of a job that are compared.
//!
//! Must not know: how they are compared. Start reading at [`ComparedMetric`].

use ferrio_results::{Figures, LatencyKind};
use serde::Serialize;

/// A figure of one direction of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum ComparedMetric {
    /// I/Os per second.
    #[serde(rename = "iops")]
    Iops,
    /// Bytes per second.
    #[serde(rename = "bw")]
    Bandwidth,
    /// Mean latency, nanoseconds.
    #[serde(rename = "mean")]
    MeanLatency,
    /// 50th percentile of the latency, nanoseconds.
    #[serde(rename = "p50")]
    P50,
    /// 99th percentile.
    #[serde(rename = "p99")]
    P99,
    /// 99.9th percentile.
    #[serde(rename = "p99.9")]
    P999,
}

impl ComparedMetric {
    /// All, in the order of the table.
    pub const ALL: [Self; 6] = [Self::Iops, Self::Bandwidth, Self::MeanLatency, Self::P50, Self::P99, Self::P999];

    /// Its name in tables, in JSON and in conditions.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Iops => "iops",
            Self::Bandwidth => "bw",
            Self::MeanLatency => "mean",
            Self::P50 => "p50",
            Self::P99 => "p99",
            Self::P999 => "p99.9",
        }
    }

    /// The percentage of a percentile.
    pub const fn percent(self) -> Option<f64> {
        match self {
            Self::Iops | Self::Bandwidth | Self::MeanLatency => None,
            Self::P50 => Some(50.0),
            Self::P99 => Some(99.0),
            Self::P999 => Some(99.9),
        }
    }

    /// It is a time, nanoseconds: less is better.
    pub const fn is_latency(self) -> bool {
        !matches!(self, Self::Iops | Self::Bandwidth)
    }

    /// The figure as reported, with the latency of this kind; `None`: the report does not have it.
    pub(super) fn reported(self, figures: &Figures, kind: LatencyKind) -> Option<f64> {
        let latency = if kind == LatencyKind::Completion { figures.clat.as_ref() } else { figures.lat.as_ref() };
        match self {
            Self::Iops => Some(figures.ios_per_sec),
            Self::Bandwidth => Some(figures.bytes_per_sec),
            Self::MeanLatency => latency.map(|latency| latency.mean_ns),
            Self::P50 | Self::P99 | Self::P999 => {
                let value_ns = latency?.percentile(self.percent()?)?.latency_ns;
                Some(value_ns as f64)
            }
        }
    }
}
