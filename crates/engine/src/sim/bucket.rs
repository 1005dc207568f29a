//! A bucket of tokens that refill at a constant rate, and a pace that is never exceeded: the common part of caches
//! (which drain) and burst credits (which are spent).
//!
//! All arithmetic is exact: tokens are counted in billionths, so that a rate per second times nanoseconds is a whole
//! number. Must not know: what a token is. Start reading at [`Bucket`].

/// Billionths of a token in a token: nanoseconds in a second.
const SCALE: i128 = 1_000_000_000;

/// Tokens that refill at a constant rate up to a capacity. The bucket starts full. It serves takers in the order in
/// which they come, so its time never goes back.
#[derive(Debug, Clone)]
pub(crate) struct Bucket {
    capacity: i128,
    rate_per_sec: i128,
    level: i128,
    last_ns: u64,
}

impl Bucket {
    /// A full bucket; the rate is at least 1.
    pub(crate) fn new(capacity: u64, rate_per_sec: u64) -> Self {
        let capacity = i128::from(capacity) * SCALE;
        Self { capacity, rate_per_sec: i128::from(rate_per_sec.max(1)), level: capacity, last_ns: 0 }
    }

    /// Takes `n` tokens as soon after `now_ns` as the bucket has them; returns that time. A taker of more than the
    /// capacity waits for a full bucket and leaves a debt.
    pub(crate) fn take(&mut self, now_ns: u64, n: u64) -> u64 {
        self.refill(now_ns);
        let wanted = i128::from(n) * SCALE;
        let missing = wanted.min(self.capacity) - self.level;
        if missing > 0 {
            let wait_ns = (missing + self.rate_per_sec - 1) / self.rate_per_sec;
            // A wait of whole nanoseconds may bring a part of a token too much. The bucket keeps it, even above the
            // capacity, so that rounding errors do not add up.
            self.level = self.level.saturating_add(wait_ns.saturating_mul(self.rate_per_sec));
            self.last_ns = self.last_ns.saturating_add(u64::try_from(wait_ns).unwrap_or(u64::MAX));
        }
        self.level = self.level.saturating_sub(wanted);
        self.last_ns
    }

    /// When the bucket will be full again, if nothing more is taken.
    pub(crate) fn full_ns(&self) -> u64 {
        let wait_ns = (self.capacity - self.level + self.rate_per_sec - 1) / self.rate_per_sec;
        self.last_ns.saturating_add(u64::try_from(wait_ns).unwrap_or(u64::MAX))
    }

    fn refill(&mut self, now_ns: u64) {
        let elapsed_ns = now_ns.saturating_sub(self.last_ns);
        let gained = i128::from(elapsed_ns).saturating_mul(self.rate_per_sec);
        if gained > 0 {
            self.level = self.capacity.min(self.level.saturating_add(gained));
        }
        self.last_ns = self.last_ns.max(now_ns);
    }
}

/// A pace that starts never exceed: n tokens occupy n / rate seconds.
#[derive(Debug, Clone)]
pub(crate) struct TokenBucket {
    rate_per_sec: u128,
    /// Earliest next start, ns times the rate.
    next_scaled: u128,
}

impl TokenBucket {
    /// A pace of at least 1 token a second.
    pub(crate) fn new(rate_per_sec: u64) -> Self {
        Self { rate_per_sec: rate_per_sec.max(1).into(), next_scaled: 0 }
    }

    /// The start of an I/O that costs `n` tokens and could start at `now_ns`.
    pub(crate) fn take(&mut self, now_ns: u64, n: u64) -> u64 {
        // Fits u128: factors below 2^64 each.
        let start_scaled = self.next_scaled.max(u128::from(now_ns) * self.rate_per_sec);
        self.next_scaled = start_scaled.saturating_add(u128::from(n) * SCALE as u128);
        u64::try_from(start_scaled.div_ceil(self.rate_per_sec)).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_bucket_serves_at_once_and_an_empty_one_at_its_rate() {
        // 10 tokens, 1000 a second: one a millisecond.
        let mut bucket = Bucket::new(10, 1000);
        assert_eq!((0..10).map(|_| bucket.take(5, 1)).collect::<Vec<_>>(), vec![5; 10]);
        assert_eq!(bucket.full_ns(), 10_000_005);
        assert_eq!(bucket.take(5, 1), 1_000_005);
        assert_eq!(bucket.take(5, 2), 3_000_005);
        // After a second it is full again.
        assert_eq!(bucket.take(1_100_000_000, 10), 1_100_000_000);
    }

    #[test]
    fn a_rate_that_does_not_divide_a_second_does_not_drift() {
        // 3 a second: 3 million tokens take exactly a million seconds, however each was rounded.
        let mut bucket = Bucket::new(0, 3);
        let mut pace = TokenBucket::new(3);
        let (mut bucket_ns, mut pace_ns) = (0, 0);
        for _ in 0..3000 {
            bucket_ns = bucket.take(0, 1);
            pace_ns = pace.take(0, 1);
        }
        // A bucket without capacity serves at once and leaves a debt, so both times are those before the last token.
        assert_eq!(pace_ns, 2999 * 1_000_000_000_u64 / 3 + 1);
        assert!(bucket_ns.abs_diff(pace_ns) <= 1, "{bucket_ns}");
    }

    #[test]
    fn more_than_the_capacity_leaves_a_debt() {
        let mut bucket = Bucket::new(4, 1_000_000_000);
        assert_eq!(bucket.take(0, 10), 0);
        assert_eq!(bucket.take(0, 4), 10);
        assert_eq!(bucket.take(u64::MAX, u64::MAX), u64::MAX);
    }
}
