//! `ferrio run --live` on a pseudo terminal: what is shown, how it ends, and what is left of the terminal.
//!
//! Start reading at [`OnTerminal`].

use crate::fleets;
use crate::support::{Program, Run, Scratch, send, skip};
use rustix::process::{Pid, Signal, kill_process_group};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
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
    scratch: Scratch,
}

impl OnTerminal {
    /// `None`: there are no terminals here.
    fn start(size: (u16, u16), arguments: &str) -> Option<Self> {
        Self::start_on(Some("xterm"), size, arguments)
    }

    /// The same on a terminal with this name.
    fn start_on(terminal: Option<&str>, (ws_col, ws_row): (u16, u16), arguments: &str) -> Option<Self> {
        let words: Vec<&str> = ["run", "--live"].into_iter().chain(arguments.split(' ')).collect();
        Self::of_command(Scratch::new("live"), terminal, (ws_col, ws_row), &words)
    }

    /// A fleet of workers here, on a terminal of its own.
    fn of_fleet(size: (u16, u16), hosts: &str, arguments: &str) -> Option<Self> {
        let words = format!(
            "fleet --live --hosts={hosts} --rsh=./shell --remote-program={} {arguments}",
            env!("CARGO_BIN_EXE_ferrio")
        );
        Self::of_command(fleets::scratch("live-fleet"), Some("xterm"), size, &words.split(' ').collect::<Vec<_>>())
    }

    fn of_command(
        scratch: Scratch,
        terminal: Option<&str>,
        (ws_col, ws_row): (u16, u16),
        words: &[&str],
    ) -> Option<Self> {
        let outer = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).ok()?;
        grantpt(&outer).ok()?;
        unlockpt(&outer).ok()?;
        tcsetwinsize(&outer, Winsize { ws_row, ws_col, ws_xpixel: 0, ws_ypixel: 0 }).ok()?;
        let name = ptsname(&outer, Vec::new()).ok()?;
        let inner = File::options().read(true).write(true).open(name.to_str().ok()?).ok()?;
        let end = || inner.try_clone().expect("a copy");
        let mut command = Command::new(env!("CARGO_BIN_EXE_ferrio"));
        command.args(words).current_dir(scratch.path());
        command.env("FERRIO_STATE", "off").env_remove("TERM").stdin(end()).stdout(end()).stderr(end());
        command.envs(terminal.map(|terminal| ("TERM", terminal)));
        // A shell gives each of its programs a group: only such a one can be stopped.
        command.process_group(0);
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
        Some(Self { outer, inner, child, shown, scratch })
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

    /// The first process that the run has forked, which watches over the viewer.
    fn keeper(&self) -> u32 {
        first_child(self.child.id())
    }

    fn viewer(&self) -> u32 {
        first_child(self.keeper())
    }

    /// The terminal has the settings of before.
    fn is_usable(&self) -> bool {
        let modes = tcgetattr(&self.inner).expect("a terminal").local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }

    /// Waits until the full screen has been left so often, and the terminal is usable.
    fn wait_until_free(&self, n_times: usize) {
        self.wait_until("free terminal", |text| text.matches(LEAVE).count() >= n_times && self.is_usable());
    }

    /// The exit code; the terminal is usable again.
    fn finish(self) -> (Option<i32>, String) {
        self.finish_behind(1)
    }

    /// The same where the full screen was entered so often.
    fn finish_behind(mut self, n_entered: usize) -> (Option<i32>, String) {
        let code = self.child.wait().expect("it is a child").code();
        self.wait_until("end of the report", |text| text.contains("rules have looked") || text.contains("To do:"));
        assert!(self.is_usable());
        let text = self.text();
        assert_eq!(
            (text.matches(ENTER).count(), text.matches(LEAVE).count() >= n_entered),
            (n_entered, true),
            "{text:?}"
        );
        (code, text)
    }
}

/// The oldest child of a process.
fn first_child(process: u32) -> u32 {
    let text = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).expect("a process");
    text.split_whitespace().next().and_then(|word| word.parse().ok()).expect("a child")
}

/// What the terminal shows is written in pieces: words that stand beside each other need not be in one.
fn has_all(text: &str, words: &[&str]) -> bool {
    words.iter().all(|word| text.contains(word))
}

