//! Engine wrappers: locks, zones, lines of `--debug=io`. Calls that a wrapper does not need go directly to the engine
//! within.
//!
//! Every method of [`Engine`] that has a default is passed on here and nowhere else, except for `queue_timed`: its
//! default takes stamps around the whole of `queue`, including the wrapper's work, as that is part of the I/O.
//! Must not know: kinds of wrappers. Start reading at [`Wrapper`].

use ferrio_engine::{
    BlockTraits, Cancellation, Complaint, Completion, Connection, Engine, EngineError, EngineFile, IoUnit, Queued,
    TagMismatch, WriteContent,
};
use ferrio_stats::ServerSteps;
use ferrio_stats::note::ScsiStatus;
use ferrio_sys::Clock;
use std::io;
use std::ops::Range;
use std::path::Path;

/// The part of a wrapper around an engine.
pub(crate) trait Wrapper {
    /// Called instead of [`Engine::queue`].
    fn queue(&mut self, inner: &mut dyn Engine, unit_index: u32, unit: &IoUnit) -> Queued;

    /// Called before [`Engine::commit`].
    fn commits(&mut self) {}

    /// Called with the result of [`Engine::commit`].
    fn committed(&mut self, _committed: &io::Result<u32>) {}

    /// Called before [`Engine::reap`], which waits for `min`.
    fn reaps(&mut self, _min: u32) {}

    /// Called with the results of [`Engine::reap`], which waited for `min` and could take `max`.
    fn reaped(&mut self, _min: u32, _max: u32, _completions: &[Completion]) {}
}

