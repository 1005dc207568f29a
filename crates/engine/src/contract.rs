//! The contract: what a loop asks of an engine, and what an engine may rely on.
//!
//! Life of an engine: `create` (options are checked), `start` (in the worker, before the start barrier; everything is
//! allocated here), then `open_file`, `queue`, `commit`, `reap`, `close_file` in any order, then drop.
//! A unit that was queued belongs to the engine until it is reaped: the loop does not touch its slot or its part of
//! the buffer area.
//! Must not know: which loop drives it. Start reading at [`Engine`].

use crate::options::EngineOptions;
use ferrio_sys::arena::Arena;
use ferrio_sys::clock::Clock;
use ferrio_units::Direction;
use std::cell::RefCell;
use std::io;
use std::os::fd::{BorrowedFd, RawFd};
use std::rc::Rc;
use std::time::Duration;

/// What an engine is, for help, checks and planning. One constant beside each engine, listed in the registry.
pub struct EngineInfo {
    /// Name of `ioengine=`.
    pub name: &'static str,
    /// One line for `--enghelp`.
    pub help: &'static str,
    /// Every I/O completes within `queue`: the depth is 1 whatever `iodepth` says.
    pub inline: bool,
    /// The job itself waits in the system calls that move data: no submission latency is reported, and an `iodepth`
    /// above 1 is remarked on. True for every inline engine, and for `vsync`, which still takes batches.
    pub synchronous: bool,
    /// Opens no file; sizes need no target.
    pub diskless: bool,
    /// Files are laid out with data before writing (the engine cannot extend a file).
    pub needs_full_layout: bool,
    /// Buffers are page aligned also without `direct=1`.
    pub needs_aligned_buffers: bool,
    /// Writes can be asked to be all or nothing (`atomic=1`).
    pub supports_atomic: bool,
    /// Knows [`Direction::Syncfs`].
    pub supports_syncfs: bool,
    /// Helper threads of the C library do the I/O, by the descriptor table that the process shares: a job that is a
    /// thread must not have a table of its own.
    pub needs_shared_descriptors: bool,
    /// What is committed is complete: the loop reaps it at once, before it prepares another unit.
    pub completes_on_commit: bool,
    /// Threads of the C library do its I/Os. They do not come along with a fork, and the library counts on them in the child.
    pub uses_library_threads: bool,
    /// [`Engine::queue_timed`] stamps beside the system call; with others the loop stamps around `queue` itself, which costs less.
    pub stamps_calls: bool,
    /// Makes an engine; checks the values of its private options.
    pub create: fn(&EngineOptions) -> Result<Box<dyn Engine>, EngineError>,
}

/// What an engine gets before the first I/O.
pub struct EngineSetup {
    /// Largest number of units in flight; unit indexes are below it.
    pub iodepth: u32,
    /// Largest length of a unit, bytes.
    pub max_block_bytes: usize,
    /// The buffer area; unit buffers are at [`IoUnit::buffer_offset`]. It lives as long as a clone of this is held.
    /// The engine may keep the address of the area; it borrows the cell only within a call.
    pub arena: Rc<RefCell<Arena>>,
    /// Number of files of the job; file indexes are below it.
    pub n_files: u32,
    /// Files are open with `O_DIRECT`.
    pub direct: bool,
    /// Writes carry `RWF_ATOMIC`; only set for engines that support it.
    pub atomic: bool,
    /// The clock of the run (the `sim` engine completes by it).
    pub clock: Clock,
    /// Seed of the worker, for engines that draw random numbers.
    pub seed: u64,
}

/// A file that was opened for I/O.
pub struct EngineFile<'a> {
    /// Index in the job.
    pub index: u32,
    /// Descriptor; `None` for diskless engines.
    pub fd: Option<BorrowedFd<'a>>,
    /// Opened for writing.
    pub writable: bool,
    /// First byte that the job uses.
    pub range_start: u64,
    /// Bytes that the job uses.
    pub range_bytes: u64,
    /// Accesses are random (advice for mappings).
    pub random: bool,
}

/// One I/O. Slots are reused; the index of the slot is the identity while it is in flight.
#[derive(Debug, Clone, Copy)]
pub struct IoUnit {
    /// What to do.
    pub direction: Direction,
    /// File of the job.
    pub file_index: u32,
    /// Its descriptor; -1 for diskless engines.
    pub fd: RawFd,
    /// Where, bytes from the start of the file.
    pub offset: u64,
    /// How much, bytes. For `SyncFileRange`: the length of the range.
    pub length: usize,
    /// Place of its data in the buffer area.
    pub buffer_offset: usize,
    /// Flags of `sync_file_range(2)`.
    pub sync_flags: u32,
    /// I/O priority in the form of `ioprio_set(2)`; 0 takes that of the thread. Engines without a priority per I/O
    /// ignore it.
    pub ioprio: u16,
}

/// Outcome of an I/O: bytes moved (syncs and trims: the length asked for), or a negative errno.
pub type IoResult = i64;

/// What became of a unit handed to [`Engine::queue`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queued {
    /// It is done.
    Completed(IoResult),
    /// It will be handed to the kernel by the next commit.
    Queued,
    /// No room: commit and reap first, then offer it again.
    Busy,
}

