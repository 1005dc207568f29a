//! A rate that was asked for and not reached.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::asked::waits_beside_rate;
use crate::measures::paces::{RateCourse, RateUnit};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_spec::RateProcess;
use ferrio_stats::{Finding, Measured, Severity};
use ferrio_units::DataDirection;

pub const RULE: FindingRule = FindingRule {
    id: "rate-not-reached",
    title: "The rate was not reached",
    severity: Severity::Misleading,
    what: "The rate of a job (rate, rate_iops) and what its clones did in their time. It is reported below 95 % of the rate, from a \
           tenth of a second behind it on, where no direction with a rate has reached it. Where I/Os come at random (rate_process=poisson), \
           fewer may come by chance: then they must have waited, too.",
    why: "The latencies are those of a device at its limit, not at the wanted rate: a job that is always late begins each I/O as soon as \
          the one before it is done, as if it had no rate.",
    example: "--name=a --rw=randread --size=1g --direct=1 --rate_iops=1000000",
    cure: "Use a lower rate, a larger --iodepth with an asynchronous engine, or more jobs.",
    needs: &[EvidenceKind::Options],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["stopped-by-signal"],
    find,
};

/// How the names of its measured values begin. The unit follows.
const WANTED: &str = "wanted ";
const REACHED: &str = "reached ";
/// The unit of a rate of bytes.
const BYTES: &str = "bytes";

/// A job that is behind by less, seconds, may have waited once for a CPU.
const LEAST_BEHIND: f64 = 0.1;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    case.jobs.iter().filter_map(of_job).collect()
}

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    let paces: Vec<RateCourse> =
        DataDirection::ALL.into_iter().filter_map(|direction| pace_of(job, direction)).collect();
    let is_random = job.spec.pace.process == RateProcess::Poisson;
    let reached_share = |pace: &RateCourse| pace.most_per_sec() / pace.wanted_per_sec;
    let is_behind = |pace: &RateCourse| {
        let share = reached_share(pace);
        let behind = pace.seconds * (1.0 - share);
        // Fewer may come by chance; those that came and were not done have waited for as long as the job is behind.
        let is_no_chance = || {
            share < MissedRate::ENOUGH - pace.chance(job)
                || longest_wait(job, pace.direction) >= LEAST_BEHIND.max(behind / 2.0)
        };
        share < MissedRate::ENOUGH && behind >= LEAST_BEHIND && (!is_random || is_no_chance())
    };
    if paces.is_empty() || !paces.iter().all(is_behind) || waits_beside_rate(job) {
        return None;
    }
    let worst = paces.iter().min_by(|a, b| reached_share(a).total_cmp(&reached_share(b)))?;
    let unit = if worst.unit == RateUnit::Ios { "I/Os" } else { BYTES };
    let (wanted, reached) = (worst.wanted_per_sec, worst.most_per_sec());
    let late_ns = job.total.as_ref()?.features.rate.as_ref().map_or(0, |rate| rate.most_late_ns);
    let behind = match late_ns {
        // Less is no time that a reader would look for.
        ..1_000_000 => String::new(),
        late_ns => format!(" I/Os began up to {} s later than the rate wanted.", text::short(late_ns as f64 / 1e9)),
    };
    let explanation = format!(
        "The jobs were to do {} {} a second and did {}, {} of it.{behind}",
        text::short(wanted),
        unit,
        text::short(reached),
        text::percent(reached, wanted)
    );
    let evidence = vec![
        Measured::count(&format!("{WANTED}{unit} a second"), wanted.round()),
        Measured::count(&format!("{REACHED}{unit} a second"), reached.round()),
    ];
    let found = Observation::of(job, evidence, explanation);
    // Where both directions have rates, one waits for the other.
    Some(if paces.len() == 1 { found.about(worst.direction) } else { found })
}

/// The longest time from when the rate wanted an I/O, seconds; 0: it was not measured.
fn longest_wait(job: &AuditedJob<'_>, direction: DataDirection) -> f64 {
    let late_ns = job.total.as_ref().and_then(|total| total.features.rate.as_ref()).map_or(0, |rate| rate.most_late_ns);
    let response_ns = job.figures(direction).map_or(0, |figures| figures.response.max_ns);
    late_ns.max(response_ns) as f64 / 1e9
}

/// The rate of a direction: that of I/Os comes first.
fn pace_of(job: &AuditedJob<'_>, direction: DataDirection) -> Option<RateCourse> {
    let is_of_ios = job.spec.pace.ios_per_sec[direction] > 0;
    RateCourse::of(job, direction, if is_of_ios { RateUnit::Ios } else { RateUnit::Bytes })
}

