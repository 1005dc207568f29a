//! What servers say while they run, as fio shows it: each line with the name of its host, and one line of progress for all of them.
//!
//! Must not know: connections. Start reading at [`ClientConsole::event`].

use super::RemoteServer;
use super::logs::ReceivedLogs;
use crate::ui::console::Console;
use crate::ui::progress::FioProgressLine;
use crate::ui::reporter::Reporter;
use ferrio::fleet::FleetEvent;
use ferrio::session::VERSION;
use ferrio_formats::words;
use ferrio_job::invocation::EtaSettings;
use ferrio_stats::eta::EtaSnapshot;
use ferrio_stats::{MessageStream, Note};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A server that has told no state for so many intervals is not in the line: its jobs have ended, or it is lost.
const MOST_MISSED: u32 = 3;

/// Shows events of servers, and writes their logs.
pub(super) struct ClientConsole<'a> {
    pub(super) console: &'a mut Console,
    pub(super) reporter: &'a Reporter,
    pub(super) servers: &'a [RemoteServer],
    /// `None`: there is no line of progress.
    pub(super) line: Option<ServersLine>,
    pub(super) logs: ReceivedLogs,
}

impl ClientConsole<'_> {
    pub(super) fn event(&mut self, event: &FleetEvent<'_>) {
        let has_text = self.reporter.writes_normal();
        match event {
            FleetEvent::Joined { host, .. } if has_text => {
                let arch = std::env::consts::ARCH.replace('_', "-");
                let big_endian = u8::from(cfg!(target_endian = "big"));
                let bits = usize::BITS;
                self.console.report(&format!(
                    "hostname={host}, be={big_endian}, {bits}-bit, os=Linux, arch={arch}, fio={VERSION}, flags=1\n"
                ));
            }
            FleetEvent::Message { host, stream, note } => self.message(host, *stream, &words::note(note)),
            FleetEvent::Lost { host, reason, .. } => {
                self.complain(&format!("client: host={host} disconnected: {reason}"));
            }
            FleetEvent::Turned { reason } => self.complain(reason),
            FleetEvent::Eta { rank, snapshot } => {
                self.line.iter_mut().for_each(|line| line.take(*rank, snapshot));
            }
            FleetEvent::Status { rank, host, record } if has_text => {
                self.clear();
                if let Some(server) = self.servers.get(*rank as usize) {
                    self.reporter.report_status(self.console, &server.served(host, record));
                }
            }
            FleetEvent::Log { rank, host, part } => {
                if let Err(error) = self.logs.take(*rank, part) {
                    self.complain(&format!("<{host}> {error}"));
                    self.console.has_failed = true;
                }
            }
            _ => {}
        }
    }

    fn clear(&mut self) {
        self.line.iter_mut().for_each(|line| line.shown.clear());
    }

    pub(super) fn complain(&mut self, text: &str) {
        self.clear();
        self.console.complain(text);
    }

    fn message(&mut self, host: &str, stream: MessageStream, text: &str) {
        self.clear();
        for line in text.trim_end().lines() {
            if self.reporter.writes_normal() {
                self.console.report(&format!("<{host}> {line}\n"));
            } else if stream == MessageStream::Error {
                self.console.say(stream, Note::text(format!("<{host}> {line}")));
            }
        }
    }

    /// The run is over: the line goes, and logs that are not whole are named.
    pub(super) fn end(&mut self) {
        self.clear();
        for error in self.logs.end() {
            self.console.complain(&error);
            self.console.has_failed = true;
        }
    }
}

/// The line of progress of all servers.
pub(super) struct ServersLine {
    shown: FioProgressLine,
    interval: Duration,
    /// The newest state of each server, and when it came.
    states: BTreeMap<u32, (Instant, EtaSnapshot)>,
    /// The servers whose states have come since the line was shown.
    fresh: Vec<u32>,
}

impl ServersLine {
    pub(super) fn new(eta: EtaSettings) -> Self {
        let interval = Duration::from_millis(eta.interval_ms);
        Self { shown: FioProgressLine::new(eta), interval, states: BTreeMap::new(), fresh: Vec::new() }
    }

    /// Takes the state of a server. The line is shown once for a state of each of them, however slow one of them is.
    fn take(&mut self, rank: u32, snapshot: &EtaSnapshot) {
        if self.fresh.contains(&rank) {
            self.show();
        }
        self.states.insert(rank, (Instant::now(), snapshot.clone()));
        self.fresh.push(rank);
        if self.fresh.len() >= self.states.len() {
            self.show();
        }
    }

    fn show(&mut self) {
        let limit = self.interval.saturating_mul(MOST_MISSED);
        self.states.retain(|_, (came_at, _)| came_at.elapsed() <= limit);
        self.fresh.clear();
        if let Some(all) = EtaSnapshot::together(self.states.values().map(|(_, snapshot)| snapshot)) {
            self.shown.show(&all);
        }
    }
}
