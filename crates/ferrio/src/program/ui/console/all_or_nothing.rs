//! Writing a text whole or not at all, as far as the file lets us.
//!
//! Must not know: the meaning of the text. Start reading at [`write()`].

use std::fs::File;
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::time::Duration;

/// Time between two attempts to write to a full pipe that does not wait by itself.
const PATIENCE: Duration = Duration::from_millis(1);

/// Writes all of `bytes`. If that fails, the written part is removed from a regular file again, unless another process
/// wrote after it; from a pipe it cannot be removed.
pub(super) fn write(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    let (n_written, result) = write_counted(file, bytes);
    if result.is_err() && n_written > 0 {
        // The failure of the write is the one to tell.
        let _ = take_back(file, n_written);
    }
    result
}

/// As [`write()`], for a standard stream.
pub(super) fn write_to(stream: &mut (impl Write + AsFd), bytes: &[u8]) -> io::Result<()> {
    // Help and tables are printed in the usual way, and may not have left yet.
    stream.flush()?;
    if let Ok(descriptor) = stream.as_fd().try_clone_to_owned() {
        return write(&mut File::from(descriptor), bytes);
    }
    // Without a free descriptor the written part cannot be removed after a failure.
    stream.write_all(bytes)?;
    stream.flush()
}

fn write_counted(file: &mut impl Write, bytes: &[u8]) -> (u64, io::Result<()>) {
    let mut rest = bytes;
    while !rest.is_empty() {
        match file.write(rest) {
            Ok(0) => return ((bytes.len() - rest.len()) as u64, Err(ErrorKind::WriteZero.into())),
            Ok(n_written) => rest = &rest[n_written..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // Another program has made the pipe non-blocking, and its reader is slow: try again later.
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(PATIENCE),
            Err(error) => return ((bytes.len() - rest.len()) as u64, Err(error)),
        }
    }
    (bytes.len() as u64, Ok(()))
}

/// Ends a regular file `n_bytes` before where it was written last. That position is right for files opened to append
/// too, and for those that other programs have written to before.
fn take_back(file: &mut File, n_bytes: u64) -> io::Result<()> {
    let metadata = file.metadata()?;
    let end = file.stream_position()?;
    if metadata.is_file() && metadata.len() == end {
        let start = end.saturating_sub(n_bytes);
        file.set_len(start)?;
        file.seek(SeekFrom::Start(start))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file_with(name: &str, content: &str) -> (std::path::PathBuf, File) {
        let path = std::env::temp_dir().join(format!("ferrio-whole-{}-{name}", std::process::id()));
        std::fs::write(&path, content).expect("a file");
        let file = File::options().read(true).append(true).open(&path).expect("it is there");
        (path, file)
    }

    /// Accepts a few bytes per call, up to a total size.
    struct Small(Vec<u8>, usize);

    impl Write for Small {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let n_taken = bytes.len().min(3).min(self.1 - self.0.len());
            self.0.extend(&bytes[..n_taken]);
            if n_taken == 0 { Err(ErrorKind::StorageFull.into()) } else { Ok(n_taken) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn short_writes_go_on_where_they_stopped() {
        let mut small = Small(Vec::new(), 10);
        let (n_written, result) = write_counted(&mut small, b"0123456789");
        assert!((n_written, result.is_ok()) == (10, true) && small.0 == b"0123456789");
        let (n_written, result) = write_counted(&mut Small(Vec::new(), 8), b"0123456789");
        assert_eq!((n_written, result.map_err(|error| error.kind())), (8, Err(ErrorKind::StorageFull)));
    }

    /// Is full each other time.
    struct Slow(Vec<u8>, bool);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(ErrorKind::WouldBlock.into());
            }
            self.0.extend(&bytes[..1]);
            Ok(1)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_pipe_is_waited_for() {
        let mut slow = Slow(Vec::new(), false);
        let (n_written, result) = write_counted(&mut slow, b"0123");
        assert!((n_written, result.is_ok()) == (4, true) && slow.0 == b"0123");
    }

    #[test]
    fn what_stood_before_stays() {
        let (path, mut file) = file_with("before", "before");
        file.write_all(b"half of").expect("there is room");
        take_back(&mut file, 7).expect("a regular file");
        file.write_all(b", after").expect("there is room");
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "before, after");
        std::fs::remove_file(path).expect("it is there");
    }

    #[test]
    fn what_others_have_written_behind_stays() {
        let (path, mut file) = file_with("behind", "");
        file.write_all(b"half").expect("there is room");
        let mut other = File::options().append(true).open(&path).expect("it is there");
        other.write_all(b" other").expect("there is room");
        take_back(&mut file, 4).expect("a regular file");
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "half other");
        std::fs::remove_file(path).expect("it is there");
    }
}
