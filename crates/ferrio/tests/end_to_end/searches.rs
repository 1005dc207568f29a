//! `ferrio sweep --max`: searches for the largest value of a parameter within a limit.
//!
//! Start reading at [`the_largest_depth_within_a_limit_is_found`].

use crate::support::Scratch;
use crate::sweeps::{kept, outcome, run, with_history};

/// A device with one channel of 1 ms: at depth N an I/O takes N ms.
#[test]
fn the_largest_depth_within_a_limit_is_found() {
    let scratch = Scratch::new("limit");
    let job =
        "--name=s --ioengine=sim --sim_time=virtual --sim_service=fixed:1ms --rw=randread --size=1g --number_ios=60";
    let arguments = format!("sweep {job} --over iodepth=1..32 --max=p50=7500us --json");
    let document = outcome(&run(&scratch, &arguments).succeeded());
    let bracket = &document["limit"]["bracket"];
    let (within, beyond) = (bracket["within"].as_u64().expect("a depth"), bracket["beyond"].as_u64().expect("a depth"));
    assert_eq!((within, beyond), (7, 8), "{document:#}");
    assert_eq!(document["limit"]["limited_by"], "device", "{document:#}");
    // All runs are there: nothing is to be made, and the answer is the same.
    let n_records = || std::fs::read_dir(scratch.join("s.sweep/runs")).map_or(0, Iterator::count);
    let n_before = n_records();
    let again = with_history(&scratch, "sweep --resume s.sweep --keep").succeeded();
    assert!(again.stdout.starts_with(&format!("p50=7500us: holds up to iodepth={within} (")), "{}", again.all());
    // Those that have measured the answer again are kept, too.
    assert_eq!((n_records(), kept(&scratch).len()), (n_before, n_before));
    let text = run(&scratch, &format!("sweep {job} --over iodepth=1..4 --max=p50=1s --folder=a")).succeeded().stdout;
    assert!(text.contains("holds up to iodepth=4 (") && text.contains("the largest value that was tried"), "{text}");
    let text = run(&scratch, &format!("sweep {job} --over iodepth=8..32 --max=p50=1ms --folder=b")).succeeded().stdout;
    assert!(text.contains("does not hold at iodepth=8"), "{text}");
    for (arguments, reason) in [
        ("--over iodepth=1..4 --max=p50=1", "has no unit"),
        ("--over rw=read,write --max=p50=1ms", "ascending numbers"),
        ("--over iodepth=1..4 --over bs=4k --max=p50=1ms", "one parameter"),
        ("--over iodepth=1..4 --max=p50=1ms --precision=0", "no percentage"),
    ] {
        let refused = run(&scratch, &format!("sweep {job} {arguments} --folder=c"));
        assert!(refused.code == Some(2) && refused.stderr.contains(reason), "{arguments}: {}", refused.all());
    }
}

/// Jobs that only read have no latency of writes: three runs at both ends of the range are enough to say so.
#[test]
fn a_limit_of_a_figure_that_the_jobs_do_not_have_is_told() {
    let scratch = Scratch::new("limit");
    let job =
        "--name=s --ioengine=sim --sim_time=virtual --sim_service=fixed:1ms --rw=randread --size=1g --number_ios=10";
    let open = run(&scratch, &format!("sweep {job} --over iodepth=1..32 --max=write.p50=1s"));
    let told = "write.p50=1s: the runs do not decide at any value of iodepth. The jobs have no figure that is meant by write.p50=1s.";
    let text = open.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(open.code == Some(3) && text.contains(told) && !text.contains("certain"), "{}", open.all());
    assert_eq!(std::fs::read_dir(scratch.join("s.sweep/runs")).map_or(0, Iterator::count), 6);
    assert_eq!(run(&scratch, "sweep --show s.sweep --json").code, Some(3));
}

/// A synchronous engine has one I/O in flight at any depth, so that no depth is known to be within the limit. What each run says of it is said once.
#[test]
fn a_depth_that_is_not_reached_is_no_certain_answer() {
    let scratch = Scratch::new("limit");
    let job = "--name=s --filename=f --ioengine=psync --rw=read --bs=4k --size=64k";
    let found = run(&scratch, &format!("sweep {job} --over iodepth=2..4 --max=p50=60s --repeat=3")).succeeded();
    let text = found.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("holds up to iodepth=4 ("), "{}", found.all());
    let doubt = "Not certain: depth-of-synchronous-engine speaks against iodepth=4, see the findings. ";
    assert!(text.contains(doubt) && !text.contains("certain to 99 %"), "{}", found.all());
    let notes: Vec<&str> = found.stderr.lines().filter(|line| line.contains("capped at 1")).collect();
    assert!(notes.len() == 1 && notes[0].ends_with("capped at 1"), "{}", found.stderr);
    // A run that is lost is made again, and is the only one that is known of.
    std::fs::remove_file(scratch.join("s.sweep/runs/point-00002-run-002.record")).expect("removed");
    let again = run(&scratch, "sweep --resume s.sweep").succeeded();
    assert!(again.stderr.starts_with("[1/1] iodepth=4 (run 2)\n"), "{}", again.all());
    assert_eq!(again.stderr.matches('[').count(), 1, "{}", again.all());
}

