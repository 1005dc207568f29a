//! What `--push` shows: how far copies of ferrio to hosts are, and older copies that are there.
//!
//! Must not know: how copies are made. Start reading at [`CopyLine`].

use crate::ui::console::{can_be_steered, show_aside};
use ferrio::fleet::launch::{CopyState, OlderCopies};
use ferrio::fleet::one_name;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

/// Time between two looks how far copies are.
pub(super) const COPY_LOOK: Duration = Duration::from_millis(200);

/// The line that says how far copies of ferrio are, on a standard error that is a terminal.
pub(super) struct CopyLine {
    has_line: bool,
    is_shown: bool,
}

impl CopyLine {
    pub(super) fn new() -> Self {
        Self { has_line: can_be_steered(&io::stderr()), is_shown: false }
    }

    /// Shows the state; `None`: nothing is copied, and the line goes.
    pub(super) fn show(&mut self, state: Option<CopyState>) {
        const CLEAR: &str = "\r\x1b[K";
        let mut text = String::new();
        match state {
            Some(state) if self.has_line => text = format!("{CLEAR}{}", copy_text(state)),
            _ if self.is_shown => text.push_str(CLEAR),
            _ => {}
        }
        self.is_shown = self.has_line && state.is_some();
        // A terminal that is gone needs no line.
        let _ = io::stderr().write_all(text.as_bytes());
    }
}

fn copy_text(state: CopyState) -> String {
    let hosts = if state.n_hosts == 1 { "1 host".to_owned() } else { format!("{} hosts", state.n_hosts) };
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    format!("copying ferrio to {hosts}: {:.1} of {:.1} MiB", mib(state.sent_bytes), mib(state.all_bytes))
}

/// Names older copies of ferrio, a line for each directory. They are not removed: a run elsewhere may use them.
pub(super) fn tell_older(older: &[OlderCopies]) {
    let mut by_directory: BTreeMap<&str, Vec<&OlderCopies>> = BTreeMap::new();
    for one in older {
        by_directory.entry(&one.directory).or_default().push(one);
    }
    for (directory, mut copies) in by_directory {
        copies.sort_by(|one, other| one.host.cmp(&other.host));
        let hosts: Vec<&str> = copies.iter().map(|one| one.host.as_str()).collect();
        let n_copies = copies.iter().map(|one| one.n_copies).max().unwrap_or_default();
        let copies = if n_copies == 1 { "an older copy".to_owned() } else { format!("{n_copies} older copies") };
        show_aside(&format!(
            "ferrio: {copies} of ferrio in {directory} on {}: where no run uses them, they can be removed\n",
            one_name(&hosts)
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_much_is_there() {
        let state = CopyState { n_hosts: 3, sent_bytes: 12 << 20, all_bytes: 45 << 20 };
        assert_eq!(copy_text(state), "copying ferrio to 3 hosts: 12.0 of 45.0 MiB");
    }
}
