//! Places for connections: a bounded number, and which of them gives way when all are taken.
//!
//! Must not know: requests, the run. Start reading at [`ConnectionPlaces::take`].

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

const WAY_LIMIT: Duration = Duration::from_millis(200);

/// All places, and the connections on them, the oldest first.
#[derive(Debug)]
pub(super) struct ConnectionPlaces {
    n_places: u32,
    free: Arc<Semaphore>,
    taken: Mutex<Vec<Arc<ConnectionPlace>>>,
}

#[derive(Debug, Default)]
pub(super) struct ConnectionPlace {
    /// The connection gets events until the run ends.
    is_stream: AtomicBool,
    /// Since when the client has taken nothing of what waits for it; `None`: nothing waits.
    waits_since: Mutex<Option<Instant>>,
    gives_way: Notify,
}

/// A place that is taken, until this is dropped.
pub(super) struct TakenPlace {
    pub(super) place: Arc<ConnectionPlace>,
    all: Arc<ConnectionPlaces>,
    _permit: OwnedSemaphorePermit,
}

impl ConnectionPlaces {
    /// So many places.
    pub(super) fn new(n_places: u32) -> Arc<Self> {
        Arc::new(Self { n_places, free: Arc::new(Semaphore::new(n_places as usize)), taken: Mutex::default() })
    }

    /// Takes a place. If none is free, a connection gives way: that which has read nothing of what waits for it for longest, else the
    /// oldest that gets events, whose page connects again. `None`: there is no such connection.
    pub(super) async fn take(all: &Arc<Self>) -> Option<TakenPlace> {
        let free = || Arc::clone(&all.free);
        let permit = if let Ok(permit) = free().try_acquire_owned() {
            permit
        } else {
            all.giving_way()?.gives_way.notify_one();
            timeout(WAY_LIMIT, free().acquire_owned()).await.ok()?.ok()?
        };
        let place = Arc::new(ConnectionPlace::default());
        all.taken().push(Arc::clone(&place));
        Some(TakenPlace { place, all: Arc::clone(all), _permit: permit })
    }

    /// Waits until all places are free.
    pub(super) async fn are_free(&self) {
        let _ = self.free.acquire_many(self.n_places).await;
    }

    fn giving_way(&self) -> Option<Arc<ConnectionPlace>> {
        let taken = self.taken();
        let waiting = taken.iter().filter_map(|place| Some((place.waits_since()?, place)));
        let slowest = waiting.min_by_key(|(since, _)| *since).map(|(_, place)| place);
        slowest.or_else(|| taken.iter().find(|place| place.is_stream.load(Ordering::Relaxed))).cloned()
    }

    fn taken(&self) -> MutexGuard<'_, Vec<Arc<ConnectionPlace>>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for TakenPlace {
    fn drop(&mut self) {
        self.all.taken().retain(|place| !Arc::ptr_eq(place, &self.place));
    }
}

impl ConnectionPlace {
    /// The connection gets events from now on.
    pub(super) fn becomes_stream(&self) {
        self.is_stream.store(true, Ordering::Relaxed);
    }

    /// Returns when another connection needs the place.
    pub(super) async fn is_needed(&self) {
        self.gives_way.notified().await;
    }

    fn waits_since(&self) -> Option<Instant> {
        *self.waits_since.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waits(&self, waits: bool) {
        let mut since = self.waits_since.lock().unwrap_or_else(PoisonError::into_inner);
        *since = waits.then(|| since.unwrap_or_else(Instant::now));
    }
}

/// The socket of a connection, which notes whether its client reads.
pub(super) struct PlacedSocket {
    pub(super) socket: TcpStream,
    pub(super) place: Arc<ConnectionPlace>,
}

impl AsyncRead for PlacedSocket {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_read(context, buffer)
    }
}

impl AsyncWrite for PlacedSocket {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.socket).poll_write(context, bytes);
        this.place.waits(written.is_pending());
        Poll::Ready(ready!(written))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes a place, and leaves it when it is needed.
    async fn occupy(places: &Arc<ConnectionPlaces>) -> Option<Arc<ConnectionPlace>> {
        let taken = ConnectionPlaces::take(places).await?;
        let place = Arc::clone(&taken.place);
        tokio::spawn(async move {
            taken.place.is_needed().await;
            drop(taken);
        });
        Some(place)
    }

    #[test]
    fn a_client_that_does_not_read_gives_way_then_the_oldest_stream() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let places = ConnectionPlaces::new(3);
            let all = [occupy(&places).await, occupy(&places).await, occupy(&places).await].map(Option::unwrap);
            // A connection that is about to ask has a time of its own.
            assert!(occupy(&places).await.is_none());
            all[1].becomes_stream();
            all[2].becomes_stream();
            all[2].waits(true);
            all[0].waits(true);
            all[0].waits(false);
            let is_there = |place: &Arc<ConnectionPlace>| places.taken().iter().any(|taken| Arc::ptr_eq(taken, place));
            let next = occupy(&places).await.unwrap();
            assert_eq!((is_there(&all[2]), is_there(&all[1]), is_there(&all[0])), (false, true, true));
            assert!(occupy(&places).await.is_some() && is_there(&next));
            assert_eq!((is_there(&all[1]), is_there(&all[0])), (false, true));
            assert!(occupy(&places).await.is_none());
        });
    }
}
