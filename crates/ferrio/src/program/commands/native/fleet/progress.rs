//! What is shown while a fleet runs: who has come, who is lost, what all of them do, and the slowest.

use crate::ui::console::{Console, can_be_steered, show_progress};
use ferrio::fleet::FleetEvent;
use ferrio_formats::native::note_text;
use ferrio_stats::SharedPlace;
use ferrio_units::humanize::three_digits;
use std::collections::{BTreeMap, HashSet};
use std::io::IsTerminal;

use super::PROGRAM;
use super::course::FleetCourse;
use super::views::FleetViews;

/// Shows events of a fleet.
pub(super) struct FleetConsole<'a> {
    console: &'a mut Console,
    /// The lines of jsonl.
    course: Option<&'a mut FleetCourse>,
    views: Option<&'a mut FleetViews>,
    has_line: bool,
    is_shown: bool,
    n_hosts: u32,
    n_joined: u32,
    /// Rate of each host in its last interval, I/Os a second.
    rates: BTreeMap<u32, HostRate>,
    /// Messages of hosts, each once for all of them.
    told: HashSet<String>,
}

/// A warning of hosts that may write to one place.
pub(crate) fn doubt(place: &SharedPlace) -> String {
    format!(
        "hosts {} write to {}: whether this is one device or file for them cannot be told, as it has no name that all hosts see alike",
        place.hosts.join(", "),
        place.path
    )
}

/// The last interval of a host.
struct HostRate {
    host: String,
    /// End of the interval, nanoseconds since the host's start.
    end_ns: u64,
    per_second: f64,
}

impl<'a> FleetConsole<'a> {
    /// `has_stdout_free`: nothing but the report and this progress goes to the standard output.
    pub(super) fn new(
        console: &'a mut Console,
        has_stdout_free: bool,
        course: Option<&'a mut FleetCourse>,
        views: Option<&'a mut FleetViews>,
    ) -> Self {
        let has_line = has_stdout_free && std::io::stdout().is_terminal() && can_be_steered(&std::io::stdout());
        Self {
            console,
            course,
            views,
            has_line,
            is_shown: false,
            n_hosts: 0,
            n_joined: 0,
            rates: BTreeMap::new(),
            told: HashSet::new(),
        }
    }

    /// So many hosts are to come.
    pub(super) fn expect(&mut self, n_hosts: u32) {
        self.n_hosts = n_hosts;
        if let Some(views) = &mut self.views {
            views.expect(n_hosts);
        }
    }

    pub(super) fn event(&mut self, event: &FleetEvent<'_>) {
        if let Some(course) = &mut self.course {
            course.event(self.console, event);
        }
        if let Some(views) = &mut self.views {
            views.event(event);
        }
        match event {
            FleetEvent::Joined { .. } => {
                self.n_joined += 1;
                self.line(&format!("{} of {} hosts", self.n_joined, self.n_hosts));
            }
            FleetEvent::Began => self.line("all hosts have begun"),
            FleetEvent::Message { host, note, .. } => self.message(host, note_text(note).trim()),
            FleetEvent::Interval { rank, host, interval } => {
                let n_ios: u64 = interval.stats.directions.0.iter().map(|direction| direction.n_completed).sum();
                let lasted_ns = interval.end_ns.saturating_sub(interval.start_ns).max(1);
                let per_second = n_ios as f64 * 1e9 / lasted_ns as f64;
                let rate = self.rates.entry(*rank).or_insert_with(|| HostRate {
                    host: (*host).to_owned(),
                    end_ns: 0,
                    per_second: 0.0,
                });
                // The clones of one interval add up.
                if rate.end_ns == interval.end_ns {
                    rate.per_second += per_second;
                } else {
                    (rate.end_ns, rate.per_second) = (interval.end_ns, per_second);
                    self.show_rates();
                }
            }
            FleetEvent::Doubtful(place) => self.error(&doubt(place)),
            FleetEvent::Lost { host, reason, .. } => self.error(&format!("host {host} is lost: {reason}")),
            FleetEvent::Turned { reason } => self.error(&format!("refused: {reason}")),
            // The last three come to clients of servers alone.
            FleetEvent::Facts { .. }
            | FleetEvent::JobEnded { .. }
            | FleetEvent::Log { .. }
            | FleetEvent::Eta { .. }
            | FleetEvent::Status { .. } => {}
        }
    }

    /// The rate of all hosts, and the slowest one.
    fn show_rates(&mut self) {
        let sum: f64 = self.rates.values().map(|rate| rate.per_second).sum();
        let slowest = self.rates.values().min_by(|one, other| one.per_second.total_cmp(&other.per_second));
        let Some(slowest) = slowest else { return };
        let text = format!(
            "{} hosts: {} IOPS; slowest {}: {}",
            self.rates.len(),
            three_digits(sum),
            slowest.host,
            three_digits(slowest.per_second)
        );
        self.line(&text);
    }

    fn message(&mut self, host: &str, text: &str) {
        if self.told.insert(text.to_owned()) {
            self.error(&format!("{host}: {text}"));
        }
    }

    fn error(&mut self, text: &str) {
        self.clear();
        self.console.error(&format!("{PROGRAM}: {text}\n"));
        if let Some(course) = &mut self.course {
            course.message(self.console, text);
        }
        if let Some(views) = &mut self.views {
            views.message(text);
        }
    }

    fn line(&mut self, text: &str) {
        if self.has_line {
            self.is_shown = true;
            show_progress(&format!("\r\x1b[K{text}"));
        }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            show_progress("\r\x1b[K");
        }
    }

    pub(super) fn end(&mut self) {
        self.clear();
    }
}
