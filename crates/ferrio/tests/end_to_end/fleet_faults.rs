//! Runs of three workers with a fault at a moment that a seed chooses: each ends, says what is missing, and leaves nothing behind.
//!
//! Start reading at [`run_with_fault`].

use crate::counterparts::Counterpart;
use crate::fleets::{fleet, is_gone, scratch};
use crate::support::{Finished, Program, Run, Running, Scratch, send};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::process::Command;
use std::time::{Duration, Instant};

const JOB: &str = "--json --name=r --ioengine=null --size=1g --rw=read --rate_iops=1000 --time_based --runtime=2";
const HOSTS: [&str; 3] = ["a", "b", "c"];

/// What happens to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    KillWorker,
    StopWorker,
    KillCoordinator,
    PauseCoordinator,
    Interrupt,
    InterruptTwice,
    FullOutput,
    FullPage,
    CutCable,
    SlowLink,
}

const HERE: [Fault; 8] = [
    Fault::KillWorker,
    Fault::StopWorker,
    Fault::KillCoordinator,
    Fault::PauseCoordinator,
    Fault::Interrupt,
    Fault::InterruptTwice,
    Fault::FullOutput,
    Fault::FullPage,
];

/// Numbers of a seed.
struct Numbers(u64);

impl Numbers {
    /// The next one, below a limit.
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Shows how a run went.
fn tell(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// The worker of a host, if it runs by now.
fn worker(scratch: &Scratch, host: &str) -> Option<u32> {
    fs::read_to_string(scratch.join(&format!("pid.{host}"))).ok()?.trim().parse().ok()
}

/// Makes a run with the fault of this seed, on workers here.
fn run_with_fault(fault: Fault, seed: u64) {
    let mut numbers = Numbers(seed);
    let scratch = scratch(&format!("fleet-fault-{seed}-{fault:?}"));
    let lost = HOSTS[numbers.below(3) as usize];
    let goes_on = if numbers.below(2) == 0 { "end" } else { "continue" };
    let mut run = fleet(&scratch, &HOSTS.join(","), &format!("--on-lost-host={goes_on} {JOB}"));
    match fault {
        Fault::FullOutput => run = run.in_shell("exec \"$0\" \"$@\" > /dev/full"),
        Fault::FullPage => {
            run = run.words(&["--html=page.html".to_owned()]).in_shell("trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\"");
        }
        _ => {}
    }
    let mut run = run.start();
    std::thread::sleep(Duration::from_millis(numbers.below(2_500)));
    strike(fault, &mut run, &scratch, lost, &mut numbers);
    let ended = run.finish();
    let ended_at = Instant::now();
    let workers: Vec<u32> = HOSTS.iter().filter_map(|host| worker(&scratch, host)).collect();
    while !workers.iter().all(|pid| is_gone(*pid)) {
        assert!(ended_at.elapsed() < Duration::from_secs(60), "{fault:?} {seed}: workers go on: {}", ended.all());
        std::thread::sleep(Duration::from_millis(5));
    }
    check(fault, seed, &ended);
    tell(&format!(
        "{seed} {fault:?} {lost} {goes_on}: exit code {:?}, workers gone after {} ms",
        ended.code,
        ended_at.elapsed().as_millis()
    ));
}

fn strike(fault: Fault, run: &mut Running, scratch: &Scratch, host: &str, numbers: &mut Numbers) {
    match fault {
        Fault::KillWorker | Fault::StopWorker => {
            // A worker that does not run yet is no worker to lose.
            let mut pid = worker(scratch, host);
            while pid.is_none() {
                std::thread::sleep(Duration::from_millis(5));
                pid = worker(scratch, host);
            }
            let signal = if fault == Fault::KillWorker { Signal::KILL } else { Signal::STOP };
            send(pid.expect("a worker"), signal);
        }
        Fault::KillCoordinator => send(run.pid(), Signal::KILL),
        Fault::PauseCoordinator => {
            send(run.pid(), Signal::STOP);
            std::thread::sleep(Duration::from_millis(500 + numbers.below(4_000)));
            send(run.pid(), Signal::CONT);
        }
        Fault::Interrupt => send(run.pid(), Signal::INT),
        Fault::InterruptTwice => {
            send(run.pid(), Signal::INT);
            std::thread::sleep(Duration::from_millis(numbers.below(100)));
            send(run.pid(), Signal::INT);
        }
        Fault::FullOutput | Fault::FullPage | Fault::CutCable | Fault::SlowLink => {}
    }
}

/// A report says what is missing, or there is none for a reason that was said.
fn check(fault: Fault, seed: u64, ended: &Finished) {
    let all = || format!("{fault:?} {seed}: {}", ended.all());
    if fault == Fault::KillCoordinator {
        assert!(ended.signal == Some(9) || ended.code == Some(0), "{}", all());
        return;
    }
    if fault == Fault::FullOutput {
        assert!(ended.code.is_some_and(|code| code != 0), "{}", all());
        return;
    }
    assert!(ended.signal.is_none() || fault == Fault::InterruptTwice, "{}", all());
    if ended.stdout.is_empty() {
        assert!(ended.code != Some(0), "{}", all());
        assert!(!ended.stderr.is_empty() || matches!(fault, Fault::Interrupt | Fault::InterruptTwice), "{}", all());
        return;
    }
    let document: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {}", all()));
    let hosts = document["hosts"].as_array().unwrap_or_else(|| panic!("{}", all()));
    assert_eq!(hosts.len(), 3, "{}", all());
    let mut n_lost = 0;
    for host in hosts {
        if host["lost"].is_string() {
            n_lost += 1;
            let name = host["host"].as_str().expect("a name");
            assert!(ended.stderr.contains(&format!("host {name} is lost")), "{}", all());
        }
        assert!(host["is_partial"] == false || host["lost"].is_string(), "{}", all());
    }
    assert!(n_lost == 0 || ended.code != Some(0), "{}", all());
    if fault == Fault::FullPage {
        assert!(ended.code != Some(0), "{}", all());
    }
}

#[test]
fn a_run_ends_whatever_is_killed_or_stopped() {
    let (first, second) = HERE.split_at(HERE.len() / 2);
    std::thread::scope(|scope| {
        for half in [first, second] {
            scope.spawn(move || (1..).zip(half).for_each(|(seed, fault)| run_with_fault(*fault, seed)));
        }
    });
}

/// `FERRIO_FAULTS=SEED:RUNS`; each run says its own seed.
#[test]
#[ignore = "takes many minutes: .ci/nightly"]
fn many_runs_with_faults_at_random_moments_end() {
    let asked = std::env::var("FERRIO_FAULTS").unwrap_or_else(|_| "1:100".to_owned());
    let (first, n_runs) = asked.split_once(':').expect("SEED:RUNS");
    let (first, n_runs): (u64, u64) = (first.parse().expect("a seed"), n_runs.parse().expect("a number"));
    for seed in first..first + n_runs {
        run_with_fault(HERE[(seed % HERE.len() as u64) as usize], seed);
    }
}

/// Faults of the network between hosts of their own.
#[test]
#[ignore = "takes many minutes: .ci/nightly"]
fn many_runs_on_broken_networks_end() {
    let test = "many_runs_on_broken_networks_end";
    let Some(hosts) = Counterpart::start_with(test, "hosts", &["3", "ssh"]) else { return };
    let asked = std::env::var("FERRIO_FAULTS").unwrap_or_else(|_| "1:20".to_owned());
    let (first, n_runs) = asked.split_once(':').expect("SEED:RUNS");
    let (first, n_runs): (u64, u64) = (first.parse().expect("a seed"), n_runs.parse().expect("a number"));
    for seed in first..first + n_runs {
        let fault = if seed % 2 == 0 { Fault::CutCable } else { Fault::SlowLink };
        run_on_broken_network(&hosts, fault, seed);
    }
}

fn run_on_broken_network(hosts: &Counterpart, fault: Fault, seed: u64) {
    let mut numbers = Numbers(seed);
    let scratch = scratch(&format!("fleet-network-{seed}"));
    let host = ["h2", "h3"][numbers.below(2) as usize];
    let options = format!(
        "fleet --hosts=h1,h2,h3 --remote-program={} --join-limit=20 --on-lost-host=continue {JOB}",
        Program::Ferrio.path()
    );
    let run = Run::new(Program::Ferrio, scratch.path(), &options).under(&format!("{} h1", hosts.setting("ON")));
    let run = run.words(&[format!("--rsh={}", hosts.setting("SSH"))]).start();
    std::thread::sleep(Duration::from_millis(numbers.below(4_000)));
    let on = |words: &[&str]| {
        let status = Command::new(hosts.setting("ON")).arg(host).args(words).status().expect("a script");
        assert!(status.success(), "{words:?}");
    };
    let cable = |script: &str| {
        assert!(Command::new(hosts.directory.join(script)).arg(host).status().expect("a script").success());
    };
    if fault == Fault::CutCable {
        cable("cut");
    } else {
        let rate = ["32kbit", "256kbit", "1mbit"][numbers.below(3) as usize];
        let words = format!("tc qdisc add dev eth0 root tbf rate {rate} burst 4kb latency 500ms");
        on(&words.split(' ').collect::<Vec<_>>());
    }
    let ended = run.finish();
    check(fault, seed, &ended);
    tell(&format!("{seed} {fault:?} {host}: exit code {:?}", ended.code));
    if fault == Fault::CutCable {
        cable("join");
    } else {
        on(&["tc", "qdisc", "del", "dev", "eth0", "root"]);
    }
}
