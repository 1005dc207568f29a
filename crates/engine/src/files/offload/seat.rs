//! One thread of a pool: it takes an I/O, does it with an engine of its own, and puts the result on the board.
//!
//! Must not know: the job. Start reading at [`PoolSeat`].
#![expect(unsafe_code, reason = "it uses the buffer of its slot and the descriptors of the job")]

use super::guard::RangeGuard;
use crate::contract::options::EngineOptions;
use crate::contract::{
    Cancellation, Completion, Engine, EngineError, EngineFile, EngineSetup, IoResult, IoUnit, JobFacts, OpenTarget,
    Prepare, Queued,
};
use ferrio_sys::arena::{Arena, Region};
use ferrio_sys::clock::Clock;
use std::cell::RefCell;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// An open file of the job; a thread takes it over before its first I/O to it.
#[derive(Debug, Clone, Default)]
pub(super) struct SeatFile {
    /// How many times the file was opened; 0: never.
    version: u64,
    target: Option<SeatTarget>,
    writable: bool,
    range_start: u64,
    range_bytes: u64,
    random: bool,
}

/// Target of a thread's I/Os; see [`OpenTarget`].
#[derive(Debug, Clone)]
enum SeatTarget {
    Descriptor(RawFd),
    Name(Arc<Path>),
}

impl SeatFile {
    /// Called after the job has opened the file.
    pub(super) fn open(&mut self, file: &EngineFile<'_>) {
        *self = Self {
            version: self.version + 1,
            target: Some(match file.target {
                OpenTarget::Descriptor(fd) => SeatTarget::Descriptor(fd.as_raw_fd()),
                OpenTarget::Name(name) => SeatTarget::Name(name.into()),
            }),
            writable: file.writable,
            range_start: file.range_start,
            range_bytes: file.range_bytes,
            random: file.random,
        };
    }
}

pub(super) enum ThreadOrder {
    Io(IoUnit, SeatFile),
    /// The job has closed this file: nothing of it is in flight.
    Close(u32),
    Leave,
}

/// Results that the job has not taken yet; the list has room for all.
pub(super) struct ResultBoard {
    done: Mutex<Vec<Completion>>,
    changed: Condvar,
}

impl ResultBoard {
    pub(super) fn new(depth: usize) -> Self {
        Self { done: Mutex::new(Vec::with_capacity(depth)), changed: Condvar::new() }
    }

    fn put(&self, completion: Completion) {
        unpoisoned(self.done.lock()).push(completion);
        self.changed.notify_one();
    }

