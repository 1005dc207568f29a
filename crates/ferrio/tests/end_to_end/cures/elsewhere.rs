//! The rules whose cures are not tried in this folder: those whose cure is the control of another test, and those that cannot be tried.
//!
//! Start reading at [`every_rule_has_its_cure_tried_or_a_reason`].

use super::beside::BESIDE_JOBS;
use super::checks::{CHECKS, FILES};
use super::made::MADE;
use super::reports::REPORTED;
use super::runs::ROWS;
use std::collections::BTreeSet;

/// Texts of the tests whose control does what the cure says.
const HOST: &str = include_str!("../findings_host.rs");
const LIMITS: &str = include_str!("../findings_limits.rs");
const DEVICE: &str = include_str!("../findings_device.rs");
const STACKS: &str = include_str!("../findings_stacks.rs");
const SERVERS: &str = include_str!("../engines_http.rs");
const OBJECTS: &str = include_str!("../engines_http/objects.rs");
const NFS: &str = include_str!("../engines_nfs.rs");
const ACCOUNTS: &str = include_str!("../accounts.rs");
const MOUNTS: &str = include_str!("../findings_mounts.rs");
const WORK: &str = include_str!("../findings_work.rs");

/// A rule, the test with its cure, and what is done there.
// tidy: table
const BESIDE: &[(&str, &str, &str)] = &[
    ("cpu-quota", HOST, "the group gets all CPU time"),
    ("io-limit-measured", HOST, "a higher limit"),
    ("io-limit-set", HOST, "the same run outside of the group"),
    ("waits-for-cpu", HOST, "the job has the CPU for itself"),
    ("load-generator-limit", HOST, "a run that leaves the CPU idle"),
    ("cpu-quota-set", LIMITS, "more CPU time"),
    ("locked-memory-limit", LIMITS, "without fixedbufs, and a lower depth"),
    ("open-file-limit", LIMITS, "openfiles"),
    ("page-cache-limited", LIMITS, "direct=1"),
    ("trims-split", LIMITS, "a smaller bs"),
    ("trims-refused", LIMITS, "a device with discards"),
    ("depth-beyond-queue", DEVICE, "a lower iodepth"),
    ("device-in-use", DEVICE, "the device before it was in use"),
    ("direct-below-logical-block", DEVICE, "a larger bs"),
    ("partial-physical-blocks", DEVICE, "a larger bs"),
    ("requests-merged", DEVICE, "random I/O"),
    ("requests-split", DEVICE, "a smaller bs"),
    ("volatile-cache", DEVICE, "fdatasync=1"),
    ("write-back-throttled", DEVICE, "wbt_lat_usec is 0"),
    ("write-refused", DEVICE, "allow_mounted_write=1"),
    ("data-that-compresses", STACKS, "refill_buffers"),
    ("direct-not-honoured", STACKS, "another mount option"),
    ("direct-writes-copied", STACKS, "files without checksums"),
    ("lower-device-did-less", STACKS, "losetup --direct-io=on"),
    ("other-users", STACKS, "nobody else uses the device"),
    ("process-read-less", STACKS, "direct=1"),
    ("reads-of-zeroes", STACKS, "the device is written first"),
    ("target-in-memory", STACKS, "a device on a disk"),
    ("target-on-overlay", STACKS, "the file system below"),
    ("volume-grew", STACKS, "the device is written once before"),
    ("throttled", SERVERS, "a server that takes all requests"),
    ("requests-sent-again", SERVERS, "a server that takes all requests"),
    ("lost-connections", SERVERS, "a server that keeps connections"),
    ("delayed-replies", SERVERS, "a server that answers at once"),
    ("absent-objects", OBJECTS, "the objects are written first"),
    ("requests-without-data", OBJECTS, "http_read_mode=get"),
    ("short-objects", OBJECTS, "the objects are written with the same bs"),
    ("uncommitted-writes", NFS, "end_fsync=1, or sync=1"),
    ("mounted-sync", MOUNTS, "sync=1"),
    ("data-in-journal", MOUNTS, "another mount option"),
    ("read-ahead-off", MOUNTS, "the usual read-ahead"),
    ("syncs-at-once", MOUNTS, "the file system below"),
    ("io-limit-changed", MOUNTS, "a limit that stays"),
    ("earlier-writes", WORK, "sync before the run"),
    ("clock-cost", WORK, "a larger bs"),
    ("stopped-by-signal", ACCOUNTS, "the same run, which nobody stops"),
    ("tail-waits-for-cpu", WORK, "no other program on the CPU"),
];

/// A rule that cannot be tried here, and why.
// tidy: table
const UNTRIED: &[(&str, &str)] = &[
    ("clock-trouble", "the clock source is that of the machine, and its time must not be set"),
    ("device-in-memory", "there is nothing to cure where the device is the one that was meant"),
    ("depth-not-reached", "the cure is another reading of the same figures"),
    ("device-cache", "needs bcache, dm-cache or dm-writecache"),
    ("far-numa-node", "needs a machine with two NUMA nodes"),
    ("faster-than-link", "needs a device whose link the kernel knows"),
    ("lost-segments", "needs a network that loses data"),
    ("memory-as-expected", "the finding is what the option asks for"),
    ("memory-stalls", "would starve the machine of memory"),
    ("misaligned-partition", "needs a disk of large physical blocks with partitions: in the virtual machine"),
    ("partial-stripes", "needs an md array"),
    (
        "range-written-again",
        "the cure is that of range-read-again, and volatile-cache takes its place where nothing flushes the device",
    ),
    ("scheduler-of-fast-device", "needs a device with several hardware queues: in the virtual machine"),
    ("slowed-by-heat", "would heat the machine"),
    ("small-window", "needs a network that is faster than a server takes data"),
    ("stalls", "the cure is another reading: the latencies from the wanted start, which `made` tests"),
    ("stolen-cpu-time", "the host decides"),
    ("target-on-network", "needs a server"),
    ("thin-volume", "needs a thin pool of LVM"),
    ("trims-of-files", "needs a device whose data may be lost"),
];

#[test]
fn every_rule_has_its_cure_tried_or_a_reason() {
    let tried = ROWS.iter().map(|row| row.0).chain(CHECKS.iter().map(|row| row.0)).chain(MADE.iter().copied());
    let tried: BTreeSet<&str> = tried.chain(BESIDE_JOBS.iter().chain(REPORTED).chain(FILES).copied()).collect();
    let mut listed: Vec<&str> = tried.iter().copied().collect();
    listed.extend(BESIDE.iter().map(|row| row.0).filter(|rule| !tried.contains(rule)));
    listed.extend(UNTRIED.iter().map(|row| row.0));
    listed.sort_unstable();
    let rules = ferrio_insight::RULES.iter().map(|rule| rule.id);
    assert!(listed.windows(2).all(|pair| pair[0] != pair[1]), "a rule has one place: {listed:?}");
    let missing: Vec<&str> = rules.filter(|rule| !listed.contains(rule)).collect();
    assert_eq!(missing, Vec::<&str>::new(), "each rule has a row, a test, or a reason");
    for (rule, text, cure) in BESIDE {
        assert!(text.contains(&format!("\"{rule}\"")) && !cure.is_empty(), "{rule} is not in the test of its cure");
    }
    assert!(UNTRIED.iter().all(|(_, reason)| !reason.is_empty()));
}
