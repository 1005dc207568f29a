//! `ferrio sweep` and `ferrio run --repeat`: many runs, each kept, ended at any moment and gone on with.
//!
//! Start reading at [`each_point_has_its_run_and_its_row`].

use crate::support::{Finished, Program, Run, Scratch, send};
use rustix::process::Signal;
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime};

/// A simulated device with one channel that takes 1 ms: 1,000 I/Os a second at any depth, with a latency of 1 ms times the depth.
const JOB: &str = "--name=s --ioengine=sim --sim_time=virtual --sim_service=fixed:1ms --rw=randread --size=1g --number_ios=60 --bs=4k";

/// The same with times that differ by a tenth, so that runs differ.
const UNEVEN: &str = "--name=s --ioengine=sim --sim_time=virtual --sim_service=uniform:900us-1100us --rw=randread --size=1g --number_ios=60 --bs=4k";

/// Runs ferrio where a test has its files.
pub(crate) fn run(scratch: &Scratch, arguments: &str) -> Finished {
    Run::new(Program::Ferrio, scratch.path(), arguments).finish()
}

/// What a command has printed as JSON.
pub(crate) fn outcome(finished: &Finished) -> Value {
    serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("{error}: {}", finished.all()))
}

/// A figure of a point.
fn mean(point: &Value, metric: &str) -> f64 {
    let figures = point["figures"].as_array().cloned().unwrap_or_default();
    let found = figures.iter().find(|figure| figure["metric"] == metric).and_then(|figure| figure["mean"].as_f64());
    found.unwrap_or_else(|| panic!("no {metric}: {point:#}"))
}

