//! Durability of writes: direct, synchronous, and syncs between and after I/Os.
//!
//! Must not know: how it is done. Start reading at [`DurabilitySpec`].

use ferrio_units::WriteHint;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SyncMode {
    /// Neither.
    #[default]
    None,
    Sync,
    Dsync,
}

/// Direct, synchronous, and syncs between I/Os.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DurabilitySpec {
    /// `expect=memory`: the job measures memory on purpose; no I/O is another one for it.
    pub expects_memory: bool,
    /// `direct` (or `buffered=0`).
    pub direct: bool,
    pub atomic: bool,
    pub sync: SyncMode,
    /// `fsync` after every n writes; 0: never.
    pub fsync_blocks: u32,
    /// `fdatasync` after every n writes; 0: never.
    pub fdatasync_blocks: u32,
    /// `sync_file_range`: flags of the system call, and after how many writes; `None`: never.
    pub sync_file_range: Option<(u32, u32)>,
    pub end_fsync: bool,
    pub fsync_on_close: bool,
    pub end_syncfs: bool,
    /// `write_hint`; `None`: not given.
    pub write_hint: Option<WriteHint>,
}
