//! What an engine is able to do and what it needs, in the terms in which parser, planner and loops ask.
//!
//! Must not know: which engine is which. Start reading at [`Completes`] and [`Targets`].

/// When the result of an I/O is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completes {
    /// Within `queue`: the depth is 1 whatever `iodepth` says.
    InQueue,
    /// When it is committed: the loop reaps it at once, before it prepares another one.
    OnCommit,
    /// Some time after it was committed: the loop reaps it when it wants to.
    Later,
}

/// How the job hands an I/O over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handover {
    /// The job itself waits in the system call that moves the data: no submission latency is reported, and an `iodepth` above 1
    /// is remarked on.
    Waits,
    /// A request is prepared, then handed over. With the flag `unseen_with` among its options the kernel takes requests by itself,
    /// at a time that nobody knows, so that no submission latency is reported.
    Prepared {
        /// Name of the flag.
        unseen_with: Option<&'static str>,
    },
    /// There is nothing to prepare.
    Bare,
}

/// What an engine does its I/Os to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Targets {
    /// Files and devices: the run finds, sizes, lays out, opens and closes them, and the engine gets their descriptors.
    Files,
    /// Files that the run finds, sizes and lays out. The engine gets their names, and does to them what it measures.
    NamedFiles,
    /// Something of the engine's own that goes by the names of the job's files: memory, a simulated device, a socket, a directory. It
    /// is as large as the job's options say; the engine makes it, opens it, closes it and removes it.
    Own,
    /// The two ends of a connection, whatever the names: it is made before the clock of the job starts, and carries as much as the job's
    /// options say, or less where the other end says that this was all.
    Connection,
    /// Nothing: its I/Os are turns of work that move no data. Options that say where, how much or in which order I/O is done mean
    /// nothing to it; time, a number of I/Os or the end of the other jobs ends it.
    Nothing,
}

impl Targets {
    /// They are the ends of a connection.
    pub const fn is_connection(self) -> bool {
        matches!(self, Self::Connection)
    }

    /// They are files or devices, which the run finds and sizes.
    pub const fn are_files(self) -> bool {
        matches!(self, Self::Files | Self::NamedFiles)
    }

    /// The run opens them, and the engine gets descriptors.
    pub const fn are_opened_by_run(self) -> bool {
        matches!(self, Self::Files)
    }
}

/// How the run opens files for the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// As the directions of the job and its options (`direct`, `sync`) ask for it.
    AsAsked,
    /// For reading and writing in any case, and made where they are missing: also what counts as a read changes the file. It moves no
    /// data, for which `direct` and `sync` would count.
    ToChange,
}

/// Of what latencies are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measures {
    /// Of each I/O.
    Ios,
    /// Of each opening of a target, which is all that the engine does: its I/Os are counted, and nothing more.
    Openings,
}

/// Which files must hold data before the first I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Those that are read: writes make files grow.
    WhereRead,
    /// All: the engine cannot make a file grow.
    Always,
}

/// What an engine shares between I/Os of several threads or processes, so that they cannot be done just so side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Nothing.
    Nothing,
    /// The position of each file: a pool of threads would move it between the calls of an I/O.
    Position,
    /// Something of the engine's own, which takes I/Os without a wait: a pool of threads changes nothing.
    OwnTargets,
    /// The bytes of a connection, which come in their order: a pool of threads would mix them.
    Connection,
    /// Threads of the C library, which do its I/Os by the descriptor table of the process (a job that is a thread must not have a table of its
    /// own) and do not survive a fork.
    LibraryThreads,
}

/// What becomes of written data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data {
    /// It can be read back.
    Kept,
    /// I/Os leave the data of files alone: a verification finds what was there before.
    Untouched,
    /// It is dropped: every verification passes.
    Dropped,
    /// It goes to somebody else, and only they can check it.
    Sent,
}
