//! Figures of results as CSV (RFC 4180) with a header: a line for each job and direction, and for its syncs.
//!
//! Must not know: files, how figures are measured. Start reading at [`csv_table`].

use ferrio_formats::{IoKind, JobResult, LatencyKind, RunResult};
use ferrio_units::csv_field;

/// Names of the columns. Units are last in a name.
const HEADER: &str = "result,job,group,direction,error,ios,bytes,runtime_ns,bytes_per_sec,ios_per_sec,latency,n_latencies,min_ns,\
                      mean_ns,p50_ns,p95_ns,p99_ns,p99_9_ns,p99_99_ns,max_ns";

const PERCENTS: [f64; 5] = [50.0, 95.0, 99.0, 99.9, 99.99];

/// The table of some results, each followed by those of its hosts. A figure that a result lacks is an empty field.
pub(crate) fn csv_table(results: &[RunResult]) -> String {
    let mut text = format!("{HEADER}\n");
    for result in results.iter().flat_map(with_hosts) {
        for job in &result.jobs {
            for kind in IoKind::ALL {
                text.extend(line(&result.name, job, kind));
            }
        }
    }
    text
}

fn with_hosts(result: &RunResult) -> impl Iterator<Item = &RunResult> {
    std::iter::once(result).chain(result.hosts.iter().map(|host| &host.result))
}

fn line(result: &str, job: &JobResult, kind: IoKind) -> Option<String> {
    let figures = job.get(kind)?;
    let mut fields = vec![
        csv_field(result),
        csv_field(&job.name),
        job.group_index.to_string(),
        kind.name().to_owned(),
        job.error.to_string(),
        figures.n_ios.to_string(),
        figures.bytes.to_string(),
        figures.runtime_ns.to_string(),
        decimal(figures.bytes_per_sec),
        decimal(figures.ios_per_sec),
    ];
    match figures.latency() {
        Some((kind, latency)) => {
            fields.push(if kind == LatencyKind::Total { "lat" } else { "clat" }.to_owned());
            // fio's text and terse lines do not say how many latencies there are.
            fields.push(if latency.n_samples > 0 { latency.n_samples.to_string() } else { String::new() });
            fields.extend([latency.min_ns.to_string(), decimal(latency.mean_ns)]);
            let percentile =
                |percent| latency.percentile(percent).map_or_else(String::new, |found| found.latency_ns.to_string());
            fields.extend(PERCENTS.map(percentile));
            fields.push(latency.max_ns.to_string());
        }
        None => fields.extend((0..5 + PERCENTS.len()).map(|_| String::new())),
    }
    Some(fields.join(",") + "\n")
}

/// A number that programs read, whatever their language.
pub(crate) fn decimal(value: f64) -> String {
    format!("{value:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_formats::{Figures, LatencyFigures};
    use ferrio_units::DataDirection;

    #[test]
    fn every_line_has_the_fields_of_the_header() {
        let latency = LatencyFigures {
            n_samples: 3,
            min_ns: 1,
            max_ns: 9,
            mean_ns: 4.5,
            percentiles: vec![(50.0, 4), (99.0, 12)],
            ..LatencyFigures::default()
        };
        let figures = |clat| Figures {
            n_ios: 3,
            bytes: 4096,
            runtime_ns: 1000,
            bytes_per_sec: 1.5,
            ios_per_sec: 2.0,
            clat,
            ..Figures::default()
        };
        let mut job = JobResult { name: "a,\"b\"".to_owned(), group_index: 1, ..JobResult::default() };
        job.directions[DataDirection::Read] = Some(figures(Some(latency)));
        job.directions[DataDirection::Write] = Some(figures(None));
        let uncounted = LatencyFigures { min_ns: 1, max_ns: 9, mean_ns: 4.5, ..LatencyFigures::default() };
        job.directions[DataDirection::Trim] = Some(figures(Some(uncounted)));
        let result = RunResult { name: "r".to_owned(), jobs: vec![job], ..RunResult::default() };
        let text = csv_table(&[result]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], HEADER);
        // A percentile is not above the maximum.
        assert_eq!(lines[1], "r,\"a,\"\"b\"\"\",1,read,0,3,4096,1000,1.500,2.000,clat,3,1,4.500,4,,9,,,9");
        assert_eq!(lines[2], "r,\"a,\"\"b\"\"\",1,write,0,3,4096,1000,1.500,2.000,,,,,,,,,,");
        assert_eq!(lines[3], "r,\"a,\"\"b\"\"\",1,trim,0,3,4096,1000,1.500,2.000,clat,,1,4.500,,,,,,9");
        // The name has a comma in quotes.
        assert!(lines[1..].iter().all(|line| line.matches(',').count() == HEADER.matches(',').count() + 1), "{text}");
    }
}
