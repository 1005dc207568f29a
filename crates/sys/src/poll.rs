//! Waiting for any of several descriptors.
//!
//! Must not know: the data. Start reading at [`wait_readable`].

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::BorrowedFd;
use std::time::Duration;

/// Waits until one of the descriptors can be read or is closed at the other end, for at most `limit`; returns the
/// positions of those. Returns early, with none, when a signal handler ran. No descriptor: a plain sleep.
pub fn wait_readable(fds: &[BorrowedFd<'_>], limit: Duration) -> Vec<usize> {
    let mut polled: Vec<PollFd<'_>> = fds.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
    let limit =
        Timespec { tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX), tv_nsec: limit.subsec_nanos().into() };
    // EINTR and a lack of kernel memory both mean: look again.
    match rustix::event::poll(&mut polled, Some(&limit)) {
        Ok(n_ready) if n_ready > 0 => {
            let ready = polled.iter().enumerate().filter(|(_, fd)| !fd.revents().is_empty());
            ready.map(|(position, _)| position).collect()
        }
        _ => Vec::new(),
    }
}

/// Waits until a descriptor can be read or is closed at the other end, or, with `to_write`, can be written, for at most
/// `limit`. Returns early when a signal handler ran. Allocates nothing.
pub fn wait_for(fd: BorrowedFd<'_>, to_write: bool, limit: Duration) {
    let flags = if to_write { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
    let limit =
        Timespec { tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX), tv_nsec: limit.subsec_nanos().into() };
    // After any error, the caller looks again.
    let _ = rustix::event::poll(&mut [PollFd::from_borrowed_fd(fd, flags)], Some(&limit));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsFd;

    #[test]
    fn wakes_for_data_and_for_the_end() {
        let (mut writer, reader) = std::os::unix::net::UnixStream::pair().unwrap();
        assert!(wait_readable(&[reader.as_fd()], Duration::ZERO).is_empty());
        writer.write_all(b"x").unwrap();
        let (_idle_writer, idle) = std::os::unix::net::UnixStream::pair().unwrap();
        // Without data these would wait an hour.
        assert_eq!(wait_readable(&[idle.as_fd(), reader.as_fd()], Duration::from_secs(3600)), [1]);
        drop(writer);
        assert_eq!(wait_readable(&[reader.as_fd()], Duration::from_secs(3600)), [0]);
    }
}
