//! Workers of which nothing is heard: stopped ones, and those behind a cut network.
//!
//! All connections ask for a sign of life each second or so (HTTP/2 pings), and whatever comes is one. The limit is of the coordinator's own
//! time, which stands still while its thread gets no CPU: what has come meanwhile is read first. Start reading at [`SilenceWatch::cut_silent`].

use crate::fleet::wire::service::{EACH_HOST_LIMIT, EACH_HOST_PAUSE, KEEPALIVE_INTERVAL, KEEPALIVE_LIMIT};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::time::Instant;

/// Time between two looks.
const LOOK: Duration = Duration::from_millis(100);
/// What counts of the time between two looks.
const MOST_COUNTED: Duration = Duration::from_millis(200);

/// Looks after all connections. Its clones are the same watch.
#[derive(Debug, Clone)]
pub(super) struct SilenceWatch {
    lines: Arc<Mutex<Vec<Weak<HeardLine>>>>,
    /// The coordinator's own time, milliseconds.
    now_ms: Arc<AtomicU64>,
    limit: Duration,
}

/// When something was last heard on a connection.
#[derive(Debug)]
pub(super) struct HeardLine {
    now_ms: Arc<AtomicU64>,
    /// In the coordinator's own time; `u64::MAX`: its worker has not said who it is, for which there is a limit of its own.
    heard_ms: AtomicU64,
    is_cut: AtomicBool,
    reader: Mutex<Option<Waker>>,
}

impl SilenceWatch {
    pub(super) fn new(n_hosts: u32) -> Self {
        let each = (EACH_HOST_PAUSE + EACH_HOST_LIMIT).saturating_mul(n_hosts);
        let limit = KEEPALIVE_INTERVAL + KEEPALIVE_LIMIT + each;
        Self { lines: Arc::default(), now_ms: Arc::default(), limit }
    }

    pub(super) fn limit(&self) -> Duration {
        self.limit
    }

    /// A connection that is watched until this is dropped.
    pub(super) fn line(&self) -> Arc<HeardLine> {
        let line = Arc::new(HeardLine {
            now_ms: Arc::clone(&self.now_ms),
            heard_ms: AtomicU64::new(u64::MAX),
            is_cut: AtomicBool::new(false),
            reader: Mutex::new(None),
        });
        lock(&self.lines).push(Arc::downgrade(&line));
        line
    }

    /// Ends connections on which nothing was heard for too long.
    pub(super) async fn cut_silent(self) {
        let mut looked_at = Instant::now();
        loop {
            tokio::time::sleep(LOOK).await;
            self.pass(looked_at.elapsed());
            looked_at = Instant::now();
        }
    }

    fn pass(&self, elapsed: Duration) {
        let counted_ms = elapsed.min(MOST_COUNTED).as_millis() as u64;
        let now_ms = self.now_ms.fetch_add(counted_ms, Ordering::Relaxed) + counted_ms;
        let limit_ms = self.limit.as_millis() as u64;
        lock(&self.lines).retain(|line| {
            let Some(line) = line.upgrade() else { return false };
            let is_silent = now_ms.saturating_sub(line.heard_ms.load(Ordering::Relaxed)) > limit_ms;
            if is_silent {
                line.cut();
            }
            !is_silent
        });
    }
}

impl HeardLine {
    /// A worker is at the other end, of which something is to be heard from now on.
    pub(super) fn begin(&self) {
        self.heard_ms.store(self.now_ms.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Something has come.
    pub(super) fn hear(&self) {
        if self.heard_ms.load(Ordering::Relaxed) != u64::MAX {
            self.begin();
        }
    }

    /// True once the connection was given up; else the reader is woken when it is.
    pub(super) fn poll_cut(&self, context: &Context<'_>) -> Poll<()> {
        if self.is_cut() {
            return Poll::Ready(());
        }
        let mut reader = lock(&self.reader);
        if !reader.as_ref().is_some_and(|reader| reader.will_wake(context.waker())) {
            *reader = Some(context.waker().clone());
        }
        Poll::Pending
    }

    pub(super) fn is_cut(&self) -> bool {
        self.is_cut.load(Ordering::Relaxed)
    }

    fn cut(&self) {
        self.is_cut.store(true, Ordering::Relaxed);
        lock(&self.reader).take().into_iter().for_each(Waker::wake);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(watch: &SilenceWatch, n_times: u32, each: Duration) {
        (0..n_times).for_each(|_| watch.pass(each));
    }

    #[test]
    fn a_line_is_cut_when_nothing_was_heard_for_the_limit() {
        let watch = SilenceWatch::new(0);
        assert_eq!(watch.limit(), Duration::from_millis(2_500));
        let (silent, heard, new) = (watch.line(), watch.line(), watch.line());
        new.hear();
        silent.begin();
        heard.begin();
        for _ in 0..25 {
            watch.pass(LOOK);
            heard.hear();
        }
        assert!(!silent.is_cut() && !heard.is_cut());
        watch.pass(LOOK);
        assert!(silent.is_cut() && !heard.is_cut() && !new.is_cut());
        assert_eq!(lock(&watch.lines).len(), 2);
        drop((heard, new));
        watch.pass(LOOK);
        assert!(lock(&watch.lines).is_empty());
    }

    #[test]
    fn time_without_cpu_does_not_count() {
        let watch = SilenceWatch::new(0);
        let line = watch.line();
        line.begin();
        looks(&watch, 12, Duration::from_secs(60));
        assert!(!line.is_cut());
        looks(&watch, 1, Duration::from_secs(60));
        assert!(line.is_cut());
    }

    #[test]
    fn each_host_adds_to_the_limit() {
        assert_eq!(SilenceWatch::new(1_000).limit(), Duration::from_millis(8_500));
    }
}
