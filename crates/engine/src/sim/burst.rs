//! Burst credits, as cloud volumes have them: `sim_burst=LIMIT[,LIMIT]`, a limit being `iops:BASE/BURST/CREDITS` or
//! `bw:BASE/BURST/CREDITS`.
//!
//! Credits (I/Os, or bytes) fill up at the base rate and start full; an I/O spends one (or its bytes) and waits until they
//! are there; never more than the burst rate start in a second. Example: `iops:3000/16000/1000000,bw:125m/1g/16g`.
//! Must not know: kinds of I/O. Start reading at [`Burst`].

use super::bucket::{Bucket, TokenBucket};
use super::error::SimTextError;
use super::parse;

/// All limits of the device.
#[derive(Debug, Clone, Default)]
pub(crate) struct Burst {
    limits: Vec<Limit>,
}

#[derive(Debug, Clone)]
struct Limit {
    is_bytes: bool,
    credits: Bucket,
    pace: TokenBucket,
}

impl Burst {
    pub(crate) fn parse(text: &str) -> Result<Self, SimTextError> {
        Ok(Self { limits: text.split(',').map(|entry| Limit::parse(entry.trim())).collect::<Result<_, _>>()? })
    }

    /// The time at which an I/O that arrives at `now_ns` may start.
    pub(crate) fn admit(&mut self, now_ns: u64, length_bytes: u64) -> u64 {
        self.limits.iter_mut().fold(now_ns, |at_ns, limit| limit.admit(at_ns, length_bytes))
    }
}

impl Limit {
    fn parse(text: &str) -> Result<Self, SimTextError> {
        let form = "iops:BASE/BURST/CREDITS or bw:BASE/BURST/CREDITS";
        let (kind, values) = text.split_once(':').unwrap_or((text, ""));
        let is_bytes = match kind {
            "iops" => false,
            "bw" => true,
            _ => return Err(SimTextError::Form { text: text.to_owned(), form }),
        };
        let [base, burst, credits] = parse::parts(values, form)?;
        let rate =
            |text: &str| if is_bytes { parse::bytes_per_sec(text) } else { parse::positive(text, parse::bytes(text)?) };
        let (base_per_sec, burst_per_sec) = (rate(base)?, rate(burst)?);
        if burst_per_sec < base_per_sec {
            return Err(SimTextError::SlowBurst { burst: burst.to_owned(), base: base.to_owned() });
        }
        let credits = Bucket::new(parse::bytes(credits)?, base_per_sec);
        Ok(Self { is_bytes, credits, pace: TokenBucket::new(burst_per_sec) })
    }

    fn admit(&mut self, now_ns: u64, length_bytes: u64) -> u64 {
        let n = if self.is_bytes { length_bytes } else { 1 };
        // Credits are spent when the I/O starts; the base rate is not above the burst rate, so waiting for credits cannot
        // make up for lost pace.
        self.credits.take(self.pace.take(now_ns, n), n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credits_are_spent_at_the_burst_rate_then_the_base_rate_rules() {
        // 100 a second base, 1000 burst, 90 credits: at one I/O a millisecond 1 is spent and 0.1 earned, so before I/O k
        // there are 90 - 0.9 k. The first that lacks one is k = 99 (0.9 there: it waits 1 ms); then one every 10 ms.
        let mut burst = Burst::parse("iops:100/1000/90").unwrap();
        let starts: Vec<u64> = (0..200).map(|_| burst.admit(0, 4096)).collect();
        assert_eq!(starts[..3], [0, 1_000_000, 2_000_000]);
        assert_eq!(starts[98..101], [98_000_000, 100_000_000, 110_000_000]);
        assert_eq!(starts[199], 1_100_000_000);
    }

    #[test]
    fn both_limits_hold() {
        let mut burst = Burst::parse("iops:1000/1000/1,bw:1m/1m/0").unwrap();
        // 64 KiB at 1 MiB a second: 16 a second, the tighter limit.
        let starts: Vec<u64> = (0..3).map(|_| burst.admit(0, 64 << 10)).collect();
        assert_eq!(starts, [0, 62_500_000, 125_000_000]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, part) in [("100/1/1", "iops:BASE"), ("iops:5/4/1", "below the base"), ("bw:0/1/1", "more than 0")] {
            assert!(Burst::parse(text).unwrap_err().to_string().contains(part), "{text}");
        }
    }
}
