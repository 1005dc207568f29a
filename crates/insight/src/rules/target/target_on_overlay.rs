//! Files on an overlay, as containers have them.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::{LayerKind, Severity, StorageLayer};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "target-on-overlay",
    title: "The files are on an overlay",
    severity: Severity::Note,
    what: "The kind of the file system of the files: overlay, as the root of a container is one.",
    why: "A file of a lower directory is copied whole when it is first opened for writing, and each open passes two file systems. Data that \
          a container keeps is usually in a volume, which is no overlay.",
    example: "--name=a --directory=/tmp --rw=randwrite --size=1g   (in a container)",
    cure: "Give --directory on a volume of the container, or on the file system of the storage that you want to measure.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let of_job = |job: &AuditedJob<'_>| {
        let layers = job.places.iter().filter_map(|place| Some((place, case.layer(place.layer.as_deref()?)?)));
        let (place, layer) = layers.into_iter().find(|(_, layer)| layer.kind == LayerKind::Overlay)?;
        let explanation =
            format!("{} is on the overlay file system mounted on {}. {}", place.path, layer.name, kept_in(layer));
        Some(Observation::of(job, Vec::new(), explanation))
    };
    case.jobs.iter().filter_map(of_job).collect()
}

/// Where the directories of an overlay are: a sentence.
fn kept_in(overlay: &StorageLayer) -> String {
    let place = |name: &String| match name.strip_prefix('/') {
        Some(_) => format!("the file system mounted on {name}"),
        None => name.clone(),
    };
    match &overlay.below[..] {
        [] => "Its directories cannot be seen from here.".to_owned(),
        _ if overlay.is_cut => "Not all of its directories can be seen from here.".to_owned(),
        below => {
            let places: Vec<String> = below.iter().map(place).collect();
            format!("Its directories are on {}.", places.join(" and "))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job, layer};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::LayerKind;

    #[test]
    fn the_places_of_its_directories_are_named() {
        let explanation = |below: &[&str], is_cut: bool| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read)).before();
            let mut overlay = layer("/data", LayerKind::Overlay, below);
            overlay.is_cut = is_cut;
            scene.layers(vec![overlay, layer("/", LayerKind::Memory, &[]), layer("/var", LayerKind::Memory, &[])]);
            scene.finding("target-on-overlay").explanation
        };
        let beginning = "/data/a.0.0 is on the overlay file system mounted on /data. ";
        for (below, is_cut, expected) in [
            (&["/"][..], false, "Its directories are on the file system mounted on /."),
            (
                &["/", "/var"],
                false,
                "Its directories are on the file system mounted on / and the file system mounted on /var.",
            ),
            (&["/"], true, "Not all of its directories can be seen from here."),
            (&[], true, "Its directories cannot be seen from here."),
        ] {
            assert_eq!(explanation(below, is_cut), format!("{beginning}{expected}"));
        }
    }

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
