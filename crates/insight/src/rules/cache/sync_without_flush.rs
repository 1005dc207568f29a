//! Syncs for which no device emptied its cache.

use crate::audit_input::{AuditInput, AuditedJob, is_in_memory};
use crate::on_device::{device_of, queue_under};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::unexamined::EvidenceKind;
use ferrio_stats::provenance::DeviceFacts;
use ferrio_stats::{LayerKind, Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "sync-without-flush",
    title: "The syncs did not reach the device",
    severity: Severity::Misleading,
    what: "The syncs of a job that writes (fsync, fdatasync, end_fsync, fsync_on_close, end_syncfs), and the flushes that the kernel counts \
           for the device of its files (/sys/block/X/stat). It is reported where none was counted, although the device says that it has a cache, \
           or is a loop device or the disk of a virtual machine, which have one whatever they say.",
    why: "A sync ends with a flush, by which the device makes its cache safe. A mount option (nobarrier), a library that swallows fsync, or a \
          device that is declared to have no cache (write through) leaves it out: the sync costs almost nothing, and the data would not \
          survive a loss of power.",
    example: "--name=a --rw=write --size=64m --end_fsync=1 --ioengine=psync   (on a file system mounted with nobarrier)",
    cure: "Mount without nobarrier, and set queue/write_cache of the device to `write back` if it has a cache; else take the figures for those of \
           writes that are not safe.",
    needs: &[EvidenceKind::Flushes],
    looks_at_reports: false,
    contradicts: &["fsync", "fdatasync", "end_fsync", "fsync_on_close", "end_syncfs", "sync"],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case| case.jobs.iter().filter_map(|job| of_job(case, job)).collect(),
};

/// Mount options by which a file system sends no flushes.
const WITHOUT_BARRIER: [&str; 3] = ["nobarrier", "barrier=0", "fsync_mode=nobarrier"];
/// Words in the models of virtual machines' disks.
const VIRTUAL: [&str; 4] = ["QEMU", "Virtual", "VMware", "VBOX"];

/// The device of a job that made syncs, and how often it was asked to empty its cache.
pub(crate) struct Flushes<'a> {
    option: &'static str,
    device: &'a DeviceFacts,
    /// The device says itself that it has a cache.
    is_cached: bool,
    n_counted: u64,
}

/// Why the flushes of a device are not known.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoFlushCount<'a> {
    #[error("no device with a queue of its own is known below {path}")]
    NoDevice { path: String },
    #[error("{device} is not counted")]
    NotCounted { device: &'a str },
    #[error("the kernel does not count those of {device}")]
    NotByKernel { device: &'a str },
}

/// Flushes of the device of a job; `None`: it made no sync after a write, or its device has no cache.
pub(crate) fn flushes<'a>(
    case: &AuditInput<'a>,
    job: &AuditedJob<'_>,
) -> Option<Result<Flushes<'a>, NoFlushCount<'a>>> {
    let option = sync_option(job, job.figures(DataDirection::Write)?.n_completed)?;
    // A file system that was mounted elsewhere, or in memory, has no device to ask.
    if !job.has_files() || job.engine.data != ferrio_spec::engines::Data::Kept || job.places.iter().any(is_in_memory) {
        return None;
    }
    let path = job.places.first().map_or("", |place| place.path.as_str());
    let Some(device) = device_of(job).and_then(|name| queue_under(case, name)) else {
        return Some(Err(NoFlushCount::NoDevice { path: path.to_owned() }));
    };
    let is_cached = device.write_cache.as_deref() == Some("write back");
    if !is_cached && !has_hidden_cache(case, device) {
        return None;
    }
    let disk = case.record.disks().and_then(|disks| disks.iter().find(|disk| disk.name == device.name));
    Some(match disk.map(|disk| disk.counters.n_flushes) {
        None => Err(NoFlushCount::NotCounted { device: &device.name }),
        Some(None) => Err(NoFlushCount::NotByKernel { device: &device.name }),
        Some(Some(n_counted)) => Ok(Flushes { option, device, is_cached, n_counted }),
    })
}

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let Flushes { option, device, is_cached, n_counted } = flushes(case, job)?.ok()?;
    let written = job.figures(DataDirection::Write)?;
    if n_counted > 0 {
        return None;
    }
    let mounted = job.places.iter().find_map(|place| {
        let options = place.mount_options.as_deref()?.split(',');
        options.into_iter().find(|option| WITHOUT_BARRIER.contains(option))
    });
    let reason = match (mounted, is_cached) {
        (Some(mounted), _) => format!("the file system is mounted with {mounted}"),
        (None, false) => {
            format!("{} is declared to have no cache (write through), so the kernel sends it no flushes", device.name)
        }
        (None, true) => "something between the program and the device swallows them, such as a library".to_owned(),
    };
    let explanation = format!(
        "The job asked for syncs ({option}) and {} was asked for no flush in the run: {reason}. The data was not made safe, and the time for \
         that is in no figure.",
        device.name
    );
    let evidence = vec![
        Measured::bytes("written by the job", written.bytes),
        Measured::count(&format!("flushes of {}", device.name), 0.0),
    ];
    Some(Observation::of(job, evidence, explanation).about(DataDirection::Write))
}

