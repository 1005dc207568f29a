//! What the server knows of a run, and what it tells pages of it.
//!
//! Must not know: sockets, requests. Start reading at [`WebState::look`], then [`WebState::course_event`] and [`WebState::now_event`].

use super::point::{PagePoint, page_points};
use crate::live::board::{JobBoard, LiveBoard};
use crate::live::course::Courses;
use crate::live::devices::Devices;
use crate::live::frame::{FinalReports, LiveFrame};
use crate::live::hosts::{HostBoard, HostsBoard};
use axum::body::Bytes;
use ferrio_units::DataDirection;
use serde::Serialize;
use serde_json::{Value, json};

/// Messages that a page shows.
const MOST_MESSAGES: usize = 8;
/// Newest points of a host that its next intervals may still change.
const OPEN_POINTS: usize = 2;

/// The run as the server knows it.
#[derive(Debug)]
pub(super) struct WebState {
    pub(super) board: LiveBoard,
    courses: Courses,
    devices: Devices,
    /// Devices, and the share of the time in which they are busy.
    busy: Vec<(String, f64)>,
    /// Points that pages were told.
    n_told: usize,
    /// Points of the hosts that pages were told.
    n_host_points_told: usize,
    /// Something has happened since the last look.
    has_news: bool,
    /// The reports, when the run is over.
    pub(super) reports: Option<WebReports>,
}

/// The reports of a run that is over, as they are served.
#[derive(Debug, Clone)]
pub(super) struct WebReports {
    pub(super) document: Bytes,
    pub(super) page: Bytes,
}

impl Default for WebState {
    fn default() -> Self {
        Self {
            board: LiveBoard::default(),
            courses: Courses::with_jobs(),
            devices: Devices::default(),
            busy: Vec::new(),
            n_told: 0,
            n_host_points_told: 0,
            has_news: false,
            reports: None,
        }
    }
}

impl WebState {
    pub(super) fn apply(&mut self, frame: LiveFrame) {
        self.has_news = true;
        match frame {
            LiveFrame::Reports(FinalReports { document, page }) => {
                self.reports = Some(WebReports { document: document.into(), page: page.into() });
            }
            frame => self.board.apply(frame),
        }
    }

    /// A look at the run, a few times a second. True: there is something to tell.
    pub(super) fn look(&mut self) -> bool {
        self.courses.advance(&self.board);
        self.busy = self.devices.busy(&self.board.devices);
        std::mem::take(&mut self.has_news)
    }

    /// The first event of a page: the jobs, and the course so far.
    pub(super) fn course_event(&self) -> Bytes {
        let board = &self.board;
        let job = |job: &JobBoard| json!({ "name": job.name.name, "n_clones": job.name.n_clones });
        let value = json!({
            "title": board.title,
            "jobs": board.jobs.iter().map(job).collect::<Vec<_>>(),
            "point_secs": self.courses.point_secs,
            "points": self.points_from(0),
            "hosts": board.hosts.hosts.iter().map(|host| &host.name).collect::<Vec<_>>(),
            "host_secs": board.hosts.point_secs,
            "host_points": host_points(&board.hosts, 0),
        });
        event("course", &value)
    }

    /// The present, for all pages: figures, and the points that none of them has been told.
    pub(super) fn now_event(&mut self) -> Bytes {
        let n_points = self.courses.all.len();
        // When points were joined, pages begin anew.
        let first_point = std::mem::replace(&mut self.n_told, n_points).min(n_points);
        let n_host_points = self.board.hosts.n_points();
        // The newest points of some hosts were not whole.
        let first_of_hosts = std::mem::replace(&mut self.n_host_points_told, n_host_points);
        let value = self.now_value(first_point, first_of_hosts.saturating_sub(OPEN_POINTS).min(n_host_points));
        event("now", &value)
    }

    /// No page is there to be told the points so far: the next one gets them in its first event.
    pub(super) fn leave_points_out(&mut self) {
        self.n_told = self.courses.all.len();
        self.n_host_points_told = self.board.hosts.n_points();
    }

    /// The present, without points.
    pub(super) fn first_now_event(&self) -> Bytes {
        event("now", &self.now_value(self.courses.all.len(), self.board.hosts.n_points()))
    }

