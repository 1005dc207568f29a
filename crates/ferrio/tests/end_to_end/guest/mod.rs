//! Runs on devices that a host lacks: zoned, polled, with atomic writes, failing. `tools/guest-test` runs these tests in a guest of
//! `tools/nvme-guest`, whose devices are listed in `tools/README.md`; anywhere else each of them says `SKIPPED`.
//!
//! Start reading at [`enter`], then at the test that failed. A test leaves a device without open zones and without other devices
//! on top of it, and nothing else: the next one finds data of the last.

mod bsg;
mod commands;
mod faults;
mod findings;
mod flash;
mod kernel_flags;
mod memory;
mod passthrough;
mod passthrough_formats;
mod protected;
mod rdma;
mod scsi;
mod sockets;
mod zone_errors;
mod zoned;
mod zoned_jobs;

use crate::support::{Finished, Program, Run, Scratch, skip, tool};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Set by `tools/guest-test`.
const VARIABLE: &str = "FERRIO_GUEST";

/// The zoned namespace: zones of 8 MiB of which 6 MiB can be written, 8 open and 12 active at most.
pub(crate) const ZNS: &str = "/dev/nvme5n1";

/// Devices are shared, so only one test runs at a time.
static DEVICES: Mutex<()> = Mutex::new(());

/// The devices are for one test as long as it has this.
pub(crate) struct Guest {
    _held: MutexGuard<'static, ()>,
    scratch: Scratch,
}

/// The guest, if this runs in it; else the test is reported as skipped.
pub(crate) fn enter(test: &str) -> Option<Guest> {
    if std::env::var_os(VARIABLE).is_none_or(|value| value != "1") {
        skip(test, "runs in the guest of tools/guest-test");
        return None;
    }
    // A test that failed leaves nothing behind that the next one minds.
    let held = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
    Some(Guest { _held: held, scratch: Scratch::in_temporary_directory(test) })
}

/// True when fio is wanted and installed. Unlike [`crate::support::has_peer`] this checks only once, because a start of
/// fio takes seconds.
pub(crate) fn has_peer(test: &str) -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    let found = *FOUND.get_or_init(|| crate::support::has_peer(test));
    if !found {
        skip(test, "no fio");
    }
    found
}

/// As [`crate::support::peer_too`], and checks only once.
pub(crate) fn peer_too(test: &str) -> bool {
    has_peer(&format!("{test} (under the peer)"))
}

impl Guest {
    /// Runs a program with arguments that are separated by blanks.
    pub(crate) fn run(&self, program: Program, arguments: &str) -> Finished {
        Run::new(program, self.scratch.path(), arguments).finish()
    }

    pub(crate) fn ferrio(&self, arguments: &str) -> Finished {
        self.run(Program::Ferrio, arguments)
    }

    /// Makes a file, and has its path.
    pub(crate) fn file(&self, name: &str, content: &[u8]) -> String {
        self.scratch.write(name, content);
        self.scratch.join(name).display().to_string()
    }
}

/// Empties all zones of a device, as it was at the start.
pub(crate) fn reset_zones(device: &str) {
    assert!(tool(&format!("blkzone reset {device}")).is_some(), "blkzone reset {device}");
}

/// Bytes between start and write pointer of each zone, and the word for its condition (`em`, `oi`, `cl`, `fu`, ...); of the zones
/// that have a write pointer.
pub(crate) fn zones(device: &str) -> Vec<(u64, String)> {
    let report = tool(&format!("blkzone report {device}")).expect("a zoned device");
    let zone = |line: &str| {
        let (_, pointer) = line.split_once("wptr 0x")?;
        let sectors = u64::from_str_radix(pointer.split_whitespace().next()?, 16).ok()?;
        let condition = line.split_once("zcond:")?.1.split_once('(')?.1.split_once(')')?.0;
        (condition != "nw").then(|| (sectors * 512, condition.to_owned()))
    };
    report.lines().filter_map(zone).collect()
}

/// A device that a test made.
pub(crate) struct Made {
    path: String,
    remove: String,
}

impl Made {
    /// `guest-dev KIND ARGUMENTS`. A test that can't have the device fails: it is the guest's, not the host's.
    pub(crate) fn new(kind: &str, arguments: &str) -> Self {
        let path = tool(&format!("guest-dev {kind} {arguments}")).unwrap_or_default();
        assert!(path.starts_with("/dev/"), "guest-dev {kind} {arguments}: '{path}'");
        let name = Path::new(&path).file_name().unwrap_or_default().to_string_lossy();
        let remove = match kind {
            "null" | "null-poll" | "null-blocking" | "null-zoned" => format!("rmdir /sys/kernel/config/nullb/{name}"),
            "scsi-debug" | "scsi-zbc" => "rmmod scsi_debug".to_owned(),
            "mtd" => "rmmod mtdram".to_owned(),
            "nand" => "rmmod nandsim".to_owned(),
            "fsdax" => "ndctl create-namespace -f -e namespace0.0 -m raw".to_owned(),
            "devdax" => "ndctl create-namespace -f -e namespace1.0 -m raw".to_owned(),
            _ => format!("dmsetup remove {name}"),
        };
        Self { path, remove }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        // The device can be busy for a moment after its last user, as udev of a host would make it; the guest has none.
        tool(&self.remove);
    }
}
