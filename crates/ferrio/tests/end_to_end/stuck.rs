//! A job that is blocked in a system call ends on the second signal at the latest, and the report names the job.
//!
//! Start reading at [`end`].

use crate::counterparts::receives_signals;
use crate::support::{Finished, Program, Run, Running, Scratch, has_programs, is_root, send, skip, tool};
use rustix::process::Signal;
use serde_json::Value;

/// A thread of the program or of one of its jobs is in `openat`, and still is a moment later.
fn is_in_open(running: &Running) -> bool {
    is_in(running, if cfg!(target_arch = "x86_64") { "257 " } else { "56 " })
}

/// True if the process is blocked in `write`.
fn is_in_write(running: &Running) -> bool {
    is_in(running, if cfg!(target_arch = "x86_64") { "1 " } else { "64 " })
}

fn is_in(running: &Running, call: &str) -> bool {
    let is_in_it = || {
        let tasks = |pid| std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let all = running.jobs().into_iter().chain([running.pid()]).flat_map(tasks);
        let calls = all.map(|task| std::fs::read_to_string(task.path().join("syscall")).unwrap_or_default());
        calls.into_iter().any(|now| now.starts_with(call))
    };
    (0..20).all(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        is_in_it()
    })
}

/// Sends a signal, and another after the run has reported the first.
fn end(mut running: Running, scratch: &Scratch, signals: [Signal; 2]) -> Finished {
    running.wait_until("ears for signals", |running| receives_signals(running.pid()));
    // It is opened after the names of the targets were looked up, for which a dead server has a second.
    running.wait_until("an output", |_| scratch.join("out").exists());
    send(running.pid(), signals[0]);
    running.wait_until("an answer", |_| scratch.read("out").contains("terminating on signal"));
    send(running.pid(), signals[1]);
    running.finish()
}

/// The document behind the text of `--output-format=normal,json`.
fn document(output: &str) -> Value {
    let text = &output[output.find("\n{\n").expect("a document")..];
    let end = text.find("\n}\n").expect("its end") + 3;
    serde_json::from_str(&text[..end]).expect("JSON")
}

/// A pipe without a writer takes the place of the file before the job opens it.
const BLOCKED: &str = "[stuck]\nsize=64k\nrw=read\nfilename=f\nexec_prerun=sh before\n\
                       [other]\nioengine=null\nsize=1t\ntime_based\nruntime=100000\n";

#[test]
fn a_job_that_blocks_in_open() {
    for (more, signals) in [("", [Signal::INT, Signal::INT]), ("thread\n", [Signal::TERM, Signal::INT])] {
        let scratch = Scratch::new("blocked-in-open");
        scratch.write("before", "rm -f f; mkfifo f");
        scratch.write("jobs.fio", format!("[global]\n{more}{BLOCKED}"));
        let arguments = "jobs.fio --output=out --output-format=normal,json";
        let mut running = Run::new(Program::Ferrio, scratch.path(), arguments).start();
        running.wait_until("a job in open", is_in_open);
        let finished = end(running, &scratch, signals);
        let output = scratch.read("out");
        let what = format!("{}\n{output}", finished.all());
        assert_eq!(finished.code, Some(129), "{what}");
        let line = "hasn't exited in 3 seconds, it appears to be stuck. Doing forceful exit of this job.";
        assert!(finished.stderr.contains("fio: job 'stuck' (state=") && finished.stderr.contains(line), "{what}");
        assert!(output.contains("\nstuck: (groupid=0, jobs=1): err= 4 (") || output.contains("err=4/"), "{what}");
        let document = document(&output);
        let errors: Vec<_> = document["jobs"].as_array().expect("jobs").iter().map(|job| &job["error"]).collect();
        assert_eq!(errors, [&Value::from(4), &Value::from(0)], "{what}");
    }
}

/// A file system whose server never answers: a process that looks up a path in it waits, as with a dead NFS server.
struct DeadFileSystem {
    path: std::path::PathBuf,
    /// The connection to the kernel; closing it gives every waiting process an error.
    server: std::process::Child,
}

impl DeadFileSystem {
    fn new(test: &str, scratch: &Scratch) -> Option<Self> {
        if !is_root(test) || !has_programs(test, &["mount", "umount"]) {
            return None;
        }
        let path = scratch.join("dead");
        std::fs::create_dir_all(&path).expect("a directory");
        let script = format!(
            "exec 3<>/dev/fuse || exit; mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 none {} || exit; \
             echo mounted; read line",
            path.display()
        );
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &script]).stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut server = command.spawn().expect("a shell");
        let mut answer = String::new();
        let output = server.stdout.take().expect("a pipe");
        std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut answer).expect("text");
        if answer != "mounted\n" {
            skip(test, "no file system without a server can be mounted");
        }
        let this = Self { path, server };
        (answer == "mounted\n").then_some(this)
    }
}

impl Drop for DeadFileSystem {
    fn drop(&mut self) {
        tool(&format!("umount --lazy {}", self.path.display()));
        drop(self.server.stdin.take());
        let _ = self.server.wait();
    }
}

