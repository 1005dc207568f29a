//! Zones of files: `zonemode` and related options.
//!
//! Must not know: option strings, devices. Start reading at [`ZoneSpec`].

use crate::{ExtentSpec, SizeSpec};
use serde::{Deserialize, Serialize};

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
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SequentialZonesSpec {
    /// `zonesize`: bytes from the start of a zone to the next; 0: as the device says.
    pub zone_bytes: u64,
    /// `zonecapacity`: bytes of an emulated zone that can be written; 0: all.
    pub capacity_bytes: u64,
    /// `zoneskip`: part of the file that sequential jobs leave out after each zone.
    pub skip: ZoneSkip,
    /// `read_beyond_wp`: reads go where they were drawn.
    pub reads_beyond_written: bool,
    /// `max_open_zones`: most zones of a file that are written at once by all jobs; 0: as many as the device allows.
    pub max_open: u32,
    /// `job_max_open_zones`: the same for one job; 0: no limit of its own.
    pub job_max_open: u32,
    /// `ignore_zone_limits`: the device's limit of open zones is ignored.
    pub ignores_limits: bool,
    /// `zone_reset_threshold`: part of the range that has to be written before zones are reset without need, 0 to 1.
    pub reset_threshold: f64,
    /// `zone_reset_frequency`: part of the writes before which they are, 0 to 1; 0: none.
    pub reset_frequency: f64,
    /// `write_zone_remainder`: the remainder of a zone behind its last whole block is written as a short block.
    pub writes_remainder: bool,
    /// `recover_zbd_write_error`: after a failed write the device is asked for the state of the zone, and zeroes
    /// replace the missing data.
    pub recovers_writes: bool,
    /// Sizes of the job that are numbers of zones, as long as only the device knows the size of a zone.
    pub sizes: SizesInZones,
}

/// Sizes that were given as a number of zones; each takes the place of the one in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SizesInZones {
    pub size: Option<u64>,
    pub io_size: Option<u64>,
    pub offset: Option<u64>,
    pub offset_increment: Option<u64>,
}

impl SizesInZones {
    /// Puts them into their places, for zones of so many bytes.
    ///
    /// # Errors
    /// The option and its zones, if they are more than 2^64 bytes.
    pub fn put_into(&self, extent: &mut ExtentSpec, zone_bytes: u64) -> Result<(), (&'static str, u64)> {
        let bytes = |name, n_zones: Option<u64>| {
            let of = |n_zones: u64| n_zones.checked_mul(zone_bytes).map(SizeSpec::Bytes).ok_or((name, n_zones));
            n_zones.map(of).transpose()
        };
        extent.size = bytes("size", self.size)?.or(extent.size);
        extent.io_size = bytes("io_size", self.io_size)?.or(extent.io_size);
        extent.offset = bytes("offset", self.offset)?.unwrap_or(extent.offset);
        extent.offset_increment = bytes("offset_increment", self.offset_increment)?.unwrap_or(extent.offset_increment);
        Ok(())
    }

    pub fn first(&self) -> Option<(&'static str, u64)> {
        let Self { size, io_size, offset, offset_increment } = *self;
        let named = [("size", size), ("io_size", io_size), ("offset", offset), ("offset_increment", offset_increment)];
        named.into_iter().find_map(|(name, n_zones)| n_zones.map(|n_zones| (name, n_zones)))
    }
}

/// `zoneskip` of sequential zones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ZoneSkip {
    /// Bytes, a multiple of the size of a zone.
    Bytes(u64),
    Zones(u64),
}

impl Default for ZoneSkip {
    fn default() -> Self {
        Self::Bytes(0)
    }
}
