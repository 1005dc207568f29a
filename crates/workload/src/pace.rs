//! Due times of the I/Os of one direction, from the job's rate.
//!
//! Must not know: clocks, kinds of I/O. Start reading at [`Arrivals`].
//! Facts: reference "Rates and pauses" and, for the draws, "Block sizes, mix, rates".

use crate::compat;
use crate::plan::{WorkForm, WorkloadPlan};
use ferrio_spec::{CatchUp, PaceSpec, RateProcess};
use ferrio_units::random::{SeedIndex, Taus88};
use ferrio_units::{DataDirection, PerDirection};

const NS_PER_SEC: u64 = 1_000_000_000;

/// The part of a stream that needs the time, nanoseconds of any clock.
pub trait Pace {
    /// Tells the time. Returns the due time of the next I/O if that is known and in the future.
    fn turn(&mut self, now_ns: u64) -> Option<u64>;

    /// Rates count from now.
    fn start(&mut self, now_ns: u64) {
        let _ = now_ns;
    }

    /// The job does not make up for I/Os that are late by now.
    fn forgive(&mut self, now_ns: u64) {
        let _ = now_ns;
    }

    /// A pause is over now, which the job does not make up for.
    fn postpone(&mut self, pause_ns: u64, now_ns: u64) {
        let _ = (pause_ns, now_ns);
    }

    /// The time at which the rate wanted the last read, write or trim to start; `None`: its direction has no rate.
    fn intended_ns(&self) -> Option<u64> {
        None
    }

    /// I/Os that the totals of the job count already, and that wait for their time.
    fn n_waiting(&self) -> u64 {
        0
    }
}

/// Due times of the I/Os of one direction. A late I/O does not delay the due times after it, so a job that was held up
/// catches up.
#[derive(Debug, Clone)]
pub(crate) struct Arrivals {
    process: Process,
    /// Time from which the rate counts.
    origin_ns: u64,
    /// Due time of the next I/O, relative to the origin.
    due_ns: u64,
    /// After a delay, I/Os are spaced instead of following each other at once.
    is_paced: bool,
    /// The due times after the next one move by this when the next I/O is issued.
    moves_later_ns: u64,
    /// With `is_paced`: earliest start of the next I/O, on the clock of the origin.
    not_before_ns: u64,
}

#[derive(Debug, Clone)]
enum Process {
    /// An I/O is due when the bytes before it have taken their time at this rate.
    Linear(Linear),
    /// The times between I/Os are exponentially distributed, whatever the block sizes.
    Poisson { mean_ns: f64, due_ns: f64, stream: Taus88 },
}

/// Time by bytes, exact, because the remainder of each division is kept. Successive I/Os of one size need no division;
/// a division of 128 bits is the most expensive part of a paced I/O.
#[derive(Debug, Clone)]
struct Linear {
    bytes_per_sec: u64,
    /// Bytes that each I/O counts as, if its own size does not count.
    io_bytes: Option<u64>,
    /// Due time of the next I/O.
    due_ns: u64,
    /// Fraction of a nanosecond beyond `due_ns`, in units of 1 / `bytes_per_sec`.
    rest: u64,
    step: SizeTime,
}

/// The time that an I/O of the last size takes.
#[derive(Debug, Clone, Default)]
struct SizeTime {
    bytes: u64,
    ns: u64,
    /// Fraction as in [`Linear`].
    rest: u64,
}

impl Linear {
    /// Counts one more I/O; returns the due time of the next.
    #[inline]
    fn count(&mut self, bytes: u64) -> u64 {
        let bytes = self.io_bytes.unwrap_or(bytes);
        if bytes != self.step.bytes {
            self.step = SizeTime::of(bytes, self.bytes_per_sec);
        }
        // Both fractions are below the rate, so neither branch overflows.
        let to_carry = self.bytes_per_sec - self.rest;
        let carries = self.step.rest >= to_carry;
        self.rest = if carries { self.step.rest - to_carry } else { self.rest + self.step.rest };
        self.due_ns = self.due_ns.saturating_add(self.step.ns).saturating_add(u64::from(carries));
        self.due_ns
    }
}

impl SizeTime {
    fn of(bytes: u64, bytes_per_sec: u64) -> Self {
        let (parts, rate) = (u128::from(bytes) * u128::from(NS_PER_SEC), u128::from(bytes_per_sec));
        // The remainder is below the rate, which has 64 bits.
        Self { bytes, ns: u64::try_from(parts / rate).unwrap_or(u64::MAX), rest: (parts % rate) as u64 }
    }
}

