//! The ETA line: one line on the state of a running run, which overwrites itself.
//!
//! Must not know: terminals, clocks, how an ETA is found. Start reading at [`text`], then [`EtaLine`].

use crate::figures;
use crate::text::put;
use ferrio_stats::eta::{EtaLimits, EtaSnapshot};
use ferrio_units::scale::{DEFAULT_N_DIGITS, FigureStyle, PrefixSystem, Scaler};
use ferrio_units::{DataDirection, KbBase, PerDirection};

/// What the line says, without line ends and padding.
pub fn text(snapshot: &EtaSnapshot) -> String {
    let style = figures::style(snapshot.kb_base, snapshot.unit_bits, DEFAULT_N_DIGITS);
    let mut out = format!("Jobs: {} (f={})", snapshot.n_running, snapshot.n_open_files);
    match snapshot.limits {
        None => {}
        Some(EtaLimits::BytesPerSec { min, max }) => {
            put!(&mut out, ", {}-{}", style.rate(min).primary, style.rate(max).primary);
        }
        Some(EtaLimits::Ios { min, max }) => put!(&mut out, ", {min}-{max} IOPS"),
    }
    if snapshot.shows_progress && snapshot.n_running > 0 {
        progress(&mut out, snapshot, style);
    }
    out
}

fn progress(out: &mut String, snapshot: &EtaSnapshot, style: FigureStyle) {
    put!(out, ": [{}]", run_lengths(&snapshot.states));
    match snapshot.percent_done {
        Some(percent) => put!(out, "[{percent:3.1}%]"),
        None => out.push_str("[-.-%]"),
    }
    if !snapshot.only_ramps {
        rates(out, snapshot, style);
    }
    match snapshot.eta_secs {
        Some(secs) => put!(out, "[eta {}]", duration(secs)),
        None => out.push_str("[eta --]"),
    }
}

/// `m(2),W(1)`: the states of the jobs in order, each with the number of jobs in a row that share it.
fn run_lengths(states: &[char]) -> String {
    let runs = states.chunk_by(|one, next| one == next);
    runs.map(|run| format!("{}({})", run[0], run.len())).collect::<Vec<_>>().join(",")
}

/// Bandwidths and I/Os per second of the directions in which something happened, nothing when nothing did.
fn rates(out: &mut String, snapshot: &EtaSnapshot, style: FigureStyle) {
    let letters = PerDirection(["r", "w", "t"]);
    // Rates are counted in KiB/s. With kb_base=1000 the label changes and the number does not: so it is in fio.
    let system = PrefixSystem::primary(style.kb_base);
    let kib = Scaler::new(system, style.rate_unit()).from_kilo();
    let active: Vec<DataDirection> = DataDirection::ALL
        .into_iter()
        .filter(|direction| snapshot.bytes_per_sec[*direction] > 0 || snapshot.ios_per_sec[*direction] > 0)
        .collect();
    if active.is_empty() {
        return;
    }
    let list = |figure: &dyn Fn(DataDirection) -> String| -> String {
        let cells: Vec<String> =
            active.iter().map(|direction| format!("{}={}", letters[*direction], figure(*direction))).collect();
        cells.join(",")
    };
    put!(out, "[{}]", list(&|direction| kib.scale(snapshot.bytes_per_sec[direction] / KbBase::Binary.factor())));
    put!(out, "[{} IOPS]", list(&|direction| style.count(snapshot.ios_per_sec[direction])));
}

/// `00m:05s`, with hours and days in front when there are any.
fn duration(secs: u64) -> String {
    let (days, hours, minutes, secs) = (secs / 86_400, secs / 3600 % 24, secs / 60 % 60, secs % 60);
    let mut out = String::new();
    if days > 0 {
        put!(&mut out, "{days:02}d:");
    }
    if days > 0 || hours > 0 {
        put!(&mut out, "{hours:02}h:");
    }
    put!(&mut out, "{minutes:02}m:{secs:02}s");
    out
}

/// The line as it is sent to the terminal: padded to cover what it overwrites.
#[derive(Debug, Clone, Default)]
pub struct EtaLine {
    /// Characters of the line that is to be overwritten, without its own padding.
    n_shown: usize,
}

