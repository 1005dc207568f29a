//! `ferrio run --web`: what is served while a run goes on and at its end, who is refused, and what a client that hangs costs.
//!
//! Start reading at [`Served`].

mod hosts;
mod metrics;
mod prometheus;
mod refusals;
mod stories;

use crate::fleets;
use crate::support::{Finished, Program, Run, Running, Scratch};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Nothing takes so long.
const LIMIT: Duration = Duration::from_secs(60);
/// The file with the standard error of the run.
const ERRORS: &str = "errors";
/// An option of jobs that wait for [`Served::let_go`]: what a test does before lies before their first I/O, however slow the machine is.
const HELD: &str = "--exec_prerun=sh<hold";

/// A run that is served on a port of its own.
pub(crate) struct Served {
    run: Running,
    pub(crate) scratch: Scratch,
    pub(crate) port: u16,
}

/// An answer of the server.
#[derive(Debug)]
struct Answer {
    status: u16,
    /// The lines before the content.
    head: String,
    content: String,
}

impl Served {
    /// Starts a run in a directory named after the test.
    pub(crate) fn start(test: &str, arguments: &str) -> Self {
        Self::with_address(test, &format!("--web=127.0.0.1:0 {arguments}"), &[])
    }

    /// The same, with the address among the arguments, and with variables of the environment.
    fn with_address(test: &str, arguments: &str, environment: &[(&str, &str)]) -> Self {
        Self::of_command(Scratch::new(test), &format!("run {arguments}"), environment)
    }

    /// Starts a fleet of workers here.
    fn of_fleet(test: &str, hosts: &str, arguments: &str) -> Self {
        let program = Program::Ferrio.path();
        let words =
            format!("fleet --web=127.0.0.1:0 --hosts={hosts} --rsh=./shell --remote-program={program} {arguments}");
        Self::of_command(fleets::scratch(test), &words, &[])
    }

    fn of_command(scratch: Scratch, words: &str, environment: &[(&str, &str)]) -> Self {
        scratch.write("hold", "mkfifo go && exec cat go");
        let run = Run::new(Program::Ferrio, scratch.path(), words);
        let run = environment.iter().fold(run, |run, (name, value)| run.env(name, value));
        let mut run = run.in_shell(&format!("exec \"$0\" \"$@\" 2>{ERRORS}")).start();
        let url = || std::fs::read_to_string(scratch.join(ERRORS)).ok().and_then(|text| port(&text));
        run.wait_until("address", |_| url().is_some());
        let port = url().expect("an address");
        Self { run, scratch, port }
    }

    fn connect(&self) -> TcpStream {
        let socket = TcpStream::connect(("127.0.0.1", self.port)).expect("the server listens");
        socket.set_read_timeout(Some(LIMIT)).expect("a time");
        socket
    }

    /// Asks for a path, with more lines in the head.
    fn ask(&self, path: &str, lines: &str) -> Answer {
        let mut socket = self.connect();
        // A server without a place closes the socket, maybe before: the answer has no status then.
        let _ = write!(socket, "GET {path} HTTP/1.1\r\nConnection: close\r\n{lines}\r\n");
        Answer::read(socket)
    }

    fn get(&self, path: &str) -> Answer {
        self.ask(path, "Host: localhost\r\n")
    }

    /// What the run wrote to its standard error.
    pub(crate) fn errors(&self) -> String {
        self.scratch.read(ERRORS)
    }

    /// The process of the run.
    pub(crate) fn pid(&self) -> u32 {
        self.run.pid()
    }

    /// Lets the jobs of a held run begin.
    fn let_go(&mut self) {
        let way = self.scratch.join("go");
        // The open waits until the job reads.
        self.run.wait_until("a job that waits", |_| way.exists());
        std::fs::OpenOptions::new().write(true).open(way).expect("the job reads");
    }

    /// The process of the server, which is the first child.
    fn server(&mut self) -> u32 {
        let path = format!("/proc/{0}/task/{0}/children", self.run.pid());
        let first = || std::fs::read_to_string(&path).ok()?.split_whitespace().next()?.parse().ok();
        self.run.wait_until("a server", |_| first().is_some());
        first().expect("a server")
    }

    pub(crate) fn finish(self) -> (Finished, Scratch) {
        (self.run.finish(), self.scratch)
    }
}

/// The port in the line that tells the address.
pub(crate) fn port(text: &str) -> Option<u16> {
    let (_, rest) = text.split_once("the run is shown at http://")?;
    let (_, port) = rest.split_once("/\n")?.0.rsplit_once(':')?;
    port.parse().ok()
}

impl Answer {
    fn read(mut socket: TcpStream) -> Self {
        let mut bytes = Vec::new();
        // A server that refuses a request may close the socket before all of it is read.
        let _ = socket.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, content) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        Self { status, head: head.to_ascii_lowercase(), content: content.to_owned() }
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.content).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// A page that follows a run, as a browser does.
struct Follower {
    lines: std::io::Lines<BufReader<TcpStream>>,
}

impl Follower {
    fn new(served: &Served, query: &str) -> Self {
        let mut socket = served.connect();
        write!(socket, "GET /events?{query} HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("it is sent");
        Self { lines: BufReader::new(socket).lines() }
    }

    /// The next event: its name and its data. `None`: the stream has ended.
    fn next_event(&mut self) -> Option<(String, Value)> {
        // Sizes of chunks, and the head, are lines of other forms.
        let mut lines = self.lines.by_ref().map_while(Result::ok);
        let name = lines.find_map(|line| line.strip_prefix("event: ").map(str::to_owned))?;
        let data = lines.find_map(|line| line.strip_prefix("data: ").map(str::to_owned))?;
        Some((name, serde_json::from_str(&data).unwrap_or_else(|error| panic!("{error}: {data}"))))
    }

    /// The first event of this name for which something is so.
    fn wait_for(&mut self, wanted: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        loop {
            let (name, data) = self.next_event().unwrap_or_else(|| panic!("no event {wanted}"));
            if name == wanted && is_so(&data) {
                return data;
            }
        }
    }
}
