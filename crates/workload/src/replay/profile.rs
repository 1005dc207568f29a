//! What the processes of a trace did: directions, lengths, depth, order, times. From it a job can be made that imitates
//! them.
//!
//! Memory is bounded: at most [`MAX_TASKS`] processes and [`MAX_IN_FLIGHT`] requests in flight are followed.
//! Must not know: jobs. Start reading at [`profile`].

use super::TraceError;
use super::blktrace::{BlktraceAction, BlktraceEvent};
use super::events::{Events, NamedEvent};
use super::profiled_task::ProfiledTask;
use super::record::Verb;
use super::window::TraceBytes;
use ferrio_stats::note::TraceFault;
use ferrio_units::{DataDirection, Direction};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Most processes that are followed; I/Os of further ones are only counted.
const MAX_TASKS: usize = 4_096;

/// Most names of processes that are kept.
const MAX_NAMES: usize = 65_536;

/// Most requests in flight that are followed.
const MAX_IN_FLIGHT: usize = 1 << 20;

const MAX_DEVICES: usize = 1_024;

/// Number of events after which the reader checks again whether it is to stop.
const EVENTS_BETWEEN_LOOKS: u64 = 65_536;

/// The I/Os of a trace by process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceProfile {
    /// Processes with I/O, in order of their first one.
    pub tasks: Vec<ProfiledTask>,
    /// Devices of the I/Os, major and minor number.
    pub devices: BTreeSet<(u32, u32)>,
    /// Number of events of any kind.
    pub n_events: u64,
    /// Number of completions that belong to an I/O; without them the depth is unknown.
    pub n_completed: u64,
    /// Number of I/Os that are no valid I/Os: of no bytes, or beyond the largest offset.
    pub n_impossible: u64,
    /// Number of I/Os of processes that were not followed.
    pub n_not_followed: u64,
    /// Number of traces that end within a record.
    pub n_cut: usize,
}

/// A request in flight.
type RequestKey = (u32, u32, u64);

struct Profiler {
    profile: TraceProfile,
    task_indexes: HashMap<u32, usize>,
    names: HashMap<u32, String>,
    /// The task of each request, by device and first sector.
    in_flight: HashMap<RequestKey, usize>,
}

/// Reads traces of one recording from start to end, or until `stop` returns true. The index in an error is that of the trace.
pub fn profile(traces: Vec<Arc<dyn TraceBytes>>, stop: &dyn Fn() -> bool) -> Result<TraceProfile, (usize, TraceError)> {
    let mut events = Events::open(traces)?;
    let profile = TraceProfile {
        tasks: Vec::new(),
        devices: BTreeSet::new(),
        n_events: 0,
        n_completed: 0,
        n_impossible: 0,
        n_not_followed: 0,
        n_cut: 0,
    };
    let mut profiler =
        Profiler { profile, task_indexes: HashMap::new(), names: HashMap::new(), in_flight: HashMap::new() };
    while let Some(event) = events.next()? {
        profiler.profile.n_events += 1;
        if profiler.profile.n_events.is_multiple_of(EVENTS_BETWEEN_LOOKS) && stop() {
            return Err((0, TraceError::Stopped));
        }
        profiler.see(event);
    }
    let Profiler { mut profile, mut names, .. } = profiler;
    if profile.tasks.iter().all(|task| task.n_ios() == 0) {
        return Err((0, TraceFault::NoIo { format: "blktrace".into() }.into()));
    }
    for task in &mut profile.tasks {
        task.name = names.remove(&task.process_id).unwrap_or_default();
    }
    profile.n_cut = events.n_cut();
    Ok(profile)
}

impl Profiler {
    fn see(&mut self, named: NamedEvent) {
        let event = named.event;
        if let Some(name) = named.name {
            if self.names.len() < MAX_NAMES {
                self.names.insert(event.process_id, name);
            }
            return;
        }
        match event.progress() {
            BlktraceAction::Queued => self.queued(&event),
            BlktraceAction::Merged => self.merged(&event),
            BlktraceAction::Completed => {
                if let Some(index) = self.in_flight.remove(&key(&event, event.sector)) {
                    self.profile.n_completed += 1;
                    self.profile.tasks[index].complete(event.time_ns);
                }
            }
            BlktraceAction::Other => {}
        }
    }

