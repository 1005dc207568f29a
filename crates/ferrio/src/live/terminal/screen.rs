//! The screen: a board as rows of a terminal of any size.
//!
//! Must not know: keys, terminals. Start reading at [`draw`].

use super::hosts::{draw_hosts, wanted_rows};
use crate::live::board::{JobBoard, LiveBoard, Now};
use crate::live::course::Courses;
use ferrio_formats::native::NOTHING;
use ferrio_stats::{Metric, Severity};
use ferrio_units::humanize::{duration_text, three_digits};
use ratatui::Frame as RatatuiFrame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Row, Sparkline, Table};

/// Height of a chart with its caption.
const CHART_ROWS: u16 = 4;
/// Their greatest height.
const MOST_CHART_ROWS: u16 = 12;
const FEWEST_ROWS_WITH_CHARTS: u16 = 18;
/// Narrower screens have fewer columns.
const FEWEST_COLUMNS_FOR_ALL: u16 = 78;

/// The figures of a job on a wide screen, and the widths of their columns.
const WIDE: [(Metric, u16); 6] = [
    (Metric::Iops, 9),
    (Metric::Bandwidth, 8),
    (Metric::P50, 8),
    (Metric::P99, 8),
    (Metric::P999, 8),
    (Metric::Max, 8),
];
/// Those on a narrow one.
const NARROW: [(Metric, u16); 3] = [(Metric::Iops, 8), (Metric::Bandwidth, 7), (Metric::P99, 8)];
/// The heading of the 99th percentile of the syncs.
const SYNC_HEADING: &str = "sync p99";

/// What the user chose to see, and what the viewer itself measures.
#[derive(Debug, Clone, Default)]
pub(super) struct ScreenView {
    /// The first job in the table.
    pub(super) first_row: usize,
    /// The first host in the table of a fleet.
    pub(super) first_host: usize,
    /// The keys move the jobs also where there are hosts.
    pub(super) moves_jobs: bool,
    /// The user has asked for the end.
    pub(super) is_ending: bool,
    /// Devices, and the share of the time in which they are busy.
    pub(super) busy: Vec<(String, f64)>,
    /// The course of all jobs together.
    pub(super) courses: Courses,
}

impl ScreenView {
    /// The keys move the rows of the hosts.
    pub(super) fn moves_hosts(&self, board: &LiveBoard) -> bool {
        !board.hosts.hosts.is_empty() && !self.moves_jobs
    }
}

pub(super) fn draw(frame: &mut RatatuiFrame<'_>, board: &LiveBoard, view: &mut ScreenView) {
    let area = frame.area();
    let is_wide = area.width >= FEWEST_COLUMNS_FOR_ALL;
    let totals_text = total_lines(&board.now(), area.width);
    let n_totals = totals_text.len() as u16;
    let n_host_rows = wanted_rows(&board.hosts);
    let n_charts = chart_rows(area.height, board.jobs.len() + usize::from(n_host_rows));
    let n_devices = u16::from(!view.busy.is_empty());
    let n_notes = notes(board, area.width).len().min(usize::from(area.height / 5)) as u16;
    let n_job_rows = u16::try_from(board.jobs.len() + 1).unwrap_or(u16::MAX);
    // The hosts have the room that a fleet's jobs leave.
    let (jobs_height, hosts_height) = match n_host_rows {
        0 => (Constraint::Min(2), Constraint::Length(0)),
        _ => (Constraint::Length(n_job_rows.min(area.height / 4).max(2)), Constraint::Min(3)),
    };
    let [title, totals, charts, jobs, hosts, devices, notes_area, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(n_totals),
        Constraint::Length(n_charts),
        jobs_height,
        hosts_height,
        Constraint::Length(n_devices),
        Constraint::Length(n_notes),
        Constraint::Length(1),
    ])
    .areas(area);
    frame.render_widget(Paragraph::new(title_line(board, view)), title);
    frame.render_widget(Paragraph::new(totals_text), totals);
    if n_charts > 0 {
        draw_charts(frame, &view.courses, charts);
    }
    draw_jobs(frame, board, view, (jobs, is_wide));
    if n_host_rows > 0 {
        view.first_host = draw_hosts(frame, &board.hosts, view.first_host, hosts);
    }
    frame.render_widget(Paragraph::new(device_line(&view.busy)), devices);
    frame.render_widget(Paragraph::new(notes(board, area.width)), notes_area);
    frame.render_widget(Paragraph::new(key_line(board, view)), keys);
}

/// Rows of the charts: more where few jobs leave room.
fn chart_rows(height: u16, n_jobs: usize) -> u16 {
    if height < FEWEST_ROWS_WITH_CHARTS {
        return 0;
    }
    // Title, totals, header, devices, notes, keys.
    let others = 10 + u16::try_from(n_jobs).unwrap_or(u16::MAX - 10);
    height.saturating_sub(others).clamp(CHART_ROWS, MOST_CHART_ROWS)
}

