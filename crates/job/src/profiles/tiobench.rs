//! The profile `tiobench`: four passes over four files, written and read, in order and at random.
//!
//! Must not know: how values are parsed. The jobs are those that fio 3.41 shows with `--debug=parse`; it passes over the options of the
//! profile, which count here. Start reading at [`expand`].

use super::{ProfileJobs, Setting, on, set};
use crate::message::UserLine;

/// The options of the profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TiobenchDraft {
    /// `size`: of all files together, MiB; `None`: a 256th of the memory of the machine.
    pub size_mib: Option<u64>,
    pub block_bytes: u32,
    /// `numruns`.
    pub n_runs: u32,
    pub directory: Option<String>,
    /// `threads`.
    pub n_threads: u32,
}

impl Default for TiobenchDraft {
    fn default() -> Self {
        Self { size_mib: None, block_bytes: 4096, n_runs: 1, directory: None, n_threads: 1 }
    }
}

/// Longest time of a pass, seconds.
const RUNTIME_SECS: u32 = 600;

/// The four jobs. `memory_mib` is that of the machine.
pub(super) fn expand(draft: &TiobenchDraft, memory_mib: u64) -> Result<ProfileJobs, Vec<UserLine>> {
    let zero = [("block", draft.block_bytes), ("numruns", draft.n_runs), ("threads", draft.n_threads)];
    if let Some((name, _)) = zero.into_iter().find(|(_, value)| *value == 0) {
        return Err(vec![format!("tiobench: {name} must be at least 1").into()]);
    }
    // Cannot overflow: the table bounds the size at 2^20 MiB.
    let size_bytes = draft.size_mib.map_or_else(|| memory_mib.saturating_mul(4096), |size_mib| size_mib << 20);
    let globals = vec![
        set("buffered", &0),
        set("size", &size_bytes),
        set("bs", &draft.block_bytes),
        set("loops", &draft.n_runs),
        set("directory", &draft.directory.as_deref().unwrap_or("./")),
        set("numjobs", &draft.n_threads),
        set("runtime", &RUNTIME_SECS),
        on("group_reporting"),
        on("thread"),
        set("overwrite", &1),
        set("filename", &".fio.tio.1:.fio.tio.2:.fio.tio.3:.fio.tio.4"),
        set("ioengine", &"sync"),
    ];
    let pass = |name: &str, settings: Vec<Setting>| (name.to_owned(), settings);
    let jobs = vec![
        pass("seqwrite", vec![set("rw", &"write"), set("end_fsync", &1)]),
        pass("randwrite", vec![on("stonewall"), set("rw", &"randwrite"), set("end_fsync", &1)]),
        pass("seqread", vec![on("stonewall"), set("rw", &"read")]),
        pass("randread", vec![on("stonewall"), set("rw", &"randread")]),
    ];
    Ok(ProfileJobs { globals, jobs, ..ProfileJobs::default() })
}
