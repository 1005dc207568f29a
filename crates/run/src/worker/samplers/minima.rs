//! The minimum rates of a job: `rate_min`, `rate_iops_min`.
//!
//! Must not know: how I/O is done. Start reading at [`Minima::at`].
//! Facts: reference "Rates and pauses", and the messages of fio 3.41.

use crate::error::{Failure, failure};
use crate::plan::WorkerPlan;
use crate::worker::core::account::Account;
use ferrio_stats::note::{IoNote, RateMiss};
use ferrio_sys::errno::EIO;
use ferrio_units::{DataDirection, PerDirection};

/// Time at the start of a job in which the rates are not checked, ns, because it may start slowly.
const GRACE_NS: u64 = 2_000_000_000;

/// Amounts that a worker has moved since it began.
#[derive(Debug, Clone, Copy)]
struct Moved {
    bytes: PerDirection<u64>,
    ios: PerDirection<u64>,
}

/// The minimum rates, and the window over which they are checked.
#[derive(Debug)]
pub(crate) struct Minima {
    name: String,
    bytes_per_sec: PerDirection<u64>,
    ios_per_sec: PerDirection<u64>,
    cycle_ns: u64,
    start_ns: u64,
    end_ns: u64,
    /// Amounts at the start of the window; `None`: the first has not begun.
    before: Option<Moved>,
}

impl Minima {
    pub(crate) fn new(plan: &WorkerPlan) -> Self {
        let pace = &plan.spec.pace;
        let used = plan.used_directions();
        let of_used = |rates: [u64; 3]| {
            PerDirection(DataDirection::ALL.map(|direction| if used[direction] { rates[direction.index()] } else { 0 }))
        };
        Self {
            name: plan.spec.name.clone(),
            bytes_per_sec: of_used(pace.min_bytes_per_sec.0),
            ios_per_sec: of_used(pace.min_ios_per_sec.0.map(u64::from)),
            cycle_ns: u64::from(pace.cycle_ms.max(1)).saturating_mul(1_000_000),
            start_ns: 0,
            end_ns: u64::MAX,
            before: None,
        }
    }

    /// Counted I/O begins now.
    pub(crate) fn start(&mut self, now_ns: u64) {
        self.before = None;
        let has_any = self.bytes_per_sec.0.iter().chain(&self.ios_per_sec.0).any(|rate| *rate > 0);
        self.end_ns = if has_any { now_ns.saturating_add(GRACE_NS) } else { u64::MAX };
    }

    /// Time of the next check; `u64::MAX`: never.
    pub(crate) fn next_ns(&self) -> u64 {
        self.end_ns
    }

    /// Ends the window. The error tells of each direction that was too slow.
    pub(crate) fn at(&mut self, now_ns: u64, account: &Account) -> Result<(), Failure> {
        let moved = Moved { bytes: account.bytes(), ios: account.ios() };
        debug_assert!(now_ns >= self.start_ns, "a window ends after its start");
        let misses = self.before.map(|before| self.misses(now_ns, before, moved));
        (self.before, self.start_ns) = (Some(moved), now_ns);
        self.end_ns = now_ns.saturating_add(self.cycle_ns);
        match misses {
            Some(misses) if !misses.is_empty() => {
                Err(failure!(EIO, "check_min_rate").explained(IoNote::TooSlow { job: self.name.clone(), misses }))
            }
            _ => Ok(()),
        }
    }

    fn misses(&self, now_ns: u64, before: Moved, now: Moved) -> Vec<RateMiss> {
        let elapsed_ns = now_ns.saturating_sub(self.start_ns).max(1);
        let per_sec = |now: u64, before: u64| {
            let count = u128::from(now.saturating_sub(before));
            u64::try_from(count * 1_000_000_000 / u128::from(elapsed_ns)).unwrap_or(u64::MAX)
        };
        let mut misses = Vec::new();
        for direction in DataDirection::ALL {
            let least = self.bytes_per_sec[direction];
            let found = per_sec(now.bytes[direction], before.bytes[direction]);
            if found < least {
                misses.push(RateMiss::Bytes { least, found });
                continue;
            }
            let least = self.ios_per_sec[direction];
            let found = per_sec(now.ios[direction], before.ios[direction]);
            if found < least {
                misses.push(RateMiss::Ios { least, found });
            }
        }
        misses
    }
}
