//! Resource limits, locked memory, and resources used by a process.
//!
//! Must not know: jobs. Start reading at [`Usage`].
#![expect(unsafe_code, reason = "getrusage, and a mapping that is only there to be locked")]

use crate::error::{Context, Result};
use rustix::mm::{MapFlags, ProtFlags};
use rustix::process::Rlimit;
use rustix::time::{ClockId, Timespec, clock_gettime};
use serde::{Deserialize, Serialize};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

pub use rustix::process::Resource;

/// Raises a limit of the process to at least `wanted`: the soft one up to the hard one, and the hard one too where the
/// process may. Returns the soft limit that then holds (`u64::MAX`: none), which may be less than wanted.
pub fn raise_limit(resource: Resource, wanted: u64) -> u64 {
    let now = rustix::process::getrlimit(resource);
    let reaches = |limit: Option<u64>| limit.is_none_or(|limit| limit >= wanted);
    if !reaches(now.current) {
        let hard = if reaches(now.maximum) { now.maximum } else { Some(wanted) };
        let both = Rlimit { current: Some(wanted), maximum: hard };
        if rustix::process::setrlimit(resource, both).is_err() {
            // Without the privilege to raise the hard limit, as much as it allows; lowering never fails.
            let _ = rustix::process::setrlimit(resource, Rlimit { current: now.maximum, maximum: now.maximum });
        }
    }
    rustix::process::getrlimit(resource).current.unwrap_or(u64::MAX)
}

/// The soft limit of this process; `None`: there is none.
pub fn soft_limit(resource: Resource) -> Option<u64> {
    rustix::process::getrlimit(resource).current
}

/// The highest limit that [`raise_limit`] can reach; `None`: any.
pub fn reachable_limit(resource: Resource) -> Option<u64> {
    let hard = rustix::process::getrlimit(resource).maximum;
    hard.filter(|_| !has_privilege(Privilege::RaiseLimits))
}

/// A privilege of a process that lifts a limit; its value is the number of the capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Privilege {
    /// `CAP_IPC_LOCK`: any amount of locked memory.
    LockMemory = 14,
    /// `CAP_SYS_RESOURCE`: hard limits may be raised.
    RaiseLimits = 24,
}

/// The calling thread has a privilege in force.
pub fn has_privilege(privilege: Privilege) -> bool {
    std::fs::read_to_string("/proc/thread-self/status").is_ok_and(|text| has_capability(&text, privilege as u32))
}

/// The line `CapEff: 000001ffffffffff` of a status has the bit of a capability.
fn has_capability(status: &str, number: u32) -> bool {
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    line.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).is_some_and(|set| set >> number & 1 == 1)
}

/// Memory that is locked and otherwise unused: it takes that much from the page cache.
#[derive(Debug)]
pub struct LockedMemory {
    base: NonNull<std::ffi::c_void>,
    len: usize,
}

// SAFETY: the memory is never looked at; unmapping it works from every thread.
unsafe impl Send for LockedMemory {}

impl LockedMemory {
    /// Maps and locks this many bytes until dropped. More than `RLIMIT_MEMLOCK` takes a privilege: see [`raise_limit`].
    pub fn new(len_bytes: usize) -> Result<Self> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel picks a free address; nothing that exists is replaced.
        let base =
            unsafe { rustix::mm::mmap_anonymous(std::ptr::null_mut(), len_bytes, protection, MapFlags::PRIVATE) };
        let base = NonNull::new(base.context("map memory to lock", len_bytes)?);
        let base = base.ok_or(rustix::io::Errno::FAULT).context("map memory to lock", len_bytes)?;
        let memory = Self { base, len: len_bytes };
        // SAFETY: exactly the mapping that was just made.
        unsafe { rustix::mm::mlock(base.as_ptr(), len_bytes) }.context("mlock", len_bytes)?;
        Ok(memory)
    }
}

impl Drop for LockedMemory {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping that `new` made, and nobody refers to it. Unmapping unlocks it.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr(), self.len) };
    }
}

/// Turns of a thread on a CPU (`/proc/PID/schedstat`), since it began or in a part of its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CpuTurns {
    pub ran_ns: u64,
    /// Nanoseconds in which it was ready to run and had no CPU.
    pub waited_ns: u64,
    /// Number of times that it got a CPU.
    pub n_turns: u64,
    /// Number of times that it gave the CPU up by itself, as when it waits for I/O.
    pub n_sleeps: u64,
}

