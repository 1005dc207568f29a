//! Scheduling of the calling thread: niceness, I/O priority, CPU affinity.
//!
//! Must not know: jobs. Start reading at [`set_cpu_affinity`] and [`IoPriority`].
#![expect(
    unsafe_code,
    reason = "system calls without a wrapper: ioprio_set, sched_setscheduler, sched_setaffinity with masks of any size"
)]

use crate::error::{Context, Error, Result};
use ferrio_units::IoPriority;
use std::io;

/// More CPUs than any kernel is built for; lists that name higher ones are refused before memory is spent on them.
pub const MAX_CPUS: u32 = 65_536;

/// Sets the niceness of the calling thread, -20 (most urgent) to 19. Below the present one it takes a privilege.
pub fn set_nice(nice: i32) -> Result<()> {
    rustix::process::setpriority_process(None, nice).context("setpriority", nice)
}

/// Niceness of the calling thread.
pub fn nice() -> Result<i32> {
    rustix::process::getpriority_process(None).context("getpriority", "")
}

/// `IOPRIO_WHO_PROCESS`: the number is a thread id, 0 the calling thread.
const WHO_PROCESS: libc::c_int = 1;

/// Sets the I/O priority of the calling thread.
pub fn set_io_priority(priority: IoPriority) -> Result<()> {
    let value = libc::c_int::from(priority.encode());
    // SAFETY: three numbers; no memory is involved.
    let result = unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, value) };
    let IoPriority { class, level, hint } = priority;
    check(result).map(drop).context("ioprio_set", format_args!("class {class}, level {level}, hint {hint}"))
}

/// I/O priority of the calling thread.
pub fn io_priority() -> Result<IoPriority> {
    // SAFETY: two numbers; no memory is involved.
    let result = unsafe { libc::syscall(libc::SYS_ioprio_get, WHO_PROCESS, 0) };
    check(result).map(|value| IoPriority::decode(value as u16)).context("ioprio_get", "")
}

/// Time by which the kernel may delay the end of this thread's sleeps, so that several end together; the default is 50
/// microseconds. 0 counts as 1.
pub fn set_timer_slack_ns(slack_ns: u64) -> Result<()> {
    let slack_ns = std::num::NonZeroU64::new(slack_ns).unwrap_or(std::num::NonZeroU64::MIN);
    rustix::thread::set_current_timer_slack(Some(slack_ns)).context("prctl", "PR_SET_TIMERSLACK")
}

/// Gives the calling thread only time that no other thread wants (`SCHED_IDLE`).
pub fn set_idle_policy() -> Result<()> {
    set_policy(libc::SCHED_IDLE, 0)
}

/// The calling thread goes before all usual ones (`SCHED_FIFO`) until this is dropped, for the microseconds in which several hosts begin together.
/// What it starts meanwhile is usual.
#[derive(Debug)]
pub struct UrgentThread(std::marker::PhantomData<*const ()>);

impl UrgentThread {
    /// `None`: the thread has no right to it, or is no usual one.
    pub fn new() -> Option<Self> {
        // SAFETY: 0 is the calling thread; no memory is involved.
        let policy = unsafe { libc::sched_getscheduler(0) };
        let becomes_urgent = || set_policy(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, 1).is_ok();
        (policy == libc::SCHED_OTHER && becomes_urgent()).then(|| Self(std::marker::PhantomData))
    }
}

impl Drop for UrgentThread {
    fn drop(&mut self) {
        // The niceness has stayed.
        let usual = set_policy(libc::SCHED_OTHER, 0);
        debug_assert!(usual.is_ok(), "a thread that could become urgent may become usual");
    }
}

/// Sets policy and priority of the calling thread.
fn set_policy(policy: libc::c_int, sched_priority: libc::c_int) -> Result<()> {
    let parameters = libc::sched_param { sched_priority };
    // SAFETY: 0 is the calling thread, and the parameters are initialised and only read.
    let result = unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) };
    check(result.into()).map(drop).context("sched_setscheduler", format_args!("policy {policy:#x}"))
}