impl EtaLine {
    /// Bytes to send for `snapshot`. On a new line (`--eta-newline`) nothing has to be covered.
    pub fn update(&mut self, snapshot: &EtaSnapshot, on_new_line: bool) -> String {
        let mut out = String::new();
        if on_new_line {
            out.push('\n');
            self.n_shown = 0;
        }
        out.push_str(&text(snapshot));
        let n_chars = out.chars().count();
        out.extend(std::iter::repeat_n(' ', self.n_shown.saturating_sub(n_chars)));
        out.push('\r');
        self.n_shown = n_chars;
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot() -> EtaSnapshot {
        EtaSnapshot { n_running: 1, n_open_files: 1, kb_base: 1024, ..EtaSnapshot::default() }
    }

    fn rates_of(read: (u64, u64), write: (u64, u64), trim: (u64, u64)) -> (PerDirection<u64>, PerDirection<u64>) {
        (PerDirection([read.0 << 10, write.0 << 10, trim.0 << 10]), PerDirection([read.1, write.1, trim.1]))
    }

    fn with_rates(
        mut snapshot: EtaSnapshot,
        states: &str,
        rates: (PerDirection<u64>, PerDirection<u64>),
    ) -> EtaSnapshot {
        snapshot.shows_progress = true;
        snapshot.states = states.chars().collect();
        (snapshot.bytes_per_sec, snapshot.ios_per_sec) = rates;
        snapshot
    }

    #[test]
    fn before_an_eta_is_known() {
        assert_eq!(text(&snapshot()), "Jobs: 1 (f=1)");
        let limited = EtaSnapshot { limits: Some(EtaLimits::Ios { min: 0, max: 25_000 }), ..snapshot() };
        assert_eq!(text(&limited), "Jobs: 1 (f=1), 0-25000 IOPS");
    }

    /// Lines of fio (development head, and Debian's 3.33).
    #[test]
    fn recorded_lines() {
        let mut line = with_rates(
            EtaSnapshot { n_running: 3, n_open_files: 3, ..snapshot() },
            "mmW",
            rates_of((8_216, 2_054), (23_552, 5_891), (0, 0)),
        );
        line.limits = Some(EtaLimits::BytesPerSec { min: 0, max: 16 << 20 });
        (line.percent_done, line.eta_secs) = (Some(60.0), Some(2));
        assert_eq!(
            text(&line),
            "Jobs: 3 (f=3), 0B/s-16.0MiB/s: [m(2),W(1)][60.0%][r=8216KiB/s,w=23.0MiB/s][r=2054,w=5891 IOPS][eta 00m:02s]"
        );
        let mut line = with_rates(snapshot(), "r", rates_of((51_405, 12_850), (0, 0), (0, 0)));
        (line.percent_done, line.eta_secs) = (Some(60.0), Some(2));
        assert_eq!(text(&line), "Jobs: 1 (f=1): [r(1)][60.0%][r=50.2MiB/s][r=12.8k IOPS][eta 00m:02s]");
        let mut line = with_rates(snapshot(), "RRRE", rates_of((92_365, 23_100), (0, 0), (0, 1)));
        (line.percent_done, line.eta_secs) = (Some(20.5), Some(31));
        assert_eq!(
            text(&line),
            "Jobs: 1 (f=1): [R(3),E(1)][20.5%][r=90.2MiB/s,t=0KiB/s][r=23.1k,t=1 IOPS][eta 00m:31s]"
        );
        let mut line = with_rates(snapshot(), "//", rates_of((0, 0), (0, 0), (0, 0)));
        line.eta_secs = Some(5);
        assert_eq!(text(&line), "Jobs: 1 (f=1): [/(2)][-.-%][eta 00m:05s]");
        let mut line = with_rates(snapshot(), "/", rates_of((900, 225), (0, 0), (0, 0)));
        (line.n_open_files, line.eta_secs, line.only_ramps) = (0, Some(3), true);
        assert_eq!(text(&line), "Jobs: 1 (f=0): [/(1)][-.-%][eta 00m:03s]");
    }

    /// Debian's fio 3.33 with `kb_base=1000` and `unit_base=1`: 25,000 IOPS of 4 KiB are 800 Mbit/s, not 819.
    #[test]
    fn decimal_labels_keep_the_number() {
        let mut line = with_rates(snapshot(), "mR", rates_of((100_000, 25_000), (0, 0), (0, 0)));
        (line.kb_base, line.unit_bits) = (1000, true);
        assert!(text(&line).contains("[r=800Mbit/s][r=25.0k IOPS]"), "{}", text(&line));
        line.bytes_per_sec = PerDirection([18 << 10, 0, 0]);
        assert!(text(&line).contains("[r=144kbit/s]"), "{}", text(&line));
    }

    #[test]
    fn durations() {
        let table = [
            (0, "00m:00s"),
            (3_599, "59m:59s"),
            (3_600, "01h:00m:00s"),
            (86_400, "01d:00h:00m:00s"),
            (4_294_967_294, "49710d:06h:28m:14s"),
        ];
        for (secs, text) in table {
            assert_eq!(duration(secs), text);
        }
    }

    #[test]
    fn shorter_lines_cover_longer_ones() {
        let mut line = EtaLine::default();
        let long = EtaSnapshot { n_running: 100, ..snapshot() };
        assert_eq!(line.update(&long, false), "Jobs: 100 (f=1)\r");
        assert_eq!(line.update(&snapshot(), false), "Jobs: 1 (f=1)  \r");
        assert_eq!(line.update(&snapshot(), false), "Jobs: 1 (f=1)\r");
        assert_eq!(line.update(&long, false), "Jobs: 100 (f=1)\r");
        assert_eq!(line.update(&snapshot(), true), "\nJobs: 1 (f=1)\r");
        // fio counts the line end as a character of the line.
        assert_eq!(line.update(&snapshot(), false), "Jobs: 1 (f=1) \r");
    }
}
