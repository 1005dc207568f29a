//! Verdicts on simulated devices that hide something: a stall, a cache, credit for bursts. A device that is good enough only thanks to those is none that fits.
//!
//! The runs are on virtual time. Start reading at [`fitted`].

use super::common::{OnVirtualTime, recipe, recipe_text};
use ferrio::fit::{FitOutcome, FitVerdict, Fitting, Headroom, Recipe};
use ferrio_job::SystemEnvironment;
use ferrio_spec::JobSpec;
use ferrio_spec::engines::options::sim::{BURST, SERVICE};

/// One I/O at a time of 250 us on average: 4,000 a second.
const READS: &str = "[a]\\nioengine=sim\\nsim_service=exponential:250us\\nrw=randread\\nbs=4k\\nsize=1g\\n";

/// A limit: a figure of the job, and the least rate or the longest latency.
struct Limit(&'static str, f64);

/// The outcome of four to eight runs of 8 s each.
fn fitted(jobs: &str, limit: &Limit, device: fn(&mut JobSpec, i64)) -> FitOutcome {
    let recipe = recipe(jobs, limit.0, limit.1, !limit.0.ends_with("iops"));
    outcome(&recipe, false, device)
}

fn outcome(recipe: &Recipe, wants_headroom: bool, device: fn(&mut JobSpec, i64)) -> FitOutcome {
    let (environment, directory) = (SystemEnvironment::new("ferrio"), std::env::temp_dir());
    let fitting = Fitting::new(recipe, &directory, &environment).expect("a load");
    fitting.run(wants_headroom, &mut OnVirtualTime::new(7_000, device)).expect("runs")
}

/// The verdict, the finding that speaks against the figure, and all findings.
fn verdict(outcome: &FitOutcome) -> (FitVerdict, Option<&str>, Vec<&str>) {
    let load = &outcome.loads[0];
    let findings = load.findings.iter().map(|finding| finding.id.as_str()).collect();
    (outcome.verdict.expect("a verdict"), load.checks[0].contradicted_by.as_deref(), findings)
}

const fn same(_: &mut JobSpec, _: i64) {}

/// A mean that is the limit stays undecided in 8 runs; the load after it has no limit and runs 4 times.
#[test]
fn each_run_tells_how_many_follow_at_least() {
    let text = recipe_text(READS, "read.mean", 250_000.0, true);
    let more = format!(
        "[[load]]\nname = \"more\"\nabout = \"I/Os.\"\nseconds = 32\njobs = \"{READS}\"\nscale = []\n[[limit]]"
    );
    let recipe = Recipe::parse(&text.replace("[[limit]]", &more), "known").expect("a recipe");
    let (environment, directory) = (SystemEnvironment::new("ferrio"), std::env::temp_dir());
    let mut driver = OnVirtualTime::new(7_000, same);
    Fitting::new(&recipe, &directory, &environment).expect("loads").run(false, &mut driver).expect("runs");
    assert_eq!(driver.to_come, [7, 6, 5, 4, 4, 4, 4, 4, 3, 2, 1, 0]);
}

/// Half of what the device does with credit, and twice of what it does without: 1,000 a second.
const HALF: Limit = Limit("read.iops", 2_000.0);

/// 12,000 I/Os of credit, of which 3,000 a second are spent: it lasts for 4 of 8 s. The mean is (4 * 4,000 + 4 * 1,000) / 8 = 2,500 a second.
#[test]
fn credit_that_ends_in_each_run_is_no_fit() {
    let outcome = fitted(&format!("{READS}sim_burst=iops:1000/16000/12000\\n"), &HALF, same);
    assert!((outcome.loads[0].checks[0].value - 2_500.0).abs() < 50.0, "{:?}", outcome.loads[0].checks);
    assert_eq!(verdict(&outcome), (FitVerdict::CantTell, Some("rate-fell"), vec!["rate-fell"]));
}

/// The credit of the volume is that of all runs: it ends in the third, and in the last tenth of the fourth.
#[test]
fn credit_that_ends_in_one_of_the_runs_is_no_fit() {
    let in_third = fitted(READS, &HALF, |job, n| {
        let credit = match n {
            0 | 1 => "iops:1000/16000/1m",
            2 => "iops:1000/16000/12000",
            _ => "iops:1000/16000/1",
        };
        job.engine.options.set(&BURST, credit);
    });
    assert_eq!(verdict(&in_third).0, FitVerdict::CantTell);
    assert!(verdict(&in_third).2.contains(&"rate-fell"));
    let in_fourth = fitted(READS, &HALF, |job, n| {
        job.engine.options.set(&BURST, if n < 3 { "iops:1000/16000/1m" } else { "iops:1000/16000/20000" });
    });
    assert_eq!((verdict(&in_fourth).0, verdict(&in_fourth).1), (FitVerdict::CantTell, Some("rate-fell")));
}

/// The credit ends between two runs, and the limit is far below both rates: the verdict is right, and what it rests on is told.
#[test]
fn credit_that_ends_between_runs_is_named() {
    let outcome = fitted(READS, &Limit("read.iops", 1_900.0), |job, n| {
        job.engine.options.set(&BURST, if n < 2 { "iops:2000/16000/1m" } else { "iops:2000/16000/1" });
    });
    let (verdict, because, findings) = verdict(&outcome);
    assert!(verdict != FitVerdict::Fits || because.is_some(), "{:?}", outcome.loads[0].checks);
    assert_eq!(findings, ["changed-between-runs"], "{:?}", outcome.loads[0].checks);
}

/// Writes of 64 KiB: 10,000 a second into a cache of 256 MiB, which drains 16 MiB (256 of them) a second. It is full after 4,096 / (10,000 - 256) = 0.42 s; the mean of 8 s
/// is (4,096 + 8 * 256) / 8 = 768 a second.
#[test]
fn a_cache_that_is_soon_full_is_no_fit() {
    let jobs = "[a]\\nioengine=sim\\nsim_service=fixed:1ms\\nsim_write_cache=256m/100us/16m/s\\nrw=randwrite\\nbs=64k\\nsize=4g\\n";
    let outcome = fitted(jobs, &Limit("write.iops", 400.0), same);
    assert!((outcome.loads[0].checks[0].value - 768.0).abs() < 5.0, "{:?}", outcome.loads[0].checks);
    assert_eq!(verdict(&outcome), (FitVerdict::CantTell, Some("rate-fell"), vec!["rate-fell"]));
}

/// 16 MiB in blocks of 4 KiB are read at 1,000 a second until they are all in a cache, after 4.1 of 8 s, and at 10,000 from then on.
#[test]
fn a_cache_that_fills_with_what_is_read_is_no_fit() {
    let jobs = "[a]\\nioengine=sim\\nsim_service=exponential:1ms\\nsim_read_cache=64m/100us\\nrw=randread\\nbs=4k\\nsize=16m\\n";
    let outcome = fitted(jobs, &HALF, same);
    assert_eq!(verdict(&outcome), (FitVerdict::CantTell, Some("first-reads-slower"), vec!["first-reads-slower"]));
}

/// The device stands still for 0.6 s in each second. One I/O at a time meets that once a second, one of some 1,600: the 99th percentile is that of the others,
/// 250 us * ln(100) = 1.15 ms. That is the figure of the limit, and the stalls are told.
#[test]
fn stalls_are_told_beside_a_percentile_that_does_not_show_them() {
    let outcome = fitted(&format!("{READS}sim_stall=1s/600ms\\n"), &Limit("read.p99", 2e6), same);
    assert_eq!(verdict(&outcome), (FitVerdict::Fits, None, vec!["stalls"]));
    // The longest of them is 0.6 s.
    let longest = fitted(&format!("{READS}sim_stall=1s/600ms\\n"), &Limit("read.max", 100e6), same);
    assert_eq!(verdict(&longest).0, FitVerdict::DoesNotFit);
}

/// Users who come at random, 250 a second, to a volume that serves 1,000 a second.
const USERS: &str = "[a]\\nioengine=sim\\nsim_service=fixed:20us\\nsim_channels=64\\nrw=randread\\nbs=4k\\nsize=1g\\niodepth=512\\nrate_iops=250\\n\
                     rate_process=poisson\\nrate_latency=response\\n";

/// The verdict on these users, whose 99th percentile is to be 20 ms at most, and how many times as many may come. The volume has credit for 4,000 a second in the first
/// runs.
fn headroom_with_credit(device: fn(&mut JobSpec, i64)) -> (FitVerdict, Headroom, Vec<String>) {
    headroom_of("read.p99", device)
}

/// The same with a limit of 20 ms for another latency.
fn headroom_of(figure: &str, device: fn(&mut JobSpec, i64)) -> (FitVerdict, Headroom, Vec<String>) {
    let text = recipe_text(USERS, figure, 20e6, true).replace("scale = []", "scale = [\"rate_iops\"]");
    let recipe = Recipe::parse(&text, "known").expect("a recipe");
    let outcome = outcome(&recipe, true, device);
    let load = &outcome.loads[0];
    let told = load.findings.iter().map(|finding| finding.id.clone()).collect();
    (outcome.verdict.expect("a verdict"), load.headroom.clone().expect("a headroom"), told)
}

/// Users of the volume without credit wait for longer than 20 ms from about 900 a second on.
#[test]
fn headroom_is_that_of_a_volume_without_credit() {
    let (verdict, headroom, told) = headroom_with_credit(|job, _| with_credit(job, false));
    assert_eq!(
        (verdict, headroom.contradicted_by.len(), told.len()),
        (FitVerdict::Fits, 0, 0),
        "{headroom:?} {told:?}"
    );
    assert!(headroom.fits_times <= 3.7 && headroom.breaks_times >= Some(3.5), "{headroom:?}");
}

/// The credit lasts for twelve runs of the load as it is, four of 32 times it, and twelve of 5.66 times it, the middle of both: that holds, and does not when it is run
/// again. The load as it is still does.
#[test]
fn credit_that_ends_while_headroom_is_searched_is_named() {
    let (verdict, headroom, told) = headroom_with_credit(|job, n_made| with_credit(job, n_made < 28));
    assert!(headroom.fits_times > 4.0, "the credit is of no use: {headroom:?}");
    assert_eq!(headroom.contradicted_by, ["changed-between-runs"]);
    assert_eq!((verdict, told), (FitVerdict::Fits, vec!["changed-between-runs".to_owned()]));
}

/// Without credit, the volume does not even carry the load as it is: what fitted at first can't be told.
#[test]
fn credit_that_ends_after_the_verdict_is_named() {
    let (verdict, headroom, told) = headroom_with_credit(|job, n_made| {
        let credit = if n_made < 14 { "iops:1000/4000/100000000" } else { "iops:50/4000/1" };
        job.engine.options.set(&BURST, credit);
    });
    assert_eq!(headroom.contradicted_by, ["changed-between-runs"]);
    assert_eq!((verdict, told), (FitVerdict::CantTell, vec!["changed-between-runs".to_owned()]));
}

/// Every other run has credit while the load is made larger, so that no larger load is decided: 8 runs each of 32 times the load, 5.66, 2.38, 1.54 and 1.24 times. Then
/// there is none, and the load as it is, which fitted at first, is not carried.
#[test]
fn credit_that_ends_while_no_larger_load_is_decided_is_named() {
    let (verdict, headroom, told) = headroom_of("read.mean", |job, n_made| {
        let has_credit = n_made < 4 || (n_made < 44 && n_made % 2 == 0);
        job.engine.options.set(&BURST, if has_credit { "iops:1000/40000/100000000" } else { "iops:50/4000/1" });
    });
    assert_eq!(headroom.words(), "at least 1 times this load, and runs of larger ones do not decide");
    assert_eq!(headroom.contradicted_by, ["changed-between-runs"]);
    assert_eq!((verdict, told.contains(&"changed-between-runs".to_owned())), (FitVerdict::CantTell, true), "{told:?}");
}

/// A volume of 1,000 I/Os a second, which may have credit for 4,000.
fn with_credit(job: &mut JobSpec, has_credit: bool) {
    job.engine.options.set(&BURST, if has_credit { "iops:1000/4000/100000000" } else { "iops:1000/4000/1" });
}

/// Every fourth device of the runs is slow: its syncs take 14 ms and not 1 ms, so that a quarter of all is beyond the limit of 10 ms. Those of the first four runs are fast.
#[test]
fn four_fast_runs_of_a_device_that_is_slow_in_a_quarter_are_no_fit() {
    let syncs = "[a]\\nioengine=sim\\nsim_service=fixed:1us,sync=fixed:1ms\\nrw=write\\nbs=4k\\nsize=1g\\nfdatasync=1\\nrate_iops=20\\n";
    let outcome = fitted(syncs, &Limit("sync.p99", 10e6), |job, n| {
        let is_slow = n >= 4 && n % 4 == 3;
        job.engine
            .options
            .set(&SERVICE, if is_slow { "fixed:1us,sync=fixed:14ms" } else { "fixed:1us,sync=fixed:1ms" });
    });
    let check = &outcome.loads[0].checks[0];
    assert!(outcome.verdict != Some(FitVerdict::Fits) && check.n_runs > 12, "{check:?}");
    let beyond = check.beyond.expect("a share");
    assert!(beyond.percent > 10.0 && beyond.percent < 27.0 && check.value > 13e6, "{check:?}");
}

/// Syncs of 6 ms hold a limit of 10 ms for one of them, and not for two, which a commit waits for.
#[test]
fn a_limit_of_a_commit_is_about_its_syncs_together() {
    let syncs = "[a]\\nioengine=sim\\nsim_service=fixed:100us,sync=fixed:6ms\\nrw=write\\nbs=4k\\nsize=1g\\nfdatasync=7\\nrate_iops=135\\n";
    let text = recipe_text(syncs, "sync.p99", 10e6, true);
    let of = |text: &str| outcome(&Recipe::parse(text, "known").expect("a recipe"), false, same);
    let single = of(&text);
    assert_eq!((single.verdict, single.loads[0].n_runs), (Some(FitVerdict::Fits), 12));
    let together = text.replace("most = ", "together = { syncs = 2, writes = 14 }\nmost = ");
    let commit = of(&together);
    let check = &commit.loads[0].checks[0];
    // Twice 6 ms and 14 times 0.1 ms, but for the width of buckets.
    assert!((check.value / 13.4e6 - 1.0).abs() < 0.03, "{check:?}");
    assert_eq!((commit.verdict, commit.loads[0].n_runs), (Some(FitVerdict::DoesNotFit), 4));
}

/// The credit of a volume ends in the first of the runs and its rate is then far below the limit: the finding about the end does not hide that.
#[test]
fn a_finding_that_means_worse_does_not_hide_what_does_not_fit() {
    let outcome = fitted(READS, &Limit("read.iops", 3_000.0), |job, n| {
        job.engine.options.set(&BURST, if n == 0 { "iops:1000/16000/12000" } else { "iops:1000/16000/1" });
    });
    let check = &outcome.loads[0].checks[0];
    assert_eq!((outcome.verdict, check.contradicted_by.as_deref()), (Some(FitVerdict::DoesNotFit), Some("rate-fell")));
}

/// Time for three runs: those of the first load were made, and the verdict says so.
#[test]
fn a_fit_without_time_tells_what_its_runs_tell() {
    let recipe = recipe(READS, "read.iops", 2_000.0, false);
    let (environment, directory) = (SystemEnvironment::new("ferrio"), std::env::temp_dir());
    let mut driver = OnVirtualTime::new(7_000, same);
    driver.most_runs = Some(3);
    let outcome =
        Fitting::new(&recipe, &directory, &environment).expect("loads").run(false, &mut driver).expect("runs");
    assert_eq!((outcome.is_out_of_time, outcome.loads[0].n_runs), (true, 3));
    // Three runs that are alike decide what is far from its limit: 4,000 of 2,000.
    assert_eq!(outcome.loads[0].checks[0].values.len(), 3);
}

fn finds_nothing(n_devices: i64) {
    for device in 0..n_devices {
        let recipe = recipe(READS, "read.iops", 2_000.0, false);
        let (environment, directory) = (SystemEnvironment::new("ferrio"), std::env::temp_dir());
        let fitting = Fitting::new(&recipe, &directory, &environment).expect("a load");
        let outcome = fitting.run(false, &mut OnVirtualTime::new(device * 1_000, same)).expect("runs");
        assert_eq!(verdict(&outcome), (FitVerdict::Fits, None, Vec::new()), "{device}");
    }
}

#[test]
fn a_device_that_hides_nothing_has_no_finding() {
    finds_nothing(2);
}

#[test]
#[ignore = "20 fits take long: run by .ci/nightly"]
fn twenty_devices_that_hide_nothing_have_no_finding() {
    finds_nothing(20);
}
