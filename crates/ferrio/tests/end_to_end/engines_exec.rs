//! `ioengine=exec`: a program runs beside the jobs, as long as its job and no longer.
//!
//! Start reading at [`programs_are_run_as_by_the_peer`].

use crate::outline::outline;
use crate::support::{Program, Run, Scratch, peer_too, send};
use rustix::process::Signal;
use std::os::unix::fs::PermissionsExt;

/// Ferrio, and fio if it is installed.
fn programs(test: &str) -> &'static [Program] {
    if peer_too(test) { &[Program::Ferrio, Program::Peer] } else { &[Program::Ferrio] }
}

/// A script that writes its arguments to a file and then executes `rest`.
fn script(scratch: &Scratch, rest: &str) -> String {
    let text = format!(
        "#!/bin/sh\necho \"$# arguments\"; for word in \"$@\"; do echo \"<$word>\"; done\necho oops >&2\n{rest}\n"
    );
    scratch.write("script", text);
    std::fs::set_permissions(scratch.join("script"), std::fs::Permissions::from_mode(0o755)).expect("a script");
    scratch.join("script").display().to_string()
}

/// The processes whose only argument this is, given to `sleep`.
fn sleepers(seconds: &str) -> usize {
    let wanted = format!("sleep\0{seconds}\0").into_bytes();
    let processes = std::fs::read_dir("/proc").expect("processes").filter_map(Result::ok);
    processes.filter(|entry| std::fs::read(entry.path().join("cmdline")).is_ok_and(|line| line == wanted)).count()
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if is_so() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("still not so: {what}");
}

#[test]
fn programs_are_run_as_by_the_peer() {
    let test = "programs_are_run_as_by_the_peer";
    let scratch = Scratch::new(test);
    let program = script(&scratch, "exit 5");
    let job =
        format!("[e]\nioengine=exec\nprogram={program}\narguments=a  b 'c d' $HOME * %n%n %r %x\nruntime=1200ms\n");
    scratch.write("job.fio", job);
    for thread in ["--thread=0", "--thread=1"] {
        for program in programs(test) {
            let finished =
                Run::new(*program, scratch.path(), &format!("{thread} job.fio")).finish().succeeded().quiet();
            // As in fio, words are split at blanks and not interpreted as by a shell.
            let words = ["a", "b", "'c", "d'", "$HOME", "*", "ee", "1", "%x"];
            let expected: String = words.iter().flat_map(|word| ["<", word, ">\n"]).collect();
            assert_eq!(scratch.read("e.stdout"), format!("{} arguments\n{expected}", words.len()), "{program:?}");
            assert_eq!(scratch.read("e.stderr"), "oops\n");
            assert!(finished.stdout.contains("e: (groupid=0, jobs=1): err= 0"), "{}", finished.all());
            std::fs::remove_file(scratch.join("e.stdout")).unwrap();
            std::fs::remove_file(scratch.join("e.stderr")).unwrap();
        }
    }
}

#[test]
fn reports_have_the_lines_of_the_peer() {
    let test = "reports_have_the_lines_of_the_peer";
    let scratch = Scratch::new(test);
    for job in [
        "--name=e --ioengine=exec --program=true --std_redirect=0 --runtime=5 --number_ios=3 --thread",
        "--name=e --ioengine=exec --program=sleep --arguments=0 --runtime=5 --number_ios=2 --thread --grace_time=0",
        // Options on I/O have no effect with this engine.
        "--name=e --ioengine=exec --program=true --runtime=1 --number_ios=2 --rw=write --bs=1m --size=2m --verify=md5 --thread",
    ] {
        let report = |program: &Program| {
            let finished = Run::new(*program, scratch.path(), job).finish().succeeded().quiet();
            outline(&finished.stdout, false)
        };
        let reports: Vec<_> = programs(test).iter().map(report).collect();
        assert!(reports.iter().all(|report| *report == reports[0]), "{job}: {reports:#?}");
    }
}

#[test]
fn a_job_lasts_as_long_as_its_runtime_or_its_program() {
    let scratch = Scratch::new("a_job_lasts_as_long_as_its_runtime_or_its_program");
    let runtime = |options: &str| {
        let job = format!("--name=e --ioengine=exec --std_redirect=0 --output-format=json {options}");
        let finished = Run::new(Program::Ferrio, scratch.path(), &job).finish().succeeded().quiet();
        let document: serde_json::Value = serde_json::from_str(&finished.stdout).unwrap();
        document["jobs"][0]["job_runtime"].as_u64().unwrap()
    };
    // The program ends at once.
    assert!(runtime("--program=true --runtime=700ms") >= 700);
    // Without `runtime` it would never end; 100 s are far more than a busy machine needs for 300 ms.
    assert!(runtime("--program=sleep --arguments=1000.1 --runtime=300ms") < 100_000);
    assert!(runtime("--program=sleep --arguments=0.6") >= 600);
    assert_eq!(sleepers("1000.1"), 0);
}

#[test]
fn a_program_that_fails_by_itself_is_told() {
    let scratch = Scratch::new("a_program_that_fails_by_itself_is_told");
    let job = "--name=e --ioengine=exec --program=false";
    let finished = Run::new(Program::Ferrio, scratch.path(), job).finish().succeeded().quiet();
    assert!(finished.stdout.contains("\ne : false ended with exit code 1\n"), "{}", finished.all());
    // A program that is ended by `runtime` is no failure.
    let job = "--name=e --ioengine=exec --program=sleep --arguments=1000.2 --runtime=100ms";
    let finished = Run::new(Program::Ferrio, scratch.path(), job).finish().succeeded().quiet();
    assert!(!finished.stdout.contains("ended"), "{}", finished.all());
}

