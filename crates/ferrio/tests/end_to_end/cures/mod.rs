//! Cures of findings: each run with a fault is made for real, and again with what the finding advises. The finding goes, and the figure is
//! what the user wanted to know.
//!
//! Start reading at [`runs::ROWS`]; [`elsewhere`] lists the rules without a row.

mod beside;
mod checks;
mod elsewhere;
mod made;
mod reports;
mod runs;

use serde_json::Value;
use std::path::Path;

/// A figure of the first row of a document.
fn figure(document: &Value, key: &str) -> f64 {
    document["jobs"][0][key].as_f64().unwrap_or(0.0)
}

/// A figure of the first row that is a number of things.
fn count(document: &Value, key: &str) -> u64 {
    document["jobs"][0][key].as_u64().unwrap_or(u64::MAX)
}

/// A figure of the row of syncs.
fn of_syncs(document: &Value, key: &str) -> f64 {
    let rows = document["jobs"].as_array().map(Vec::as_slice).unwrap_or_default();
    rows.iter().find(|row| row["direction"] == "sync").and_then(|row| row[key].as_f64()).unwrap_or(0.0)
}

/// The mean number of I/Os in flight, by Little's law.
fn depth(document: &Value) -> f64 {
    figure(document, "n_ios") * figure(document, "mean_ns") / figure(document, "runtime_ns").max(1.0)
}

fn is_near(value: f64, expected: f64) -> bool {
    (value / expected - 1.0).abs() < 0.15
}

fn write_file(directory: &Path, name: &str, mib: usize) {
    let path = directory.join(name);
    std::fs::write(&path, vec![0x5a; mib << 20]).expect("a file");
    std::fs::File::open(&path).expect("it was made").sync_all().expect("it can be written");
}
