//! Repeated runs on simulated devices whose figures differ from run to run: intervals, trends and comparisons whose truth is known.
//!
//! Must not know: how a sweep makes its runs. Start reading at [`truths`].

mod falls;
mod truths;
