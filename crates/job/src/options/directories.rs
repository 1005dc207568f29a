//! The directories in which a job has its files.
//!
//! Must not know: names of files. Start reading at [`directory`] and [`opendir`].

use crate::error::JobError;
use crate::message::UserLine;
use crate::options::draft::{ApplyContext, Draft};
use crate::value::Value;
use crate::value::lists::colon_names;
use ferrio_spec::DirectoryPer;
use ferrio_units::byte_text;
use std::path::{Path, PathBuf};

type Applied = Result<(), JobError>;
type Context<'a, 'b> = &'a mut ApplyContext<'b>;

pub(crate) fn directory(draft: &mut Draft, value: &Value, context: Context) -> Applied {
    let mut names = colon_names(value.text()?);
    if names.is_empty() {
        // Colons alone name no directory, which is refused like one that is not there.
        names.push(String::new());
    }
    draft.job.target.directories = checked(&names, "lstat", context)?;
    Ok(())
}

pub(crate) fn directory_per(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.target.directory_per = if value.word()? == "file" { DirectoryPer::File } else { DirectoryPer::Clone };
    Ok(())
}

/// A name with colons that is a directory is this directory, as in fio, which takes one directory. Any other name is split.
pub(crate) fn opendir(draft: &mut Draft, value: &Value, context: Context) -> Applied {
    let tree = value.text()?;
    let mut names = colon_names(tree);
    if names.len() != 1 && (names.is_empty() || context.environment.check_directory(&path_of(tree)).is_ok()) {
        names = vec![tree.to_owned()];
    }
    draft.job.target.opendirs.extend(checked(&names, "opendir", context)?);
    Ok(())
}

/// The paths of directories that are there. `call`: the system call that an error names.
fn checked(names: &[String], call: &'static str, context: Context) -> Result<Vec<PathBuf>, JobError> {
    let path = |name: &String| {
        let path = path_of(name);
        context.environment.check_directory(&path).map(|()| path).map_err(|error| JobError::System {
            call,
            reason: ferrio_units::error_text(&error),
            line: UserLine::named(format!("{name} is not a directory")),
        })
    };
    names.iter().map(path).collect()
}

fn path_of(name: &str) -> PathBuf {
    Path::new(&byte_text::to_os_string(name)).to_path_buf()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::UserMessages;
    use crate::options::{find_general, set};
    use crate::testing::World;

    /// The trees of a job with these values of `opendir`, on a machine with these directories.
    fn trees(there: &[&str], values: &[&str]) -> Result<Vec<String>, JobError> {
        let world = World { directories: there.iter().map(PathBuf::from).collect(), ..World::default() };
        let mut draft = Draft::new();
        for value in values {
            let mut messages = UserMessages::new();
            let mut context = ApplyContext { environment: &world, readonly: false, messages: &mut messages };
            set::set(&mut draft, find_general("opendir").unwrap(), Some(value), &mut context)?;
        }
        Ok(draft.job.target.opendirs.iter().map(|path| path.display().to_string()).collect())
    }

    #[test]
    fn trees_are_joined_by_colons_and_add_up() {
        let there = ["/a", "/b", "/c:d"];
        assert_eq!(trees(&there, &["/a:/b"]).unwrap(), ["/a", "/b"]);
        assert_eq!(trees(&there, &["/a", "/b:/a"]).unwrap(), ["/a", "/b", "/a"]);
        assert_eq!(trees(&there, &["/a:/c\\:d:/b"]).unwrap(), ["/a", "/c:d", "/b"]);
        assert_eq!(trees(&there, &["/c\\:d"]).unwrap(), ["/c:d"]);
    }

    // As seen on fio 3.41, which opens `c:d` as it stands.
    #[test]
    fn a_directory_with_a_colon_in_its_name_needs_no_escape() {
        assert_eq!(trees(&["/c", "d", "/c:d"], &["/c:d"]).unwrap(), ["/c:d"]);
        assert_eq!(trees(&["/c", "d"], &["/c:d"]).unwrap(), ["/c", "d"]);
    }

    #[test]
    fn a_tree_that_is_not_there_is_named() {
        for (value, name) in [("/a:/x", "/x"), ("/x", "/x"), (":", ":")] {
            let error = trees(&["/a"], &[value]).unwrap_err();
            let expected = format!("fio: {name} is not a directory");
            assert!(matches!(&error, JobError::System { call: "opendir", line, .. } if *line == expected), "{error:?}");
        }
    }

    #[test]
    fn directories_are_taken_by_clones_unless_files_take_them() {
        let of = |value| crate::testing::draft_of(&[("directory_per", value)]).unwrap().job.target.directory_per;
        assert_eq!(Draft::new().job.target.directory_per, DirectoryPer::Clone);
        assert_eq!([of("clone"), of("file")], [DirectoryPer::Clone, DirectoryPer::File]);
        assert!(crate::testing::draft_of(&[("directory_per", "job")]).is_err());
    }
}
