//! Figures by interval of time, each interval with its true start and end.
//!
//! Must not know: what the figures are. Start reading at [`TimeIntervals`]. Memory is bounded: when there are too many intervals,
//! neighbours become one. Nothing is kept of times without figures: a gap stays a gap.

/// Figures that can be joined: those of two intervals become those of one.
pub trait JoinFigures: Clone {
    /// Takes in the figures of another interval.
    fn join(&mut self, other: &Self);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimeInterval<T> {
    /// Its start, nanoseconds since the base of its series.
    pub start_ns: u64,
    /// Its end, behind its start.
    pub end_ns: u64,
    pub figures: T,
}

impl<T> TimeInterval<T> {
    /// Its length, nanoseconds, at least 1.
    pub fn length_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns).max(1)
    }

    pub fn middle_ns(&self) -> u64 {
        self.start_ns.saturating_add(self.length_ns() / 2)
    }

    /// The time that it shares with another stretch of time, nanoseconds.
    pub fn overlap_ns(&self, start_ns: u64, end_ns: u64) -> u64 {
        self.end_ns.min(end_ns).saturating_sub(self.start_ns.max(start_ns))
    }
}

/// No time is later, so that sums of times fit.
const LAST_NS: u64 = u64::MAX / 4;

/// Intervals in the order of time, none of which overlaps another. Those of foreign logs have any length and gaps between them, so that neighbours
/// are joined by their times; series of equal intervals join pairs with [`ferrio_stats::halved`].
#[derive(Debug, Clone, PartialEq)]
pub struct TimeIntervals<T> {
    all: Vec<TimeInterval<T>>,
    /// Length of the intervals that moments become part of, nanoseconds, at least 1.
    cell_ns: u64,
}

impl<T: JoinFigures> TimeIntervals<T> {
    /// No intervals yet; a moment becomes part of an interval of this length (at least 1).
    pub fn new(cell_ns: u64) -> Self {
        Self { all: Vec::new(), cell_ns: cell_ns.max(1) }
    }

    pub fn all(&self) -> &[TimeInterval<T>] {
        &self.all
    }

