//! The way of a result from a thread of a client library to the loop of the job.
//!
//! Must not know: libraries, engines. Start reading at [`ClientMail`].

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClientEnd {
    pub(crate) slot: u32,
    /// What the library has returned: bytes, or a negative errno.
    pub(crate) result: i64,
}

/// Results that the loop has not taken yet.
pub(crate) struct ClientMail {
    letters: Mutex<Letters>,
    /// Number of letters, to be looked at without the lock.
    n_letters: AtomicUsize,
    has_enough: Condvar,
}

struct Letters {
    ended: Vec<ClientEnd>,
    /// Letters that the loop waits for; 0: it does not wait.
    n_wanted: usize,
}

impl ClientMail {
    /// A mailbox with room for the results of all I/Os in flight.
    pub(crate) fn new(n_most: usize) -> Self {
        let letters = Letters { ended: Vec::with_capacity(n_most), n_wanted: 0 };
        Self { letters: Mutex::new(letters), n_letters: AtomicUsize::new(0), has_enough: Condvar::new() }
    }

    fn letters(&self) -> MutexGuard<'_, Letters> {
        // No code panics with the lock, and the list is whole at any time.
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a result, and wakes the loop if it has enough then.
    pub(crate) fn put(&self, ended: ClientEnd) {
        let mut letters = self.letters();
        letters.ended.push(ended);
        self.n_letters.store(letters.ended.len(), Ordering::Release);
        let wakes = letters.n_wanted > 0 && letters.ended.len() >= letters.n_wanted;
        if wakes {
            letters.n_wanted = 0;
        }
        drop(letters);
        if wakes {
            self.has_enough.notify_one();
        }
    }

    /// Moves all results to `into`, after a wait for `n_wanted` of them, for `limit` at most. `spins`: the thread does not sleep.
    pub(crate) fn take(&self, n_wanted: usize, limit: Duration, spins: bool, into: &mut VecDeque<ClientEnd>) {
        if spins && n_wanted > 0 && !limit.is_zero() {
            let end = Instant::now() + limit;
            while self.n_letters.load(Ordering::Acquire) < n_wanted && Instant::now() < end {
                std::hint::spin_loop();
            }
        }
        let mut letters = self.letters();
        if !spins && letters.ended.len() < n_wanted && !limit.is_zero() {
            letters.n_wanted = n_wanted;
            let waited = self.has_enough.wait_timeout_while(letters, limit, |letters| letters.ended.len() < n_wanted);
            letters = waited.unwrap_or_else(PoisonError::into_inner).0;
            letters.n_wanted = 0;
        }
        into.extend(letters.ended.drain(..));
        self.n_letters.store(0, Ordering::Release);
    }
}

/// The address on a result: the mailbox and the slot of the I/O. A library is given a pointer to it for an I/O.
pub(crate) struct Ticket {
    mailbox: Arc<ClientMail>,
    slot: u32,
}

impl Ticket {
    /// The address for the results of a slot.
    pub(crate) fn new(mailbox: &Arc<ClientMail>, slot: u32) -> Self {
        Self { mailbox: Arc::clone(mailbox), slot }
    }

    /// The mailbox and the slot, for results that are sent without the ticket.
    pub(crate) fn reply(&self) -> (Arc<ClientMail>, u32) {
        (Arc::clone(&self.mailbox), self.slot)
    }

    /// Sends the result. The ticket may be gone as soon as the loop has the result, so it is not used afterwards.
    pub(crate) fn send(&self, result: i64) {
        let mailbox = Arc::clone(&self.mailbox);
        mailbox.put(ClientEnd { slot: self.slot, result });
    }
}
