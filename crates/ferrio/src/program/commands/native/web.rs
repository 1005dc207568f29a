//! `ferrio run --web`: the process that serves a run to browsers and to Prometheus, seen from the run.
//!
//! Must not know: what is served. Start reading at [`WebOptions::take`], [`WebViewer::start`] and [`WebViewer::end`].

use super::viewers::fork_viewer;
use crate::ui::own_options;
use anyhow::anyhow;
use clap::Args;
use ferrio::live::frame::{FinalReports, LiveFrame};
use ferrio::live::link::FrameWriter;
use ferrio::live::web::{MOST_END_WAIT, WebError, WebServer};
use ferrio_sys::process::{self, Pid, Signal};
use ferrio_sys::signals::WEB_TOKEN_VARIABLE;
use std::ffi::OsString;
use std::io;
use std::time::{Duration, Instant};

/// Time between two looks at the server.
const TICK: Duration = Duration::from_millis(5);
/// Time beyond its own limit in which a server that lives has ended.
const GRACE: Duration = Duration::from_millis(500);
const ADDRESS: &str = "--web";
const TOKEN: &str = "--web-token";

// Views of a run while it goes on.
#[derive(Debug, Args)]
pub(super) struct ViewOptions {
    /// Show the run on the whole terminal while it goes on: rates, latencies and depth of each job, devices, findings so far; q ends the run
    #[arg(long)]
    pub(super) live: bool,
    /// Show the run as a page for browsers while it goes on, and its report at the end; /metrics is for Prometheus, /result.json for programs (after the end only while a page is open). ADDR is HOST:PORT, or PORT on 127.0.0.1; port 0 is any free one
    #[arg(long, value_name = "ADDR")]
    web: Option<OsString>,
    #[arg(
        long,
        value_name = "TOKEN",
        help = "What readers of --web must know (http://ADDR/?token=TOKEN), where other machines reach ADDR. The environment variable FERRIO_WEB_TOKEN keeps it secret from other users of this machine"
    )]
    web_token: Option<OsString>,
}

// The secret of the views.
#[derive(Debug, Args)]
struct TokenOption {
    #[arg(long, value_name = "TOKEN")]
    web_token: Vec<OsString>,
}

/// The server that is wanted.
#[derive(Debug)]
pub(super) struct WebOptions {
    address: String,
    token: Option<String>,
}

impl WebOptions {
    /// The server of the views; `None`: none is wanted.
    ///
    /// # Errors
    /// There is a token without an address.
    pub(super) fn of(views: ViewOptions) -> anyhow::Result<Option<Self>> {
        let of_environment = || std::env::var_os(WEB_TOKEN_VARIABLE).filter(|token| !token.is_empty());
        let text = |value: OsString| value.to_string_lossy().into_owned();
        match (views.web, views.web_token) {
            (None, Some(_)) => Err(anyhow!("{TOKEN} is for {ADDRESS}, which is not there: {ADDRESS}=HOST:PORT")),
            (None, None) => Ok(None),
            (Some(address), token) => {
                Ok(Some(Self { address: text(address), token: token.or_else(of_environment).map(text) }))
            }
        }
    }

    pub(super) fn bind(self) -> Result<WebServer, WebError> {
        WebServer::bind(&self.address, self.token)
    }
}

/// The arguments without the token, which is in no record and on no page.
pub(super) fn without_token(arguments: &[OsString]) -> Vec<OsString> {
    let mut words = arguments.to_vec();
    // Words that are wrong were refused before.
    _ = own_options::take::<TokenOption>(&mut words);
    words
}

/// A server of the run, in its own process.
pub(super) struct WebViewer {
    process: Pid,
}

impl WebViewer {
    /// Starts a server, to which frames go by a new writer behind the others. The run itself listens no longer.
    pub(super) fn start(server: WebServer, writers: &mut Vec<FrameWriter>) -> io::Result<Self> {
        Ok(Self { process: fork_viewer(writers, |reader| server.serve(reader))? })
    }

    /// Hands over the reports, and waits until the server has ended, for a limited time.
    pub(super) fn end(self, mut writer: FrameWriter, reports: Option<FinalReports>, is_interrupted: impl Fn() -> bool) {
        let deadline = Instant::now() + MOST_END_WAIT + GRACE;
        let goes_on = || Instant::now() < deadline && !is_interrupted();
        while !writer.has_room() && goes_on() {
            writer.flush();
            std::thread::sleep(TICK);
        }
        if let Some(reports) = reports {
            writer.send(&LiveFrame::Reports(reports));
        }
        while !writer.is_idle() && goes_on() {
            writer.flush();
            std::thread::sleep(TICK);
        }
        drop(writer);
        while let Ok(None) = process::try_wait(self.process) {
            if !goes_on() {
                let _ = process::kill(self.process, Signal::KILL);
                let _ = process::wait(self.process);
                break;
            }
            std::thread::sleep(TICK);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    fn taken(words: &mut Vec<OsString>) -> anyhow::Result<Option<WebOptions>> {
        own_options::take(words).and_then(WebOptions::of)
    }

    #[test]
    fn options_are_taken_in_both_forms() {
        for given in
            [&["--web=:0", "--web-token=secret-123", "x"][..], &["x", "--web-token", "secret-123", "--web", ":0"]]
        {
            let mut rest = words(given);
            let options = taken(&mut rest).unwrap().unwrap();
            assert_eq!((options.address.as_str(), options.token.as_deref()), (":0", Some("secret-123")));
            assert_eq!(rest, words(&["x"]));
        }
        assert!(taken(&mut words(&["--webs=1", "x"])).unwrap().is_none());
        for bad in [&["--web"][..], &["--web="], &["--web-token=secret-123"], &["--web=1", "--web-token"]] {
            assert!(taken(&mut words(bad)).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_token_is_in_no_record() {
        let given = ["run", "--web-token", "secret-123", "--web=:0", "--web-token=secret-456", "x"];
        assert_eq!(without_token(&words(&given)), words(&["run", "--web=:0", "x"]));
    }
}
