//! Layers below which nothing can be measured.

use crate::audit_input::{AuditInput, AuditedJob, is_in_memory};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::{LayerKind, Severity, StorageLayer};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "below-unseen",
    title: "What is below the files cannot be seen",
    severity: Severity::Note,
    what: "The layers of storage below the files, as far as the mounts and /sys show them. It is reported where they end at something that is \
           neither a device with counters nor a server of the network: a file system that a program or the host of a virtual machine \
           serves, a directory or a file of another mount namespace, a file system that does not tell its devices.",
    why: "The work of the devices cannot be compared with that of the jobs, so no rule can tell whether a cache has answered.",
    example: "--name=a --directory=/mnt/sshfs --rw=randread --size=1g",
    cure: "Measure where the devices can be seen: on the host, or on the device that holds the data.",
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
    let mut layers = job.places.iter().filter(|place| !is_in_memory(place)).flat_map(|place| case.layers_of(place));
    let (layer, reason) = layers.find_map(|layer| Some((layer, reason(layer)?)))?;
    let explanation = format!(
        "The audit cannot see below {}: {reason}. Whether its data comes from a cache or a device is not known.",
        layer.name
    );
    Some(Observation::of(job, Vec::new(), explanation))
}

/// The reason why nothing can be seen below a layer; `None`: its devices are known, or another rule speaks about it.
pub(crate) fn reason(layer: &StorageLayer) -> Option<String> {
    let by = &layer.detail;
    match layer.kind {
        LayerKind::Served if by.starts_with("fuse") => Some(format!("a program serves it ({by})")),
        LayerKind::Served => Some(format!("the host of this machine serves it ({by})")),
        LayerKind::FileSystem if layer.below.is_empty() => Some(format!("{by} does not tell its devices")),
        LayerKind::Overlay if layer.is_cut => {
            Some("the directories that it shows are not all visible in this mount namespace".to_owned())
        }
        LayerKind::Loop if layer.is_cut => {
            let path = layer.backing.as_ref().map_or("its file", |backing| backing.path.as_str());
            Some(format!("{path} is removed, or not visible in this mount namespace"))
        }
        _ if layer.is_cut => Some("not all of the devices that it is made of are in /sys".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{TestRun, job, layer};
    use ferrio_spec::DirectionMix;

    fn scene(change: fn(&mut StorageLayer), n_jobs: usize) -> Vec<String> {
        let mut scene = TestRun::new(job("a", DirectionMix::Read)).before();
        for _ in 1..n_jobs {
            scene.add(job("b", DirectionMix::Read), scene.places[0].clone());
            scene.record.workers.clear();
        }
        let mut top = layer("/data", LayerKind::FileSystem, &["loop0"]);
        top.detail = "ext4".to_owned();
        change(&mut top);
        scene.layers(vec![top, layer("loop0", LayerKind::Loop, &["sda"]), layer("sda", LayerKind::Disk, &[])]);
        scene.found()
    }

    #[test]
    fn each_job_without_known_devices_has_one_note() {
        assert_eq!(scene(|_| (), 1), Vec::<String>::new());
        let served = |top: &mut StorageLayer| {
            (top.kind, top.detail, top.below) = (LayerKind::Served, "fuse.sshfs".to_owned(), Vec::new());
        };
        assert_eq!(scene(served, 1), ["below-unseen"]);
        let mut two = scene(served, 2);
        two.retain(|id| id == "below-unseen");
        assert_eq!(two.len(), 2);
        assert_eq!(scene(|top| top.below.clear(), 1), ["below-unseen"]);
        assert_eq!(scene(|top| top.is_cut = true, 1), ["below-unseen"]);
        // Of these other rules speak.
        assert!(
            !scene(|top| (top.kind, top.below) = (LayerKind::Network, Vec::new()), 1).contains(&RULE.id.to_owned())
        );
        assert!(!scene(|top| (top.kind, top.below) = (LayerKind::Memory, Vec::new()), 1).contains(&RULE.id.to_owned()));
    }
}
