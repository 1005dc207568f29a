//! Actions around the I/O of a job: commands, hints, schedulers, syncs at the end.
//!
//! Start reading at [`commands_run_before_and_after`].

use crate::support::{Finished, LoopDevice, Program, Run, Scratch, has_programs, is_root, peer_too, skip};
use crate::system_calls::calls_to;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Ferrio, and the peer if it is to be run.
fn programs(test: &str) -> &'static [Program] {
    if peer_too(test) { &[Program::Ferrio, Program::Peer] } else { &[Program::Ferrio] }
}

fn run(program: Program, scratch: &Scratch, arguments: &str) -> Finished {
    Run::new(program, scratch.path(), arguments).finish()
}

fn run_file(program: Program, scratch: &Scratch, job: &str) -> Finished {
    scratch.write("jobs.fio", job);
    run(program, scratch, "jobs.fio")
}

#[test]
fn commands_run_before_and_after() {
    let test = "commands_run_before_and_after";
    for program in programs(test) {
        for thread in [0, 1] {
            let scratch = Scratch::new(test);
            let job = format!(
                "[a]\nsize=8k\nthread={thread}\nexec_prerun=ls a.0.0 order\nexec_postrun=echo done\n\
                 [b]\nstonewall\nsize=4k\nexec_prerun=cat a.postrun.txt\n"
            );
            scratch.write("order", "");
            let finished = run_file(*program, &scratch, &job).succeeded();
            for (name, content) in [("a.prerun.txt", "a.0.0\norder\n"), ("a.postrun.txt", "done\n")] {
                assert_eq!(scratch.read(name), content, "{program:?} {name}");
            }
            assert_eq!(scratch.read("b.prerun.txt"), "done\n", "{program:?}");
            for note in ["a : Saving output of prerun in a.prerun.txt", "a : Saving output of postrun in a.postrun.txt"]
            {
                assert!(finished.stdout.contains(note), "{program:?} {}", finished.stdout);
            }
        }
    }
}

#[test]
fn a_command_runs_after_a_job_that_failed() {
    let test = "a_command_runs_after_a_job_that_failed";
    for program in programs(test) {
        let scratch = Scratch::new(test);
        let job = "[a]\nfilename=/dev/full\nrw=write\nsize=4k\nexec_postrun=echo bye\n";
        let finished = run_file(*program, &scratch, job);
        assert_eq!((finished.code, scratch.read("a.postrun.txt").as_str()), (Some(1), "bye\n"), "{program:?}");
    }
}

/// A trace may be made by the command; fio opens it before that.
#[test]
fn a_command_makes_the_trace_of_its_job() {
    for thread in [0, 1] {
        let scratch = Scratch::new("prerun_trace");
        scratch.write("kept", "fio version 2 iolog\nf add\nf open\nf write 0 4096\nf write 8192 4096\nf close\n");
        let job = format!("[a]\nthread={thread}\nread_iolog=made\nexec_prerun=cp kept made\n");
        run_file(Program::Ferrio, &scratch, &job).succeeded();
        let written = std::fs::metadata(scratch.join("f")).expect("the file of the trace");
        assert_eq!(written.len(), 12288, "thread={thread}");
    }
}

#[test]
fn a_job_whose_command_fails_does_nothing() {
    let test = "a_job_whose_command_fails_does_nothing";
    for program in programs(test) {
        let scratch = Scratch::new(test);
        let finished = run_file(*program, &scratch, "[a]\nsize=4k\nexec_prerun=false\nexec_postrun=echo never\n");
        assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""), "{program:?}");
        assert!(!finished.stdout.contains("a: (groupid="), "{program:?} {}", finished.stdout);
        assert_eq!(scratch.names(), ["a.0.0", "a.prerun.txt", "jobs.fio"], "{program:?}");
    }
    let scratch = Scratch::new("prerun_fails");
    let job = "[a]\nsize=4k\nrw=write\ncreate_on_open=1\nexec_prerun=echo out && echo err >&2 && false\n\
               exec_postrun=echo never\n[b]\nsize=4k\n";
    let finished = run_file(Program::Ferrio, &scratch, job).succeeded();
    assert!(finished.stdout.contains("a : exec_prerun ended with exit status: 1; the job does no I/O"));
    assert_eq!(scratch.read("a.prerun.txt"), "out\nerr\n");
    assert_eq!(scratch.names(), ["a.prerun.txt", "b.0.0", "jobs.fio"]);
    assert!(finished.stdout.contains("b: (groupid=0"), "the other job runs: {}", finished.stdout);
}

#[test]
fn a_run_that_ends_ends_its_commands() {
    let scratch = Scratch::new("prerun_ends");
    scratch.write("jobs.fio", "[a]\nsize=4k\nexec_prerun=echo there > started && sleep 1000\n");
    let mut running = Run::new(Program::Ferrio, scratch.path(), "jobs.fio").start();
    running.wait_until("the command", |_| !scratch.read("started").is_empty());
    crate::support::send(running.pid(), rustix::process::Signal::INT);
    // The time limit of the tests ends a run that waits for its command.
    assert_eq!(running.finish().code, Some(128));
}

