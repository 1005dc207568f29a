//! The lines about the blocks that a job trimmed and wrote.
//!
//! Must not know: directions. Start reading at [`write()`].

use crate::text::put;
use ferrio_stats::{BlockState, BlockStates, ReportSettings};

/// Columns of a line of percentiles.
const LINE_WIDTH: usize = 75;

/// Appends the lines; none for a job that does not want them. Without percentiles the states follow directly behind the
/// bar, as in fio.
pub(super) fn write(out: &mut String, settings: &ReportSettings, states: Option<&BlockStates>) {
    let Some(states) = states else { return };
    out.push_str("  block lifetime percentiles :\n   |");
    let list = states.percentiles(&settings.percentiles);
    let mut width = 4;
    for (index, (percentile, n_trims)) in list.iter().enumerate() {
        let is_last = index + 1 == list.len();
        let cell = format!(" {percentile:3.2}th={n_trims}{}", if is_last { "\n" } else { "," });
        if width + cell.len() > LINE_WIDTH {
            out.push_str("\n   |");
            width = 4;
        }
        width += cell.len();
        out.push_str(&cell);
    }
    let [unwritten, trimmed, written, trim_failure, write_failure] = BlockState::ALL.map(|state| states.count(state));
    put!(
        out,
        "        states               : unwritten={unwritten}, trimmed={trimmed}, written={written}, \
         trim failure={trim_failure}, write failure={write_failure}\n"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(states: &BlockStates, percentiles: &[f64]) -> String {
        let settings = ReportSettings { percentiles: percentiles.to_vec(), ..ReportSettings::default() };
        let mut out = String::new();
        write(&mut out, &settings, Some(states));
        out
    }

    /// Expected: fio 3.41 for a job without trims.
    #[test]
    fn states_alone() {
        let expected = "  block lifetime percentiles :\n   |        states               : unwritten=0, trimmed=0, written=0, \
                        trim failure=0, write failure=0\n";
        assert_eq!(lines(&BlockStates::default(), &[50.0]), expected);
    }

    #[test]
    fn lines_of_percentiles_are_bounded() {
        let mut states = BlockStates::default();
        states.record(BlockState::WriteFailure, 1_000);
        let text = lines(&states, &[1.0, 5.0, 10.0, 50.0, 90.0, 99.0, 99.5, 99.99]);
        let table: Vec<&str> = text.lines().filter(|line| line.starts_with("   |")).collect();
        assert!(table.len() == 2 && table.iter().all(|line| line.len() <= LINE_WIDTH), "{text}");
        assert!(
            text.contains("| 1.00th=1000, 5.00th=1000,") && text.contains("99.99th=1000\n        states  "),
            "{text}"
        );
    }
}
