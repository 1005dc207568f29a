//! Course of the machine's clocks during the run: whether the time of day was set, whether the machine was suspended.
//!
//! Must not know: jobs. Start reading at [`HostClockProbe`].

use super::{Begun, Probe, Site};
use ferrio_stats::{Evidence, HostClock};
use ferrio_sys::clock::ClockOffsets;

/// Clocks are read one after another, so that less than a millisecond may pass between them.
const NS_PER_MS: i64 = 1_000_000;

/// Distances of the clocks at the start.
struct HostClockProbe(ClockOffsets);

pub(super) fn start(_: &Site<'_>, begun: &mut Begun) {
    begun.probes.push(Box::new(HostClockProbe(ClockOffsets::read())));
}

impl Probe for HostClockProbe {
    fn report(&self, evidence: &mut Evidence) {
        evidence.host_clock = Some(since(&ClockOffsets::read(), &self.0));
    }
}

fn since(now: &ClockOffsets, before: &ClockOffsets) -> HostClock {
    let suspended_ns = now.boot_ns.saturating_sub(before.boot_ns);
    // The time of day goes on while the machine is suspended, and the monotonic clock does not.
    let moved_ns = now.day_ns.saturating_sub(before.day_ns);
    HostClock {
        stepped_ms: moved_ns.saturating_sub(suspended_ns) / NS_PER_MS,
        suspended_ms: u64::try_from(suspended_ns / NS_PER_MS).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suspended_machine_has_not_set_its_clock() {
        let before = ClockOffsets { day_ns: 1_000, boot_ns: 10 };
        let at = |day_ms: i64, boot_ms: i64| {
            since(&ClockOffsets { day_ns: 1_900 + day_ms * NS_PER_MS, boot_ns: 10 + boot_ms * NS_PER_MS }, &before)
        };
        assert_eq!(at(0, 0), HostClock::default());
        assert_eq!(at(700, 0), HostClock { stepped_ms: 700, suspended_ms: 0 });
        assert_eq!(at(-600, 0), HostClock { stepped_ms: -599, suspended_ms: 0 });
        assert_eq!(at(5_000, 5_000), HostClock { stepped_ms: 0, suspended_ms: 5_000 });
        let far = since(&ClockOffsets { day_ns: i64::MAX, boot_ns: i64::MIN }, &before);
        assert_eq!(far.suspended_ms, 0, "{far:?}");
    }
}