#[test]
fn hints_are_given_to_files() {
    let test = "hints_are_given_to_files";
    if !has_programs(test, &["strace"]) {
        return;
    }
    let hints = |program: Program, arguments: &str| -> Vec<String> {
        let scratch = Scratch::new(test);
        let arguments = format!("--name=a --size=8k {arguments}");
        let calls = calls_to("a.0.0", program, &scratch, &arguments);
        // Between the advice and the first I/O; old releases of strace do not know its name.
        let is_hint =
            |call: &&String| call.starts_with("fcntl") && !call.contains("F_GETF") && !call.contains("F_SETF");
        calls.iter().filter(is_hint).map(|_| "hint".to_owned()).collect()
    };
    for program in programs(test) {
        for hint in ["none", "short", "medium", "long", "extreme"] {
            assert_eq!(hints(*program, &format!("--rw=write --write_hint={hint}")), ["hint"], "{program:?} {hint}");
        }
        assert!(hints(*program, "--rw=write").is_empty(), "{program:?}");
    }
    let scratch = Scratch::new(test);
    let refused = run(Program::Ferrio, &scratch, "--name=a --size=4k --write_hint=forever");
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("fio: failed parsing write_hint=forever"), "{}", refused.stderr);
}

#[test]
fn file_systems_are_synced_once_at_the_end() {
    let test = "file_systems_are_synced_once_at_the_end";
    if !has_programs(test, &["strace"]) {
        return;
    }
    let scratch = Scratch::new(test);
    let calls = |arguments: &str| {
        let all = calls_to("/data", Program::Ferrio, &scratch, &format!("--name=a --size=8k {arguments}"));
        all.iter().filter(|call| call.starts_with("syncfs")).count()
    };
    assert_eq!(calls("--rw=write --nrfiles=2 --end_syncfs=1"), 1);
    assert_eq!(calls("--rw=write --end_syncfs=1 --end_fsync=1 --ioengine=libaio"), 1);
    assert_eq!(calls("--rw=read --end_syncfs=1"), 0);
    assert_eq!(calls("--rw=write"), 0);
}

#[test]
fn schedulers_are_set_and_stay() {
    let test = "schedulers_are_set_and_stay";
    if !is_root(test) || !has_programs(test, &["losetup"]) {
        return;
    }
    for program in programs(test) {
        let scratch = Scratch::new(test);
        let Some(device) = LoopDevice::new(&scratch, 1 << 20) else {
            skip(test, "no loop device");
            return;
        };
        let path = device.path().to_owned();
        let settings = format!("/sys/block/{}/queue/scheduler", path.trim_start_matches("/dev/"));
        let chosen = || std::fs::read_to_string(&settings).unwrap_or_default();
        let before = chosen();
        if !before.contains("mq-deadline") || !before.contains("[none]") {
            skip(test, "the kernel has no second scheduler");
            return;
        }
        let read = |scheduler: &str| {
            run(*program, &scratch, &format!("--name=a --filename={path} --size=8k --ioscheduler={scheduler}"))
        };
        assert_eq!((read("mq-deadline").code, chosen().contains("[mq-deadline]")), (Some(0), true), "{program:?}");
        let refused = read("foo");
        assert_eq!((refused.code, chosen().contains("[mq-deadline]")), (Some(1), true), "{program:?}");
        assert!(refused.stderr.contains("fio: unable to set io scheduler to foo"), "{program:?} {}", refused.stderr);
        assert_eq!((read("none").code, chosen()), (Some(0), before.clone()), "{program:?}");
        if *program == Program::Ferrio {
            // A native run sets the scheduler back.
            let job = format!(
                "[a]\nfilename={path}\nsize=8k\nioscheduler=mq-deadline\nexec_prerun=grep -F [mq-deadline] {settings}\n"
            );
            scratch.write("native.fio", &job);
            let finished = run(*program, &scratch, "run --allow=programs native.fio");
            assert_eq!((finished.code, chosen()), (Some(0), before), "{}", finished.stderr);
            assert!(scratch.read("a.prerun.txt").contains("[mq-deadline]"));
        }
    }
}

/// Directory of the cgroups for block I/O; like fio, version 1 is preferred.
fn groups() -> Option<std::path::PathBuf> {
    let mounts = std::fs::read_to_string("/proc/mounts").ok()?;
    let blkio = mounts.lines().find(|line| line.contains(" cgroup ") && line.contains("blkio"))?;
    blkio.split(' ').nth(1).map(std::path::PathBuf::from)
}

