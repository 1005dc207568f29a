//! The server: it listens before the run begins, and lives in a process of its own until the run has ended.
//!
//! One thread serves all connections, of which there are few. A client that hangs has a place among them until another needs it, and memory
//! for one event; at the end the server waits for it no longer than [`MOST_END_WAIT`]. Must not know: what is served. Start reading at
//! [`WebServer::bind`], then [`WebServer::serve`].

use super::guard::{HostAndPort, WebError, WebGuard, is_good_token};
use super::places::{ConnectionPlaces, PlacedSocket, TakenPlace};
use super::routes::{WebShared, router};
use crate::live::link::{CHUNK_BYTES, FrameReader, ReceivedFrame};
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::future::poll_fn;
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, sleep, timeout};

/// Longest time between the end of a run and the end of its server: for browsers to fetch the report.
pub const MOST_END_WAIT: Duration = Duration::from_secs(5);
/// Connections at the same time. When all of them are there, one that does not read gives way to the next, or a stream of events.
const MOST_CONNECTIONS: u32 = 64;
/// Time for the headers of a request, also for the next one on the same connection.
const HEADER_LIMIT: Duration = Duration::from_secs(5);
/// Room for the headers of a request, and for what a client does not take.
const BUFFER_BYTES: usize = 16 << 10;
/// Time between two looks at the run.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
/// Time between two looks at who is awaited at the end.
const END_TICK: Duration = Duration::from_millis(10);

/// A server that listens and does not serve yet.
#[derive(Debug)]
pub struct WebServer {
    listener: TcpListener,
    address: SocketAddr,
    guard: WebGuard,
}

impl WebServer {
    /// Listens on an address: `HOST:PORT`, or `PORT` on 127.0.0.1; port 0 is any free one. An address that is not on loopback needs a
    /// token, which every request must have.
    ///
    /// # Errors
    /// The address has another form, is unknown, in use or needs a token, or the token has other characters.
    pub fn bind(given: &str, token: Option<String>) -> Result<Self, WebError> {
        let HostAndPort { host, port } = HostAndPort::parse(given)?;
        if token.as_deref().is_some_and(|token| !is_good_token(token)) {
            return Err(WebError::Token);
        }
        let reason = |error: &io::Error| ferrio_units::error_text(error);
        let found = (host.as_str(), port).to_socket_addrs();
        let found = found.map_err(|error| WebError::Host { given: given.to_owned(), reason: reason(&error) })?;
        let addresses: Vec<SocketAddr> = found.collect();
        if token.is_none() && !addresses.iter().all(|address| address.ip().to_canonical().is_loopback()) {
            return Err(WebError::NoToken { given: given.to_owned() });
        }
        let failed = |error: io::Error| WebError::Listen { given: given.to_owned(), reason: reason(&error) };
        let listener = TcpListener::bind(&addresses[..]).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, guard: WebGuard::new(host, address.ip(), token) })
    }

    /// The address of the page, without the token.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Serves the run that sends these frames, until it has ended and browsers have its report. In a process without other threads.
    ///
    /// # Errors
    /// The system has no descriptors left.
    pub fn serve(self, frames: FrameReader) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        runtime.block_on(self.run(frames))
    }

    async fn run(self, frames: FrameReader) -> io::Result<()> {
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let shared = Arc::new(WebShared::new(self.guard));
        let places = ConnectionPlaces::new(MOST_CONNECTIONS);
        let closing = watch::Sender::new(false);
        let accepts = Accepts { router: router(&shared), places: Arc::clone(&places), closing: closing.subscribe() };
        tokio::spawn(accepts.run(listener));
        tokio::spawn(look(Arc::clone(&shared)));
        // An error ends the run's socket, as its end does.
        let _ = take_frames(frames, &shared).await;
        shared.tell_end();
        // In the bound: pages fetch the report, and each answer that has begun is sent.
        let _ = timeout(MOST_END_WAIT, async {
            while shared.is_awaited() {
                sleep(END_TICK).await;
            }
            closing.send_replace(true);
            places.are_free().await;
        })
        .await;
        Ok(())
    }
}

/// Looks at the run from time to time.
async fn look(shared: Arc<WebShared>) {
    let mut looks = tokio::time::interval(LOOK_INTERVAL);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        looks.tick().await;
        shared.tell();
    }
}

/// Takes frames until the reports are there, or the run is gone.
async fn take_frames(frames: FrameReader, shared: &WebShared) -> io::Result<()> {
    let (socket, mut frames) = frames.into_parts();
    let socket = UnixStream::from_std(socket)?;
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        socket.readable().await?;
        match socket.try_read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(n_bytes) => frames.push(&chunk[..n_bytes]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
            Err(error) => return Err(error),
        }
        loop {
            match frames.next_frame() {
                ReceivedFrame::Frame(frame) => shared.state().apply(*frame),
                ReceivedFrame::Nothing => break,
                ReceivedFrame::Closed => return Ok(()),
            }
        }
        if shared.state().reports.is_some() {
            return Ok(());
        }
    }
}

/// What takes connections.
struct Accepts {
    router: Router,
    places: Arc<ConnectionPlaces>,
    /// True when the server closes.
    closing: watch::Receiver<bool>,
}

impl Accepts {
    async fn run(self, listener: tokio::net::TcpListener) {
        loop {
            let Ok((socket, _)) = listener.accept().await else {
                // No descriptors, or a client that is gone already.
                sleep(LOOK_INTERVAL).await;
                continue;
            };
            // A socket without a place is closed.
            if let Some(taken) = ConnectionPlaces::take(&self.places).await {
                tokio::spawn(serve_one(socket, taken, self.router.clone(), self.closing.clone()));
            }
        }
    }
}

/// Serves a connection until either end closes it, or another one needs its place.
async fn serve_one(socket: TcpStream, taken: TakenPlace, router: Router, mut closing: watch::Receiver<bool>) {
    // Events are small, and wait for nothing.
    let _ = socket.set_nodelay(true);
    let mut settings = http1::Builder::new();
    settings.timer(TokioTimer::new()).header_read_timeout(HEADER_LIMIT).max_buf_size(BUFFER_BYTES);
    // The request of a stream tells its place that it is one.
    let router = router.layer(Extension(Arc::clone(&taken.place)));
    let socket = TokioIo::new(PlacedSocket { socket, place: Arc::clone(&taken.place) });
    let mut connection = pin!(settings.serve_connection(socket, TowerToHyperService::new(router)));
    let mut is_closing = false;
    let mut told_to_close = pin!(closing.wait_for(|closes| *closes));
    let mut is_needed = pin!(taken.place.is_needed());
    // An error is the client's, or that it is gone.
    poll_fn(|context| {
        if !is_closing && told_to_close.as_mut().poll(context).is_ready() {
            is_closing = true;
            connection.as_mut().graceful_shutdown();
        }
        if is_needed.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        connection.as_mut().poll(context).map(drop)
    })
    .await;
}