    /// Waits until there are `min` results, no longer than `limit`; takes the oldest, up to `max`; the number taken.
    pub(super) fn take(&self, min: u32, max: u32, limit: Option<Duration>, to: &mut Vec<Completion>) -> u32 {
        let end = limit.map(|limit| Instant::now() + limit);
        let mut done = unpoisoned(self.done.lock());
        while done.len() < min as usize {
            done = match end {
                None => unpoisoned(self.changed.wait(done)),
                Some(end) => {
                    let left = end.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        break;
                    }
                    self.changed.wait_timeout(done, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        let n_taken = done.len().min(max as usize);
        to.extend(done.drain(..n_taken));
        n_taken as u32
    }
}

/// A lock, even if a thread panicked with it: no thread leaves the data in a state that is half changed.
fn unpoisoned<'a, T>(locked: Result<MutexGuard<'a, T>, PoisonError<MutexGuard<'a, T>>>) -> MutexGuard<'a, T> {
    locked.unwrap_or_else(PoisonError::into_inner)
}

/// Contents of a mailbox.
struct Post {
    order: Option<ThreadOrder>,
    /// Files that the job has closed, each once. The thread handles them before the next I/O.
    closed: Vec<u32>,
}

struct Mailbox {
    post: Mutex<Post>,
    changed: Condvar,
}

impl Mailbox {
    fn new(n_files: u32) -> Self {
        let post = Post { order: None, closed: Vec::with_capacity(n_files as usize) };
        Self { post: Mutex::new(post), changed: Condvar::new() }
    }

    fn put(&self, order: ThreadOrder) {
        let mut post = unpoisoned(self.post.lock());
        match order {
            ThreadOrder::Close(file_index) => post.closed.push(file_index),
            order => post.order = Some(order),
        }
        drop(post);
        self.changed.notify_one();
    }

    fn take(&self) -> ThreadOrder {
        let mut post = unpoisoned(self.post.lock());
        loop {
            let order = post.closed.pop().map(ThreadOrder::Close).or_else(|| post.order.take());
            match order {
                Some(order) => return order,
                None => post = unpoisoned(self.changed.wait(post)),
            }
        }
    }

    fn has_order(&self) -> bool {
        unpoisoned(self.post.lock()).order.is_some()
    }
}

/// What a thread needs to start.
pub(super) struct SeatSetup {
    pub(super) index: u32,
    pub(super) name: &'static str,
    pub(super) prepare: Prepare,
    pub(super) options: EngineOptions,
    /// The buffer of the thread's slot in the area of the job.
    pub(super) part: Region,
    pub(super) buffer_start: usize,
    pub(super) max_block_bytes: usize,
    pub(super) n_files: u32,
    pub(super) direct: bool,
    pub(super) atomic: bool,
    pub(super) clock: Clock,
    pub(super) seed: u64,
    /// The guard that delays I/Os until their bytes are free.
    pub(super) guard: Option<RangeGuard>,
}

/// A thread of the pool. Dropping it waits for its I/O.
pub(super) struct PoolSeat {
    mailbox: Arc<Mailbox>,
    ready: Receiver<Result<(), EngineError>>,
    thread: Option<JoinHandle<()>>,
    engine_name: &'static str,
    /// By file: the thread had an I/O to it since the job opened it.
    has_open: Vec<bool>,
}

impl PoolSeat {
    pub(super) fn start(setup: SeatSetup, board: Arc<ResultBoard>) -> Result<Self, EngineError> {
        let mailbox = Arc::new(Mailbox::new(setup.n_files));
        let (tell, ready) = sync_channel(1);
        let (own, name, has_open) = (Arc::clone(&mailbox), setup.name, vec![false; setup.n_files as usize]);
        let body = move || attend(setup, &own, &board, &tell);
        let thread = std::thread::Builder::new().name("ferrio-submit".to_owned()).spawn(body);
        let thread = thread.map_err(|source| EngineError::Refused {
            engine: name,
            what: "io_submit_mode=offload: a thread for each I/O of iodepth".to_owned(),
            source,
            hint: "a smaller iodepth needs fewer threads".to_owned(),
        })?;
        Ok(Self { mailbox, ready, thread: Some(thread), engine_name: name, has_open })
    }

    /// Waits until the thread has made its engine.
    pub(super) fn is_ready(&mut self) -> Result<(), EngineError> {
        self.ready.recv().unwrap_or_else(|_| {
            Err(EngineError::Refused {
                engine: self.engine_name,
                what: "io_submit_mode=offload: starting the engine in a thread".to_owned(),
                source: std::io::Error::from_raw_os_error(libc::EIO),
                hint: "the thread has panicked: this is a bug".to_owned(),
            })
        })
    }

    /// Gives the thread an I/O; the one before must be done.
    pub(super) fn carry_out(&mut self, unit: IoUnit, file: SeatFile) {
        if let Some(is_open) = self.has_open.get_mut(unit.file_index as usize) {
            *is_open = true;
        }
        self.mailbox.put(ThreadOrder::Io(unit, file));
    }

    /// The job closes a file of which nothing is in flight; the thread closes it too, as soon as it has time.
    pub(super) fn close(&mut self, file_index: u32) {
        // An entry is added only after an I/O to the file, and the thread empties the list before each I/O, so the list
        // cannot outgrow its room.
        if self.has_open.get_mut(file_index as usize).is_some_and(std::mem::take) {
            self.mailbox.put(ThreadOrder::Close(file_index));
        }
    }
}

impl Drop for PoolSeat {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            // Leaves the mailbox alone until the thread has taken the order that is in it.
            while self.mailbox.has_order() && !thread.is_finished() {
                std::thread::yield_now();
            }
            self.mailbox.put(ThreadOrder::Leave);
            let _ = thread.join();
        }
    }
}

/// The main function of a thread.
fn attend(mut setup: SeatSetup, mailbox: &Mailbox, board: &ResultBoard, ready: &SyncSender<Result<(), EngineError>>) {
    let (index, buffer_start, guard) = (setup.index, setup.buffer_start, setup.guard.take());
    let mut hand = match Hand::new(setup) {
        Ok(hand) => hand,
        Err(error) => {
            let _ = ready.send(Err(error));
            return;
        }
    };
    let _ = ready.send(Ok(()));
    // A panic ends the I/O but not the thread, as otherwise the job would wait for its result for ever.
    loop {
        let (unit, file) = match mailbox.take() {
            ThreadOrder::Io(unit, file) => (unit, file),
            ThreadOrder::Close(file_index) => {
                let _ = catch_unwind(AssertUnwindSafe(|| hand.close(file_index)));
                continue;
            }
            ThreadOrder::Leave => return,
        };
        let unit = IoUnit { buffer_offset: unit.buffer_offset - buffer_start, ..unit };
        let mut carry_out = || {
            let outcome = catch_unwind(AssertUnwindSafe(|| hand.carry_out(&unit, &file)));
            outcome.unwrap_or(IoResult::failed(libc::EIO))
        };
        let result = match &guard {
            None => carry_out(),
            Some(guard) => guard.around(&unit, carry_out),
        };
        board.put(Completion { unit_index: index, result });
    }
}

/// The state of a thread.
struct Hand {
    engine: Box<dyn Engine>,
    /// By file: the version that the thread's engine has open; 0: none.
    known: Vec<u64>,
    completions: Vec<Completion>,
}

impl Hand {
    fn new(setup: SeatSetup) -> Result<Self, EngineError> {
        let engine = (setup.prepare)(&setup.options)?;
        // SAFETY: the pool keeps the area until its threads are joined, and the slot's buffer is used here only from the
        // order for an I/O to its result, in which time the loop leaves it alone (the contract of engines).
        let part = unsafe { Arena::over(setup.part) };
        let engine = engine.start(EngineSetup {
            iodepth: 1,
            max_block_bytes: setup.max_block_bytes,
            arena: Rc::new(RefCell::new(part)),
            n_files: setup.n_files,
            direct: setup.direct,
            atomic: setup.atomic,
            clock: setup.clock,
            seed: setup.seed,
            job: JobFacts::default(),
        })?;
        Ok(Self { engine, known: vec![0; setup.n_files as usize], completions: Vec::with_capacity(1) })
    }

