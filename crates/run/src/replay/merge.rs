//! Merges the traces of jobs into files, before the rest of a run.
//!
//! Must not know: formats of traces, workers. Start reading at [`merge_traces`].

use super::source;
use crate::error::RunError;
use ferrio_spec::{JobSpec, MergeSpec, RunSpec};
use ferrio_units::byte_text;
use ferrio_workload::replay::{Merge, MergeInput, TraceError};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Bytes that are written at once.
const BUFFER_BYTES: usize = 256 << 10;

/// Number of records after which the merge checks again whether the run is over.
const RECORDS_BETWEEN_LOOKS: u64 = 65_536;

/// The factor that leaves times unchanged.
const UNSCALED_PPM: u64 = 1_000_000;

/// Merges the traces of all jobs that want it, and makes these jobs replay the result. `tell` receives remarks about
/// the traces. Returns the number of such jobs. `stop` returns true when the run is over.
pub(crate) fn merge_traces(
    run: &mut RunSpec,
    tell: &mut dyn FnMut(String),
    stop: &dyn Fn() -> bool,
) -> Result<usize, RunError> {
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
        let failed = |why: String| RunError::Merge(format!("fio: {}: {why}", job.name));
        if done.iter().any(|(merge, _)| merge.output == this.0.output) {
            return Err(failed(format!("{} is what another job merges its traces to", this.0.output.display())));
        }
        merge_to_file(&this.0, &this.1, job, tell, stop).map_err(failed)?;
        done.push(this);
    }
    Ok(n_jobs)
}

fn merge_to_file(
    merge: &MergeSpec,
    traces: &[String],
    job: &JobSpec,
    tell: &mut dyn FnMut(String),
    stop: &dyn Fn() -> bool,
) -> Result<(), String> {
    let path = &merge.output;
    refuse_output(path, traces)?;
    let mut inputs = Vec::with_capacity(traces.len());
    for (index, name) in traces.iter().enumerate() {
        let bytes = source::open(name, stop).map_err(|error| of_trace(name, &error))?;
        let time_scale_ppm = merge.time_scales_ppm.get(index).copied().unwrap_or(UNSCALED_PPM);
        inputs.push(MergeInput { bytes, time_scale_ppm, n_passes: merge.n_passes.get(index).copied().unwrap_or(1) });
    }
    let mut merged = Merge::new(inputs).map_err(|(index, error)| of_trace(&traces[index], &error))?;
    let to_file = |error: io::Error| format!("{}: {error}", path.display());
    let file = File::create(path).map_err(to_file)?;
    let written = write(&mut merged, file, stop).map_err(|error| match error {
        TraceError::Io(error) => to_file(error),
        other => other.to_string(),
    });
    if written.is_err() {
        // An incomplete file would be taken for the whole trace. If it cannot be removed, the first error is still the
        // one to report.
        let _ = fs::remove_file(path);
    }
    merged.into_remarks().into_iter().for_each(|line| tell(format!("fio: {}: {line}", job.name)));
    written
}

fn of_trace(name: &str, error: &TraceError) -> String {
    let name = byte_text::shown(name);
    match error {
        TraceError::Io(error) => format!("could not open file: {name}: {error}"),
        TraceError::NotBlktrace => format!("file is not a blktrace: {name}"),
        TraceError::Stopped => "stopped while it merged its traces".to_owned(),
        other => format!("{} ({name})", other.to_string().trim_start_matches("fio: ")),
    }
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
fn refuse_output(path: &Path, traces: &[String]) -> Result<(), String> {
    let shown = path.display();
    let Ok(there) = fs::metadata(path) else { return Ok(()) };
    if !there.is_file() {
        return Err(format!("{shown} is no regular file: traces are not merged to it"));
    }
    let same = |name: &String| {
        fs::metadata(byte_text::to_os_string(name)).is_ok_and(|of| (of.dev(), of.ino()) == (there.dev(), there.ino()))
    };
    if traces.iter().any(same) {
        return Err(format!("{shown} is one of the traces that are merged to it"));
    }
    Ok(())
}