/// The option by which the job made a sync after it had written.
fn sync_option(job: &AuditedJob<'_>, n_writes: u64) -> Option<&'static str> {
    let durability = &job.spec.durability;
    let is_due =
        |interval: u32| interval > 0 && n_writes >= u64::from(interval).saturating_mul(u64::from(job.n_clones));
    match () {
        () if is_due(durability.fsync_blocks) => Some("fsync"),
        () if is_due(durability.fdatasync_blocks) => Some("fdatasync"),
        () if durability.end_fsync => Some("end_fsync"),
        () if durability.fsync_on_close => Some("fsync_on_close"),
        () if durability.end_syncfs => Some("end_syncfs"),
        () => None,
    }
}

/// The device has its data in memory of another machine, or of this one, before they are on a disk.
fn has_hidden_cache(case: &AuditInput<'_>, device: &DeviceFacts) -> bool {
    let layer = case.layer(&device.name);
    let is_loop = layer.is_some_and(|layer| {
        layer.kind == LayerKind::Loop && layer.backing.as_ref().is_some_and(|backing| backing.direct_io == Some(false))
    });
    let model = device.model.as_deref().unwrap_or_default();
    is_loop || device.name.starts_with("vd") || VIRTUAL.iter().any(|word| model.contains(word))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;

    /// Writes with `end_fsync`, and the flushes that the device has counted.
    fn scene(n_flushes: Option<u64>, write_cache: &str, options: &str) -> TestRun {
        let mut job = job("a", DirectionMix::Write);
        job.durability.end_fsync = true;
        let mut scene = TestRun::new(job);
        scene.n_flushes = n_flushes;
        (scene.device.write_cache, scene.device.n_hardware_queues) = (Some(write_cache.to_owned()), Some(1));
        scene.device.name = "sda".to_owned();
        scene.places[0].device = Some("sda".to_owned());
        scene.places[0].mount_options = Some(options.to_owned());
        scene
    }

    fn is_told(scene: &TestRun) -> bool {
        scene.found().contains(&"sync-without-flush".to_owned())
    }

    #[test]
    fn a_cache_that_nothing_flushed_is_told() {
        assert!(is_told(&scene(Some(0), "write back", "rw")));
        assert!(!is_told(&scene(Some(1), "write back", "rw")));
        assert!(!is_told(&scene(None, "write back", "rw")), "the kernel does not count");
        assert!(!is_told(&scene(Some(0), "write through", "rw")), "there is nothing to flush");
        let mut virtual_disk = scene(Some(0), "write through", "rw");
        virtual_disk.device.model = Some("QEMU HARDDISK".to_owned());
        assert!(is_told(&virtual_disk));
        let mut without_sync = scene(Some(0), "write back", "rw");
        without_sync.jobs[0].durability.end_fsync = false;
        assert!(!is_told(&without_sync));
    }

    #[test]
    fn the_mount_option_is_named() {
        let finding = scene(Some(0), "write back", "rw,nobarrier").finding("sync-without-flush");
        assert!(finding.explanation.contains("the file system is mounted with nobarrier"), "{finding:?}");
    }
}
