//! Latencies of a report that contradict each other: percentiles and means against the shares of classes.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_stats::{LatencyStat, Measured, ReportedClass, ReportedRow, Severity, ThreadStats};
use ferrio_units::DataDirection;
use ferrio_units::humanize::duration_text;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "latencies-disagree",
    title: "The latencies of the report contradict each other",
    severity: Severity::Wrong,
    what: "In a report that was not measured here: the mean latency of a direction and its percentiles, and the shares of \
           latencies up to 250 us, 500 us and so on, which fio counts apart from them for all directions together. It is reported where the \
           mean is more than half beyond what the percentiles allow, and where the shares have two hundredths of the I/Os or more on the other side of twice \
           or half the percentiles 50, 90 and 99 of all directions.",
    why: "Both are made of the same I/Os. So one of them is that of another run, or of another unit.",
    example: "ferrio check --result=post.txt   (a post with percentiles in nsec that were in usec)",
    cure: "Ask for the whole report, as JSON (--output-format=json), or run the job again.",
    needs: &[],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["latency-times-rate", "statistics-out-of-order"],
    find: |case: &AuditInput<'_>| {
        case.reported_rows().filter_map(|(job, row, stats)| of_row(job, row, stats)).collect()
    },
};

const PERCENTS: [f64; 3] = [50.0, 90.0, 99.0];
/// A class may begin or end within this factor of a percentile, and times of submission count in one of both.
const FACTOR: u64 = 2;
/// Shares of classes are rounded, and submission is a part of one of both, hundredths of the I/Os.
const SLACK: f64 = 2.0;
/// Of fewer I/Os a hundredth is chance.
const LEAST_IOS: u64 = 100;

fn of_row(job: &AuditedJob<'_>, row: &ReportedRow, stats: &ThreadStats) -> Option<Observation> {
    let latencies = || {
        let of = |direction: DataDirection| Some((direction, latency(stats, direction)?));
        DataDirection::ALL.into_iter().filter_map(of)
    };
    if let Some(found) = latencies().find_map(|(direction, latency)| of_mean(job, row, direction, latency)) {
        return Some(found);
    }
    let n_ios: u64 = latencies().map(|(_, latency)| latency.n_samples).sum();
    let whole: f64 = row.classes.iter().map(|class| class.percent).sum();
    let is_whole = (whole - 100.0).abs() < SLACK;
    if n_ios < LEAST_IOS || !is_whole {
        return None;
    }
    PERCENTS.into_iter().find_map(|percent| {
        let told = || latencies().filter_map(|(_, latency)| Some(latency.percentile(percent)?.latency_ns));
        let has_all = told().count() == latencies().count() && is_told(row, percent);
        let (low_ns, high_ns) = (told().min()?, told().max()?);
        if !has_all {
            return None;
        }
        let (most_below, least_above) =
            (share_up_to(&row.classes, high_ns.saturating_mul(FACTOR), true), share_up_to(&row.classes, low_ns / FACTOR, false));
        let (latency_ns, share) = match () {
            () if most_below < percent - SLACK => (high_ns, most_below),
            () if least_above > percent + SLACK => (low_ns, least_above),
            () => return None,
        };
        let explanation = format!(
            "By the percentiles, {percent} of 100 I/Os took no longer than {}; by the shares of latencies that the report has beside them, {} \
             of 100.",
            duration_text(latency_ns as f64),
            text::short(share),
        );
        let evidence = vec![
            Measured::seconds(&format!("p{percent}"), latency_ns as f64 / 1e9),
            Measured::percent("no longer, by the shares", share),
        ];
        Some(Observation::of(job, evidence, explanation))
    })
}

/// The percentile is in the report, or follows from a distribution that is.
fn is_told(row: &ReportedRow, percent: f64) -> bool {
    row.percents.as_ref().is_none_or(|told| told.iter().any(|one| (one - percent).abs() < 1e-9))
}

/// The latency that has percentiles.
fn latency(stats: &ThreadStats, direction: DataDirection) -> Option<&LatencyStat> {
    let figures = &stats.directions[direction];
    [&figures.clat, &figures.lat].into_iter().find(|latency| latency.n_samples > 0)
}

/// A mean that is not where the percentiles allow it.
fn of_mean(
    job: &AuditedJob<'_>,
    row: &ReportedRow,
    direction: DataDirection,
    latency: &LatencyStat,
) -> Option<Observation> {
    let mean_ns = latency.mean_ns();
    let [low_ns, high_ns] = mean_by_percentiles(row, latency)?;
    let allowed = low_ns / (1.0 + SHARE_OF_MEAN) - ROUNDED_NS..=high_ns * (1.0 + SHARE_OF_MEAN) + ROUNDED_NS;
    if allowed.contains(&mean_ns) {
        return None;
    }
    let explanation = format!(
        "The mean latency of the {}s is {}; by their percentiles it is between {} and {}.",
        direction.name(),
        duration_text(mean_ns),
        duration_text(low_ns),
        duration_text(high_ns),
    );
    Some(Observation::of(job, vec![Measured::seconds("mean latency", mean_ns / 1e9)], explanation).about(direction))
}

