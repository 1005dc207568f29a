//! Findings about what is below the files: loop devices, btrfs, overlays, direct I/O that is none, other users. Each case is made for
//! real, beside a control that differs in one thing.
//!
//! Start reading at [`Stack`].

use crate::findings::{document, findings_of, has, ids, knows_disk};
use crate::support::{Program, Run, Scratch, has_programs, is_root, send, skip, tool, unmount};
use serde_json::Value;
use std::path::PathBuf;

/// A loop device over a file of the scratch directory, with a file system that may be mounted.
struct Stack {
    scratch: Scratch,
    device: String,
    is_mounted: bool,
}

impl Stack {
    /// `None`: not root, or no loop device.
    fn new(name: &str, options: &str, size_mib: usize) -> Option<Self> {
        let scratch = Scratch::new(name);
        let file = scratch.join("image");
        std::fs::write(&file, vec![0x5a; size_mib << 20]).ok()?;
        std::fs::File::open(&file).ok()?.sync_all().ok()?;
        let device = tool(&format!("losetup --find --show {options} {}", file.display()))?;
        Some(Self { scratch, device, is_mounted: false })
    }

    fn at(&self) -> PathBuf {
        self.scratch.join("mnt")
    }

    fn mount(&mut self, options: &str) -> Option<()> {
        std::fs::create_dir_all(self.at()).ok()?;
        tool(&format!("mount {options} {} {}", self.device, self.at().display()))?;
        self.is_mounted = true;
        Some(())
    }

    fn unmount(&mut self) {
        if std::mem::take(&mut self.is_mounted) {
            unmount(&self.at());
        }
    }

    /// Names of the findings of `ferrio run` in the mounted file system.
    fn findings(&self, arguments: &str) -> Vec<String> {
        findings_of(&self.at(), arguments)
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        self.unmount();
        tool(&format!("losetup --detach {}", self.device));
    }
}

/// Skips a test where no loop device can be had.
fn stack(test: &str, options: &str, size_mib: usize, programs: &[&str]) -> Option<Stack> {
    if !is_root(test) || !has_programs(test, programs) {
        return None;
    }
    let made = Stack::new(&format!("stacks-{test}"), options, size_mib);
    if made.is_none() {
        skip(test, "no loop device with these options");
    }
    made
}

#[test]
fn reads_are_followed_through_a_loop_device() {
    let test = "reads_are_followed_through_a_loop_device";
    let Some(stack) = stack(test, "", 48, &["losetup"]) else { return };
    let job = format!("--name=r --filename={} --rw=read --bs=256k --size=48m --direct=1", stack.device);
    // The page cache holds the image, which was just written.
    let cached = document(stack.scratch.path(), &job);
    let below_disk = document(stack.scratch.path(), "--name=x --filename=image --rw=read --size=256k --bs=256k");
    if !knows_disk(&below_disk) {
        skip(test, "no disk is known under the directory of the tests");
        return;
    }
    let findings = cached["findings"].as_array().expect("a list");
    let finding =
        findings.iter().find(|finding| finding["severity"] != "note" && finding["id"] != "other-users").expect("one");
    assert_eq!(finding["id"], "lower-device-did-less", "{finding}");
    assert_eq!(finding["evidence"][0]["value"], 50_331_648.0, "{finding}");
    let explanation = finding["explanation"].as_str().expect("a text");
    assert!(explanation.contains("without direct I/O") && explanation.contains("image"), "{explanation}");
    // The control: the same device with direct I/O to its file.
    if tool(&format!("losetup --direct-io=on {}", stack.device)).is_none() {
        skip(test, "this loop device does no direct I/O");
        return;
    }
    let direct = findings_of(stack.scratch.path(), &job);
    assert!(!has(&direct, "lower-device-did-less") && !has(&direct, "reads-of-unwritten-extents"), "{direct:?}");
}

