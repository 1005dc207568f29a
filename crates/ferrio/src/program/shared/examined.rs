//! Results of other programs, examined as far as they tell.

use ferrio::session::{VERSION, adopted};
use ferrio_formats::RunResult;
use ferrio_job::SystemEnvironment;
use ferrio_stats::RunRecord;

/// The record that a result stands for, with its audit, which is that of the run if that was examined.
pub(crate) fn record_of(result: &RunResult) -> RunRecord {
    let record = adopted::record_of(result, &SystemEnvironment::new(VERSION));
    RunRecord { audit: result.audit.clone().or_else(|| record.audit.clone()), ..record }
}

/// Examines results that nobody has looked at.
pub(crate) fn complete(results: &mut [RunResult]) {
    let environment = SystemEnvironment::new(VERSION);
    for result in results {
        adopted::examine(result, &environment);
    }
}
