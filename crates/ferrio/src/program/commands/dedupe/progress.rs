//! The progress of a scan: a bar on a terminal, else nothing. Always on the standard error.
//!
//! Must not know: figures. Start reading at [`ScanBar::start`].

use crate::ui::console::can_be_steered;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const REDRAWS_PER_SEC: u8 = 10;

const TEMPLATE: &str = "{bytes} of {total_bytes} [{wide_bar}] {percent:>3} %, {bytes_per_sec}, {eta} left";

/// On a terminal with fewer columns there is no bar.
const MIN_COLUMNS: usize = 70;
const NARROW_TEMPLATE: &str = "{bytes} of {total_bytes} {percent:>3} %";

/// A bar over the bytes of a target.
pub(super) struct ScanBar(Option<ProgressBar>);

impl ScanBar {
    pub(super) fn start(total_bytes: u64) -> Self {
        Self(can_be_steered(&std::io::stderr()).then(|| {
            let target = ProgressDrawTarget::stderr_with_hz(REDRAWS_PER_SEC);
            ProgressBar::with_draw_target(Some(total_bytes), target).with_style(style())
        }))
    }

    /// So many bytes are done.
    pub(super) fn set(&self, n_bytes: u64) {
        if let Some(bar) = &self.0 {
            // The terminal may have got another width.
            bar.set_style(style());
            bar.set_position(n_bytes);
        }
    }

    pub(super) fn end(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

fn style() -> ProgressStyle {
    let n_columns = ferrio_sys::terminal::columns(std::io::stderr());
    let template = if n_columns.is_some_and(|n_columns| n_columns < MIN_COLUMNS) { NARROW_TEMPLATE } else { TEMPLATE };
    // A template that is not understood would only cost the bar its looks.
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.progress_chars("=> ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_are_understood() {
        assert!(
            ProgressStyle::with_template(TEMPLATE).is_ok() && ProgressStyle::with_template(NARROW_TEMPLATE).is_ok()
        );
    }
}