/// Binds the calling thread to these CPUs.
///
/// # Errors
/// `EINVAL` if none of them is online and allowed.
pub fn set_cpu_affinity(cpus: &[u32]) -> Result<()> {
    let highest = cpus.iter().copied().max().unwrap_or(0);
    if highest >= MAX_CPUS {
        return Err(Error::Parse { what: "CPU number", text: highest.to_string() });
    }
    let mut mask = vec![0_u64; highest as usize / 64 + 1];
    for &cpu in cpus {
        mask[cpu as usize / 64] |= 1 << (cpu % 64);
    }
    // SAFETY: the kernel reads size_of_val(mask) bytes of the mask, all initialised.
    let result = unsafe { libc::syscall(libc::SYS_sched_setaffinity, 0, size_of_val(&*mask), mask.as_ptr()) };
    check(result).map(drop).context("sched_setaffinity", format_cpu_list(cpus))
}

/// The CPUs that the calling thread may run on, ascending.
pub fn cpu_affinity() -> Result<Vec<u32>> {
    let mut mask = vec![0_u64; (MAX_CPUS / 64) as usize];
    // SAFETY: the kernel writes at most size_of_val(mask) bytes to the mask.
    let result = unsafe { libc::syscall(libc::SYS_sched_getaffinity, 0, size_of_val(&*mask), mask.as_mut_ptr()) };
    check(result).context("sched_getaffinity", "")?;
    Ok((0..MAX_CPUS).filter(|&cpu| mask[cpu as usize / 64] >> (cpu % 64) & 1 == 1).collect())
}

/// The CPUs that are online, ascending.
pub fn online_cpus() -> Result<Vec<u32>> {
    read_cpu_list("/sys/devices/system/cpu/online")
}

/// The CPUs that this machine may have, online or not, ascending.
pub fn possible_cpus() -> Result<Vec<u32>> {
    read_cpu_list("/sys/devices/system/cpu/possible")
}

/// The CPU that the calling thread runs on at this moment.
pub fn current_cpu() -> u32 {
    rustix::thread::sched_getcpu() as u32
}

fn read_cpu_list(path: &str) -> Result<Vec<u32>> {
    parse_cpu_list(&std::fs::read_to_string(path).context("read", path)?)
}

/// CPUs of a list in the kernel's form: numbers and ranges with commas between, such as `0-3,8`. Ascending, each once.
/// An empty text is an empty list.
pub fn parse_cpu_list(text: &str) -> Result<Vec<u32>> {
    let bad = || Error::Parse { what: "CPU list", text: text.trim().to_owned() };
    let mut cpus = Vec::new();
    for item in text.trim().split(',').filter(|item| !item.is_empty()) {
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        let parse = |number: &str| number.trim().parse::<u32>().ok().filter(|&cpu| cpu < MAX_CPUS).ok_or_else(bad);
        let (first, last) = (parse(first)?, parse(last)?);
        if first > last {
            return Err(bad());
        }
        cpus.extend(first..=last);
        // Keeps the vector within MAX_CPUS however often a range is repeated.
        cpus.sort_unstable();
        cpus.dedup();
    }
    Ok(cpus)
}

/// The list that [`parse_cpu_list`] reads: neighbours are joined to ranges, in the order given.
pub fn format_cpu_list(cpus: &[u32]) -> String {
    let ranges = cpus.chunk_by(|cpu, next| cpu.checked_add(1) == Some(*next));
    let texts = ranges.map(|range| match range {
        [first, .., last] => format!("{first}-{last}"),
        _ => range.iter().map(u32::to_string).collect(),
    });
    texts.collect::<Vec<_>>().join(",")
}

