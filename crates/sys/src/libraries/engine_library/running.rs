//! An engine of a library that runs: its I/Os in flight, and the checks of what it completes.
//!
//! Must not know: jobs. Start reading at [`LibraryEngine::start`].
#![expect(unsafe_code, reason = "calls of functions that a library has named")]

use super::structures::{Api, JobCall, RawEvent, RawIo};
use super::{EngineLibrary, LibraryFailure, LibraryJob, c_text, errno_of, with_error_text};
use crate::memory::arena::Arena;
use std::cell::RefCell;
use std::ffi::c_void;
use std::rc::Rc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LibraryIo {
    /// Names the I/O while it is in flight; below the depth of the job.
    pub tag: u32,
    pub target: u32,
    /// `FERRIO_ENGINE_READ` and so on of the header: read 0, write 1, trim 2, sync 3.
    pub direction: u32,
    /// First byte.
    pub offset_bytes: u64,
    pub length_bytes: usize,
    /// Place of its data in the buffer area; `None`: it has none.
    pub buffer_offset: Option<usize>,
}

/// What a library did with an I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Submitted {
    /// It is done as a whole.
    Completed,
    Failed(i32),
    /// It will be reaped.
    Queued,
    /// There is no room.
    Busy,
}

/// An engine of a library that was started for a job. It is stopped when dropped.
#[derive(Debug)]
pub struct LibraryEngine {
    api: Api,
    engine: *mut c_void,
    arena: Rc<RefCell<Arena>>,
    /// Lengths of the I/Os in flight, by tag.
    in_flight: Vec<Option<u64>>,
    n_in_flight: u32,
    events: Vec<RawEvent>,
    /// The rule that the library has broken; it is not called for I/Os any more.
    fault: Option<&'static str>,
}

impl LibraryEngine {
    pub fn start(library: &EngineLibrary, job: &LibraryJob, arena: Rc<RefCell<Arena>>) -> Result<Self, LibraryFailure> {
        let api = library.api;
        let call = JobCall::new(job);
        let mut engine = std::ptr::null_mut();
        with_error_text(|error, error_bytes| {
            // SAFETY: the function has this type; all pointers are valid until it returns.
            unsafe { (api.needed().start)(&raw const *call.raw(), &raw mut engine, error, error_bytes) }
        })?;
        let depth = job.iodepth as usize;
        let (in_flight, events) = (vec![None; depth], vec![RawEvent::default(); depth]);
        Ok(Self { api, engine, arena, in_flight, n_in_flight: 0, events, fault: None })
    }

    pub fn open(&mut self, index: u32, target: &str, writes: bool) -> Result<(), LibraryFailure> {
        let Some(call) = self.api.raw().calls.open else { return Ok(()) };
        let target = c_text(target);
        with_error_text(|error, error_bytes| {
            // SAFETY: as in `start`, and the engine is running.
            unsafe { call(self.engine, index, target.as_ptr(), i32::from(writes), error, error_bytes) }
        })
    }

    pub fn close(&mut self, index: u32) {
        if let Some(call) = self.api.raw().calls.close {
            // SAFETY: the function has this type, and the engine is running.
            unsafe { call(self.engine, index) };
        }
    }

    /// Starts an I/O, or does it.
    ///
    /// # Panics
    /// Its buffer is not within the buffer area.
    #[inline]
    pub fn queue(&mut self, io: &LibraryIo) -> Submitted {
        if self.fault.is_some() {
            return Submitted::Failed(libc::EPROTO);
        }
        let buffer = io.buffer_offset.map_or(std::ptr::null_mut(), |offset| {
            self.arena.borrow_mut().slice_mut(offset, io.length_bytes).as_mut_ptr().cast()
        });
        let raw = RawIo {
            struct_bytes: size_of::<RawIo>() as u32,
            tag: io.tag,
            target: io.target,
            direction: io.direction,
            offset_bytes: io.offset_bytes,
            length_bytes: io.length_bytes as u64,
            buffer,
        };
        let Some(slot) = self.in_flight.get_mut(io.tag as usize) else { return Submitted::Failed(libc::EINVAL) };
        // SAFETY: the function has this type, and the engine is running. The buffer is in the area, which outlives the engine, and
        // nothing else uses this part of it until the I/O has completed.
        match unsafe { (self.api.needed().queue)(self.engine, &raw const raw) } {
            0 => Submitted::Completed,
            1 if self.api.raw().calls.reap.is_none() => {
                self.fault = Some("queue() has queued an I/O, but there is no reap()");
                Submitted::Failed(libc::EPROTO)
            }
            1 => {
                *slot = Some(io.length_bytes as u64);
                self.n_in_flight += 1;
                Submitted::Queued
            }
            2 if self.n_in_flight > 0 => Submitted::Busy,
            2 => {
                self.fault = Some("queue() has no room, but nothing is in flight");
                Submitted::Failed(libc::EPROTO)
            }
            returned if returned < 0 => Submitted::Failed(errno_of(i64::from(returned))),
            _ => {
                self.fault = Some("queue() has returned what it may not return");
                Submitted::Failed(libc::EPROTO)
            }
        }
    }

