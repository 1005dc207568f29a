//! The core of a worker: the parts that every I/O uses, in any loop.
//!
//! Must not know: loops, hooks, passes. Start reading at [`WorkerCore`], then [`account`].

pub(crate) mod account;
pub(crate) mod control;
pub(crate) mod debug_trace;
pub(crate) mod rules;
pub(crate) mod slots;
pub(crate) mod sparse_stamps;
pub(crate) mod tolerance;
pub(crate) mod unsynced;

use crate::error::Failure;
use crate::events::MessageStream;
use crate::files::FileSet;
use crate::files::table::FileTable;
use crate::link::context::WorkerContext;
use crate::plan::WorkerPlan;
use account::Account;
use control::Control;
use ferrio_engine::{Cancellation, Complaint, Completion, Engine};
use ferrio_spec::QueueSpec;
use ferrio_spec::engines::Handover;
use ferrio_stats::note::IoNote;
use ferrio_sys::{Arena, Clock};
use ferrio_units::Direction;
use ferrio_workload::Workload;
use ferrio_workload::contents::BufferContents;
use rules::JobRules;
use slots::{Batch, Slots};
use sparse_stamps::SparseStamps;
use std::cell::RefCell;
use std::rc::Rc;
use tolerance::Treatment;
use unsynced::UnsyncedRanges;

/// Why a loop ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Stop {
    /// The workload has nothing left in this pass.
    PassEnd,
    /// The runtime is over, or the supervisor has ended the job.
    Ended,
    /// The device is full, which the job allows.
    Filled,
    Failed(Box<Failure>),
}

impl From<Failure> for Stop {
    fn from(error: Failure) -> Self {
        if error.is_stopped() { Self::Ended } else { Self::Failed(Box::new(error)) }
    }
}

pub(crate) struct Buffers {
    pub(crate) arena: Rc<RefCell<Arena>>,
    /// Length of each slot's part.
    pub(crate) block_bytes: usize,
    pub(crate) contents: BufferContents,
}

impl Buffers {
    /// Place of a slot's part in the memory of all.
    #[inline]
    pub(crate) fn place(&self, slot_index: u32) -> usize {
        slot_index as usize * self.block_bytes
    }

    /// Lets a function use the first `n_bytes` of a slot's part.
    #[inline]
    pub(crate) fn with<T>(&self, slot_index: u32, n_bytes: usize, use_block: impl FnOnce(&mut [u8]) -> T) -> T {
        debug_assert!(n_bytes <= self.block_bytes, "an I/O keeps to the part of its slot");
        use_block(self.arena.borrow_mut().slice_mut(self.place(slot_index), n_bytes))
    }
}

/// Decides how often the clock is read.
pub(crate) struct Stamper {
    /// Latencies are measured, so every I/O needs stamps.
    pub(crate) is_wanted: bool,
    /// The job waits in the call that submits, so that an I/O is issued when the engine gets it, and not after the call.
    pub(crate) issues_when_queued: bool,
    /// The rhythm of reads of the clock if they are not.
    pub(crate) sparse: SparseStamps,
}

/// The parts that every I/O uses.
pub(crate) struct WorkerCore<'a> {
    pub(crate) rules: JobRules<'a>,
    pub(crate) context: &'a WorkerContext<'a>,
    pub(crate) clock: Clock,
    pub(crate) workload: Workload,
    pub(crate) engine: Box<dyn Engine + 'a>,
    pub(crate) buffers: Buffers,
    pub(crate) files: FileTable,
    pub(crate) slots: Slots,
    pub(crate) queue: QueueSpec,
    pub(crate) prepared: Batch,
    pub(crate) completions: Vec<Completion>,
    pub(crate) account: Account,
    pub(crate) control: Control<'a>,
    pub(crate) stamper: Stamper,
    pub(crate) unsynced: UnsyncedRanges,
}

impl<'a> WorkerCore<'a> {
    /// Opens a file for the I/O of the job. An engine that waits for something outside does so until the job is told to end, or its
    /// time is over.
    pub(crate) fn open_file(&mut self, file_index: u32) -> Result<(), Failure> {
        let Self { files, engine, control, clock, .. } = self;
        let is_over = || control.is_past_all(clock.now_ns());
        files.open(file_index, engine.as_mut(), Cancellation::new(&is_over))
    }

