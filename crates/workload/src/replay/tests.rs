//! Whole traces: the results of their surveys, and the steps of their replays.

use super::*;
use crate::next::{Next, NextIo};
use crate::workload::Workload;
use ferrio_spec::ReplaySpec;
use ferrio_stats::note::{TracePlace, TraceRemark};
use ferrio_units::{DataDirection, Direction};
use proptest::prelude::*;
use std::sync::Arc;

/// Steps of a whole replay with the times at which they came, on a clock that jumps to the due time of each step.
fn replayed(text: &str, spec: &ReplaySpec, n_passes: u32) -> Vec<(u64, Next)> {
    let bytes: Arc<dyn TraceBytes> = Arc::new(text.as_bytes().to_vec());
    let rules = ReplayRules::new(spec, false);
    let survey = survey(Arc::clone(&bytes), rules, &|| false).unwrap();
    let plan = ReplayPlan { bytes, rules, survey, limit_ios: u64::MAX, has_pauses: false };
    let mut workload = Workload::replay(plan).unwrap();
    let (mut steps, mut now_ns) = (Vec::new(), 0);
    for _ in 0..n_passes {
        loop {
            match workload.next() {
                Next::Wait => now_ns = workload.pace().and_then(|pace| pace.turn(now_ns)).unwrap_or(now_ns),
                Next::PassEnd => break,
                step => steps.push((now_ns, step)),
            }
        }
        workload.start_pass();
    }
    steps
}

fn io(direction: Direction, offset_bytes: u64, length_bytes: u64) -> Next {
    Next::Io(NextIo { direction, file_index: 0, offset_bytes, length_bytes })
}

const THREE: &str = "fio version 3 iolog\n7 f add\n50 f open\n60 f read 1536 4096\n1050 f write 9000 3000\n900 f sync 5 5\n\
                     2050 f trim 16384 4096\n2050 f close\n";

fn spec(change: impl FnOnce(&mut ReplaySpec)) -> ReplaySpec {
    let mut spec = ReplaySpec { traces: vec!["t".to_owned()], ..ReplaySpec::default() };
    change(&mut spec);
    spec
}

#[test]
fn times_of_version_3_are_kept() {
    let expected = [
        (0, Next::Open(0)),
        (10_000, io(Direction::Read, 1536, 4096)),
        (1_000_000, io(Direction::Write, 9000, 3000)),
        // The time of this line is before that of the line above it.
        (1_000_000, io(Direction::Sync, 0, 0)),
        (2_000_000, io(Direction::Trim, 16_384, 4096)),
        (2_000_000, Next::Close(0)),
    ];
    assert_eq!(replayed(THREE, &spec(|_| {}), 1), expected);
    // The second pass begins when the first is over.
    let twice = replayed(THREE, &spec(|_| {}), 2);
    assert!(twice[6..].iter().zip(&expected).all(|(got, one)| *got == (one.0 + 2_000_000, one.1)));
    let half = replayed(THREE, &spec(|spec| spec.time_scale_percent = 50), 1);
    assert!(half.iter().zip(&expected).all(|(got, one)| *got == (one.0 * 2, one.1)));
    let fast = replayed(THREE, &spec(|spec| spec.no_stall = true), 1);
    assert!(fast.iter().zip(&expected).all(|(got, one)| *got == (0, one.1)));
}

#[test]
fn waits_of_version_2_count_from_the_start() {
    let text = "fio version 2 iolog\nf add\nf open\nf read 0 512\nf wait 300 0\nf read 512 512\nf wait 200 0\nf datasync 0 0\n";
    let expected = [
        (0, Next::Open(0)),
        (0, io(Direction::Read, 0, 512)),
        (300_000_000, io(Direction::Read, 512, 512)),
        (300_000_000, io(Direction::Datasync, 0, 0)),
    ];
    assert_eq!(replayed(text, &spec(|_| {}), 1), expected);
    let fast = replayed(text, &spec(|spec| spec.time_scale_percent = 200), 1);
    assert_eq!(fast[2].0, 150_000_000);
}

// Reference: replay_scale divides offsets, replay_align rounds up.
#[test]
fn places_are_moved_and_kinds_left_out() {
    let ios = |spec: &ReplaySpec| replayed(THREE, spec, 1).into_iter().map(|(_, step)| step).collect::<Vec<_>>();
    let aligned = ios(&spec(|spec| (spec.scale, spec.align_bytes) = (2, 4096)));
    assert_eq!(aligned[1..3], [io(Direction::Read, 4096, 4096), io(Direction::Write, 8192, 4096)]);
    let some = ios(&spec(|spec| (spec.skip.read, spec.skip.sync, spec.skip.trim) = (true, true, true)));
    assert_eq!(some, [Next::Open(0), io(Direction::Write, 9000, 3000), Next::Close(0)]);
}

