//! Loads with rates on simulated devices that carry them, and that do not: latencies within their limits do not make storage good enough for a load that it does not
//! do.
//!
//! The runs are on virtual time. Start reading at [`writes`].

use super::common::{OnVirtualTime, recipe, recipe_text};
use ferrio::fit::{FitOutcome, FitVerdict, Fitting, Recipe};
use ferrio::sweep::limit::LimitedBy;
use ferrio_job::SystemEnvironment;

/// A log with 100 records a second, each with a sync that takes so long: up to 10 ms, the device carries that.
fn writes(sync: &str) -> String {
    format!(
        "[a]\\nioengine=sim\\nsim_service=fixed:1us,sync={sync}\\nrw=write\\nbs=4k\\nsize=1g\\nfdatasync=1\\nrate_iops=100\\n"
    )
}

/// The outcome of a load with one limit, `figure` of at most (a latency) or at least so much.
fn outcome(jobs: &str, figure: &str, limit: f64) -> FitOutcome {
    fitted(&recipe(jobs, figure, limit, !figure.ends_with("iops")), false)
}

fn fitted(recipe: &Recipe, wants_headroom: bool) -> FitOutcome {
    let environment = SystemEnvironment::new("ferrio");
    let directory = std::env::temp_dir();
    let fitting = Fitting::new(recipe, &directory, &environment).expect("a load");
    fitting.run(wants_headroom, &mut OnVirtualTime::new(1, |_, _| ())).expect("runs")
}

/// Syncs of 9 ms leave room. At 14 ms each is within the limit of 20 ms, and there are 71 a second.
#[test]
fn latencies_within_their_limit_are_not_enough() {
    let carried = outcome(&writes("fixed:9ms"), "sync.p99", 20e6);
    assert_eq!((carried.verdict, &carried.loads[0].missed), (Some(FitVerdict::Fits), &None));
    let outcome = outcome(&writes("fixed:14ms"), "sync.p99", 20e6);
    let (load, missed) = (&outcome.loads[0], outcome.loads[0].missed.as_ref().expect("a rate"));
    assert_eq!((outcome.verdict, load.n_runs), (Some(FitVerdict::DoesNotFit), 4));
    assert_eq!((missed.job.as_str(), missed.n_missed, missed.limited_by), ("a", 4, Some(LimitedBy::Syncs)));
    assert!((missed.wanted_per_sec - 100.0).abs() < 1e-9 && (missed.least_per_sec - 71.4).abs() < 1.0, "{missed:?}");
    let check = &load.checks[0];
    assert_eq!((check.verdict, check.contradicted_by.as_deref()), (FitVerdict::CantTell, Some("rate-not-reached")));
}

/// Up to 5 % less than the rate is enough: 98 a second, and not 91.
#[test]
fn a_little_less_is_enough() {
    for (sync, verdict) in [("fixed:10200us", FitVerdict::Fits), ("fixed:11ms", FitVerdict::DoesNotFit)] {
        assert_eq!(outcome(&writes(sync), "sync.p99", 20e6).verdict, Some(verdict), "{sync}");
    }
}

/// A limit that says how many are enough goes before the rate.
#[test]
fn a_limit_of_the_rate_decides_itself() {
    let outcome = outcome(&writes("fixed:14ms"), "write.iops", 50.0);
    assert_eq!((outcome.verdict, &outcome.loads[0].missed), (Some(FitVerdict::Fits), &None));
}

/// A limit that does not hold either stays broken.
#[test]
fn a_limit_that_does_not_hold_stays_so() {
    let outcome = outcome(&writes("fixed:30ms"), "sync.p99", 20e6);
    assert_eq!(outcome.loads[0].checks[0].verdict, FitVerdict::DoesNotFit);
}

/// Syncs of 5 ms always, with any load: 200 a second are done, which is 95 % of 210.
#[test]
fn headroom_ends_where_the_load_is_not_carried() {
    let text =
        recipe_text(&writes("fixed:5ms"), "sync.p99", 20e6, true).replace("scale = []", "scale = [\"rate_iops\"]");
    let outcome = fitted(&Recipe::parse(&text, "known").expect("a recipe"), true);
    let headroom = outcome.loads[0].headroom.as_ref().expect("a headroom");
    assert!(headroom.fits_times <= 2.11 && headroom.breaks_times.is_some_and(|times| times >= 2.0), "{headroom:?}");
    assert!(headroom.breaks_times <= Some(1.25 * headroom.fits_times), "{headroom:?}");
    assert_eq!((headroom.first_limit, headroom.limited_by), (None, Some(LimitedBy::Syncs)));
    assert_eq!(headroom.missed.as_ref().map(|missed| missed.job.as_str()), Some("a"));
    assert_eq!((outcome.verdict, headroom.contradicted_by.len()), (Some(FitVerdict::Fits), 0));
}

/// Reads of 1 ms, one at a time, are 1,000 a second. 90 of 100 a second are enough, and twice as many of twice the load: 1,000 are enough for 11.1 times.
#[test]
fn a_larger_load_needs_more_of_a_rate() {
    let reads = "[a]\\nioengine=sim\\nsim_service=fixed:1ms\\nrw=randread\\nbs=4k\\nsize=1g\\nrate_iops=100\\n";
    let text = recipe_text(reads, "read.iops", 90.0, false).replace("scale = []", "scale = [\"rate_iops\"]");
    let outcome = fitted(&Recipe::parse(&text, "known").expect("a recipe"), true);
    let headroom = outcome.loads[0].headroom.as_ref().expect("a headroom");
    assert!(headroom.fits_times <= 11.2 && headroom.breaks_times >= Some(11.0), "{headroom:?}");
    assert!(headroom.breaks_times <= Some(1.25 * headroom.fits_times), "{headroom:?}");
    assert_eq!(headroom.first_limit, Some(0));
}
