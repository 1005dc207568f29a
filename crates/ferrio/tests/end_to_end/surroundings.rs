//! Failures of the surroundings: full and read-only file systems, devices in use, limits, missing rights.
//!
//! Start reading at any test; file systems are made on loop devices and taken down again.

use crate::support::{Finished, LoopDevice, Program, Run, Scratch, has_programs, is_root, peer_too, skip, tool};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A small ext4 on a loop device; `None` after reporting why there is none.
fn small_file_system(test: &str, scratch: &Scratch) -> Option<(LoopDevice, PathBuf)> {
    if !is_root(test) || !has_programs(test, &["losetup", "mkfs.ext4", "mount"]) {
        return None;
    }
    let Some(mut device) = LoopDevice::new(scratch, 8 << 20) else {
        skip(test, "no loop device");
        return None;
    };
    let Some(mounted_at) = device.mount(scratch, "mkfs.ext4 -q -O ^has_journal -m 0") else {
        skip(test, "no ext4 here");
        return None;
    };
    Some((device, mounted_at))
}

/// Ferrio, and the peer if it is to be run.
fn programs(test: &str) -> &'static [Program] {
    if peer_too(test) { &[Program::Ferrio, Program::Peer] } else { &[Program::Ferrio] }
}

fn run(program: Program, directory: &Path, arguments: &str) -> Finished {
    Run::new(program, directory, arguments).finish()
}

fn names_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("the directory");
    let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    names.filter(|name| name != "lost+found").collect()
}

#[test]
fn a_full_file_system() {
    let test = "a_full_file_system";
    let scratch = Scratch::new(test);
    let Some((_device, full)) = small_file_system(test, &scratch) else { return };
    // Arguments; exit code; part of the standard error; a file is left.
    let cases = [
        ("--rw=write --size=32m --fallocate=none", 1, "No space left on device: write offset=", true),
        ("--rw=write --size=32m", 1, "No space left on device: write offset=", true),
        ("--rw=write --size=32m --fallocate=keep", 1, "No space left on device", false),
        ("--rw=read --size=32m --fallocate=none", 1, "ENOSPC on laying out file, stopping", false),
        ("--rw=write --fill_device=1", 0, "No space left on device: write offset=", true),
        ("--rw=write --size=32m --fallocate=none --ignore_error=,ENOSPC", 0, "", true),
        ("--rw=write --size=6m --numjobs=2 --fallocate=none --thread", 1, "No space left on device", true),
    ];
    for program in programs(test) {
        for (arguments, code, message, is_left) in cases {
            let finished = run(*program, &full, &format!("--name=a --bs=64k {arguments}"));
            let names = names_in(&full);
            for name in &names {
                std::fs::remove_file(full.join(name)).expect("a file of the job");
            }
            assert!(
                finished.code.is_some_and(|ended| ended >= code && (code == 1 || ended == 0)),
                "{}",
                finished.all()
            );
            if *program == Program::Ferrio {
                assert!(finished.stderr.contains(message), "{}", finished.all());
                assert_eq!(!names.is_empty(), is_left, "{names:?}\n{}", finished.all());
            }
        }
    }
}

#[test]
fn a_read_only_file_system() {
    let test = "a_read_only_file_system";
    let scratch = Scratch::new(test);
    let Some((_device, mounted_at)) = small_file_system(test, &scratch) else { return };
    std::fs::write(mounted_at.join("there"), vec![0; 1 << 20]).expect("there is room");
    assert!(tool(&format!("mount -o remount,ro {}", mounted_at.display())).is_some());
    let cases = [
        ("--name=a --size=1m --rw=write", 1),
        ("--name=a --size=1m --rw=read", 1),
        ("--name=a --size=1m --rw=write --filename=there", 1),
        ("--name=a --size=1m --rw=read --filename=there", 0),
        ("--name=a --ioengine=null --size=1m --output=report", 1),
        ("--name=a --ioengine=null --size=1m --write_iolog=log", 1),
    ];
    for program in programs(test) {
        for (arguments, code) in cases {
            let finished = run(*program, &mounted_at, arguments);
            assert_eq!(finished.code, Some(code), "{}", finished.all());
            let is_said = finished.all().contains("Read-only file system");
            assert_eq!(is_said, code == 1, "{}", finished.all());
        }
    }
}

