//! Clocks of other hosts: the difference between a worker's clock and the coordinator's, from the round trips of questions for the time.
//!
//! Must not know: connections. Start reading at [`ClockOffset::add`].

/// The offset of a clock: that clock minus ours. Of all questions, the one with the shortest round trip tells it best, to within half of
/// that trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ClockOffset {
    best: Option<ClockReading>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ClockReading {
    offset_ns: i64,
    round_trip_ns: u64,
}

impl ClockOffset {
    /// Counts an answer that came at `now_ns` of our clock, for a question of `asked_ns`.
    pub(crate) fn add(&mut self, asked_ns: u64, read_ns: u64, now_ns: u64) {
        // An answer from before its question, or of another question, tells nothing.
        let Some(round_trip_ns) = now_ns.checked_sub(asked_ns) else { return };
        let middle_ns = asked_ns + round_trip_ns / 2;
        let reading = ClockReading { offset_ns: read_ns.wrapping_sub(middle_ns) as i64, round_trip_ns };
        if self.best.is_none_or(|best| round_trip_ns < best.round_trip_ns) {
            self.best = Some(reading);
        }
    }

    /// The time of that clock at a time of ours.
    pub(crate) fn there(&self, here_ns: u64) -> u64 {
        here_ns.wrapping_add_signed(self.offset_ns())
    }

    /// Our time at a time of that clock.
    pub(crate) fn here(&self, there_ns: u64) -> u64 {
        there_ns.wrapping_sub(self.offset_ns() as u64)
    }

    /// That clock minus ours, nanoseconds; 0: unknown.
    pub(crate) fn offset_ns(&self) -> i64 {
        self.best.map_or(0, |best| best.offset_ns)
    }

    /// The offset is right to within so many nanoseconds; `None`: unknown.
    pub(crate) fn uncertainty_ns(&self) -> Option<u64> {
        self.best.map(|best| best.round_trip_ns / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_round_trip_counts() {
        let mut clock = ClockOffset::default();
        assert_eq!((clock.there(7), clock.uncertainty_ns()), (7, None));
        // That clock is 1,000 ahead; the second question has a detour on its way back.
        clock.add(100, 1_105, 110);
        clock.add(200, 1_205, 260);
        clock.add(300, 9, 200);
        assert_eq!((clock.offset_ns(), clock.uncertainty_ns()), (1_000, Some(5)));
        assert_eq!((clock.there(500), clock.here(1_500)), (1_500, 500));
    }

    #[test]
    fn clocks_may_be_behind_and_hostile() {
        let mut clock = ClockOffset::default();
        clock.add(1_000, 10, 1_010);
        assert_eq!((clock.there(2_000), clock.here(1_005)), (1_005, 2_000));
        clock.add(1_000, u64::MAX, 1_001);
        let _ = (clock.there(u64::MAX), clock.here(0));
    }
}
