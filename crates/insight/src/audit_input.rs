//! The record of a run as rules ask about it: by job, with its specification, its targets and the figures of its clones.
//!
//! Must not know: rules. Start reading at [`AuditInput`].

use crate::measures::kept::MeasureCache;
use ferrio_spec::JobSpec;
use ferrio_spec::engines::{Data, EngineDef, Measures, by_name};
use ferrio_stats::provenance::DeviceFacts;
use ferrio_stats::{
    BackingPart, DirectionStats, HostCpu, IoCounters, PageCache, Provenance, RecordOrigin, ReportedFacts, ReportedRow,
    RunRecord, ServerSteps, TargetAlias, TargetKind, TargetPlace, ThreadStats, WorkerRecord,
};
use ferrio_units::DataDirection;
use std::collections::BTreeMap;

/// File systems that keep their data in memory.
const IN_MEMORY: [&str; 4] = ["tmpfs", "ramfs", "devtmpfs", "hugetlbfs"];

/// File systems whose own threads read, so that the kernel does not count these reads for the job.
const COUNT_ELSEWHERE: [&str; 2] = ["zfs", "bcachefs"];

pub(crate) struct AuditInput<'a> {
    pub(crate) record: &'a RunRecord,
    pub(crate) provenance: &'a Provenance,
    pub(crate) jobs: Vec<AuditedJob<'a>>,
    /// Measures that were computed already.
    pub(crate) kept: MeasureCache,
}

pub(crate) struct AuditedJob<'a> {
    pub(crate) name: &'a str,
    pub(crate) spec: &'a JobSpec,
    pub(crate) engine: &'static EngineDef,
    pub(crate) group: u32,
    pub(crate) n_clones: u32,
    /// Its position in the run.
    pub(crate) index: u32,
    pub(crate) places: &'a [TargetPlace],
    /// Its targets that earlier jobs have under other names.
    pub(crate) aliases: &'a [TargetAlias],
    /// The part of the file behind a loop device that it uses.
    pub(crate) part: Option<&'a BackingPart>,
    /// The places hold a sample of its files, so that sums of sizes are too small.
    pub(crate) has_more_files: bool,
    /// Records of its clones that have finished; empty before the run.
    pub(crate) workers: Vec<&'a WorkerRecord>,
    /// Records of its clones that failed or were killed. Their figures are those of a part of their work.
    pub(crate) failed: Vec<&'a WorkerRecord>,
    /// Their figures together; `None` before the run.
    pub(crate) total: Option<ThreadStats>,
}

/// Why a record does not describe its jobs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UndescribedJobs {
    #[error("the record does not describe its jobs")]
    NoJobs,
    #[error("the options of job {job} are in a form of another version")]
    OtherVersion { job: String },
    #[error("job {job} has the engine {engine}, which this version does not know")]
    UnknownEngine { job: String, engine: String },
}

impl<'a> AuditInput<'a> {
    pub(crate) fn of(record: &'a RunRecord) -> Result<Self, UndescribedJobs> {
        let provenance = record.provenance.as_deref().ok_or(UndescribedJobs::NoJobs)?;
        let mut jobs = Vec::with_capacity(provenance.jobs.len());
        for (job_index, job) in (0_u32..).zip(&provenance.jobs) {
            let foreign = || UndescribedJobs::OtherVersion { job: job.name.clone() };
            let spec = job.options.as_deref().ok_or_else(foreign)?;
            let unknown = || UndescribedJobs::UnknownEngine { job: job.name.clone(), engine: spec.engine.name.clone() };
            let engine = by_name(&spec.engine.name).ok_or_else(unknown)?;
            let clones = record.workers.iter().filter(|worker| worker.job_index == job_index);
            let (failed, others): (Vec<&WorkerRecord>, Vec<&WorkerRecord>) =
                clones.partition(|worker| has_failed(worker));
            let workers: Vec<&WorkerRecord> = others.into_iter().filter(|worker| has_figures(worker)).collect();
            let targets = record.targets().iter().find(|targets| targets.job_index == job_index);
            jobs.push(AuditedJob {
                name: &job.name,
                engine,
                group: job.group,
                n_clones: job.n_clones,
                index: job_index,
                places: targets.map_or(&[], |targets| &targets.places),
                aliases: targets.map_or(&[], |targets| &targets.aliases),
                part: targets.and_then(|targets| targets.part.as_ref()),
                has_more_files: targets.is_some_and(|targets| targets.n_left_out > 0),
                total: total(&workers),
                workers,
                failed,
                spec,
            });
        }
        Ok(Self { record, provenance, jobs, kept: MeasureCache::default() })
    }

