//! Reads of objects whose answers had fewer bytes than were asked for.

use crate::audit_input::{AuditInput, AuditedJob, sum};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::{Measured, ObjectRequestKind, Severity};
use ferrio_units::DataDirection;
use ferrio_units::humanize::{bytes_text, thousands};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "short-objects",
    title: "Answers had fewer bytes than the reads asked for",
    severity: Severity::Wrong,
    what: "Reads of objects whose answers were shorter than the block. It is reported of the first one.",
    why: "Such a read moves little, and is faster than one of a whole block. fio counts each as a whole block, so that its bandwidth is that of \
          bytes that never came; a native run counts the bytes that came, but its IOPS and latencies are those of smaller reads too.",
    example: "--name=a --ioengine=http --http_host=HOST --filename=/o --rw=read --bs=64k   (the objects have 10 bytes)",
    cure: "Write the objects with the same bs before, or read with the bs that they have. See whether the server sends what it should.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case: &AuditInput<'_>| case.jobs.iter().filter_map(of_job).collect(),
};

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    let requests = job.server()?.requests;
    let gets = requests.0.iter().find(|figures| figures.kind == ObjectRequestKind::Get)?;
    let n_all = gets.time.n_samples;
    let answers = match gets.n_short {
        0 => return None,
        many if many == n_all => "All answers to reads".to_owned(),
        1 => format!("One of {} answers to reads", thousands(n_all)),
        many => format!("{} of {} answers to reads", thousands(many), thousands(n_all)),
    };
    let workers = job.workers.iter().chain(&job.failed);
    let n_counted = sum(workers.map(|worker| worker.stats.directions[DataDirection::Read].bytes));
    let came = bytes_text(gets.bytes);
    let counted = if n_counted > gets.bytes {
        format!("{came} have come, and {} are counted", bytes_text(n_counted))
    } else {
        format!("{came} have come, which are counted")
    };
    let evidence = vec![
        Measured::count("short answers", gets.n_short as f64),
        Measured::count("answers", n_all as f64),
        Measured::bytes("bytes that came", gets.bytes),
        Measured::bytes("bytes that are counted", n_counted),
    ];
    let explanation = format!("{answers} had fewer bytes than the block: {counted}.");
    Some(Observation::of(job, evidence, explanation).about(DataDirection::Read))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{ObjectRequest, ServerSteps};

    #[test]
    fn short_answers_are_reported_with_what_is_counted() {
        let told = |n_short: u64, n_counted: u64| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read));
            let mut steps = ServerSteps::default();
            for index in 0..4 {
                let is_short = index < n_short;
                let bytes = if is_short { 100 } else { 1_000 };
                let kind = ObjectRequestKind::Get;
                steps.requests.record(&ObjectRequest {
                    kind,
                    bytes,
                    is_absent: false,
                    is_short,
                    n_names: 0,
                    time_ns: 1,
                });
            }
            let stats = &mut scene.record.workers[0].stats;
            stats.features.server = Some(Box::new(steps));
            stats.directions[DataDirection::Read].bytes = n_counted;
            scene.found().contains(&RULE.id.to_owned()).then(|| scene.finding(RULE.id).explanation)
        };
        assert_eq!(told(0, 4_000), None);
        let one = told(1, 4_000).expect("a finding");
        assert!(one.starts_with("One of 4 answers to reads had fewer bytes than the block: "), "{one}");
        assert!(one.contains(" have come, and ") && one.ends_with(" are counted."), "{one}");
        let all = told(4, 400).expect("a finding");
        assert!(all.starts_with("All answers to reads had fewer bytes"), "{all}");
        assert!(all.ends_with(" have come, which are counted."), "{all}");
    }
}
