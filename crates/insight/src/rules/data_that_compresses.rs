//! Data that a device or a file system may make small.

use super::{FindingRule, Observation};
use crate::case::{Case, CaseJob};
use ferrio_stats::{Severity, TargetPlace};
use ferrio_units::DataDirection;

pub(super) const RULE: FindingRule = FindingRule {
    id: "data-that-compresses",
    title: "The written data compresses, and the file system compresses",
    severity: Severity::Misleading,
    what: "The options of a job that writes (zero_buffers, buffer_compress_percentage, buffer_pattern, dedupe_percentage) and the \
           mount options of its file system (compress, compress-force, compression).",
    why: "The device gets a part of the data only, so bandwidth and IOPS are higher than it can take.",
    example: "--name=a --rw=write --zero_buffers --directory=/mnt/btrfs-with-compress",
    cure: "Write data that does not compress: --refill_buffers, without the option named above.",
    find,
};

fn find(case: &Case<'_>) -> Vec<Observation> {
    let of_job = |job: &CaseJob<'_>| {
        let option = easy_data(job).filter(|_| job.does(DataDirection::Write))?;
        let place = job.places.iter().find(|place| compresses(place))?;
        let explanation = format!(
            "{option} gives data that compresses, and {} is mounted with compression: the device gets a part of it only.",
            place.file_system.as_deref().unwrap_or("the file system")
        );
        Some(Observation::of(job.name, Vec::new(), explanation))
    };
    case.jobs.iter().filter_map(of_job).collect()
}

/// The option that makes the data easy.
pub(super) fn easy_data(job: &CaseJob<'_>) -> Option<&'static str> {
    let buffers = &job.spec.buffers;
    match () {
        () if buffers.zero => Some("zero_buffers"),
        () if buffers.pattern.is_some() => Some("buffer_pattern"),
        () if buffers.compress_percent > 0 => Some("buffer_compress_percentage"),
        () if buffers.dedupe.is_some() => Some("dedupe_percentage"),
        () => None,
    }
}

pub(super) fn compresses(place: &TargetPlace) -> bool {
    let options = place.mount_options.as_deref().unwrap_or_default();
    let is_one = |option: &str| {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        ["compress", "compress-force", "compression", "compress_algorithm"].contains(&name)
            && !["no", "none", "off"].contains(&value)
    };
    options.split(',').any(is_one)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;

    #[test]
    fn easy_data_and_compression_must_come_together() {
        let scene = |zero: bool, options: &str| {
            let mut scene = TestRun::new(job("a", DirectionMix::Write)).before();
            scene.jobs[0].buffers.zero = zero;
            scene.places[0].mount_options = Some(options.to_owned());
            scene.found()
        };
        assert_eq!(scene(true, "rw,compress=zstd:3"), ["data-that-compresses"]);
        assert_eq!(scene(true, "rw,compress=no"), ["easy-data"]);
        assert_eq!(scene(true, "rw,relatime"), ["easy-data"]);
        assert_eq!(scene(false, "rw,compress-force=lzo"), Vec::<String>::new());
    }
}
