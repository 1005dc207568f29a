//! Evidence: what is measured beside the jobs, by one file a probe and one row of [`PROBES`].
//!
//! A probe begins before the jobs, may look now and then, and says what it has measured whenever a report is made. What it cannot
//! read is missing with a reason, and no reason to end a run. Must not know: loops of workers, formats.
//! Start reading at [`Probe`].

mod disks;
mod idle;
mod page_cache;
mod pressure;
mod process_io;

use crate::plan::{RunPlan, WorkerPlan};
use ferrio_spec::ControlSettings;
use ferrio_stats::{Evidence, Note};
use std::path::PathBuf;
use std::sync::Arc;

pub use idle::calibrate_idle;

/// One that measures.
pub(crate) trait Probe: Send {
    /// Looks at what changes while the jobs run; called about once a second.
    fn look(&mut self) {}

    /// A worker has done all its work. It was a process or a thread of this number.
    fn worker_ends(&mut self, _worker: &WorkerPlan, _pid: u32, _is_thread: bool) {}

    /// What it has measured until now.
    fn evidence(&self) -> Evidence;

    /// What `--debug` tells of it.
    fn describe(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What a probe may look at when it begins.
pub(crate) struct Site<'a> {
    pub(crate) plan: &'a RunPlan,
    pub(crate) control: &'a ControlSettings,
    /// The files that were laid out for each worker; `None`: it has failed already.
    pub(crate) laid_out: &'a [Option<Vec<PathBuf>>],
    /// Hears whose files are looked at next.
    pub(crate) look_at: &'a dyn Fn(usize),
}

/// The probes that have begun, and what kept others from it.
#[derive(Default)]
struct Begun {
    probes: Vec<Box<dyn Probe>>,
    notes: Vec<Note>,
}

/// A kind of probe.
struct ProbeDef {
    /// Begins, if somebody wants it. What keeps it from that is a note, and the run goes on without it.
    start: fn(&Site<'_>, &mut Begun),
}

/// All probes, in the order of their evidence.
const PROBES: &[ProbeDef] = &[
    ProbeDef { start: disks::start },
    ProbeDef { start: idle::start },
    ProbeDef { start: process_io::start },
    ProbeDef { start: page_cache::start },
    ProbeDef { start: pressure::start },
];

/// The probes of a run.
#[derive(Default)]
pub(crate) struct Probes(Vec<Box<dyn Probe>>);

impl Probes {
    /// Begins with all that are wanted. Also what those say that cannot begin.
    pub(crate) fn start(
        plan: &Arc<RunPlan>,
        control: &ControlSettings,
        laid_out: &[Option<Vec<PathBuf>>],
        look_at: &dyn Fn(usize),
    ) -> (Self, Vec<Note>) {
        let site = Site { plan, control, laid_out, look_at };
        let mut begun = Begun::default();
        for row in PROBES {
            (row.start)(&site, &mut begun);
        }
        (Self(begun.probes), begun.notes)
    }

    pub(crate) fn look(&mut self) {
        self.0.iter_mut().for_each(|probe| probe.look());
    }

    pub(crate) fn worker_ends(&mut self, worker: &WorkerPlan, pid: u32, is_thread: bool) {
        self.0.iter_mut().for_each(|probe| probe.worker_ends(worker, pid, is_thread));
    }

    pub(crate) fn evidence(&self) -> Vec<Evidence> {
        self.0.iter().map(|probe| probe.evidence()).collect()
    }

    pub(crate) fn describe(&self) -> Vec<String> {
        self.0.iter().flat_map(|probe| probe.describe()).collect()
    }
}
