//! Order between jobs, and which of them end together.
//!
//! Must not know: the I/O of a job. Start reading at [`GroupingSpec`].

use serde::{Deserialize, Serialize};

/// Order between jobs and groups.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupingSpec {
    pub stonewall: bool,
    pub new_group: bool,
    pub wait_for: Option<String>,
    pub exitall: bool,
    pub exitall_on_error: bool,
    pub exit_what: ExitWhat,
    pub group_reporting: bool,
    /// `report_total`: the job is part of the sum over all groups.
    pub report_total: bool,
    /// `shared_stream`: name of the stream of blocks that the job shares with others; `None`: it has one of its own.
    pub shared_stream: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExitWhat {
    /// Jobs of the same group.
    Group,
    /// All running jobs; waiting jobs continue.
    Stonewall,
    All,
}
