//! The rate at which a CPU copies memory, measured after runs with a job that claims to have been about as fast.
//!
//! Must not know: rules. Start reading at [`of_fast`].

use crate::evidence::ProbedWorker;
use ferrio_stats::{MemoryCopy, WorkerRecord};
use std::time::Instant;

/// A slower job needs no comparison, bytes a nanosecond.
const LEAST_RATE: f64 = 16.0;
/// Sizes of a copy. Which is the fastest depends on the caches, and on the instructions that the C library takes for each.
const COPY_BYTES: [usize; 3] = [16 << 10, 128 << 10, 1 << 20];
/// The fastest try counts, because others may have the CPU in between.
const N_TRIES: u32 = 32;

/// The copy rate, if a worker with files was so fast that it matters. It takes about 2 ms, and 4 MiB of memory.
pub(crate) fn of_fast(workers: &[ProbedWorker<'_>], records: &[WorkerRecord]) -> Option<MemoryCopy> {
    let is_fast = |record: &WorkerRecord| {
        let directions = record.stats.directions.0.iter();
        directions.into_iter().any(|figures| figures.bytes as f64 > figures.runtime_ns as f64 * LEAST_RATE)
    };
    let with_files = workers.iter().zip(records).filter(|(worker, _)| worker.has_files());
    let is_any = with_files.map(|(_, record)| record).any(is_fast);
    is_any.then(|| MemoryCopy { bytes_per_sec: bytes_per_sec() })
}

fn bytes_per_sec() -> u64 {
    COPY_BYTES.into_iter().map(copied_per_sec).fold(0.0, f64::max) as u64
}

/// Bytes a second of copies of one size.
fn copied_per_sec(n_bytes: usize) -> f64 {
    let (from, mut to) = (vec![1_u8; n_bytes], vec![0_u8; n_bytes]);
    let mut one_try = |_| {
        let started_at = Instant::now();
        to.copy_from_slice(std::hint::black_box(&from));
        std::hint::black_box(&mut to);
        started_at.elapsed()
    };
    let least = (0..N_TRIES).map(&mut one_try).min().unwrap_or_default();
    n_bytes as f64 / least.as_secs_f64().max(1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_measured() {
        assert!(bytes_per_sec() > 0);
    }
}