    fn carry_out(&mut self, unit: &IoUnit, file: &SeatFile) -> IoResult {
        if let Err(error) = self.take_over(unit.file_index, file) {
            return IoResult::failed(error.errno());
        }
        let error = match self.engine.queue(0, unit) {
            Queued::Completed(result) => return result,
            Queued::Busy => return IoResult::failed(libc::EAGAIN),
            Queued::Queued => match self.wait() {
                Ok(result) => return result,
                Err(error) => error,
            },
        };
        IoResult::failed(error.raw_os_error().unwrap_or(libc::EIO))
    }

    fn wait(&mut self) -> std::io::Result<IoResult> {
        while self.engine.commit()? == 0 {}
        loop {
            self.completions.clear();
            self.engine.reap(1, 1, &mut self.completions)?;
            if let Some(completion) = self.completions.first() {
                return Ok(completion.result);
            }
        }
    }

    /// Opens the file in the engine of the thread if the job has opened it (again) since the last I/O.
    fn take_over(&mut self, index: u32, file: &SeatFile) -> Result<(), EngineError> {
        if self.known.get(index as usize).is_none_or(|known| *known == file.version) {
            return Ok(());
        }
        self.close(index);
        let target = match &file.target {
            None => return Ok(()),
            // SAFETY: the job does not close a file of which an I/O is in flight, and one is until this call is over.
            Some(SeatTarget::Descriptor(fd)) => OpenTarget::Descriptor(unsafe { BorrowedFd::borrow_raw(*fd) }),
            Some(SeatTarget::Name(name)) => OpenTarget::Name(name),
        };
        self.engine.open_file(&EngineFile {
            index,
            target,
            writable: file.writable,
            range_start: file.range_start,
            range_bytes: file.range_bytes,
            random: file.random,
            cancellation: Cancellation::ENDLESS,
        })?;
        self.known[index as usize] = file.version;
        Ok(())
    }

    fn close(&mut self, index: u32) {
        if self.known.get_mut(index as usize).map_or(0, std::mem::take) > 0 {
            self.engine.close_file(index);
        }
    }
}