/// After scale and alignment; opens, closes and syncs have no place.
#[test]
fn offsets_are_moved() {
    let rules = ReplayRules::new(&spec(|spec| (spec.scale, spec.align_bytes) = (2, 4096)), false).moved_by(1 << 30);
    let bytes: Arc<dyn TraceBytes> = Arc::new(THREE.as_bytes().to_vec());
    let found = survey(Arc::clone(&bytes), rules, &|| false).unwrap();
    assert_eq!(
        (found.files[0].reach.end_bytes, found.files[0].reach.furthest),
        ((1 << 30) + 12_288, Some(TracePlace::Line(5)))
    );
    let mut trace = super::trace::Trace::open(bytes, rules).unwrap();
    let mut offsets = Vec::new();
    while let Some(entry) = trace.next().unwrap() {
        if let super::trace::TraceStep::Io(io) = entry.step {
            offsets.push(io.offset_bytes);
        }
    }
    let moved = |offset_bytes: u64| (1 << 30) + offset_bytes;
    assert_eq!(offsets, [moved(4096), moved(8192), 0, moved(8192)]);
}

#[test]
fn an_io_that_no_file_can_have_is_refused_with_its_place() {
    let most_bytes = i64::MAX as u64;
    let of = |by_bytes| {
        let rules = ReplayRules::new(&spec(|_| {}), false).moved_by(by_bytes);
        survey(Arc::new(THREE.as_bytes().to_vec()), rules, &|| false)
    };
    // The trim of line 7 reaches furthest.
    assert_eq!(of(most_bytes - 20_480).unwrap().files[0].reach.end_bytes, most_bytes);
    for by_bytes in [most_bytes - 20_479, u64::MAX - 16_000] {
        let (line, length_bytes, offset_bytes) =
            if by_bytes > most_bytes { (4, 4096, 1536) } else { (7, 4096, 16_384) };
        let place = TracePlace::Line(line);
        let expected = TraceFault::MovedAway { place, length_bytes, offset_bytes, by_bytes };
        assert_eq!(fault_of(of(by_bytes).unwrap_err()), expected);
    }
}

#[test]
fn a_survey_knows_files_and_sizes() {
    let text =
        "fio version 2 iolog\na add\nb add\na read 0 512\nb write 100 8192\nb write 0 4096\nc wait 5 0\nb sync 0 0\n";
    let found = survey(Arc::new(text.as_bytes().to_vec()), ReplayRules::new(&spec(|_| {}), false), &|| false).unwrap();
    let named = |name: &str, end_bytes, line: u64, is_written| FileUse {
        file: TraceFile::Named(name.to_owned()),
        reach: FileReach { end_bytes, furthest: (line > 0).then_some(TracePlace::Line(line)), is_written },
    };
    assert_eq!(found.files, [named("a", 512, 4, false), named("b", 8292, 5, true), named("c", 0, 0, false)]);
    let writes = found.directions[DataDirection::Write];
    assert_eq!((writes.n_ios, writes.bytes, writes.min_bytes, writes.max_bytes), (2, 12_288, 4096, 8192));
    assert_eq!((found.bytes(), found.n_syncs, found.depth), (12_800, 1, None));
    let readonly = ReplayRules::new(&spec(|_| {}), true);
    let found = survey(Arc::new(text.as_bytes().to_vec()), readonly, &|| false).unwrap();
    assert!(!found.uses(DataDirection::Write) && found.uses(DataDirection::Read));
    assert_eq!(found.remarks.into_list(), [TraceRemark::Forbidden { n_ios: 2 }]);
    let only_writes = text.replace("a read", "a write").replace("b sync 0 0\n", "");
    let refused = survey(Arc::new(only_writes.into_bytes()), readonly, &|| false).unwrap_err();
    assert_eq!(fault_of(refused), TraceFault::Readonly { format: "iolog".into(), n_forbidden: 3 });
}

fn fault_of(error: TraceError) -> TraceFault {
    let TraceError::Fault(fault) = error else { panic!("{error}") };
    fault
}

#[test]
fn what_is_no_trace_is_refused() {
    let refused = |bytes: &[u8]| {
        let found = survey(Arc::new(bytes.to_vec()), ReplayRules::new(&spec(|_| {}), false), &|| false);
        fault_of(found.unwrap_err())
    };
    assert_eq!(refused(b""), TraceFault::Empty);
    assert_eq!(refused(b"fio version 1 iolog\n"), TraceFault::Unsupported);
    assert_eq!(refused(&[0; 300]), TraceFault::Unsupported);
    assert_eq!(refused(b"fio version 3 iolog\n1 f add\n"), TraceFault::NoIo { format: "iolog".into() });
}

