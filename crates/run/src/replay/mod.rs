//! A job that replays a trace: the trace is surveyed first, and the job is adapted to its contents.
//!
//! This happens in the worker, because a job before it may write the trace. After it, the job is a normal one with the
//! trace's files, directions and sizes; loops and reports see no difference.
//! Must not know: formats of traces, loops. Start reading at [`TracedJob::prepare`].
//! Facts: reference, "`read_iolog` text format", "blktrace input"; "Job rw, size, max bs derive from the trace".

pub(crate) mod merge;
mod source;
mod verified;

use crate::error::{Failure, errno_of, failure};
use crate::files::{FilePlan, FileSet, guard, is_target, named_paths};
use crate::plan::WorkerPlan;
use ferrio_spec::{BlockRange, DirectionMix, JobSpec, SizeSpec};
use ferrio_stats::Note;
use ferrio_stats::note::{During, FileNote, ReplayNote, RunNote, VerifyNote};
use ferrio_sys::block_device::{self, DeviceNumber};
use ferrio_sys::errno::{EBUSY, EINVAL, ENOMEM};
use ferrio_sys::file::{FileInfo, FileKind, OpenRequest};
use ferrio_sys::limits::{Resource, raise_limit};
use ferrio_units::{DataDirection, PerDirection, byte_text};
use ferrio_workload::replay::{
    FileUse, ReplayPlan, ReplayRules, TraceBytes, TraceError, TraceFile, TraceSurvey, survey,
};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most memory for the buffers of a replay if the trace decides their size, bytes.
const MAX_BUFFER_BYTES: u64 = 4 << 30;

/// Descriptors of a worker beside those for its files.
const N_OTHER_DESCRIPTORS: u64 = 64;

/// A job after it was adapted to its trace.
pub(crate) struct TracedJob {
    /// The worker with the directions, sizes and files of the trace.
    pub(crate) plan: WorkerPlan,
    pub(crate) set: FileSet,
    pub(crate) replay: ReplayPlan,
    pub(crate) remarks: Vec<ReplayNote>,
}

impl TracedJob {
    /// Reads the trace of a worker once. It neither opens nor changes the files that the trace names, and refuses
    /// devices in use.
    pub(crate) fn prepare(worker: &WorkerPlan, readonly: bool, stop: &dyn Fn() -> bool) -> Result<Self, Failure> {
        let trace = source::of_worker(worker);
        let name = byte_text::shown(&trace);
        let failed = |error: TraceError| trace_failed(&name, &error);
        let bytes = source::open(&trace, stop).map_err(failed)?;
        let rules = rules(worker, readonly);
        let mut survey = survey(Arc::clone(&bytes), rules, stop).map_err(failed)?;
        let remarks = std::mem::take(&mut survey.remarks).into_list();
        let told = |remark| ReplayNote::Remark { whose: name.to_string(), remark };
        let remarks = remarks.into_iter().map(told).collect();
        let paths = paths(worker, &survey)?;
        let plan = adapted(worker, &survey, &paths)?;
        if let Some(refusal) = guard::check_devices(std::slice::from_ref(&plan), &|_| ()) {
            return Err(failure!(EBUSY, "check_devices").explained(refusal.note));
        }
        let set = file_set(&plan, &survey, &paths)?;
        if worker.spec.replay.offset_bytes.is_some() && worker.engine.def.targets.are_files() {
            check_ends(&name, &survey, &set)?;
        }
        raise_limit(Resource::Nofile, set.files.len() as u64 + N_OTHER_DESCRIPTORS);
        Ok(Self { replay: replay_plan(&plan, bytes, rules, survey), plan, set, remarks })
    }
}

/// Reads the traces of a worker, and fails where it will. A trace that another job or a command may still make is left out (`is_made`), and so is one that can be read
/// only once.
pub(crate) fn check_traces(worker: &WorkerPlan, is_made: &dyn Fn(&Path) -> bool) -> Result<(), Failure> {
    let is_merged = worker.spec.replay.merge.is_some();
    let traces = if is_merged { worker.spec.replay.traces.clone() } else { vec![source::of_worker(worker)] };
    for trace in traces {
        let path = PathBuf::from(byte_text::to_os_string(&trace));
        if trace == "-" || is_made(&path) || path.exists() && !source::is_regular(&trace) && !path.is_dir() {
            continue;
        }
        let failed = |error: TraceError| trace_failed(&byte_text::shown(&trace), &error);
        let bytes = source::open(&trace, &|| false).map_err(failed)?;
        if !is_merged {
            survey(bytes, rules(worker, false), &|| false).map_err(failed)?;
        }
    }
    Ok(())
}

