//! Merges the traces of jobs into files, before the rest of a run.
//!
//! Must not know: formats of traces, workers. Start reading at [`merge_traces`].

use super::source;
use crate::error::RunError;
use crate::files::protected::protected_files;
use ferrio_spec::{JobSpec, MergeSpec, RunSpec};
use ferrio_stats::note::{MergeFault, MergeNote, ReplayNote};
use ferrio_sys::output::{self, OutputStart, ProtectedPaths};
use ferrio_units::byte_text;
use ferrio_workload::replay::{Merge, MergeInput, TraceError};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Bytes that are written at once.
const BUFFER_BYTES: usize = 256 << 10;

/// Number of records after which the merge checks again whether the run is over.
const RECORDS_BETWEEN_LOOKS: u64 = 65_536;

/// The factor that leaves times unchanged.
const UNSCALED_PPM: u64 = 1_000_000;

/// Merges the traces of all jobs that want it, and makes these jobs replay the result. `tell` receives remarks about
/// the traces. `inputs`: as for [`protected_files`]. Returns the number of such jobs. `stop` returns true when the run is over.
pub(crate) fn merge_traces(
    run: &mut RunSpec,
    inputs: &[PathBuf],
    tell: &mut dyn FnMut(ReplayNote),
    stop: &dyn Fn() -> bool,
) -> Result<usize, RunError> {
    // Without a trace to merge nothing is replaced.
    let is_wanted = run.jobs.iter().any(|job| job.replay.merge.is_some());
    let kept = if is_wanted { protected_files(run, inputs)? } else { ProtectedPaths::default() };
    let (mut n_jobs, mut done) = (0, Vec::<(MergeSpec, Vec<String>)>::new());
    for job in &mut run.jobs {
        let Some(merge) = job.replay.merge.take() else { continue };
        n_jobs += 1;
        let output = byte_text::from_bytes(merge.output.as_os_str().as_bytes());
        let traces = std::mem::replace(&mut job.replay.traces, vec![output]);
        let this = (merge, traces);
        if done.contains(&this) {
            continue;
        }
        let failed = |why| RunError::Merge(MergeNote::Failed { job: job.name.clone(), why });
        if done.iter().any(|(merge, _)| merge.output == this.0.output) {
            return Err(failed(MergeFault::OutputOfAnotherJob { output: this.0.output.display().to_string() }));
        }
        merge_to_file(&this.0, &this.1, job, &kept, tell, stop).map_err(failed)?;
        done.push(this);
    }
    Ok(n_jobs)
}

fn merge_to_file(
    merge: &MergeSpec,
    traces: &[String],
    job: &JobSpec,
    kept: &ProtectedPaths,
    tell: &mut dyn FnMut(ReplayNote),
    stop: &dyn Fn() -> bool,
) -> Result<(), MergeFault> {
    let path = &merge.output;
    refuse_output(path, traces)?;
    let mut inputs = Vec::with_capacity(traces.len());
    for (index, name) in traces.iter().enumerate() {
        let bytes = source::open(name, stop).map_err(|error| of_trace(name, &error))?;
        let time_scale_ppm = merge.time_scales_ppm.get(index).copied().unwrap_or(UNSCALED_PPM);
        inputs.push(MergeInput { bytes, time_scale_ppm, n_passes: merge.n_passes.get(index).copied().unwrap_or(1) });
    }
    let mut merged = Merge::new(inputs).map_err(|(index, error)| of_trace(&traces[index], &error))?;
    let to_file = |error: &io::Error| MergeFault::Output { output: path.display().to_string(), error: error.into() };
    let file = output::open(path, OutputStart::Empty, kept).map_err(|error| to_file(&error))?;
    let written = write(&mut merged, file, stop).map_err(|error| match error {
        TraceError::Io(error) => to_file(&error),
        other => MergeFault::Record((&other).into()),
    });
    if written.is_err() {
        // An incomplete file would be taken for the whole trace. If it cannot be removed, the first error is still the
        // one to report.
        let _ = fs::remove_file(path);
    }
    for remark in merged.into_remarks() {
        tell(ReplayNote::Remark { whose: job.name.clone(), remark });
    }
    written
}

fn of_trace(name: &str, error: &TraceError) -> MergeFault {
    MergeFault::Trace { trace: byte_text::shown(name).to_string(), why: error.into() }
}

fn write(merged: &mut Merge, file: File, stop: &dyn Fn() -> bool) -> Result<(), TraceError> {
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, file);
    let mut n_records: u64 = 0;
    while let Some(record) = merged.next_record()? {
        out.write_all(&record)?;
        n_records += 1;
        if n_records.is_multiple_of(RECORDS_BETWEEN_LOOKS) && stop() {
            return Err(TraceError::Stopped);
        }
    }
    Ok(out.flush()?)
}

/// Refuses an output that is neither a new file nor one that may be replaced, as it is a device or one of the traces.
fn refuse_output(path: &Path, traces: &[String]) -> Result<(), MergeFault> {
    let output = || path.display().to_string();
    let Ok(there) = fs::metadata(path) else { return Ok(()) };
    if !there.is_file() {
        return Err(MergeFault::OutputIsNoFile { output: output() });
    }
    let same = |name: &String| {
        fs::metadata(byte_text::to_os_string(name)).is_ok_and(|of| (of.dev(), of.ino()) == (there.dev(), there.ino()))
    };
    if traces.iter().any(same) {
        return Err(MergeFault::OutputIsTrace { output: output() });
    }
    Ok(())
}
