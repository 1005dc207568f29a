//! The coordinator's connections, in a thread of their own.
//!
//! Each worker's call has a number. What workers say comes in one channel, with the time at which it came. A connection that is no call of
//! a worker with the run's certificate ends within tonic, and nothing of it is heard here.

use super::door::{FleetDoor, KnownVisitor, Visitor};
use super::silence::SilenceWatch;
use crate::fleet::wire::secrets::RunKey;
use crate::fleet::wire::service::{
    AttendService, Attendance, EACH_HOST_LIMIT, EACH_HOST_PAUSE, KEEPALIVE_INTERVAL, OrderStream,
};
use crate::fleet::wire::stream::{FleetConnection, FleetStream};
use crate::fleet::wire::{FleetOrder, Hello, SentReport};
use ferrio_sys::clock::monotonic_ns;
use std::io;
use std::net::TcpListener as StdTcpListener;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc as channel;
use std::task::Poll;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio_stream::Stream;
use tonic::transport::server::TlsConnectInfo;
use tonic::transport::{Server, ServerTlsConfig};
use tonic::{Request, Status, Streaming};

/// Reports that may wait for the coordinator, bytes; then workers wait.
const MOST_WAITING_BYTES: usize = 128 << 20;
/// What a report counts beside its bytes.
const REPORT_BYTES: usize = 256;
/// Time for a worker to introduce itself, once it calls.
const HELLO_LIMIT: Duration = Duration::from_secs(5);
/// Longest list of headers of a call, bytes.
const MOST_HEADER_BYTES: u32 = 16 << 10;
/// Time between two looks for visitors that are late.
const DOOR_LOOK: Duration = Duration::from_secs(1);
/// Connections whose TLS is not done yet.
const MOST_PENDING: usize = 1_024;
/// Time for a stranger to show its certificate.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(5);
/// Time for the answer to a ping, after which tonic ends a connection: the watch over silence does that long before.
const PING_LIMIT: Duration = Duration::from_secs(3_600);
/// Time for the last orders to be sent, without that a connection ends meanwhile.
const END_LIMIT: Duration = Duration::from_secs(2);

/// What a worker has said.
pub(super) enum NetworkEvent {
    /// A worker with a token of this run has come.
    Called {
        /// Number of its connection.
        connection: u64,
        /// What it says of itself.
        hello: Hello,
        /// Its call.
        call: WorkerCall,
    },
    /// A report.
    Reported {
        /// Number of its connection.
        connection: u64,
        /// The report.
        report: SentReport,
        /// Time at which it came, `CLOCK_MONOTONIC`.
        at_ns: u64,
        /// Others may wait in its place once it is dropped.
        place: OwnedSemaphorePermit,
    },
    /// A connection was closed whose other end is no worker of this run.
    Turned {
        /// Why.
        reason: String,
    },
    /// Its connection has ended.
    Gone {
        /// Number of the connection.
        connection: u64,
        /// Why, as far as it is known.
        reason: String,
    },
}

/// A worker's call, which ends when this is dropped and its orders are sent.
#[derive(Debug)]
pub(super) struct WorkerCall {
    pub(super) orders: UnboundedSender<FleetOrder>,
    _keep: oneshot::Sender<()>,
}

/// The connections.
pub(super) struct Network {
    said: channel::Receiver<NetworkEvent>,
    accepted: mpsc::Sender<Accepted>,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// A way on which workers come.
enum Accepted {
    Connection(FleetConnection),
    Listener(StdTcpListener),
}

impl Network {
    pub(super) fn start(key: RunKey, n_hosts: u32) -> Result<Self, super::FleetError> {
        let tls = key.coordinator_tls()?.timeout(HANDSHAKE_LIMIT);
        let (says, said) = channel::channel();
        let (accepted, comes) = mpsc::channel(MOST_PENDING);
        let (end, ended) = oneshot::channel();
        let calls = Calls {
            door: FleetDoor::new(says.clone(), SilenceWatch::new(n_hosts)),
            says,
            key,
            next_call: Arc::default(),
            room: Arc::new(Semaphore::new(MOST_WAITING_BYTES)),
        };
        let thread = std::thread::Builder::new().name("ferrio-fleet".to_owned());
        let thread = thread.spawn(move || serve((tls, n_hosts), calls, comes, ended))?;
        Ok(Self { said, accepted, end: Some(end), thread: Some(thread) })
    }