#[test]
fn each_point_has_its_run_and_its_row() {
    let scratch = Scratch::new("sweep");
    let finished = run(&scratch, &format!("sweep {JOB} --over bs=4k,64k --over iodepth=1..4 --json")).succeeded();
    let document = outcome(&finished);
    let points = document["points"].as_array().cloned().unwrap_or_default();
    let options: Vec<String> = points.iter().map(|point| point["options"].to_string()).collect();
    assert_eq!(options.len(), 6, "{options:?}");
    assert_eq!(options[1], r#"{"bs":"4k","iodepth":"2"}"#);
    for (point, depth) in points.iter().zip([1.0, 2.0, 4.0, 1.0, 2.0, 4.0]) {
        let (iops, latency_ns) = (mean(point, "iops"), mean(point, "p50"));
        // The device is never faster than its service time.
        assert!(iops < 1_010.0, "{iops}");
        assert!(latency_ns > depth * 0.98e6, "{latency_ns} at depth {depth}");
    }
    let ratio = mean(&points[3], "bw") / mean(&points[3], "iops");
    assert!((ratio - 65_536.0).abs() < 1.0, "{ratio}");
    // Everything is in the folder, and each record is a result like any other.
    let csv = scratch.read("s.sweep/points.csv");
    assert_eq!(csv.lines().count(), 7, "{csv}");
    assert!(csv.starts_with("point,runs,failed,bs,iodepth,job,of,iops,iops_low,"), "{csv}");
    assert!(scratch.read("s.sweep/index.html").contains("IOPS by bs and iodepth"));
    run(&scratch, "report s.sweep/runs/point-00004-run-001.record").succeeded();
    let shown = run(&scratch, "sweep --show s.sweep").succeeded();
    let is_row = |line: &&str| line.starts_with(|first: char| first.is_ascii_digit()) && line.contains(" read ");
    let rows: Vec<&str> = shown.stdout.lines().filter(is_row).collect();
    assert_eq!(rows.len(), 6, "{}", shown.all());
    assert!(rows[4].starts_with("5  64k  2        read  "), "{}", rows[4]);
}

#[test]
fn options_change_together_and_points_are_left_out() {
    let scratch = Scratch::new("sweep");
    let plan = |arguments: &str| run(&scratch, &format!("sweep --plan {JOB} {arguments}")).succeeded().stdout;
    let text = plan("--over bs:iodepth=4k:8,1m:2 --over rw=randread,randwrite --order given");
    assert!(
        text.starts_with("4 runs at 4 points, in the order of the values, for a time that the jobs do not limit"),
        "{text}"
    );
    assert!(text.contains("\n  bs=1m iodepth=2 rw=randwrite\n"), "{text}");
    let text = plan("--over bs=4k,1m --over iodepth=1..64 --where=bs*iodepth<=4m --repeat=3 --runtime=10 --rest=5s");
    // 7 and 3 depths, 10 s each, and 29 rests.
    assert!(text.starts_with("30 runs at 10 points, in a random order, at most 7 min 25 s and "), "{text}");
    let text = plan("--over iodepth=1..8 --repeat=2 --open-loop");
    assert!(text.ends_with("Then 20 runs in an open loop, at shares of the rate of the fastest point.\n"), "{text}");
    assert_eq!(scratch.names(), Vec::<String>::new());
}

#[test]
fn what_cannot_be_swept_is_refused_before_the_first_run() {
    let scratch = Scratch::new("sweep");
    scratch.write("job.fio", "[a]\nioengine=null\nsize=1m\nrw=read\n[b]\nioengine=null\nsize=1m\nrw=read\n");
    for (arguments, reason) in [
        (JOB.to_owned(), "there is no parameter"),
        ("--over bs=4k,8k".to_owned(), "there are no jobs"),
        (format!("{JOB} --over bs"), "has no values"),
        (format!("{JOB} --over bs=4k.."), "4k.. is no range: it has no end"),
        ("none.fio --over bs=4k,8k".to_owned(), "unable to open 'none.fio' job file: No such file or directory"),
        (format!("{JOB} --over iodpeth=1,2"), "did you mean iodepth?"),
        (format!("{JOB} --over iodepth=1,many"), "iodepth=many"),
        (format!("{JOB} --over bs=4k,8k --over blocksize=4k"), "sets bs twice, as bs and as blocksize"),
        (format!("{JOB} --over bs:blocksize=4k:8k"), "sets bs twice, as bs and as blocksize"),
        (format!("{JOB} --over bs=4k --over bs=8k"), "sets bs twice"),
        ("job.fio --over bs=4k,8k --over a.blocksize=4k".to_owned(), "sets bs twice, as bs and as a.blocksize"),
        ("job.fio --over a.bs=4k --over a.blocksize=8k".to_owned(), "sets bs twice, as a.bs and as a.blocksize"),
        (format!("{JOB} --over bs=4k --where=size<4k"), "that the sweep sets"),
        (format!("{JOB} --over bs=4k --where=bs>1m"), "leave no point"),
        (format!("{JOB} --over bs=4k --repeat=0"), "no number from 1"),
        (format!("{JOB} --over bs=4k --rest=soon"), "no time"),
        (format!("{JOB} --over bs=4k --until=speed±2%"), "is no figure"),
        (format!("{JOB} --over bs=4k --until=iops±2% --repeat=2"), "at least 6 runs"),
        (format!("{JOB} --over iodepth=1..8 --max p99=2ms --repeat=2"), "at least 3 runs at a value"),
        (format!("{JOB} --over bs=4k --first=none.fio"), "none.fio"),
        (format!("{JOB} --over bs=4k --record=r"), "--record has no effect in a sweep"),
        ("job.fio --over c.bs=4k,8k".to_owned(), "no job is called c"),
        ("job.fio --over zonemode=strided".to_owned(), "zonesize"),
        (format!("{JOB} --over iodepth=1..4 --open-loop"), "at least four"),
        (format!("{JOB} --over iodepth=1..8 --rate_iops=10 --open-loop"), "have a rate (rate_iops)"),
        (format!("{JOB} --over numjobs=1..8 --open-loop"), "group_reporting"),
        (format!("{JOB} --over bs=4k..64k --knee"), "--knee needs a parameter"),
        (format!("{JOB} --over iodepth=1..8 --max=p99=2ms --open-loop"), "leave out one of them"),
        ("--resume=none".to_owned(), "holds no sweep"),
        (format!("--resume=none {JOB}"), "has no effect"),
    ] {
        let refused = run(&scratch, &format!("sweep {arguments}"));
        assert_eq!(refused.code, Some(2), "{arguments}: {}", refused.all());
        assert!(refused.stderr.contains(reason), "{arguments}: {}", refused.all());
        assert_eq!(scratch.names(), ["job.fio"], "{arguments}");
    }
}

/// A run whose state is in the scratch directory.
pub(crate) fn with_history(scratch: &Scratch, arguments: &str) -> Finished {
    let run = Run::new(Program::Ferrio, scratch.path(), arguments).without_env("FERRIO_STATE");
    run.env("XDG_STATE_HOME", &scratch.join("state").display().to_string()).finish()
}

/// The kept runs of a name with their commands, in their order.
pub(crate) fn kept(scratch: &Scratch) -> Vec<(String, Vec<String>)> {
    let exported = with_history(scratch, "history export --json").succeeded();
    let mut runs = outcome(&exported)["runs"].as_array().cloned().unwrap_or_default();
    runs.sort_by_key(|run| run["run"].as_i64());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let words = |run: &Value| run["command_line"].as_array().into_iter().flatten().map(text).collect();
    runs.iter().map(|run| (text(&run["name"]), words(run))).collect()
}

#[test]
fn each_run_of_a_sweep_is_kept_once() {
    let scratch = Scratch::new("sweep-keep");
    let sweep = format!("sweep {JOB} --over bs=4k,8k --over iodepth=1,2 --order given");
    let made = with_history(&scratch, &format!("{sweep} --keep")).succeeded();
    assert!(made.stderr.contains("ferrio sweep: 4 runs kept, from 1 to 4\n"), "{}", made.all());
    let runs = kept(&scratch);
    let names: Vec<&str> = runs.iter().map(|(name, _)| name.as_str()).collect();
    let of_points = ["bs=4k iodepth=1", "bs=4k iodepth=2", "bs=8k iodepth=1", "bs=8k iodepth=2"];
    assert_eq!(names, of_points.map(|point| format!("s.sweep {point}")));
    assert_eq!(runs[2].1[runs[2].1.len() - 4..], ["--over", "bs=8k", "--over", "iodepth=1"]);
    // Those that are missing are made, and the others are kept already.
    std::fs::remove_file(scratch.join("s.sweep/runs/point-00003-run-001.record")).expect("removed");
    let gone_on = with_history(&scratch, "sweep --resume s.sweep --keep").succeeded();
    assert!(gone_on.stderr.contains("kept as 5\n"), "{}", gone_on.all());
    let again = with_history(&scratch, "sweep --resume s.sweep --keep").succeeded();
    assert!(again.stderr.contains("no other run to keep\n"), "{}", again.all());
    assert_eq!(kept(&scratch).len(), 5);
    let listed = |name: &str| {
        let list = with_history(&scratch, &format!("history list --name={name}")).succeeded().stdout;
        list.lines().filter(|line| line.contains("read")).count()
    };
    assert_eq!((listed("s.sweep"), listed("s"), listed("other")), (5, 0, 0));
    let compared = with_history(&scratch, "compare history:1 history:3 --json").succeeded();
    assert!(compared.stdout.contains("iops"), "{}", compared.all());
    // Without --keep nothing is kept, and what is only shown is not.
    with_history(&scratch, &format!("{sweep} --folder=other")).succeeded();
    assert_eq!(with_history(&scratch, "sweep --show other --keep").code, Some(2));
    assert_eq!(kept(&scratch).len(), 5);
}

#[test]
fn repeats_are_kept_by_one_name() {
    let scratch = Scratch::new("repeat-keep");
    with_history(&scratch, &format!("run {JOB} --repeat=2 --keep")).succeeded();
    let nightly = with_history(&scratch, &format!("run {JOB} --repeat=3 --keep=nightly")).succeeded();
    assert!(nightly.stderr.ends_with("\nferrio run: 3 runs kept, from 3 to 5\n"), "{}", nightly.all());
    let names: Vec<String> = kept(&scratch).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["", "", "nightly", "nightly", "nightly"]);
    let refused = with_history(&scratch, &format!("run {JOB} --repeat=3 --keep=12"));
    assert_eq!((refused.code, kept(&scratch).len()), (Some(2), 5), "{}", refused.all());
}

