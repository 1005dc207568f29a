//! Runs on several hosts: workers here, started by a program in the place of ssh or as the ranks of a launcher.
//!
//! Start reading at [`figures_of_all_hosts_are_merged`].

use crate::support::{Finished, Program, Run, Running, Scratch, send};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

/// In the place of ssh: runs the command here, after something that a shell may print by itself, and notes the worker's process.
const SHELL: &str = "#!/bin/sh\necho \"Welcome to $1\"\necho $$ > pid.$1\nshift\nexec sh -c \"exec $*\"\n";

/// A virtual device: figures are those of arithmetic.
pub(crate) const VIRTUAL: &str =
    "--ioengine=sim --sim_time=virtual --sim_service=exponential:300us --rw=randread --size=64m";

pub(crate) fn scratch(test: &str) -> Scratch {
    let scratch = Scratch::new(test);
    scratch.write("shell", SHELL);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(scratch.join("shell"), mode).expect("permissions");
    scratch
}

pub(crate) fn fleet(scratch: &Scratch, hosts: &str, arguments: &str) -> Run {
    let program = Program::Ferrio.path();
    let arguments = format!("fleet --hosts={hosts} --rsh=./shell --remote-program={program} {arguments}");
    Run::new(Program::Ferrio, scratch.path(), &arguments)
}

pub(crate) fn document(run: &Finished) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}", run.all()))
}

/// The process of a host's worker.
pub(crate) fn worker(run: &mut Running, scratch: &Scratch, host: &str) -> u32 {
    let path = scratch.join(&format!("pid.{host}"));
    let read = |path: &Path| fs::read_to_string(path).ok().and_then(|text| text.trim().parse::<u32>().ok());
    run.wait_until("a worker", |_| read(&path).is_some());
    read(&path).expect("a process")
}

pub(crate) fn is_gone(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_none_or(|rest| rest.is_empty() || rest.trim_start().starts_with('Z'))
}

/// Each host draws the same I/Os: the percentiles of all of them are those of each, and the rates add up.
#[test]
fn figures_of_all_hosts_are_merged() {
    let scratch = scratch("fleet-merged");
    let run = fleet(&scratch, "a,b,c", &format!("--json --name=s {VIRTUAL} --number_ios=10000")).finish().succeeded();
    let document = document(&run);
    let all = &document["jobs"][0];
    let hosts = document["hosts"].as_array().expect("hosts");
    assert_eq!(hosts.len(), 3, "{document}");
    assert_eq!(all["n_ios"].as_u64(), Some(30_000), "{all}");
    assert_eq!(all["n_clones"].as_u64(), Some(3), "{all}");
    let number = |row: &Value, key: &str| row[key].as_u64().unwrap_or_else(|| panic!("{key}: {row}"));
    for host in hosts {
        let own = &host["jobs"][0];
        assert_eq!(own["n_ios"].as_u64(), Some(10_000), "{own}");
        // Each draws the same times.
        assert_eq!(
            (&all["p99_ns"], &hosts[0]["jobs"][0]["runtime_ns"]),
            (&own["p99_ns"], &own["runtime_ns"]),
            "{all} {own}"
        );
    }
    // The rate of all hosts is that of the time from the first start to the last end: on a busy machine, one starts later than the others.
    let starts = || hosts.iter().map(|host| number(&host["jobs"][0], "job_start_ms"));
    let spread_ms = starts().max().zip(starts().min()).map_or(0, |(last, first)| last - first);
    let (all_ns, own_ns) = (number(all, "runtime_ns"), number(&hosts[0]["jobs"][0], "runtime_ns"));
    assert!((own_ns..=own_ns + (spread_ms + 2) * 1_000_000).contains(&all_ns), "{document}");
    let rate = 30_000.0 / (all_ns as f64 / 1e9);
    assert!((all["ios_per_sec"].as_f64().expect("a rate") / rate - 1.0).abs() < 1e-6, "{rate}: {all}");
}

/// Two jobs of one name have rows of their own.
#[test]
fn jobs_of_one_name_are_told_apart() {
    let scratch = scratch("fleet-same");
    let job = format!("--name=s {VIRTUAL}");
    let run =
        fleet(&scratch, "a,b", &format!("{job} --number_ios=20000 {job} --number_ios=20000 --iodepth=8 --stonewall"));
    let run = run.finish().succeeded();
    let table = run.stdout.lines().skip_while(|line| !line.starts_with("---")).skip(1);
    let rows: Vec<Vec<&str>> = table
        .take_while(|line| !line.is_empty())
        .filter(|line| !line.contains("95 %"))
        .map(|line| line.split_whitespace().collect())
        .collect();
    let rates: Vec<f64> = rows.iter().map(|row| row[3].replace(',', "").parse().expect("a rate")).collect();
    let [one, a, b, other, a_deep, b_deep] = rates[..] else { panic!("{}", run.stdout) };
    // The rate of all hosts is that of the time from the first start to the last end: on a busy machine, one starts later than the other.
    let is_of_both = |all: f64, a: f64, b: f64| all > a.max(b) && all < (a + b) * 1.02;
    assert!(is_of_both(one, a, b) && is_of_both(other, a_deep, b_deep), "{rates:?}");
    assert!(a_deep > a, "{rates:?}");
}

