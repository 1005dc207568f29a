//! Bare loops: an offset in the order of the case (random: with a map), stamps of start, issue and end, and a histogram per I/O, and nothing else. One
//! I/O at a time, the stamp at which one ends is the start of the next; with several in flight each reads the clock three
//! times. No tool that measures an I/O in this way can cost much less on the
//! same machine; `cargo xtask bench` prints them beside ferrio.
//!
//! Must not know: jobs, plans, accounts. Start reading at [`run`].
#![forbid(unsafe_code)]

mod engine_loop;
mod offsets;
mod parts;

use anyhow::{Context, Result, bail, ensure};
use engine_loop::{EngineLoop, page_aligned};
use ferrio_stats::LatencyStat;
use ferrio_sys::Clock;
use offsets::{Offsets, Order};
use std::fs::File;
use std::hint::black_box;
use std::io::Write;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    run(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

/// `null FILE_BYTES N_IOS`, `null-queued FILE_BYTES N_IOS`, `parts N`, `fill BLOCK N`,
/// `pread ORDER PATH BLOCK N_IOS` (ORDER: `sequential` or `random`), or `engine NAME ORDER PATH DEPTH BATCH BLOCK N_IOS`.
fn run(arguments: &[&str]) -> Result<()> {
    match arguments {
        ["null", file_bytes, n_ios] => null_loop(number(file_bytes)?, number(n_ios)?),
        ["null-queued", file_bytes, n_ios] => null_queued_loop(number(file_bytes)?, number(n_ios)?),
        ["parts", n] => parts::print(number(n)?),
        ["fill", block, n_ios] => fill_loop(number(block)?, number(n_ios)?),
        ["pread", order, path, block, n_ios] => {
            pread_loop(Order::of_name(order)?, path, number(block)?, number(n_ios)?)
        }
        ["engine", name, order, path, depth, batch, block, n_ios] => {
            let (depth, batch) = (number(depth)? as u32, number(batch)? as u32);
            EngineLoop::new(name, Order::of_name(order)?, path, (depth, number(block)?))?.run(batch, number(n_ios)?)
        }
        _ => bail!(
            "usage: ferrio-bare null BYTES N | null-queued BYTES N | parts N | fill BLOCK N | pread ORDER PATH BLOCK N | engine NAME ORDER PATH DEPTH BATCH BLOCK N"
        ),
    }
}

fn number(text: &str) -> Result<u64> {
    text.parse().with_context(|| format!("{text} is no number"))
}

/// Submission, completion and total latency, as a tool reports them.
struct Latencies {
    slat: LatencyStat,
    clat: LatencyStat,
    lat: LatencyStat,
}

impl Latencies {
    fn new() -> Self {
        Self { slat: LatencyStat::new(false), clat: LatencyStat::new(true), lat: LatencyStat::new(false) }
    }

    #[inline]
    fn record(&mut self, clock: &Clock, start: u64, issue: u64, done: u64) {
        self.slat.record(clock.between_ns(start, issue));
        self.clat.record(clock.between_ns(issue, done));
        self.lat.record(clock.between_ns(start, done));
    }
}

fn null_loop(file_bytes: u64, n_ios: u64) -> Result<()> {
    let clock = Clock::new();
    let mut offsets = Offsets::new(Order::Random, file_bytes, 4096)?;
    let mut latencies = Latencies::new();
    let mut start = clock.stamp();
    for _ in 0..n_ios {
        black_box(offsets.next());
        let issue = clock.stamp();
        let done = clock.stamp();
        latencies.record(&clock, start, issue, done);
        start = done;
    }
    black_box(&latencies.clat.histogram);
    Ok(())
}

/// As the loop above, but the start of an I/O is stamped separately: with several in flight it is not the end of the
/// last one.
fn null_queued_loop(file_bytes: u64, n_ios: u64) -> Result<()> {
    let clock = Clock::new();
    let mut offsets = Offsets::new(Order::Random, file_bytes, 4096)?;
    let mut latencies = Latencies::new();
    for _ in 0..n_ios {
        let start = clock.stamp();
        black_box(offsets.next());
        let issue = clock.stamp();
        let done = clock.stamp();
        latencies.record(&clock, start, issue, done);
    }
    black_box(&latencies.clat.histogram);
    Ok(())
}

/// Half of a block is copied and half is cleared: the speed of the memory, without computing any data.
fn fill_loop(block_bytes: u64, n_blocks: u64) -> Result<()> {
    let half = usize::try_from(block_bytes / 2)?;
    let (source, mut block) = (vec![0x55_u8; half], vec![0_u8; half * 2]);
    for _ in 0..n_blocks {
        block[..half].copy_from_slice(black_box(&source));
        block[half..].fill(0);
        black_box(&mut block);
    }
    Ok(())
}

/// Reads of blocks in the order of the row of the table.
fn pread_loop(order: Order, path: &str, block_bytes: u64, n_ios: u64) -> Result<()> {
    let clock = Clock::new();
    let mut file = File::open(path).with_context(|| format!("cannot open {path}"))?;
    let mut offsets = Offsets::new(order, offsets::length_of(&mut file)?, block_bytes)?;
    let mut latencies = Latencies::new();
    let mut arena = page_aligned(block_bytes as usize)?;
    let buffer = arena.slice_mut(0, block_bytes as usize);
    let mut start = clock.stamp();
    for _ in 0..n_ios {
        let offset = offsets.next();
        let issue = clock.stamp();
        let n_bytes = ferrio_sys::file_io::pread(&file, buffer, offset)?;
        let done = clock.stamp();
        ensure!(n_bytes == buffer.len(), "short read at {offset}");
        latencies.record(&clock, start, issue, done);
        start = done;
    }
    // The smallest record that a tool of this kind keeps.
    let clat = &latencies.clat;
    Ok(writeln!(std::io::stdout(), "clat min {} ns, mean {:.1} ns", clat.min_ns, clat.mean_ns())?)
}
