//! The places that the jobs of a run will use, before anything is changed, and their division among several hosts.
//!
//! Nothing is made or opened for writing. Must not know: other hosts, how they are asked. Start reading at [`places_of_jobs`]; names by
//! which another host recognises a place are in `names`, the division in `slices`.

mod names;
mod slices;

pub use slices::{HostSlice, PartitionError, partitioned};

use crate::error::RunError;
use crate::files::size::{self, SetupWait};
use crate::files::{FileSet, naming};
use crate::layout;
use crate::plan::{RunPlan, WorkerPlan};
use crate::zones::sizes;
use ferrio_spec::engines::Data;
use ferrio_spec::{RunSpec, SizeSpec};
use ferrio_stats::UsedPlace;
use names::{KnownNames, PlaceNames};
use std::cell::Cell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// More places of a run are not told one by one.
const MOST_PLACES: usize = 20_000;

/// The places that the jobs of a run will use; no server is asked. Ends early when `stop` returns true.
///
/// # Errors
/// The run cannot be planned.
pub fn places_of_jobs(spec: RunSpec, stop: &dyn Fn() -> bool) -> Result<Vec<UsedPlace>, RunError> {
    let plan = RunPlan::new(spec)?;
    let mut found = FoundPlaces::default();
    for worker in plan.workers.iter().take_while(|_| !stop()) {
        found.add_worker(worker, stop);
    }
    Ok(found.places)
}

#[derive(Default)]
struct FoundPlaces {
    places: Vec<UsedPlace>,
    seen: HashSet<(PathBuf, bool, u64, u64)>,
    known: KnownNames,
    n_left_out: usize,
}

impl FoundPlaces {
    fn add_worker(&mut self, worker: &WorkerPlan, stop: &dyn Fn() -> bool) {
        let targets = worker.engine.def.targets;
        let is_changed = worker.spec.changes_files() || worker.engine.def.data == Data::Names;
        if targets.are_outside() && !targets.is_connection() {
            for path in naming::named_paths(worker) {
                let names = PlaceNames::of_server(&worker.spec.engine, &path);
                let shown = format!("{} (ioengine={})", path.display(), worker.engine.def.name);
                self.add(worker, Path::new(&shown), &names, (is_changed, false), range_by_options(worker));
            }
            return;
        }
        if !targets.are_files() {
            return;
        }
        if worker.spec.replay.is_set()
            && worker.spec.replay.redirect.is_none()
            && worker.spec.target.filenames.is_empty()
        {
            let trace = worker.spec.replay.traces.join(":");
            let names = PlaceNames::unknown(format!("files of the trace {trace}"));
            self.add(worker, Path::new(&trace), &names, (is_changed, false), (0, u64::MAX));
            return;
        }
        let set = file_set(worker, stop);
        let paths = match &set {
            Some(set) => set.files.iter().map(|file| file.path.clone()).collect(),
            None => naming::named_paths(worker),
        };
        for (index, path) in paths.iter().enumerate() {
            let file = set.as_ref().and_then(|set| set.files.get(index));
            let range = file
                .map_or((0, u64::MAX), |file| (file.start_bytes, file.start_bytes.saturating_add(file.length_bytes)));
            let needs_layout = !worker.spec.is_verify_only() && file.is_some_and(layout::is_short);
            let names = self.known.of_path(path);
            self.add(worker, path, &names, (is_changed, needs_layout), range);
        }
    }

    fn add(
        &mut self,
        worker: &WorkerPlan,
        path: &Path,
        names: &PlaceNames,
        (is_changed, needs_layout): (bool, bool),
        (start_bytes, end_bytes): (u64, u64),
    ) {
        if !self.seen.insert((path.to_owned(), is_changed, start_bytes, end_bytes)) {
            return;
        }
        let mut place = UsedPlace {
            job: worker.spec.name.clone(),
            path: path.display().to_string(),
            is_changed,
            needs_layout,
            start_bytes: start_bytes.saturating_add(names.begins_at_bytes),
            end_bytes: end_bytes.saturating_add(names.begins_at_bytes),
            names: names.certain.clone(),
            hints: names.hints.clone(),
        };
        if self.places.len() >= MOST_PLACES {
            self.n_left_out += 1;
            place.path = format!("{} further files", self.n_left_out);
            (place.start_bytes, place.end_bytes) = (0, u64::MAX);
            (place.names, place.hints) = (Vec::new(), vec!["further files".to_owned()]);
            if self.n_left_out > 1 {
                place.is_changed |= self.places.pop().is_some_and(|last| last.is_changed);
            }
        }
        self.places.push(place);
    }
}

