//! A page that follows a run in a browser: figures, accessibility, an empty console, and the report in its place when the run has ended.
//!
//! The browser is steered by the protocol of its developer tools, over pipes. Start reading at [`Tools`].

use super::PROGRAM;
use crate::support::{has_programs, send};
use crate::web::Served;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Nothing takes so long.
const LIMIT: Duration = Duration::from_secs(60);

/// A browser with one page.
struct Tools {
    browser: Child,
    requests: File,
    answers: BufReader<File>,
    /// The page, once there is one.
    session: Option<String>,
    n_requests: u64,
    /// What was written to the console of the page.
    console: Vec<String>,
}

impl Tools {
    /// Starts a browser that keeps its files below a directory.
    fn start(directory: &Path) -> Self {
        let pipes = ["requests", "answers"].map(|name| directory.join(name));
        assert!(Command::new("mkfifo").args(&pipes).status().is_ok_and(|status| status.success()));
        let script = "exec \"$0\" \"$@\" 3<requests 4>answers";
        let mut command = Command::new("sh");
        command.args(["-c", script, PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]);
        command.args(["--no-first-run", "--disable-background-networking", "--remote-debugging-pipe"]);
        command.arg(format!("--user-data-dir={}", directory.join("profile").display())).current_dir(directory);
        let browser = command.process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let browser = browser.expect("the browser starts");
        // Each end waits for the other one, in the order of the script.
        let requests = File::options().write(true).open(&pipes[0]).expect("a pipe");
        let answers = BufReader::new(File::open(&pipes[1]).expect("a pipe"));
        let mut this = Self { browser, requests, answers, session: None, n_requests: 0, console: Vec::new() };
        let page = this.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attached = this.call("Target.attachToTarget", &json!({ "targetId": page["targetId"], "flatten": true }));
        this.session = attached["sessionId"].as_str().map(str::to_owned);
        for part in ["Runtime", "Log", "Page"] {
            this.call(&format!("{part}.enable"), &json!({}));
        }
        this
    }

    /// The outcome of a request; `null` where the page was about to become another one.
    fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.n_requests += 1;
        let mut request = json!({ "id": self.n_requests, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            request["sessionId"] = json!(session);
        }
        write!(self.requests, "{request}\0").expect("the browser reads");
        loop {
            let mut message = Vec::new();
            self.answers.read_until(0, &mut message).expect("the browser answers");
            assert_eq!(message.pop(), Some(0), "the browser is gone: {:?}", self.console);
            let mut message: Value = serde_json::from_slice(&message).expect("a message");
            if message["id"] == self.n_requests {
                return message["result"].take();
            }
            let told = ["Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"];
            if message["method"].as_str().is_some_and(|method| told.contains(&method)) {
                self.console.push(message["params"].to_string());
            }
        }
    }

    /// The value of an expression in the page, or of what it promises.
    fn value(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        self.call("Runtime.evaluate", &parameters)["result"]["value"].take()
    }

    fn wait_until(&mut self, what: &str, expression: &str) {
        let begun = Instant::now();
        while self.value(expression) != json!(true) {
            let text = self.value("document.body.innerText");
            assert!(begun.elapsed() < LIMIT, "no {what}: {text} {:?}", self.console);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn set_size(&mut self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", &size);
    }

    /// What axe-core finds in the page, in both colour schemes.
    fn violations(&mut self, axe: &str) -> Vec<Value> {
        self.value(&format!("{axe}; null"));
        let run = "axe.run(document).then((found) => found.violations.map((one) =>
            one.impact + ' ' + one.id + ': ' + one.nodes.map((node) => node.html.slice(0, 80)).join(' | ')))";
        let mut all = Vec::new();
        for scheme in ["light", "dark"] {
            let feature = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
            self.call("Emulation.setEmulatedMedia", &feature);
            let found = self.value(run);
            all.extend(found.as_array().unwrap_or_else(|| panic!("axe-core did not run: {found}")).iter().cloned());
        }
        all
    }
}

