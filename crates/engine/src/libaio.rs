//! `ioengine=libaio`: Linux native AIO (`io_submit(2)`, `io_getevents(2)`).
//!
//! Options: `userspace_reap` takes completions that are there from the mapped ring, without a system call; `nowait` sets
//! `RWF_NOWAIT`; `libaio_vectored` uses the operations with vectors. Like fio (seen by strace) syncs and trims are done
//! in the thread of the job, after what was queued before them was submitted; `io_getevents` gets the loop's min and max.
//! Must not know: batches, depths. Start reading at `Libaio`.
#![expect(unsafe_code, reason = "requests point into the buffer area")]

use crate::contract::{
    Completion, Engine, EngineError, EngineInfo, EngineSetup, IoResult, IoUnit, Queued, push_in_room, time_left,
};
use crate::control;
use crate::options::EngineOptions;
use crate::rw_flags::JobRwFlags;
use ferrio_sys::Clock;
use ferrio_sys::Errno;
use ferrio_sys::aio::{AioContext, AioOperation, AioRequest};
use ferrio_sys::arena::Arena;
use ferrio_units::Direction;
use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::time::Duration;

/// The engine's row in the registry.
pub const INFO: EngineInfo = EngineInfo {
    name: "libaio",
    help: "Linux native asynchronous I/O (io_submit)",
    inline: false,
    synchronous: false,
    diskless: false,
    needs_full_layout: false,
    needs_aligned_buffers: false,
    supports_atomic: true,
    supports_syncfs: true,
    needs_shared_descriptors: false,
    completes_on_commit: false,
    uses_library_threads: false,
    stamps_calls: false,
    create: |options| Ok(Box::new(Libaio::new(options))),
};

/// A kernel without room (EAGAIN), of which nothing is in flight that could make room, is asked again so often.
const MAX_SUBMIT_TRIES: u32 = 1000;

/// Pause between these tries.
const SUBMIT_PAUSE: Duration = Duration::from_millis(1);

struct Libaio {
    running: Option<Running>,
    reaps_in_user_space: bool,
    flags: JobRwFlags,
    /// For reads and for writes.
    operations: [AioOperation; 2],
}

impl Libaio {
    fn new(options: &EngineOptions) -> Self {
        let is_vectored = options.flag("libaio_vectored");
        Self {
            running: None,
            reaps_in_user_space: options.flag("userspace_reap"),
            flags: JobRwFlags::new(options.flag("nowait"), false),
            operations: if is_vectored {
                [AioOperation::ReadVector, AioOperation::WriteVector]
            } else {
                [AioOperation::Read, AioOperation::Write]
            },
        }
    }
}

/// The context stands first: dropping it waits for what is in flight, then the buffers may go.
struct Running {
    context: AioContext,
    arena: Rc<RefCell<Arena>>,
    /// Units that the kernel refused to take.
    refused: Vec<Completion>,
}

impl Running {
    /// Takes the oldest queued unit out and gives it an error.
    fn refuse_oldest(&mut self, errno: Errno) {
        if let Some(unit_index) = self.context.drop_oldest() {
            self.refused.push(Completion { unit_index, result: control::error_result(errno) });
        }
    }
}

fn not_started() -> io::Error {
    io::Error::from(Errno::INVAL)
}

impl Engine for Libaio {
    fn start(&mut self, setup: EngineSetup) -> Result<(), EngineError> {
        let context = AioContext::new(setup.iodepth, self.reaps_in_user_space)
            .map_err(|error| explain_setup(setup.iodepth, error.errno()))?;
        self.flags = self.flags.with_atomic(setup.atomic);
        let refused = Vec::with_capacity(setup.iodepth as usize);
        self.running = Some(Running { context, arena: setup.arena, refused });
        Ok(())
    }

    fn queue(&mut self, unit_index: u32, unit: &IoUnit) -> Queued {
        let Some(running) = &mut self.running else { return Queued::Completed(control::error_result(Errno::INVAL)) };
        if control::is_control(unit.direction) {
            let is_first = running.context.n_queued() == 0;
            return if is_first { Queued::Completed(control::run(unit)) } else { Queued::Busy };
        }
        let request = AioRequest {
            operation: self.operations[usize::from(unit.direction == Direction::Write)],
            fd: unit.fd,
            region: running.arena.borrow().region(unit.buffer_offset, unit.length),
            offset: unit.offset,
            io_priority: unit.ioprio,
            rw_flags: self.flags.of(unit.direction).bits(),
        };
        // SAFETY: by the contract of engines the loop touches neither this part of the area nor the slot, and does not
        // close the file, until the unit is reaped; the area lives as long as `running`, whose context waits when dropped.
        let is_queued = unsafe { running.context.push(unit_index, &request) };
        if is_queued { Queued::Queued } else { Queued::Busy }
    }

    fn commit(&mut self) -> io::Result<u32> {
        let running = self.running.as_mut().ok_or_else(not_started)?;
        let n_before = running.context.n_queued();
        let mut n_tries = 0;
        while running.context.n_queued() > 0 {
            match running.context.submit() {
                // The kernel stops at the first unit that it cannot take and says why when that one is the oldest.
                Ok(n_taken) if n_taken > 0 => {}
                Ok(_) | Err(Errno::AGAIN) if running.context.n_in_flight() > 0 || !running.refused.is_empty() => break,
                Ok(_) | Err(Errno::AGAIN) if n_tries < MAX_SUBMIT_TRIES => {
                    n_tries += 1;
                    std::thread::sleep(SUBMIT_PAUSE);
                }
                Ok(_) => return Err(io::Error::from(Errno::AGAIN)),
                Err(Errno::INTR) => {}
                Err(errno) => running.refuse_oldest(errno),
            }
        }
        Ok(n_before - running.context.n_queued())
    }