#[test]
fn names_of_files_are_those_of_each_host() {
    let scratch = scratch("fleet-names");
    let options = "--name=w --rw=write --bs=4k --size=64k --ioengine=psync";
    let run = fleet(&scratch, "a,b", &format!("{options} --filename=data.$rank.of.$hosts")).finish().succeeded();
    assert!(run.stdout.starts_with("2 hosts (a, b), started within "), "{}", run.stdout);
    for name in ["data.0.of.2", "data.1.of.2"] {
        assert_eq!(fs::metadata(scratch.join(name)).map(|about| about.len()).ok(), Some(65_536), "{name}");
    }
}

/// One host has 20 times as much to do in front of the stonewall.
#[test]
fn a_stonewall_holds_for_all_hosts() {
    let scratch = scratch("fleet-stonewall");
    scratch.write("data.0", vec![0; 10 * 4096]);
    scratch.write("data.1", vec![0; 200 * 4096]);
    scratch.write(
        "job.fio",
        "[global]\nbs=4k\nrw=read\nioengine=psync\nfilename=data.$rank\n[first]\nrate_iops=200\n[second]\nstonewall\n",
    );
    let run = fleet(&scratch, "a,b", "--json job.fio").finish().succeeded();
    let document = document(&run);
    let start =
        |host: usize, job: usize| document["hosts"][host]["jobs"][job]["job_start_ms"].as_u64().expect("a start");
    let longest_ms = document["hosts"][1]["jobs"][0]["runtime_ns"].as_u64().expect("a runtime") / 1_000_000;
    assert!(longest_ms >= 900, "{document}");
    // The clocks of hosts are compared to within half of a round trip, which is some milliseconds on a busy machine. Without the stonewall the
    // first host would be 900 ms earlier.
    assert!(start(0, 1) + 300 >= start(1, 0) + longest_ms, "{document}");
}

#[test]
fn a_lost_host_ends_the_run_and_keeps_its_figures() {
    let scratch = scratch("fleet-lost");
    let job = "--name=r --ioengine=null --size=1g --rw=read --rate_iops=1000 --time_based --runtime=600";
    let mut run = fleet(&scratch, "a,b", &format!("--json {job}")).start();
    let (first, second) = (worker(&mut run, &scratch, "a"), worker(&mut run, &scratch, "b"));
    std::thread::sleep(std::time::Duration::from_secs(4));
    send(second, Signal::KILL);
    let ended = run.finish();
    assert_eq!(ended.code, Some(1), "{}", ended.all());
    assert!(ended.stderr.contains("is lost"), "{}", ended.all());
    let document = document(&ended);
    let lost = &document["hosts"][1];
    assert!(lost["is_partial"] == true && lost["lost"].is_string(), "{lost}");
    assert!(lost["jobs"][0]["n_ios"].as_u64() >= Some(900), "{lost}");
    let precision = &document["jobs"][0]["precision"];
    assert!(precision["ios_per_sec"]["unknown"] == "host_lost", "{precision}");
    let by = &document["accounts"]["ending"]["by"];
    assert!(by["by"] == "lost_host" && by["host"] == "b", "{by}");
    assert!(is_gone(first) && is_gone(second));
}

