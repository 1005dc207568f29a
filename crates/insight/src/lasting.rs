//! Whether the figures of runs are those that storage keeps up.
//!
//! Must not know: how rules find what they find. Start reading at [`may_flatter`].

use ferrio_stats::{Finding, Severity};

/// Findings about figures that changed while they were measured: those of a longer run are others.
const PASSING: [&str; 5] =
    ["rate-fell", "rate-drifts", "first-reads-slower", "changed-between-runs", "drifts-between-runs"];

/// True where storage may do worse in the long run than the figures say: the finding contradicts a figure, or the figure is that of a state that passes, such as
/// credit for bursts or a cache that fills.
pub fn may_flatter(finding: &Finding) -> bool {
    finding.severity == Severity::Wrong || PASSING.contains(&finding.id.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_about_what_passes_are_findings() {
        assert!(PASSING.iter().all(|id| crate::all_rules().any(|rule| rule.id == *id)));
    }
}
