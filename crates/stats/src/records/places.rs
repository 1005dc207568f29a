//! The places that jobs use: files, parts of them, and devices, with names by which hosts recognise that they have the same place.
//!
//! Must not know: how names are found, how hosts are compared. Start reading at [`UsedPlace`].

use serde::{Deserialize, Serialize};

/// A place that a job reads or writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedPlace {
    pub job: String,
    /// The path, as the job has it.
    pub path: String,
    /// The job writes or trims there, or makes or removes the file.
    pub is_changed: bool,
    /// The file is missing or too short, so that data is laid out before the job begins.
    pub needs_layout: bool,
    /// First byte that is used, from the beginning of what the names stand for.
    pub start_bytes: u64,
    /// End of the part that is used; `u64::MAX`: it is not known.
    pub end_bytes: u64,
    /// Names of the place. Two places that have one of them in common are the same.
    pub names: Vec<String>,
    /// What is known of a place that has no certain name: two places with one of them in common may be the same.
    pub hints: Vec<String>,
}

/// The part of a file or device that a job uses, before it is divided among the hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionedRange {
    pub job: String,
    /// The path, as the job has it.
    pub path: String,
    pub start_bytes: u64,
    pub length_bytes: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostPlaces {
    /// The machine: hosts with the same text are name spaces of one.
    pub machine: String,
    pub places: Vec<UsedPlace>,
    /// What was divided among the hosts; empty: nothing.
    pub partitioned: Vec<PartitionedRange>,
}

/// A place that several hosts use in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedPlace {
    /// The path on the first of them.
    pub path: String,
    /// Names of the hosts, in the order of their ranks.
    pub hosts: Vec<String>,
    /// Several of them change it.
    pub is_written: bool,
    /// It is the same place; else that could not be told.
    pub is_certain: bool,
}
