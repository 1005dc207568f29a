//! Records made by hand, for the tests of rules.

use crate::audit;
use ferrio_spec::{DirectionMix, JobSpec, LateGlobal, SizeSpec};
use ferrio_stats::provenance::{ClockFacts, CpuFacts, DeviceFacts, JobOptions, LimitFacts};
use ferrio_stats::{
    BackingPart, DiskCounters, DiskRecord, ExtentBytes, JobTargets, LatencyStat, LayerKind, Provenance, Reading,
    RunRecord, StorageLayer, TargetAlias, TargetKind, TargetPlace, TargetSize, ThreadStats, WorkerFate, WorkerRecord,
};
use ferrio_units::DataDirection;

pub(crate) const MIB: u64 = 1 << 20;

/// A run of jobs on files of ext4 on `vda`, of which nothing bad can be said.
pub(crate) struct TestRun {
    pub(crate) jobs: Vec<JobSpec>,
    pub(crate) places: Vec<TargetPlace>,
    pub(crate) disk_bytes: [u64; 2],
    /// I/Os, merges and times that the disk counts.
    pub(crate) disk_requests: [u64; 2],
    pub(crate) disk_merges: [u64; 2],
    pub(crate) disk_ticks_ms: [u64; 2],
    pub(crate) n_flushes: Option<u64>,
    pub(crate) record: RunRecord,
    pub(crate) device: DeviceFacts,
    /// CPUs on which ferrio may run.
    pub(crate) n_cpus: u32,
    pub(crate) limits: LimitFacts,
    pub(crate) clock: ClockFacts,
    /// Targets under two names, by the later job.
    pub(crate) aliases: Vec<(u32, TargetAlias)>,
    /// The part of the file behind a loop device that the first job uses.
    pub(crate) part: Option<BackingPart>,
    pub(crate) late_globals: Vec<LateGlobal>,
}

/// A job of 100 MiB with direct I/O of 4 KiB, a depth of 1 and an engine that waits.
pub(crate) fn job(name: &str, mix: DirectionMix) -> JobSpec {
    let mut job = JobSpec { name: name.to_owned(), section: name.to_owned(), ..JobSpec::default() };
    "psync".clone_into(&mut job.engine.name);
    job.pattern.mix = mix;
    job.durability.direct = true;
    job.extent.size = Some(SizeSpec::Bytes(100 * MIB));
    job
}

/// A written file of 100 MiB.
pub(crate) fn place(path: &str) -> TargetPlace {
    let extents = ExtentBytes { n_extents: 1, written_bytes: 100 * MIB, ..ExtentBytes::default() };
    let size = TargetSize {
        size_bytes: 100 * MIB,
        allocated_bytes: 100 * MIB,
        extents: Reading::Value(extents),
        direct_align_bytes: None,
        is_no_cow: None,
    };
    TargetPlace {
        kind: TargetKind::File,
        path: path.to_owned(),
        n_files: 1,
        file_system: Some("ext4".to_owned()),
        mount_options: Some("rw,relatime".to_owned()),
        device: Some("vda".to_owned()),
        layer: Some("/data".to_owned()),
        before: size.clone(),
        now: size,
        ..TargetPlace::default()
    }
}

/// A layer of storage above others. A device has moved nothing.
pub(crate) fn layer(name: &str, kind: LayerKind, below: &[&str]) -> StorageLayer {
    StorageLayer {
        name: name.to_owned(),
        kind,
        below: below.iter().map(|&name| name.to_owned()).collect(),
        bytes: (!name.starts_with('/')).then_some([0, 0]),
        ..StorageLayer::default()
    }
}

impl TestRun {
    /// Puts layers below the files, of which `/data` is the top one.
    pub(crate) fn layers(&mut self, layers: Vec<StorageLayer>) {
        self.record.evidence.stacks = Some(layers);
    }

    /// All writes of the first job take these times, before and after their submission.
    pub(crate) fn latencies_of_writes(&mut self, slat_us: u64, clat_us: u64) {
        let figures = &mut self.stats().directions.0[1];
        let latencies =
            [(&mut figures.slat, slat_us), (&mut figures.clat, clat_us), (&mut figures.lat, slat_us + clat_us)];
        for (latency, value_us) in latencies {
            *latency = LatencyStat::new(true);
            (0..25_600).for_each(|_| latency.record(value_us * 1000));
        }
    }

    /// A run of one job that moves 100 MiB in 10 s by 25,600 I/Os of 300 us each; the device counts the same.
    pub(crate) fn new(job: JobSpec) -> Self {
        let place = place(&format!("/data/{}.0.0", job.name));
        let device = DeviceFacts {
            name: "vda".to_owned(),
            size_bytes: Some(1000 * MIB),
            rotational: Some(false),
            ..DeviceFacts::default()
        };
        let record = RunRecord::default();
        let mut scene = Self {
            jobs: vec![],
            places: vec![],
            disk_bytes: [0; 2],
            disk_requests: [0; 2],
            disk_merges: [0; 2],
            disk_ticks_ms: [0; 2],
            n_flushes: None,
            record,
            device,
            n_cpus: 64,
            limits: LimitFacts::default(),
            clock: ClockFacts::default(),
            aliases: vec![],
            part: None,
            late_globals: vec![],
        };
        scene.add(job, place);
        scene
    }

