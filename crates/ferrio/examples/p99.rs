//! A job and one of its figures: reads blocks of 4 KiB at random, and prints their p99.

use ferrio::{Io, Job, Runner};
use std::io::Write;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir();
    let job =
        Job::new("p99").option("directory", folder.to_string_lossy()).option("size", "4m").option("rw", "randread");
    let mut runner = Runner::new();
    runner.add(&job.option("bs", "4k").option("unlink", "1"))?;
    let measured = runner.run()?;
    let reads = measured.job("p99").and_then(|job| job.figures(Io::Read)).ok_or("the job has read nothing")?;
    let latency = reads.latency().ok_or("no latency was measured")?;
    let p99 = latency.percentile(99.0).ok_or("no distribution was kept")?;
    writeln!(std::io::stdout(), "p99 of {} reads: {:?}", reads.n_ios(), p99.latency)?;
    Ok(())
}
