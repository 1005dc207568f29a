//! A point of a course as pages get it.
//!
//! Start reading at [`PagePoint`].

use crate::live::board::Now;
use serde::{Serialize, Serializer};

/// Figures of a moment: the short form in JSON of an `Option<Now>`, of which a course has hundreds. It is a list of: I/Os a second, bytes a
/// second, p50, p99, p99.9 and the slowest I/O in nanoseconds (each `null` where nothing was measured), I/Os in flight, p99 of the syncs. All
/// of them are `null` where nothing ran, or nothing is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PagePoint(pub(super) Option<Now>);

impl Serialize for PagePoint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rounded = |figure: fn(&Now) -> f64| self.0.as_ref().map(|now| (figure(now) * 1e6).round() / 1e6);
        let latency = |index: usize| self.0.and_then(|now| now.percentiles_ns).map(|values| values[index]);
        let (iops, bw_bytes, depth) =
            (rounded(|now| now.iops), rounded(|now| now.bw_bytes.round()), rounded(|now| now.depth));
        let max_ns = self.0.and_then(|now| now.max_ns);
        let sync_p99_ns = self.0.and_then(|now| now.sync_p99_ns);
        (iops, bw_bytes, latency(0), latency(1), latency(2), max_ns, depth, sync_p99_ns).serialize(serializer)
    }
}

pub(super) fn page_points(course: &[Option<Now>]) -> Vec<PagePoint> {
    course.iter().copied().map(PagePoint).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_point_is_a_list_and_a_gap_a_list_of_nulls() {
        let now = Now {
            iops: 15.0,
            bw_bytes: 0.4,
            percentiles_ns: Some([2, 5, 9]),
            max_ns: Some(7),
            depth: 0.5,
            sync_p99_ns: Some(8),
        };
        let points = [None, Some(Now::default()), Some(now)];
        assert_eq!(
            serde_json::to_value(page_points(&points)).unwrap(),
            json!([
                [null, null, null, null, null, null, null, null],
                [0.0, 0.0, null, null, null, null, 0.0, null],
                [15.0, 0.0, 2, 5, 9, 7, 0.5, 8]
            ])
        );
    }
}
