//! A control group with a smaller share of the device than others.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::provenance::IoWeight;
use ferrio_stats::{Measured, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "io-weight",
    title: "The control group has a smaller share of the device than others",
    severity: Severity::Note,
    what: "The weight of the control group of ferrio for the device of the jobs (io.weight, io.bfq.weight, blkio.bfq.weight), where the \
           kernel shares that device out by weight: with the scheduler bfq, or with the cost model (io.cost.qos). It is reported below 100, \
           which a group has unless it was set.",
    why: "While other groups use the device, this group gets less of it than they do, so the figures depend on what the others do.",
    example: "--name=a --rw=randread --direct=1 --ioengine=libaio --iodepth=32 --size=1g   (systemd-run -p IOWeight=10)",
    cure: "Raise the weight (IOWeight=, io.weight), or measure while no other group uses the device.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

/// The weight of a group for which none was set.
const USUAL: u64 = 100;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let of_weight = |weight: &IoWeight| {
        let uses = |job: &&AuditedJob<'_>| {
            let is_there = job.places.iter().any(|place| place.device.as_deref() == Some(&weight.device));
            is_there && job.spec.surroundings.cgroup.name.is_none()
        };
        let jobs: Vec<&AuditedJob<'_>> = case.jobs.iter().filter(uses).collect();
        if jobs.is_empty() || weight.weight >= USUAL {
            return None;
        }
        let explanation = format!(
            "The control group has the weight {} for {} ({}), and others have {USUAL} unless it was set: it gets less of the device while they use it.",
            weight.weight, weight.device, weight.setting
        );
        let evidence = vec![Measured::count("weight", weight.weight as f64)];
        Some(Observation::of_jobs(jobs, evidence, explanation))
    };
    case.provenance.limits.io_weights.iter().filter_map(of_weight).collect()
}

#[cfg(test)]
mod tests {
    use super::IoWeight;
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;

    #[test]
    fn a_smaller_weight_for_the_device_is_told() {
        let scene = |device: &str, weight: u64| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read));
            let setting = "io.weight".to_owned();
            scene.limits.io_weights.push(IoWeight { device: device.to_owned(), weight, setting });
            scene.found()
        };
        assert_eq!(scene("vda", 99), ["io-weight"]);
        assert_eq!(scene("vda", 100), Vec::<String>::new());
        assert_eq!(scene("vdb", 10), Vec::<String>::new());
    }
}