#[test]
fn clones_do_not_write_to_one_file() {
    let scratch = Scratch::new("clones_do_not_write_to_one_file");
    let job = "--name=e --ioengine=exec --program=echo --arguments=hello --numjobs=3";
    Run::new(Program::Ferrio, scratch.path(), job).finish().succeeded().quiet();
    for name in ["e.stdout", "e.1.stdout", "e.2.stdout"] {
        assert_eq!(scratch.read(name), "hello\n");
    }
}

#[test]
fn what_cannot_be_run_is_an_error() {
    let scratch = Scratch::new("what_cannot_be_run_is_an_error");
    scratch.write("text", "no program");
    for (options, errno, text) in [
        ("", 22, "exec: option program=: the program to run has to be given"),
        ("--program=/no/such", 2, "exec: cannot run /no/such: No such file or directory"),
        ("--program=no-such-program", 2, "exec: cannot run no-such-program: No such file or directory"),
        ("--program=./text", 13, "exec: cannot run ./text: Permission denied"),
        ("--program=true --grace_time=-1", 22, "exec: option grace_time=-1: seconds, which are not negative"),
    ] {
        for thread in ["--thread=0", "--thread=1"] {
            let job = format!("--name=e {thread} --ioengine=exec {options} --runtime=1000");
            let finished = Run::new(Program::Ferrio, scratch.path(), &job).finish();
            assert_eq!(finished.code, Some(1), "{}", finished.all());
            assert!(finished.stderr.contains(text), "{}", finished.all());
            assert!(finished.stdout.contains(&format!("err={errno}/")), "{}", finished.all());
        }
    }
    let job = "--name=no/such --ioengine=exec --program=true --runtime=1000";
    let finished = Run::new(Program::Ferrio, scratch.path(), job).finish();
    assert_eq!(finished.code, Some(1), "{}", finished.all());
    assert!(
        finished.stderr.contains("exec: cannot make no/such.stdout: No such file or directory"),
        "{}",
        finished.all()
    );
    // fio's job continues without the program, but ends if no program is named.
    if peer_too("what_cannot_be_run_is_an_error") {
        let finished = Run::new(Program::Peer, scratch.path(), "--name=e --ioengine=exec --runtime=1").finish();
        assert_eq!(finished.code, Some(1), "{}", finished.all());
    }
}

#[test]
fn nothing_outlives_the_run() {
    let test = "nothing_outlives_the_run";
    let scratch = Scratch::new(test);
    // A script that ignores every signal that can be ignored, with a child that does so, too.
    let program = script(&scratch, "trap '' TERM INT HUP; sleep 1000.3 & wait");
    let job = |options: &str| {
        format!("--name=e --ioengine=exec --program={program} --runtime=500 --grace_time=500 {options}")
    };
    for options in ["", "--thread", "--numjobs=2", "--thread --numjobs=2 --grace_time=0"] {
        let n_jobs = if options.contains("numjobs") { 2 } else { 1 };
        let mut run = Run::new(Program::Ferrio, scratch.path(), &job(options)).start();
        run.wait_until("programs at work", |_| sleepers("1000.3") == n_jobs);
        send(run.pid(), Signal::INT);
        let finished = run.finish();
        assert_eq!(finished.code, Some(128), "{}", finished.all());
        // Children of the program were killed, too, and end soon.
        wait_until(options, || sleepers("1000.3") == 0);
    }
    // The end of its runtime, of its turns, and that of the whole run with a failure of another job.
    for (options, code) in [
        ("--runtime=300ms --grace_time=0", 0),
        ("--number_ios=2 --grace_time=0", 0),
        ("--name=f --filename=/dev/full --rw=write --size=4k --startdelay=500ms --exitall_on_error", 1),
    ] {
        let finished = Run::new(Program::Ferrio, scratch.path(), &job(options)).finish();
        assert_eq!(finished.code, Some(code), "{}", finished.all());
        // Children of the program were killed, too, and end soon.
        wait_until(options, || sleepers("1000.3") == 0);
    }
}

#[test]
fn what_is_killed_takes_its_program_along() {
    let scratch = Scratch::new("what_is_killed_takes_its_program_along");
    for (thread, victim_is_job) in [("--thread=0", false), ("--thread=1", false), ("--thread=0", true)] {
        let job = format!("--name=e --ioengine=exec --program=sleep --arguments=1000.4 --runtime=500 {thread}");
        let mut run = Run::new(Program::Ferrio, scratch.path(), &job).start();
        run.wait_until("a program at work", |_| sleepers("1000.4") == 1);
        let victim = if victim_is_job { run.jobs()[0] } else { run.pid() };
        send(victim, Signal::KILL);
        run.finish();
        wait_until("it is gone", || sleepers("1000.4") == 0);
    }
}

#[test]
fn other_jobs_neither_end_it_nor_wait_for_it() {
    let test = "other_jobs_neither_end_it_nor_wait_for_it";
    let scratch = Scratch::new(test);
    // Long enough for the peer to see it end: 300 ms.
    let reads = "--name=n --ioengine=null --size=300k --rate=1m";
    let runs = "--name=e --ioengine=exec --program=true --runtime=30 --number_ios=8";
    let burns = "--name=c --ioengine=cpuio --cpuload=10 --runtime=1000 --exit_on_io_done=1";
    for program in programs(test) {
        let finished = Run::new(*program, scratch.path(), &format!("{reads} {runs} {burns}")).finish().succeeded();
        for name in ["n", "e", "c"] {
            assert!(finished.stdout.contains(&format!("{name}: (groupid=0, jobs=1): err= 0")), "{}", finished.all());
        }
        assert!(finished.stdout.contains("total=8,0,0,0"), "{}", finished.all());
    }
}
