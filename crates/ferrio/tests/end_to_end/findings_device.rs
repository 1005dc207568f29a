//! Findings about the settings of block devices, made for real on loop devices, each beside a control that differs in one thing.
//!
//! Start reading at [`loop_device`].

use crate::findings::{document, findings_of, has, ids};
use crate::support::{LoopDevice, Program, Run, Scratch, has_programs, is_root, skip, tool};
use serde_json::Value;
use std::path::Path;

/// A loop device of 32 MiB, where one can be had.
fn loop_device(test: &str, scratch: &Scratch, options: &str) -> Option<LoopDevice> {
    if !is_root(test) || !has_programs(test, &["losetup"]) {
        return None;
    }
    let device = LoopDevice::with_options(scratch, 32 << 20, options);
    if device.is_none() {
        skip(test, "no such loop device can be set up");
    }
    device
}

/// A setting of the queue of a device in `/dev`.
fn queue_setting(device: &str, name: &str) -> Option<String> {
    let path = format!("/sys/block/{}/queue/{name}", device.trim_start_matches("/dev/"));
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

/// The rules under test.
const RULES: [&str; 14] = [
    "depth-beyond-queue",
    "device-in-use",
    "device-is-overwritten",
    "direct-below-logical-block",
    "far-numa-node",
    "misaligned-partition",
    "partial-physical-blocks",
    "partial-stripes",
    "requests-merged",
    "requests-split",
    "scheduler-of-fast-device",
    "volatile-cache",
    "write-back-throttled",
    "write-refused",
];

/// Those of them with findings before a run.
fn checked(directory: &Path, arguments: &str) -> Vec<String> {
    let finished = Run::new(Program::Ferrio, directory, &format!("check --json {arguments}")).finish();
    let document: Value = serde_json::from_str(&finished.stdout).unwrap_or_else(|_| panic!("{}", finished.all()));
    let mut found = ids(&document["findings"]);
    found.retain(|id| RULES.contains(&&id[..]));
    found
}

#[test]
fn blocks_below_those_of_the_device_are_told() {
    let test = "blocks_below_those_of_the_device_are_told";
    let scratch = Scratch::new("findings-logical");
    let Some(mut device) = loop_device(test, &scratch, "--sector-size 4096") else { return };
    if queue_setting(device.path(), "logical_block_size").as_deref() != Some("4096") {
        return skip(test, "this kernel makes no loop device with large blocks");
    }
    let on_device =
        format!("--name=a --filename={} --rw=randread --direct=1 --ioengine=psync --size=1m", device.path());
    let refused = Run::new(Program::Ferrio, scratch.path(), &format!("run {on_device} --bs=512")).finish();
    assert!(refused.code != Some(0) && refused.stdout.contains("[direct-below-logical-block]"), "{}", refused.all());
    let before = |more: &str| checked(scratch.path(), &format!("{on_device} {more}"));
    for bad in [
        "--bs=512",
        "--bs=4k --offset=512",
        "--bs=4k --blockalign=1k",
        "--bssplit=4k/50:2k/50",
        "--bs=4k --direct=1 --bsrange=1k-8k",
    ] {
        assert_eq!(before(bad), ["direct-below-logical-block"], "{bad}");
    }
    for good in ["--bs=4k", "--bs=8k --offset=4k", "--bs=512 --direct=0"] {
        assert_eq!(before(good), Vec::<String>::new(), "{good}");
    }
    assert!(!has(&findings_of(scratch.path(), &format!("{on_device} --bs=4k")), "direct-below-logical-block"));
    // Files of a file system there have the same blocks.
    if !has_programs(test, &["mkfs.ext4", "mount"]) {
        return;
    }
    let Some(place) = device.mount(&scratch, "mkfs.ext4 -q") else {
        return skip(test, "no file system can be made and mounted");
    };
    let file = format!("--name=a --directory={} --rw=randread --direct=1 --size=1m", place.display());
    assert_eq!(checked(scratch.path(), &format!("{file} --bs=512")), ["direct-below-logical-block"]);
    assert_eq!(checked(scratch.path(), &format!("{file} --bs=4k")), Vec::<String>::new());
}

#[test]
fn parts_of_physical_blocks_are_told() {
    let test = "parts_of_physical_blocks_are_told";
    let scratch = Scratch::new("findings-physical");
    let job = "--name=a --rw=randwrite --direct=1 --ioengine=psync --size=1m --io_size=64k";
    let written = document(scratch.path(), &format!("{job} --bs=4k"));
    let disk = &written["provenance"]["devices"][0];
    let size = |name: &str| disk[name].as_u64().unwrap_or_default();
    let is_ext4 = written["provenance"]["file_systems"][0]["kind"] == "ext4";
    if !is_ext4 || size("physical_block_size") != 4096 || size("logical_block_size") != 512 {
        return skip(
            test,
            "the tests are not on ext4 on a disk with physical blocks of 4 KiB and logical ones of 512 bytes",
        );
    }
    assert!(!has(&ids(&written["findings"]), "partial-physical-blocks"));
    let small = findings_of(scratch.path(), &format!("{job} --bs=512"));
    assert!(has(&small, "partial-physical-blocks"), "{small:?}");
}

#[test]
fn devices_in_use_are_told_before_and_after() {
    let test = "devices_in_use_are_told_before_and_after";
    let scratch = Scratch::new("findings-in-use");
    let Some(mut device) = loop_device(test, &scratch, "") else { return };
    let job = |rw: &str| {
        format!("--name=a --filename={} --rw={rw} --direct=1 --bs=4k --size=1m --end_fsync=1", device.path())
    };
    let (read, write) = (job("randread"), job("randwrite"));
    assert_eq!(checked(scratch.path(), &read), Vec::<String>::new());
    assert_eq!(checked(scratch.path(), &write), ["device-is-overwritten"]);
    let upper = tool(&format!("losetup --find --show {}", device.path())).expect("a loop device over a loop device");
    let (of_reads, of_writes) = (checked(scratch.path(), &read), checked(scratch.path(), &write));
    tool(&format!("losetup --detach {upper}")).expect("detached");
    assert_eq!((of_reads, of_writes), (vec!["device-in-use".to_owned()], vec!["write-refused".to_owned()]));
    if !has_programs(test, &["mkfs.ext4", "mount"]) {
        return;
    }
    if device.mount(&scratch, "mkfs.ext4 -q").is_none() {
        return skip(test, "no file system can be made and mounted");
    }
    assert!(has(&findings_of(scratch.path(), &read), "device-in-use"));
    let refused = Run::new(Program::Ferrio, scratch.path(), &format!("check {write}")).finish();
    assert!(refused.code == Some(1) && refused.stdout.contains("[write-refused]"), "{}", refused.all());
    assert_eq!(checked(scratch.path(), &format!("{write} --allow_mounted_write=1")), ["device-in-use"]);
}

#[test]
fn a_depth_that_the_queue_cannot_hold_is_told() {
    let test = "a_depth_that_the_queue_cannot_hold_is_told";
    let scratch = Scratch::new("findings-queue");
    let Some(device) = loop_device(test, &scratch, "") else { return };
    let Some(limit) = queue_setting(device.path(), "nr_requests").and_then(|text| text.parse::<u32>().ok()) else {
        return skip(test, "the loop device has no queue");
    };
    let job = format!(
        "--name=a --filename={} --rw=randread --direct=1 --ioengine=libaio --bs=4k --size=32m --iodepth",
        device.path()
    );
    let deep = 4 * limit;
    assert_eq!(checked(scratch.path(), &format!("{job}={deep}")), ["depth-beyond-queue"]);
    assert_eq!(checked(scratch.path(), &format!("{job}=8")), Vec::<String>::new());
    let after = document(scratch.path(), &format!("{job}={deep}"));
    if !has(&ids(&after["findings"]), "depth-beyond-queue") {
        skip(test, "the queue of the loop device was never full");
    }
    assert!(!has(&findings_of(scratch.path(), &format!("{job}=8")), "depth-beyond-queue"));
}

#[test]
fn merged_and_split_requests_are_told() {
    let test = "merged_and_split_requests_are_told";
    let scratch = Scratch::new("findings-requests");
    let Some(device) = loop_device(test, &scratch, "") else { return };
    let setting = |name: &str| queue_setting(device.path(), name).and_then(|text| text.parse::<u32>().ok());
    if setting("nomerges") != Some(0) || setting("max_sectors_kb").is_none_or(|kb| kb > 2048) {
        return skip(test, "the loop device merges nothing, or takes any size");
    }
    let job = format!("--name=a --filename={} --direct=1 --ioengine=libaio --size=32m", device.path());
    let batches = "--bs=4k --iodepth=32 --iodepth_batch=32 --iodepth_batch_complete_min=32";
    let merged = document(scratch.path(), &format!("{job} --rw=read {batches}"));
    let mut findings = merged["findings"].as_array().expect("a list").iter();
    let finding = findings.find(|finding| finding["id"] == "requests-merged").unwrap_or_else(|| panic!("{merged}"));
    let value = |index: usize| finding["evidence"][index]["value"].as_f64().expect("a number");
    // Of the 8192 I/Os each is a request, or merged into one.
    assert_eq!((value(0), value(1) + value(2)), (8192.0, 8192.0), "{finding}");
    assert!(!has(&findings_of(scratch.path(), &format!("{job} --rw=randread {batches}")), "requests-merged"));
    let large = findings_of(scratch.path(), &format!("{job} --rw=randread --bs=4m"));
    assert!(has(&large, "requests-split"), "{large:?}");
    let small = findings_of(scratch.path(), &format!("{job} --rw=randread --bs=64k"));
    assert!(!has(&small, "requests-split"), "{small:?}");
}

#[test]
fn caches_and_throttling_are_told() {
    let test = "caches_and_throttling_are_told";
    let scratch = Scratch::new("findings-cache");
    let Some(device) = loop_device(test, &scratch, "") else { return };
    let path = device.path();
    if queue_setting(path, "write_cache").as_deref() == Some("write back") {
        let job = format!("--name=a --filename={path} --rw=write --direct=1 --size=16m");
        assert_eq!(checked(scratch.path(), &job), ["device-is-overwritten", "volatile-cache"]);
        assert_eq!(checked(scratch.path(), &format!("{job} --fdatasync=1")), ["device-is-overwritten"]);
    } else {
        skip(test, "the loop device has no write-back cache");
    }
    if queue_setting(path, "wbt_lat_usec").is_none_or(|text| text == "0") {
        return skip(test, "write-back is not throttled");
    }
    let jobs = |direct: u32| {
        format!(
            "--filename={path} --size=8m --name=w --rw=write --end_fsync=1 --direct={direct} --name=r --rw=randread --offset=16m --direct=1"
        )
    };
    assert_eq!(checked(scratch.path(), &jobs(0)), ["device-is-overwritten", "write-back-throttled"]);
    assert_eq!(checked(scratch.path(), &jobs(1)), ["device-is-overwritten"]);
    let setting = format!("/sys/block/{}/queue/wbt_lat_usec", path.trim_start_matches("/dev/"));
    let before = std::fs::read_to_string(&setting).expect("it was read");
    std::fs::write(&setting, "0").expect("throttling can be switched off");
    let off = checked(scratch.path(), &jobs(0));
    let _ = std::fs::write(&setting, before.trim());
    assert_eq!(off, ["device-is-overwritten"]);
}

#[test]
fn partitions_and_their_starts_are_known() {
    let test = "partitions_and_their_starts_are_known";
    let scratch = Scratch::new("findings-partition");
    let Some(device) = loop_device(test, &scratch, "") else { return };
    if !has_programs(test, &["addpart", "delpart"]) {
        return;
    }
    if tool(&format!("addpart {} 1 2049 4096", device.path())).is_none() {
        return skip(test, "no partition can be added");
    }
    let partition = format!("{}p1", device.path());
    let job = format!("--name=a --filename={partition} --rw=read --direct=1 --size=1m --ioengine=psync");
    let run = Run::new(Program::Ferrio, scratch.path(), &format!("{job} --output-format=json")).finish();
    tool(&format!("delpart {} 1", device.path())).expect("removed");
    let document = crate::json_stream::documents(&run.stdout, &run.all()).remove(0);
    let place = &document["ferrio"]["probes"]["targets"][0]["places"][0];
    assert_eq!(place["partition"]["start_bytes"], 2049 * 512, "{document}");
    assert_eq!(place["partition"]["name"], partition.trim_start_matches("/dev/"), "{place}");
}
