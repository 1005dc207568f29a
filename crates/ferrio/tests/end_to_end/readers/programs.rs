//! Programs that run `fio` and read its output, and a generator of job files.
//!
//! Start reading at [`generated_job_files_run`].

use super::bench::{Bench, assert_count, from_pypi, number, rows};
use crate::support::has_programs;

#[test]
fn generated_job_files_run() {
    if !has_programs("generated_job_files_run", &["genfio"]) {
        return;
    }
    let bench = Bench::new("genfio");
    let disk = bench.scratch().join("disk1");
    std::fs::write(&disk, vec![0; 4 << 20]).expect("a file");
    bench.call(&format!("genfio -d {} -b 4k,64k -r 1 -m randread -z 4m -c -D 4 -x pre", disk.display()));
    let names = bench.scratch().names();
    let job_file = names.iter().find(|name| name.strip_suffix(".fio").is_some()).expect("a job file");
    let document = bench.fio(&format!("--output-format=json {job_file}"));
    let jobs = document["jobs"].as_array().expect("a list");
    assert_eq!(jobs.len(), 2);
    for (job, number_of_job) in jobs.iter().zip(1..) {
        assert_eq!(job["error"], 0, "{job}");
        let options = &job["job options"];
        // The job writes a log with a row for each I/O. (As in fio, total_ios omits the I/Os in flight at the end of
        // the ramp.)
        let prefix = options["write_iops_log"].as_str().expect("a log");
        let log = bench.scratch().read(&format!("{prefix}_iops.{number_of_job}.log"));
        assert_count(rows(&log).len() as f64, number(job, "/read/clat_ns/N"), &log[..log.len().min(100)]);
    }
}

/// A script in fio's place that keeps each document that it hands on.
const KEEPING: &str = "#!/bin/sh\n'FERRIO' \"$@\" >document.$$\ncode=$?\ncat document.$$\nexit $code\n";

/// The table of cdm has the figures of the documents.
#[test]
fn cdm_shows_what_was_measured() {
    let Some(cdm) = from_pypi("cdm_shows_what_was_measured", "cdm") else { return };
    let bench = Bench::new("cdm");
    let fio = bench.scratch().join("bin/fio");
    std::fs::remove_file(&fio).expect("the link");
    std::fs::write(&fio, KEEPING.replace("FERRIO", env!("CARGO_BIN_EXE_ferrio"))).expect("a script");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&fio, executable).expect("permissions");
    let said = bench.call(&format!("{} -n 1 -s 4m -a seq,2,1 -a rnd,4,2 .", cdm.display()));
    let kept: Vec<String> = bench.scratch().names().into_iter().filter(|name| name.starts_with("document.")).collect();
    let mut shown: Vec<[f64; 2]> = Vec::new();
    for line in said.lines().filter(|line| line.starts_with('|')) {
        let figures: Vec<f64> = line.split('|').filter_map(|word| word.trim().parse().ok()).collect();
        if let [read, write] = figures[..] {
            shown.push([read, write]);
        }
    }
    assert_eq!(shown.len(), 4, "a bandwidth for each job, rates and latencies of the random one: {said}");
    let mut n_checked = 0;
    for name in kept {
        let document = bench.document(&name);
        for job in document["jobs"].as_array().expect("a list") {
            let (index, direction) = if number(job, "/read/total_ios") > 0.0 { (0, "read") } else { (1, "write") };
            let figures = &job[direction];
            for figure in
                [number(figures, "/bw_bytes") / 1e6, number(figures, "/iops"), number(figures, "/lat_ns/mean") / 1e3]
            {
                n_checked += usize::from(shown.iter().any(|pair| (pair[index] - figure).abs() < 0.0051));
            }
        }
    }
    // Four jobs: bandwidth of each, rate and latency of the two that are random.
    assert!(n_checked >= 8, "{n_checked} figures of the documents are in\n{said}");
}
