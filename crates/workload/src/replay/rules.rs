//! The changes that a replay makes to its trace: I/Os left out, offsets moved, times scaled, remarks about faults.
//!
//! Must not know: formats. Start reading at [`ReplayRules::place`], then [`TraceTimeline`].
//! Facts: reference, `replay_scale`, `replay_align`, `replay_time_scale`, `replay_no_stall`.

use super::record::{MAX_DATA_BYTES, TraceRecord};
use ferrio_spec::{ReplaySpec, SkippedKinds};
use ferrio_stats::note::TraceRemark;
use ferrio_units::Direction;

const NS_PER_MS: u64 = 1_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayRules {
    skip: SkippedKinds,
    /// Nothing may be written or trimmed.
    readonly: bool,
    scale: u64,
    align_bytes: u64,
    /// Added to all offsets, after scale and alignment.
    shift_bytes: u64,
    has_one_file: bool,
    no_stall: bool,
    time_scale_percent: u32,
}

impl ReplayRules {
    /// The rules of a job. `readonly`: its writes and trims are left out, as in fio.
    pub fn new(spec: &ReplaySpec, readonly: bool) -> Self {
        Self {
            skip: spec.skip,
            readonly,
            scale: spec.scale.max(1),
            align_bytes: spec.align_bytes.max(1),
            shift_bytes: 0,
            has_one_file: spec.redirect.is_some(),
            no_stall: spec.no_stall,
            time_scale_percent: spec.time_scale_percent.max(1),
        }
    }

    /// As these rules, with this number of bytes added to all offsets (`replay_offset`).
    #[must_use]
    pub fn moved_by(self, shift_bytes: u64) -> Self {
        Self { shift_bytes, ..self }
    }

    /// Bytes that are added to all offsets.
    pub(super) fn shift_bytes(&self) -> u64 {
        self.shift_bytes
    }

    /// All I/O goes to one file.
    pub(super) fn has_one_file(&self) -> bool {
        self.has_one_file
    }

    /// True if the times of the trace are ignored.
    pub(super) fn is_untimed(&self) -> bool {
        self.no_stall
    }

    /// True if I/Os of this kind are left out.
    pub(super) fn skips(&self, direction: Direction) -> bool {
        match direction {
            Direction::Read => self.skip.read,
            Direction::Write => self.skip.write || self.readonly,
            Direction::Trim => self.skip.trim || self.readonly,
            _ => self.skip.sync,
        }
    }

    /// True if I/Os of this kind are left out only because of `--readonly`.
    pub(super) fn forbids(&self, direction: Direction) -> bool {
        match direction {
            Direction::Write => self.readonly && !self.skip.write,
            Direction::Trim => self.readonly && !self.skip.trim,
            _ => false,
        }
    }

    /// The offset of an I/O of this length when it is moved; `None`: it is no valid file offset.
    pub(super) fn moved(&self, offset_bytes: u64, length_bytes: u64) -> Option<u64> {
        let moved_bytes = offset_bytes.checked_add(self.shift_bytes)?;
        let end_bytes = moved_bytes.checked_add(length_bytes)?;
        i64::try_from(end_bytes).is_ok().then_some(moved_bytes)
    }

    /// Offset and length of a data I/O, scaled and aligned, not yet moved; `None`: they are no valid file offsets.
    pub(super) fn place(&self, record: &TraceRecord) -> Option<(u64, u64)> {
        let aligned = |bytes: u64| bytes.checked_next_multiple_of(self.align_bytes);
        let offset_bytes = aligned(record.offset_bytes / self.scale)?;
        let length_bytes = aligned(record.length_bytes)?;
        let moved = TraceRecord { offset_bytes, length_bytes, ..*record };
        (moved.is_possible() && length_bytes <= MAX_DATA_BYTES.max(record.length_bytes))
            .then_some((offset_bytes, length_bytes))
    }
}

/// Due times of the entries.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TraceTimeline {
    /// Time of the first entry.
    origin_ns: Option<u64>,
    due_ns: u64,
}

impl TraceTimeline {
    /// Due time of an entry, counted from the start of the replay; never before that of an earlier entry.
    pub(super) fn entry(&mut self, rules: &ReplayRules, at_ns: Option<u64>) -> u64 {
        if let (Some(at_ns), false) = (at_ns, rules.no_stall) {
            let origin_ns = *self.origin_ns.get_or_insert(at_ns);
            self.advance(rules, at_ns.saturating_sub(origin_ns));
        }
        self.due_ns
    }

    /// Delays the next entry until this many milliseconds after the start.
    pub(super) fn wait(&mut self, rules: &ReplayRules, until_ms: u64) {
        if !rules.no_stall {
            self.advance(rules, until_ms.saturating_mul(NS_PER_MS));
        }
    }

    fn advance(&mut self, rules: &ReplayRules, trace_ns: u64) {
        let scaled = u128::from(trace_ns) * 100 / u128::from(rules.time_scale_percent);
        self.due_ns = self.due_ns.max(u64::try_from(scaled).unwrap_or(u64::MAX));
    }
}

const MAX_KEPT: usize = 10;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remarks {
    kept: Vec<TraceRemark>,
    n_more: u64,
}

impl Remarks {
    /// Keeps a remark, or only counts it when the list is full.
    pub(super) fn add(&mut self, remark: impl FnOnce() -> TraceRemark) {
        if self.kept.len() < MAX_KEPT {
            self.kept.push(remark());
        } else {
            self.n_more += 1;
        }
    }

    /// The remarks; the last one states how many are missing.
    pub fn into_list(mut self) -> Vec<TraceRemark> {
        if self.n_more > 0 {
            self.kept.push(TraceRemark::More { n_more: self.n_more });
        }
        self.kept
    }
}
