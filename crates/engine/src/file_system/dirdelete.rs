//! `ioengine=dirdelete`: `rmdir(2)` of a directory that was made before.
//!
//! Must not know: I/Os. Start reading at `Delete`.

use crate::contract::{EngineError, Prepare};
use crate::file_system::open_op::{AtOpen, OpenOp, failed};
use ferrio_sys::file;
use std::path::Path;

pub(crate) const PREPARE: Prepare = |_| Ok(Box::new(AtOpen(Delete)));

struct Delete;

impl OpenOp for Delete {
    type Kept = ();

    fn make(&self, name: &Path) -> Result<(), EngineError> {
        make_directory(name)
    }

    fn act(&mut self, name: &Path) -> Result<(), EngineError> {
        file::remove_directory(name).map_err(failed("delete", name))
    }

    fn remove(&mut self, name: &Path) {
        let _ = file::remove_directory(name);
    }
}

/// Makes a directory for a job to look up or to delete. Whatever exists by this name already stays, as with fio 3.41.
pub(crate) fn make_directory(name: &Path) -> Result<(), EngineError> {
    match file::create_directory(name, 0o700) {
        Err(error) if error.errno() == Some(libc::EEXIST) => Ok(()),
        made => made.map_err(failed("mkdir", name)),
    }
}
