//! The contract: what a loop asks of an engine, and what an engine may rely on.
//!
//! An engine is a type in two states. [`Prepared`]: its options are checked. [`Engine`]: it runs; `start` makes it of the first, in the
//! worker, before the start barrier, and allocates everything. Then come `open_file`, `queue`, `commit`, `reap`, `close_file` in
//! any order, then drop.
//! A unit that was queued belongs to the engine until it is reaped: the loop does not touch its slot or its part of
//! the buffer area.
//! Must not know: which loop drives it. Start reading at [`Prepared`] and [`Engine`].

use crate::options::EngineOptions;
use ferrio_spec::engines::EngineDef;
use ferrio_sys::arena::Arena;
use ferrio_sys::clock::Clock;
use ferrio_units::Direction;
use std::cell::RefCell;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

/// An engine as the planner has it: its row, and the way to make one.
#[derive(Clone, Copy)]
pub struct EngineKind {
    /// Its row in the table of engines; with a pool of threads, what the pool makes of it.
    pub def: EngineDef,
    /// Checks the values of its private options.
    pub prepare: Prepare,
}

/// Checks the values of an engine's private options.
pub type Prepare = fn(&EngineOptions) -> Result<Box<dyn Prepared>, EngineError>;

/// An engine in its first state: its options are checked, nothing is allocated.
pub trait Prepared {
    /// Makes a target that is the engine's own before the job starts, as [`Engine::open_file`] wants to find it. In the process that
    /// lays out files.
    fn make_target(&self, _name: &Path) -> Result<(), EngineError> {
        Ok(())
    }

    /// Makes the second state, with all that it will ever allocate.
    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError>;

    /// How turns of work follow each other. Asked of engines without targets only.
    fn rhythm(&self) -> Rhythm {
        Rhythm::default()
    }

    /// What users are told when the job starts, a line each.
    fn introduction(&self, _job: &JobFacts) -> Vec<String> {
        Vec::new()
    }

    /// See [`Engine::hint`]: what the options alone say.
    fn hint(&self, _unit: &IoUnit, _errno: i32) -> Option<&'static str> {
        None
    }
}

/// How turns of work that move no data follow each other, and what ends them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rhythm {
    /// Rest after each turn, microseconds.
    pub pause_us: u64,
    /// Which end of other jobs is the job's own.
    pub ends_with: EndsWith,
}

/// Which end of other jobs ends one whose turns move no data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EndsWith {
    /// None: it counts as one that does I/O.
    #[default]
    Nothing,
    /// That of the last job that does I/O beside it.
    LastIo,
    /// There is no I/O left, even where it has just begun itself.
    NoIo,
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
    /// What else the job is about.
    pub job: JobFacts,
}

/// What an engine may have to know of its job beyond its own options.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobFacts {
    /// Its name.
    pub name: String,
    /// Its time is limited to this, microseconds.
    pub runtime_us: Option<u64>,
    /// Which of several equal jobs it is, from 0.
    pub clone_index: u32,
    /// It reads.
    pub reads: bool,
    /// It writes.
    pub writes: bool,
    /// It trims.
    pub trims: bool,
    /// Its I/Os are in no order.
    pub is_random: bool,
    /// Somebody checks what it writes.
    pub is_verified: bool,
    /// The first target that it names.
    pub filename: Option<String>,
}

/// What the engine gets of a target that is opened.
#[derive(Debug, Clone, Copy)]
pub enum OpenTarget<'a> {
    /// A file that the run has opened. It stays open until `close_file` has returned.
    Descriptor(BorrowedFd<'a>),
    /// The name of a target that is the engine's own.
    Name(&'a Path),
}

/// A file that is opened for I/O.
pub struct EngineFile<'a> {
    /// Index in the job.
    pub index: u32,
    /// What the engine does its I/Os to.
    pub target: OpenTarget<'a>,
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

/// The result of a unit of a connection: there is no more to read, for the other end has said so.
pub const END_OF_DATA: IoResult = IoResult::MIN + 1;

/// The result of a unit of a connection: nothing was moved for a moment. The same unit is queued again, or the job ends.
pub const NOT_YET: IoResult = IoResult::MIN + 2;

/// How far a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connection {
    /// It is made, or the engine needs none.
    Made,
    /// The other end has been asked, or is expected.
    Awaited,
    /// Nobody has come yet to a listener.
    Listening,
}

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

/// A way to do I/O: an engine in its second state.
///
/// No call allocates. Errors of single I/Os are results; an `io::Error` means that the engine itself
/// cannot go on.
pub trait Engine {
    /// Makes the connection that I/Os go through, if it is not made; waits for a moment at most. Called until it is made before a target
    /// is opened; when the last one is closed it ends.
    fn connect(&mut self) -> Result<Connection, EngineError> {
        Ok(Connection::Made)
    }

    /// A file is open now; one that is the engine's own is opened here.
    fn open_file(&mut self, _file: &EngineFile<'_>) -> Result<(), EngineError> {
        Ok(())
    }

    /// A file will be closed; nothing of it is in flight. One that is the engine's own is closed here.
    fn close_file(&mut self, _file_index: u32) {}

    /// A target that is the engine's own is to go (`unlink`). It is closed; what is gone already is fine.
    fn remove_target(&mut self, _name: &Path) {}

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

    /// True once for a unit whose error came from handing it over, not from its I/O. Not called on the hot path.
    fn take_refusal(&mut self, _unit_index: u32) -> bool {
        false
    }

    /// Waits until at least `min` units are done, takes up to `max`, appends them to `completions`
    /// (which has room for `iodepth`; an engine that has them at hand may add more than `max`). With `min` 0 it only
    /// looks. Never waits for more units than it has in flight. A turn of work that moves no data may take long: such an engine
    /// returns with nothing now and then, so that the loop can look up.
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
    /// A step before the first I/O failed.
    #[error("{engine}: {what}: {source}")]
    Failed {
        /// Engine.
        engine: &'static str,
        /// The step, a short name.
        step: &'static str,
        /// The step, and what it was about.
        what: String,
        /// What the system said.
        source: io::Error,
    },
    /// A target that is the engine's own could not be made or opened.
    #[error("{step}: {source}")]
    Target {
        /// What was to be done with it, a short name as `open(NAME)`.
        step: String,
        /// What the system said.
        source: ferrio_sys::Error,
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

    /// The step that failed, if it has a name of its own.
    pub fn step(&self) -> Option<&'static str> {
        match self {
            Self::Failed { step, .. } => Some(step),
            _ => None,
        }
    }

    /// The errno behind it; EINVAL for bad options.
    pub fn errno(&self) -> i32 {
        match self {
            Self::BadOption { .. } => 22,
            Self::Target { source, .. } => source.errno().unwrap_or(5),
            Self::Refused { source, .. } | Self::Failed { source, .. } => source.raw_os_error().unwrap_or(22),
        }
    }
}
