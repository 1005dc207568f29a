//! Creates and removes the targets of cases: files on tmpfs, a zram device, a job file, a memory control group.
//!
//! Must not know: which case it is for. Start reading at [`Stage::set`].

use super::case::Target;
use anyhow::{Context, Result};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Where tmpfs is mounted on every Linux.
const TMPFS: &str = "/dev/shm";
/// Size of a file full of data.
const FILE_BYTES: u64 = 1 << 30;
/// Size of the zram device.
const ZRAM_BYTES: u64 = 2 << 30;
/// Directory whose files create and remove zram devices.
const ZRAM_CONTROL: &str = "/sys/class/zram-control";
/// Sections of the job file.
const N_SECTIONS: usize = 2_000;
/// Directories of control groups for memory: version 1, version 2.
const MEMORY_CONTROLLERS: [&str; 2] = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup"];

/// A target; cleared away when dropped.
pub(super) enum Stage {
    /// No target.
    Empty,
    File(PathBuf),
    /// A zram device that was made, by its number.
    Zram(u32),
    Directory(PathBuf),
    NewFile(PathBuf),
    /// A device that is always there.
    Device(&'static str),
    /// A loop device and the file under it.
    Loop(String, PathBuf),
}

impl Stage {
    /// Makes the target; the inner error says why it cannot be had on this machine.
    pub(super) fn set(target: Target) -> Result<std::result::Result<Self, String>> {
        match target {
            Target::None => Ok(Ok(Self::Empty)),
            Target::Tmpfs if !Path::new(TMPFS).is_dir() => Ok(Err(format!("no tmpfs at {TMPFS}"))),
            Target::Tmpfs => filled_file(Path::new(TMPFS)).map(|path| Ok(Self::File(path))),
            Target::Zram => Ok(zram()),
            Target::DevZero => Ok(Ok(Self::Device("/dev/zero"))),
            Target::DiskFile => filled_file(&std::env::temp_dir()).map(|path| Ok(Self::File(path))),
            Target::Loop => loop_device(),
            Target::JobFile => job_file().map(Ok),
            Target::Directory => directory().map(Ok),
            Target::NullLogs => null_logs().map(Ok),
            Target::NewFile => Ok(Ok(Self::NewFile(temporary_name()))),
        }
    }

    /// Splits words and replaces `{target}` by the path of the target.
    pub(super) fn expand(&self, words: &str) -> Vec<String> {
        words.split_whitespace().map(|word| word.replace("{target}", &self.path())).collect()
    }

