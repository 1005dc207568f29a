//! `ioengine=e4defrag`: files of ext4 change blocks with a donor, and keep what they hold.
//!
//! Start reading at [`calls_are_those_of_the_peer`].

use crate::support::{Finished, LoopDevice, Program, Run, Scratch, has_peer, has_programs, is_root, skip, tool};
use std::path::Path;

/// The directory is on ext4.
pub(crate) fn is_ext4(scratch: &Scratch) -> bool {
    tool(&format!("findmnt -n -o FSTYPE -T {}", scratch.path().display())).is_some_and(|name| name.ends_with("ext4"))
}

fn run(program: Program, directory: &Path, options: &str) -> Finished {
    Run::new(program, directory, &format!("--name=e --ioengine=e4defrag {options}")).finish()
}

/// A directory on ext4 of its own, or none, which is told.
fn ext4(test: &str, scratch: &Scratch) -> Option<(LoopDevice, std::path::PathBuf)> {
    if !is_root(test) || !has_programs(test, &["losetup", "mkfs.ext4"]) {
        return None;
    }
    let device = LoopDevice::new(scratch, 64 << 20);
    let mounted = device.and_then(|mut device| device.mount(scratch, "mkfs.ext4 -q -b 4096").map(|at| (device, at)));
    if mounted.is_none() {
        skip(test, "no loop device, or no ext4");
    }
    mounted
}

/// Physical blocks of a file, as ranges.
fn blocks(file: &Path) -> Vec<String> {
    let listed = tool(&format!("filefrag -v -b4096 {}", file.display())).expect("extents");
    let extents = listed.lines().filter(|line| line.contains(".."));
    extents.filter_map(|line| line.split(':').nth(2).map(|range| range.trim().to_owned())).collect()
}

/// What the engine does to file and donor, without descriptors and addresses.
fn calls(program: Program, scratch: &Scratch, options: &str) -> Vec<String> {
    for name in ["file", "donor"] {
        // It need not be there.
        let _ = std::fs::remove_file(scratch.join(name));
    }
    let job = format!("--name=e --ioengine=e4defrag --filename=file --donorname=donor --rw=write {options}");
    let run = Run::new(program, scratch.path(), &job).under("strace -f -y -e trace=fallocate,ioctl,ftruncate -o calls");
    run.finish().succeeded();
    let calls = scratch.read("calls");
    let of_job = calls.lines().filter(|line| line.contains("/donor>") || line.contains("0x66, 0xf,"));
    let call = |line: &str| {
        let (head, rest) = line.split_once('(')?;
        let name = head.rsplit(' ').next()?;
        let (_, rest) = rest.split_once('>')?;
        Some(format!("{name}{}", rest.split(", 0x7").next()?.split(" <unfinished").next()?.split(')').next()?))
    };
    of_job.filter_map(call).collect()
}

#[cfg_attr(not(peer), ignore = "needs the peer, FERRIO_PEER=1")]
#[test]
fn calls_are_those_of_the_peer() {
    let test = "calls_are_those_of_the_peer";
    let scratch = Scratch::new(test);
    if !has_peer(test) || !has_programs(test, &["strace"]) {
        return;
    }
    if !is_ext4(&scratch) {
        skip(test, "no ext4");
        return;
    }
    for options in [
        "--size=256k --bs=64k --inplace=1",
        "--filesize=256k --bs=64k --inplace=0",
        "--size=192k --bs=64k --offset=64k --inplace=1 --loops=2",
        // Blocks of the file system are swapped whole.
        "--size=12k --bs=3k --inplace=1",
    ] {
        let (ours, theirs) = (calls(Program::Ferrio, &scratch, options), calls(Program::Peer, &scratch, options));
        assert!(ours.iter().any(|call| call.starts_with("ioctl")), "{ours:?}");
        assert_eq!(ours, theirs, "{options}");
    }
}

