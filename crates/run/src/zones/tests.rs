//! Zones of devices by a device that is none, and the ranges of jobs.

use super::target::{FoundZones, of_device};
use super::*;
use ferrio_job::draft::Draft;
use ferrio_job::spec::{JobSpec, RunSpec};
use ferrio_sys::block_device::zones::{Zone, ZoneCondition, ZoneKind, ZoneModel, ZonedDevice};
use ferrio_sys::file::FileKind;
use std::sync::Mutex;

const ZONE: u64 = 1 << 20;

/// Starts and lengths of what a device was asked to reset.
type Resets = Arc<Mutex<Vec<(u64, u64)>>>;

/// Four zones of which the first can be written anywhere; keeps what it is asked to reset.
#[derive(Debug, Default)]
struct Fake {
    resets: Resets,
}

impl ZonedDevice for Fake {
    fn zone_bytes(&self) -> ferrio_sys::Result<u64> {
        Ok(ZONE)
    }

    fn report(&self) -> ferrio_sys::Result<Vec<Zone>> {
        let zone = |index: u64, kind, condition, written_bytes| Zone {
            start_bytes: index * ZONE,
            length_bytes: ZONE,
            capacity_bytes: ZONE / 2,
            written_bytes,
            kind,
            condition,
        };
        Ok(vec![
            zone(0, ZoneKind::Conventional, ZoneCondition::NoWritePointer, 0),
            zone(1, ZoneKind::SequentialRequired, ZoneCondition::Open, 4096),
            zone(2, ZoneKind::SequentialRequired, ZoneCondition::Full, ZONE / 2),
            zone(3, ZoneKind::SequentialRequired, ZoneCondition::ReadOnly, 8192),
        ])
    }

    fn reset(&self, start_bytes: u64, length_bytes: u64) -> ferrio_sys::Result<()> {
        self.resets.lock().unwrap().push((start_bytes, length_bytes));
        Ok(())
    }

    fn finish(&self, _: u64, _: u64) -> ferrio_sys::Result<()> {
        Ok(())
    }
}

fn worker(change: impl FnOnce(&mut JobSpec, &mut SequentialZonesSpec)) -> (WorkerPlan, SequentialZonesSpec) {
    let mut job = Draft::new().job;
    let mut spec = SequentialZonesSpec {
        zone_bytes: 0,
        capacity_bytes: 0,
        skip: ZoneSkip::Bytes(0),
        reads_beyond_written: false,
        max_open: 0,
        job_max_open: 0,
        ignores_limits: false,
        reset_threshold: 0.0,
        reset_frequency: 0.0,
        writes_remainder: false,
    };
    job.pattern.mix = DirectionMix::Write;
    job.durability.direct = true;
    "null".clone_into(&mut job.engine.name);
    change(&mut job, &mut spec);
    job.zones = ZoneSpec::Sequential(spec);
    let plan = crate::plan::RunPlan::new(RunSpec { global_options: Vec::new(), jobs: vec![job] }).unwrap();
    (plan.workers.into_iter().next().unwrap(), spec)
}

fn file(start_bytes: u64, length_bytes: u64, file_bytes: u64) -> FilePlan {
    FilePlan {
        path: PathBuf::from("/nowhere/f"),
        name: "f".to_owned(),
        kind: FileKind::Regular,
        start_bytes,
        length_bytes,
        file_bytes,
    }
}

fn device_table(
    limit: u32,
    change: impl FnOnce(&mut JobSpec, &mut SequentialZonesSpec),
) -> Result<(ZoneTable, Resets), String> {
    let (worker, spec) = worker(change);
    let fake = Fake::default();
    let resets = Arc::clone(&fake.resets);
    let found = FoundZones { model: ZoneModel::HostManaged, device: Box::new(fake), max_open: limit };
    let table = of_device(&worker, &spec, &file(0, 4 * ZONE, 4 * ZONE), 1, found);
    table.map(|table| (table, resets)).map_err(|error| error.message)
}

#[test]
fn a_device_tells_its_zones() {
    let (table, resets) = device_table(3, |_, _| ()).unwrap();
    assert_eq!((table.layout().zone_bytes, table.layout().n_zones, table.max_open()), (ZONE, 4, 3));
    assert_eq!((1..4).map(|zone| table.written(zone)).collect::<Vec<_>>(), [4096, ZONE / 2, 8192]);
    // What is broken has no room for a block, and what can be written anywhere is not asked.
    assert_eq!(table.least_capacity_bytes(), Some(8192));
    table.trim(ZONE, ZONE).unwrap();
    assert_eq!(*resets.lock().unwrap(), [(ZONE, ZONE)]);
}

