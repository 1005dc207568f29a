//! ferrio's own report: a table of headline figures, and findings as text for 80 columns or a narrower terminal.
//!
//! Must not know: how figures are measured, the rules of findings. Start reading at [`headline`], then [`audit()`].

mod accounts;
mod columns;
mod findings;
mod form;
mod headline;
mod notes;
pub(crate) mod reader;
mod requests;
mod runtimes;
mod servers;
mod table;
mod wrap;

pub use accounts::{accounts_lines, ending_text, meanings, not_as_asked, plan_lines, report_lines, time_text};
pub use columns::{ColumnLayout, NOTHING, aligned};
pub use findings::{
    audit, audit_document, closing, findings, for_terminal, in_brackets, measured, n_shown, of_less_weight, unexamined,
    value,
};
pub use headline::{Headline, headlines, totals};
pub use notes::note_text;
pub use runtimes::{DrawnRuntimes, drawn_runtimes};
pub use table::{DOUBT_MARK, THIN_MARK, legend, reason_words, table, thin_legend};
pub use wrap::{MIN_WIDTH, TEXT_WIDTH, text_width, wrap};
