//! The key that a server shares with its clients: a file of the user, which is made when it is first needed.

use crate::fleet::launch::{MeetingError, read_key};
use crate::fleet::wire::secrets::{RunKey, nonce};
use std::fs;
use std::io;
use std::path::Path;

/// The key in this file; a new one, if there is no such file.
///
/// # Errors
/// The file cannot be made or read, or others could have read it.
pub fn shared_key(path: &Path) -> Result<RunKey, MeetingError> {
    match read_key(path) {
        Ok((key, _)) => return Ok(key),
        Err(MeetingError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let key = RunKey::new().map_err(|source| MeetingError::Key { path: path.to_owned(), source })?;
    make(path, &key).map_err(|source| MeetingError::File { path: path.to_owned(), source })?;
    // Another process may have been first.
    read_key(path).map(|(key, _)| key)
}

/// Makes the file, unless it is there.
fn make(path: &Path, key: &RunKey) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let beside = path.with_extension(format!("{}.new", nonce().map_err(io::Error::other)?));
    ferrio_sys::output::write_private(&beside, format!("{}\n", key.to_text()).as_bytes())?;
    let linked = fs::hard_link(&beside, path);
    fs::remove_file(&beside)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_first_makes_the_key_of_all() {
        let directory = std::env::temp_dir().join(format!("ferrio-key-{}", std::process::id()));
        let path = directory.join("deep/server.key");
        let keys: Vec<RunKey> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..4).map(|_| scope.spawn(|| shared_key(&path))).collect();
            all.into_iter().map(|one| one.join().expect("no panic").expect("a key")).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("permissions");
        assert!(matches!(shared_key(&path), Err(MeetingError::Open(_))));
        fs::remove_dir_all(&directory).expect("it goes");
    }
}
