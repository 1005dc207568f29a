//! The search for the largest depth at which I/Os keep within a latency (`latency_target`).
//!
//! Must not know: how I/O is done. Start reading at [`DepthSearch::judge`], then [`DepthSearch::close`].
//! Facts: reference "Rates and pauses", `latency_target`.

use ferrio_spec::LatencySpec;

/// Number of windows at one depth after which a continuous search tries a larger one.
const N_STABLE_WINDOWS: u32 = 3;

/// The result of an I/O for the present depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judged {
    /// No result yet.
    Counted,
    /// The depth is too large.
    Failed,
    /// Even the smallest depth is too large for a target of this many ns.
    Hopeless(u64),
}

/// The step after a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SearchStep {
    /// Another window at another depth.
    Depth,
    /// Another window at the same depth.
    Same,
    /// The depth is found: a last window follows, and only that is reported.
    Final,
    /// The job ends.
    Over,
}

#[derive(Debug)]
pub(crate) struct DepthSearch {
    target_ns: u64,
    window_ns: u64,
    percentile: f64,
    goes_on: bool,
    max_depth: u32,
    depth: u32,
    /// Largest depth that kept the target; 0: none yet.
    good: u32,
    /// Smallest depth that missed the target.
    bad: Option<u32>,
    is_final: bool,
    n_stable: u32,
    /// End of the window; `u64::MAX`: no window is open.
    end_ns: u64,
    n_done: u64,
    n_within: u64,
    has_failed: bool,
}

impl DepthSearch {
    /// `None`: there is no target.
    pub(crate) fn new(spec: &LatencySpec, max_depth: u32) -> Option<Self> {
        let ns = |us: u64| us.saturating_mul(1_000);
        (spec.target_us > 0).then(|| Self {
            target_ns: ns(spec.target_us),
            window_ns: ns(spec.window_us),
            percentile: spec.percentile,
            goes_on: spec.goes_on,
            max_depth,
            depth: 1,
            good: 0,
            bad: None,
            is_final: false,
            n_stable: 0,
            end_ns: u64::MAX,
            n_done: 0,
            n_within: 0,
            has_failed: false,
        })
    }

    /// Largest latency of an I/O within the target.
    pub(crate) fn target_ns(&self) -> u64 {
        self.target_ns
    }

    /// Percentage of I/Os that have to be within the target.
    pub(crate) fn percentile(&self) -> f64 {
        self.percentile
    }

    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    /// End of the window; `u64::MAX`: no window is open.
    pub(crate) fn end_ns(&self) -> u64 {
        self.end_ns
    }

    pub(crate) fn open(&mut self, now_ns: u64) {
        self.end_ns = now_ns.saturating_add(self.window_ns).min(u64::MAX - 1);
        (self.n_done, self.n_within, self.has_failed) = (0, 0, false);
    }

    /// Judges an I/O that is done.
    pub(crate) fn judge(&mut self, latency_ns: u64) -> Judged {
        if self.end_ns == u64::MAX {
            return Judged::Counted;
        }
        self.n_done += 1;
        if latency_ns <= self.target_ns {
            self.n_within += 1;
            debug_assert!(self.n_within <= self.n_done, "a part exceeds the whole");
            return Judged::Counted;
        }
        if self.percentile < 100.0 {
            return Judged::Counted;
        }
        self.has_failed = true;
        if self.depth == 1 { Judged::Hopeless(self.target_ns) } else { Judged::Failed }
    }

    /// True if the window is over. A window without any I/O gives no result, and continues.
    pub(crate) fn is_due(&self, now_ns: u64) -> bool {
        self.has_failed || (now_ns >= self.end_ns && self.n_done > 0)
    }

    /// Percentage of the window's I/Os that kept the target.
    pub(crate) fn share_percent(&self) -> f64 {
        100.0 * self.n_within as f64 / self.n_done.max(1) as f64
    }

    /// The largest depth that kept the target (0: none yet), and the smallest that missed it, or else the largest depth
    /// possible.
    pub(crate) fn bounds(&self) -> (u32, u32) {
        (self.good, self.bad.unwrap_or(self.max_depth))
    }

    pub(crate) fn close(&mut self) -> SearchStep {
        self.end_ns = u64::MAX;
        let share = self.share_percent();
        let is_good = !self.has_failed && share >= self.percentile;
        // No depth is smaller than 1, so its result is final.
        let is_last = is_good || self.depth == 1;
        if self.is_final && is_last {
            return SearchStep::Over;
        }
        self.is_final = false;
        let next = if is_good { self.next_above() } else { self.next_below() };
        debug_assert!((1..=self.max_depth.max(1)).contains(&next), "the depth {next} does not exist");
        if next != self.depth {
            (self.depth, self.n_stable) = (next, 0);
            return SearchStep::Depth;
        }
        if !self.goes_on {
            self.is_final = true;
            return SearchStep::Final;
        }
        self.n_stable += 1;
        if self.n_stable >= N_STABLE_WINDOWS {
            (self.n_stable, self.bad) = (0, None);
        }
        SearchStep::Same
    }