#[test]
fn holes_behind_a_loop_device_are_told_before_and_after() {
    let test = "holes_behind_a_loop_device_are_told_before_and_after";
    let Some(stack) = stack(test, "", 16, &["losetup", "fallocate"]) else { return };
    let job = format!("--name=r --filename={} --rw=read --bs=256k --direct=1", stack.device);
    let check = |arguments: &str| {
        Run::new(Program::Ferrio, stack.scratch.path(), &format!("check --json {arguments}")).finish().stdout
    };
    assert!(!check(&job).contains("reads-of-unwritten-extents"));
    let image = stack.scratch.join("image");
    if tool(&format!("fallocate --punch-hole --length 16m {}", image.display())).is_none() {
        skip(test, "this file system makes no holes");
        return;
    }
    if !check(&job).contains("reads-of-unwritten-extents") {
        skip(test, "this file system does not tell holes");
        return;
    }
    let found = findings_of(stack.scratch.path(), &job);
    assert!(has(&found, "reads-of-unwritten-extents") && !has(&found, "lower-device-did-less"), "{found:?}");
}

/// The part of the file that the job reads decides, not the whole file.
#[test]
fn holes_behind_a_part_of_a_loop_device_are_told() {
    let test = "holes_behind_a_part_of_a_loop_device_are_told";
    let Some(stack) = stack(test, "", 16, &["losetup", "fallocate"]) else { return };
    let image = stack.scratch.join("image");
    if tool(&format!("fallocate --punch-hole --offset 4m --length 4m {}", image.display())).is_none() {
        skip(test, "this file system makes no holes");
        return;
    }
    let check = |offset: &str| {
        let job = format!("--name=r --filename={} --rw=read --bs=256k --direct=1", stack.device);
        let job = format!("check --json {job} --size=4m --offset={offset}");
        Run::new(Program::Ferrio, stack.scratch.path(), &job).finish().stdout
    };
    if !check("4m").contains("reads-of-unwritten-extents") {
        let whole = Run::new(Program::Ferrio, stack.scratch.path(), "check --json --name=r --filename=image --rw=read");
        assert!(!whole.finish().stdout.contains("\"hole_bytes\""), "holes are known");
        skip(test, "this file system does not tell holes");
        return;
    }
    assert!(!check("8m").contains("reads-of-unwritten-extents"));
}

/// A link is another name, and a loop device another device, of one and the same file.
#[test]
fn jobs_that_share_a_file_under_two_names_are_told() {
    let scratch = Scratch::new("stacks-names");
    std::fs::write(scratch.join("f"), vec![1; 1 << 20]).expect("a file");
    std::fs::hard_link(scratch.join("f"), scratch.join("hard")).expect("a link");
    std::os::unix::fs::symlink("f", scratch.join("soft")).expect("a link");
    std::fs::write(scratch.join("g"), vec![1; 1 << 20]).expect("a file");
    let found = |name: &str| {
        let jobs = format!("--rw=write --size=1m --name=a --filename=f --name=b --filename={name}");
        findings_of(scratch.path(), &format!("--ioengine=psync {jobs}"))
    };
    assert!(has(&found("hard"), "jobs-share-blocks") && has(&found("soft"), "jobs-share-blocks"));
    assert!(!has(&found("g"), "jobs-share-blocks"));
    let test = "jobs_that_share_a_file_under_two_names_are_told";
    let Some(stack) = stack(test, "", 4, &["losetup"]) else { return };
    let jobs = format!("--rw=write --size=1m --name=a --filename=image --name=b --filename={}", stack.device);
    let check = Run::new(Program::Ferrio, stack.scratch.path(), &format!("check --json --ioengine=psync {jobs}"));
    assert!(check.finish().stdout.contains("jobs-share-blocks"));
}

#[test]
fn direct_io_of_a_journal_of_data_is_none() {
    let test = "direct_io_of_a_journal_of_data_is_none";
    let Some(mut stack) = stack(test, "", 64, &["losetup", "mkfs.ext4"]) else { return };
    let job = "--name=r --filename=f --rw=read --bs=256k --size=16m --direct=1";
    if tool(&format!("mkfs.ext4 -q -F {}", stack.device)).is_none() || stack.mount("").is_none() {
        skip(test, "no ext4");
        return;
    }
    let plain = stack.findings(job);
    assert!(!has(&plain, "direct-not-honoured"), "{plain:?}");
    stack.unmount();
    if stack.mount("-o data=journal").is_none() {
        skip(test, "no journal of data");
        return;
    }
    let journal = stack.findings(job);
    assert!(has(&journal, "direct-not-honoured"), "{journal:?}");
    let check = Run::new(Program::Ferrio, &stack.at(), &format!("check {job}")).finish();
    assert!(check.code == Some(1) && check.stdout.contains("[direct-not-honoured]"), "{}", check.all());
}

