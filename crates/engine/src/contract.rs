//! The contract: what a loop asks of an engine for data I/O, and what an engine may rely on. Engines whose work moves
//! no data have a contract of their own, in `turns`.
//!
//! An engine is a type in two states. [`Prepared`]: its options are checked. [`Engine`]: it runs. `start` turns the
//! first into the second, in the worker, before the start barrier, and allocates everything. Then come `open_file`,
//! `queue`, `commit`, `reap`, `close_file` in any order, then drop. A unit that was queued belongs to the engine until
//! it is reaped: the loop touches neither its slot nor its part of the buffer area.
//! Must not know: which loop drives it. Start reading at [`Prepared`] and [`Engine`].

pub mod error;
pub mod kind;
pub mod options;
pub mod outcome;
pub mod parts;
pub mod turns;

pub use crate::contract::error::EngineError;
use crate::contract::options::EngineOptions;
pub use crate::contract::outcome::{IoResult, Outcome};
use ferrio_spec::{PlacementSpec, SyncMode};
use ferrio_sys::arena::Arena;
use ferrio_sys::clock::Clock;
use ferrio_units::Direction;
use parts::{DeviceCommands, FailureDetails, Server};
use std::cell::RefCell;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

/// Checks the values of the private options of an engine for data I/O.
pub type Prepare = fn(&EngineOptions) -> Result<Box<dyn Prepared>, EngineError>;

/// An engine in its first state: its options are checked, nothing is allocated.
pub trait Prepared {
    /// Makes a target that the engine owns before the job starts, so that [`Engine::open_file`] finds it. Called in the
    /// process that lays out files.
    fn make_target(&self, _name: &Path) -> Result<(), EngineError> {
        Ok(())
    }

    /// Finds the size of a target, bytes, before the job starts and in the process that lays out files; `None`: the call
    /// was cancelled. Called only for engines that know the sizes of their targets ([`Targets::are_sized_by_engine`]).
    ///
    /// [`Targets::are_sized_by_engine`]: ferrio_spec::engines::Targets::are_sized_by_engine
    fn target_bytes(&self, _name: &Path, _cancellation: Cancellation<'_>) -> Result<Option<u64>, EngineError> {
        Ok(Some(0))
    }

    /// Starts the engine: allocates all that it will ever need.
    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError>;

    /// See [`Engine::hint`], as far as the options alone give the answer.
    fn hint(&self, _unit: &IoUnit, _errno: i32) -> Option<&'static str> {
        None
    }
}

/// What an engine is given before the first I/O.
pub struct EngineSetup {
    /// Largest number of units in flight; unit indexes are below it.
    pub iodepth: u32,
    /// Largest length of a unit, bytes.
    pub max_block_bytes: usize,
    /// The buffer area; unit buffers are at [`IoUnit::buffer_offset`]. The area lives as long as somebody holds a clone
    /// of this `Rc`. The engine may keep the address of the area, but borrows the cell only within a call.
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
    pub job: JobFacts,
}

/// Facts about its job that an engine may need beyond its own options.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobFacts {
    pub name: String,
    /// Limit of the job's time, microseconds.
    pub runtime_us: Option<u64>,
    /// Index of this job among the clones of one job (`numjobs`), from 0.
    pub clone_index: u32,
    pub reads: bool,
    pub writes: bool,
    pub trims: bool,
    pub is_random: bool,
    pub is_verified: bool,
    /// The job writes its files by zones, in sequence (`zonemode=zbd`).
    pub has_zones: bool,
    /// Smallest and largest block of each direction that the job uses, bytes.
    pub block_bytes: Vec<(u64, u64)>,
    /// What matters to commands beside reads and writes.
    pub commands: CommandFacts,
    /// The first target that the job names.
    pub filename: Option<String>,
    /// The files of the job, by their indexes; empty unless [`Targets`](ferrio_spec::engines::Targets) are served or remote.
    pub targets: Vec<TargetFacts>,
    /// Caches are dropped before the I/O (`invalidate`).
    pub invalidates: bool,
    /// How its writes become durable.
    pub syncs: JobSyncs,
}

