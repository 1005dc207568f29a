//! Data that a device or a file system may make small.

use crate::audit_input::{AuditInput, AuditedJob, sum};
use crate::measures::asked::easy_data;
use crate::measures::targets::compresses;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_spec::Fallocate;
use ferrio_stats::{LayerKind, Measured, Severity, TargetKind, TargetPlace};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "data-that-compresses",
    title: "The data compresses, and the storage compresses",
    severity: Severity::Misleading,
    what: "The options of a job that writes (zero_buffers, buffer_compress_percentage, buffer_pattern, dedupe_percentage), the mount \
           options of its file system (compress, compress-force, compression), and a zram or VDO device below it. After a run also how \
           much of the files is stored compressed, and how much smaller zram has made the data, from 10 % on.",
    why: "The device gets a part of the data only, so bandwidth and IOPS are higher than it can take or give.",
    example: "--name=a --rw=write --zero_buffers --directory=/mnt/btrfs-with-compress",
    cure: "Write data that does not compress: --refill_buffers, without zero_buffers, buffer_pattern and buffer_compress_percentage.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

/// A smaller share changes no figure that anyone would notice.
const SHARE: f64 = 0.1;
/// File systems whose encoded extents are compressed ones.
const COMPRESSING: [&str; 2] = ["btrfs", "f2fs"];

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    case.jobs.iter().filter_map(|job| of_job(case, job)).collect()
}

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let by_options = || by_options(case, job).filter(|_| !is_plain(job));
    by_extents(job).or_else(|| by_zram(case, job)).or_else(by_options)
}

/// An option makes the data easy, and something below is known to use that.
fn by_options(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let option = easy_data(job).filter(|_| job.does(DataDirection::Write))?;
    let smaller = |place: &TargetPlace| {
        let layers = case.layers_of(place);
        let device = layers.iter().find(|layer| layer.kind == LayerKind::Zram || layer.detail == "VDO");
        let file_system =
            place.file_system.as_deref().filter(|_| compresses(place) && !is_preallocated(case, job, place));
        let mounted = file_system.map(|kind| format!("{kind} is mounted with compression"));
        mounted.or_else(|| device.map(|layer| format!("{} stores data compressed", layer.name)))
    };
    let below = job.places.iter().find_map(smaller)?;
    let explanation = format!("{option} gives data that compresses, and {below}: the device gets a part of it only.");
    Some(Observation::of(job, Vec::new(), explanation).about(DataDirection::Write))
}

/// btrfs stores first writes to preallocated extents as they are, and the job will preallocate a new file and write each block once.
fn is_preallocated(case: &AuditInput<'_>, job: &AuditedJob<'_>, place: &TargetPlace) -> bool {
    let allocates = matches!(job.spec.layout.fallocate, Fallocate::Native | Fallocate::Posix | Fallocate::Keep);
    let limits = &job.spec.limits;
    let once = limits.loops <= 1 && !limits.time_based && !job.spec.pattern.norandommap && !job.spec.layout.overwrite;
    let is_new = place.kind == TargetKind::Missing && place.file_system.as_deref() == Some("btrfs");
    case.is_before() && is_new && allocates && once && !job.spec.layout.create_on_open
}

/// The file system tells compressed extents, and has stored the job's data in others.
fn is_plain(job: &AuditedJob<'_>) -> bool {
    let tells = |place: &TargetPlace| {
        let is_told = place.file_system.as_deref().is_some_and(|kind| COMPRESSING.contains(&kind));
        is_told && place.now.extents.value().is_some_and(|extents| extents.written_bytes > 0)
    };
    job.total.is_some() && job.places.iter().all(tells)
}

/// A part of the files is in compressed extents now.
fn by_extents(job: &AuditedJob<'_>) -> Option<Observation> {
    let is_one = |place: &&TargetPlace| place.file_system.as_deref().is_some_and(|kind| COMPRESSING.contains(&kind));
    let extents: Vec<_> = job.places.iter().filter(is_one).filter_map(|place| place.now.extents.value()).collect();
    let encoded = sum(extents.iter().map(|extents| extents.encoded_bytes));
    let written = sum(extents.iter().map(|extents| extents.written_bytes));
    if job.total.is_none() || encoded == 0 || (encoded as f64) < written as f64 * SHARE {
        return None;
    }
    let explanation = format!(
        "{} of the data of the files ({} of {}) is stored compressed: the device takes and gives less than the job.",
        text::percent(encoded as f64, written as f64),
        text::bytes(encoded),
        text::bytes(written)
    );
    let evidence =
        vec![Measured::bytes("data of the files", written), Measured::bytes("in compressed extents", encoded)];
    Some(Observation::of(job, evidence, explanation))
}