/// Stamps of the clock around the call that did an I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallStamps {
    /// Before it.
    pub before: u64,
    /// After it; that of before where the unit was not completed.
    pub after: u64,
}

/// A finished unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// Slot of the unit.
    pub unit_index: u32,
    /// Outcome.
    pub result: IoResult,
}

/// Appends where room was made before: with no way to grow, a push costs neither a call nor saved registers.
///
/// # Panics
/// Without room.
#[inline]
pub(crate) fn push_in_room<T>(list: &mut Vec<T>, item: T) {
    assert!(list.len() < list.capacity(), "a list of units has room for the depth of the queue");
    list.push(item);
}

/// A way to do I/O.
///
/// No call allocates after `start`. Errors of single I/Os are results; an `io::Error` means that the engine itself
/// cannot go on.
pub trait Engine {
    /// Takes the buffers, makes rings and contexts.
    fn start(&mut self, setup: EngineSetup) -> Result<(), EngineError>;

    /// A file is open now.
    fn open_file(&mut self, _file: &EngineFile<'_>) -> Result<(), EngineError> {
        Ok(())
    }

    /// A file will be closed; nothing of it is in flight.
    fn close_file(&mut self, _file_index: u32) {}

    /// Starts or does an I/O.
    fn queue(&mut self, unit_index: u32, unit: &IoUnit) -> Queued;

    /// [`Engine::queue`] with stamps around it. An engine whose system call does the I/O stamps right beside it: what the
    /// tool does on the way there and back is not the device's time.
    #[inline]
    fn queue_timed(&mut self, unit_index: u32, unit: &IoUnit, clock: &Clock) -> (Queued, CallStamps) {
        let before = clock.stamp();
        let queued = self.queue(unit_index, unit);
        let after = if matches!(queued, Queued::Completed(_)) { clock.stamp() } else { before };
        (queued, CallStamps { before, after })
    }

    /// Hands queued units to the kernel, oldest first; returns how many it took (0: none queued, or none accepted now).
    fn commit(&mut self) -> io::Result<u32> {
        Ok(0)
    }

    /// What may be behind an error of a unit, in one sentence for the user, where the errno alone does not say it
    /// (an option that kernel, file system or device refuse). Not called on the hot path.
    fn hint(&self, _unit: &IoUnit, _errno: i32) -> Option<&'static str> {
        None
    }

    /// Waits until at least `min` units are done, takes up to `max`, appends them to `completions`
    /// (which has room for `iodepth`; an engine that has them at hand may add more than `max`). With `min` 0 it only
    /// looks. Never waits for more units than it has in flight.
    fn reap(&mut self, _min: u32, _max: u32, _completions: &mut Vec<Completion>) -> io::Result<()> {
        Ok(())
    }

    /// Waits until a unit is done, but not beyond `until_ns` of the clock; takes up to `max` as [`Engine::reap`] does. May
    /// return early with nothing. At least one unit is in flight. An engine that can have the kernel wait for a limited time
    /// does so; this one looks again and again.
    fn reap_until(
        &mut self,
        max: u32,
        until_ns: u64,
        clock: &Clock,
        completions: &mut Vec<Completion>,
    ) -> io::Result<()> {
        let n_before = completions.len();
        loop {
            self.reap(0, max, completions)?;
            let now_ns = clock.now_ns();
            if completions.len() > n_before || now_ns >= until_ns {
                return Ok(());
            }
            clock.sleep_until_ns(until_ns.min(now_ns.saturating_add(LOOK_NS)));
        }
    }
}

/// Between two looks of an engine that cannot wait for a limited time, nanoseconds.
const LOOK_NS: u64 = 20_000;

/// What is left of the time until `until_ns`.
pub(crate) fn time_left(clock: &Clock, until_ns: u64) -> Duration {
    Duration::from_nanos(until_ns.saturating_sub(clock.now_ns()))
}

/// Why an engine cannot be used as asked.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A private option has a value that the engine cannot use.
    #[error("{engine}: option {option}={value}: {why}")]
    BadOption {
        /// Engine.
        engine: &'static str,
        /// Option.
        option: &'static str,
        /// Value as given.
        value: String,
        /// What is allowed.
        why: String,
    },
    /// The kernel refused a feature.
    #[error("{engine}: {what} failed: {source}; {hint}")]
    Refused {
        /// Engine.
        engine: &'static str,
        /// What was tried, with the option that asked for it.
        what: String,
        /// What the kernel said.
        source: io::Error,
        /// What the user can do; names the kernel release where that matters.
        hint: String,
    },
}

impl EngineError {
    /// A private option has a value that the engine cannot use.
    pub(crate) fn bad_option(
        engine: &'static str,
        option: &'static str,
        value: &(impl ToString + ?Sized),
        why: impl Into<String>,
    ) -> Self {
        Self::BadOption { engine, option, value: value.to_string(), why: why.into() }
    }

    /// The errno behind it; EINVAL for bad options.
    pub fn errno(&self) -> i32 {
        match self {
            Self::BadOption { .. } => 22,
            Self::Refused { source, .. } => source.raw_os_error().unwrap_or(22),
        }
    }
}
