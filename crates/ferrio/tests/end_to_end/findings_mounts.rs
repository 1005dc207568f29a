//! Findings about how file systems are mounted, and about settings of their devices, each beside a control that differs in one of them.
//!
//! Start reading at [`mounted`].

use crate::findings::{findings_of, has, ids};
use crate::findings_host::{Group, document_of};
use crate::support::{LoopDevice, Scratch, has_programs, is_root, skip, tool, unmount};
use std::path::PathBuf;

/// A loop device with ext4, and the place where it is mounted. `None`: the test is skipped.
fn mounted(test: &str, scratch: &Scratch) -> Option<(LoopDevice, PathBuf)> {
    if !is_root(test) || !has_programs(test, &["losetup", "mkfs.ext4", "mount"]) {
        return None;
    }
    let mut device = LoopDevice::new(scratch, 64 << 20)?;
    let Some(at) = device.mount(scratch, "mkfs.ext4 -q -F") else {
        skip(test, "no loop device can be mounted");
        return None;
    };
    Some((device, at))
}

#[test]
fn a_mount_that_makes_writes_wait_is_told() {
    let test = "a_mount_that_makes_writes_wait_is_told";
    let scratch = Scratch::new("findings-mount-sync");
    let Some((_device, at)) = mounted(test, &scratch) else { return };
    let job = "--name=a --filename=f --rw=write --bs=4k --size=256k --ioengine=psync --end_fsync=1";
    let before = findings_of(&at, job);
    assert!(!has(&before, "mounted-sync"), "{before:?}");
    if tool(&format!("mount -o remount,sync {}", at.display())).is_none() {
        return skip(test, "the mount cannot be changed");
    }
    let told = findings_of(&at, job);
    assert!(has(&told, "mounted-sync") && !has(&told, "latency-without-syncs"), "{told:?}");
    // The job says the same.
    let said = findings_of(&at, &format!("{job} --sync=1"));
    assert!(!has(&said, "mounted-sync"), "{said:?}");
}

#[test]
fn data_in_the_journal_is_told() {
    let test = "data_in_the_journal_is_told";
    let scratch = Scratch::new("findings-journal");
    let Some((device, at)) = mounted(test, &scratch) else { return };
    let job = "--name=a --filename=f --rw=randwrite --bs=4k --size=1m --ioengine=psync --fsync=16";
    let ordered = findings_of(&at, job);
    assert!(!has(&ordered, "data-in-journal"), "{ordered:?}");
    unmount(&at);
    if tool(&format!("mount -o data=journal {} {}", device.path(), at.display())).is_none() {
        return skip(test, "ext4 is not mounted with data=journal here");
    }
    let journaled = findings_of(&at, job);
    assert!(has(&journaled, "data-in-journal"), "{journaled:?}");
}

#[test]
fn a_device_that_reads_nothing_ahead_is_told() {
    let test = "a_device_that_reads_nothing_ahead_is_told";
    let scratch = Scratch::new("findings-read-ahead");
    let Some((device, at)) = mounted(test, &scratch) else { return };
    let job = "--name=a --filename=f --rw=read --bs=64k --size=1m --ioengine=psync";
    let usual = findings_of(&at, job);
    let setting = format!("/sys/block/{}/queue/read_ahead_kb", device.path().trim_start_matches("/dev/"));
    let before = std::fs::read_to_string(&setting).unwrap_or_default();
    if std::fs::write(&setting, "0").is_err() {
        return skip(test, "the read-ahead of the device cannot be set");
    }
    let (told, direct) = (findings_of(&at, job), findings_of(&at, &format!("{job} --direct=1")));
    std::fs::write(&setting, before.trim()).expect("the setting as it was");
    assert!(!has(&usual, "read-ahead-off") && !has(&direct, "read-ahead-off"), "{usual:?} {direct:?}");
    assert!(has(&told, "read-ahead-off"), "{told:?}");
}