/// The rules of a worker: those of its job, and where its clone is.
fn rules(worker: &WorkerPlan, readonly: bool) -> ReplayRules {
    let rules = ReplayRules::new(&worker.spec.replay, readonly);
    let Some(offset_bytes) = worker.spec.replay.offset_bytes else { return rules };
    // Percentages are refused beside this option.
    let SizeSpec::Bytes(increment_bytes) = worker.spec.extent.offset_increment else {
        return rules.moved_by(offset_bytes);
    };
    let clone_bytes = increment_bytes.saturating_mul(worker.clone_index.into());
    rules.moved_by(offset_bytes.saturating_add(clone_bytes))
}

/// Refuses a trace that `replay_offset` moves beyond the end of a device, or of a file that the trace does not make longer: its I/Os
/// would fail, or be left out. A file that is not there is none of these; opening it makes it or fails.
fn check_ends(trace: &str, survey: &TraceSurvey, set: &FileSet) -> Result<(), Failure> {
    for (file, plan) in survey.files.iter().zip(&set.files) {
        let size_bytes = match FileInfo::of_path(&plan.path) {
            Ok(info) if info.kind == FileKind::Regular && !file.reach.is_written => info.size_bytes,
            Ok(info) if info.kind == FileKind::Block => plan.file_bytes,
            _ => continue,
        };
        if let Some(place) = file.reach.furthest.filter(|_| file.reach.end_bytes > size_bytes) {
            let (trace, name) = (trace.to_owned(), plan.name.clone());
            let note = ReplayNote::BeyondEnd { trace, place, file: name, end_bytes: file.reach.end_bytes, size_bytes };
            return Err(failure!(EINVAL, "replay_offset").explained(note));
        }
    }
    Ok(())
}

fn replay_plan(worker: &WorkerPlan, bytes: Arc<dyn TraceBytes>, rules: ReplayRules, survey: TraceSurvey) -> ReplayPlan {
    let limit_ios = match worker.spec.extent.number_ios {
        0 => u64::MAX,
        number_ios => number_ios.saturating_mul(worker.spec.limits.loops.max(1).into()),
    };
    ReplayPlan { bytes, rules, survey, limit_ios, has_pauses: worker.spec.pace.pauses.is_set() }
}

fn trace_failed(name: &str, error: &TraceError) -> Failure {
    match error {
        TraceError::Stopped => Failure::stopped(),
        // Whatever the reason, fio reports a bad trace.
        error => {
            let note = ReplayNote::Refused { trace: name.to_owned(), why: error.into() };
            failure!(EINVAL, "failed initializing iolog").explained(note)
        }
    }
}

fn paths(worker: &WorkerPlan, survey: &TraceSurvey) -> Result<Vec<PathBuf>, Failure> {
    let redirect = worker.spec.replay.redirect.as_ref();
    survey
        .files
        .iter()
        .map(|FileUse { file, .. }| match (redirect, file) {
            (Some(path), _) => Ok(path.clone()),
            (None, TraceFile::Named(name)) => Ok(PathBuf::from(byte_text::to_os_string(name))),
            (None, TraceFile::Device { major, minor }) if !worker.engine.def.targets.are_files() => {
                Ok(PathBuf::from(format!("{major}:{minor}")))
            }
            (None, TraceFile::Device { major, minor }) => device_path(*major, *minor),
        })
        .collect()
}

/// True if only the trace of a worker names its files.
pub(crate) fn takes_files_of_trace(worker: &WorkerPlan) -> bool {
    worker.spec.replay.is_set() && worker.spec.target.filenames.is_empty()
}

/// The files that a worker will use, before it starts: those of its trace, if that names them, or its own.
pub(crate) fn expected_paths(worker: &WorkerPlan) -> Vec<PathBuf> {
    if takes_files_of_trace(worker) { paths_in_file(worker) } else { named_paths(worker) }
}

/// The files that the trace of a worker names, if it is a regular file: reading any other source would take it away from
/// the worker. None if the trace cannot be read; the worker reports that.
fn paths_in_file(worker: &WorkerPlan) -> Vec<PathBuf> {
    let trace = source::of_worker(worker);
    if !source::is_regular(&trace) {
        return Vec::new();
    }
    // Without the move: it changes no name, and a trace that it moves too far is refused by the worker.
    let rules = ReplayRules::new(&worker.spec.replay, false);
    let found = source::open(&trace, &|| false).ok().and_then(|bytes| survey(bytes, rules, &|| false).ok());
    found.and_then(|found| paths(worker, &found).ok()).unwrap_or_default()
}

fn device_path(major: u32, minor: u32) -> Result<PathBuf, Failure> {
    let number = DeviceNumber { major, minor };
    let missing = || failure!(EINVAL, "failed initializing iolog").explained(ReplayNote::NoDevice { major, minor });
    let path = block_device::path_of(number).ok_or_else(missing)?;
    // The name from sysfs may belong to another device in this `/dev`.
    let info = FileInfo::of_path(&path).map_err(|_| missing())?;
    if info.kind == FileKind::Block && info.is_device == number { Ok(path) } else { Err(missing()) }
}

