//! What keeps a fleet from a run.
//!
//! Start reading at [`FleetError`].

use crate::fleet::wire::secrets::SecretsError;
use std::io;
use std::time::Duration;

/// A fleet cannot run.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// There are no certificates.
    #[error(transparent)]
    Secrets(#[from] SecretsError),
    /// The system lacks something.
    #[error("{}", ferrio_units::error_text(.0))]
    System(#[from] io::Error),
    /// Not all workers came.
    #[error("{n_here} of {n_hosts} hosts have come within {} s; missing: {missing}", limit.as_secs())]
    Missing {
        /// Workers that came.
        n_here: usize,
        /// All workers.
        n_hosts: u32,
        /// Ranks of those that did not come.
        missing: String,
        /// The time that they had.
        limit: Duration,
    },
    /// A host cannot run the jobs.
    #[error("{host}: {reason}")]
    Refused {
        /// The host.
        host: String,
        /// Its reason.
        reason: String,
    },
    /// Several hosts would change one place.
    #[error(
        "hosts {hosts} would all write to {path}, which is one place for them: nothing was written. Give each host a file of its own \
         ($rank in its name) or a part of this one (--partition), or allow it (--shared-writes)"
    )]
    SharedWrites {
        /// The hosts.
        hosts: String,
        /// The path on the first of them.
        path: String,
    },
    /// The file that is to be divided has not the same size on all hosts.
    #[error("--partition: {path} is not the same on all hosts: {first} uses {} bytes from {} on, and {other} {} from {}", .ranges.0.1, .ranges.0.0, .ranges.1.1, .ranges.1.0)]
    UnlikeParts {
        /// The path.
        path: String,
        /// A host.
        first: String,
        /// Another host.
        other: String,
        /// Start and length of what each of them has.
        ranges: Box<((u64, u64), (u64, u64))>,
    },
    /// A host was lost before the run began.
    #[error("host {host} was lost before the start: {reason}")]
    LostEarly {
        /// The host.
        host: String,
        /// What is known of the reason.
        reason: String,
    },
    /// A run wants more hosts than there are, or none.
    #[error("there are {n_hosts} hosts, and a run wants {wanted}")]
    NoSuchNumber {
        /// Number of hosts that the run wants.
        wanted: u32,
        /// Number of hosts.
        n_hosts: u32,
    },
    /// The user has ended it before it began.
    #[error("stopped before the start")]
    Stopped,
}
