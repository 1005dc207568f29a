//! How far a job stayed behind its rate, from the finding about it.
//!
//! Must not know: how a rule finds it. Start reading at [`missed_rate`].

use ferrio_stats::Finding;

/// Name of the rule.
pub const RATE_NOT_REACHED: &str = "rate-not-reached";
/// How the names of its measured values begin. The unit follows.
pub(crate) const WANTED: &str = "wanted ";
pub(crate) const REACHED: &str = "reached ";
/// The unit of a rate of bytes.
pub(crate) const BYTES: &str = "bytes";

/// A rate that a job did not reach. Both are I/Os a second, or bytes a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MissedRate {
    /// What the options wanted.
    pub wanted_per_sec: f64,
    /// What the job did.
    pub reached_per_sec: f64,
    /// The rate is one of bytes.
    pub is_of_bytes: bool,
}

impl MissedRate {
    /// The share of its rate from which on a job has reached it.
    pub const ENOUGH: f64 = 0.95;

    /// The share of its rate that the job reached, below [`Self::ENOUGH`].
    pub fn share(&self) -> f64 {
        self.reached_per_sec / self.wanted_per_sec
    }
}

/// The rate that a finding is about; `None`: it is about something else.
pub fn missed_rate(finding: &Finding) -> Option<MissedRate> {
    if finding.id != RATE_NOT_REACHED {
        return None;
    }
    let of = |name: &str| finding.evidence.iter().find(|measured| measured.what.starts_with(name));
    let (wanted, reached) = (of(WANTED)?, of(REACHED)?);
    (wanted.value > 0.0).then(|| MissedRate {
        wanted_per_sec: wanted.value,
        reached_per_sec: reached.value,
        is_of_bytes: wanted.what.contains(BYTES),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;

    /// 25,600 reads of 4 KiB in 10 s.
    #[test]
    fn the_finding_has_both_rates() {
        for (ios, bytes, wanted, reached, is_of_bytes) in
            [(5_120, 0, 5_120.0, 2_560.0, false), (0, 20_971_520, 20_971_520.0, 10_485_760.0, true)]
        {
            let mut job = job("a", DirectionMix::Read);
            (job.pace.ios_per_sec.0[0], job.pace.bytes_per_sec.0[0]) = (ios, bytes);
            let finding = TestRun::new(job).finding(RATE_NOT_REACHED);
            let missed = missed_rate(&finding).expect("a rate");
            assert!((missed.wanted_per_sec - wanted).abs() < 1.0 && missed.is_of_bytes == is_of_bytes, "{missed:?}");
            assert!((missed.reached_per_sec / reached - 1.0).abs() < 0.001, "{missed:?}");
            assert!((missed.share() - 0.5).abs() < 0.001, "{missed:?}");
        }
    }

    #[test]
    fn other_findings_are_about_no_rate() {
        let mut job = job("a", DirectionMix::Read);
        job.pace.ios_per_sec.0[0] = 5_120;
        let mut finding = TestRun::new(job).finding(RATE_NOT_REACHED);
        finding.evidence.clear();
        assert_eq!(missed_rate(&finding), None);
        finding.id = "no-io".to_owned();
        assert_eq!(missed_rate(&finding), None);
    }
}
