//! Rows that stand for windows of time: where each window began.
//!
//! A row has the time of the end of its window. Most windows begin with the row before; behind a pause, a window has the usual length.
//! Must not know: what rows hold. Start reading at [`WindowRows`].

/// Rows that are looked at to know the usual length.
const N_WAITING: usize = 64;

/// The rows of one direction of a log.
pub(super) struct WindowRows<R> {
    waiting: Vec<(u64, R)>,
    usual_ns: Option<u64>,
    last_end_ns: Option<u64>,
}

impl<R> Default for WindowRows<R> {
    fn default() -> Self {
        Self { waiting: Vec::new(), usual_ns: None, last_end_ns: None }
    }
}

impl<R> WindowRows<R> {
    /// Adds a row; `take` gets start and end, nanoseconds, of each row whose window is known now.
    pub(super) fn add(&mut self, end_ns: u64, row: R, take: &mut dyn FnMut(u64, u64, R)) {
        if let Some(usual_ns) = self.usual_ns {
            let start_ns = self.start_ns(end_ns, usual_ns);
            return take(start_ns, end_ns, row);
        }
        self.waiting.push((end_ns, row));
        if self.waiting.len() >= N_WAITING {
            self.finish(take);
        }
    }

    /// The rows that still wait.
    pub(super) fn finish(&mut self, take: &mut dyn FnMut(u64, u64, R)) {
        let mut lengths: Vec<u64> = self.waiting.windows(2).map(|pair| pair[1].0.saturating_sub(pair[0].0)).collect();
        lengths.retain(|length_ns| *length_ns > 0);
        lengths.sort_unstable();
        let only_ns = self.waiting.first().map_or(1, |(end_ns, _)| *end_ns);
        let usual_ns = lengths.get(lengths.len() / 2).copied().unwrap_or(only_ns).max(1);
        self.usual_ns = Some(usual_ns);
        for (end_ns, row) in std::mem::take(&mut self.waiting) {
            let start_ns = self.start_ns(end_ns, usual_ns);
            take(start_ns, end_ns, row);
        }
    }

    fn start_ns(&mut self, end_ns: u64, usual_ns: u64) -> u64 {
        let before_ns = self.last_end_ns.replace(end_ns).unwrap_or_default();
        let is_next = end_ns > before_ns && end_ns - before_ns <= usual_ns.saturating_add(usual_ns / 2);
        if is_next { before_ns } else { end_ns.saturating_sub(usual_ns) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(ends: &[u64]) -> Vec<(u64, u64)> {
        let mut rows = WindowRows::default();
        let mut found = Vec::new();
        let mut take = |start_ns, end_ns, ()| found.push((start_ns, end_ns));
        for end_ns in ends {
            rows.add(*end_ns, (), &mut take);
        }
        rows.finish(&mut take);
        found
    }

    #[test]
    fn a_window_begins_where_the_one_before_ended() {
        assert_eq!(windows(&[500, 1003, 1500, 1730]), [(0, 500), (500, 1003), (1003, 1500), (1500, 1730)]);
        // A pause, behind which the first window has the usual length.
        assert_eq!(windows(&[500, 1000, 4000, 4500]), [(0, 500), (500, 1000), (3500, 4000), (4000, 4500)]);
        // Times of the clock.
        assert_eq!(windows(&[1_000_500, 1_001_000])[0], (1_000_000, 1_000_500));
        assert_eq!(windows(&[700]), [(0, 700)]);
        assert!(windows(&[]).is_empty());
    }
}
