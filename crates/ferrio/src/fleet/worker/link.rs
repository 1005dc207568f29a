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
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tonic::{Status, Streaming};

/// Reports that may wait for the connection.
const MOST_WAITING: usize = 256;
/// Orders that may wait for the main thread: a coordinator waits for its answers.
const MOST_ORDERS: usize = 16;
/// Time between two looks at the run's pulse.
const PULSE_LOOK: Duration = Duration::from_secs(1);
/// A run whose pulse has stood for so long hangs.
const PULSE_LIMIT: Duration = Duration::from_secs(10);

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
    /// How that was, until the main thread takes it.
    ending: Option<Result<(), WorkerError>>,
}

impl CoordinatorLink {
    /// Connects, and sends this first report.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn open(
        connection: FleetConnection,
        (key, n_hosts): (RunKey, u32),
        first: FleetReport,
    ) -> Result<Self, WorkerError> {
        let (reports, sent) = mpsc::channel(MOST_WAITING);
        let (told, orders) = channel::sync_channel(MOST_ORDERS);
        let steered = Arc::new(Mutex::new(Steered::default()));
        let thread = Thread { told, reports: reports.clone(), steered: Arc::clone(&steered) };
        // There is room: nothing was sent before.
        let _ = reports.try_send(first);
        std::thread::Builder::new()
            .name("ferrio-fleet".to_owned())
            .spawn(move || thread.run(connection, (&key, n_hosts), sent))?;
        Ok(Self { orders, reports, steered })
    }

    /// The next order for the main thread; waits for it.
    pub(super) fn next_order(&self) -> Ordered {
        self.orders.recv().unwrap_or_else(|_| {
            let mut steered = self.steered.lock().unwrap_or_else(PoisonError::into_inner);
            Ordered::Over(steered.ending.take().unwrap_or(Ok(())))
        })
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

    /// The way of reports, for another thread.
    pub(super) fn reports(&self) -> mpsc::Sender<FleetReport> {
        self.reports.clone()
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
    told: channel::SyncSender<Ordered>,
    reports: mpsc::Sender<FleetReport>,
    steered: Arc<Mutex<Steered>>,
}

impl Thread {
    fn run(self, connection: FleetConnection, (key, n_hosts): (&RunKey, u32), sent: mpsc::Receiver<FleetReport>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let ending = match runtime {
            Ok(runtime) => runtime.block_on(async {
                let orders = service::attend(connection.into_stream()?, (key, n_hosts), sent).await?;
                self.hear(orders).await
            }),
            Err(error) => Err(error.into()),
        };
        let is_dismissed = ending.is_ok();
        let handle = {
            let mut steered = self.steered.lock().unwrap_or_else(PoisonError::into_inner);
            (steered.is_over, steered.ending) = (true, Some(ending));
            steered.handle.clone()
        };
        // The main thread finds no more orders.
        drop(self.told);
        let Some(handle) = handle else { return };
        if !is_dismissed {
            handle.stop();
            std::thread::sleep(ORPHAN_LIMIT);
        }
        handle.abort();
    }

    async fn hear(&self, mut orders: Streaming<FleetOrder>) -> Result<(), WorkerError> {
        let lost = |status: Status| AttendError::Lost(Box::new(status));
        let mut pulse = PulseWatch::new(Instant::now());
        loop {
            let Ok(order) = tokio::time::timeout(PULSE_LOOK, orders.message()).await else {
                self.look(&mut pulse);
                continue;
            };
            let Some(order) = order.map_err(lost)? else { break };
            match order {
                FleetOrder::Prepare(work) => self.tell(Ordered::Prepare(work))?,
                FleetOrder::LayOut => self.tell(Ordered::LayOut)?,
                FleetOrder::Begin { at_ns } => self.tell(Ordered::Begin(at_ns))?,
                FleetOrder::ReadClock { asked_ns } => {
                    let report = FleetReport::Clock { asked_ns, read_ns: monotonic_ns() };
                    // Where there is no room, the coordinator asks again.
                    let _ = self.reports.try_send(report);
                }
                FleetOrder::BeginStage(number) => self.steer(|handle| handle.open_stonewall(number)),
                FleetOrder::Stop => {
                    self.steer(Handle::stop);
                    let _ = self.tell(Ordered::Stop);
                }
                FleetOrder::Trigger => self.steer(Handle::trigger),
                FleetOrder::Dismiss { refused } if refused.is_empty() => return Ok(()),
                FleetOrder::Dismiss { refused } => return Err(WorkerError::Refused(refused)),
            }
        }
        Err(AttendError::Lost(Box::new(Status::unavailable("its connection was closed"))).into())
    }

    fn tell(&self, order: Ordered) -> Result<(), WorkerError> {
        self.told.try_send(order).map_err(|_| WorkerError::TooMany)
    }

    /// Says so if the run hangs.
    fn look(&self, pulse: &mut PulseWatch) {
        // A run that waits for room for its reports does not hang: the coordinator does not come to them.
        let counted = if self.reports.capacity() == 0 { None } else { self.pulse() };
        if let Some(stood) = pulse.look(counted, Instant::now()) {
            let _ = self.reports.try_send(FleetReport::Hangs(stood.as_millis() as u64));
        }
    }

    fn pulse(&self) -> Option<u32> {
        self.steered.lock().unwrap_or_else(PoisonError::into_inner).handle.as_ref().and_then(Handle::pulse)
    }

    fn steer(&self, act: impl Fn(&Handle)) {
        self.steered.lock().unwrap_or_else(PoisonError::into_inner).handle.iter().for_each(act);
    }
}

/// A look at the pulse of a run now and then.
struct PulseWatch {
    last: Option<u32>,
    since: Instant,
}

impl PulseWatch {
    fn new(now: Instant) -> Self {
        Self { last: None, since: now }
    }

    /// The time for which the pulse has stood, once that is too long. `None` is the pulse of no run.
    fn look(&mut self, pulse: Option<u32>, now: Instant) -> Option<Duration> {
        if pulse.is_none() || pulse != self.last {
            (self.last, self.since) = (pulse, now);
        }
        Some(now.duration_since(self.since)).filter(|stood| *stood >= PULSE_LIMIT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_hangs_when_its_pulse_stands() {
        let start = Instant::now();
        let mut watch = PulseWatch::new(start);
        let mut at = |pulse, seconds| watch.look(pulse, start + Duration::from_secs(seconds));
        // Nothing runs for long; a pulse that changes, and one that stands.
        assert_eq!((at(None, 0), at(None, 100)), (None, None));
        assert_eq!((at(Some(1), 101), at(Some(2), 112)), (None, None));
        assert_eq!((at(Some(2), 121), at(Some(2), 122)), (None, Some(Duration::from_secs(10))));
        assert_eq!((at(None, 123), at(Some(2), 124)), (None, None));
    }
}
