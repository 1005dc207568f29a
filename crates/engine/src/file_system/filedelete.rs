//! `ioengine=filedelete`: `unlink(2)` of a file that was laid out before.
//!
//! Must not know: I/Os. Start reading at `Delete`.

use crate::contract::{EngineError, Prepare};
use crate::file_system::open_op::{AtOpen, OpenOp, failed};
use std::path::Path;

pub(crate) const PREPARE: Prepare = |_| Ok(Box::new(AtOpen(Delete)));

struct Delete;

impl OpenOp for Delete {
    type Kept = ();

    fn act(&mut self, name: &Path) -> Result<(), EngineError> {
        ferrio_sys::file::unlink(name).map_err(failed("delete", name))
    }
}
