//! Whether the figures of runs are those that storage keeps up.
//!
//! Must not know: how rules find what they find. Start reading at [`may_overstate`].

use crate::rules::MeasuredState;
use ferrio_stats::{Finding, Severity};

/// True where storage may do worse in the long run than the figures say: the finding contradicts a figure, or the figure is that of a state that passes, such as
/// credit for bursts or a cache that fills.
pub fn may_overstate(finding: &Finding) -> bool {
    let is_transient = || matches!(crate::rule_of(finding).map(|rule| rule.state), Some(MeasuredState::Transient));
    finding.severity == Severity::Wrong || is_transient()
}
