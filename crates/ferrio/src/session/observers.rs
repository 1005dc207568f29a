//! Several observers of one run: those that are called, in the thread of the run, and those that read from a channel of their own.
//!
//! Must not know: what observers do. Start reading at [`Observer`] and [`Subscription`].

use ferrio_run::{RunEvent, RunObserver};
use ferrio_stats::RunMessages;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::time::Duration;

/// An observer that the run calls: it sees every event, in order, and the run waits for it.
pub trait Observer {
    /// An event has happened.
    fn event(&mut self, event: &RunEvent);
}

impl<F: FnMut(&RunEvent)> Observer for F {
    fn event(&mut self, event: &RunEvent) {
        self(event);
    }
}

/// The events of a run for an observer that may be slow: they wait in a channel of limited length. The run never waits for it; events
/// for which there is no room are lost, and counted.
#[derive(Debug)]
pub struct Subscription {
    events: Receiver<Arc<RunEvent>>,
    n_lost: Arc<AtomicU64>,
}

impl Subscription {
    /// The next event; waits for it. `None`: the run is over.
    pub fn next_event(&self) -> Option<Arc<RunEvent>> {
        self.events.recv().ok()
    }

    /// The next event, if there is one within this time. `None`: there is none, or the run is over.
    pub fn next_within(&self, limit: Duration) -> Option<Arc<RunEvent>> {
        self.events.recv_timeout(limit).ok()
    }

    /// Number of events that are lost so far, because the channel was full.
    pub fn n_lost(&self) -> u64 {
        self.n_lost.load(Ordering::Relaxed)
    }
}

/// Events until the run is over.
impl Iterator for Subscription {
    type Item = Arc<RunEvent>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_event()
    }
}

/// The run's end of a subscription.
#[derive(Debug)]
pub(crate) struct Subscriber {
    events: SyncSender<Arc<RunEvent>>,
    n_lost: Arc<AtomicU64>,
}

impl Subscriber {
    /// Hands over an event if there is room. False: nobody reads any more.
    fn offer(&self, event: &Arc<RunEvent>) -> bool {
        match self.events.try_send(Arc::clone(event)) {
            Ok(()) => true,
            Err(TrySendError::Full(_)) => {
                self.n_lost.fetch_add(1, Ordering::Relaxed);
                true
            }
            Err(TrySendError::Disconnected(_)) => false,
        }
    }
}

/// A channel with room for so many events, at least one.
pub(crate) fn channel(capacity: usize) -> (Subscriber, Subscription) {
    let (sender, events) = mpsc::sync_channel(capacity.max(1));
    let n_lost = Arc::new(AtomicU64::new(0));
    (Subscriber { events: sender, n_lost: Arc::clone(&n_lost) }, Subscription { events, n_lost })
}

/// All observers of a run; also keeps its messages for the record.
pub(crate) struct Observers<'a, 'b> {
    called: &'a mut [&'b mut dyn Observer],
    pub(crate) subscribers: Vec<Subscriber>,
    pub(crate) messages: RunMessages,
}

impl<'a, 'b> Observers<'a, 'b> {
    pub(crate) fn new(called: &'a mut [&'b mut dyn Observer], subscribers: Vec<Subscriber>) -> Self {
        Self { called, subscribers, messages: RunMessages::default() }
    }
}

impl RunObserver for Observers<'_, '_> {
    fn event(&mut self, event: RunEvent) {
        if let RunEvent::Message(stream, note) = &event {
            self.messages.push(*stream, note.clone());
        }
        for observer in self.called.iter_mut() {
            observer.event(&event);
        }
        if !self.subscribers.is_empty() {
            let event = Arc::new(event);
            self.subscribers.retain(|subscriber| subscriber.offer(&event));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_subscriber_loses_events_and_delays_nobody() {
        let mut n_called = 0;
        let mut count = |_: &RunEvent| n_called += 1;
        let ((slow_end, slow), (gone_end, gone)) = (channel(2), channel(0));
        let mut called: [&mut dyn Observer; 1] = [&mut count];
        let mut observers = Observers::new(&mut called, vec![slow_end, gone_end]);
        drop(gone);
        for _ in 0..5 {
            observers.event(RunEvent::Stopping);
        }
        assert_eq!(observers.subscribers.len(), 1);
        drop(observers);
        assert_eq!((slow.n_lost(), slow.count(), n_called), (3, 2, 5));
    }
}
