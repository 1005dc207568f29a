//! The open loop beside a closed one, on a simulated device where queueing theory knows its latencies.
//!
//! The runs are on virtual time. Start reading at [`users_wait_as_theory_has_it`].

use super::common::{Swept, made};
use ferrio::sweep::OPEN_LOOP_SHARES;
use ferrio::sweep::outcome::{PointOutcome, SweepOutcome};
use ferrio_formats::IoKind;
use ferrio_stats::Metric;

/// One channel with exponential service of 1 ms on average: a closed loop has 1,000 I/Os a second at any depth.
const CHANNEL: &str =
    "--name=a --ioengine=sim --sim_service=exponential:1ms --rw=randread --size=1g --bs=4k --number_ios=20000";

fn figure(point: &PointOutcome, metric: Metric) -> f64 {
    point.figure(0, IoKind::Read, metric).map_or(f64::NAN, |figure| figure.mean)
}

/// Users who come at random to a channel of 1,000 a second, at a rate of R, are in the system for 1 / (1,000 - R) s on average (M/M/1): 2 ms at half of the rate, 5 ms
/// at 80 %. This is so at any depth: an I/O that comes while all others of the depth are in flight waits in the job. The time is exponential, so that its 99th percentile is ln(100) times as long.
#[test]
fn users_wait_as_theory_has_it() {
    let swept = Swept { n_repeats: 1, has_open_loop: true, ..Swept::new("open-loop", CHANNEL, "iodepth=1..8") };
    let (open, _folder) = made(&swept, 1);
    let outcome = SweepOutcome::read(&open.folder).expect("an outcome");
    for point in &outcome.points {
        assert!((980.0..1_020.0).contains(&figure(point, Metric::Iops)), "{}", point.point);
    }
    let beside = outcome.open_loop.expect("an open loop");
    assert_eq!((beside.beside.closed.len(), beside.figures.points.len()), (4, OPEN_LOOP_SHARES.len()));
    for (share, mean_ms, tolerance) in [(10, 1.0 / 0.9, 0.05), (50, 2.0, 0.1), (80, 5.0, 0.25)] {
        let index = OPEN_LOOP_SHARES.iter().position(|known| *known == share).expect("a share");
        let point = &beside.figures.points[index];
        let found = [Metric::MeanLatency, Metric::P99].map(|metric| figure(point, metric) / 1e6);
        for (found, expected) in found.into_iter().zip([mean_ms, mean_ms * 100_f64.ln()]) {
            assert!((found / expected - 1.0).abs() < tolerance, "{share} %: {found} ms, expected {expected} ms");
        }
        let rate = figure(point, Metric::Iops) / f64::from(share) / 10.0;
        assert!((rate - 1.0).abs() < 0.05, "{share} %: {rate} of the rate");
    }
}
