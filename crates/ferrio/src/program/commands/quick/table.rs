//! The table and the notes below it, as text for 80 columns, or for a narrower terminal.
//!
//! Must not know: how figures came about. Start reading at [`render`].

use super::Report;
use super::notes::{DOUBT_LEGEND, DOUBT_MARK, sentences};
use super::test_figures::TestFigures;
use ferrio_formats::native::{ColumnLayout, NOTHING, text_width, wrap};
use ferrio_stats::Metric;
use ferrio_units::humanize::duration_text;

/// The figures of a test; the time of the CPU stands behind them.
const SHOWN: [Metric; 5] = [Metric::Bandwidth, Metric::Iops, Metric::P50, Metric::P99, Metric::P999];
const CPU_HEADING: &str = "CPU per I/O";
/// The columns that hold latencies.
const LATENCIES: std::ops::Range<usize> = 3..6;
const LATENCY_HEADING: &str = "latency of an I/O";
const GAP: usize = 2;

const LEGEND: &str = "MB/s: millions of bytes a second. 1 s = 1,000 ms, 1 ms = 1,000 us. p99: 99 of 100 I/Os took no \
    longer, from submission to completion. CPU: user and system time.";

/// The cells of a line, the name first.
type Row = Vec<String>;

fn headings() -> Row {
    ["test"].into_iter().chain(SHOWN.map(Metric::heading)).chain([CPU_HEADING]).map(str::to_owned).collect()
}

/// The table, its legend and the notes. `n_columns`: those of the terminal, if it is one.
pub(super) fn render(report: &Report, n_columns: Option<usize>) -> String {
    let width = text_width(n_columns);
    let mut text = table(&report.tests);
    if n_columns.is_some_and(|n_columns| text.lines().any(|line| line.len() > n_columns)) {
        text = paragraphs(&report.tests, width);
    }
    text.push('\n');
    text.push_str(&wrap(LEGEND, "", width));
    let is_marked = |test: &TestFigures| test.n_ios > 0 && test.latencies.iter().any(|latency| latency.is_doubtful);
    let mark = report.tests.iter().any(is_marked).then(|| (DOUBT_MARK, DOUBT_LEGEND.to_owned()));
    let findings = sentences(&report.findings).into_iter().map(|sentence| ("-", sentence));
    let notes = report.notes.iter().map(|note| ("-", note.to_string()));
    let all: Vec<(&str, String)> = findings.chain(mark).chain(notes).collect();
    if !all.is_empty() {
        text.push_str("\nNotes\n");
    }
    for (begin, sentence) in all {
        text.push_str(&wrap(&sentence, &format!("{begin} "), width));
    }
    text
}

/// The rows of the table as paragraphs, each figure with its heading.
fn paragraphs(tests: &[TestFigures], width: usize) -> String {
    let mut text = format!("{LATENCY_HEADING}: {}\n", headings()[LATENCIES].join(", "));
    for test in tests {
        let cells = row(test, &[]);
        text.extend(["\n", &cells[0], "\n"]);
        let figures: Vec<String> =
            headings().iter().zip(&cells).skip(1).map(|(heading, cell)| figure(heading, cell)).collect();
        text.push_str(&fill("  ", &figures, width));
    }
    text
}

/// A figure with its heading, kept on one line.
fn figure(heading: &str, cell: &str) -> String {
    let is_unit = SHOWN.iter().any(|metric| metric.heading() == heading && !metric.is_latency());
    if is_unit { format!("{cell} {heading}") } else { format!("{heading} {cell}") }
}

/// Fills lines with pieces, separated by gaps; no piece is broken.
fn fill(indent: &str, pieces: &[String], width: usize) -> String {
    let (mut text, mut line) = (String::new(), String::new());
    for piece in pieces {
        if !line.is_empty() && line.len() + GAP + piece.len() > width {
            text.push_str(&(std::mem::take(&mut line) + "\n"));
        }
        line.push_str(if line.is_empty() { indent } else { "  " });
        line.push_str(piece);
    }
    text + &line + "\n"
}

/// The cells of a test. In the columns of `is_marked`, figures without a mark keep its place free.
fn row(figures: &TestFigures, is_marked: &[Metric]) -> Row {
    let cell = |metric: Metric| {
        let doubtful = figures.percentile(metric).map(|percentile| percentile.is_doubtful);
        let mark = match (doubtful, is_marked.contains(&metric)) {
            (Some(true), _) => DOUBT_MARK,
            (Some(false), true) => " ",
            (Some(false), false) | (None, _) => "",
        };
        figures.figure(metric).map_or_else(|| NOTHING.to_owned(), |value| metric.cell(value) + mark)
    };
    let cpu = if figures.n_ios == 0 { NOTHING.to_owned() } else { duration_text(figures.cpu_ns_per_io) };
    [figures.name.to_owned()].into_iter().chain(SHOWN.map(cell)).chain([cpu]).collect()
}

