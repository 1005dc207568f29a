//! Runtimes that jobs have drawn (`runtime=2s-5s`).
//!
//! Must not know: how they are drawn. Start reading at [`drawn_runtimes`].

use super::table::name;
use ferrio_stats::{RunRecord, WorkerRecord};
use ferrio_units::humanize::duration_text;
use serde::Serialize;

/// The runtimes that the clones of a job have drawn (`runtime=2s-5s`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DrawnRuntimes {
    pub job: String,
    /// Runtimes in the order of the clones, microseconds.
    pub runtimes_us: Vec<u64>,
}

impl DrawnRuntimes {
    pub fn text(&self) -> String {
        let text = |us: Option<&u64>| duration_text(us.copied().unwrap_or_default() as f64 * 1e3);
        let (least, most) = (text(self.runtimes_us.iter().min()), text(self.runtimes_us.iter().max()));
        match self.runtimes_us.len() {
            1 => format!("{} has drawn the runtime {least}.", name(&self.job)),
            count => format!("The {count} clones of {} have drawn runtimes from {least} to {most}.", name(&self.job)),
        }
    }
}

pub fn drawn_runtimes(record: &RunRecord) -> Vec<DrawnRuntimes> {
    let jobs = record.workers.chunk_by(|worker, next| worker.job_index == next.job_index);
    let of_job = |clones: &[WorkerRecord]| DrawnRuntimes {
        job: clones.first().map(|clone| clone.name.clone()).unwrap_or_default(),
        runtimes_us: clones.iter().filter_map(|clone| clone.settings.drawn_runtime_us).collect(),
    };
    jobs.map(of_job).filter(|drawn| !drawn.runtimes_us.is_empty()).collect()
}