    /// Before a run: a file that programs make is not there, and nothing of the run before it is still to be written.
    pub(super) fn clear(&self) -> Result<()> {
        let Self::NewFile(path) = self else { return Ok(()) };
        if path.exists() {
            fs::remove_file(path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
        Command::new("sync").status().context("cannot start sync")?;
        Ok(())
    }

    fn path(&self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::File(path) | Self::NewFile(path) | Self::Directory(path) => path.display().to_string(),
            Self::Zram(number) => format!("/dev/zram{number}"),
            Self::Device(path) => (*path).to_owned(),
            Self::Loop(device, _) => device.clone(),
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // A failure to clean up cannot be handled here.
        match self {
            Self::Empty | Self::Device(_) => {}
            Self::Loop(device, file) => {
                let _ = Command::new("losetup").args(["--detach", device]).status();
                let _ = fs::remove_file(file);
            }
            Self::File(path) | Self::NewFile(path) => drop(fs::remove_file(path)),
            Self::Zram(number) => remove_zram(*number),
            Self::Directory(path) => drop(fs::remove_dir_all(path)),
        }
    }
}

/// A new file of 1 GiB in a directory; it is removed again when it cannot be filled.
fn filled_file(directory: &Path) -> Result<PathBuf> {
    let path = directory.join(format!("ferrio-bench-{}", std::process::id()));
    let guard = Stage::File(path.clone());
    let mut file = File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
    // Not zeroes: the pages exist either way, but no short cut for empty ones can be taken.
    let chunk: Vec<u8> = (0..1_u32 << 18).flat_map(|word| word.wrapping_mul(0x9E37_79B9).to_le_bytes()).collect();
    for _ in 0..FILE_BYTES / chunk.len() as u64 {
        file.write_all(&chunk).with_context(|| format!("cannot fill {}", path.display()))?;
    }
    file.sync_all().with_context(|| format!("cannot fill {}", path.display()))?;
    std::mem::forget(guard);
    Ok(path)
}

fn loop_device() -> Result<std::result::Result<Stage, String>> {
    let file = filled_file(&std::env::temp_dir())?;
    let made = Command::new("losetup").args(["--find", "--show"]).arg(&file).output();
    let device = made.ok().filter(|output| output.status.success());
    let device = device.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    if let Some(device) = device {
        return Ok(Ok(Stage::Loop(device, file)));
    }
    drop(Stage::File(file));
    Ok(Err("no loop device can be made (root and losetup are needed)".to_owned()))
}

fn job_file() -> Result<Stage> {
    let path = std::env::temp_dir().join(format!("ferrio-bench-{}.fio", std::process::id()));
    let mut text = "[global]\nioengine=null\nsize=1g\nbs=4k\n".to_owned();
    for index in 0..N_SECTIONS {
        // Writing into a text cannot fail.
        let _ = write!(text, "[job{index}]\nrw=randread\niodepth={}\nruntime={}s\n", 1 + index % 64, 10 + index);
    }
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(Stage::File(path))
}

fn temporary_name() -> PathBuf {
    std::env::temp_dir().join(format!("ferrio-bench-{}", std::process::id()))
}

/// A directory in which the logs of latencies of the first job are links to where nothing is kept.
fn null_logs() -> Result<Stage> {
    let stage = directory()?;
    for kind in ["slat", "clat", "lat"] {
        let link = format!("{}/log_{kind}.1.log", stage.path());
        symlink("/dev/null", &link).with_context(|| format!("cannot make {link}"))?;
    }
    Ok(stage)
}

fn directory() -> Result<Stage> {
    let path = temporary_name();
    fs::create_dir(&path).with_context(|| format!("cannot create {}", path.display()))?;
    Ok(Stage::Directory(path))
}

fn zram() -> std::result::Result<Stage, String> {
    let added = fs::read_to_string(format!("{ZRAM_CONTROL}/hot_add"));
    let number = added.map_err(|error| format!("no zram device can be made ({ZRAM_CONTROL}: {error})"))?;
    let number: u32 = number.trim().parse().map_err(|_| format!("zram device of unknown number {number:?}"))?;
    let stage = Stage::Zram(number);
    let size = fs::write(format!("/sys/block/zram{number}/disksize"), ZRAM_BYTES.to_string());
    size.map_err(|error| format!("zram{number} takes no size: {error}"))?;
    if Path::new(&stage.path()).exists() { Ok(stage) } else { Err(format!("{} does not appear", stage.path())) }
}

fn remove_zram(number: u32) {
    let _ = fs::write(format!("/sys/block/zram{number}/reset"), "1");
    let _ = fs::write(format!("{ZRAM_CONTROL}/hot_remove"), number.to_string());
}

/// A control group that sees how much memory its members have at most; removed when dropped.
pub(super) struct MemoryGroup {
    directory: PathBuf,
}

impl MemoryGroup {
    /// Makes an empty group; `None` where that is not possible (no root, no controller).
    pub(super) fn new() -> Option<Self> {
        static N_MADE: AtomicU32 = AtomicU32::new(0);
        let name = format!("ferrio-bench-{}-{}", std::process::id(), N_MADE.fetch_add(1, Ordering::Relaxed));
        MEMORY_CONTROLLERS.iter().find_map(|controller| {
            let directory = Path::new(controller).join(&name);
            fs::create_dir(&directory).ok()?;
            let group = Self { directory };
            group.peak_bytes().is_some().then_some(group)
        })
    }

    /// A process writes its number to this file to become a member.
    pub(super) fn members_file(&self) -> PathBuf {
        self.directory.join("cgroup.procs")
    }

    /// Most memory that the group had at once.
    pub(super) fn peak_bytes(&self) -> Option<u64> {
        let read = |name| fs::read_to_string(self.directory.join(name)).ok()?.trim().parse().ok();
        read("memory.max_usage_in_bytes").or_else(|| read("memory.peak"))
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.directory);
    }
}