fn table(tests: &[TestFigures]) -> String {
    let is_doubtful = |test: &TestFigures, metric| test.percentile(metric).is_some_and(|found| found.is_doubtful);
    let is_marked = |metric: &Metric| tests.iter().any(|test| is_doubtful(test, *metric));
    let marked: Vec<Metric> = SHOWN.into_iter().filter(is_marked).collect();
    let rows: Vec<Row> = std::iter::once(headings()).chain(tests.iter().map(|test| row(test, &marked))).collect();
    let layout = ColumnLayout::of(&rows, |column| column == 0);
    let lines: Vec<String> = rows.iter().map(|row| layout.line(row)).collect();
    layout.heading_above(LATENCIES, LATENCY_HEADING) + &lines[0] + &layout.rule() + &lines[1..].concat()
}

#[cfg(test)]
mod tests {
    use super::super::conditions::tests::on_disk;
    use super::super::notes::QuickNote;
    use super::super::test_figures::tests::plain;
    use super::*;
    use ferrio_formats::native::{MIN_WIDTH, TEXT_WIDTH};
    use ferrio_stats::Percentile;

    fn report(tests: Vec<TestFigures>, notes: Vec<QuickNote>) -> Report {
        let (version, jobs, findings) = ("", vec![], vec![]);
        Report {
            version,
            timestamp_ms: 0,
            elapsed_ns: 0,
            conditions: on_disk(),
            tests,
            jobs,
            findings,
            notes,
            provenance: None,
        }
    }

    #[test]
    fn the_table_of_known_figures() {
        let mut first = plain("1M sequential write");
        (first.bytes_per_sec, first.ios_per_sec) = (1_234_000_000.0, 1_176.8);
        first.latencies[0].latency_ns = 54_100_000;
        first.latencies[2] = Percentile { percent: 99.9, latency_ns: 192_300_000, is_doubtful: true };
        first.cpu_ns_per_io = 112_000.0;
        let none = TestFigures { n_ios: 0, ..plain("1M sequential read") };
        let expected = [
            "                                    --- latency of an I/O ----",
            "test                  MB/s    IOPS      p50      p99     p99.9  CPU per I/O",
            "---------------------------------------------------------------------------",
            "1M sequential write  1,234   1,177  54.1 ms  5.20 ms   192 ms*       112 us",
            "4K random write       81.9  20,000  3.10 ms  5.20 ms  12.4 ms       3.41 us",
            "1M sequential read       -       -        -        -         -            -",
            "",
        ];
        assert_eq!(table(&[first, plain("4K random write"), none]).split('\n').collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_widest_figures_fit_in_80_columns() {
        let mut widest = plain("1M sequential write");
        (widest.bytes_per_sec, widest.ios_per_sec, widest.cpu_ns_per_io) = (99_999_000_000.0, 9_999_999.0, 999_000.0);
        widest.latencies.iter_mut().for_each(|latency| {
            latency.latency_ns = 99_900_000;
            latency.is_doubtful = latency.percent > 50.0;
        });
        assert!(table(&[widest]).lines().all(|line| line.len() <= 80));
    }

    #[test]
    fn notes_are_wrapped_and_indented() {
        let long = QuickNote::Engine { taken: "libaio", refusals: vec!["word ".repeat(40).trim().to_owned()] };
        let report = report(vec![plain("test")], vec![long]);
        let text = render(&report, None);
        let notes: Vec<&str> = text.lines().skip_while(|line| *line != "Notes").skip(1).collect();
        assert!(notes.len() > 2 && notes[0].starts_with("- Engine libaio"));
        assert!(notes[1..].iter().all(|line| line.starts_with("  word")));
        assert!(text.lines().all(|line| line.len() <= TEXT_WIDTH));
        assert_eq!(wrap("", "- ", TEXT_WIDTH), "- \n");
    }

    #[test]
    fn on_a_narrow_terminal_figures_stand_beneath_their_test() {
        let mut first = plain("1M sequential write");
        (first.bytes_per_sec, first.ios_per_sec) = (1_234_000_000.0, 1_176.8);
        let none = TestFigures { n_ios: 0, ..plain("1M sequential read") };
        let report = report(vec![first, none], vec![]);
        let text = render(&report, Some(40));
        let expected = [
            "latency of an I/O: p50, p99, p99.9",
            "",
            "1M sequential write",
            "  1,234 MB/s  1,177 IOPS  p50 3.10 ms",
            "  p99 5.20 ms  p99.9 12.4 ms",
            "  CPU per I/O 3.41 us",
            "",
            "1M sequential read",
            "  - MB/s  - IOPS  p50 -  p99 -  p99.9 -",
            "  CPU per I/O -",
        ];
        assert_eq!(text.lines().take(expected.len()).collect::<Vec<_>>(), expected);
        assert!(text.lines().all(|line| line.len() < 40), "{text}");
        assert!(render(&report, Some(76)).starts_with(&table(&report.tests)));
        assert!(render(&report, Some(3)).lines().all(|line| line.len() <= MIN_WIDTH + 15), "words stay whole");
    }
}
