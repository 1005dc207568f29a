//! Facts about the machine, and whether it was quiet enough during a measurement.
//!
//! Must not know: cases. Start reading at [`Noise`].

use super::figures::{Figures, spread};
use super::programs::Programs;
use ferrio_sys::limits::Usage;
use std::fs;
use std::process::Command;
use std::time::Instant;

/// If fio's own figures spread more than this, the case proves nothing.
const MAX_SPREAD: f64 = 0.25;
/// Share of the machine's CPU time that others may use or the host may steal.
const MAX_OTHERS: f64 = 0.10;
/// Nanoseconds of the kernel's clock tick in `/proc/stat` (100 a second on every Linux that user space sees).
const TICK_NS: f64 = 1e7;

/// Facts about the machine of the measurement.
pub(super) struct Machine;

impl Machine {
    /// CPU, kernel, programs, load, for the head of the report.
    pub(super) fn describe(programs: &Programs) -> String {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
        let cpus = text("/proc/cpuinfo");
        let model = cpus.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split_once(": "));
        let version = Command::new(&programs.peer).arg("--version").output().map(|output| output.stdout);
        format!(
            "machine: {} x {}, Linux {}, load {}\npeer: {} ({})",
            std::thread::available_parallelism().map_or(1, usize::from),
            model.map_or("unknown CPU", |(_, model)| model),
            text("/proc/sys/kernel/osrelease"),
            text("/proc/loadavg").split(' ').take(3).collect::<Vec<_>>().join(" "),
            String::from_utf8_lossy(&version.unwrap_or_default()).trim(),
            programs.peer.display(),
        )
    }
}

/// CPU times of the whole machine since it started, in ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct CpuTimes {
    busy: f64,
    idle: f64,
    steal: f64,
}

impl CpuTimes {
    fn now() -> Self {
        fs::read_to_string("/proc/stat").ok().and_then(|text| Self::parse(&text)).unwrap_or_default()
    }

    /// The line `cpu user nice system idle iowait irq softirq steal ...`.
    fn parse(text: &str) -> Option<Self> {
        let line = text.lines().find(|line| line.starts_with("cpu "))?;
        let ticks: Vec<f64> = line.split_whitespace().skip(1).map_while(|word| word.parse().ok()).collect();
        let [user, nice, system, idle, iowait, irq, softirq, steal] = *ticks.first_chunk::<8>()?;
        Some(Self { busy: user + nice + system + irq + softirq, idle: idle + iowait, steal })
    }
}

/// Noise of the machine during a case.
pub(super) struct Noise {
    times: CpuTimes,
    used: Usage,
    start: Instant,
    /// Shares of the machine's CPU time over the case.
    others: f64,
    steal: f64,
    seconds: f64,
    /// Spread of fio's wall and CPU times.
    wall_spread: f64,
    cpu_spread: f64,
    /// Spread of the third program's wall times; 0 without one.
    beside_spread: f64,
}

impl Noise {
    /// A case begins.
    pub(super) fn start() -> Self {
        Self {
            times: CpuTimes::now(),
            used: Usage::of_children(),
            start: Instant::now(),
            others: 0.0,
            steal: 0.0,
            seconds: 0.0,
            wall_spread: 0.0,
            cpu_spread: 0.0,
            beside_spread: 0.0,
        }
    }

    /// Ends the observation.
    pub(super) fn finish(&mut self, figures: &Figures) {
        let (now, used) = (CpuTimes::now(), Usage::of_children().since(self.used));
        let (busy, steal) = (now.busy - self.times.busy, now.steal - self.times.steal);
        let total = (busy + steal + now.idle - self.times.idle).max(1.0);
        let ours = (used.user_ns + used.system_ns) as f64 / TICK_NS;
        self.others = ((busy - ours) / total).max(0.0);
        self.steal = steal / total;
        self.seconds = self.start.elapsed().as_secs_f64();
        self.wall_spread = spread(figures.all(|pair| pair.peer.wall_ns));
        self.beside_spread = spread(figures.pairs.iter().filter_map(|pair| Some(pair.beside?.wall_ns)));
        self.cpu_spread = spread(figures.all(|pair| pair.peer.cpu_ns()));
    }

    /// The reason why wall times are unreliable, if they are.
    pub(super) fn complaint(&self) -> Option<String> {
        let mut reasons = Vec::new();
        if self.wall_spread > MAX_SPREAD {
            reasons.push(format!("fio's own wall times spread over {:.0} %", 100.0 * self.wall_spread));
        }
        if self.cpu_spread > MAX_SPREAD {
            reasons.push(format!("fio's own CPU times spread over {:.0} %", 100.0 * self.cpu_spread));
        }
        if self.beside_spread > MAX_SPREAD {
            let percent = 100.0 * self.beside_spread;
            reasons.push(format!("wall times of the program beside spread over {percent:.0} %"));
        }
        if self.others > MAX_OTHERS {
            reasons.push(format!("others used {:.0} % of the CPUs", 100.0 * self.others));
        }
        if self.steal > MAX_OTHERS {
            reasons.push(format!("the host took {:.0} % of the CPUs", 100.0 * self.steal));
        }
        (!reasons.is_empty()).then(|| reasons.join(", "))
    }

    /// One line for the report.
    pub(super) fn describe(&self) -> String {
        let shares = format!(
            "{:.0} s; others used {:.0} % of the CPUs, the host {:.0} %; spread of fio: wall {:.0} %, CPU {:.0} %",
            self.seconds,
            100.0 * self.others,
            100.0 * self.steal,
            100.0 * self.wall_spread,
            100.0 * self.cpu_spread
        );
        match self.complaint() {
            Some(reasons) => format!("TOO NOISY ({reasons}): {shares}"),
            None => format!("quiet enough: {shares}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_of_proc_stat_is_read() {
        let text = "cpu  691867 3859 81654 467890 1463 0 1322 239 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
        let expected = CpuTimes { busy: 691_867.0 + 3_859.0 + 81_654.0 + 1_322.0, idle: 469_353.0, steal: 239.0 };
        assert_eq!(CpuTimes::parse(text), Some(expected));
        assert_eq!(CpuTimes::parse("cpu 1 2 3\n"), None);
        assert_eq!(CpuTimes::parse(""), None);
    }
}
