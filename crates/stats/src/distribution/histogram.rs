//! The latency histogram in fio's bucket layout (29 groups of 64 buckets), extended beyond fio's last bucket.
//!
//! fio counts all values from 17.18 s on in its last bucket. Here the layout continues to the largest `u64`, so that a
//! stall of a minute differs from one of an hour. Under fio's keys, these buckets are shown as part of fio's last one.
//!
//! Must not know: the meaning of the values. Start reading at [`full_bucket_index`].

use crate::counters::counts::add_to;
use crate::wire;
use ferrio_sys::LazyCounts;
use ferrio_units::filled::{next_filled, saturating_sum};
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Bits of a value that a bucket keeps: 64 buckets a group.
const BUCKET_BITS: u32 = 6;
const GROUP_BUCKETS: usize = 1 << BUCKET_BITS;
/// Number of fio's buckets: values below 2^34 ns, about 17.18 s.
pub const N_BUCKETS: usize = 29 * GROUP_BUCKETS;
/// Number of buckets for all values: the top bit of the largest is at 63.
pub const N_FULL_BUCKETS: usize = 59 * GROUP_BUCKETS;

/// Number of slots in memory: the next power of two, so that a mask keeps an index in bounds and a sample needs no
/// branch.
const N_SLOTS: usize = N_FULL_BUCKETS.next_power_of_two();

/// Bucket of a value in nanoseconds, below [`N_FULL_BUCKETS`].
#[inline]
pub const fn full_bucket_index(latency_ns: u64) -> usize {
    if latency_ns < 2 * GROUP_BUCKETS as u64 {
        return latency_ns as usize;
    }
    // The value has at least 8 bits, so the top bit is at 7 or higher and the shift at 1 or higher.
    let shift = latency_ns.ilog2() - BUCKET_BITS;
    ((shift as usize) << BUCKET_BITS) + (latency_ns >> shift) as usize
}

/// fio's bucket of a value in nanoseconds: values of about 17.18 s and more share the last one.
#[inline]
pub const fn bucket_index(latency_ns: u64) -> usize {
    let index = full_bucket_index(latency_ns);
    if index < N_BUCKETS { index } else { N_BUCKETS - 1 }
}

/// The value that represents a bucket (below [`N_FULL_BUCKETS`]): its middle, in nanoseconds.
pub const fn bucket_latency_ns(index: usize) -> u64 {
    if index < 2 * GROUP_BUCKETS {
        return index as u64;
    }
    let shift = (index >> BUCKET_BITS) - 1;
    let low = ((index & (GROUP_BUCKETS - 1)) as u64) << shift;
    // floor((k + 0.5) * 2^shift) = k * 2^shift + 2^(shift - 1); shift is at least 1 here.
    (1u64 << (shift as u32 + BUCKET_BITS)) + low + (1u64 << (shift - 1))
}

/// The first value of a bucket (below [`N_FULL_BUCKETS`]) and the first one behind it, in nanoseconds; saturates behind the last.
pub const fn bucket_bounds_ns(index: usize) -> (u64, u64) {
    if index < 2 * GROUP_BUCKETS {
        return (index as u64, index as u64 + 1);
    }
    let shift = (index >> BUCKET_BITS) - 1;
    let low = (GROUP_BUCKETS + (index & (GROUP_BUCKETS - 1))) as u64;
    let low_ns = low << shift;
    (low_ns, low_ns.saturating_add(1 << shift))
}

/// Counts of latencies by bucket.
///
/// It takes 32 KiB of address space, but memory only for the parts in use: the kernel provides zeroed pages, and no
/// method writes behind fio's buckets (a page and more for every eight octaves) unless a value was counted there.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Histogram {
    counts: LazyCounts<N_SLOTS>,
}

/// Shows the buckets that are not empty.
impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.filled()).finish()
    }
}

