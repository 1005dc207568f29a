//! Ways to start workers on other hosts, and to hand them the key of the run.
//!
//! Must not know: what workers do. Start reading at [`RemoteShell`] (hosts that ssh reaches), then [`Ranks`] and [`Meeting`] (processes
//! that Slurm, MPI or Kubernetes have started side by side).

mod copies;
mod push;
mod ranks;
mod remote_shell;
mod rendezvous;

pub use copies::{Copies, CopyState, OlderCopies};
pub use push::{PushError, PushedProgram};
pub use ranks::Ranks;
pub use remote_shell::{LaunchError, Launched, LaunchedWorkerError, RemoteShell, attend_launcher, launch_here};
pub(crate) use rendezvous::read_key;
pub use rendezvous::{Meeting, MeetingError, Published};
