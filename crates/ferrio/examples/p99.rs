//! A job as a value, a run of it, and one figure of its record: reads blocks of 4 KiB at random, and prints their p99.

use ferrio_session::Session;
use ferrio_spec::{Compatibility, JobSpec, RunSpec, SizeSpec};
use ferrio_stats::full_percentiles;
use ferrio_units::DataDirection;
use std::io::Write;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut job = JobSpec { name: "p99".to_owned(), ..JobSpec::default() };
    job.target.directories = vec![std::env::temp_dir()];
    job.extent.size = Some(SizeSpec::Bytes(4 << 20));
    job.pattern.random = true;
    job.layout.unlink = true;
    let spec = RunSpec { global_options: Vec::new(), jobs: vec![job], compatibility: Compatibility::Native };
    let outcome = Session::new(spec)?.run(&mut [])?;
    let latency = &outcome.record.workers[0].stats.directions[DataDirection::Read].clat;
    let histogram = latency.histogram.as_ref().ok_or("the job has kept no percentiles")?;
    for (_, p99_ns) in full_percentiles(histogram, &[99.0]) {
        writeln!(std::io::stdout(), "p99 of {} reads: {} us", latency.n_samples, p99_ns as f64 / 1e3)?;
    }
    Ok(())
}