    pub(super) fn adopt(&self, connection: FleetConnection) {
        let _ = self.accepted.blocking_send(Accepted::Connection(connection));
    }

    pub(super) fn listen(&self, listener: StdTcpListener) -> io::Result<()> {
        listener.set_nonblocking(true)?;
        let _ = self.accepted.blocking_send(Accepted::Listener(listener));
        Ok(())
    }

    pub(super) fn next_within(&self, limit: Duration) -> Option<NetworkEvent> {
        self.said.recv_timeout(limit).ok()
    }

    /// Sends what waits, and closes all connections.
    pub(super) fn end(mut self) {
        let _ = self.end.take().map(|end| end.send(()));
        // The thread must not wait for a reader of what workers say.
        let Some(thread) = self.thread.take() else { return };
        while !thread.is_finished() {
            self.next_within(Duration::from_millis(5));
        }
        let _ = thread.join();
    }
}

/// Serves until the end; the thread of the network.
fn serve(
    (tls, n_hosts): (ServerTlsConfig, u32),
    calls: Calls,
    comes: mpsc::Receiver<Accepted>,
    ended: oneshot::Receiver<()>,
) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    runtime.block_on(async move {
        let (connects, incoming) = mpsc::channel(MOST_PENDING);
        let n_open = calls.door.n_open();
        tokio::spawn(calls.door.silence().clone().cut_silent());
        tokio::spawn(accept(comes, connects, calls.door.clone()));
        let server = Server::builder()
            .http2_keepalive_interval(Some(KEEPALIVE_INTERVAL + EACH_HOST_PAUSE.saturating_mul(n_hosts)))
            .http2_keepalive_timeout(Some(PING_LIMIT))
            .max_concurrent_streams(4)
            .http2_max_header_list_size(MOST_HEADER_BYTES)
            .tls_config(tls);
        let Ok(server) = server else { return };
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = server.serve_with_incoming_shutdown(AttendService(calls), Incoming(incoming), async {
            let _ = stopped.await;
        });
        let ending = async {
            let _ = ended.await;
            let _ = stop.send(());
            // On a busy machine the last orders take long: as long as connections end, the others get their time.
            let mut n_before = u64::MAX;
            while n_open.load(Ordering::Relaxed) < n_before {
                n_before = n_open.load(Ordering::Relaxed);
                tokio::time::sleep(END_LIMIT + EACH_HOST_LIMIT.saturating_mul(n_hosts)).await;
            }
        };
        // Whichever comes first: all calls have ended, or their time is over.
        let mut serving = std::pin::pin!(serving);
        let mut ending = std::pin::pin!(ending);
        std::future::poll_fn(|context| {
            if serving.as_mut().poll(context).is_ready() || ending.as_mut().poll(context).is_ready() {
                return std::task::Poll::Ready(());
            }
            std::task::Poll::Pending
        })
        .await;
    });
    runtime.shutdown_background();
}

/// Hands over connections as they come.
async fn accept(mut comes: mpsc::Receiver<Accepted>, connects: mpsc::Sender<Visitor>, door: FleetDoor) {
    while let Some(accepted) = comes.recv().await {
        match accepted {
            Accepted::Connection(connection) => {
                if let Ok(stream) = connection.into_stream() {
                    let _ = connects.send(door.let_in(stream)).await;
                }
            }
            Accepted::Listener(listener) => {
                if let Ok(listener) = TcpListener::from_std(listener) {
                    tokio::spawn(accept_from(listener, connects.clone(), door.clone()));
                }
            }
        }
    }
    // Without a further way the connections stay.
    std::future::pending::<()>().await;
}

async fn accept_from(listener: TcpListener, connects: mpsc::Sender<Visitor>, door: FleetDoor) {
    loop {
        door.has_room().await;
        match tokio::time::timeout(DOOR_LOOK, listener.accept()).await {
            Ok(Ok((stream, from))) => {
                let _ = stream.set_nodelay(true);
                let _ = connects.send(door.enter(FleetStream::Tcp(stream), from.ip())).await;
            }
            // No descriptor is left, or the other end has gone already.
            Ok(Err(_)) => {
                door.expel_first();
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Err(_) => {}
        }
    }
}

/// Connections as tonic wants them.
struct Incoming(mpsc::Receiver<Visitor>);

impl Stream for Incoming {
    type Item = io::Result<Visitor>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|stream| stream.map(Ok))
    }
}

