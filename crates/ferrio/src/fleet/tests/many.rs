//! Fleets of many hosts, which send figures each second and real records at the end.
//!
//! Start reading at [`hosts_send_figures`].

use super::{Conduct, FleetReport, Stage, answer, aside, interval, outcome};
use crate::fleet::wire::{FleetOrder, MeasuredHost};
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

/// A run of so many hosts for so many seconds; all their figures are there.
fn hosts_send_figures(n_hosts: u32, seconds: u64) {
    ferrio_sys::limits::raise_limit(ferrio_sys::limits::Resource::Nofile, u64::from(n_hosts) * 2 + 1_024);
    let before = usage();
    let start = Instant::now();
    let mut stage = Stage::new(n_hosts);
    let workers: Vec<_> =
        (0..n_hosts).map(|rank| stage.worker(rank, conduct(rank, Arc::clone(&stage.is_done)))).collect();
    let workers = aside(async move {
        let mut tasks = Vec::new();
        for worker in workers {
            tasks.push(tokio::spawn(worker));
            // As many at a time as come from launchers, which start thousands no faster than the coordinator takes them.
            tokio::time::sleep(Duration::from_millis(if n_hosts > 4_000 { 10 } else { 1 })).await;
        }
        let mut endings = Vec::new();
        for task in tasks {
            endings.push(task.await.expect("no panic"));
        }
        endings
    });
    let is_done = Arc::clone(&stage.is_done);
    let timer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(seconds));
        is_done.store(true, Ordering::SeqCst);
    });
    let outcome = stage.run().expect("a run");
    let after = usage();
    timer.join().expect("no panic");
    assert!(outcome.hosts.iter().all(|host| host.lost.is_none() && !host.is_partial), "{:?}", stage.events);
    let merging = Instant::now();
    let merged = outcome.merged();
    let n_ios: u64 = merged.workers.iter().map(|worker| worker.stats.directions.0[0].n_completed).sum();
    assert_eq!(n_ios, u64::from(n_hosts) * 407);
    println!(
        "{n_hosts} hosts, {:.1} s: {} MiB before, {} MiB at the end with the hosts themselves; CPU of the coordinator {:.2} s; merged in {:.0} ms",
        start.elapsed().as_secs_f64(),
        before.0,
        after.0,
        after.1 - before.1,
        merging.elapsed().as_secs_f64() * 1e3,
    );
    stage.end();
    let endings = workers.join().expect("no panic");
    let others: Vec<&String> = endings.iter().filter(|ending| *ending != "dismissed: ").collect();
    assert!(others.is_empty(), "{} of {n_hosts}: {:?}", others.len(), others.first());
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
