//! From jobs to workers: clones, numbers, groups, seeds. Nothing here touches a file.
//!
//! Must not know: processes, loops. Start reading at [`RunPlan::new`].

mod drawn;
mod limits;
mod positions;
mod work_in_turns;
mod worker_capacity;

use crate::compat;
use crate::error::RunError;
use ferrio_engine::own::Storages;
use ferrio_engine::{EngineKind, EngineOptions, Rhythm, offload};
use ferrio_spec::engines::{EngineDef, Handover};
use ferrio_spec::{
    BlockRange, Compatibility, DedupeMode, DirectionMix, JobSpec, QueueSpec, RateLatency, RunSpec, SizeSpec,
};
use ferrio_stats::Provenance;
use ferrio_sys::output::ProtectedPaths;
use ferrio_units::random::{DEFAULT_RAND_SEED, OwnSeed, SeedIndex, SeedTable, Taus88};
use ferrio_units::{DataDirection, IoPriority, PerDirection};
use ferrio_workload::contents::{ContentsPlan, DedupeSet};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

pub(crate) use drawn::DrawnLengths;
pub(crate) use limits::limit_ios;
pub use positions::Positions;

/// Everything about a run that is known before it starts.
#[derive(Debug)]
pub struct RunPlan {
    pub global_options: Vec<(String, String)>,
    /// Workers in the order of their numbers.
    pub workers: Vec<WorkerPlan>,
    pub n_groups: u32,
    /// Facts about the machine and the storage; empty until they are collected.
    pub(crate) facts: Provenance,
    /// Files that no output may replace; none until they are collected.
    pub(crate) kept: Arc<ProtectedPaths>,
}

/// What all workers of a run have alike.
#[derive(Debug, Default)]
pub struct SharedByWorkers {
    /// CPUs that no job of the run may use (`gtod_cpu`).
    pub reserved_cpus: Vec<u32>,
    /// Storages of the program around the run.
    pub storages: Storages,
    /// Positions of streams that jobs share.
    pub positions: Positions,
}

/// One worker: a clone of a job.
pub struct WorkerPlan {
    /// The job, shared by its clones unless each draws a runtime of its own.
    pub spec: Arc<JobSpec>,
    pub engine: EngineKind,
    pub job_index: usize,
    /// Number of the worker in the run, from 1: part of its seeds.
    pub thread_number: u32,
    /// Number of the clone: 0 for the first, then counting down from `numjobs - 1`.
    pub clone_index: u32,
    pub group_index: u32,
    /// The workers whose figures are summed with its own (`group_reporting`), including itself.
    pub summed_with: Range<usize>,
    /// Index of its `flow_id` among those of the run; `None`: the job has no `flow`.
    pub flow_index: Option<usize>,
    /// If the job has fio's oddities.
    pub compatibility: Compatibility,
    /// What it has like all others.
    pub shared: Arc<SharedByWorkers>,
    /// Seeds of all its random streams.
    pub seeds: SeedTable,
    /// Delay before its start, nanoseconds.
    pub start_delay_ns: u64,
    /// `dedupe_global`: the fixed sets of all workers that share theirs; empty for other workers.
    pub shared_sets: Arc<[DedupeSet]>,
    /// The trace that the job replays has trims, whatever `rw` says.
    pub has_replayed_trims: bool,
    /// Rhythm of the turns of a job that moves no data; `None`: the job does I/O.
    pub rhythm: Option<Rhythm>,
}

impl std::fmt::Debug for WorkerPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkerPlan")
            .field("name", &self.spec.name)
            .field("thread_number", &self.thread_number)
            .field("group_index", &self.group_index)
            .finish_non_exhaustive()
    }
}

impl RunPlan {
    /// Expands the jobs of a run.
    pub fn new(spec: RunSpec) -> Result<Self, RunError> {
        Self::with_storages(spec, Storages::default())
    }

