//! Signals to the program and to its jobs, under both programs.
//!
//! No test waits for a time: signals are sent when the jobs are seen to do I/O, and endless jobs end by them.

use crate::support::{Program, Run, Running, Scratch, peer_too, send, skip};
use rustix::process::Signal;

/// Two jobs of 100,000 s that touch a file, so that it can be seen that they run.
const ENDLESS: &str = "--name=a --size=64k --rw=write --fallocate=none --time_based --runtime=100000 --numjobs=2";

fn programs(test: &str) -> &'static [Program] {
    if peer_too(test) { &[Program::Ferrio, Program::Peer] } else { &[Program::Ferrio] }
}

/// Starts endless jobs and waits until both have written.
fn start(program: Program, scratch: &Scratch, more: &str) -> Running {
    let mut running = Run::new(program, scratch.path(), &format!("{ENDLESS} {more}")).start();
    let has_data = |name: &str| std::fs::metadata(scratch.join(name)).is_ok_and(|data| data.len() == 64 << 10);
    running.wait_until("data in both files", |running| {
        running.jobs().len() >= 2 && has_data("a.0.0") && has_data("a.1.0")
    });
    running
}

#[test]
fn signals_that_end_a_run() {
    for program in programs("signals_that_end_a_run") {
        for (signal, number) in [(Signal::INT, 2), (Signal::TERM, 15)] {
            let scratch = Scratch::new("ending");
            let running = start(*program, &scratch, "");
            send(running.pid(), signal);
            let finished = running.finish();
            let what = finished.all();
            assert_eq!((finished.code, finished.stderr.as_str()), (Some(128), ""), "{what}");
            assert!(finished.stdout.contains(&format!("\nfio: terminating on signal {number}\n")), "{what}");
            assert_eq!(finished.stdout.matches("err= 0: pid=").count(), 2, "{what}");
            assert_eq!(finished.stdout.matches("issued rwts: total=0,").count(), 2, "{what}");
            assert_eq!(finished.stdout.matches("Run status group 0 (all jobs):").count(), 1, "{what}");
        }
    }
}

#[test]
fn failed_jobs_count_beside_the_signal() {
    // fio counts only jobs that fail after the signal.
    let scratch = Scratch::new("failed-and-ended");
    let bad = "--name=bad --filename=/dev/full --size=64k --rw=write";
    let mut running = start(Program::Ferrio, &scratch, bad);
    running.wait_until("the failure", |running| running.jobs().len() == 2);
    send(running.pid(), Signal::INT);
    let finished = running.finish();
    assert_eq!(finished.code, Some(129), "{}", finished.all());
}

#[test]
fn signals_that_ask_for_a_report() {
    for program in programs("signals_that_ask_for_a_report") {
        let scratch = Scratch::new("asking");
        let mut running = start(*program, &scratch, "--output=report");
        for n_reports in 1..=2 {
            send(running.pid(), Signal::USR1);
            running
                .wait_until("a report", |_| scratch.read("report").matches("Run status group 0").count() == n_reports);
        }
        send(running.pid(), Signal::INT);
        let finished = running.finish();
        assert_eq!(finished.code, Some(128), "{}", finished.all());
        let report = scratch.read("report");
        assert_eq!(report.matches("Run status group 0 (all jobs):").count(), 3, "{report}");
        assert_eq!(report.matches("a: (groupid=0, jobs=1): err= 0: pid=").count(), 6, "{report}");
    }
}

#[test]
fn a_signal_without_a_handler() {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    if ignored.is_none_or(|ignored| ignored & 1 != 0) {
        return skip("a_signal_without_a_handler", "hangups are ignored here, as by nohup");
    }
    for program in programs("a_signal_without_a_handler") {
        let scratch = Scratch::new("hangup");
        let running = start(*program, &scratch, "");
        let jobs = running.jobs();
        send(running.pid(), Signal::HUP);
        // Ferrio's jobs die with it, else its output would stay open; the peer leaves its jobs behind.
        if *program == Program::Peer {
            for job in jobs {
                send(job, Signal::KILL);
            }
        }
        let finished = running.finish();
        assert_eq!(finished.signal, Some(1), "{}", finished.all());
    }
}

#[test]
fn a_job_that_is_killed() {
    for program in programs("a_job_that_is_killed") {
        let scratch = Scratch::new("killed");
        let mut running = start(*program, &scratch, "--output=report");
        // For a dead job ferrio shows the figures of its last report before its death.
        send(running.pid(), Signal::USR1);
        running.wait_until("a report", |_| scratch.read("report").contains("Run status group 0"));
        let job = running.jobs()[0];
        send(job, Signal::KILL);
        running.wait_until("the death", |running| !running.jobs().contains(&job));
        send(running.pid(), Signal::INT);
        let finished = running.finish();
        let report = scratch.read("report");
        // fio does not count a killed job as failed.
        let code = if *program == Program::Ferrio { 129 } else { 128 };
        assert_eq!(finished.code, Some(code), "{}", finished.all());
        let line = format!("fio: pid={job}, got signal=9\n");
        // The peer adds that its table of files is not empty and, if the job dies before its first sample is counted, that it has no percentiles.
        let of_peer = ["fio: file hash not empty on exit\n", "fio: error calculating latency percentiles\n"];
        let left_out = if *program == Program::Ferrio { &[][..] } else { &of_peer[..] };
        let stderr = left_out.iter().fold(finished.stderr.clone(), |stderr, words| stderr.replace(words, ""));
        assert_eq!(stderr, line, "{}", finished.all());
        assert_eq!(report.matches(&format!("a: (groupid=0, jobs=1): err= 0: pid={job}: ")).count(), 2, "{report}");
        assert_eq!(report.matches("a: (groupid=0, jobs=1): err= 0: pid=").count(), 4, "{report}");
    }
}

#[test]
fn a_signal_while_files_are_laid_out() {
    for create_serialize in [1, 0] {
        let scratch = Scratch::new("layout");
        // A file that cannot be written within the time limit of the tests: 1 TiB in blocks of 4 KiB.
        let arguments = format!("--name=a --size=1t --rw=read --fallocate=none --create_serialize={create_serialize}");
        let mut running = Run::new(Program::Ferrio, scratch.path(), &arguments).start();
        running.wait_until("some of the file", |_| scratch.names().contains(&"a.0.0".to_owned()));
        send(running.pid(), Signal::INT);
        let finished = running.finish();
        assert_eq!((finished.code, finished.stderr.as_str()), (Some(128), ""), "{}", finished.all());
        assert!(scratch.names().is_empty(), "the file is gone: {:?}", scratch.names());
    }
}