impl Histogram {
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        debug_assert!(full_bucket_index(latency_ns) < N_FULL_BUCKETS, "each value has its bucket");
        // The remainder changes nothing, because an index is below N_FULL_BUCKETS; it only tells the compiler so.
        self.counts[full_bucket_index(latency_ns) % N_SLOTS] += 1;
    }

    /// Counts a value in nanoseconds several times.
    pub fn record_many(&mut self, latency_ns: u64, n_times: u64) {
        if n_times > 0 {
            add_to(&mut self.counts[full_bucket_index(latency_ns) % N_SLOTS], n_times);
        }
    }

    /// Buckets that are not empty, as (bucket, count), ascending, over the whole range.
    pub fn filled(&self) -> impl Iterator<Item = (usize, u64)> {
        let mut start = 0;
        std::iter::from_fn(move || {
            let index = next_filled(&self.counts[..], start)?;
            start = index + 1;
            Some((index, self.counts[index]))
        })
    }

    /// The counts of fio's buckets, in order; the last one includes all larger values.
    pub fn folded_counts(&self) -> impl Iterator<Item = u64> + Clone {
        let (within, last) = (&self.counts[..N_BUCKETS - 1], self.counts[N_BUCKETS - 1]);
        within.iter().copied().chain([last.saturating_add(self.n_beyond())])
    }

    /// Those of fio's buckets that are not empty, as (bucket, count).
    pub fn folded(&self) -> impl Iterator<Item = (usize, u64)> {
        self.folded_counts().enumerate().filter(|(_, count)| *count > 0)
    }

    /// Buckets behind fio's that are not empty, as (bucket, count), ascending.
    pub fn beyond(&self) -> impl Iterator<Item = (usize, u64)> {
        self.filled().skip_while(|(index, _)| *index < N_BUCKETS)
    }

    /// Number of values behind fio's buckets (2^34 ns, about 17.18 s, and more).
    pub fn n_beyond(&self) -> u64 {
        saturating_sum(&self.counts[N_BUCKETS..])
    }

    pub fn n_samples(&self) -> u64 {
        saturating_sum(&self.counts[..])
    }

    /// Adds another histogram.
    pub fn merge(&mut self, other: &Self) {
        for (index, count) in other.filled() {
            // Counts may come from another process: they saturate rather than wrap.
            self.counts[index] = self.counts[index].saturating_add(count);
            debug_assert!(self.counts[index] >= count, "a part exceeds the whole");
        }
    }

    /// The counts since `earlier`, an older copy of this histogram.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut rest = Self::default();
        for (index, count) in self.filled() {
            rest.counts[index] = count.saturating_sub(earlier.counts[index]);
        }
        rest
    }

    /// Clears all counts, keeps the memory.
    pub fn clear(&mut self) {
        let mut start = 0;
        while let Some(index) = next_filled(&self.counts[..], start) {
            self.counts[index] = 0;
            start = index + 1;
        }
    }
}

/// Serialised, a histogram is the list of its non-empty buckets, ascending.
impl Serialize for Histogram {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sequence = serializer.serialize_seq(Some(self.filled().count()))?;
        for (index, count) in self.filled() {
            // Fits: index < N_FULL_BUCKETS < 2^16.
            sequence.serialize_element(&(index as u16, count))?;
        }
        sequence.end()
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(HistogramVisitor)
    }
}

/// Reads bucket by bucket, so that a long list takes no memory; refuses buckets that repeat or descend.
struct HistogramVisitor;

impl<'de> Visitor<'de> for HistogramVisitor {
    type Value = Histogram;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("pairs of bucket and count, buckets ascending")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Histogram, A::Error> {
        wire::take_memory::<A::Error>(N_SLOTS * size_of::<u64>())?;
        let mut histogram = Histogram::default();
        let mut next_index = 0;
        while let Some((index, count)) = sequence.next_element::<(u16, u64)>()? {
            let index = usize::from(index);
            if index < next_index || index >= N_FULL_BUCKETS {
                return Err(A::Error::custom("histogram bucket out of range or out of order"));
            }
            histogram.counts[index] = count;
            next_index = index + 1;
        }
        Ok(histogram)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        for value in values {
            histogram.record(*value);
        }
        histogram
    }

    /// Expected: the table in the description of the format.
    #[test]
    fn buckets_of_the_reference() {
        let table = [
            (0, 0, 0),
            (127, 127, 127),
            (128, 128, 129),
            (129, 128, 129),
            (1_000, 317, 1_004),
            (12_345, 544, 12_352),
            (100_000, 737, 99_840),
            (1_000_000, 954, 1_003_520),
            (17_179_869_183, 1_855, 17_112_760_320),
            (u64::MAX, 1_855, 17_112_760_320),
        ];
        for (latency_ns, bucket, middle_ns) in table {
            assert_eq!(bucket_index(latency_ns), bucket, "{latency_ns}");
            assert_eq!(bucket_latency_ns(bucket), middle_ns, "{latency_ns}");
        }
    }