    /// Sends what was queued on its way.
    pub fn commit(&mut self) -> Result<(), i32> {
        let Some(call) = self.api.raw().calls.commit.filter(|_| self.fault.is_none()) else { return Ok(()) };
        // SAFETY: the function has this type, and the engine is running.
        let returned = unsafe { call(self.engine) };
        if returned < 0 { Err(errno_of(i64::from(returned))) } else { Ok(()) }
    }

    /// Waits for `min` I/Os, but not longer than `timeout_ns`; calls `take` with the tag and the result of up to `max` completed ones:
    /// bytes, or an errno. After a fault of the library all that was in flight has failed with EPROTO.
    ///
    /// # Errors
    /// The errno of the library, which cannot go on.
    pub fn reap(
        &mut self,
        min: u32,
        max: u32,
        timeout_ns: u64,
        mut take: impl FnMut(u32, Result<u64, i32>),
    ) -> Result<(), i32> {
        let max = max.min(self.n_in_flight);
        let Some(call) = self.api.raw().calls.reap.filter(|_| max > 0 && self.fault.is_none()) else {
            self.fail_all(&mut take);
            return Ok(());
        };
        // SAFETY: the function has this type, the engine is running, and the list has room for `max` events.
        let returned = unsafe { call(self.engine, min.min(max), max, timeout_ns, self.events.as_mut_ptr()) };
        if returned < 0 {
            return Err(errno_of(i64::from(returned)));
        }
        if returned as u32 > max {
            self.fault = Some("reap() has returned more I/Os than it was asked for");
        } else {
            for index in 0..returned as usize {
                let event = self.events[index];
                match self.checked(event) {
                    Ok(result) => take(event.tag, result),
                    Err(fault) => {
                        self.fault = Some(fault);
                        break;
                    }
                }
            }
        }
        self.fail_all(&mut take);
        Ok(())
    }

    fn checked(&mut self, event: RawEvent) -> Result<Result<u64, i32>, &'static str> {
        let slot = self.in_flight.get_mut(event.tag as usize).and_then(Option::take);
        let length = slot.ok_or("an I/O has completed that was not in flight")?;
        self.n_in_flight -= 1;
        match u64::try_from(event.result) {
            Ok(n_bytes) if n_bytes <= length => Ok(Ok(n_bytes)),
            Ok(_) => {
                // It is failed with the others.
                self.in_flight[event.tag as usize] = Some(length);
                self.n_in_flight += 1;
                Err("an I/O has moved more bytes than it was asked for")
            }
            Err(_) => Ok(Err(errno_of(event.result))),
        }
    }

    /// After a fault, ends all that is in flight.
    fn fail_all(&mut self, take: &mut impl FnMut(u32, Result<u64, i32>)) {
        if self.fault.is_none() || self.n_in_flight == 0 {
            return;
        }
        self.cancel();
        for (tag, slot) in self.in_flight.iter_mut().enumerate() {
            if slot.take().is_some() {
                take(tag as u32, Err(libc::EPROTO));
            }
        }
        self.n_in_flight = 0;
    }

    /// The rule of the interface that the library has broken.
    pub fn fault(&self) -> Option<&'static str> {
        self.fault
    }

    /// Gives up what is in flight; calls `take` with each tag.
    pub fn give_up(&mut self, mut take: impl FnMut(u32)) {
        if self.n_in_flight > 0 {
            self.cancel();
        }
        for (tag, slot) in self.in_flight.iter_mut().enumerate() {
            if slot.take().is_some() {
                take(tag as u32);
            }
        }
        self.n_in_flight = 0;
    }

    /// Tells the library that no buffer may be used any more. A library that cannot be told keeps the buffers for ever.
    fn cancel(&mut self) {
        match self.api.raw().calls.cancel {
            // SAFETY: the function has this type, and the engine is running.
            Some(call) => unsafe { call(self.engine) },
            None => std::mem::forget(Rc::clone(&self.arena)),
        }
    }
}

impl Drop for LibraryEngine {
    fn drop(&mut self) {
        self.give_up(|_| ());
        // SAFETY: the function has this type; the engine is running and not used after this.
        unsafe { (self.api.needed().stop)(self.engine) };
    }
}
