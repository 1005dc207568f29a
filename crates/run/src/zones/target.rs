//! Which zones a file or device has.
//!
//! Must not know: what jobs do in them. Start reading at [`table`].

use super::{refused, shared::SharedZones};
use crate::error::{JobError, errno_of, job_error};
use crate::files::FilePlan;
use crate::plan::WorkerPlan;
use ferrio_job::spec::{DirectionMix, SequentialZonesSpec};
use ferrio_sys::block_device::BlockDevice;
use ferrio_sys::block_device::zones::{OpenZonedDevice, Zone, ZoneCondition, ZoneKind, ZoneModel, ZonedDevice};
use ferrio_sys::file::{Access, FileKind, OpenRequest};
use ferrio_workload::{ZoneLayout, ZoneShape, ZoneShapes, ZoneTable};

/// Most zones of a file: their state takes 8 bytes each.
const MAX_ZONES: u64 = 1 << 24;

/// Smallest emulated zone.
const MIN_ZONE_BYTES: u64 = 512;

/// The zones of a device as the kernel knows them.
#[derive(Debug)]
pub(super) struct FoundZones {
    pub(super) model: ZoneModel,
    pub(super) device: Box<dyn ZonedDevice>,
    /// Most zones that may be open; 0: no limit.
    pub(super) max_open: u32,
}

/// The zones of a file, and whether they are its own, as those of a zoned device, or emulated.
pub(super) fn table(
    worker: &WorkerPlan,
    spec: &SequentialZonesSpec,
    file: &FilePlan,
    n_workers: usize,
) -> Result<(ZoneTable, bool), JobError> {
    Ok(match found(worker, file)? {
        Some(zones) => (of_device(worker, spec, file, n_workers, zones)?, true),
        None => (emulated(spec, file, n_workers)?, false),
    })
}

/// The device, if it has zones.
fn found(worker: &WorkerPlan, file: &FilePlan) -> Result<Option<FoundZones>, JobError> {
    if worker.engine.diskless || file.kind != FileKind::Block {
        return Ok(None);
    }
    let system =
        |error: ferrio_sys::Error| job_error!(errno_of(&error), "zbd_init_files").explained(format!("fio: {error}"));
    let Some(disk) = BlockDevice::behind_path(&file.path).map_err(system)? else { return Ok(None) };
    let Some(model) = ZoneModel::of(&disk) else { return Ok(None) };
    let reads_only = worker.spec.pattern.mix == DirectionMix::Read;
    let access = if reads_only { Access::Read } else { Access::ReadWrite };
    let fd = OpenRequest { access, ..OpenRequest::default() }.open(&file.path).map_err(system)?;
    let max_open = disk.queue_attribute("max_open_zones").and_then(|text| text.parse().ok()).unwrap_or(0);
    Ok(Some(FoundZones { model, device: Box::new(OpenZonedDevice(fd)), max_open }))
}

pub(super) fn of_device(
    worker: &WorkerPlan,
    spec: &SequentialZonesSpec,
    file: &FilePlan,
    n_workers: usize,
    found: FoundZones,
) -> Result<ZoneTable, JobError> {
    let name = &file.name;
    let system =
        |error: ferrio_sys::Error| job_error!(errno_of(&error), "zbd_get_zones").explained(format!("fio: {error}"));
    if found.model == ZoneModel::HostManaged && worker.writes() && !worker.spec.durability.direct {
        return Err(refused("Using direct I/O is mandatory for writing to ZBD drives".to_owned()));
    }
    let zone_bytes = found.device.zone_bytes().map_err(system)?;
    if spec.zone_bytes > 0 && spec.zone_bytes != zone_bytes {
        let given = spec.zone_bytes;
        return Err(refused(format!("{name}: zonesize {given} does not match the device zone size {zone_bytes}")));
    }
    let zones = found.device.report().map_err(system)?;
    let layout = layout_of(&zones, zone_bytes).ok_or_else(|| refused(format!("{name}: zones differ in size")))?;
    let max_open = max_open(spec, &found, name)?;
    let table = make(name, layout, max_open, n_workers, Some(found.device))?;
    for (index, zone) in zones.iter().enumerate().filter(|(_, zone)| zone.kind != ZoneKind::Conventional) {
        table.set_written(index, zone.written_bytes);
    }
    Ok(table)
}

