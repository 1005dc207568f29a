//! The kernel's counters of a block device (`/sys/block/X/stat`), and their differences.
//!
//! Must not know: reports. The fields are documented in the kernel's `Documentation/block/stat.rst`.

use crate::error::{Error, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DirectionCounters {
    /// Requests that were completed.
    pub n_ios: u64,
    /// Requests that were merged into others before.
    pub n_merges: u64,
    /// Sectors of 512 bytes, whatever the device's own sector size.
    pub n_sectors: u64,
    /// Time that requests waited, summed over them, ms.
    pub ticks_ms: u64,
}

/// All counters of a device since it appeared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DiskStats {
    pub read: DirectionCounters,
    pub write: DirectionCounters,
    /// Requests in flight at this moment (not a count that grows).
    pub n_in_flight: u64,
    /// Time with at least one request in flight, ms.
    pub io_ticks_ms: u64,
    /// Time in flight, summed over requests, ms.
    pub time_in_queue_ms: u64,
    /// Discards (Linux 4.18; zero before).
    pub discard: DirectionCounters,
    /// Flushes that were completed (Linux 5.5; `None` before).
    pub n_flushes: Option<u64>,
    /// Time that flushes waited, summed, ms (Linux 5.5; zero before).
    pub flush_ticks_ms: u64,
}

impl DiskStats {
    /// From the text of `/sys/block/X/stat`: 11, 15 or 17 numbers, by age of the kernel; further ones are left aside.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = || Error::Parse { what: "block device statistics", text: text.trim().to_owned() };
        let mut values = [0; 17];
        let mut n_values = 0;
        for (value, word) in values.iter_mut().zip(text.split_ascii_whitespace()) {
            *value = word.parse().map_err(|_| bad())?;
            n_values += 1;
        }
        if n_values < 11 {
            return Err(bad());
        }
        Ok(Self {
            read: DirectionCounters::from_fields(values, 0),
            write: DirectionCounters::from_fields(values, 4),
            n_in_flight: values[8],
            io_ticks_ms: values[9],
            time_in_queue_ms: values[10],
            discard: DirectionCounters::from_fields(values, 11),
            n_flushes: (n_values > 15).then_some(values[15]),
            flush_ticks_ms: values[16],
        })
    }

    /// Differences from an earlier state; `n_in_flight` is that of the later one. A counter that went backwards (32-bit
    /// kernels wrap) counts as 0.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            read: self.read.since(earlier.read),
            write: self.write.since(earlier.write),
            n_in_flight: self.n_in_flight,
            io_ticks_ms: self.io_ticks_ms.saturating_sub(earlier.io_ticks_ms),
            time_in_queue_ms: self.time_in_queue_ms.saturating_sub(earlier.time_in_queue_ms),
            discard: self.discard.since(earlier.discard),
            n_flushes: self.n_flushes.zip(earlier.n_flushes).map(|(now, before)| now.saturating_sub(before)),
            flush_ticks_ms: self.flush_ticks_ms.saturating_sub(earlier.flush_ticks_ms),
        }
    }
}

impl DirectionCounters {
    fn from_fields(values: [u64; 17], first: usize) -> Self {
        Self {
            n_ios: values[first],
            n_merges: values[first + 1],
            n_sectors: values[first + 2],
            ticks_ms: values[first + 3],
        }
    }

    fn since(self, earlier: Self) -> Self {
        Self {
            n_ios: self.n_ios.saturating_sub(earlier.n_ios),
            n_merges: self.n_merges.saturating_sub(earlier.n_merges),
            n_sectors: self.n_sectors.saturating_sub(earlier.n_sectors),
            ticks_ms: self.ticks_ms.saturating_sub(earlier.ticks_ms),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINUX_6: &str = "   49849     7407  4684666    10942     8264    10006  1113136     2777        3     5580    \
                           13948     3749       38   264296      204      834       25\n";

    #[test]
    fn fields_of_a_new_kernel() {
        let stats = DiskStats::parse(LINUX_6).unwrap();
        let read = DirectionCounters { n_ios: 49_849, n_merges: 7_407, n_sectors: 4_684_666, ticks_ms: 10_942 };
        assert_eq!((stats.read, stats.write.n_ios, stats.write.ticks_ms), (read, 8_264, 2_777));
        assert_eq!((stats.n_in_flight, stats.io_ticks_ms, stats.time_in_queue_ms), (3, 5_580, 13_948));
        assert_eq!((stats.discard.n_sectors, stats.n_flushes, stats.flush_ticks_ms), (264_296, Some(834), 25));
    }

    #[test]
    fn fields_of_an_old_kernel() {
        let stats = DiskStats::parse("1 2 3 4 5 6 7 8 9 10 11").unwrap();
        assert_eq!(
            (stats.write.n_sectors, stats.time_in_queue_ms, stats.discard.n_ios, stats.n_flushes),
            (7, 11, 0, None)
        );
    }

    #[test]
    fn other_texts_are_errors() {
        for text in ["", "1 2 3", "1 2 3 4 5 6 7 8 9 10 x", "1 2 3 4 5 6 7 8 9 10 -1"] {
            assert!(DiskStats::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_difference_of_two_looks() {
        let earlier = DiskStats::parse("1 2 3 4 5 6 7 8 9 10 11").unwrap();
        let later = DiskStats::parse("11 2 23 4 5 6 7 58 0 70 1").unwrap();
        let done = later.since(&earlier);
        assert_eq!((done.read.n_ios, done.read.n_sectors, done.write.ticks_ms), (10, 20, 50));
        assert_eq!((done.n_in_flight, done.io_ticks_ms, done.time_in_queue_ms), (0, 60, 0));
    }
}
