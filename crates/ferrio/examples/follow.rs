//! A run that is followed: a simulated device of which some I/Os stall, p99 of each second, and the findings at the end.

use ferrio::{Io, Job, Runner};
use std::io::Write;
use std::time::Duration;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Job::new("device").option("ioengine", "sim").option("filename", "device").option("size", "10g");
    let device = device.option("sim_service", "lognormal:80us/0.5").option("sim_channels", "4").option("iodepth", "8");
    let mut runner = Runner::new();
    runner.add(&device.option("rw", "randread").option("bs", "4k"))?;
    runner.set_all("runtime", "5")?;
    runner.set_all("time_based", "1")?;
    // Five seconds of the device, and a moment of ours.
    runner.virtual_time(true);
    let mut out = std::io::stdout();
    let measured = runner.follow(Duration::from_secs(1), |interval| {
        let Some(reads) = interval.figures(Io::Read) else { return };
        if let Some(p99) = reads.latency().and_then(|latency| latency.percentile(99.0)) {
            let to = interval.end().as_secs_f64();
            let doubt = if p99.is_doubtful { " (too few reads to be sure)" } else { "" };
            let _ = writeln!(
                out,
                "until {to:.1} s: {:.0} reads a second, p99 {:?}{doubt}",
                reads.ios_per_sec(),
                p99.latency
            );
        }
    })?;
    for message in measured.messages() {
        writeln!(out, "{message}")?;
    }
    for finding in measured.findings() {
        writeln!(out, "{finding} {}", finding.cure())?;
    }
    Ok(())
}