/// Each run of a sweep that is killed again and again is made once.
#[test]
fn a_sweep_that_was_killed_goes_on_without_a_lost_or_repeated_run() {
    let scratch = Scratch::new("sweep");
    let begin = format!("sweep {JOB} --over iodepth=1..8 --repeat=3 --folder=f");
    let mut arguments = begin.as_str();
    let n_made =
        || std::fs::read_dir(scratch.join("f/runs")).map_or(0, |runs| runs.flatten().filter(is_record).count());
    let mut made_before = 0;
    while made_before < 10 {
        let mut running = Run::new(Program::Ferrio, scratch.path(), arguments).start();
        running.wait_until("another run is kept", |_| n_made() > made_before);
        let kept =
            std::fs::metadata(scratch.join("f/runs/point-00001-run-001.record")).and_then(|facts| facts.modified());
        send(running.pid(), Signal::KILL);
        running.finish();
        made_before = n_made();
        let same =
            std::fs::metadata(scratch.join("f/runs/point-00001-run-001.record")).and_then(|facts| facts.modified());
        assert!(kept.is_err() || kept.ok() == same.ok(), "a record was made again");
        arguments = "sweep --resume=f";
    }
    // Ended by a signal, it says how it goes on.
    let mut running = Run::new(Program::Ferrio, scratch.path(), arguments).start();
    running.wait_until("another run is kept", |_| n_made() > made_before);
    send(running.pid(), Signal::INT);
    let ended = running.finish();
    if n_made() < 12 {
        assert_eq!(ended.code, Some(130), "{}", ended.all());
        assert!(ended.stderr.contains("go on: ferrio sweep --resume "), "{}", ended.all());
    }
    let finished = run(&scratch, "sweep --resume=f --json").succeeded();
    let document = outcome(&finished);
    let runs: Vec<u64> =
        document["points"].as_array().into_iter().flatten().filter_map(|point| point["n_runs"].as_u64()).collect();
    assert_eq!((runs, n_made(), document["n_missing"].as_u64()), (vec![3; 4], 12, Some(0)));
    assert!(std::fs::read_dir(scratch.join("f/runs")).expect("a folder").flatten().all(|entry| is_record(&entry)));
}