    fn reap(&mut self, min: u32, max: u32, completions: &mut Vec<Completion>) -> io::Result<()> {
        let running = self.running.as_mut().ok_or_else(not_started)?;
        let n_refused = running.refused.len().min(max as usize);
        completions.extend(running.refused.drain(..n_refused));
        let (min, max) = (min.saturating_sub(n_refused as u32), max - n_refused as u32);
        if max == 0 {
            return Ok(());
        }
        running.context.reap(min, max, |done| {
            push_in_room(completions, Completion { unit_index: done.slot, result: IoResult::from(done.result) });
        })?;
        Ok(())
    }

    fn reap_until(
        &mut self,
        max: u32,
        until_ns: u64,
        clock: &Clock,
        completions: &mut Vec<Completion>,
    ) -> io::Result<()> {
        let running = self.running.as_mut().ok_or_else(not_started)?;
        if !running.refused.is_empty() {
            return self.reap(0, max, completions);
        }
        running.context.reap_within(time_left(clock, until_ns), max, |done| {
            push_in_room(completions, Completion { unit_index: done.slot, result: IoResult::from(done.result) });
        })?;
        Ok(())
    }

    fn hint(&self, unit: &IoUnit, errno: i32) -> Option<&'static str> {
        self.flags.hint(unit.direction, errno)
    }
}

/// Why there is no context.
fn explain_setup(iodepth: u32, errno: Option<i32>) -> EngineError {
    let number =
        |name| std::fs::read_to_string(format!("/proc/sys/fs/{name}")).map_or("?".into(), |n| n.trim().to_owned());
    let hint = match errno {
        Some(libc::EAGAIN) => format!(
            "all queues of the system together may have {} requests (fs.aio-max-nr), {} are taken; lower iodepth, or \
             raise the limit: sysctl fs.aio-max-nr=N",
            number("aio-max-nr"),
            number("aio-nr")
        ),
        Some(libc::ENOSYS) => "this kernel or sandbox has no native AIO; use ioengine=io_uring or psync".to_owned(),
        Some(libc::EINVAL) => "this iodepth is beyond what the kernel takes; lower it".to_owned(),
        _ => "lower iodepth, or use ioengine=io_uring".to_owned(),
    };
    EngineError::Refused {
        engine: INFO.name,
        what: format!("io_setup for iodepth={iodepth}"),
        source: io::Error::from_raw_os_error(errno.unwrap_or(libc::EAGAIN)),
        hint,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::OptionValue;
    use crate::testing::{Rig, RigOptions, TestFile, check_end_of_file, check_file_engine};

    fn options(iodepth: u32, direct: bool, option: Option<&'static str>) -> RigOptions {
        let options = option.into_iter().map(|name| (name, OptionValue::Bool(true))).collect();
        RigOptions { iodepth, direct, options, ..RigOptions::default() }
    }

    #[test]
    fn files_are_read_written_and_synced() {
        for option in [None, Some("userspace_reap"), Some("libaio_vectored")] {
            for (depth, direct) in [(1, false), (8, false), (1, true), (8, true)] {
                check_file_engine("libaio", || options(depth, direct, option));
            }
        }
        check_end_of_file("libaio", options(4, false, None));
    }

    #[test]
    fn a_unit_that_the_kernel_does_not_take_gets_its_error_and_the_others_go_on() {
        let file = TestFile::new("libaio");
        let Ok(mut rig) = Rig::new("libaio", Some(&file), options(4, false, None)) else { return };
        let good = rig.unit(Direction::Read, 1);
        let bad = IoUnit { fd: -1, ..good };
        let results = rig.run(&[good, bad, good, bad, bad, good], |_, _| (), |_, _, _| ());
        let refused = -i64::from(libc::EBADF);
        assert_eq!(results, [4096, refused, 4096, refused, refused, 4096]);
    }

    #[test]
    fn a_sync_waits_until_what_was_queued_is_submitted() {
        let file = TestFile::new("libaio");
        let Ok(mut rig) = Rig::new("libaio", Some(&file), options(4, false, None)) else { return };
        let (write, sync) = (rig.unit(Direction::Write, 1), rig.unit(Direction::Sync, 0));
        assert_eq!(rig.engine.queue(0, &write), Queued::Queued);
        assert_eq!(rig.engine.queue(1, &sync), Queued::Busy);
        assert_eq!(rig.engine.commit().unwrap(), 1);
        assert_eq!(rig.engine.queue(1, &sync), Queued::Completed(4096));
        let mut completions = Vec::with_capacity(4);
        rig.engine.reap(4, 4, &mut completions).unwrap();
        assert_eq!(completions, [Completion { unit_index: 0, result: 4096 }]);
    }

    #[test]
    fn a_depth_beyond_the_limit_is_explained() {
        let error = explain_setup(1 << 20, Some(libc::EAGAIN)).to_string();
        assert!(error.starts_with("libaio: io_setup for iodepth=1048576 failed"), "{error}");
        assert!(error.contains("fs.aio-max-nr"), "{error}");
    }
}