    fn now_value(&self, first_point: usize, first_of_hosts: usize) -> Value {
        let board = &self.board;
        let state = &board.state;
        let newest = board.messages.len().saturating_sub(MOST_MESSAGES);
        json!({
            "elapsed_secs": board.elapsed_ns / 1_000_000_000,
            "left_secs": state.eta_secs,
            "only_ramps": state.only_ramps,
            "n_running": state.n_running,
            "is_over": board.is_over,
            "all": PagePoint(Some(board.now())),
            "jobs": board.jobs.iter().map(|job| JobNow::new(board, job)).collect::<Vec<_>>(),
            "busy": self.busy.iter().map(|(name, share)| json!([name, (share * 1000.0).round() / 1000.0])).collect::<Vec<_>>(),
            "findings": board.findings.iter().map(finding).collect::<Vec<_>>(),
            "messages": board.messages.range(newest..).collect::<Vec<_>>(),
            "point_secs": self.courses.point_secs,
            "first_point": first_point,
            "coming": board.coming,
            "hosts": hosts_now(&board.hosts),
            "host_secs": board.hosts.point_secs,
            "first_host_point": first_of_hosts,
            "host_points": host_points(&board.hosts, first_of_hosts),
            "points": self.points_from(first_point),
        })
    }

    fn points_from(&self, first: usize) -> Value {
        let courses = &self.courses;
        let of_jobs: Vec<_> = courses.jobs.iter().map(|course| page_points(&course[first..])).collect();
        json!({ "all": page_points(&courses.all[first..]), "jobs": of_jobs })
    }
}

/// The hosts at present: state, I/Os a second, bytes a second, p99 in nanoseconds of each; and how they are together.
fn hosts_now(board: &HostsBoard) -> Value {
    let host = |host: &HostBoard| {
        let now = board.now_of(host);
        json!([board.state_of(host).word(), now.iops.round(), now.bw_bytes.round(), now.p99_ns])
    };
    let summary = board.summary();
    let slowest = summary.slowest.map(|slowest| {
        json!({ "name": slowest.name, "iops": slowest.iops.round(), "median_iops": slowest.median_iops.round() })
    });
    json!({ "each": board.hosts.iter().map(host).collect::<Vec<_>>(), "slowest": slowest, "lost": summary.lost })
}

/// The courses of the hosts from a point on: I/Os a second, `null` where nothing is known.
fn host_points(board: &HostsBoard, first: usize) -> Vec<Vec<Option<f64>>> {
    let rounded = |rate: Option<f64>| rate.map(f64::round);
    board.hosts.iter().map(|host| board.rates_from(host, first).into_iter().map(rounded).collect()).collect()
}

/// A job at present.
#[derive(Serialize)]
struct JobNow {
    state: &'static str,
    now: PagePoint,
    n_ios: u64,
    bytes: u64,
    n_errors: u64,
}

impl JobNow {
    fn new(board: &LiveBoard, job: &JobBoard) -> Self {
        let state = match job.n_failed {
            Some(0) => "ended",
            Some(_) => "failed",
            None if job.has_begun => "runs",
            None => "waits",
        };
        let totals = &job.totals;
        let sum = |count: fn(&crate::live::totals::DirectionTotals) -> u64| {
            DataDirection::ALL
                .iter()
                .fold(0_u64, |sum, direction| sum.saturating_add(count(&totals.directions[*direction])))
        };
        Self {
            state,
            now: PagePoint(Some(board.now_of(job))),
            n_ios: sum(|totals| totals.n_ios),
            bytes: sum(|totals| totals.bytes),
            n_errors: totals.n_errors,
        }
    }
}

fn finding(finding: &crate::live::frame::FindingLine) -> Value {
    json!({ "severity": finding.severity.word(), "title": finding.title, "jobs": finding.jobs })
}

/// The event with which the reports are there, or with which nothing more comes.
pub(super) fn end_event(has_reports: bool) -> Bytes {
    event("end", &json!({ "has_reports": has_reports }))
}