impl Arrivals {
    /// The due times for each direction that has a rate.
    pub(crate) fn of_job(pace: &PaceSpec, plan: &WorkloadPlan) -> PerDirection<Option<Self>> {
        let WorkloadPlan { pattern, seeds, compatibility, .. } = plan;
        PerDirection(DataDirection::ALL.map(|direction| {
            let min_bytes = pattern.block_size[direction].min_bytes.max(1);
            let by_ios = u64::from(pace.ios_per_sec[direction]).saturating_mul(min_bytes);
            let bytes_per_sec = if by_ios > 0 { by_ios } else { pace.bytes_per_sec[direction] };
            let process = match pace.process {
                RateProcess::Linear => {
                    let has_split = plan.form != WorkForm::Blocks || !pattern.block_split[direction].is_empty();
                    let counted = compat::rate_io_bytes(*compatibility, has_split, min_bytes);
                    let io_bytes = counted.filter(|_| by_ios > 0);
                    Process::Linear(Linear { bytes_per_sec, io_bytes, due_ns: 0, rest: 0, step: SizeTime::default() })
                }
                RateProcess::Poisson => Process::Poisson {
                    mean_ns: NS_PER_SEC as f64 * min_bytes as f64 / bytes_per_sec as f64,
                    due_ns: 0.0,
                    stream: Taus88::from_table(seeds, SeedIndex::poisson(direction)),
                },
            };
            let is_paced = pace.catch_up == CatchUp::Paced;
            let arrivals = Self { process, origin_ns: 0, due_ns: 0, is_paced, moves_later_ns: 0, not_before_ns: 0 };
            (bytes_per_sec > 0).then_some(arrivals)
        }))
    }

    /// The time at which the rate wants the next I/O to start, on the clock of the origin.
    #[inline]
    pub(crate) fn intended_ns(&self) -> u64 {
        self.due_ns.saturating_add(self.origin_ns)
    }

    /// The earliest time at which the next I/O may start.
    #[inline]
    pub(crate) fn due_ns(&self) -> u64 {
        self.intended_ns().max(self.not_before_ns)
    }

    /// The rate counts from now.
    pub(crate) fn start(&mut self, now_ns: u64) {
        self.origin_ns = now_ns;
    }

    /// If the next I/O was due before now, it is due now, and all later ones move by the same time.
    pub(crate) fn forgive(&mut self, now_ns: u64) {
        self.origin_ns = self.origin_ns.saturating_add(now_ns.saturating_sub(self.intended_ns()));
    }

    /// A pause is over now, and the job does not make up for it. As seen on fio 3.41:
    ///
    /// - The next I/O keeps its due time; if that time has passed, the I/O is due now.
    /// - The I/Os after a due time that has passed keep their distances to it.
    /// - In all other cases, and always if the distances are random, the I/Os after the next one are due later by the whole pause.
    pub(crate) fn postpone(&mut self, pause_ns: u64, now_ns: u64) {
        let late_ns = now_ns.saturating_sub(self.intended_ns());
        self.forgive(now_ns);
        let is_random = matches!(self.process, Process::Poisson { .. });
        if late_ns == 0 || is_random {
            self.moves_later_ns = self.moves_later_ns.saturating_add(pause_ns.saturating_sub(late_ns));
        }
    }

    /// Counts the I/O that was due; it is issued now.
    #[inline]
    pub(crate) fn issued(&mut self, bytes: u64, now_ns: u64) {
        let due_ns = self.due_ns;
        self.count(bytes);
        self.origin_ns = self.origin_ns.saturating_add(std::mem::take(&mut self.moves_later_ns));
        if self.is_paced {
            self.not_before_ns = now_ns.saturating_add(self.due_ns.saturating_sub(due_ns) / 2);
        }
    }