/// An engine and its wrapper.
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
    fn connect(&mut self, cancellation: Cancellation<'_>) -> Result<Connection, EngineError> {
        self.inner.connect(cancellation)
    }

    fn disconnect(&mut self, cancellation: Cancellation<'_>) {
        self.inner.disconnect(cancellation);
    }

    fn take_moved_bytes(&mut self) -> u64 {
        self.inner.take_moved_bytes()
    }

    fn give_up(&mut self) {
        self.inner.give_up();
    }

    fn remove_target(&mut self, name: &Path) {
        self.inner.remove_target(name);
    }

    fn take_complaint(&mut self) -> Option<Complaint> {
        self.inner.take_complaint()
    }

    fn take_refusal(&mut self, unit_index: u32) -> bool {
        self.inner.take_refusal(unit_index)
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

    fn block_traits(&self) -> BlockTraits {
        self.inner.block_traits()
    }

    fn content_of_write(&mut self, unit_index: u32) -> WriteContent {
        self.inner.content_of_write(unit_index)
    }

    fn set_comparing(&mut self, is_comparing: bool) {
        self.inner.set_comparing(is_comparing);
    }

    fn put_ranges(&mut self, unit_index: u32, unit: &IoUnit, ranges: &[Range<u64>]) -> bool {
        self.inner.put_ranges(unit_index, unit, ranges)
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

    fn status_hint(&self, status: u16) -> Option<&'static str> {
        self.inner.status_hint(status)
    }

    fn take_mismatch(&mut self, unit_index: u32) -> Option<TagMismatch> {
        self.inner.take_mismatch(unit_index)
    }

    fn take_scsi_status(&mut self, unit_index: u32) -> Option<Box<ScsiStatus>> {
        self.inner.take_scsi_status(unit_index)
    }

    fn sync_apart(&mut self, file_index: u32) -> Option<i32> {
        self.inner.sync_apart(file_index)
    }

    fn has_kernel_workers(&self) -> bool {
        self.inner.has_kernel_workers()
    }

    fn n_foreign_datagrams(&self) -> u64 {
        self.inner.n_foreign_datagrams()
    }

    fn server_steps(&self) -> Option<ServerSteps> {
        self.inner.server_steps()
    }

    fn counts_begin_anew(&mut self) {
        self.inner.counts_begin_anew();
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_engine::{GuardedField, IoResult, OpenTarget};
    use ferrio_units::Direction;
    use std::cell::RefCell;

    const MISMATCH: TagMismatch = TagMismatch { field: GuardedField::Guard, block: 1, expected: 2, actual: 3 };

    /// Notes its calls; each method returns a value that no default would.
    struct Noting<'a>(&'a RefCell<Vec<&'static str>>);

    impl Noting<'_> {
        fn note(&self, call: &'static str) {
            self.0.borrow_mut().push(call);
        }
    }

    impl Engine for Noting<'_> {
        fn connect(&mut self, _: Cancellation<'_>) -> Result<Connection, EngineError> {
            self.note("connect");
            Ok(Connection::Listening)
        }

        fn disconnect(&mut self, _: Cancellation<'_>) {
            self.note("disconnect");
        }

        fn take_moved_bytes(&mut self) -> u64 {
            self.note("take_moved_bytes");
            5
        }

        fn give_up(&mut self) {
            self.note("give_up");
        }

        fn remove_target(&mut self, _: &Path) {
            self.note("remove_target");
        }

        fn take_complaint(&mut self) -> Option<Complaint> {
            self.note("take_complaint");
            None
        }

        fn take_refusal(&mut self, _: u32) -> bool {
            self.note("take_refusal");
            true
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

        fn n_foreign_datagrams(&self) -> u64 {
            self.note("n_foreign_datagrams");
            9
        }

        fn server_steps(&self) -> Option<ServerSteps> {
            self.note("server_steps");
            None
        }

        fn counts_begin_anew(&mut self) {
            self.note("counts_begin_anew");
        }

        fn commit(&mut self) -> io::Result<u32> {
            self.note("commit");
            Ok(7)
        }

        fn hint(&self, _: &IoUnit, _: i32) -> Option<&'static str> {
            self.note("hint");
            Some("it is so")
        }

        fn status_hint(&self, _: u16) -> Option<&'static str> {
            self.note("status_hint");
            Some("the device says so")
        }

        fn take_mismatch(&mut self, _: u32) -> Option<TagMismatch> {
            self.note("take_mismatch");
            Some(MISMATCH)
        }

        fn take_scsi_status(&mut self, _: u32) -> Option<Box<ScsiStatus>> {
            self.note("take_scsi_status");
            None
        }

        fn block_traits(&self) -> BlockTraits {
            self.note("block_traits");
            BlockTraits { varies_writes: true, compares_reads: true }
        }

        fn content_of_write(&mut self, _: u32) -> WriteContent {
            self.note("content_of_write");
            WriteContent::Unchanged
        }

        fn set_comparing(&mut self, _: bool) {
            self.note("set_comparing");
        }

        fn put_ranges(&mut self, _: u32, _: &IoUnit, _: &[Range<u64>]) -> bool {
            self.note("put_ranges");
            true
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
        assert_eq!(engine.connect(Cancellation::new(&|| false)).unwrap(), Connection::Listening);
        engine.give_up();
        engine.remove_target("own".as_ref());
        assert!(engine.take_moved_bytes() == 5 && engine.take_complaint().is_none() && engine.take_refusal(0));
        engine.open_file(&file).unwrap();
        assert_eq!(engine.queue(0, &UNIT), Queued::Queued);
        assert_eq!(engine.commit().unwrap(), 7);
        assert_eq!([engine.hint(&UNIT, 22), engine.status_hint(1)], [Some("it is so"), Some("the device says so")]);
        assert_eq!(engine.block_traits(), BlockTraits { varies_writes: true, compares_reads: true });
        engine.set_comparing(true);
        assert!(engine.content_of_write(0) == WriteContent::Unchanged && engine.put_ranges(0, &UNIT, &[]));
        let said = (engine.take_scsi_status(0), engine.take_mismatch(0), engine.sync_apart(0));
        assert_eq!(said, (None, Some(MISMATCH), Some(3)));
        assert_eq!((engine.has_kernel_workers(), engine.n_foreign_datagrams()), (true, 9));
        assert_eq!(engine.server_steps(), None);
        engine.counts_begin_anew();
        let mut completions = Vec::new();
        engine.reap(1, 3, &mut completions).unwrap();
        engine.reap_until(4, 0, &clock, &mut completions).unwrap();
        engine.close_file(0);
        engine.disconnect(Cancellation::ENDLESS);
        drop(engine);
        let expected = [
            "connect",
            "give_up",
            "remove_target",
            "take_moved_bytes",
            "take_complaint",
            "take_refusal",
            "open_file",
            "queue",
            "commit",
            "hint",
            "status_hint",
            "block_traits",
            "set_comparing",
            "content_of_write",
            "put_ranges",
            "take_scsi_status",
            "take_mismatch",
            "sync_apart",
            "has_kernel_workers",
            "n_foreign_datagrams",
            "server_steps",
            "counts_begin_anew",
            "reap",
            "reap_until",
            "close_file",
            "disconnect",
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