/// The records that are kept, with what tells a record from another one of its name.
fn records(scratch: &Scratch) -> BTreeMap<String, (u64, SystemTime)> {
    let entries = std::fs::read_dir(scratch.join("f/runs")).into_iter().flatten().flatten();
    let fact = |entry: std::fs::DirEntry| {
        let facts = entry.metadata().expect("a record");
        (entry.file_name().to_string_lossy().into_owned(), (facts.ino(), facts.modified().expect("a time")))
    };
    entries.filter(is_record).map(fact).collect()
}

#[test]
#[ignore = "50 kills take half a minute: run by .ci/nightly"]
fn a_sweep_that_was_killed_at_50_random_moments_makes_each_run_once() {
    let scratch = Scratch::new("sweep");
    let begin = format!("sweep {JOB} --over iodepth=1..8 --repeat=60 --folder=f");
    let mut arguments = begin.as_str();
    // A generator of its own, so that the moments are the same each time, as far as the machine lets them.
    let mut state = 4_711_u64;
    let mut before = BTreeMap::new();
    for _ in 0..50 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let running = Run::new(Program::Ferrio, scratch.path(), arguments).start();
        std::thread::sleep(Duration::from_millis(20 + (state >> 33) % 400));
        send(running.pid(), Signal::KILL);
        running.finish();
        let now = records(&scratch);
        assert!(before.iter().all(|(name, fact)| now.get(name) == Some(fact)), "a record was lost or made again");
        before = now;
        if scratch.join("f/plan.json").exists() {
            arguments = "sweep --resume=f";
        } else {
            // It was killed before its plan was whole: nothing is there to go on with.
            let _ = std::fs::remove_dir_all(scratch.join("f"));
        }
    }
    let finished = run(&scratch, "sweep --resume=f --json").succeeded();
    let now = records(&scratch);
    assert!(before.iter().all(|(name, fact)| now.get(name) == Some(fact)), "a record was lost or made again");
    let points = outcome(&finished)["points"].as_array().cloned().unwrap_or_default();
    let runs: Vec<u64> = points.iter().filter_map(|point| point["n_runs"].as_u64()).collect();
    assert_eq!((runs, now.len()), (vec![60; 4], 240));
}

fn is_record(entry: &std::fs::DirEntry) -> bool {
    entry.file_name().to_string_lossy().ends_with(".record")
}

