//! Jobs on a model of a zoned device. The model accepts only what a real device accepts: writes at the write pointer,
//! and no more partly written zones than its limit. It executes I/Os in any order that a kernel may choose: those of
//! one job to one zone in their order, all others at random.
//!
//! Start reading at [`run`]; the device is [`Device`].

use super::*;
use crate::io_stream::JobStream;
use crate::next::NextIo;
use crate::zone_table::{FailedBlock, ZoneActivity, ZoneLayout, ZoneLimits, ZoneShape, ZoneShapes, ZoneState};
use crate::zoning::ZoningFailureKind;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

const ZONE_BLOCKS: u64 = 8;
const ZONE_BYTES: u64 = ZONE_BLOCKS * BLOCK_BYTES;

/// Random numbers from a seed.
#[derive(Debug, Clone)]
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        // xorshift64*; a seed of 0 would stay 0.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % end.max(1)
    }
}

#[derive(Debug, Clone, Copy)]
struct DeviceZone {
    is_sequential: bool,
    capacity_bytes: u64,
    written_bytes: u64,
    is_open_by_request: bool,
}

impl DeviceZone {
    fn is_active(&self) -> bool {
        self.is_sequential && (self.is_open_by_request || (1..self.capacity_bytes).contains(&self.written_bytes))
    }
}

/// The device. It records requests that no device accepts.
#[derive(Debug)]
struct Device {
    zones: Vec<DeviceZone>,
    limits: ZoneLimits,
    /// Job, direction, offset and length of the I/Os in flight, oldest first.
    in_flight: VecDeque<(usize, DataDirection, u64, u64)>,
    refused: Vec<String>,
    /// Index of the job that acts now.
    acting: usize,
}

impl Device {
    fn execute(&mut self, io: (usize, DataDirection, u64, u64)) {
        let (job, direction, offset_bytes, length_bytes) = io;
        let index = (offset_bytes / ZONE_BYTES) as usize;
        let within = offset_bytes % ZONE_BYTES;
        let zone = self.zones[index];
        if !zone.is_sequential {
            return;
        }
        let what = format!("job {job}: {direction:?} of zone {index} at {within} + {length_bytes}: {zone:?}");
        let end_bytes = within + length_bytes;
        match direction {
            DataDirection::Read if length_bytes > 0 && end_bytes > zone.written_bytes => {
                self.refused.push(format!("unwritten: {what}"));
            }
            DataDirection::Read => {}
            DataDirection::Trim => self.reset(offset_bytes),
            DataDirection::Write => {
                let n_active = self.zones.iter().filter(|zone| zone.is_active()).count();
                let n_requested = self.zones.iter().filter(|zone| zone.is_open_by_request).count();
                let ZoneLimits { max_active, max_device_open, .. } = self.limits;
                if zone.written_bytes >= zone.capacity_bytes || end_bytes > zone.capacity_bytes {
                    self.refused.push(format!("full: {what}"));
                } else if within != zone.written_bytes {
                    self.refused.push(format!("unaligned: {what}"));
                } else if !zone.is_active() && max_active > 0 && n_active >= max_active {
                    self.refused.push(format!("too many active: {what}"));
                } else if !zone.is_open_by_request && max_device_open > 0 && n_requested >= max_device_open {
                    self.refused.push(format!("too many open: {what}"));
                } else {
                    let zone = &mut self.zones[index];
                    zone.written_bytes = end_bytes;
                    zone.is_open_by_request &= end_bytes < zone.capacity_bytes;
                }
            }
        }
    }

    fn reset(&mut self, start_bytes: u64) {
        let index = (start_bytes / ZONE_BYTES) as usize;
        let acting = self.acting;
        let is_here = |io: &(usize, DataDirection, u64, u64)| io.2 / ZONE_BYTES == index as u64;
        let is_read_by_other = |io: &(usize, DataDirection, u64, u64)| io.1 == DataDirection::Read && io.0 != acting;
        if let Some(io) = self.in_flight.iter().find(|io| is_here(io) && !is_read_by_other(io)) {
            self.refused.push(format!("reset of zone {index} overtakes {io:?}"));
        }
        // Another job that is reading here no longer expects the data: its read counts as a shorter one.
        for io in self.in_flight.iter_mut().filter(|io| is_here(io)) {
            io.3 = 0;
        }
        let zone = &mut self.zones[index];
        (zone.written_bytes, zone.is_open_by_request) = (0, false);
    }
}