/// The charts over time are drawn.
fn has_figures(text: &str) -> bool {
    has_all(text, &["IOPS", "over", "time"])
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

/// What a program in the place of ssh says to the terminal comes behind the screen.
#[test]
fn hosts_of_a_fleet_are_shown_and_lost_ones_are_named() {
    let jobs =
        "--on-lost-host=continue --ioengine=null --size=1t --rate_iops=500 --time_based --runtime=600 --name=first";
    let Some(mut run) = OnTerminal::of_fleet((100, 30), "a,b,c", jobs) else {
        return skip("hosts_of_a_fleet_are_shown_and_lost_ones_are_named", NEEDS);
    };
    run.wait_until("hosts", |text| has_all(text, &["3 hosts", "slowest", "of the median", "IOPS over time", "x 3"]));
    let pid = run.scratch.read("pid.c").trim().parse().expect("the worker's process");
    send(pid, Signal::KILL);
    run.wait_until("lost host", |text| has_all(text, &["(lost)", "lost: c"]));
    run.outer.write_all(b"q").expect("a key");
    let (code, text) = run.finish();
    let (screen, behind) = text.rsplit_once(LEAVE).expect("a full screen");
    assert!(!screen.contains("ferrio fleet: host c"), "{screen:?}");
    assert!(behind.contains("ferrio fleet: host c is lost") && has_all(behind, &["first", "read"]), "{behind:?}");
    assert!(code.is_some_and(|code| code != 0), "{code:?}");
}

/// A fleet that does not come leaves the terminal as it was, and says why.
#[test]
fn a_fleet_that_cannot_start_gives_the_terminal_back() {
    let test = "a_fleet_that_cannot_start_gives_the_terminal_back";
    let words = "fleet --live --hosts=a --rsh=false --name=r --ioengine=null --size=1m --rw=read";
    let words: Vec<&str> = words.split(' ').collect();
    let run = OnTerminal::of_command(fleets::scratch("live-none"), Some("xterm"), (80, 24), &words);
    let Some(mut run) = run else { return skip(test, NEEDS) };
    let code = run.child.wait().expect("it is a child").code();
    run.wait_until("reason", |text| text.contains("no ferrio answers there"));
    assert!(code == Some(2) && run.is_usable(), "{code:?}");
}

#[test]
fn the_key_q_ends_the_run_with_its_report() {
    let job = "--name=a --ioengine=null --size=1t --rate_iops=2000 --time_based --runtime=1000";
    let Some(mut run) = OnTerminal::start((80, 24), job) else {
        return skip("the_key_q_ends_the_run_with_its_report", NEEDS);
    };
    run.wait_until("figures", has_figures);
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
        run.wait_until("the screen", |text| text.contains(ENTER) && has_figures(text));
        send(run.viewer(), signal);
        // The user need not wait for the end of the run, and can end it.
        run.wait_until_free(1);
        let (code, text) = run.finish();
        let (_, report) = text.rsplit_once(LEAVE).expect("a full screen that was left");
        assert!(code == Some(0) && has_all(report, &["read", "MB/s"]), "{code:?} {report:?}");
        assert_eq!(text.contains("the live view has ended, and the run goes on"), signal == Signal::KILL, "{text:?}");
    }
}

/// A process that watches over the viewer, and is stopped or killed itself, holds the run for no longer.
#[test]
fn the_run_outlives_the_keeper_of_its_viewer() {
    for signal in [Signal::STOP, Signal::KILL] {
        let job = "--name=a --ioengine=null --size=1t --rate_iops=2000 --time_based --runtime=1500ms";
        let Some(run) = OnTerminal::start((80, 24), job) else {
            return skip("the_run_outlives_the_keeper_of_its_viewer", NEEDS);
        };
        run.wait_until("the screen", |text| text.contains(ENTER) && has_figures(text));
        send(run.keeper(), signal);
        let (code, text) = run.finish();
        assert!(code == Some(0) && text.contains(LEAVE), "{code:?} {text:?}");
    }
}

/// A job that would go on for an hour.
const LONG: &str = "--name=a --ioengine=null --size=1t --rate_iops=2000 --time_based --runtime=1h";

