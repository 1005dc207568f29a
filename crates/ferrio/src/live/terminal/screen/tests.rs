//! The screen at the sizes that people have.

use super::*;
use crate::live::frame::{DirectionInterval, FindingLine, HostInterval, JobInterval, JobName, LiveFrame, RunState};
use ferrio_stats::histogram::full_bucket_index;
use ferrio_units::PerDirection;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

fn board(n_jobs: u32) -> LiveBoard {
    let mut board = LiveBoard::default();
    let job = |index: u32| JobName {
        name: format!("job{index}"),
        n_clones: 1 + index % 2,
        directions: PerDirection([true, false, false]),
    };
    let jobs = (0..n_jobs).map(job).collect();
    board.apply(LiveFrame::Begin { title: "run jobs.fio".to_owned(), jobs, devices: Vec::new() });
    for second in 0..90 {
        for job in 0..n_jobs.min(3) {
            let read = DirectionInterval {
                iops: 12_345.0,
                bw_bytes: 12_345.0 * 4096.0,
                latency_sum_ns: 2_000_000_000,
                latency: vec![(full_bucket_index(80_000) as u16, 12_300), (full_bucket_index(2_000_000) as u16, 45)],
            };
            board.apply(LiveFrame::Interval(JobInterval {
                job,
                start_ns: second * 1_000_000_000,
                end_ns: (second + 1) * 1_000_000_000,
                directions: PerDirection([read, DirectionInterval::default(), DirectionInterval::default()]),
                sync_latency: Vec::new(),
            }));
        }
    }
    board.apply(LiveFrame::State(RunState { n_running: n_jobs, eta_secs: Some(30), only_ramps: false }));
    board
}

fn screen(board: &LiveBoard, view: &mut ScreenView, (width, height): (u16, u16)) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, board, view)).unwrap();
    let buffer = terminal.backend().buffer().clone();
    let row = |y: u16| (0..width).map(|x| buffer[(x, y)].symbol().to_owned()).collect::<String>();
    (0..height).map(|y| row(y).trim_end().to_owned()).collect()
}

#[test]
fn the_usual_size_has_all_figures() {
    let rows = screen(&board(2), &mut ScreenView::default(), (80, 24));
    assert!(rows[0].starts_with("ferrio  1:30  0:30 left  2 running  run jobs.fio"), "{rows:#?}");
    assert!(rows[1].starts_with("IOPS 24.7k  MB/s 101  depth 4.00"), "{rows:#?}");
    assert!(rows[2].starts_with("p50 80.4 us  p99 80.4 us  p99.9 2.01 ms  max "), "{rows:#?}");
    assert!(rows[3].starts_with("IOPS over time, to ") && rows[3].contains("p99 over time, to "), "{rows:#?}");
    let at = rows.iter().position(|row| row.starts_with("job ")).unwrap();
    let header: Vec<&str> = rows[at].split_whitespace().collect();
    assert_eq!(header, ["job", "IOPS", "MB/s", "p50", "p99", "p99.9", "max", "depth"]);
    let job: Vec<&str> = rows[at + 2].split_whitespace().collect();
    assert_eq!(&job[..5], ["job1", "x", "2", "12.3k", "50.6"], "{rows:#?}");
    assert!(rows[23].starts_with("q: end the run"));
}

#[test]
fn the_smallest_size_has_the_figures_that_matter() {
    let mut view = ScreenView { busy: vec![("vda".to_owned(), 0.876)], ..ScreenView::default() };
    let mut board = board(200);
    let jobs = vec!["job0".to_owned()];
    let title = "A cache answered most reads".to_owned();
    board.apply(LiveFrame::Findings(vec![FindingLine { severity: Severity::Wrong, title, jobs }]));
    let rows = screen(&board, &mut view, (40, 12));
    assert!(rows[1].starts_with("IOPS 37.0k  MB/s 152  depth 6.00") && rows[2].starts_with("p50 "), "{rows:#?}");
    assert!(rows[3].starts_with("job 1-5 of 200") && rows[4].contains("12.3k"), "{rows:#?}");
    assert!(rows.iter().any(|row| row == "busy vda 88 %"), "{rows:#?}");
    assert!(rows.iter().any(|row| row.starts_with("WRONG A cache answered")), "{rows:#?}");
    view.first_row = 199;
    let rows = screen(&board, &mut view, (40, 12));
    assert!(rows[3].starts_with("job 196-200 of") && rows[8].starts_with("job199 x 2 (wa"), "{rows:#?}");
}

