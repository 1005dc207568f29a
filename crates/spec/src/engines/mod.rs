//! The engines: one row each, with name, help, status in ferrio, and capabilities. Parser, help, planner and registry
//! read the same rows; the code of engines is elsewhere. Their private options are in `options`.
//!
//! Must not know: engines' code. Start reading at [`ENGINES`], then `capabilities`.

mod capabilities;
mod differences;
pub mod options;

use crate::DeviationKind::{self, Different, Mended, Stricter};
use crate::Status;
pub use capabilities::{Completes, Data, Handover, IoForms, Layout, Measures, Opening, Sharing, Targets};

use differences::{
    DEV_DAX_MENDED, EXEC_MENDED, EXTERNAL_DIFFERENT, GFAPI_ASYNC_MENDED, GFAPI_MENDED, HTTP_MENDED, LIBBLKIO_DIFFERENT,
    LIBBLKIO_MENDED, LIBISCSI_DIFFERENT, LIBISCSI_MENDED, LIBPMEM_MENDED, NBD_MENDED, NBD_STRICTER, NET_MENDED,
    NET_STRICTER, NETSPLICE_MENDED, NFS_MENDED, ONCE, PASSTHROUGH_STRICTER, RADOS_MENDED, RBD_MENDED, RDMA_MENDED,
    SG_MENDED, SG_STRICTER,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineDef {
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
    pub status: Status,
    /// Engines of one family have the same private options: those given to one survive a change to another.
    pub family: &'static str,
    /// The time at which the result of an I/O is known.
    pub completes: Completes,
    /// The way in which the job submits an I/O.
    pub handover: Handover,
    pub targets: Targets,
    /// The way in which the run opens its files.
    pub opening: Opening,
    /// The events whose latencies are measured.
    pub measures: Measures,
    /// Files that must hold data before the first I/O.
    pub layout: Layout,
    /// State that its I/Os share.
    pub sharing: Sharing,
    /// Fate of written data.
    pub data: Data,
    /// True if I/Os through the page cache are in flight together too; else each completes before the next is
    /// submitted.
    pub queues_buffered: bool,
    /// Forms of I/Os that few engines have.
    pub forms: IoForms,
    /// The engine can sync file systems (`end_syncfs=1`).
    pub has_syncfs: bool,
    /// Its rates are in bits unless the job says otherwise (`unit_base`).
    pub counts_bits: bool,
}

/// Begins a row: an engine whose calls move data to and from files while the job waits.
const fn engine(name: &'static str, help: &'static str) -> EngineDef {
    EngineDef {
        name,
        help,
        status: Status::Supported,
        family: name,
        completes: Completes::InQueue,
        handover: Handover::Waits,
        targets: Targets::Files,
        opening: Opening::AsAsked,
        measures: Measures::Ios,
        layout: Layout::WhereRead,
        sharing: Sharing::Nothing,
        data: Data::Kept,
        queues_buffered: true,
        forms: IoForms {
            has_atomic_writes: false,
            has_trim_ranges: false,
            has_shared_buffers: false,
            is_always_buffered: false,
        },
        has_syncfs: true,
        counts_bits: false,
    }
}

/// An engine that is not built yet, for a reason.
const fn awaited(name: &'static str, help: &'static str, why: &'static str) -> EngineDef {
    EngineDef { status: Status::Planned(Some(why)), ..engine(name, help) }
}

/// An engine that will not come.
const fn never(name: &'static str, help: &'static str, why: &'static str) -> EngineDef {
    EngineDef { status: Status::NotApplicable(why), ..engine(name, help) }
}

/// Frequent questions about a row.
impl EngineDef {
    /// Every I/O completes within `queue`.
    pub const fn is_inline(&self) -> bool {
        matches!(self.completes, Completes::InQueue)
    }

    /// True if written data cannot be read back.
    pub const fn drops_data(&self) -> bool {
        matches!(self.data, Data::Dropped | Data::Names)
    }

    /// True if its I/Os move no data: they are turns of work.
    pub const fn moves_nothing(&self) -> bool {
        matches!(self.targets, Targets::Nothing)
    }

    /// True if the engine itself is the device, and nothing of the machine has a part in its I/Os.
    pub const fn is_device_of_its_own(&self) -> bool {
        matches!(self.targets, Targets::Own)
            && matches!(self.measures, Measures::Ios)
            && !matches!(self.data, Data::Names)
    }

    /// The job itself waits in the system calls that move data.
    pub const fn waits(&self) -> bool {
        matches!(self.handover, Handover::Waits)
    }
}

/// Capabilities that differ from those of most engines.
impl EngineDef {
    const fn deviates(self, kind: DeviationKind, how: &'static str) -> Self {
        Self { status: self.status.deviating(kind, how), ..self }
    }

    /// The engine has the private options of another engine.
    const fn of_family(self, family: &'static str) -> Self {
        Self { family, ..self }
    }

    /// I/Os through the page cache complete while they are submitted.
    const fn waits_for_buffered(self) -> Self {
        Self { queues_buffered: false, ..self }
    }

    /// Requests are prepared, submitted, and complete later.
    const fn asynchronous(self) -> Self {
        Self { completes: Completes::Later, handover: Handover::Prepared { unseen_with: None }, ..self }
    }

    /// Its I/Os are turns of work that move no data.
    const fn turns(self) -> Self {
        Self { completes: Completes::Later, targets: Targets::Nothing, data: Data::Dropped, ..self }
    }

    const fn completes(self, completes: Completes) -> Self {
        Self { completes, ..self }
    }

    const fn hands_over(self, handover: Handover) -> Self {
        Self { handover, ..self }
    }

    const fn targets(self, targets: Targets) -> Self {
        Self { targets, ..self }
    }

    const fn opens(self, opening: Opening) -> Self {
        Self { opening, ..self }
    }

    const fn opens_only(self, targets: Targets) -> Self {
        Self {
            targets,
            measures: Measures::Openings,
            sharing: Sharing::OwnTargets,
            data: Data::Dropped,
            has_syncfs: false,
            ..self
        }
    }

    const fn lays_out(self, layout: Layout) -> Self {
        Self { layout, ..self }
    }

    const fn shares(self, sharing: Sharing) -> Self {
        Self { sharing, ..self }
    }

    /// Its targets are memory of the job.
    const fn of_memory(self) -> Self {
        Self { targets: Targets::Own, sharing: Sharing::OwnTargets, has_syncfs: false, ..self }
    }

    /// It moves data between two ends of a connection.
    const fn connects(self) -> Self {
        Self { has_syncfs: false, ..self.targets(Targets::Connection).shares(Sharing::Connection).keeps(Data::Sent) }
    }

    /// Its targets are storage behind a server, which cannot grow.
    const fn of_server(self) -> Self {
        Self { has_syncfs: false, ..self.targets(Targets::Remote).shares(Sharing::OwnTargets).lays_out(Layout::Always) }
    }

    /// Its targets are objects of a server.
    const fn of_objects(self) -> Self {
        Self { has_syncfs: false, ..self.targets(Targets::Objects).shares(Sharing::OwnTargets) }
    }

    /// Its targets are files or objects of a cluster, which a client library reaches.
    const fn of_cluster(self) -> Self {
        Self { has_syncfs: false, ..self.targets(Targets::ServedFiles).shares(Sharing::ClientThreads) }
    }

    const fn in_bits(self) -> Self {
        Self { counts_bits: true, ..self }
    }

    const fn keeps(self, data: Data) -> Self {
        Self { data, ..self }
    }

    const fn with_ranges(self) -> Self {
        Self { forms: IoForms { has_trim_ranges: true, ..self.forms }, ..self }
    }

    const fn with_shared_buffers(self) -> Self {
        Self { forms: IoForms { has_shared_buffers: true, ..self.forms }, ..self }
    }

    const fn always_buffered(self) -> Self {
        Self { forms: IoForms { is_always_buffered: true, ..self.forms }, ..self }
    }

    const fn with_atomic_writes(self) -> Self {
        Self { forms: IoForms { has_atomic_writes: true, ..self.forms }, ..self }
    }
}

/// Every engine of fio, and ferrio's own, in the order of listings.
pub const ENGINES: &[EngineDef] = &[
    engine("cpuio", "Burns CPU cycles").turns(),
    engine("mmap", "memcpy to and from mapped files")
        .lays_out(Layout::Always)
        .always_buffered()
        .deviates(Mended, "With direct=1 blocks may have any size; fio fails unless they are whole pages."),
    engine("sync", "lseek(), read(), write()").shares(Sharing::Position),
    engine("psync", "pread(), pwrite()"),
    engine("vsync", "readv(), writev()").completes(Completes::OnCommit).shares(Sharing::Position).deviates(
        Mended,
        "I/Os complete with the call that did them; fio 3.41 loses some with iodepth above iodepth_batch.",
    ),
    engine("pvsync", "preadv(), pwritev()"),
    engine("pvsync2", "preadv2(), pwritev2()").with_atomic_writes(),
    engine("null", "Does nothing, at once")
        .completes(Completes::OnCommit)
        .hands_over(Handover::Bare)
        .targets(Targets::Own)
        .keeps(Data::Dropped),
    engine("sim", "Simulated device with a seeded service-time model")
        .asynchronous()
        .targets(Targets::Own)
        .shares(Sharing::OwnTargets),
    engine("net", "Sockets").connects().in_bits().deviates(Mended, NET_MENDED).deviates(Stricter, NET_STRICTER),
    engine("netsplice", "Sockets, by splice()")
        .of_family("net")
        .connects()
        .deviates(Mended, NETSPLICE_MENDED)
        .deviates(Stricter, NET_STRICTER),
    engine("ftruncate", "ftruncate() for each write")
        .keeps(Data::Untouched)
        .deviates(Mended, "Syncs are done; in fio they end the job with an error."),
    engine("filecreate", "Creates files").opens_only(Targets::Own).keeps(Data::Names),
    engine("filestat", "stat() of files").opens_only(Targets::NamedFiles),
    engine("filedelete", "Deletes files").opens_only(Targets::NamedFiles).keeps(Data::Names).deviates(Mended, ONCE),
    engine("dircreate", "Creates directories").opens_only(Targets::Own).keeps(Data::Names).deviates(Mended, ONCE),
    engine("dirstat", "stat() of directories").of_family("filestat").opens_only(Targets::Own),
    engine("dirdelete", "Deletes directories").opens_only(Targets::Own).keeps(Data::Names).deviates(Mended, ONCE),
    engine("exec", "Runs a program")
        .turns()
        .deviates(Mended, EXEC_MENDED)
        .deviates(Stricter, "A program that cannot be run is an error; fio ignores it."),
    engine("page_fault", "Page faults of memory").of_memory(),
    engine("posixaio", "aio_read(), aio_write()").asynchronous().shares(Sharing::LibraryThreads).deviates(
        Different,
        "Threads and processes in one run are refused; fio runs them. A process inherits the \
         state of the C library's I/O threads but not the threads, and may wait for them for ever.",
    ),
    engine("own", "Storage of a program that uses ferrio as a library").of_server().shares(Sharing::Nothing),
    engine("own_async", "The same, with many I/Os in flight")
        .of_family("own")
        .asynchronous()
        .of_server()
        .shares(Sharing::Nothing),
    engine("falloc", "fallocate()")
        .opens(Opening::ToChange)
        .keeps(Data::Untouched)
        .deviates(Mended, "Syncs are done; fio allocates again or ends with an error."),
    engine("e4defrag", "Moves extents of ext4")
        .shares(Sharing::DonorFile)
        .keeps(Data::Untouched)
        .deviates(Mended, "Syncs are done, and inplace=0 works with any size; fio ends with an error."),
    engine("splice", "splice(), vmsplice()"),
    engine("mtd", "Flash behind /dev/mtd*")
        .targets(Targets::Passthrough)
        .deviates(Different, "Syncs succeed at once, as in fio 3.41: what is written is on the flash.")
        .deviates(Mended, "A block whose read or write fails is not marked as bad.")
        .deviates(Stricter, "A memory with a file system, UBI or a block device in use is not written to."),
    engine("sg", "SCSI pass-through")
        .completes(Completes::Later)
        .targets(Targets::Passthrough)
        .opens(Opening::ForCommands)
        .deviates(Mended, SG_MENDED)
        .deviates(Stricter, SG_STRICTER),
    engine("io_uring", "io_uring")
        .asynchronous()
        .hands_over(Handover::Prepared { unseen_with: Some(&options::io_uring::SQTHREAD_POLL) })
        .with_atomic_writes(),
    engine("io_uring_cmd", "Pass-through commands by io_uring: NVMe, SCSI")
        .of_family("io_uring")
        .asynchronous()
        .hands_over(Handover::Prepared { unseen_with: Some(&options::io_uring::SQTHREAD_POLL) })
        .targets(Targets::Passthrough)
        .with_ranges()
        .deviates(Mended, "fdatasync is a sync; fio 3.41 counts it as a short read.")
        .deviates(Stricter, PASSTHROUGH_STRICTER),
    engine("libaio", "Linux native asynchronous I/O").asynchronous().waits_for_buffered().with_atomic_writes(),
    engine("rados", "Ceph objects")
        .asynchronous()
        .of_cluster()
        .deviates(Mended, RADOS_MENDED),
    engine("rbd", "Ceph block device")
        .asynchronous()
        .of_server()
        .shares(Sharing::ClientThreads)
        .deviates(Mended, RBD_MENDED),
    engine("http", "WebDAV, S3, Swift").of_objects().deviates(Mended, HTTP_MENDED),
    engine("gfapi", "GlusterFS").of_cluster().deviates(Mended, GFAPI_MENDED),
    engine("gfapi_async", "GlusterFS, asynchronous")
        .of_family("gfapi")
        .asynchronous()
        .of_cluster()
        .deviates(Mended, GFAPI_ASYNC_MENDED),
    awaited("libhdfs", "Hadoop file system", "needs the Java runtime and the libraries of Hadoop, which Debian does not have"),
    engine("libiscsi", "iSCSI")
        .completes(Completes::Later)
        .of_server()
        .deviates(Different, LIBISCSI_DIFFERENT)
        .deviates(Mended, LIBISCSI_MENDED),
    engine("nbd", "Network block device")
        .asynchronous()
        .of_server()
        .deviates(Mended, NBD_MENDED)
        .deviates(Stricter, NBD_STRICTER),
    engine("nfs", "NFS from user space")
        .asynchronous()
        .of_objects()
        .lays_out(Layout::Always)
        .keeps(Data::KeptBySyncs)
        .deviates(Mended, NFS_MENDED),
    engine("rdma", "RDMA")
        .asynchronous()
        .connects()
        .shares(Sharing::ClientThreads)
        .deviates(Mended, RDMA_MENDED)
        .deviates(Stricter, "A client that goes before its end is an error for its server, except after sends, whose end nothing announces."),
    engine("dev-dax", "Persistent memory without a file system (/dev/daxX.Y)")
        .targets(Targets::Passthrough)
        .lays_out(Layout::Always)
        .deviates(Mended, DEV_DAX_MENDED)
        .deviates(Stricter, "A device that another program has mapped is not written to."),
    engine("libpmem", "Files in persistent memory")
        .lays_out(Layout::Always)
        .deviates(Mended, LIBPMEM_MENDED),
    engine("libzbc", "Zoned SCSI and ATA devices").shares(Sharing::WritePointers).deviates(
        Stricter,
        "The kernel's own support of zones takes the place of the library. Jobs need direct=1, and name a disk by its block device, not by /dev/sgN.",
    ),
    never("libcufile", "GPUDirect storage", "needs an NVIDIA GPU and the CUDA library, which is not free software"),
    never("libhipfile", "Direct storage of AMD GPUs", "needs an AMD GPU and the ROCm library hipFile, which Debian does not have"),
    engine("libblkio", "Block devices by the drivers of libblkio: io_uring, vhost-user and others")
        .asynchronous()
        .hands_over(Handover::Unseen)
        .of_server()
        .with_shared_buffers()
        .deviates(Different, LIBBLKIO_DIFFERENT)
        .deviates(Mended, LIBBLKIO_MENDED)
        .deviates(Stricter, "A device in use is not written to."),
    awaited("xnvme", "xNVMe library", "the library is not in Debian 13; ioengine=io_uring_cmd sends the same commands"),
    never("dfs", "DAOS file system", "needs a DAOS cluster and its library, which Debian does not have"),
    never("ime_psync", "DDN IME", "needs a DDN IME appliance and its library, which is not free software"),
    never("ime_psyncv", "DDN IME, vectored", "needs a DDN IME appliance and its library, which is not free software"),
    never("ime_aio", "DDN IME, asynchronous", "needs a DDN IME appliance and its library, which is not free software"),
    never("windowsaio", "Windows overlapped I/O", "not a Linux engine"),
    engine("external", "An engine in a shared library (external:PATH)")
        .asynchronous()
        .of_server()
        .deviates(Different, EXTERNAL_DIFFERENT),
];

/// The engine of exactly this name.
pub fn by_name(name: &str) -> Option<&'static EngineDef> {
    ENGINES.iter().find(|engine| engine.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for (index, engine) in ENGINES.iter().enumerate() {
            assert!(ENGINES[..index].iter().all(|other| other.name != engine.name), "{}", engine.name);
            assert!(by_name(engine.family).is_some_and(|head| head.family == head.name), "{}", engine.name);
        }
    }

    #[test]
    fn engines_without_storage_are_known() {
        let names = ENGINES.iter().filter(|engine| engine.is_device_of_its_own()).map(|engine| engine.name);
        assert_eq!(names.collect::<Vec<_>>(), ["null", "sim", "page_fault"]);
    }

    #[test]
    fn what_is_measured_at_an_opening_is_not_opened_by_the_run() {
        for engine in ENGINES {
            assert!(engine.measures != Measures::Openings || !engine.targets.are_opened_by_run(), "{}", engine.name);
            assert!(engine.opening != Opening::ToChange || engine.targets.are_opened_by_run(), "{}", engine.name);
        }
    }

    #[test]
    fn an_engine_that_completes_within_the_call_is_waited_for() {
        for engine in ENGINES {
            assert!(engine.completes != Completes::InQueue || engine.handover == Handover::Waits, "{}", engine.name);
        }
    }
}