#[test]
fn a_server_that_does_not_answer() {
    let test = "a_server_that_does_not_answer";
    let jobs = [
        "--rw=read",
        "--rw=write --create_serialize=0",
        "--rw=write --create_on_open=1 --thread",
        // The size of a zone is asked for before anything else.
        "--rw=read --zonemode=zbd --size=4z",
    ];
    for job in jobs {
        let scratch = Scratch::new("dead-server");
        let Some(dead) = DeadFileSystem::new(test, &scratch) else { return };
        let arguments = format!(
            "--name=alive --ioengine=null --size=4k --name=stuck --size=64k {job} --filename={}/file --output=out",
            dead.path.display()
        );
        let running = Run::new(Program::Ferrio, scratch.path(), &arguments).start();
        let finished = end(running, &scratch, [Signal::INT, Signal::INT]);
        let what = format!("{}\n{}", finished.all(), scratch.read("out"));
        assert_eq!(finished.code, Some(129), "{what}");
        let line = "fio: job 'stuck' hasn't exited in 3 seconds after the second signal, it appears to be stuck.";
        assert!(finished.stderr.contains(line), "{what}");
        assert!(scratch.read("out").contains("Run status group 0 (all jobs):"), "{what}");
    }
}

#[test]
fn bandwidth_logs_that_do_not_open() {
    for (signal, number) in [(Signal::INT, 2), (Signal::TERM, 15)] {
        let scratch = Scratch::new("bandwidth-pipe");
        tool(&format!("mkfifo {}", scratch.join("agg-read_bw.log").display())).expect("a pipe");
        let arguments = "--bandwidth-log --name=a --ioengine=null --size=4k";
        let mut running = Run::new(Program::Ferrio, scratch.path(), arguments).start();
        running.wait_until("a log in open", is_in_open);
        // No job has begun. As while job files are read, the signal ends the program.
        send(running.pid(), signal);
        assert_eq!(running.finish().signal, Some(number));
    }
}

/// A full pipe, kept open without a reader.
fn full_pipe(scratch: &Scratch, name: &str) -> std::fs::File {
    let path = scratch.join(name);
    tool(&format!("mkfifo {}", path.display())).expect("a pipe");
    let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let mut options = std::fs::File::options();
    let mut pipe = std::os::unix::fs::OpenOptionsExt::custom_flags(options.read(true).write(true), flags)
        .open(path)
        .expect("a pipe");
    while std::io::Write::write(&mut pipe, &[0; 4096]).is_ok() {}
    pipe
}

#[test]
fn bandwidth_logs_that_take_no_rows() {
    let scratch = Scratch::new("full-bandwidth-pipe");
    let _pipe = full_pipe(&scratch, "agg-read_bw.log");
    let arguments = "--bandwidth-log --bwavgtime=10 --name=a --ioengine=null --size=1t --time_based --runtime=100000 \
                     --output=out";
    let mut running = Run::new(Program::Ferrio, scratch.path(), arguments).start();
    running.wait_until("a log in write", is_in_write);
    let finished = end(running, &scratch, [Signal::INT, Signal::INT]);
    let what = format!("{}\n{}", finished.all(), scratch.read("out"));
    let line = "fio: bandwidth logs are not whole: writing them appears to be stuck\n";
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(129), line), "{what}");
    assert!(scratch.read("out").contains("Run status group 0 (all jobs):"), "{what}");
}

#[test]
fn traces_that_do_not_come_to_be_merged() {
    let scratch = Scratch::new("merge-of-a-pipe");
    tool(&format!("mkfifo {}", scratch.join("pipe").display())).expect("a pipe");
    let arguments =
        "--name=stuck --ioengine=null --size=4k --read_iolog=pipe --merge_blktrace_file=merged --output=out";
    let running = Run::new(Program::Ferrio, scratch.path(), arguments).start();
    let finished = end(running, &scratch, [Signal::INT, Signal::TERM]);
    let line = "fio: stuck: stopped while it merged its traces";
    assert!(finished.code == Some(1) && finished.stderr.contains(line), "{}", finished.all());
}

/// The merge never comes back from the kernel, so that nothing but the second signal ends the run.
#[test]
fn traces_of_a_dead_server_are_given_up() {
    let scratch = Scratch::new("merge-of-a-dead-server");
    let Some(dead) = DeadFileSystem::new("traces_of_a_dead_server_are_given_up", &scratch) else { return };
    let arguments = format!(
        "--name=stuck --ioengine=null --size=4k --read_iolog={}/trace --merge_blktrace_file=merged --output=out",
        dead.path.display()
    );
    let running = Run::new(Program::Ferrio, scratch.path(), &arguments).start();
    let finished = end(running, &scratch, [Signal::INT, Signal::TERM]);
    let line = "fio: stuck: stuck while its traces are merged, given up after the second signal";
    assert!(finished.code == Some(1) && finished.stderr.contains(line), "{}", finished.all());
}

#[test]
fn a_signal_that_was_ignored_before_is_heard() {
    // A shell without job control starts background processes with SIGINT ignored.
    let scratch = Scratch::new("ignored-before");
    let script = "trap '' INT TERM; exec \"$0\" \"$@\"";
    // The job file is a pipe: nothing has begun when it is read.
    for (signal, number) in [(Signal::INT, 2), (Signal::TERM, 15)] {
        tool(&format!("mkfifo {}", scratch.join(&format!("jobs{number}")).display())).expect("a pipe");
        let run = Run::new(Program::Ferrio, scratch.path(), &format!("jobs{number}"));
        let running = run.in_shell(script).start();
        // The open returns as soon as the program reads.
        let job_file = std::fs::File::options().write(true).open(scratch.join(&format!("jobs{number}")));
        send(running.pid(), signal);
        assert_eq!(running.finish().signal, Some(number));
        drop(job_file);
    }
}
