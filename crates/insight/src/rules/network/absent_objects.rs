//! Reads of objects that are not there.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::{Measured, ObjectRequestKind, Severity};
use ferrio_units::humanize::thousands;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "absent-objects",
    title: "Objects that were read are not there",
    severity: Severity::Wrong,
    what: "The replies with the HTTP status 404 to reads of objects. It is reported of the first one.",
    why: "An object that is not there reads as zeroes, as fio has it. The server has looked up a name and sent nothing: latencies and IOPS are not \
          those of objects. With fio's command line such a read counts with the size of a block, so its bandwidth is that of bytes that never came; \
          a native run counts no bytes of it.",
    example: "--name=a --ioengine=http --http_mode=s3 --http_host=HOST --filename=/bucket/new --rw=read --bs=1m ...",
    cure: "Write the objects first, with the same filename and bs: with http_object_mode=block the name of an object has both offset and size.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case: &AuditInput<'_>| case.jobs.iter().filter_map(of_job).collect(),
};

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    let requests = job.server()?.requests;
    let figures = requests.0.iter().find(|figures| figures.kind == ObjectRequestKind::Get)?;
    let (n_absent, n_all) = (figures.n_absent, figures.time.n_samples);
    let reads = match n_absent {
        0 => return None,
        _ if n_absent == n_all => "No object that was read is there.".to_owned(),
        1 => format!("One of {} objects that were read is not there.", thousands(n_all)),
        _ => format!("{} of {} objects that were read are not there.", thousands(n_absent), thousands(n_all)),
    };
    let evidence = vec![
        Measured::count("reads of objects that are not there", n_absent as f64),
        Measured::count("reads of objects", n_all as f64),
    ];
    Some(Observation::of(job, evidence, reads))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{ObjectRequest, ServerSteps};

    #[test]
    fn reads_of_nothing_are_reported_and_deletes_of_nothing_are_not() {
        let told = |kind, n_absent: u64| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read));
            let mut steps = ServerSteps::default();
            for index in 0..3 {
                let is_absent = index < n_absent;
                steps.requests.record(&ObjectRequest {
                    kind,
                    bytes: 0,
                    is_absent,
                    is_short: false,
                    n_names: 0,
                    time_ns: 1,
                });
            }
            scene.record.workers[0].stats.features.server = Some(Box::new(steps));
            scene.found().contains(&RULE.id.to_owned()).then(|| scene.finding(RULE.id).explanation)
        };
        assert_eq!(told(ObjectRequestKind::Get, 0), None);
        assert_eq!(told(ObjectRequestKind::Delete, 3), None);
        let one = told(ObjectRequestKind::Get, 1);
        assert_eq!(one.as_deref(), Some("One of 3 objects that were read is not there."));
        assert_eq!(told(ObjectRequestKind::Get, 3).as_deref(), Some("No object that was read is there."));
    }
}