#[test]
fn any_size_can_be_drawn() {
    for n_jobs in [0, 1, 200] {
        let board = board(n_jobs);
        for size in [(1, 1), (5, 3), (40, 5), (200, 2), (300, 100)] {
            screen(&board, &mut ScreenView::default(), size);
        }
    }
}

#[test]
fn names_cannot_write_to_the_terminal() {
    let mut board = LiveBoard::default();
    let jobs = vec![JobName { name: "a\u{1b}[2J\n".to_owned(), n_clones: 1, directions: PerDirection::all(false) }];
    board.apply(LiveFrame::Begin { title: "\u{1b}]0;x\u{7}".to_owned(), jobs, devices: Vec::new() });
    board.apply(LiveFrame::Message("b\u{1b}[31m\nlast".to_owned()));
    let all = screen(&board, &mut ScreenView::default(), (80, 24)).join("\n");
    assert!(!all.contains('\u{1b}') && !all.contains('\u{7}') && all.contains("last"), "{all}");
}

/// A job on so many hosts, of which the rank says the rate.
fn fleet(n_hosts: u32) -> LiveBoard {
    let mut board = board(1);
    board.apply(LiveFrame::Hosts((0..n_hosts).map(|rank| format!("h{rank}")).collect()));
    for second in 0..90 {
        for rank in 0..n_hosts {
            let (start_ns, end_ns) = (second * 1_000_000_000, (second + 1) * 1_000_000_000);
            let iops = f64::from(1_000 + 10 * rank);
            let (bw_bytes, p99_ns) = (iops * 4096.0, Some(80_000));
            let interval = HostInterval { rank, job: 0, start_ns, end_ns, iops, bw_bytes, p99_ns };
            board.apply(LiveFrame::HostInterval(interval));
        }
    }
    board
}

#[test]
fn hosts_have_rows_with_their_rates_over_time() {
    let mut board = fleet(3);
    board.apply(LiveFrame::HostLost { rank: 2, reason: "gone".to_owned() });
    let rows = screen(&board, &mut ScreenView::default(), (80, 24));
    let at = rows.iter().position(|row| row.starts_with("3 hosts")).unwrap();
    assert_eq!(rows[at], "3 hosts  slowest h0: 1,000 IOPS, 99 % of the median  lost: h2", "{rows:#?}");
    assert!(rows[at + 1].starts_with("host ") && rows[at + 1].ends_with("IOPS over time, to 1,020"), "{rows:#?}");
    let words: Vec<&str> = rows[at + 2].split_whitespace().collect();
    assert!(
        words[..5] == ["h0", "1,000", "4.10", "80.0", "us"] && words[5].chars().all(|cell| cell == '█'),
        "{rows:#?}"
    );
    assert!(rows[at + 4].starts_with("h2 (lost)") && rows[23].contains("up, down: hosts"), "{rows:#?}");
}

/// Where not all have room, the lost ones and the slowest come first, and the keys reach the others.
#[test]
fn many_hosts_are_shown_by_need() {
    let mut board = fleet(64);
    board.apply(LiveFrame::HostLost { rank: 40, reason: "gone".to_owned() });
    for size in [(80, 24), (40, 12), (20, 5), (300, 100)] {
        let rows = screen(&board, &mut ScreenView::default(), size);
        assert!(size.1 < 10 || rows.iter().any(|row| row.starts_with("h40 (lost)")), "{rows:#?}");
    }
    let mut view = ScreenView { first_host: 1000, ..ScreenView::default() };
    let rows = screen(&board, &mut view, (80, 24));
    assert!(rows.iter().any(|row| row.starts_with("h63 ")) && view.first_host < 64, "{rows:#?}");
    assert!(rows.iter().any(|row| row.starts_with("host 5") && row.contains("-64 of 64")), "{rows:#?}");
}
