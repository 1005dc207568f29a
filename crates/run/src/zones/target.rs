//! Finds the zones of a file or device, and resets them where a job trims.
//!
//! Must not know: I/O in zones. Start reading at [`table`].

use super::shared::{DeviceBehind, SharedZones};
use super::{EINVAL, refused};
use crate::error::{Failure, errno_of, failure};
use crate::files::FilePlan;
use crate::plan::WorkerPlan;
use crate::wrapped::{Wrapped, Wrapper};
use ferrio_engine::{Engine, IoResult, IoUnit, Queued};
use ferrio_spec::{DirectionMix, SequentialZonesSpec};
use ferrio_stats::note::{During, ZoneNote};
use ferrio_stats::{FailedStep, Note};
use ferrio_sys::block_device::BlockDevice;
use ferrio_sys::block_device::zones::{OpenZonedDevice, Zone, ZoneCondition, ZoneKind, ZoneModel, ZonedDevice};
use ferrio_sys::file::{Access, FileInfo, FileKind, OpenRequest};
use ferrio_sys::nvme::zones::NvmeZones;
use ferrio_sys::scsi::{self, node::ScsiSide};
use ferrio_units::{DataDirection, Direction};
use ferrio_workload::{ZoneActivity, ZoneLayout, ZoneLimits, ZoneShape, ZoneShapes, ZoneTable};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most zones of a file: their state takes 24 bytes each.
const MAX_ZONES: u64 = 1 << 24;

/// The kernel counts in sectors.
const SECTOR_BYTES: u64 = 512;

/// Length of the smallest emulated zone.
const MIN_ZONE_BYTES: u64 = 512;

/// The zones of a device, as the kernel reports them.
#[derive(Debug)]
pub(super) struct FoundZones {
    pub(super) model: ZoneModel,
    pub(super) device: Box<dyn ZonedDevice>,
    /// The device is open for writing.
    pub(super) is_writable: bool,
    /// Most zones that may be open; 0: no limit.
    pub(super) max_open: u32,
    /// Most zones that may be partly written; 0: no limit.
    pub(super) max_active: u32,
}

#[derive(Debug)]
pub(super) struct TargetZones {
    pub(super) table: ZoneTable,
    /// The device, if it is a zoned one; `None`: the zones are emulated.
    pub(super) device: Option<Arc<DeviceBehind>>,
}

/// The zones of a file: those of the device, or emulated ones.
pub(super) fn table(
    worker: &WorkerPlan,
    spec: &SequentialZonesSpec,
    file: &FilePlan,
    n_workers: usize,
) -> Result<TargetZones, Failure> {
    match found(worker, file)? {
        Some(zones) => of_device(worker, spec, file, n_workers, zones),
        None => Ok(TargetZones { table: emulated(spec, file, n_workers)?, device: None }),
    }
}

/// True for jobs that change zones; only these need the device open for writing.
fn changes_zones(worker: &WorkerPlan) -> bool {
    worker.spec.pattern.mix != DirectionMix::Read
}

pub(super) fn writable(worker: &WorkerPlan, file: &FilePlan) -> Result<Box<dyn ZonedDevice>, Failure> {
    if let Some(found) = found_by_commands(worker, file)? {
        return Ok(found.device);
    }
    let path = block_device_of(worker, &file.path, file.kind)?.unwrap_or_else(|| file.path.clone());
    let fd = OpenRequest { access: Access::ReadWrite, is_direct: true, ..OpenRequest::default() }.open(&path).map_err(
        |error: ferrio_sys::Error| {
            failure!(errno_of(&error), "zbd_init_files").explained(Note::system(During::Nothing, &error))
        },
    )?;
    Ok(Box::new(OpenZonedDevice(fd)))
}

