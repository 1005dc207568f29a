//! The same functions without a history: nothing is remembered, so that the audit knows of no earlier runs.

use ferrio_stats::RunRecord;
use std::convert::Infallible;

pub(crate) fn look_up(_record: &mut RunRecord) {}

/// Remembers nothing.
pub(crate) fn look_back(_record: &mut RunRecord) -> Result<(), Infallible> {
    Ok(())
}