/// The limit of the job, which is not above that of the device.
fn max_open(spec: &SequentialZonesSpec, found: &FoundZones, name: &str) -> Result<u32, JobError> {
    match (spec.max_open, found.max_open) {
        (given, _) if spec.ignores_limits => Ok(given),
        (given, 0) => Ok(given),
        (0, limit) => Ok(limit),
        (given, limit) if given > limit => {
            Err(refused(format!("{name}: max_open_zones {given} is above the limit of the device, {limit}")))
        }
        (given, _) => Ok(given),
    }
}

/// `None`: zones do not all lie at multiples of the size.
fn layout_of(zones: &[Zone], zone_bytes: u64) -> Option<ZoneLayout> {
    let is_in_place = |(index, zone): (usize, &Zone)| {
        (index as u64).checked_mul(zone_bytes) == Some(zone.start_bytes) && zone.length_bytes <= zone_bytes
    };
    if zone_bytes == 0 || zones.is_empty() || !zones.iter().enumerate().all(is_in_place) {
        return None;
    }
    let shape = |zone: &Zone| ZoneShape {
        // Nothing can be written to what is broken.
        capacity_bytes: match zone.condition {
            ZoneCondition::ReadOnly | ZoneCondition::Offline => zone.written_bytes,
            _ => zone.capacity_bytes,
        },
        is_sequential: zone.kind != ZoneKind::Conventional,
    };
    Some(ZoneLayout { zone_bytes, n_zones: zones.len(), shapes: ZoneShapes::Each(zones.iter().map(shape).collect()) })
}

fn emulated(spec: &SequentialZonesSpec, file: &FilePlan, n_workers: usize) -> Result<ZoneTable, JobError> {
    let (name, zone_bytes, file_bytes) = (&file.name, spec.zone_bytes, file.file_bytes);
    if zone_bytes == 0 {
        let text = "Specifying the zone size is mandatory for regular file/block device with --zonemode=zbd";
        return Err(refused(format!("{name}: {text}")));
    }
    if zone_bytes < MIN_ZONE_BYTES {
        return Err(refused(format!("{name}: zone size must be at least 512 bytes for --zonemode=zbd")));
    }
    if spec.capacity_bytes > zone_bytes {
        let capacity = spec.capacity_bytes;
        return Err(refused(format!(
            "{name}: job parameter zonecapacity {capacity} is larger than zone size {zone_bytes}"
        )));
    }
    if file_bytes < zone_bytes {
        return Err(refused(format!("{name}: file/device size {file_bytes} is smaller than zone size {zone_bytes}")));
    }
    let capacity_bytes = if spec.capacity_bytes > 0 { spec.capacity_bytes } else { zone_bytes };
    let n_zones = file_bytes.div_ceil(zone_bytes);
    if n_zones > MAX_ZONES {
        return Err(refused(format!("{name}: {n_zones} zones are more than {MAX_ZONES}: zonesize is too small")));
    }
    let shapes = ZoneShapes::Same(ZoneShape { capacity_bytes, is_sequential: true });
    let layout = ZoneLayout { zone_bytes, n_zones: n_zones as usize, shapes };
    make(name, layout, spec.max_open, n_workers, None)
}

fn make(
    name: &str,
    layout: ZoneLayout,
    max_open: u32,
    n_workers: usize,
    device: Option<Box<dyn ZonedDevice>>,
) -> Result<ZoneTable, JobError> {
    let max_open = max_open as usize;
    let too_many = || refused(format!("{name}: too many zones"));
    let n_words = ZoneTable::n_words(&layout, max_open, n_workers).ok_or_else(too_many)?;
    let state = SharedZones::new(n_words, device)
        .map_err(|error| job_error!(errno_of(&error), "zbd_init_files").explained(format!("fio: {error}")))?;
    Ok(ZoneTable::new(layout, max_open, n_workers, Box::new(state)))
}
