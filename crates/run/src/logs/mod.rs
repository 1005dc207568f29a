//! Performance logs of a run: workers write records into rings in shared memory, a thread of the supervisor turns them
//! into rows and hands these to a [`ferrio_stats::LogSink`].
//!
//! This way a record costs a worker only nanoseconds, memory does not grow with the run, and all that was recorded
//! reaches the file even if the worker is killed. If the ring is full the worker waits, so that no row is lost.
//! Must not know: how rows look on disk. Start reading at [`files`] (the list of logs), then `record` (the contents of
//! a ring) and `drain` (the thread).

mod drain;
mod no_sink;
mod opener;
mod record;

use crate::plan::WorkerPlan;
use ferrio_spec::WindowValue;
use ferrio_stats::{LogColumns, LogFile, LogKind};
use ferrio_sys::ring::{Bell, Ring};
use std::path::Path;
use std::sync::Arc;

pub(crate) use drain::{LogDrain, bw_kb_per_sec};
pub use opener::LogOpener;
pub(crate) use record::{IoRecord, Recorder};

/// Words of the ring of a job that records each I/O: 2 MiB, some 80,000 I/Os.
const WORDS_EACH_IO: usize = 1 << 18;
/// Words of the ring of a job that records windows: 256 KiB, enough for histograms of all directions.
const WORDS_WINDOWS: usize = 1 << 15;

/// The worker's end of its logs.
#[derive(Debug, Clone)]
pub struct LogPort {
    pub(crate) ring: Arc<Ring>,
    pub(crate) bell: Arc<Bell>,
}

impl LogPort {
    fn new(plan: &WorkerPlan, bell: &Arc<Bell>) -> ferrio_sys::Result<Self> {
        let n_words = if plan.spec.logs.window_ms == 0 { WORDS_EACH_IO } else { WORDS_WINDOWS };
        Ok(Self { ring: Arc::new(Ring::new(n_words)?), bell: Arc::clone(bell) })
    }
}

pub(crate) fn files(plan: &WorkerPlan) -> Vec<LogFile> {
    let (logs, reporting) = (&plan.spec.logs, &plan.spec.reporting);
    let mut files = Vec::new();
    let mut add = |prefix: &Option<_>, kind| files.extend(prefix.as_deref().map(|prefix| file(plan, prefix, kind)));
    add(&logs.bw, LogKind::Bw);
    add(&logs.iops, LogKind::Iops);
    if !reporting.disable_slat {
        add(&logs.latency, LogKind::Slat);
    }
    if !reporting.disable_clat {
        add(&logs.latency, LogKind::Clat);
    }
    if !reporting.disable_lat {
        add(&logs.latency, LogKind::Lat);
    }
    add(&logs.histogram, LogKind::ClatHist);
    files
}

/// The kinds of logs that get rows. A log whose figures are not measured has an empty file.
pub(crate) fn filled(plan: &WorkerPlan) -> [bool; LogKind::ALL.len()] {
    let (logs, reporting) = (&plan.spec.logs, &plan.spec.reporting);
    let mut filled = [false; LogKind::ALL.len()];
    if !reporting.stats {
        return filled;
    }
    for file in files(plan) {
        filled[file.kind as usize] = true;
    }
    filled[LogKind::Slat as usize] &= plan.sees_submission();
    if logs.window_ms == 0 {
        filled[LogKind::Bw as usize] &= !reporting.disable_bw;
        // Times of I/Os are not taken, so there is nothing to record for each.
        filled[LogKind::Iops as usize] &= !reporting.gtod_reduce;
    }
    filled[LogKind::ClatHist as usize] &= !reporting.disable_clat;
    filled
}

fn file(plan: &WorkerPlan, prefix: &Path, kind: LogKind) -> LogFile {
    let logs = &plan.spec.logs;
    // A log without a name gets the name of its job.
    let prefix = if prefix.as_os_str().is_empty() { Path::new(&plan.spec.name) } else { prefix };
    LogFile {
        prefix: prefix.to_owned(),
        kind,
        worker_number: (!logs.shared_files).then_some(plan.thread_number),
        columns: LogColumns {
            maximum: logs.window_value == WindowValue::Both,
            offset: logs.offset,
            full_priority: logs.full_priority,
            issue_time: logs.issue_time,
        },
        coarseness: logs.histogram_coarseness,
        compressed_chunk_bytes: logs.store_compressed.then_some(logs.compression_bytes as usize),
    }
}
