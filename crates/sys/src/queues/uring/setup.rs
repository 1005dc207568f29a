//! Making a ring: flags, and falling back on kernels that do not know them.
//!
//! Must not know: requests.

use crate::error::{Context, Result};
use io_uring::{IoUring, Parameters, cqueue, squeue};
use std::io;

/// A kernel thread that takes requests without being called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SqPoll {
    /// It sleeps after this long without a request, ms; 0 takes the kernel's default (1 s).
    pub idle_ms: u32,
    /// The CPU that it runs on; `None`: any.
    pub cpu: Option<u32>,
}

/// Request for a ring.
///
/// Without a polling thread, the ring is made with `SINGLE_ISSUER`, `DEFER_TASKRUN` and `COOP_TASKRUN` if the kernel
/// knows them (6.1, 5.19), which save interruptions of the issuing thread; on older kernels with fewer of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingRequest {
    /// Requests in flight: slots are below it, and the submission queue holds that many. At least 1.
    pub depth: u32,
    /// Room for completions; 0 takes `depth`. The kernel rounds up to a power of two.
    pub completion_entries: u32,
    /// Completions are polled for (`IOPOLL`): direct I/O on devices with poll queues only.
    pub is_iopoll: bool,
    /// A kernel thread polls for requests.
    pub sqpoll: Option<SqPoll>,
}

impl RingRequest {
    pub fn new(depth: u32) -> Self {
        Self { depth, completion_entries: 0, is_iopoll: false, sqpoll: None }
    }
}

/// Ways to notify a thread of completions, newest kernel first.
const TASK_RUN_LEVELS: [TaskRun; 3] = [TaskRun::Deferred, TaskRun::Cooperative, TaskRun::Interrupting];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TaskRun {
    Deferred,
    Cooperative,
    Interrupting,
}

/// Makes the ring with the newest flags that the kernel takes.
pub(super) fn build<S: squeue::EntryMarker, C: cqueue::EntryMarker>(request: &RingRequest) -> Result<IoUring<S, C>> {
    let depth = request.depth.max(1);
    // The kernel refuses the task-run flags beside SQPOLL, where its own thread completes.
    let levels = if request.sqpoll.is_some() { &TASK_RUN_LEVELS[2..] } else { &TASK_RUN_LEVELS[..] };
    let mut result = Err(io::Error::from_raw_os_error(libc::EINVAL));
    for &level in levels {
        result = build_at(request, depth, level);
        if !matches!(&result, Err(error) if error.raw_os_error() == Some(libc::EINVAL)) {
            break;
        }
    }
    let hint = match result.as_ref().err().and_then(io::Error::raw_os_error) {
        Some(libc::EPERM) => "; is it disabled in /proc/sys/kernel/io_uring_disabled or by a sandbox?",
        Some(libc::ENOSYS) => "; this kernel or sandbox has no io_uring",
        Some(libc::ENOMEM) => "; limit: RLIMIT_MEMLOCK",
        _ => "",
    };
    result.context("io_uring_setup", format_args!("(depth {depth}{hint})"))
}

fn build_at<S: squeue::EntryMarker, C: cqueue::EntryMarker>(
    request: &RingRequest,
    depth: u32,
    level: TaskRun,
) -> io::Result<IoUring<S, C>> {
    let mut builder = IoUring::<S, C>::builder();
    builder.dontfork().setup_clamp();
    // The kernel wants at least as many completions as submissions.
    builder.setup_cqsize(request.completion_entries.max(depth));
    if request.is_iopoll {
        builder.setup_iopoll();
    }
    if let Some(sqpoll) = request.sqpoll {
        builder.setup_sqpoll(sqpoll.idle_ms);
        if let Some(cpu) = sqpoll.cpu {
            builder.setup_sqpoll_cpu(cpu);
        }
    }
    match level {
        TaskRun::Deferred => {
            builder.setup_coop_taskrun().setup_single_issuer().setup_defer_taskrun();
        }
        TaskRun::Cooperative => {
            builder.setup_coop_taskrun();
        }
        TaskRun::Interrupting => {}
    }
    builder.build(depth)
}

/// True if completions only show up when the kernel is entered. Deferred task runs come with the single-issuer flag here.
pub(super) fn has_deferred_completions(params: &Parameters) -> bool {
    params.is_setup_single_issuer()
}