/// The calls of workers.
#[derive(Clone)]
struct Calls {
    says: channel::Sender<NetworkEvent>,
    key: RunKey,
    next_call: Arc<AtomicU64>,
    /// Room for reports that wait, bytes.
    room: Arc<Semaphore>,
    door: FleetDoor,
}

impl Attendance for Calls {
    fn attended(&self, call: Request<Streaming<SentReport>>) -> OrderStream {
        let visitor = call.extensions().get::<TlsConnectInfo<KnownVisitor>>().map(|info| info.get_ref().clone());
        let (orders, given) = mpsc::unbounded_channel();
        // Each connection has one: it is what the server was given.
        if let Some(visitor) = visitor {
            tokio::spawn(self.clone().hear(call.into_inner(), visitor, orders));
        }
        OrderStream(given)
    }
}

impl Calls {
    /// Passes on what a worker says, until its call ends or the coordinator drops it.
    async fn hear(
        self,
        mut reports: Streaming<SentReport>,
        visitor: KnownVisitor,
        orders: UnboundedSender<FleetOrder>,
    ) {
        let hello = match introduced(&mut reports, &self.key).await {
            Ok(hello) => hello,
            Err(refused) => {
                let _ = orders.send(FleetOrder::Dismiss { refused: refused.clone() });
                let _ = self.says.send(NetworkEvent::Turned { reason: refused });
                return;
            }
        };
        self.door.admit(&visitor);
        let connection = self.next_call.fetch_add(1, Ordering::Relaxed);
        let (keep, mut kept) = oneshot::channel();
        let call = WorkerCall { orders, _keep: keep };
        let _ = self.says.send(NetworkEvent::Called { connection, hello, call });
        let reason = loop {
            match next_report(&mut reports, &mut kept).await {
                None => return,
                Some(Ok(Some(report))) => {
                    let at_ns = monotonic_ns();
                    let n_bytes = (report.n_bytes() + REPORT_BYTES).min(MOST_WAITING_BYTES) as u32;
                    // The room is never closed.
                    let Ok(place) = Arc::clone(&self.room).acquire_many_owned(n_bytes).await else { return };
                    if self.says.send(NetworkEvent::Reported { connection, report, at_ns, place }).is_err() {
                        return;
                    }
                }
                Some(Ok(None)) => break "its connection was closed".to_owned(),
                Some(Err(status)) => break status.message().to_owned(),
            }
        };
        let limit = self.door.silence().limit().as_secs_f64();
        let reason = if visitor.was_silent() { format!("nothing was heard of it for {limit:.1} s") } else { reason };
        let _ = self.says.send(NetworkEvent::Gone { connection, reason });
    }
}

/// The next report of a call; `None`: the coordinator has dropped it.
async fn next_report(
    reports: &mut Streaming<SentReport>,
    kept: &mut oneshot::Receiver<()>,
) -> Option<Result<Option<SentReport>, Status>> {
    let mut next = std::pin::pin!(reports.message());
    std::future::poll_fn(|context| match Pin::new(&mut *kept).poll(context) {
        Poll::Ready(_) => Poll::Ready(None),
        Poll::Pending => next.as_mut().poll(context).map(Some),
    })
    .await
}

/// What a worker says first, with a token of the run.
async fn introduced(reports: &mut Streaming<SentReport>, key: &RunKey) -> Result<Hello, String> {
    let first = tokio::time::timeout(HELLO_LIMIT, reports.message()).await;
    let hello = match first {
        Ok(Ok(Some(report))) => report.read_hello(),
        _ => None,
    };
    let Some(hello) = hello else { return Err("a worker has not said who it is".to_owned()) };
    if key.has_token(hello.rank, &hello.token) {
        Ok(hello)
    } else {
        Err(format!("host {} has no token of this run for rank {}", hello.host, hello.rank))
    }
}