/// The range of a target on a server, if options alone say it.
fn range_by_options(worker: &WorkerPlan) -> (u64, u64) {
    let extent = &worker.spec.extent;
    match (extent.offset, extent.offset_increment, extent.size) {
        (SizeSpec::Bytes(offset), SizeSpec::Bytes(increment), Some(SizeSpec::Bytes(size)))
            if worker.engine.def.targets.are_remote() =>
        {
            let start = offset.saturating_add(increment.saturating_mul(worker.clone_index.into()));
            (start, start.saturating_add(size))
        }
        _ => (0, u64::MAX),
    }
}

/// The files of a worker with their ranges; `None`: they are not known yet, and the whole files count.
fn file_set(worker: &WorkerPlan, stop: &dyn Fn() -> bool) -> Option<FileSet> {
    if worker.spec.replay.is_set() || sizes::check(worker).is_err() {
        return None;
    }
    let targets = naming::found(worker).ok()?;
    size::file_set(worker, &targets, SetupWait { stop, in_vain: &Cell::new(Duration::ZERO) }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_spec::{DirectionMix, JobSpec};

    /// A directory that goes with the value.
    pub(super) struct Directory(pub(super) PathBuf);

    impl Directory {
        pub(super) fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("ferrio-places-{name}-{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&path);
            std::fs::create_dir(&path).expect("a directory");
            Self(path)
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    pub(super) fn job(mix: DirectionMix, path: &Path) -> JobSpec {
        let mut job = JobSpec { name: "j".into(), section: "j".into(), ..JobSpec::default() };
        job.pattern.mix = mix;
        job.target.filenames = vec![path.display().to_string()];
        job.extent.size = Some(SizeSpec::Bytes(1 << 20));
        job
    }

    fn places(jobs: Vec<JobSpec>) -> Vec<UsedPlace> {
        let spec = RunSpec { jobs, ..RunSpec::default() };
        places_of_jobs(spec, &|| false).expect("a plan")
    }

    #[test]
    fn one_file_has_one_name_whatever_its_paths_are() {
        let directory = Directory::new("names");
        let path = directory.0.join("data");
        std::fs::write(&path, vec![0; 1 << 20]).expect("a file");
        let (hard, soft) = (directory.0.join("hard"), directory.0.join("soft"));
        std::fs::hard_link(&path, &hard).expect("a link");
        std::os::unix::fs::symlink(&path, &soft).expect("a link");
        let found = places([&path, &hard, &soft].map(|path| job(DirectionMix::Write, path)).to_vec());
        assert_eq!(found.len(), 3);
        assert!(found.iter().all(|place| place.names == found[0].names && !place.names.is_empty()), "{found:?}");
        assert!(found.iter().all(|place| place.is_changed && !place.needs_layout));
        assert_eq!((found[0].start_bytes, found[0].end_bytes), (0, 1 << 20));
    }

    #[test]
    fn a_file_that_is_not_there_has_a_name_too_and_is_not_made() {
        let directory = Directory::new("missing");
        let path = directory.0.join("a/b");
        let other = directory.0.join("./a//b");
        let of = |path: &Path| places(vec![job(DirectionMix::Read, path)]);
        let found = of(&path);
        assert_eq!(found[0].names, of(&other)[0].names);
        assert!(found[0].needs_layout && !found[0].is_changed);
        assert_eq!(std::fs::read_dir(&directory.0).expect("the directory").count(), 0);
        assert_ne!(found[0].names, of(&directory.0.join("a/c"))[0].names);
    }

    #[test]
    fn jobs_without_files_use_no_place() {
        let mut null = job(DirectionMix::Write, Path::new("x"));
        null.engine.name = "null".into();
        assert_eq!(places(vec![null]), []);
    }
}
