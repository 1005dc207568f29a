//! The hosts of a fleet on the screen: which is the slowest, which are lost, and a row for each with its rate over time.
//!
//! Must not know: keys, terminals. Start reading at [`draw_hosts`].

use super::screen::{bold, cell, cut, dim, printable, rate};
use crate::live::hosts::{HostBoard, HostState, HostsBoard};
use ferrio_formats::native::NOTHING;
use ferrio_stats::Metric;
use ratatui::Frame as RatatuiFrame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Row, Table};

/// Widths of the figures of a host: IOPS, MB/s, p99.
const WIDTHS: [u16; 3] = [9, 8, 8];
/// Width of a host's name and state.
const NAME_WIDTH: u16 = 22;
/// A course of fewer columns is left out.
const FEWEST_COURSE_COLUMNS: u16 = 8;
/// Lost hosts that are named.
const MOST_NAMED: usize = 5;
/// Rates from nothing to the highest one of all hosts.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws the hosts from this one on; returns the first that is shown, so that the rows are full.
pub(super) fn draw_hosts(frame: &mut RatatuiFrame<'_>, board: &HostsBoard, first: usize, area: Rect) -> usize {
    let [summary, table] = Layout::vertical([Constraint::Length(1), Constraint::Fill(1)]).areas(area);
    frame.render_widget(Paragraph::new(summary_line(board, summary.width)), summary);
    let n_rows = usize::from(table.height.saturating_sub(1));
    let n_hosts = board.hosts.len();
    let first = first.min(n_hosts.saturating_sub(n_rows));
    let course_width = table.width.saturating_sub(NAME_WIDTH + WIDTHS.iter().sum::<u16>() + 4);
    let course_width = if course_width < FEWEST_COURSE_COLUMNS { 0 } else { course_width };
    let courses = HostCourses::new(board, usize::from(course_width));
    let title = match () {
        () if n_hosts > n_rows => format!("host {}-{} of {n_hosts}", first + 1, (first + n_rows).min(n_hosts)),
        () => "host".to_owned(),
    };
    let over_time =
        if course_width == 0 { String::new() } else { format!("IOPS over time, to {}", rate(courses.most)) };
    let figures = [Metric::Iops, Metric::Bandwidth, Metric::P99].map(|metric| metric.heading().to_owned());
    let header = std::iter::once(title).chain(figures).enumerate().map(|(index, word)| cell(word, index));
    let header = Row::new(header.chain([cell(over_time, 0)])).style(dim());
    // Those that fit keep their places.
    let shown = if n_hosts > n_rows { board.by_need() } else { (0..n_hosts).collect() };
    let rows = shown.into_iter().skip(first).take(n_rows).map(|index| host_row(board, &board.hosts[index], &courses));
    let name = if course_width == 0 { Constraint::Fill(1) } else { Constraint::Length(NAME_WIDTH) };
    let widths = std::iter::once(name).chain(WIDTHS.map(Constraint::Length)).chain([Constraint::Length(course_width)]);
    frame.render_widget(Table::new(rows, widths).header(header), table);
    first
}

/// Rows that the hosts would fill.
pub(super) fn wanted_rows(board: &HostsBoard) -> u16 {
    if board.hosts.is_empty() { 0 } else { u16::try_from(board.hosts.len() + 2).unwrap_or(u16::MAX) }
}

/// Number of hosts, the slowest, and those that are lost.
fn summary_line(board: &HostsBoard, width: u16) -> Line<'static> {
    let summary = board.summary();
    let slowest = summary.slowest.map_or_else(String::new, |slowest| {
        let share = 100.0 * slowest.iops / slowest.median_iops;
        format!("slowest {}: {} IOPS, {share:.0} % of the median", printable(&slowest.name), rate(slowest.iops))
    });
    let hosts = format!("{} hosts  ", board.hosts.len());
    let mut spans = vec![Span::styled(hosts, dim()), Span::styled(slowest, bold())];
    if !summary.lost.is_empty() {
        let named: Vec<String> = summary.lost.iter().take(MOST_NAMED).map(|name| printable(name)).collect();
        let more = summary.lost.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let text = format!("  lost: {}{more}", named.join(", "));
        spans.push(Span::styled(cut(&text, width), Style::new().fg(Color::Red)));
    }
    Line::from_iter(spans)
}

/// The newest part of the courses of all hosts, on one scale.
struct HostCourses {
    /// The first point that has a column.
    first: usize,
    n_columns: usize,
    /// The highest rate of any host in it, I/Os a second.
    most: f64,
}

impl HostCourses {
    fn new(board: &HostsBoard, n_columns: usize) -> Self {
        let first = board.n_points().saturating_sub(n_columns);
        let rates = board.hosts.iter().flat_map(|host| board.rates_from(host, first));
        Self { first, n_columns, most: rates.flatten().fold(0.0, f64::max) }
    }

    fn text(&self, board: &HostsBoard, host: &HostBoard) -> String {
        let symbol = |rate: Option<f64>| match rate {
            Some(rate) if self.most > 0.0 => LEVELS[((rate / self.most * 7.0).round() as usize).min(7)],
            Some(_) => LEVELS[0],
            None => ' ',
        };
        board.rates_from(host, self.first).into_iter().take(self.n_columns).map(symbol).collect()
    }
}

fn host_row(board: &HostsBoard, host: &HostBoard, courses: &HostCourses) -> Row<'static> {
    let state = board.state_of(host);
    let style = match state {
        HostState::Lost => Style::new().fg(Color::Red),
        HostState::Silent => Style::new().fg(Color::Yellow),
        HostState::Runs => Style::new(),
        HostState::Waits | HostState::Ended => dim(),
    };
    let marked = if state == HostState::Runs { String::new() } else { format!(" ({})", state.word()) };
    // The state stays visible behind a long name.
    let room = NAME_WIDTH.saturating_sub(marked.chars().count() as u16);
    let name = format!("{}{marked}", cut(&printable(&host.name), room));
    let now = board.now_of(host);
    let figures = match state {
        HostState::Runs => [
            rate(now.iops),
            Metric::Bandwidth.cell(now.bw_bytes),
            Metric::P99.cell_or(now.p99_ns.map(|latency_ns| latency_ns as f64), NOTHING),
        ],
        _ => [NOTHING; 3].map(str::to_owned),
    };
    let cells = std::iter::once(name).chain(figures).enumerate().map(|(index, text)| cell(text, index));
    Row::new(cells.chain([cell(courses.text(board, host), 0)])).style(style)
}
