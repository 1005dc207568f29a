//! Jobs that share I/Os (`flow`), that keep to a latency (`max_latency`, `latency_target`), and that end when they are
//! steady: results that do not depend on time, compared with fio. Exact figures are tested on virtual time (`run`).
//!
//! Start reading at [`shares_are_those_of_the_weights`].

use crate::support::{Finished, Program, Run, Scratch, has_peer, has_programs};
use serde_json::Value;

const PROGRAMS: [Program; 2] = [Program::Ferrio, Program::Peer];

fn finish(program: Program, scratch: &Scratch, arguments: &str) -> (Finished, Value) {
    let arguments = format!("{arguments} --output-format=normal,json --output=out");
    let finished = Run::new(program, scratch.path(), &arguments).recorded("limits", &["out"]).finish();
    let text = scratch.read("out");
    let end = text.find("\n}\n").map_or(0, |end| end + 3);
    let start = text.find("{\n").unwrap_or(0).min(end);
    let document = serde_json::from_str(&text[start..end]);
    (finished.clone(), document.unwrap_or_else(|error| panic!("{error}: {text}: {}", finished.all())))
}

/// One of two jobs has three times the weight of the other. Counts the reads of the other until the last read of the
/// first, in the order of the system calls; so speed does not matter, nor how long the other job runs alone afterwards.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn shares_are_those_of_the_weights() {
    let test = "shares_are_those_of_the_weights";
    if !has_peer(test) || !has_programs(test, &["strace"]) {
        return;
    }
    for (program, thread) in PROGRAMS.into_iter().flat_map(|program| [(program, ""), (program, "--thread")]) {
        let scratch = Scratch::new("shares");
        for file in ["first", "other"] {
            scratch.write(file, vec![0; 3 << 20]);
        }
        let strace = format!("strace -f -y -s 0 -e trace=pread64 -o {}", scratch.join("calls").display());
        let arguments = format!(
            "{thread} --name=a --ioengine=psync --size=3m --filename=first --number_ios=600 --flow_id=4 --flow=3 \
             --name=b --ioengine=psync --size=3m --filename=other --number_ios=600 --flow_id=4 --flow=1"
        );
        Run::new(program, scratch.path(), &arguments).under(&strace).finish().succeeded();
        let shown = scratch.read("calls");
        let calls: Vec<bool> = shown
            .lines()
            .filter(|line| line.contains("pread64("))
            .filter_map(|line| {
                [("/first>", true), ("/other>", false)].into_iter().find(|(file, _)| line.contains(file))
            })
            .map(|(_, is_first)| is_first)
            .collect();
        let until_then = calls.iter().rposition(|is_first| *is_first).map_or(&[][..], |last| &calls[..=last]);
        let n_of = |first: bool| until_then.iter().filter(|is_first| **is_first == first).count();
        assert_eq!((n_of(true), calls.len()), (600, 1_200), "{program:?} {thread}");
        assert!((180..=220).contains(&n_of(false)), "{program:?} {thread}: {} of 200", n_of(false));
    }
}

/// Jobs with flows that do not limit each other: a single job, different flows, no weight.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn whoever_shares_gets_to_the_end() {
    if !has_peer("whoever_shares_gets_to_the_end") {
        return;
    }
    let fixed = "--ioengine=null --size=400k";
    for options in [
        format!("--name=a {fixed} --flow=1"),
        format!("--name=a {fixed} --flow=1 --flow_id=1 --name=b {fixed} --flow=100 --flow_id=2"),
        format!("--name=a {fixed} --flow=8 --name=b {fixed} --flow=1 --number_ios=3 --name=c {fixed}"),
        format!("--name=a {fixed} --flow=3 --flow_sleep=20 --numjobs=3 --flow_id=9"),
    ] {
        let counts = PROGRAMS.map(|program| {
            let (finished, document) = finish(program, &Scratch::new("flows"), &options);
            finished.succeeded();
            let jobs = document["jobs"].as_array().cloned().unwrap_or_default();
            jobs.iter().map(|job| job["read"]["total_ios"].as_u64()).collect::<Vec<_>>()
        });
        assert!(!counts[0].is_empty());
        assert_eq!(counts[0], counts[1], "{options}");
    }
}

/// The first line that begins so.
fn line(text: &str, start: &str) -> Option<String> {
    text.lines().map(str::trim).find(|line| line.starts_with(start)).map(str::to_owned)
}