#[test]
fn other_jobs_are_no_part_of_a_sweep() {
    let scratch = Scratch::new("sweep");
    let job = |size: &str| format!("[a]\nioengine=null\nsize={size}\nrw=read\n");
    scratch.write("job.fio", job("1m"));
    run(&scratch, "sweep job.fio --over bs=4k,8k").succeeded();
    std::fs::remove_file(scratch.join("a.sweep/runs/point-00002-run-001.record")).expect("removed");
    scratch.write("job.fio", job("2m"));
    let refused = run(&scratch, "sweep --resume a.sweep");
    assert!(refused.stderr.contains("not those with which the sweep began"), "{}", refused.all());
    scratch.write("job.fio", job("1m"));
    // From another directory, the jobs are found where they were.
    let other = Scratch::new("sweep-other");
    let path = scratch.join("a.sweep").display().to_string();
    run(&other, &format!("sweep --resume {path}")).succeeded();
    let again = run(&scratch, "sweep job.fio --over bs=4k,8k");
    assert!(again.stderr.contains("a.sweep is there already"), "{}", again.all());
}

#[test]
fn jobs_that_fail_are_counted_and_their_figures_not_believed() {
    let scratch = Scratch::new("sweep");
    let job =
        "--name=s --ioengine=sim --sim_time=virtual --rw=randread --size=1g --number_ios=20 --sim_fault=read=EIO@5";
    let failed = run(&scratch, &format!("sweep {job} --over bs=4k,8k --csv"));
    assert_eq!(failed.code, Some(2), "{}", failed.all());
    assert!(failed.stderr.contains("jobs failed in 2 of 2 runs"), "{}", failed.all());
    assert!(failed.stdout.lines().skip(1).all(|row| row.split(',').nth(2) == Some("1")), "{}", failed.stdout);
}

#[test]
fn repeats_tell_how_sure_the_figures_are() {
    let scratch = Scratch::new("repeats");
    let finished = run(&scratch, &format!("run {UNEVEN} --repeat=3 --record=before")).succeeded();
    assert!(finished.stdout.starts_with("3 runs\njob        "), "{}", finished.all());
    let row = finished.stdout.lines().find(|line| line.contains("IOPS")).unwrap_or_default();
    assert_eq!(row.matches('%').count(), 2, "an interval and the spread between runs: {row}");
    let document =
        outcome(&run(&scratch, &format!("run {UNEVEN} --repeat=3 --record=after --iodepth=2 --json")).succeeded());
    let figure = &document["points"][0]["figures"][0];
    assert_eq!(
        (figure["metric"].as_str(), figure["values"].as_array().map(Vec::len)),
        (Some("iops"), Some(3)),
        "{figure}"
    );
    let interval = figure["interval"].as_array().expect("an interval");
    let (low, high) = (interval[0].as_f64().unwrap_or_default(), interval[1].as_f64().unwrap_or_default());
    assert!(low <= figure["mean"].as_f64().unwrap_or_default() && low < high, "{figure}");
    // Folders of repeats are sides of a comparison: depth 2 doubles the latency.
    let compared = run(&scratch, "compare --json before after").succeeded();
    let figures = outcome(&compared)["comparisons"][0]["jobs"][0]["figures"].clone();
    let p50 =
        figures.as_array().into_iter().flatten().find(|figure| figure["metric"] == "p50").cloned().unwrap_or_default();
    assert_eq!((p50["n"].to_string(), p50["verdict"].as_str()), ("[3,3]".to_owned(), Some("slower")), "{p50}");
    let refused = run(&scratch, "compare before repeats-none");
    assert_eq!(refused.code, Some(2), "{}", refused.all());
}

/// The folder for the records of repeats is removed only where it is ferrio's own. `exec` keeps the number of the process.
#[test]
fn a_folder_of_somebody_else_stays() {
    let scratch = Scratch::new("repeats");
    let script = "export TMPDIR=.; mkdir ferrio-repeats-$$ && echo data > ferrio-repeats-$$/file; exec \"$0\" \"$@\"";
    let run = Run::new(Program::Ferrio, scratch.path(), &format!("run {JOB} --repeat=2")).in_shell(script).finish();
    assert!(run.code == Some(2) && run.stderr.contains("is there already"), "{}", run.all());
    let names = scratch.names();
    assert!(names.len() == 1 && scratch.read(&format!("{}/file", names[0])) == "data\n", "{names:?}");
}