/// Users come at random times: the latency of a rate is theirs.
#[test]
fn a_limit_along_a_rate_is_that_of_users() {
    let scratch = Scratch::new("limit");
    let job = "--name=s --ioengine=sim --sim_time=virtual --sim_service=fixed:1ms --rw=randread --size=1g --iodepth=64 --number_ios=120";
    let plan =
        run(&scratch, &format!("sweep --plan {job} --over rate_iops=200..4000 --max p95=20ms")).succeeded().stdout;
    assert_eq!(
        plan,
        "A search for the largest rate_iops from 200 to 4000 with p95=20ms: about 15 runs where they differ little, at most 29, for a time that the jobs do not limit (runtime).\n"
    );
    let arguments = format!("sweep {job} --over rate_iops=200..4000 --max p95=20ms --precision=99% --repeat=3 --json");
    let document = outcome(&run(&scratch, &arguments).succeeded());
    let bracket = &document["limit"]["bracket"];
    // 1,000 a second is what the device does. At 1,891 a second, the middle that is tried, the last of 120 users waits for 120 / 1,000 - 120 / 1,891 s = 57 ms, so that one run
    // decides. Far above it everybody waits for more than 20 ms. On a busy machine it may be so far below it, too.
    let beyond = bracket["beyond"].as_u64().expect("a rate");
    assert!(beyond <= 2_000 && bracket["within"].as_u64().is_none_or(|within| within < beyond), "{document:#}");
    let record = std::fs::read_dir(scratch.join("s.sweep/runs")).expect("a folder").flatten().next().expect("a record");
    let shown = run(&scratch, &format!("report {} -o p.html", record.path().display())).succeeded();
    assert!(scratch.read("p.html").contains("poisson"), "{}", shown.all());
}

/// A log whose device takes 4 ms for each sync and never less: at most 250 a second, whatever the rate. No sync is longer than the limit, unless the machine is busy.
#[test]
fn a_rate_that_is_not_reached_is_no_answer() {
    let scratch = Scratch::new("limit");
    let job = "--name=s --ioengine=sim --sim_time=virtual --sim_service=fixed:1us,sync=fixed:4ms --rw=write --bs=4k --size=1g --fdatasync=1 --time_based --runtime=1";
    let arguments = format!("sweep {job} --over rate_iops=20..6400 --max sync.p99=9s --precision=99% --repeat=3");
    let document = outcome(&run(&scratch, &format!("{arguments} --json")).succeeded());
    let limit = &document["limit"];
    let beyond = limit["bracket"]["beyond"].as_u64().expect("a rate");
    assert!(limit["bracket"]["within"].as_u64().is_none_or(|within| within < 300 && within < beyond), "{document:#}");
    assert_eq!(limit["limited_by"], "syncs", "{document:#}");
    let last = limit["tried"].as_array().and_then(|tried| tried.last()).expect("values");
    let share = last["share_of_rate"].as_f64().expect("a share");
    assert!(last["value"] == 6_400 && last["verdict"] == "beyond" && share < 0.05, "{document:#}");
    let text = run(&scratch, "sweep --show s.sweep").succeeded().stdout;
    assert!(text.contains("of its rate") && text.contains("There a job does "), "{text}");
}

/// Runs of half a second: after a second and a half, the answer is what two of them tell, and the search goes on from there.
#[test]
fn a_search_ends_with_its_time_and_goes_on() {
    let scratch = Scratch::new("limit");
    let job = "--name=s --ioengine=sim --sim_service=fixed:1ms --rw=randread --size=1g --time_based --runtime=500ms";
    let arguments = format!("sweep {job} --over iodepth=1..32 --max p50=7500us");
    let plan = run(&scratch, &format!("{arguments} --plan")).succeeded().stdout;
    assert!(plan.ends_with("at most 29, at most 14 s and the time to lay out files.\n"), "{plan}");
    let ended = run(&scratch, &format!("{arguments} --time=1500ms"));
    let told = "of the search: up to ";
    assert!(ended.stderr.contains("the time is over, after ") && ended.stderr.contains(told), "{}", ended.all());
    let n_records = || std::fs::read_dir(scratch.join("s.sweep/runs")).map_or(0, Iterator::count);
    let n_before = n_records();
    assert!((1..=2).contains(&n_before), "{n_before}");
    let again = run(&scratch, "sweep --resume s.sweep").succeeded();
    assert!(again.stdout.contains("p50=7500us: holds up to iodepth=") && n_records() > n_before, "{}", again.all());
    assert_eq!(run(&scratch, "sweep --show s.sweep --time=1s").code, Some(2));
    assert_eq!(run(&scratch, &format!("{arguments} --time=soon --folder=t")).code, Some(2));
    // A grid and repeats.
    let grid = run(&scratch, &format!("sweep {job} --over iodepth=1..8 --time=1500ms --folder=grid"));
    assert!(grid.stderr.contains(" of 4 runs to make; go on: ferrio sweep --resume grid"), "{}", grid.all());
    let repeats = run(&scratch, &format!("run {job} --repeat=8 --time=1500ms"));
    assert!(repeats.stderr.contains(" of 8 runs to make"), "{}", repeats.all());
}