/// A zram device below has made what the jobs wrote smaller.
fn by_zram(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let written = job.figures(DataDirection::Write)?.bytes;
    let mut layers = job.places.iter().flat_map(|place| case.layers_of(place));
    let (layer, stored) = layers.find_map(|layer| Some((layer, layer.stored.as_ref()?)))?;
    // What the device holds must be the job's: new, or as much as the job has written. At the end it may be gone.
    let (most, at_most) = (stored.original_most_bytes, stored.compressed_at_most_bytes);
    let (at_end, compressed_at_end) = (stored.original_bytes, stored.compressed_bytes);
    let (held, held_compressed) = if most > at_end { (most, at_most) } else { (at_end, compressed_at_end) };
    let grown = held.saturating_sub(stored.original_before_bytes);
    let is_new = grown.saturating_mul(2) >= written;
    let (original, compressed) = if is_new {
        (grown, held_compressed.saturating_sub(stored.compressed_before_bytes))
    } else {
        (held, held_compressed)
    };
    let is_its = original > 0 && written.saturating_mul(2) >= original;
    if !is_its || compressed as f64 > original as f64 * (1.0 - SHARE) {
        return None;
    }
    let explanation = format!(
        "{} has stored {} of data in {} of memory: data that does not compress takes more of it, and another time.",
        layer.name,
        text::bytes(original),
        text::bytes(compressed)
    );
    let evidence = vec![Measured::bytes("data stored", original), Measured::bytes("its compressed size", compressed)];
    Some(Observation::of(job, evidence, explanation).about(DataDirection::Write))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job, layer};
    use ferrio_spec::{DirectionMix, Fallocate};
    use ferrio_stats::{ExtentBytes, LayerKind, Reading, StoredBytes, TargetKind};

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

    /// A new file on btrfs with compression, before the run.
    #[test]
    fn preallocated_extents_are_not_compressed() {
        let scene = |change: fn(&mut TestRun)| {
            let mut scene = TestRun::new(job("a", DirectionMix::Write)).before();
            scene.jobs[0].buffers.zero = true;
            scene.places[0].kind = TargetKind::Missing;
            scene.places[0].file_system = Some("btrfs".to_owned());
            scene.places[0].mount_options = Some("rw,compress=zstd:3".to_owned());
            scene.jobs[0].layout.fallocate = Fallocate::Native;
            change(&mut scene);
            scene.found().contains(&"data-that-compresses".to_owned())
        };
        assert!(!scene(|_| ()));
        assert!(scene(|scene| scene.jobs[0].layout.fallocate = Fallocate::None));
        assert!(scene(|scene| scene.places[0].kind = TargetKind::File), "an overwrite is stored anew");
        assert!(scene(|scene| scene.jobs[0].limits.loops = 2), "the second pass is an overwrite");
    }

    #[test]
    fn compressed_extents_are_told_from_a_tenth_on() {
        let scene = |kind: &str, encoded_bytes: u64| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read));
            scene.places[0].file_system = Some(kind.to_owned());
            let extents = ExtentBytes { written_bytes: 100 * MIB, encoded_bytes, ..ExtentBytes::default() };
            scene.places[0].now.extents = Reading::Value(extents);
            scene.found()
        };
        assert_eq!(scene("btrfs", 10 * MIB), ["data-that-compresses"]);
        assert_eq!(scene("btrfs", 10 * MIB - 1), Vec::<String>::new());
        // With the option and the mount, but stored as it is: direct writes to preallocated extents.
        let mut scene = TestRun::new(job("a", DirectionMix::Write));
        scene.places[0].file_system = Some("btrfs".to_owned());
        scene.places[0].mount_options = Some("rw,compress=zstd:3".to_owned());
        scene.jobs[0].buffers.zero = true;
        assert_eq!(scene.found(), Vec::<String>::new());
        scene.places[0].now.extents = Reading::default();
        assert_eq!(scene.found(), ["data-that-compresses"]);
    }

    #[test]
    fn encrypted_extents_are_encoded_and_not_compressed() {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        let extents = ExtentBytes { written_bytes: 100 * MIB, encoded_bytes: 100 * MIB, ..ExtentBytes::default() };
        scene.places[0].now.extents = Reading::Value(extents);
        assert_eq!(scene.found(), Vec::<String>::new());
    }

    #[test]
    fn zram_tells_how_small_the_data_has_become() {
        let scene = |before: (u64, u64), now: (u64, u64)| {
            let mut scene = TestRun::new(job("a", DirectionMix::Write));
            let mut zram = layer("vda", LayerKind::Zram, &[]);
            zram.stored = Some(StoredBytes {
                original_before_bytes: before.0 * MIB,
                compressed_before_bytes: before.1 * MIB,
                original_bytes: now.0 * MIB,
                compressed_bytes: now.1 * MIB,
                ..StoredBytes::default()
            });
            scene.layers(vec![layer("/data", LayerKind::FileSystem, &["vda"]), zram]);
            scene.found().contains(&"data-that-compresses".to_owned())
        };
        assert!(scene((0, 0), (100, 90)));
        assert!(!scene((0, 0), (100, 91)));
        // An overwrite, and a device that holds mostly data of others.
        assert!(scene((100, 100), (100, 50)));
        assert!(!scene((1000, 100), (1000, 50)));
    }
}
