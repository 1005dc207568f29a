//! Persistent memory: files that are mapped directly (`ioengine=libpmem`) and devices without a file system (`ioengine=dev-dax`), beside
//! the peer.
//!
//! Start reading at [`files_in_persistent_memory`].

use super::{Guest, Made, enter, has_peer};
use crate::support::{Finished, Program, Run, send, tool};
use rustix::process::Signal;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A file system that maps its files directly, unmounted when dropped.
struct DirectFiles {
    place: PathBuf,
    // Unmounted before the device goes.
    _device: Made,
}

impl DirectFiles {
    fn new(guest: &Guest) -> Self {
        let device = Made::new("fsdax", "");
        let place = guest.scratch.join("pmem");
        fs::create_dir(&place).expect("a directory");
        let (path, shown) = (device.path(), place.display());
        assert!(tool(&format!("mkfs.ext4 -q -F -b 4096 {path}")).is_some(), "mkfs.ext4 {path}");
        assert!(tool(&format!("mount -o dax=always {path} {shown}")).is_some(), "mount {path}");
        Self { place, _device: device }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.place.join(name)
    }
}

impl Drop for DirectFiles {
    fn drop(&mut self) {
        tool(&format!("umount {}", self.place.display()));
    }
}

fn job(guest: &Guest, program: Program, engine: &str, path: &Path, arguments: &str) -> Finished {
    guest.run(program, &format!("--name=a --ioengine={engine} --filename={} {arguments}", path.display()))
}

/// Exit code, and the line of issued I/Os.
fn issued(done: &Finished) -> (Option<i32>, String) {
    let line = done.stdout.lines().find(|line| line.contains("issued rwts: "));
    (done.code, line.unwrap_or_default().trim().to_owned())
}

#[test]
fn files_in_persistent_memory() {
    let name = "files_in_persistent_memory";
    let Some(guest) = enter(name) else { return };
    let direct = DirectFiles::new(&guest);
    let run = |path: &Path, arguments: &str| job(&guest, Program::Ferrio, "libpmem", path, arguments);
    let made = direct.file("made");
    for (index, arguments) in ["", "--direct=1", "--sync=1 --bs=3000", "--fsync=4 --bs=500", "--thread=1 --end_fsync=1"]
        .into_iter()
        .enumerate()
    {
        let pattern = 0x30 + index as u8;
        run(&made, &format!("--rw=write --bs=4k --size=60000 --buffer_pattern={pattern:#x} {arguments}")).succeeded();
        let bytes = fs::read(&made).expect("the file");
        assert_eq!(bytes.len(), 60_000, "{arguments}");
        // 14 whole blocks of 4k.
        assert!(bytes[..57_344].iter().all(|byte| *byte == pattern), "{arguments}");
    }
    let verified =
        run(&direct.file("verified"), "--rw=randrw --bs=4k --size=1m --verify=crc32c --direct=1").succeeded();
    assert!(verified.stdout.contains("issued rwts: total=256,"), "{}", verified.all());

    // A longer file keeps what lies outside of the range.
    let longer = direct.file("longer");
    fs::write(&longer, vec![0x77; 1 << 20]).expect("a file");
    run(&longer, "--rw=write --bs=4k --size=64k --offset=512k --buffer_pattern=0x11").succeeded();
    let bytes = fs::read(&longer).expect("the file");
    let expected = [vec![0x77; 512 << 10], vec![0x11; 64 << 10], vec![0x77; 448 << 10]].concat();
    assert!(bytes == expected, "{} bytes", bytes.len());

    let other = guest.scratch.join("ordinary");
    let refused = run(&other, "--rw=write --bs=4k --size=64k");
    assert!(refused.code == Some(1) && refused.all().contains("err=95"), "{}", refused.all());
    assert!(refused.all().contains("mount with dax=always"), "{}", refused.all());
    assert_eq!(fs::metadata(&other).expect("the file is left").len(), 64 << 10);

    for (index, arguments) in [
        "--rw=write --bs=4k --size=1m",
        "--rw=randread --bs=8k --size=256k --iodepth=8",
        "--rw=write --bs=4k --size=64k --fsync=4",
        "--rw=trim --bs=4k --size=64k",
        "--rw=write --bs=4k",
        "--rw=write --bs=4k --size=64k --file_append=1",
    ]
    .into_iter()
    .enumerate()
    {
        let ours = run(&direct.file(&format!("ours{index}")), arguments);
        if has_peer(name) {
            let peer = job(&guest, Program::Peer, "libpmem", &direct.file(&format!("peer{index}")), arguments);
            assert_eq!(issued(&ours), issued(&peer), "{arguments}: {}", ours.all());
            let bytes = |of: &str| fs::metadata(direct.file(&format!("{of}{index}"))).ok().map(|found| found.len());
            assert_eq!(bytes("ours"), bytes("peer"), "{arguments}");
        }
    }
}

