//! fio-plot and its bench-fio, which runs `fio`.
//!
//! Start reading at [`bench_fio_runs_and_fio_plot_draws`].

use super::bench::{Bench, assert_near, from_pypi, number, rows};
use serde_json::Value;
use std::path::Path;

/// Pictures to draw: name, directory, arguments.
const PICTURES: &[(&str, &str, &str)] = &[
    ("bars3d", "READS", "-L -r randread -t iops"),
    ("depths", "READS", "-l -r randread -d 1 4 -n 2 --show-cpu"),
    ("jobs", "READS", "-N -r randread -d 4 -n 1 2 --show-data"),
    ("histogram", "READS", "-H -r randread -d 4 -n 1"),
    ("compared", "TWICE", "-C -r randread -d 4 -n 1"),
    ("lines", "READS", "-g -r randread -t iops lat bw -d 4 -n 2"),
    ("steady", "STEADY", "-l -r randread -d 1 -n 1 --show-ss"),
    ("mixed", "MIXED", "-g -r randrw -t bw clat -d 1 -n 1 -f read write"),
];

/// Benchmarks that bench-fio runs with ferrio: the directory of their files, and the arguments.
const BENCHMARKS: &[(&str, &str)] = &[
    ("reads", "--mode randread --iodepth 1 4 --numjobs 1 2"),
    ("mixed", "--mode randrw --rwmixread 75 --destructive --iodepth 1 --numjobs 1"),
    // bench-fio writes the limit with two signs.
    ("steady", "--mode randread --iodepth 1 --numjobs 1 --ss iops:90% --ss-dur 2 --runtime 3"),
];

fn run_benchmarks(bench: &Bench, program: &Path) {
    let file = bench.scratch().join("target");
    std::fs::write(&file, vec![0; 4 << 20]).expect("a file");
    for (output, arguments) in BENCHMARKS {
        let common = "--type file --size 4m --runtime 1 --time-based --direct 0 --loginterval 200 --quiet";
        let what = format!("--target {} --output {output} {arguments}", file.display());
        bench.call(&format!("{} {common} {what}", program.display()));
    }
    let steady = bench.document("steady/target/4k/randread-1-1.json");
    assert_eq!(steady["jobs"][0]["steadystate"]["ss"], "iops:90.000000%");
}

#[test]
fn bench_fio_runs_and_fio_plot_draws() {
    let test = "bench_fio_runs_and_fio_plot_draws";
    let Some(bench_fio) = from_pypi(test, "bench-fio") else { return };
    let (Some(fio_plot), Some(python)) = (from_pypi(test, "fio-plot"), from_pypi(test, "python")) else { return };
    let bench = Bench::new("fio-plot");
    run_benchmarks(&bench, &bench_fio);
    let (reads, mixed, steady) = ("reads/target/4k", "mixed/target/randrw75/4k", "steady/target/4k");
    for (name, directory, arguments) in PICTURES {
        let directory = match *directory {
            "READS" => reads.to_owned(),
            "MIXED" => mixed.to_owned(),
            "STEADY" => steady.to_owned(),
            _ => format!("{reads} {reads}"),
        };
        bench.call_loud(&format!("{} -i {directory} -T title {arguments} -o {name}.png", fio_plot.display()));
        let picture = std::fs::read(bench.scratch().join(&format!("{name}.png"))).expect("a picture");
        assert!(picture.starts_with(b"\x89PNG\r\n") && picture.ends_with(b"IEND\xaeB`\x82"), "{name}");
    }
    bars_are_the_documents(&bench, &python, reads);
    lines_are_the_logs(&bench, &python, reads);
}

/// The heights of its bars are figures of the documents.
fn bars_are_the_documents(bench: &Bench, python: &Path, directory: &str) {
    let answer = bench.python(python, "read_fio_plot.py", &format!("-i {directory} -T t -L -r randread -t iops"));
    let bars = answer[0]["data"].as_array().expect("bars");
    assert_eq!(bars.len(), 4);
    for bar in bars {
        let text = |key: &str| bar[key].as_str().expect("text").to_owned();
        let (depth, jobs) = (text("iodepth"), text("numjobs"));
        let document = bench.document(&format!("{directory}/randread-{depth}-{jobs}.json"));
        let jobs = document["jobs"].as_array().expect("a list");
        // IOPS of the jobs are summed; the latency is their mean.
        let sum = |pointer: &str| jobs.iter().map(|job| number(job, pointer)).sum::<f64>();
        for (key, expected) in [
            ("iops", sum("/read/iops")),
            ("bw", sum("/read/bw")),
            ("lat", sum("/read/lat_ns/mean") / jobs.len() as f64),
        ] {
            assert_near(number(bar, &format!("/{key}")), expected, &format!("{key} at depth {depth}"));
        }
    }
}

/// A point of its lines is the sum, or the mean, of the rows of both jobs.
fn lines_are_the_logs(bench: &Bench, python: &Path, directory: &str) {
    for (kind, divisor) in [("iops", 1.0), ("lat", 2.0)] {
        let arguments = format!("-i {directory} -T t -g -r randread -t {kind} -d 4 -n 2");
        let answer = bench.python(python, "read_fio_plot.py", &arguments);
        let points = answer[0]["data"][0]["read"].as_array().expect("points");
        let values: Vec<Vec<Vec<f64>>> = (1..=2)
            .map(|job| {
                rows(&bench.scratch().read(&format!("{directory}/randread-iodepth-4-numjobs-2_{kind}.{job}.log")))
            })
            .collect();
        let n_rows = values[0].len().min(values[1].len());
        assert!(n_rows >= 1 && points.len() == n_rows, "{n_rows} rows, {} points", points.len());
        for (point, (row, other)) in points.iter().zip(values[0].iter().zip(&values[1])) {
            let pair: Vec<f64> = point.as_array().expect("a pair").iter().filter_map(Value::as_f64).collect();
            assert_near(pair[0], f64::midpoint(row[0], other[0]), "time");
            assert_near(pair[1], (row[1] + other[1]) / divisor, kind);
        }
    }
}
