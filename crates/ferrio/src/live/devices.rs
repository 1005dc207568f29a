//! How busy the devices are.
//!
//! Must not know: screens, pages. Start reading at [`Devices::busy`].

use ferrio_sys::disk_stats::DiskStats;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Time over which a share is taken.
const INTERVAL: Duration = Duration::from_secs(1);

/// The counters of the devices, a moment ago.
#[derive(Debug, Default)]
pub(crate) struct Devices {
    before: HashMap<String, (Instant, u64)>,
    shares: HashMap<String, f64>,
}

impl Devices {
    /// The share of the last second in which each device had something to do, 0 to 1. A device without counters is left out, and so is
    /// each in the first second.
    pub(crate) fn busy(&mut self, names: &[String]) -> Vec<(String, f64)> {
        for name in names {
            let is_due = self.before.get(name).is_none_or(|(at, _)| at.elapsed() >= INTERVAL);
            if is_due && let Some(io_ticks_ms) = ticks_ms(name) {
                let now = Instant::now();
                if let Some((at, before_ms)) = self.before.insert(name.clone(), (now, io_ticks_ms)) {
                    let passed_ms = now.duration_since(at).as_secs_f64() * 1e3;
                    self.shares
                        .insert(name.clone(), (io_ticks_ms.saturating_sub(before_ms) as f64 / passed_ms).min(1.0));
                }
            }
        }
        names.iter().filter_map(|name| Some((name.clone(), *self.shares.get(name)?))).collect()
    }
}

fn ticks_ms(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/sys/block/{name}/stat")).ok()?;
    Some(DiskStats::parse(&text).ok()?.io_ticks_ms)
}