#[test]
fn bad_lines_are_told_with_their_place() {
    let mut text = "fio version 2 iolog\nf read 0 512\nf foo 1 2\nf read 18446744073709551615 4096\n".to_owned();
    text.push_str(&"junk\n".repeat(100_000));
    let found = survey(Arc::new(text.into_bytes()), ReplayRules::new(&spec(|_| {}), false), &|| false).unwrap();
    let remarks = found.remarks.into_list();
    assert_eq!(remarks[0], TraceRemark::BadAction { number: 3, line: "f foo 1 2".to_owned() });
    let line = "f read 18446744073709551615 4096".to_owned();
    assert_eq!(remarks[1], TraceRemark::BadLine { number: 4, version: 2, line });
    assert_eq!((remarks.len(), &remarks[10]), (11, &TraceRemark::More { n_more: 99_992 }));
}

/// A trace that grows between the passes.
#[derive(Debug)]
struct Growing(std::sync::Mutex<Vec<u8>>);

impl TraceBytes for Growing {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
        self.0.lock().unwrap().read_at(buffer, offset)
    }
}

#[test]
fn a_name_that_was_not_there_before_is_an_error() {
    let growing = Arc::new(Growing(std::sync::Mutex::new(b"fio version 2 iolog\na read 0 512\n".to_vec())));
    let bytes: Arc<dyn TraceBytes> = Arc::clone(&growing) as _;
    let rules = ReplayRules::new(&spec(|_| {}), false);
    let survey = survey(Arc::clone(&bytes), rules, &|| false).unwrap();
    growing.0.lock().unwrap().extend(b"/dev/sda write 0 512\n");
    let plan = ReplayPlan { bytes, rules, survey, limit_ios: u64::MAX, has_pauses: false };
    let mut workload = Workload::replay(plan).unwrap();
    let mut steps = Vec::new();
    while !matches!(steps.last(), Some(Next::Failed)) {
        let step = workload.next();
        if step == Next::Wait {
            workload.pace().unwrap().turn(0);
        } else {
            steps.push(step);
        }
    }
    assert_eq!(steps, [io(Direction::Read, 0, 512), Next::Failed]);
    let error = workload.replayed().and_then(ReplayStream::error);
    assert!(matches!(error, Some(TraceError::Fault(TraceFault::Changed))));
}

/// Surveys and replays any bytes; the clock jumps to the due time of each step.
fn survives(bytes: Vec<u8>, spec: &ReplaySpec) {
    let bytes: Arc<dyn TraceBytes> = Arc::new(bytes);
    let rules = ReplayRules::new(spec, false);
    let Ok(survey) = survey(Arc::clone(&bytes), rules, &|| false) else { return };
    let plan = ReplayPlan { bytes, rules, survey, limit_ios: u64::MAX, has_pauses: false };
    let mut workload = Workload::replay(plan).unwrap();
    let mut now_ns = 0;
    loop {
        match workload.next() {
            Next::Wait => now_ns = workload.pace().and_then(|pace| pace.turn(now_ns)).unwrap_or(now_ns),
            Next::PassEnd => break,
            Next::Failed => panic!("{:?}", workload.replayed().and_then(ReplayStream::error)),
            _ => {}
        }
    }
}

proptest! {
    // Lines of words and numbers, some of them valid in a trace; records with any fields.
    #[test]
    fn no_bytes_make_a_replay_panic(
        lines in prop::collection::vec("[0-9 a-z\u{e9}]{0,12}( (read|write|sync|trim|wait|open|close|add))?( [0-9]{1,21}){0,3}", 0..20),
        records in prop::collection::vec(any::<[u8; 40]>(), 1..20),
        junk in prop::collection::vec(any::<u8>(), 0..60),
        align in 0_u32..63,
    ) {
        let spec = spec(|spec| (spec.align_bytes, spec.time_scale_percent) = (1 << align, 1));
        for version in [2, 3] {
            survives(format!("fio version {version} iolog\n{}", lines.join("\n")).into_bytes(), &spec);
        }
        for magic in [[7, 0x74, 0x61, 0x65], [0x65, 0x61, 0x74, 7]] {
            let record = |rest: &[u8; 40]| [&magic[..], &rest[..], &[0; 4]].concat();
            let mut bytes: Vec<u8> = records.iter().flat_map(record).collect();
            survives(bytes.clone(), &spec);
            bytes.extend(&junk);
            survives(bytes, &spec);
        }
        survives(junk, &spec);
    }
}