pub(super) fn bold() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

pub(super) fn dim() -> Style {
    Style::new().fg(Color::DarkGray)
}

/// Time, time left, jobs, and the command line as far as there is room.
fn title_line(board: &LiveBoard, view: &ScreenView) -> Line<'static> {
    let elapsed = duration(board.elapsed_ns / 1_000_000_000);
    let state = &board.state;
    let left = match state.eta_secs {
        _ if view.is_ending => "ending".to_owned(),
        _ if state.only_ramps => "ramp".to_owned(),
        Some(seconds) => format!("{} left", duration(seconds)),
        None => "time left unknown".to_owned(),
    };
    let running = format!("{} running", state.n_running);
    let words = [Span::styled("ferrio", bold()), format!("  {elapsed}  {left}  {running}  ").into()];
    words.into_iter().chain([Span::styled(printable(&board.title), dim())]).collect()
}

/// The figures of all jobs together, in two lines where one has no room.
fn total_lines(now: &Now, width: u16) -> Vec<Line<'static>> {
    let figure = |name: &str, value: String| {
        [Span::styled(format!("{name} "), dim()), Span::styled(format!("{value}  "), bold())]
    };
    let of = |metric: Metric| figure(metric.heading(), cell_text(now, metric));
    let rates = [of(Metric::Iops), of(Metric::Bandwidth), figure("depth", three_digits(now.depth))];
    let mut latencies = vec![of(Metric::P50), of(Metric::P99), of(Metric::P999), of(Metric::Max)];
    latencies.extend(now.sync_p99_ns.map(|ns| figure(SYNC_HEADING, duration_text(ns as f64))));
    let (rates, latencies) = (rates.into_iter().flatten(), latencies.into_iter().flatten());
    let one: Line<'static> = rates.clone().chain(latencies.clone()).collect();
    // Two blanks are at its end.
    if one.width() <= usize::from(width) + 2 {
        return vec![one];
    }
    vec![rates.collect(), latencies.collect()]
}

/// A figure of the present.
fn cell_text(now: &Now, metric: Metric) -> String {
    match now.figure(metric) {
        Some(iops) if metric == Metric::Iops => rate(iops),
        value => metric.cell_or(value, NOTHING),
    }
}

/// IOPS and p99 over time, side by side.
fn draw_charts(frame: &mut RatatuiFrame<'_>, courses: &Courses, area: Rect) {
    let [left, right] = Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]).areas(area);
    for (metric, area) in [(Metric::Iops, left), (Metric::P99, right)] {
        let value = |now: &Now| now.figure(metric).map(|value| value as u64);
        let values: Vec<Option<u64>> = courses.all.iter().map(|point| point.as_ref().and_then(value)).collect();
        let most = largest(&values) as f64;
        let text = if metric == Metric::Iops { rate(most) } else { metric.cell(most) };
        draw_chart(frame, area, metric.heading(), &values, &text);
    }
}

fn largest(values: &[Option<u64>]) -> u64 {
    values.iter().copied().flatten().max().unwrap_or(0)
}

/// The newest values that fit, with gaps where there are none; the caption has the largest value of all.
fn draw_chart(frame: &mut RatatuiFrame<'_>, area: Rect, name: &str, values: &[Option<u64>], largest_text: &str) {
    let [caption, chart] = Layout::vertical([Constraint::Length(1), Constraint::Fill(1)]).areas(area);
    let caption_line = Line::from_iter([Span::styled(format!("{name} over time, to {largest_text}"), dim())]);
    frame.render_widget(Paragraph::new(caption_line), caption);
    let n_columns = usize::from(chart.width.saturating_sub(1));
    let newest = &values[values.len().saturating_sub(n_columns)..];
    let chart = Rect { width: chart.width.saturating_sub(1), ..chart };
    frame.render_widget(Sparkline::default().data(newest.iter().copied()).max(largest(values).max(1)), chart);
}

/// A row for each job.
fn draw_jobs(frame: &mut RatatuiFrame<'_>, board: &LiveBoard, view: &mut ScreenView, (area, is_wide): (Rect, bool)) {
    let n_rows = usize::from(area.height.saturating_sub(1));
    view.first_row = view.first_row.min(board.jobs.len().saturating_sub(n_rows));
    let shown = board.jobs.iter().skip(view.first_row).take(n_rows);
    let shown: Vec<&JobBoard> = shown.collect();
    let last = (view.first_row + n_rows).min(board.jobs.len());
    let title = match board.jobs.len() {
        n_jobs if n_jobs > n_rows => format!("job {}-{last} of {n_jobs}", view.first_row + 1),
        _ => "job".to_owned(),
    };
    let has_syncs = board.jobs.iter().any(|job| board.now_of(job).sync_p99_ns.is_some());
    let shown_figures = if is_wide { &WIDE[..] } else { &NARROW[..] };
    let mut header: Vec<&str> =
        std::iter::once(&title[..]).chain(shown_figures.iter().map(|(metric, _)| metric.heading())).collect();
    let mut widths: Vec<u16> = shown_figures.iter().map(|(_, width)| *width).collect();
    if is_wide {
        header.push("depth");
        widths.push(7);
    }
    if has_syncs {
        header.push(SYNC_HEADING);
        widths.push(8);
    }
    let rows = shown.into_iter().map(|job| job_row(board, job, (is_wide, has_syncs)));
    let widths = std::iter::once(Constraint::Fill(1)).chain(widths.into_iter().map(Constraint::Length));
    let header = Row::new(header.into_iter().enumerate().map(|(index, word)| cell(word.to_owned(), index)));
    frame.render_widget(Table::new(rows, widths).header(header.style(dim())), area);
}