    fn queued(&mut self, event: &BlktraceEvent) {
        let Verb::Io(direction) = event.verb() else { return };
        let length_bytes = u64::from(event.bytes);
        let is_flush = direction == Direction::Sync;
        let place = event.offset_bytes().filter(|offset| i64::try_from(offset.saturating_add(length_bytes)).is_ok());
        let Some(offset_bytes) = place.filter(|_| is_flush || length_bytes > 0) else {
            self.profile.n_impossible += 1;
            return;
        };
        let Some(index) = self.task(event) else {
            self.profile.n_not_followed += 1;
            return;
        };
        let data = match direction {
            Direction::Read => DataDirection::Read,
            Direction::Write => DataDirection::Write,
            Direction::Trim => DataDirection::Trim,
            _ => {
                self.profile.tasks[index].n_flushes += 1;
                return;
            }
        };
        if self.profile.devices.len() < MAX_DEVICES {
            self.profile.devices.insert(event.device());
        }
        self.profile.tasks[index].issue(data, offset_bytes, length_bytes, event.time_ns);
        if self.in_flight.len() < MAX_IN_FLIGHT {
            // A request that was there already was never seen to complete; it does so now.
            if let Some(lost) = self.in_flight.insert(key(event, event.sector), index) {
                self.profile.tasks[lost].complete(event.time_ns);
            }
        } else {
            self.profile.tasks[index].complete(event.time_ns);
        }
    }

    /// The bio of the event becomes part of another request. A front merge moves the start of that request to the bio's.
    fn merged(&mut self, event: &BlktraceEvent) {
        let direction = match event.verb() {
            Verb::Io(Direction::Read) => DataDirection::Read,
            Verb::Io(Direction::Write) => DataDirection::Write,
            Verb::Io(Direction::Trim) => DataDirection::Trim,
            _ => return,
        };
        let Some(index) = self.in_flight.remove(&key(event, event.sector)) else { return };
        self.profile.tasks[index].merge(direction);
        if event.is_front_merge() {
            let behind = event.sector.saturating_add(u64::from(event.bytes) / 512);
            if let Some(other) = self.in_flight.remove(&key(event, behind)) {
                self.in_flight.insert(key(event, event.sector), other);
            }
        }
    }

    /// Index of the task of an event; a new one if there is room.
    fn task(&mut self, event: &BlktraceEvent) -> Option<usize> {
        if let Some(index) = self.task_indexes.get(&event.process_id) {
            return Some(*index);
        }
        let index = self.profile.tasks.len();
        if index >= MAX_TASKS {
            return None;
        }
        self.task_indexes.insert(event.process_id, index);
        self.profile.tasks.push(ProfiledTask::new(event.process_id, event.time_ns));
        Some(index)
    }
}