#[test]
fn devices_of_persistent_memory() {
    let name = "devices_of_persistent_memory";
    let Some(guest) = enter(name) else { return };
    let memory = Made::new("devdax", "");
    let path = Path::new(memory.path());
    let run = |arguments: &str| job(&guest, Program::Ferrio, "dev-dax", path, arguments);
    let number = tool(&format!("stat -c %Hr:%Lr {}", memory.path())).expect("a device");
    let size: u64 = fs::read_to_string(format!("/sys/dev/char/{}/size", number.trim()))
        .expect("a size")
        .trim()
        .parse()
        .expect("a number");

    let verified = run("--rw=randwrite --bs=4k --size=1m --offset=3m --verify=crc32c --fsync=16").succeeded();
    assert!(verified.stdout.contains("issued rwts: total=256,256,0,"), "{}", verified.all());
    let whole = run("--rw=read --bs=2m").succeeded();
    assert!(whole.stdout.contains(&format!("issued rwts: total={},0,0,0 ", size >> 21)), "{}", whole.all());
    run("--rw=write --bs=512 --size=10000 --offset=1000 --buffer_pattern=0x3c").succeeded();
    let again = run("--rw=read --bs=512 --size=9728 --offset=1000 --verify=pattern --verify_pattern=0x3c").succeeded();
    assert!(again.stdout.contains("issued rwts: total=19,"), "{}", again.all());

    for (target, arguments, text) in [
        ("/dev/null", "--rw=read --bs=4k --size=16k", "it is not a DAX device"),
        ("/dev/vda", "--rw=read --bs=4k --size=16k", "it is not a DAX device"),
        ("/dev/dax9.9", "--rw=read --bs=4k --size=16k", "No such file"),
        (memory.path(), "--rw=trim --bs=4k --size=16k", "persistent memory has no trim"),
        (memory.path(), "--rw=write --bs=4k --size=16k --direct=1", "does not support O_DIRECT"),
    ] {
        let done = job(&guest, Program::Ferrio, "dev-dax", Path::new(target), arguments);
        assert!(done.code == Some(1) && done.all().contains(text), "{target} {arguments}: {}", done.all());
    }
    for arguments in [
        "--rw=write --bs=2m",
        "--rw=randread --bs=4k --size=1g --iodepth=4",
        "--rw=read --bs=4k --size=4m --offset=123m",
        "--rw=write --bs=4k --size=4m --fsync=64",
        "--rw=read --bs=4k --size=2m --file_append=1",
    ] {
        let ours = run(arguments);
        if has_peer(name) {
            assert_eq!(issued(&ours), issued(&job(&guest, Program::Peer, "dev-dax", path, arguments)), "{arguments}");
        }
    }
}

#[test]
fn memory_that_another_program_has_mapped_is_not_written_to() {
    let Some(guest) = enter("memory_that_another_program_has_mapped_is_not_written_to") else { return };
    let memory = Made::new("devdax", "");
    let holder = format!(
        "--name=h --ioengine=dev-dax --filename={} --rw=read --bs=4k --size=2m --thinktime=100ms --time_based=1 --runtime=60",
        memory.path()
    );
    let mut holding = Run::new(Program::Ferrio, guest.scratch.path(), &holder).start();
    let is_mapped = || {
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let mut maps = processes.filter_map(|entry| fs::read_to_string(entry.path().join("maps")).ok());
        maps.any(|maps| maps.contains(memory.path()))
    };
    holding.wait_until("the device is mapped", |_| is_mapped());
    let write = "--rw=write --bs=4k --size=64k";
    let refused = job(&guest, Program::Ferrio, "dev-dax", Path::new(memory.path()), write);
    let allowed =
        job(&guest, Program::Ferrio, "dev-dax", Path::new(memory.path()), &format!("{write} --allow_mounted_write=1"));
    send(holding.pid(), Signal::INT);
    holding.finish();
    assert!(refused.code == Some(1) && refused.all().contains("in use by process"), "{}", refused.all());
    allowed.succeeded();
}

#[test]
fn the_bytes_of_a_device_are_those_of_the_memory() {
    let Some(guest) = enter("the_bytes_of_a_device_are_those_of_the_memory") else { return };
    let memory = Made::new("devdax", "");
    let arguments = "--rw=write --bs=4k --size=64k --buffer_pattern=0x5a";
    job(&guest, Program::Ferrio, "dev-dax", Path::new(memory.path()), arguments).succeeded();
    // The namespace becomes a block device again, with the same memory behind it.
    drop(memory);
    let raw = fs::File::open("/dev/pmem1").expect("the block device");
    let mut bytes = vec![0; 8 << 20];
    raw.read_exact_at(&mut bytes, 0).expect("readable");
    let n_pages = bytes.chunks_exact(4096).filter(|page| page.iter().all(|byte| *byte == 0x5A)).count();
    assert_eq!(n_pages, 16);
}
