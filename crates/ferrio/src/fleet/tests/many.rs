//! Fleets of many hosts, which send figures each second and real records at the end.
//!
//! Start reading at [`hosts_send_figures`].

use super::{Conduct, FleetReport, Stage, answer, aside, hello, interval, outcome, play};
use crate::fleet::wire::secrets::RunKey;
use crate::fleet::wire::service::PATH;
use crate::fleet::wire::{FleetOrder, MeasuredHost};
use std::io::Write;
use std::ops::Range;
use std::pin::Pin;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// A distribution as a job has it: some hundred buckets.
fn busy(seed: u64) -> ferrio_stats::IntervalStats {
    let mut interval = interval(1);
    let direction = &mut interval.stats.directions.0[0];
    direction.clat = ferrio_stats::LatencyStat::new(true);
    for index in 0..400_u64 {
        direction.clat.record(1_000 + (index * index * 37 + seed * 13) % 10_000_000);
        direction.n_completed += 1;
    }
    interval
}

fn busy_outcome(seed: u64) -> MeasuredHost {
    let mut outcome = outcome();
    *outcome.record.workers[0].stats = busy(seed).stats;
    outcome
}

fn conduct(rank: u32, is_done: Arc<AtomicBool>) -> Conduct {
    Conduct::new(move |order, says| match order {
        FleetOrder::Begin { at_ns } => {
            let _ = says.try_send(FleetReport::Began { at_ns: *at_ns });
            tokio::spawn(send(rank, says.clone(), Arc::clone(&is_done)));
        }
        order => answer(order, says, &is_done),
    })
}

