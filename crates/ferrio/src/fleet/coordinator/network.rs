//! The coordinator's connections, in a thread of their own.
//!
//! Each worker's call has a number. What workers say comes in one channel, with the time at which it came. A connection that is no call of
//! a worker with the run's certificate ends within tonic, and nothing of it is heard here.

use crate::fleet::wire::secrets::RunKey;
use crate::fleet::wire::service::{AttendService, Attendance, KEEPALIVE_INTERVAL, KEEPALIVE_LIMIT, OrderStream};
use crate::fleet::wire::stream::{FleetConnection, FleetStream};
use crate::fleet::wire::{FleetOrder, FleetReport};
use ferrio_sys::clock::monotonic_ns;
use std::io;
use std::net::TcpListener as StdTcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc as channel;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::sync::oneshot;
use tokio_stream::Stream;
use tonic::Streaming;
use tonic::transport::{Server, ServerTlsConfig};

/// Reports that may wait for the coordinator; then workers wait.
const MOST_WAITING: usize = 4_096;
/// Connections whose TLS is not done yet.
const MOST_PENDING: usize = 1_024;
/// Time for a stranger to show its certificate.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(5);
/// Time for the last orders to be sent.
const END_LIMIT: Duration = Duration::from_secs(2);

/// What a worker has said.
pub(super) enum NetworkEvent {
    /// A report.
    Reported {
        /// Number of its connection.
        connection: u64,
        /// The report.
        report: FleetReport,
        /// Time at which it came, `CLOCK_MONOTONIC`.
        at_ns: u64,
        /// Orders for it.
        orders: UnboundedSender<FleetOrder>,
    },
    /// Its connection has ended.
    Gone {
        /// Number of the connection.
        connection: u64,
        /// Why, as far as it is known.
        reason: String,
    },
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
    pub(super) fn start(key: &RunKey) -> Result<Self, super::FleetError> {
        let tls = key.coordinator_tls()?.timeout(HANDSHAKE_LIMIT);
        let (says, said) = channel::sync_channel(MOST_WAITING);
        let (accepted, comes) = mpsc::channel(MOST_PENDING);
        let (end, ended) = oneshot::channel();
        let calls = Calls { says, n_calls: Arc::default() };
        let thread = std::thread::Builder::new().name("ferrio-fleet".to_owned());
        let thread = thread.spawn(move || serve(tls, calls, comes, ended))?;
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
fn serve(tls: ServerTlsConfig, calls: Calls, comes: mpsc::Receiver<Accepted>, ended: oneshot::Receiver<()>) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    runtime.block_on(async move {
        let (connects, incoming) = mpsc::channel(MOST_PENDING);
        tokio::spawn(accept(comes, connects));
        let server = Server::builder()
            .http2_keepalive_interval(Some(KEEPALIVE_INTERVAL))
            .http2_keepalive_timeout(Some(KEEPALIVE_LIMIT))
            .max_concurrent_streams(4)
            .tls_config(tls);
        let Ok(server) = server else { return };
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = server.serve_with_incoming_shutdown(AttendService(calls), Incoming(incoming), async {
            let _ = stopped.await;
        });
        let ending = async {
            let _ = ended.await;
            let _ = stop.send(());
            tokio::time::sleep(END_LIMIT).await;
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
async fn accept(mut comes: mpsc::Receiver<Accepted>, connects: mpsc::Sender<FleetStream>) {
    while let Some(accepted) = comes.recv().await {
        match accepted {
            Accepted::Connection(connection) => {
                if let Ok(stream) = connection.into_stream() {
                    let _ = connects.send(stream).await;
                }
            }
            Accepted::Listener(listener) => {
                if let Ok(listener) = TcpListener::from_std(listener) {
                    tokio::spawn(accept_from(listener, connects.clone()));
                }
            }
        }
    }
    // Without a further way the connections stay.
    std::future::pending::<()>().await;
}

async fn accept_from(listener: TcpListener, connects: mpsc::Sender<FleetStream>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let _ = stream.set_nodelay(true);
                let _ = connects.send(FleetStream::Tcp(stream)).await;
            }
            // No descriptor is left, or the other end has gone already.
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

/// Connections as tonic wants them.
struct Incoming(mpsc::Receiver<FleetStream>);

impl Stream for Incoming {
    type Item = io::Result<FleetStream>;

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
    says: channel::SyncSender<NetworkEvent>,
    n_calls: Arc<AtomicU64>,
}

impl Attendance for Calls {
    fn attended(&self, reports: Streaming<FleetReport>) -> OrderStream {
        let connection = self.n_calls.fetch_add(1, Ordering::Relaxed);
        let (orders, given) = mpsc::unbounded_channel();
        tokio::spawn(hear(connection, reports, orders, self.says.clone()));
        OrderStream(given)
    }
}

/// Passes on what a worker says, until its call ends.
async fn hear(
    connection: u64,
    mut reports: Streaming<FleetReport>,
    orders: UnboundedSender<FleetOrder>,
    says: channel::SyncSender<NetworkEvent>,
) {
    let reason = loop {
        match reports.message().await {
            Ok(Some(report)) => {
                let said = NetworkEvent::Reported { connection, report, at_ns: monotonic_ns(), orders: orders.clone() };
                if !say(&says, said).await {
                    return;
                }
            }
            Ok(None) => break "its connection was closed".to_owned(),
            Err(status) => break status.message().to_owned(),
        }
    };
    say(&says, NetworkEvent::Gone { connection, reason }).await;
}

/// Waits for room in the channel, in which the other calls go on. False: nobody listens any more.
async fn say(says: &channel::SyncSender<NetworkEvent>, mut said: NetworkEvent) -> bool {
    loop {
        match says.try_send(said) {
            Ok(()) => return true,
            Err(channel::TrySendError::Disconnected(_)) => return false,
            Err(channel::TrySendError::Full(back)) => said = back,
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