/// However a run ends, the terminal is as it was, and no process is left.
#[test]
fn a_run_that_is_killed_leaves_the_terminal_as_it_was() {
    for (signal, is_for_all) in [(Signal::HUP, false), (Signal::KILL, false), (Signal::KILL, true)] {
        let Some(mut run) = OnTerminal::start((80, 24), LONG) else {
            return skip("a_run_that_is_killed_leaves_the_terminal_as_it_was", NEEDS);
        };
        run.wait_until("the screen", |text| text.contains(ENTER) && has_figures(text));
        let (keeper, viewer) = (run.keeper(), run.viewer());
        if is_for_all {
            let group = i32::try_from(run.child.id()).ok().and_then(Pid::from_raw).expect("an id");
            kill_process_group(group, signal).expect("a group");
        } else {
            send(run.child.id(), signal);
        }
        assert_eq!(run.child.wait().expect("it is a child").signal(), Some(signal.as_raw()));
        run.wait_until_free(1);
        run.wait_until("end of its processes", |_| [keeper, viewer].iter().all(|process| is_gone(*process)));
    }
}

/// No process has this id, or one that nobody has waited for.
fn is_gone(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat"));
    status.map_or(true, |text| text.contains(") Z "))
}

/// The terminal is free while the run is stopped, and shows the run again when it goes on.
#[test]
fn a_run_that_is_stopped_gives_the_terminal_back() {
    for signal in [Signal::TSTP, Signal::STOP] {
        let Some(mut run) = OnTerminal::start((80, 24), LONG) else {
            return skip("a_run_that_is_stopped_gives_the_terminal_back", NEEDS);
        };
        run.wait_until("figures", has_figures);
        send(run.child.id(), signal);
        run.wait_until_free(1);
        let is_stopped = |text: String| text.contains(") T ");
        let status = || std::fs::read_to_string(format!("/proc/{}/stat", run.child.id())).expect("a process");
        run.wait_until("stop", |_| is_stopped(status()));
        send(run.child.id(), Signal::CONT);
        run.wait_until("second screen", |text| {
            text.rsplit_once(ENTER).is_some_and(|(before, screen)| before.contains(ENTER) && has_figures(screen))
        });
        run.outer.write_all(b"q").expect("a terminal");
        assert_eq!(run.finish_behind(2).0, Some(128));
    }
}

/// A terminal may claim any size.
#[test]
fn a_terminal_of_impossible_size_costs_little_memory() {
    let Some(mut run) = OnTerminal::start((u16::MAX, u16::MAX), LONG) else {
        return skip("a_terminal_of_impossible_size_costs_little_memory", NEEDS);
    };
    run.wait_until("figures", has_figures);
    let status = std::fs::read_to_string(format!("/proc/{}/status", run.viewer())).expect("a process");
    let kib = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
    assert!(kib.is_some_and(|kib: u64| kib < 512 << 10), "{status}");
    run.outer.write_all(b"q").expect("a terminal");
    assert_eq!(run.finish().0, Some(128));
}

/// Lines are all that such a terminal can show.
#[test]
fn a_terminal_without_control_sequences_gets_lines() {
    for terminal in [None, Some(""), Some("dumb")] {
        let job =
            "--eta-interval=250ms --name=a --ioengine=null --size=1t --rate_iops=2000 --time_based --runtime=1500ms";
        let Some(mut run) = OnTerminal::start_on(terminal, (80, 24), job) else {
            return skip("a_terminal_without_control_sequences_gets_lines", NEEDS);
        };
        assert_eq!(run.child.wait().expect("it is a child").code(), Some(0));
        run.wait_until("end of the report", |text| text.contains("rules have looked") || text.contains("To do:"));
        let text = run.text().replace("\r\n", "\n");
        assert!(!text.contains(|symbol: char| symbol.is_control() && symbol != '\n'), "{text:?}");
        let n_lines = text.lines().filter(|line| line.starts_with("Jobs: 1")).count();
        assert!(n_lines > 1 && text.lines().all(|line| line.len() <= 100), "{text:?}");
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
    run.wait_until("figures", has_figures);
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
