//! What one process did in a trace.
//!
//! Must not know: formats of traces. Start reading at [`ProfiledTask::issue`].

use ferrio_units::{DataDirection, PerDirection};
use std::collections::BTreeMap;

/// Most different lengths that a direction has; `bssplit` takes no more. Later ones count as the next shorter one.
const MAX_LENGTHS: usize = 64;

/// The I/Os of a process in one direction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DirectionProfile {
    pub n_ios: u64,
    pub bytes: u64,
    /// I/Os that begin where the one before in this direction ended; also the first one.
    pub n_sequential: u64,
    /// I/Os that became part of another request.
    pub n_merged: u64,
    /// Number of I/Os by length in bytes.
    pub lengths: BTreeMap<u64, u64>,
    /// End of the last one, bytes.
    end_bytes: Option<u64>,
}

/// A process and its I/Os.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfiledTask {
    pub process_id: u32,
    /// Its name; empty if the trace has none.
    pub name: String,
    /// Reads, writes and trims.
    pub directions: PerDirection<DirectionProfile>,
    pub n_flushes: u64,
    /// Largest number in flight at the same time.
    pub max_depth: u64,
    /// Smallest offset, bytes.
    pub start_bytes: u64,
    /// Largest end, bytes.
    pub end_bytes: u64,
    /// Time of the first I/O, nanoseconds of the trace's clock.
    pub first_ns: u64,
    pub last_ns: u64,
    /// Sum of the times from a completion after which nothing was in flight to the next I/O.
    pub idle_ns: u64,
    pub n_idle: u64,
    n_in_flight: u64,
    idle_since_ns: Option<u64>,
}

impl ProfiledTask {
    pub(super) fn new(process_id: u32, now_ns: u64) -> Self {
        Self {
            process_id,
            name: String::new(),
            directions: PerDirection::default(),
            n_flushes: 0,
            max_depth: 0,
            start_bytes: u64::MAX,
            end_bytes: 0,
            first_ns: now_ns,
            last_ns: now_ns,
            idle_ns: 0,
            n_idle: 0,
            n_in_flight: 0,
            idle_since_ns: None,
        }
    }

    /// Number of reads, writes and trims.
    pub fn n_ios(&self) -> u64 {
        self.directions.0.iter().map(|of| of.n_ios).sum()
    }

    /// Time from the first I/O to the last one.
    pub fn duration_ns(&self) -> u64 {
        self.last_ns.saturating_sub(self.first_ns)
    }

    pub(super) fn issue(&mut self, direction: DataDirection, offset_bytes: u64, length_bytes: u64, now_ns: u64) {
        let of = &mut self.directions[direction];
        of.n_ios += 1;
        of.bytes = of.bytes.saturating_add(length_bytes);
        of.n_sequential += u64::from(of.end_bytes.is_none_or(|end| end == offset_bytes));
        let end_bytes = offset_bytes.saturating_add(length_bytes);
        of.end_bytes = Some(end_bytes);
        let is_known = of.lengths.len() < MAX_LENGTHS || of.lengths.contains_key(&length_bytes);
        let shorter = || of.lengths.range(..length_bytes).next_back().or_else(|| of.lengths.first_key_value());
        let length = if is_known { length_bytes } else { shorter().map_or(length_bytes, |(length, _)| *length) };
        *of.lengths.entry(length).or_default() += 1;
        self.start_bytes = self.start_bytes.min(offset_bytes);
        self.end_bytes = self.end_bytes.max(end_bytes);
        self.begin(now_ns);
    }

    /// An I/O enters the queue.
    fn begin(&mut self, now_ns: u64) {
        self.last_ns = self.last_ns.max(now_ns);
        if let Some(since) = self.idle_since_ns.take() {
            self.idle_ns = self.idle_ns.saturating_add(now_ns.saturating_sub(since));
            self.n_idle += 1;
        }
        self.n_in_flight += 1;
        self.max_depth = self.max_depth.max(self.n_in_flight);
    }

    /// An I/O is in flight no longer.
    pub(super) fn complete(&mut self, now_ns: u64) {
        self.n_in_flight = self.n_in_flight.saturating_sub(1);
        self.idle_since_ns = (self.n_in_flight == 0).then_some(now_ns);
    }

    /// An I/O became part of another request before it was issued: it was never in flight by itself.
    pub(super) fn merge(&mut self, direction: DataDirection) {
        self.directions[direction].n_merged += 1;
        if self.n_in_flight == self.max_depth && self.max_depth > 1 {
            // The depth that it reached was not one.
            self.max_depth -= 1;
        }
        self.n_in_flight = self.n_in_flight.saturating_sub(1);
    }
}
