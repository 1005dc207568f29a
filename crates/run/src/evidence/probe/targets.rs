//! Targets of the jobs: their file systems or devices, their sizes before and after, and their extents.
//!
//! Must not know: the I/O of the jobs. Start reading at [`TargetProbe`]. Files are opened only to read their extents,
//! and only if the run's settings allow it.

use super::extents::add_extents;
use super::identity::{Identities, part_behind_loop};
use super::stacks::{StackProbe, Stacks};
use super::{Begun, Probe, Site};
use crate::evidence::ProbedWorker;
use ferrio_stats::{Evidence, JobTargets, PartitionPlace, Reading, TargetKind, TargetPlace, TargetSize};
use ferrio_sys::block_device::{BlockDevice, DeviceNumber, Partition};
use ferrio_sys::extents::ExtentBytes;
use ferrio_sys::file::{FileInfo, FileKind, direct_io_align_bytes, is_no_cow};
use ferrio_sys::mounts::{Mount, disk_of, mount_of, mounts, visible_use_of_device};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// No more files of a job than this are looked at: each takes some microseconds, before and after the run.
const MAX_FILES: usize = 1_000;
/// When this many files of the run were looked at, those of each further job are a sample.
const MAX_FILES_OF_RUN: usize = 4_000;
const SAMPLE: usize = 8;
/// No more files than this are asked about their extents: each takes some microseconds, and more where it is in pieces.
const MAX_MAPPED: usize = 256;

/// The targets of all jobs, and their state before the run.
struct TargetProbe {
    jobs: Vec<JobTargets>,
    /// The files of each place of each job.
    files: Vec<Vec<Vec<PathBuf>>>,
    looks: bool,
}

pub(super) fn start(site: &Site<'_>, begun: &mut Begun) {
    let looks = site.control.looks_into_files;
    let with_paths = site.with_files().map(|(worker, laid_out)| {
        (site.look_at)(worker.index());
        (worker, if laid_out.is_empty() { worker.paths.named() } else { laid_out.to_vec() })
    });
    let (found, stacks) = find(with_paths, looks);
    if !found.is_empty() {
        begun.probes.push(Box::new(TargetProbe::new(found, looks)));
        // The layers below the targets are found together with these, so their probe begins here.
        begun.probes.push(Box::new(StackProbe::new(stacks, looks)));
    }
}

