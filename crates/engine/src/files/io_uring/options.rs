//! The options of the `io_uring` engine, checked.
//!
//! | option | meaning |
//! |---|---|
//! | `hipri` | poll for completions (`IORING_SETUP_IOPOLL`) |
//! | `fixedbufs` | register the buffer area with the ring |
//! | `registerfiles` | register the files with the ring |
//! | `sqthread_poll` | a kernel thread takes requests without being called; registers the files too, as fio does |
//! | `sqthread_poll_cpu` | pin that thread; without `sqthread_poll` it has no effect, as with fio |
//! | `nonvectored` | 1: plain reads and writes, 0: with vectors, -1: plain where the kernel has them (5.6) |
//! | `uncached`, `nowait` | `RWF_DONTCACHE`, `RWF_NOWAIT` |
//! | `force_async` | every n-th I/O goes to a kernel worker at once (`IOSQE_ASYNC`); 0: none |
//!
//! Must not know: rings. Start reading at [`UringOptions`].

use super::NAME;
use crate::contract::EngineError;
use crate::contract::options::EngineOptions;
use crate::files::rw_flags::JobRwFlags;
use ferrio_spec::engines::options::declaration::EngineOption;
use ferrio_spec::engines::options::io_uring;
use ferrio_sys::uring::SqPoll;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct UringOptions {
    pub(crate) is_iopoll: bool,
    pub(crate) has_fixed_buffers: bool,
    pub(crate) has_registered_files: bool,
    pub(crate) sqpoll: Option<SqPoll>,
    pub(crate) vectoring: Vectoring,
    pub(crate) flags: JobRwFlags,
    /// 0: never.
    pub(crate) force_async_every: u32,
}

/// Which operations of the ring move data: with vectors or plain. Registered buffers have operations of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Vectoring {
    Plain,
    Vectored,
    /// Plain operations, if the kernel has them.
    Probe,
}

impl UringOptions {
    pub(crate) fn parse(options: &EngineOptions) -> Result<Self, EngineError> {
        let bad = |name, value: i64, why: &str| EngineError::bad_option(NAME, name, &value, why);
        let number = |option: &EngineOption<Option<i64>>| {
            let number = options
                .get(option)
                .map(|value| u32::try_from(value).map_err(|_| bad(option.name(), value, "allowed: 0 and above")));
            number.transpose()
        };
        let vectoring = match options.get(&io_uring::NONVECTORED) {
            -1 => Vectoring::Probe,
            0 => Vectoring::Vectored,
            1 => Vectoring::Plain,
            value => return Err(bad(io_uring::NONVECTORED.name(), value, "allowed: -1, 0, 1")),
        };
        let cpu = number(&io_uring::SQTHREAD_POLL_CPU)?;
        let sqpoll = options.get(&io_uring::SQTHREAD_POLL).then_some(SqPoll { idle_ms: 0, cpu });
        Ok(Self {
            is_iopoll: options.get(&io_uring::HIPRI),
            has_fixed_buffers: options.get(&io_uring::FIXEDBUFS),
            has_registered_files: options.get(&io_uring::REGISTERFILES) || sqpoll.is_some(),
            sqpoll,
            vectoring,
            flags: JobRwFlags::new(options.get(&io_uring::NOWAIT), options.get(&io_uring::UNCACHED)),
            force_async_every: number(&io_uring::FORCE_ASYNC)?.unwrap_or(0),
        })
    }
}

/// Tells every n-th I/O apart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EveryNth {
    every: u32,
    n_since: u32,
}

impl EveryNth {
    /// `every` 0: none.
    pub(crate) fn new(every: u32) -> Self {
        Self { every, n_since: 0 }
    }

    /// True for every n-th call.
    #[inline]
    pub(crate) fn takes_turn(&mut self) -> bool {
        if self.every == 0 {
            return false;
        }
        self.n_since += 1;
        let is_turn = self.n_since >= self.every;
        if is_turn {
            self.n_since = 0;
        }
        is_turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_spec::{EngineValue, GivenOptions};

    fn parse(name: &str, value: i64) -> Result<UringOptions, EngineError> {
        let mut given = GivenOptions::default();
        given.put(name, EngineValue::Int(value));
        UringOptions::parse(&EngineOptions::new(given))
    }

    #[test]
    fn the_polling_thread_brings_registered_files_and_its_cpu_alone_brings_nothing() {
        let options = parse("sqthread_poll", 1).unwrap();
        assert!(options.has_registered_files && options.sqpoll == Some(SqPoll { idle_ms: 0, cpu: None }));
        assert_eq!(
            parse("sqthread_poll_cpu", 1).unwrap(),
            UringOptions::parse(&EngineOptions::new(GivenOptions::default())).unwrap()
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
