//! Zones of devices, with a fake device, and the ranges of jobs.

use super::target::{FoundZones, of_device};
use super::*;
use ferrio_spec::{JobSpec, RunSpec, SizesInZones};
use ferrio_sys::block_device::zones::{Zone, ZoneCondition, ZoneKind, ZoneModel, ZonedDevice};
use ferrio_sys::file::FileKind;
use std::sync::Mutex;

fn text_of(error: Failure) -> String {
    error.note.map_or_else(String::new, |note| ferrio_formats::words::note(&note))
}

const ZONE: u64 = 1 << 20;

/// Starts and lengths of the resets that a device was asked for.
type Resets = Arc<Mutex<Vec<(u64, u64)>>>;

/// Four zones, of which the first can be written anywhere; records the resets that it is asked for.
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
            zone(1, ZoneKind::SequentialRequired, ZoneCondition::ImplicitlyOpen, 4096),
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

    fn written_bytes(&self, _: u64) -> ferrio_sys::Result<u64> {
        Ok(0)
    }

    fn write_zeroes(&self, _: u64, _: u64) -> ferrio_sys::Result<()> {
        Ok(())
    }

    fn write(&self, _: u64, _: &[u8]) -> ferrio_sys::Result<()> {
        Ok(())
    }
}

fn worker(change: impl FnOnce(&mut JobSpec, &mut SequentialZonesSpec)) -> (WorkerPlan, SequentialZonesSpec) {
    let mut job = JobSpec::default();
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
        recovers_writes: false,
        sizes: SizesInZones::default(),
    };
    job.pattern.mix = DirectionMix::Write;
    job.durability.direct = true;
    "null".clone_into(&mut job.engine.name);
    change(&mut job, &mut spec);
    job.zones = ZoneSpec::Sequential(spec);
    let plan = crate::plan::RunPlan::new(RunSpec {
        global_options: Vec::new(),
        jobs: vec![job],
        compatibility: ferrio_spec::Compatibility::Fio,
        ..RunSpec::default()
    })
    .unwrap();
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
    let found = FoundZones {
        model: ZoneModel::HostManaged,
        device: Box::new(fake),
        is_writable: true,
        max_open: limit,
        max_active: 0,
    };
    let table = of_device(&worker, &spec, &file(0, 4 * ZONE, 4 * ZONE), 1, found);
    table.map(|found| (found.table, resets)).map_err(text_of)
}

#[test]
fn a_device_tells_its_zones() {
    let (table, resets) = device_table(3, |_, _| ()).unwrap();
    assert_eq!((table.layout().zone_bytes, table.layout().n_zones, table.limits().max_open), (ZONE, 4, 3));
    assert_eq!((1..4).map(|zone| table.written(zone)).collect::<Vec<_>>(), [4096, ZONE / 2, 8192]);
    // A broken zone has no capacity left to write.
    let capacity = |zone| table.layout().shape(zone).capacity_bytes;
    assert_eq!((1..4).map(capacity).collect::<Vec<_>>(), [ZONE / 2, ZONE / 2, 8192]);
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
        "fio: f job parameter zonesize 4096 does not match disk zone size 1048576."
    );
    assert_eq!(
        device_table(2, |_, spec| spec.max_open = 3).unwrap_err(),
        "f: max_open_zones 3 is above the limit of the device, 2"
    );
    let ignored = |_: &mut JobSpec, spec: &mut SequentialZonesSpec| (spec.max_open, spec.ignores_limits) = (3, true);
    assert_eq!(device_table(2, ignored).unwrap().0.limits().max_open, 3);
}

/// The range and the messages, or the error; expected values are fio 3.41's.
fn rounded(start: u64, length: u64, file_bytes: u64) -> Result<(u64, u64, Vec<String>), String> {
    rounded_of(DirectionMix::Write, start, length, file_bytes)
}

