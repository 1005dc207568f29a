//! A sample of the data that jobs have read, looked at after the run: is it zeroes alone?
//!
//! Must not know: rules. Start reading at [`of_readers`]. Files are opened only if the run's settings allow it.

use crate::evidence::ProbedWorker;
use ferrio_spec::engines::Data;
use ferrio_spec::{ControlSettings, SizeSpec};
use ferrio_stats::{ReadSample, WorkerRecord};
use ferrio_units::DataDirection;
use std::fs::File;
use std::io::{Seek as _, SeekFrom};
use std::os::unix::fs::{FileExt as _, FileTypeExt as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Blocks of a target that are looked at.
const N_BLOCKS: u64 = 16;
const BLOCK_BYTES: u64 = 4096;
/// No more jobs than this are looked at.
const MAX_JOBS: usize = 16;
/// The time that all of it may take. Of a device that does not answer by then nothing is said.
const LIMIT: Duration = Duration::from_millis(500);

/// A part of a target that a job has read.
struct Part {
    job_index: u32,
    path: PathBuf,
    offset: SizeSpec,
    size: Option<SizeSpec>,
}

/// Samples of the first targets of jobs that only read and have ended without an error. A job with clones is looked at once.
pub(crate) fn of_readers(
    workers: &[ProbedWorker<'_>],
    control: &ControlSettings,
    records: &[WorkerRecord],
) -> Option<Vec<ReadSample>> {
    if !control.looks_into_files {
        return None;
    }
    let mut parts: Vec<Part> = Vec::new();
    for (worker, record) in workers.iter().zip(records) {
        let job_index = worker.job_index;
        let is_new = parts.last().is_none_or(|last| last.job_index != job_index);
        if parts.len() < MAX_JOBS && is_new && has_read_data(worker, record) {
            let extent = &worker.spec.extent;
            let path = worker.paths.named().into_iter().next();
            parts.extend(path.map(|path| Part { job_index, path, offset: extent.offset, size: extent.size }));
        }
    }
    if parts.is_empty() {
        return None;
    }
    let (sender, samples) = mpsc::channel();
    let ends_at = Instant::now() + LIMIT;
    // A device that does not answer holds this thread, and not the report. The other end may have gone by then.
    let looks = move || {
        for part in parts {
            if sender.send(sample(&part, ends_at)).is_err() {
                break;
            }
        }
    };
    std::thread::Builder::new().name("zeroes".to_owned()).spawn(looks).ok()?;
    let next = || samples.recv_timeout(ends_at.saturating_duration_since(Instant::now())).ok();
    let found: Vec<ReadSample> = std::iter::from_fn(next).flatten().collect();
    (!found.is_empty()).then_some(found)
}

fn has_read_data(worker: &ProbedWorker<'_>, record: &WorkerRecord) -> bool {
    let directions = worker.spec.pattern.mix.directions();
    worker.has_files()
        && worker.engine.data == Data::Kept
        && record.fate.failure.is_none()
        && record.stats.directions[DataDirection::Read].n_completed > 0
        && !directions[DataDirection::Write]
        && !directions[DataDirection::Trim]
        && !worker.spec.replay.is_set()
}

/// `None`: the part could not be read, or not in time.
fn sample(part: &Part, ends_at: Instant) -> Option<ReadSample> {
    let (file, start, n_bytes) = open(&part.path, part.offset, part.size)?;
    let n_blocks = n_bytes / BLOCK_BYTES;
    let wanted = n_blocks.min(N_BLOCKS);
    let mut block = vec![0; BLOCK_BYTES as usize];
    let mut n_zero = 0;
    for index in 0..wanted {
        if Instant::now() >= ends_at {
            return None;
        }
        // One in each part of the range, at another place in each of them.
        let first = n_blocks * index / wanted;
        let width = (n_blocks * (index + 1) / wanted - first).max(1);
        let place = first + index.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23) % width;
        file.read_exact_at(&mut block, start + place * BLOCK_BYTES).ok()?;
        n_zero += u64::from(block.iter().all(|byte| *byte == 0));
    }
    let path = part.path.display().to_string();
    (wanted > 0).then_some(ReadSample { job_index: part.job_index, path, n_blocks: wanted, n_zero })
}

/// The file, and the range of it that the job has read: its first byte and its length.
fn open(path: &Path, offset: SizeSpec, size: Option<SizeSpec>) -> Option<(File, u64, u64)> {
    // Opening a pipe waits for its other end, and reading a character device may take something away.
    let kind = std::fs::metadata(path).ok()?.file_type();
    if !kind.is_file() && !kind.is_block_device() {
        return None;
    }
    let mut file = File::open(path).ok()?;
    let end = file.seek(SeekFrom::End(0)).ok()?;
    let start = offset.bytes_of(end).min(end);
    let n_bytes = size.map_or(u64::MAX, |size| size.bytes_of(end)).min(end - start);
    Some((file, start, n_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_without_data_are_counted() {
        let path = std::env::temp_dir().join(format!("ferrio-zeroes-{}", std::process::id()));
        // Half of the blocks hold data, in turns of eight.
        let data: Vec<u8> = (0..256 * 4096).map(|at| u8::from(at / 4096 % 16 < 8)).collect();
        std::fs::write(&path, data).unwrap();
        let part = |offset, size| Part { job_index: 3, path: path.clone(), offset, size };
        let in_time = Instant::now() + Duration::from_secs(600);
        let zeroes = |offset: u64, n_bytes: u64| {
            let part = part(SizeSpec::Bytes(offset), Some(SizeSpec::Bytes(n_bytes)));
            sample(&part, in_time).map(|found| (found.n_blocks, found.n_zero))
        };
        assert_eq!(zeroes(0, 8 * 4096), Some((8, 0)));
        assert_eq!(zeroes(8 * 4096, 8 * 4096), Some((8, 8)));
        assert_eq!(zeroes(0, 16 * 4096), Some((16, 8)));
        assert_eq!(zeroes(0, 4095), None, "less than a block");
        assert_eq!(zeroes(1 << 40, 4096), None, "behind the end");
        let whole = sample(&part(SizeSpec::Percent(0), Some(SizeSpec::Percent(100))), in_time).unwrap();
        assert!(whole.n_blocks == 16 && whole.n_zero < 16 && whole.job_index == 3, "{whole:?}");
        assert_eq!(sample(&part(SizeSpec::Bytes(0), None), Instant::now()), None, "too late");
        std::fs::remove_file(&path).unwrap();
    }
}
