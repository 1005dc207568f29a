//! Searches, knees and repeats on simulated devices that hide something: a stall, a cache, credit for bursts. Either the answer is that of the device as it is
//! in the long run, or a finding says what is hidden.
//!
//! The runs are on virtual time. Start reading at [`told`].

use super::common::{Swept, made};
use ferrio::sweep::limit::{LimitAnswer, LimitedBy};
use ferrio::sweep::outcome::SweepOutcome;
use ferrio_insight::may_overstate;
use ferrio_spec::JobSpec;
use ferrio_spec::engines::options::sim::{BURST, SERVICE};
use ferrio_stats::Severity;

fn outcome(swept: &Swept<'_>, seed: i64) -> SweepOutcome {
    let (open, _folder) = made(swept, seed);
    SweepOutcome::read(&open.folder).expect("an outcome")
}

/// The names of the findings of an outcome.
fn told(outcome: &SweepOutcome) -> Vec<&str> {
    outcome.findings.iter().map(|one| one.finding.id.as_str()).collect()
}

fn answer(outcome: &SweepOutcome) -> &LimitAnswer {
    outcome.limit.as_ref().expect("an answer")
}

/// The values of the only knee, between which it is.
fn knee(outcome: &SweepOutcome) -> [u64; 2] {
    let [knee] = &outcome.knees[..] else { panic!("{:?}", outcome.knees) };
    knee.between.clone().map(|value| value.parse().expect("a depth"))
}

/// Eight channels of 1 ms, as in the test of the knee, whose jobs run for some seconds.
const CHANNELS: &str = "--name=a --ioengine=sim --sim_service=exponential:1ms --sim_channels=8 --rw=randread --size=1g --bs=4k --time_based --runtime=4";
/// Users who come at random to one channel of 1 ms.
const USERS: &str = "--name=a --ioengine=sim --sim_service=exponential:1ms --rw=randread --size=1g --bs=4k --iodepth=512 --rate_iops=100 \
                     --rate_process=poisson --rate_latency=response --number_ios=20000";

/// The device stands still for 0.6 s in each second. The rate is 0.4 of that of a device without stalls at each depth, so that by Little's law the mean latency is
/// that divided by 0.4: the knee is where all channels are busy, as without stalls.
#[test]
fn stalls_do_not_move_the_knee_and_are_named() {
    let jobs = format!("{CHANNELS} --sim_stall=1s/600ms");
    let outcome = outcome(&Swept::new("stalled-knee", &jobs, "iodepth=1..64"), 1);
    let [low, high] = knee(&outcome);
    assert!((low..=high).contains(&8) && told(&outcome).contains(&"stalls"), "{low} {high} {:?}", told(&outcome));
}

/// The device stands still for 0.1 s in every 2 s: 5 % of the users come in that time, and one in five of them waits longer than 80 ms, at any rate. The 99th
/// percentile is therefore at least 80 ms.
#[test]
fn users_feel_stalls_at_any_rate() {
    let jobs = format!("{USERS} --sim_stall=2s/100ms");
    let swept = Swept { limit: Some("p99=20ms"), ..Swept::new("stalled-limit", &jobs, "rate_iops=100..990") };
    let outcome = outcome(&swept, 1);
    let bracket = answer(&outcome).bracket;
    assert_eq!((bracket.within, bracket.beyond), (None, Some(100)));
}

/// A log whose syncs take 4 ms with any load: the limit of 10 ms holds at any rate, and 250 a second are done, which is 95 % of 263.
#[test]
fn a_rate_that_is_not_reached_is_beyond_the_limit() {
    let jobs = "--name=a --ioengine=sim --sim_service=fixed:1us,sync=fixed:4ms --rw=write --size=1g --bs=4k --fdatasync=1 --time_based --runtime=4";
    let swept = Swept { limit: Some("sync.p99=10ms"), ..Swept::new("not-carried", jobs, "rate_iops=50..6400") };
    let outcome = outcome(&swept, 1);
    let answer = answer(&outcome);
    let (within, beyond) = answer.bracket.within.zip(answer.bracket.beyond).expect("both ends");
    assert!(within <= 264 && beyond >= 250 && beyond as f64 <= 1.05 * within as f64, "{:?}", answer.bracket);
    assert_eq!(answer.limited_by, Some(LimitedBy::Syncs));
    for tried in &answer.tried {
        assert_eq!(tried.share_of_rate.is_some(), tried.value > 263, "{tried:?}");
    }
}

