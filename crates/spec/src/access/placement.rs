//! Data placement: where within a device a job asks for its writes to be put together.
//!
//! Must not know: commands. Start reading at [`PlacementSpec`].

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// `dataplacement`: the way in which a device takes such wishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
pub enum PlacementKind {
    #[default]
    None,
    /// Flexible data placement of NVMe.
    Fdp,
    /// Streams of NVMe.
    Streams,
}

/// `plid_select`: the choice of the next identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
pub enum PlacementChoice {
    /// One after the other.
    #[default]
    RoundRobin,
    /// Any.
    Random,
    Scheme,
}

/// Data placement of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(default)]
pub struct PlacementSpec {
    /// `dataplacement`, or `fdp`.
    pub kind: PlacementKind,
    /// `plid_select`.
    pub choice: PlacementChoice,
    /// `plids`, ascending: indexes of the device's identifiers (FDP), or the identifiers themselves (streams). Empty: all.
    pub ids: Vec<u16>,
    /// `dp_scheme`: the file with the identifiers of ranges.
    #[serde(with = "crate::targets::path_bytes::optional")]
    pub scheme_file: Option<PathBuf>,
}
