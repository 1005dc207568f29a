//! How many times the load storage carries until a limit breaks.
//!
//! Must not know: how loads are run. Start reading at [`find`].

use crate::fit::fitting::{Fitting, PreparedLoad, factor_text};
use crate::fit::outcome::DecidedLoad;
use crate::fit::runs::LoadRuns;
use crate::fit::{CheckOutcome, FitBound, FitError, FitVerdict, RateShortfall, scale};
use crate::session::runs::Runs;
use crate::sweep::limit::{Bracket, LimitVerdict, LimitedBy, limited_by, search};
use ferrio_formats::RunResult;
use ferrio_insight::may_overstate;
use ferrio_insight::repeats::{changes, not_again};
use ferrio_stats::Finding;
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
    /// It certainly may not be so many times as large; `None`: the largest factor that was tried fits, or the runs do not decide.
    pub breaks_times: Option<f64>,
    /// Index of the limit that breaks first; `None`: none does, or a job stays behind its rate before.
    pub first_limit: Option<usize>,
    /// The job that does not reach its rate, where that ends it.
    pub missed: Option<RateShortfall>,
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
    at_one: (&DecidedLoad, &LoadRuns),
    all: &mut Runs<'_>,
) -> Result<Headroom, FitError> {
    let mut broken: Option<(u64, DecidedLoad, RunResult)> = None;
    let mut held = BTreeMap::from([(scale::ONE, at_one.0.checks.clone())]);
    let mut last = scale::ONE;
    let judge = |hundredths: u64| {
        if hundredths == scale::ONE {
            return Ok::<_, FitError>(LimitVerdict::Within);
        }
        let mut runs = LoadRuns::default();
        last = hundredths;
        let decided = fitting.decide(prepared, hundredths, &mut runs, all)?;
        held.insert(hundredths, decided.checks.clone());
        let verdict = verdict_of(&decided);
        if verdict == LimitVerdict::Beyond && broken.as_ref().is_none_or(|(at, ..)| hundredths < *at) {
            broken = runs.results.pop().map(|result| (hundredths, decided, result));
        }
        Ok(verdict)
    };
    let bracket = search(scale::ONE, MOST, PRECISION, judge)?;
    let times = |hundredths: u64| hundredths as f64 / scale::ONE as f64;
    let ended = broken.filter(|(at, ..)| Some(*at) == bracket.beyond);
    let by = ended.as_ref().zip(at_one.1.results.first()).map(|((_, _, result), first)| limited_by(result, first));
    let worst = |decided: &DecidedLoad| {
        let worst = broken_limits(&decided.checks).min_by(|one, other| one.margin.total_cmp(&other.margin));
        worst.map(|check| check.limit_index)
    };
    let first_limit = ended.as_ref().and_then(|(_, decided, _)| worst(decided));
    let mut headroom = Headroom {
        fits_times: times(bracket.within.unwrap_or(scale::ONE)),
        breaks_times: bracket.beyond.map(times),
        first_limit,
        missed: ended.and_then(|(_, decided, _)| decided.missed).filter(|_| first_limit.is_none()),
        limited_by: by,
        contradicted_by: Vec::new(),
        findings: Vec::new(),
        broken_at_one: Vec::new(),
    };
    // Nothing was measured after the largest load that is tried.
    if let Bracket { within: Some(within), beyond } = bracket
        && (beyond.is_some() || last != within)
    {
        headroom.measure_again(fitting, prepared, within, &held, all)?;
    }
    Ok(headroom)
}

/// Whether so much load is within the limits. A load that is certainly not carried is beyond them, whatever the reason.
fn verdict_of(decided: &DecidedLoad) -> LimitVerdict {
    if decided.missed.as_ref().is_some_and(|missed| missed.limited_by.is_some()) {
        return LimitVerdict::Beyond;
    }
    match decided.verdict() {
        Some(FitVerdict::Fits) => LimitVerdict::Within,
        Some(FitVerdict::DoesNotFit) => LimitVerdict::Beyond,
        Some(FitVerdict::CantTell) | None => LimitVerdict::Undecided,
    }
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
        all: &mut Runs<'_>,
    ) -> Result<(), FitError> {
        let mut loads = vec![within, scale::ONE];
        loads.dedup();
        for hundredths in loads {
            let mut runs = LoadRuns::default();
            let decided = fitting.decide(prepared, hundredths, &mut runs, all)?;
            let results = &runs.results;
            let of_runs = results.iter().flat_map(RunResult::findings).cloned();
            self.findings.extend(of_runs.chain(changes(results)).filter(may_overstate));
            let what = format!("{} times {}", factor_text(hundredths), prepared.load.name);
            if let Some(missed) = decided.missed.as_ref().filter(|missed| missed.limited_by.is_some()) {
                self.findings.push(not_again(&what, missed.metric(), [missed.wanted_per_sec, missed.least_per_sec]));
                let is_latency = |check: &&CheckOutcome| matches!(check.bound, Some(FitBound::Most(_)));
                if hundredths == scale::ONE {
                    self.broken_at_one.extend(decided.checks.iter().filter(is_latency).map(|check| check.limit_index));
                }
            }
            let first_of = |index: usize| held.get(&hundredths)?.iter().find(|first| first.limit_index == index);
            for check in broken_limits(&decided.checks) {
                let limit = &fitting.recipe.limits[check.limit_index];
                let (Some(first), Ok((_, metric))) = (first_of(check.limit_index), limit.subject()) else { continue };
                self.findings.push(not_again(&what, metric, [first.value, check.value]));
                if hundredths == scale::ONE {
                    self.broken_at_one.push(check.limit_index);
                }
            }
            if verdict_of(&decided) != LimitVerdict::Beyond {
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
            None if self.fits_times * (scale::ONE as f64) < MOST as f64 => {
                format!("at least {} times this load, and runs of larger ones do not decide", text(self.fits_times))
            }
            None => format!("at least {} times this load", text(self.fits_times)),
        }
    }
}
