//! Control groups: where their file systems are mounted, and tasks moved into a group and out of it.
//!
//! Must not know: jobs. Start reading at [`Hierarchy::find`]; tests hand in mounts of their own.

use crate::error::{Context, Error, Result};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The place of the control groups of block I/O.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hierarchy {
    /// Mount point of its file system.
    pub root: PathBuf,
    /// Version 2, with all controllers in one place; else version 1, that of the controller `blkio`.
    pub is_v2: bool,
}

impl Hierarchy {
    /// The hierarchy of this machine: version 1 if `blkio` is mounted, otherwise version 2.
    pub fn find() -> Result<Self> {
        let mounts = std::fs::read_to_string("/proc/mounts").context("read", "/proc/mounts")?;
        Self::parse(&mounts).ok_or(Error::Unavailable {
            what: "cgroup",
            reason: "neither cgroup blkio nor cgroup2 is mounted".to_owned(),
        })
    }

    /// The same from the text of `/proc/mounts`.
    fn parse(mounts: &str) -> Option<Self> {
        let fields = |line: &str| -> Option<(PathBuf, bool, bool)> {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            let [_, place, kind, options, ..] = words[..] else { return None };
            let is_blkio = kind == "cgroup" && options.split(',').any(|option| option == "blkio");
            Some((PathBuf::from(place.replace("\\040", " ")), is_blkio, kind == "cgroup2"))
        };
        let mounts: Vec<_> = mounts.lines().filter_map(fields).collect();
        let v1 = mounts.iter().find(|mount| mount.1).map(|mount| Self { root: mount.0.clone(), is_v2: false });
        v1.or_else(|| mounts.iter().find(|mount| mount.2).map(|mount| Self { root: mount.0.clone(), is_v2: true }))
    }

    /// Makes a group with this name unless it is there. True: it was not.
    ///
    /// # Errors
    /// Also fails for a name that leads out of the hierarchy.
    pub fn create(&self, name: &str) -> Result<bool> {
        let path = self.group(name)?;
        match std::fs::create_dir(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error).context("mkdir", path.display()),
        }
    }

    /// True if there is a group of this name.
    pub fn has(&self, name: &str) -> bool {
        self.group(name).is_ok_and(|path| path.is_dir())
    }

    /// Removes a group. Others may still be in it: then it stays.
    pub fn remove(&self, name: &str) -> Result<()> {
        let path = self.group(name)?;
        std::fs::remove_dir(&path).context("rmdir", path.display())
    }

    /// Moves a task into a group; an empty name is the root. In version 1 that is a thread, in version 2 the process.
    pub fn enter(&self, name: &str, task: u32) -> Result<()> {
        let path = self.group(name)?.join(if self.is_v2 { "cgroup.procs" } else { "tasks" });
        write(&path, task)
    }

    /// Sets the weight of a group, 100 to 1000. Version 1 only.
    pub fn set_weight(&self, name: &str, weight: u32) -> Result<()> {
        let path = self.group(name)?.join("blkio.weight");
        write(&path, weight)
    }

    fn group(&self, name: &str) -> Result<PathBuf> {
        let is_below = Path::new(name).components().all(|part| matches!(part, std::path::Component::Normal(_)));
        if is_below { Ok(self.root.join(name)) } else { Err(Error::Parse { what: "cgroup", text: name.to_owned() }) }
    }
}

/// The directories of the control group of this process for a controller such as `cpu`, and of the groups above it, as far as they
/// are visible; its own comes first. Settings of all of them apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnGroups {
    /// Version 2; else version 1, that of this controller.
    pub is_v2: bool,
    /// At least one.
    pub directories: Vec<PathBuf>,
}

impl OwnGroups {
    /// Those of a controller: version 1 where the controller is mounted in that version, otherwise version 2. `None`: neither is
    /// mounted, or the group of this process lies outside of what is mounted.
    pub fn find(controller: &str) -> Option<Self> {
        let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
        Self::parse(controller, &groups, &mounts)
    }

    /// The same from the texts of `/proc/self/cgroup` (`number:controllers:path`) and `/proc/self/mountinfo`.
    fn parse(controller: &str, groups: &str, mounts: &str) -> Option<Self> {
        let path_of = |is_wanted: &dyn Fn(&str) -> bool| {
            let mut lines = groups.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
            lines.find(|(controllers, _)| is_wanted(controllers)).map(|(_, path)| path)
        };
        let has = |list: &str| list.split(',').any(|word| word == controller);
        let v1 = path_of(&has).zip(group_mount(mounts, "cgroup", &has));
        let v2 = || path_of(&str::is_empty).zip(group_mount(mounts, "cgroup2", &|_| true));
        let (is_v2, (path, (root, mount_point))) = v1.map(|v1| (false, v1)).or_else(|| Some((true, v2()?)))?;
        // A container may see only a part of the hierarchy, and groups that are not in it as `/../name`.
        let below = Path::new(path).strip_prefix(&root).ok()?;
        if !below.components().all(|part| matches!(part, std::path::Component::Normal(_))) {
            return None;
        }
        let directories = below.ancestors().map(|part| mount_point.join(part)).collect();
        Some(Self { is_v2, directories })
    }
}