    pub fn all_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut T> {
        self.all.iter_mut().map(|interval| &mut interval.figures)
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Adds the figures of an interval, and keeps at most `most` intervals (at least 2). A part that was known before is joined.
    pub fn add(&mut self, start_ns: u64, end_ns: u64, figures: &T, most: usize) {
        let start_ns = start_ns.min(LAST_NS);
        let end_ns = end_ns.clamp(start_ns + 1, LAST_NS + 1);
        let place = self.place_behind(start_ns);
        let next_ns = self.all.get(place).map_or(u64::MAX, |next| next.start_ns);
        let end_ns = end_ns.min(next_ns);
        let number = |start_ns: u64, end_ns: u64| u64::midpoint(start_ns, end_ns) / self.cell_ns;
        // Neighbours that would become one when intervals are made fewer are one at once.
        let is_part = |before: &TimeInterval<T>| {
            start_ns < before.end_ns
                || (end_ns - start_ns < self.cell_ns && number(start_ns, end_ns) == before.start_ns / self.cell_ns)
        };
        let before = place.checked_sub(1).filter(|index| is_part(&self.all[*index]));
        if let Some(before) = before.map(|index| &mut self.all[index]) {
            before.figures.join(figures);
            before.end_ns = before.end_ns.max(end_ns);
            return;
        }
        self.all.insert(place, TimeInterval { start_ns, end_ns, figures: figures.clone() });
        self.shorten(most);
    }

    /// The figures of the interval of a moment; makes one if there is none, and keeps at most `most` intervals (at least 2).
    pub fn at(&mut self, time_ns: u64, most: usize) -> &mut T
    where
        T: Default,
    {
        let time_ns = time_ns.min(LAST_NS);
        let place = loop {
            let place = self.place_behind(time_ns);
            let before_ns = place.checked_sub(1).map_or(0, |index| self.all[index].end_ns);
            if time_ns < before_ns {
                break place - 1;
            }
            if self.all.len() < most.max(2) {
                let cell_start_ns = time_ns - time_ns % self.cell_ns;
                let next_ns = self.all.get(place).map_or(LAST_NS + 1, |next| next.start_ns);
                let end_ns = cell_start_ns.saturating_add(self.cell_ns).min(next_ns);
                let start_ns = cell_start_ns.max(before_ns);
                self.all.insert(place, TimeInterval { start_ns, end_ns, figures: T::default() });
                break place;
            }
            self.double();
        };
        &mut self.all[place].figures
    }

    /// Index of the first interval that begins after a time.
    fn place_behind(&self, time_ns: u64) -> usize {
        // Nearly always the last one.
        match self.all.last() {
            Some(last) if last.start_ns > time_ns => self.all.partition_point(|one| one.start_ns <= time_ns),
            _ => self.all.len(),
        }
    }

    /// Makes neighbours one until there are at most `most` intervals (at least 2).
    pub fn shorten(&mut self, most: usize) {
        while self.all.len() > most.max(2) {
            self.double();
        }
    }

    /// Makes intervals one that lie in the same of twice as long ones.
    pub fn double(&mut self) {
        let cell_ns = self.cell_ns.max(self.usual_length_ns()).saturating_mul(2);
        self.cell_ns = cell_ns;
        let mut joined: Vec<TimeInterval<T>> = Vec::with_capacity(self.all.len() / 2 + 1);
        let mut last_number = None;
        for interval in self.all.drain(..) {
            let number = interval.middle_ns() / cell_ns;
            match joined.last_mut().filter(|_| last_number == Some(number)) {
                Some(last) => {
                    last.figures.join(&interval.figures);
                    last.end_ns = interval.end_ns;
                }
                None => joined.push(interval),
            }
            last_number = Some(number);
        }
        self.all = joined;
    }

    /// The length that most intervals have, nanoseconds, at least 1: the median.
    pub fn usual_length_ns(&self) -> u64 {
        let mut lengths: Vec<u64> = self.all.iter().map(TimeInterval::length_ns).collect();
        let middle = lengths.len() / 2;
        if lengths.is_empty() { 1 } else { *lengths.select_nth_unstable(middle).1 }
    }

    /// Indexes of the intervals before which nothing was measured: a gap of at least half a usual interval.
    pub fn gaps(&self) -> Vec<usize> {
        let least_ns = self.usual_length_ns() / 2;
        let is_gap = |index: &usize| self.all[*index].start_ns.saturating_sub(self.all[*index - 1].end_ns) > least_ns;
        (1..self.all.len()).filter(is_gap).collect()
    }

    /// True for an interval that is less than nine tenths of a usual one: the last of a run, the first behind a pause.
    pub fn is_partial(&self, index: usize) -> bool {
        let usual_ns = self.usual_length_ns();
        self.all.get(index).is_some_and(|interval| interval.length_ns() < usual_ns - usual_ns / 10)
    }

    /// Makes the last interval a part of the one before it, if it follows it and is so short that a few I/Os would decide its rate:
    /// less than a quarter of a usual one. So the drain of a queue is no interval, and nothing is cut off.
    pub fn join_short_end(&mut self) {
        let least_ns = self.usual_length_ns() / 4;
        if let [.., before, last] = &mut self.all[..]
            && last.length_ns() < least_ns
            && last.start_ns <= before.end_ns.saturating_add(least_ns)
        {
            before.figures.join(&last.figures);
            before.end_ns = last.end_ns;
            self.all.pop();
        }
    }

    /// Moves all intervals to later times; `-` earlier ones. An interval before the base begins with it.
    pub fn shift(&mut self, by_ns: i64) {
        let moved = |time_ns: u64| time_ns.saturating_add_signed(by_ns).min(LAST_NS);
        for interval in &mut self.all {
            (interval.start_ns, interval.end_ns) = (moved(interval.start_ns), moved(interval.end_ns));
        }
        self.all.retain(|interval| interval.start_ns < interval.end_ns);
    }

    /// Leaves only the intervals within a time.
    pub fn keep_within(&mut self, start_ns: u64, end_ns: u64) {
        self.all.retain(|interval| interval.start_ns >= start_ns && interval.end_ns <= end_ns);
    }

    /// Ends the last interval at a time within it.
    pub fn end_at(&mut self, time_ns: u64) {
        if let Some(last) = self.all.last_mut().filter(|last| last.start_ns < time_ns) {
            last.end_ns = last.end_ns.min(time_ns);
        }
    }

    /// The figures of all intervals; `None`: there are none.
    pub fn whole(&self) -> Option<T> {
        let (first, others) = self.all.split_first()?;
        let mut whole = first.figures.clone();
        for other in others {
            whole.join(&other.figures);
        }
        Some(whole)
    }

    /// Start of the first and end of the last interval, nanoseconds.
    pub fn reach_ns(&self) -> Option<(u64, u64)> {
        Some((self.all.first()?.start_ns, self.all.last()?.end_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl JoinFigures for u64 {
        fn join(&mut self, other: &Self) {
            *self += other;
        }
    }

    fn spans(intervals: &TimeIntervals<u64>) -> Vec<(u64, u64, u64)> {
        intervals.all().iter().map(|one| (one.start_ns, one.end_ns, one.figures)).collect()
    }

    #[test]
    fn moments_become_intervals_and_none_is_lost() {
        let mut intervals: TimeIntervals<u64> = TimeIntervals::new(1);
        (0..100_000_u64).for_each(|time_ns| *intervals.at(time_ns, 100) += 1);
        assert!((50..=100).contains(&intervals.len()), "{}", intervals.len());
        assert_eq!(intervals.whole(), Some(100_000));
        let lengths_fit = intervals.all().iter().rev().skip(1).all(|one| one.length_ns() == one.figures);
        assert!(lengths_fit, "{:?}", spans(&intervals));
        assert!(intervals.gaps().is_empty());
    }

    #[test]
    fn gaps_stay_gaps_however_few_intervals_are_left() {
        let mut intervals: TimeIntervals<u64> = TimeIntervals::new(1);
        for time_ns in (0..1000).chain(5000..6000) {
            *intervals.at(time_ns, 50) += 1;
        }
        assert_eq!(intervals.gaps().len(), 1);
        let gap = intervals.gaps()[0];
        let (before, behind) = (intervals.all()[gap - 1], intervals.all()[gap]);
        assert!(before.end_ns <= 1024 && behind.start_ns >= 4960, "{before:?} {behind:?}");
    }

    #[test]
    fn a_short_end_belongs_to_the_interval_before_it() {
        let mut intervals: TimeIntervals<u64> = TimeIntervals::new(1);
        for (start, end) in [(0, 100), (100, 200), (200, 203)] {
            intervals.add(start, end, &(end - start), 10);
        }
        intervals.join_short_end();
        assert_eq!(spans(&intervals), [(0, 100, 100), (100, 203, 103)]);
        // Half an interval is one of its own, and known as a part.
        intervals.add(203, 250, &47, 10);
        intervals.join_short_end();
        assert!(intervals.len() == 3 && intervals.is_partial(2) && !intervals.is_partial(1));
    }

    #[test]
    fn times_may_come_in_any_order_and_the_ends_of_time_fit() {
        let mut intervals: TimeIntervals<u64> = TimeIntervals::new(10);
        for time_ns in [500, 20, 900, 0, 25] {
            *intervals.at(time_ns, 1000) += 1;
        }
        assert_eq!(spans(&intervals), [(0, 10, 1), (20, 30, 2), (500, 510, 1), (900, 910, 1)]);
        *intervals.at(u64::MAX, 4) += 1;
        intervals.add(0, u64::MAX, &1, 4);
        assert!(intervals.len() <= 4 && intervals.whole() == Some(7));
        intervals.shift(i64::MIN);
        assert!(intervals.is_empty());
    }
}
