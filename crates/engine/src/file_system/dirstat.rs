//! `ioengine=dirstat`: looks up a directory that was made before, as `ioengine=filestat` does with a file.
//!
//! Must not know: I/Os. Start reading at `StatDirectory`.

use crate::contract::{EngineError, Prepare};
use crate::file_system::dirdelete::make_directory;
use crate::file_system::filestat::Stat;
use crate::file_system::open_op::{AtOpen, OpenOp};
use ferrio_sys::file;
use std::path::Path;

pub(crate) const PREPARE: Prepare = |options| Ok(Box::new(AtOpen(StatDirectory(Stat::new(options)))));

struct StatDirectory(Stat);

impl OpenOp for StatDirectory {
    type Kept = ();

    fn make(&self, name: &Path) -> Result<(), EngineError> {
        make_directory(name)
    }

    fn act(&mut self, name: &Path) -> Result<(), EngineError> {
        self.0.act(name)
    }

    fn remove(&mut self, name: &Path) {
        let _ = file::remove_directory(name);
    }
}
