//! Wrapper for the engine of a job with sequential zones: a trim resets its zone, and never reaches the engine.
//!
//! Must not know: the choice of zones. Start reading at [`ZoneResets::queue`].

use crate::wrapped::{Wrapped, Wrapper};
use ferrio_engine::{Engine, IoResult, IoUnit, Queued};
use ferrio_units::{DataDirection, Direction};
use ferrio_workload::ZoneTable;
use std::sync::Arc;

/// Tables of the zones that trims reset.
struct ZoneResets(Vec<Arc<ZoneTable>>);

/// Wraps an engine, which then gets everything except for trims.
pub(crate) fn reset_zones<'a>(inner: Box<dyn Engine + 'a>, tables: Vec<Arc<ZoneTable>>) -> Box<dyn Engine + 'a> {
    Box::new(Wrapped::new(inner, ZoneResets(tables)))
}

impl Wrapper for ZoneResets {
    fn queue(&mut self, inner: &mut dyn Engine, unit_index: u32, unit: &IoUnit) -> Queued {
        if unit.direction != Direction::from(DataDirection::Trim) {
            return inner.queue(unit_index, unit);
        }
        let length_bytes = unit.length_bytes as u64;
        let reset = self.0[unit.file_index as usize].trim(unit.offset_bytes, length_bytes);
        Queued::Completed(match reset {
            Ok(()) => IoResult::done(unit.length_bytes),
            Err(errno) => IoResult::failed(errno),
        })
    }
}
