//! The options of the engine, checked.
//!
//! Those of the ring are those of `io_uring`. Must not know: commands. Start reading at [`CommandOptions`].

use super::NAME;
use crate::contract::EngineError;
use crate::io_uring::options::UringOptions;
use crate::options::EngineOptions;
use ferrio_spec::engines::options::io_uring::{self, CommandType};

/// The options of a job.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CommandOptions {
    pub(super) ring: UringOptions,
    /// Reads bypass the cache of the device (FUA).
    pub(super) reads_past_cache: bool,
    /// Writes end when the data is on the medium (FUA).
    pub(super) writes_past_cache: bool,
}

impl CommandOptions {
    pub(super) fn parse(options: &EngineOptions) -> Result<Self, EngineError> {
        if options.get(&io_uring::CMD_TYPE) == CommandType::Bsg {
            let why = "commands of SCSI are not built yet; allowed: nvme";
            return Err(EngineError::bad_option(NAME, io_uring::CMD_TYPE.name(), "bsg", why));
        }
        Ok(Self {
            ring: UringOptions::parse(options)?,
            reads_past_cache: options.get(&io_uring::READFUA),
            writes_past_cache: options.get(&io_uring::WRITEFUA),
        })
    }
}