#[test]
fn a_device_that_is_mounted() {
    let test = "a_device_that_is_mounted";
    let scratch = Scratch::new(test);
    let Some((device, mounted_at)) = small_file_system(test, &scratch) else { return };
    // The kernel itself writes to a new file system for a while, tables of inodes for one.
    assert!(tool(&format!("mount -o remount,ro {}", mounted_at.display())).is_some());
    let path = device.path();
    let before = std::fs::read(path).expect("the device");
    let reads = format!("--name=a --size=1m --rw=randread --filename={path}");
    run(Program::Ferrio, scratch.path(), &reads).succeeded().quiet();
    let writes = [
        format!("--name=a --size=1m --rw=write --filename={path}"),
        format!("--name=a --size=1m --rw=randrw --filename={path}"),
        format!("--name=a --size=1m --rw=randtrim --filename={path}"),
        format!("--name=b --ioengine=null --size=1m --name=a --rw=write --size=1m --filename={path}"),
    ];
    for arguments in &writes {
        let finished = run(Program::Ferrio, scratch.path(), arguments);
        // The peer says the same and exits with 0: recorded beside allow_mounted_write.
        assert_eq!(finished.code, Some(1), "{}", finished.all());
        let message = format!("fio: {path} appears mounted, and 'allow_mounted_write' isn't set. Aborting.");
        assert!(finished.stderr.contains(&message), "{}", finished.all());
        assert!(!finished.stdout.contains("groupid"), "nothing ran: {}", finished.all());
    }
    assert!(std::fs::read(path).expect("the device") == before, "nothing was written");
    if peer_too(test) {
        let finished = run(Program::Peer, scratch.path(), &writes[0]);
        assert!(finished.stderr.contains("appears mounted, and 'allow_mounted_write' isn't set. Aborting."));
    }
}

#[test]
fn limits_of_the_process() {
    let scratch = Scratch::new("limits");
    let under = |limit: &str, arguments: &str| {
        let script = format!("{limit}; exec \"$0\" \"$@\"");
        Run::new(Program::Ferrio, scratch.path(), arguments).in_shell(&script).finish()
    };
    let few_files = "ulimit -n 20";
    let finished = under(few_files, "--name=a --nrfiles=50 --size=1m --rw=write");
    assert_eq!(finished.code, Some(1), "{}", finished.all());
    assert!(finished.stderr.contains("a.0.") && finished.stderr.contains("Too many open files"), "{}", finished.all());
    let finished = under(few_files, "--name=a --nrfiles=50 --openfiles=5 --size=1m --rw=write");
    assert_eq!(finished.code, Some(0), "{}", finished.all());
    let finished = under(few_files, "--name=a --ioengine=null --size=4k --numjobs=30");
    assert!(finished.code.is_some_and(|code| code > 0 && code < 30), "some run: {}", finished.all());
    assert!(finished.stderr.contains("Too many open files"), "{}", finished.all());
    let finished = under("ulimit -v 300000", "--name=a --ioengine=null --size=1g --rw=write --bs=1g");
    assert_eq!(finished.code, Some(1), "{}", finished.all());
    assert!(finished.stderr.contains("1073741824 bytes: Cannot allocate memory"), "{}", finished.all());
    // A job that exceeds its limit is ended by a signal of the kernel; the run continues and reports it.
    let beyond = "--name=a --size=1m --rw=write --fallocate=none --name=b --ioengine=null --size=64k";
    let finished = under("ulimit -f 100", beyond);
    // The job counts as failed; fio exits with success.
    assert_eq!(finished.code, Some(1), "{}", finished.all());
    assert!(finished.stderr.contains("got signal=25"), "{}", finished.all());
    assert!(finished.stdout.contains("b: (groupid=0, jobs=1): err= 0:"), "{}", finished.all());
}

/// No more than `openfiles` are open while written data is read back, whatever order the reads have. (fio opens all.)
#[test]
fn few_files_are_open_while_data_is_read_back() {
    let scratch = Scratch::new("openfiles-verify");
    for options in [
        "--rw=write",
        "--rw=randwrite",
        "--rw=randrw",
        "--rw=randwrite --verify_backlog=16",
        "--rw=randwrite --loops=2 --fsync_on_close=1",
        "--rw=randwrite --ioengine=libaio --iodepth=16",
        "--rw=randwrite --ioengine=libaio --iodepth=16 --verify_async=2",
        "--rw=randwrite --end_fsync=1 --create_on_open=1",
        "--rw=write --verify_only",
        "--rw=randread",
    ] {
        let job = format!(
            "--name=a --nrfiles=60 --openfiles=5 --size=960k --bs=4k --verify=md5 --verify_state_save=0 {options}"
        );
        // The program itself has a few files open, and 60 would be too many.
        let finished =
            Run::new(Program::Ferrio, scratch.path(), &job).in_shell("ulimit -n 30; exec \"$0\" \"$@\"").finish();
        let is_clean = finished.code == Some(0) && finished.stderr.is_empty();
        assert!(is_clean || options == "--rw=randread" && finished.code == Some(1), "{options}: {}", finished.all());
        assert!(!finished.all().contains("Too many open files"), "{options}: {}", finished.all());
    }
}

