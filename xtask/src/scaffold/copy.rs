//! A copy of the repository: files that git tracks, and new files that it does not ignore.
//!
//! Start reading at [`repository`].

use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::Command;

/// Makes `to` a copy of the work tree at `root`. Unchanged files in `to` keep their times, so that cargo builds only
/// changes; all other files there are replaced or removed.
pub(super) fn repository(root: &Path, to: &Path) -> Result<()> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .context("cannot run git")?;
    ensure!(listed.status.success(), "git ls-files failed in {}", root.display());
    if to.exists() {
        std::fs::remove_dir_all(to).with_context(|| format!("cannot remove {}", to.display()))?;
    }
    let listed = String::from_utf8(listed.stdout).context("names of files are text")?;
    let is_there = |name: &&str| root.join(name).is_file();
    for name in listed.split('\0').filter(|name| !name.is_empty()).filter(is_there) {
        let (from, to) = (root.join(name), to.join(name));
        let directory = to.parent().context("a file has a directory")?;
        std::fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
        let times = std::fs::metadata(&from).and_then(|facts| facts.modified());
        std::fs::copy(&from, &to).with_context(|| format!("cannot copy {}", from.display()))?;
        if let Ok(modified) = times {
            let copy = std::fs::File::options().write(true).open(&to);
            // A copy with a newer time is built again, no more.
            let _ = copy.and_then(|copy| copy.set_modified(modified));
        }
    }
    Ok(())
}
