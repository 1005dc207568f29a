//! Readers of JSON, json+ and terse.
//!
//! Start reading at [`jq_adds_up_the_bins`].

use super::bench::{Bench, assert_count, assert_near, from_pypi, number};
use crate::support::{Program, Run, has_programs, send};
use rustix::process::Signal;
use serde_json::{Value, json};

/// Two jobs of 256 I/Os each, one with a queue.
const JOBS: &str = "--size=1m --bs=4k --rw=randrw --invalidate=0 --name=a --filename=a --ioengine=psync \
                    --name=b --filename=b --ioengine=libaio --iodepth=4 --numjobs=2";

#[test]
fn jq_adds_up_the_bins() {
    if !has_programs("jq_adds_up_the_bins", &["jq"]) {
        return;
    }
    let bench = Bench::new("jq");
    bench.fio(&format!("--output-format=json+ {JOBS}"));
    let ios = "[.read,.write|.total_ios]|add";
    let bins = "[.read,.write|.clat_ns.bins|add]|add";
    std::fs::write(bench.scratch().join("filter"), format!("[.jobs[]|[.jobname,({ios}),({bins})]]")).expect("a file");
    let answer: Value = serde_json::from_str(&bench.call("jq -f filter o.json")).expect("jq writes JSON");
    assert_eq!(answer, json!([["a", 256, 256], ["b", 256, 256], ["b", 256, 256]]));
}

/// The number of reads in each report of a stream.
fn ios_of_reports(bench: &Bench) -> Vec<u64> {
    if bench.scratch().read("stream").is_empty() {
        return Vec::new();
    }
    serde_json::from_str(&bench.call("jq -c -s [.[].jobs[0].read.total_ios] stream")).expect("jq writes JSON")
}

#[test]
fn jq_takes_reports_in_a_row() {
    if !has_programs("jq_takes_reports_in_a_row", &["jq"]) {
        return;
    }
    for format in ["json", "json+"] {
        let bench = Bench::new("jq-stream");
        let arguments = format!(
            "--name=a --ioengine=null --size=1g --time_based --runtime=50 --output=stream --output-format={format}"
        );
        let mut running = Run::new(Program::Ferrio, bench.scratch().path(), &arguments).start();
        running.wait_until("a job", |running| !running.jobs().is_empty());
        let mut n_reports = 0;
        // The first reports may come before any I/O; wait for one that counts some.
        while ios_of_reports(&bench).last().is_none_or(|n_ios| *n_ios == 0) {
            send(running.pid(), Signal::USR1);
            n_reports += 1;
            running.wait_until("a report", |_| bench.scratch().read("stream").matches("\n}\n").count() == n_reports);
        }
        send(running.pid(), Signal::INT);
        running.finish();
        let ios = ios_of_reports(&bench);
        assert!(ios.len() == n_reports + 1 && ios.is_sorted(), "{ios:?}");
    }
}

#[test]
fn pandas_reads_a_document() {
    let Some(python) = from_pypi("pandas_reads_a_document", "python") else { return };
    let bench = Bench::new("pandas");
    for extra in ["", "--group_reporting"] {
        let document = bench.fio(&format!("--output-format=json+ {JOBS} {extra}"));
        let answer = bench.python(&python, "read_document.py", "o.json");
        let jobs = document["jobs"].as_array().expect("a list");
        assert_eq!(answer["rows"], jobs.len());
        assert_eq!(answer["names"], jobs.iter().map(|job| job["jobname"].clone()).collect::<Value>());
        for column in ["read.io_bytes", "write.total_ios", "read.iops", "write.clat_ns.mean", "usr_cpu"] {
            let pointer = format!("/{}", column.replace('.', "/"));
            let expected: f64 = jobs.iter().map(|job| number(job, &pointer)).sum();
            assert_near(answer["sums"][column].as_f64().expect("a sum"), expected, column);
        }
        let percentile = jobs.iter().map(|job| number(job, "/read/clat_ns/percentile/99.000000")).fold(0.0, f64::max);
        assert_near(answer["largest_99"].as_f64().expect("a number"), percentile, "percentile");
    }
}

