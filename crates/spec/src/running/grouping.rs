//! Order between jobs, and which of them end together.
//!
//! Must not know: the I/O of a job. Start reading at [`GroupingSpec`].

use serde::{Deserialize, Serialize};

/// Order between jobs and groups.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupingSpec {
    /// `stonewall`.
    pub stonewall: bool,
    /// `new_group`.
    pub new_group: bool,
    /// `wait_for`.
    pub wait_for: Option<String>,
    /// `exitall`.
    pub exitall: bool,
    /// `exitall_on_error`.
    pub exitall_on_error: bool,
    /// `exit_what`.
    pub exit_what: ExitWhat,
    /// `group_reporting`.
    pub group_reporting: bool,
    /// `report_total`: the job is part of the sum over all groups.
    pub report_total: bool,
    /// `shared_stream`: name of the stream of blocks that the job shares with others; `None`: it has one of its own.
    pub shared_stream: Option<String>,
}

/// `exit_what`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExitWhat {
    /// Jobs of the same group.
    Group,
    /// All running jobs; waiting jobs continue.
    Stonewall,
    /// Everything.
    All,
}
