//! `ioengine=libblkio` by its drivers `io_uring` and `virtio-blk-vhost-user`, the latter against qemu-storage-daemon: what is written is in
//! the file behind it, and faults end in a line and an exit code.
//!
//! Library and daemon come from `tools/blkio-kit`. Start reading at [`Kit`]. No test waits for a time.

use crate::counterparts::{Frozen, are_threads_in, receives_signals};
use crate::support::{Finished, LoopDevice, Program, Run, Scratch, is_root, send, skip};
use rustix::fs::OFlags;
use rustix::process::Signal;
use serde_json::Value;
use std::cell::Cell;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

const KIT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/blkio-kit");

/// Size of the file that is the device.
const SIZE: usize = 4 << 20;

/// The library, and a directory with the file that is the device.
struct Kit {
    scratch: Scratch,
    library: String,
}

impl Kit {
    /// `None`: it cannot be had here, and the test is reported as skipped.
    fn get(test: &str) -> Option<Self> {
        let output = Command::new(KIT).arg("library").stdin(Stdio::null()).output().expect("a script");
        if output.status.code() == Some(77) {
            skip(test, String::from_utf8_lossy(&output.stderr).trim());
            return None;
        }
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        // In memory: the path of a socket is short there.
        let scratch = Scratch::in_memory("blkio");
        scratch.write("img", vec![0u8; SIZE]);
        Some(Self { scratch, library: String::from_utf8_lossy(&output.stdout).trim().to_owned() })
    }

    fn image(&self) -> PathBuf {
        self.scratch.join("img")
    }

    fn socket(&self) -> PathBuf {
        self.scratch.join("sock")
    }

    /// The run of a job by the driver for files and devices.
    fn ring(&self, options: &str) -> Run {
        self.job(&format!("--libblkio_driver=io_uring --libblkio_path={} {options}", self.image().display()))
    }

    /// The run of a job by the driver for servers of vhost-user.
    fn served(&self, options: &str) -> Run {
        let path = self.socket();
        self.job(&format!("--libblkio_driver=virtio-blk-vhost-user --libblkio_path={} {options}", path.display()))
    }

    fn job(&self, options: &str) -> Run {
        let options = format!("--name=t --ioengine=libblkio {options}");
        Run::new(Program::Ferrio, self.scratch.path(), &options).env("LD_LIBRARY_PATH", &self.library)
    }

