//! Reports during a run: at an interval, when a file appears, when a signal comes.
//!
//! No test waits a fixed time: runs are endless, and the test ends them as soon as the expected output is there.

use crate::support::{Program, Run, Running, Scratch, peer_too, send};
use rustix::process::Signal;
use serde_json::Value;

/// Two jobs of 100,000 s, 250 I/Os a second each with ferrio; the peer has no simulated device.
fn endless(program: Program) -> &'static str {
    match program {
        Program::Ferrio => {
            "--name=a --ioengine=sim --sim_service=fixed:4ms --size=1g --time_based --runtime=100000 --numjobs=2"
        }
        Program::Peer | Program::OldPeer => {
            "--name=a --ioengine=null --rate_iops=250 --size=1g --time_based --runtime=100000 --numjobs=2"
        }
    }
}

fn programs(test: &str) -> &'static [Program] {
    if peer_too(test) { &[Program::Ferrio, Program::Peer] } else { &[Program::Ferrio] }
}

/// The complete documents of a stream; the last one may still be incomplete. fio writes a line about the signal that
/// ends it between documents.
fn documents(text: &str) -> Vec<Value> {
    let text = text.replace("fio: terminating on signal 2", "");
    let stream = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    stream.map_while(Result::ok).collect()
}

fn job_figure(document: &Value, job: usize, path: &str) -> u64 {
    document["jobs"][job].pointer(path).and_then(Value::as_u64).unwrap_or_else(|| panic!("{path} in {document}"))
}

fn interrupt(running: Running) {
    send(running.pid(), Signal::INT);
    let finished = running.finish();
    assert_eq!(finished.code, Some(128), "{}", finished.all());
}

#[test]
fn reports_at_an_interval() {
    for program in programs("reports_at_an_interval") {
        let scratch = Scratch::new("interval");
        let arguments = format!("{} --status-interval=100ms --output=report --output-format=json", endless(*program));
        let mut running = Run::new(*program, scratch.path(), &arguments).start();
        running.wait_until("five reports", |_| documents(&scratch.read("report")).len() >= 5);
        interrupt(running);
        let documents = documents(&scratch.read("report"));
        let text = scratch.read("report");
        assert_eq!(documents.len(), text.matches("\"fio version\"").count(), "{program:?}: all are whole: {text}");
        for (earlier, later) in documents.iter().zip(&documents[1..]) {
            for job in 0..2 {
                // The runtimes of the peer may go back a little.
                let paths = ["/read/total_ios", "/read/io_bytes", "/elapsed", "/read/runtime", "/job_runtime"];
                for path in &paths[..if *program == Program::Ferrio { 5 } else { 3 }] {
                    let (earlier, later) = (job_figure(earlier, job, path), job_figure(later, job, path));
                    assert!(earlier <= later, "{path}: {earlier}, then {later}");
                }
            }
        }
        let (first, last) = (&documents[0], &documents[documents.len() - 1]);
        for path in ["/read/runtime", "/job_runtime"] {
            let (first, last) = (job_figure(first, 0, path), job_figure(last, 0, path));
            assert!(first < last, "{program:?}: {path} is that of now: {first}, then {last}");
        }
        assert_eq!(job_figure(&documents[0], 0, "/eta"), 2_147_483_647);
        assert!(job_figure(&documents[0], 0, "/elapsed") >= 1);
    }
}

#[test]
fn reports_at_an_interval_in_all_formats() {
    for program in programs("reports_at_an_interval_in_all_formats") {
        let scratch = Scratch::new("formats");
        let format = "--output-format=normal,terse,json";
        let arguments = format!("{} --status-interval=100ms --output=report {format}", endless(*program));
        let mut running = Run::new(*program, scratch.path(), &arguments).start();
        running.wait_until("a report", |_| scratch.read("report").contains("Run status group 0"));
        interrupt(running);
        let report = scratch.read("report");
        let starts = report.lines().filter_map(|line| match line {
            "{" => Some("json"),
            "Run status group 0 (all jobs):" => Some("normal"),
            _ => line.starts_with("3;fio-").then_some("terse"),
        });
        let starts: Vec<_> = starts.collect();
        assert!(starts.len() >= 8, "{report}");
        for report in starts.chunks(4) {
            assert_eq!(report, ["terse", "terse", "json", "normal"]);
        }
    }
}