    /// Expands the jobs of a run whose program has storages of its own.
    pub(crate) fn with_storages(spec: RunSpec, storages: Storages) -> Result<Self, RunError> {
        worker_capacity::check(&spec.jobs)?;
        let mut workers = Vec::new();
        let reserved_cpus = spec.jobs.iter().filter_map(|job| job.worker.gtod_cpu).collect();
        let shared = Arc::new(SharedByWorkers { reserved_cpus, storages, positions: Positions::new(&spec.jobs)? });
        let mut flow_ids = HashMap::new();
        let mut group_index = 0;
        let mut jobs_in_group = 0;
        for (job_index, mut job) in spec.jobs.into_iter().enumerate() {
            let engine = ferrio_engine::find(&job.engine.name)
                .ok_or_else(|| RunError::Engine { job: job.name.clone(), engine: job.engine.name.clone() })?;
            let rhythm = work_in_turns::of_job(&engine, &mut job, spec.compatibility);
            let engine = if offloads(&engine.def, &job) { offload::pooled(engine) } else { engine };
            if jobs_in_group > 0 && (job.grouping.stonewall || job.grouping.new_group) {
                group_index += 1;
                jobs_in_group = 0;
            }
            jobs_in_group += 1;
            let flow_index = flow_index(&mut flow_ids, &job);
            let job = Arc::new(job);
            let name = compat::name_of_clones(spec.compatibility, &job);
            let other = if name == job.name {
                Arc::clone(&job)
            } else {
                Arc::new(JobSpec { name: name.to_owned(), ..JobSpec::clone(&job) })
            };
            for clone in 0..job.numjobs {
                let clone_index = if clone == 0 { 0 } else { job.numjobs - clone };
                let thread_number = workers.len() as u32 + 1;
                let seeds = seeds(&job, thread_number);
                workers.push(WorkerPlan {
                    start_delay_ns: start_delay_ns(&job, &seeds),
                    spec: with_drawn_runtime(if clone == 0 { &job } else { &other }, &seeds),
                    engine,
                    job_index,
                    thread_number,
                    clone_index,
                    group_index,
                    summed_with: 0..0,
                    flow_index,
                    compatibility: spec.compatibility,
                    shared: Arc::clone(&shared),
                    seeds,
                    shared_sets: Arc::new([]),
                    has_replayed_trims: false,
                    rhythm,
                });
            }
        }
        find_summed(&mut workers);
        refuse_forks_beside_library_threads(&workers)?;
        let n_groups = if workers.is_empty() { 0 } else { group_index + 1 };
        let mut plan = Self {
            global_options: spec.global_options,
            workers,
            n_groups,
            facts: Provenance::default(),
            kept: Arc::default(),
        };
        plan.share_dedupe_sets();
        Ok(plan)
    }

    /// `dedupe_global`: gives each worker that takes part the sets of all of them.
    pub(crate) fn share_dedupe_sets(&mut self) {
        let sets: Arc<[DedupeSet]> = self.workers.iter().filter_map(WorkerPlan::shared_set).collect();
        for worker in self.workers.iter_mut().filter(|worker| worker.shared_set().is_some()) {
            worker.shared_sets = Arc::clone(&sets);
        }
    }
}

/// True if a pool of threads does the job's I/Os. Whether the engine allows that is checked when it is made.
fn offloads(engine: &EngineDef, job: &JobSpec) -> bool {
    job.submission.offload && !offload::is_needless(engine)
}

/// If threads of the C library do I/Os for a job that is a thread of this process, no job with the same engine may be
/// forked: the fork would wait for library threads that it does not have.
fn refuse_forks_beside_library_threads(workers: &[WorkerPlan]) -> Result<(), RunError> {
    let concerned = || workers.iter().filter(|worker| worker.engine.def.sharing.has_library_threads());
    let has_thread = concerned().any(|worker| worker.spec.worker.thread);
    match concerned().find(|worker| has_thread && !worker.spec.worker.thread) {
        None => Ok(()),
        Some(worker) => {
            Err(RunError::ThreadsAndProcesses { job: worker.spec.name.clone(), engine: worker.engine.def.name })
        }
    }
}

/// Index of a flow; flows are numbered in the order in which jobs first name them.
fn flow_index(ids: &mut HashMap<u32, usize>, job: &JobSpec) -> Option<usize> {
    let (flow, n_known) = (job.pace.flow, ids.len());
    (flow.weight > 0).then(|| *ids.entry(flow.id).or_insert(n_known))
}

/// Sums successive jobs of a group with `group_reporting`.
fn find_summed(workers: &mut [WorkerPlan]) {
    let key = |worker: &WorkerPlan| (worker.group_index, worker.spec.grouping.group_reporting);
    let mut start = 0;
    for run in workers.chunk_by_mut(|one, next| key(one) == key(next) && key(one).1) {
        let summed = start..start + run.len();
        for worker in run.iter_mut() {
            worker.summed_with = summed.clone();
        }
        start = summed.end;
    }
}

