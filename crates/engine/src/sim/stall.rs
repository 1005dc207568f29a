//! Garbage collection: `sim_stall=EVERY/DURATION`, where `EVERY` is an amount written or a time.
//!
//! During a stall the device starts no I/O; started I/Os finish. With an amount, a stall begins when the write that
//! completes the amount is done; with a time T, at T, 2T, 3T and so on after the start of the engine.
//! Must not know: kinds of I/O. Start reading at [`StallModel`].

use super::error::SimTextError;
use super::parse;

/// The times at which the device stalls.
#[derive(Debug, Clone)]
pub(crate) struct StallModel {
    every: Every,
    duration_ns: u64,
    until_ns: u64,
}

#[derive(Debug, Clone, Copy)]
enum Every {
    Written { bytes: u64, left_bytes: u64 },
    Time { ns: u64 },
}

impl StallModel {
    pub(crate) fn parse(text: &str) -> Result<Self, SimTextError> {
        let [every, duration] = parse::parts(text, "EVERY/DURATION, such as 256m/20ms or 1s/5ms")?;
        let duration_ns = parse::time_ns(duration)?;
        let every = if parse::is_time(every) {
            let ns = parse::positive(every, parse::time_ns(every)?)?;
            if duration_ns >= ns {
                return Err(SimTextError::EndlessStall { duration: duration.to_owned(), every: every.to_owned() });
            }
            Every::Time { ns }
        } else {
            let bytes = parse::positive(every, parse::bytes(every)?)?;
            Every::Written { bytes, left_bytes: bytes }
        };
        Ok(Self { every, duration_ns, until_ns: 0 })
    }

    /// The earliest time at or after `start_ns` at which the device can start an I/O; ns since the start of the engine.
    pub(crate) fn after(&self, start_ns: u64) -> u64 {
        match self.every {
            Every::Written { .. } => start_ns.max(self.until_ns),
            Every::Time { ns } => {
                let into_ns = start_ns % ns;
                // Cannot overflow by more than a day's worth of ns: durations are bounded.
                if start_ns >= ns && into_ns < self.duration_ns {
                    start_ns.saturating_add(self.duration_ns - into_ns)
                } else {
                    start_ns
                }
            }
        }
    }

    pub(crate) fn written(&mut self, length_bytes: u64, done_ns: u64) {
        let Every::Written { bytes, left_bytes } = &mut self.every else { return };
        if length_bytes < *left_bytes {
            *left_bytes -= length_bytes;
            return;
        }
        *left_bytes = *bytes - (length_bytes - *left_bytes) % *bytes;
        self.until_ns = self.until_ns.max(done_ns).saturating_add(self.duration_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_time_it_starts_nothing_in_the_window() {
        let stall = StallModel::parse("1ms/100us").unwrap();
        for (start, after) in [(0, 0), (999_999, 999_999), (1_000_000, 1_100_000), (1_099_999, 1_100_000)] {
            assert_eq!(stall.after(start), after);
        }
        assert_eq!(stall.after(7_050_000), 7_100_000);
    }

    #[test]
    fn by_amount_it_begins_after_the_write_that_completes_it() {
        let mut stall = StallModel::parse("10k/1ms").unwrap();
        stall.written(4096, 100);
        stall.written(4096, 200);
        assert_eq!(stall.after(250), 250);
        stall.written(4096, 300);
        assert_eq!(stall.after(250), 1_000_300);
        // 2048 of the next 10240 bytes are written already.
        stall.written(8191, 2_000_000);
        assert_eq!(stall.after(2_000_000), 2_000_000);
        stall.written(1, 2_000_000);
        assert_eq!(stall.after(2_000_000), 3_000_000);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, part) in [("1s", "EVERY/DURATION"), ("1ms/1ms", "no time to work"), ("0/5ms", "more than 0")] {
            assert!(StallModel::parse(text).unwrap_err().to_string().contains(part), "{text}");
        }
    }
}