/// What matters to commands beside reads and writes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandFacts {
    /// Where within a device writes are put together.
    pub placement: PlacementSpec,
    /// Most ranges of a trim (`num_range`); 0 and 1: one.
    pub ranges_per_trim: u32,
    /// Trims of regular files give their blocks back to the file system; otherwise the kernel refuses them (ENOTTY).
    pub punches_holes: bool,
}

/// How the writes of a job become durable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JobSyncs {
    /// With each write.
    pub mode: SyncMode,
    /// The job asks for a sync of its files at their end (`end_fsync`, `fsync_on_close`).
    pub at_end: bool,
}

/// A file of the job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TargetFacts {
    pub path: PathBuf,
    /// The end of the range that the job uses, bytes.
    pub end_bytes: u64,
}

/// What the engine is given to open a target.
#[derive(Debug, Clone, Copy)]
pub enum OpenTarget<'a> {
    /// A file that the run has opened. It stays open until `close_file` has returned.
    Descriptor(BorrowedFd<'a>),
    /// The name of a target that the engine owns.
    Name(&'a Path),
}

/// A file that is opened for I/O.
pub struct EngineFile<'a> {
    pub index: u32,
    pub target: OpenTarget<'a>,
    pub writable: bool,
    /// First byte that the job uses.
    pub range_start: u64,
    /// Bytes that the job uses.
    pub range_bytes: u64,
    /// Accesses are random (advice for mappings).
    pub random: bool,
    /// How long an engine that waits for something outside may do so. If that is over first, it is no error: each I/O on the file is then
    /// [`Outcome::EndOfData`].
    pub cancellation: Cancellation<'a>,
}

/// One I/O. Slots are reused; while the I/O is in flight, the index of its slot identifies it.
#[derive(Debug, Clone, Copy)]
pub struct IoUnit {
    pub direction: Direction,
    pub file_index: u32,
    /// First byte, from the start of the file.
    pub offset_bytes: u64,
    /// Length, bytes. For `SyncFileRange`: the length of the range.
    pub length_bytes: usize,
    /// Offset of its data in the buffer area.
    pub buffer_offset: usize,
    /// Flags of `sync_file_range(2)`.
    pub sync_flags: u32,
    /// I/O priority in the form of `ioprio_set(2)`; 0 means the priority of the thread. Engines that cannot set a
    /// priority for each I/O ignore it.
    pub ioprio: u16,
}

/// How long an engine may wait for something outside, such as a server: until the caller has a reason to end the wait.
#[derive(Clone, Copy)]
pub struct Cancellation<'a> {
    is_over: &'a dyn Fn() -> bool,
}

impl std::fmt::Debug for Cancellation<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Cancellation").field("is_over", &self.is_over()).finish()
    }
}

impl<'a> Cancellation<'a> {
    /// Longest wait of an engine between two looks at its cancellation, and of one call of [`Engine::reap`] where the engine
    /// waits for something outside.
    pub const LOOK: Duration = Duration::from_millis(100);

    /// Never cancelled.
    pub const ENDLESS: Cancellation<'static> = Cancellation { is_over: &|| false };

    pub fn new(is_over: &'a dyn Fn() -> bool) -> Self {
        Self { is_over }
    }

    /// True if the wait has to end.
    pub fn is_over(&self) -> bool {
        (self.is_over)()
    }
}

/// What [`Engine::queue`] did with a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queued {
    /// The unit is done.
    Completed(IoResult),
    /// The next commit hands the unit to the kernel.
    Queued,
    /// There is no room: the loop commits and reaps, then offers the unit again.
    Busy,
}

/// Stamps of the clock around the call that did an I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallStamps {
    pub before: u64,
    /// After the call; equal to `before` where the unit was not completed.
    pub after: u64,
}

