//! Jobs that run far from their device.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::on_device::{device_of, queue_under};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::provenance::DeviceFacts;
use ferrio_stats::{Measured, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "far-numa-node",
    title: "The job runs on another NUMA node than the device",
    severity: Severity::Note,
    what: "The NUMA node that the device is attached to, and the CPUs that the job may use: numa_cpu_nodes, cpus_allowed, or those of ferrio \
           itself. It is reported where none of them belongs to the node of the device.",
    why: "Every I/O crosses the link between the nodes, which makes each a little slower and limits their sum. On the node of the device the \
          figures would be better.",
    example: "--name=a --filename=/dev/nvme0n1 --rw=randread --direct=1 --numa_cpu_nodes=1 --size=1g",
    cure: "Add --numa_cpu_nodes with the node in /sys/block/X/device/numa_node (of NVMe: device/device/numa_node).",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let of_job = |job: &AuditedJob<'_>| {
        let device = queue_under(case, device_of(job)?)?;
        let node = device.numa_node?;
        if !is_far(case, job, device)? {
            return None;
        }
        let explanation = format!(
            "{} is attached to node {node}, and the job may run on none of its CPUs: each I/O crosses the link between the nodes.",
            device.name
        );
        Some(Observation::of(job, vec![Measured::count("node of the device", f64::from(node))], explanation))
    };
    case.jobs.iter().filter_map(of_job).collect()
}

/// `None`: that is not known.
fn is_far(case: &AuditInput<'_>, job: &AuditedJob<'_>, device: &DeviceFacts) -> Option<bool> {
    if let Some(nodes) = &job.spec.surroundings.numa_cpu_nodes {
        return Some(!nodes.contains(&device.numa_node?));
    }
    let near = ranges(device.numa_cpus.as_deref()?)?;
    let allowed = match &job.spec.worker.cpus_allowed {
        Some(cpus) => cpus.iter().map(|cpu| (*cpu, *cpu)).collect(),
        None => ranges(&case.provenance.cpu.allowed)?,
    };
    let meet = |one: &(u32, u32)| near.iter().any(|other| one.0 <= other.1 && other.0 <= one.1);
    Some(!allowed.iter().any(meet))
}

/// First and last of each range in a list such as `0-3,8`; `None`: it is no such list, or empty.
fn ranges(text: &str) -> Option<Vec<(u32, u32)>> {
    let range = |part: &str| {
        let (first, last) = part.trim().split_once('-').unwrap_or((part.trim(), part.trim()));
        Some((first.parse().ok()?, last.parse().ok()?))
    };
    text.split(',').map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;

    #[test]
    fn lists_of_cpus() {
        assert_eq!(ranges("0-3,8\n"), Some(vec![(0, 3), (8, 8)]));
        for bad in ["", "a", "0-", "1,,2", "99999999999"] {
            assert_eq!(ranges(bad), None, "{bad}");
        }
    }

    #[test]
    fn one_near_cpu_is_enough() {
        let scene = |node: Option<u32>, cpus: Option<Vec<u32>>, nodes: Option<Vec<u32>>| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read));
            let device = &mut scene.device;
            (device.n_hardware_queues, device.numa_node, device.numa_cpus) = (Some(4), node, Some("4-7".to_owned()));
            scene.jobs[0].worker.cpus_allowed = cpus;
            scene.jobs[0].surroundings.numa_cpu_nodes = nodes;
            scene.found()
        };
        assert_eq!(scene(Some(1), Some(vec![0, 3]), None), ["far-numa-node"]);
        assert_eq!(scene(Some(1), None, Some(vec![0])), ["far-numa-node"]);
        assert_eq!(scene(Some(1), Some(vec![3, 4]), None), Vec::<String>::new());
        assert_eq!(scene(Some(1), None, Some(vec![0, 1])), Vec::<String>::new());
        assert_eq!(scene(None, Some(vec![0]), None), Vec::<String>::new());
        // The CPUs of ferrio are not in this record.
        assert_eq!(scene(Some(1), None, None), Vec::<String>::new());
    }
}