/// Extremes may be rounded to microseconds.
const ROUNDED_NS: f64 = 1_000.0;
/// Percentiles are those of classes of latencies, and in terse output they may be of another latency than the mean.
const SHARE_OF_MEAN: f64 = 0.5;

/// The least and the highest mean that the percentiles allow, nanoseconds; `None`: there are too few of them.
fn mean_by_percentiles(row: &ReportedRow, latency: &LatencyStat) -> Option<[f64; 2]> {
    const LEAST_PERCENTILES: usize = 5;
    let told = row.percents.as_ref().filter(|told| told.len() >= LEAST_PERCENTILES)?;
    if latency.n_samples < LEAST_IOS {
        return None;
    }
    let (mut low_ns, mut high_ns) = (0.0, 0.0);
    let mut before = (0.0, latency.min_ns as f64);
    for percent in told {
        let latency_ns = latency.percentile(*percent)?.latency_ns as f64;
        let share = (percent - before.0) / 100.0;
        low_ns += share * before.1;
        high_ns += share * latency_ns;
        before = (*percent, latency_ns);
    }
    let share = (100.0 - before.0) / 100.0;
    let (one, other) = (low_ns + share * before.1, high_ns + share * latency.max_ns as f64);
    Some([one.min(other), one.max(other)])
}

/// The share of the classes that end up to a latency; with the class in which it lies, if `with_its_own` is set.
fn share_up_to(classes: &[ReportedClass], latency_ns: u64, with_its_own: bool) -> f64 {
    let ends = |class: &&ReportedClass| class.up_to_ns.is_some_and(|end_ns| end_ns <= latency_ns);
    let n_ended = classes.iter().take_while(ends).count();
    let n_counted = n_ended + usize::from(with_its_own && classes.get(n_ended).is_some());
    classes[..n_counted].iter().map(|class| class.percent).sum()
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{LatencyStat, RecordOrigin, ReportedClass, ReportedFacts, ReportedRow};

    /// Ninety of a hundred reads take 300 us, the others 3 ms.
    fn scene(classes: &[(Option<u64>, f64)]) -> TestRun {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        let clat = &mut scene.stats().directions.0[0].clat;
        *clat = LatencyStat::new(true);
        (0..1_000).for_each(|at| clat.record(if at % 10 == 0 { 3_000_000 } else { 300_000 }));
        let class = |(up_to_ns, percent): &(Option<u64>, f64)| ReportedClass { up_to_ns: *up_to_ns, percent: *percent };
        let classes = classes.iter().map(class).collect();
        let row = ReportedRow { worker_number: 1, classes, ..ReportedRow::default() };
        scene.record.origin = RecordOrigin::Report("fio-3.41".to_owned());
        scene.record.evidence.reported = Some(Box::new(ReportedFacts { rows: vec![row], ..ReportedFacts::default() }));
        scene
    }

    fn is_told(scene: &TestRun) -> bool {
        scene.found().contains(&"latencies-disagree".to_owned())
    }

    #[test]
    fn percentiles_are_compared_with_the_shares_of_classes() {
        assert!(!is_told(&scene(&[(Some(500_000), 90.0), (Some(4_000_000), 10.0)])));
        assert!(!is_told(&scene(&[(Some(250_000), 50.0), (Some(750_000), 40.0), (None, 10.0)])));
        // Milliseconds where the percentiles have microseconds, and the other way round.
        assert!(is_told(&scene(&[(Some(500_000_000), 90.0), (None, 10.0)])));
        assert!(is_told(&scene(&[(Some(500), 90.0), (Some(4_000), 10.0)])));
        // Only the tail is another one: of 99 in 100, which took 3 ms, 94 took up to 6 ms.
        assert!(is_told(&scene(&[(Some(500_000), 90.0), (Some(10_000_000), 4.0), (None, 6.0)])));
        // There are no shares, or only a part of them.
        assert!(!is_told(&scene(&[])) && !is_told(&scene(&[(Some(500), 50.0)])));
    }

    #[test]
    fn a_mean_is_where_the_percentiles_allow_it() {
        // Of 300 us and 3 ms the mean is 570 us; by the percentiles between 300 us and 840 us.
        let with_mean = |mean_ns: u128| {
            let mut scene = scene(&[]);
            scene.stats().directions.0[0].clat.sum_ns = 1_000 * mean_ns;
            let row = &mut scene.record.evidence.reported.as_mut().expect("facts").rows[0];
            row.percents = Some(vec![1.0, 10.0, 50.0, 80.0, 90.0]);
            is_told(&scene)
        };
        assert!(!with_mean(570_000) && !with_mean(800_000));
        assert!(with_mean(190_000 - 10_000) && with_mean(2_000_000));
    }
}
