//! Findings about the host of a run: CPUs that are shared, control groups that hold the jobs back, a load generator at its limit. Each
//! case is made for real, beside a control that differs in one thing.
//!
//! Start reading at [`jobs_that_share_a_cpu_wait_for_it`].

use crate::findings::{findings_of, has, ids};
use crate::support::{LoopDevice, Program, Run, Scratch, has_programs, is_root, skip, succeeds_once, tool};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The document of `ferrio run --json` under a shell script in which `"$0" "$@"` is the run.
pub(crate) fn document_of(directory: &Path, script: &str, arguments: &str) -> Value {
    let run = Run::new(Program::Ferrio, directory, &format!("run --json {arguments}")).in_shell(script);
    let finished = run.finish().succeeded();
    serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("{error}: {}", finished.all()))
}

/// The findings with one name.
fn finding<'a>(document: &'a Value, id: &str) -> Option<&'a Value> {
    document["findings"].as_array()?.iter().find(|finding| finding["id"] == id)
}

/// True if the kernel counts the time in which threads wait for a CPU.
fn counts_turns() -> bool {
    // The kernel brings the figures of a thread up to date when it sleeps: those of a new one are 0.
    std::thread::sleep(std::time::Duration::from_millis(1));
    std::fs::read_to_string("/proc/thread-self/schedstat").is_ok_and(|text| !text.starts_with("0 "))
}

#[test]
fn jobs_that_share_a_cpu_wait_for_it() {
    let test = "jobs_that_share_a_cpu_wait_for_it";
    if !counts_turns() {
        return skip(test, "the kernel does not count the turns of threads");
    }
    if !has_programs(test, &["taskset"]) {
        return;
    }
    let scratch = Scratch::new("findings-cpu");
    // The first CPU on which this test may run.
    let script = "cpu=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//'); exec taskset -c $cpu \"$0\" \"$@\"";
    let job = "--name=a --ioengine=null --size=64g --runtime=1500ms --time_based --numjobs=2";
    for thread in ["", " --thread"] {
        let shared = document_of(scratch.path(), script, &format!("{job}{thread}"));
        let found = finding(&shared, "waits-for-cpu").unwrap_or_else(|| panic!("{shared}"));
        let value = |index: usize| found["evidence"][index]["value"].as_f64().expect("a number");
        // Each of the two has the CPU for half of its time at most, or nearly so.
        assert!(value(0) > 0.4 * value(1), "{found}");
        assert!(
            found["explanation"].as_str().is_some_and(|text| text.ends_with("2 busy workers shared one CPU.")),
            "{found}"
        );
        // The control: jobs that are too short to say anything. A job that waits for nothing cannot be had on a busy machine.
        let short = document_of(scratch.path(), script, &format!("{job}{thread} --runtime=200ms"));
        assert_eq!(finding(&short, "waits-for-cpu"), None, "{short}");
    }
}

/// The two cures: one job for one CPU, which comes before all other programs of the machine.
#[test]
fn a_job_with_a_cpu_for_itself_does_not_wait_for_it() {
    let test = "a_job_with_a_cpu_for_itself_does_not_wait_for_it";
    if !counts_turns() {
        return skip(test, "the kernel does not count the turns of threads");
    }
    if !is_root(test) || !has_programs(test, &["taskset", "chrt"]) {
        return;
    }
    let scratch = Scratch::new("findings-own-cpu");
    let script = "cpu=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//'); exec taskset -c $cpu chrt -r 5 \"$0\" \"$@\"";
    let job = "--name=a --ioengine=null --size=64g --runtime=1100ms --time_based --numjobs";
    let run = |n_jobs: u32| {
        let document = document_of(scratch.path(), script, &format!("{job}={n_jobs}"));
        let ios_each = document["jobs"][0]["n_ios"].as_f64().expect("a number") / f64::from(n_jobs);
        (finding(&document, "waits-for-cpu").is_some(), ios_each)
    };
    assert!(succeeds_once(|| {
        let ((is_shared, shared), (waits, alone)) = (run(2), run(1));
        is_shared && !waits && alone > 1.3 * shared
    }));
}

/// A control group, removed at the end.
pub(crate) struct Group(PathBuf);

