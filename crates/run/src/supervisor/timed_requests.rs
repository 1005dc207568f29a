//! Requests that come at their own time: reports at an interval, files that appear, a trigger.
//!
//! Must not know: workers, how a report is made. Start reading at [`TimedRequests::take_due`].
//! Facts: reference "Environment, files, signals, exit codes".

use ferrio_spec::ControlSettings;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Time between two checks for files: often enough for a person or a script, at one system call for each file.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// The requests that are due now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct DueReports {
    pub(super) status: bool,
    /// End all jobs.
    pub(super) trigger: bool,
}

/// The times of the next requests.
#[derive(Debug)]
pub(super) struct TimedRequests {
    settings: ControlSettings,
    next_status: Option<Instant>,
    next_look: Option<Instant>,
    /// Time of the trigger, which comes only once.
    trigger_at: Option<Instant>,
}

impl TimedRequests {
    /// Times count from `now`; the first report comes one interval later.
    pub(super) fn new(settings: &ControlSettings, now: Instant) -> Self {
        Self {
            next_status: settings.status_interval.and_then(|interval| now.checked_add(interval)),
            next_look: (settings.status_file.is_some() || settings.trigger.file.is_some()).then_some(now),
            trigger_at: settings.trigger.timeout.and_then(|timeout| now.checked_add(timeout)),
            settings: settings.clone(),
        }
    }

    /// The requests that are due at a certain time, each once.
    pub(super) fn take_due(&mut self, now: Instant) -> DueReports {
        let trigger = self.trigger_at.is_some_and(|at| now >= at);
        let mut due = DueReports { status: self.is_report_time(now), trigger };
        if trigger {
            self.trigger_at = None;
        }
        if self.next_look.is_some_and(|at| now >= at) {
            self.next_look = Some(now + LOOK_INTERVAL);
            due.status |= is_taken(self.settings.status_file.as_ref());
            due.trigger |= is_taken(self.settings.trigger.file.as_ref());
        }
        due
    }

    /// True if the interval is over. A late report does not shift later ones; missed reports are omitted.
    fn is_report_time(&mut self, now: Instant) -> bool {
        let (Some(next), Some(interval)) = (self.next_status, self.settings.status_interval) else { return false };
        if now < next {
            return false;
        }
        let following = next.checked_add(interval).filter(|following| *following > now);
        self.next_status = following.or_else(|| now.checked_add(interval));
        true
    }

    /// Time until a request may be due.
    pub(super) fn time_left(&self, now: Instant) -> Duration {
        let next = [self.next_status, self.next_look, self.trigger_at].into_iter().flatten().min();
        next.map_or(Duration::MAX, |at| at.saturating_duration_since(now))
    }
}

/// Removes the file; true if it existed, so that one request is handled once. If the file cannot be removed it does not
/// count, because it would count again and again.
fn is_taken(path: Option<&PathBuf>) -> bool {
    path.is_some_and(|path| std::fs::remove_file(path).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_spec::Trigger;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn nothing_is_due_by_default() {
        let now = Instant::now();
        let mut timed_requests = TimedRequests::new(&ControlSettings::default(), now);
        assert_eq!(
            (timed_requests.take_due(now + 1000 * SECOND), timed_requests.time_left(now)),
            (DueReports::default(), Duration::MAX)
        );
    }

    #[test]
    fn reports_keep_to_their_interval() {
        let settings = ControlSettings { status_interval: Some(SECOND), ..ControlSettings::default() };
        let start = Instant::now();
        let mut timed_requests = TimedRequests::new(&settings, start);
        let mut reports = |after_ms: &[u64]| {
            let at = |ms: &u64| start + Duration::from_millis(*ms);
            after_ms.iter().map(|ms| timed_requests.take_due(at(ms)).status).collect::<Vec<_>>()
        };
        assert_eq!(
            reports(&[0, 999, 1_000, 1_001, 1_999, 2_030, 2_999, 3_000]),
            [false, false, true, false, false, true, false, true]
        );
        // After a delay of more than an interval there is one report, and the next comes one interval later.
        assert_eq!(reports(&[6_500, 7_499, 7_500]), [true, false, true]);
        assert_eq!(timed_requests.time_left(start + Duration::from_millis(8_400)), Duration::from_millis(100));
    }

    #[test]
    fn a_trigger_comes_once() {
        let trigger = Trigger { timeout: Some(2 * SECOND), ..Trigger::default() };
        let settings = ControlSettings { trigger, ..ControlSettings::default() };
        let start = Instant::now();
        let mut timed_requests = TimedRequests::new(&settings, start);
        assert_eq!(timed_requests.time_left(start), 2 * SECOND);
        let fires: Vec<bool> =
            (0..5).map(|seconds| timed_requests.take_due(start + seconds * SECOND).trigger).collect();
        assert_eq!(fires, [false, false, true, false, false]);
    }

    #[test]
    fn a_file_asks_once_and_is_gone() {
        let path = std::env::temp_dir().join(format!("ferrio-timed_requests-{}", std::process::id()));
        let settings = ControlSettings { status_file: Some(path.clone()), ..ControlSettings::default() };
        let start = Instant::now();
        let mut timed_requests = TimedRequests::new(&settings, start);
        assert!(!timed_requests.take_due(start).status);
        std::fs::write(&path, "").unwrap();
        assert!(!timed_requests.take_due(start + LOOK_INTERVAL / 2).status, "it is not looked for that often");
        assert!(timed_requests.take_due(start + LOOK_INTERVAL).status);
        assert!(!path.exists());
        assert!(!timed_requests.take_due(start + 2 * LOOK_INTERVAL).status);
    }
}
