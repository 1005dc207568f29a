//! `ferrio.servers`: the steps by which jobs have reached their servers and got replies.
//!
//! Must not know: fio's keys. Start reading at [`write()`].

use super::latency::{moments, percentile_object};
use super::writer::JsonWriter;
use crate::view::{FioView, JobReport};
use ferrio_stats::{NetworkFigures, RequestFigures, ServerSteps, full_percentiles, per_second};

/// True if a job had a server.
pub(super) fn are_there(result: &FioView<'_>) -> bool {
    result.jobs.iter().any(|job| job.stats.features.server.is_some())
}

/// Writes the key, with a member for each job, if there is any.
pub(super) fn write(writer: &mut JsonWriter, result: &FioView<'_>) {
    if !are_there(result) {
        return;
    }
    writer.array("servers", |writer| {
        for job in &result.jobs {
            if let Some(steps) = &job.stats.features.server {
                writer.element(|writer| self::steps(writer, steps, job));
            }
        }
    });
}

fn steps(writer: &mut JsonWriter, steps: &ServerSteps, job: &JobReport<'_>) {
    writer.string("jobname", &job.name);
    writer.integer("groupid", job.group_index);
    writer.integer("connections", steps.n_connections);
    writer.integer("reconnects", steps.n_reconnects);
    writer.integer("retries", steps.n_retries);
    writer.integer("resent", steps.n_resent);
    writer.integer("throttled", steps.n_throttled);
    for (name, stat) in steps.named() {
        if stat.n_samples > 0 {
            writer.object(name, |writer| {
                moments(writer, stat);
                if let Some(histogram) = &stat.histogram {
                    percentile_object(writer, &full_percentiles(histogram, &job.settings.percentiles));
                }
            });
        }
    }
    network(writer, &steps.network);
    requests(writer, &steps.requests.0, job);
}

/// `requests`: an element for each kind of request to a server of objects; no key without any.
fn requests(writer: &mut JsonWriter, requests: &[RequestFigures], job: &JobReport<'_>) {
    if requests.is_empty() {
        return;
    }
    let runtimes = job.stats.directions.0.iter().map(|direction| direction.runtime_ns);
    let runtime_ns = runtimes.max().unwrap_or_default();
    writer.array("requests", |writer| {
        for figures in requests {
            writer.element(|writer| {
                let count = figures.time.n_samples;
                writer.string("kind", figures.kind.name());
                writer.integer("count", count);
                writer.float("per_second", per_second(count, runtime_ns));
                writer.integer("bytes", figures.bytes);
                writer.integer("absent", figures.n_absent);
                writer.integer("short", figures.n_short);
                writer.integer("names", figures.n_names);
                writer.object("time_ns", |writer| {
                    moments(writer, &figures.time);
                    if let Some(histogram) = &figures.time.histogram {
                        percentile_object(writer, &full_percentiles(histogram, &job.settings.percentiles));
                    }
                });
            });
        }
    });
}

/// `network`: no key without a connection of TCP.
fn network(writer: &mut JsonWriter, network: &NetworkFigures) {
    if network.round_trip.n_samples == 0 {
        return;
    }
    writer.object("network", |writer| {
        writer.object("round_trip_ns", |writer| moments(writer, &network.round_trip));
        writer.integer("segments", network.n_sent);
        writer.integer("segments_sent_again", network.n_sent_again);
        writer.integer("busy_ns", network.busy_ns);
        writer.integer("window_limited_ns", network.window_limited_ns);
        writer.integer("buffer_limited_ns", network.buffer_limited_ns);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_stats::{LatencyStat, ReportSettings, ThreadStats};
    use serde_json::{Value, json};
    use std::borrow::Cow;

    fn written(server: Option<ServerSteps>) -> Value {
        let mut stats = ThreadStats::default();
        stats.features.server = server.map(Box::new);
        let settings = ReportSettings { percentiles: vec![50.0], ..ReportSettings::default() };
        let job = JobReport {
            name: "a".into(),
            group_index: 1,
            settings: Cow::Owned(settings),
            stats: Cow::Owned(stats),
            ..JobReport::default()
        };
        let result = FioView { jobs: vec![job], ..FioView::default() };
        serde_json::from_str(&JsonWriter::document(|writer| write(writer, &result))).expect("valid JSON")
    }

    #[test]
    fn steps_without_samples_are_left_out() {
        let mut steps = ServerSteps { n_connections: 2, n_retries: 1, ..ServerSteps::default() };
        steps.connect.record(10);
        steps.connect.record(30);
        steps.first_byte = LatencyStat::new(true);
        steps.first_byte.record(40);
        let expected = json!({"servers": [{
            "jobname": "a", "groupid": 1, "connections": 2, "reconnects": 0, "retries": 1, "resent": 0, "throttled": 0,
            "connect_ns": {"min": 10, "max": 30, "mean": 20.0, "stddev": 14.142_136, "N": 2},
            "first_byte_ns": {"min": 40, "max": 40, "mean": 40.0, "stddev": 0.0, "N": 1, "percentile": {"50.000000": 40}},
        }]});
        assert_eq!(written(Some(steps)), expected);
    }

    #[test]
    fn nothing_without_a_server() {
        assert_eq!(written(None), json!({}));
    }
}