/// The words of a table, and the model of the device.
#[derive(Debug)]
struct Modelled {
    words: Vec<AtomicU64>,
    device: Arc<Mutex<Device>>,
}

impl ZoneState for Modelled {
    fn recover(&self, _: u64, _: u64, _: &mut dyn Iterator<Item = &FailedBlock>) -> Option<u64> {
        None
    }

    fn with(&self, act: &mut dyn FnMut(&[AtomicU64])) {
        act(&self.words);
    }

    fn reset(&self, start_bytes: u64, _: u64) -> Result<(), i32> {
        let mut device = self.device.lock().unwrap();
        device.reset(start_bytes);
        Ok(())
    }

    fn finish(&self, start_bytes: u64, _: u64) -> Result<(), i32> {
        let mut device = self.device.lock().unwrap();
        let index = (start_bytes / ZONE_BYTES) as usize;
        if device.in_flight.iter().any(|io| io.2 / ZONE_BYTES == index as u64 && io.1 != DataDirection::Read) {
            device.refused.push(format!("zone {index} is finished under I/Os"));
        }
        let zone = &mut device.zones[index];
        (zone.written_bytes, zone.is_open_by_request) = (zone.capacity_bytes, false);
        Ok(())
    }
}

#[derive(Debug, Clone)]
struct Case {
    seed: u64,
    n_jobs: usize,
    depth: usize,
    mix: DirectionMix,
    random: bool,
    has_map: bool,
    verifies: bool,
    max_blocks: u64,
    min_blocks: u64,
    limits: ZoneLimits,
    /// Number of zones, from the first, that can be written anywhere.
    n_conventional: usize,
    capacity_blocks: u64,
    /// Each job has a range of its own.
    are_apart: bool,
    resets_often: bool,
}

const N_ZONES: usize = 8;

/// State of the zones before the jobs: some are partly written, some full, some open by request.
fn device(case: &Case, dice: &mut Dice) -> Device {
    let mut device =
        Device { zones: Vec::new(), limits: case.limits, in_flight: VecDeque::new(), refused: Vec::new(), acting: 0 };
    for index in 0..N_ZONES {
        let is_sequential = index >= case.n_conventional;
        let capacity_bytes = if is_sequential { case.capacity_blocks * BLOCK_BYTES } else { ZONE_BYTES };
        let written_bytes = match dice.below(4) {
            0 => dice.below(case.capacity_blocks as usize) as u64 * BLOCK_BYTES,
            1 => capacity_bytes,
            _ => 0,
        };
        let written_bytes = if is_sequential { written_bytes } else { 0 };
        let mut zone = DeviceZone { is_sequential, capacity_bytes, written_bytes, is_open_by_request: false };
        let count = |wanted: fn(&DeviceZone) -> bool| device.zones.iter().filter(|zone| wanted(zone)).count();
        let has_place = case.limits.max_active == 0 || count(DeviceZone::is_active) < case.limits.max_active;
        if zone.is_active() && !has_place {
            zone.written_bytes = 0;
        }
        let may_request =
            case.limits.max_device_open == 0 || count(|zone| zone.is_open_by_request) < case.limits.max_device_open;
        zone.is_open_by_request = zone.is_active() && may_request && dice.below(3) == 0;
        device.zones.push(zone);
    }
    device
}

