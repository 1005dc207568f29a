//! The object of the search for a steady state.
//!
//! Must not know: directions. Start reading at [`write()`].

use super::writer::JsonWriter;
use ferrio_spec::SteadyMetric;
use ferrio_stats::{SteadySample, SteadyState};

/// The criterion of a search as its option says it, with six decimals, and the figure that it compared last.
pub fn steady_texts(state: &SteadyState) -> (String, String) {
    let criterion = &state.criterion;
    let percent = if criterion.is_percent { "%" } else { "" };
    let name = match (criterion.metric, criterion.is_slope) {
        (SteadyMetric::Iops, false) => "iops",
        (SteadyMetric::Iops, true) => "iops_slope",
        (SteadyMetric::Bw, false) => "bw",
        (SteadyMetric::Bw, true) => "bw_slope",
        (SteadyMetric::Lat, false) => "lat",
        (SteadyMetric::Lat, true) => "lat_slope",
    };
    (format!("{name}:{:.6}{percent}", criterion.limit), format!("{:.6}{percent}", state.figure))
}

pub(super) fn write(writer: &mut JsonWriter, state: &SteadyState) {
    let (criterion, figure) = steady_texts(state);
    writer.object("steadystate", |writer| {
        writer.string("ss", &criterion);
        writer.integer("duration", state.duration_secs);
        writer.integer("attained", i32::from(state.is_attained));
        writer.string("criterion", &figure);
        writer.float("max_deviation", state.max_deviation);
        writer.float("slope", state.slope);
        writer.object("data", |writer| data(writer, state));
    });
}

fn data(writer: &mut JsonWriter, state: &SteadyState) {
    let iops = |sample: &SteadySample| sample.ios_per_sec;
    let bw = |sample: &SteadySample| sample.bytes_per_sec;
    writer.integer("bw_mean", state.mean(bw));
    writer.integer("iops_mean", state.mean(iops));
    if state.criterion.metric == SteadyMetric::Lat {
        writer.integer("lat_mean", state.mean(SteadySample::mean_clat_ns));
        list(writer, "lat_ns", state.window(SteadySample::mean_clat_ns));
    }
    list(writer, "iops", state.window(iops));
    list(writer, "bw", state.window(bw));
}

fn list(writer: &mut JsonWriter, key: &str, values: impl Iterator<Item = u64>) {
    writer.array(key, |writer| values.for_each(|value| writer.integer_element(value)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_spec::SteadyCriterion;

    #[test]
    fn latencies_come_with_their_criteria_only() {
        for (metric, n_keys) in [(SteadyMetric::Lat, 6), (SteadyMetric::Bw, 4)] {
            let criterion = SteadyCriterion { metric, is_slope: true, limit: 1_000.0, is_percent: false };
            let mut state = SteadyState::new(criterion, 2, 2);
            state.add(SteadySample { ios_per_sec: 2, bytes_per_sec: 8_192, clat_sum_ns: 7, n_clats: 2 });
            let text = JsonWriter::document(|writer| write(writer, &state));
            let read: serde_json::Value = serde_json::from_str(&text).expect("valid JSON");
            let object = &read["steadystate"];
            let data = object["data"].as_object().expect("an object");
            let keys: Vec<&str> = data.keys().map(String::as_str).collect();
            let expected = ["bw_mean", "iops_mean", "lat_mean", "lat_ns", "iops", "bw"];
            let is_there = |key: &&str| n_keys == 6 || !key.starts_with("lat");
            assert_eq!(keys, expected.into_iter().filter(is_there).collect::<Vec<_>>());
            assert_eq!(data["bw"], serde_json::json!([8_192, 0]));
            assert_eq!((&data["iops_mean"], data.len()), (&serde_json::json!(1), n_keys));
            if metric == SteadyMetric::Lat {
                assert_eq!((&data["lat_mean"], &data["lat_ns"]), (&1.into(), &serde_json::json!([3, 0])));
                assert_eq!(object["ss"], "lat_slope:1000.000000");
            }
        }
    }
}
