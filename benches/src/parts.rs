//! Cost of each part of an I/O by itself: the loop repeats one part many times and does nothing else.
//!
//! Must not know: engines, jobs. Start reading at [`print()`]. The cost of a part alone is an upper bound of its cost
//! in the loop, where the CPU executes several parts at once.

use crate::offsets::{Offsets, Order};
use anyhow::Result;
use ferrio_stats::{LatencyBuckets, LatencyStat};
use ferrio_sys::Clock;
use std::hint::black_box;
use std::io::Write;

/// Rounds of each part. The fastest is printed, because disturbances only make a round slower.
const N_ROUNDS: u32 = 7;

/// Prints nanoseconds of each part, over `n` repetitions.
pub(crate) fn print(n: u64) -> Result<()> {
    let mut parts = Parts { n, lines: Vec::new() };
    clocks(&mut parts);
    let mut offsets = Offsets::new(Order::Random, 64 << 30, 4096)?;
    parts.time("random offset, each block once, map of 2 MiB", |_| offsets.next());
    let mut offsets = Offsets::new(Order::Random, 1 << 30, 4096)?;
    parts.time("random offset, each block once, map of 32 KiB", |_| offsets.next());
    statistics(&mut parts);
    Ok(std::io::stdout().write_all(parts.lines.concat().as_bytes())?)
}

fn clocks(parts: &mut Parts) {
    let clock = Clock::new();
    parts.time("read of the clock", |_| clock.stamp());
    let monotonic = Clock::new_monotonic();
    parts.time("read of CLOCK_MONOTONIC", |_| monotonic.stamp());
    parts.time("ticks to nanoseconds", |at| clock.to_ns(at));
}

fn statistics(parts: &mut Parts) {
    let mut plain = LatencyStat::new(false);
    parts.time("latency without histogram", |at| black_box(&mut plain).record(scattered(at)));
    let mut full = LatencyStat::new(true);
    parts.time("latency with histogram", |at| black_box(&mut full).record(scattered(at)));
    let mut buckets = LatencyBuckets::default();
    parts.time("coarse buckets of the report", |at| black_box(&mut buckets).record(scattered(at)));
}

/// Latencies of up to a microsecond; neighbours are in different buckets.
fn scattered(at: u64) -> u64 {
    at.wrapping_mul(0x61C8_8646_80B5_83EB) >> 54
}

struct Parts {
    n: u64,
    lines: Vec<String>,
}

impl Parts {
    /// Adds the line of a part: nanoseconds a repetition of the fastest round.
    fn time<T>(&mut self, name: &str, mut part: impl FnMut(u64) -> T) {
        let clock = Clock::new_monotonic();
        let mut fastest_ns = u64::MAX;
        for _ in 0..N_ROUNDS {
            let start = clock.stamp();
            for at in 0..self.n {
                black_box(part(black_box(at)));
            }
            fastest_ns = fastest_ns.min(clock.stamp() - start);
        }
        self.lines.push(format!("{:6.1} ns  {name}\n", fastest_ns as f64 / self.n.max(1) as f64));
    }
}