/// An overlay whose upper directory is in memory: its syncs have nothing to wait for.
#[test]
fn syncs_that_wait_for_nothing_are_told() {
    let test = "syncs_that_wait_for_nothing_are_told";
    if !is_root(test) || !has_programs(test, &["mount"]) {
        return;
    }
    let scratch = Scratch::new("findings-volatile");
    for name in ["lower", "upper", "mnt"] {
        std::fs::create_dir(scratch.join(name)).expect("a directory");
    }
    let (upper, at) = (scratch.join("upper"), scratch.join("mnt"));
    if tool(&format!("mount -t tmpfs none {}", upper.display())).is_none() {
        return skip(test, "no file system in memory can be mounted");
    }
    for name in ["files", "work"] {
        std::fs::create_dir(upper.join(name)).expect("a directory");
    }
    let directories = format!("upperdir={0}/files,workdir={0}/work", upper.display());
    let options = format!("lowerdir={},{directories}", scratch.join("lower").display());
    let is_mounted = tool(&format!("mount -t overlay -o {options} none {}", at.display())).is_some();
    let job = "--name=a --filename=f --rw=randwrite --bs=4k --size=4m --ioengine=psync --fsync=1";
    let told = if is_mounted { findings_of(&at, job) } else { Vec::new() };
    for place in [&at, &upper] {
        unmount(place);
    }
    if !is_mounted {
        return skip(test, "no overlay can be mounted");
    }
    // On a machine that is slow, a call that does nothing may take a microsecond, too: the rule is silent then.
    assert!(has(&told, "target-on-overlay") || has(&told, "syncs-at-once"), "{told:?}");
    let on_disk = findings_of(&scratch.join("lower"), job);
    assert!(!has(&on_disk, "syncs-at-once"), "{on_disk:?}");
}

#[test]
fn a_limit_that_is_set_during_the_run_is_told() {
    let test = "a_limit_that_is_set_during_the_run_is_told";
    if !is_root(test) {
        return;
    }
    let scratch = Scratch::new("findings-limit-changed");
    let Some(device) = LoopDevice::new(&scratch, 16 << 20) else {
        return skip(test, "no loop device can be set up");
    };
    let name = device.path().trim_start_matches("/dev/");
    let number = std::fs::read_to_string(format!("/sys/block/{name}/dev")).expect("a device");
    let (v2, v1) = (format!("{} rbps={}", number.trim(), 1_u64 << 40), format!("{} {}", number.trim(), 1_u64 << 40));
    let files = ("io.max", "blkio.throttle.read_bps_device");
    let Some(group) = Group::new("changed", "blkio", (files.0, &v2), (files.1, &v1)) else {
        return skip(test, "no control group with a limit for I/O can be made");
    };
    let job = format!("--name=a --filename={} --ioengine=psync --rw=read --bs=64k --direct=1 --size=1m", device.path());
    let free = ids(&document_of(scratch.path(), &group.script(), &job)["findings"]);
    assert!(!has(&free, "io-limit-changed"), "{free:?}");
    // The job itself sets another limit before its first I/O.
    let lower = |value: &str| value.replace(&(1_u64 << 40).to_string(), &(1_u64 << 30).to_string());
    let set = scratch.join("set");
    let commands = format!(
        "#!/bin/sh\necho '{}' > {at}/{} 2>/dev/null || echo '{}' > {at}/{}\n",
        lower(&v2),
        files.0,
        lower(&v1),
        files.1,
        at = group.directory().display(),
    );
    std::fs::write(&set, commands).expect("a script");
    let lines = job.replace("--name=a", "[a]").replace(" --", "\n");
    scratch.write("changing.fio", format!("{lines}\nexec_prerun=sh {}\n", set.display()));
    let changing = "--allow=outside,programs changing.fio";
    let told = ids(&document_of(scratch.path(), &group.script(), changing)["findings"]);
    assert!(has(&told, "io-limit-changed"), "{told:?}");
}
