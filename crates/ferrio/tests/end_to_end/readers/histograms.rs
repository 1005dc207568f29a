//! Readers of histogram logs: scripts that come with Debian's fio package.
//!
//! Start reading at [`scripts_count_every_sample`].

use super::bench::{Bench, assert_count, from_pypi, rows};
use crate::support::has_programs;

const LOG: &str = "x_clat_hist.1.log";
const JOB: &str = "--name=a --size=1m --bs=4k --rw=randrw --filename=data --ioengine=psync --time_based \
                   --runtime=1100ms --write_hist_log=x --log_hist_msec=250";
/// Columns before the counts: time, direction, block size.
const N_HEAD: usize = 3;

/// Runs the job; returns the samples of each row of its log.
fn n_samples(bench: &Bench) -> Vec<f64> {
    bench.fio(&format!("--output-format=json {JOB}"));
    let rows = rows(&bench.scratch().read(LOG));
    assert!(rows.len() >= 2 && rows.iter().all(|row| row.len() == N_HEAD + 1_856), "{} rows", rows.len());
    rows.iter().map(|row| row[N_HEAD..].iter().sum()).collect()
}

#[test]
fn bins_can_be_halved() {
    let test = "bins_can_be_halved";
    let bench = Bench::new("half-bins");
    let Some(script) = bench.packaged_script(test, "half-bins.py") else { return };
    if !has_programs(test, &["python3"]) {
        return;
    }
    let expected = n_samples(&bench);
    let halved = rows(&bench.call(&format!("python3 {} -c 2 {LOG}", script.display())));
    assert!(halved.iter().all(|row| row.len() == N_HEAD + 464));
    assert_eq!(halved.iter().map(|row| row[N_HEAD..].iter().sum()).collect::<Vec<f64>>(), expected);
}

/// Without weights a sample counts in the interval of its row, so that the intervals contain every sample.
#[test]
fn scripts_count_every_sample() {
    let test = "scripts_count_every_sample";
    let bench = Bench::new("hist");
    let Some(script) = bench.packaged_script(test, "fiologparser_hist.py") else { return };
    let Some(python) = from_pypi(test, "python") else { return };
    let expected: f64 = n_samples(&bench).iter().sum();
    let said = bench.call(&format!("{} {} --noweight --interval=250 {LOG}", python.display(), script.display()));
    let table: Vec<Vec<&str>> = said.lines().map(|line| line.split(", ").collect()).collect();
    let column = table[0].iter().position(|head| *head == "samples").expect("a column of samples");
    let sum: f64 = table[1..].iter().map(|row| row[column].parse::<f64>().expect("a number")).sum();
    assert_count(sum, expected, &said);
}

/// Smallest latency of a bucket, nanoseconds (reference, "Histogram").
fn lower_ns(bucket: usize) -> f64 {
    let exponent = (bucket / 64).saturating_sub(1);
    if bucket < 128 { bucket as f64 } else { ((64 + bucket % 64) << exponent) as f64 }
}

#[test]
fn percentiles_of_a_histogram_log() {
    let test = "percentiles_of_a_histogram_log";
    let bench = Bench::new("pctiles");
    let Some(script) = bench.packaged_script(test, "fio-histo-log-pctiles.py") else { return };
    if !has_programs(test, &["python3"]) {
        return;
    }
    let all: f64 = n_samples(&bench).iter().sum();
    // The script spreads a row over the time that the row covers; one long quantum includes all rows.
    let options = "--log-hist-msec 250 --time-quantum 10 --percentiles 0 50 100";
    let said = bench.call(&format!("python3 {} {options} -- {LOG}", script.display()));
    let row = said.lines().rfind(|line| !line.trim().is_empty()).expect("a row");
    let figures: Vec<f64> = row.split(',').map(|word| word.trim().parse().expect("a figure")).collect();
    assert!((figures[1] - all).abs() <= 1.0, "{all} in {said}");
    let counts = rows(&bench.scratch().read(LOG));
    let mut below = 0.0;
    let bucket = (0..1_856).find(|bucket| {
        below += counts.iter().map(|row| row[N_HEAD + bucket]).sum::<f64>();
        below >= all / 2.0
    });
    let bucket = bucket.expect("half of the samples are somewhere");
    // Microseconds, at some place within the bucket.
    let median_ns = figures[3] * 1_000.0;
    let bounds = lower_ns(bucket.saturating_sub(1))..=lower_ns(bucket + 2);
    assert!(bounds.contains(&median_ns), "{median_ns} is not in {bounds:?}\n{said}");
    assert!(figures[2..].is_sorted(), "{said}");
}