fn table_of(case: &Case, device: &Arc<Mutex<Device>>) -> Arc<ZoneTable> {
    let zones = device.lock().unwrap().zones.clone();
    let shape =
        |zone: &DeviceZone| ZoneShape { capacity_bytes: zone.capacity_bytes, is_sequential: zone.is_sequential };
    let shapes = ZoneShapes::Each(zones.iter().map(shape).collect());
    let layout = ZoneLayout { zone_bytes: ZONE_BYTES, n_zones: N_ZONES, shapes };
    let n_words = ZoneTable::n_words(&layout, case.limits.max_open, case.n_jobs).unwrap();
    let words = std::iter::repeat_with(AtomicU64::default).take(n_words).collect();
    let state = Modelled { words, device: Arc::clone(device) };
    let table = ZoneTable::new(layout, case.limits, case.n_jobs, Box::new(state));
    for (index, zone) in zones.iter().enumerate().filter(|(_, zone)| zone.is_sequential) {
        let activity = match (zone.is_open_by_request, zone.is_active()) {
            (true, _) => ZoneActivity::OpenByRequest,
            (false, true) => ZoneActivity::Active,
            (false, false) => ZoneActivity::None,
        };
        table.found(index, zone.written_bytes, activity);
    }
    Arc::new(table)
}

/// A job and its I/Os in flight.
struct Job {
    stream: Stream<SequentialZones>,
    n_in_flight: usize,
    drains: bool,
    is_held: bool,
    n_ios: usize,
    has_ended: bool,
    failure: Option<ZoningFailureKind>,
    /// Ranges written in this pass.
    written: Vec<(u64, u64)>,
}

fn job(case: &Case, table: &Arc<ZoneTable>, index: usize) -> Job {
    let mut plan = plan(case.mix, case.random);
    let bytes = |n_blocks: u64| n_blocks * BLOCK_BYTES;
    let range = BlockRange { min_bytes: bytes(case.min_blocks), max_bytes: bytes(case.max_blocks) };
    plan.pattern.block_size = PerDirection::all(range);
    plan.pattern.block_size[DataDirection::Trim] = BlockRange { min_bytes: ZONE_BYTES, max_bytes: ZONE_BYTES };
    plan.pattern.norandommap = !case.has_map;
    let n_zones = if case.are_apart { N_ZONES / case.n_jobs } else { N_ZONES };
    plan.files[0].start_bytes = if case.are_apart { (index * n_zones) as u64 * ZONE_BYTES } else { 0 };
    plan.files[0].length_bytes = n_zones as u64 * ZONE_BYTES;
    plan.files[0].file_bytes = N_ZONES as u64 * ZONE_BYTES;
    (plan.limits.pass_bytes, plan.limits.ios) = (plan.files[0].length_bytes, MAX_IOS as u64);
    plan.seeds = ferrio_units::random::SeedTable::new(case.seed.wrapping_add(index as u64), 1);
    let often = if case.resets_often { (0.2, 0.4) } else { (0.0, 0.0) };
    let spec = SequentialZonesSpec { reset_threshold: often.0, reset_frequency: often.1, ..SPEC };
    let sequential = SequentialPlan {
        spec,
        keeps_written: case.verifies,
        tables: vec![Arc::clone(table)],
        worker: index as u32 + 1,
    };
    let zones = SequentialZones::new(&sequential, &plan);
    let stream = Stream::new(plan, zones).expect("the plan is possible");
    Job {
        stream,
        n_in_flight: 0,
        drains: false,
        is_held: false,
        n_ios: 0,
        has_ended: false,
        failure: None,
        written: Vec::new(),
    }
}

/// Most I/Os of a job, in all its passes.
const MAX_IOS: usize = 80;

impl Job {
    fn end(&mut self, table: &ZoneTable, worker: u32) {
        self.has_ended = true;
        table.release(worker);
    }

    /// Lets a job issue one I/O.
    fn step(&mut self, case: &Case, index: usize, table: &ZoneTable, device: &Mutex<Device>) {
        if self.drains {
            if self.n_in_flight > 0 {
                return;
            }
            self.drains = false;
            self.stream.zoning().drained();
        }
        self.is_held = false;
        match self.stream.draw() {
            Next::Io(io) => self.issue(case, index, &io, device),
            Next::Drain => self.drains = true,
            Next::Held => {
                assert_eq!(self.n_in_flight, 0, "a job waits for others with I/Os in flight");
                self.is_held = true;
                if let Some(release) = self.stream.zoning().awaited() {
                    let has_changed = release.wait(Duration::ZERO);
                    self.stream.zoning().waited(has_changed);
                }
            }
            Next::PassEnd if self.n_in_flight == 0 && self.n_ios < MAX_IOS && self.n_ios > 0 => {
                self.stream.start_pass();
                self.written.clear();
                // A pass without an I/O is the last.
                self.n_ios += 1;
            }
            Next::PassEnd if self.n_in_flight == 0 => self.end(table, index as u32 + 1),
            Next::Failed => {
                self.failure = self.stream.zoning().failure().map(|failure| failure.kind);
                self.n_ios = MAX_IOS;
                if self.n_in_flight == 0 {
                    self.end(table, index as u32 + 1);
                }
            }
            Next::PassEnd | Next::Close(_) | Next::Restart(_) | Next::Wait | Next::Open(_) => {}
        }
    }

