//! Probes: measurements beside the jobs, each with its own file and a row of [`PROBES`].
//!
//! A probe begins before the jobs, may look at intervals, and returns its figures whenever a report is made. A figure
//! that it cannot read is missing, with a reason; that does not end the run. Must not know: how workers run, formats.
//! Start reading at [`Probe`].

mod disks;
mod extents;
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
mod targets;
mod zeroes;

use crate::evidence::ProbedWorker;
use ferrio_spec::ControlSettings;
use ferrio_stats::provenance::DeviceFacts;
use ferrio_stats::{Evidence, Note};
use std::path::PathBuf;

pub use idle::calibrate_idle;
pub(crate) use memory::of_fast as memory_copy;
pub(crate) use process_io::own_read_bytes;
pub(crate) use targets::without_run as targets_without_run;
pub(crate) use zeroes::of_readers as read_samples;

/// A measurement beside the jobs.
pub(crate) trait Probe: Send {
    /// Looks at values that change while the jobs run; called about once a second.
    fn look(&mut self) {}

    /// Called after a worker has done all its work. `number` is its number in the run, `pid` that of its process or thread.
    fn worker_ends(&mut self, _number: u32, _pid: u32, _is_thread: bool) {}

    /// Puts the figures so far under its name.
    fn report(&self, evidence: &mut Evidence);

    /// Lines about the probe for `--debug`.
    fn describe(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What probes look at when they begin.
pub(crate) struct Site<'a> {
    /// The workers of the run, in the order of their numbers.
    pub(crate) workers: &'a [ProbedWorker<'a>],
    /// The files that were laid out for each worker; `None`: the worker has failed already.
    pub(crate) laid_out: &'a [Option<Vec<PathBuf>>],
    /// The devices under the files of the run.
    pub(crate) devices: &'a [DeviceFacts],
    pub(crate) control: &'a ControlSettings,
    /// Called with the index of each worker before its files are looked at.
    pub(crate) look_at: &'a dyn Fn(usize),
}

impl Site<'_> {
    /// The workers with files that have not failed, each with the files that were laid out for it.
    fn with_files(&self) -> impl Iterator<Item = (&ProbedWorker<'_>, &[PathBuf])> {
        let workers = self.workers.iter().zip(self.laid_out).filter(|(worker, _)| worker.has_files());
        workers.filter_map(|(worker, laid_out)| Some((worker, laid_out.as_deref()?)))
    }
}

/// The probes that have begun, and notes about those that could not.
#[derive(Default)]
struct Begun {
    probes: Vec<Box<dyn Probe>>,
    notes: Vec<Note>,
}

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

/// The probes of a run; by default there are none.
#[derive(Default)]
pub(crate) struct Probes(Vec<Box<dyn Probe>>);

impl Probes {
    /// Begins all probes that are wanted; also returns the notes of those that cannot begin.
    pub(crate) fn start(site: &Site<'_>) -> (Self, Vec<Note>) {
        let mut begun = Begun::default();
        for row in PROBES.iter().filter(|row| row.is_known_to_fio || !site.control.skips_evidence) {
            (row.start)(site, &mut begun);
        }
        (Self(begun.probes), begun.notes)
    }

    /// Looks at values that change while the jobs run; to be called about once a second.
    pub(crate) fn look(&mut self) {
        self.0.iter_mut().for_each(|probe| probe.look());
    }

    /// Called after a worker has done all its work, while its process or thread, which has the number `pid`, still exists. `number` is
    /// that of the worker in the run.
    pub(crate) fn worker_ends(&mut self, number: u32, pid: u32, is_thread: bool) {
        self.0.iter_mut().for_each(|probe| probe.worker_ends(number, pid, is_thread));
    }

    /// The figures so far.
    pub(crate) fn evidence(&self) -> Evidence {
        let mut evidence = Evidence::default();
        self.0.iter().for_each(|probe| probe.report(&mut evidence));
        evidence
    }

    /// Lines about the probes for `--debug`.
    pub(crate) fn describe(&self) -> Vec<String> {
        self.0.iter().flat_map(|probe| probe.describe()).collect()
    }
}
