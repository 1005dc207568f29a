//! The figures that tables, pages, comparisons, conditions and limits are about: one row each, with all that is to be known of it.
//!
//! Must not know: which of them a table shows, how they are compared. Start reading at [`METRICS`].

mod figure_name;
mod unit;

pub use figure_name::{FigureName, FigureSubject, NoFigure};
pub use unit::{MetricUnit, MetricValueFault};

use crate::{Estimate, Figures, JobPrecision, LatencyFigures, Percentile};
use serde::{Serialize, Serializer};

/// A figure of one kind of I/O of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// I/Os per second.
    Iops,
    /// Bytes per second.
    Bandwidth,
    /// Mean latency, nanoseconds.
    MeanLatency,
    /// 50th percentile of the latency, nanoseconds.
    P50,
    /// 95th percentile.
    P95,
    /// 99th percentile.
    P99,
    /// 99.9th percentile.
    P999,
    /// 99.99th percentile.
    P9999,
    /// The longest latency, nanoseconds.
    Max,
}

/// How a figure is read.
#[derive(Debug, Clone, Copy)]
enum MetricReading {
    Rate(fn(&Figures) -> f64),
    Latency(fn(&LatencyFigures) -> f64),
    /// The latency that this percentage of the I/Os does not exceed.
    Percentile(f64),
}

struct MetricRow {
    metric: Metric,
    /// The name in conditions, limits and JSON.
    id: &'static str,
    /// The name above a column; that of a rate is its unit.
    heading: &'static str,
    /// The name above a column that programs read, with the unit of the values.
    column: &'static str,
    title: &'static str,
    unit: MetricUnit,
    reading: MetricReading,
    /// The interval that covers it; `None`: results do not tell one.
    precision: Option<fn(&JobPrecision) -> Estimate>,
}

/// All figures, in the order of a comparison.
static METRICS: [MetricRow; Metric::ALL.len()] = [
    MetricRow {
        metric: Metric::Iops,
        id: "iops",
        heading: "IOPS",
        column: "iops",
        title: "IOPS",
        unit: MetricUnit::IosPerSecond,
        reading: MetricReading::Rate(|figures| figures.ios_per_sec),
        precision: Some(|precision| precision.ios_per_sec),
    },
    MetricRow {
        metric: Metric::Bandwidth,
        id: "bw",
        heading: "MB/s",
        column: "bytes_per_sec",
        title: "Bandwidth",
        unit: MetricUnit::BytesPerSecond,
        reading: MetricReading::Rate(|figures| figures.bytes_per_sec),
        precision: Some(|precision| precision.bytes_per_sec),
    },
    MetricRow {
        metric: Metric::MeanLatency,
        id: "mean",
        heading: "mean",
        column: "mean_ns",
        title: "Mean latency",
        unit: MetricUnit::Nanoseconds,
        reading: MetricReading::Latency(|latency| latency.mean_ns),
        precision: Some(|precision| precision.mean_ns),
    },
    MetricRow {
        metric: Metric::P50,
        id: "p50",
        heading: "p50",
        column: "p50_ns",
        title: "50th percentile of latency",
        unit: MetricUnit::Nanoseconds,
        reading: MetricReading::Percentile(50.0),
        precision: Some(|precision| precision.p50_ns),
    },
    MetricRow {
        metric: Metric::P95,
        id: "p95",
        heading: "p95",
        column: "p95_ns",
        title: "95th percentile of latency",
        unit: MetricUnit::Nanoseconds,
        reading: MetricReading::Percentile(95.0),
        precision: None,
    },
    MetricRow {
        metric: Metric::P99,
        id: "p99",
        heading: "p99",
        column: "p99_ns",
        title: "99th percentile of latency",
        unit: MetricUnit::Nanoseconds,
        reading: MetricReading::Percentile(99.0),
        precision: Some(|precision| precision.p99_ns),
    },
    MetricRow {
        metric: Metric::P999,
        id: "p99.9",
        heading: "p99.9",
        column: "p999_ns",
        title: "99.9th percentile of latency",
        unit: MetricUnit::Nanoseconds,
        reading: MetricReading::Percentile(99.9),
        precision: Some(|precision| precision.p999_ns),
    },
    MetricRow {
        metric: Metric::P9999,
        id: "p99.99",
        heading: "p99.99",
        column: "p9999_ns",
        title: "99.99th percentile of latency",
        unit: MetricUnit::Nanoseconds,
        reading: MetricReading::Percentile(99.99),
        precision: None,
    },
    MetricRow {
        metric: Metric::Max,
        id: "max",
        heading: "max",
        column: "max_ns",
        title: "Longest latency",
        unit: MetricUnit::Nanoseconds,
        reading: MetricReading::Latency(|latency| latency.max_ns as f64),
        precision: None,
    },
];

impl Metric {
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

