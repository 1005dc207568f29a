//! The number of processes and threads that a system lets this program have.
//!
//! Must not know: jobs. Start reading at [`ProcessLimit::find`].

use crate::processes::limits::{Privilege, Resource, has_privilege, soft_limit};
use std::path::{Path, PathBuf};

/// The lowest limit of the number of processes and threads at the same time. Those of other programs count too for most limits, so
/// that fewer may be possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessLimit {
    /// The largest number.
    pub n_processes: u64,
    /// What sets it, as a user would look for it.
    pub setting: &'static str,
}

impl ProcessLimit {
    /// The lowest of the limits that can be read; `None`: none can.
    pub fn find() -> Option<Self> {
        let of_file = |path: &str, setting| Some(Self { n_processes: number(Path::new(path))?, setting });
        let of_user = || {
            let n_processes = soft_limit(Resource::Nproc)?;
            // The kernel lifts the limit for privileged processes.
            let holds = !has_privilege(Privilege::RaiseLimits);
            holds.then_some(Self { n_processes, setting: "ulimit -u" })
        };
        let of_group = || Some(Self { n_processes: most_in_group()?, setting: "pids.max of the control group" });
        let limits = [
            of_file("/proc/sys/kernel/pid_max", "kernel.pid_max"),
            of_file("/proc/sys/kernel/threads-max", "kernel.threads-max"),
            of_user(),
            of_group(),
        ];
        limits.into_iter().flatten().min_by_key(|limit| limit.n_processes)
    }
}

/// The lowest limit of the control group of this process and of those around it.
fn most_in_group() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let (root, path) = groups.lines().find_map(place)?;
    let own = root.join(path.trim_start_matches('/'));
    let around = own.ancestors().take_while(|group| group.starts_with(&root));
    around.filter_map(|group| number(&group.join("pids.max"))).min()
}

/// The place of the controller for processes, and the path of the group in it, from a line of `/proc/self/cgroup`.
fn place(line: &str) -> Option<(PathBuf, &str)> {
    let mut fields = line.splitn(3, ':');
    let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
    match controllers {
        "" => Some((PathBuf::from("/sys/fs/cgroup"), path)),
        _ if controllers.split(',').any(|name| name == "pids") => Some((PathBuf::from("/sys/fs/cgroup/pids"), path)),
        _ => None,
    }
}

/// The number in a file; `None`: there is no such file, or the word `max` in it.
fn number(path: &Path) -> Option<u64> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_found_in_both_versions() {
        let (second, first) = (place("0::/user.slice/a").expect("a group"), place("3:cpu,pids:/b").expect("a group"));
        assert_eq!((second.0.as_path(), second.1), (Path::new("/sys/fs/cgroup"), "/user.slice/a"));
        assert_eq!((first.0.as_path(), first.1), (Path::new("/sys/fs/cgroup/pids"), "/b"));
        assert_eq!(place("4:blkio:/b"), None);
    }

    #[test]
    fn the_limit_is_not_above_the_number_of_ids() {
        if let Some(n_ids) = number(Path::new("/proc/sys/kernel/pid_max")) {
            assert!(ProcessLimit::find().is_some_and(|limit| limit.n_processes <= n_ids));
        }
    }
}
