//! Requests into a ring and completions out of it, for engines over rings of either size of entries.
//!
//! Must not know: what requests do. Start reading at [`Traffic`].

use crate::contract::{Completion, Queued, time_left};
use crate::files::control;
use ferrio_sys::Clock;
use ferrio_sys::Errno;
use ferrio_sys::uring::{CompletionForm, RequestForm, RingOf};
use std::io;
use std::time::Duration;

/// Number of tries to submit when the kernel has no room (EAGAIN) although none of our requests is in flight, so that
/// no completion could make room.
const MAX_SUBMIT_TRIES: u32 = 1000;

/// Pause between these tries.
const SUBMIT_PAUSE: Duration = Duration::from_millis(1);

/// With a polling kernel thread, looks at the ring (some 10 us in all) before the engine enters the kernel to wait:
/// such jobs want no system calls, but a slow device should not cost a CPU.
const N_SPINS: u32 = 1000;

/// What an engine over a ring has, and what follows from it.
pub(crate) trait Traffic {
    type Requests: RequestForm;
    type Completions: CompletionForm;

    fn ring(&mut self) -> &mut RingOf<Self::Requests, Self::Completions>;

    /// A thread of the kernel takes requests by itself.
    fn has_polling_thread(&self) -> bool;

    /// Units queued whose submission was not yet reported.
    fn n_queued(&mut self) -> &mut u32;

    /// Takes completions that are in the ring.
    fn pop(&mut self, n_max: usize, completions: &mut Vec<Completion>);

    /// Pushes a request. With a polling kernel thread it waits for room first.
    #[inline]
    fn push_or_wait(&mut self, mut push: impl FnMut(&mut RingOf<Self::Requests, Self::Completions>) -> bool) -> Queued {
        while !push(self.ring()) {
            if !self.has_polling_thread() {
                return Queued::Busy;
            }
            if let Err(errno) = self.ring().wait_for_room() {
                return Queued::Completed(control::error_result(errno));
            }
        }
        *self.n_queued() += 1;
        Queued::Queued
    }

    /// Submits pushed requests; tries again where the kernel has no room.
    fn submit(&mut self) -> Result<(), Errno> {
        let ring = self.ring();
        let mut n_tries = 0;
        loop {
            match ring.submit() {
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN | Errno::BUSY) => {
                    let n_in_flight = ring.n_outstanding().saturating_sub(ring.n_unsubmitted());
                    if n_in_flight > 0 {
                        return Ok(());
                    }
                    if n_tries == MAX_SUBMIT_TRIES {
                        return Err(Errno::AGAIN);
                    }
                    n_tries += 1;
                    std::thread::sleep(SUBMIT_PAUSE);
                }
                result => return result.map(drop),
            }
        }
    }

    /// Hands queued units to the kernel; returns how many it took.
    #[inline]
    fn submit_queued(&mut self) -> io::Result<u32> {
        if *self.n_queued() == 0 {
            return Ok(0);
        }
        self.submit()?;
        // Requests that a polling kernel thread can see count as submitted. A wait may have submitted some before.
        let n_left = if self.has_polling_thread() { 0 } else { self.ring().n_unsubmitted() };
        let n_taken = self.n_queued().saturating_sub(n_left);
        *self.n_queued() -= n_taken;
        Ok(n_taken)
    }

    /// Waits until at least `min` units are done, and takes up to `max`.
    #[inline]
    fn take(&mut self, min: u32, max: u32, completions: &mut Vec<Completion>) -> io::Result<()> {
        let n_start = completions.len();
        let n_max = max as usize;
        self.pop(n_max, completions);
        let n_min = (min.min(max) as usize).min(completions.len() - n_start + self.ring().n_outstanding() as usize);
        if min == 0 && completions.len() == n_start {
            self.ring().submit_and_wait(0)?;
            self.pop(n_max, completions);
        }
        let mut n_spins = if self.has_polling_thread() { N_SPINS } else { 0 };
        while completions.len() - n_start < n_min {
            if n_spins > 0 {
                n_spins -= 1;
                std::hint::spin_loop();
            } else {
                self.ring().submit_and_wait((n_min - (completions.len() - n_start)) as u32)?;
            }
            self.pop(n_max - (completions.len() - n_start), completions);
        }
        Ok(())
    }

    /// Waits until a unit is done, but not beyond `until_ns`; takes up to `max`.
    fn take_until(
        &mut self,
        max: u32,
        until_ns: u64,
        clock: &Clock,
        completions: &mut Vec<Completion>,
    ) -> io::Result<()> {
        let n_start = completions.len();
        self.pop(max as usize, completions);
        if completions.len() == n_start {
            self.ring().wait_within(time_left(clock, until_ns))?;
            self.pop(max as usize, completions);
        }
        Ok(())
    }
}