#[test]
fn a_file_asks_for_a_report() {
    for program in programs("a_file_asks_for_a_report") {
        for variables in [&["TMPDIR"][..], &["TEMP"], &["TMPDIR", "TEMP"]] {
            let scratch = Scratch::new("dump");
            let directory = |name: &str| {
                std::fs::create_dir(scratch.join(name)).expect("a directory");
                scratch.join(name).display().to_string()
            };
            let arguments = format!("{} --output=report", endless(*program));
            let run = Run::new(*program, scratch.path(), &arguments).without_env("TMPDIR").without_env("TEMP");
            let run = variables.iter().fold(run, |run, name| run.env(name, &directory(name)));
            let mut running = run.start();
            running.wait_until("jobs", |running| running.jobs().len() >= 2);
            let file = scratch.join(&format!("{}/fio-dump-status", variables[0]));
            for n_reports in 1..=2 {
                std::fs::write(&file, "").expect("a file");
                running.wait_until("a report", |_| {
                    scratch.read("report").matches("Run status group 0").count() == n_reports
                });
                assert!(!file.exists(), "it is removed before the report");
            }
            interrupt(running);
        }
    }
}

/// Signals that come while a report is being made are answered by it: at least one report follows the last of them. fio 3.41 is not asked:
/// it was seen to make none within a minute.
#[test]
fn signals_that_come_quickly() {
    let scratch = Scratch::new("quickly");
    let arguments = format!("{} --output=report --output-format=json", endless(Program::Ferrio));
    let mut running = Run::new(Program::Ferrio, scratch.path(), &arguments).start();
    running.wait_until("jobs", |running| running.jobs().len() >= 2);
    for _ in 0..3 {
        let n_before = documents(&scratch.read("report")).len();
        for _ in 0..20 {
            send(running.pid(), Signal::USR1);
        }
        running.wait_until("a report", |_| documents(&scratch.read("report")).len() > n_before);
    }
    interrupt(running);
    let report = scratch.read("report");
    let n_documents = documents(&report).len();
    assert_eq!(n_documents, report.matches("\"fio version\"").count(), "all are whole: {report}");
    assert!((4..=61).contains(&n_documents), "{n_documents}");
}

#[test]
fn a_report_in_the_ramp_has_no_figures() {
    // The peer counts some I/Os, in a runtime since the start of the machine.
    let scratch = Scratch::new("ramp");
    let arguments = format!("{} --ramp_time=100000 --output=report --output-format=json", endless(Program::Ferrio));
    let mut running = Run::new(Program::Ferrio, scratch.path(), &arguments).start();
    running.wait_until("jobs", |running| running.jobs().len() >= 2);
    send(running.pid(), Signal::USR1);
    running.wait_until("a report", |_| !documents(&scratch.read("report")).is_empty());
    interrupt(running);
    for document in documents(&scratch.read("report")) {
        for path in ["/read/io_bytes", "/read/runtime", "/read/total_ios", "/read/lat_ns/N"] {
            assert_eq!(job_figure(&document, 0, path), 0, "{path}: {document}");
        }
    }
}

#[test]
fn a_report_while_files_are_laid_out() {
    for create_serialize in [1, 0] {
        let scratch = Scratch::new("layout-report");
        // A file that cannot be written within the time limit of the tests: 1 TiB in blocks of 4 KiB.
        let arguments = format!(
            "--name=a --size=1t --rw=read --fallocate=none --create_serialize={create_serialize} \
             --output=report --output-format=json --status-interval=100ms"
        );
        let mut running = Run::new(Program::Ferrio, scratch.path(), &arguments).start();
        running.wait_until("some of the file", |_| scratch.names().contains(&"a.0.0".to_owned()));
        let n_reports = documents(&scratch.read("report")).len();
        send(running.pid(), Signal::USR1);
        running.wait_until("two reports", |_| documents(&scratch.read("report")).len() >= n_reports + 2);
        interrupt(running);
        for document in documents(&scratch.read("report")) {
            assert_eq!(job_figure(&document, 0, "/job_runtime"), 0);
        }
    }
}