async fn send(rank: u32, says: mpsc::Sender<FleetReport>, is_done: Arc<AtomicBool>) {
    for second in 0.. {
        if is_done.load(Ordering::SeqCst) {
            break;
        }
        let mut interval = busy(u64::from(rank) + second);
        (interval.start_ns, interval.end_ns) = (second * 1_000_000_000, (second + 1) * 1_000_000_000);
        let _ = says.try_send(FleetReport::Interval(Box::new(interval)));
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let _ = says.send(FleetReport::Over(Box::new(busy_outcome(u64::from(rank))))).await;
}

/// Memory of this process, MiB, and the CPU time of its threads of this name and of the calling one, seconds.
fn usage() -> (u64, f64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    let mib = line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or_default() / 1_024;
    let mut seconds = 0.0;
    let own = std::fs::read_link("/proc/thread-self").unwrap_or_default();
    for task in std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten() {
        let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        let is_own = own.file_name() == Some(task.file_name().as_os_str());
        if is_own || stat.contains("(ferrio-fleet)") {
            let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
            let ticks: u64 = [11, 12].iter().filter_map(|index| fields.get(*index)?.parse::<u64>().ok()).sum();
            seconds += ticks as f64 / 100.0;
        }
    }
    (mib, seconds)
}

/// Hosts that one process plays at most: each takes two descriptors of its process, one of them as the coordinator's.
const MOST_HOSTS_HERE: u32 = 4_000;

/// What a host does until its call ends; how it ended.
type HostCourse = Pin<Box<dyn Future<Output = String> + Send>>;

/// Hosts come one after the other, as from launchers, which start thousands no faster than the coordinator takes them. Returns the endings that
/// are no dismissals.
async fn come(hosts: impl Iterator<Item = HostCourse>, pause_ms: u64) -> Vec<String> {
    let mut tasks = Vec::new();
    for host in hosts {
        tasks.push(tokio::spawn(host));
        tokio::time::sleep(Duration::from_millis(pause_ms)).await;
    }
    let mut endings = Vec::new();
    for task in tasks {
        endings.push(task.await.expect("no panic"));
    }
    endings.retain(|ending| ending != "dismissed: ");
    endings
}

/// The hosts of these ranks in a process of their own, which ends their run when its standard input is closed.
fn start_elsewhere(stage: &Stage, ranks: &Range<u32>) -> Child {
    let mut program = std::env::current_exe().map(Command::new).expect("the tests");
    let mut child = program
        .args(["fleet::tests::many::hosts_of_another_process", "--exact", "--ignored", "--nocapture"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("the tests in another process");
    let line = format!("{} {} {} {} {}\n", stage.address, stage.key.to_text(), ranks.start, ranks.end, stage.n_hosts);
    child.stdin.as_mut().expect("a pipe").write_all(line.as_bytes()).expect("a line");
    child
}

/// The part of a larger fleet that [`start_elsewhere`] starts.
#[test]
#[ignore = "started by thousands_of_hosts_send_figures"]
fn hosts_of_another_process() {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("a line");
    let words: Vec<&str> = line.split_whitespace().collect();
    // Not so where all ignored tests are run.
    let [address, key, first, end, n_hosts] = words[..] else { return };
    let (address, key) = (address.parse().expect("an address"), RunKey::from_text(key).expect("a key"));
    let ranks = first.parse().expect("a rank")..end.parse().expect("a rank");
    ferrio_sys::limits::raise_limit(ferrio_sys::limits::Resource::Nofile, u64::from(MOST_HOSTS_HERE) * 3 + 256);
    let n_hosts = n_hosts.parse().expect("a number");
    let is_done = Arc::new(AtomicBool::new(false));
    let is_over = Arc::clone(&is_done);
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_line(&mut String::new());
        is_over.store(true, Ordering::SeqCst);
    });
    let workers = ranks.map(move |rank| {
        let (key, is_done) = (key.clone(), Arc::clone(&is_done));
        let first = FleetReport::Hello(hello(&key, rank));
        let tls = key.worker_tls().expect("certificates");
        let course: HostCourse = Box::pin(play(address, (tls, n_hosts), PATH, first, conduct(rank, is_done)));
        course
    });
    let endings = aside(come(workers, 10)).join().expect("no panic");
    assert!(endings.is_empty(), "{} of them: {:?}", endings.len(), endings.first());
}

/// A run of so many hosts for so many seconds; all their figures are there.
fn hosts_send_figures(n_hosts: u32, seconds: u64) {
    ferrio_sys::limits::raise_limit(ferrio_sys::limits::Resource::Nofile, u64::from(n_hosts) * 2 + 1_024);
    let before = usage();
    let start = Instant::now();
    let mut stage = Stage::new(n_hosts);
    let here = if n_hosts > MOST_HOSTS_HERE { 0 } else { n_hosts };
    let mut elsewhere = Vec::new();
    for first in (here..n_hosts).step_by(MOST_HOSTS_HERE as usize) {
        elsewhere.push(start_elsewhere(&stage, &(first..n_hosts.min(first + MOST_HOSTS_HERE))));
    }
    let hosts: Vec<HostCourse> = (0..here)
        .map(|rank| -> HostCourse { Box::pin(stage.worker(rank, conduct(rank, Arc::clone(&stage.is_done)))) })
        .collect();
    let workers = aside(come(hosts.into_iter(), 1));
    let is_done = Arc::clone(&stage.is_done);
    let inputs: Vec<_> = elsewhere.iter_mut().map(|child| child.stdin.take()).collect();
    let (began, begins) = std::sync::mpsc::channel();
    let timer = std::thread::spawn(move || {
        // A run begins when all of them have come.
        let _ = begins.recv();
        std::thread::sleep(Duration::from_secs(seconds));
        is_done.store(true, Ordering::SeqCst);
        drop(inputs);
    });
    stage.gather().expect("all hosts");
    let gathered = start.elapsed();
    began.send(()).expect("a timer");
    let outcome = stage.run().expect("a run");
    let after = usage();
    timer.join().expect("no panic");
    assert!(outcome.hosts.iter().all(|host| host.lost.is_none() && !host.is_partial), "{:?}", stage.events);
    let merging = Instant::now();
    let merged = outcome.merged();
    let n_ios: u64 = merged.workers.iter().map(|worker| worker.stats.directions.0[0].n_completed).sum();
    assert_eq!(n_ios, u64::from(n_hosts) * 407);
    println!(
        "{n_hosts} hosts ({here} here) came in {:.1} s and ran, all in {:.1} s: {} MiB before, {} MiB at the end with the hosts here; CPU of the coordinator {:.2} s; merged in {:.0} ms",
        gathered.as_secs_f64(),
        start.elapsed().as_secs_f64(),
        before.0,
        after.0,
        after.1 - before.1,
        merging.elapsed().as_secs_f64() * 1e3,
    );
    stage.end();
    let endings = workers.join().expect("no panic");
    assert!(endings.is_empty(), "{} of {n_hosts}: {:?}", endings.len(), endings.first());
    for mut child in elsewhere {
        assert!(child.wait().expect("an end").success());
    }
}

#[test]
fn a_hundred_hosts_send_figures() {
    hosts_send_figures(100, 3);
}

/// For the figures in docs/fleet.md: `FERRIO_HOSTS_TRIED=1000:20`, hosts and seconds.
#[test]
#[ignore = "takes minutes and thousands of descriptors: .ci/nightly"]
fn thousands_of_hosts_send_figures() {
    let tried = std::env::var("FERRIO_HOSTS_TRIED").unwrap_or_else(|_| "1000:20".to_owned());
    let (n_hosts, seconds) = tried.split_once(':').expect("hosts:seconds");
    hosts_send_figures(n_hosts.parse().expect("a number"), seconds.parse().expect("seconds"));
}