#[test]
fn data_that_btrfs_has_compressed_is_told() {
    let test = "data_that_btrfs_has_compressed_is_told";
    let Some(mut stack) = stack(test, "", 192, &["losetup", "mkfs.btrfs"]) else { return };
    if tool(&format!("mkfs.btrfs -q -f {}", stack.device)).is_none() || stack.mount("-o compress=zstd").is_none() {
        skip(test, "no btrfs");
        return;
    }
    let easy = "--name=w --filename=easy --rw=write --bs=256k --size=16m --fallocate=none --end_fsync=1 --zero_buffers";
    let easy = stack.findings(easy);
    assert!(has(&easy, "data-that-compresses") && !has(&easy, "device-did-less"), "{easy:?}");
    let read = stack.findings("--name=r --filename=easy --rw=read --bs=256k --size=16m --direct=1");
    assert!(has(&read, "data-that-compresses") && !has(&read, "device-did-less"), "{read:?}");
    let hard =
        "--name=w --filename=hard --rw=write --bs=256k --size=16m --fallocate=none --end_fsync=1 --refill_buffers";
    let hard = stack.findings(hard);
    assert!(!has(&hard, "data-that-compresses") && !has(&hard, "device-did-less"), "{hard:?}");
    let read = stack.findings("--name=r --filename=hard --rw=read --bs=256k --size=16m --direct=1");
    assert!(!has(&read, "data-that-compresses") && !has(&read, "direct-not-honoured"), "{read:?}");
}

#[test]
fn cached_reads_are_told_on_btrfs() {
    let test = "cached_reads_are_told_on_btrfs";
    let Some(mut stack) = stack(test, "", 192, &["losetup", "mkfs.btrfs"]) else { return };
    if tool(&format!("mkfs.btrfs -q -f {}", stack.device)).is_none() || stack.mount("").is_none() {
        skip(test, "no btrfs");
        return;
    }
    let written = "--name=w --filename=f --rw=write --bs=256k --size=16m --end_fsync=1 --refill_buffers";
    Run::new(Program::Ferrio, &stack.at(), written).finish().succeeded();
    let read = "--name=r --filename=f --rw=read --bs=256k --size=16m --invalidate=0";
    let cached = document(&stack.at(), read);
    assert_eq!(cached["findings"][0]["id"], "device-did-less", "{}", cached["findings"]);
    let explanation = cached["findings"][0]["explanation"].as_str().expect("a text");
    let device = stack.device.trim_start_matches("/dev/");
    assert!(explanation.contains(&format!("never reached {device}")), "{explanation}");
    // The control reads from the device, which answers from the file behind it.
    let direct = document(&stack.at(), &format!("{read} --direct=1"));
    let told = direct["findings"].to_string();
    assert!(!told.contains(&format!("never reached {device}")), "{told}");
}

#[test]
fn a_loop_device_on_tmpfs_is_memory() {
    let test = "a_loop_device_on_tmpfs_is_memory";
    if !is_root(test) || !has_programs(test, &["losetup"]) {
        return;
    }
    if !std::path::Path::new("/dev/shm").is_dir() {
        return skip(test, "no /dev/shm");
    }
    let scratch = Scratch::new("stacks-memory");
    let image = PathBuf::from(format!("/dev/shm/ferrio-stacks-{}", std::process::id()));
    std::fs::write(&image, vec![1; 1 << 20]).expect("a file");
    let device = tool(&format!("losetup --find --show {}", image.display()));
    let check = |target: &str| {
        let arguments = format!("check --json --name=r --filename={target} --rw=read --direct=1");
        Run::new(Program::Ferrio, scratch.path(), &arguments).finish().stdout
    };
    let found = device.as_ref().map(|device| check(device));
    if let Some(device) = &device {
        tool(&format!("losetup --detach {device}"));
    }
    std::fs::remove_file(&image).expect("it is there");
    let Some(found) = found else { return skip(test, "no loop device") };
    assert!(found.contains("target-in-memory"), "{found}");
    std::fs::write(scratch.join("image"), vec![1; 1 << 20]).expect("a file");
    let Some(device) = tool(&format!("losetup --find --show {}", scratch.join("image").display())) else { return };
    let found = check(&device);
    tool(&format!("losetup --detach {device}"));
    assert!(!found.contains("target-in-memory"), "{found}");
}

