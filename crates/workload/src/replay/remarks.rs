//! Remarks about faults of a trace that do not end the replay: a limited number of lines, however many faults there
//! are.
//!
//! Must not know: where they are shown. Start reading at [`Remarks::add`].

/// Most lines that are kept.
const MAX_LINES: usize = 10;

/// Lines for the user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remarks {
    lines: Vec<String>,
    n_more: u64,
}

impl Remarks {
    /// Keeps a line, or only counts it when the list is full.
    pub(super) fn add(&mut self, line: impl FnOnce() -> String) {
        if self.lines.len() < MAX_LINES {
            self.lines.push(line());
        } else {
            self.n_more += 1;
        }
    }

    /// The lines; the last one tells how many are missing.
    pub fn into_lines(mut self) -> Vec<String> {
        if self.n_more > 0 {
            self.lines.push(format!("and {} more entries that say nothing", self.n_more));
        }
        self.lines
    }
}
