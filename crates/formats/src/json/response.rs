//! `ferrio.response`: latencies from the intended start of each I/O, beside those from its real start.
//!
//! Must not know: fio's keys. Start reading at [`write()`].

use super::latency::{moments, percentile_object};
use super::writer::JsonWriter;
use crate::view::{FioView, JobReport};
use ferrio_stats::{LatencyStat, full_percentiles};
use ferrio_units::DataDirection;

/// True if a job measured them.
pub(super) fn is_wanted(result: &FioView<'_>) -> bool {
    result.jobs.iter().any(has_any)
}

fn has_any(job: &JobReport<'_>) -> bool {
    job.stats.directions.0.iter().any(|direction| direction.response.n_samples > 0)
}

/// Writes the key, with a member for each job and direction, if there is any.
pub(super) fn write(writer: &mut JsonWriter, result: &FioView<'_>) {
    if !is_wanted(result) {
        return;
    }
    writer.array("response", |writer| {
        for job in &result.jobs {
            for direction in DataDirection::ALL {
                let stats = &job.stats.directions[direction];
                if stats.response.n_samples > 0 {
                    writer.element(|writer| {
                        writer.string("jobname", &job.name);
                        writer.integer("groupid", job.group_index);
                        writer.string("direction", direction.name());
                        latency(writer, "lat_ns", &stats.lat, job);
                        latency(writer, "response_ns", &stats.response, job);
                    });
                }
            }
        }
    });
}

fn latency(writer: &mut JsonWriter, key: &str, stat: &LatencyStat, job: &JobReport<'_>) {
    writer.object(key, |writer| {
        moments(writer, stat);
        if let Some(histogram) = stat.histogram.as_ref().filter(|_| stat.n_samples > 0) {
            percentile_object(writer, &full_percentiles(histogram, &job.settings.percentiles));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_stats::{ReportSettings, ThreadStats};
    use serde_json::{Value, json};
    use std::borrow::Cow;

    fn job(response_ns: &[u64]) -> JobReport<'static> {
        let mut stats = ThreadStats::default();
        let figures = &mut stats.directions[DataDirection::Read];
        (figures.lat, figures.response) = (LatencyStat::new(true), LatencyStat::new(true));
        for value_ns in response_ns {
            figures.lat.record(40);
            figures.response.record(*value_ns);
        }
        JobReport {
            name: "late".into(),
            group_index: 1,
            settings: Cow::Owned(ReportSettings { percentiles: vec![50.0, 99.0], ..ReportSettings::default() }),
            stats: Cow::Owned(stats),
            ..JobReport::default()
        }
    }

    fn written(jobs: Vec<JobReport<'_>>) -> Value {
        let result = FioView { jobs, ..FioView::default() };
        serde_json::from_str(&JsonWriter::document(|writer| write(writer, &result))).expect("valid JSON")
    }

    #[test]
    fn both_views_stand_side_by_side() {
        let latency = |min: u64, max: u64, mean: f64, stddev: f64, p99: u64| {
            json!({"min": min, "max": max, "mean": mean, "stddev": stddev, "N": 3,
                   "percentile": {"50.000000": 40, "99.000000": p99}})
        };
        let expected = json!({"response": [{
            "jobname": "late", "groupid": 1, "direction": "read",
            "lat_ns": latency(40, 40, 40.0, 0.0, 40), "response_ns": latency(40, 100, 60.0, 34.641_016, 100),
        }]});
        assert_eq!(written(vec![job(&[40, 100, 40]), job(&[])]), expected);
    }

    #[test]
    fn nothing_without_samples() {
        assert_eq!(written(vec![job(&[])]), json!({}));
    }
}
