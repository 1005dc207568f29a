//! Do the counters of all CPUs show one time? Threads, one on each CPU, take numbers from one counter in memory, and read the
//! counter of their CPU beside it: a reading with a later number must not be earlier.
//!
//! Must not know: calibration. Start reading at [`run`].

use crate::ui::console::Console;
use ferrio_sys::clock::{Clock, cpu_counter_in_order};
use ferrio_sys::scheduling::{cpu_affinity, set_cpu_affinity};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};

/// Readings of each CPU.
const N_READINGS: usize = 500_000;

/// Readings that are earlier than they may be are shown up to this number.
const MOST_SHOWN: usize = 10;

/// A number, and the counter that was read after it was taken and before the next one of that thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CounterReading {
    /// Number before the counter was read.
    number: u64,
    stamp: u64,
    cpu: u32,
}

/// Two readings in the wrong order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Backwards {
    earlier: CounterReading,
    later: CounterReading,
}

/// Tests the CPUs that this program may use, and prints fio's lines.
pub(super) fn run(console: &mut Console) -> ExitCode {
    let Some(clock) = Clock::new_cpu_counter() else {
        console.info("cs: reliable_tsc: no\n");
        console.info("cs: the counter of the CPUs is not used: the clock of the kernel takes the time\n");
        return ExitCode::FAILURE;
    };
    console.info("cs: reliable_tsc: yes\n");
    for line in clock.describe() {
        console.info(&format!("time     {} {line}\n", std::process::id()));
    }
    let cpus = match cpu_affinity() {
        Ok(cpus) => cpus,
        Err(error) => {
            console.error(&format!("cs: the CPUs are not known: {error}\n"));
            return ExitCode::FAILURE;
        }
    };
    console.info(&format!("cs: Testing {} CPUs\n", cpus.len()));
    let readings = match read_all(&cpus) {
        Ok(readings) => readings,
        Err(error) => {
            console.error(&format!("cs: a thread could not run on its CPU: {error}\n"));
            return ExitCode::FAILURE;
        }
    };
    for (cpu, of_cpu) in cpus.iter().zip(&readings) {
        let first = of_cpu.first().map_or(0, |reading| reading.stamp);
        console.info(&format!("cs: cpu {cpu:2}: {} clocks seen, first {first}\n", of_cpu.len()));
    }
    let wrong = backwards(readings.into_iter().flatten().collect());
    for Backwards { earlier, later } in wrong.iter().take(MOST_SHOWN) {
        console.info(&format!(
            "cs: CPU clock mismatch (diff={}): cpu {} has {} after cpu {} had {}\n",
            earlier.stamp - later.stamp,
            later.cpu,
            later.stamp,
            earlier.cpu,
            earlier.stamp
        ));
    }
    console.info(if wrong.is_empty() { "cs: Pass!\n" } else { "cs: Failed\n" });
    if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn read_all(cpus: &[u32]) -> ferrio_sys::Result<Vec<Vec<CounterReading>>> {
    let (numbers, start) = (Arc::new(AtomicU64::new(0)), Arc::new(Barrier::new(cpus.len())));
    std::thread::scope(|scope| {
        let threads: Vec<_> = cpus
            .iter()
            .map(|cpu| {
                let (numbers, start) = (Arc::clone(&numbers), Arc::clone(&start));
                scope.spawn(move || {
                    let pinned = set_cpu_affinity(&[*cpu]);
                    let mut readings = Vec::with_capacity(N_READINGS);
                    // Also a thread that could not be pinned is waited for by the others.
                    start.wait();
                    pinned?;
                    readings.extend((0..N_READINGS).map(|_| {
                        let number = numbers.fetch_add(1, Ordering::SeqCst);
                        CounterReading { number, stamp: cpu_counter_in_order(), cpu: *cpu }
                    }));
                    Ok(readings)
                })
            })
            .collect();
        // A thread that panics has nothing to say but its panic.
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// Readings that are earlier than one that was finished before they were begun: a thread reads its counter before it takes its next
/// number, so that all readings are in order whose numbers are not below that next number.
fn backwards(mut readings: Vec<CounterReading>) -> Vec<Backwards> {
    // The reading of a number is over once its CPU has taken the next one.
    let mut ends: Vec<(u64, CounterReading)> = Vec::with_capacity(readings.len());
    readings.sort_unstable_by_key(|reading| (reading.cpu, reading.number));
    for pair in readings.windows(2).filter(|pair| pair[0].cpu == pair[1].cpu) {
        ends.push((pair[1].number, pair[0]));
    }
    ends.sort_unstable_by_key(|(end, _)| *end);
    readings.sort_unstable_by_key(|reading| reading.number);
    let mut wrong = Vec::new();
    let mut ended = ends.into_iter().peekable();
    let mut latest: Option<CounterReading> = None;
    for reading in readings {
        while let Some((_, over)) = ended.next_if(|(end, _)| *end <= reading.number) {
            if latest.is_none_or(|latest| over.stamp > latest.stamp) {
                latest = Some(over);
            }
        }
        if let Some(earlier) = latest.filter(|latest| latest.stamp > reading.stamp) {
            wrong.push(Backwards { earlier, later: reading });
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(cpu: u32, number: u64, stamp: u64) -> CounterReading {
        CounterReading { number, stamp, cpu }
    }

    #[test]
    fn only_a_finished_reading_makes_another_one_late() {
        // CPU 0 takes 0, 2, 4; CPU 1 takes 1, 3, 5.
        let of_one_time = [0, 1, 2, 3, 4, 5].map(|number| reading(number as u32 % 2, number, 100 + number));
        assert_eq!(backwards(of_one_time.to_vec()), []);
        // Number 1 was taken while number 0 was still being read: no order between them.
        let overlapping = vec![reading(0, 0, 110), reading(1, 1, 105), reading(0, 2, 120), reading(1, 3, 121)];
        assert_eq!(backwards(overlapping), []);
        // Number 0 was read before number 2 was taken, and number 3 comes after that.
        let behind = vec![reading(0, 0, 110), reading(1, 1, 105), reading(0, 2, 120), reading(1, 3, 108)];
        let expected = Backwards { earlier: reading(0, 0, 110), later: reading(1, 3, 108) };
        assert_eq!(backwards(behind), [expected]);
        // A counter that runs backwards on one CPU.
        let one = vec![reading(0, 0, 110), reading(0, 1, 109), reading(0, 2, 111)];
        assert_eq!(backwards(one).len(), 1);
    }
}