/// The targets of jobs that have not run, and may never, and the layers below them: nothing is made.
pub(crate) fn without_run(workers: &[ProbedWorker<'_>]) -> Evidence {
    let with_files = workers.iter().filter(|worker| worker.has_files());
    let (found, stacks) = find(with_files.map(|worker| (worker, worker.paths.named())), true);
    let jobs = TargetProbe::new(found, true).jobs;
    let mut evidence = Evidence { targets: Some(jobs), ..Evidence::default() };
    StackProbe::new(stacks, true).report(&mut evidence);
    evidence
}

impl TargetProbe {
    fn new(found: Vec<JobFiles>, looks: bool) -> Self {
        let (mut jobs, mut files) = (Vec::new(), Vec::new());
        for JobFiles { targets, places } in found {
            let (places, its_files): (Vec<TargetPlace>, Vec<Vec<PathBuf>>) = places.into_values().unzip();
            jobs.push(JobTargets { places, ..targets });
            files.push(its_files);
        }
        let mut probe = Self { jobs, files, looks };
        probe.measure(|place, size| {
            place.before = size.clone();
            place.now = size;
        });
        probe
    }

    fn measure(&mut self, mut put: impl FnMut(&mut TargetPlace, TargetSize)) {
        let mut n_mapped = 0;
        for (job, files) in self.jobs.iter_mut().zip(&self.files) {
            for (place, files) in job.places.iter_mut().zip(files) {
                let may_map = self.looks && job.n_left_out == 0 && n_mapped + files.len() <= MAX_MAPPED;
                n_mapped += if may_map { files.len() } else { 0 };
                put(place, size_of(files, self.looks, may_map));
            }
        }
    }
}

impl Probe for TargetProbe {
    fn report(&self, evidence: &mut Evidence) {
        let mut now = Self { jobs: self.jobs.clone(), files: self.files.clone(), looks: self.looks };
        now.measure(|place, size| place.now = size);
        evidence.targets = Some(now.jobs);
    }
}

/// The files of a job, grouped by device number: of their file system, or of the device that they are.
struct JobFiles {
    /// What is told of the job, without its places.
    targets: JobTargets,
    places: BTreeMap<(TargetKind, String), (TargetPlace, Vec<PathBuf>)>,
}

fn find<'a>(
    workers: impl Iterator<Item = (&'a ProbedWorker<'a>, Vec<PathBuf>)>,
    looks: bool,
) -> (Vec<JobFiles>, Stacks) {
    let mut known = KnownPlaces {
        mounts: mounts(),
        places: HashMap::new(),
        stacks: Stacks::default(),
        identities: Identities::default(),
    };
    let mut jobs: Vec<JobFiles> = Vec::new();
    let (mut seen, mut n_seen) = (HashSet::new(), 0);
    for (worker, paths) in workers {
        let job_index = worker.job_index;
        if jobs.last().is_none_or(|job| job.targets.job_index != job_index) {
            let part = || part_behind_loop(paths.first()?, &worker.spec.extent, worker.spec.numjobs);
            let part = Some(paths.len()).filter(|n_paths| looks && *n_paths == 1).and_then(|_| part());
            let targets = JobTargets { job_index, part, ..JobTargets::default() };
            jobs.push(JobFiles { targets, places: BTreeMap::new() });
            seen.clear();
        }
        let Some(job) = jobs.last_mut() else { continue };
        for path in paths {
            let most = if n_seen < MAX_FILES_OF_RUN { MAX_FILES } else { SAMPLE };
            if seen.contains(&path) {
                continue;
            }
            if seen.len() >= most {
                // Clones may share files that were left out: each counts.
                job.targets.n_left_out += 1;
                continue;
            }
            seen.insert(path.clone());
            n_seen += 1;
            job.add(path, &mut known);
        }
    }
    (jobs, known.stacks)
}

impl JobFiles {
    fn add(&mut self, path: PathBuf, known: &mut KnownPlaces) {
        let info = FileInfo::of_path(&path).ok();
        let kind = info.as_ref().map_or(TargetKind::Missing, kind_of);
        if let Some(info) = &info {
            known.identities.add(self.targets.job_index, &path, info, &mut self.targets.aliases);
        }
        let device = match &info {
            Some(info) if kind == TargetKind::Block => info.is_device,
            Some(info) => info.on_device,
            None => match FileInfo::of_path(directory_of(&path)) {
                Ok(directory) => directory.on_device,
                Err(_) => return,
            },
        };
        let entry = self.places.entry((kind, device.to_string()));
        let (place, files) = entry.or_insert_with(|| (known.place_of(&path, kind, device), Vec::new()));
        place.n_files += 1;
        files.push(path);
    }
}

fn kind_of(info: &FileInfo) -> TargetKind {
    match info.kind {
        FileKind::Regular => TargetKind::File,
        FileKind::Block => TargetKind::Block,
        FileKind::Character => TargetKind::Character,
        _ => TargetKind::Other,
    }
}

