//! The processes that show a run while it goes on: on the terminal (`--live`), and as a web page (`--web`).
//!
//! They are forked before the program has any thread. Must not know: what they show. Start reading at [`Viewers::of`].

use super::live::Viewer;
use super::web::{WebOptions, WebViewer};
use crate::ui::console::show_aside;
use crate::ui::stop_notice::StopNotice;
use anyhow::anyhow;
use ferrio::live::feed::LiveFeed;
use ferrio::live::frame::FinalReports;
use ferrio::live::link::{self, FrameReader, FrameWriter};
use ferrio::live::web::WebServer;
use ferrio_run::Handle;
use ferrio_sys::process::{self, Pid, Signal};
use ferrio_sys::signals;
use std::io;

#[derive(Default)]
pub(super) struct Viewers {
    web: Option<WebViewer>,
    terminal: Option<Viewer>,
    /// One for each of them, in this order.
    writers: Vec<FrameWriter>,
}

impl Viewers {
    /// Starts those that are wanted.
    ///
    /// # Errors
    /// The terminal has no state, or the system has no room for another process.
    fn start(is_live: bool, server: Option<WebServer>) -> io::Result<Self> {
        let mut writers = Vec::new();
        let web = server.map(|server| WebViewer::start(server, &mut writers)).transpose()?;
        let terminal = is_live.then(|| Viewer::start(&mut writers)).transpose()?;
        Ok(Self { web, terminal, writers })
    }

    /// Starts those that are wanted by a command of this name, and tells where the page is.
    ///
    /// # Errors
    /// The address cannot be listened to, or as of [`Viewers::start`].
    pub(super) fn of(program: &str, is_live: bool, web: Option<WebOptions>) -> anyhow::Result<Self> {
        let server = web.map(WebOptions::bind).transpose().map_err(|error| anyhow!("--web: {error}"))?;
        if let Some(server) = &server {
            show_aside(&format!("{program}: the run is shown at {}\n", server.url()));
        }
        let cannot_show = |error| anyhow!("cannot show the run: {}", ferrio_units::error_text(&error));
        Self::start(is_live, server).map_err(cannot_show)
    }

    /// An observer that tells them of the run of this handle; `None`: there are none.
    pub(super) fn feed(&mut self, handle: Handle) -> Option<LiveFeed> {
        self.feed_by(|writers| LiveFeed::new(writers, handle))
    }

    /// The same for a run on several hosts.
    pub(super) fn feed_of_hosts(&mut self) -> Option<LiveFeed> {
        self.feed_by(LiveFeed::without_audit)
    }

    fn feed_by(&mut self, feed: impl FnOnce(Vec<FrameWriter>) -> LiveFeed) -> Option<LiveFeed> {
        let writers = std::mem::take(&mut self.writers);
        match (&self.web, &self.terminal) {
            (None, None) => None,
            (None, Some(_)) => Some(feed(writers)),
            (Some(_), _) => Some(feed(writers).with_totals()),
        }
    }

    /// What the run does before the shell stops it; `None`: nothing.
    pub(super) fn stops(&self) -> Option<StopNotice> {
        self.terminal.as_ref()?.stops()
    }

    /// The run is over, and the feed ends.
    pub(super) fn take_back(&mut self, feed: LiveFeed) {
        self.writers = feed.end();
    }

    /// The terminal becomes free. Comes before [`Viewers::end_web`], whether there was a run or not.
    pub(super) fn end_terminal(&mut self) {
        if let Some(terminal) = self.terminal.take()
            && let Some(writer) = self.writers.pop()
        {
            terminal.end(writer);
        }
    }

    /// There is a web page, which shows the reports at the end.
    pub(super) fn want_reports(&self) -> bool {
        self.web.is_some()
    }

    /// The run is reported: pages get the reports, if there are any. Waits for them, unless it is interrupted.
    pub(super) fn end_web(&mut self, reports: Option<FinalReports>, is_interrupted: impl Fn() -> bool) {
        if let Some(web) = self.web.take()
            && let Some(writer) = self.writers.pop()
        {
            web.end(writer, reports, is_interrupted);
        }
    }
}

/// Forks a viewer, to which frames go by a new writer behind the others.
pub(super) fn fork_viewer(
    writers: &mut Vec<FrameWriter>,
    show: impl FnOnce(FrameReader) -> io::Result<()>,
) -> io::Result<Pid> {
    let (writer, reader) = link::pair()?;
    writers.push(writer);
    let viewer = || {
        // A viewer sees the end of the run by the end of its socket, of which no viewer may hold the other end.
        writers.clear();
        // Ctrl-C and the like are for the run; the viewer stays until the run has ended.
        let _ = [Signal::INT, Signal::TERM, Signal::QUIT].map(signals::ignore);
        i32::from(show(reader).is_err())
    };
    process::fork(viewer).map_err(io::Error::other)
}