pub(super) fn cell(text: String, index: usize) -> Cell<'static> {
    let line = Line::from(text);
    Cell::from(if index == 0 { line } else { line.right_aligned() })
}

fn job_row(board: &LiveBoard, job: &JobBoard, (is_wide, has_syncs): (bool, bool)) -> Row<'static> {
    let clones = if job.name.n_clones > 1 { format!(" x {}", job.name.n_clones) } else { String::new() };
    let (state, style) = match job.n_failed {
        Some(0) => (" (ended)", dim()),
        Some(_) => (" (failed)", Style::new().fg(Color::Red)),
        None if !job.has_begun => (" (waits)", dim()),
        None => ("", Style::new()),
    };
    let name = format!("{}{clones}{state}", printable(&job.name.name));
    let now = board.now_of(job);
    let shown = if is_wide { &WIDE[..] } else { &NARROW[..] };
    let mut cells = vec![name];
    cells.extend(shown.iter().map(|(metric, _)| cell_text(&now, *metric)));
    cells.extend(is_wide.then(|| three_digits(now.depth)));
    if has_syncs {
        cells.push(now.sync_p99_ns.map_or_else(|| NOTHING.to_owned(), |ns| duration_text(ns as f64)));
    }
    Row::new(cells.into_iter().enumerate().map(|(index, text)| cell(text, index))).style(style)
}

fn device_line(busy: &[(String, f64)]) -> Line<'static> {
    let device = |(name, share): &(String, f64)| format!("{} {:.0} %", printable(name), share * 100.0);
    let text = busy.iter().map(device).collect::<Vec<_>>().join("  ");
    Line::from_iter([Span::styled("busy ", dim()), text.into()])
}

/// The findings, and the newest message; each in a line.
fn notes(board: &LiveBoard, width: u16) -> Vec<Line<'static>> {
    let finding = |finding: &crate::live::frame::FindingLine| {
        let word = finding.severity.word().to_uppercase();
        let jobs = finding.jobs.join(", ");
        let text = format!(" {} ({})", printable(&finding.title), printable(&jobs));
        Line::from_iter([Span::styled(word, severity_style(finding.severity)), cut(&text, width).into()])
    };
    let message =
        board.messages.back().map(|text| Line::from_iter([Span::styled(cut(&printable(text), width), dim())]));
    message.into_iter().chain(board.findings.iter().map(finding)).collect()
}

fn severity_style(severity: Severity) -> Style {
    match severity {
        Severity::Wrong => bold().fg(Color::Red),
        Severity::Misleading => bold().fg(Color::Yellow),
        Severity::Note => bold(),
    }
}

fn key_line(board: &LiveBoard, view: &ScreenView) -> Line<'static> {
    let text = match (board.coming, view.is_ending) {
        (_, true) => "the run ends; q again ends it at once",
        (Some((n_here, n_hosts)), _) if n_here < n_hosts => {
            return Line::from(format!("{n_here} of {n_hosts} hosts have come   q: end it")).style(dim());
        }
        _ if board.jobs.is_empty() => "the run is prepared   q: end it",
        _ if board.hosts.hosts.is_empty() => "q: end the run and show the report   up, down: jobs",
        _ if view.moves_jobs => "q: end the run and show the report   up, down: jobs   tab: hosts",
        _ => "q: end the run and show the report   up, down: hosts   tab: jobs",
    };
    Line::from_iter([Span::styled(text, dim())])
}

pub(super) fn rate(value: f64) -> String {
    match value {
        value if value >= 1e6 => format!("{}M", three_digits(value / 1e6)),
        value if value >= 1e4 => format!("{}k", three_digits(value / 1e3)),
        value => three_digits(value),
    }
}

fn duration(seconds: u64) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

/// Names of jobs come from anywhere: their control characters are not sent to the terminal.
pub(super) fn printable(text: &str) -> String {
    text.chars().map(|symbol| if symbol.is_control() { '?' } else { symbol }).collect()
}

pub(super) fn cut(text: &str, width: u16) -> String {
    text.chars().take(usize::from(width)).collect()
}

#[cfg(test)]
mod tests;
