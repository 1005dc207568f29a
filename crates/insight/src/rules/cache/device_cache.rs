//! Caches between the device of the jobs and the disks below it, and thin volumes.

use crate::audit_input::{AuditInput, AuditedJob, is_in_memory};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_stats::{DeviceCache, Measured, Severity, StorageLayer};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "device-cache",
    title: "A cache is between the jobs and the disks",
    severity: Severity::Misleading,
    what: "The layers of storage below the files, as /sys shows them. It is reported where one of them is a cache that has an effect on the directions of the job: bcache, \
           dm-cache and dm-writecache as LVM sets them up, a write-back journal of md. After a run also the hits and misses, where \
           the cache counts them.",
    why: "A part of the I/O is answered by the fast device and the rest by the slow one, and the next run finds another part of its data \
          in the cache. The figures are those of neither device.",
    example: "--name=a --filename=/dev/bcache0 --rw=randread --direct=1 --size=10g",
    cure: "Measure the devices below for themselves, or use data much larger than the cache and run until the rate is steady (steadystate).",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case| each(case, cached),
};

pub(crate) const THIN: FindingRule = FindingRule {
    id: "thin-volume",
    title: "The volume is thin: first writes allocate, and reads of the rest ask no disk",
    severity: Severity::Note,
    what: "The layers of storage below the files, as /sys shows them. It is reported where one of them is a thin volume of LVM.",
    why: "The first write to a block takes a chunk from the pool, and is slower than those after it. A block that was never written is read as \
          zeroes without any disk.",
    example: "--name=a --filename=/dev/vg/thin --rw=randread --direct=1 --size=10g",
    cure: "Write the whole range once before the run, and compare only runs on ranges that are written.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case| each(case, thin),
};

fn each(
    case: &AuditInput<'_>,
    of_layer: fn(&AuditedJob<'_>, &StorageLayer) -> Option<Observation>,
) -> Vec<Observation> {
    let of_job = |job: &AuditedJob<'_>| {
        let places = job.places.iter().filter(|place| !is_in_memory(place));
        places.flat_map(|place| case.layers_of(place)).find_map(|layer| of_layer(job, layer))
    };
    case.jobs.iter().filter_map(of_job).collect()
}

fn cached(job: &AuditedJob<'_>, layer: &StorageLayer) -> Option<Observation> {
    let cache = layer.cache.as_ref().filter(|cache| matters(job, cache))?;
    let mode = if cache.mode.is_empty() { String::new() } else { format!(", {}", cache.mode) };
    let counted =
        cache.hits.filter(|[hits, misses]| job.total.is_some() && *hits > 0 && hits.checked_add(*misses).is_some());
    let ending = match counted {
        Some([hits, misses]) => {
            format!("it has answered {} of the I/Os by itself.", text::percent(hits as f64, (hits + misses) as f64))
        }
        None => "how much of the I/O it answers by itself depends on what it holds.".to_owned(),
    };
    let explanation = format!("{} has a cache ({}{mode}) above its disk: {ending}", layer.name, cache.kind);
    let evidence = counted.map_or_else(Vec::new, |[hits, misses]| {
        vec![Measured::count("hits of the cache", hits as f64), Measured::count("misses", misses as f64)]
    });
    Some(Observation::of(job, evidence, explanation))
}

/// The cache has a part in I/O of a direction of the job. Some caches hold written data only, and are read from seldom.
fn matters(job: &AuditedJob<'_>, cache: &DeviceCache) -> bool {
    let holds_writes_only = ["dm-writecache", "md journal"].contains(&cache.kind.as_str());
    job.does(DataDirection::Write) || !holds_writes_only
}

fn thin(job: &AuditedJob<'_>, layer: &StorageLayer) -> Option<Observation> {
    let explanation = format!(
        "{} is a thin volume: what was never written is in no place of the pool, and its first write has to take one.",
        layer.name
    );
    layer.is_thin.then(|| Observation::of(job, Vec::new(), explanation))
}

#[cfg(test)]
mod tests {
    use super::DeviceCache;
    use crate::rules::testing::{TestRun, job, layer};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::LayerKind;

    fn scene(mix: DirectionMix, cache: Option<DeviceCache>, is_thin: bool) -> TestRun {
        let mut scene = TestRun::new(job("a", mix)).before();
        let mut volume = layer("dm-0", LayerKind::Stacked, &["vda"]);
        (volume.cache, volume.is_thin) = (cache, is_thin);
        let file_system = layer("/data", LayerKind::FileSystem, &["dm-0"]);
        scene.layers(vec![file_system, volume, layer("vda", LayerKind::Disk, &[])]);
        scene
    }

    fn cache(kind: &str) -> DeviceCache {
        DeviceCache { kind: kind.to_owned(), mode: "writeback".to_owned(), hits: None }
    }

    #[test]
    fn a_cache_is_told_to_those_who_meet_it() {
        let finding = scene(DirectionMix::Read, Some(cache("bcache")), false).finding("device-cache");
        assert!(finding.explanation.starts_with("dm-0 has a cache (bcache, writeback) above its disk"), "{finding:?}");
        assert_eq!(scene(DirectionMix::Write, Some(cache("dm-writecache")), false).found(), ["device-cache"]);
        for right in
            [scene(DirectionMix::Read, Some(cache("dm-writecache")), false), scene(DirectionMix::Read, None, false)]
        {
            assert_eq!(right.found(), Vec::<String>::new());
        }
    }

    #[test]
    fn hits_are_told_after_the_run() {
        let counting = DeviceCache { hits: Some([300, 100]), ..cache("bcache") };
        let before = scene(DirectionMix::Read, Some(counting), false);
        let mut after = TestRun::new(job("a", DirectionMix::Read));
        after.record.evidence = before.record.evidence;
        let finding = after.finding("device-cache");
        assert!(finding.explanation.ends_with("it has answered 75 % of the I/Os by itself."), "{finding:?}");
    }

    #[test]
    fn a_thin_volume_is_told() {
        assert_eq!(scene(DirectionMix::Read, None, true).found(), ["thin-volume"]);
    }
}