/// A copy of the program and a directory that everybody may use.
fn for_everybody(test: &str) -> Scratch {
    let scratch = Scratch::in_temporary_directory(test);
    // Not by this process: a program that another test starts meanwhile would hold the copy open for writing, and it could not be run.
    let copied = Command::new("cp").arg(Program::Ferrio.path()).arg(scratch.join("ferrio")).status();
    assert!(copied.is_ok_and(|status| status.success()), "a copy");
    for path in [scratch.path().to_owned(), scratch.join("ferrio")] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    }
    scratch
}

#[test]
fn missing_rights() {
    let test = "missing_rights";
    if !is_root(test) || !has_programs(test, &["setpriv"]) {
        return;
    }
    let scratch = for_everybody(test);
    scratch.write("private", vec![0; 1 << 20]);
    scratch.write("private.fio", "[a]\nioengine=null\nsize=64k\n");
    for name in ["private", "private.fio"] {
        std::fs::set_permissions(scratch.join(name), std::fs::Permissions::from_mode(0o600)).expect("it is ours");
    }
    let as_nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups -- ./ferrio \"$@\"";
    let cases = [
        ("--name=a --size=1m --rw=write", "open a.0.0: Permission denied"),
        ("--name=a --size=1m --rw=read --filename=private", "open private: Permission denied"),
        ("--name=a --size=1m --rw=write --filename=private", "open private: Permission denied"),
        ("--name=a --ioengine=null --size=1m --uid=0", "setuid 0: Operation not permitted"),
        // The resulting priority depends on that of the tests.
        ("--name=a --ioengine=null --size=1m --nice=-5", "func=nice, error=Permission denied"),
        ("--name=a --ioengine=null --size=1m --prioclass=1", "class 1, level 0, hint 0: Operation not permitted"),
        ("--name=a --ioengine=null --size=1m --lockmem=4g", "mlock 4294967296: Cannot allocate memory"),
        ("--name=a --ioengine=null --size=1m --output=report", "report: Permission denied"),
        ("private.fio", "private.fio: Permission denied"),
    ];
    let names = scratch.names();
    for (arguments, message) in cases {
        let finished = Run::new(Program::Ferrio, scratch.path(), arguments).in_shell(as_nobody).finish();
        assert_eq!(finished.code, Some(1), "{}", finished.all());
        let is_said = finished.stderr.contains(message) || finished.stdout.contains(message);
        assert!(is_said, "expected '{message}'\n{}", finished.all());
        assert_eq!(scratch.names(), names, "nothing is left");
    }
}

/// `gtod_cpu` of one job keeps all jobs from that CPU.
#[test]
fn no_job_runs_on_the_cpu_of_the_time() {
    let test = "no_job_runs_on_the_cpu_of_the_time";
    let n_cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if n_cpus < 2 {
        return skip(test, "one CPU");
    }
    let scratch = Scratch::new(test);
    // Two jobs, of which the second says nothing of CPUs.
    let jobs = "[global]\nioengine=null\nsize=4k\nexec_prerun=grep Cpus_allowed_list /proc/self/status\n\
                [a]\ngtod_cpu=1\n[b]\n";
    std::fs::write(scratch.join("jobs.fio"), jobs).expect("a job file");
    let finished = run(Program::Ferrio, scratch.path(), "jobs.fio");
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    for name in ["a", "b"] {
        let said = std::fs::read_to_string(scratch.join(&format!("{name}.prerun.txt"))).expect("what the command said");
        let list = said.trim().rsplit('\t').next().unwrap_or_default();
        let has_cpu_1 = list.split(',').any(|part| {
            let mut ends = part.split('-').map(|end| end.parse::<u32>().expect("a number"));
            let first = ends.next().expect("a first");
            (first..=ends.next().unwrap_or(first)).contains(&1)
        });
        assert!(!has_cpu_1, "{name}: {said}");
    }
    // No job is left to run.
    let finished =
        run(Program::Ferrio, scratch.path(), "--name=c --ioengine=null --size=4k --gtod_cpu=1 --cpus_allowed=1");
    assert_eq!(finished.code, Some(1));
    assert!(finished.all().contains("gtod_cpu leaves it no CPU"), "{}", finished.all());
    let finished = run(Program::Ferrio, scratch.path(), "--name=c --ioengine=null --size=4k --gtod_cpu=65535");
    assert!(finished.all().contains("too large"), "{}", finished.all());
}
