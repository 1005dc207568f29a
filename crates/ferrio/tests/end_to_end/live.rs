//! `ferrio run --live` on a pseudo terminal: what is shown, how it ends, and what is left of the terminal.
//!
//! Start reading at [`OnTerminal`].

use crate::support::{Program, Run, Scratch, send, skip};
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const NEEDS: &str = "no pseudo terminal";
/// The full screen begins and ends with these.
const ENTER: &str = "\x1b[?1049h";
const LEAVE: &str = "\x1b[?1049l";
/// Nothing takes so long.
const LIMIT: Duration = Duration::from_secs(60);

/// A run on a terminal of its own.
struct OnTerminal {
    outer: File,
    inner: File,
    child: Child,
    shown: Arc<Mutex<Vec<u8>>>,
    _scratch: Scratch,
}

impl OnTerminal {
    /// `None`: there are no terminals here.
    fn start((ws_col, ws_row): (u16, u16), arguments: &str) -> Option<Self> {
        let scratch = Scratch::new("live");
        let outer = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).ok()?;
        grantpt(&outer).ok()?;
        unlockpt(&outer).ok()?;
        tcsetwinsize(&outer, Winsize { ws_row, ws_col, ws_xpixel: 0, ws_ypixel: 0 }).ok()?;
        let name = ptsname(&outer, Vec::new()).ok()?;
        let inner = File::options().read(true).write(true).open(name.to_str().ok()?).ok()?;
        let end = || inner.try_clone().expect("a copy");
        let mut command = Command::new(env!("CARGO_BIN_EXE_ferrio"));
        command.args(["run", "--live"]).args(arguments.split(' ')).current_dir(scratch.path());
        command.env("FERRIO_STATE", "off").env("TERM", "xterm").stdin(end()).stdout(end()).stderr(end());
        let child = command.spawn().expect("it starts");
        let outer = File::from(outer);
        let shown = Arc::new(Mutex::new(Vec::new()));
        let (mut reader, its_shown) = (outer.try_clone().expect("a copy"), Arc::clone(&shown));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n_bytes) = reader.read(&mut bytes) {
                its_shown.lock().expect("no panic").extend(&bytes[..n_bytes]);
            }
        });
        Some(Self { outer, inner, child, shown, _scratch: scratch })
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().expect("no panic")).into_owned()
    }

    fn wait_until(&self, what: &str, is_true: impl Fn(&str) -> bool) {
        let begun = Instant::now();
        while !is_true(&self.text()) {
            assert!(begun.elapsed() < LIMIT, "no {what}: {:?}", self.text());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The processes that the run has forked, the oldest first.
    fn children(&self) -> Vec<u32> {
        let path = format!("/proc/{0}/task/{0}/children", self.child.id());
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
    }

    /// The exit code; the terminal is usable again.
    fn finish(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().expect("it is a child").code();
        self.wait_until("end of the report", |text| text.contains("rules have looked") || text.contains("To do:"));
        let modes = tcgetattr(&self.inner).expect("a terminal").local_modes;
        assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG), "{modes:?}");
        let text = self.text();
        assert_eq!((text.matches(ENTER).count(), text.matches(LEAVE).count() >= 1), (1, true), "{text:?}");
        (code, text)
    }
}

/// What the terminal shows is written in pieces: words that stand beside each other need not be in one.
fn has_all(text: &str, words: &[&str]) -> bool {
    words.iter().all(|word| text.contains(word))
}

const JOBS: &str = "--ioengine=null --size=1t --rate_iops=2000 --time_based --name=first --runtime=1300ms --numjobs=2 \
                    --name=second --stonewall --runtime=1300ms";