    #[inline]
    fn count(&mut self, bytes: u64) {
        self.due_ns = match &mut self.process {
            Process::Linear(linear) => linear.count(bytes),
            // fio counts in whole microseconds and divides 1000000 by the rate as an integer, so that above 100,000
            // I/Os per second it is far from the given rate. Here the draws are fio's, but the arithmetic is exact.
            Process::Poisson { mean_ns, due_ns, stream } => {
                *due_ns -= *mean_ns * stream.open_fraction().ln();
                // The cast saturates.
                *due_ns as u64
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::tests::plan;
    use ferrio_spec::{Compatibility, DirectionMix, JobSpec};
    use ferrio_units::random::{DEFAULT_RAND_SEED, SeedTable};
    use proptest::prelude::*;

    fn reads(set: impl FnOnce(&mut PaceSpec)) -> Arrivals {
        let mut job = JobSpec::default();
        set(&mut job.pace);
        reads_of(&job, Compatibility::Fio)
    }

    fn reads_of(job: &JobSpec, compatibility: Compatibility) -> Arrivals {
        let (pattern, seeds) = (job.pattern.clone(), SeedTable::new(DEFAULT_RAND_SEED, 1));
        let form = if job.extent.whole_files { WorkForm::WholeFiles } else { WorkForm::Blocks };
        let plan = WorkloadPlan { pattern, form, seeds, compatibility, ..plan(DirectionMix::Read, false) };
        let PerDirection([reads, ..]) = Arrivals::of_job(&job.pace, &plan);
        reads.unwrap()
    }

    fn dues(mut arrivals: Arrivals, n: usize) -> Vec<u64> {
        let next = |_| {
            let due_ns = arrivals.due_ns();
            arrivals.issued(4_096, 0);
            due_ns
        };
        (0..n).map(next).collect()
    }

    #[test]
    fn even_spacing_is_that_of_arithmetic() {
        assert_eq!(dues(reads(|pace| pace.ios_per_sec.0[0] = 1_000), 4), [0, 1_000_000, 2_000_000, 3_000_000]);
        // 7 a second: each time is the exact one rounded down to a nanosecond, and the error does not grow.
        let sevenths = dues(reads(|pace| pace.ios_per_sec.0[0] = 7), 7_001);
        assert_eq!(sevenths[1..4], [142_857_142, 285_714_285, 428_571_428]);
        assert_eq!(sevenths[7_000], 1_000 * NS_PER_SEC);
        assert_eq!(dues(reads(|pace| pace.bytes_per_sec.0[0] = 8_192), 3), [0, NS_PER_SEC / 2, NS_PER_SEC]);
        assert_eq!(dues(reads(|pace| pace.bytes_per_sec.0[0] = 1), 2), [0, 4_096 * NS_PER_SEC]);
    }

    /// Starts of I/Os, ms, with a pause after so many of them.
    fn starts_with_pauses(mut arrivals: Arrivals, pause_ms: u64, n_ios: u64, n: u64) -> Vec<u64> {
        let mut now_ns = 0;
        let next = |index| {
            now_ns = arrivals.due_ns().max(now_ns);
            let start_ms = now_ns / 1_000_000;
            arrivals.issued(4_096, now_ns);
            if index % n_ios == n_ios - 1 {
                now_ns += pause_ms * 1_000_000;
                arrivals.postpone(pause_ms * 1_000_000, now_ns);
            }
            start_ms
        };
        (0..n).map(next).collect()
    }

    // Expected: rows of latency logs of fio 3.41 with rate_ignore_thinktime=1, rate_iops=20.
    #[test]
    fn pauses_are_not_made_up_for() {
        let starts = |pause_ms, n_ios| starts_with_pauses(reads(|pace| pace.ios_per_sec.0[0] = 20), pause_ms, n_ios, 9);
        assert_eq!(starts(300, 1)[..4], [0, 300, 600, 900]);
        assert_eq!(starts(300, 4), [0, 50, 100, 150, 450, 500, 550, 600, 900]);
        assert_eq!(starts(300, 8), [0, 50, 100, 150, 200, 250, 300, 350, 650]);
        assert_eq!(starts(25, 1)[..5], [0, 50, 125, 200, 275]);
        assert_eq!(starts(25, 4), [0, 50, 100, 150, 200, 275, 325, 375, 425]);
        assert_eq!(starts(60, 4), [0, 50, 100, 150, 210, 260, 310, 360, 420]);
        assert_eq!(starts(75, 1)[..4], [0, 75, 150, 225]);
    }

    // Expected: the rows of fio 3.41 are 0 117 142 156 456 697 773 814 1114, a few of them late by a millisecond or two.
    #[test]
    fn pauses_of_random_arrivals_are_not_made_up_for() {
        let starts = starts_with_pauses(
            reads(|pace| {
                pace.ios_per_sec.0[0] = 20;
                pace.process = RateProcess::Poisson;
            }),
            300,
            4,
            9,
        );
        let of_peer = [0, 117, 142, 156, 456, 697, 773, 814, 1114];
        assert!(starts.iter().zip(of_peer).all(|(ours, theirs): (&u64, u64)| ours.abs_diff(theirs) <= 2), "{starts:?}");
    }

    // Reference: `rate_iops` stands for the bytes of its smallest blocks, but with `bssplit` for one interval per I/O.
    #[test]
    fn a_rate_of_ios_over_shares_of_sizes_counts_ios() {
        let mut job = JobSpec::default();
        job.pace.ios_per_sec.0[0] = 1_000;
        let third_due_of = |job: &JobSpec, compatibility| {
            let mut reads = reads_of(job, compatibility);
            reads.issued(4_096, 0);
            reads.issued(8_192, 0);
            reads.due_ns()
        };
        let third_due_ns = |job: &JobSpec| third_due_of(job, Compatibility::Fio);
        assert_eq!(third_due_ns(&job), 3_000_000);
        // A native job counts I/Os in any case.
        assert_eq!(third_due_of(&job, Compatibility::Native), 2_000_000);
        job.extent.whole_files = true;
        assert_eq!(third_due_ns(&job), 2_000_000);
        job.extent.whole_files = false;
        let share = |block_bytes| ferrio_spec::BlockShare { block_bytes, percent: 50 };
        job.pattern.block_split.0[0] = vec![share(4_096), share(8_192)];
        assert_eq!(third_due_ns(&job), 2_000_000);
    }

    proptest! {
        /// Expected: the time of all bytes together, divided once.
        #[test]
        fn no_part_of_a_nanosecond_is_lost(
            bytes_per_sec in prop_oneof![1..20_u64, 1..u64::MAX],
            sizes in prop::collection::vec(prop_oneof![Just(4_096), 1..1_u64 << 32], 1..50),
        ) {
            let mut linear = Linear { bytes_per_sec, io_bytes: None, due_ns: 0, rest: 0, step: SizeTime::default() };
            let mut bytes = 0_u128;
            for size in sizes {
                bytes += u128::from(size);
                let due_ns = bytes * u128::from(NS_PER_SEC) / u128::from(bytes_per_sec);
                prop_assert_eq!(linear.count(size), u64::try_from(due_ns).unwrap_or(u64::MAX));
            }
        }
    }

    #[test]
    fn a_rate_at_the_end_of_the_numbers_is_none() {
        for set in [
            |pace: &mut PaceSpec| pace.bytes_per_sec.0[0] = u64::MAX,
            |pace: &mut PaceSpec| {
                (pace.ios_per_sec.0[0], pace.process) = (u32::MAX, RateProcess::Poisson);
            },
        ] {
            assert!(dues(reads(set), 1_000).iter().all(|due_ns| *due_ns < 1_000));
        }
        let mut slow = reads(|pace| pace.bytes_per_sec.0[0] = 1);
        slow.issued(u64::MAX, 0);
        slow.issued(u64::MAX, 0);
        assert_eq!(slow.due_ns(), u64::MAX);
    }

    #[test]
    fn poisson_intervals_are_exponential_at_every_rate() {
        for rate in [1_000_u32, 300_000, 3_000_000] {
            let n = 400_000;
            let dues = dues(reads(|pace| (pace.ios_per_sec.0[0], pace.process) = (rate, RateProcess::Poisson)), n + 1);
            assert_eq!(dues[0], 0);
            let mean_ns = 1e9 / f64::from(rate);
            let measured_ns = dues[n] as f64 / n as f64;
            assert!((measured_ns / mean_ns - 1.0).abs() < 0.005, "{rate}: {measured_ns} for {mean_ns}");
            // The standard deviation of exponential intervals equals their mean, and a share of 1/e is longer than the
            // mean.
            let intervals = || dues.windows(2).map(|pair| (pair[1] - pair[0]) as f64);
            let variance = intervals().map(|ns| (ns - measured_ns).powi(2)).sum::<f64>() / n as f64;
            assert!((variance.sqrt() / mean_ns - 1.0).abs() < 0.01, "{rate}: {variance}");
            let n_long = intervals().filter(|ns| *ns > mean_ns).count() as f64 / n as f64;
            assert!((n_long - (-1.0_f64).exp()).abs() < 0.005, "{rate}: {n_long}");
        }
    }

    // By the formula of the reference: -ln of the open draw, times the mean.
    #[test]
    fn draws_are_those_of_the_stream() {
        let mut stream = Taus88::from_table(&SeedTable::new(DEFAULT_RAND_SEED, 1), SeedIndex::PoissonRead);
        let dues = dues(reads(|pace| (pace.ios_per_sec.0[0], pace.process) = (1_000, RateProcess::Poisson)), 50);
        let mut due_ns = 0.0;
        for window in dues.windows(2) {
            due_ns += -((f64::from(stream.next_u32()) + 1.0) / 4_294_967_296.0).ln() * 1e6;
            assert!((window[1] as f64 - due_ns).abs() < 2.0, "{} {due_ns}", window[1]);
        }
    }
}
