//! Shows progress: a bar on a terminal, otherwise one line for each step; lengths of time in words. Always on the standard error.
//!
//! Must not know: the meaning of the steps. Start reading at [`StepBar::start`].

use crate::ui::console::can_be_steered;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::Write;
use std::time::Duration;

/// Redraws a second. No thread redraws: workers are forked from this process.
const REDRAWS_PER_SEC: u8 = 10;

const TEMPLATE: &str = "[{prefix}] {msg:44} [{wide_bar}] {percent:>3} %";

/// On a terminal with fewer columns there is no bar, and longer lines are cut.
const MIN_COLUMNS: usize = 70;
const NARROW_TEMPLATE: &str = "[{prefix}] {wide_msg} {percent:>3} %";

pub(crate) struct StepBar {
    bar: Option<ProgressBar>,
    n_steps: usize,
    step_number: usize,
    name: String,
}

impl StepBar {
    pub(crate) fn start(n_steps: usize) -> Self {
        let bar = can_be_steered(&std::io::stderr()).then(new_bar);
        Self { bar, n_steps, step_number: 0, name: String::new() }
    }

    /// The next step begins; it is done when its position is `total`.
    pub(crate) fn step(&mut self, name: &str, total: u64) {
        self.step_at(self.step_number + 1, name, total);
    }

    /// The step of this number (from 1) begins.
    pub(crate) fn step_at(&mut self, number: usize, name: &str, total: u64) {
        self.step_number = number;
        name.clone_into(&mut self.name);
        // There may be more steps than were known of at the start.
        let prefix = format!("{number}/{}", self.n_steps.max(number));
        if let Some(bar) = &self.bar {
            bar.set_style(style());
            bar.set_prefix(prefix);
            bar.set_message(name.to_owned());
            bar.set_length(total);
            bar.reset();
        } else {
            // A user who closed the standard error does not want progress, so a failure is ignored.
            let _ = writeln!(std::io::stderr(), "[{prefix}] {name}");
        }
    }

    /// The step has come to a position; `figures` are shown behind its name.
    pub(crate) fn set(&mut self, position: u64, figures: &str) {
        if let Some(bar) = &self.bar {
            // The terminal may have got another width.
            bar.set_style(style());
            if !figures.is_empty() {
                bar.set_message(format!("{}  {figures}", self.name));
            }
            bar.set_position(position);
        }
    }

    /// Hides the bar while `print` prints something else.
    pub(crate) fn aside(&self, print: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Removes the bar for good.
    pub(crate) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Drop for StepBar {
    fn drop(&mut self) {
        self.end();
    }
}

fn new_bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(REDRAWS_PER_SEC));
    bar.set_style(style());
    bar
}

fn style() -> ProgressStyle {
    let n_columns = ferrio_sys::terminal::columns(std::io::stderr());
    // A template that is not understood would only cost the bar its looks.
    let style = ProgressStyle::with_template(template(n_columns)).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.progress_chars("=> ")
}

fn template(n_columns: Option<usize>) -> &'static str {
    if n_columns.is_some_and(|n_columns| n_columns < MIN_COLUMNS) { NARROW_TEMPLATE } else { TEMPLATE }
}

/// A time in its two largest units.
pub(crate) fn time_text(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_understood() {
        for n_columns in [None, Some(40), Some(69), Some(70)] {
            assert!(ProgressStyle::with_template(template(n_columns)).is_ok());
        }
        assert_eq!((template(Some(69)), template(Some(70)), template(None)), (NARROW_TEMPLATE, TEMPLATE, TEMPLATE));
    }
}
