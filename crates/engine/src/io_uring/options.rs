//! The options of the `io_uring` engine, checked.
//!
//! | option | meaning |
//! |---|---|
//! | `hipri` | poll for completions (`IORING_SETUP_IOPOLL`) |
//! | `fixedbufs` | register the buffer area with the ring |
//! | `registerfiles` | register the files with the ring |
//! | `sqthread_poll` | a kernel thread takes requests without being called; registers the files too, as fio does |
//! | `sqthread_poll_cpu` | pin that thread; without `sqthread_poll` it has no effect, as with fio |
//! | `nonvectored` | 1: plain reads and writes, 0: with vectors, -1 (default): plain where the kernel has them (5.6) |
//! | `uncached`, `nowait` | `RWF_DONTCACHE`, `RWF_NOWAIT` |
//! | `force_async` | every n-th I/O goes to a kernel worker at once (`IOSQE_ASYNC`); 0: none |
//!
//! Must not know: rings. Start reading at [`UringOptions`].

use super::NAME;
use crate::contract::EngineError;
use crate::options::EngineOptions;
use crate::rw_flags::JobRwFlags;
use ferrio_sys::uring::SqPoll;

/// The options of a job.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct UringOptions {
    pub(super) is_iopoll: bool,
    pub(super) has_fixed_buffers: bool,
    pub(super) has_registered_files: bool,
    pub(super) sqpoll: Option<SqPoll>,
    pub(super) vectoring: Vectoring,
    pub(super) flags: JobRwFlags,
    /// 0: never.
    pub(super) force_async_every: u32,
}

/// Which operations of the ring move data: with vectors or plain. Registered buffers have operations of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vectoring {
    Plain,
    Vectored,
    /// Plain operations, if the kernel has them.
    Probe,
}

impl UringOptions {
    /// Checks the options.
    pub(super) fn parse(options: &EngineOptions) -> Result<Self, EngineError> {
        let bad = |name, value: i64, why: &str| EngineError::bad_option(NAME, name, &value, why);
        let number = |name| {
            let value = options.int(name).unwrap_or(0);
            u32::try_from(value).map_err(|_| bad(name, value, "allowed: 0 and above"))
        };
        let vectoring = match options.int("nonvectored").unwrap_or(-1) {
            -1 => Vectoring::Probe,
            0 => Vectoring::Vectored,
            1 => Vectoring::Plain,
            value => return Err(bad("nonvectored", value, "allowed: -1, 0, 1")),
        };
        let cpu = number("sqthread_poll_cpu")?;
        let cpu = options.int("sqthread_poll_cpu").map(|_| cpu);
        let sqpoll = options.flag("sqthread_poll").then_some(SqPoll { idle_ms: 0, cpu });
        Ok(Self {
            is_iopoll: options.flag("hipri"),
            has_fixed_buffers: options.flag("fixedbufs"),
            has_registered_files: options.flag("registerfiles") || sqpoll.is_some(),
            sqpoll,
            vectoring,
            flags: JobRwFlags::new(options.flag("nowait"), options.flag("uncached")),
            force_async_every: number("force_async")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::EngineValue;

    fn parse(name: &str, value: i64) -> Result<UringOptions, EngineError> {
        UringOptions::parse(&EngineOptions::new(vec![(name.to_owned(), EngineValue::Int(value))]))
    }

    #[test]
    fn the_polling_thread_brings_registered_files_and_its_cpu_alone_brings_nothing() {
        let options = parse("sqthread_poll", 1).unwrap();
        assert!(options.has_registered_files && options.sqpoll == Some(SqPoll { idle_ms: 0, cpu: None }));
        assert_eq!(
            parse("sqthread_poll_cpu", 1).unwrap(),
            UringOptions::parse(&EngineOptions::new(Vec::new())).unwrap()
        );
    }

    #[test]
    fn errors_name_the_option() {
        for (name, value, why) in [
            ("nonvectored", 2, "allowed: -1, 0, 1"),
            ("force_async", -1, "allowed: 0 and above"),
            ("sqthread_poll_cpu", -1, "allowed: 0 and above"),
        ] {
            let error = parse(name, value).unwrap_err();
            assert_eq!(error.to_string(), format!("io_uring: option {name}={value}: {why}"));
        }
    }
}