impl CpuTurns {
    /// That of the calling thread; `None`: the kernel does not count it.
    pub fn of_thread() -> Option<Self> {
        let turns = Self::parse(&std::fs::read_to_string("/proc/thread-self/schedstat").ok()?)?;
        Some(Self { n_sleeps: Usage::of_thread().voluntary_switches, ..turns })
    }

    /// `time on a CPU, time of waits, number of slices`; the kernel gives zeroes where it does not count.
    fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split_ascii_whitespace().map(|word| word.parse::<u64>().ok());
        let (ran_ns, waited_ns, n_turns) = (numbers.next()??, numbers.next()??, numbers.next()??);
        (ran_ns > 0 && n_turns > 0).then_some(Self { ran_ns, waited_ns, n_turns, n_sleeps: 0 })
    }

    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            ran_ns: self.ran_ns.saturating_sub(earlier.ran_ns),
            waited_ns: self.waited_ns.saturating_sub(earlier.waited_ns),
            n_turns: self.n_turns.saturating_sub(earlier.n_turns),
            n_sleeps: self.n_sleeps.saturating_sub(earlier.n_sleeps),
        }
    }
}

/// More threads of a process are not looked at one by one, because each job would look at those of all.
const MOST_THREADS: usize = 256;

/// Resources that a process or thread has used since it began (`getrusage`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// CPU time in the program, ns. The kernel gives microseconds.
    pub user_ns: u64,
    /// CPU time in the kernel, ns. The kernel gives microseconds.
    pub system_ns: u64,
    /// Number of times it gave up the CPU, as when it waits for I/O.
    pub voluntary_switches: u64,
    /// Times the CPU was taken from it.
    pub involuntary_switches: u64,
    /// Page faults that took I/O.
    pub major_faults: u64,
    /// Page faults that did not.
    pub minor_faults: u64,
}

impl Usage {
    /// Usage of the calling process, all threads.
    pub fn of_process() -> Self {
        Self::get(libc::RUSAGE_SELF)
    }

    pub fn of_thread() -> Self {
        Self::get(libc::RUSAGE_THREAD)
    }

    /// CPU time of the kernel's workers that do I/O of `io_uring` for the calling thread. Those that have ended, some seconds after
    /// their last work, are not known any more. Their other figures are 0. `None`: the process has too many threads to look at them all.
    pub fn of_kernel_workers() -> Option<Self> {
        let name = format!("iou-wrk-{}", crate::processes::process::thread_id());
        let of_task = |task: std::io::Result<std::fs::DirEntry>| {
            let task = task.ok()?.path();
            let is_one = std::fs::read_to_string(task.join("comm")).is_ok_and(|comm| comm.trim_end() == name);
            let ran = is_one.then(|| std::fs::read_to_string(task.join("schedstat")).ok()).flatten()?;
            ran.split_ascii_whitespace().next()?.parse::<u64>().ok()
        };
        let tasks: Vec<_> = std::fs::read_dir("/proc/self/task").ok()?.take(MOST_THREADS + 1).collect();
        if tasks.len() > MOST_THREADS {
            return None;
        }
        let system_ns = tasks.into_iter().filter_map(of_task).fold(0_u64, u64::saturating_add);
        Some(Self { system_ns, ..Self::default() })
    }

    /// Usage of all children that were waited for, and of theirs.
    pub fn of_children() -> Self {
        Self::get(libc::RUSAGE_CHILDREN)
    }

    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self.involuntary_switches.saturating_sub(earlier.involuntary_switches),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
        }
    }

    fn get(who: libc::c_int) -> Self {
        let mut raw = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the kernel fills the structure. It cannot fail with these two numbers and a valid address; if it did,
        // all zero is a valid value of the structure.
        let raw = unsafe {
            libc::getrusage(who, raw.as_mut_ptr());
            raw.assume_init()
        };
        Self {
            user_ns: to_ns(raw.ru_utime),
            system_ns: to_ns(raw.ru_stime),
            voluntary_switches: raw.ru_nvcsw as u64,
            involuntary_switches: raw.ru_nivcsw as u64,
            major_faults: raw.ru_majflt as u64,
            minor_faults: raw.ru_minflt as u64,
        }
    }
}

