//! The parser's view of the machine: environment variables, job files, directories, CPUs and memory.
//!
//! A trait, so that tests hand in a small world of their own. Must not know: options, jobs.
//! Start reading at [`Environment`]; [`SystemEnvironment`] is the real one.

use rustix::fs::OFlags;
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// The variables whose values differ from host to host in a run on several hosts, and the marks that stand for them until each host puts
/// in its own. Of two marks of which one begins with the other, the longer one is the later.
pub const HOST_MARKS: [(&str, &str); 3] =
    [("FERRIO_RANK", "$rank"), ("FERRIO_HOST", "$host"), ("FERRIO_HOSTS", "$hosts")];

/// Answers about the machine and its files.
pub trait Environment {
    /// The line that `--version` prints, and with which the usage begins.
    fn version(&self) -> String;

    /// Value of an environment variable; `None` when unset. Bytes that are not UTF-8 become U+FFFD.
    fn variable(&self, name: &str) -> Option<String>;

    /// The mark that stands for this variable until each host puts in its own value; `None`: it is a variable as any other.
    fn host_mark(&self, _name: &str) -> Option<&'static str> {
        None
    }

    /// Opens a job file or an included file. Must not block for ever on a named pipe without a writer.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read>>;

    /// Standard input, for the job file `-`.
    fn stdin(&self) -> Box<dyn Read>;

    /// `Ok` when `path` is a directory (symbolic links are followed), else the reason why it is none.
    fn check_directory(&self, path: &Path) -> io::Result<()>;

    fn page_size_bytes(&self) -> u64;

    /// Memory of the machine in MiB (`$mb_memory`).
    fn memory_mib(&self) -> u64;

    /// CPUs configured (`$ncpus`, and the bound of `cpus_allowed`).
    fn n_cpus(&self) -> u32;

    /// NUMA nodes that are online, ascending, at least one; a world without any has node 0.
    fn numa_nodes(&self) -> Vec<u32> {
        vec![0]
    }
}

/// Another world as a job file may be written for: every directory is there, every CPU and every node.
pub struct AnyMachine<'a>(pub &'a dyn Environment);

/// Upper bound of the numbers of CPUs and NUMA nodes in Linux.
const MAX_CPUS: u32 = 1 << 16;
const MAX_NODES: u32 = 1 << 10;

impl Environment for AnyMachine<'_> {
    fn version(&self) -> String {
        self.0.version()
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.0.variable(name)
    }

    fn host_mark(&self, name: &str) -> Option<&'static str> {
        self.0.host_mark(name)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read>> {
        self.0.open(path)
    }

    fn stdin(&self) -> Box<dyn Read> {
        self.0.stdin()
    }

    fn check_directory(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn page_size_bytes(&self) -> u64 {
        self.0.page_size_bytes()
    }

    fn memory_mib(&self) -> u64 {
        self.0.memory_mib()
    }

    fn n_cpus(&self) -> u32 {
        MAX_CPUS
    }

    fn numa_nodes(&self) -> Vec<u32> {
        (0..MAX_NODES).collect()
    }
}

/// The machine on which the program runs.
#[derive(Debug, Clone)]
pub struct SystemEnvironment {
    version: String,
    n_cpus: u32,
    opened: RefCell<Vec<PathBuf>>,
    is_for_hosts: bool,
}

impl SystemEnvironment {
    /// The machine, and the version line of the program.
    pub fn new(version: impl Into<String>) -> Self {
        let text = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
        let n_available = || std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        let n_cpus = count_cpus(text.trim()).unwrap_or_else(n_available);
        Self { version: version.into(), n_cpus, opened: RefCell::default(), is_for_hosts: false }
    }

    /// The same, for jobs that run on several hosts if `is_for_hosts`: variables that differ from host to host ([`HOST_MARKS`]), and whether
    /// directories are there, are left to them.
    #[must_use]
    pub fn for_hosts(mut self, is_for_hosts: bool) -> Self {
        self.is_for_hosts = is_for_hosts;
        self
    }

    /// The files that were opened so far: job files, those that they include, and files of patterns.
    pub fn opened_files(&self) -> Vec<PathBuf> {
        self.opened.borrow().clone()
    }
}

impl Environment for SystemEnvironment {
    fn version(&self) -> String {
        self.version.clone()
    }

    fn variable(&self, name: &str) -> Option<String> {
        // `var_os` panics on none of these; an empty name or one with `=` or NUL is never set.
        std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
    }

    fn host_mark(&self, name: &str) -> Option<&'static str> {
        let found = HOST_MARKS.iter().find(|(known, _)| *known == name).filter(|_| self.is_for_hosts);
        found.map(|(_, mark)| *mark)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read>> {
        let mut options = File::options();
        // The log of the kernel looks like a regular file, and a read of it waits for news.
        if std::fs::metadata(path)?.is_file() {
            options.custom_flags(OFlags::NONBLOCK.bits() as i32);
        }
        let file = options.read(true).open(path)?;
        self.opened.borrow_mut().push(path.to_owned());
        if file.metadata()?.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        Ok(Box::new(file))
    }

    fn stdin(&self) -> Box<dyn Read> {
        Box::new(io::stdin())
    }

    fn check_directory(&self, path: &Path) -> io::Result<()> {
        if self.is_for_hosts {
            return Ok(());
        }
        if std::fs::metadata(path)?.is_dir() { Ok(()) } else { Err(io::Error::from(io::ErrorKind::NotADirectory)) }
    }

    fn page_size_bytes(&self) -> u64 {
        rustix::param::page_size() as u64
    }

    fn memory_mib(&self) -> u64 {
        let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
        let kib = total.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
        kib.unwrap_or_default() / 1024
    }

    fn n_cpus(&self) -> u32 {
        self.n_cpus
    }

    fn numa_nodes(&self) -> Vec<u32> {
        let node_of = |entry: std::fs::DirEntry| entry.file_name().to_str()?.strip_prefix("node")?.parse().ok();
        let entries = std::fs::read_dir("/sys/devices/system/node").into_iter().flatten().flatten();
        let mut nodes: Vec<u32> = entries.filter_map(node_of).collect();
        nodes.sort_unstable();
        if nodes.is_empty() { vec![0] } else { nodes }
    }
}

/// Highest number of a list such as `0-3,8`, plus one.
fn count_cpus(list: &str) -> Option<u32> {
    let highest = list.rsplit([',', '-']).next()?;
    highest.parse::<u32>().ok()?.checked_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_counted_to_the_highest() {
        for (list, expected) in [("0", Some(1)), ("0-1", Some(2)), ("0-3,8", Some(9)), ("", None), ("x", None)] {
            assert_eq!(count_cpus(list), expected, "{list}");
        }
    }

    #[test]
    fn the_machine_answers() {
        let system = SystemEnvironment::new("fio-3.42");
        assert!(system.page_size_bytes().is_power_of_two());
        assert!(system.n_cpus() >= 1);
        assert!(system.check_directory(Path::new("/")).is_ok());
        let error = system.check_directory(Path::new("/no/such/directory")).unwrap_err();
        assert_eq!(ferrio_units::error_text(&error), "No such file or directory");
        assert!(system.open(Path::new("/")).is_err());
    }
}