/// Columns by their numbers in the reference's table of version 3.
#[test]
fn pandas_reads_terse_lines() {
    let Some(python) = from_pypi("pandas_reads_terse_lines", "python") else { return };
    let bench = Bench::new("terse");
    bench.call(&format!("fio --output=both --output-format=terse,json {JOBS}"));
    let both = bench.scratch().read("both");
    let (terse, document) = both.split_at(both.find("{\n").expect("a document"));
    bench.scratch().write("terse", terse);
    let document: Value = serde_json::from_str(document).expect("JSON");
    let lines = bench.python(&python, "read_terse.py", "terse");
    let jobs = document["jobs"].as_array().expect("a list");
    assert_eq!(lines.as_array().map(Vec::len), Some(3));
    for (line, job) in lines.as_array().expect("a list").iter().zip(jobs) {
        assert_eq!(line["job"], job["jobname"]);
        for (column, pointer) in [
            ("read_kib", "/read/io_kbytes"),
            ("read_bw", "/read/bw"),
            ("read_iops", "/read/iops"),
            ("read_ms", "/read/runtime"),
            ("write_kib", "/write/io_kbytes"),
            ("write_iops", "/write/iops"),
            ("context_switches", "/ctx"),
        ] {
            assert_near(line[column].as_f64().expect("a number"), number(job, pointer).trunc(), column);
        }
        // JSON has nanoseconds, terse has microseconds with six decimals.
        let mean_us = line["write_clat_mean"].as_f64().expect("a number");
        assert!((mean_us - number(job, "/write/clat_ns/mean") / 1_000.0).abs() < 2e-6, "{mean_us}");
    }
}

/// Column sums of the tables are the numbers of I/Os, and the tool's own check agrees.
#[test]
fn tables_of_latencies_have_every_io() {
    if !has_programs("tables_of_latencies_have_every_io", &["fio_jsonplus_clat2csv"]) {
        return;
    }
    let bench = Bench::new("clat2csv");
    let percentiles = "--slat_percentiles=1 --clat_percentiles=1 --lat_percentiles=1";
    let document = bench.fio(&format!("--output-format=json+ {percentiles} {JOBS}"));
    let said = bench.call("fio_jsonplus_clat2csv o.json table.csv");
    assert_eq!(said.matches("generated").count(), 3, "{said}");
    let said = bench.call("fio_jsonplus_clat2csv --validate o.json table.csv");
    assert_eq!(said.matches("validated").count(), 3, "{said}");
    for (index, job) in document["jobs"].as_array().expect("a list").iter().enumerate() {
        let text = bench.scratch().read(&format!("table_job{index}.csv"));
        let mut lines = text.lines();
        let heads: Vec<&str> = lines.next().expect("a head").split(',').map(str::trim).collect();
        let table: Vec<Vec<&str>> = lines.map(|line| line.split(',').map(str::trim).collect()).collect();
        for direction in ["read", "write", "trim"] {
            for latency in ["slat_ns", "clat_ns", "lat_ns"] {
                let head = format!("{direction}_{latency}_count");
                let column = heads.iter().position(|other| **other == head).unwrap_or_else(|| panic!("no {head}"));
                let sum: u64 = table.iter().filter_map(|row| row[column].parse::<u64>().ok()).sum();
                let expected = number(job, &format!("/{direction}/{latency}/N"));
                assert_count(sum as f64, expected, &format!("{head} of job {index}"));
                let share = table.iter().filter_map(|row| row[column + 2].parse::<f64>().ok()).next_back();
                assert_eq!(share, (expected > 0.0).then_some(1.0), "{head} of job {index}");
            }
        }
    }
}
