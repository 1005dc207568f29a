//! What the rules say about jobs before they run.
//!
//! Must not know: how it is shown. Start reading at [`survey`].

use crate::session::last_runs;
use ferrio_run::RunError;
use ferrio_spec::RunSpec;
use ferrio_stats::RunRecord;

/// The audited record of a run that has not begun: nothing is started, and no file is made or opened for writing. `readonly`: the run
/// would lay out no files.
///
/// # Errors
/// The run cannot be planned.
pub fn survey(spec: RunSpec, command_line: &[String], readonly: bool) -> Result<RunRecord, RunError> {
    let mut record = ferrio_run::survey(spec, command_line, readonly)?;
    last_runs::look_up(&mut record);
    record.audit = Some(ferrio_insight::audit(&record));
    Ok(record)
}
