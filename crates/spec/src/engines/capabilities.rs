//! Capabilities and needs of an engine, in the terms that parser, planner and loops use.
//!
//! Must not know: which engine is which. Start reading at [`Completes`] and [`Targets`].

use super::options::declaration::EngineOption;

/// The time at which the result of an I/O is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completes {
    /// Within `queue`: the depth is 1 whatever `iodepth` says.
    InQueue,
    /// When it is committed: the loop reaps it at once, before it prepares another one.
    OnCommit,
    /// Some time after it was committed: the loop reaps it later.
    Later,
}

/// Forms of I/Os that few engines have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoForms {
    /// Writes can be asked to be all or nothing (`atomic=1`).
    pub has_atomic_writes: bool,
    /// A trim can have several ranges (`num_range`).
    pub has_trim_ranges: bool,
    /// Another program may read and write the buffers: they are in memory that it can map, unless the job asks for another kind.
    pub has_shared_buffers: bool,
    /// I/Os go through the page cache, whatever `direct` says.
    pub is_always_buffered: bool,
}

/// The way in which the job submits an I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handover {
    /// The job itself waits in the system call that moves the data: no submission latency is reported, and an `iodepth` above 1
    /// is remarked on.
    Waits,
    /// A request is prepared, then submitted. With the flag `unseen_with` among its options the kernel takes requests
    /// by itself, at an unknown time, so that no submission latency is reported.
    Prepared { unseen_with: Option<&'static EngineOption<bool>> },
    /// A library takes the request and hands it over at a time of its own, so that no submission latency is reported.
    Unseen,
    /// Nothing has to be prepared.
    Bare,
}

/// Targets of an engine's I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Targets {
    /// Files and devices: the run finds, sizes, lays out, opens and closes them, and the engine gets their descriptors.
    Files,
    /// Files that the run finds, sizes and lays out. The engine gets their names, and measures its own calls on them.
    NamedFiles,
    /// Devices that the run opens, and whose commands the engine sends past the block layer and its cache: the engine finds their
    /// size. A device may have another name, by which it is in use.
    Passthrough,
    /// Targets that the engine owns, with the names of the job's files: memory, a simulated device, a socket, a
    /// directory. Their size comes from the job's options; the engine makes, opens, closes and removes them.
    Own,
    /// Storage behind a server, whatever the names: the engine finds the server by its own options, and the size of the targets from
    /// what the server says. The connection is made before the clock of the job starts.
    Remote,
    /// Objects of a server, with the names of the job's files. Their size comes from the job's options, and I/Os make them. The
    /// connection is made before the clock of the job starts.
    Objects,
    /// Files or objects of a cluster, with the names of the job's files. Their size comes from the job's options, and no I/O
    /// goes beyond it. The connection is made, and missing ones are made, before the clock of the job starts.
    ServedFiles,
    /// The two ends of a connection, whatever the names: it is made before the clock of the job starts, and carries as much as the job's
    /// options say, or less where the other end says that this was all.
    Connection,
    /// None: I/Os are turns of work that move no data. Options about place, amount or order of I/O have no effect; the
    /// job ends by time, by a number of I/Os, or with the other jobs.
    Nothing,
}

impl Targets {
    /// True if the targets are ends of a connection.
    pub const fn is_connection(self) -> bool {
        matches!(self, Self::Connection)
    }

    /// True if the targets are storage behind a server.
    pub const fn are_remote(self) -> bool {
        matches!(self, Self::Remote)
    }

    /// True if the engine finds the size of its targets, which cannot grow.
    pub const fn are_sized_by_engine(self) -> bool {
        matches!(self, Self::Remote | Self::Passthrough)
    }

    /// True if commands go to devices past the block layer and its cache.
    pub const fn are_passthrough(self) -> bool {
        matches!(self, Self::Passthrough)
    }

    /// True if the targets are objects of a server.
    pub const fn are_objects(self) -> bool {
        matches!(self, Self::Objects)
    }

    /// True if the targets are files of a cluster.
    pub const fn are_served_files(self) -> bool {
        matches!(self, Self::ServedFiles)
    }

    /// True if the engine waits for another program, which may be slow, or gone.
    pub const fn are_outside(self) -> bool {
        matches!(self, Self::Remote | Self::Objects | Self::ServedFiles | Self::Connection)
    }

    /// True if the targets are files or devices, which the run finds and sizes.
    pub const fn are_files(self) -> bool {
        matches!(self, Self::Files | Self::NamedFiles | Self::Passthrough)
    }

    /// The run opens them, and the engine gets descriptors.
    pub const fn are_opened_by_run(self) -> bool {
        matches!(self, Self::Files | Self::Passthrough)
    }
}

/// The way in which the run opens files for the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// As the directions of the job and its options (`direct`, `sync`) require.
    AsAsked,
    /// Always for reading and writing, and made if they are missing, because even an I/O that counts as a read changes
    /// the file. The engine moves no data, so `direct` and `sync` have no effect.
    ToChange,
    /// Always for reading and writing, because commands are written to the device; otherwise as asked.
    ForCommands,
}

/// The events whose latencies are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measures {
    /// Each I/O.
    Ios,
    /// Each opening of a target, which is the engine's whole work; its I/Os are only counted.
    Openings,
}

/// Files that must hold data before the first I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Files that are read; writes make files grow.
    WhereRead,
    /// All: the engine cannot make a file grow.
    Always,
}

/// State that an engine shares between threads or processes, which limits I/Os side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// None.
    Nothing,
    /// The position of each file: a pool of threads would move it between the calls of an I/O.
    Position,
    /// The engine's own targets, which take I/Os without a wait: a pool of threads would change nothing.
    OwnTargets,
    /// The bytes of a connection, which come in their order: a pool of threads would mix them.
    Connection,
    /// The write pointers of zones, which writes meet in order: a pool of threads would mix the writes.
    WritePointers,
    /// A donor file beside the files of the job: an I/O changes it by several calls, which a pool of threads would mix.
    DonorFile,
    /// Threads of the C library, which do the I/Os with the descriptor table of the process (so a job that is a thread
    /// must not have its own table) and do not survive `fork()`.
    LibraryThreads,
    /// Threads, or devices, of a library that talks to servers: they do not survive `fork()` either, and need the descriptors of the process.
    ClientThreads,
}

impl Sharing {
    /// True if threads of a library do the I/Os, with the descriptors of the process.
    pub const fn has_library_threads(self) -> bool {
        matches!(self, Self::LibraryThreads | Self::ClientThreads)
    }
}

/// Fate of written data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data {
    /// The data can be read back.
    Kept,
    /// The same, and a server may keep it in its memory until the job syncs.
    KeptBySyncs,
    /// I/Os do not touch the data of files: a verification finds the earlier data.
    Untouched,
    /// The data is dropped: every verification passes.
    Dropped,
    /// The same, and the targets themselves are made or removed, by jobs that read too.
    Names,
    /// The data goes to another program, and only that can check it.
    Sent,
}

impl Data {
    /// True if the data can be read back.
    pub const fn is_kept(self) -> bool {
        matches!(self, Self::Kept | Self::KeptBySyncs)
    }
}
