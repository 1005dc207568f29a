//! Probes: measurements beside the jobs, each with its own file and a row of [`PROBES`].
//!
//! A probe begins before the jobs, may look at intervals, and returns its figures whenever a report is made. A figure
//! that it cannot read is missing, with a reason; that does not end the run. Must not know: loops of workers, formats.
//! Start reading at [`Probe`].

mod disks;
mod heat;
mod host_clock;
mod host_cpu;
mod identity;
mod idle;
mod memory;
mod page_cache;
mod pressure;
mod process_io;
mod stacks;
pub(crate) mod targets;
mod zeroes;

use crate::plan::{RunPlan, WorkerPlan};
use ferrio_spec::ControlSettings;
use ferrio_stats::{Evidence, Note};
use std::path::PathBuf;
use std::sync::Arc;

pub use idle::calibrate_idle;
pub(crate) use memory::of_fast as memory_copy;
pub(crate) use process_io::own_read_bytes;
pub(crate) use zeroes::of_readers as read_samples;

/// A measurement beside the jobs.
pub(crate) trait Probe: Send {
    /// Looks at values that change while the jobs run; called about once a second.
    fn look(&mut self) {}

    /// Called after a worker has done all its work. `pid` is the number of its process or thread.
    fn worker_ends(&mut self, _worker: &WorkerPlan, _pid: u32, _is_thread: bool) {}

    /// Puts the figures so far under its name.
    fn report(&self, evidence: &mut Evidence);

    /// Lines about the probe for `--debug`.
    fn describe(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Information for a probe that begins.
pub(crate) struct Site<'a> {
    pub(crate) plan: &'a RunPlan,
    pub(crate) control: &'a ControlSettings,
    /// The files that were laid out for each worker; `None`: the worker has failed already.
    pub(crate) laid_out: &'a [Option<Vec<PathBuf>>],
    /// Called with each worker before its files are looked at.
    pub(crate) look_at: &'a dyn Fn(usize),
}

/// The probes that have begun, and notes about those that could not.
#[derive(Default)]
struct Begun {
    probes: Vec<Box<dyn Probe>>,
    notes: Vec<Note>,
}

/// A kind of probe.
struct ProbeDef {
    /// Begins the probe if it is wanted. If it cannot begin it adds a note, and the run continues without it.
    start: fn(&Site<'_>, &mut Begun),
    /// Its figures are part of reports for people; the others are part of documents only.
    is_known_to_fio: bool,
}

const fn of_fio(start: fn(&Site<'_>, &mut Begun)) -> ProbeDef {
    ProbeDef { start, is_known_to_fio: true }
}

const fn of_ferrio(start: fn(&Site<'_>, &mut Begun)) -> ProbeDef {
    ProbeDef { start, is_known_to_fio: false }
}

/// All probes, in the order in which they begin.
const PROBES: &[ProbeDef] = &[
    of_fio(disks::start),
    of_fio(idle::start),
    of_ferrio(process_io::start),
    of_ferrio(page_cache::start),
    of_ferrio(pressure::start),
    of_ferrio(targets::start),
    of_ferrio(host_cpu::start),
    of_ferrio(host_clock::start),
    of_ferrio(heat::start),
];

/// The probes of a run.
#[derive(Default)]
pub(crate) struct Probes(Vec<Box<dyn Probe>>);

impl Probes {
    /// Begins all probes that are wanted; also returns the notes of those that cannot begin.
    pub(crate) fn start(
        plan: &Arc<RunPlan>,
        control: &ControlSettings,
        laid_out: &[Option<Vec<PathBuf>>],
        look_at: &dyn Fn(usize),
    ) -> (Self, Vec<Note>) {
        let site = Site { plan, control, laid_out, look_at };
        let mut begun = Begun::default();
        for row in PROBES.iter().filter(|row| row.is_known_to_fio || !control.skips_evidence) {
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

    pub(crate) fn evidence(&self) -> Evidence {
        let mut evidence = Evidence::default();
        self.0.iter().for_each(|probe| probe.report(&mut evidence));
        evidence
    }

    pub(crate) fn describe(&self) -> Vec<String> {
        self.0.iter().flat_map(|probe| probe.describe()).collect()
    }
}