    // Not inlined: copies of the core are on the stack for a moment, and the making of its parts needs much stack itself. Of each forked
    // job, the stack is memory of its own.
    #[inline(never)]
    pub(crate) fn boxed(
        plan: &'a WorkerPlan,
        context: &'a WorkerContext<'a>,
        set: &FileSet,
        parts: (Workload, Box<dyn Engine + 'a>, Buffers),
    ) -> Box<Self> {
        let (workload, engine, buffers) = parts;
        let (queue, account) = (plan.queue(), Account::new(plan, context.keeps_evidence));
        Box::new(Self {
            rules: JobRules::new(plan),
            context,
            clock: context.clock.clone(),
            workload,
            engine,
            files: FileTable::new(plan, set),
            slots: Slots::new(queue.iodepth, buffers.block_bytes),
            buffers,
            prepared: Batch::new(queue.iodepth),
            completions: Vec::with_capacity(queue.iodepth as usize),
            stamper: Stamper {
                is_wanted: account.needs_stamps(),
                issues_when_queued: matches!(plan.engine.def.handover, Handover::Waits | Handover::Unseen),
                sparse: SparseStamps::new(),
            },
            account,
            control: Control::new(plan, context.board.slot(context.slot_index)),
            unsynced: UnsyncedRanges::new(set.files.len()),
            queue,
        })
    }

    /// A new stamp, or the last one if stamps are not needed as often.
    #[inline]
    pub(crate) fn stamp_after(&mut self, last: u64) -> u64 {
        if self.stamper.is_wanted {
            return self.clock.stamp();
        }
        self.stamper.sparse.next(&self.clock, last)
    }

    /// The time at which an I/O that began at `start` was issued, after the call that has submitted it.
    #[inline]
    pub(crate) fn issued_at(&self, start: u64, submitted: u64) -> u64 {
        if self.stamper.issues_when_queued { start } else { submitted }
    }

    /// Makes the contents of a write that began at `start`, by the options for buffers.
    pub(crate) fn fill(&mut self, slot_index: u32, start: u64) {
        let slot = self.slots.get(slot_index);
        let Buffers { arena, contents, block_bytes } = &mut self.buffers;
        let start_ns = if contents.needs_time() { self.clock.at_ns(start) } else { 0 };
        let mut arena = arena.borrow_mut();
        let buffer = arena.slice_mut(slot_index as usize * *block_bytes, slot.length_bytes as usize);
        contents.prepare(buffer, slot.unit.offset_bytes, start_ns);
    }

    /// Counts a commit of units, of which `n_new` are no rests of short transfers.
    #[inline]
    pub(crate) fn count_commit(&mut self, n_units: u32, n_new: u32) {
        debug_assert!(n_new <= n_units, "a rest of a short transfer is a unit too");
        self.account.were_in_flight(self.slots.n_used(), n_new.into());
        self.account.submitted(n_units);
    }

    /// Reports warnings about files that were opened or closed.
    pub(crate) fn say_file_warnings(&mut self) {
        for warning in self.files.take_warnings() {
            self.context.say(MessageStream::Info, warning);
        }
    }

    /// What the engine says about the unit that failed last, once.
    pub(crate) fn take_complaint(&mut self) -> Option<Complaint> {
        self.engine.server()?.take_complaint()
    }

    /// Reports what the engine says about the unit that failed last, if it says anything.
    pub(crate) fn say_complaint(&mut self) {
        if let Some(Complaint { line, why, .. }) = self.take_complaint() {
            self.context.say(MessageStream::Error, IoNote::Refused { line, why, unsynced: None });
        }
    }

    /// Counts an error, if the job's options want that; true if the job continues.
    pub(crate) fn tolerates(&mut self, direction: Direction, errno: i32) -> bool {
        let treatment = self.rules.errors.treatment(direction, errno);
        if treatment != Treatment::Fatal {
            // The error that ends the job is also counted, if errors are counted.
            self.account.stats.tolerated.count(direction, errno);
        }
        treatment == Treatment::Tolerated
    }

    /// Updates the progress on the board.
    pub(crate) fn publish(&self) {
        use std::sync::atomic::Ordering::Relaxed;
        let slot = self.control.slot();
        for (index, (bytes, ios)) in self.account.bytes().0.into_iter().zip(self.account.ios().0).enumerate() {
            debug_assert!(slot.bytes[index].load(Relaxed) <= bytes, "bytes on the board never go down");
            debug_assert!(slot.ios[index].load(Relaxed) <= ios, "I/Os on the board never go down");
            slot.bytes[index].store(bytes, Relaxed);
            slot.ios[index].store(ios, Relaxed);
        }
        slot.n_open_files.store(self.files.n_open(), Relaxed);
    }
}