/// The worker with the trace's directions and sizes.
fn adapted(worker: &WorkerPlan, survey: &TraceSurvey, paths: &[PathBuf]) -> Result<WorkerPlan, Failure> {
    let mut spec = JobSpec::clone(&worker.spec);
    let used = |direction| survey.uses(direction);
    let (reads, writes, trims) = (used(DataDirection::Read), used(DataDirection::Write), used(DataDirection::Trim));
    spec.pattern.mix = match (reads, writes, trims) {
        (true | false, false, false) => DirectionMix::Read,
        (false, true, _) => DirectionMix::Write,
        (false, false, true) => DirectionMix::Trim,
        (true, _, _) => DirectionMix::ReadWrite,
    };
    spec.pattern.bs_is_seq_rand = false;
    if let Some(verify) = &mut spec.verify {
        verified::adapt(verify, spec.pattern.block_size[DataDirection::Write].min_bytes, survey, writes)?;
        if let Some(why) = verified::cannot_be_judged(survey, paths).filter(|_| verify.crash_log.is_some()) {
            return Err(failure!(EINVAL, "verify_crash_log").explained(VerifyNote::JournalOfTrace(why)));
        }
    }
    // Trims need no buffer.
    let data = [survey.directions[DataDirection::Read], survey.directions[DataDirection::Write]];
    let max_bytes = data.iter().map(|of| of.max_bytes).max().unwrap_or(0).max(512);
    let min_bytes = data.iter().filter(|of| of.n_ios > 0).map(|of| of.min_bytes).min().unwrap_or(512);
    spec.pattern.block_size = PerDirection::all(BlockRange { min_bytes, max_bytes });
    if let Some(depth) = survey.depth.filter(|_| spec.replay.takes_depth) {
        (spec.queue.iodepth, spec.queue.low) = (depth, depth);
    }
    let buffer_bytes = max_bytes.saturating_mul(spec.queue.iodepth.into());
    if buffer_bytes > MAX_BUFFER_BYTES {
        let note = RunNote::TooManyBuffers { depth: spec.queue.iodepth, buffer_bytes: max_bytes };
        return Err(failure!(ENOMEM, "iomem allocation").explained(note));
    }
    spec.target.filenames = paths.iter().map(|path| byte_text::from_bytes(path.as_os_str().as_bytes())).collect();
    spec.target.directories.clear();
    spec.extent.size = Some(SizeSpec::Bytes(survey.bytes()));
    spec.extent.io_size = None;
    Ok(WorkerPlan { has_replayed_trims: trims, ..worker.with_spec(Arc::new(spec)) })
}

/// The files as they are. Nothing is laid out: files that the trace reads must exist, files that it writes are made
/// when they are opened.
fn file_set(worker: &WorkerPlan, survey: &TraceSurvey, paths: &[PathBuf]) -> Result<FileSet, Failure> {
    let files = survey.files.iter().zip(paths).map(|(file, path)| file_plan(worker, path, file.reach.end_bytes));
    let size_bytes = survey.bytes();
    let files = files.collect::<Result<_, _>>()?;
    Ok(FileSet { files, size_bytes, pass_bytes: size_bytes, io_bytes: size_bytes, ..FileSet::default() })
}

fn file_plan(worker: &WorkerPlan, path: &Path, end_bytes: u64) -> Result<FilePlan, Failure> {
    let failed = |error: ferrio_sys::Error| {
        failure!(errno_of(&error), "get_file_size").explained(Note::system(During::Nothing, &error))
    };
    let (kind, file_bytes) = match FileInfo::of_path(path) {
        _ if !worker.engine.def.targets.are_files() => (FileKind::Regular, end_bytes),
        Ok(info) if info.kind == FileKind::Block => {
            let device = OpenRequest::default().open(path).map_err(failed)?;
            (info.kind, block_device::size_bytes(&device).map_err(failed)?)
        }
        Ok(info) if !is_target(info.kind) => {
            let note = FileNote::NoSize { job: worker.spec.name.clone(), file: path.display().to_string() };
            return Err(failure!(EINVAL, "get_file_size").explained(note));
        }
        // A read that goes beyond the end of the file is left out; it must be whole in the trace.
        Ok(info) => (info.kind, info.size_bytes.max(end_bytes)),
        // Opening the file makes it, or gives the error.
        Err(_) => (FileKind::Regular, 0),
    };
    let name = path.to_string_lossy().into_owned();
    Ok(FilePlan { path: path.to_owned(), name, kind, start_bytes: 0, length_bytes: end_bytes, file_bytes })
}

#[cfg(test)]
mod tests;