    fn issue(&mut self, case: &Case, index: usize, io: &NextIo, device: &Mutex<Device>) {
        let direction = io.direction.data().expect("the plan has no syncs");
        assert!(io.length_bytes > 0, "{io:?}");
        self.n_in_flight += 1;
        self.n_ios += 1;
        let mut device = device.lock().unwrap();
        let is_sequential = device.zones[(io.offset_bytes / ZONE_BYTES) as usize].is_sequential;
        if case.verifies && direction == DataDirection::Write && is_sequential {
            let end_bytes = io.offset_bytes + io.length_bytes;
            let is_again = self.written.iter().any(|(start, end)| *start < end_bytes && io.offset_bytes < *end);
            assert!(!is_again, "{io:?} is written again within a pass");
            self.written.push((io.offset_bytes, end_bytes));
        }
        device.in_flight.push_back((index, direction, io.offset_bytes, io.length_bytes));
    }
}

/// Executes one I/O that may be next: its job has no older one in flight to the same zone.
fn execute_one(device: &Mutex<Device>, jobs: &mut [Job], dice: &mut Dice) {
    let mut device = device.lock().unwrap();
    let zone_of = |io: &(usize, DataDirection, u64, u64)| (io.0, io.2 / ZONE_BYTES);
    let is_next =
        |at: &usize| (0..*at).all(|older| zone_of(&device.in_flight[older]) != zone_of(&device.in_flight[*at]));
    let ready: Vec<usize> = (0..device.in_flight.len()).filter(is_next).collect();
    if ready.is_empty() {
        return;
    }
    let Some(io) = device.in_flight.remove(ready[dice.below(ready.len())]) else { return };
    device.acting = io.0;
    device.execute(io);
    drop(device);
    let (job, direction, offset_bytes, _) = io;
    jobs[job].n_in_flight -= 1;
    jobs[job].stream.zoning().completed(&CompletedIo { file_index: 0, direction, offset_bytes, failure: None });
}

/// Number of I/Os, and the reasons why jobs failed. The device must not have refused any request.
fn run(case: &Case) -> (usize, Vec<ZoningFailureKind>) {
    let mut dice = Dice(case.seed | 1);
    let device = Arc::new(Mutex::new(device(case, &mut dice)));
    let table = table_of(case, &device);
    if case.mix != DirectionMix::Read {
        table.open_found(0, N_ZONES);
    }
    let mut jobs: Vec<Job> = (0..case.n_jobs).map(|index| job(case, &table, index)).collect();
    let mut n_idle = 0;
    while !jobs.iter().all(|job| job.has_ended) {
        n_idle += 1;
        assert!(n_idle < 4_000, "nobody goes on");
        let index = dice.below(jobs.len());
        let may_issue = !jobs[index].has_ended && jobs[index].n_in_flight < case.depth;
        if may_issue && dice.below(3) > 0 {
            let n_before = jobs[index].n_ios;
            device.lock().unwrap().acting = index;
            jobs[index].step(case, index, &table, &device);
            if jobs[index].n_ios != n_before || jobs[index].has_ended {
                n_idle = 0;
            }
        } else {
            execute_one(&device, &mut jobs, &mut dice);
        }
        table.with(|zones| assert!(case.limits.max_open == 0 || zones.n_open() <= case.limits.max_open));
    }
    let refused = std::mem::take(&mut device.lock().unwrap().refused);
    let state = device.lock().unwrap();
    assert!(refused.is_empty(), "{refused:#?}");
    for (index, zone) in state.zones.iter().enumerate().filter(|(_, zone)| zone.is_sequential) {
        assert_eq!(table.written(index), zone.written_bytes, "zone {index} is not known as it is");
    }
    (jobs.iter().map(|job| job.n_ios).sum(), jobs.iter().filter_map(|job| job.failure).collect())
}