    #[test]
    fn every_bucket_holds_its_own_value() {
        for index in 0..N_FULL_BUCKETS {
            assert_eq!(full_bucket_index(bucket_latency_ns(index)), index);
            assert_eq!(bucket_index(bucket_latency_ns(index)), index.min(N_BUCKETS - 1));
            let (low_ns, end_ns) = bucket_bounds_ns(index);
            assert_eq!((full_bucket_index(low_ns), full_bucket_index(end_ns - 1)), (index, index));
            assert!(index == 0 || bucket_bounds_ns(index - 1).1 == low_ns);
        }
        assert_eq!(full_bucket_index(u64::MAX), N_FULL_BUCKETS - 1);
    }

    #[test]
    fn the_layout_goes_on_beyond_fio() {
        // 2^34 is the start of the group behind fio's last: its buckets are 2^28 wide.
        let table = [
            (17_179_869_183, 1_855),
            (17_179_869_184, 1_856),
            (17_179_869_184 + (1 << 28) - 1, 1_856),
            (17_179_869_184 + (1 << 28), 1_857),
            // A minute and an hour: they are above 2^35 + 47 * 2^29 and 2^41 + 40 * 2^35.
            (60_000_000_000, 30 * 64 + 47),
            (3_600_000_000_000, 36 * 64 + 40),
        ];
        for (latency_ns, bucket) in table {
            assert_eq!(full_bucket_index(latency_ns), bucket, "{latency_ns}");
        }
    }

    #[test]
    fn what_lies_beyond_is_folded_into_fios_last_bucket() {
        let mut histogram = Histogram::default();
        for latency_ns in [5, 17_179_869_183, 17_179_869_184, 60_000_000_000, 60_000_000_001] {
            histogram.record(latency_ns);
        }
        assert_eq!(histogram.folded().collect::<Vec<_>>(), [(5, 1), (1_855, 4)]);
        assert_eq!(histogram.filled().collect::<Vec<_>>(), [(5, 1), (1_855, 1), (1_856, 1), (1_967, 2)]);
        assert_eq!((histogram.n_beyond(), histogram.n_samples()), (3, 5));
        histogram.clear();
        assert_eq!(histogram, Histogram::default());
        assert_eq!(histogram.folded().count(), 0);
    }

    #[test]
    fn hostile_lists_are_refused() {
        for text in ["[[3776,1]]", "[[5,1],[5,1]]", "[[6,1],[5,1]]", "[[5]]", "[[70000,1]]", "{}"] {
            assert!(serde_json::from_str::<Histogram>(text).is_err(), "{text}");
        }
        let full = serde_json::from_str::<Histogram>("[[5,18446744073709551615],[6,1]]").expect("well formed");
        assert_eq!(full.n_samples(), u64::MAX);
        let mut twice = full.clone();
        twice.merge(&full);
        assert_eq!(twice.counts[5], u64::MAX);
    }

    proptest! {
        #[test]
        fn value_is_near_its_bucket(latency_ns in any::<u64>(), shift in 0u32..64) {
            let latency_ns = latency_ns >> shift;
            let middle_ns = bucket_latency_ns(full_bucket_index(latency_ns));
            prop_assert!(middle_ns.abs_diff(latency_ns) <= latency_ns / 128 + 1);
        }

        #[test]
        fn merging_is_recording_all(
            first in prop::collection::vec(any::<u64>(), 0..100),
            second in prop::collection::vec(any::<u64>(), 0..100),
        ) {
            let mut merged = of(&first);
            merged.merge(&of(&second));
            prop_assert_eq!(merged.n_samples(), (first.len() + second.len()) as u64);
            prop_assert_eq!(&wire::from_bytes::<Histogram>(&wire::to_bytes(&merged)).expect("reads back"), &merged);
            let text = serde_json::to_string(&merged).expect("serialises");
            prop_assert_eq!(&serde_json::from_str::<Histogram>(&text).expect("reads back"), &merged);
            prop_assert_eq!(&merged.since(&of(&first)), &of(&second));
            prop_assert_eq!(merged, of(&[first, second].concat()));
        }

        #[test]
        fn both_views_are_those_of_plain_lists(
            values in prop::collection::vec((any::<u64>(), 0u32..64).prop_map(|(value, shift)| value >> shift), 0..200),
        ) {
            let list_by = |bucket_of: fn(u64) -> usize| {
                let mut counts = BTreeMap::new();
                for value in &values {
                    *counts.entry(bucket_of(*value)).or_insert(0u64) += 1;
                }
                counts.into_iter().collect::<Vec<_>>()
            };
            let histogram = of(&values);
            prop_assert_eq!(histogram.filled().collect::<Vec<_>>(), list_by(full_bucket_index));
            prop_assert_eq!(histogram.folded().collect::<Vec<_>>(), list_by(bucket_index));
        }
    }
}