    /// Jobs that run at the same time, by the number of their group.
    pub(crate) fn groups(&self) -> BTreeMap<u32, Vec<&AuditedJob<'a>>> {
        let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
        // A job that waits for another one begins when that has ended.
        for job in self.jobs.iter().filter(|job| job.spec.grouping.wait_for.is_none()) {
            groups.entry(job.group).or_default().push(job);
        }
        groups
    }

    /// The jobs have not run.
    pub(crate) fn is_before(&self) -> bool {
        self.record.workers.is_empty()
    }

    /// The figures are those of a report: nothing is known of the machine.
    pub(crate) fn is_reported(&self) -> bool {
        matches!(self.record.origin, RecordOrigin::Report(_))
    }

    /// What a report says about its own figures; `None`: they were measured here.
    pub(crate) fn reported(&self) -> Option<&'a ReportedFacts> {
        self.record.evidence.reported.as_deref()
    }

    /// The options of the jobs are not all known.
    pub(crate) fn lacks_options(&self) -> bool {
        self.reported().is_some_and(|facts| facts.lacks_options)
    }

    /// The rows of a report, each with the job and the figures that it stands for.
    pub(crate) fn reported_rows(&self) -> impl Iterator<Item = (&AuditedJob<'a>, &'a ReportedRow, &'a ThreadStats)> {
        let rows = self.reported().map_or(&[][..], |facts| &facts.rows);
        rows.iter().filter_map(|row| {
            let worker = self.record.workers.iter().find(|worker| worker.number == row.worker_number)?;
            Some((self.jobs.get(worker.job_index as usize)?, row, &*worker.stats))
        })
    }

    pub(crate) fn device(&self, name: &str) -> Option<&'a DeviceFacts> {
        self.provenance.devices.iter().find(|device| device.name == name)
    }

    /// The CPUs of the machine during the run, if they were measured.
    pub(crate) fn host_cpu(&self) -> Option<&'a HostCpu> {
        self.record.evidence.host_cpu.as_ref()
    }

    /// The kernel's account of all processes of the run; `None`: it could not be read.
    pub(crate) fn charged(&self) -> Option<&'a IoCounters> {
        self.record.evidence.process_io.as_ref().and_then(|io| io.total.value())
    }

    /// Bytes that the kernel has read for the processes of the run and for none of the workers themselves. `None`: that is not known.
    pub(crate) fn unclaimed_read_bytes(&self) -> Option<u64> {
        let total = self.charged()?;
        let features = self.record.workers.iter().map(|worker| &worker.stats.features);
        // Of a worker that failed there may be no figures: its bytes stay among those that may be of any other.
        let claimed = features.flat_map(|features| [features.own_read_bytes, features.read_before_bytes]).flatten();
        Some(total.read_bytes.saturating_sub(sum(claimed)))
    }

    /// The effect on the page cache, if it was measured.
    pub(crate) fn page_cache(&self) -> Option<&'a PageCache> {
        self.record.evidence.page_cache.as_ref()
    }
}

/// A stop of the whole run is no failure.
fn has_failed(worker: &WorkerRecord) -> bool {
    let fate = &worker.fate;
    fate.killed_by.is_some() || fate.is_cut_short || fate.failure.as_ref().is_some_and(|failure| !failure.is_stopped())
}

fn has_figures(worker: &WorkerRecord) -> bool {
    worker.fate.was_let_go && worker.fate.failure.is_none()
}

fn total(workers: &[&WorkerRecord]) -> Option<ThreadStats> {
    let (first, others) = workers.split_first()?;
    let mut total = ThreadStats::clone(&first.stats);
    for worker in others {
        total.merge(&worker.stats);
    }
    Some(total)
}