/// Seeds from `randseed`; `randrepeat=0` without it takes them from the system.
fn seeds(job: &JobSpec, thread_number: u32) -> SeedTable {
    let base = match job.pattern.randseed {
        Some(seed) => seed,
        None if job.pattern.randrepeat => DEFAULT_RAND_SEED,
        None => ferrio_units::random::system_seed(),
    };
    SeedTable::new(base, u64::from(thread_number))
}

fn with_drawn_runtime(job: &Arc<JobSpec>, seeds: &SeedTable) -> Arc<JobSpec> {
    let limits = &job.limits;
    if limits.runtime_drawn.is_none() {
        return Arc::clone(job);
    }
    let mut lengths = DrawnLengths::new(limits.runtime_drawn, limits.runtime_us, seeds.own(OwnSeed::Runtime));
    let mut own = JobSpec::clone(job);
    // 0 would be no limit.
    own.limits.runtime_us = (lengths.next_ns() / 1_000).max(1);
    Arc::new(own)
}

fn start_delay_ns(job: &JobSpec, seeds: &SeedTable) -> u64 {
    let (low, high) = job.limits.startdelay_us;
    let drawn = if high > low { Taus88::from_table(seeds, SeedIndex::StartDelay).between(low, high) } else { low };
    drawn.saturating_mul(1_000)
}

impl WorkerPlan {
    /// The same worker with another spec.
    pub(crate) fn with_spec(&self, spec: Arc<JobSpec>) -> Self {
        Self {
            spec,
            seeds: self.seeds.clone(),
            summed_with: self.summed_with.clone(),
            shared_sets: Arc::clone(&self.shared_sets),
            shared: Arc::clone(&self.shared),
            ..*self
        }
    }

    /// Waits for all workers before it.
    pub(crate) fn stonewall(&self) -> bool {
        self.spec.grouping.stonewall && self.clone_index == 0
    }

    /// Smallest block of a write, bytes.
    pub(crate) fn write_block_bytes(&self) -> u64 {
        self.spec.pattern.block_size[DataDirection::Write].min_bytes
    }

    /// Facts that decide about the job's data, beside its options for buffers.
    pub(crate) fn contents_plan(&self, size_bytes: u64) -> ContentsPlan {
        ContentsPlan {
            reads: self.used_directions()[DataDirection::Read],
            size_bytes,
            block_bytes: self.write_block_bytes(),
            iodepth: self.spec.queue.iodepth,
            shared_sets: Arc::clone(&self.shared_sets),
            compatibility: self.compatibility,
        }
    }

    /// The set of repeated data that the job shares with others.
    fn shared_set(&self) -> Option<DedupeSet> {
        let (buffers, size) = (&self.spec.buffers, self.spec.extent.size);
        match (buffers.dedupe, size) {
            (Some((_, DedupeMode::WorkingSet { percent })), Some(SizeSpec::Bytes(bytes))) if buffers.dedupe_global => {
                Some(DedupeSet::new(&self.seeds, percent, bytes, self.write_block_bytes()))
            }
            _ => None,
        }
    }

    /// The directions in which the job does I/O.
    pub(crate) fn used_directions(&self) -> PerDirection<bool> {
        self.spec.pattern.mix.directions()
    }

    /// The directions for which the job has figures: those in which it does I/O, and reads if it reads back what it
    /// wrote.
    pub(crate) fn measured_directions(&self) -> PerDirection<bool> {
        let PerDirection([read, write, trim]) = self.used_directions();
        let reads_back = self.spec.verify.as_ref().is_some_and(|verify| verify.reads_back);
        PerDirection([read || reads_back, write, trim || self.trims_beside()])
    }

    /// True if the job does trims although its directions have none.
    pub(crate) fn trims_beside(&self) -> bool {
        self.has_replayed_trims || self.trims_between()
    }

    /// True if some writes of the job are trimmed again.
    pub(crate) fn trims_between(&self) -> bool {
        self.spec.verify.as_ref().is_some_and(|verify| verify.trims.is_some())
    }

    /// Block sizes of the directions that the job uses.
    pub(crate) fn used_block_ranges(&self) -> impl Iterator<Item = BlockRange> {
        let pattern = &self.spec.pattern;
        // With `bs_is_seq_rand`, the first slot is the sequential size and the second the random one.
        let used = if pattern.bs_is_seq_rand { [true, true, false] } else { self.used_directions().0 };
        pattern.block_size.0.into_iter().zip(used).filter(|(_, used)| *used).map(|(range, _)| range)
    }

