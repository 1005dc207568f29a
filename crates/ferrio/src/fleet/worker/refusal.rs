//! Why a host does not do the work that a coordinator has for it, in the words that the coordinator shows.

use super::names::HostNameError;
use ferrio_formats::native::note_text;
use ferrio_run::RunError;
use ferrio_run::places::PartitionError;
use std::io;
use std::path::PathBuf;

/// The work is not done on this host.
#[derive(Debug, thiserror::Error)]
pub enum WorkRefusal {
    /// The name of the host does not fit where the jobs have it.
    #[error(transparent)]
    Names(#[from] HostNameError),
    /// A worker of a fleet was sent job files.
    #[error("it reads no job files: servers do")]
    NoServer,
    /// A server was sent jobs that are no files.
    #[error("a server takes job files")]
    NoJobFiles,
    /// There are more job files than a server reads.
    #[error("at most {0} job files are read")]
    TooManyFiles(usize),
    /// Messages have told what is wrong with the job files.
    #[error("its job files are refused")]
    JobFiles,
    /// The job files have no section that would be run.
    #[error("there is no job to run")]
    NoJob,
    /// Messages have told what the policy does not allow.
    #[error("the policy of the server does not allow what its jobs do")]
    Policy,
    /// A `directory` is not there: a file system that is not mounted must not be replaced by a new directory.
    #[error("directory={}: there is no such directory on this host", .0.display())]
    NoDirectory(PathBuf),
    /// The jobs cannot be planned or prepared.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The jobs cannot be divided.
    #[error("{}", partition_text(.0))]
    Partition(#[from] PartitionError),
    /// The system lacks something.
    #[error("{}", ferrio_units::error_text(.0))]
    System(#[from] io::Error),
    /// The thread that looks at the files has failed.
    #[error("the files cannot be looked at")]
    Places,
}

/// Why the jobs cannot be divided, with the reason of the failure.
fn partition_text(error: &PartitionError) -> String {
    match error {
        PartitionError::Sizes { failure, .. } => match &failure.note {
            Some(note) => format!("{error}: {}", note_text(note).trim()),
            None => error.to_string(),
        },
        _ => error.to_string(),
    }
}
