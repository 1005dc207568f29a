//! Remarks and refusals of a run and of the set-up of its jobs, in words.
//!
//! Must not know: when they are shown. Start reading at [`text`].

use ferrio_stats::note::RunNote;
use ferrio_units::errno_text;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

// tidy: table
pub(super) fn text(note: &RunNote, mark: &str) -> String {
    match note {
        RunNote::DepthIsCapped => {
            "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1"
                .to_owned()
        }
        RunNote::ClonesOverwrite => {
            format!(
                "{mark}multiple writers may overwrite blocks that belong to other jobs. This can cause \
                                     verification failures."
            )
        }
        RunNote::NeverReadsBack => {
            format!("{mark}verification read phase will never start because write phase uses all of runtime")
        }
        RunNote::Stuck { job, limit_secs } => format!(
            "{mark}job '{job}' hasn't exited in {limit_secs} seconds after the second signal, it appears to be stuck."
        ),
        RunNote::EndedByForce { job, state, limit_secs } => format!(
            "{mark}job '{job}' (state={state}) hasn't exited in {limit_secs} seconds, it appears to be stuck. Doing forceful \
             exit of this job."
        ),
        RunNote::EndsBySignal { number } => format!("\n{mark}terminating on signal {number}"),
        RunNote::NoResults => format!("{mark}job ended without results"),
        RunNote::NeverStarted => format!("{mark}job was never started"),
        RunNote::LogsStuck => format!("{mark}logs are not whole: writing them appears to be stuck"),
        RunNote::LogNotOpened { path, errno } => format!("fopen log: {path}: {}", errno_text(*errno)),
        RunNote::LogThreadDied => format!("{mark}the thread that writes logs has died"),
        RunNote::LogIsBroken { n_words } => format!("{mark}{n_words} words of a log are broken"),
        RunNote::LockedMemoryIsLimited { bytes } => format!("{mark}limiting mlocked memory to {}MiB", bytes >> 20),
        RunNote::NoCpuLeft { job } => format!("{mark}{job}: gtod_cpu leaves it no CPU to run on"),
        RunNote::NoOffload { engine, why } => {
            format!("{mark}option io_submit_mode: engine {engine} cannot be used with offload: {why}")
        }
        RunNote::NotAtomic { engine } => format!("{mark}option atomic: engine {engine} cannot write atomically"),
        RunNote::NoControlGroups => format!("{mark}cgroup blkio does not appear to be mounted"),
        RunNote::ThreadInControlGroup { job } => {
            format!("{mark}{job}: a thread cannot enter a group of cgroup2 by itself; use thread=0")
        }
        RunNote::NoControlGroupWeight { job } => {
            format!("{mark}{job}: cgroup_weight needs cgroup blkio, and here is cgroup2")
        }
        RunNote::NoSyncfs { job } => format!("{job}: I/O engine does not support syncfs"),
        RunNote::TooManyBlockStates { job, limit } => format!(
            "{mark}{job}: block_error_percentiles keeps the state of at most {limit} blocks; use a smaller size, or larger trims"
        ),
        RunNote::Connected { server } => format!("{mark}connected to {server}"),
        RunNote::AwaitsConnection => format!("{mark}waiting for connection"),
        RunNote::NoConnection { job } => format!("{mark}{job}: no connection was made within runtime"),
        RunNote::NoAnswer { job } => {
            format!("{mark}{job}: the server has not answered the I/Os in flight; they are given up, and do not count")
        }
        RunNote::TooManyBuffers { depth, buffer_bytes } => format!(
            "{mark}{depth} buffers of {buffer_bytes} bytes, as the trace asks for, are too much; set a lower iodepth"
        ),
        RunNote::SavesOutput { job, kind, path } => format!("{job} : Saving output of {kind} in {path}"),
        RunNote::PrerunFailed { job, wait_status } => {
            format!("{job} : exec_prerun ended with {}; the job does no I/O", ExitStatus::from_raw(*wait_status))
        }
        RunNote::NoSchedulers { device } => format!("{mark}{device} has no io schedulers"),
        RunNote::NoSuchClock { option, id } => format!("{mark}{option}={id}: no such clock"),
    }
}
