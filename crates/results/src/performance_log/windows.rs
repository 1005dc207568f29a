//! Rows that stand for windows of time: where each window began.
//!
//! A row has the time of the end of its window. Most windows begin with the row before; behind a pause, a window has the usual length.
//! Must not know: what rows hold. Start reading at [`WindowRows`].

/// Rows that are looked at to know the usual length.
const N_WAITING: usize = 64;

/// The rows of one direction of a log.
pub(super) struct WindowRows<R> {
    waiting: Vec<(u64, R)>,
    usual_ms: Option<u64>,
    last_end_ms: Option<u64>,
}

impl<R> Default for WindowRows<R> {
    fn default() -> Self {
        Self { waiting: Vec::new(), usual_ms: None, last_end_ms: None }
    }
}

impl<R> WindowRows<R> {
    /// Adds a row; `take` gets start and end, milliseconds, of each row whose window is known now.
    pub(super) fn add(&mut self, end_ms: u64, row: R, take: &mut dyn FnMut(u64, u64, R)) {
        if let Some(usual_ms) = self.usual_ms {
            let start_ms = self.start_ms(end_ms, usual_ms);
            return take(start_ms, end_ms, row);
        }
        self.waiting.push((end_ms, row));
        if self.waiting.len() >= N_WAITING {
            self.finish(take);
        }
    }

    /// The rows that still wait.
    pub(super) fn finish(&mut self, take: &mut dyn FnMut(u64, u64, R)) {
        let mut lengths: Vec<u64> = self.waiting.windows(2).map(|pair| pair[1].0.saturating_sub(pair[0].0)).collect();
        lengths.retain(|length_ms| *length_ms > 0);
        lengths.sort_unstable();
        let only_ms = self.waiting.first().map_or(1, |(end_ms, _)| *end_ms);
        let usual_ms = lengths.get(lengths.len() / 2).copied().unwrap_or(only_ms).max(1);
        self.usual_ms = Some(usual_ms);
        for (end_ms, row) in std::mem::take(&mut self.waiting) {
            let start_ms = self.start_ms(end_ms, usual_ms);
            take(start_ms, end_ms, row);
        }
    }

    fn start_ms(&mut self, end_ms: u64, usual_ms: u64) -> u64 {
        let before_ms = self.last_end_ms.replace(end_ms).unwrap_or_default();
        let is_next = end_ms > before_ms && end_ms - before_ms <= usual_ms.saturating_add(usual_ms / 2);
        if is_next { before_ms } else { end_ms.saturating_sub(usual_ms) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(ends: &[u64]) -> Vec<(u64, u64)> {
        let mut rows = WindowRows::default();
        let mut found = Vec::new();
        let mut take = |start_ms, end_ms, ()| found.push((start_ms, end_ms));
        ends.iter().for_each(|end_ms| rows.add(*end_ms, (), &mut take));
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
