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
    ///
    /// # Errors
    /// None is mounted.
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