fn rounded_of(mix: DirectionMix, start: u64, length: u64, file_bytes: u64) -> Result<(u64, u64, Vec<String>), String> {
    let (worker, _) = worker(|job, spec| (job.pattern.mix, spec.zone_bytes) = (mix, 64 << 10));
    let mut set = FileSet { files: vec![file(start << 10, length << 10, file_bytes << 10)], ..FileSet::default() };
    let mut texts = Vec::new();
    let mut tell = |event| {
        if let RunEvent::Message(_, note) = event {
            texts.push(ferrio_formats::words::note(&note));
        }
    };
    ZoneRegistry::new(1).enter(&worker, &mut set, &mut tell).map_err(text_of)?;
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

/// Such a job begins where it was told to, and ends with a zone.
#[test]
fn reads_in_sequence_end_with_a_zone() {
    for (start, length, expected) in [(20, 200, 172), (0, 100, 64), (0, 20, 0), (20, 20, 0)] {
        let told = format!("f: rounded io_size from {} to {}", length << 10, expected << 10);
        assert_eq!(rounded_of(DirectionMix::Read, start, length, 256), Ok((start, expected, vec![told])));
    }
    assert_eq!(rounded_of(DirectionMix::Read, 20, 108, 256), Ok((20, 108, vec![])));
}

/// 4 zones of 64 KiB, of which 48 KiB can be written: `size` counts the zones, not what they can hold.
#[test]
fn the_size_of_a_job_counts_whole_zones() {
    for (mix, random) in [(DirectionMix::Write, true), (DirectionMix::ReadWrite, true), (DirectionMix::Write, false)] {
        let (worker, _) = worker(|job, spec| {
            (job.pattern.mix, job.pattern.random) = (mix, random);
            (spec.zone_bytes, spec.capacity_bytes) = (64 << 10, 48 << 10);
        });
        let (pass_bytes, io_bytes) = (256 << 10, 256 << 10);
        let files = vec![file(0, 256 << 10, 1 << 20)];
        let mut set = FileSet { files, pass_bytes, io_bytes, ..FileSet::default() };
        ZoneRegistry::new(1).enter(&worker, &mut set, &mut |_| ()).unwrap();
        assert_eq!((set.pass_bytes >> 10, set.io_bytes >> 10), (256, 256), "{mix:?} {random}");
    }
}

/// `job_max_open_zones` of a job without writes is a message, and the job goes on, also where no limit holds for all jobs.
#[test]
fn a_limit_of_a_job_without_writes_is_told() {
    for (mix, is_told) in [(DirectionMix::Read, true), (DirectionMix::Trim, true), (DirectionMix::Write, false)] {
        let (worker, _) = worker(|job, spec| {
            job.pattern.mix = mix;
            job.pattern.block_size = ferrio_units::PerDirection::all(ferrio_spec::BlockRange::one(64 << 10));
            (spec.zone_bytes, spec.max_open, spec.job_max_open) = (64 << 10, 2 * u32::from(!is_told), 1);
        });
        let mut set = FileSet { files: vec![file(0, 256 << 10, 256 << 10)], ..FileSet::default() };
        let mut said = Vec::new();
        let mut events = |event| {
            if let RunEvent::Message(MessageStream::Info, note) = event {
                said.push(ferrio_formats::words::note(&note));
            }
        };
        ZoneRegistry::new(1).enter(&worker, &mut set, &mut events).unwrap();
        let expected: &[&str] = if is_told { &["'job_max_open_zones' is valid only for write jobs"] } else { &[] };
        assert_eq!(said, expected, "{mix:?}");
    }
}

/// A device that takes everything, and refuses what it is told to.
#[derive(Debug, Default)]
struct Repaired {
    contents: Arc<Mutex<Vec<u8>>>,
    is_broken: bool,
}

impl ZonedDevice for Repaired {
    fn zone_bytes(&self) -> ferrio_sys::Result<u64> {
        Ok(ZONE)
    }

    fn report(&self) -> ferrio_sys::Result<Vec<Zone>> {
        Ok(Vec::new())
    }

    fn reset(&self, _: u64, _: u64) -> ferrio_sys::Result<()> {
        Ok(())
    }

    fn finish(&self, _: u64, _: u64) -> ferrio_sys::Result<()> {
        Ok(())
    }

    fn written_bytes(&self, _: u64) -> ferrio_sys::Result<u64> {
        Ok(self.contents.lock().unwrap().len() as u64)
    }

    fn write_zeroes(&self, start_bytes: u64, length_bytes: u64) -> ferrio_sys::Result<()> {
        self.write(start_bytes, &vec![0; length_bytes as usize])
    }

    fn write(&self, start_bytes: u64, data: &[u8]) -> ferrio_sys::Result<()> {
        let mut contents = self.contents.lock().unwrap();
        assert_eq!(start_bytes, ZONE + contents.len() as u64);
        if self.is_broken {
            return Err(ferrio_sys::Error::Parse { what: "write", text: "refused".to_owned() });
        }
        contents.extend(data);
        Ok(())
    }
}

/// After failed writes a zone holds their own data, and zeroes where their data is not known.
#[test]
fn failed_writes_are_made_up_for() {
    use super::shared::SharedZones;
    use ferrio_workload::{FailedBlock, ZoneState as _};
    let block = |start_bytes, data: &[u8]| FailedBlock { start_bytes, data: data.into() };
    for (is_broken, blocks, contents) in [
        (false, vec![block(2, b"abcd"), block(6, b"efgh")], &b"..abcdefgh"[..]),
        (false, vec![block(0, b"wxyz"), block(6, b"gh")], b"..yz\0\0gh\0\0"),
        (false, vec![block(4, b"")], b"..\0\0\0\0\0\0\0\0"),
        (true, vec![block(2, b"abcd")], b".."),
    ] {
        let held = Arc::new(Mutex::new(b"..".to_vec()));
        let device: Box<dyn ZonedDevice> = Box::new(Repaired { contents: Arc::clone(&held), is_broken });
        let behind = Arc::new(DeviceBehind::default());
        behind.writable.set(device).expect("it is empty");
        let zones = SharedZones::new(1, Arc::clone(&behind)).unwrap();
        assert_eq!(zones.recover(ZONE, 10, &mut blocks.iter()), Some(contents.len() as u64), "{blocks:?}");
        assert_eq!(*held.lock().unwrap(), contents, "{blocks:?}");
    }
}

/// A threshold counts written bytes in one range. Jobs without a threshold do not count, whatever they write.
#[test]
fn a_threshold_is_that_of_one_range() {
    let mut registry = ZoneRegistry::new(8);
    let mut enter = |start: u64, length: u64, threshold: f64, mix: DirectionMix| {
        let (worker, _) = worker(|job, spec| {
            job.pattern.mix = mix;
            (spec.zone_bytes, spec.reset_threshold) = (64 << 10, threshold);
        });
        let mut set = FileSet { files: vec![file(start << 10, length << 10, 1 << 20)], ..FileSet::default() };
        registry.enter(&worker, &mut set, &mut |_| ()).map_err(text_of)
    };
    let differ = "multi-jobs with different write ranges are not supported with zone_reset_threshold";
    assert_eq!(enter(0, 128, 0.0, DirectionMix::Write), Ok(()));
    assert_eq!(enter(64, 128, 0.1, DirectionMix::Write), Ok(()));
    assert_eq!(enter(64, 128, 0.5, DirectionMix::ReadWrite), Ok(()));
    assert_eq!(enter(0, 64, 0.5, DirectionMix::Read), Ok(()));
    assert_eq!(enter(0, 128, 0.0, DirectionMix::Write), Ok(()));
    for (start, length) in [(0, 128), (64, 192), (128, 64)] {
        assert_eq!(enter(start, length, 0.1, DirectionMix::Write), Err(differ.to_owned()));
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
        registry.enter(&worker, &mut set, &mut |_| ()).map(|()| set.zones).map_err(text_of)
    };
    let (zone, length) = (64 << 10, 256 << 10);
    let first = enter(zone, 2, 0, length).unwrap();
    // Settings that are not given stay as they were, even if the file has grown.
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