fn cases() -> impl Strategy<Value = Case> {
    let mixes = [DirectionMix::Write, DirectionMix::ReadWrite, DirectionMix::Trim];
    let who = (any::<u64>(), 1..5_usize, 1..9_usize, prop::sample::select(mixes.to_vec()));
    let how = (any::<bool>(), any::<bool>(), any::<bool>(), 1..4_u64, 0..3_u64, any::<bool>(), any::<bool>());
    let device = (0..4_usize, 0..5_usize, 0..5_usize, 0..3_usize, 4..=ZONE_BLOCKS);
    (who, how, device).prop_map(|(who, how, device)| {
        let (seed, n_jobs, depth, mix) = who;
        let (random, has_map, verifies, min_blocks, more_blocks, are_apart, resets_often) = how;
        let (max_open, max_active, max_device_open, n_conventional, capacity_blocks) = device;
        // As when the real table is made: a limit of the device is also a limit of the jobs.
        let of_device = [max_active, max_device_open].into_iter().filter(|limit| *limit > 0).min().unwrap_or(0);
        let max_open = match (max_open, of_device) {
            (0, limit) => limit,
            (given, 0) => given,
            (given, limit) => given.min(limit),
        };
        let verifies = verifies && mix != DirectionMix::Trim;
        Case {
            seed,
            n_jobs,
            depth,
            mix,
            random,
            has_map,
            verifies,
            max_blocks: min_blocks + more_blocks,
            min_blocks,
            limits: ZoneLimits { max_open, max_active, max_device_open },
            n_conventional,
            capacity_blocks,
            // Verified ranges belong to one job only.
            are_apart: are_apart || verifies,
            resets_often: resets_often && !verifies,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_sent_that_a_device_does_not_take(case in cases()) {
        let (_, failures) = run(&case);
        let is_limit = |kind: &ZoningFailureKind| {
            matches!(kind, ZoningFailureKind::TooManyActive(_) | ZoningFailureKind::TooManyOpen(_))
        };
        prop_assert!(failures.iter().all(is_limit), "{failures:?}");
    }
}

/// One job with I/Os in flight on two open zones. Before the fix, resets overtook its writes in every second run.
#[test]
fn a_reset_waits_for_the_writes_before_it() {
    for seed in 0..64 {
        let case = Case {
            seed,
            n_jobs: 1,
            depth: 4,
            mix: DirectionMix::Write,
            random: true,
            has_map: false,
            verifies: false,
            max_blocks: 1,
            min_blocks: 1,
            limits: ZoneLimits { max_open: 2, max_active: 12, max_device_open: 8 },
            n_conventional: 0,
            capacity_blocks: 6,
            are_apart: false,
            resets_often: false,
        };
        let (n_ios, failures) = run(&case);
        assert!(failures.is_empty(), "{failures:?}");
        assert!(n_ios >= MAX_IOS, "{n_ios}");
    }
}

/// Sixteen zones for sixteen jobs were too many for the model; here are eight, of which one or four may be open.
#[test]
fn jobs_with_a_zone_each_take_turns() {
    for (seed, max_open) in (0..32).flat_map(|seed| [(seed, 1), (seed, 4)]) {
        let case = Case {
            seed,
            n_jobs: N_ZONES,
            depth: 4,
            mix: DirectionMix::Write,
            random: true,
            has_map: true,
            verifies: true,
            max_blocks: 1,
            min_blocks: 1,
            limits: ZoneLimits { max_open, max_active: 4, max_device_open: 4 },
            n_conventional: 0,
            capacity_blocks: ZONE_BLOCKS,
            are_apart: true,
            resets_often: false,
        };
        let (n_ios, failures) = run(&case);
        assert!(failures.is_empty(), "{failures:?}");
        assert!(n_ios >= N_ZONES * MAX_IOS, "{n_ios}");
    }
}
