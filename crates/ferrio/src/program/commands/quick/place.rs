//! Place of the file: a directory, and a name if one was given. Targets that must not be written to are refused here.
//!
//! Must not know: sizes, tests. Start reading at [`FilePlace::find`].

use anyhow::{Context, Result, anyhow, bail};
use ferrio_job::suggest::did_you_mean;
use ferrio_sys::errno::ENOENT;
use ferrio_sys::file::{FileInfo, FileKind};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FilePlace {
    /// The directory, absolute and without links, so that it stays the same.
    pub(super) directory: PathBuf,
    /// Name of the file; `None`: a generated name, which shows that it belongs to ferrio.
    pub(super) file_name: Option<String>,
}

impl FilePlace {
    /// The place that an argument means: a directory that is there or, if `is_file`, a file that is not. A misspelt
    /// directory is never taken for a file: the disk of its parent would be measured.
    ///
    /// # Errors
    /// Devices, files that are there, directories that are not.
    pub(super) fn find(target: &Path, is_file: bool) -> Result<Self> {
        let shown = target.display();
        match FileInfo::of_path(target) {
            Ok(info) if info.kind == FileKind::Directory && is_file => {
                bail!("{shown} is a directory: --file takes the name of a file that does not exist yet")
            }
            Ok(info) if info.kind == FileKind::Directory => Ok(Self { directory: absolute(target)?, file_name: None }),
            Ok(info) if matches!(info.kind, FileKind::Block | FileKind::Character) => {
                bail!("{shown} is a device: only a new file is written to, never a device; name a directory")
            }
            Ok(_) => {
                bail!("{shown} is there already: name a directory, or with --file a file that does not exist yet")
            }
            Err(_) if target.symlink_metadata().is_ok() => {
                bail!(
                    "{shown} is a symbolic link to nowhere: name a directory, or with --file a file that does not exist yet"
                )
            }
            Err(error) if error.errno() == Some(ENOENT) && is_file => Self::of_new_file(target),
            Err(error) if error.errno() == Some(ENOENT) => bail!("{}", missing(target)),
            Err(error) => Err(error.into()),
        }
    }

    fn of_new_file(target: &Path) -> Result<Self> {
        let shown = target.display();
        let is_directory_name = target.as_os_str().as_bytes().ends_with(b"/");
        let (Some(name), Some(parent)) = (target.file_name().filter(|_| !is_directory_name), target.parent()) else {
            bail!("there is no directory {shown}");
        };
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        if !parent.is_dir() {
            bail!("there is no {shown}, and no directory {} in which it could be made", parent.display());
        }
        let name = name.to_str().ok_or_else(|| anyhow!("the name {shown} is not UTF-8"))?;
        Ok(Self { directory: absolute(parent)?, file_name: Some(name.to_owned()) })
    }
}

/// The error for a directory that does not exist.
fn missing(target: &Path) -> String {
    let shown = target.display();
    let meant = near_directory(target).map(|near| format!("; did you mean {}?", near.display())).unwrap_or_default();
    format!("there is no directory {shown}{meant} (--file measures with a new file of that name)")
}

/// The directory beside it whose name is nearest.
fn near_directory(target: &Path) -> Option<PathBuf> {
    let name = target.file_name()?.to_str()?;
    let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty());
    let entries = std::fs::read_dir(parent.unwrap_or(Path::new("."))).ok()?.flatten();
    let mut names: Vec<String> = entries
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    let near = did_you_mean(name, names.iter().map(String::as_str))?;
    Some(parent.map_or_else(|| PathBuf::from(near), |parent| parent.join(near)))
}

fn absolute(directory: &Path) -> Result<PathBuf> {
    std::fs::canonicalize(directory).with_context(|| format!("cannot find the way to {}", directory.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(target: impl AsRef<Path>) -> String {
        FilePlace::find(target.as_ref(), false).unwrap_err().to_string()
    }

    #[test]
    fn a_directory_or_with_its_switch_a_new_file() {
        let directory = std::fs::canonicalize(std::env::temp_dir()).unwrap();
        assert_eq!(
            FilePlace::find(&directory, false).unwrap(),
            FilePlace { directory: directory.clone(), file_name: None }
        );
        let name = format!("ferrio-no-such-file-{}", std::process::id());
        let expected = FilePlace { directory: directory.clone(), file_name: Some(name.clone()) };
        assert_eq!(FilePlace::find(&directory.join(name), true).unwrap(), expected);
        let here = std::env::current_dir().unwrap();
        let expected = FilePlace { directory: here, file_name: Some("ferrio-no-such-file".to_owned()) };
        assert_eq!(FilePlace::find(Path::new("ferrio-no-such-file"), true).unwrap(), expected);
        assert!(refusal("ferrio-no-such-file").contains("no directory ferrio-no-such-file"));
    }

    #[test]
    fn what_is_refused() {
        assert!(refusal("/dev/null").contains("is a device"));
        assert!(refusal("/proc/self/status").contains("is there already"));
        assert!(refusal("/no/such/directory/file").contains("no directory /no/such/directory"));
        assert!(refusal("/no-such-directory/").contains("no directory /no-such-directory/"));
        assert!(refusal("/proc/self/status/file").contains("/proc/self/status/file"));
    }
}