#[test]
fn an_overlay_is_told_and_followed() {
    let test = "an_overlay_is_told_and_followed";
    if !is_root(test) {
        return;
    }
    let scratch = Scratch::new("stacks-overlay");
    for name in ["lower", "upper", "work", "mnt"] {
        std::fs::create_dir(scratch.join(name)).expect("a directory");
    }
    let [lower, upper, work, at] =
        ["lower", "upper", "work", "mnt"].map(|name| scratch.join(name).display().to_string());
    let mounted = tool(&format!("mount -t overlay -o lowerdir={lower},upperdir={upper},workdir={work} overlay {at}"));
    if mounted.is_none() {
        skip(test, "no overlay on this file system");
        return;
    }
    let at = PathBuf::from(at);
    let job = "--name=r --filename=f --rw=read --bs=256k --size=8m --direct=1";
    let above = document(&at, job);
    let cached = "--name=r --filename=f --rw=read --bs=256k --size=8m --invalidate=0";
    let [_, buffered] = [(); 2].map(|()| document(&at, cached));
    unmount(&at);
    let below = document(&scratch.join("upper"), job);
    let found = ids(&above["findings"]);
    assert!(has(&found, "target-on-overlay") && !has(&found, "device-did-less"), "{found:?}");
    assert!(!has(&ids(&below["findings"]), "target-on-overlay"), "{}", below["findings"]);
    if !knows_disk(&below) {
        skip(test, "no disk is known under the directory of the tests");
        return;
    }
    // Read into the page cache before the job began, and found by the disk below the overlay.
    assert!(has(&ids(&buffered["findings"]), "device-did-less"), "{}", buffered["findings"]);
}

/// Directories of an overlay that are named from another place cannot be found, as those of a container.
#[test]
fn cached_reads_of_an_overlay_are_told_where_its_directories_are_unseen() {
    let test = "cached_reads_of_an_overlay_are_told_where_its_directories_are_unseen";
    if !is_root(test) {
        return;
    }
    let scratch = Scratch::new("stacks-unseen-overlay");
    for name in ["lower", "upper", "work", "mnt"] {
        std::fs::create_dir(scratch.join(name)).expect("a directory");
    }
    let (base, at) = (scratch.join("."), scratch.join("mnt"));
    let options = "lowerdir=lower,upperdir=upper,workdir=work";
    let mount = format!("env --chdir={} mount -t overlay -o {options} overlay mnt", base.display());
    if tool(&mount).is_none() {
        return skip(test, "no overlay on this file system");
    }
    let job = "--name=r --filename=f --rw=read --bs=256k --size=8m";
    let direct = document(&at, &format!("{job} --direct=1"));
    let [_, cached] = [(); 2].map(|()| document(&at, &format!("{job} --invalidate=0")));
    unmount(&at);
    if !knows_disk(&document(&scratch.join("upper"), job)) {
        return skip(test, "no disk is known under the directory of the tests");
    }
    let (direct, cached) = (ids(&direct["findings"]), ids(&cached["findings"]));
    assert!(has(&direct, "below-unseen") && !has(&direct, "process-read-less"), "{direct:?}");
    assert!(has(&cached, "process-read-less"), "{cached:?}");
}

