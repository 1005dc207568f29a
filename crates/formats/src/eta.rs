//! The ETA line: one line about a running run, which overwrites itself.
//!
//! Must not know: terminals, clocks, how an ETA is computed. Start reading at [`text`], then [`EtaLine`].

use crate::compat;
use crate::direction_block;
use crate::text::put;
use ferrio_stats::eta::{EtaLimits, EtaSnapshot};
use ferrio_units::humanize::duration_text;
use ferrio_units::scale::{DEFAULT_N_DIGITS, FigureStyle, PrefixSystem, Scaler};
use ferrio_units::{DataDirection, PerDirection};

/// The text of the line, without line ends and padding.
pub fn text(snapshot: &EtaSnapshot) -> String {
    Parts::new(snapshot).whole()
}

/// The text in at most `width` characters: states are left out first, the remaining time last.
fn fitted(snapshot: &EtaSnapshot, width: usize) -> String {
    Parts::new(snapshot).fitted(width)
}

/// The line in pieces.
struct Parts {
    /// Jobs and files.
    head: String,
    limits: String,
    /// States of the jobs, without brackets.
    states: String,
    percent: String,
    bytes_per_sec: String,
    /// With the latency of 99 % of them, where it is shown.
    ios_per_sec: String,
    eta: String,
}

impl Parts {
    fn new(snapshot: &EtaSnapshot) -> Self {
        let style = direction_block::style(snapshot.kb_base, snapshot.unit_bits, DEFAULT_N_DIGITS);
        let head = format!("Jobs: {} (f={})", snapshot.n_running, snapshot.n_open_files);
        let limits = match snapshot.limits {
            None => String::new(),
            Some(EtaLimits::BytesPerSec { min, max }) => {
                format!(", {}-{}", style.rate(min).primary, style.rate(max).primary)
            }
            Some(EtaLimits::Ios { min, max }) => format!(", {min}-{max} IOPS"),
        };
        let none = String::new;
        let mut parts = Self {
            head,
            limits,
            states: none(),
            percent: none(),
            bytes_per_sec: none(),
            ios_per_sec: none(),
            eta: none(),
        };
        if snapshot.shows_progress && snapshot.n_running > 0 {
            parts.add_progress(snapshot, style);
        }
        parts
    }

    fn add_progress(&mut self, snapshot: &EtaSnapshot, style: FigureStyle) {
        self.states = run_lengths(&snapshot.states);
        self.percent = snapshot.percent_done.map_or_else(|| "[-.-%]".to_owned(), |percent| format!("[{percent:3.1}%]"));
        if !snapshot.only_ramps {
            (self.bytes_per_sec, self.ios_per_sec) = rates(snapshot, style);
            if let Some(p99_ns) = snapshot.p99_ns {
                self.ios_per_sec.extend(["[p99 ", &duration_text(p99_ns as f64), "]"]);
            }
        }
        self.eta = snapshot.eta_secs.map_or_else(|| "[eta --]".to_owned(), |secs| format!("[eta {}]", duration(secs)));
    }

    fn whole(&self) -> String {
        let Self { limits, states, bytes_per_sec, ios_per_sec, .. } = self;
        self.of(limits, states, bytes_per_sec, ios_per_sec)
    }

    /// The line with some of its pieces.
    fn of(&self, limits: &str, states: &str, bytes_per_sec: &str, ios_per_sec: &str) -> String {
        let Self { head, percent, eta, .. } = self;
        if eta.is_empty() {
            return format!("{head}{limits}");
        }
        let states = if states.is_empty() { String::new() } else { format!("[{states}]") };
        format!("{head}{limits}: {states}{percent}{bytes_per_sec}{ios_per_sec}{eta}")
    }

    fn fitted(&self, width: usize) -> String {
        let Self { limits, states, bytes_per_sec, ios_per_sec, .. } = self;
        let without_states = self.of(limits, "", bytes_per_sec, ios_per_sec);
        // Room beside the brackets.
        let room = width.saturating_sub(without_states.chars().count() + 2);
        let tries = [
            self.whole(),
            self.of(limits, &some_states(states, room), bytes_per_sec, ios_per_sec),
            self.of("", "", bytes_per_sec, ios_per_sec),
            self.of("", "", bytes_per_sec, ""),
            self.of("", "", "", ""),
        ];
        let fits = tries.iter().find(|line| line.chars().count() <= width);
        fits.cloned().unwrap_or_else(|| self.head.chars().take(width).collect())
    }
}

