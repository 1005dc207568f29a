//! Engine wrappers: locks, zones, lines of `--debug=io`. Calls that a wrapper does not need go directly to the engine
//! within.
//!
//! Every method of [`Engine`] that has a default is passed on here and nowhere else, except for `queue_timed`: its
//! default takes stamps around the whole of `queue`, including the wrapper's work, as that is part of the I/O.
//! Must not know: kinds of wrappers. Start reading at [`Wrapper`].

use ferrio_engine::{
    Completion, DeviceCommands, Engine, EngineError, EngineFile, FailureDetails, IoUnit, Queued, Server,
};
use ferrio_sys::Clock;
use std::io;
use std::path::Path;

/// The part of a wrapper around an engine.
pub(crate) trait Wrapper {
    /// Called instead of [`Engine::queue`].
    fn queue(&mut self, inner: &mut dyn Engine, unit_index: u32, unit: &IoUnit) -> Queued;

    fn commits(&mut self) {}

    fn committed(&mut self, _committed: &io::Result<u32>) {}

    /// Called before [`Engine::reap`], which waits for `min`.
    fn reaps(&mut self, _min: u32) {}

    /// Called with the results of [`Engine::reap`], which waited for `min` and could take `max`.
    fn reaped(&mut self, _min: u32, _max: u32, _completions: &[Completion]) {}
}

pub(crate) struct Wrapped<'a, W> {
    inner: Box<dyn Engine + 'a>,
    wrapper: W,
}

impl<'a, W: Wrapper> Wrapped<'a, W> {
    pub(crate) fn new(inner: Box<dyn Engine + 'a>, wrapper: W) -> Self {
        Self { inner, wrapper }
    }
}