/// A trigger of each kind: a file, and a time, which the jobs of the peer need to have started.
fn triggers(program: Program) -> [&'static str; 2] {
    ["--trigger-file=now", if program == Program::Peer { "--trigger-timeout=4" } else { "--trigger-timeout=1" }]
}

#[test]
fn triggers_end_all_jobs_and_run_a_command() {
    let programs = programs("triggers_end_all_jobs_and_run_a_command");
    // A trigger saves the states of verified jobs; fio 3.41 crashes where a job has none, or has not started yet.
    let cases = programs.iter().flat_map(|program| [(*program, ""), (*program, "--rw=write --verify=crc32c")]);
    for (program, verified) in cases.filter(|(program, verified)| *program == Program::Ferrio || !verified.is_empty()) {
        for trigger in triggers(program) {
            let scratch = Scratch::new("trigger");
            let later =
                if program == Program::Peer { "" } else { "--name=later --stonewall --ioengine=null --size=4k" };
            // Arguments are separated by blanks, and a file with the commands needs none.
            scratch.write("command", "echo out; echo err >&2; echo done > result; exit 3\n");
            // Jobs that touch files, so that it can be seen that they run.
            let writers = "--name=a --size=64k --rw=write --fallocate=none --time_based --runtime=100000 --numjobs=2";
            let arguments = format!("{writers} {verified} {later} {trigger} --trigger=./command");
            let run = Run::new(program, scratch.path(), &arguments);
            let mut running = run.in_shell(r#"chmod +x command; exec "$0" "$@""#).start();
            let has_data = |name: &str| std::fs::metadata(scratch.join(name)).is_ok_and(|data| data.len() == 64 << 10);
            // A time may have come before that; only the jobs of the peer must have started.
            if program == Program::Peer || trigger.contains("file") {
                running.wait_until("data in both files", |running| {
                    running.jobs().len() >= 2 && has_data("a.0.0") && has_data("a.1.0")
                });
            }
            scratch.write("now", "");
            let finished = running.finish();
            let what = finished.all();
            assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), "err\n"), "{what}");
            assert_eq!(scratch.read("result"), "done\n", "{what}");
            assert_eq!(finished.stdout.matches("out\n").count(), 1, "{what}");
            assert_eq!(finished.stdout.matches("err= 0: pid=").count(), 2, "those that ran: {what}");
            assert_eq!(scratch.names().contains(&"now".to_owned()), trigger.contains("timeout"), "{what}");
        }
    }
}

#[test]
fn a_trigger_that_is_there_before_the_jobs() {
    // The jobs of the peer may die of the signal by which it ends them, since they do not expect it yet.
    let scratch = Scratch::new("early-trigger");
    scratch.write("now", "");
    let arguments = format!("{} --trigger-file=now --output-format=json", endless(Program::Ferrio));
    let finished = Run::new(Program::Ferrio, scratch.path(), &arguments).finish().succeeded().quiet();
    assert_eq!(documents(&finished.stdout).len(), 1, "{}", finished.stdout);
    assert!(scratch.names().is_empty());
}

