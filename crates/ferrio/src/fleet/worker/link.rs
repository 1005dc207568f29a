//! The worker's end of the connection, in a thread of its own.

use super::{ORPHAN_LIMIT, WorkerError};
use crate::fleet::wire::secrets::RunKey;
use crate::fleet::wire::service::{self, AttendError};
use crate::fleet::wire::stream::FleetConnection;
use crate::fleet::wire::{FleetOrder, FleetReport, HostWork};
use ferrio_run::Handle;
use ferrio_sys::clock::monotonic_ns;
use std::sync::mpsc as channel;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;
use tonic::{Status, Streaming};

/// Reports that may wait for the connection.
const MOST_WAITING: usize = 256;

/// What the worker's main thread is told.
pub(super) enum Ordered {
    /// Prepare this.
    Prepare(Box<HostWork>),
    /// Lay out the files, and make ready.
    LayOut,
    /// Begin at this time.
    Begin(u64),
    /// End; a run that has not begun does not take place.
    Stop,
    /// The coordinator wants nothing more, or has gone.
    Over(Result<(), WorkerError>),
}

/// The connection, as the worker's main thread has it.
pub(super) struct CoordinatorLink {
    orders: channel::Receiver<Ordered>,
    reports: mpsc::Sender<FleetReport>,
    /// The run that is under way.
    steered: Arc<Mutex<Steered>>,
}

/// What orders act on at once.
#[derive(Default)]
struct Steered {
    handle: Option<Handle>,
    /// The coordinator has gone, or has dismissed the worker.
    is_over: bool,
}

impl CoordinatorLink {
    /// Connects, and sends this first report.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn open(connection: FleetConnection, key: RunKey, first: FleetReport) -> Result<Self, WorkerError> {
        let (reports, sent) = mpsc::channel(MOST_WAITING);
        let (told, orders) = channel::channel();
        let steered = Arc::new(Mutex::new(Steered::default()));
        let thread = Thread { told, reports: reports.clone(), steered: Arc::clone(&steered) };
        // There is room: nothing was sent before.
        let _ = reports.try_send(first);
        std::thread::Builder::new()
            .name("ferrio-fleet".to_owned())
            .spawn(move || thread.run(connection, &key, sent))?;
        Ok(Self { orders, reports, steered })
    }

    /// The next order for the main thread; waits for it.
    pub(super) fn next_order(&self) -> Ordered {
        self.orders.recv().unwrap_or(Ordered::Over(Ok(())))
    }

    /// Waits for the order to lay out; false: the run does not take place.
    pub(super) fn wait_for_layout(&self) -> bool {
        self.wait(|order| matches!(order, Ordered::LayOut).then_some(())).is_some()
    }

    /// The time at which to begin; `None`: the run does not take place.
    pub(super) fn wait_for_begin(&self) -> Option<u64> {
        self.wait(|order| if let Ordered::Begin(at_ns) = order { Some(*at_ns) } else { None })
    }

    /// Waits for an order of this kind; `None`: the run does not take place.
    fn wait<T>(&self, wanted: impl Fn(&Ordered) -> Option<T>) -> Option<T> {
        loop {
            match self.orders.recv() {
                // The next look at the orders finds the connection closed again.
                Ok(Ordered::Over(_) | Ordered::Stop) | Err(_) => return None,
                Ok(order) => {
                    if let Some(found) = wanted(&order) {
                        return Some(found);
                    }
                }
            }
        }
    }

    /// True if the coordinator has gone, or wants nothing more.
    pub(super) fn is_over(&self) -> bool {
        self.steered.lock().unwrap_or_else(PoisonError::into_inner).is_over
    }

    /// Orders act on this run from now on.
    pub(super) fn steer(&self, handle: &Handle) {
        let mut steered = self.steered.lock().unwrap_or_else(PoisonError::into_inner);
        if steered.is_over {
            handle.abort();
        }
        steered.handle = Some(handle.clone());
    }

    /// Sends a report; waits for room. Where nobody hears it, it is lost.
    pub(super) fn send(&self, report: FleetReport) {
        let _ = self.reports.blocking_send(report);
    }

    /// Sends a report if there is room; false: there was none.
    pub(super) fn offer(&self, report: FleetReport) -> bool {
        self.reports.try_send(report).is_ok()
    }
}

/// The thread of the connection.
struct Thread {
    told: channel::Sender<Ordered>,
    reports: mpsc::Sender<FleetReport>,
    steered: Arc<Mutex<Steered>>,
}

impl Thread {
    fn run(self, connection: FleetConnection, key: &RunKey, sent: mpsc::Receiver<FleetReport>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let ending = match runtime {
            Ok(runtime) => runtime.block_on(async {
                let orders = service::attend(connection.into_stream()?, key, sent).await?;
                self.hear(orders).await
            }),
            Err(error) => Err(error.into()),
        };
        let handle = {
            let mut steered = self.steered.lock().unwrap_or_else(PoisonError::into_inner);
            steered.is_over = true;
            steered.handle.clone()
        };
        let is_dismissed = ending.is_ok();
        let _ = self.told.send(Ordered::Over(ending));
        let Some(handle) = handle else { return };
        if !is_dismissed {
            handle.stop();
            std::thread::sleep(ORPHAN_LIMIT);
        }
        handle.abort();
    }

    async fn hear(&self, mut orders: Streaming<FleetOrder>) -> Result<(), WorkerError> {
        let lost = |status: Status| AttendError::Lost(Box::new(status));
        while let Some(order) = orders.message().await.map_err(lost)? {
            match order {
                FleetOrder::Prepare(work) => self.tell(Ordered::Prepare(work)),
                FleetOrder::LayOut => self.tell(Ordered::LayOut),
                FleetOrder::Begin { at_ns } => self.tell(Ordered::Begin(at_ns)),
                FleetOrder::ReadClock { asked_ns } => {
                    let report = FleetReport::Clock { asked_ns, read_ns: monotonic_ns() };
                    // Where there is no room, the coordinator asks again.
                    let _ = self.reports.try_send(report);
                }
                FleetOrder::BeginStage(number) => self.steer(|handle| handle.open_stonewall(number)),
                FleetOrder::Stop => {
                    self.steer(Handle::stop);
                    self.tell(Ordered::Stop);
                }
                FleetOrder::Trigger => self.steer(Handle::trigger),
                FleetOrder::Dismiss { refused } if refused.is_empty() => return Ok(()),
                FleetOrder::Dismiss { refused } => return Err(WorkerError::Refused(refused)),
            }
        }
        Err(AttendError::Lost(Box::new(Status::unavailable("its connection was closed"))).into())
    }

    fn tell(&self, order: Ordered) {
        let _ = self.told.send(order);
    }

    fn steer(&self, act: impl Fn(&Handle)) {
        self.steered.lock().unwrap_or_else(PoisonError::into_inner).handle.iter().for_each(act);
    }
}
