//! Messages for the user when the kernel refuses something: the option, the errno, the release, a remedy.
//!
//! Facts: `io_uring_setup(2)`, `io_uring_register(2)`, `io_uring_enter(2)`. Must not know: how rings work.
//! Start reading at [`ring`], [`buffers`], [`files`] (refusals at the start) and [`io()`] (single I/Os).

use super::options::UringOptions;
use crate::contract::{EngineError, IoUnit};
use std::io;

/// The ring cannot be made.
pub(crate) fn ring(engine: &'static str, options: &UringOptions, iodepth: u32, errno: Option<i32>) -> EngineError {
    let hint = match (errno, options.sqpoll) {
        (Some(libc::EPERM), Some(_)) => {
            "sqthread_poll needs Linux 5.13, or CAP_SYS_NICE (5.11), or CAP_SYS_ADMIN (before); or io_uring is disabled: \
             see kernel.io_uring_disabled"
        }
        (Some(libc::EPERM), None) => {
            "io_uring is disabled (see kernel.io_uring_disabled) or forbidden by a sandbox; use ioengine=libaio"
        }
        (Some(libc::EINVAL), Some(poll)) if poll.cpu.is_some() => {
            "the CPU of sqthread_poll_cpu is offline or outside the set of CPUs of this process"
        }
        (Some(libc::ENOSYS), _) => "io_uring needs Linux 5.1 and may be left out of a kernel; use ioengine=libaio",
        (Some(libc::ENOMEM), _) => "before Linux 5.12 rings count as locked memory: raise ulimit -l, or lower iodepth",
        (Some(libc::EMFILE | libc::ENFILE), _) => "no descriptor is left for the ring: raise ulimit -n",
        _ => "leave out hipri and sqthread_poll, or use ioengine=libaio",
    };
    refused(engine, format!("io_uring_setup for iodepth={iodepth}{}", asked(options)), errno, hint)
}

/// Buffers cannot be registered.
pub(crate) fn buffers(engine: &'static str, size_bytes: usize, errno: Option<i32>) -> EngineError {
    let hint = match errno {
        Some(libc::ENOMEM) => "registered buffers are locked memory: raise ulimit -l, or leave out fixedbufs",
        Some(libc::EOPNOTSUPP) => {
            "memory that is mapped from a file cannot be registered: use another mem=, or leave out fixedbufs"
        }
        _ => "leave out fixedbufs",
    };
    refused(engine, format!("registering {size_bytes} bytes of buffers (fixedbufs)"), errno, hint)
}

/// Files cannot be registered.
pub(crate) fn files(engine: &'static str, n_files: u32, errno: Option<i32>) -> EngineError {
    let hint = match errno {
        Some(libc::EMFILE) => {
            "a ring takes as many files as ulimit -n allows, and at most 1048576: raise it, or leave out registerfiles"
        }
        _ => "leave out registerfiles (sqthread_poll brings it along)",
    };
    refused(engine, format!("registering {n_files} files (registerfiles)"), errno, hint)
}

/// A possible reason for the errno of a unit.
pub(super) fn io(options: &UringOptions, unit: &IoUnit, errno: i32) -> Option<&'static str> {
    match errno {
        libc::EOPNOTSUPP if options.is_iopoll => Some(
            "hipri (IORING_SETUP_IOPOLL) needs direct=1, and a file system and device that can be polled (for NVMe: \
             nvme.poll_queues above 0); leave out hipri",
        ),
        libc::EINVAL if options.vectoring == super::options::Vectoring::Plain => {
            Some("nonvectored=1 needs Linux 5.6; otherwise: direct I/O wants offset, size and memory in whole sectors")
        }
        libc::EAGAIN if options.is_iopoll => Some("the device has no room for more polled I/O: lower iodepth"),
        _ => options.flags.hint(unit.direction, errno),
    }
}

/// The options that shape the ring, for the message.
fn asked(options: &UringOptions) -> String {
    let hipri = if options.is_iopoll { ", hipri" } else { "" };
    let cpu = options.sqpoll.and_then(|poll| poll.cpu).map(|cpu| format!(", sqthread_poll_cpu={cpu}"));
    let poll = if options.sqpoll.is_some() { ", sqthread_poll" } else { "" };
    format!("{hipri}{poll}{}", cpu.unwrap_or_default())
}

fn refused(engine: &'static str, what: String, errno: Option<i32>, hint: &str) -> EngineError {
    let source = io::Error::from_raw_os_error(errno.unwrap_or(libc::EINVAL));
    EngineError::Refused { engine, what, source, hint: hint.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::super::NAME;
    use super::*;
    use crate::contract::options::EngineOptions;
    use crate::testing::given;

    #[test]
    fn a_refusal_names_option_errno_and_what_to_do() {
        let options = given(NAME, &[("sqthread_poll", "1"), ("sqthread_poll_cpu", "99"), ("hipri", "1")]);
        let options = UringOptions::parse(&EngineOptions::new(options)).unwrap();
        let error = ring(NAME, &options, 4, Some(libc::EINVAL));
        assert_eq!(
            error.to_string(),
            "io_uring: io_uring_setup for iodepth=4, hipri, sqthread_poll, sqthread_poll_cpu=99 failed: Invalid argument \
             (os error 22); the CPU of sqthread_poll_cpu is offline or outside the set of CPUs of this process"
        );
        assert_eq!(error.errno(), libc::EINVAL);
        assert!(buffers(NAME, 4096, Some(libc::ENOMEM)).to_string().contains("ulimit -l"));
        assert!(files(NAME, 4, Some(libc::EMFILE)).to_string().contains("ulimit -n"));
    }
}
