//! `ioengine=dircreate`: `mkdir(2)` without any permissions, as fio makes directories. A directory that exists already
//! is an error.
//!
//! Must not know: I/Os. Start reading at `Create`.

use crate::contract::{EngineError, Prepare};
use crate::file_system::open_op::{AtOpen, OpenOp, failed};
use ferrio_sys::file;
use std::path::Path;

pub(crate) const PREPARE: Prepare = |_| Ok(Box::new(AtOpen(Create)));

struct Create;

impl OpenOp for Create {
    type Kept = ();

    fn act(&mut self, name: &Path) -> Result<(), EngineError> {
        file::create_directory(name, 0).map_err(failed("open", name))
    }

    fn remove(&mut self, name: &Path) {
        let _ = file::remove_directory(name);
    }
}
