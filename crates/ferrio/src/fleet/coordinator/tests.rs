//! Coordinators that do not do as they should: their worker does what makes sense, or ends with a reason.

use super::network::{Network, NetworkEvent, WorkerCall};
use crate::fleet::wire::secrets::RunKey;
use crate::fleet::wire::stream::FleetConnection;
use crate::fleet::wire::{FleetOrder, FleetReport, HostJobs, HostWork};
use crate::fleet::worker::{FleetRank, WorkerError, attend};
use ferrio_spec::{JobSpec, RunSpec};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

/// A real worker, and its call.
struct Attended {
    network: Network,
    call: WorkerCall,
    worker: JoinHandle<Result<(), WorkerError>>,
}

impl Attended {
    fn start() -> Self {
        let key = RunKey::new().expect("random numbers");
        let network = Network::start(key.clone(), 1).expect("a network");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let stream = TcpStream::connect(listener.local_addr().expect("its address")).expect("a connection");
        network.listen(listener).expect("it listens");
        let worker =
            std::thread::spawn(move || attend(FleetConnection::Tcp(stream), &key, FleetRank { rank: 0, n_hosts: 1 }));
        loop {
            if let Some(NetworkEvent::Called { call, .. }) = network.next_within(Duration::from_secs(60)) {
                return Self { network, call, worker };
            }
        }
    }

    fn order(&self, order: FleetOrder) {
        // A worker that has ended takes none.
        let _ = self.call.orders.send(order);
    }

    /// The next report.
    fn report(&self) -> FleetReport {
        loop {
            match self.network.next_within(Duration::from_secs(60)).expect("a report") {
                NetworkEvent::Reported { report, .. } => return report.read().expect("a report"),
                NetworkEvent::Gone { reason, .. } => panic!("{reason}"),
                NetworkEvent::Called { .. } | NetworkEvent::Turned { .. } => {}
            }
        }
    }

    /// Ends the call; how the worker ends.
    fn end(self) -> Result<(), WorkerError> {
        drop(self.call);
        let ending = self.worker.join().expect("no panic");
        self.network.end();
        ending
    }
}

fn work(numjobs: u32) -> FleetOrder {
    let job = JobSpec { name: "r".to_owned(), numjobs, ..JobSpec::default() };
    FleetOrder::Prepare(Box::new(HostWork {
        jobs: HostJobs::Spec(RunSpec { jobs: vec![job], ..RunSpec::default() }),
        host: "h".to_owned(),
        n_hosts: 1,
        is_readonly: true,
        words: Vec::new(),
        interval_ms: 0,
        is_audited: false,
        n_parts: None,
        tells_course: false,
    }))
}

#[test]
fn more_orders_than_can_be_followed_end_the_worker() {
    let attended = Attended::start();
    for _ in 0..1_000 {
        attended.order(work(1));
        attended.order(FleetOrder::LayOut);
        attended.order(FleetOrder::Begin { at_ns: u64::MAX });
    }
    let ending = attended.worker.join().expect("no panic").expect_err("an error");
    assert!(ending.to_string().contains("more orders than can be followed"), "{ending}");
    attended.network.end();
}

#[test]
fn jobs_that_no_host_can_run_are_refused() {
    let attended = Attended::start();
    attended.order(work(u32::MAX));
    attended.order(FleetOrder::LayOut);
    loop {
        match attended.report() {
            FleetReport::Refused(reason) => {
                assert!(!reason.is_empty());
                break;
            }
            FleetReport::Message(..) | FleetReport::Places(_) => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(attended.end().is_err(), "its coordinator has gone without a word");
}

/// Orders that fit to nothing are no orders; a dismissal is heard behind them.
#[test]
fn orders_without_a_run_change_nothing() {
    let attended = Attended::start();
    for order in [
        FleetOrder::Begin { at_ns: 0 },
        FleetOrder::Begin { at_ns: u64::MAX },
        FleetOrder::BeginStage(u32::MAX),
        FleetOrder::Stop,
        FleetOrder::ReadClock { asked_ns: u64::MAX },
    ] {
        attended.order(order);
    }
    assert!(matches!(attended.report(), FleetReport::Clock { asked_ns: u64::MAX, .. }));
    attended.order(FleetOrder::Dismiss { refused: String::new() });
    assert!(attended.end().is_ok());
}