/// The first states, and dots for the others; empty if there is no room for one.
fn some_states(states: &str, room: usize) -> String {
    const DOTS: &str = "...";
    if states.len() <= room {
        return states.to_owned();
    }
    let kept = states.get(..room.saturating_sub(DOTS.len())).and_then(|head| head.rfind(','));
    kept.map_or_else(String::new, |end| format!("{}{DOTS}", &states[..=end]))
}

/// `m(2),W(1)`: the states of the jobs in order, each with the number of jobs in a row that share it.
fn run_lengths(states: &[char]) -> String {
    let runs = states.chunk_by(|one, next| one == next);
    runs.map(|run| format!("{}({})", run[0], run.len())).collect::<Vec<_>>().join(",")
}

/// Bandwidths and I/Os per second of active directions; empty if there are none.
fn rates(snapshot: &EtaSnapshot, style: FigureStyle) -> (String, String) {
    let letters = PerDirection(["r", "w", "t"]);
    let system = PrefixSystem::primary(style.kb_base);
    let kib = Scaler::new(system, style.rate_unit()).from_kilo();
    let active: Vec<DataDirection> = DataDirection::ALL
        .into_iter()
        .filter(|direction| snapshot.bytes_per_sec[*direction] > 0 || snapshot.ios_per_sec[*direction] > 0)
        .collect();
    if active.is_empty() {
        return (String::new(), String::new());
    }
    let list = |figure: &dyn Fn(DataDirection) -> String| -> String {
        let cells: Vec<String> =
            active.iter().map(|direction| format!("{}={}", letters[*direction], figure(*direction))).collect();
        cells.join(",")
    };
    let bytes_per_sec = list(&|direction| kib.scale(compat::eta_kilo_per_sec(snapshot.bytes_per_sec[direction])));
    let ios_per_sec = list(&|direction| style.count(snapshot.ios_per_sec[direction]));
    (format!("[{bytes_per_sec}]"), format!("[{ios_per_sec} IOPS]"))
}

/// `00m:05s`, with hours and days in front if necessary.
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

/// Erases from the cursor to the end of the screen, because a terminal that was made narrower may have wrapped the
/// line.
const ERASE_BELOW: &str = "\x1b[J";

/// The line for a terminal that knows lines alone, in its width.
pub fn plain_line(snapshot: &EtaSnapshot, n_columns: Option<usize>) -> String {
    let line = n_columns.map_or_else(|| text(snapshot), |n_columns| fitted(snapshot, n_columns.saturating_sub(1)));
    line + "\n"
}

/// The line as it is sent. For a terminal it is cut to the width, and the old line is erased first; otherwise it is
/// padded to cover the old line, as in fio.
#[derive(Debug, Clone, Default)]
pub struct EtaLine {
    /// Length of the line that is to be overwritten, without its own padding.
    n_shown: usize,
    is_on_terminal: bool,
}

impl EtaLine {
    /// Bytes to send for `snapshot`. On a new line (`--eta-newline`) there is no old line to cover. `n_columns`: width
    /// of the terminal, if it is one.
    pub fn update(&mut self, snapshot: &EtaSnapshot, on_new_line: bool, n_columns: Option<usize>) -> String {
        let mut out = String::new();
        if on_new_line {
            out.push('\n');
            self.n_shown = 0;
        }
        let Some(n_columns) = n_columns else {
            out.push_str(&text(snapshot));
            let n_chars = out.chars().count();
            out.extend(std::iter::repeat_n(' ', self.n_shown.saturating_sub(n_chars)));
            out.push('\r');
            self.n_shown = n_chars;
            return out;
        };
        // The last column stays free, because some terminals wrap when it is written.
        put!(&mut out, "{ERASE_BELOW}{}\r", fitted(snapshot, n_columns.saturating_sub(1)));
        self.is_on_terminal = true;
        out
    }

    /// Bytes that remove the line from the terminal, if there is one.
    pub fn clear(&mut self) -> Option<&'static str> {
        std::mem::take(&mut self.is_on_terminal).then_some(ERASE_BELOW)
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

    /// A line may be about a run on another host, which says what it likes.
    #[test]
    fn impossible_figures_have_a_line() {
        let most = PerDirection::all(u64::MAX);
        for (percent, kb_base) in [(f64::NAN, 0), (f64::INFINITY, u32::MAX), (-1e308, 1_000)] {
            let snapshot = EtaSnapshot {
                limits: Some(EtaLimits::BytesPerSec { min: u64::MAX, max: u64::MAX }),
                percent_done: Some(percent),
                p99_ns: Some(u64::MAX),
                eta_secs: Some(u64::MAX),
                kb_base,
                unit_bits: true,
                ..with_rates(snapshot(), "RW", (most, most))
            };
            let both = EtaSnapshot::together([&snapshot, &snapshot]).expect("two");
            assert!(text(&both).starts_with("Jobs: 2 (f=2)"));
        }
    }