#[test]
fn workers_end_with_their_coordinator() {
    let scratch = scratch("fleet-orphans");
    let job = "--name=r --ioengine=null --size=1g --rw=read --rate_iops=1000 --time_based --runtime=600";
    let mut run = fleet(&scratch, "a,b", job).start();
    let workers = [worker(&mut run, &scratch, "a"), worker(&mut run, &scratch, "b")];
    std::thread::sleep(std::time::Duration::from_secs(2));
    send(run.pid(), Signal::KILL);
    let ended = run.finish();
    assert_eq!(ended.signal, Some(9), "{}", ended.all());
    for _ in 0..6_000 {
        if workers.iter().all(|pid| is_gone(*pid)) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("workers go on without a coordinator");
}

#[test]
fn what_cannot_run_says_why() {
    let scratch = scratch("fleet-refused");
    let refused = |arguments: &str| {
        let run = Run::new(Program::Ferrio, scratch.path(), arguments).finish();
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{}", run.all());
        run.stderr
    };
    let job = "--name=r --ioengine=null --size=1m --rw=read";
    assert!(refused(&format!("fleet {job}")).contains("no hosts are given"));
    assert!(refused(&format!("fleet --hosts=a --rsh=true {job}")).contains("a: no ferrio answers there"));
    // Whether it has read the key or not.
    let ended = refused(&format!("fleet --hosts=a --rsh=false {job}"));
    assert!(ended.contains("a: no ferrio answers there (false: exit status: 1)"), "{ended}");
    assert!(refused(&format!("fleet --hosts=a --rsh=./absent {job}")).contains("cannot start ./absent"));
    assert!(refused(&format!("fleet --hosts=-oProxyCommand=x {job}")).contains("is no host"));
    assert!(refused("fleet --hosts=a --name=r --nosuch=1").contains("nosuch"));
    let unused = refused(&format!("sweep --rsh=ssh --over iodepth=1,2 {job}"));
    assert!(unused.contains("--rsh has no effect without hosts"), "{unused}");
    assert!(refused("sweep --show=x --hosts=a").contains("--hosts is for runs that are made"));
    assert!(refused(&format!("fleet --hosts=a --manifest=kubernetes --image=i --pods=2 {job}")).contains("--hosts"));
    let program = Program::Ferrio.path();
    let absent = format!(
        "--hosts=a,b --rsh=./shell --remote-program={program} --name=r --rw=read --filename=/proc/nowhere/x --size=1m"
    );
    let run = Run::new(Program::Ferrio, scratch.path(), &format!("fleet {absent}")).finish();
    assert!(run.code != Some(0) && run.all().contains("/proc/nowhere"), "{}", run.all());
}

/// Each point of a sweep is run on all hosts at once.
#[test]
fn runs_of_a_sweep_and_repeats_are_on_all_hosts() {
    let scratch = scratch("fleet-sweep");
    let hosts = format!("--hosts=a,b --rsh=./shell --remote-program={}", Program::Ferrio.path());
    let job = format!("--name=s {VIRTUAL} --number_ios=500");
    let run = |arguments: &str| Run::new(Program::Ferrio, scratch.path(), arguments).finish().succeeded();
    let sweep = run(&format!("sweep {hosts} --json --over iodepth=1,2 {job}"));
    let points = document(&sweep)["points"].as_array().expect("points").len();
    assert_eq!(points, 2, "{}", sweep.stdout);
    let alone = run(&format!("sweep --json --folder=alone --over iodepth=1,2 {job}"));
    let rates = |run: &Finished| -> Vec<f64> {
        let document = document(run);
        let points = document["points"].as_array().expect("points").clone();
        points.iter().filter_map(|point| point["figures"][0]["ios_per_sec"]["mean"].as_f64()).collect()
    };
    let (together, one) = (rates(&sweep), rates(&alone));
    assert_eq!(together.len(), one.len());
    for (together, one) in together.iter().zip(&one) {
        assert!((together / one - 2.0).abs() < 0.02, "{together} {one}");
    }
    let repeated = run(&format!("run {hosts} --json --repeat=3 {job}"));
    assert_eq!(document(&repeated)["points"][0]["n_runs"].as_u64(), Some(3), "{}", repeated.stdout);
}

/// One of three processes that Slurm would start side by side.
fn rank(scratch: &Scratch, rank: u32, arguments: &str) -> Running {
    Run::new(Program::Ferrio, scratch.path(), &format!("fleet {arguments}"))
        .env("SLURM_PROCID", &rank.to_string())
        .env("SLURM_NTASKS", "3")
        .env("SLURM_JOB_ID", "7")
        .env("SLURM_STEP_ID", "0")
        .start()
}

/// A stranger who finds the port of rank 0 gets no answer, and a worker with the key of another run does not either.
#[test]
fn ranks_of_a_launcher_meet_and_strangers_do_not() {
    let scratch = scratch("fleet-ranks");
    let job = format!("--json --name=s {VIRTUAL} --number_ios=1000");
    let mut first = rank(&scratch, 0, &job);
    let meeting = scratch.join(".ferrio-fleet-7.0");
    first.wait_until("the address", |_| meeting.exists());
    let text = fs::read_to_string(&meeting).expect("the address");
    let address = text.lines().nth(1).expect("a second line").to_owned();
    let port = address.rsplit(':').next().expect("a port");
    let mut stranger = TcpStream::connect(format!("127.0.0.1:{port}")).expect("a connection");
    stranger.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").expect("bytes");
    let mut answer = Vec::new();
    let _ = stranger.read_to_end(&mut answer);
    assert!(!String::from_utf8_lossy(&answer).contains("ferrio"), "{answer:?}");
    scratch.write("wrong", "0".repeat(64));
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    fs::set_permissions(scratch.join("wrong"), mode).expect("permissions");
    let with_wrong_key = format!("--coordinator=127.0.0.1:{port} --key-file=wrong {job}");
    let refused = rank(&scratch, 1, &with_wrong_key).finish();
    assert!(refused.code == Some(2) && refused.stderr.contains("not that of this run"), "{}", refused.all());
    let others = [rank(&scratch, 1, &job), rank(&scratch, 2, &job)];
    let done = first.finish().succeeded();
    for other in others {
        let other = other.finish().succeeded();
        assert_eq!(other.stdout, "");
    }
    assert_eq!(document(&done)["jobs"][0]["n_ios"].as_u64(), Some(3_000), "{}", done.stdout);
    assert!(!meeting.exists());
}

/// The same jobs on one host, on two and on three: the runs at a number of hosts are those of the first hosts, whose I/Os add up.
#[test]
fn a_scale_has_the_first_hosts_at_each_number() {
    let scratch = scratch("fleet-scale");
    let job = format!("--name=s {VIRTUAL} --number_ios=1000");
    let run = fleet(&scratch, "a,b,c", &format!("--scale=1..3+1 --json --folder=f {job}")).finish().succeeded();
    let scaling = document(&run)["scalings"][0].clone();
    let numbers = scaling["steps"].as_array().expect("steps").iter().map(|step| step["n_hosts"].as_u64());
    assert_eq!(numbers.collect::<Vec<_>>(), [Some(1), Some(2), Some(3)], "{scaling}");
    for (point, hosts) in [(1, &["a"][..]), (2, &["a", "b"]), (3, &["a", "b", "c"])] {
        let record = scratch.join(&format!("f/runs/point-{point:05}-run-001.record"));
        let report = format!("report --output-format=json {}", record.display());
        let report = document(&Run::new(Program::Ferrio, scratch.path(), &report).finish().succeeded());
        let jobs = report["jobs"].as_array().expect("jobs").iter();
        let done: Vec<_> = jobs.map(|job| (job["hostname"].as_str(), job["read"]["total_ios"].as_u64())).collect();
        let expected: Vec<_> = hosts.iter().map(|host| (Some(*host), Some(1000))).collect();
        assert_eq!(done, expected, "{report}");
    }
    let text = fleet(&scratch, "a,b,c", &format!("--scale --folder=g {job}")).finish().succeeded().stdout;
    assert!(text.contains("Scale of read of s: 1 host ") && text.contains(" 3 hosts "), "{text}");
}

/// A host that finds no descriptor would be waited for in vain.
#[test]
fn a_limit_of_open_files_that_is_too_low_is_told_before_hosts_are_launched() {
    let scratch = scratch("fleet-descriptors");
    let hosts = (0..100).map(|host| format!("h{host}")).collect::<Vec<_>>().join(",");
    let arguments = format!("fleet --hosts={hosts} --rsh=./shell --name=s {VIRTUAL} --number_ios=10");
    let refused =
        Run::new(Program::Ferrio, scratch.path(), &arguments).in_shell("ulimit -n 200; exec \"$0\" \"$@\"").finish();
    assert_eq!(refused.code, Some(2), "{}", refused.all());
    assert!(
        refused.stderr.contains("100 hosts need 264 open files, and this process may have 200"),
        "{}",
        refused.all()
    );
}

#[test]
fn numbers_of_hosts_that_there_are_not_are_refused() {
    let scratch = scratch("fleet-scale-refused");
    let job = "--folder=f --name=s --ioengine=null --size=1m";
    let refused = |run: Run, reason: &str| {
        let run = run.finish();
        assert!(run.code == Some(2) && run.all().contains(reason), "{}", run.all());
    };
    refused(fleet(&scratch, "a,b", &format!("--scale=1,3 {job}")), "hosts=3: there are 2 hosts");
    refused(fleet(&scratch, "a,b", &format!("--scale=0,1 {job}")), "expected is a number of hosts from 1");
    let sweep = |words: &str| Run::new(Program::Ferrio, scratch.path(), &format!("sweep {words} {job}"));
    refused(sweep("--over hosts=1,2"), "--over hosts needs the hosts");
    refused(sweep("--over a.hosts=1,2"), "hosts");
    assert!(!scratch.join("f").exists());
}