#[test]
fn what_a_device_cannot_is_refused() {
    assert_eq!(
        device_table(0, |job, _| job.durability.direct = false).unwrap_err(),
        "Using direct I/O is mandatory for writing to ZBD drives"
    );
    assert_eq!(
        device_table(0, |_, spec| spec.zone_bytes = 4096).unwrap_err(),
        "f: zonesize 4096 does not match the device zone size 1048576"
    );
    assert_eq!(
        device_table(2, |_, spec| spec.max_open = 3).unwrap_err(),
        "f: max_open_zones 3 is above the limit of the device, 2"
    );
    let ignored = |_: &mut JobSpec, spec: &mut SequentialZonesSpec| (spec.max_open, spec.ignores_limits) = (3, true);
    assert_eq!(device_table(2, ignored).unwrap().0.max_open(), 3);
}

/// The range and the messages, or the error, as seen on fio 3.33.
fn rounded(start: u64, length: u64, file_bytes: u64) -> Result<(u64, u64, Vec<String>), String> {
    let (worker, _) = worker(|_, spec| spec.zone_bytes = 64 << 10);
    let mut set = FileSet { files: vec![file(start << 10, length << 10, file_bytes << 10)], ..FileSet::default() };
    let mut texts = Vec::new();
    let mut tell = |event| {
        if let RunEvent::Message(_, text) = event {
            texts.push(text);
        }
    };
    ZoneRegistry::new(1).enter(&worker, &mut set, &mut tell).map_err(|error| error.message)?;
    Ok((set.files[0].start_bytes >> 10, set.files[0].length_bytes >> 10, texts))
}

#[test]
fn ranges_are_put_to_borders_of_zones() {
    assert_eq!(rounded(64, 128, 256), Ok((64, 128, vec![])));
    let down = vec!["f: rounded down io_size from 204800 to 196608".to_owned()];
    assert_eq!(rounded(0, 200, 256), Ok((0, 192, down)));
    let both = vec![
        "f: rounded up offset from 20480 to 65536".to_owned(),
        "f: rounded down io_size from 86016 to 65536".to_owned(),
    ];
    assert_eq!(rounded(20, 128, 256), Ok((64, 64, both)));
    for (start, length) in [(20, 40), (20, 100), (0, 60)] {
        assert_eq!(rounded(start, length, 256), Err("f: io_size must be at least one zone".to_owned()));
    }
    let small = "f: file/device size 40960 is smaller than zone size 65536";
    assert_eq!(rounded(0, 40, 40), Err(small.to_owned()));
}

#[test]
fn a_device_has_one_writer_for_a_zone() {
    let (table, _) = device_table(0, |_, _| ()).unwrap();
    let mut known = Known { table: Arc::new(table), is_device: true, written: Vec::new() };
    for (start, length, is_possible) in [(0, 2, true), (2, 1, true), (1, 2, false), (3, 1, true)] {
        assert_eq!(known.claim(&file(start * ZONE, length * ZONE, 4 * ZONE)).is_ok(), is_possible, "{start}");
    }
}

#[test]
fn jobs_on_one_file_have_the_same_zones() {
    let mut registry = ZoneRegistry::new(2);
    let mut enter = |zone_bytes: u64, max_open, job_max_open, file_bytes| {
        let (worker, _) = worker(|_, spec| {
            (spec.zone_bytes, spec.max_open, spec.job_max_open) = (zone_bytes, max_open, job_max_open);
        });
        let mut set = FileSet { files: vec![file(0, 256 << 10, file_bytes)], ..FileSet::default() };
        registry.enter(&worker, &mut set, &mut |_| ()).map(|()| set.zones).map_err(|error| error.message)
    };
    let (zone, length) = (64 << 10, 256 << 10);
    let first = enter(zone, 2, 0, length).unwrap();
    // What is not said is as it was, and the file may have grown.
    for (zone_bytes, max_open, file_bytes) in
        [(zone, 2, length), (0, 2, length), (zone, 0, length), (zone, 2, 2 * length)]
    {
        assert_eq!(enter(zone_bytes, max_open, 0, file_bytes).unwrap(), first, "{zone_bytes} {max_open}");
    }
    assert_eq!(enter(zone, 0, 1, length).unwrap(), first);
    assert_eq!(enter(zone, 3, 0, length).unwrap_err(), "Different 'max_open_zones' values");
    let other = "f: zonesize 131072 does not match the device zone size 65536.";
    assert_eq!(enter(2 * zone, 2, 0, length).unwrap_err(), other);
}