/// An event of a stream of server-sent events. JSON of one line has no line ends.
fn event(name: &str, value: &Value) -> Bytes {
    format!("event: {name}\ndata: {value}\n\n").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::frame::{HostInterval, JobName};
    use ferrio_units::PerDirection;

    fn data(event: &Bytes) -> Value {
        let text = std::str::from_utf8(event).unwrap();
        let (_, data) = text.split_once("\ndata: ").unwrap();
        assert!(text.starts_with("event: ") && data.ends_with("\n\n") && data.matches('\n').count() == 2, "{text}");
        serde_json::from_str(data).unwrap()
    }

    #[test]
    fn names_with_line_ends_stay_in_their_line() {
        let mut state = WebState::default();
        let job = JobName { name: "a\nb\r".to_owned(), n_clones: 2, directions: PerDirection::all(false) };
        state.apply(LiveFrame::Begin { title: "run\n\nevent: end".to_owned(), jobs: vec![job], devices: Vec::new() });
        state.apply(LiveFrame::Message("x\ny".to_owned()));
        assert!(state.look() && !state.look());
        let course = data(&state.course_event());
        assert_eq!((&course["jobs"][0]["name"], &course["jobs"][0]["n_clones"]), (&json!("a\nb\r"), &json!(2)));
        let now = data(&state.now_event());
        assert_eq!((&now["jobs"][0]["state"], &now["messages"]), (&json!("waits"), &json!(["x", "y"])));
        assert_eq!(data(&end_event(true)), json!({ "has_reports": true }));
    }

    #[test]
    fn pages_are_told_the_hosts_and_their_newest_points() {
        let mut state = WebState::default();
        let job = JobName { name: "a".to_owned(), n_clones: 2, directions: PerDirection::all(false) };
        state.apply(LiveFrame::HostsComing { n_here: 1, n_hosts: 2 });
        assert_eq!(data(&state.now_event())["coming"], json!([1, 2]));
        state.apply(LiveFrame::Begin { title: String::new(), jobs: vec![job], devices: Vec::new() });
        state.apply(LiveFrame::Hosts(vec!["h0".to_owned(), "h1".to_owned()]));
        for second in 0..5 {
            for (rank, iops) in [(0, 100.0), (1, 40.0)] {
                let (start_ns, end_ns) = (second * 1_000_000_000, (second + 1) * 1_000_000_000);
                let (bw_bytes, p99_ns) = (iops * 512.0, Some(7));
                let interval = HostInterval { rank, job: 0, start_ns, end_ns, iops, bw_bytes, p99_ns };
                state.apply(LiveFrame::HostInterval(interval));
            }
        }
        let course = data(&state.course_event());
        assert_eq!(
            (&course["hosts"], &course["host_points"][1]),
            (&json!(["h0", "h1"]), &json!([40.0, 40.0, 40.0, 40.0, 40.0]))
        );
        let now = data(&state.now_event());
        assert_eq!((&now["first_host_point"], &now["coming"]), (&json!(0), &Value::Null));
        assert_eq!(now["hosts"]["each"], json!([["runs", 100.0, 51_200.0, 7], ["runs", 40.0, 20_480.0, 7]]));
        assert_eq!(now["hosts"]["slowest"], json!({ "name": "h1", "iops": 40.0, "median_iops": 100.0 }));
        state.apply(LiveFrame::HostLost { rank: 0, reason: "gone".to_owned() });
        let now = data(&state.now_event());
        assert_eq!((&now["first_host_point"], &now["host_points"][0]), (&json!(3), &json!([100.0, 100.0])));
        assert_eq!((&now["hosts"]["each"][0][0], &now["hosts"]["lost"]), (&json!("lost"), &json!(["h0"])));
    }

    #[test]
    fn pages_are_told_each_point_once() {
        let mut state = WebState::default();
        let job = JobName { name: "a".to_owned(), n_clones: 1, directions: PerDirection::all(false) };
        state.apply(LiveFrame::Begin { title: String::new(), jobs: vec![job], devices: Vec::new() });
        let mut told = Vec::new();
        for second in 1..6 {
            state.board.elapsed_ns = second * 1_000_000_000;
            state.look();
            state.look();
            let now = data(&state.now_event());
            told.push((now["first_point"].as_u64(), now["points"]["all"].as_array().map(Vec::len)));
        }
        assert_eq!(told, [0, 1, 2, 3, 4].map(|first| (Some(first), Some(1))));
        assert_eq!(data(&state.first_now_event())["points"]["jobs"], json!([[]]));
        assert_eq!(data(&state.course_event())["points"]["all"].as_array().map(Vec::len), Some(5));
    }
}
