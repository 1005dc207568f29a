//! The latency histogram in fio's bucket layout (29 groups of 64 buckets).
//!
//! Must not know: what is measured. Start reading at [`bucket_index`].

use serde::{Deserialize, Serialize};

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
    let shift = 63 - value_ns.leading_zeros() - BUCKET_BITS;
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

    /// Adds another histogram.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts.iter()) {
            *mine += theirs;
        }
    }

    /// Forgets all counts, keeps the memory.
    pub fn clear(&mut self) {
        self.counts.fill(0);
    }
}

/// On the wire a histogram is the list of its non-empty buckets.
impl Serialize for Histogram {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let filled = || self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let pairs: Vec<(u16, u64)> = filled().map(|(index, count)| (index as u16, *count)).collect();
        pairs.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let pairs = Vec::<(u16, u64)>::deserialize(deserializer)?;
        let mut histogram = Self::default();
        for (index, count) in pairs {
            let slot = histogram.counts.get_mut(usize::from(index));
            *slot.ok_or_else(|| serde::de::Error::custom("histogram bucket out of range"))? = count;
        }
        Ok(histogram)
    }
}