fn key(event: &BlktraceEvent, sector: u64) -> RequestKey {
    let (major, minor) = event.device();
    (major, minor, sector)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of process 7 on device 8:0.
    fn record(time_ns: u64, sector: u64, bytes: u32, category: u32, kind: u32) -> Vec<u8> {
        let mut out = [0x6561_7407_u32, 0].map(u32::to_le_bytes).concat();
        out.extend([time_ns, sector].map(u64::to_le_bytes).concat());
        out.extend([bytes, category << 16 | kind, 7, 8 << 20, 0].map(u32::to_le_bytes).concat());
        out.extend([0_u8; 4]);
        out
    }

    const READ: u32 = 1;
    const WRITE: u32 = 2;
    const QUEUE: u32 = 1;
    const BACK: u32 = 2;
    const FRONT: u32 = 3;
    const DONE: u32 = 8;

    fn of(events: &[(u64, u64, u32, u32, u32)]) -> TraceProfile {
        let bytes: Vec<u8> = events.iter().flat_map(|e| record(e.0, e.1, e.2, e.3, e.4)).collect();
        profile(vec![Arc::new(bytes)], &|| false).expect("a profile")
    }

    #[test]
    fn a_process_is_described() {
        let profile = of(&[
            (100, 0, 4096, READ, QUEUE),
            (110, 8, 4096, READ, QUEUE),
            (120, 1000, 8192, WRITE, QUEUE),
            (200, 0, 4096, READ, DONE),
            (210, 8, 4096, READ, DONE),
            (300, 1000, 8192, WRITE, DONE),
            (500, 80, 4096, READ, QUEUE),
            (600, 80, 4096, READ, DONE),
        ]);
        let task = &profile.tasks[0];
        let read = &task.directions[DataDirection::Read];
        assert_eq!((read.n_ios, read.bytes, read.n_sequential), (3, 3 * 4096, 2));
        assert_eq!(read.lengths, BTreeMap::from([(4096, 3)]));
        assert_eq!(task.directions[DataDirection::Write].lengths, BTreeMap::from([(8192, 1)]));
        assert_eq!((task.max_depth, task.idle_ns, task.n_idle), (3, 200, 1));
        assert_eq!((task.start_bytes, task.end_bytes), (0, 1000 * 512 + 8192));
        assert_eq!((task.duration_ns(), profile.n_completed, profile.n_events), (400, 4, 8));
        assert_eq!(profile.devices, BTreeSet::from([(8, 0)]));
    }

    use std::collections::BTreeMap;

    #[test]
    fn merged_requests_complete_together() {
        let profile = of(&[
            (1, 8, 4096, WRITE, QUEUE),
            (2, 16, 4096, WRITE, QUEUE),
            (3, 16, 4096, WRITE, BACK),
            (4, 0, 4096, WRITE, QUEUE),
            (5, 0, 4096, WRITE, FRONT),
            // The request now begins at sector 0 and has 12 KiB.
            (9, 0, 12288, WRITE, DONE),
            (20, 100, 4096, WRITE, QUEUE),
        ]);
        let task = &profile.tasks[0];
        let write = &task.directions[DataDirection::Write];
        assert_eq!((write.n_ios, write.n_merged, task.max_depth), (4, 2, 1));
        assert_eq!((task.n_idle, task.idle_ns, profile.n_completed), (1, 11, 1));
    }

    #[test]
    fn what_is_no_io_is_counted() {
        let profile = of(&[
            (1, 0, 4096, READ, QUEUE),
            (2, 0, 0, READ, QUEUE),
            (3, u64::MAX, 4096, WRITE, QUEUE),
            (4, u64::MAX / 512, 4096, WRITE, QUEUE),
            (5, 0, 0, 4, QUEUE),
            (6, 0, 0, 0x400, 2),
        ]);
        assert_eq!((profile.n_impossible, profile.tasks[0].n_flushes, profile.tasks[0].n_ios()), (3, 1, 1));
        let none: Vec<u8> = record(1, 0, 0, 4, QUEUE);
        let error = profile_of_bytes(none).expect_err("no I/O");
        assert!(matches!(error, (0, TraceError::Fault(TraceFault::NoIo { .. }))), "{error:?}");
    }

    fn profile_of_bytes(bytes: Vec<u8>) -> Result<TraceProfile, (usize, TraceError)> {
        profile(vec![Arc::new(bytes)], &|| false)
    }

    #[test]
    fn any_bytes_are_a_profile_or_an_error() {
        let whole: Vec<u8> = (0..50).flat_map(|n| record(n, n * 8, 4096, READ, QUEUE)).collect();
        for n in 0..whole.len() {
            let cut = profile_of_bytes(whole[..n].to_vec());
            assert_eq!(cut.is_ok(), n >= 48, "{n}");
        }
        for (index, value) in (0..whole.len()).flat_map(|index| [0, 0x7f, 0xff].map(|value| (index, value))) {
            let mut changed = whole.clone();
            changed[index] = value;
            // A result of either kind; nothing panics.
            let _ = profile_of_bytes(changed);
        }
    }

    #[test]
    fn many_lengths_take_bounded_memory() {
        let events: Vec<_> = (0..1000).map(|n: u32| (u64::from(n), 0, 512 * (n + 1), READ, QUEUE)).collect();
        let profile = of(&events);
        let read = &profile.tasks[0].directions[DataDirection::Read];
        assert_eq!((read.n_ios, read.lengths.len(), read.lengths.values().sum::<u64>()), (1000, 64, 1000));
    }
}
