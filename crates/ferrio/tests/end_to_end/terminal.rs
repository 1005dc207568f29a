//! Output on a terminal: the progress line stays within the width, and is removed in the end.
//!
//! Start reading at [`Screen`].

use crate::support::Scratch;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::Read;
use std::process::{Command, Stdio};

const NEEDS: &str = "no pseudo terminal";

/// Standard output of a run on a terminal of so many columns; `None`: there are no terminals here.
fn on_terminal(n_columns: u16, arguments: &[&str]) -> Option<String> {
    let scratch = Scratch::new("terminal");
    let outer = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).ok()?;
    grantpt(&outer).ok()?;
    unlockpt(&outer).ok()?;
    tcsetwinsize(&outer, Winsize { ws_row: 24, ws_col: n_columns, ws_xpixel: 0, ws_ypixel: 0 }).ok()?;
    let name = ptsname(&outer, Vec::new()).ok()?;
    let inner = File::options().read(true).write(true).open(name.to_str().ok()?).ok()?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrio"));
    command.args(arguments).current_dir(scratch.path()).stdin(Stdio::null()).stderr(Stdio::null()).stdout(inner);
    let mut child = command.spawn().expect("it starts");
    // The parent's copy of the inner end would keep the terminal open.
    drop(command);
    let mut bytes = Vec::new();
    // A terminal whose other end is closed answers with an error.
    let _ = File::from(outer).read_to_end(&mut bytes);
    assert!(child.wait().expect("it is a child").success());
    Some(String::from_utf8(bytes).expect("ferrio writes UTF-8"))
}

/// A terminal: lines, and a place in the last of them.
struct Screen {
    lines: Vec<String>,
    column: usize,
}

impl Screen {
    /// Shows a text. Each state of the line in which the cursor is goes to `seen` before it is overwritten.
    fn show(text: &str, mut seen: impl FnMut(&str)) -> Self {
        let mut screen = Self { lines: vec![String::new()], column: 0 };
        let mut rest = text;
        while let Some(symbol) = rest.chars().next() {
            if let Some(after) = rest.strip_prefix("\x1b[J") {
                let column = screen.column;
                screen.line().truncate(column);
                rest = after;
                continue;
            }
            match symbol {
                '\r' => {
                    seen(screen.line());
                    screen.column = 0;
                }
                '\n' => {
                    screen.lines.push(String::new());
                    screen.column = 0;
                }
                _ => screen.put(symbol),
            }
            rest = &rest[symbol.len_utf8()..];
        }
        screen
    }

    fn line(&mut self) -> &mut String {
        self.lines.last_mut().expect("there is always one")
    }

    fn put(&mut self, symbol: char) {
        assert!(symbol.is_ascii() && !symbol.is_ascii_control(), "{symbol:?}");
        let column = self.column;
        let line = self.line();
        if column < line.len() {
            line.replace_range(column..=column, &symbol.to_string());
        } else {
            line.push(symbol);
        }
        self.column += 1;
    }
}

#[test]
fn the_progress_line_stays_within_the_terminal_and_goes() {
    for (n_columns, n_jobs) in [(20, 1), (40, 1), (80, 1), (40, 200), (80, 200)] {
        let numjobs = format!("--numjobs={n_jobs}");
        let mut arguments = vec!["--name=a", "--ioengine=null", "--size=1g", "--rate_iops=100", "--eta-interval=250ms"];
        arguments.extend(["--time_based", "--runtime=2", "--thread", "--group_reporting", &numjobs]);
        let Some(text) = on_terminal(n_columns, &arguments) else {
            return crate::support::skip("the_progress_line_stays_within_the_terminal_and_goes", NEEDS);
        };
        let mut n_lines = 0;
        let screen = Screen::show(&text, |line| {
            if line.starts_with("Jobs: ") {
                n_lines += 1;
                assert!(line.len() < n_columns.into(), "{n_columns} {n_jobs}: {line}");
            }
        });
        assert!(n_lines > 0, "{n_columns} {n_jobs}: {text:?}");
        assert!(screen.lines.iter().all(|line| !line.contains("Jobs: ")), "{n_columns} {n_jobs}: {:?}", screen.lines);
        assert!(screen.lines.iter().any(|line| line.starts_with("Run status group 0")), "{:?}", screen.lines);
    }
}

#[test]
fn the_table_of_quick_stays_within_the_terminal() {
    for n_columns in [40, 60, 80, 120] {
        let Some(text) = on_terminal(n_columns, &["quick", "--seconds=1", "--size=16m"]) else {
            return crate::support::skip("the_table_of_quick_stays_within_the_terminal", NEEDS);
        };
        let screen = Screen::show(&text, |_| {});
        // A path has no blank at which it could be broken.
        for line in screen.lines.iter().filter(|line| !line.contains('/') || line.contains("MB/s")) {
            assert!(line.len() <= n_columns.into(), "{n_columns}: {line}");
        }
        let all = screen.lines.join(" ");
        for part in ["1M sequential write", "4K random read", "MB/s", "p99.9", "CPU"] {
            assert!(all.contains(part), "{n_columns}: no {part}: {:?}", screen.lines);
        }
    }
}

/// A name that would steer the terminal is shown as it would be written in a program, everywhere on it.
#[test]
fn control_characters_are_shown_escaped() {
    let test = "control_characters_are_shown_escaped";
    for command in [&[][..], &["run"], &["check"]] {
        let arguments = [command, &["--name=a\x1b[2Jb\rc", "--ioengine=null", "--size=64k", "--rw=read"]].concat();
        let Some(shown) = on_terminal(80, &arguments) else {
            crate::support::skip(test, NEEDS);
            return;
        };
        assert!(!shown.contains("\x1b[2J") && !shown.contains("b\rc"), "{shown:?}");
        if command != ["check"] {
            assert!(shown.contains("a\\x1b[2Jb\\x0dc"), "{shown:?}");
        }
    }
}
