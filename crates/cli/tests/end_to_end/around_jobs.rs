//! What is done around the I/O of a job: commands, hints, schedulers, syncs at the end.
//!
//! Start reading at [`commands_run_before_and_after`].

use crate::support::{Finished, LoopDevice, Program, Run, Scratch, has_peer, has_programs, is_root, skip};
use crate::system_calls::calls_to;

/// Ferrio, and the peer if it is to be run.
fn programs(test: &str) -> &'static [Program] {
    if has_peer(test) { &[Program::Ferrio, Program::Peer] } else { &[Program::Ferrio] }
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

// fio ends with 0 and without a word.
#[test]
fn a_job_whose_command_fails_fails() {
    let scratch = Scratch::new("prerun_fails");
    let job = "[a]\nsize=4k\nrw=write\ncreate_on_open=1\nexec_prerun=echo out && echo err >&2 && false\n\
               exec_postrun=echo never\n[b]\nsize=4k\n";
    let finished = run_file(Program::Ferrio, &scratch, job);
    assert_eq!(finished.code, Some(1));
    assert!(finished.stderr.contains("fio: a: exec_prerun ended with exit status: 1; the job does no I/O"));
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
        assert_eq!((read("none").code, chosen()), (Some(0), before), "{program:?}");
    }
}
