//! Checks within one report: figures that follow from each other, and figures that several formats show.
//!
//! Start reading at [`check`].

use super::report::Report;
use serde_json::Value;

const DIRECTIONS: [&str; 4] = ["read", "write", "trim", "mixed"];

/// Fails with a description of the figures that contradict each other.
pub(super) fn check(report: &Report, terse_version: usize) -> Result<(), String> {
    let document = report.document()?;
    let jobs = document["jobs"].as_array().ok_or("no jobs")?;
    for job in jobs {
        for name in DIRECTIONS.iter().filter(|name| job.get(**name).is_some()) {
            direction(&job[*name]).map_err(|error| format!("{name}: {error}"))?;
        }
        if job.get("sync").is_some() {
            latency(&job["sync"]["lat_ns"]).map_err(|error| format!("sync: {error}"))?;
        }
    }
    let lines: Vec<&String> = report.terse.iter().filter(|line| !line.starts_with(';')).collect();
    equal("lines of terse", lines.len(), jobs.len())?;
    for (job, line) in jobs.iter().zip(lines) {
        terse(job, line, terse_version)?;
    }
    issued(jobs, &report.normal)
}

fn equal<T: PartialEq + Copy + std::fmt::Debug>(what: &str, one: T, other: T) -> Result<(), String> {
    if one == other { Ok(()) } else { Err(format!("{what}: {one:?} and {other:?}")) }
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no whole number"))
}

fn float(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn direction(figures: &Value) -> Result<(), String> {
    let of = |key: &str| number(&figures[key]);
    equal("io_kbytes", of("io_kbytes"), of("io_bytes") >> 10)?;
    equal("bw", of("bw"), of("bw_bytes") / 1024)?;
    if of("runtime") > 0 {
        equal("bw_bytes", of("bw_bytes"), 1000 * of("io_bytes") / of("runtime"))?;
        let iops = 1000.0 * of("total_ios") as f64 / of("runtime") as f64;
        let shown = float(&figures["iops"]);
        equal("iops", format!("{shown:.6}").as_str(), format!("{iops:.6}").as_str())?;
    } else {
        equal("figures of no time", (of("bw_bytes"), float(&figures["iops"]) > 0.0), (0, false))?;
    }
    if of("bw_samples") > 0 {
        let mean = float(&figures["bw_mean"]);
        let is_within = of("bw_min") as f64 <= mean && mean <= of("bw_max") as f64;
        equal("mean of the bandwidths lies between the extremes", is_within, true)?;
    }
    for kind in ["slat_ns", "clat_ns", "lat_ns"] {
        latency(&figures[kind]).map_err(|error| format!("{kind}: {error}"))?;
    }
    Ok(())
}

fn latency(figures: &Value) -> Result<(), String> {
    let (n_samples, mean) = (number(&figures["N"]), float(&figures["mean"]));
    let (min, max) = (number(&figures["min"]) as f64, number(&figures["max"]) as f64);
    equal("mean lies between the extremes", min <= mean + 1e-6 && mean <= max + 1e-6, true)?;
    let counts = figures["bins"].as_object().map(|bins| bins.values().map(number).collect::<Vec<u64>>());
    if let Some(counts) = counts {
        equal("sum of the bins", counts.iter().sum(), n_samples)?;
        equal("empty bins", counts.contains(&0), false)?;
    }
    let values: Vec<u64> =
        figures["percentile"].as_object().map_or_else(Vec::new, |list| list.values().map(number).collect());
    equal("percentiles in order", values.is_sorted(), true)
}

/// Compares the terse fields that the JSON document has, too.
fn terse(job: &Value, line: &str, version: usize) -> Result<(), String> {
    let fields: Vec<&str> = line.split(';').collect();
    let n_head = if version == 2 { 4 } else { 5 };
    let n_of_direction = if version == 5 { 47 } else { 41 };
    let names: &[&str] = match (job.get("sync"), version) {
        (None, _) => &["mixed"],
        (_, 3) => &["read", "write"],
        _ => &["read", "write", "trim"],
    };
    equal("version", fields[0], &version.to_string())?;
    let head = [job["jobname"].as_str().unwrap_or_default(), &job["groupid"].to_string(), &job["error"].to_string()];
    equal("head", &fields[n_head - 3..n_head], &head)?;
    for (index, name) in names.iter().enumerate() {
        let start = n_head + index * n_of_direction;
        let figures = &job[*name];
        let iops = float(&figures["iops"]).trunc();
        let expected =
            [number(&figures["io_kbytes"]), number(&figures["bw"]), iops as u64, number(&figures["runtime"])];
        equal(
            name,
            &fields[start..start + 4],
            &expected.map(|figure| figure.to_string()).each_ref().map(String::as_str),
        )?;
        let mean = |kind: &str| format!("{:.6}", float(&figures[kind]["mean"]) / 1000.0);
        // With six digits shown, the mean is known to a thousandth.
        let is_near = |shown: &str, mean: String| {
            let (shown, mean): (f64, f64) = (shown.parse().unwrap_or(f64::NAN), mean.parse().unwrap_or(f64::NAN));
            (shown - mean).abs() < 2e-6
        };
        equal("mean of slat", is_near(fields[start + 6], mean("slat_ns")), true)?;
        equal("mean of clat", is_near(fields[start + 10], mean("clat_ns")), true)?;
        equal("mean of lat", is_near(fields[start + 34], mean("lat_ns")), true)?;
    }
    let tail =
        n_head + n_of_direction * (names.len() + usize::from(job.get("mixed").is_some() && job.get("sync").is_some()));
    let usage = ["ctx", "majf", "minf"].map(|key| job[key].to_string());
    equal("usage", &fields[tail + 2..tail + 5], &usage.each_ref().map(String::as_str))
}

/// `issued rwts: total=R,W,T,S` of the jobs that did something.
fn issued(jobs: &[Value], normal: &str) -> Result<(), String> {
    if jobs.iter().any(|job| job.get("sync").is_none()) {
        // Only one sum is reported for all directions.
        return Ok(());
    }
    let totals = |job: &Value| ["read", "write", "trim", "sync"].map(|name| number(&job[name]["total_ios"]));
    let expected: Vec<[u64; 4]> =
        jobs.iter().map(totals).filter(|counts| counts.iter().any(|count| *count > 0)).collect();
    let shown: Vec<[u64; 4]> = normal
        .lines()
        .filter_map(|line| line.trim().strip_prefix("issued rwts: total="))
        .map(|counts| {
            let mut counts = counts.split([',', ' ']).map(|count| count.parse().unwrap_or(u64::MAX));
            std::array::from_fn(|_| counts.next().unwrap_or(u64::MAX))
        })
        .filter(|counts: &[u64; 4]| counts.iter().any(|count| *count > 0))
        .collect();
    equal("issued", &shown[..], &expected[..])
}
