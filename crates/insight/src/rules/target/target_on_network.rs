//! Files on a server of the network.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::unexamined::EvidenceKind;
use ferrio_stats::{LayerKind, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "target-on-network",
    title: "The files are on the network",
    severity: Severity::Misleading,
    what: "The kind of the file system of the files, and of those below it: nfs, cifs, smb3, ceph, lustre and others whose data is on \
           another machine.",
    why: "The figures are those of the network and of the server, whose caches may answer. The kernel of this machine counts no device, \
          so nothing can show how much reached one.",
    example: "--name=a --directory=/mnt/nfs --rw=randread --size=1g --direct=1",
    cure: "Measure the storage on the server itself, or use more data than the server has memory, and take the figures for those of the \
           whole way.",
    needs: &[EvidenceKind::Targets],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let of_job = |job: &AuditedJob<'_>| {
        let mut layers = job.places.iter().flat_map(|place| case.layers_of(place));
        let layer = layers.find(|layer| layer.kind == LayerKind::Network)?;
        let explanation = format!(
            "{} is {} from {}: what its server keeps in memory, and what its devices do, cannot be seen from here.",
            layer.name, layer.detail, layer.source
        );
        Some(Observation::of(job, Vec::new(), explanation))
    };
    case.jobs.iter().filter_map(of_job).collect()
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job, layer};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::LayerKind;

    #[test]
    fn a_server_is_told_at_any_depth() {
        let scene = |lowest: LayerKind| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read)).before();
            let top = layer("/data", LayerKind::FileSystem, &["loop0"]);
            scene.layers(vec![top, layer("loop0", LayerKind::Loop, &["/mnt"]), layer("/mnt", lowest, &[])]);
            scene.found()
        };
        assert_eq!(scene(LayerKind::Network), ["target-on-network"]);
        assert_eq!(scene(LayerKind::Disk), Vec::<String>::new());
    }
}