#[test]
fn jobs_enter_their_group_and_it_is_gone() {
    let test = "jobs_enter_their_group_and_it_is_gone";
    if !is_root(test) || !has_programs(test, &["cat"]) {
        return;
    }
    let Some(root) = groups() else { return skip(test, "cgroup blkio is not mounted") };
    for program in programs(test) {
        // fio aborts after two threads in one group.
        let kinds: &[u32] = if *program == Program::Peer { &[0] } else { &[0, 1] };
        for thread in kinds {
            let scratch = Scratch::new(test);
            let name = format!("ferrio-{}-{thread}-{program:?}", std::process::id());
            let job = format!(
                "[global]\nsize=4k\nnumjobs=2\nthread={thread}\ncgroup={name}\n[a]\nexec_prerun=cat /proc/self/cgroup\n"
            );
            run_file(*program, &scratch, &job).succeeded();
            let seen = scratch.read("a.prerun.txt");
            assert!(seen.contains(&format!(":blkio:/{name}\n")), "{program:?} {thread}: {seen}");
            assert!(!root.join(&name).exists(), "{program:?} {thread}");
            run_file(*program, &scratch, &format!("{job}cgroup_nodelete=1\n")).succeeded();
            assert!(root.join(&name).exists(), "{program:?} {thread}");
            std::fs::remove_dir(root.join(&name)).expect("an empty group");
        }
    }
    let scratch = Scratch::new(test);
    let refused = run(Program::Ferrio, &scratch, "--name=a --size=4k --cgroup=no/such/group");
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("no/such/group: No such file or directory"), "{}", refused.stderr);
}

// Values and texts as fio 3.41 takes and prints them on a machine with one node.
#[test]
fn numa_nodes_are_checked_and_adopted() {
    let test = "numa_nodes_are_checked_and_adopted";
    if !has_programs(test, &["strace"]) {
        return;
    }
    let refusals = [
        ("numa_mem_policy=prefer", "fio: one node is needed for 'prefer'"),
        ("numa_mem_policy=bind", "fio: a nodelist is needed for 'bind'"),
        ("numa_mem_policy=local:0", "fio: NO nodelist for 'local'"),
        ("numa_mem_policy=bind:700", "fio: numa_parse_nodestring failed"),
        ("numa_mem_policy=bind:x", "fio: numa_parse_nodestring failed"),
        ("numa_mem_policy=foo", "fio: memory policy should be: default, prefer, bind, interleave, local"),
        ("numa_cpu_nodes=700", "fio: numa_parse_nodestring failed"),
    ];
    for program in programs(test) {
        let scratch = Scratch::new(test);
        for (option, text) in refusals {
            let refused = run(*program, &scratch, &format!("--name=a --size=4k --{option}"));
            assert_eq!(refused.code, Some(1), "{program:?} {option}");
            for line in [text, &format!("fio: failed parsing {option}")] {
                assert!(refused.stderr.contains(line), "{program:?} {option}: {}", refused.stderr);
            }
        }
        for (option, call) in [
            ("numa_mem_policy=bind:0", "set_mempolicy(MPOL_BIND, [0x00000000000001"),
            ("numa_mem_policy=prefer:0", "set_mempolicy(MPOL_PREFERRED, [0x00000000000001"),
            ("numa_mem_policy=interleave:0", "set_mempolicy(MPOL_INTERLEAVE, [0x00000000000001"),
            ("numa_mem_policy=local", "set_mempolicy(MPOL_LOCAL, "),
            ("numa_cpu_nodes=0", "sched_setaffinity(0, "),
        ] {
            let arguments = format!("--name=a --size=4k --{option}");
            let strace = "strace -f -e trace=set_mempolicy,sched_setaffinity -o trace";
            Run::new(*program, scratch.path(), &arguments).under(strace).finish().succeeded();
            assert!(scratch.read("trace").contains(call), "{program:?} {option}: {}", scratch.read("trace"));
        }
    }
}

/// Bytes that are not UTF-8 are shown as a replacement character, but the file is opened by its exact name.
#[test]
fn a_job_file_may_have_any_name() {
    let test = "a_job_file_may_have_any_name";
    for program in programs(test) {
        let scratch = Scratch::new(test);
        let name = OsStr::from_bytes(b"j\xff\xc3(.fio");
        std::fs::write(scratch.path().join(name), "[a]\nioengine=null\nsize=64k\ninclude more\n").expect("a job file");
        scratch.write("more", "bs=8k\n");
        let run = |after: &str| {
            let script = format!("exec \"$0\" \"$@\" \"$(printf 'j\\377\\303(.fio')\"{after}");
            Run::new(*program, scratch.path(), "--output-format=terse,json").in_shell(&script).finish()
        };
        assert!(run("").succeeded().quiet().stdout.contains("\"total_ios\" : 8,"), "{program:?}");
        assert_eq!(run("-missing").code, Some(1), "{program:?}");
    }
}