/// Sectors that the kernel has counted as read from a device.
fn sectors_read(device: &str) -> u64 {
    let stat = std::fs::read_to_string(format!("/sys/block/{}/stat", device.trim_start_matches("/dev/")));
    stat.ok().and_then(|text| text.split_ascii_whitespace().nth(2)?.parse().ok()).unwrap_or(0)
}

#[test]
fn another_reader_of_the_device_is_told() {
    let test = "another_reader_of_the_device_is_told";
    let Some(stack) = stack(test, "", 96, &["losetup", "dd"]) else { return };
    let job = format!("run --json --name=r --filename={} --rw=read --bs=64k --direct=1 --size=32m", stack.device);
    // Slow enough to go on until it is interrupted, and small enough that the other reader counts whenever that is.
    let slow = Run::new(Program::Ferrio, stack.scratch.path(), &format!("{job} --rate=512k"));
    let at_start = sectors_read(&stack.device);
    let mut running = slow.start();
    running.wait_until("the job reads", |_| sectors_read(&stack.device) > at_start + 256);
    let other = format!("dd if={} of=/dev/null bs=1M count=32 skip=64 iflag=direct status=none", stack.device);
    let has_read = (0..3).all(|_| tool(&other).is_some());
    send(running.pid(), rustix::process::Signal::INT);
    let finished = running.finish();
    if !has_read {
        skip(test, "dd reads no loop device with direct I/O");
        return;
    }
    let document: Value =
        serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("{error}: {}", finished.all()));
    assert!(has(&ids(&document["findings"]), "other-users"), "{}", document["findings"]);
    // The control has the device to itself.
    let alone = findings_of(stack.scratch.path(), job.trim_start_matches("run --json "));
    assert!(!has(&alone, "other-users"), "{alone:?}");
}

#[test]
fn growth_of_a_sparse_file_behind_a_device_is_told() {
    let test = "growth_of_a_sparse_file_behind_a_device_is_told";
    let Some(stack) = stack(test, "", 16, &["losetup", "fallocate"]) else { return };
    let image = stack.scratch.join("image");
    if tool(&format!("fallocate --punch-hole --length 16m {}", image.display())).is_none() {
        skip(test, "this file system makes no holes");
        return;
    }
    let job = format!("--name=w --filename={} --rw=write --bs=256k --direct=1 --end_fsync=1", stack.device);
    let first = findings_of(stack.scratch.path(), &job);
    assert!(has(&first, "volume-grew"), "{first:?}");
    let second = findings_of(stack.scratch.path(), &job);
    assert!(!has(&second, "volume-grew"), "{second:?}");
}

#[test]
fn direct_writes_to_btrfs_with_checksums_are_copied() {
    let test = "direct_writes_to_btrfs_with_checksums_are_copied";
    let Some(mut stack) = stack(test, "", 192, &["losetup", "mkfs.btrfs"]) else { return };
    if tool(&format!("mkfs.btrfs -q -f {}", stack.device)).is_none() || stack.mount("-o nodatasum").is_none() {
        skip(test, "no btrfs");
        return;
    }
    let job = "--rw=write --bs=256k --size=16m --direct=1";
    let without = stack.findings(&format!("--name=without {job}"));
    assert!(!has(&without, "direct-writes-copied"), "{without:?}");
    stack.unmount();
    stack.mount("").expect("it was mounted before");
    let with = stack.findings(&format!("--name=with {job}"));
    if !has(&with, "direct-writes-copied") {
        return skip(test, "this kernel writes to btrfs without a copy");
    }
    std::fs::create_dir(stack.at().join("nocow")).expect("a directory");
    if tool(&format!("chattr +C {}", stack.at().join("nocow").display())).is_none() {
        return skip(test, "no chattr +C");
    }
    let nocow = stack.findings(&format!("--name=nocow --directory=nocow {job}"));
    assert!(!has(&nocow, "direct-writes-copied"), "{nocow:?}");
}

/// A zram device of its own, removed when dropped.
struct Zram(String);

impl Zram {
    fn new(mib: u32) -> Option<Self> {
        let number = std::fs::read_to_string("/sys/class/zram-control/hot_add").ok()?.trim().to_owned();
        let zram = Self(number);
        std::fs::write(format!("/sys/block/zram{}/disksize", zram.0), format!("{mib}M")).ok()?;
        std::path::Path::new(&zram.path()).exists().then_some(zram)
    }

