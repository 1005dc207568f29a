//! The latency histogram in fio's bucket layout (29 groups of 64 buckets).
//!
//! Must not know: what is measured. Start reading at [`bucket_index`].

use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Bits of a value that a bucket keeps: 64 buckets a group.
const BUCKET_BITS: u32 = 6;
/// Buckets in a group.
const GROUP_BUCKETS: usize = 1 << BUCKET_BITS;
/// Number of buckets.
pub const N_BUCKETS: usize = 29 * GROUP_BUCKETS;

/// Bucket of a value in nanoseconds. Values of about 17.18 s and more share the last bucket.
#[inline]
pub const fn bucket_index(value_ns: u64) -> usize {
    if value_ns < 2 * GROUP_BUCKETS as u64 {
        return value_ns as usize;
    }
    // The value has at least 8 bits, so the top bit is at 7 or higher and the shift at 1 or higher.
    let shift = value_ns.ilog2() - BUCKET_BITS;
    let index = ((shift as usize) << BUCKET_BITS) + (value_ns >> shift) as usize;
    if index < N_BUCKETS { index } else { N_BUCKETS - 1 }
}

/// Value that stands for all of a bucket: the middle of it, in nanoseconds.
pub const fn bucket_value_ns(index: usize) -> u64 {
    if index < 2 * GROUP_BUCKETS {
        return index as u64;
    }
    let shift = (index >> BUCKET_BITS) - 1;
    let low = ((index & (GROUP_BUCKETS - 1)) as u64) << shift;
    // floor((k + 0.5) * 2^shift) = k * 2^shift + 2^(shift - 1); shift is at least 1 here.
    (1u64 << (shift as u32 + BUCKET_BITS)) + low + (1u64 << (shift - 1))
}

/// Counts of latencies by bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Histogram {
    counts: Box<[u64; N_BUCKETS]>,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: Box::new([0; N_BUCKETS]) }
    }
}

impl Histogram {
    /// Counts one value in nanoseconds.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        self.counts[bucket_index(value_ns)] += 1;
    }

    /// All counts, by bucket.
    pub fn counts(&self) -> &[u64; N_BUCKETS] {
        &self.counts
    }

    /// Buckets that hold something, as (bucket, count), ascending.
    pub fn filled(&self) -> impl Iterator<Item = (usize, u64)> {
        self.counts.iter().copied().enumerate().filter(|(_, count)| *count > 0)
    }

    /// Number of values counted.
    pub fn n_samples(&self) -> u64 {
        self.counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Adds another histogram.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts.iter()) {
            // Counts may come off a wire: they saturate rather than wrap.
            *mine = mine.saturating_add(*theirs);
        }
    }

    /// Forgets all counts, keeps the memory.
    pub fn clear(&mut self) {
        self.counts.fill(0);
    }
}

/// On the wire a histogram is the list of its non-empty buckets, ascending.
impl Serialize for Histogram {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sequence = serializer.serialize_seq(Some(self.filled().count()))?;
        for (index, count) in self.filled() {
            // Cannot overflow: index < N_BUCKETS < 2^16.
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

/// Reads bucket by bucket, so that a long list costs no memory; refuses buckets that repeat or go back.
struct HistogramVisitor;

impl<'de> Visitor<'de> for HistogramVisitor {
    type Value = Histogram;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("pairs of bucket and count, buckets ascending")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Histogram, A::Error> {
        let mut histogram = Histogram::default();
        let mut next_index = 0;
        while let Some((index, count)) = sequence.next_element::<(u16, u64)>()? {
            let index = usize::from(index);
            if index < next_index || index >= N_BUCKETS {
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

    /// The table of the format's description.
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
        for (value_ns, bucket, middle_ns) in table {
            assert_eq!(bucket_index(value_ns), bucket, "{value_ns}");
            assert_eq!(bucket_value_ns(bucket), middle_ns, "{value_ns}");
        }
    }

    #[test]
    fn every_bucket_holds_its_own_value() {
        for index in 0..N_BUCKETS {
            assert_eq!(bucket_index(bucket_value_ns(index)), index);
        }
    }

    #[test]
    fn hostile_lists_are_refused() {
        for text in ["[[1856,1]]", "[[5,1],[5,1]]", "[[6,1],[5,1]]", "[[5]]", "[[70000,1]]", "{}"] {
            assert!(serde_json::from_str::<Histogram>(text).is_err(), "{text}");
        }
        let full = serde_json::from_str::<Histogram>("[[5,18446744073709551615],[6,1]]").expect("well formed");
        assert_eq!(full.n_samples(), u64::MAX);
        let mut twice = full.clone();
        twice.merge(&full);
        assert_eq!(twice.counts()[5], u64::MAX);
    }

    proptest! {
        #[test]
        fn value_is_near_its_bucket(value_ns in 0u64..17_179_869_184) {
            let middle_ns = bucket_value_ns(bucket_index(value_ns));
            prop_assert!(middle_ns.abs_diff(value_ns) <= value_ns / 128 + 1);
        }

        #[test]
        fn merging_is_recording_all(
            first in prop::collection::vec(any::<u64>(), 0..100),
            second in prop::collection::vec(any::<u64>(), 0..100),
        ) {
            let of = |values: &[u64]| {
                let mut histogram = Histogram::default();
                for value in values { histogram.record(*value); }
                histogram
            };
            let mut merged = of(&first);
            merged.merge(&of(&second));
            prop_assert_eq!(merged.n_samples(), (first.len() + second.len()) as u64);
            let bytes = postcard::to_stdvec(&merged).expect("serialises");
            prop_assert_eq!(&postcard::from_bytes::<Histogram>(&bytes).expect("reads back"), &merged);
            prop_assert_eq!(merged, of(&[first, second].concat()));
        }
    }
}
