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
    wait_for_any([(fd, to_write)].into_iter(), limit);
}

/// Descriptors that [`wait_for_any`] looks at, at most.
pub const MOST_AT_ONCE: usize = 16;

/// [`wait_for`] one of several descriptors, of which it looks at the first [`MOST_AT_ONCE`]. Without any it returns at
/// once. Allocates nothing.
pub fn wait_for_any<'a>(mut waits: impl Iterator<Item = (BorrowedFd<'a>, bool)>, limit: Duration) {
    let polled = |(fd, to_write): (BorrowedFd<'a>, bool)| {
        PollFd::from_borrowed_fd(fd, if to_write { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN })
    };
    let Some(first) = waits.next() else { return };
    let mut fds = [const { None }; MOST_AT_ONCE];
    let mut n_fds = 0;
    for wait in std::iter::once(first).chain(waits).take(MOST_AT_ONCE) {
        fds[n_fds] = Some(polled(wait));
        n_fds += 1;
    }
    let mut fds = fds.map(|fd| fd.unwrap_or_else(|| polled(first)));
    let limit =
        Timespec { tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX), tv_nsec: limit.subsec_nanos().into() };
    // After any error, the caller looks again.
    let _ = rustix::event::poll(&mut fds[..n_fds], Some(&limit));
}

/// Waits until a descriptor has one of these events of `poll(2)`, for at most `limit`; returns the events that it has. Allocates nothing.
pub fn events_of(fd: BorrowedFd<'_>, wanted: i16, limit: Duration) -> i16 {
    // The bits are those of the kernel.
    let mut polled = [PollFd::from_borrowed_fd(fd, PollFlags::from_bits_retain(wanted))];
    let limit =
        Timespec { tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX), tv_nsec: limit.subsec_nanos().into() };
    match rustix::event::poll(&mut polled, Some(&limit)) {
        Ok(_) => polled[0].revents().bits(),
        // After any error, the caller looks again.
        Err(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::fd::AsFd;

    #[test]
    fn any_of_several_descriptors_ends_the_wait() {
        let pairs: Vec<_> = (0..MOST_AT_ONCE).map(|_| std::os::unix::net::UnixStream::pair().unwrap()).collect();
        let fds = || pairs.iter().map(|(_, reader)| (reader.as_fd(), false));
        wait_for_any(fds(), Duration::ZERO);
        for (writer, reader) in &pairs {
            let (mut writer, mut reader) = (writer, reader);
            writer.write_all(b"x").unwrap();
            // Without data this would wait an hour.
            wait_for_any(fds(), Duration::from_secs(3600));
            reader.read_exact(&mut [0]).unwrap();
        }
        wait_for_any(std::iter::empty(), Duration::from_secs(3600));
        wait_for_any([(pairs[0].1.as_fd(), true)].into_iter(), Duration::from_secs(3600));
    }

    #[test]
    fn events_of_a_descriptor_are_those_of_the_kernel() {
        let (mut writer, reader) = std::os::unix::net::UnixStream::pair().unwrap();
        let both = libc::POLLIN | libc::POLLOUT;
        assert_eq!(events_of(reader.as_fd(), libc::POLLIN, Duration::ZERO), 0);
        writer.write_all(b"x").unwrap();
        // Without an event these would wait an hour.
        assert_eq!(events_of(reader.as_fd(), both, Duration::from_secs(3600)), both);
        assert_eq!(events_of(writer.as_fd(), libc::POLLOUT, Duration::from_secs(3600)), libc::POLLOUT);
    }

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