/// Distance between two zones of a device; `None`: it has no zones, or is no block device.
pub(super) fn device_zone_bytes(worker: &WorkerPlan, path: &Path) -> Result<Option<u64>, Failure> {
    let Ok(info) = FileInfo::of_path(path) else { return Ok(None) };
    let block = block_device_of(worker, path, info.kind)?;
    if block.is_none() && takes_commands_of_nvme(worker, info.kind) {
        let zones = OpenRequest::default().open(path).ok().and_then(|device| NvmeZones::of(device).ok().flatten());
        return zones.map(|zones| zones.zone_bytes().map_err(|error| unreadable(&error))).transpose();
    }
    let Some(path) = block else { return Ok(None) };
    let disk = BlockDevice::behind_path(&path).map_err(|error| unreadable(&error))?;
    let Some(disk) = disk.filter(|disk| ZoneModel::of(disk).is_some()) else { return Ok(None) };
    let n_sectors: Option<u64> = disk.queue_attribute("chunk_sectors").and_then(|text| text.parse().ok());
    Ok(n_sectors.and_then(|n_sectors| n_sectors.checked_mul(SECTOR_BYTES)).filter(|bytes| *bytes > 0))
}

fn unreadable(error: &ferrio_sys::Error) -> Failure {
    failure!(errno_of(error), "zbd_init_files").explained(Note::system(During::Nothing, error))
}

/// Neither the device nor the job gives the size of a zone.
pub(super) fn needs_zone_size(name: &str) -> Failure {
    refused(ZoneNote::SizeIsMandatory { name: name.to_owned() })
}

/// The block device whose zones are those of a file: the file itself, or the one of the disk behind a character device of SCSI. `None`: the
/// file is none of both.
fn block_device_of(worker: &WorkerPlan, path: &Path, kind: FileKind) -> Result<Option<PathBuf>, Failure> {
    let targets = worker.engine.def.targets;
    match kind {
        FileKind::Block if targets.are_files() || targets.are_passthrough() => Ok(Some(path.to_owned())),
        FileKind::Character if targets.are_passthrough() => {
            let number = FileInfo::of_path(path).map_err(|error| unreadable(&error))?.is_device;
            match scsi::node::block_device_of(number).map_err(|error| unreadable(&error))? {
                ScsiSide::Disk(block) => Ok(Some(block)),
                ScsiSide::NoDisk | ScsiSide::NotScsi => Ok(None),
            }
        }
        _ => Ok(None),
    }
}

/// True for a device whose zones are asked for by commands of NVMe.
fn takes_commands_of_nvme(worker: &WorkerPlan, kind: FileKind) -> bool {
    worker.engine.def.targets.are_passthrough() && kind == FileKind::Character
}

/// The zones of a namespace whose commands the engine sends, by its own commands. `None`: the engine sends none, or the namespace has
/// no zones.
fn found_by_commands(worker: &WorkerPlan, file: &FilePlan) -> Result<Option<FoundZones>, Failure> {
    if !takes_commands_of_nvme(worker, file.kind) || block_device_of(worker, &file.path, file.kind)?.is_some() {
        return Ok(None);
    }
    let is_writable = changes_zones(worker);
    let access = if is_writable { Access::ReadWrite } else { Access::Read };
    let system = |error: ferrio_sys::Error| unreadable(&error);
    let fd = OpenRequest { access, ..OpenRequest::default() }.open(&file.path).map_err(system)?;
    let Some(zones) = NvmeZones::of(fd).map_err(system)? else { return Ok(None) };
    let (max_open, max_active) = (zones.max_open(), zones.max_active());
    Ok(Some(FoundZones { model: ZoneModel::HostManaged, device: Box::new(zones), is_writable, max_open, max_active }))
}

/// The device, if it has zones.
fn found(worker: &WorkerPlan, file: &FilePlan) -> Result<Option<FoundZones>, Failure> {
    let Some(path) = block_device_of(worker, &file.path, file.kind)? else { return found_by_commands(worker, file) };
    let system = |error: ferrio_sys::Error| unreadable(&error);
    let Some(disk) = BlockDevice::behind_path(&path).map_err(system)? else { return Ok(None) };
    let Some(model) = ZoneModel::of(&disk) else { return Ok(None) };
    let is_writable = changes_zones(worker);
    let access = if is_writable { Access::ReadWrite } else { Access::Read };
    let fd = OpenRequest { access, is_direct: true, ..OpenRequest::default() }.open(&path).map_err(system)?;
    let limit = |name| disk.queue_attribute(name).and_then(|text| text.parse().ok()).unwrap_or(0);
    let (max_open, max_active) = (limit("max_open_zones"), limit("max_active_zones"));
    Ok(Some(FoundZones { model, device: Box::new(OpenZonedDevice(fd)), is_writable, max_open, max_active }))
}

