//! The accounts of whole runs: how they ended, where their time went, what was not done as asked.
//!
//! Start reading at [`a_run_that_is_ended_says_by_what`].

use crate::findings_host::Group;
use crate::support::{Finished, Program, Run, Scratch, has_programs, is_root, send, skip};
use rustix::process::Signal;
use serde_json::Value;
use std::time::{Duration, Instant};

fn run(scratch: &Scratch, words: &str) -> Run {
    Run::new(Program::Ferrio, scratch.path(), &format!("run {words}"))
}

fn accounts(run: &Finished) -> Value {
    let document: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}", run.all()));
    document["accounts"].clone()
}

/// The parts of a job's time, seconds.
fn part(accounts: &Value, job: usize, name: &str) -> f64 {
    accounts["jobs"][job]["time"][name].as_f64().unwrap_or_else(|| panic!("{name}: {accounts}")) / 1e9
}

/// The accounts of a run, after a look at the time of each job: its known parts make all of it but a fiftieth and `unseen_secs`, and all of it
/// is the runtime of its only clone.
fn with_known_times(run: &Finished, unseen_secs: f64) -> Value {
    let accounts = accounts(run);
    let document: Value = serde_json::from_str(&run.stdout).expect("a document");
    for job in accounts["jobs"].as_array().expect("jobs") {
        let time = job["time"].as_object().unwrap_or_else(|| panic!("{job}"));
        let of = |name: &str| time[name].as_f64().expect("a time") / 1e9;
        let whole = of("whole_ns");
        let parts: u64 =
            time.iter().filter(|(name, _)| *name != "whole_ns").filter_map(|(_, part)| part.as_u64()).sum();
        assert_eq!(Some(parts), time["whole_ns"].as_u64(), "{job}");
        assert!(of("unknown_ns") <= 0.02 * whole + unseen_secs, "{job}");
        let rows = document["jobs"].as_array().expect("jobs").iter().filter(|row| row["job"] == job["job"]);
        let longest = rows.filter_map(|row| row["runtime_ns"].as_f64()).fold(0.0, f64::max) / 1e9;
        assert!((whole - longest).abs() <= 0.02 * longest, "{longest}: {job}");
    }
    accounts
}

/// Beside a tracer any time may be not known: it stops the threads at each call, for as long as it waits for a CPU itself.
const BESIDE_TRACER: f64 = f64::INFINITY;

/// The short names of the findings.
fn findings(run: &Finished) -> Vec<String> {
    let document: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}", run.all()));
    let findings = document["findings"].as_array().expect("findings").iter();
    findings.filter_map(|finding| finding["id"].as_str().map(str::to_owned)).collect()
}

fn has(found: &[String], id: &str) -> bool {
    found.iter().any(|other| other == id)
}

fn outcome<'a>(accounts: &'a Value, option: &str) -> &'a Value {
    let options = accounts["jobs"][0]["options"].as_array().expect("options");
    options.iter().find(|one| one["option"] == option).unwrap_or_else(|| panic!("{option}: {accounts}"))
}

const ENDLESS: &str = "--ioengine=null --size=1g --rate_iops=1000 --time_based --runtime=600";

#[test]
fn a_run_that_is_ended_says_by_what() {
    let scratch = Scratch::new("accounts-ended");
    let mut text = run(&scratch, &format!("--name=a {ENDLESS}")).start();
    text.wait_until("a job", |run| !run.jobs().is_empty());
    std::thread::sleep(Duration::from_millis(300));
    send(text.pid(), Signal::INT);
    let text = text.finish().stdout;
    assert!(text.starts_with("The run was ended by signal 2 (SIGINT):"), "{text}");
    assert!(text.contains("Not as asked: ") && text.contains("runtime=600"), "{text}");
    assert!(!text.contains("Nothing speaks against these figures"), "{text}");

    let other = "--name=short --ioengine=null --size=1g --number_ios=10 --exitall";
    let ended = run(&scratch, &format!("--json --name=long {ENDLESS} {other}")).finish();
    let ending = accounts(&ended)["ending"].clone();
    assert_eq!((&ending["ending"], &ending["by"]["by"]), (&Value::from("early"), &Value::from("exit_all")), "{ending}");
    assert_eq!((&ending["by"]["job"], &ending["jobs"][0]), (&Value::from("short"), &Value::from("long")), "{ending}");
}