impl Group {
    /// A new group in which a setting can be made: `(file of version 2, value)`, `(file of version 1, value)`. `None`: there is no
    /// hierarchy in which this process can do that.
    pub(crate) fn new(name: &str, controller: &str, v2: (&str, &str), v1: (&str, &str)) -> Option<Self> {
        let mounts = std::fs::read_to_string("/proc/mounts").ok()?;
        let mut roots = mounts.lines().filter_map(|line| {
            let [_, at, kind, options, ..] = line.split(' ').collect::<Vec<_>>()[..] else { return None };
            let is_v1 = kind == "cgroup" && options.split(',').any(|option| option == controller);
            (is_v1 || kind == "cgroup2").then(|| PathBuf::from(at))
        });
        roots.find_map(|root| {
            let group = Self(root.join(format!("ferrio-{name}-{}", std::process::id())));
            std::fs::create_dir(&group.0).ok()?;
            // Without the controller there is no such setting; the group is removed again.
            group.set(v2, v1).then_some(group)
        })
    }

    pub(crate) fn set(&self, v2: (&str, &str), v1: (&str, &str)) -> bool {
        let write = |(name, value): (&str, &str)| {
            let file = std::fs::OpenOptions::new().write(true).open(self.0.join(name));
            file.and_then(|mut file| std::io::Write::write_all(&mut file, value.as_bytes())).is_ok()
        };
        write(v2) || write(v1)
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.0
    }

