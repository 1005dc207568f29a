//! The outcome of a sweep as rows: one for each point, job and kind of I/O.
//!
//! Must not know: terminals, pages. Start reading at [`SweepOutcome::csv`].

use super::{PointOutcome, SweepOutcome};
use ferrio_formats::IoKind;
use ferrio_stats::Metric;
use ferrio_units::csv_field;
use std::fmt::Write as _;

impl SweepOutcome {
    /// The table as CSV (RFC 4180): the options of the point, the job, its kind of I/O, and each figure with the ends of its interval. Rates are
    /// per second, latencies nanoseconds; a figure that is not known is empty.
    pub fn csv(&self) -> String {
        let mut text = String::from("point,runs,failed");
        for option in self.axes.iter().flat_map(|axis| &axis.options) {
            field(&mut text, &option.to_string());
        }
        text.push_str(",job,of");
        for metric in Metric::ALL {
            let name = metric.column();
            // Writing to a text cannot fail.
            let _ = write!(text, ",{name},{name}_low,{name}_high,{name}_between_percent");
        }
        text.push_str(",worst_finding,findings\n");
        let jobs = self.jobs();
        for point in &self.points {
            for (job_index, job, kind) in &jobs {
                self.csv_row(&mut text, point, (*job_index, job, *kind));
            }
            if jobs.is_empty() {
                self.csv_row(&mut text, point, (0, "", IoKind::Read));
            }
        }
        text
    }

    fn csv_row(&self, text: &mut String, point: &PointOutcome, (job_index, job, kind): (usize, &str, IoKind)) {
        let _ = write!(text, "{},{},{}", point.number, point.n_runs, point.n_failed);
        for (_, value) in &point.point.settings {
            field(text, value);
        }
        field(text, job);
        field(text, kind.name());
        for metric in Metric::ALL {
            let Some(figure) = point.figure(job_index, kind, metric) else {
                text.push_str(",,,,");
                continue;
            };
            let _ = write!(text, ",{}", figure.mean);
            for value in
                [figure.interval.map(|ends| ends[0]), figure.interval.map(|ends| ends[1]), figure.between_percent]
            {
                text.push(',');
                if let Some(value) = value {
                    let _ = write!(text, "{value}");
                }
            }
        }
        field(text, point.worst.map_or("", ferrio_stats::Severity::word));
        let ids: Vec<&str> = point.findings.iter().map(|index| self.findings[*index].finding.id.as_str()).collect();
        field(text, &ids.join(" "));
        text.push('\n');
    }
}

/// Appends a field behind a comma.
fn field(text: &mut String, value: &str) {
    text.push(',');
    text.push_str(&csv_field(value));
}