/// How often a process has slept.
fn n_sleeps(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    count.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

#[test]
fn a_stop_by_a_signal_is_a_part_of_the_time() {
    let scratch = Scratch::new("accounts-stopped");
    let mut run =
        run(&scratch, "--json --name=a --ioengine=null --size=1g --rate_iops=1000 --time_based --runtime=4").start();
    // It sleeps before each I/O.
    run.wait_until("I/O", |run| run.jobs().first().is_some_and(|worker| n_sleeps(*worker) > 100));
    let worker = run.jobs()[0];
    send(worker, Signal::STOP);
    let stopped_at = Instant::now();
    std::thread::sleep(Duration::from_millis(1500));
    send(worker, Signal::CONT);
    let most = stopped_at.elapsed().as_secs_f64();
    let finished = run.finish();
    // What the supervisor has not seen of the stop is not known.
    let accounts = with_known_times(&finished, most);
    let stopped = part(&accounts, 0, "stopped_ns");
    // The supervisor looks ten times a second, on a busy machine less often.
    assert!(stopped > 0.5 && stopped < most + 1.0, "{stopped} of {most}: {accounts}");
    let found = findings(&finished);
    assert!(has(&found, "stopped-by-signal") && !has(&found, "stalls"), "{found:?}");
    let calm = "run --json --name=a --ioengine=null --size=1g --rate_iops=1000 --time_based --runtime=500ms";
    let calm = Run::new(Program::Ferrio, scratch.path(), calm).finish();
    assert!(!has(&findings(&calm), "stopped-by-signal"), "{}", calm.all());
}

/// A tracer delays calls by known times: they are in the part to which they belong, and the parts add up to the whole.
#[test]
fn delayed_calls_are_in_their_part() {
    let test = "delayed_calls_are_in_their_part";
    if !has_programs(test, &["strace"]) {
        return;
    }
    let scratch = Scratch::new("accounts-delayed");
    let traced = |inject: &str, words: &str| {
        let run = run(&scratch, &format!("--json --name=a --filename=f --ioengine=psync --bs=64k {words}"));
        run.under(&format!("strace -f -o /dev/null -e inject={inject}")).finish().succeeded()
    };
    let synced = traced("fsync:delay_exit=700000", "--size=256k --rw=write --end_fsync=1");
    let found = findings(&synced);
    assert!(has(&found, "closing-syncs-counted") && !has(&found, "rate-fell"), "{found:?}");
    let synced = with_known_times(&synced, BESIDE_TRACER);
    assert!(part(&synced, 0, "closing_syncs_ns") >= 0.7, "{synced}");
    // Each of five files is synced when it is closed.
    let words =
        "--filename=c:d:e:g --openfiles=1 --file_service_type=sequential --size=640k --rw=write --fsync_on_close=1";
    let closed = with_known_times(&traced("fsync:delay_exit=200000", words), BESIDE_TRACER);
    assert!(part(&closed, 0, "closing_syncs_ns") >= 0.6, "{closed}");
    let read =
        with_known_times(&traced("pread64:delay_exit=50000", "--size=1m --rw=read --thinktime=20000"), BESIDE_TRACER);
    // 16 reads of 50 ms, and 15 pauses of 20 ms at least; time with another part beside it is that of the other one.
    let (storage, pausing) = (part(&read, 0, "storage_ns"), part(&read, 0, "pausing_ns"));
    let beside = part(&read, 0, "kernel_ns") + part(&read, 0, "computing_ns") + part(&read, 0, "cpu_wait_ns");
    assert!(storage + beside >= 0.8 && pausing + beside >= 0.3, "{read}");
    assert_eq!(outcome(&read, "thinktime")["outcome"], "as_asked", "{read}");
    // Waits for four I/Os at once, submissions that block, syncs between writes, a rate.
    for (inject, words) in [
        ("io_getevents:delay_exit=50000", "--size=1m --rw=read --ioengine=libaio --iodepth=4 --direct=1"),
        ("io_submit:delay_exit=50000", "--size=1m --rw=read --ioengine=libaio --iodepth=4 --direct=1"),
        ("fsync:delay_exit=50000", "--size=1m --rw=write --fsync=4"),
        ("pwrite64:delay_exit=30000", "--size=512k --rw=write --rate_iops=10"),
    ] {
        let accounts = with_known_times(&traced(inject, words), BESIDE_TRACER);
        // Three waits of 50 ms or more, or eight writes of 30 ms, in a time that other parts may have taken on a busy machine.
        let beside = ["kernel_ns", "computing_ns", "cpu_wait_ns", "unknown_ns"].map(|name| part(&accounts, 0, name));
        assert!(part(&accounts, 0, "storage_ns") + beside.iter().sum::<f64>() >= 0.14, "{inject}: {accounts}");
    }
}

/// Two jobs that never sleep have one CPU: each waits for it for as long as it has it, or longer.
#[test]
fn a_busy_cpu_is_waited_for() {
    let test = "a_busy_cpu_is_waited_for";
    if !has_programs(test, &["taskset"]) {
        return;
    }
    let scratch = Scratch::new("accounts-busy");
    let script = "cpu=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//'); exec taskset -c $cpu \"$0\" \"$@\"";
    for thread in ["", "--thread"] {
        let job = format!("--ioengine=null --size=64g --runtime=1500ms --time_based {thread}");
        let run = run(&scratch, &format!("--json --name=a {job} --name=b {job}")).in_shell(script);
        let accounts = with_known_times(&run.finish().succeeded(), 0.0);
        let both = |name: &str| part(&accounts, 0, name) + part(&accounts, 1, name);
        // Together they have at most the CPU's whole time.
        assert!(both("cpu_wait_ns") > 0.4 * both("whole_ns"), "{accounts}");
        assert!(both("computing_ns") + both("kernel_ns") < 0.6 * both("whole_ns"), "{accounts}");
    }
}

#[test]
fn a_quota_of_cpu_time_is_waited_for() {
    let test = "a_quota_of_cpu_time_is_waited_for";
    if !is_root(test) {
        return;
    }
    // A fifth of a CPU.
    let Some(group) = Group::new("accounts", "cpu", ("cpu.max", "20000 100000"), ("cpu.cfs_quota_us", "20000")) else {
        return skip(test, "no control group with a CPU quota can be made");
    };
    let scratch = Scratch::new("accounts-quota");
    let job = "--json --name=a --ioengine=null --size=64g --runtime=1500ms --time_based";
    let run = run(&scratch, job).in_shell(&group.script());
    let accounts = with_known_times(&run.finish().succeeded(), 0.0);
    // The time until the quota is used up for the first time is free; a period of 100 ms may be begun twice.
    let (waited, whole) = (part(&accounts, 0, "cpu_wait_ns"), part(&accounts, 0, "whole_ns"));
    assert!(waited > 0.6 * whole, "{accounts}");
}

#[test]
fn options_without_effect_are_named_in_every_form() {
    let scratch = Scratch::new("accounts-options");
    let words = "--name=a --ioengine=null --size=1m --rw=read --fsync=4 --rwmixread=30";
    let text = run(&scratch, words).finish().succeeded().stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("fsync=4 (the job only reads)") && text.contains("rwmixread=30 (the job does not mix"),
        "{text}"
    );
    let accounts = accounts(&run(&scratch, &format!("--json {words}")).finish().succeeded());
    assert_eq!(outcome(&accounts, "fsync")["outcome"], "not_as_asked", "{accounts}");
    assert_eq!(outcome(&accounts, "size")["outcome"], "as_asked", "{accounts}");
    let lines = run(&scratch, &format!("--output-format=jsonl {words}")).finish().succeeded().stdout;
    let audit = lines.lines().find(|line| line.contains("\"accounts\"")).unwrap_or_else(|| panic!("{lines}"));
    assert!(audit.contains("the job only reads"), "{audit}");
    run(&scratch, &format!("--html=page.html {words}")).finish().succeeded();
    assert!(scratch.read("page.html").contains("the job only reads"));
}

