//! CPU idleness (`--idle-prof`): a thread on each CPU gets only time that no other task wants, and counts the units of
//! work that it does in that time.
//!
//! Must not know: how the figures are shown. Start reading at [`IdleWatch`].
//! Facts: reference "CPU idleness".

use super::{Begun, Probe, Site};
use ferrio_spec::IdleDetail;
use ferrio_stats::note::During;
use ferrio_stats::{CpuIdleness, CpuShare, Evidence, Note};
use ferrio_sys::{scheduling, signals};
use std::hint::black_box;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Instant;

/// Steps of a unit of work: some microseconds, so that neither the part of a unit that is lost at the end of a
/// measurement nor the counting matters.
const N_STEPS: u32 = 2_048;
/// Number of batches for the calibration of a CPU; the fastest counts, because other tasks can only make a batch
/// slower.
const N_BATCHES: u32 = 20;
const N_BATCH_UNITS: u32 = 50;

/// The threads. Dropping this ends them.
struct IdleWatch {
    detail: IdleDetail,
    started_at: Instant,
    ends: Arc<AtomicBool>,
    meters: Vec<(Arc<Meter>, JoinHandle<()>)>,
}

/// Starts the probe for `--idle-prof`.
pub(super) fn start(site: &Site<'_>, begun: &mut Begun) {
    let Some(detail) = site.control.idle else { return };
    match IdleWatch::start(detail) {
        Ok(watch) => begun.probes.push(Box::new(watch)),
        Err(error) => begun.notes.push(Note::system(During::Idleness, &error)),
    }
}

impl Probe for IdleWatch {
    fn report(&self, evidence: &mut Evidence) {
        evidence.cpu_idleness = Some(self.report());
    }
}

/// One CPU.
struct Meter {
    cpu: u32,
    /// Time of a unit while no other task wants the CPU, nanoseconds.
    unit_ns: f64,
    n_units: Count,
}

/// A counter in a cache line of its own.
#[repr(align(64))]
#[derive(Default)]
struct Count(AtomicU64);

impl IdleWatch {
    /// Starts a thread on each CPU, and begins to measure when all are calibrated. CPUs that this process may not use
    /// are left out.
    fn start(detail: IdleDetail) -> io::Result<Self> {
        let cpus = scheduling::cpu_affinity().map_err(io::Error::other)?;
        let ends = Arc::new(AtomicBool::new(false));
        let (sender, receiver) = mpsc::channel();
        let start = |cpu: u32| {
            let (ends, sender) = (Arc::clone(&ends), sender.clone());
            let name = format!("ferrio-idle-{cpu}");
            std::thread::Builder::new().name(name).spawn(move || spin(cpu, sender, &ends))
        };
        let threads: Vec<(u32, io::Result<JoinHandle<()>>)> = cpus.iter().map(|cpu| (*cpu, start(*cpu))).collect();
        drop(sender);
        // This ends when each thread has sent its meter or given up.
        let mut meters: Vec<Arc<Meter>> = receiver.iter().collect();
        meters.sort_unstable_by_key(|meter| meter.cpu);
        if meters.is_empty() {
            return Err(io::Error::other("no CPU can be watched"));
        }
        let mut watch = Self { detail, started_at: Instant::now(), ends, meters: Vec::new() };
        for (cpu, thread) in threads {
            if let (Some(meter), Ok(thread)) = (meters.iter().find(|meter| meter.cpu == cpu), thread) {
                watch.meters.push((Arc::clone(meter), thread));
            }
        }
        watch.restart();
        Ok(watch)
    }

    /// Starts the measurement now.
    fn restart(&mut self) {
        self.meters.iter().for_each(|(meter, _)| meter.n_units.0.store(0, Ordering::Relaxed));
        self.started_at = Instant::now();
    }

    /// The figures since the start.
    fn report(&self) -> CpuIdleness {
        let elapsed_ns = self.started_at.elapsed().as_nanos().max(1) as f64;
        let share = |meter: &Meter| {
            let idle_ns = meter.n_units.0.load(Ordering::Relaxed) as f64 * meter.unit_ns;
            CpuShare { cpu: meter.cpu, idle_percent: (100.0 * idle_ns / elapsed_ns).min(100.0) }
        };
        let cpus: Vec<CpuShare> = self.meters.iter().map(|(meter, _)| share(meter)).collect();
        let units_us: Vec<f64> = self.meters.iter().map(|(meter, _)| meter.unit_ns / 1_000.0).collect();
        CpuIdleness::new(&cpus, self.detail == IdleDetail::PerCpu, &units_us)
    }
}

impl Drop for IdleWatch {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        for (_, thread) in self.meters.drain(..) {
            // A thread that panicked has no figures to give.
            let _ = thread.join();
        }
    }
}

/// `--idle-prof=calibrate`: only the times of units.
pub fn calibrate_idle() -> io::Result<CpuIdleness> {
    Ok(IdleWatch::start(IdleDetail::System)?.report())
}

/// The main function of a thread: calibrates itself, then works whenever no other task wants the CPU.
fn spin(cpu: u32, ready: mpsc::Sender<Arc<Meter>>, ends: &AtomicBool) {
    // Signals are for the supervisor.
    if signals::block_in_this_thread().and_then(|()| scheduling::set_cpu_affinity(&[cpu])).is_err() {
        return;
    }
    let meter = Arc::new(Meter { cpu, unit_ns: calibrated_ns(), n_units: Count::default() });
    if scheduling::set_idle_policy().is_err() || ready.send(Arc::clone(&meter)).is_err() {
        return;
    }
    drop(ready);
    while !ends.load(Ordering::Relaxed) {
        unit_of_work();
        meter.n_units.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Time of a unit, nanoseconds.
fn calibrated_ns() -> f64 {
    let batch_ns = |_| {
        let started_at = Instant::now();
        (0..N_BATCH_UNITS).for_each(|_| unit_of_work());
        started_at.elapsed().as_nanos() as f64 / f64::from(N_BATCH_UNITS)
    };
    (0..N_BATCHES).map(batch_ns).fold(f64::INFINITY, f64::min)
}

/// Work that uses only the CPU; each step depends on the one before.
fn unit_of_work() {
    let mut state = black_box(0x9e37_79b9_7f4a_7c15_u64);
    for _ in 0..N_STEPS {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    black_box(state);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cpu_has_a_share_and_a_unit() {
        let watch = IdleWatch::start(IdleDetail::PerCpu).unwrap();
        let report = watch.report();
        let cpus: Vec<u32> = report.cpus.iter().map(|share| share.cpu).collect();
        assert_eq!(cpus, scheduling::cpu_affinity().unwrap());
        assert!(report.cpus.iter().all(|share| (0.0..=100.0).contains(&share.idle_percent)), "{report:?}");
        assert!(report.unit_mean_us > 0.0 && report.unit_stddev_us >= 0.0, "{report:?}");
        drop(watch);
        assert!(calibrate_idle().unwrap().cpus.is_empty());
    }
}