    /// A server of the image, ready for connections.
    fn server(&self) -> Storage {
        let device = format!("driver=file,node-name=d,filename={},discard=unmap", self.image().display());
        let path = self.socket();
        let export =
            format!("type=vhost-user-blk,id=e,node-name=d,addr.type=unix,addr.path={},writable=on", path.display());
        let child = Command::new(KIT)
            .args(["storage", "--blockdev", &device, "--export", &export])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn();
        let mut storage = Storage(child.expect("a server"));
        while UnixStream::connect(&path).is_err() {
            assert!(matches!(storage.0.try_wait(), Ok(None)), "the server has ended");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        storage
    }

    /// True if each of the first blocks of 4096 bytes consists of its own offset.
    fn has_offsets(&self, n_blocks: usize) -> bool {
        let image = std::fs::read(self.image()).expect("an image");
        let is_right = |block: usize| {
            image[block * 4096..][..4096].chunks(8).all(|word| word == (block as u64 * 4096).to_le_bytes())
        };
        (0..n_blocks).all(is_right)
    }
}

/// The daemon, ended when it is dropped.
struct Storage(Child);

impl Drop for Storage {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A number of the job in a document.
fn figure(finished: &Finished, path: &str) -> u64 {
    let text = &finished.stdout;
    let begin = text.find("{\n").unwrap_or_else(|| panic!("no document: {}", finished.all()));
    let document: Value = serde_json::from_str(&text[begin..]).expect("JSON");
    document["jobs"][0].pointer(path).and_then(Value::as_u64).unwrap_or_else(|| panic!("{path}: {text}"))
}

const VERIFIED: &str =
    "--rw=randwrite --bs=4k --size=256k --verify=pattern --verify_pattern=%o --fsync=16 --output-format=json";

fn check_written(kit: &Kit, finished: &Finished, options: &str) {
    assert_eq!(finished.code, Some(0), "{options}: {}", finished.all());
    assert_eq!((figure(finished, "/write/total_ios"), figure(finished, "/read/total_ios")), (64, 64), "{options}");
    // One after each 16 writes but for the last.
    assert_eq!(figure(finished, "/sync/total_ios"), 3, "{options}");
    // As in fio, the library hands requests over at a time of its own.
    assert_eq!(figure(finished, "/write/slat_ns/N"), 0, "{options}");
    assert!(kit.has_offsets(64), "{options}");
}

#[test]
fn what_is_written_by_a_ring_is_in_the_file() {
    let Some(kit) = Kit::get("what_is_written_by_a_ring_is_in_the_file") else { return };
    for options in [
        "--iodepth=1",
        "--iodepth=8 --libblkio_wait_mode=eventfd",
        "--iodepth=8 --libblkio_wait_mode=loop --libblkio_vectored",
        "--iodepth=4 --direct=1 --libblkio_num_entries=8 --libblkio_force_enable_completion_eventfd",
        "--iodepth=256 --libblkio_pre_start_props=num-entries=4",
    ] {
        kit.scratch.write("img", vec![0u8; SIZE]);
        check_written(&kit, &kit.ring(&format!("{VERIFIED} {options}")).finish(), options);
    }
    // The size is that of the device, and a job that only reads needs no right to write.
    let finished = kit.ring("--rw=read --bs=1m --size=1g --iodepth=4 --output-format=json").finish();
    assert_eq!((finished.code, figure(&finished, "/read/total_ios")), (Some(0), 4), "{}", finished.all());
}

#[test]
fn what_is_written_to_a_server_is_in_its_file() {
    let Some(kit) = Kit::get("what_is_written_to_a_server_is_in_its_file") else { return };
    let _server = kit.server();
    for options in [
        "--iodepth=1",
        "--iodepth=8 --libblkio_wait_mode=eventfd --sync=1",
        "--iodepth=8 --libblkio_wait_mode=loop --libblkio_vectored",
        "--iodepth=8 --hipri",
        "--iodepth=64 --libblkio_queue_size=8",
    ] {
        kit.scratch.write("img", vec![0u8; SIZE]);
        check_written(&kit, &kit.served(&format!("{VERIFIED} {options}")).finish(), options);
    }
    let n_blocks = || std::fs::metadata(kit.image()).expect("an image").blocks();
    let n_before = n_blocks();
    let trims = "--rw=trim --bs=64k --size=256k --iodepth=4 --output-format=json";
    let finished = kit.served(trims).finish();
    assert_eq!((finished.code, figure(&finished, "/trim/total_ios")), (Some(0), 4), "{}", finished.all());
    assert!(n_blocks() < n_before, "{} blocks", n_blocks());
    kit.scratch.write("img", vec![7u8; SIZE]);
    let finished = kit.served(&format!("{trims} --libblkio_write_zeroes_on_trim")).finish();
    assert_eq!(finished.code, Some(0), "{}", finished.all());
    let image = std::fs::read(kit.image()).expect("an image");
    let (trimmed, others) = image.split_at(256 << 10);
    assert!(trimmed.iter().all(|byte| *byte == 0) && others.iter().all(|byte| *byte == 7));
}

#[test]
fn a_server_that_stops_ends_the_job() {
    let Some(kit) = Kit::get("a_server_that_stops_ends_the_job") else { return };
    let server = kit.server();
    let pid = server.0.id();
    let bytes_read = || {
        let counters = std::fs::read_to_string(format!("/proc/{pid}/io")).expect("counters");
        let read = counters.lines().find_map(|line| line.strip_prefix("rchar: ")?.parse::<u64>().ok());
        read.expect("a counter")
    };
    let n_before = bytes_read();
    let mut running = kit.served("--rw=randread --bs=4k --time_based --runtime=60").start();
    running.wait_until("I/Os", |run| receives_signals(run.pid()) && bytes_read() > n_before + (1 << 20));
    let frozen = Frozen::new(pid);
    // It waits for an I/O: of its looks, none finds a thread at work.
    let n_idle = Cell::new(0);
    running.wait_until("I/O in flight", |run| {
        n_idle.set(if are_threads_in(run.pid(), ['S']) { n_idle.get() + 1 } else { 0 });
        n_idle.get() >= 10
    });
    send(running.pid(), Signal::INT);
    let finished = running.finish();
    drop(frozen);
    assert!(finished.all().contains("has not answered the I/Os in flight"), "{}", finished.all());
    assert_ne!(finished.code, Some(0), "{}", finished.all());
}

#[test]
fn refusals_name_what_is_wrong() {
    let Some(kit) = Kit::get("refusals_name_what_is_wrong") else { return };
    let _server = kit.server();
    for (run, text) in [
        (kit.job("--rw=read"), "engine libblkio requires option libblkio_driver to be set"),
        (kit.job("--rw=read --libblkio_driver=none"), "blkio_create(none): "),
        (kit.job("--rw=read --libblkio_driver=io_uring --libblkio_path=/none"), "blkio_connect(/none): "),
        (kit.served("--rw=read --libblkio_num_entries=8"), "num-entries"),
        (kit.served("--rw=read --libblkio_pre_start_props=queue-size"), "write NAME=VALUE"),
        (
            kit.served("--rw=read --hipri --libblkio_wait_mode=eventfd"),
            "option hipri is incompatible with option libblkio_wait_mode=eventfd",
        ),
        (kit.served("--rw=read --mem=shm"), "leave out the option mem"),
        (kit.served("--rw=write --bs=4k --size=64k --sync_file_range=write:1"), "no other sync than its flush"),
        (kit.served("--rw=read --bs=1000 --size=8k"), "io_u error on file t.0.0: "),
    ] {
        let finished = run.finish();
        assert_eq!(finished.code, Some(1), "{text}: {}", finished.all());
        assert!(finished.all().contains(text), "{text}: {}", finished.all());
    }
}

#[test]
fn a_device_in_use_is_not_written_to() {
    let name = "a_device_in_use_is_not_written_to";
    let Some(kit) = Kit::get(name) else { return };
    if !is_root(name) {
        return;
    }
    let Some(device) = LoopDevice::new(&kit.scratch, SIZE as u64) else {
        return skip(name, "no loop device can be set up");
    };
    let options = format!("--libblkio_driver=io_uring --libblkio_path={} --bs=4k --size=64k", device.path());
    let finished = kit.job(&format!("{options} --rw=write")).finish();
    assert_eq!(finished.code, Some(0), "{}", finished.all());
    // A program that opens it exclusively claims it.
    let held = std::fs::File::options()
        .read(true)
        .custom_flags(OFlags::EXCL.bits().cast_signed())
        .open(device.path())
        .expect("a device");
    let finished = kit.job(&format!("{options} --rw=write")).finish();
    assert_eq!(finished.code, Some(1), "{}", finished.all());
    assert!(finished.all().contains("is not written to: "), "{}", finished.all());
    let finished = kit.job(&format!("{options} --rw=read")).finish();
    assert_eq!(finished.code, Some(0), "{}", finished.all());
    drop(held);
}
