//! Jobs that write to a device instead of a file.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_stats::{Severity, TargetKind};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "device-is-overwritten",
    title: "The run writes over a device",
    severity: Severity::Note,
    what: "The directions of a job and the kind of its targets. It is reported where a job writes or trims a block device that nobody \
           else uses.",
    why: "A device has no file system between it and the job: what was on it is lost. This is right for a test of a device, and is said \
          because nothing can bring the data back.",
    example: "--name=a --filename=/dev/sdb --rw=randwrite --direct=1",
    cure: "If the device has data that anybody needs, use a file on it (--directory) or --readonly.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    case.jobs.iter().filter_map(|job| of_job(case, job)).collect()
}

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    if !job.does(DataDirection::Write) && !job.does(DataDirection::Trim) {
        return None;
    }
    // A device that others use has rules of its own.
    let place = job.places.iter().find(|place| place.kind == TargetKind::Block && place.used.is_none())?;
    let size_bytes = place.device.as_deref().and_then(|name| case.device(name)?.size_bytes);
    let size = size_bytes.map_or_else(String::new, |bytes| format!(" ({})", text::bytes(bytes)));
    let explanation = if case.is_before() {
        format!("{}{size} is a device: the job will destroy what is on the part that it uses.", place.path)
    } else {
        format!("{}{size} is a device: the job has destroyed what was on the part that it used.", place.path)
    };
    Some(Observation::of(job, Vec::new(), explanation))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job, place};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::TargetKind;

    #[test]
    fn writing_to_a_device_is_told_before_and_after() {
        let scene = |mix, kind| {
            let mut scene = TestRun::new(job("a", mix));
            scene.places[0] = place("/dev/vda");
            scene.places[0].kind = kind;
            scene
        };
        let device = || scene(DirectionMix::Write, TargetKind::Block);
        assert_eq!(device().found(), ["device-is-overwritten"]);
        let explanation = device().before().finding("device-is-overwritten").explanation;
        assert!(explanation.starts_with("/dev/vda (1000 MiB) is a device: the job will destroy"), "{explanation}");
        let mut used = device().before();
        used.places[0].used = Some("mounted on /".to_owned());
        assert_eq!(used.found(), ["write-refused"]);
        assert_eq!(scene(DirectionMix::Read, TargetKind::Block).found(), Vec::<String>::new());
        assert_eq!(scene(DirectionMix::Write, TargetKind::File).found(), ["file-under-dev"]);
    }
}
