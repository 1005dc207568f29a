//! Ordinary runs of many kinds, of whose figures nothing bad can be said: no rule calls one wrong or misleading, and each note is one
//! that the row expects.
//!
//! Start reading at [`RUNS`]. A row that fails tells that a rule gives a false alarm.

use crate::support::{LoopDevice, Program, Run, Scratch, has_programs, is_root, skip, tool};
use std::path::{Path, PathBuf};

/// Where a run has its targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The disk of the tests. `f` is a written file of 16 MiB there.
    Disk,
    /// XFS on a loop device, with such a file.
    Xfs,
    /// A loop device; `DEVICE` in the arguments is its path.
    Raw,
    /// No target, or one of an engine's own.
    None,
}

use Place::{Disk, None as Nowhere, Raw, Xfs};

/// A run: its place, the options, and the notes that are right about it.
type Row = (Place, &'static str, &'static [&'static str]);

/// Fewer than 1,000 I/Os in a direction, by the sizes alone.
const FEW: &[&str] = &["few-samples"];
/// Few, and writes through the page cache whose syncs wait.
const FEW_SYNCED: &[&str] = &["latency-without-syncs", "few-samples"];
const FEW_SYNCED_ON_DEVICE: &[&str] = &["device-is-overwritten", "latency-without-syncs", "few-samples"];
const FEW_NEW: &[&str] = &["new-files-written", "few-samples"];
const DEVICE: &[&str] = &["device-is-overwritten"];
const FEW_ON_DEVICE: &[&str] = &["device-is-overwritten", "few-samples"];
/// The disk under a loop device may call itself rotational.
const PART: &[&str] = &["small-part-of-disk"];
const FEW_OF_PART: &[&str] = &["small-part-of-disk", "few-samples"];

// tidy: table
const RUNS: &[Row] = &[
    // Engines that wait, one direction.
    (Disk, "--filename=f --rw=read --bs=4k --size=8m --direct=1 --ioengine=psync", &[]),
    (Disk, "--filename=f --rw=randread --bs=4k --size=8m --direct=1 --ioengine=psync", &[]),
    (Disk, "--filename=f --rw=write --bs=4k --size=8m --direct=1 --ioengine=psync", &[]),
    (Disk, "--filename=f --rw=randwrite --bs=4k --size=8m --direct=1 --ioengine=psync", &[]),
    (Disk, "--filename=f --rw=read --bs=4k --size=8m --direct=1 --ioengine=sync", &[]),
    (Disk, "--filename=f --rw=randwrite --bs=4k --size=8m --direct=1 --ioengine=sync", &[]),
    (Disk, "--filename=f --rw=randread --bs=4k --size=8m --direct=1 --ioengine=pvsync", &[]),
    (Disk, "--filename=f --rw=randread --bs=4k --size=8m --direct=1 --ioengine=pvsync2", &[]),
    (Disk, "--filename=f --rw=randread --bs=4k --size=8m --direct=1 --ioengine=vsync", &[]),
    (Disk, "--filename=f --rw=read --bs=128k --size=16m --direct=1 --ioengine=psync", FEW),
    (Disk, "--filename=f --rw=write --bs=1m --size=16m --direct=1 --ioengine=psync", FEW),
    (Disk, "--filename=f --rw=read --bs=16k --size=16m --direct=1 --ioengine=psync --loops=2", &[]),
    // Engines with a queue.
    (Disk, "--filename=f --rw=randread --bs=4k --size=16m --direct=1 --ioengine=libaio --iodepth=4", &[]),
    (Disk, "--filename=f --rw=randwrite --bs=4k --size=16m --direct=1 --ioengine=libaio --iodepth=4", &[]),
    (Disk, "--filename=f --rw=read --bs=64k --size=16m --direct=1 --ioengine=libaio --iodepth=4", FEW),
    (Disk, "--filename=f --rw=randread --bs=4k --size=8m --direct=1 --ioengine=libaio", &[]),
    (Disk, "--filename=f --rw=randread --bs=4k --size=16m --direct=1 --ioengine=io_uring --iodepth=4", &[]),
    (Disk, "--filename=f --rw=randwrite --bs=4k --size=16m --direct=1 --ioengine=io_uring --iodepth=4", &[]),
    (Disk, "--filename=f --rw=write --bs=128k --size=16m --direct=1 --ioengine=io_uring --iodepth=2", FEW),
    (Disk, "--filename=f --rw=randread --bs=4k --size=8m --direct=1 --ioengine=posixaio", &[]),
    (
        Disk,
        "--filename=f --rw=randread --bs=4k --size=16m --direct=1 --ioengine=libaio --iodepth=16 --iodepth_batch_complete_min=8 \
         --iodepth_low=8",
        &[],
    ),
    // Mixes, sizes and orders.
    (Disk, "--filename=f --rw=rw --bs=4k --size=16m --direct=1 --ioengine=psync", &[]),
    (Disk, "--filename=f --rw=randrw --bs=4k --size=16m --direct=1 --ioengine=psync --rwmixread=60", &[]),
    (Disk, "--filename=f --rw=randrw --bs=4k,8k --size=16m --direct=1 --ioengine=psync", FEW),
    (Disk, "--filename=f --rw=randread --bssplit=4k/50:8k/50 --size=16m --direct=1 --ioengine=psync", &[]),
    (Disk, "--filename=f --rw=randread --bsrange=4k-8k --size=16m --direct=1 --ioengine=psync", &[]),
    (Disk, "--filename=f --rw=randread --bs=4k --size=8m --direct=1 --ioengine=psync --norandommap", &[]),
    (
        Disk,
        "--filename=f --rw=randread --bs=4k --size=8m --direct=1 --ioengine=psync --random_distribution=zipf:1.1",
        &[],
    ),
    (Disk, "--filename=f --rw=read:4k --bs=4k --size=8m --direct=1 --ioengine=psync", &[]),
    (Disk, "--filename=f --rw=randread --bs=4k --offset=4m --size=8m --direct=1 --ioengine=psync --randrepeat=0", &[]),
    (
        Disk,
        "--filename=f --rw=read --bs=4k --size=8m --zonesize=1m --zoneskip=1m --zonemode=strided --io_size=4m --direct=1 --ioengine=psync",
        &[],
    ),
    // Through the page cache, with the work of the disk in the figures.
    (Disk, "--filename=f --rw=read --bs=64k --size=16m --ioengine=psync", FEW),
    (Disk, "--filename=f --rw=write --bs=64k --size=16m --ioengine=psync --end_fsync=1", FEW_SYNCED),
    (Disk, "--filename=f --rw=write --bs=64k --size=8m --ioengine=psync --fsync=8", FEW_SYNCED),
    (Disk, "--filename=f --rw=randwrite --bs=4k --size=1m --ioengine=psync --fdatasync=1", FEW_SYNCED),
    (Disk, "--filename=f --rw=write --bs=64k --size=4m --ioengine=psync --sync=1", FEW),
    (Disk, "--filename=f --rw=write --bs=64k --size=16m --ioengine=mmap --end_fsync=1", FEW_SYNCED),
    (Disk, "--filename=f --rw=write --bs=4k --size=4m --direct=1 --sync=dsync --ioengine=psync", &[]),
    // Several clones, files and jobs.
    (
        Disk,
        "--rw=randread --bs=4k --size=4m --filename=f --numjobs=3 --direct=1 --ioengine=psync --group_reporting",
        &[],
    ),
    (
        Disk,
        "--rw=write --bs=4k --size=4m --filename=f --numjobs=4 --offset_increment=4m --direct=1 --ioengine=psync",
        &[],
    ),
    (Disk, "--rw=write --bs=4k --size=8m --nrfiles=4 --overwrite=1 --direct=1 --ioengine=psync --unlink=1", &[]),
    (Disk, "--rw=randread --bs=4k --size=8m --nrfiles=8 --direct=1 --ioengine=psync --unlink=1", &[]),
    (Disk, "--rw=randread --bs=4k --size=8m --numjobs=2 --thread --direct=1 --ioengine=psync --unlink=1", &[]),
    (
        Disk,
        "--filename=f --bs=4k --size=8m --direct=1 --ioengine=psync --rw=read --name=second --filename=f --bs=4k --size=8m \
         --direct=1 --ioengine=psync --rw=write --stonewall",
        &[],
    ),
    // Times, rates, pauses.
    (Disk, "--filename=f --rw=randread --bs=4k --direct=1 --ioengine=psync --time_based --runtime=300ms", FEW),
    (
        Disk,
        "--filename=f --rw=randwrite --bs=4k --direct=1 --ioengine=psync --time_based --runtime=300ms --ramp_time=100ms",
        FEW,
    ),
    (
        Disk,
        "--filename=f --rw=randread --bs=4k --direct=1 --ioengine=psync --runtime=300ms --size=16m --loops=1000",
        FEW,
    ),
    (
        Disk,
        "--filename=f --rw=randread --bs=4k --direct=1 --ioengine=psync --time_based --runtime=400ms --rate_iops=500",
        FEW,
    ),
    (Disk, "--filename=f --rw=read --bs=4k --direct=1 --ioengine=psync --time_based --runtime=400ms --rate=1m", FEW),
    (
        Disk,
        "--filename=f --rw=randread --bs=4k --direct=1 --ioengine=psync --time_based --runtime=400ms --rate_iops=500 \
         --rate_process=poisson",
        FEW,
    ),
    (
        Disk,
        "--filename=f --rw=randrw --bs=4k --direct=1 --ioengine=libaio --iodepth=8 --time_based --runtime=400ms --rate_iops=300,300",
        FEW,
    ),
    (Disk, "--filename=f --rw=randread --bs=4k --size=1m --direct=1 --ioengine=psync --thinktime=500", FEW),
    (
        Disk,
        "--filename=f --rw=randread --bs=4k --number_ios=1200 --size=16m --direct=1 --ioengine=psync --runtime=60",
        &[],
    ),
    // Verification.
    (Disk, "--rw=write --bs=4k --size=8m --verify=crc32c --overwrite=1 --direct=1 --ioengine=psync --unlink=1", &[]),
    (Disk, "--rw=randwrite --bs=4k --size=8m --verify=md5 --overwrite=1 --direct=1 --ioengine=psync --unlink=1", &[]),
    (Disk, "--filename=f --rw=write --bs=4k --size=8m --refill_buffers --direct=1 --ioengine=psync", &[]),
    // Files that are new on purpose: the log of a database, a copy, a list of files, blocks that are verified.
    (Disk, "--filename=etcd --rw=write --bs=2300 --size=512k --ioengine=sync --fdatasync=1", FEW_SYNCED),
    (Disk, "--filename=copy --rw=write --bs=64k --size=8m --direct=1 --ioengine=psync", FEW_NEW),
    (Disk, "--filename=data:log --rw=write --bs=64k --size=8m --direct=1 --ioengine=psync", FEW_NEW),
    (Disk, "--filename=verified --rw=write --bs=4k --size=4m --verify=crc32c --direct=1 --ioengine=psync", &[]),
    (Disk, "--filename=both --rw=write --bs=64k --size=8m --ioengine=psync --fsync=10000 --end_fsync=1", FEW_SYNCED),
    (
        Disk,
        "--filename=passes --rw=write --bs=64k --size=8m --loops=3 --ioengine=psync --end_fsync=1",
        &["new-files-written", "latency-without-syncs", "closing-syncs-counted", "few-samples"],
    ),
    // Engines that look at files, or change their sizes: their bytes are no data.
    (Disk, "--rw=read --ioengine=filestat --nrfiles=128 --filesize=16k --unlink=1", FEW),
    (Disk, "--rw=write --ioengine=filecreate --nrfiles=128 --openfiles=8 --filesize=16k --unlink=1", FEW),
    (Disk, "--rw=read --ioengine=filedelete --nrfiles=128 --openfiles=8 --filesize=16k", FEW),
    (Disk, "--filename=allocated --rw=write --ioengine=falloc --bs=64k --size=8m", FEW),
    (Disk, "--filename=cut --rw=write --ioengine=ftruncate --bs=64k --size=8m", FEW),
    // XFS.
    (Xfs, "--filename=f --rw=read --bs=4k --size=8m --direct=1 --ioengine=psync", &[]),
    (Xfs, "--filename=f --rw=write --bs=4k --size=8m --direct=1 --ioengine=psync", &[]),
    (Xfs, "--filename=f --rw=randread --bs=4k --size=8m --direct=1 --ioengine=psync", PART),
    (Xfs, "--filename=f --rw=randwrite --bs=4k --size=8m --direct=1 --ioengine=psync", PART),
    (Xfs, "--filename=f --rw=randwrite --bs=4k --size=16m --direct=1 --ioengine=libaio --iodepth=4", PART),
    (Xfs, "--filename=f --rw=write --bs=64k --size=16m --ioengine=psync --end_fsync=1", FEW_SYNCED),
    (Xfs, "--filename=f --rw=randrw --bs=64k --size=16m --direct=1 --ioengine=psync", FEW_OF_PART),
    // A device.
    (Raw, "--filename=DEVICE --rw=read --bs=4k --size=8m --direct=1 --ioengine=psync", &[]),
    (Raw, "--filename=DEVICE --rw=write --bs=4k --size=8m --direct=1 --ioengine=psync", DEVICE),
    (Raw, "--filename=DEVICE --rw=randread --bs=4k --size=16m --direct=1 --ioengine=libaio --iodepth=4", &[]),
    (Raw, "--filename=DEVICE --rw=randwrite --bs=4k --size=16m --direct=1 --ioengine=io_uring --iodepth=4", DEVICE),
    (Raw, "--filename=DEVICE --rw=write --bs=64k --size=16m --ioengine=psync --end_fsync=1", FEW_SYNCED_ON_DEVICE),
    (Raw, "--filename=DEVICE --rw=write --bs=4k --size=8m --verify=crc32c --direct=1 --ioengine=psync", DEVICE),
    // The last ones: the first of them makes holes in the file behind the device.
    (Raw, "--filename=DEVICE --rw=trim --bs=64k --size=16m --direct=1 --ioengine=psync", FEW_ON_DEVICE),
    // The first job fills the holes that the trims have made.
    (
        Raw,
        "--filename=DEVICE --bs=64k --size=16m --direct=1 --ioengine=psync --rw=write --name=test --stonewall --filename=DEVICE --rw=randread \
         --bs=4k --size=16m --direct=1 --ioengine=psync",
        FEW_ON_DEVICE,
    ),
    // Engines without a device.
    (Nowhere, "--rw=randread --bs=4k --size=64m --ioengine=null", &[]),
    (Nowhere, "--rw=randrw --bs=4k --size=64m --ioengine=null --iodepth=8", &[]),
    (Nowhere, "--rw=randread --bs=4k --size=8m --ioengine=sim --sim_time=virtual --sim_service=fixed:50us", &[]),
    (
        Nowhere,
        "--rw=randread --bs=4k --size=16m --ioengine=sim --sim_time=virtual --sim_service=fixed:500us --sim_channels=8 --iodepth=8",
        &[],
    ),
    (
        Nowhere,
        "--rw=randwrite --ioengine=sim --sim_time=virtual --sim_service=fixed:100us --rate_iops=500 --size=1g --time_based --runtime=400ms",
        FEW,
    ),
];

/// Rules about times. On a machine with other work, or with a disk that is slow to sync, they may speak, and be right.
const OF_TIMES: [&str; 17] = [
    "closing-syncs-counted",
    "ran-alone-in-part",
    "rate-changed-with-another-job",
    "first-reads-slower",
    "completions-in-batches",
    "clock-cost",
    "latency-without-submission",
    "preparation-counted",
    "rate-not-reached",
    "latency-without-waiting",
    "depth-not-reached",
    "submission-blocked",
    "effect-of-parallelism",
    "stalls",
    "rate-fell",
    "rate-drifts",
    // A program that is not optimised makes and checks blocks slowly.
    "verification-cost",
];

/// Rules about the machine, whose other programs are not those of the test.
const OF_THE_MACHINE: [&str; 10] = [
    "clock-trouble",
    "memory-stalls",
    "write-back-throttled",
    "waits-for-cpu",
    "tail-waits-for-cpu",
    "stolen-cpu-time",
    "cpu-quota",
    "load-generator-limit",
    "other-users",
    "earlier-writes",
];

/// The places, as far as they can be had.
struct Places {
    scratch: Scratch,
    on_loop: Vec<LoopDevice>,
    xfs: Option<PathBuf>,
    raw: Option<String>,
    /// Directories of the images behind the loop devices.
    images: Vec<Scratch>,
}

impl Places {
    fn new(test: &str) -> Self {
        let scratch = Scratch::new("clean");
        fill(scratch.path());
        let mut places = Self { scratch, on_loop: Vec::new(), xfs: None, raw: None, images: Vec::new() };
        let devices = format!("{test} (on devices)");
        if !is_root(&devices) || !has_programs(&devices, &["losetup"]) {
            return places;
        }
        let image = Scratch::new("clean-raw");
        if let Some(device) = LoopDevice::new(&image, 64 << 20).filter(is_direct) {
            write_all(image.path(), device.path(), 64);
            places.raw = Some(device.path().to_owned());
            places.on_loop.push(device);
        }
        places.images.push(image);
        let image = Scratch::new("clean-xfs");
        if has_programs(&devices, &["mkfs.xfs", "mount", "umount"])
            && let Some(mut device) = LoopDevice::new(&image, 400 << 20).filter(is_direct)
        {
            places.xfs = device.mount(&image, "mkfs.xfs -q -f");
            places.on_loop.push(device);
        }
        places.images.push(image);
        if let Some(xfs) = &places.xfs {
            fill(xfs);
        }
        places
    }

    /// Directory of a run in a place, and the device.
    fn of(&self, place: Place) -> Option<(&Path, &str)> {
        match place {
            Disk | Nowhere => Some((self.scratch.path(), "")),
            Xfs => self.xfs.as_deref().map(|xfs| (xfs, "")),
            Raw => self.raw.as_deref().map(|raw| (self.scratch.path(), raw)),
        }
    }
}

/// Reads and writes of the device bypass the page cache of its file, so that its figures are those of the disk.
fn is_direct(device: &LoopDevice) -> bool {
    tool(&format!("losetup --direct-io=on {}", device.path())).is_some()
}

fn fill(directory: &Path) {
    write_all(directory, "f", 16);
}

fn write_all(directory: &Path, name: &str, mib: u32) {
    let job = format!("--name=w --filename={name} --rw=write --bs=1m --size={mib}m --end_fsync=1 --ioengine=psync");
    Run::new(Program::Ferrio, directory, &job).finish().succeeded();
}

/// The findings about a run that it should not have.
fn false_alarms(directory: &Path, arguments: &str, notes: &[&str], tolerated: &[&str]) -> Vec<String> {
    let finished = Run::new(Program::Ferrio, directory, &format!("run --json --name=a {arguments}")).finish();
    if finished.code != Some(0) {
        return vec![format!("{arguments}\n    {}", finished.stderr)];
    }
    let document: serde_json::Value = serde_json::from_str(&finished.stdout).expect("JSON");
    let findings = document["findings"].as_array().expect("a list");
    let is_right = |finding: &&serde_json::Value| {
        let id = finding["id"].as_str().unwrap_or_default();
        OF_THE_MACHINE.contains(&id)
            || tolerated.contains(&id)
            || (finding["severity"] == "note" && notes.contains(&id))
    };
    let said = |finding: &serde_json::Value| format!("{arguments}\n    {}: {}", finding["id"], finding["explanation"]);
    findings.iter().filter(|finding| !is_right(finding)).map(said).collect()
}

#[test]
fn ordinary_runs_have_no_findings() {
    look_at_all("ordinary_runs_have_no_findings", &OF_TIMES);
}

#[test]
#[ignore = "needs a machine without other work"]
fn rules_about_times_are_silent_on_a_quiet_machine() {
    look_at_all("rules_about_times_are_silent_on_a_quiet_machine", &[]);
}

/// Does all runs. Findings of the tolerated rules are right.
fn look_at_all(test: &str, tolerated: &[&str]) {
    assert!(RUNS.len() >= 60, "{}", RUNS.len());
    let places = Places::new(test);
    if Run::new(Program::Ferrio, places.scratch.path(), "check --name=a --filename=f --rw=read")
        .finish()
        .stdout
        .contains("target-in-memory")
    {
        return skip(test, "the directory of the tests is in memory");
    }
    let mut alarms = Vec::new();
    for (place, arguments, notes) in RUNS {
        match places.of(*place) {
            Some((directory, device)) => {
                alarms.extend(false_alarms(directory, &arguments.replace("DEVICE", device), notes, tolerated));
            }
            None => skip(test, &format!("no place {place:?} for {arguments}")),
        }
    }
    // A run that is not clean is seen.
    let buffered = "--filename=g --rw=write --bs=64k --size=8m --ioengine=psync";
    assert_eq!(false_alarms(places.scratch.path(), buffered, FEW_NEW, tolerated).len(), 1);
    assert!(alarms.is_empty(), "{} false alarms:\n{}", alarms.len(), alarms.join("\n"));
}
