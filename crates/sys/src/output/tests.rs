//! Outputs beside files that are needed, with links, devices and other owners.

use super::*;
use crate::test_support::{LoopDevice, TempDir};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::sync::Arc;

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// Files that lead to `data`, which is there or not.
fn names_of_data(directory: &Path, is_there: bool) -> Vec<PathBuf> {
    let at = |name: &str| directory.join(name);
    let data = at("data");
    symlink("data", at("soft")).unwrap();
    symlink(directory, at("around")).unwrap();
    let mut names = vec![data.clone(), at("soft"), at("around/data"), at("./around/./soft")];
    if is_there {
        std::fs::write(&data, "precious").unwrap();
        std::fs::hard_link(&data, at("hard")).unwrap();
        names.push(at("hard"));
    }
    names.truncate(if is_there { names.len() } else { 3 });
    names
}

#[test]
fn an_output_is_no_file_that_is_needed() {
    for role in [FileRole::Input, FileRole::Target, FileRole::Output] {
        for is_there in [true, false] {
            let directory = TempDir::new("kept");
            let names = names_of_data(directory.path(), is_there);
            let kept = Arc::new(ProtectedPaths::new([(directory.path().join("data"), role)]));
            for name in names {
                for start in [OutputStart::Empty, OutputStart::Append] {
                    let error = open(&name, start, &kept).unwrap_err();
                    assert!(error.to_string().contains("the same file as"), "{}: {error}", name.display());
                }
                AtomicFile::create(&name, &kept).unwrap_err();
            }
            assert_eq!(std::fs::read(directory.path().join("data")).ok(), is_there.then(|| b"precious".to_vec()));
            open(&directory.path().join("other"), OutputStart::Empty, &kept).unwrap();
        }
    }
}

#[test]
fn a_name_that_a_job_has_used_meanwhile_is_left_alone() {
    let directory = TempDir::new("meanwhile");
    let (page, target) = (directory.path().join("page"), directory.path().join("target"));
    let kept = Arc::new(ProtectedPaths::new([(target.clone(), FileRole::Target)]));
    let whole = AtomicFile::create(&page, &kept).unwrap();
    kept.look_up();
    std::fs::write(&target, "data").unwrap();
    symlink(&target, &page).unwrap();
    whole.write(b"a page").unwrap_err();
    assert_eq!(text(&target), "data");
}

#[test]
fn devices_and_pipes_are_shared() {
    let kept = Arc::new(ProtectedPaths::new([(PathBuf::from("/dev/null"), FileRole::Target)]));
    open(Path::new("/dev/null"), OutputStart::Empty, &kept).unwrap().write_all(b"a report").unwrap();
    AtomicFile::create(Path::new("/dev/null"), &kept).unwrap().write(b"a page").unwrap();
    assert!(!Path::new("/dev/null").metadata().unwrap().is_file());
}

#[test]
fn no_text_goes_onto_a_block_device() {
    let Some(device) = LoopDevice::new("no_text_goes_onto_a_block_device", 1 << 20) else { return };
    let kept = Arc::default();
    for start in [OutputStart::Empty, OutputStart::Append] {
        let error = open(device.path(), start, &kept).unwrap_err();
        assert!(error.to_string().contains("block device"), "{error}");
    }
    assert!(AtomicFile::create(device.path(), &kept).unwrap_err().to_string().contains("block device"));
}

#[test]
fn contents_begin_as_wanted() {
    let directory = TempDir::new("start");
    let path = directory.path().join("file");
    let kept = ProtectedPaths::default();
    open(&path, OutputStart::New, &kept).unwrap().write_all(b"one").unwrap();
    assert_eq!(open(&path, OutputStart::New, &kept).unwrap_err().kind(), ErrorKind::AlreadyExists);
    open(&path, OutputStart::Append, &kept).unwrap().write_all(b" two").unwrap();
    assert_eq!(text(&path), "one two");
    open(&path, OutputStart::Empty, &kept).unwrap().write_all(b"3").unwrap();
    assert_eq!(text(&path), "3");
}

#[test]
fn mode_and_owner_stay() {
    let directory = TempDir::new("mode");
    let path = directory.path().join("file");
    std::fs::write(&path, "old").unwrap();
    let is_root = std::os::unix::fs::chown(&path, Some(12_345), Some(54_321)).is_ok();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    AtomicFile::create(&path, &Arc::default()).unwrap().write(b"new").unwrap();
    let facts = path.metadata().unwrap();
    assert_eq!((facts.mode() & 0o7777, text(&path).as_str()), (0o640, "new"));
    if is_root {
        assert_eq!((facts.uid(), facts.gid()), (12_345, 54_321));
    }
}

#[test]
fn what_is_not_written_leaves_nothing() {
    let directory = TempDir::new("unwritten");
    let path = directory.path().join("file");
    drop(AtomicFile::create(&path, &Arc::default()).unwrap());
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    std::fs::write(&path, "old").unwrap();
    drop(AtomicFile::create(&path, &Arc::default()).unwrap());
    assert_eq!(text(&path), "old");
}

#[test]
fn a_private_file_follows_no_link() {
    let directory = TempDir::new("private");
    let (link, victim) = (directory.path().join("link"), directory.path().join("victim"));
    symlink(&victim, &link).unwrap();
    assert_eq!(make_private(&link).unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert!(!victim.exists());
    make_private(&victim).unwrap();
    assert_eq!(victim.metadata().unwrap().mode() & 0o7777, 0o600);
}

/// A new file may have the inode of one that was removed.
#[test]
fn an_inode_that_is_no_longer_needed_is_free() {
    let directory = TempDir::new("freed");
    let (needed, output) = (directory.path().join("needed"), directory.path().join("output"));
    std::fs::write(&needed, "data").unwrap();
    let kept = ProtectedPaths::new([(needed.clone(), FileRole::Target)]);
    kept.look_up();
    std::fs::hard_link(&needed, &output).unwrap();
    open(&output, OutputStart::Empty, &kept).unwrap_err();
    std::fs::remove_file(&needed).unwrap();
    open(&output, OutputStart::Empty, &kept).unwrap();
}