/// CPU time of all threads of the calling process but the calling one, ns, by clocks that have no steps. (`getrusage` counts a thread up
/// to its last tick and a process up to now, so that a process of one thread would have some milliseconds beside that thread.)
pub fn cpu_beside_thread_ns() -> u64 {
    let cpu_ns = |clock| {
        let Timespec { tv_sec, tv_nsec } = clock_gettime(clock);
        tv_sec as u64 * 1_000_000_000 + tv_nsec as u64
    };
    let process_ns = cpu_ns(ClockId::ProcessCPUTime);
    process_ns.saturating_sub(cpu_ns(ClockId::ThreadCPUTime))
}

/// Times of the kernel here are never negative, and below 2^64 ns (584 years of CPU time).
fn to_ns(time: libc::timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processes::process::{ChildEnd, fork, wait};
    use ferrio_testing::skip_part;
    use std::time::{Duration, Instant};

    #[test]
    fn a_process_of_one_thread_has_no_time_beside_it() {
        let child = fork(|| {
            // Ends within ticks of the scheduler, at which the counts of a thread lag by up to 4 ms.
            let n_late = (0..20).filter(|_| {
                let (start, before_ns) = (Instant::now(), cpu_beside_thread_ns());
                while start.elapsed() < Duration::from_millis(2) {
                    std::hint::spin_loop();
                }
                cpu_beside_thread_ns().saturating_sub(before_ns) > 200_000
            });
            n_late.count() as i32
        })
        .unwrap();
        assert_eq!(wait(child).unwrap(), ChildEnd::Exited(0));
    }

    #[test]
    fn limits_can_be_raised_to_the_hard_one_at_least() {
        let hard = rustix::process::getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
        let soft = raise_limit(Resource::Nofile, hard);
        assert_eq!(soft, hard);
        assert_eq!(raise_limit(Resource::Nofile, 1), soft, "never lowers");
    }

    #[test]
    fn a_privilege_is_a_bit_of_the_effective_set() {
        let status = "Name:\tx\nCapPrm:\t000001ffffffffff\nCapEff:\t0000000000004000\n";
        assert!(has_capability(status, Privilege::LockMemory as u32));
        assert!(!has_capability(status, Privilege::RaiseLimits as u32));
        for text in ["", "CapEff:", "CapEff: x", "CapPrm:\t000001ffffffffff"] {
            assert!(!has_capability(text, 14), "{text}");
        }
    }

    #[test]
    fn memory_can_be_locked_or_the_limit_is_named() {
        match LockedMemory::new(64 << 10) {
            Ok(memory) => assert_eq!(memory.len, 64 << 10),
            Err(error) => skip_part!("memory_can_be_locked_or_the_limit_is_named", "{error}"),
        }
        assert_eq!(LockedMemory::new(0).unwrap_err().errno(), Some(libc::EINVAL));
    }

    #[test]
    fn usage_grows() {
        let before = (Usage::of_process(), Usage::of_thread());
        let mut memory = vec![0_u8; 64 << 20];
        memory.iter_mut().step_by(4096).for_each(|byte| *byte = std::hint::black_box(1));
        let used = Usage::of_thread().since(before.1);
        assert!(used.minor_faults > 0, "{used:?}");
        let all = Usage::of_process().since(before.0);
        assert!(all.minor_faults >= used.minor_faults, "{all:?} {used:?}");
        assert_eq!(before.0.since(Usage::of_process()), Usage::default());
    }

    #[test]
    fn turns_of_a_thread_are_three_numbers() {
        let turns = |ran_ns, waited_ns, n_turns| CpuTurns { ran_ns, waited_ns, n_turns, n_sleeps: 0 };
        assert_eq!(CpuTurns::parse("242228384 281349738 68\n"), Some(turns(242_228_384, 281_349_738, 68)));
        for text in ["", "1 2", "1 2 three", "-1 2 3", "0 0 0", "0 0 1", "99999999999999999999 1 1"] {
            assert_eq!(CpuTurns::parse(text), None, "{text}");
        }
        let (earlier, later) = (turns(1, 5, 2), turns(4, 9, 2));
        assert_eq!(later.since(earlier), turns(3, 4, 0));
        assert_eq!(earlier.since(later), CpuTurns::default());
    }

    #[test]
    fn children_count_once_they_are_waited_for() {
        let before = Usage::of_children();
        let status = std::process::Command::new("/bin/true").status().expect("every machine has it");
        assert!(status.success());
        assert!(Usage::of_children().since(before).minor_faults > 0);
    }
}