/// The complaint without the measured latency.
fn complaint(finished: &Finished) -> String {
    let text = finished.stderr.trim();
    match text.strip_prefix("fio: latency of ").and_then(|rest| rest.split_once(' ')) {
        Some((_, rest)) => rest.to_owned(),
        None => text.to_owned(),
    }
}

/// A read of a mebibyte of zeroes takes more than 1 us on every machine, and less than 100 s.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn latencies_are_limited_as_by_the_peer() {
    if !has_peer("latencies_are_limited_as_by_the_peer") {
        return;
    }
    let zero = "--name=a --ioengine=psync --filename=/dev/zero --bs=1m --size=64m";
    let queued = "--name=a --ioengine=libaio --filename=f --bs=1m --size=4m --time_based --runtime=20 --iodepth=8";
    for (options, code) in [
        (format!("{zero} --max_latency=1"), 1),
        (format!("{zero} --max_latency=1us"), 1),
        (format!("{zero} --max_latency=100s"), 0),
        (format!("{zero} --max_latency=100s,1"), 0),
        (format!("{zero} --max_latency=1 --disable_lat=1"), 0),
        (format!("{zero} --max_latency=1 --gtod_reduce=1"), 0),
        (format!("{zero} --max_latency=1 --continue_on_error=all"), 1),
        (format!("{zero} --latency_target=1 --latency_window=1ms"), 1),
        (format!("{zero} --latency_target=100s --latency_window=1ms --time_based --runtime=20"), 0),
        (format!("{zero} --latency_percentile=50"), 0),
        (format!("{queued} --latency_target=1 --latency_window=10ms"), 1),
        (format!("{queued} --latency_target=100s --latency_window=5ms"), 0),
        (format!("{queued} --latency_target=1 --latency_window=10ms --latency_percentile=50"), 0),
    ] {
        let ends = PROGRAMS.map(|program| {
            let scratch = Scratch::new("latencies");
            scratch.write("f", vec![0; 4 << 20]);
            let (finished, document) = finish(program, &scratch, &options);
            let job = &document["jobs"][0];
            let keys = ["error", "latency_depth", "latency_target", "latency_percentile", "latency_window"];
            let mut figures = keys.map(|key| job[key].as_f64());
            let n_ios = job["read"]["total_ios"].as_u64().filter(|_| code == 1 && !options.contains("libaio"));
            // The versions format the time before it differently.
            let shown = line(&scratch.read("out"), "latency   :");
            let mut shown = shown.and_then(|line| Some(line.split_once("percentile=")?.1.to_owned()));
            if options.contains("iodepth=8 --latency_target=100s") {
                // The result of fio's search depends on the load of the machine.
                assert!(program == Program::Peer || figures[1] == Some(8.0), "{figures:?}");
                (figures[1], shown) = (None, None);
            }
            (finished.code, complaint(&finished), figures, n_ios, shown)
        });
        assert_eq!(ends[0].0, Some(code), "{options}: {:?}", ends[0]);
        assert_eq!(ends[0], ends[1], "{options}");
    }
}

/// The line of a report with one mark for each figure.
fn without_figures(line: &str) -> String {
    let mut out = String::new();
    for part in line.split_inclusive([' ', ',', '=', '(', ')']) {
        let word = part.trim_end_matches([' ', ',', '=', '(', ')']);
        let is_figure = word.starts_with(|symbol: char| symbol.is_ascii_digit() || symbol == '-');
        out.push_str(if is_figure { "N" } else { word });
        out.push_str(&part[word.len()..]);
    }
    out
}