impl AuditedJob<'_> {
    /// Steps by which its workers have reached their servers, those of failed workers among them; `None`: its engine has no
    /// server.
    pub(crate) fn server(&self) -> Option<ServerSteps> {
        let workers = self.workers.iter().chain(&self.failed);
        let mut all: Option<ServerSteps> = None;
        for steps in workers.filter_map(|worker| worker.stats.features.server.as_deref()) {
            all.get_or_insert_default().merge(steps);
        }
        all
    }

    /// True if it does I/O in a direction.
    pub(crate) fn does(&self, direction: DataDirection) -> bool {
        self.spec.pattern.mix.directions()[direction]
    }

    /// True if its I/O goes through the page cache, as far as its options show.
    pub(crate) fn is_buffered(&self) -> bool {
        let (targets, is_always) = (self.engine.targets, self.engine.forms.is_always_buffered);
        (is_always || !self.spec.durability.direct) && targets.are_opened_by_run() && !targets.are_passthrough()
    }

    /// True if its I/Os move the bytes that they count: those that open, allocate or shorten files count bytes and move none.
    pub(crate) fn moves_data(&self) -> bool {
        self.engine.measures == Measures::Ios && self.engine.data != Data::Untouched && !self.engine.moves_nothing()
    }

    /// True if figures of memory are what it is for: what it does there takes no part in sums that are compared with the work of storage.
    pub(crate) fn expects_memory(&self) -> bool {
        self.spec.durability.expects_memory
    }

    /// True if its targets are files or devices.
    pub(crate) fn has_files(&self) -> bool {
        self.engine.targets.are_files()
    }

    /// The files of a clone; `None`: they are known only when the job starts.
    pub(crate) fn n_files(&self) -> Option<u64> {
        let target = &self.spec.target;
        let is_known = target.opendirs.is_empty() && !self.spec.replay.is_set();
        let n_named = target.filenames.len() as u64;
        is_known.then(|| if n_named > 0 { n_named } else { u64::from(target.nrfiles.max(1)) })
    }

    /// Memory for the I/Os that all its clones can have in flight.
    pub(crate) fn buffer_bytes(&self) -> u64 {
        if self.engine.moves_nothing() {
            return 0;
        }
        let used = DataDirection::ALL.into_iter().filter(|direction| self.does(*direction));
        let largest = used.map(|direction| self.spec.pattern.block_size[direction].max_bytes).max().unwrap_or(0);
        let n_ios = u64::from(self.spec.queue.iodepth).saturating_mul(u64::from(self.n_clones));
        largest.saturating_mul(n_ios)
    }

    /// Figures of a direction; `None` if it did no I/O in it.
    pub(crate) fn figures(&self, direction: DataDirection) -> Option<&DirectionStats> {
        self.total.as_ref().map(|total| &total.directions[direction]).filter(|figures| figures.n_completed > 0)
    }

    /// Bytes that the kernel has read from storage for all its clones; `None`: not known of all of them, or its file system counts them
    /// elsewhere.
    pub(crate) fn own_reads(&self, case: &AuditInput<'_>) -> Option<OwnReads> {
        let counts_elsewhere = |kind: &str| COUNT_ELSEWHERE.contains(&kind);
        if self.places.iter().any(|place| place.file_system.as_deref().is_some_and(counts_elsewhere)) {
            return None;
        }
        // The kernel counts an I/O when it is submitted, the job when it is done: what is in flight at the end of a ramp is the job's alone.
        let limits = &self.spec.limits;
        let has_ramp = limits.ramp_time_us > 0 || limits.ramp_bytes > 0;
        let over_end = if has_ramp && !self.engine.is_inline() { self.buffer_bytes() } else { 0 };
        let least = self.total.as_ref()?.features.own_read_bytes?.saturating_add(over_end);
        let of_others = if self.has_threads_read() { case.unclaimed_read_bytes()? } else { 0 };
        Some(OwnReads { least, most: least.saturating_add(of_others) })
    }

    /// Its clones are threads that have others of their process read for them, which the kernel does not tell apart from those of other
    /// jobs: a pool, the kernel's threads of `io_uring`, those of the C library.
    pub(crate) fn has_threads_read(&self) -> bool {
        self.spec.worker.thread && (!self.engine.is_inline() || self.spec.submission.offload)
    }

    /// The time in which its clones did I/O in a direction, seconds.
    pub(crate) fn seconds(&self, direction: DataDirection) -> f64 {
        self.figures(direction).map_or(0.0, |figures| figures.runtime_ns as f64 / 1e9)
    }
}

/// Bytes that the kernel has read from storage for a job.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnReads {
    /// Those of its clones themselves.
    pub(crate) least: u64,
    /// With those of all threads that may have read for them.
    pub(crate) most: u64,
}

/// A sum of numbers that a record holds, which may have come from anywhere.
pub(crate) fn sum(numbers: impl IntoIterator<Item = u64>) -> u64 {
    numbers.into_iter().fold(0, u64::saturating_add)
}

/// The place is on a file system that keeps its data in memory.
pub(crate) fn is_in_memory(place: &TargetPlace) -> bool {
    place.file_system.as_deref().is_some_and(|kind| IN_MEMORY.contains(&kind))
}

/// The place holds regular files, or will.
pub(crate) fn is_for_files(place: &TargetPlace) -> bool {
    matches!(place.kind, TargetKind::File | TargetKind::Missing)
}
