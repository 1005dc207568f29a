//! The engines' names, as far as a job file knows them. What an engine does is elsewhere.
//!
//! Must not know: engines' code.
//! Start reading at [`ENGINES`].

use crate::error::JobError;
use crate::options::definition::Status;

/// What parsing must know of an engine.
#[derive(Debug, Clone, Copy)]
pub struct EngineName {
    /// Canonical name.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// How far ferrio is with it.
    pub status: Status,
}

const fn built(name: &'static str, help: &'static str) -> EngineName {
    EngineName { name, help, status: Status::Supported }
}

const fn deviating(name: &'static str, help: &'static str, how: &'static str) -> EngineName {
    EngineName { name, help, status: Status::Deviates(how) }
}

const fn planned(name: &'static str, help: &'static str) -> EngineName {
    EngineName { name, help, status: Status::Planned(None) }
}

const fn never(name: &'static str, help: &'static str, why: &'static str) -> EngineName {
    EngineName { name, help, status: Status::NotApplicable(why) }
}

/// Every engine of the reference, and ferrio's own, in the order in which they are listed.
pub const ENGINES: &[EngineName] = &[
    planned("cpuio", "Burns CPU cycles"),
    built("mmap", "memcpy to and from mapped files"),
    built("sync", "lseek(), read(), write()"),
    built("psync", "pread(), pwrite()"),
    built("vsync", "readv(), writev()"),
    built("pvsync", "preadv(), pwritev()"),
    built("pvsync2", "preadv2(), pwritev2()"),
    built("null", "Does nothing, at once"),
    built("sim", "Simulated device with a seeded service-time model"),
    planned("net", "Sockets"),
    planned("netsplice", "Sockets, by splice()"),
    planned("ftruncate", "ftruncate() for each write"),
    planned("filecreate", "Creates files"),
    planned("filestat", "stat() of files"),
    planned("filedelete", "Deletes files"),
    planned("dircreate", "Creates directories"),
    planned("dirstat", "stat() of directories"),
    planned("dirdelete", "Deletes directories"),
    planned("exec", "Runs a program"),
    planned("page_fault", "Page faults of memory"),
    deviating(
        "posixaio",
        "aio_read(), aio_write()",
        "threads and processes of one run that both use it are refused, where fio runs them: a process that is forked beside \
         the C library's threads for it may wait for them for ever",
    ),
    planned("falloc", "fallocate()"),
    planned("e4defrag", "Moves extents of ext4"),
    planned("splice", "splice(), vmsplice()"),
    planned("mtd", "Flash behind /dev/mtd*"),
    planned("sg", "SCSI pass-through"),
    built("io_uring", "io_uring"),
    planned("io_uring_cmd", "Pass-through commands by io_uring"),
    built("libaio", "Linux native asynchronous I/O"),
    planned("rados", "Ceph objects"),
    planned("rbd", "Ceph block device"),
    planned("http", "WebDAV, S3, Swift"),
    planned("gfapi", "GlusterFS"),
    planned("gfapi_async", "GlusterFS, asynchronous"),
    planned("libhdfs", "Hadoop file system"),
    planned("libiscsi", "iSCSI"),
    planned("nbd", "Network block device"),
    planned("nfs", "NFS from user space"),
    planned("rdma", "RDMA"),
    planned("dev-dax", "DAX devices"),
    planned("libpmem", "Persistent memory"),
    planned("libzbc", "Zoned SCSI and ATA devices"),
    never("libcufile", "GPUDirect storage", "needs the CUDA library"),
    never("libhipfile", "Direct storage of AMD GPUs", "needs the ROCm library"),
    planned("libblkio", "libblkio drivers"),
    planned("xnvme", "xNVMe library"),
    planned("dfs", "DAOS file system"),
    never("ime_psync", "DDN IME", "needs the IME library"),
    never("ime_psyncv", "DDN IME, vectored", "needs the IME library"),
    never("ime_aio", "DDN IME, asynchronous", "needs the IME library"),
    never("windowsaio", "Windows overlapped I/O", "not a Linux engine"),
    never("external", "An engine in a shared object", "shared objects of another program are not loaded"),
];

/// The engine a value of `ioengine` means; `None` when there is none of that name.
///
/// Text from the first `:` on is not part of the name. `aio...` and `linuxaio...` mean `libaio`.
pub fn resolve(text: &str) -> Option<&'static EngineName> {
    let name = text.split(':').next().unwrap_or_default();
    let name = if name.starts_with("aio") || name.starts_with("linuxaio") { "libaio" } else { name };
    by_name(name)
}

/// The engine of exactly this name.
pub fn by_name(name: &str) -> Option<&'static EngineName> {
    ENGINES.iter().find(|engine| engine.name == name)
}

/// Refuses an engine that is known but not built.
pub fn refuse_unbuilt(engine: &EngineName) -> Result<(), JobError> {
    match engine.status {
        Status::Supported | Status::Deviates(_) => Ok(()),
        Status::Planned(_) => Err(JobError::NotYet(format!(": engine {}", engine.name))),
        Status::NotApplicable(why) => Err(JobError::NotApplicable(format!("engine {} {why}", engine.name))),
    }
}

/// True when two engines have the same private options, so that given ones survive a change from one to the other.
pub fn share_options(left: &str, right: &str) -> bool {
    let pairs = [["io_uring", "io_uring_cmd"], ["net", "netsplice"], ["gfapi", "gfapi_async"], ["filestat", "dirstat"]];
    left == right || pairs.iter().any(|pair| pair.contains(&left) && pair.contains(&right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for (index, engine) in ENGINES.iter().enumerate() {
            assert!(ENGINES[..index].iter().all(|other| other.name != engine.name), "{}", engine.name);
        }
    }

    #[test]
    fn old_names_of_libaio() {
        for text in ["libaio", "aio", "aio-foo", "linuxaio", "libaio:x"] {
            assert_eq!(resolve(text).map(|engine| engine.name), Some("libaio"), "{text}");
        }
        assert!(resolve("nul").is_none());
        assert!(resolve(" null").is_none());
        assert!(resolve("null,").is_none());
        assert!(resolve("mmap,psync").is_none());
    }
}