/// A channel that is far faster than the volume's limits.
const VOLUME: &str = "--name=a --ioengine=sim --sim_service=fixed:20us --sim_channels=64 --rw=randread --size=1g --bs=4k --iodepth=512 --rate_iops=100 \
                      --rate_process=poisson --rate_latency=response --number_ios=8000";

/// A volume of 1,000 I/Os a second, which has credit for 4,000 in so many runs.
fn with_credit(job: &mut JobSpec, n_made: i64, n_runs: i64) {
    let credit = if n_made < n_runs { "iops:1000/4000/100000000" } else { "iops:1000/4000/1" };
    job.engine.options.set(&BURST, credit);
}

/// Without credit, users of a volume that serves one in 1 ms, always as long, wait in line: the 99th percentile is above 20 ms from about 900 a second on, and certainly
/// from 1,000 on. The first three values of the search are 100, 9,000 and the middle of both, 949; then follow smaller values or larger ones. Credit that ends meanwhile
/// is found where the ends of the answer are run again, which goes on from there; credit for the 22 runs of a whole search is found by the last one, which measures again.
#[test]
fn credit_that_ends_while_a_limit_is_searched_is_found_or_named() {
    let devices: [fn(&mut JobSpec, i64); 4] = [
        |job, n| with_credit(job, n, 0),
        |job, n| with_credit(job, n, 3),
        |job, n| with_credit(job, n, 8),
        |job, n| with_credit(job, n, 22),
    ];
    let answers = devices.map(|device| {
        let limited = Swept::new("credit-limit", VOLUME, "rate_iops=100..9000");
        outcome(&Swept { limit: Some("p99=20ms"), device, ..limited }, 1)
    });
    for (index, outcome) in answers.iter().enumerate() {
        let answer = answer(outcome);
        let is_right = answer.bracket.within.is_some_and(|within| within < 920) && answer.bracket.beyond >= Some(880);
        let is_named = answer.contradicted_by[0] == ["changed-between-runs"];
        let n_runs: usize = answer.tried.iter().map(|tried| tried.n_runs).sum();
        assert_eq!((is_right, is_named), (index < 3, index == 3), "{:?} after {n_runs} runs", answer.bracket);
        assert_eq!(told(outcome).contains(&"changed-between-runs"), index == 3, "{:?}", told(outcome));
        assert_eq!(answer.contradicted_by[1], Vec::<String>::new());
    }
}

/// The third run is 60 times as slow as the others, which would do 1,000 a second: storage that was slow for a moment is no end of the answer.
#[test]
fn a_slow_moment_is_no_end_of_a_limit() {
    let device: fn(&mut JobSpec, i64) = |job, n_made| {
        let service = if n_made == 2 { "fixed:60ms" } else { "fixed:1ms" };
        job.engine.options.set(&SERVICE, service);
    };
    let jobs = "--name=a --ioengine=sim --rw=randread --size=1g --bs=4k --iodepth=512 --rate_iops=100 --rate_process=poisson --rate_latency=response --number_ios=8000";
    let swept = Swept { limit: Some("p99=20ms"), device, ..Swept::new("slow-moment", jobs, "rate_iops=100..3000") };
    let outcome = outcome(&swept, 1);
    let bracket = answer(&outcome).bracket;
    let (within, beyond) = bracket.within.zip(bracket.beyond).expect("both ends");
    assert!(within < 920 && beyond >= 880 && beyond as f64 <= 1.25 * within as f64, "{:?}", answer(&outcome));
    assert!(answer(&outcome).contradicted_by.iter().all(Vec::is_empty), "{:?}", answer(&outcome));
}

/// The channels of a volume of 16,000 I/Os a second with credit, and 1,000 without.
const FAST: &str = "--name=a --ioengine=sim --sim_service=exponential:1ms --sim_channels=64 --rw=randread --size=1g --bs=4k --time_based --runtime=4";

/// One I/O in flight has 1,000 a second, so that more of them do no more in the long run: the knee is at a depth of 1. The credit of 8,000 lasts for a part of each run with
/// more of them.
#[test]
fn credit_that_ends_in_each_run_moves_the_knee_and_is_named() {
    let jobs = format!("{FAST} --sim_burst=iops:1000/16000/8000");
    let outcome = outcome(&Swept::new("credit-knee", &jobs, "iodepth=1..64"), 1);
    assert!(told(&outcome).contains(&"rate-fell"), "{:?} {:?}", knee(&outcome), told(&outcome));
}

