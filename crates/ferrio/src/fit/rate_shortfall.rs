//! Whether the storage carries a load: its jobs reach the rates that they are to have.
//!
//! The latencies of a job that stays behind its rate are those of less load. Must not know: how loads are run, how a verdict is shown. Start reading at
//! [`RateShortfall::of`].

use crate::fit::check::is_about;
use crate::fit::{FitBound, FitLoad, FitVerdict, Recipe};
use crate::sweep::limit::{LimitVerdict, LimitedBy, judge_rates, limited_by, share_of_rate};
use ferrio_formats::{IoKind, RunResult};
use ferrio_insight::{MissedRate, missed_rate};
use ferrio_stats::{Finding, Metric};
use serde::Serialize;

/// A load of which a job has not reached its rate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RateShortfall {
    /// Whether the storage carries the load all the same; it can't be told where the jobs wait for the CPU.
    pub verdict: FitVerdict,
    /// The job that stayed behind the most.
    pub job: String,
    /// Its rate, I/Os or bytes a second.
    pub wanted_per_sec: f64,
    /// What it did in the run in which it did the least.
    pub least_per_sec: f64,
    /// Both are bytes a second.
    pub is_of_bytes: bool,
    /// Number of runs in which a job has not reached its rate.
    pub n_missed: usize,
    /// The reason why the load is certainly not carried; `None`: the runs do not decide whether it is.
    pub limited_by: Option<LimitedBy>,
}

impl RateShortfall {
    /// The figure of the rate.
    pub const fn metric(&self) -> Metric {
        if self.is_of_bytes { Metric::Bandwidth } else { Metric::Iops }
    }

    /// What runs of a load tell; `None`: its jobs reach their rates, but for runs by chance.
    pub(crate) fn of(recipe: &Recipe, load: &FitLoad, results: &[RunResult]) -> Option<Self> {
        let counts = |finding: &&Finding| !has_own_limit(recipe, load, finding);
        let missed_in = |result: &'_ RunResult| -> Vec<Finding> {
            result.findings().filter(|one| missed_rate(one).is_some()).filter(counts).cloned().collect()
        };
        let missed: Vec<Vec<Finding>> = results.iter().map(missed_in).collect();
        let shares: Vec<f64> = missed.iter().map(|findings| share_of_rate(findings.iter())).collect();
        let verdict = match judge_rates(&shares) {
            LimitVerdict::Within => return None,
            LimitVerdict::Undecided => FitVerdict::CantTell,
            LimitVerdict::Beyond => FitVerdict::DoesNotFit,
        };
        let rates = missed.iter().flatten().filter_map(|finding| Some((missed_rate(finding)?, finding)));
        let (rate, worst) = rates.min_by(|(one, _), (other, _)| one.share().total_cmp(&other.share()))?;
        let is_certain = verdict == FitVerdict::DoesNotFit;
        let limited_by =
            results.last().zip(results.first()).filter(|_| is_certain).map(|(last, first)| limited_by(last, first));
        let MissedRate { wanted_per_sec, reached_per_sec: least_per_sec, is_of_bytes } = rate;
        Some(Self {
            verdict: if limited_by == Some(LimitedBy::Cpu) { FitVerdict::CantTell } else { verdict },
            job: worst.jobs.first().cloned().unwrap_or_default(),
            wanted_per_sec,
            least_per_sec,
            is_of_bytes,
            n_missed: missed.iter().filter(|findings| !findings.is_empty()).count(),
            limited_by,
        })
    }
}

/// A limit says how many I/Os or bytes a second are enough for what the finding is about: the rate is then only an offer.
fn has_own_limit(recipe: &Recipe, load: &FitLoad, finding: &Finding) -> bool {
    // The number of syncs follows from that of the writes.
    let moved = |kind: IoKind| if kind == IoKind::Sync { IoKind::Write } else { kind };
    recipe.limits_of(load).any(|(_, limit)| {
        let is_rate = matches!(limit.bound(), Ok(FitBound::Least(_)));
        // Recipes are checked when they are read.
        let is_of_kind = limit.subject().is_ok_and(|(kind, _)| is_about(finding.direction, moved(kind)));
        is_rate && is_of_kind && finding.jobs.contains(&limit.job)
    })
}