#[test]
fn groups_of_processes_are_shown_and_the_report_follows() {
    for size in [(80, 24), (40, 12)] {
        let Some(run) = OnTerminal::start(size, JOBS) else {
            return skip("groups_of_processes_are_shown_and_the_report_follows", NEEDS);
        };
        let (code, text) = run.finish();
        let (screen, report) = text.rsplit_once(LEAVE).expect("a full screen");
        // A narrow column cuts the state of a job.
        assert!(has_all(screen, &["IOPS", "MB/s", "p99", "first", "second", "(waits)", "(end"]), "{screen:?}");
        assert!(code == Some(0) && has_all(report, &["first ", "second ", "read", "MB/s"]), "{code:?} {report:?}");
        // Lines of the run itself come after the screen.
        assert!(!screen.contains("rules have looked"));
    }
}

#[test]
fn the_key_q_ends_the_run_with_its_report() {
    let job = "--name=a --ioengine=null --size=1t --rate_iops=2000 --time_based --runtime=1000";
    let Some(mut run) = OnTerminal::start((80, 24), job) else {
        return skip("the_key_q_ends_the_run_with_its_report", NEEDS);
    };
    run.wait_until("figures", |text| text.contains("over time"));
    // The terminal gets another size on the way.
    tcsetwinsize(&run.outer, Winsize { ws_row: 12, ws_col: 40, ws_xpixel: 0, ws_ypixel: 0 }).expect("a terminal");
    run.outer.write_all(b"q").expect("a terminal");
    let (code, text) = run.finish();
    assert_eq!(code, Some(128), "{text:?}");
}

/// A viewer that hangs or dies costs the run nothing, and the terminal is put in order by the run.
#[test]
fn the_run_outlives_its_viewer() {
    for signal in [Signal::STOP, Signal::KILL] {
        let job = "--name=a --ioengine=null --size=1t --rate_iops=2000 --time_based --runtime=2500ms";
        let Some(run) = OnTerminal::start((80, 24), job) else {
            return skip("the_run_outlives_its_viewer", NEEDS);
        };
        run.wait_until("the screen", |text| text.contains(ENTER) && text.contains("over time"));
        // The viewer is the first child.
        send(run.children()[0], signal);
        let (code, text) = run.finish();
        let (_, report) = text.rsplit_once(LEAVE).expect("a full screen that was left");
        assert!(code == Some(0) && has_all(report, &["read", "MB/s"]), "{code:?} {report:?}");
    }
}

#[test]
fn without_a_terminal_it_is_refused_with_the_cure() {
    let scratch = Scratch::new("live-pipe");
    let finished = Run::new(Program::Ferrio, scratch.path(), "run --live --name=a --ioengine=null --size=4k").finish();
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(2), ""));
    assert!(has_all(&finished.stderr, &["ferrio run: --live", "--output-format=jsonl"]), "{}", finished.stderr);
}

/// The terminal and the browser show the same run; the address stands before the full screen.
#[test]
fn a_run_is_shown_on_the_terminal_and_in_the_browser() {
    let job = "--web=127.0.0.1:0 --name=a --ioengine=null --size=1t --rate_iops=2000 --time_based --runtime=1000";
    let Some(mut run) = OnTerminal::start((80, 24), job) else {
        return skip("a_run_is_shown_on_the_terminal_and_in_the_browser", NEEDS);
    };
    run.wait_until("figures", |text| text.contains("over time"));
    let text = run.text().replace('\r', "");
    let (before, _) = text.split_once(ENTER).expect("a full screen");
    let port = crate::web::port(before).unwrap_or_else(|| panic!("no address: {before:?}"));
    let mut metrics = String::new();
    while !metrics.contains("ferrio_ios_total{job=\"a\",direction=\"read\"} ") {
        let mut socket = std::net::TcpStream::connect(("127.0.0.1", port)).expect("a server");
        let request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        socket.write_all(request.as_bytes()).expect("it is sent");
        metrics.clear();
        socket.read_to_string(&mut metrics).expect("an answer");
        assert!(metrics.starts_with("HTTP/1.1 200"), "{metrics}");
    }
    run.outer.write_all(b"q").expect("a terminal");
    assert_eq!(run.finish().0, Some(128));
}