/// The page cache answers both jobs; only of the first one it is expected. fio reads the same file.
#[test]
fn what_a_job_expects_is_no_finding_of_this_job() {
    const JOBS: &str = "[global]\nfilename=f\nsize=8m\nrw=randread\nioengine=psync\npre_read=1\ninvalidate=0\n\
                        [meant]\n# ferrio: expect=memory\n[not-meant]\nstonewall\n";
    let scratch = Scratch::new("accounts-expected");
    scratch.write("f", vec![0x5a; 8 << 20]);
    scratch.write("jobs.fio", JOBS);
    let found = |words: &str| {
        let finished = run(&scratch, &format!("--json {words} jobs.fio")).finish();
        let document: Value =
            serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("{error}: {}", finished.all()));
        let findings = document["findings"].as_array().expect("findings").iter();
        let of_memory = |id: &str| ["memory-as-expected", "device-did-less", "target-in-memory"].contains(&id);
        let named = findings.filter(|one| of_memory(one["id"].as_str().expect("a name")));
        let jobs = |one: &Value| {
            one["jobs"]
                .as_array()
                .expect("jobs")
                .iter()
                .map(|job| job.as_str().expect("a name").to_owned())
                .collect::<Vec<_>>()
        };
        let mut named: Vec<(String, Vec<String>)> =
            named.map(|one| (one["id"].as_str().expect("a name").to_owned(), jobs(one))).collect();
        named.sort();
        let expect = accounts(&finished)["jobs"][0]["options"]
            .as_array()
            .expect("options")
            .iter()
            .any(|one| one["option"] == "expect" && one["outcome"] == "as_asked");
        assert!(expect, "{}", finished.all());
        named
    };
    let of = |id: &str, job: &str| (id.to_owned(), vec![job.to_owned()]);
    let one = found("");
    assert_eq!(one.len(), 2, "{one:?}");
    assert!(
        one.contains(&of("memory-as-expected", "meant"))
            && one.iter().any(|(id, jobs)| id != "memory-as-expected" && *jobs == ["not-meant"]),
        "{one:?}"
    );
    // Beside the file it is for all jobs.
    assert_eq!(found("--expect=memory"), [of("memory-as-expected", "meant"), of("memory-as-expected", "not-meant")]);
    let parsed = Run::new(Program::Ferrio, scratch.path(), "--parse-only jobs.fio").finish();
    assert_eq!(parsed.code, Some(0), "{}", parsed.all());
    scratch.write("wrong.fio", "# ferrio: bs=8k\n[a]\nrw=read\n");
    let refused = run(&scratch, "wrong.fio").finish();
    assert_eq!(refused.code, Some(2), "{}", refused.all());
    assert!(refused.stderr.contains("wrong.fio:1:1: bs in a comment for ferrio"), "{}", refused.all());
}