/// A trigger file that appears while files are laid out is removed at once, and triggers.
#[test]
fn a_trigger_while_files_are_laid_out() {
    for create_serialize in [1, 0] {
        let scratch = Scratch::new("layout-trigger");
        // A file that cannot be written within the time limit of the tests: 1 TiB in blocks of 4 KiB.
        let arguments = format!(
            "--name=a --size=1t --rw=read --fallocate=none --create_serialize={create_serialize} --trigger-file=now \
             --trigger=pwd --output=report --output-format=json"
        );
        let mut running = Run::new(Program::Ferrio, scratch.path(), &arguments).start();
        running.wait_until("some of the file", |_| scratch.names().contains(&"a.0.0".to_owned()));
        scratch.write("now", "");
        let finished = running.finish().succeeded();
        assert!(finished.stderr.contains("layout-trigger"), "the command has run: {}", finished.all());
        assert_eq!(documents(&scratch.read("report")).len(), 1, "{}", scratch.read("report"));
        assert_eq!(scratch.names(), ["report"], "the trigger and the file are gone");
    }
}

#[test]
fn the_command_of_a_trigger_writes_nothing_between_documents() {
    let scratch = Scratch::new("json-trigger");
    let arguments = format!("{} --trigger-timeout=1 --trigger=pwd --output-format=json", endless(Program::Ferrio));
    let finished = Run::new(Program::Ferrio, scratch.path(), &arguments).finish().succeeded();
    assert_eq!(documents(&finished.stdout).len(), 1, "{}", finished.stdout);
    assert!(finished.stderr.contains("json-trigger"), "{}", finished.all());
}