pub(super) fn of_device(
    worker: &WorkerPlan,
    spec: &SequentialZonesSpec,
    file: &FilePlan,
    n_workers: usize,
    found: FoundZones,
) -> Result<TargetZones, Failure> {
    let name = &file.name;
    let system = |error: ferrio_sys::Error| {
        failure!(errno_of(&error), "zbd_get_zones").explained(Note::system(During::Nothing, &error))
    };
    let is_cached = !worker.spec.durability.direct && !worker.engine.def.targets.are_passthrough();
    if found.model == ZoneModel::HostManaged && worker.writes() && is_cached {
        let step = FailedStep::Explained("zbd_init_files".into());
        return Err(failure!(EINVAL, step).explained(ZoneNote::DirectIsMandatory));
    }
    let zone_bytes = found.device.zone_bytes().map_err(system)?;
    if spec.zone_bytes > 0 && spec.zone_bytes != zone_bytes {
        let note = ZoneNote::NotTheDisksSize { file: name.clone(), given_bytes: spec.zone_bytes, zone_bytes };
        return Err(failure!(EINVAL, "zbd_create_zone_info() failed").explained(note));
    }
    let zones = found.device.report().map_err(system)?;
    let differ = || refused(ZoneNote::SizesDiffer { file: name.clone() });
    let layout = layout_of(&zones, zone_bytes).ok_or_else(differ)?;
    let limits = limits(spec, &found, name)?;
    let behind = Arc::new(DeviceBehind::default());
    if found.is_writable {
        // Cannot fail: it was empty just before.
        let _ = behind.writable.set(found.device);
    }
    let table = make(name, layout, limits, n_workers, &behind)?;
    for (index, zone) in zones.iter().enumerate().filter(|(_, zone)| zone.kind != ZoneKind::Conventional) {
        table.found(index, zone.written_bytes, activity(zone.condition));
    }
    Ok(TargetZones { table, device: Some(behind) })
}

/// How a zone counts for the limits of its device.
fn activity(condition: ZoneCondition) -> ZoneActivity {
    match condition {
        ZoneCondition::ExplicitlyOpen => ZoneActivity::OpenByRequest,
        ZoneCondition::ImplicitlyOpen | ZoneCondition::Closed => ZoneActivity::Active,
        _ => ZoneActivity::None,
    }
}

/// The limits of the job, which must not exceed those of the device.
fn limits(spec: &SequentialZonesSpec, found: &FoundZones, name: &str) -> Result<ZoneLimits, Failure> {
    let of_device = [found.max_open, found.max_active].into_iter().filter(|limit| *limit > 0).min().unwrap_or(0);
    let max_open = match (spec.max_open, of_device) {
        (given, _) if spec.ignores_limits => {
            return Ok(ZoneLimits { max_open: given as usize, ..ZoneLimits::default() });
        }
        (0, limit) => limit,
        (given, limit) if limit > 0 && given > limit => {
            return Err(refused(ZoneNote::AboveOpenLimit { file: name.to_owned(), given, limit }));
        }
        (given, _) => given,
    };
    let (max_active, max_device_open) = (found.max_active as usize, found.max_open as usize);
    Ok(ZoneLimits { max_open: max_open as usize, max_active, max_device_open })
}

