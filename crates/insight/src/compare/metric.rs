//! The figures of a job that are compared.
//!
//! Must not know: how they are compared. Start reading at [`ComparedMetric`].

use ferrio_formats::{Figures, LatencyFigures, LatencyKind};
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
    /// 95th percentile.
    #[serde(rename = "p95")]
    P95,
    /// 99th percentile.
    #[serde(rename = "p99")]
    P99,
    /// 99.9th percentile.
    #[serde(rename = "p99.9")]
    P999,
    /// 99.99th percentile.
    #[serde(rename = "p99.99")]
    P9999,
    /// The longest latency, nanoseconds.
    #[serde(rename = "max")]
    Max,
}

impl ComparedMetric {
    /// All, in the order of the table.
    pub const ALL: [Self; 9] = [
        Self::Iops,
        Self::Bandwidth,
        Self::MeanLatency,
        Self::P50,
        Self::P95,
        Self::P99,
        Self::P999,
        Self::P9999,
        Self::Max,
    ];

    /// Its name in tables, in JSON and in conditions.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Iops => "iops",
            Self::Bandwidth => "bw",
            Self::MeanLatency => "mean",
            Self::P50 => "p50",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::P999 => "p99.9",
            Self::P9999 => "p99.99",
            Self::Max => "max",
        }
    }

    /// The percentage of a percentile.
    pub const fn percent(self) -> Option<f64> {
        match self {
            Self::Iops | Self::Bandwidth | Self::MeanLatency | Self::Max => None,
            Self::P50 => Some(50.0),
            Self::P95 => Some(95.0),
            Self::P99 => Some(99.0),
            Self::P999 => Some(99.9),
            Self::P9999 => Some(99.99),
        }
    }

    /// True for figures that all I/Os of a run make; the others depend on some of them.
    pub const fn is_of_all(self) -> bool {
        matches!(self, Self::Iops | Self::Bandwidth | Self::MeanLatency)
    }

    /// It is a time, nanoseconds: less is better.
    pub const fn is_latency(self) -> bool {
        !matches!(self, Self::Iops | Self::Bandwidth)
    }

    /// The figure as reported, with the latency of this kind; `None`: the report does not have it.
    pub(super) fn reported(self, figures: &Figures, kind: LatencyKind) -> Option<f64> {
        self.of(figures, of_kind(figures, kind))
    }

    /// The figure with this latency; `None`: there is none. Rates are per second, latencies nanoseconds.
    pub fn of(self, figures: &Figures, latency: Option<&LatencyFigures>) -> Option<f64> {
        match self {
            Self::Iops => Some(figures.ios_per_sec),
            Self::Bandwidth => Some(figures.bytes_per_sec),
            Self::MeanLatency => latency.map(|latency| latency.mean_ns),
            Self::Max => latency.map(|latency| latency.max_ns as f64),
            Self::P50 | Self::P95 | Self::P99 | Self::P999 | Self::P9999 => {
                let value_ns = latency?.percentile(self.percent()?)?.latency_ns;
                Some(value_ns as f64)
            }
        }
    }

    /// True if the figure is a percentile beyond which there are too few I/Os.
    pub(super) fn is_doubtful(self, figures: &Figures, kind: LatencyKind) -> bool {
        let found = self.percent().and_then(|percent| of_kind(figures, kind)?.percentile(percent));
        found.is_some_and(|found| found.is_doubtful)
    }
}

const fn of_kind(figures: &Figures, kind: LatencyKind) -> Option<&LatencyFigures> {
    match kind {
        LatencyKind::Submission => figures.slat.as_ref(),
        LatencyKind::Completion => figures.clat.as_ref(),
        LatencyKind::Total => figures.lat.as_ref(),
        LatencyKind::Response => figures.response.as_ref(),
    }
}
