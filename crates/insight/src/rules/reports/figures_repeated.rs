//! Rows of a report with the same figures to the last digit.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_spec::engines::Data;
use ferrio_stats::{LatencyStat, Measured, Severity, ThreadStats};
use ferrio_units::DataDirection;
use ferrio_units::humanize::thousands;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "figures-repeated",
    title: "Two rows of the report have the same figures",
    severity: Severity::Wrong,
    what: "In a report that was not measured here: number, least, longest and mean latency and their deviation, of each direction of each job on files or \
           devices. It is reported where two of them are the same in all of these, with at least a hundred I/Os.",
    why: "Two measurements of storage are never the same to the nanosecond. One of the rows is a copy of the other.",
    example: "ferrio check --result=report.json   (a report whose second job was pasted from the first)",
    cure: "Ask for the report as fio has written it, or run the jobs again.",
    needs: &[],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

const LEAST_IOS: u64 = 100;
/// The row in which a server of fio sums up its clients: with one client it is the same.
const SUM_OF_CLIENTS: &str = "All clients";

struct MeasuredRow<'c, 'a> {
    job: &'c AuditedJob<'a>,
    direction: DataDirection,
    latency: &'c LatencyStat,
}

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let of_files = |job: &AuditedJob<'_>| {
        job.has_files() && job.engine.data == Data::Kept && !job.engine.moves_nothing() && job.name != SUM_OF_CLIENTS
    };
    let measured = case.reported_rows().filter(|(job, ..)| of_files(job));
    let rows: Vec<MeasuredRow<'_, '_>> = measured
        .flat_map(|(job, _, stats)| {
            let row = move |direction| Some(MeasuredRow { job, direction, latency: varied(stats, direction)? });
            DataDirection::ALL.into_iter().filter_map(row)
        })
        .collect();
    let repeated = |(at, row): (usize, &MeasuredRow<'_, '_>)| {
        let first = rows[..at].iter().find(|first| is_same(first.latency, row.latency))?;
        let n_ios = row.latency.n_samples;
        let name = |row: &MeasuredRow<'_, '_>| format!("{}s of {}", row.direction.name(), row.job.name);
        let explanation = format!(
            "The {} and the {} have the same {} latencies: least, longest, mean and deviation are equal to the nanosecond.",
            name(first),
            name(row),
            thousands(n_ios)
        );
        let evidence = vec![Measured::count("I/Os of each", n_ios as f64)];
        let jobs = if first.job.index == row.job.index { vec![row.job] } else { vec![first.job, row.job] };
        Some(Observation::of_jobs(jobs, evidence, explanation))
    };
    rows.iter().enumerate().find_map(repeated).into_iter().collect()
}

/// A latency of enough I/Os that is not always the same.
fn varied(stats: &ThreadStats, direction: DataDirection) -> Option<&LatencyStat> {
    let figures = &stats.directions[direction];
    let is_one = |latency: &&LatencyStat| latency.n_samples >= LEAST_IOS && latency.max_ns > latency.min_ns;
    [&figures.clat, &figures.lat].into_iter().find(is_one)
}

fn is_same(one: &LatencyStat, other: &LatencyStat) -> bool {
    let key = |latency: &LatencyStat| {
        (latency.n_samples, latency.min_ns, latency.max_ns, latency.sum_ns, latency.sum_squares)
    };
    key(one) == key(other)
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job, place};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{LatencyStat, RecordOrigin, ReportedFacts, ReportedRow};

    fn scene(slowest_ns: [u64; 2], names: [&str; 2]) -> TestRun {
        let mut scene = TestRun::new(job(names[0], DirectionMix::Read));
        scene.add(job(names[1], DirectionMix::Read), place("/data/b"));
        for (worker, slowest_ns) in scene.record.workers.iter_mut().zip(slowest_ns) {
            let clat = &mut worker.stats.directions.0[0].clat;
            *clat = LatencyStat::new(true);
            (0..999).for_each(|_| clat.record(300_000));
            clat.record(slowest_ns);
        }
        let row = |worker_number| ReportedRow { worker_number, ..ReportedRow::default() };
        scene.record.origin = RecordOrigin::Report("fio-3.41".to_owned());
        let facts = ReportedFacts { rows: vec![row(1), row(2)], ..ReportedFacts::default() };
        scene.record.evidence.reported = Some(Box::new(facts));
        scene
    }

    #[test]
    fn rows_that_are_the_same_are_told() {
        let is_told = |slowest_ns, names| scene(slowest_ns, names).found().contains(&"figures-repeated".to_owned());
        assert!(is_told([900_001, 900_001], ["a", "b"]));
        assert!(!is_told([900_001, 900_002], ["a", "b"]));
        assert!(!is_told([900_001, 900_001], ["a", "All clients"]));
        // All latencies are the same: a virtual device.
        assert!(!is_told([300_000, 300_000], ["a", "b"]));
        let finding = scene([900_001, 900_001], ["a", "b"]).finding("figures-repeated");
        assert_eq!(finding.jobs, ["a", "b"]);
    }
}
