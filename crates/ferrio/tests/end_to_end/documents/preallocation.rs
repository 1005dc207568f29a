//! "Random write on a device and on XFS": the system calls of each value of `fallocate` before the run, and the extents
//! that result.

use crate::support::{LoopDevice, Program, Scratch, has_programs, is_root, peer_too, skip, tool};
use crate::system_calls::calls_to;
use std::path::Path;

/// Full stripes in random order, asynchronous and direct; laid out and no more.
const COMMAND: &str = "--rw=randwrite --bs=64k --ioengine=libaio --direct=1 --size=4m --filename=stripes";

/// The expected effect of a value of `fallocate`.
struct Kind {
    value: &'static str,
    /// Calls of the layout between the open and the advice to drop the cache.
    calls: &'static [&'static str],
    /// Size of the file before the run.
    size_bytes: u64,
    /// Extents before the run in KiB: all, and unwritten ones.
    extents_kib: (u64, u64),
}

const KINDS: [Kind; 5] = [
    Kind { value: "none", calls: &[], size_bytes: 0, extents_kib: (0, 0) },
    Kind { value: "posix", calls: &["fallocate 0, 0, 4194304"], size_bytes: 4 << 20, extents_kib: (4096, 4096) },
    Kind { value: "native", calls: &["fallocate 0, 0, 4194304"], size_bytes: 4 << 20, extents_kib: (4096, 4096) },
    Kind {
        value: "keep",
        calls: &["fallocate FALLOC_FL_KEEP_SIZE, 0, 4194304"],
        size_bytes: 0,
        extents_kib: (4096, 4096),
    },
    Kind { value: "truncate", calls: &["ftruncate 4194304"], size_bytes: 4 << 20, extents_kib: (0, 0) },
];

/// Sizes of a file's extents in KiB: all, and those that are allocated and unwritten. Space that the file system
/// preallocates after the 4 MiB of the file does not count.
fn extents(file: &Path) -> (u64, u64) {
    let listing = tool(&format!("filefrag -v -b1024 {}", file.display())).expect("filefrag lists extents");
    let (mut all, mut unwritten) = (0, 0);
    for line in listing.lines().filter(|line| line.contains("..")) {
        let columns: Vec<&str> = line.split(':').collect();
        let (first, last) = columns[1].split_once("..").expect("a range");
        let (first, last): (u64, u64) =
            (first.trim().parse().expect("a number"), last.trim().parse().expect("a number"));
        let kibibytes = (last + 1).min(4096).saturating_sub(first);
        all += kibibytes;
        unwritten += if line.contains("unwritten") { kibibytes } else { 0 };
    }
    (all, unwritten)
}

#[test]
fn kinds_of_preallocation_on_xfs() {
    let name = "kinds_of_preallocation_on_xfs";
    if !is_root(name) || !has_programs(name, &["strace", "losetup", "mkfs.xfs", "mount", "filefrag"]) {
        return;
    }
    let scratch = Scratch::new(name);
    let Some(mut device) = LoopDevice::new(&scratch, 320 << 20) else { return skip(name, "no loop device") };
    let Some(mounted_at) = device.mount(&scratch, "mkfs.xfs -q") else { return skip(name, "no XFS here") };
    let programs: &[Program] = if peer_too(name) { &[Program::Ferrio, Program::Peer] } else { &[Program::Ferrio] };
    for program in programs {
        for Kind { value, calls, size_bytes, extents_kib } in KINDS {
            let file = mounted_at.join("stripes");
            let _ = std::fs::remove_file(&file);
            let what = format!("{program:?} fallocate={value}");
            // The peer takes the directory only for names that come after it.
            let command = format!("--name=aligned --directory={} {COMMAND} --fallocate={value}", mounted_at.display());
            let layout = format!("{command} --create_only=1");
            let mut expected = vec!["unlink ENOENT", "open O_WRONLY|O_CREAT, 0644"];
            expected.extend(calls);
            expected.extend(["fadvise64 0, 4194304, POSIX_FADV_DONTNEED", "close"]);
            assert_eq!(calls_to("/mnt/stripes", *program, &scratch, &layout), expected, "{what}");
            assert_eq!(std::fs::metadata(&file).expect("the file").len(), size_bytes, "{what}");
            assert_eq!(extents(&file), extents_kib, "{what}");
            // The run writes every block: nothing unwritten is left.
            calls_to("/mnt/stripes", *program, &scratch, &format!("{command} --end_fsync=1"));
            assert_eq!(std::fs::metadata(&file).expect("the file").len(), 4 << 20, "{what}");
            assert_eq!(extents(&file), (4096, 0), "{what}");
        }
    }
}