/// `None`: some zone does not begin at a multiple of the size.
fn layout_of(zones: &[Zone], zone_bytes: u64) -> Option<ZoneLayout> {
    let is_in_place = |(index, zone): (usize, &Zone)| {
        (index as u64).checked_mul(zone_bytes) == Some(zone.start_bytes) && zone.length_bytes <= zone_bytes
    };
    if zone_bytes == 0 || zones.is_empty() || !zones.iter().enumerate().all(is_in_place) {
        return None;
    }
    let shape = |zone: &Zone| ZoneShape {
        // A broken zone has no capacity left to write.
        capacity_bytes: match zone.condition {
            ZoneCondition::ReadOnly | ZoneCondition::Offline => zone.written_bytes,
            _ => zone.capacity_bytes,
        },
        is_sequential: zone.kind != ZoneKind::Conventional,
    };
    Some(ZoneLayout { zone_bytes, n_zones: zones.len(), shapes: ZoneShapes::Each(zones.iter().map(shape).collect()) })
}

fn emulated(spec: &SequentialZonesSpec, file: &FilePlan, n_workers: usize) -> Result<ZoneTable, Failure> {
    let (name, zone_bytes, file_bytes) = (&file.name, spec.zone_bytes, file.file_bytes);
    if zone_bytes == 0 {
        return Err(needs_zone_size(name));
    }
    if zone_bytes < MIN_ZONE_BYTES {
        return Err(refused(ZoneNote::SizeTooSmall { file: name.clone(), min_bytes: MIN_ZONE_BYTES }));
    }
    if spec.capacity_bytes > zone_bytes {
        let capacity_bytes = spec.capacity_bytes;
        return Err(refused(ZoneNote::CapacityTooLarge { file: name.clone(), capacity_bytes, zone_bytes }));
    }
    if file_bytes < zone_bytes {
        return Err(refused(ZoneNote::FileTooSmall { file: name.clone(), file_bytes, zone_bytes }));
    }
    let capacity_bytes = if spec.capacity_bytes > 0 { spec.capacity_bytes } else { zone_bytes };
    let n_zones = file_bytes.div_ceil(zone_bytes);
    if n_zones > MAX_ZONES {
        return Err(refused(ZoneNote::TooMany { file: name.clone(), n_zones, limit: MAX_ZONES }));
    }
    let shapes = ZoneShapes::Same(ZoneShape { capacity_bytes, is_sequential: true });
    let layout = ZoneLayout { zone_bytes, n_zones: n_zones as usize, shapes };
    let limits = ZoneLimits { max_open: spec.max_open as usize, ..ZoneLimits::default() };
    make(name, layout, limits, n_workers, &Arc::default())
}

fn make(
    name: &str,
    layout: ZoneLayout,
    limits: ZoneLimits,
    n_workers: usize,
    device: &Arc<DeviceBehind>,
) -> Result<ZoneTable, Failure> {
    let too_many = || refused(ZoneNote::TooManyForMemory { file: name.to_owned() });
    let n_words = ZoneTable::n_words(&layout, limits.max_open, n_workers).ok_or_else(too_many)?;
    let state = SharedZones::new(n_words, Arc::clone(device)).map_err(|error| {
        failure!(errno_of(&error), "zbd_init_files").explained(Note::system(During::Nothing, &error))
    })?;
    Ok(ZoneTable::new(layout, limits, n_workers, Box::new(state)))
}

/// Tables of the zones that trims reset.
struct ZoneResets(Vec<Arc<ZoneTable>>);

/// Wraps an engine, which then gets everything except for trims.
pub(crate) fn reset_zones<'a>(inner: Box<dyn Engine + 'a>, tables: Vec<Arc<ZoneTable>>) -> Box<dyn Engine + 'a> {
    Box::new(Wrapped::new(inner, ZoneResets(tables)))
}

impl Wrapper for ZoneResets {
    fn queue(&mut self, inner: &mut dyn Engine, unit_index: u32, unit: &IoUnit) -> Queued {
        if unit.direction != Direction::from(DataDirection::Trim) {
            return inner.queue(unit_index, unit);
        }
        let length_bytes = unit.length_bytes as u64;
        let reset = self.0[unit.file_index as usize].trim(unit.offset_bytes, length_bytes);
        Queued::Completed(match reset {
            Ok(()) => IoResult::done(unit.length_bytes),
            Err(errno) => IoResult::failed(errno),
        })
    }
}
