//! Connections over the network whose other end is not known yet: how many there may be, and for how long.
//!
//! A visitor is known when its worker has said a token of the run. Strangers (port scanners, programs that never speak) must neither take
//! the descriptors that workers need nor keep workers out. Launched programs are no visitors. Start reading at [`FleetDoor::has_room`].

use super::network::NetworkEvent;
use super::silence::{HeardLine, SilenceWatch};
use crate::fleet::wire::stream::FleetStream;
use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc as channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::oneshot;
use tokio::time::Instant;
use tonic::transport::server::Connected;

/// Visitors at a time: half of the descriptors that a process usually has.
const MOST_VISITORS: usize = 512;
/// Time that each visitor has, also while others wait for its place.
const FAIR_TIME: Duration = Duration::from_millis(500);
/// Time for a visitor to be known.
const VISIT_LIMIT: Duration = Duration::from_secs(10);

/// The door of a coordinator. Its clones are the same door.
#[derive(Clone)]
pub(super) struct FleetDoor {
    visitors: Arc<Mutex<Visitors>>,
    /// Number of connections of visitors and of launched programs that are open.
    n_open: Arc<AtomicU64>,
    silence: SilenceWatch,
}

struct Visitors {
    /// The longest there comes first.
    waiting: VecDeque<WaitingVisitor>,
    n_entered: u64,
    n_turned: u64,
    says: channel::Sender<NetworkEvent>,
}

struct WaitingVisitor {
    number: u64,
    since: Instant,
    expel: oneshot::Sender<()>,
}

impl FleetDoor {
    pub(super) fn new(says: channel::Sender<NetworkEvent>, silence: SilenceWatch) -> Self {
        let visitors = Visitors { waiting: VecDeque::new(), n_entered: 0, n_turned: 0, says };
        Self { visitors: Arc::new(Mutex::new(visitors)), n_open: Arc::default(), silence }
    }

    /// The watch over what is heard.
    pub(super) fn silence(&self) -> &SilenceWatch {
        &self.silence
    }

    /// The number of connections that are open, which changes.
    pub(super) fn n_open(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.n_open)
    }

    fn open(&self, stream: FleetStream, pass: Option<Pass>) -> Visitor {
        self.n_open.fetch_add(1, Ordering::Relaxed);
        Visitor { stream, pass, line: self.silence.line(), _open: OpenConnection(self.n_open()) }
    }

    /// Takes a launched program.
    pub(super) fn let_in(&self, stream: FleetStream) -> Visitor {
        self.open(stream, None)
    }

    fn visitors(&self) -> MutexGuard<'_, Visitors> {
        self.visitors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is room for a visitor: the one that is there for the longest time gives way.
    pub(super) async fn has_room(&self) {
        loop {
            let wait = {
                let mut visitors = self.visitors();
                let is_late = |waiting: &WaitingVisitor| waiting.since.elapsed() >= VISIT_LIMIT;
                while visitors.waiting.front().is_some_and(is_late) {
                    visitors.expel_first();
                }
                match visitors.waiting.front() {
                    Some(first) if visitors.waiting.len() >= MOST_VISITORS => {
                        FAIR_TIME.saturating_sub(first.since.elapsed())
                    }
                    _ => return,
                }
            };
            if wait.is_zero() {
                self.expel_first();
            } else {
                tokio::time::sleep(wait).await;
            }
        }
    }

    /// The visitor that is there for the longest time has to go.
    pub(super) fn expel_first(&self) {
        self.visitors().expel_first();
    }

    /// Takes a visitor from this address.
    pub(super) fn enter(&self, stream: FleetStream, from: IpAddr) -> Visitor {
        let (expel, expelled) = oneshot::channel();
        let mut visitors = self.visitors();
        visitors.n_entered += 1;
        let number = visitors.n_entered;
        visitors.waiting.push_back(WaitingVisitor { number, since: Instant::now(), expel });
        self.open(stream, Some(Pass { number, from, door: self.clone(), expelled: Some(expelled) }))
    }

    /// The visitor is known, and watched from now on.
    pub(super) fn admit(&self, visitor: &KnownVisitor) {
        visitor.line.begin();
        if let Some(number) = visitor.number {
            self.visitors().waiting.retain(|waiting| waiting.number != number);
        }
    }
}