/// A finished unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    pub unit_index: u32,
    pub result: IoResult,
}

/// Appends to a list whose capacity was reserved before. Without a way to grow, the push is no call and saves no
/// registers.
///
/// # Panics
/// Reached only if the list is full.
#[inline]
pub(crate) fn push_in_room<T>(list: &mut Vec<T>, item: T) {
    assert!(list.len() < list.capacity(), "a list of units has room for the depth of the queue");
    list.push(item);
}

/// A way to do I/O: an engine in its second state.
///
/// No call allocates. The error of a single I/O is its result; an `io::Error` means that the engine cannot continue. What
/// few engines do beside the I/O is in parts, which an engine has or has not: [`Server`], [`DeviceCommands`], [`FailureDetails`].
pub trait Engine {
    /// Told after the run has opened a file; an engine that owns its targets opens the target here.
    fn open_file(&mut self, _file: &EngineFile<'_>) -> Result<(), EngineError> {
        Ok(())
    }

    /// Told before the run closes a file, of which nothing is in flight; an engine that owns its targets closes the
    /// target here.
    fn close_file(&mut self, _file_index: u32) {}

    /// Removes a closed target that the engine owns (`unlink`). A target that does not exist (any more) is no error.
    fn remove_target(&mut self, _name: &Path) {}

    fn queue(&mut self, unit_index: u32, unit: &IoUnit) -> Queued;

    /// [`Engine::queue`] with stamps around it. An engine whose system call does the I/O takes the stamps right beside
    /// that call, because time that ferrio spends on the way there and back is not the device's.
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

    /// A possible reason for the error of a unit, in one sentence for the user, where the errno alone does not tell it
    /// (an option that kernel, file system or device refuse). Not called on the hot path.
    fn hint(&self, _unit: &IoUnit, _errno: i32) -> Option<&'static str> {
        None
    }

    /// Syncs a file at once, beside whatever is in flight: 0 or an errno. `None`: the system call on its descriptor does it. Not
    /// called on the hot path.
    fn sync_apart(&mut self, _file_index: u32) -> Option<i32> {
        None
    }

    /// True if threads of the kernel may do its I/Os, in the process of the job.
    fn has_kernel_workers(&self) -> bool {
        false
    }

    /// Waits until at least `min` units are done, takes up to `max`, appends them to `completions` (which has room for
    /// `iodepth`; an engine that already holds more results may add more than `max`). With `min` 0 it only looks. Never
    /// waits for more units than it has in flight.
    ///
    /// The answer of a server may take long. Such an engine returns after [`Cancellation::LOOK`] without a completion, so
    /// that the loop can look at its deadlines.
    fn reap(&mut self, _min: u32, _max: u32, _completions: &mut Vec<Completion>) -> io::Result<()> {
        Ok(())
    }

    /// Waits until a unit is done, but not beyond `until_ns` of the clock; takes up to `max` as [`Engine::reap`] does.
    /// May return early with nothing. At least one unit is in flight. An engine that can let the kernel wait for a
    /// limited time overrides this default, which polls.
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

    /// Its part for something outside that its I/Os need, such as a server.
    fn server(&mut self) -> Option<&mut dyn Server> {
        None
    }

    /// Its part for commands that do more with blocks than reads, writes and trims of one range.
    fn device(&mut self) -> Option<&mut dyn DeviceCommands> {
        None
    }

    /// Its part for what a device has said of a unit that failed.
    fn failures(&mut self) -> Option<&mut dyn FailureDetails> {
        None
    }
}

/// Pause between two polls of an engine that cannot wait for a limited time, nanoseconds.
const LOOK_NS: u64 = 20_000;

/// Time from now until `until_ns`.
pub(crate) fn time_left(clock: &Clock, until_ns: u64) -> Duration {
    Duration::from_nanos(until_ns.saturating_sub(clock.now_ns()))
}
