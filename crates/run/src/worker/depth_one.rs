//! The loop for one I/O at a time: synchronous engines, and any engine at `iodepth=1`.
//!
//! Must not know: batches. Start reading at [`Worker::run_depth_one`].
//! The stamp at which one I/O ends is the start of the next: two reads of the clock per I/O.

use super::account::Stamps;
use super::io::Finished;
use super::{Stop, Worker};
use crate::error::job_error;
use ferrio_engine::Queued;
use ferrio_workload::Next;

impl Worker<'_> {
    /// Does one pass. `BY_ENGINE`: the engine takes the stamps of its calls.
    pub(super) fn run_depth_one<const BY_ENGINE: bool>(&mut self) -> Stop {
        let mut stamp = self.clock.stamp();
        loop {
            if self.control.is_due(stamp) {
                if let Some(stop) = self.attend(stamp) {
                    return stop;
                }
                stamp = self.clock.stamp();
            }
            let io = match self.workload.next() {
                Next::Io(io) => io,
                other => {
                    if let Some(stop) = self.between_ios(other, &mut stamp) {
                        return stop;
                    }
                    continue;
                }
            };
            if let Err(stop) = self.fill_slot(0, &io, stamp) {
                return stop;
            }
            match self.do_one::<BY_ENGINE>(stamp) {
                Ok(done) => stamp = done,
                Err(stop) => return stop,
            }
        }
    }

    /// Does the unit in slot 0; returns the stamp of its end.
    #[inline]
    fn do_one<const BY_ENGINE: bool>(&mut self, start: u64) -> Result<u64, Stop> {
        let (result, done) = if BY_ENGINE { self.call_timed(start) } else { self.call(start) }?;
        match self.finish(0, result, done) {
            Finished::Done => Ok(done),
            Finished::Again => self.do_rests(done),
            Finished::Stop(stop) => Err(stop),
        }
    }

    /// Has the engine do the unit in slot 0, with stamps around all that it takes.
    #[inline]
    fn call(&mut self, start: u64) -> Result<(i64, u64), Stop> {
        let issue = self.stamp_after(start);
        let slot = self.slots.get_mut(0);
        slot.stamps = Stamps { start, issue };
        match self.engine.queue(0, &slot.unit) {
            Queued::Completed(result) => {
                // The stamp first: what comes after it is not the device's time.
                let done = self.stamp_after(issue);
                self.count_inline();
                Ok((result, done))
            }
            Queued::Queued => self.commit_and_reap_one(start),
            Queued::Busy => Err(no_room()),
        }
    }

    /// Has the engine do and stamp the unit in slot 0.
    #[inline]
    fn call_timed(&mut self, start: u64) -> Result<(i64, u64), Stop> {
        let slot = self.slots.get_mut(0);
        let (queued, stamps) = self.engine.queue_timed(0, &slot.unit, &self.clock);
        slot.stamps = Stamps { start, issue: stamps.before };
        match queued {
            Queued::Completed(result) => {
                self.count_inline();
                Ok((result, stamps.after))
            }
            Queued::Queued => self.commit_and_reap_one(start),
            Queued::Busy => Err(no_room()),
        }
    }

    #[inline]
    fn count_inline(&mut self) {
        let stats = &mut self.account.stats;
        stats.depth.record(1, 1);
        if self.plan.engine.inline {
            stats.submit.record(1);
            stats.complete.record(1);
        }
    }

    fn commit_and_reap_one(&mut self, start: u64) -> Result<(i64, u64), Stop> {
        self.commit_one()?;
        let issue = self.stamp_after(start);
        let slot = self.slots.get_mut(0);
        slot.stamps.issue = issue;
        let (stamps, direction) = (slot.stamps, slot.unit.direction.data());
        if let Some(direction) = direction {
            self.account.data_issued(direction, &self.clock, stamps);
            if self.logs_each_io {
                self.log_issued(0, direction);
            }
        }
        let result = self.reap_one()?;
        let done = self.stamp_after(issue);
        self.account.stats.depth.record(1, 1);
        self.count_calls();
        Ok((result, done))
    }

    #[inline]
    fn count_calls(&mut self) {
        self.account.stats.submit.record(1);
        self.account.stats.complete.record(1);
    }

    /// Does what a short transfer left. It is part of its I/O: stamps and depth stay as they are, the calls are counted.
    #[cold]
    fn do_rests(&mut self, last: u64) -> Result<u64, Stop> {
        loop {
            let result = match self.engine.queue(0, &self.slots.get(0).unit) {
                Queued::Completed(result) => result,
                Queued::Queued => {
                    self.commit_one()?;
                    self.reap_one()?
                }
                Queued::Busy => return Err(no_room()),
            };
            self.count_calls();
            let done = self.stamp_after(last);
            match self.finish(0, result, done) {
                Finished::Done => return Ok(done),
                Finished::Again => {}
                Finished::Stop(stop) => return Err(stop),
            }
        }
    }

    /// Hands the one unit to the kernel; as often as the kernel takes nothing.
    fn commit_one(&mut self) -> Result<(), Stop> {
        let refused =
            |error: std::io::Error| Stop::Failed(Box::new(job_error!(error.raw_os_error().unwrap_or(5), "commit")));
        while self.engine.commit().map_err(refused)? == 0 {}
        Ok(())
    }

    /// Waits for the one unit in flight.
    fn reap_one(&mut self) -> Result<i64, Stop> {
        loop {
            self.completions.clear();
            let reaped = self.engine.reap(1, 1, &mut self.completions);
            reaped
                .map_err(|error| Stop::Failed(Box::new(job_error!(error.raw_os_error().unwrap_or(5), "getevents"))))?;
            if let Some(completion) = self.completions.first() {
                return Ok(completion.result);
            }
        }
    }
}

/// Nothing is in flight: an engine that says no now cannot go on.
fn no_room() -> Stop {
    Stop::Failed(Box::new(job_error!(11, "queue")))
}