impl Visitors {
    fn expel_first(&mut self) {
        if let Some(first) = self.waiting.pop_front() {
            let _ = first.expel.send(());
            // It is told when it goes.
            self.waiting.shrink_to(MOST_VISITORS);
        }
    }

    /// Tells of strangers, rarely where there are many.
    fn turn(&mut self, from: IpAddr) {
        self.n_turned += 1;
        if self.n_turned.ilog10() != (self.n_turned - 1).checked_ilog10().unwrap_or(u32::MAX) {
            let so_far =
                if self.n_turned > 1 { format!(" ({} such connections so far)", self.n_turned) } else { String::new() };
            let reason = format!("a connection from {from} has not shown that it has the key of this run{so_far}");
            let _ = self.says.send(NetworkEvent::Turned { reason });
        }
    }
}

/// What a call knows of its connection.
#[derive(Debug, Clone)]
pub(super) struct KnownVisitor {
    /// `None`: the connection leads to a launched program.
    number: Option<u64>,
    line: Arc<HeardLine>,
}

impl KnownVisitor {
    /// True if its connection was ended because nothing was heard of it.
    pub(super) fn was_silent(&self) -> bool {
        self.line.is_cut()
    }
}

/// A connection, for tonic.
pub(super) struct Visitor {
    stream: FleetStream,
    /// `None`: a launched program.
    pass: Option<Pass>,
    line: Arc<HeardLine>,
    _open: OpenConnection,
}

/// A connection counts as open while this exists.
struct OpenConnection(Arc<AtomicU64>);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a visitor has until it goes.
struct Pass {
    number: u64,
    from: IpAddr,
    door: FleetDoor,
    /// Until it is known or expelled.
    expelled: Option<oneshot::Receiver<()>>,
}

impl Drop for Pass {
    fn drop(&mut self) {
        let mut visitors = self.door.visitors();
        let place = visitors.waiting.iter().position(|waiting| waiting.number == self.number);
        let was_expelled = self.expelled.as_mut().is_some_and(|expelled| expelled.try_recv().is_ok());
        if let Some(place) = place {
            visitors.waiting.remove(place);
        }
        if place.is_some() || was_expelled {
            visitors.turn(self.from);
        }
    }
}

impl Visitor {
    /// An error once it was expelled, or nothing was heard of it for too long.
    fn look(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        if self.line.poll_cut(context).is_ready() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let Some(pass) = &mut self.pass else { return Ok(()) };
        let Some(expelled) = &mut pass.expelled else { return Ok(()) };
        match Pin::new(expelled).poll(context) {
            Poll::Pending => Ok(()),
            // It is known: nobody can expel it any more.
            Poll::Ready(Err(_)) => {
                pass.expelled = None;
                Ok(())
            }
            Poll::Ready(Ok(())) => {
                pass.expelled = None;
                pass.door.visitors().turn(pass.from);
                Err(io::ErrorKind::ConnectionAborted.into())
            }
        }
    }
}

impl AsyncRead for Visitor {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let visitor = self.get_mut();
        visitor.look(context)?;
        let n_before = buffer.filled().len();
        let read = Pin::new(&mut visitor.stream).poll_read(context, buffer);
        if buffer.filled().len() > n_before {
            visitor.line.hear();
        }
        read
    }
}

impl AsyncWrite for Visitor {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

impl Connected for Visitor {
    type ConnectInfo = KnownVisitor;

    fn connect_info(&self) -> KnownVisitor {
        KnownVisitor { number: self.pass.as_ref().map(|pass| pass.number), line: Arc::clone(&self.line) }
    }
}
