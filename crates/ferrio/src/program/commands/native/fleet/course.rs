//! The lines of jsonl of a fleet: intervals and ends of all hosts, as they come.
//!
//! Must not know: how a line looks. Start reading at [`FleetCourse::event`].

use super::clones::HostClones;
use crate::shared::records::EventLog;
use crate::ui::console::Console;
use ferrio::fleet::FleetEvent;
use ferrio_stats::{LoggedEvent, MessageStream};
use ferrio_sys::clock::wall_clock_ms;
use std::time::Duration;

/// Tells the course of a fleet in lines. The first one is that of the first facts, when the hosts have begun.
pub(super) struct FleetCourse {
    pub(super) log: EventLog,
    interval: Duration,
    clones: HostClones,
    /// Start of the run on the coordinator's wall clock, milliseconds since 1970; `None`: it has not begun.
    epoch_ms: Option<u64>,
}

impl FleetCourse {
    pub(super) fn new(log: EventLog, interval: Duration) -> Self {
        Self { log, interval, clones: HostClones::default(), epoch_ms: None }
    }

    pub(super) fn event(&mut self, console: &mut Console, event: &FleetEvent<'_>) {
        self.clones.take(event);
        match event {
            FleetEvent::Began => {
                self.begin(console, 0);
            }
            FleetEvent::Interval { rank, host, interval } => {
                let epoch_ms = self.begin(console, interval.end_ns);
                let stretch = self.clones.on_host(interval, *rank, host, epoch_ms);
                self.log.of_host(console, LoggedEvent::Interval(Box::new(stretch)));
            }
            FleetEvent::JobEnded { rank, host, end } => {
                let epoch_ms = self.begin(console, end.stretch.end_ns);
                let mut end = (*end).clone();
                end.stretch = self.clones.on_host(&end.stretch, *rank, host, epoch_ms);
                self.log.of_host(console, LoggedEvent::JobEnded(Box::new(end)));
            }
            _ => {}
        }
    }

    /// A line for a message; before the first line it waits for that.
    pub(super) fn message(&mut self, console: &mut Console, text: &str) {
        if self.epoch_ms.is_some() {
            self.log.message(console, MessageStream::Error, text);
        }
    }

    /// Tells the first line, if it was not told; returns the start of the run, which was so long ago.
    fn begin(&mut self, console: &mut Console, so_far_ns: u64) -> u64 {
        if let Some(epoch_ms) = self.epoch_ms {
            return epoch_ms;
        }
        let epoch_ms = wall_clock_ms().saturating_sub(so_far_ns / 1_000_000);
        self.epoch_ms = Some(epoch_ms);
        self.log.begin(console, &self.clones.facts_of_all(), epoch_ms, self.interval);
        epoch_ms
    }
}
