//! The loop for several I/Os in flight: prepare, commit in batches, reap when the depth is reached.
//!
//! Must not know: what engines do. Start reading at [`Worker::run_queued`].
//! Facts: reference "Queue handling". Units of one system call share its stamp: the issue stamp is taken when the commit
//! returns, the completion stamp when the reap returns, and a unit's start is the last stamp before its preparation.

use super::io::Finished;
use super::{Stop, Worker};
use crate::error::job_error;
use ferrio_engine::{Completion, Queued};
use ferrio_workload::Next;

impl Worker<'_> {
    /// Does one pass; nothing is in flight at its end.
    pub(super) fn run_queued(&mut self) -> Stop {
        let stop = match self.fill_and_collect() {
            Ok(stop) | Err(stop) => stop,
        };
        match self.drain() {
            Err(late) if !matches!(stop, Stop::Failed(_)) => late,
            _ => stop,
        }
    }

    fn fill_and_collect(&mut self) -> Result<Stop, Stop> {
        let polls = self.queue.batch_complete_min == 0 && self.queue.batch_complete_max == 0;
        let (commits_each, completes_on_commit) = (self.queue.batch_submit == 1, self.plan.engine.completes_on_commit);
        let mut stamp = self.clock.stamp();
        loop {
            if self.control.is_due(stamp) {
                if let Some(stop) = self.attend(stamp) {
                    return Ok(stop);
                }
                stamp = self.clock.stamp();
            }
            let io = match self.workload.next() {
                Next::Io(io) => io,
                other => {
                    if let Some(stop) = self.between_ios(other, &mut stamp) {
                        return Ok(stop);
                    }
                    continue;
                }
            };
            // A slot is free here: the loop collects whenever none is.
            let Some(slot_index) = self.slots.take() else { return Ok(Stop::PassEnd) };
            if let Err(stop) = self.fill_slot(slot_index, &io, stamp) {
                // It will never be in flight: who waits for all that is would wait for it.
                self.slots.give_back(slot_index);
                return Err(stop);
            }
            self.files.takes_off(io.file_index);
            if commits_each && self.prepared.is_empty() {
                self.submit_one(slot_index, &mut stamp)?;
            } else {
                self.enqueue(slot_index, &mut stamp)?;
                if self.prepared.len() >= self.queue.batch_submit {
                    self.commit(&mut stamp)?;
                }
            }
            if self.slots.is_full() {
                self.collect_full(&mut stamp)?;
            } else if completes_on_commit {
                if self.prepared.is_empty() {
                    self.reap_here(1, self.queue.iodepth, &mut stamp)?;
                }
            } else if polls {
                self.commit(&mut stamp)?;
                self.reap(0, self.queue.iodepth, &mut stamp)?;
            }
        }
    }

    /// Hands a filled slot to the engine and the kernel, when no other is prepared: what most jobs do most of the time.
    #[inline]
    fn submit_one(&mut self, slot_index: u32, stamp: &mut u64) -> Result<(), Stop> {
        let queued = self.engine.queue(slot_index, &self.slots.get(slot_index).unit);
        if queued != Queued::Queued {
            self.take_queued(slot_index, queued, stamp)?;
            return self.commit(stamp);
        }
        match self.engine.commit() {
            Ok(1) => {}
            Ok(_) => {
                self.prepared.push(slot_index);
                return self.commit(stamp);
            }
            Err(error) => return Err(refused(&error, "commit")),
        }
        *stamp = self.stamp_after(*stamp);
        let slot = self.slots.get_mut(slot_index);
        slot.stamps.issue = *stamp;
        let (stamps, direction) = (slot.stamps, slot.unit.direction.data());
        if let Some(direction) = direction {
            self.account.data_issued(direction, &self.clock, stamps);
            if self.logs_each_io {
                self.log_issued(slot_index, direction);
            }
        }
        self.count_commit(1, 1);
        Ok(())
    }

    /// Hands a filled slot to the engine.
    #[inline]
    fn enqueue(&mut self, slot_index: u32, stamp: &mut u64) -> Result<(), Stop> {
        let queued = self.engine.queue(slot_index, &self.slots.get(slot_index).unit);
        self.take_queued(slot_index, queued, stamp)
    }

    /// Goes on with what the engine said of a slot, until it is queued or done.
    #[inline]
    fn take_queued(&mut self, slot_index: u32, mut queued: Queued, stamp: &mut u64) -> Result<(), Stop> {
        loop {
            match queued {
                Queued::Queued => {
                    self.prepared.push(slot_index);
                    return Ok(());
                }
                Queued::Completed(result) => {
                    *stamp = self.stamp_after(*stamp);
                    let is_new = !self.slots.get(slot_index).was_short;
                    self.count_commit(1, is_new.into());
                    self.count_reap(1);
                    if self.take_result(slot_index, result, *stamp)? {
                        return Ok(());
                    }
                }
                Queued::Busy => {
                    if !self.prepared.is_empty() {
                        self.commit(stamp)?;
                    }
                    self.reap(1, self.queue.batch_complete_max.max(1), stamp)?;
                }
            }
            queued = self.engine.queue(slot_index, &self.slots.get(slot_index).unit);
        }
    }

    /// Hands all prepared units to the kernel.
    #[inline]
    fn commit(&mut self, stamp: &mut u64) -> Result<(), Stop> {
        while !self.prepared.is_empty() {
            let n_taken = match self.engine.commit() {
                Ok(0) => {
                    self.wait_for_room(stamp)?;
                    continue;
                }
                Ok(n_taken) => n_taken,
                Err(error) => return Err(refused(&error, "commit")),
            };
            *stamp = self.stamp_after(*stamp);
            let n_new = self.mark_issued(n_taken, *stamp);
            self.count_commit(n_taken, n_new);
        }
        Ok(())
    }

    /// Hands over what is prepared, and takes at least one result.
    pub(super) fn collect_some(&mut self) -> Result<(), Stop> {
        let mut stamp = self.clock.stamp();
        self.commit(&mut stamp)?;
        self.reap(1, self.queue.iodepth, &mut stamp)
    }

    /// Hands over what is prepared, and takes what is done, waiting for it no longer than until `until_ns`.
    pub(super) fn collect_until(&mut self, until_ns: u64) -> Result<(), Stop> {
        let mut stamp = self.clock.stamp();
        self.commit(&mut stamp)?;
        self.completions.clear();
        let Self { engine, completions, clock, queue, .. } = self;
        engine.reap_until(queue.iodepth, until_ns, clock, completions).map_err(|error| refused(&error, "getevents"))?;
        if self.completions.is_empty() {
            return Ok(());
        }
        stamp = self.stamp_after(stamp);
        self.count_reap(self.completions.len() as u32);
        self.take_all(stamp)
    }

    /// The kernel takes nothing now: reap, or try again when nothing is in flight.
    #[cold]
    fn wait_for_room(&mut self, stamp: &mut u64) -> Result<(), Stop> {
        if self.slots.n_used() > self.prepared.len() { self.reap(1, self.queue.iodepth, stamp) } else { Ok(()) }
    }

    /// The oldest prepared units are with the kernel now. Returns how many of them are no rests of short transfers: a rest
    /// keeps the stamps of its I/O.
    #[inline]
    fn mark_issued(&mut self, n_units: u32, stamp: u64) -> u32 {
        let mut n_new = 0;
        let Self { prepared, slots, account, clock, log, logs_each_io, .. } = self;
        prepared.commit(n_units, |slot_index| {
            let slot = slots.get_mut(*slot_index);
            if slot.was_short {
                return;
            }
            n_new += 1;
            slot.stamps.issue = stamp;
            if let Some(direction) = slot.unit.direction.data() {
                account.data_issued(direction, clock, slot.stamps);
                if *logs_each_io
                    && let Some(log) = log
                    && !account.is_ramping()
                {
                    log.io_issued(slot, direction, clock);
                }
            }
        });
        n_new
    }

    /// One call that handed over units; `n_new` of them are I/Os and not rests.
    #[inline]
    fn count_commit(&mut self, n_units: u32, n_new: u32) {
        let stats = &mut self.account.stats;
        stats.depth.record(self.slots.n_used(), u64::from(n_new));
        stats.submit.record(n_units);
    }

    #[inline]
    fn count_reap(&mut self, n_units: u32) {
        self.account.stats.complete.record(n_units);
    }

    /// No slot is free: collect until no more than the low mark are in use.
    #[inline]
    fn collect_full(&mut self, stamp: &mut u64) -> Result<(), Stop> {
        let min = self.queue.batch_complete_min.max(1);
        loop {
            self.commit(stamp)?;
            if !self.slots.is_full() && self.slots.n_used() <= self.queue.low {
                return Ok(());
            }
            self.reap(min, self.queue.batch_complete_max.max(min), stamp)?;
            if self.control.is_terminated() && !self.slots.is_full() {
                return Ok(());
            }
        }
    }

    /// Takes between `min` and `max` results.
    #[inline(never)]
    fn reap(&mut self, min: u32, max: u32, stamp: &mut u64) -> Result<(), Stop> {
        self.reap_here(min, max, stamp)
    }

    /// The same for the place where most I/Os pass.
    #[expect(clippy::inline_always, reason = "a call saves registers and hands over the stamp in memory")]
    #[inline(always)]
    fn reap_here(&mut self, min: u32, max: u32, stamp: &mut u64) -> Result<(), Stop> {
        let n_committed = self.slots.n_used() - self.prepared.len();
        self.completions.clear();
        if let Err(error) = self.engine.reap(min.min(n_committed), max, &mut self.completions) {
            return Err(refused(&error, "getevents"));
        }
        *stamp = self.stamp_after(*stamp);
        self.count_reap(self.completions.len() as u32);
        if let [completion] = self.completions[..] {
            self.take_completion(completion, *stamp)
        } else {
            self.take_all(*stamp)
        }
    }

    /// Takes all that was reaped, at one stamp.
    #[inline(never)]
    fn take_all(&mut self, stamp: u64) -> Result<(), Stop> {
        let mut first = Ok(());
        // All are taken even when one ends the job: what is reaped and not taken would be waited for without end.
        let completions = std::mem::take(&mut self.completions);
        for completion in &completions {
            if let Err(stop) = self.take_completion(*completion, stamp) {
                first = first.and(Err(stop));
            }
        }
        self.completions = completions;
        first
    }

    #[inline]
    fn take_completion(&mut self, completion: Completion, stamp: u64) -> Result<(), Stop> {
        let Completion { unit_index, result } = completion;
        match self.finish_whole(unit_index, result, stamp) {
            Some(file_index) => self.release(unit_index, file_index),
            None => self.take_odd(unit_index, result, stamp),
        }
    }

    /// A unit that is no plain success: its rest goes on, or its slot is free again.
    #[cold]
    fn take_odd(&mut self, slot_index: u32, result: i64, stamp: u64) -> Result<(), Stop> {
        if self.take_result(slot_index, result, stamp)? { Ok(()) } else { self.requeue(slot_index) }
    }

    /// True: the slot is free again. False: the unit has a rest to do.
    fn take_result(&mut self, slot_index: u32, result: i64, stamp: u64) -> Result<bool, Stop> {
        let finished = self.finish(slot_index, result, stamp);
        if finished == Finished::Again {
            return Ok(false);
        }
        let file_index = self.slots.get(slot_index).unit.file_index;
        let released = self.release(slot_index, file_index);
        match finished {
            Finished::Stop(stop) => Err(stop),
            _ => released.map(|()| true),
        }
    }

    /// The slot is free again; its file closes if it waited for that.
    #[inline]
    fn release(&mut self, slot_index: u32, file_index: u32) -> Result<(), Stop> {
        self.slots.give_back(slot_index);
        if self.files.lands(file_index) { self.close_idle_file(file_index) } else { Ok(()) }
    }

    #[cold]
    fn close_idle_file(&mut self, file_index: u32) -> Result<(), Stop> {
        self.close_file(file_index).map_err(|error| Stop::Failed(Box::new(error)))
    }

    /// Offers the rest of a short transfer to the engine; it goes out with the next commit.
    #[cold]
    fn requeue(&mut self, slot_index: u32) -> Result<(), Stop> {
        let mut stamp = self.clock.stamp();
        let unit = self.slots.get(slot_index).unit;
        for _ in 0..2 {
            match self.engine.queue(slot_index, &unit) {
                Queued::Queued => {
                    self.prepared.push(slot_index);
                    return Ok(());
                }
                Queued::Completed(result) => {
                    let is_done = self.take_result(slot_index, result, stamp)?;
                    return if is_done { Ok(()) } else { self.requeue(slot_index) };
                }
                // Another rest is queued that this one cannot join (vsync).
                Queued::Busy => self.commit(&mut stamp)?,
            }
        }
        // Its slot was free a moment ago: an engine that still says no cannot go on.
        Err(Stop::Failed(Box::new(job_error!(11, "requeue"))))
    }

    /// Waits for everything in flight. Errors of units that come now do not hide the first.
    pub(super) fn drain(&mut self) -> Result<(), Stop> {
        let mut first = Ok(());
        let mut stamp = self.clock.stamp();
        while self.slots.n_used() > 0 {
            let result = self.commit(&mut stamp).and_then(|()| self.reap(1, self.queue.iodepth, &mut stamp));
            if let Err(stop) = result {
                let engine_failed = matches!(&stop, Stop::Failed(error) if error.step != "io_u error");
                if first.is_ok() {
                    first = Err(stop);
                }
                if engine_failed {
                    break;
                }
            }
        }
        first
    }
}

fn refused(error: &std::io::Error, step: &str) -> Stop {
    Stop::Failed(Box::new(job_error!(error.raw_os_error().unwrap_or(5), step)))
}