/// The browser and the processes that it has started end, so that none of them writes below the directory any more.
impl Drop for Tools {
    fn drop(&mut self) {
        let group = Pid::from_child(&self.browser);
        let close = json!({ "id": self.n_requests + 1, "method": "Browser.close" });
        let begun = Instant::now();
        let is_told = write!(self.requests, "{close}\0").is_ok();
        while is_told && begun.elapsed() < LIMIT && matches!(self.browser.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.browser.kill();
        let _ = self.browser.wait();
        while kill_process_group(group, Signal::KILL).is_ok() && begun.elapsed() < LIMIT {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// The texts of the row of a job, without commas between digits.
fn row(tools: &mut Tools, index: usize) -> Vec<String> {
    let row =
        format!("[...document.querySelectorAll('#jobs tbody tr')[{index}].cells].map((cell) => cell.textContent)");
    let row = tools.value(&row);
    let texts = row.as_array().into_iter().flatten().filter_map(Value::as_str);
    texts.map(|text| text.replace(',', "")).collect()
}

/// A run whose first job ends, while the second one goes on until it is told to end and the third one waits.
const JOBS: &str = "--json --ioengine=null --size=1t --bs=4k --rate_iops=2000 --name=first --number_ios=1000 --name=<b>\"second\" \
                    --stonewall --time_based --runtime=60 --rw=randrw --name=third --stonewall";

#[test]
fn a_page_follows_the_run_and_becomes_its_report() {
    let test = "a_page_follows_the_run_and_becomes_its_report";
    if !has_programs(test, &[PROGRAM]) {
        return;
    }
    let served = Served::start("page-following", JOBS);
    let mut tools = Tools::start(served.scratch.path());
    tools.set_size(1280, 900);
    let url = format!("http://127.0.0.1:{}/", served.port);
    tools.call("Page.navigate", &json!({ "url": url }));
    let states =
        "[...document.querySelectorAll('#jobs tbody tr')].map((row) => row.className).join() === 'ended,runs,waits'";
    tools.wait_until("course of all groups", states);
    tools.wait_until("lines", "document.querySelectorAll('figure polyline.s0').length === 4");
    // The present of all jobs is that of the one that runs.
    let tile = tools.value("document.querySelector('#totals dd').textContent.replace(',', '')");
    let iops: f64 = tile.as_str().and_then(|text| text.trim_end_matches('k').parse().ok()).expect("a figure");
    assert!(iops > 0.0 && !tools.console.iter().any(|line| line.contains("rror")), "{tile} {:?}", tools.console);
    let (first, second) = (row(&mut tools, 0), row(&mut tools, 1));
    assert_eq!((first[0].as_str(), first[1].as_str(), second[0].as_str()), ("first", "ended", "<b>\"second\""));
    // A click on its name shows a job alone.
    tools.value("document.querySelectorAll('#jobs tbody button')[1].click()");
    assert_eq!(tools.value("document.getElementById('shown').selectedOptions[0].text"), "<b>\"second\"");
    let axe = std::env::var_os("FERRIO_AXE").map(|path| std::fs::read_to_string(path).expect("axe-core"));
    if let Some(axe) = &axe {
        assert_eq!(tools.violations(axe), Vec::<Value>::new());
    }
    tools.set_size(400, 800);
    let fits = tools.value("document.documentElement.scrollWidth <= 400");
    assert_eq!(fits, true);
    if let Some(axe) = &axe {
        assert_eq!(tools.violations(axe), Vec::<Value>::new());
    }
    send(served.pid(), Signal::INT);
    tools.wait_until("report", "document.readyState === 'complete' && document.title.startsWith('Results of ')");
    let (finished, scratch) = served.finish();
    // The server is gone: the page has all that it needs.
    let document: Value = serde_json::from_str(&finished.stdout).expect("a document");
    let figures = &document["jobs"][0];
    let number = |key: &str| figures[key].as_u64().expect("a number");
    assert_eq!((number("n_ios"), first[10].parse(), first[12].as_str()), (1000, Ok(1000), "0"));
    assert_eq!(first[11], format!("{:.2} MB", number("bytes") as f64 / 1e6));
    let table = tools.value("document.querySelector('table.headline').innerText");
    assert!(
        table.as_str().is_some_and(|text| ["first", "<b>\"second\"", "1,000"].iter().all(|word| text.contains(word))),
        "{table}"
    );
    tools.wait_until("charts", "document.querySelectorAll('#charts canvas').length > 0");
    assert_eq!(tools.console, Vec::<String>::new());
    drop(tools);
    drop(scratch);
}
