//! Fleets whose workers are made here: they say what a test wants, over real connections.
//!
//! Start reading at [`Stage`].

mod hostile;
mod many;
mod strangers;

use super::coordinator::{Coordinator, FleetError, FleetEvent, FleetSettings, LostHost, WriteSharing};
use super::outcome::FleetOutcome;
use super::wire::secrets::RunKey;
use super::wire::service::{PATH, attend_at};
use super::wire::stream::FleetStream;
use super::wire::{FleetOrder, FleetReport, Hello, HostJobs, HostWork, MeasuredHost, PROTOCOL};
use crate::session::VERSION;
use ferrio_run::Handle;
use ferrio_spec::{JobSpec, RunSpec};
use ferrio_stats::{IntervalStats, RunRecord, ThreadStats, WorkerRecord};
use ferrio_sys::clock::monotonic_ns;
use ferrio_units::PerDirection;
use serde::Serialize;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::mpsc;

/// A coordinator that listens, and what has happened to it.
pub(super) struct Stage {
    coordinator: Coordinator,
    pub(super) address: SocketAddr,
    pub(super) key: RunKey,
    n_hosts: u32,
    pub(super) events: Vec<String>,
    /// Honest workers end when this is set.
    pub(super) is_done: Arc<AtomicBool>,
}

impl Stage {
    /// A coordinator of so many hosts, which goes on without those that it loses.
    pub(super) fn new(n_hosts: u32) -> Self {
        let key = RunKey::new().expect("random numbers");
        let on_lost_host = LostHost::Continue;
        let settings = FleetSettings {
            n_hosts,
            names: Vec::new(),
            // On a busy machine, and without optimisation, a worker takes tens of milliseconds to come.
            join_limit: Duration::from_secs(120 + u64::from(n_hosts) / 10),
            on_lost_host,
            on_refusal: LostHost::End,
            sharing: WriteSharing::Refused,
        };
        let coordinator = Coordinator::new(settings, key.clone()).expect("a coordinator");
        let address = coordinator.listen((Ipv4Addr::LOCALHOST, 0).into()).expect("a port");
        Self { coordinator, address, key, n_hosts, events: Vec::new(), is_done: Arc::default() }
    }

    /// Waits for all workers.
    pub(super) fn gather(&mut self) -> Result<(), FleetError> {
        let handle = Handle::new().expect("a handle");
        let events = &mut self.events;
        self.coordinator.gather(&handle, &mut |event: &FleetEvent<'_>| note(event, events))
    }

    /// Waits for all workers that have not come yet, and makes a run of one job.
    pub(super) fn run(&mut self) -> Result<FleetOutcome, FleetError> {
        self.gather()?;
        let handle = Handle::new().expect("a handle");
        let work = HostWork {
            jobs: HostJobs::Spec(RunSpec { jobs: vec![JobSpec::default()], ..RunSpec::default() }),
            host: String::new(),
            n_hosts: 0,
            is_readonly: false,
            words: Vec::new(),
            interval_ms: 1_000,
            is_audited: false,
            n_parts: None,
            tells_course: false,
        };
        let events = &mut self.events;
        self.coordinator.run(&work, &handle, &mut |event: &FleetEvent<'_>| note(event, events))
    }

    /// Dismisses all workers; what has happened.
    pub(super) fn end(self) -> Vec<String> {
        self.coordinator.dismiss();
        self.events
    }

    /// A worker as it should be; returns how it ended.
    pub(super) fn honest(&self, rank: u32) -> impl Future<Output = String> + Send + 'static {
        let is_done = Arc::clone(&self.is_done);
        self.worker(rank, Conduct::new(move |order, says| answer(order, says, &is_done)))
    }

    /// A worker with this conduct.
    pub(super) fn worker(&self, rank: u32, conduct: Conduct) -> impl Future<Output = String> + Send + 'static {
        self.introduced(hello(&self.key, rank), conduct)
    }

    /// A worker that introduces itself so.
    pub(super) fn introduced(&self, hello: Hello, conduct: Conduct) -> impl Future<Output = String> + Send + 'static {
        let (address, key, n_hosts) = (self.address, self.key.clone(), self.n_hosts);
        let first = FleetReport::Hello(hello);
        async move { play(address, (key.worker_tls().expect("certificates"), n_hosts), PATH, first, conduct).await }
    }
}

fn note(event: &FleetEvent<'_>, events: &mut Vec<String>) {
    match event {
        FleetEvent::Turned { reason } => events.push(format!("turned: {reason}")),
        FleetEvent::Lost { host, reason, .. } => events.push(format!("lost: {host}: {reason}")),
        FleetEvent::Message { .. } => events.push("message".to_owned()),
        _ => {}
    }
}