    fn next_above(&mut self) -> u32 {
        self.good = self.depth;
        match self.bad {
            None => self.depth.saturating_mul(2).min(self.max_depth),
            Some(bad) => self.depth + bad.saturating_sub(self.depth) / 2,
        }
    }

    fn next_below(&mut self) -> u32 {
        self.bad = Some(self.depth);
        if self.good >= self.depth {
            self.good = self.depth / 2;
        }
        (self.good + (self.depth - self.good) / 2).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET_NS: u64 = 1_000;

    fn search(max_depth: u32, change: impl FnOnce(&mut LatencySpec)) -> DepthSearch {
        let mut spec = LatencySpec { target_us: 1, window_us: 10, ..LatencySpec::default() };
        change(&mut spec);
        DepthSearch::new(&spec, max_depth).unwrap()
    }

    /// Depths of `n` windows on a device that keeps the target up to the depth `keeps`, each with the step after it.
    fn depths(search: &mut DepthSearch, keeps: u32, n: usize) -> Vec<(u32, SearchStep)> {
        let window = |_| {
            let depth = search.depth();
            search.open(0);
            let _ = search.judge(if depth <= keeps { TARGET_NS } else { TARGET_NS + 1 });
            (depth, search.close())
        };
        (0..n).map(window).collect()
    }

    #[test]
    fn it_doubles_and_then_bisects() {
        let tried = depths(&mut search(128, |_| ()), 11, 10);
        let order = [1, 2, 4, 8, 16, 12, 10, 11, 11, 11].map(|depth| depth);
        assert_eq!(tried.iter().map(|(depth, _)| *depth).collect::<Vec<_>>()[..9], order[..9]);
        assert_eq!(tried[7].1, SearchStep::Final, "between 11 and 12 there is nothing");
        assert_eq!(tried[8].1, SearchStep::Over);
    }

    #[test]
    fn it_stays_within_its_bounds() {
        let tried = depths(&mut search(5, |_| ()), 100, 5);
        assert_eq!(tried[3..], [(5, SearchStep::Final), (5, SearchStep::Over)]);
        let below = depths(&mut search(8, |spec| spec.percentile = 50.0), 0, 2);
        assert_eq!(below, [(1, SearchStep::Final), (1, SearchStep::Over)], "a miss at depth 1 is ignored below 100 %");
        let mut exact = search(8, |_| ());
        exact.open(0);
        assert_eq!(exact.judge(TARGET_NS + 1), Judged::Hopeless(TARGET_NS));
    }

    #[test]
    fn the_share_within_the_target_counts() {
        for (percentile, step) in [(90.0, SearchStep::Depth), (90.1, SearchStep::Final)] {
            let mut search = search(8, |spec| spec.percentile = percentile);
            search.open(0);
            for index in 0..10 {
                assert_eq!(search.judge(if index == 3 { TARGET_NS + 1 } else { 5 }), Judged::Counted);
            }
            assert!(!search.is_due(9_999) && search.is_due(10_000));
            assert_eq!(search.close(), step);
        }
    }

    #[test]
    fn who_goes_on_follows_a_device_that_changes() {
        let mut search = search(64, |spec| spec.goes_on = true);
        let tried = depths(&mut search, 4, 8);
        assert_eq!(tried.iter().map(|(depth, _)| *depth).collect::<Vec<_>>(), [1, 2, 4, 8, 6, 5, 4, 4]);
        // After three windows at 4 it tries a larger depth again.
        let later = depths(&mut search, 64, 8);
        assert_eq!(later.last().unwrap().0, 64, "{later:?}");
    }

    #[test]
    fn a_depth_that_fails_in_its_last_window_is_not_taken() {
        let mut search = search(8, |_| ());
        assert_eq!(depths(&mut search, 8, 4)[3], (8, SearchStep::Final));
        let tried = depths(&mut search, 4, 9);
        assert_eq!(tried.last().unwrap(), &(4, SearchStep::Over), "{tried:?}");
    }

    #[test]
    fn a_window_without_io_goes_on() {
        let mut search = search(8, |_| ());
        search.open(0);
        assert!(!search.is_due(1_000_000));
    }
}
