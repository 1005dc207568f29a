//! Pages in a browser without a window (Debian's package chromium): what a reader sees and does.
//!
//! A test's script runs in the page and puts its outcome into it; the browser prints the page when it is done. Start reading at
//! [`Browser`].

mod accessibility;
mod following;
mod interaction;
mod layout;

use crate::support::{Program, Run, Scratch, has_programs, skip};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PROGRAM: &str = "chromium";
/// The browser's own complaints about the machine that it runs on contain none of these.
const OF_PAGES: &str = ":CONSOLE";
/// Milliseconds of the page's own time.
const PAGE_TIME_MS: u32 = 10_000;

/// A browser with a directory of its own.
struct Browser {
    scratch: Scratch,
}

/// The printed page and the lines of its console.
struct Shown {
    console: Vec<String>,
    page: String,
}

impl Browser {
    /// `None`: there is no browser, and the test is reported as skipped.
    fn new(test: &str) -> Option<Self> {
        let is_there = has_programs(test, &[PROGRAM]);
        is_there.then(|| Self { scratch: Scratch::new(test) })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.join(name)
    }

    /// Runs ferrio in the browser's directory.
    fn ferrio(&self, arguments: &str) {
        Run::new(Program::Ferrio, self.scratch.path(), arguments).finish().succeeded();
    }

    fn run(&self, path: &Path, size: &str, more: &[&str]) -> Shown {
        let profile = self.path("profile");
        let mut command = Command::new(PROGRAM);
        // Root may not use its sandbox; the page is our own.
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]);
        command.args(["--disable-background-networking", "--enable-logging=stderr", "--dump-dom"]);
        command.arg(format!("--user-data-dir={}", profile.display()));
        command.arg(format!("--virtual-time-budget={PAGE_TIME_MS}")).arg(format!("--window-size={size}"));
        command.args(more).arg(format!("file://{}", path.display())).stdin(Stdio::null());
        let output = command.output().expect("the browser starts");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let console = errors.lines().filter(|line| line.contains(OF_PAGES)).map(str::to_owned).collect();
        Shown { console, page: String::from_utf8_lossy(&output.stdout).into_owned() }
    }

    /// Shows a page as it is.
    fn show(&self, name: &str) -> Shown {
        self.run(&self.path(name), "1200,900", &[])
    }

    /// Shows a page with a script behind its own, whose function `outcome` returns a value, or promises one. The page's rule against
    /// other scripts is left out for that.
    fn outcome(&self, name: &str, size: &str, script: &str) -> Value {
        self.outcome_with(name, size, script, &[])
    }

    /// As [`Self::outcome`], of a page that may look into other files of its directory.
    fn run_with_files(&self, name: &str, script: &str) -> Value {
        self.outcome_with(name, "1200,900", script, &["--allow-file-access-from-files"])
    }

    fn outcome_with(&self, name: &str, size: &str, script: &str, more: &[&str]) -> Value {
        let page = std::fs::read_to_string(self.path(name)).expect("a page");
        let policy = page.find("<meta http-equiv=\"Content-Security-Policy\"").expect("a policy");
        let policy_end = policy + page[policy..].find('>').expect("its end") + 1;
        let script = format!(
            "<script>{script}\nPromise.resolve().then(outcome).catch((error) => ({{ failed: String(error) }})).then((value) => {{\
             const place = document.createElement('pre'); place.id = 'outcome'; place.textContent = JSON.stringify(value);\
             document.body.append(place); }});</script></body>"
        );
        let changed = format!("{}{}", &page[..policy], &page[policy_end..]).replace("</body>", &script);
        let path = self.path(&format!("with-script-{name}"));
        std::fs::write(&path, changed).expect("a page");
        let shown = self.run(&path, size, more);
        let found =
            shown.page.rfind("<pre id=\"outcome\">").unwrap_or_else(|| panic!("no outcome: {:?}", shown.console));
        let text = &shown.page[found + "<pre id=\"outcome\">".len()..];
        let text = text[..text.find("</pre>").expect("its end")].to_owned();
        let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", "\u{a0}").replace("&amp;", "&");
        let value: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert!(value.get("failed").is_none(), "{value}");
        value
    }
}

/// The log of an I/O each 100 us for a second, of which one took 50 ms.
fn latency_log() -> String {
    let row = |at: u32| {
        let latency_ns = if at == 5_000 { 50_000_000 } else { 90_000 + at % 7 * 1_000 };
        format!("{}, {latency_ns}, {}, 4096, 0", at / 10, at % 2)
    };
    (0..10_000).map(row).collect::<Vec<String>>().join("\n")
}

/// A log of windows of 100 ms.
fn windows_log(value: u32) -> String {
    let row = |at: u32| format!("{}, {}, 0, 0, 0", at * 100, value + at);
    (1..=10).map(row).collect::<Vec<String>>().join("\n")
}

/// A page with every kind of chart: a report with distributions, and logs of all kinds beside it.
fn full_page(browser: &Browser) {
    browser.ferrio("--name=a --ioengine=null --size=64m --rw=randrw --output-format=json+ --output=run.json");
    std::fs::write(browser.path("x_clat.1.log"), latency_log()).expect("a log");
    std::fs::write(browser.path("x_bw.1.log"), windows_log(40_000)).expect("a log");
    std::fs::write(browser.path("x_iops.1.log"), windows_log(10_000)).expect("a log");
    browser.ferrio("report run.json x_clat.1.log x_bw.1.log x_iops.1.log -o page.html");
}
