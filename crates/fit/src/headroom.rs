//! How many times the load storage carries until a limit breaks.
//!
//! Must not know: how loads are run. Start reading at [`find`].

use crate::fitting::{FitConductor, Fitting, PreparedLoad, factor_text};
use crate::{FitError, FitVerdict, scale};
use ferrio_results::RunResult;
use ferrio_sweep::limit::{LimitVerdict, LimitedBy, limited_by, search};
use serde::Serialize;

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
}

/// Finds it. `at_one`: runs of the load as it is, which fits.
pub(crate) fn find(
    fitting: &Fitting<'_>,
    prepared: &PreparedLoad<'_>,
    at_one: &[RunResult],
    conductor: &mut dyn FitConductor,
) -> Result<Headroom, FitError> {
    let mut broken: Option<(u64, Option<usize>, RunResult)> = None;
    let judge = |hundredths: u64| {
        if hundredths == scale::ONE {
            return Ok::<_, FitError>(LimitVerdict::Within);
        }
        let mut results = Vec::new();
        let checks = fitting.decide(prepared, hundredths, &mut results, conductor)?;
        let verdict = checks.iter().map(|check| check.verdict).max().unwrap_or(FitVerdict::CantTell);
        if verdict == FitVerdict::DoesNotFit && broken.as_ref().is_none_or(|(at, ..)| hundredths < *at) {
            let worst = checks.iter().filter(|check| check.verdict == FitVerdict::DoesNotFit);
            let worst = worst.min_by(|one, other| one.margin.total_cmp(&other.margin)).map(|check| check.limit_index);
            broken = results.pop().map(|result| (hundredths, worst, result));
        }
        Ok(match verdict {
            FitVerdict::Fits => LimitVerdict::Within,
            FitVerdict::CantTell => LimitVerdict::Undecided,
            FitVerdict::DoesNotFit => LimitVerdict::Beyond,
        })
    };
    let bracket = search(scale::ONE, MOST, PRECISION, judge)?;
    let times = |hundredths: u64| hundredths as f64 / scale::ONE as f64;
    let ended = broken.as_ref().filter(|(at, ..)| Some(*at) == bracket.beyond);
    Ok(Headroom {
        fits_times: times(bracket.within.unwrap_or(scale::ONE)),
        breaks_times: bracket.beyond.map(times),
        first_limit: ended.and_then(|(_, limit, _)| *limit),
        limited_by: ended.zip(at_one.first()).map(|((_, _, result), first)| limited_by(result, first)),
    })
}

impl Headroom {
    /// In words: `between 4 and 5 times`.
    pub fn words(&self) -> String {
        let text = |times: f64| factor_text((times * scale::ONE as f64).round() as u64);
        match self.breaks_times {
            Some(breaks) => format!("between {} and {} times this load", text(self.fits_times), text(breaks)),
            None => format!("at least {} times this load", text(self.fits_times)),
        }
    }
}
