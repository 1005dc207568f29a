//! The `ferrio` key: additions to fio's document. All are under this one key, the last of the document, which is only
//! there if there is an addition.
//!
//! Must not know: fio's keys. Start reading at [`write()`].

use super::Detail;
use super::probes;
use super::response;
use super::servers;
use super::total;
use super::writer::JsonWriter;
use crate::view::{FioView, JobReport};
use crate::words;
use ferrio_stats::histogram::bucket_latency_ns;
use ferrio_stats::{
    Audit, Histogram, JobPrecision, Provenance, ReplayStats, RunMessages, VerifyStats, full_percentiles, wire,
};
use ferrio_units::DataDirection;

pub(super) fn write(writer: &mut JsonWriter, result: &FioView<'_>, detail: Detail) {
    let slow: Vec<Slow<'_>> = result.jobs.iter().flat_map(slow_latencies).collect();
    let stalled: Vec<&JobReport<'_>> = result.jobs.iter().filter(|job| job.stats.log_stall_ns > 0).collect();
    let replays: Vec<(&JobReport<'_>, ReplayStats)> =
        result.jobs.iter().filter_map(|job| job.stats.features.replay.map(|replay| (job, replay))).collect();
    let pending: Vec<(&JobReport<'_>, VerifyStats)> =
        result.jobs.iter().filter_map(|job| job.stats.features.verify.map(|verify| (job, verify))).collect();
    let killed: Vec<&JobReport<'_>> = result.jobs.iter().filter(|job| !job.killed.is_empty()).collect();
    let drawn: Vec<&JobReport<'_>> = result.jobs.iter().filter(|job| !job.drawn_runtimes_us.is_empty()).collect();
    let is_plain = drawn.is_empty()
        && killed.is_empty()
        && slow.is_empty()
        && stalled.is_empty()
        && replays.is_empty()
        && pending.is_empty();
    let has_parts = !(is_plain && result.messages.is_empty())
        || result.total.is_some()
        || probes::are_there(&result.record.evidence);
    if result.record.provenance.is_none() && !has_parts && !response::is_wanted(result) && !servers::are_there(result) {
        return;
    }
    writer.object("ferrio", |writer| {
        if let Some(provenance) = &result.record.provenance {
            self::provenance(writer, provenance);
        }
        if !slow.is_empty() {
            writer.array("beyond_fio_range", |writer| {
                for slow in &slow {
                    writer.element(|writer| slow.write(writer));
                }
            });
        }
        total::write(writer, result, detail);
        self::killed(writer, &killed);
        log_stalls(writer, &stalled);
        drawn_runtimes(writer, &drawn);
        response::write(writer, result);
        servers::write(writer, result);
        probes::write(writer, &result.record.evidence);
        self::replays(writer, &replays);
        verify_pending(writer, &pending);
        audit(writer, result.record.audit.as_ref());
        precision(writer, result.record.precision.as_deref());
        messages(writer, &result.messages);
    });
}

/// `findings`: an empty list if there are none; `unexamined`: no list if all was examined. No keys if the run was not examined.
fn audit(writer: &mut JsonWriter, audit: Option<&Audit>) {
    let Some(audit) = audit else { return };
    writer.value("findings", &wire::to_value(&audit.findings));
    if !audit.unexamined.is_empty() {
        writer.value("unexamined", &wire::to_value(&audit.unexamined));
    }
    writer.integer("n_rules", audit.n_rules);
    if let Some(accounts) = &audit.accounts {
        writer.value("accounts", &wire::to_value(accounts));
    }
}

/// `precision`: no key if the run has no intervals.
fn precision(writer: &mut JsonWriter, precision: Option<&[JobPrecision]>) {
    if let Some(precision) = precision.filter(|precision| !precision.is_empty()) {
        writer.value("precision", &wire::to_value(&precision));
    }
}

/// Jobs that a signal killed: their figures cover only a part of their work, and their `error` is 0 as in fio.
fn killed(writer: &mut JsonWriter, jobs: &[&JobReport<'_>]) {
    if jobs.is_empty() {
        return;
    }
    writer.array("killed", |writer| {
        for (job, member) in jobs.iter().flat_map(|job| job.killed.iter().map(move |member| (job, member))) {
            writer.element(|writer| {
                writer.string("jobname", &job.name);
                writer.integer("groupid", job.group_index);
                writer.integer("pid", member.pid);
                writer.integer("signal", member.signal);
            });
        }
    });
}

/// Jobs that waited for their logs to be written: their figures are those of a slower job.
fn log_stalls(writer: &mut JsonWriter, jobs: &[&JobReport<'_>]) {
    if jobs.is_empty() {
        return;
    }
    writer.array("log_stalls", |writer| {
        for job in jobs {
            writer.element(|writer| {
                writer.string("jobname", &job.name);
                writer.integer("groupid", job.group_index);
                writer.integer("log_stall_ns", job.stats.log_stall_ns);
            });
        }
    });
}

/// Runtimes that were drawn from a distribution, one for each clone in its order.
fn drawn_runtimes(writer: &mut JsonWriter, jobs: &[&JobReport<'_>]) {
    if jobs.is_empty() {
        return;
    }
    writer.array("drawn_runtimes", |writer| {
        for job in jobs {
            writer.element(|writer| {
                writer.string("jobname", &job.name);
                writer.integer("groupid", job.group_index);
                writer.value("runtimes_us", &wire::to_value(&job.drawn_runtimes_us));
            });
        }
    });
}

/// Delays of replayed traces: a late replay loads the device differently from the trace.
fn replays(writer: &mut JsonWriter, replays: &[(&JobReport<'_>, ReplayStats)]) {
    if replays.is_empty() {
        return;
    }
    writer.array("replays", |writer| {
        for (job, replay) in replays {
            writer.element(|writer| {
                writer.string("jobname", &job.name);
                writer.integer("groupid", job.group_index);
                writer.integer("timed_ios", replay.n_timed);
                writer.integer("late_ios", replay.n_late);
                writer.float("late_percent", replay.late_percent());
                writer.integer("max_late_ns", replay.max_late_ns);
            });
        }
    });
}

/// Memory for writes that verification remembers: if it is too much, use fewer or larger blocks or a backlog.
fn verify_pending(writer: &mut JsonWriter, pending: &[(&JobReport<'_>, VerifyStats)]) {
    if pending.is_empty() {
        return;
    }
    writer.array("verify_pending", |writer| {
        for (job, verify) in pending {
            writer.element(|writer| {
                writer.string("jobname", &job.name);
                writer.integer("groupid", job.group_index);
                writer.integer("max_writes", verify.n_most_pending);
                writer.integer("max_memory_bytes", verify.pending_bytes);
            });
        }
    });
}

fn provenance(writer: &mut JsonWriter, provenance: &Provenance) {
    writer.string("version", &provenance.ferrio_version);
    writer.value("provenance", &provenance.to_document());
}

/// Messages that fio prints before the document, if only documents may go to that stream.
fn messages(writer: &mut JsonWriter, messages: &RunMessages) {
    if messages.is_empty() {
        return;
    }
    writer.array("messages", |writer| {
        for message in messages.kept() {
            writer.element(|writer| {
                writer.string("stream", message.stream.name());
                writer.string("text", words::note(&message.note).trim_matches(['\n', '\r']));
            });
        }
    });
    if messages.n_left_out() > 0 {
        writer.integer("messages_left_out", messages.n_left_out());
    }
}

/// A latency with samples of 17.18 s and more, which fio's histogram cannot distinguish.
struct Slow<'a> {
    job: &'a JobReport<'a>,
    direction: &'static str,
    kind: &'static str,
    histogram: &'a Histogram,
}

fn slow_latencies<'a>(job: &'a JobReport<'a>) -> Vec<Slow<'a>> {
    let of_directions = DataDirection::ALL.into_iter().flat_map(|direction| {
        let stats = &job.stats.directions[direction];
        let kinds = [("slat_ns", &stats.slat), ("clat_ns", &stats.clat), ("lat_ns", &stats.lat)];
        kinds.map(|(kind, stat)| (direction.name(), kind, stat))
    });
    let all = of_directions.chain([("sync", "lat_ns", &job.stats.sync)]);
    let slow = all.filter_map(|(direction, kind, stat)| {
        let histogram = stat.histogram.as_ref().filter(|histogram| histogram.n_beyond() > 0)?;
        Some(Slow { job, direction, kind, histogram })
    });
    slow.collect()
}

impl Slow<'_> {
    /// Writes the percentiles over the whole range, and the bins from 17.18 s on.
    fn write(&self, writer: &mut JsonWriter) {
        writer.string("jobname", &self.job.name);
        writer.integer("groupid", self.job.group_index);
        writer.string("direction", self.direction);
        writer.string("latency", self.kind);
        writer.integer("N", self.histogram.n_beyond());
        writer.object("percentile", |writer| {
            for (percentile, latency_ns) in full_percentiles(self.histogram, &self.job.settings.percentiles) {
                writer.integer(&format!("{percentile:.6}"), latency_ns);
            }
        });
        writer.object("bins", |writer| {
            for (index, count) in self.histogram.beyond() {
                writer.integer(&bucket_latency_ns(index).to_string(), count);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_stats::MessageStream::{Error, Info};
    use ferrio_stats::{LatencyStat, Note, ReportSettings, RunRecord, ThreadStats};
    use serde_json::{Value, json};
    use std::borrow::Cow;

    fn job(values_ns: &[u64]) -> JobReport<'static> {
        let mut stats = ThreadStats::default();
        let mut clat = LatencyStat::new(true);
        for latency_ns in values_ns {
            clat.record(*latency_ns);
        }
        stats.directions[DataDirection::Write].clat = clat;
        JobReport {
            name: "slow".into(),
            group_index: 2,
            settings: Cow::Owned(ReportSettings { percentiles: vec![50.0, 100.0], ..ReportSettings::default() }),
            stats: Cow::Owned(stats),
            ..JobReport::default()
        }
    }

    fn result(job: JobReport<'static>, provenance: Option<Provenance>) -> FioView<'static> {
        let record = RunRecord { provenance: provenance.map(Box::new), ..RunRecord::default() };
        FioView { record: Cow::Owned(record), jobs: vec![job], ..FioView::default() }
    }

    fn document(result: &FioView<'_>) -> Value {
        let text = crate::json::render_in(result, crate::json::Detail::WithBins, &crate::LocalTime::utc());
        serde_json::from_str(&text).expect("valid JSON")
    }

    #[test]
    fn slow_samples_are_folded_under_fios_keys_and_whole_here() {
        // 2^34 is the start of a bucket of 2^28 ns; an hour is in [104 * 2^35, 105 * 2^35).
        let document = document(&result(job(&[1_000, 17_179_869_184, 3_600_000_000_000]), None));
        assert_eq!(document.as_object().and_then(|keys| keys.keys().next_back()).map(String::as_str), Some("ferrio"));
        let clat = &document["jobs"][0]["write"]["clat_ns"];
        assert_eq!(clat["bins"], json!({"1004": 1, "17112760320": 2}));
        assert_eq!(clat["percentile"]["100.000000"], 17_112_760_320_u64);
        let (first, hour) = (17_179_869_184 + (1_u64 << 27), (104 << 35) + (1_u64 << 34));
        let expected = json!([{
            "jobname": "slow", "groupid": 2, "direction": "write", "latency": "clat_ns", "N": 2,
            "percentile": {"50.000000": first, "100.000000": hour},
            "bins": {first.to_string(): 1, hour.to_string(): 1},
        }]);
        assert_eq!(document["ferrio"], json!({ "beyond_fio_range": expected }));
    }

    #[test]
    fn without_anything_to_say_there_is_no_key() {
        assert!(document(&result(job(&[17_179_869_183]), None)).get("ferrio").is_none());
    }

    #[test]
    fn what_verification_remembered_is_told() {
        let mut job = job(&[1]);
        job.stats.to_mut().features.verify = Some(VerifyStats { n_most_pending: 3, pending_bytes: 96 });
        let expected = json!([{"jobname": "slow", "groupid": 2, "max_writes": 3, "max_memory_bytes": 96}]);
        assert_eq!(document(&result(job, None))["ferrio"], json!({ "verify_pending": expected }));
    }

    #[test]
    fn provenance_is_written_whole() {
        let provenance = Provenance { ferrio_version: "1".into(), memory_bytes: 7, ..Provenance::default() };
        let document = document(&result(job(&[1]), Some(provenance.clone())));
        assert_eq!(document["ferrio"]["version"], "1");
        let read = Provenance::from_document(document["ferrio"]["provenance"].clone()).expect("the model");
        assert_eq!(read, provenance);
    }

    fn messages_alone(all: &RunMessages) -> String {
        JsonWriter::document(|writer| messages(writer, all))
    }

    #[test]
    fn messages_have_their_stream() {
        let mut all = RunMessages::default();
        all.push(Info, Note::text("\nfio: terminating on signal 2\n"));
        all.push(Error, Note::text("fio: \"a\\b\": \t no\n"));
        let read: serde_json::Value = serde_json::from_str(&messages_alone(&all)).expect("valid JSON");
        let expected = serde_json::json!({"messages": [
            {"stream": "info", "text": "fio: terminating on signal 2"},
            {"stream": "error", "text": "fio: \"a\\b\": \t no"},
        ]});
        assert_eq!(read, expected);
    }

    #[test]
    fn those_without_room_are_counted() {
        let mut all = RunMessages::default();
        (0..1_003).for_each(|_| all.push(Info, Note::text("again")));
        let read: serde_json::Value = serde_json::from_str(&messages_alone(&all)).expect("valid JSON");
        assert_eq!(read["messages"].as_array().map(Vec::len), Some(1_000));
        assert_eq!(read["messages_left_out"], 3);
    }

    #[test]
    fn jobs_that_waited_for_their_logs_are_named() {
        let stats = ThreadStats { log_stall_ns: 7, ..ThreadStats::default() };
        let job = JobReport { name: "slow".into(), group_index: 3, stats: Cow::Owned(stats), ..JobReport::default() };
        let text = JsonWriter::document(|writer| log_stalls(writer, &[&job]));
        let read: serde_json::Value = serde_json::from_str(&text).expect("valid JSON");
        let expected = serde_json::json!({"log_stalls": [{"jobname": "slow", "groupid": 3, "log_stall_ns": 7}]});
        assert_eq!(read, expected);
    }

    #[test]
    fn nothing_without_anything_to_add() {
        assert_eq!(messages_alone(&RunMessages::default()), "{\n\n}\n");
    }
}