    /// A script that runs the program in the group.
    pub(crate) fn script(&self) -> String {
        format!("echo $$ > {}/cgroup.procs && exec \"$0\" \"$@\"", self.0.display())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A process that has ended may still be counted for a moment.
        for _ in 0..200 {
            if std::fs::remove_dir(&self.0).is_ok() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}

#[test]
fn a_control_group_without_cpu_time_left_is_told() {
    let test = "a_control_group_without_cpu_time_left_is_told";
    if !is_root(test) {
        return;
    }
    // 3 ms of every 100 ms: a job that never sleeps uses that up on a busy machine too.
    let quota = |is_limited: bool| {
        let (v2, v1) = if is_limited { ("3000 100000", "3000") } else { ("max 100000", "-1") };
        (("cpu.max", v2), ("cpu.cfs_quota_us", v1))
    };
    let (v2, v1) = quota(true);
    let Some(group) = Group::new("quota", "cpu", v2, v1) else {
        return skip(test, "no control group with a CPU quota can be made");
    };
    let scratch = Scratch::new("findings-quota");
    let job = "--name=a --ioengine=null --size=64g --runtime=1200ms --time_based";
    let held_back = document_of(scratch.path(), &group.script(), job);
    let found = ids(&held_back["findings"]);
    // It also is the reason for waits.
    assert!(has(&found, "cpu-quota") && !has(&found, "waits-for-cpu"), "{held_back}");
    let (v2, v1) = quota(false);
    assert!(group.set(v2, v1));
    let free = document_of(scratch.path(), &group.script(), job);
    assert_eq!(finding(&free, "cpu-quota"), None, "{free}");
}

#[test]
fn a_job_that_never_waits_for_its_device_is_told() {
    let test = "a_job_that_never_waits_for_its_device_is_told";
    if !counts_turns() {
        return skip(test, "the kernel does not count the turns of threads");
    }
    if !is_root(test) || !has_programs(test, &["losetup"]) {
        return;
    }
    if !Path::new("/dev/shm").is_dir() {
        return skip(test, "no /dev/shm");
    }
    let scratch = Scratch::new("findings-limit");
    // In memory, so that no other user of the disk holds the device up.
    let image = PathBuf::from(format!("/dev/shm/ferrio-limit-{}", std::process::id()));
    std::fs::write(&image, vec![0; 16 << 20]).expect("a file");
    let device = tool(&format!("losetup --find --show {}", image.display()));
    let found = device.as_ref().map(|device| {
        // Checksums that take much longer than the writes.
        let job = format!(
            "--name=a --filename={device} --ioengine=libaio --iodepth=32 --rw=write --bs=64k --direct=1 --size=16m \
             --verify=sha3-512 --do_verify=0 --loops=1000 --runtime=1500ms"
        );
        // Where other programs want the CPU too, the job still never waits for the device.
        let is_limited = |found: &[String]| has(found, "load-generator-limit") || has(found, "waits-for-cpu");
        let busy = succeeds_once(|| is_limited(&findings_of(scratch.path(), &job)));
        (busy, findings_of(scratch.path(), &format!("{job} --rate_iops=1")))
    });
    if let Some(device) = &device {
        tool(&format!("losetup --detach {device}"));
    }
    std::fs::remove_file(&image).expect("it is there");
    let Some((busy, slow)) = found else { return skip(test, "no loop device can be set up") };
    assert!(busy);
    assert!(!has(&slow, "load-generator-limit"), "{slow:?}");
}

/// Reads of a job that reads each block of its file once.
const N_READS: u64 = 20_000;

/// Number of system calls of a run with all its processes and threads. Sleeps are left out: workers wait for the start by short ones.
fn n_calls(scratch: &Scratch, arguments: &str) -> u64 {
    let shown = scratch.join("calls");
    let strace = format!("strace -c -f -e trace=!clock_nanosleep -o {}", shown.display());
    Run::new(Program::Ferrio, scratch.path(), arguments).under(&strace).finish().succeeded();
    let text = scratch.read("calls");
    // `100.00 seconds usecs/call calls errors total`; there may be no errors.
    let total = text.lines().find(|line| line.ends_with(" total")).unwrap_or_else(|| panic!("{text}"));
    let words: Vec<&str> = total.split_ascii_whitespace().collect();
    words[3].parse().unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn nothing_is_collected_for_an_io() {
    if !has_programs("nothing_is_collected_for_an_io", &["strace"]) {
        return;
    }
    let scratch = Scratch::new("findings-calls");
    let file = std::fs::File::create(scratch.join("f")).and_then(|file| file.set_len(N_READS << 12));
    file.expect("a sparse file");
    // An engine without calls of its own, and one with a single call for an I/O.
    let null = "--ioengine=null --size=64g --bs=4k";
    let psync = "--ioengine=psync --filename=f --bs=4k --rw=randread";
    for (command, job, n_ios, n_each) in [
        ("run --json", null, 100_000, 0),
        ("run --json --thread", null, 100_000, 0),
        ("--output-format=json", null, 100_000, 0),
        ("run --json", psync, N_READS, 1),
        ("--output-format=json", psync, N_READS, 1),
    ] {
        let calls = |n_ios: u64| n_calls(&scratch, &format!("{command} --name=a --number_ios={n_ios} {job}"));
        let (few, many) = (calls(1_000), calls(n_ios));
        let (n_more, expected) = (many.saturating_sub(few), (n_ios - 1_000) * n_each);
        // The supervisor looks at its jobs at times: far fewer calls than I/Os, however long a run takes.
        let n_other = n_more.abs_diff(expected);
        assert!(n_other < n_ios / 4, "{command} {job}: {n_more} calls more for {} I/Os", n_ios - 1_000);
    }
}

#[test]
fn of_thousands_of_files_a_sample_is_looked_at() {
    let scratch = Scratch::new("findings-files");
    let job = "--name=a --rw=write --ioengine=psync --nrfiles=1200 --size=4800k --bs=4k --openfiles=10";
    let arguments = format!("{job} --output-format=json --output=out");
    Run::new(Program::Ferrio, scratch.path(), &arguments).finish().succeeded();
    let document: Value = serde_json::from_str(&scratch.read("out")).expect("JSON");
    let targets = &document["ferrio"]["probes"]["targets"][0];
    assert_eq!((&targets["n_left_out"], &targets["places"][0]["n_files"]), (&Value::from(200), &Value::from(1000)));
    // Reports for people show no evidence: none is gathered. Those for programs do.
    let opened = |format: &str| {
        let strace = format!("strace -f -e trace=openat -o {}", scratch.join("opened").display());
        let run = Run::new(Program::Ferrio, scratch.path(), &format!("--name=b --ioengine=null --size=64k {format}"));
        run.under(&strace).finish().succeeded();
        scratch.read("opened").contains("/proc/vmstat")
    };
    if has_programs("of_thousands_of_files_a_sample_is_looked_at (what is opened)", &["strace"]) {
        assert!(
            !opened("--output-format=normal")
                && opened("--output-format=json")
                && opened("--output-format=normal --record=kept")
        );
    }
}

#[test]
fn a_limit_of_the_control_group_is_no_speed_of_the_device() {
    let test = "a_limit_of_the_control_group_is_no_speed_of_the_device";
    if !is_root(test) || !has_programs(test, &["losetup"]) {
        return;
    }
    let scratch = Scratch::new("findings-throttle");
    let Some(device) = LoopDevice::new(&scratch, 64 << 20) else {
        return skip(test, "no loop device can be set up");
    };
    let name = device.path().rsplit('/').next().expect("a name");
    let number = std::fs::read_to_string(format!("/sys/block/{name}/dev")).expect("a device");
    let number = number.trim();
    let at = |bytes: u64| (format!("{number} rbps={bytes}"), format!("{number} {bytes}"));
    let files = ("io.max", "blkio.throttle.read_bps_device");
    // At this limit the I/Os in flight last for half a second, so that the device has work while others have the CPU.
    let (v2, v1) = at(1 << 20);
    let Some(group) = Group::new("throttle", "blkio", (files.0, &v2), (files.1, &v1)) else {
        return skip(test, "no control group with a limit for I/O can be made");
    };
    let job = format!(
        "--name=a --filename={} --ioengine=libaio --iodepth=32 --rw=randread --bs=16k --direct=1 --size=64m --runtime=2 --time_based",
        device.path()
    );
    let before = |arguments: &str| {
        let run =
            Run::new(Program::Ferrio, scratch.path(), &format!("check --json {arguments}")).in_shell(&group.script());
        ids(&serde_json::from_str::<Value>(&run.finish().stdout).expect("JSON")["findings"])
    };
    assert!(has(&before(&job), "io-limit-set"));
    assert!(!has(&before(&job.replace("randread", "randwrite")), "io-limit-set"));
    let mut limited = Vec::new();
    let is_told = succeeds_once(|| {
        limited = ids(&document_of(scratch.path(), &group.script(), &job)["findings"]);
        has(&limited, "io-limit-measured")
    });
    assert!(is_told, "{limited:?}");
    // The control: a limit that the job stays below.
    let (v2, v1) = at(1 << 40);
    assert!(group.set((files.0, &v2), (files.1, &v1)));
    let free = ids(&document_of(scratch.path(), &group.script(), &job)["findings"]);
    assert!(!has(&free, "io-limit-measured"), "{free:?}");
    let outside = Run::new(Program::Ferrio, scratch.path(), &format!("check --json {job}")).finish();
    let outside = ids(&serde_json::from_str::<Value>(&outside.stdout).expect("JSON")["findings"]);
    assert!(!has(&outside, "io-limit-set"), "{outside:?}");
}

#[test]
fn sizes_that_do_not_suit_the_machine_are_told_before() {
    let scratch = Scratch::new("findings-sizes");
    let check = |script: &str, arguments: &str| {
        let run = Run::new(Program::Ferrio, scratch.path(), &format!("check --json --name=a {arguments}"));
        let finished = run.in_shell(script).finish();
        ids(
            &serde_json::from_str::<Value>(&finished.stdout).unwrap_or_else(|_| panic!("{}", finished.all()))["findings"],
        )
    };
    let here = "exec \"$0\" \"$@\"";
    let limited = "ulimit -f 2048 && exec \"$0\" \"$@\"";
    let write = "--rw=write --ioengine=psync --end_fsync=1";
    // Blocks of 512 or of 1,024 bytes, as the shell has it.
    assert!(has(&check(limited, &format!("{write} --size=4m")), "file-size-limit"));
    assert!(!has(&check(limited, &format!("{write} --size=512k")), "file-size-limit"));
    assert!(!has(&check(here, &format!("{write} --size=4m")), "file-size-limit"));
    let read = "--rw=randread --norandommap --ioengine=psync --size=1m";
    if !has(&check(here, "--rw=write --size=1m --ioengine=psync"), "target-in-memory") {
        assert!(has(&check(here, &format!("{read} --runtime=60 --time_based")), "fits-in-memory"));
        assert!(!has(&check(here, &format!("{read} --runtime=60 --time_based --direct=1")), "fits-in-memory"));
        assert!(!has(&check(here, &format!("{read} --runtime=60")), "fits-in-memory"));
    }
}
