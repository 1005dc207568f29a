//! Searches for limits and knees on simulated devices where queueing theory knows the answer: the answer's interval has the truth.
//!
//! The runs are on virtual time, so that they take only their computing time. Start reading at [`bracket`].

use ferrio_job::{SystemEnvironment, Template};
use ferrio_run::RunError;
use ferrio_session::{Session, SessionOutcome};
use ferrio_spec::engines::options::sim::SEED;
use ferrio_sweep::limit::{Bracket, LatencyLimit, LimitAnswer, LimitSearch};
use ferrio_sweep::outcome::SweepOutcome;
use ferrio_sweep::space::{Space, SweepAxis, SweepPoint};
use ferrio_sweep::{Conductor, JobsOfPlan, OpenSweep, SweepEnding, SweepFolder, SweepPlan, SweepStep, SweptJobs};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Runs sessions on virtual time, each on another device.
struct OnVirtualTime {
    seed: i64,
}

impl Conductor for OnVirtualTime {
    fn next(&mut self, _: &SweepPoint, _: SweepStep, _: usize, _: usize) {}

    fn has_made_one(&self) -> bool {
        true
    }

    fn run(&mut self, mut session: Session) -> Result<SessionOutcome, RunError> {
        self.seed += 1;
        for job in &mut session.spec.jobs {
            job.engine.options.set(&SEED, self.seed);
            // Arrivals are random, too.
            job.pattern.randseed = Some(self.seed as u64);
        }
        session.settings.is_virtual = true;
        session.run(&mut [])
    }

    fn rest(&mut self, _: Duration) {}

    fn is_stopped(&self) -> bool {
        false
    }
}

/// A folder that is removed at the end.
struct PassingFolder(PathBuf);

impl Drop for PassingFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn template(words: &str) -> Template {
    let words: Vec<OsString> = std::iter::once("ferrio").chain(words.split(' ')).map(OsString::from).collect();
    ferrio_job::parse_template(&words, &SystemEnvironment::new("ferrio")).expect("jobs").1
}

/// A sweep of these jobs over a parameter, with its runs made. `limit`: a latency to search for.
fn made(name: &str, jobs: &str, over: &str, limit: Option<&str>, seed: i64) -> (OpenSweep, PassingFolder) {
    let axis = SweepAxis::parse(over).expect("a parameter");
    let space = Space::new(vec![axis.clone()], &[]).expect("a space");
    let mut plan =
        SweepPlan::new(JobsOfPlan::default(), &space).and_then(|plan| plan.with_repeats(3, None)).expect("a plan");
    if let Some(limit) = limit {
        let limits = vec![LatencyLimit::parse(limit).expect("a limit")];
        plan = plan.searching(LimitSearch::new(limits, &axis, 0.05, 8).expect("a search"));
    }
    let folder = PassingFolder(std::env::temp_dir().join(format!("ferrio-{name}-{seed}-{}", std::process::id())));
    let mut open = SweepFolder::create(&folder.0, plan).expect("a folder");
    let environment = SystemEnvironment::new("ferrio");
    let jobs = SweptJobs { template: template(jobs), first: None, before_each: None, environment: &environment };
    let mut conductor = OnVirtualTime { seed: seed * 100_000 };
    let ending =
        if limit.is_some() { open.find_limit(&jobs, &mut conductor) } else { open.make(&jobs, &mut conductor) };
    assert_eq!(ending.expect("runs"), SweepEnding::All);
    (open, folder)
}

/// The values between which a limit is.
fn bracket(jobs: &str, over: &str, limit: &str, seed: i64) -> Bracket {
    let (open, _folder) = made("limit", jobs, over, Some(limit), seed);
    LimitAnswer::of(&open.folder).expect("an answer").expect("a search").bracket
}

/// The number of searches whose interval does not have the truth, and those without one.
fn misses(jobs: &str, over: &str, limit: &str, truth: f64, n_searches: i64) -> (usize, usize) {
    let brackets: Vec<Bracket> = (0..n_searches).map(|seed| bracket(jobs, over, limit, seed)).collect();
    let has = |bracket: &&Bracket| {
        bracket.within.is_none_or(|within| within as f64 <= truth)
            && bracket.beyond.is_none_or(|beyond| beyond as f64 >= truth)
    };
    let n_open = brackets.iter().filter(|bracket| bracket.within.is_none() || bracket.beyond.is_none()).count();
    (brackets.len() - brackets.iter().filter(has).count(), n_open)
}

/// Users who come at random times to one channel with exponential service of 1 ms on average: the time of a user in the system is exponential, too, with a mean of
/// 1 / (1000 - rate) s, so that its 99th percentile is ln(100) / (1000 - rate) s. It is 20 ms at a rate of 1000 - ln(100) / 0.02 = 769.7 a second.
const USERS: &str = "--name=a --ioengine=sim --sim_service=exponential:1ms --rw=randread --size=1g --bs=4k --iodepth=512 --rate_iops=100 \
                     --rate_process=poisson --rate_latency=response --number_ios=20000";
const RATE_OF_USERS: f64 = 769.74;

/// One I/O at a time for each of the depth: 99 % of them wait for a whole queue. With one channel of 1 ms fixed, the latency is the depth in ms.
const QUEUE: &str = "--name=a --ioengine=sim --sim_service=fixed:1ms --rw=randread --size=1g --bs=4k --number_ios=2000";

#[test]
fn limits_are_where_theory_has_them() {
    assert_eq!(misses(USERS, "rate_iops=100..990", "p99=20ms", RATE_OF_USERS, 3).0, 0);
    // 16 in flight take 16 ms each; the figure is the upper end of its class of latencies.
    let bracket = bracket(QUEUE, "iodepth=1..64", "p99=16.5ms", 1);
    assert_eq!((bracket.within, bracket.beyond), (Some(16), Some(17)));
}

#[test]
#[ignore = "500 searches take many minutes: run by .ci/nightly"]
fn limits_of_500_searches_are_where_theory_has_them() {
    let (n_missed, n_open) = misses(USERS, "rate_iops=100..990", "p99=20ms", RATE_OF_USERS, 500);
    assert!(n_missed <= 25 && n_open <= 25, "{n_missed} do not have the truth, {n_open} have no end");
}

/// Eight channels: below a depth of 8 an I/O never waits, above it the throughput does not grow. The power (throughput by latency) is largest at 8, whatever the
/// distribution of service is.
const CHANNELS: &str = "--name=a --ioengine=sim --sim_service=exponential:1ms --sim_channels=8 --rw=randread --size=1g --bs=4k --number_ios=4000";

fn knee_has_8(seed: i64) -> bool {
    let (open, _folder) = made("knee", CHANNELS, "iodepth=1..64", None, seed);
    let outcome = SweepOutcome::read(&open.folder).expect("an outcome");
    let [knee] = &outcome.knees[..] else { panic!("{:?}", outcome.knees) };
    let [low, high] = knee.between.clone().map(|value| value.parse::<u64>().expect("a depth"));
    (low..=high).contains(&8)
}

#[test]
fn the_knee_is_where_all_channels_are_busy() {
    assert!((0..3).all(knee_has_8));
}

#[test]
#[ignore = "500 sweeps take many minutes: run by .ci/nightly"]
fn the_knee_of_500_sweeps_is_where_all_channels_are_busy() {
    let n_missed = (0..500).filter(|seed| !knee_has_8(*seed)).count();
    assert!(n_missed <= 25, "{n_missed} of 500 do not have the truth");
}