#[test]
fn repeats_end_when_a_figure_is_known() {
    let scratch = Scratch::new("repeats");
    let document = outcome(&run(&scratch, &format!("run {UNEVEN} --until=iops±90% --json")).succeeded());
    assert_eq!((document["points"][0]["n_runs"].as_u64(), document["n_missing"].as_u64()), (Some(6), Some(0)));
    assert_eq!(document["points"][0]["is_known"], true);
    // Exit code 3: the runs do not tell what was asked.
    let undecided = |arguments: &str| {
        let finished = run(&scratch, arguments);
        assert_eq!(finished.code, Some(3), "{}", finished.all());
        finished
    };
    let document = outcome(&undecided(&format!("run {UNEVEN} --until=max±0.0001% --repeat=7 --json")));
    let point = &document["points"][0];
    assert!(point["n_runs"] == 7 && point["is_known"] == false, "{document:#}");
    // A figure that the jobs do not have is never known, and ends the runs.
    let text = undecided(&format!("run {UNEVEN} --until=trim.iops±50% --repeat=7")).stdout;
    assert!(text.starts_with("6 runs. The jobs have no figure that is meant by trim.iops±50%.\n"), "{text}");
    let sweep =
        format!("sweep {UNEVEN} --over rw=randread,randwrite --until=write.max±0.0001% --repeat=7 --order=given");
    let text = undecided(&sweep);
    let shown = text.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = "At 1 of 2 points (#1) the jobs have no figure that is meant by write.max±0.0001%. \
                At 1 of 2 points (#2) the runs are not enough for write.max±0.0001%.";
    assert!(shown.contains(told), "{}", text.all());
    let points = &outcome(&undecided("sweep --show s.sweep --json"))["points"];
    assert_eq!((points[0]["n_runs"].as_u64(), points[1]["n_runs"].as_u64()), (Some(6), Some(7)));
    std::fs::remove_dir_all(scratch.join("s.sweep")).expect("removed");
    for (arguments, reason) in [("--repeat=2 --live", "--live is about one run"), ("--until=iops", "it has no ±")] {
        let refused = run(&scratch, &format!("run {UNEVEN} {arguments}"));
        assert!(refused.code == Some(2) && refused.stderr.contains(reason), "{}", refused.all());
    }
    assert_eq!(scratch.names(), Vec::<String>::new());
}

/// The jobs that prepare a run are not among its figures, and a failure of them ends the sweep.
#[test]
fn jobs_before_the_runs_do_not_count() {
    let scratch = Scratch::new("sweep");
    scratch.write("fill.fio", "[fill]\nfilename=data\nsize=1m\nrw=write\nbs=64k\nend_fsync=1\n");
    scratch.write("bad.fio", "[bad]\nioengine=sim\nsize=1m\nrw=write\nsim_fault=write=EIO@1\n");
    let job = "--name=a --filename=data --size=1m --rw=read --allow_file_create=0";
    run(&scratch, &format!("sweep {job} --over bs=4k,8k --first=fill.fio --before-each=fill.fio --json")).succeeded();
    assert!(
        scratch.read("a.sweep/outcome.json").contains("\"read\"")
            && !scratch.read("a.sweep/outcome.json").contains("\"write\"")
    );
    let failed = run(&scratch, &format!("sweep {job} --over bs=4k,8k --first=bad.fio --folder=b"));
    assert!(failed.code == Some(2) && failed.stderr.contains("prepare the runs have failed"), "{}", failed.all());
}

/// A pause between the runs is waited for, and a signal ends it.
#[test]
fn rests_are_between_the_runs() {
    let scratch = Scratch::new("sweep");
    let arguments = format!("sweep {JOB} --over bs=4k,8k --rest=1h --folder=f");
    let mut running = Run::new(Program::Ferrio, scratch.path(), &arguments).start();
    let n_made =
        || std::fs::read_dir(scratch.join("f/runs")).map_or(0, |runs| runs.flatten().filter(is_record).count());
    running.wait_until("the first run is kept", |_| n_made() == 1);
    send(running.pid(), Signal::TERM);
    let ended = running.finish();
    assert_eq!((ended.code, n_made()), (Some(143), 1), "{}", ended.all());
}