#[test]
fn blocks_change_and_contents_stay() {
    let test = "blocks_change_and_contents_stay";
    let scratch = Scratch::new(test);
    let Some((_device, at)) = ext4(test, &scratch) else { return };
    if !has_programs(test, &["filefrag"]) {
        return;
    }
    for options in ["--inplace=0", "--inplace=1 --thread", "--inplace=1 --number_ios=8"] {
        let contents: Vec<u8> = (0..1 << 20).map(|at: u32| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for name in ["file", "donor"] {
            let _ = std::fs::remove_file(at.join(name));
        }
        std::fs::write(at.join("file"), &contents).expect("a file");
        std::fs::File::open(at.join("file")).and_then(|file| file.sync_all()).expect("a file on disk");
        let before = blocks(&at.join("file"));
        let in_place = options.contains("inplace=1");
        let options = format!("--filename=file --donorname=donor --rw=write --bs=64k --size=1m {options}");
        run(Program::Ferrio, &at, &options).succeeded().quiet();
        let after = blocks(&at.join("file"));
        assert!(before != after, "{options}: {before:?}");
        assert!(std::fs::read(at.join("file")).expect("a file") == contents, "{options}");
        let donor = std::fs::metadata(at.join("donor")).expect("a donor").len();
        assert_eq!(donor, if in_place { 0 } else { 1 << 20 }, "{options}");
    }
}

#[test]
fn what_cannot_be_is_an_error() {
    let test = "what_cannot_be_is_an_error";
    let scratch = Scratch::new(test);
    let good = "--size=128k --bs=64k --rw=write --filename=file";
    for (options, errno, text) in [
        (good.to_owned(), 22, "e4defrag: option donorname=: a donor file has to be given"),
        (format!("{good} --donorname=/no/such"), 2, "e4defrag: cannot open the donor /no/such: No such file"),
        (
            format!("{good} --donorname=donor --io_submit_mode=offload --iodepth=2"),
            22,
            "each I/O changes its donor file by several calls",
        ),
    ] {
        let finished = run(Program::Ferrio, scratch.path(), &options);
        assert_eq!(finished.code, Some(1), "{}", finished.all());
        assert!(finished.stderr.contains(text), "{}", finished.all());
        assert!(finished.stdout.contains(&format!("err={errno}/")), "{}", finished.all());
    }
    let finished = run(Program::Ferrio, scratch.path(), &format!("{good} --donorname=donor --inplace=2"));
    assert_eq!(finished.code, Some(1), "{}", finished.all());
    assert!(finished.stderr.contains("failed parsing inplace=2"), "{}", finished.all());
}

/// Both programs, each with the error of the job; what ours says beside it.
fn both_fail(directory: &Path, options: &str, errno: i32, text: &str, has_peer: bool) {
    for program in if has_peer { &[Program::Ferrio, Program::Peer][..] } else { &[Program::Ferrio] } {
        let options = format!("--size=128k --bs=64k --inplace=1 {options}");
        let finished = run(*program, directory, &options);
        assert_eq!(finished.code, Some(1), "{}", finished.all());
        assert!(finished.all().contains(&format!("err={errno}")), "{}", finished.all());
        assert!(*program == Program::Peer || finished.stderr.contains(text), "{}", finished.all());
    }
}

#[test]
fn other_directions_and_donors_fail_as_with_the_peer() {
    let test = "other_directions_and_donors_fail_as_with_the_peer";
    let scratch = Scratch::new(test);
    let has_peer = crate::support::peer_too(test);
    let Some((_device, at)) = ext4(test, &scratch) else { return };
    let fails = |options: &str, text: &str| both_fail(&at, options, 22, text, has_peer);
    for kind in ["read", "trim"] {
        fails(&format!("--filename=file --donorname=donor --rw={kind}"), "the engine e4defrag takes writes only");
    }
    let donor = "the donor another file on its file system";
    fails("--filename=file --donorname=file --rw=write", donor);
    // The scratch directory is on another file system than the device.
    fails("--filename=file --donorname=../donor --rw=write", donor);
    fails("--filename=new --donorname=donor --rw=write --fallocate=none", "the file has to be as long");
}

#[test]
fn other_file_systems_are_an_error() {
    let test = "other_file_systems_are_an_error";
    let scratch = Scratch::in_temporary_directory(test);
    let (has_peer, hint) = (crate::support::peer_too(test), "the file is not on ext4, or has no extents there");
    let job = "--filename=file --donorname=donor --rw=write";
    let on_xfs = format!("{test} (on xfs)");
    if is_root(&on_xfs) && has_programs(&on_xfs, &["losetup", "mkfs.xfs"]) {
        // The least that mkfs.xfs takes.
        let device = LoopDevice::new(&scratch, 300 << 20);
        match device.and_then(|mut device| device.mount(&scratch, "mkfs.xfs -q").map(|at| (device, at))) {
            Some((_device, at)) => both_fail(&at, job, 25, hint, has_peer),
            None => skip(&on_xfs, "no loop device, or no xfs"),
        }
    }
    let in_memory = tool("findmnt -n -o FSTYPE -T /dev/shm");
    if in_memory.is_some_and(|name| name.ends_with("tmpfs")) {
        let directory = Path::new("/dev/shm").join(format!("ferrio-e4defrag-{}", std::process::id()));
        std::fs::create_dir(&directory).expect("a directory in memory");
        let outcome = std::panic::catch_unwind(|| both_fail(&directory, job, 25, hint, has_peer));
        std::fs::remove_dir_all(&directory).expect("the directory");
        outcome.expect("as it should be");
    } else {
        skip(test, "no tmpfs at /dev/shm");
    }
}
