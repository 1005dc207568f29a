//! Remarks about faults of a trace that do not end the replay: a limited number, however many faults there
//! are.
//!
//! Must not know: where they are shown. Start reading at [`Remarks::add`].

use ferrio_stats::note::TraceRemark;

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