/// The root within the hierarchy, and the mount point, of a file system of control groups. A line of mountinfo: `36 35 98:0 /root
/// /mount/point options optional-fields - type source super-options`.
fn group_mount(mounts: &str, kind: &str, is_wanted: &dyn Fn(&str) -> bool) -> Option<(String, PathBuf)> {
    mounts.lines().find_map(|line| {
        let (place, what) = line.split_once(" - ")?;
        let mut what = what.split(' ');
        let is_one = what.next() == Some(kind) && what.nth(1).is_some_and(is_wanted);
        let mut place = place.split(' ').skip(3);
        let (root, mount_point) = (place.next()?, place.next()?);
        is_one.then(|| (root.replace("\\040", " "), PathBuf::from(mount_point.replace("\\040", " "))))
    })
}

/// The files of a group are there from the start, and take no more than to be written to.
fn write(path: &Path, number: u32) -> Result<()> {
    let file = std::fs::OpenOptions::new().write(true).open(path);
    file.and_then(|file| (&file).write_all(number.to_string().as_bytes())).context("write", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::TempDir;

    #[test]
    fn groups_of_this_process_are_found_with_those_above() {
        let mounts = "30 20 0:25 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
                      31 20 0:26 /docker/abc /sys/fs/cgroup/mem\\040ory rw shared:5 - cgroup cgroup rw,memory\n\
                      32 20 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let groups = "5:cpu,cpuacct:/a/b\n4:memory:/docker/abc/x\n3:pids:/\n0::/user/run\n";
        let found = |controller: &str| {
            let found = OwnGroups::parse(controller, groups, mounts)?;
            Some((found.is_v2, found.directories.iter().map(|path| path.display().to_string()).collect::<Vec<_>>()))
        };
        let paths = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
        let cpu = ["/sys/fs/cgroup/cpu/a/b", "/sys/fs/cgroup/cpu/a", "/sys/fs/cgroup/cpu/"];
        assert_eq!(found("cpu"), Some((false, paths(&cpu))));
        assert_eq!(found("memory"), Some((false, paths(&["/sys/fs/cgroup/mem ory/x", "/sys/fs/cgroup/mem ory/"]))));
        // Not mounted in version 1.
        let unified = ["/sys/fs/cgroup/unified/user/run", "/sys/fs/cgroup/unified/user", "/sys/fs/cgroup/unified/"];
        assert_eq!(found("io"), Some((true, paths(&unified))));
        for outside in ["0::/../other", "0:", "", "4:memory:/elsewhere"] {
            assert_eq!(OwnGroups::parse("memory", outside, mounts), None, "{outside}");
        }
        assert_eq!(OwnGroups::parse("cpu", groups, "x\n - cgroup\n1 2 3 - cgroup2 a b\n"), None);
    }

    #[test]
    fn the_first_version_comes_first() {
        let v1 = "tmpfs /sys/fs/cgroup tmpfs rw 0 0\ncgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n\
                  cgroup /sys/fs/cgroup/blk\\040io cgroup rw,relatime,blkio 0 0\n";
        let v2 = "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        let found = |text: &str| Hierarchy::parse(text).map(|found| (found.root, found.is_v2));
        assert_eq!(found(&format!("{v2}{v1}")), Some((PathBuf::from("/sys/fs/cgroup/blk io"), false)));
        assert_eq!(found(v2), Some((PathBuf::from("/sys/fs/cgroup/unified"), true)));
        assert_eq!(found("proc /proc proc rw 0 0\nshort\n"), None);
    }

    #[test]
    fn groups_are_made_entered_and_removed() {
        for (is_v2, file) in [(false, "tasks"), (true, "cgroup.procs")] {
            let dir = TempDir::new("cgroup");
            let groups = Hierarchy { root: dir.path().to_owned(), is_v2 };
            assert!(groups.create("g").unwrap());
            assert!(!groups.create("g").unwrap());
            assert!(groups.has("g") && !groups.has("h"));
            assert_eq!(groups.enter("g", 77).unwrap_err().errno(), Some(libc::ENOENT), "no file is made");
            let path = dir.path().join("g").join(file);
            std::fs::write(&path, "").unwrap();
            groups.enter("g", 77).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "77");
            std::fs::write(dir.path().join(file), "").unwrap();
            groups.enter("", 78).unwrap();
            assert_eq!(std::fs::read_to_string(dir.path().join(file)).unwrap(), "78");
            std::fs::write(dir.path().join("g/blkio.weight"), "").unwrap();
            groups.set_weight("g", 200).unwrap();
            assert_eq!(std::fs::read_to_string(dir.path().join("g/blkio.weight")).unwrap(), "200");
            assert!(groups.remove("g").is_err(), "somebody is in it");
            std::fs::remove_file(&path).unwrap();
            std::fs::remove_file(dir.path().join("g/blkio.weight")).unwrap();
            groups.remove("g").unwrap();
            assert_eq!(groups.create("a/b").unwrap_err().errno(), Some(libc::ENOENT));
            for name in ["..", "a/../..", "/etc"] {
                assert!(groups.create(name).is_err(), "{name}");
            }
        }
    }
}
