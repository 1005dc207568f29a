//! How many times the load storage carries until a limit breaks.
//!
//! Must not know: how loads are run. Start reading at [`find`].

use crate::fitting::{FitConductor, Fitting, PreparedLoad, factor_text};
use crate::{CheckOutcome, FitError, FitVerdict, scale};
use ferrio_insight::may_flatter;
use ferrio_insight::repeats::{changes, not_again};
use ferrio_results::RunResult;
use ferrio_stats::Finding;
use ferrio_sweep::limit::{Bracket, LimitVerdict, LimitedBy, limited_by, search};
use serde::Serialize;
use std::collections::BTreeMap;

/// Largest factor that is tried, in hundredths.
const MOST: u64 = 32 * scale::ONE;
/// By how much the ends of the answer may differ.
const PRECISION: f64 = 0.25;

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Headroom {
    /// The load may certainly be so many times as large.
    pub fits_times: f64,
    /// It certainly may not be so many times as large; `None`: the largest factor that was tried fits.
    pub breaks_times: Option<f64>,
    /// Index of the limit that breaks first.
    pub first_limit: Option<usize>,
    /// What ends it.
    pub limited_by: Option<LimitedBy>,
    /// Names of the findings by which it may carry less in the long run, of runs at the end of the search.
    pub contradicted_by: Vec<String>,
    /// These findings.
    #[serde(skip)]
    pub findings: Vec<Finding>,
    /// Indexes of the limits that the load as it is did not hold any more at the end of the search.
    #[serde(skip)]
    pub(crate) broken_at_one: Vec<usize>,
}

/// Finds it. `at_one`: the load as it is, which fits.
pub(crate) fn find(
    fitting: &Fitting<'_>,
    prepared: &PreparedLoad<'_>,
    at_one: (&[CheckOutcome], &[RunResult]),
    conductor: &mut dyn FitConductor,
) -> Result<Headroom, FitError> {
    let mut broken: Option<(u64, Option<usize>, RunResult)> = None;
    let mut held = BTreeMap::from([(scale::ONE, at_one.0.to_vec())]);
    let judge = |hundredths: u64| {
        if hundredths == scale::ONE {
            return Ok::<_, FitError>(LimitVerdict::Within);
        }
        let mut results = Vec::new();
        let checks = fitting.decide(prepared, hundredths, &mut results, conductor)?;
        let verdict = verdict_of(&checks);
        if verdict == FitVerdict::DoesNotFit && broken.as_ref().is_none_or(|(at, ..)| hundredths < *at) {
            let worst = broken_limits(&checks).min_by(|one, other| one.margin.total_cmp(&other.margin));
            let worst = worst.map(|check| check.limit_index);
            broken = results.pop().map(|result| (hundredths, worst, result));
        }
        held.insert(hundredths, checks);
        Ok(match verdict {
            FitVerdict::Fits => LimitVerdict::Within,
            FitVerdict::CantTell => LimitVerdict::Undecided,
            FitVerdict::DoesNotFit => LimitVerdict::Beyond,
        })
    };
    let bracket = search(scale::ONE, MOST, PRECISION, judge)?;
    let times = |hundredths: u64| hundredths as f64 / scale::ONE as f64;
    let ended = broken.as_ref().filter(|(at, ..)| Some(*at) == bracket.beyond);
    let mut headroom = Headroom {
        fits_times: times(bracket.within.unwrap_or(scale::ONE)),
        breaks_times: bracket.beyond.map(times),
        first_limit: ended.and_then(|(_, limit, _)| *limit),
        limited_by: ended.zip(at_one.1.first()).map(|((_, _, result), first)| limited_by(result, first)),
        contradicted_by: Vec::new(),
        findings: Vec::new(),
        broken_at_one: Vec::new(),
    };
    // Without an upper end, the largest load was the last one.
    if let Bracket { within: Some(within), beyond: Some(_) } = bracket {
        headroom.measure_again(fitting, prepared, within, &held, conductor)?;
    }
    Ok(headroom)
}

/// The worst verdict of all limits.
fn verdict_of(checks: &[CheckOutcome]) -> FitVerdict {
    checks.iter().map(|check| check.verdict).max().unwrap_or(FitVerdict::CantTell)
}

/// The limits that certainly do not hold.
fn broken_limits(checks: &[CheckOutcome]) -> impl Iterator<Item = &CheckOutcome> {
    checks.iter().filter(|check| check.verdict == FitVerdict::DoesNotFit)
}

impl Headroom {
    /// Runs the load of the lower end again, and where it does not hold any more the load as it is, too. Each load is run at one time of the search, so that storage that
    /// changes meanwhile (credit for bursts, a cache) would make an answer out of two kinds of storage. `held`: the limits of each load in its first runs.
    fn measure_again(
        &mut self,
        fitting: &Fitting<'_>,
        prepared: &PreparedLoad<'_>,
        within: u64,
        held: &BTreeMap<u64, Vec<CheckOutcome>>,
        conductor: &mut dyn FitConductor,
    ) -> Result<(), FitError> {
        let mut loads = vec![within, scale::ONE];
        loads.dedup();
        for hundredths in loads {
            let mut results = Vec::new();
            let checks = fitting.decide(prepared, hundredths, &mut results, conductor)?;
            let of_runs = results.iter().flat_map(|result| result.findings.iter().flatten()).cloned();
            self.findings.extend(of_runs.chain(changes(&results)).filter(may_flatter));
            let first_of = |index: usize| held.get(&hundredths)?.iter().find(|first| first.limit_index == index);
            for check in broken_limits(&checks) {
                let limit = &fitting.recipe.limits[check.limit_index];
                let (Some(first), Ok((_, metric))) = (first_of(check.limit_index), limit.subject()) else { continue };
                let what = format!("{} times {}", factor_text(hundredths), prepared.load.name);
                self.findings.push(not_again(&what, metric, [first.value, check.value]));
                if hundredths == scale::ONE {
                    self.broken_at_one.push(check.limit_index);
                }
            }
            if verdict_of(&checks) != FitVerdict::DoesNotFit {
                break;
            }
        }
        self.contradicted_by = self.findings.iter().map(|finding| finding.id.clone()).collect();
        self.contradicted_by.sort_unstable();
        self.contradicted_by.dedup();
        Ok(())
    }

    /// In words: `between 4 and 5 times`.
    pub fn words(&self) -> String {
        let text = |times: f64| factor_text((times * scale::ONE as f64).round() as u64);
        match self.breaks_times {
            Some(breaks) => format!("between {} and {} times this load", text(self.fits_times), text(breaks)),
            None => format!("at least {} times this load", text(self.fits_times)),
        }
    }
}