    #[test]
    fn before_an_eta_is_known() {
        assert_eq!(text(&snapshot()), "Jobs: 1 (f=1)");
        let limited = EtaSnapshot { limits: Some(EtaLimits::Ios { min: 0, max: 25_000 }), ..snapshot() };
        assert_eq!(text(&limited), "Jobs: 1 (f=1), 0-25000 IOPS");
    }

    /// Expected: lines of fio (a development version, and 3.41).
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

    /// Expected: fio 3.41 with `kb_base=1000` and `unit_base=1` shows 25,000 IOPS of 4 KiB as 800 Mbit/s, not 819.
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
        assert_eq!(line.update(&long, false, None), "Jobs: 100 (f=1)\r");
        assert_eq!(line.update(&snapshot(), false, None), "Jobs: 1 (f=1)  \r");
        assert_eq!(line.update(&snapshot(), false, None), "Jobs: 1 (f=1)\r");
        assert_eq!(line.update(&long, false, None), "Jobs: 100 (f=1)\r");
        assert_eq!(line.update(&snapshot(), true, None), "\nJobs: 1 (f=1)\r");
        // fio counts the line end as a character of the line.
        assert_eq!(line.update(&snapshot(), false, None), "Jobs: 1 (f=1) \r");
    }

    /// Three jobs with rates, and `n_jobs` that are all in different states.
    fn busy(n_jobs: u32) -> EtaSnapshot {
        let states: String = "RW".chars().cycle().take(n_jobs as usize).collect();
        let mut line = with_rates(
            EtaSnapshot { n_running: n_jobs, n_open_files: n_jobs.into(), ..snapshot() },
            &states,
            rates_of((8_216, 2_054), (23_552, 5_891), (0, 0)),
        );
        line.limits = Some(EtaLimits::BytesPerSec { min: 0, max: 16 << 20 });
        (line.percent_done, line.eta_secs) = (Some(60.0), Some(2));
        line
    }

    #[test]
    fn lines_are_cut_to_what_matters_most() {
        let table = [
            (
                3,
                200,
                "Jobs: 3 (f=3), 0B/s-16.0MiB/s: [R(1),W(1),R(1)][60.0%][r=8216KiB/s,w=23.0MiB/s][r=2054,w=5891 IOPS][eta 00m:02s]",
            ),
            (
                200,
                119,
                "Jobs: 200 (f=200), 0B/s-16.0MiB/s: [R(1),W(1),...][60.0%][r=8216KiB/s,w=23.0MiB/s][r=2054,w=5891 IOPS][eta 00m:02s]",
            ),
            (
                200,
                100,
                "Jobs: 200 (f=200), 0B/s-16.0MiB/s: [60.0%][r=8216KiB/s,w=23.0MiB/s][r=2054,w=5891 IOPS][eta 00m:02s]",
            ),
            (200, 89, "Jobs: 200 (f=200): [60.0%][r=8216KiB/s,w=23.0MiB/s][r=2054,w=5891 IOPS][eta 00m:02s]"),
            (200, 79, "Jobs: 200 (f=200): [60.0%][r=8216KiB/s,w=23.0MiB/s][eta 00m:02s]"),
            (200, 39, "Jobs: 200 (f=200): [60.0%][eta 00m:02s]"),
            (200, 12, "Jobs: 200 (f"),
            (200, 0, ""),
        ];
        for (n_jobs, width, expected) in table {
            assert_eq!(fitted(&busy(n_jobs), width), expected, "{n_jobs} {width}");
        }
    }

    #[test]
    fn no_line_is_wider_than_its_terminal() {
        for n_jobs in [1, 2, 3, 17, 200] {
            for n_columns in 0..260 {
                let sent = EtaLine::default().update(&busy(n_jobs), false, Some(n_columns));
                let shown = sent.strip_prefix(ERASE_BELOW).and_then(|sent| sent.strip_suffix('\r')).unwrap();
                assert!(shown.len() < n_columns.max(1), "{n_columns}: {shown}");
            }
        }
    }

    #[test]
    fn a_line_on_a_terminal_is_taken_off_once() {
        let mut line = EtaLine::default();
        assert_eq!(line.clear(), None);
        line.update(&snapshot(), false, None);
        assert_eq!(line.clear(), None, "what goes to a file stays as in fio");
        line.update(&snapshot(), false, Some(80));
        assert_eq!((line.clear(), line.clear()), (Some(ERASE_BELOW), None));
    }
}