impl<W: Wrapper> Engine for Wrapped<'_, W> {
    fn remove_target(&mut self, name: &Path) {
        self.inner.remove_target(name);
    }

    fn open_file(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        self.inner.open_file(file)
    }

    fn close_file(&mut self, file_index: u32) {
        self.inner.close_file(file_index);
    }

    fn queue(&mut self, unit_index: u32, unit: &IoUnit) -> Queued {
        self.wrapper.queue(&mut *self.inner, unit_index, unit)
    }

    fn commit(&mut self) -> io::Result<u32> {
        self.wrapper.commits();
        let committed = self.inner.commit();
        self.wrapper.committed(&committed);
        committed
    }

    fn hint(&self, unit: &IoUnit, errno: i32) -> Option<&'static str> {
        self.inner.hint(unit, errno)
    }

    fn sync_apart(&mut self, file_index: u32) -> Option<i32> {
        self.inner.sync_apart(file_index)
    }

    fn has_kernel_workers(&self) -> bool {
        self.inner.has_kernel_workers()
    }

    fn reap(&mut self, min: u32, max: u32, completions: &mut Vec<Completion>) -> io::Result<()> {
        self.wrapper.reaps(min);
        let n_before = completions.len();
        let reaped = self.inner.reap(min, max, completions);
        self.wrapper.reaped(min, max, &completions[n_before..]);
        reaped
    }

    fn reap_until(
        &mut self,
        max: u32,
        until_ns: u64,
        clock: &Clock,
        completions: &mut Vec<Completion>,
    ) -> io::Result<()> {
        self.wrapper.reaps(0);
        let n_before = completions.len();
        let reaped = self.inner.reap_until(max, until_ns, clock, completions);
        self.wrapper.reaped(0, max, &completions[n_before..]);
        reaped
    }

    fn server(&mut self) -> Option<&mut dyn Server> {
        self.inner.server()
    }

    fn device(&mut self) -> Option<&mut dyn DeviceCommands> {
        self.inner.device()
    }

    fn failures(&mut self) -> Option<&mut dyn FailureDetails> {
        self.inner.failures()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_engine::{BlockTraits, Cancellation, IoResult, OpenTarget, WriteContent};
    use ferrio_units::Direction;
    use std::cell::RefCell;
    use std::ops::Range;

    /// Notes its calls; each method returns a value that no default would.
    struct Noting<'a>(&'a RefCell<Vec<&'static str>>);

    impl Noting<'_> {
        fn note(&self, call: &'static str) {
            self.0.borrow_mut().push(call);
        }
    }

    impl Engine for Noting<'_> {
        fn remove_target(&mut self, _: &Path) {
            self.note("remove_target");
        }

        fn open_file(&mut self, _: &EngineFile<'_>) -> Result<(), EngineError> {
            self.note("open_file");
            Ok(())
        }

        fn close_file(&mut self, _: u32) {
            self.note("close_file");
        }

        fn queue(&mut self, _: u32, _: &IoUnit) -> Queued {
            self.note("queue");
            Queued::Queued
        }

        fn has_kernel_workers(&self) -> bool {
            self.note("has_kernel_workers");
            true
        }

        fn commit(&mut self) -> io::Result<u32> {
            self.note("commit");
            Ok(7)
        }

        fn hint(&self, _: &IoUnit, _: i32) -> Option<&'static str> {
            self.note("hint");
            Some("it is so")
        }

        fn sync_apart(&mut self, _: u32) -> Option<i32> {
            self.note("sync_apart");
            Some(3)
        }

        fn reap(&mut self, min: u32, _: u32, completions: &mut Vec<Completion>) -> io::Result<()> {
            self.note("reap");
            completions.push(Completion { unit_index: min, result: IoResult::done(1) });
            Ok(())
        }

        fn reap_until(&mut self, _: u32, _: u64, _: &Clock, completions: &mut Vec<Completion>) -> io::Result<()> {
            self.note("reap_until");
            completions.push(Completion { unit_index: 0, result: IoResult::done(2) });
            Ok(())
        }

        fn server(&mut self) -> Option<&mut dyn Server> {
            Some(self)
        }

        fn device(&mut self) -> Option<&mut dyn DeviceCommands> {
            Some(self)
        }

        fn failures(&mut self) -> Option<&mut dyn FailureDetails> {
            Some(self)
        }
    }

    impl Server for Noting<'_> {
        fn give_up(&mut self) {
            self.note("give_up");
        }
    }

    impl DeviceCommands for Noting<'_> {
        fn block_traits(&self) -> BlockTraits {
            BlockTraits::default()
        }

        fn content_of_write(&mut self, _: u32) -> WriteContent {
            WriteContent::Data
        }

        fn set_comparing(&mut self, _: bool) {
            self.note("set_comparing");
        }

        fn put_ranges(&mut self, _: u32, _: &IoUnit, _: &[Range<u64>]) {}
    }

    impl FailureDetails for Noting<'_> {
        fn take_refusal(&mut self, _: u32) -> bool {
            self.note("take_refusal");
            true
        }
    }

    /// Changes nothing, and notes its calls.
    #[derive(Default)]
    struct Around(Vec<String>);

    impl Wrapper for &mut Around {
        fn queue(&mut self, inner: &mut dyn Engine, unit_index: u32, unit: &IoUnit) -> Queued {
            inner.queue(unit_index, unit)
        }

        fn commits(&mut self) {
            self.0.push("commits".to_owned());
        }

        fn reaps(&mut self, min: u32) {
            self.0.push(format!("reaps {min}"));
        }

        fn committed(&mut self, committed: &io::Result<u32>) {
            self.0.push(format!("{committed:?}"));
        }

        fn reaped(&mut self, min: u32, max: u32, completions: &[Completion]) {
            let results: Vec<_> = completions.iter().map(|completion| completion.result).collect();
            self.0.push(format!("{min} {max} {results:?}"));
        }
    }

    const UNIT: IoUnit = IoUnit {
        direction: Direction::Read,
        file_index: 0,
        offset_bytes: 0,
        length_bytes: 512,
        buffer_offset: 0,
        sync_flags: 0,
        ioprio: 0,
    };

    #[test]
    fn every_call_reaches_the_engine_inside() {
        let (clock, calls, mut around) = (Clock::new_virtual(), RefCell::new(Vec::new()), Around::default());
        let file = EngineFile {
            index: 0,
            target: OpenTarget::Name("own".as_ref()),
            writable: false,
            range_start: 0,
            range_bytes: 512,
            random: false,
            cancellation: Cancellation::ENDLESS,
        };
        let mut engine = Wrapped::new(Box::new(Noting(&calls)), &mut around);
        engine.remove_target("own".as_ref());
        engine.open_file(&file).unwrap();
        assert_eq!(engine.queue(0, &UNIT), Queued::Queued);
        assert_eq!(engine.commit().unwrap(), 7);
        assert_eq!((engine.hint(&UNIT, 22), engine.sync_apart(0)), (Some("it is so"), Some(3)));
        assert!(engine.has_kernel_workers());
        engine.server().unwrap().give_up();
        engine.device().unwrap().set_comparing(true);
        assert!(engine.failures().unwrap().take_refusal(0));
        let mut completions = Vec::new();
        engine.reap(1, 3, &mut completions).unwrap();
        engine.reap_until(4, 0, &clock, &mut completions).unwrap();
        engine.close_file(0);
        drop(engine);
        let expected = [
            "remove_target",
            "open_file",
            "queue",
            "commit",
            "hint",
            "sync_apart",
            "has_kernel_workers",
            "give_up",
            "set_comparing",
            "take_refusal",
            "reap",
            "reap_until",
            "close_file",
        ];
        assert_eq!(calls.into_inner(), expected);
        assert_eq!(
            completions.iter().map(|completion| completion.result).collect::<Vec<_>>(),
            [1, 2].map(IoResult::done)
        );
        // Completions that were reaped earlier are not passed again.
        assert_eq!(around.0, ["commits", "Ok(7)", "reaps 1", "1 3 [Done(1)]", "reaps 0", "0 4 [Done(2)]"]);
    }
}