    fn path(&self) -> String {
        format!("/dev/zram{}", self.0)
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        let _ = std::fs::write(format!("/sys/block/zram{}/reset", self.0), "1");
        let _ = std::fs::write("/sys/class/zram-control/hot_remove", &self.0);
    }
}

#[test]
fn data_that_zram_makes_small_is_told() {
    let test = "data_that_zram_makes_small_is_told";
    if !is_root(test) {
        return;
    }
    let Some(zram) = Zram::new(32) else { return skip(test, "no zram") };
    let scratch = Scratch::new("stacks-zram");
    let job = format!("--name=w --filename={} --rw=write --bs=64k --size=16m --direct=1", zram.path());
    let hard = findings_of(scratch.path(), &format!("{job} --refill_buffers"));
    assert!(!has(&hard, "data-that-compresses"), "{hard:?}");
    let easy = document(scratch.path(), &format!("{job} --buffer_compress_percentage=50 --refill_buffers"));
    let found = ids(&easy["findings"]);
    assert!(has(&found, "data-that-compresses") && !has(&found, "target-in-memory"), "{}", easy["findings"]);
}

#[test]
fn data_that_zram_had_made_small_before_it_was_removed_is_told() {
    let test = "data_that_zram_had_made_small_before_it_was_removed_is_told";
    if !is_root(test) {
        return;
    }
    let Some(zram) = Zram::new(32) else { return skip(test, "no zram") };
    let scratch = Scratch::new("stacks-zram-removed");
    // The first job holds its data for longer than the second between two looks at the device.
    let evidence = |data: &str| {
        let device = format!("--filename={} --size=16m --bs=64k --direct=1 --ioengine=psync", zram.path());
        let write = format!("--name=w --rw=write --refill_buffers {data} --time_based --runtime=2300ms");
        let jobs = format!("{device} {write} --name=t --stonewall --rw=trim");
        let document = document(scratch.path(), &jobs);
        let findings = document["findings"].as_array().expect("a list").clone();
        let told = findings.into_iter().find(|finding| finding["id"] == "data-that-compresses");
        told.map(|finding| finding["evidence"].as_array().expect("a list").len())
    };
    // What was stored, and its compressed size: at the end both are zero.
    assert_eq!(evidence("--buffer_compress_percentage=50"), Some(2));
    assert_eq!(evidence(""), None);
}

#[test]
fn reads_of_a_device_that_holds_zeroes_are_told() {
    let test = "reads_of_a_device_that_holds_zeroes_are_told";
    if !is_root(test) {
        return;
    }
    let Some(zram) = Zram::new(32) else { return skip(test, "no zram") };
    let scratch = Scratch::new("stacks-zeroes");
    let device = format!("--filename={} --bs=64k --direct=1 --ioengine=psync", zram.path());
    let read = || findings_of(scratch.path(), &format!("--name=r --rw=randread --size=16m {device}"));
    assert!(has(&read(), "reads-of-zeroes"));
    findings_of(scratch.path(), &format!("--name=w --rw=write --size=16m --refill_buffers {device}"));
    assert!(!has(&read(), "reads-of-zeroes"));
    // Behind what was written.
    let behind = format!("--name=r --rw=randread --offset=16m --size=16m {device}");
    assert!(has(&findings_of(scratch.path(), &behind), "reads-of-zeroes"));
}

#[test]
fn reads_of_files_of_zeroes_are_told() {
    let scratch = Scratch::new("stacks-zero-files");
    for (name, byte) in [("zeroes", 0), ("data", 1)] {
        std::fs::write(scratch.join(name), vec![byte; 8 << 20]).expect("a file");
    }
    let found = |name: &str| {
        let job = format!("--name=r --filename={name} --rw=randread --direct=1 --bs=64k");
        has(&findings_of(scratch.path(), &job), "files-hold-zeroes")
    };
    assert!(found("zeroes") && !found("data"));
}
