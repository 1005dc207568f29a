//! `ioengine=filecreate`: `open(2)` with `O_CREAT`. A file that exists already is only opened.
//!
//! Must not know: I/Os. Start reading at `Create`.

use crate::contract::{EngineError, Prepare};
use crate::file_system::open_op::{AtOpen, OpenOp, failed};
use ferrio_sys::file::{self, Access, OpenRequest};
use std::os::fd::OwnedFd;
use std::path::Path;

pub(crate) const PREPARE: Prepare = |_| Ok(Box::new(AtOpen(Create)));

struct Create;

impl OpenOp for Create {
    type Kept = OwnedFd;

    fn act(&mut self, name: &Path) -> Result<OwnedFd, EngineError> {
        let request = OpenRequest { access: Access::ReadWrite, is_create: true, mode: 0o600, ..OpenRequest::default() };
        request.open(name).map_err(failed("open", name))
    }

    fn remove(&mut self, name: &Path) {
        // Another clone may have removed the file already, which is no error.
        let _ = file::unlink(name);
    }
}
