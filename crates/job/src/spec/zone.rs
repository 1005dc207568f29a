//! Zones of files: `zonemode` and what goes with it.
//!
//! Must not know: option strings, devices. Start reading at [`ZoneSpec`].

use serde::{Deserialize, Serialize};

/// `zonemode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum ZoneSpec {
    /// No zones.
    #[default]
    None,
    /// A window that moves through each file.
    Strided(StridedSpec),
}

/// A window that moves through a file (`zonemode=strided`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StridedSpec {
    /// `zonesize`: bytes of I/O after which the window moves on; at least 1.
    pub zone_bytes: u64,
    /// `zonerange`: bytes that the window shows; at least 1.
    pub range_bytes: u64,
    /// `zoneskip`: bytes between the end of a window and the start of the next.
    pub skip_bytes: u64,
}
