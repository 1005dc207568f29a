//! Waiting for any of several descriptors.
//!
//! Must not know: what is read from them. Start reading at [`wait_readable`].

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::BorrowedFd;
use std::time::Duration;

/// Waits until one of the descriptors can be read or is closed at the other end, for at most `limit`. Returns early when
/// a signal handler ran. No descriptor: a plain sleep.
pub fn wait_readable(fds: &[BorrowedFd<'_>], limit: Duration) {
    let mut polled: Vec<PollFd<'_>> = fds.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
    let limit =
        Timespec { tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX), tv_nsec: limit.subsec_nanos().into() };
    // EINTR and a lack of kernel memory both mean: look again.
    let _ = rustix::event::poll(&mut polled, Some(&limit));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsFd;

    #[test]
    fn wakes_for_data_and_for_the_end() {
        let (mut writer, reader) = std::os::unix::net::UnixStream::pair().unwrap();
        wait_readable(&[reader.as_fd()], Duration::ZERO);
        writer.write_all(b"x").unwrap();
        // Without data these would wait an hour.
        wait_readable(&[reader.as_fd()], Duration::from_secs(3600));
        drop(writer);
        wait_readable(&[reader.as_fd()], Duration::from_secs(3600));
    }
}