fn check(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processes::process::{ChildEnd, fork, wait};

    #[test]
    fn cpu_lists() {
        assert_eq!(parse_cpu_list("0-3,8\n").unwrap(), [0, 1, 2, 3, 8]);
        assert_eq!(parse_cpu_list("5,1-2,2").unwrap(), [1, 2, 5]);
        assert!(parse_cpu_list("\n").unwrap().is_empty());
        assert_eq!(format_cpu_list(&[0, 1, 2, 3, 8, u32::MAX]), "0-3,8,4294967295");
        assert_eq!(format_cpu_list(&[7, 1, 2]), "7,1-2");
        assert_eq!(format_cpu_list(&[]), "");
        for bad in ["3-1", "a", "1-", "-1", "0-65536", "4294967296", "1;2"] {
            assert!(parse_cpu_list(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn io_priority_encoding() {
        // linux/ioprio.h: class in bits 13 to 15, hint in 3 to 12, level in 0 to 2.
        let best_effort_3 = IoPriority { class: 2, level: 3, hint: 0 };
        assert_eq!(best_effort_3.encode(), 0x4003);
        let all = IoPriority { class: 7, level: 7, hint: 1023 };
        assert_eq!((all.encode(), IoPriority::decode(0xffff)), (0xffff, all));
        assert_eq!(IoPriority { class: 1, level: 0, hint: 1 }.encode(), 0x2008);
    }

    #[test]
    fn an_urgent_thread_is_usual_again() {
        // SAFETY: 0 is the calling thread; no memory is involved.
        let policy = || unsafe { libc::sched_getscheduler(0) };
        let told = std::thread::spawn(move || {
            set_nice(3).expect("less urgent than before");
            let urgent = UrgentThread::new();
            let (is_urgent, within) = (urgent.is_some(), policy());
            let started = std::thread::spawn(policy).join().expect("no panic");
            drop(urgent);
            (is_urgent, within & !libc::SCHED_RESET_ON_FORK, started, policy(), nice().expect("a number"))
        });
        let (is_urgent, within, started, after, nice) = told.join().expect("no panic");
        assert_eq!(within, if is_urgent { libc::SCHED_FIFO } else { libc::SCHED_OTHER });
        assert_eq!((started, after, nice), (libc::SCHED_OTHER, libc::SCHED_OTHER, 3));
    }

    #[test]
    fn priorities_of_a_child() {
        let body = || {
            let before = nice().unwrap();
            set_nice((before + 1).min(19)).unwrap();
            let wanted = IoPriority { class: 2, level: 6, hint: 0 };
            set_io_priority(wanted).unwrap();
            i32::from(nice().unwrap() != (before + 1).min(19) || io_priority().unwrap() != wanted)
        };
        assert_eq!(wait(fork(body).unwrap()).unwrap(), ChildEnd::Exited(0));
    }

    #[test]
    fn a_thread_that_takes_what_is_left() {
        std::thread::spawn(|| {
            set_idle_policy().unwrap();
            // The field `policy` of proc_pid_stat(5), 38 behind the name; SCHED_IDLE is 5.
            let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
            let (_, behind_name) = stat.rsplit_once(')').unwrap();
            assert_eq!(behind_name.split_ascii_whitespace().nth(38), Some("5"), "{stat}");
        })
        .join()
        .unwrap();
    }

    #[test]
    fn affinity_of_a_thread() {
        std::thread::spawn(|| {
            let allowed = cpu_affinity().unwrap();
            let online = online_cpus().unwrap();
            assert!(allowed.iter().all(|cpu| online.contains(cpu)));
            assert!(online.iter().all(|cpu| possible_cpus().unwrap().contains(cpu)));
            let last = *allowed.last().unwrap();
            set_cpu_affinity(&[last]).unwrap();
            assert_eq!((cpu_affinity().unwrap(), current_cpu()), (vec![last], last));
            assert_eq!(set_cpu_affinity(&[MAX_CPUS - 1]).unwrap_err().errno(), Some(libc::EINVAL));
            assert!(set_cpu_affinity(&[u32::MAX]).is_err());
        })
        .join()
        .unwrap();
    }
}