/// A rate that a job did not reach. Both are I/Os a second, or bytes a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MissedRate {
    pub wanted_per_sec: f64,
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
    if finding.id != RULE.id {
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
    use ferrio_spec::{DirectionMix, RateProcess};

    /// A run of 25,600 reads of 4 KiB in 10 s.
    fn scene(ios_per_sec: u32, bytes_per_sec: u64) -> TestRun {
        let mut job = job("a", DirectionMix::Read);
        (job.pace.ios_per_sec.0[0], job.pace.bytes_per_sec.0[0]) = (ios_per_sec, bytes_per_sec);
        TestRun::new(job)
    }

    #[test]
    fn less_than_95_percent_is_told() {
        // 2560 a second are 95 % of 2694.7.
        assert_eq!(scene(2690, 0).found(), Vec::<String>::new());
        assert_eq!(scene(2700, 0).found(), ["rate-not-reached"]);
        assert_eq!(scene(0, 2700 * 4096).found(), ["rate-not-reached"]);
        assert_eq!(scene(0, 2690 * 4096).found(), Vec::<String>::new());
        let explanation = scene(5120, 0).finding("rate-not-reached").explanation;
        assert_eq!(explanation, "The jobs were to do 5,120 I/Os a second and did 2,560, 50 % of it.");
    }

    #[test]
    fn a_short_job_may_be_a_moment_late() {
        let mut scene = scene(2700, 0);
        let figures = &mut scene.stats().directions.0[0];
        // A tenth of the I/Os and of the time: 0.05 s behind.
        (figures.n_completed, figures.runtime_ns) = (2560, 1_000_000_000);
        assert_eq!(scene.found(), Vec::<String>::new());
    }

    #[test]
    fn random_arrivals_may_be_fewer_by_chance() {
        let mut scene = scene(2700, 0);
        scene.jobs[0].pace.process = RateProcess::Poisson;
        // The deviation of 27,000 arrivals is 0.6 %.
        assert_eq!(scene.found(), Vec::<String>::new());
        scene.jobs[0].pace.ios_per_sec.0[0] = 2850;
        assert_eq!(scene.found(), ["rate-not-reached"]);
    }

    /// 30 of 400 a second did not come, or came and waited.
    #[test]
    fn arrivals_that_waited_are_not_fewer_by_chance() {
        let mut scene = scene(400, 0);
        scene.jobs[0].pace.process = RateProcess::Poisson;
        let figures = &mut scene.stats().directions.0[0];
        (figures.n_completed, figures.runtime_ns) = (740, 2_000_000_000);
        assert_eq!(scene.found(), Vec::<String>::new());
        scene.stats().directions.0[0].response.record(90_000_000);
        assert_eq!(scene.found(), Vec::<String>::new());
        scene.stats().directions.0[0].response.record(140_000_000);
        assert_eq!(scene.found(), ["rate-not-reached"]);
    }

    #[test]
    fn pauses_hold_a_job_back_on_purpose() {
        let mut scene = scene(5120, 0);
        scene.jobs[0].pace.pauses.pause_us = 100;
        assert_eq!(scene.found(), Vec::<String>::new());
    }

    #[test]
    fn a_mix_is_bound_by_the_direction_that_reached_its_rate() {
        let mut job = job("a", DirectionMix::ReadWrite);
        job.pace.ios_per_sec.0 = [2560, 10_000, 0];
        assert_eq!(TestRun::new(job).found(), Vec::<String>::new());
    }

    /// 25,600 reads of 4 KiB in 10 s.
    #[test]
    fn the_finding_has_both_rates() {
        for (ios, bytes, wanted, reached, is_of_bytes) in
            [(5_120, 0, 5_120.0, 2_560.0, false), (0, 20_971_520, 20_971_520.0, 10_485_760.0, true)]
        {
            let mut job = job("a", DirectionMix::Read);
            (job.pace.ios_per_sec.0[0], job.pace.bytes_per_sec.0[0]) = (ios, bytes);
            let finding = TestRun::new(job).finding("rate-not-reached");
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
        let mut finding = TestRun::new(job).finding("rate-not-reached");
        finding.evidence.clear();
        assert_eq!(missed_rate(&finding), None);
        finding.id = "no-io".to_owned();
        assert_eq!(missed_rate(&finding), None);
    }
}