#[test]
fn bandwidth_logs_of_all_jobs_together() {
    for program in programs("bandwidth_logs_of_all_jobs_together") {
        let scratch = Scratch::new("aggregate");
        // The peer takes samples when it shows a line, writes them at its end, and takes no prefix.
        let (switches, prefix) = match program {
            Program::Ferrio => ("--bandwidth-log=logs/all --bwavgtime=100", "logs/all"),
            Program::Peer | Program::OldPeer => {
                ("--bandwidth-log --eta=always --eta-interval=250ms --bwavgtime=100", "agg")
            }
        };
        std::fs::create_dir(scratch.join("logs")).expect("a directory");
        let endless = endless(*program);
        let run = Run::new(*program, scratch.path(), &format!("{switches} --rw=rw {endless}"));
        let mut running = run.in_shell(r#"exec "$0" "$@" > shown"#).start();
        running.wait_until("samples while it runs", |_| match program {
            Program::Ferrio => {
                let rows = |file: &str| -> Vec<Vec<u64>> {
                    let text = scratch.read(&format!("logs/all-{file}_bw.log"));
                    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
                    whole.lines().map(numbers).collect()
                };
                let has_moved = |file: &str| rows(file).iter().any(|row| row[1] > 0);
                has_moved("read") && has_moved("write") && rows("trim").len() >= 5
            }
            // The figures of a line are there once the jobs have had some time.
            Program::Peer | Program::OldPeer => scratch.read("shown").matches("[M(2)]").count() >= 4,
        });
        interrupt(running);
        for (direction, file) in ["read", "write", "trim"].into_iter().enumerate() {
            let text = scratch.read(&format!("{prefix}-{file}_bw.log"));
            assert!(text.ends_with('\n'), "{program:?}: whole rows: {text}");
            let rows: Vec<Vec<u64>> = text.lines().map(numbers).collect();
            assert!(rows.len() >= 2, "{program:?} {file}: {text}");
            assert!(rows.windows(2).all(|pair| pair[0][0] < pair[1][0]), "{text}");
            for row in &rows {
                assert_eq!(row[2..], [direction as u64, 0, 0], "{text}");
            }
            assert_eq!(rows.iter().any(|row| row[1] > 0), file != "trim", "{text}");
        }
    }
}

fn numbers(row: &str) -> Vec<u64> {
    row.split(", ").map(|number| number.parse().unwrap_or_else(|_| panic!("{row}"))).collect()
}

#[test]
fn bandwidth_logs_that_cannot_be_opened() {
    for program in programs("bandwidth_logs_that_cannot_be_opened") {
        let scratch = Scratch::new("no-aggregate");
        std::fs::create_dir(scratch.join("agg-write_bw.log")).expect("a directory");
        let arguments = "--bandwidth-log --name=a --ioengine=null --size=4k";
        let finished = Run::new(*program, scratch.path(), arguments).finish();
        // If a requested file cannot be opened, ferrio names it and reports failure; fio says less and exits with 0.
        let (code, line) = match program {
            Program::Ferrio => (1, "fopen log: agg-write_bw.log: Is a directory\n"),
            Program::Peer | Program::OldPeer => (0, "fopen log: Is a directory\n"),
        };
        assert_eq!((finished.code, finished.stderr.as_str()), (Some(code), line), "{}", finished.all());
        assert_eq!(scratch.names(), ["agg-read_bw.log", "agg-trim_bw.log", "agg-write_bw.log"]);
    }
}

/// The lines of the block on the CPUs, with figures as `#`.
fn idleness_block(report: &str) -> Option<Vec<String>> {
    let (_, block) = report.split_once("\nCPU idleness:\n")?;
    let is_figure = |letter: char| letter.is_ascii_digit() || letter == '.';
    let line = |line: &str| {
        let words = line.split(is_figure).filter(|word| !word.is_empty()).collect::<Vec<_>>();
        words.join("#")
    };
    Some(block.lines().map(line).collect())
}

#[test]
fn idleness_of_the_cpus() {
    for program in programs("idleness_of_the_cpus") {
        let n_cpus = std::thread::available_parallelism().map_or(1, usize::from);
        for kind in ["system", "percpu"] {
            let scratch = Scratch::new("idleness");
            let arguments = format!(
                "--name=a --ioengine=null --size=1m --time_based --runtime=1 --idle-prof={kind} \
                 --output-format=normal,json,terse"
            );
            let finished = Run::new(*program, scratch.path(), &arguments).finish().succeeded().quiet();
            let what = finished.all();
            let percpu = format!("  percpu: {}", vec!["%"; n_cpus].join(", "));
            let expected = ["  system: %", &percpu, "  unit work: mean=#us, stddev="];
            let expected = if kind == "system" { [expected[0], expected[2]].to_vec() } else { expected.to_vec() };
            let block = idleness_block(&finished.stdout).unwrap_or_else(|| panic!("no block: {what}"));
            assert_eq!(block.iter().map(|line| line.replace(" #%", " %")).collect::<Vec<_>>(), expected, "{what}");
            assert!(finished.stdout.find("Run status group").lt(&finished.stdout.find("CPU idleness")), "{what}");
            let document = documents(&finished.stdout[finished.stdout.find("\n{").expect("a document")..]).remove(0);
            let idleness = document["cpu_idleness"].as_object().unwrap_or_else(|| panic!("no object: {what}"));
            let mut keys = vec!["system".to_owned(), "unit_mean".to_owned(), "unit_stddev".to_owned()];
            if kind == "percpu" {
                keys.extend((0..n_cpus).map(|cpu| format!("cpu-{cpu}")));
            }
            assert_eq!(idleness.len(), keys.len(), "{what}");
            for key in keys {
                assert!(idleness[&key].is_f64(), "{key}: {what}");
                // The peer shows more where something else ran while it calibrated itself.
                let highest = if *program == Program::Ferrio { 100.0 } else { f64::MAX };
                assert!((0.0..=highest).contains(&idleness[&key].as_f64().unwrap_or(-1.0)), "{key}: {what}");
            }
        }
    }
}

#[test]
fn idleness_while_the_run_goes_on() {
    // The peer shows figures beyond all bounds, or dies.
    let scratch = Scratch::new("idle-now");
    let switches = "--idle-prof=percpu --status-interval=100ms --output=report --output-format=json";
    let arguments = format!("{} {switches}", endless(Program::Ferrio));
    let mut running = Run::new(Program::Ferrio, scratch.path(), &arguments).start();
    running.wait_until("two reports", |_| documents(&scratch.read("report")).len() >= 2);
    interrupt(running);
    for document in documents(&scratch.read("report")) {
        let system = document["cpu_idleness"]["system"].as_f64().expect("a figure");
        assert!((0.0..=100.0).contains(&system), "{document}");
    }
}

#[test]
fn the_unit_of_idleness_alone() {
    for program in programs("the_unit_of_idleness_alone") {
        let scratch = Scratch::new("calibrate");
        // Words after the switch are not even parsed.
        for more in ["", "--size=4k", "--bogus --name=a", "--output=x"] {
            let arguments = format!("--idle-prof=calibrate {more}");
            let finished = Run::new(*program, scratch.path(), &arguments).finish().succeeded().quiet();
            assert_eq!(finished.stdout.lines().next(), Some("CPU idleness:"), "{}", finished.all());
            let lines = idleness_block(&format!("\n{}", finished.stdout));
            assert_eq!(lines, Some(vec!["  unit work: mean=#us, stddev=".to_owned()]), "{}", finished.all());
            assert!(scratch.names().is_empty());
        }
    }
}

/// True if the progress line shows `jobs`, alone or followed by more about them.
fn shows_jobs(line: &str, jobs: &str) -> bool {
    let line = line.rsplit('\n').next().unwrap_or_default().trim_end();
    line.strip_prefix(jobs).is_some_and(|more| more.is_empty() || more.starts_with(": "))
}

/// `--eta=always`: the run writes progress lines even if its output is no terminal.
#[test]
fn progress_lines() {
    let job = "--name=a --ioengine=null --size=64k --time_based --runtime=100000 --eta-interval=250ms --eta=always";
    for program in programs("progress_lines") {
        for (more, jobs) in
            [("", "Jobs: 1 (f=1)"), ("--ramp_time=100000", "Jobs: 1 (f=0)"), ("--startdelay=100000", "Jobs: 0 (f=0)")]
        {
            let scratch = Scratch::new("progress");
            let run = Run::new(*program, scratch.path(), &format!("{job} {more}"));
            let mut running = run.in_shell(r#"exec "$0" "$@" > shown"#).start();
            running.wait_until(jobs, |_| {
                scratch.read("shown").split_inclusive('\r').any(|line| line.ends_with('\r') && shows_jobs(line, jobs))
            });
            interrupt(running);
        }
    }
}

/// `--eta=never`: there are no progress lines, however long the run takes.
#[test]
fn no_progress_lines() {
    let job = "--name=a --ioengine=null --size=64k --time_based --runtime=1 --eta-interval=250ms";
    for program in programs("no_progress_lines") {
        for switches in ["--eta=auto", "--eta=never", "--eta=always --output-format=terse"] {
            let scratch = Scratch::new("no-progress");
            let finished = Run::new(*program, scratch.path(), &format!("{job} {switches}")).finish().succeeded();
            assert!(!finished.stdout.contains('\r'), "{}", finished.all());
        }
    }
}

/// Switches with bad values and their error lines; nothing runs.
const REFUSED: &[(&str, &str)] = &[
    ("--status-interval=0", "fio: status interval too small\n"),
    ("--status-interval=999us", "fio: status interval too small\n"),
    ("--status-interval=soon", "fio: failed parsing time soon\n"),
    ("--trigger-timeout=soon", "fio: failed parsing time soon\n"),
    ("--idle-prof=all", "fio: incorrect idle-prof option: all\n"),
    ("--idle-prof=", "fio: incorrect idle-prof option: \n"),
    ("--eta-interval=soon", "fio: failed parsing eta interval soon\n"),
    ("--eta-interval=100ms", "fio: eta interval time too short (250msec min)\n"),
    ("--eta-newline=0", "fio: eta new line time too short\n"),
    ("--eta-newline=500us", "fio: eta new line time too short\n"),
];

#[test]
fn bad_values_are_refused() {
    for program in programs("bad_values_are_refused") {
        for (switch, expected) in REFUSED {
            let scratch = Scratch::new("bad-control");
            let finished =
                Run::new(*program, scratch.path(), &format!("{switch} --name=a --ioengine=null --size=4k")).finish();
            let what = finished.all();
            assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""), "{what}");
            assert_eq!(finished.stderr, *expected, "{what}");
        }
    }
}