/// The credit ends after 10 of 21 runs, between two of them.
#[test]
fn credit_that_ends_while_a_knee_is_searched_is_named() {
    let device: fn(&mut JobSpec, i64) = |job, n_made| {
        job.engine.options.set(&BURST, if n_made < 10 { "iops:1000/16000/1g" } else { "iops:1000/16000/1" });
    };
    let outcome = outcome(&Swept { device, ..Swept::new("late-knee", FAST, "iodepth=1..64") }, 1);
    assert_eq!(told(&outcome), ["changed-between-runs"], "{:?}", knee(&outcome));
    assert!(outcome.points.iter().all(|point| point.worst == Some(Severity::Misleading)));
}

/// 500 I/Os a second without credit, with which the first two of eight runs do 1,000 for each in flight.
#[test]
fn credit_that_ends_between_repeats_is_named() {
    let device: fn(&mut JobSpec, i64) = |job, n_made| {
        job.engine.options.set(&BURST, if n_made < 2 { "iops:500/16000/1g" } else { "iops:500/16000/1" });
    };
    let outcome = outcome(&Swept { over: None, n_repeats: 8, device, ..Swept::new("repeats", FAST, "") }, 1);
    assert_eq!(told(&outcome), ["changed-between-runs"]);
    let finding = &outcome.findings[0].finding;
    assert!(finding.explanation.starts_with("After run 2 of 8, "), "{}", finding.explanation);
    // An I/O that takes longer than the 2 ms in which credit for one comes lets some of it pass: a little less than 500.
    let [before, after] = [0, 1].map(|index| finding.evidence[index].value);
    assert!((950.0..1_050.0).contains(&before) && (430.0..500.0).contains(&after), "{before} {after}");
}

/// A cache of 256 MiB takes 1,000 blocks of 64 KiB a second for each in flight, and drains 256 of them: it is full after 4,096 / 744 = 5.5 of 8 s, or sooner. From then on more
/// in flight do no more: the knee is at a depth of 1.
#[test]
fn a_cache_that_fills_in_each_run_is_named() {
    let jobs = "--name=a --ioengine=sim --sim_service=fixed:1ms --sim_write_cache=256m/1ms/16m/s --rw=randwrite --size=4g --bs=64k --time_based --runtime=8";
    let outcome = outcome(&Swept { n_repeats: 1, ..Swept::new("cache-knee", jobs, "iodepth=1..16") }, 1);
    assert_eq!(told(&outcome), ["rate-fell"], "{:?}", knee(&outcome));
    assert!(outcome.findings[0].is_of_all);
}

/// 16 MiB are read at 1,000 blocks a second until a cache has all of them, after 4.1 of 8 s.
#[test]
fn a_cache_that_fills_with_what_is_read_is_named() {
    let jobs = "--name=a --ioengine=sim --sim_service=exponential:1ms --sim_read_cache=64m/100us --rw=randread --size=16m --bs=4k --time_based --runtime=8";
    let outcome = outcome(&Swept { over: None, n_repeats: 4, ..Swept::new("read-cache", jobs, "") }, 1);
    assert_eq!(told(&outcome), ["first-reads-slower"]);
}

/// Searches, knees and repeats on devices that hide nothing.
fn finds_nothing(n_devices: i64) {
    for seed in 0..n_devices {
        let limited = Swept::new("plain-limit", USERS, "rate_iops=100..990");
        let limited = outcome(&Swept { limit: Some("p99=20ms"), ..limited }, seed);
        assert_eq!(answer(&limited).contradicted_by, [Vec::<String>::new(), Vec::new()], "{seed}");
        let knee = outcome(&Swept::new("plain-knee", CHANNELS, "iodepth=1..64"), seed);
        let repeats = outcome(&Swept { over: None, n_repeats: 8, ..Swept::new("plain-repeats", CHANNELS, "") }, seed);
        for outcome in [&limited, &knee, &repeats] {
            let named = outcome.findings.iter().filter(|one| may_overstate(&one.finding)).count();
            assert_eq!(named, 0, "{seed}: {:?}", told(outcome));
        }
    }
}

#[test]
fn devices_that_hide_nothing_have_no_finding() {
    finds_nothing(1);
}

#[test]
#[ignore = "20 of each take long: run by .ci/nightly"]
fn twenty_devices_that_hide_nothing_have_no_finding() {
    finds_nothing(20);
}