/// The nearest directory above a path that is there.
fn directory_of(path: &Path) -> &Path {
    let above = path.ancestors().skip(1).find(|path| path.exists());
    above.filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// File systems and devices that were found out: sysfs is asked once for each, however many jobs have files there.
struct KnownPlaces {
    mounts: Vec<Mount>,
    /// By what the target is, and the number of its device or of that of its file system.
    places: HashMap<(bool, DeviceNumber), TargetPlace>,
    stacks: Stacks,
    identities: Identities,
}

impl KnownPlaces {
    fn place_of(&mut self, path: &Path, kind: TargetKind, number: DeviceNumber) -> TargetPlace {
        let is_device = kind == TargetKind::Block;
        let (mounts, stacks) = (&self.mounts, &mut self.stacks);
        let place = self.places.entry((is_device, number)).or_insert_with(|| {
            if is_device {
                let device = BlockDevice::behind_path(path).ok().flatten();
                let layer = device.as_ref().and_then(|device| stacks.add_device(device, mounts));
                let used = visible_use_of_device(path).map(|found| found.to_string());
                let (device, partition) = (device.map(|device| device.name), partition(number));
                return TargetPlace { device, layer, used, partition, ..TargetPlace::default() };
            }
            place_of_files(path, number, mounts, stacks)
        });
        TargetPlace { kind, path: path.display().to_string(), ..place.clone() }
    }
}

fn partition(number: DeviceNumber) -> Option<PartitionPlace> {
    let found = Partition::by_number(number)?;
    Some(PartitionPlace { name: found.name, start_bytes: found.start_sector.saturating_mul(512) })
}

/// The partition that a device is, by its path. btrfs shows numbers of its own, so the mounted device counts there.
fn partition_of_source(mount: &Mount) -> Option<PartitionPlace> {
    let source = Some(Path::new(&mount.source)).filter(|source| source.starts_with("/dev"))?;
    let info = FileInfo::of_path(source).ok().filter(|info| info.kind == FileKind::Block)?;
    partition(info.is_device)
}

fn place_of_files(path: &Path, number: DeviceNumber, mounts: &[Mount], stacks: &mut Stacks) -> TargetPlace {
    let Some(there) = place_on_file_system(path) else { return TargetPlace::default() };
    let mount = mount_of(mounts, &there);
    TargetPlace {
        file_system: mount.map(|mount| mount.file_system.clone()),
        mount_options: mount.map(|mount| mount.options.clone()),
        device: disk_of(&there, mount).map(|device| device.name),
        partition: partition(number).or_else(|| partition_of_source(mount?)),
        layer: stacks.add_path(&there, mounts),
        ..TargetPlace::default()
    }
}

/// A path without links on the file system of a file, or of the directory where it will be. The file itself is asked for links only
/// where it is on another file system than its directory: a run in the place of fio makes no call more on files than it must.
fn place_on_file_system(path: &Path) -> Option<PathBuf> {
    let directory = directory_of(path);
    let number = |path: &Path| FileInfo::of_path(path).ok().map(|info| info.on_device);
    let is_elsewhere = number(path).is_some_and(|of_file| number(directory) != Some(of_file));
    if is_elsewhere { path.canonicalize().ok() } else { directory.canonicalize().ok() }
}

fn size_of(files: &[PathBuf], looks: bool, may_map: bool) -> TargetSize {
    let mut size = TargetSize::default();
    let mut extents = Ok(ExtentBytes::default());
    for path in files {
        let Ok(info) = FileInfo::of_path(path) else { continue };
        size.size_bytes += info.size_bytes;
        size.allocated_bytes += info.allocated_bytes;
        if may_map && info.kind == FileKind::Regular {
            extents = extents.and_then(|sum| add_extents(sum, path, info.size_bytes));
        }
    }
    let first = files.first().filter(|_| looks);
    size.direct_align_bytes = first.and_then(|path| direct_io_align_bytes(path).ok().flatten());
    size.is_no_cow = first.and_then(|path| is_no_cow(path).ok().flatten());
    size.extents = match () {
        () if !looks => Reading::Missing("files are only opened for it by ferrio run, and with --record".to_owned()),
        () if !may_map => {
            Reading::Missing(format!("there are more than {MAX_MAPPED} files, or only a sample was looked at"))
        }
        () => extents.into(),
    };
    size
}
