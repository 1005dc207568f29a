//! Devices that are in use (mounted, or open in a way that ferrio can or cannot see) are not written to without
//! permission by the user.
//!
//! Start reading at [`check`].

use crate::support::{Finished, LoopDevice, Program, Run, Scratch, has_programs, is_root, skip, tool, unmount};

const WRITE: &str = "--name=a --rw=write --bs=4k --size=64k";

/// A loop device, where it can be had and the programs are there.
fn device(test: &str, scratch: &Scratch, programs: &[&str]) -> Option<LoopDevice> {
    if !is_root(test) || !has_programs(test, programs) {
        return None;
    }
    let device = LoopDevice::new(scratch, 32 << 20);
    if device.is_none() {
        skip(test, "no loop device can be set up");
    }
    device
}

fn write_to(scratch: &Scratch, path: &str, more: &str) -> Finished {
    Run::new(Program::Ferrio, scratch.path(), &format!("{WRITE} --filename={path} {more}")).finish()
}

/// A run that was refused in these words, and one that was asked for all the same.
fn check(scratch: &Scratch, path: &str, how: &str) {
    let refused = write_to(scratch, path, "");
    let line = format!("fio: {path} {how}, and 'allow_mounted_write' isn't set. Aborting.");
    assert!(refused.code == Some(1) && refused.stderr.contains(&line), "{}", refused.all());
    let reading = Run::new(Program::Ferrio, scratch.path(), &format!("--name=a --size=64k --filename={path}")).finish();
    assert_eq!(reading.code, Some(0), "{}", reading.all());
    let asked = write_to(scratch, path, "--allow_mounted_write=1");
    assert_eq!(asked.code, Some(0), "{}", asked.all());
}

#[test]
fn what_is_mounted_in_another_namespace_is_in_use() {
    let test = "what_is_mounted_in_another_namespace_is_in_use";
    let scratch = Scratch::new("other-namespace");
    let Some(device) = device(test, &scratch, &["unshare", "mkfs.ext4", "mount"]) else { return };
    if tool(&format!("mkfs.ext4 -q {}", device.path())).is_none() {
        return skip(test, "no file system can be made");
    }
    let directory = scratch.join("mnt");
    std::fs::create_dir_all(&directory).expect("a directory");
    // The shell keeps its namespace, and with it the mount, until its standard input ends.
    let script = format!("mount {} {} && echo mounted && read line", device.path(), directory.display());
    let mut other = std::process::Command::new("unshare")
        .args(["-m", "sh", "-c", &script])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("unshare");
    let mut answer = String::new();
    let output = other.stdout.take().expect("a pipe");
    std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut answer).expect("text");
    if answer == "mounted\n" {
        check(&scratch, device.path(), "is claimed by another program, or mounted in another mount namespace");
    } else {
        skip(test, "no mount in a namespace of its own");
    }
    drop(other.stdin.take());
    other.wait().expect("an end");
    assert_eq!(write_to(&scratch, device.path(), "").code, Some(0), "free again");
}

#[test]
fn what_is_mounted_is_in_use_without_proc_and_sys() {
    let test = "what_is_mounted_is_in_use_without_proc_and_sys";
    let scratch = Scratch::new("no-proc");
    let Some(mut device) = device(test, &scratch, &["unshare", "mkfs.ext4", "mount", "umount"]) else { return };
    let Some(mounted_at) = device.mount(&scratch, "mkfs.ext4 -q") else {
        return skip(test, "no file system can be mounted");
    };
    let hiding = |hidden: &str, more: &str| {
        let script =
            format!("exec unshare -m sh -c 'mount -t tmpfs none {hidden} && exec \"$0\" \"$@\"' \"$0\" \"$@\"");
        let arguments = format!("{WRITE} --filename={} {more}", device.path());
        Run::new(Program::Ferrio, scratch.path(), &arguments).in_shell(&script).finish()
    };
    let refused = hiding("/proc", "");
    let claimed =
        "is claimed by another program, or mounted in another mount namespace, and 'allow_mounted_write' isn't set";
    assert!(refused.code == Some(1) && refused.stderr.contains(claimed), "{}", refused.all());
    assert!(hiding("/sys", "").stderr.contains("appears mounted, and"), "the kernel's list of mounts is there");
    unmount(&mounted_at).expect("unmounted");
    let unknown = hiding("/sys", "");
    let line = format!("fio: {} cannot be checked for being in use (", device.path());
    assert!(unknown.code == Some(1) && unknown.stderr.contains(&line), "{}", unknown.all());
    assert!(unknown.stderr.contains("and 'allow_mounted_write' isn't set. Aborting."), "{}", unknown.all());
    assert_eq!(hiding("/sys", "--allow_mounted_write=1").code, Some(0), "asked for");
    assert_eq!(hiding("/proc", "").code, Some(0), "nobody has claimed it, and nothing is made of it");
}

#[test]
fn what_other_devices_are_made_of_is_in_use() {
    let test = "what_other_devices_are_made_of_is_in_use";
    let scratch = Scratch::new("made-of");
    let Some(device) = device(test, &scratch, &["losetup", "dmsetup", "mkswap", "swapon"]) else { return };
    let upper = tool(&format!("losetup --find --show {}", device.path())).expect("a loop device over a loop device");
    check(&scratch, device.path(), &format!("is in use by {}", upper.trim_start_matches("/dev/")));
    tool(&format!("losetup --detach {upper}")).expect("detached");
    let name = format!("ferrio-test-{}", std::process::id());
    scratch.write("table", format!("0 2048 linear {} 0\n", device.path()));
    if tool(&format!("dmsetup create {name} {}", scratch.join("table").display())).is_some() {
        let refused = write_to(&scratch, device.path(), "");
        tool(&format!("dmsetup remove {name}")).expect("removed");
        assert!(refused.code == Some(1) && refused.stderr.contains("is in use by dm-"), "{}", refused.all());
    } else {
        skip(test, "no device mapper here");
    }
    if tool(&format!("mkswap {}", device.path())).and_then(|_| tool(&format!("swapon {}", device.path()))).is_some() {
        let refused = write_to(&scratch, device.path(), "");
        tool(&format!("swapoff {}", device.path())).expect("switched off");
        assert!(refused.code == Some(1) && refused.stderr.contains("is in use as swap space"), "{}", refused.all());
    } else {
        skip(test, "no swap space can be added");
    }
    assert_eq!(write_to(&scratch, device.path(), "").code, Some(0), "free again");
}
