//! Zones of files: `zonemode` and what goes with it.
//!
//! Must not know: option strings, devices. Start reading at [`ZoneSpec`].

use serde::{Deserialize, Serialize};

/// `zonemode`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub enum ZoneSpec {
    /// No zones.
    #[default]
    None,
    /// A window that moves through each file.
    Strided(StridedSpec),
    /// Zones that are written in sequence, each from its start to its end.
    Sequential(SequentialZonesSpec),
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

/// Zones that are written in sequence (`zonemode=zbd`): those of the device, or emulated ones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SequentialZonesSpec {
    /// `zonesize`: bytes from the start of a zone to the next; 0: as the device says.
    pub zone_bytes: u64,
    /// `zonecapacity`: bytes of an emulated zone that can be written; 0: all.
    pub capacity_bytes: u64,
    /// `zoneskip`: what sequential jobs leave out after each zone.
    pub skip: ZoneSkip,
    /// `read_beyond_wp`: reads go where they were drawn.
    pub reads_beyond_written: bool,
    /// `max_open_zones`: most zones of a file that are written at once by all jobs; 0: as many as the device allows.
    pub max_open: u32,
    /// `job_max_open_zones`: the same for one job; 0: no limit of its own.
    pub job_max_open: u32,
    /// `ignore_zone_limits`: what the device says of open zones does not count.
    pub ignores_limits: bool,
    /// `zone_reset_threshold`: part of the range that has to be written before zones are reset without need, 0 to 1.
    pub reset_threshold: f64,
    /// `zone_reset_frequency`: part of the writes before which they are, 0 to 1; 0: none.
    pub reset_frequency: f64,
    /// `write_zone_remainder`: what is left of a zone behind its last whole block is written as a short block.
    pub writes_remainder: bool,
}

/// `zoneskip` of sequential zones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ZoneSkip {
    /// Bytes, a multiple of the size of a zone.
    Bytes(u64),
    /// Zones.
    Zones(u64),
}