#[test]
fn what_is_no_storage_and_what_each_clone_has_are_told() {
    let scratch = Scratch::new("accounts-clones");
    let words = "--name=a --ioengine=null --rw=randread --bs=4k --size=64m --numjobs=2 --thread --rwmixread=30";
    let text = run(&scratch, words).finish().succeeded().stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("job 128 MiB, kernel 0 bytes: the engine null has no storage."), "{text}");
    assert!(text.contains("Each of the 2 jobs (numjobs) has size=64m for itself: together 2 times that."), "{text}");
    // The result of another program, which has no accounts.
    let report =
        Run::new(Program::Ferrio, scratch.path(), &format!("--output-format=json {words}")).finish().succeeded();
    let mut document: Value = serde_json::from_str(&report.stdout).expect("a report");
    document.as_object_mut().expect("an object").remove("ferrio");
    document["fio version"] = "fio-3.41".into();
    scratch.write("report.json", document.to_string());
    let checked = Run::new(Program::Ferrio, scratch.path(), "check --result=report.json").finish().succeeded().stdout;
    let checked = checked.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(checked.contains("Not as asked: rwmixread=30 (the job does not mix reads and writes)."), "{checked}");
}

/// Options whose effect is counted, in runs that do what they ask for.
#[test]
fn what_was_met_is_as_asked() {
    let scratch = Scratch::new("accounts-met");
    let rows: [(&str, &[&str]); 4] = [
        (
            "--ioengine=null --rw=randread --bs=4k --size=64m --nrfiles=4 --norandommap --number_ios=16384 --random_distribution=normal:20 \
             --file_service_type=zipf:1.2",
            &["random_distribution", "file_service_type"],
        ),
        (
            "--ioengine=null --rw=randrw --bs=4k,16k --bs_is_seq_rand=1 --percentage_random=50 --norandommap --size=64m --number_ios=8000",
            &["bs", "bs_is_seq_rand"],
        ),
        (
            "--filename=v --ioengine=psync --rw=randwrite --bs=4k --size=2m --verify=crc32c --verify_interval=2k",
            &["bs", "size", "verify", "verify_interval"],
        ),
        (
            "--ioengine=libaio --iodepth=8 --iodepth_batch=4 --rw=randread --bs=4k --filename=v --filesize=2m --direct=1 --latency_target=5s \
             --latency_window=10ms",
            &["iodepth_batch", "filesize", "latency_target"],
        ),
    ];
    for (options, names) in rows {
        let accounts = accounts(&run(&scratch, &format!("--json --name=a {options}")).finish());
        for name in names {
            assert_eq!(
                outcome(&accounts, name)["outcome"],
                "as_asked",
                "{name} of {options}: {}",
                outcome(&accounts, name)
            );
        }
    }
}
