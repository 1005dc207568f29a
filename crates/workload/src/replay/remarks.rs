//! What is wrong with a trace and does not end its replay: few lines, however much it is.
//!
//! Must not know: where they are printed. Start reading at [`Remarks::add`].

/// Lines that are kept.
const MAX_LINES: usize = 10;

/// Lines for the user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remarks {
    lines: Vec<String>,
    n_more: u64,
}

impl Remarks {
    /// Keeps a line, or counts it.
    pub(super) fn add(&mut self, line: impl FnOnce() -> String) {
        if self.lines.len() < MAX_LINES {
            self.lines.push(line());
        } else {
            self.n_more += 1;
        }
    }

    /// The lines; the last says how many are not shown.
    pub fn into_lines(mut self) -> Vec<String> {
        if self.n_more > 0 {
            self.lines.push(format!("and {} more entries that say nothing", self.n_more));
        }
        self.lines
    }
}