/// Names of all members, and the values that do not depend on measurements.
fn steady_state(document: &Value) -> (Vec<String>, [Value; 3], Vec<String>, [usize; 2]) {
    let state = &document["jobs"][0]["steadystate"];
    let names = |of: &Value| of.as_object().map(|object| object.keys().cloned().collect()).unwrap_or_default();
    let len = |name: &str| state["data"][name].as_array().map_or(0, Vec::len);
    let fixed = ["ss", "duration", "attained"].map(|name| state[name].clone());
    (names(state), fixed, names(&state["data"]), [len("iops"), len("bw")])
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn searches_for_a_steady_state_end_as_under_the_peer() {
    if !has_peer("searches_for_a_steady_state_end_as_under_the_peer") {
        return;
    }
    // No two values are further from their mean than that.
    let steady = ["iops:1000%", "iops_slope:1000%", "bw:1000%", "bw_slope:1000%", "iops:1000000", "bw:1000000000"];
    let fixed = "--name=a --ioengine=null --size=1m --time_based --rate_iops=1000 --runtime=20 --ss_dur=2";
    let mut cases: Vec<String> = steady.iter().map(|criterion| format!("{fixed} --steadystate={criterion}")).collect();
    cases.push(format!("{fixed} --ss=iops:1000% --numjobs=2 --group_reporting"));
    cases.push(format!("{fixed} --ss=iops:1000% --ss_ramp=1 --thread"));
    // The job is over before its window is full.
    cases.push(format!("{fixed} --ss=iops:1000% --runtime=1"));
    cases.push(format!("{fixed} --ss=bw_slope:1% --ss_dur=5 --runtime=1"));
    // Without a window there is no search for a steady state.
    cases.push("--name=a --ioengine=null --size=1m --ss=iops:1%".to_owned());
    let compared = |case: &String| {
        let ends = PROGRAMS.map(|program| {
            let scratch = Scratch::new("steady");
            let (finished, document) = finish(program, &scratch, case);
            let shown = line(&scratch.read("out"), "steadystate").map(|line| without_figures(&line));
            (finished.code, finished.stderr, steady_state(&document), shown)
        });
        assert_eq!(ends[0].0, Some(0), "{case}: {:?}", ends[0]);
        assert_eq!(ends[0], ends[1], "{case}");
    };
    // Runs spend most of their time asleep, so all run at once.
    std::thread::scope(|scope| cases.iter().for_each(|case| drop(scope.spawn(|| compared(case)))));
}

/// The standard library aborts a process that has no memory for the stack of its signal handlers: that is before `main`.
fn ended_before_main(finished: &Finished) -> bool {
    finished.stderr.contains("thread 'main'") && finished.stderr.contains("failed to allocate an alternative stack")
}

/// Where the memory does not suffice for another thread, the job ends with an error: without a panic, and without a wait.
#[test]
fn a_thread_that_cannot_be_started_is_an_error() {
    let mut n_told = 0;
    for kib in (20_000..=120_000).step_by(10_000) {
        let scratch = Scratch::new("a_thread_that_cannot_be_started_is_an_error");
        for command in ["", "run"] {
            let job = format!("{command} --name=j --size=64k --filename=f --rw=write");
            let run = Run::new(Program::Ferrio, scratch.path(), &job);
            let finished = run.in_shell(&format!("ulimit -v {kib}; exec \"$0\" \"$@\"")).finish();
            if ended_before_main(&finished) {
                continue;
            }
            assert!(!finished.stderr.contains("panicked"), "{kib} KiB: {}", finished.all());
            let is_told = finished.stderr.contains("start thread");
            n_told += u32::from(is_told);
            // Without the thread for signals there is no run, which is 2 for a native command; without that of the layout the job fails.
            let code = if finished.stderr.starts_with("ferrio run: start thread") { 2 } else { 1 };
            assert!(!is_told || finished.code == Some(code), "{kib} KiB: {}", finished.all());
        }
    }
    assert!(n_told > 0, "at no limit was there too little memory for a thread");
}

/// The thread that merges traces has a stack of 48 MiB. So the limits, which grow in smaller steps, meet one that has room for the program and not for it.
#[test]
fn traces_without_room_to_merge_them_are_refused() {
    let scratch = Scratch::new("no-room-to-merge");
    let trace = crate::traces::trace(&[crate::traces::Event::new(1, 1_000, crate::traces::READ)]);
    for name in ["a", "b"] {
        scratch.write(name, &trace);
    }
    let mut n_told = 0;
    for kib in (30_000..).step_by(8_000).take_while(|kib| *kib < 200_000) {
        for command in ["", "run"] {
            let job = "--name=j --ioengine=null --replay_redirect=f --read_iolog=a:b --merge_blktrace_file=m";
            let run = Run::new(Program::Ferrio, scratch.path(), &format!("{command} {job}"));
            let finished = run.in_shell(&format!("ulimit -v {kib}; exec \"$0\" \"$@\"")).finish();
            let what = format!("{kib} KiB: {}", finished.all());
            assert_ne!(finished.code, Some(0), "{what}");
            if ended_before_main(&finished) {
                continue;
            }
            assert!(!finished.stderr.contains("panicked") && !finished.stderr.contains("NoThread"), "{what}");
            let prefix = if command.is_empty() { "fio: " } else { "ferrio run: " };
            let line = format!("{prefix}j: the thread that merges its traces can't be started: ");
            n_told += u32::from(finished.stderr.contains(&line));
            assert!(!scratch.join("m").exists(), "{what}");
        }
        if n_told >= 2 {
            break;
        }
    }
    assert!(n_told >= 2, "at no limit did the program start without the thread");
}