/// The introduction of an honest worker.
pub(super) fn hello(key: &RunKey, rank: u32) -> Hello {
    let host = format!("host{rank}");
    Hello { protocol: PROTOCOL, version: VERSION.to_owned(), token: key.token(rank), rank, host }
}

/// Acts on an order.
type Act<T> = dyn FnMut(&FleetOrder, &mpsc::Sender<T>) + Send;

/// What a worker does at each order.
pub(super) struct Conduct<T = FleetReport>(Box<Act<T>>);

impl<T> Conduct<T> {
    pub(super) fn new(act: impl FnMut(&FleetOrder, &mpsc::Sender<T>) + Send + 'static) -> Self {
        Self(Box::new(act))
    }
}

/// Connects, introduces itself, and acts on orders until the call ends; returns how it did.
pub(super) async fn play<T: Serialize + Send + Sync + 'static>(
    address: SocketAddr,
    (tls, n_hosts): (tonic::transport::ClientTlsConfig, u32),
    path: &'static str,
    first: T,
    mut conduct: Conduct<T>,
) -> String {
    let stream = match TcpStream::connect(address).await {
        Ok(stream) => FleetStream::Tcp(stream),
        Err(error) => return error.to_string(),
    };
    let (says, said) = mpsc::channel(64);
    let _ = says.try_send(first);
    let mut orders = match attend_at(stream, (tls, n_hosts), path, said).await {
        Ok(orders) => orders,
        Err(error) => return error.to_string(),
    };
    loop {
        match orders.message().await {
            Ok(Some(FleetOrder::Dismiss { refused })) => return format!("dismissed: {refused}"),
            Ok(Some(order)) => (conduct.0)(&order, &says),
            Ok(None) => return "the call has ended".to_owned(),
            Err(status) => return status.message().to_owned(),
        }
    }
}

/// What an honest worker answers.
pub(super) fn answer(order: &FleetOrder, says: &mpsc::Sender<FleetReport>, is_done: &Arc<AtomicBool>) {
    let say = |report| says.try_send(report).expect("room");
    match order {
        FleetOrder::Prepare(_) => say(FleetReport::Places(Box::default())),
        FleetOrder::LayOut => say(FleetReport::Ready),
        FleetOrder::ReadClock { asked_ns } => {
            say(FleetReport::Clock { asked_ns: *asked_ns, read_ns: monotonic_ns() });
        }
        FleetOrder::Begin { at_ns } => {
            say(FleetReport::Began { at_ns: *at_ns });
            let (says, is_done) = (says.clone(), Arc::clone(is_done));
            tokio::spawn(async move {
                while !is_done.load(Ordering::SeqCst) {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                let _ = says.send(FleetReport::Interval(Box::new(interval(1)))).await;
                let _ = says.send(FleetReport::Over(Box::new(outcome()))).await;
            });
        }
        _ => {}
    }
}

/// Figures of a second.
pub(super) fn interval(job_number: u32) -> IntervalStats {
    let mut stats = ThreadStats::default();
    stats.directions.0[0].n_completed = 7;
    IntervalStats {
        host: None,
        job_name: "r".to_owned(),
        job_number,
        group_index: 0,
        directions: PerDirection::default(),
        percentiles: Vec::new(),
        start_ns: 0,
        end_ns: 1_000_000_000,
        run_epoch_ms: 0,
        stats,
    }
}

/// The outcome of one job.
pub(super) fn outcome() -> MeasuredHost {
    let mut worker = WorkerRecord { name: "r".to_owned(), number: 1, ..WorkerRecord::default() };
    worker.stats.directions.0[0].n_completed = 7;
    let record = RunRecord { version: VERSION.to_owned(), workers: vec![worker], ..RunRecord::default() };
    MeasuredHost { record, n_failed: 0, is_stopped: false, n_logs_lost: 0, n_intervals_lost: 0 }
}

/// Runs workers in a thread of their own.
pub(super) fn aside<R: Send + 'static>(
    workers: impl Future<Output = R> + Send + 'static,
) -> std::thread::JoinHandle<R> {
    std::thread::spawn(move || {
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(workers)
    })
}

/// All of these at once.
pub(super) async fn together(workers: Vec<std::pin::Pin<Box<dyn Future<Output = String> + Send>>>) -> Vec<String> {
    let tasks: Vec<_> = workers.into_iter().map(tokio::spawn).collect();
    let mut endings = Vec::new();
    for task in tasks {
        endings.push(task.await.expect("no panic"));
    }
    endings
}