    pub const PERCENTILES: [Self; 3] = [Self::P50, Self::P99, Self::P999];

    const fn row(self) -> &'static MetricRow {
        &METRICS[self as usize]
    }

    /// The figure of this name in conditions, limits and JSON.
    pub fn named(id: &str) -> Option<Self> {
        METRICS.iter().find(|row| row.id == id).map(|row| row.metric)
    }

    /// The names of some figures, for those who look for one: `mean, p50, max`.
    pub fn names(is_wanted: fn(Self) -> bool) -> String {
        let wanted = Self::ALL.into_iter().filter(|metric| is_wanted(*metric));
        wanted.map(Self::name).collect::<Vec<_>>().join(", ")
    }

    /// Its name in conditions, limits and JSON: `bw`.
    pub const fn name(self) -> &'static str {
        self.row().id
    }

    /// Its name above a column of cells as [`Self::cell`] makes them: `MB/s`.
    pub const fn heading(self) -> &'static str {
        self.row().heading
    }

    /// Its name above a column that programs read: `bytes_per_sec`.
    pub const fn column(self) -> &'static str {
        self.row().column
    }

    /// Its name above a chart: `Bandwidth`.
    pub const fn title(self) -> &'static str {
        self.row().title
    }

    pub const fn unit(self) -> MetricUnit {
        self.row().unit
    }

    pub const fn percent(self) -> Option<f64> {
        match self.row().reading {
            MetricReading::Percentile(percent) => Some(percent),
            MetricReading::Rate(_) | MetricReading::Latency(_) => None,
        }
    }

    /// True for figures that all I/Os of a run make; the others depend on some of them.
    pub const fn is_of_all(self) -> bool {
        matches!(self, Self::Iops | Self::Bandwidth | Self::MeanLatency)
    }

    /// It is a time, nanoseconds: less is better.
    pub const fn is_latency(self) -> bool {
        matches!(self.unit(), MetricUnit::Nanoseconds)
    }

    /// The figure with this latency; `None`: there is none. Rates are per second, latencies nanoseconds.
    pub fn of(self, figures: &Figures, latency: Option<&LatencyFigures>) -> Option<f64> {
        match self.row().reading {
            MetricReading::Rate(read) => Some(read(figures)),
            MetricReading::Latency(read) => latency.map(read),
            MetricReading::Percentile(_) => Some(self.percentile(latency?)?.latency_ns as f64),
        }
    }

    /// A percentile with what it rests on; `None`: the figure is no percentile, or is not known.
    pub fn percentile(self, latency: &LatencyFigures) -> Option<Percentile> {
        latency.percentile(self.percent()?)
    }

    /// The interval that covers it; `None`: results do not tell that of this figure.
    pub fn precision(self, told: &JobPrecision) -> Option<Estimate> {
        self.row().precision.map(|read| read(told))
    }

    /// A value below its heading.
    pub fn cell(self, value: f64) -> String {
        self.unit().cell(value)
    }

    /// A value below its heading, or other words where it is not known.
    pub fn cell_or(self, value: Option<f64>, nothing: &str) -> String {
        value.map_or_else(|| nothing.to_owned(), |value| self.cell(value))
    }

    pub fn text(self, value: f64) -> String {
        self.unit().text(value)
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_figure_has_its_row_and_its_names() {
        for (index, (metric, row)) in Metric::ALL.into_iter().zip(&METRICS).enumerate() {
            assert_eq!((metric, metric as usize), (row.metric, index));
            assert_eq!(Metric::named(metric.name()), Some(metric));
            let is_alone = |name: fn(Metric) -> &'static str| {
                Metric::ALL.into_iter().filter(|other| name(*other) == name(metric)).count() == 1
            };
            assert!([Metric::name, Metric::heading, Metric::column, Metric::title].into_iter().all(is_alone));
        }
        assert_eq!(Metric::named("p42"), None);
    }

    #[test]
    fn figures_are_read_from_the_rates_and_from_the_latency_that_is_asked_for() {
        let latency = LatencyFigures {
            n_samples: 20,
            max_ns: 90,
            mean_ns: 4.5,
            percentiles: vec![(50.0, 4), (99.9, 80)],
            ..LatencyFigures::default()
        };
        let figures = Figures { ios_per_sec: 5.0, bytes_per_sec: 9.0, ..Figures::default() };
        let read = |latency: Option<&LatencyFigures>| Metric::ALL.map(|metric| metric.of(&figures, latency));
        let expected = [Some(5.0), Some(9.0), Some(4.5), Some(4.0), None, None, Some(80.0), None, Some(90.0)];
        assert_eq!(read(Some(&latency)), expected);
        assert_eq!(read(None).into_iter().flatten().count(), 2);
        assert!(Metric::P999.percentile(&latency).is_some_and(|found| found.is_doubtful));
    }
}