    /// Largest block that any direction may use, bytes.
    pub(crate) fn max_block_bytes(&self) -> u64 {
        self.used_block_ranges().map(|range| range.max_bytes).max().unwrap_or(0)
    }

    /// True if the job sets the priority of its I/O.
    pub(crate) fn has_io_priority(&self) -> bool {
        let spec = &self.spec.worker;
        spec.prio.is_some() || spec.prioclass.is_some() || spec.priohint.is_some()
    }

    /// The priority that the job sets. A level without a class means best effort, as in `ioprio_set(2)`.
    pub(crate) fn io_priority(&self) -> IoPriority {
        let spec = &self.spec.worker;
        let default_class = if spec.prio.is_some() { 2 } else { 0 };
        IoPriority {
            class: spec.prioclass.filter(|class| *class > 0).unwrap_or(default_class) as u8,
            level: spec.prio.unwrap_or(0) as u8,
            hint: spec.priohint.unwrap_or(0) as u16,
        }
    }

    /// The same in the kernel's encoding; 0: the priority of the process.
    pub(crate) fn ioprio(&self) -> u16 {
        if self.has_io_priority() { self.io_priority().encode() } else { 0 }
    }

    /// True if its rates are shown in bits.
    pub(crate) fn shows_bits(&self) -> bool {
        self.spec.reporting.unit_bits.unwrap_or(self.engine.def.counts_bits)
    }

    /// True if the job writes.
    pub(crate) fn writes(&self) -> bool {
        self.streams_writes() && !self.spec.is_verify_only()
    }

    /// True if its stream has writes, whether they are done or only remembered (`verify_only`).
    pub(crate) fn streams_writes(&self) -> bool {
        !matches!(self.spec.pattern.mix, DirectionMix::Read | DirectionMix::Trim)
    }

    /// True if a pool of threads does its I/Os.
    pub(crate) fn offloads(&self) -> bool {
        offloads(&self.engine.def, &self.spec)
    }

    /// True if I/Os that touch the same bytes wait for each other. A job that only reads, or that does one I/O at a
    /// time, does not need this.
    pub(crate) fn serializes(&self) -> bool {
        let changes_data = self.spec.replay.is_set() || self.spec.pattern.mix != DirectionMix::Read;
        self.spec.submission.serialize_overlap && changes_data && self.queue().iodepth > 1
    }

    /// True if its I/O begins as soon as it may start, without other work before.
    pub(crate) fn begins_at_once(&self) -> bool {
        self.spec.surroundings.exec_prerun.is_none() && !self.spec.layout.pre_read
    }

    /// True if its I/Os wait for those of other such jobs that touch the same bytes.
    pub(crate) fn waits_for_other_jobs(&self) -> bool {
        self.spec.submission.serialize_overlap && self.offloads()
    }

    /// Depth and batches as the engine allows them.
    pub(crate) fn queue(&self) -> QueueSpec {
        if self.engine.def.is_inline() || self.engine.def.moves_nothing() {
            return QueueSpec { iodepth: 1, batch_submit: 1, batch_complete_min: 1, batch_complete_max: 1, low: 1 };
        }
        self.spec.queue
    }

    /// True if submission and completion of an I/O have separate times.
    pub(crate) fn sees_submission(&self) -> bool {
        match self.engine.def.handover {
            Handover::Waits | Handover::Unseen => false,
            Handover::Prepared { unseen_with: Some(option) } => !self.spec.engine.options.get(option),
            Handover::Prepared { unseen_with: None } | Handover::Bare => true,
        }
    }

    /// True if the report has latencies from the time at which the rate wanted an I/O to start.
    pub(crate) fn reports_response(&self) -> bool {
        self.spec.pace.latency == RateLatency::Response
    }

    /// True if such latencies can be evidence beside the report: the job has a rate, and measures its I/Os anyway.
    pub(crate) fn has_response_as_evidence(&self) -> bool {
        let reporting = &self.spec.reporting;
        let is_measured = !reporting.gtod_reduce && !reporting.disable_clat && self.spec.verify.is_none();
        !self.reports_response() && is_measured && self.spec.pace.limits_rates() && !self.spec.replay.is_set()
    }

    /// The private options of the engine.
    pub(crate) fn engine_options(&self) -> EngineOptions {
        let options = EngineOptions::new(self.spec.engine.options.clone()).of_run(self.compatibility);
        let options = options.with_secret_names(self.spec.engine.secret_names.clone());
        options.with_storages(&self.shared.storages)
    }
}