    /// 25,600 buffered writes of 300 us, each with a sync that takes so long.
    pub(crate) fn synced(sync_ns: u64) -> Self {
        let mut scene = Self::new(job("a", DirectionMix::Write));
        (scene.jobs[0].durability.direct, scene.jobs[0].durability.fdatasync_blocks) = (false, 1);
        let stats = scene.stats();
        stats.n_syncs_issued = 25_600;
        stats.sync = LatencyStat::new(true);
        (0..25_600).for_each(|_| stats.sync.record(sync_ns));
        scene
    }

    /// Adds another job with its figures.
    pub(crate) fn add(&mut self, job: JobSpec, place: TargetPlace) {
        let mut stats = ThreadStats::default();
        for (direction, disk) in [DataDirection::Read, DataDirection::Write].into_iter().zip(&mut self.disk_bytes) {
            if !job.pattern.mix.directions()[direction] {
                continue;
            }
            let figures = &mut stats.directions[direction];
            (figures.n_issued, figures.n_completed) = (25_600, 25_600);
            (figures.bytes, figures.runtime_ns) = (100 * MIB, 10_000_000_000);
            for latency in [&mut figures.clat, &mut figures.lat] {
                *latency = LatencyStat::new(true);
                (0..25_600).for_each(|_| latency.record(300_000));
            }
            *disk += 100 * MIB;
        }
        let fate = WorkerFate { was_let_go: true, has_ended: true, ..WorkerFate::default() };
        let index = self.jobs.len() as u32;
        self.record.workers.push(WorkerRecord {
            name: job.name.clone(),
            job_index: index,
            number: index + 1,
            stats: Box::new(stats),
            iodepth: job.queue.iodepth,
            fate,
            ..WorkerRecord::default()
        });
        self.jobs.push(job);
        self.places.push(place);
    }

    /// The figures of the first job.
    pub(crate) fn stats(&mut self) -> &mut ThreadStats {
        &mut self.record.workers[0].stats
    }

    /// The same jobs before the run.
    pub(crate) fn before(mut self) -> Self {
        self.record.workers.clear();
        self
    }

    /// Names of the rules with findings, each with its first job.
    pub(crate) fn found(&self) -> Vec<String> {
        audit(&self.made()).findings.into_iter().map(|finding| finding.id).collect()
    }

    pub(crate) fn finding(&self, id: &str) -> ferrio_stats::Finding {
        audit(&self.made())
            .findings
            .into_iter()
            .find(|finding| finding.id == id)
            .unwrap_or_else(|| panic!("{:?}", self.found()))
    }

    pub(crate) fn made(&self) -> RunRecord {
        let mut record = self.record.clone();
        let job = |(index, job): (usize, &JobSpec)| JobOptions {
            name: job.name.clone(),
            group: if job.grouping.stonewall { index as u32 } else { 0 },
            first_number: index as u32 + 1,
            n_clones: job.numjobs,
            options: Some(Box::new(job.clone())),
        };
        record.provenance = Some(Box::new(Provenance {
            memory_bytes: 1 << 34,
            limits: self.limits.clone(),
            clock: self.clock.clone(),
            cpu: CpuFacts { n_allowed: self.n_cpus, ..CpuFacts::default() },
            jobs: self.jobs.iter().enumerate().map(job).collect(),
            devices: vec![self.device.clone()],
            late_globals: self.late_globals.clone(),
            ..Provenance::default()
        }));
        let of_job = |(job_index, place): (u32, &TargetPlace)| JobTargets {
            job_index,
            places: vec![place.clone()],
            aliases: self.aliases.iter().filter(|(of, _)| *of == job_index).map(|(_, alias)| alias.clone()).collect(),
            part: self.part.filter(|_| job_index == 0),
            ..JobTargets::default()
        };
        record.evidence.targets = Some((0..).zip(&self.places).map(of_job).collect());
        if !record.workers.is_empty() {
            let counters = DiskCounters {
                ios: self.disk_requests,
                merges: self.disk_merges,
                ticks_ms: self.disk_ticks_ms,
                sectors: self.disk_bytes.map(|bytes| bytes / 512),
                n_flushes: self.n_flushes,
                ..DiskCounters::default()
            };
            record.evidence.disks = Some(vec![DiskRecord { name: self.device.name.clone(), counters, slaves: vec![] }]);
        }
        record
    }
}

#[test]
fn nothing_is_said_of_a_run_that_is_right() {
    for mix in [DirectionMix::Read, DirectionMix::Write, DirectionMix::ReadWrite] {
        assert_eq!(TestRun::new(job("a", mix)).found(), Vec::<String>::new(), "{mix:?}");
        assert_eq!(TestRun::new(job("a", mix)).before().found(), Vec::<String>::new(), "{mix:?}");
    }
}