/// Four channels of 2 ms: up to four I/Os at once are as fast as one.
#[test]
fn the_knee_of_a_device_is_the_number_of_its_channels() {
    let scratch = Scratch::new("knee");
    let job = "--name=s --ioengine=sim --sim_time=virtual --sim_service=fixed:2ms --sim_channels=4 --rw=randread --size=1g --number_ios=120";
    let knee = || {
        let _ = std::fs::remove_dir_all(scratch.join("s.sweep"));
        let document =
            outcome(&run(&scratch, &format!("sweep {job} --over iodepth=1..32 --repeat=3 --json")).succeeded());
        document["knees"][0].clone()
    };
    let is_right = || {
        let knee = knee();
        knee["value"] == "4" && knee["is_inside"] == true && knee["option"] == "iodepth"
    };
    assert!(crate::support::succeeds_once(is_right), "{}", knee());
    // One short run at each point has no intervals.
    let once = run(&scratch, &format!("sweep {job} --over iodepth=1..8 --knee --folder=once"));
    assert!(once.code == Some(3) && once.stdout.contains("Knee of read of s: not known"), "{}", once.all());
    // As the answer, it stands first. Where there are more channels than I/Os, it is beyond the values.
    let shown = run(&scratch, "sweep --show=s.sweep --knee").succeeded();
    assert!(shown.stdout.starts_with("Knee of read of s: iodepth=4"), "{}", shown.all());
    let wide = "--name=s --ioengine=sim --sim_time=virtual --sim_service=fixed:10ms --sim_channels=64 --rw=randread --size=1g --number_ios=40";
    let has_none = || {
        let _ = std::fs::remove_dir_all(scratch.join("none"));
        run(&scratch, &format!("sweep {wide} --over iodepth=1..8 --knee --folder=none")).code == Some(3)
    };
    assert!(crate::support::succeeds_once(has_none), "{}", scratch.read("none/points.csv"));
}

/// Users who do not wait for each other: the rates are shares of what the closed loop has reached, and the open loop is gone on with like the closed one.
#[test]
fn an_open_loop_stands_beside_the_closed_one() {
    let scratch = Scratch::new("open-loop");
    let arguments = format!("sweep {JOB} --number_ios=30 --over iodepth=1..8 --open-loop --folder=f");
    let shown = run(&scratch, &arguments).succeeded();
    let head = "Open loop at iodepth=";
    let is_row = |line: &&str| line.split_whitespace().skip(1).take(2).eq(["%", "read"]);
    let rows: Vec<&str> = shown.stdout.lines().filter(is_row).collect();
    assert!(shown.stdout.contains(head) && rows.len() == 10, "{}", shown.all());
    let removed = scratch.join("f/open-loop/runs/point-00003-run-001.record");
    std::fs::remove_file(&removed).expect("a record");
    let kept = |number: u32| {
        std::fs::metadata(scratch.join(&format!("f/open-loop/runs/point-{number:05}-run-001.record")))
            .map(|facts| facts.ino())
    };
    let before = kept(4).expect("a record");
    let document = outcome(&run(&scratch, "sweep --resume=f --json").succeeded());
    assert_eq!((kept(4).ok(), kept(3).is_ok()), (Some(before), true));
    let points = document["points"].as_array().cloned().unwrap_or_default();
    let fastest = points.iter().map(|point| mean(point, "iops")).fold(0.0, f64::max);
    let open = document["open_loop"]["points"].as_array().cloned().unwrap_or_default();
    assert_eq!(open.len(), 10, "{document:#}");
    for (point, share) in open.iter().zip([10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0]) {
        let options = &point["options"];
        let rate: f64 = options["rate_iops"].as_str().and_then(|rate| rate.parse().ok()).expect("a rate");
        assert!((rate - fastest * share / 100.0).abs() <= 1.0, "{rate} is not {share} % of {fastest}");
        assert_eq!(
            (options["rate_process"].as_str(), options["rate_latency"].as_str()),
            (Some("poisson"), Some("response"))
        );
    }
    let page = scratch.read("f/index.html");
    assert!(page.contains("Closed loop and open loop") && page.contains("<title>50 %: "), "{page}");
    // What is missing is said.
    std::fs::remove_file(&removed).expect("a record");
    let shown = run(&scratch, "sweep --show=f").succeeded();
    assert!(shown.stdout.contains("1 run was not made yet."), "{}", shown.all());
}
