//! Folders of work that may be killed at any moment: one program works in a folder, and a file of it has its name when it is whole.
//!
//! Must not know: what is in the files. Start reading at [`lock`].

use super::{AtomicFile, ProtectedPaths};
use std::fs::{File, TryLockError};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Name of the file that is locked. It is no file of the work, because those are replaced.
const LOCK: &str = "lock";

/// How long processes of a program that was killed may take to end: each of them holds the lock until its last I/O is done.
const PATIENCE: Duration = Duration::from_secs(3);
/// Time between two attempts.
const PAUSE: Duration = Duration::from_millis(20);

/// Takes a folder for this program, until the file that is returned is dropped. `None`: another program has it, and goes on having it for some seconds.
///
/// # Errors
/// The folder cannot be written to, or its file system has no locks.
pub fn lock(folder: &Path) -> io::Result<Option<File>> {
    lock_within(folder, PATIENCE)
}

fn lock_within(folder: &Path, cancellation: Duration) -> io::Result<Option<File>> {
    let file = File::options().create(true).append(true).open(folder.join(LOCK))?;
    let begin = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) if begin.elapsed() < cancellation => thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Writes a file that has its name when it is whole and on the disk.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    AtomicFile::create(path, &Arc::new(ProtectedPaths::default()))?.write(content)
}

/// Reads a file, but not more than `most_bytes` of it.
pub fn read(path: &Path, most_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most_bytes).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::TempDir;

    #[test]
    fn one_program_works_in_a_folder() {
        let folder = TempDir::new("work-folder");
        let held = lock(folder.path()).expect("a folder").expect("free");
        assert!(lock_within(folder.path(), Duration::ZERO).expect("a folder").is_none());
        drop(held);
        assert!(lock(folder.path()).expect("a folder").is_some());
        assert!(lock(&folder.path().join("none")).is_err());
    }

    /// Processes of a program that was killed hold the lock until they have ended, too.
    #[test]
    fn a_lock_that_is_soon_free_is_waited_for() {
        let folder = TempDir::new("work-folder-soon");
        let held = lock(folder.path()).expect("a folder").expect("free");
        thread::scope(|scope| {
            let waiting = scope.spawn(|| lock_within(folder.path(), Duration::from_secs(600)));
            thread::sleep(3 * PAUSE);
            drop(held);
            assert!(waiting.join().expect("no panic").expect("a folder").is_some());
        });
    }

    #[test]
    fn files_are_replaced_whole_and_read_in_part() {
        let folder = TempDir::new("work-folder-files");
        let path = folder.path().join("plan");
        for content in ["one", "another"] {
            write(&path, content.as_bytes()).expect("written");
            assert_eq!(read(&path, 1 << 20).expect("read"), content.as_bytes());
        }
        assert_eq!(read(&path, 3).expect("read"), b"ano");
    }
}
