//! Files on an overlay, as containers have them.

use crate::case::{Case, CaseJob};
use crate::rules::{FindingRule, Observation};
use ferrio_stats::{LayerKind, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "target-on-overlay",
    title: "The files are on an overlay",
    severity: Severity::Note,
    what: "The kind of the file system of the files: overlay, as the root of a container is one.",
    why: "A file of a lower directory is copied whole when it is first opened for writing, and each open passes two file systems. Data that \
          a container keeps is usually in a volume, which is no overlay.",
    example: "--name=a --directory=/tmp --rw=randwrite --size=1g   (in a container)",
    cure: "Give --directory on a volume of the container, or on the file system of the storage that you want to measure.",
    yields_to: &[],
    find,
};

fn find(case: &Case<'_>) -> Vec<Observation> {
    let of_job = |job: &CaseJob<'_>| {
        let layers = job.places.iter().filter_map(|place| Some((place, case.layer(place.layer.as_deref()?)?)));
        let (place, layer) = layers.into_iter().find(|(_, layer)| layer.kind == LayerKind::Overlay)?;
        let below = match &layer.below[..] {
            _ if layer.is_cut => "directories of which not all can be seen from here".to_owned(),
            below => below.join(" and "),
        };
        let explanation = format!("{} is on the overlay {}, which shows {below}.", place.path, layer.name);
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
    fn an_overlay_is_told_and_its_upper_directory_is_not() {
        let scene = |top: LayerKind| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read)).before();
            scene.layers(vec![layer("/data", top, &["vda"]), layer("vda", LayerKind::Disk, &[])]);
            scene.found()
        };
        assert_eq!(scene(LayerKind::Overlay), ["target-on-overlay"]);
        assert_eq!(scene(LayerKind::FileSystem), Vec::<String>::new());
    }
}
