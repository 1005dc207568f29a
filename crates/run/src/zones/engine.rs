//! An engine for jobs with sequential zones: a trim resets its zone, and the engine behind never sees it.
//!
//! Must not know: which zone. Start reading at [`ZonedEngine::queue`].

use ferrio_engine::{Completion, Engine, EngineError, EngineFile, EngineSetup, IoUnit, Queued};
use ferrio_sys::Clock;
use ferrio_units::{DataDirection, Direction};
use ferrio_workload::ZoneTable;
use std::io;
use std::sync::Arc;

/// An engine that does everything but trims.
pub(crate) struct ZonedEngine<'a> {
    inner: Box<dyn Engine + 'a>,
    tables: Vec<Arc<ZoneTable>>,
}

impl<'a> ZonedEngine<'a> {
    pub(crate) fn new(inner: Box<dyn Engine + 'a>, tables: Vec<Arc<ZoneTable>>) -> Self {
        Self { inner, tables }
    }
}

impl Engine for ZonedEngine<'_> {
    fn start(&mut self, setup: EngineSetup) -> Result<(), EngineError> {
        self.inner.start(setup)
    }

    fn open_file(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        self.inner.open_file(file)
    }

    fn close_file(&mut self, file_index: u32) {
        self.inner.close_file(file_index);
    }

    fn queue(&mut self, unit_index: u32, unit: &IoUnit) -> Queued {
        if unit.direction != Direction::from(DataDirection::Trim) {
            return self.inner.queue(unit_index, unit);
        }
        let length_bytes = unit.length as u64;
        let reset = self.tables[unit.file_index as usize].trim(unit.offset, length_bytes);
        Queued::Completed(match reset {
            Ok(()) => i64::try_from(length_bytes).unwrap_or(i64::MAX),
            Err(errno) => -i64::from(errno),
        })
    }

    fn commit(&mut self) -> io::Result<u32> {
        self.inner.commit()
    }

    fn hint(&self, unit: &IoUnit, errno: i32) -> Option<&'static str> {
        self.inner.hint(unit, errno)
    }

    fn reap(&mut self, min: u32, max: u32, completions: &mut Vec<Completion>) -> io::Result<()> {
        self.inner.reap(min, max, completions)
    }

    fn reap_until(
        &mut self,
        max: u32,
        until_ns: u64,
        clock: &Clock,
        completions: &mut Vec<Completion>,
    ) -> io::Result<()> {
        self.inner.reap_until(max, until_ns, clock, completions)
    }
}
