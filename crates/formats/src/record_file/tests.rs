//! Files of records: a written record is read back, and other bytes are refused.

use super::*;
use crate::{LocalTime, RenderOptions, fio_view, render};
use ferrio_spec::{FormatKind, HeaderLayout, OUTPUT_FORMATS, OutputFormats, SteadyCriterion, SteadyMetric};
use ferrio_stats::note::{
    BadBlock, BlockDump, Damage, DeviceUsage, EngineNote, Fault, FaultKind, FileNote, IoNote, RateMiss, ReplayNote,
    RunNote, StreamFault, SystemError, TraceFault, TraceTrouble, VerifyNote, ZoneNote,
};
use ferrio_stats::provenance::JobOptions;
use ferrio_stats::{
    DiskRecord, Evidence, Failure, IntervalStats, JobEnd, LatencyStat, LoggedEvent, MessageStream, Note, PriorityStat,
    PriorityStats, SteadyPart, SteadyState, ThreadStats, WorkerRecord,
};
use ferrio_units::{AllowedParameter, BuildError, DataDirection, PerDirection};
use proptest::prelude::*;

fn stats(values: &[u64]) -> ThreadStats {
    let mut stats = ThreadStats { total_runtime_ns: 5, errno: 5, ..ThreadStats::default() };
    let read = &mut stats.directions[DataDirection::Read];
    read.clat = LatencyStat::new(true);
    for value in values {
        read.clat.record(*value);
    }
    (read.n_issued, read.bytes, read.runtime_ns) = (values.len() as u64, 4096, 1_000_000);
    read.priorities = PriorityStats(vec![PriorityStat { ioprio: 3, latency: read.clat.clone() }]);
    stats
}

/// A record with a value in every part.
fn record(values: &[u64]) -> RunRecord {
    let criterion = SteadyCriterion { metric: SteadyMetric::Lat, is_slope: true, limit: 1.0, is_percent: true };
    let worker = |group_index| WorkerRecord {
        name: "j".to_owned(),
        description: Some("d".to_owned()),
        group_index,
        given_options: vec![("rw".to_owned(), "read".to_owned())],
        stats: Box::new(stats(values)),
        steady: Some(SteadyPart::Leads(Box::new(SteadyState::new(criterion, 2, 2)))),
        ..WorkerRecord::default()
    };
    let stretch = IntervalStats {
        job_name: "j".to_owned(),
        job_number: 1,
        group_index: 0,
        directions: PerDirection([true, false, false]),
        percentiles: vec![50.0],
        start_ns: 1,
        end_ns: 2,
        run_epoch_ms: 3,
        host: None,
        stats: stats(values),
    };
    let end = JobEnd { stretch: stretch.clone(), has_started: true, pid: 4, failure: None, killed_by: None };
    let mut record = RunRecord {
        version: "fio-3.42".to_owned(),
        timestamp_ms: 1_700_000_000_000,
        elapsed_ns: 4_000_000_000,
        workers: vec![worker(0), worker(1)],
        evidence: Evidence {
            disks: Some(vec![DiskRecord { name: "vda".to_owned(), ..DiskRecord::default() }]),
            ..Evidence::default()
        },
        course: vec![
            LoggedEvent::Begin { run_epoch_ms: 3, interval_ns: 1_000_000_000 },
            LoggedEvent::Interval(Box::new(stretch)),
            LoggedEvent::JobEnded(Box::new(end)),
            LoggedEvent::End { epoch_ms: 5, exit: 1, signal: Some(2), elapsed_ns: 7 },
        ],
        provenance: Some(Box::default()),
        ..RunRecord::default()
    };
    record.messages.push(MessageStream::Error, Note::text("fio: no"));
    for note in typed_notes() {
        record.messages.push(MessageStream::Info, note);
    }
    let failure = Failure::new(5, "x.rs:1", "open").explained(Note::text("why"));
    record.messages.push(MessageStream::Info, Note::Failed { pid: 5, failure: Box::new(failure.clone()) });
    record.workers[0].fate.failure = Some(failure);
    record
}

/// Notes of each theme, with fields of each kind.
fn typed_notes() -> Vec<Note> {
    let trouble = TraceTrouble::Fault(TraceFault::NoIo { format: "iolog".into() });
    let fault = Fault { offset_bytes: 1, length_bytes: 2, kind: FaultKind::Cut };
    let error = Some(SystemError::Errno(5));
    let dumps = vec![BlockDump { kind: "received".into(), path: "p".to_owned(), error: error.clone() }];
    let damage = Some(Damage::OtherLayout(HeaderLayout::V2));
    let bad = BadBlock { file: "f".to_owned(), offset_bytes: 3, length_bytes: 4, fault, dumps, damage };
    let why = BuildError::DistributionParameter { given: 1.0, allowed: AllowedParameter::ZipfTheta };
    let settings = vec![("cpuload".into(), 50)];
    let introduction = EngineNote::Mode { engine: "cpuio".into(), mode: "noop".into(), settings };
    vec![
        RunNote::SavesOutput { job: "j".to_owned(), kind: "prerun".into(), path: "p".to_owned() }.into(),
        FileNote::InUse { path: "p".to_owned(), usage: DeviceUsage::HeldBy { name: "dm-0".to_owned() } }.into(),
        IoNote::TooSlow { job: "j".to_owned(), misses: vec![RateMiss::Ios { least: 2, found: 1 }] }.into(),
        ZoneNote::SizeBeyondBytes { option: "size".into(), n_zones: u64::MAX }.into(),
        VerifyNote::BadBlock(Box::new(bad)).into(),
        VerifyNote::StateNotWritten { path: "p".to_owned(), error }.into(),
        ReplayNote::Refused { trace: "t".to_owned(), why: trouble }.into(),
        Note::Engine { job: Some("j".to_owned()), note: introduction },
        Note::Stream { job: "j".to_owned(), fault: StreamFault::FileService { why } },
    ]
}

fn options() -> RenderOptions {
    RenderOptions { zone: LocalTime::utc(), ..RenderOptions::default() }
}

fn show_all(record: &RunRecord) -> Vec<String> {
    let view = fio_view(record);
    let of_the_end = OUTPUT_FORMATS.iter().filter(|def| def.kind != FormatKind::Records);
    let alone = of_the_end.map(|def| OutputFormats::from_iter([def.format]));
    let mut shown: Vec<String> = alone.map(|formats| render(&view, &formats, &options())).collect();
    shown.push(crate::jsonl::render(record));
    shown
}

/// Puts a frame around any content.
fn framed(content: &[u8]) -> Vec<u8> {
    let mut file = format!("{MAGIC}{RECORD_FORMAT}\n").into_bytes();
    file.extend((content.len() as u64).to_le_bytes());
    file.extend(crc32c(content).to_le_bytes());
    file.extend(content);
    file
}

#[test]
fn what_was_written_comes_back() {
    let record = record(&[1, 1_000, 20_000_000_000]);
    let read = decode(&encode(&record)).expect("a record");
    assert_eq!(read, record);
    assert_eq!(show_all(&read), show_all(&record));
    assert!(show_all(&read).iter().all(|text| !text.is_empty()));
    let text = serde_json::to_string(&record).expect("serialises");
    assert_eq!(serde_json::from_str::<RunRecord>(&text).expect("reads back"), record);
}

/// A form that can no longer be read: a new field lacks `#[serde(default)]`, or a variant of an enum has another name.
#[test]
fn records_of_older_forms_are_read() {
    for form in OLDEST_FORM..=RECORD_FORMAT {
        let path = format!("{}/tests/records/form-{form}.record", env!("CARGO_MANIFEST_DIR"));
        // The present form has a file only when it is the past one.
        let Ok(file) = std::fs::read(&path) else {
            assert_eq!(form, RECORD_FORMAT, "{path}");
            continue;
        };
        let record = decode(&file).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(record.format, RECORD_FORMAT);
        let provenance = record.provenance.as_deref().expect("a provenance");
        let depths: Vec<u32> =
            provenance.jobs.iter().filter_map(|job| job.options.as_ref()).map(|spec| spec.queue.iodepth).collect();
        assert_eq!(depths, [1, 4, 1], "{path}");
        let bytes: Vec<u64> =
            record.workers.iter().map(|worker| worker.stats.directions.0.iter().map(|of| of.bytes).sum()).collect();
        assert_eq!(bytes, [1 << 20; 4], "{path}");
        show_all(&record);
    }
}

#[test]
fn every_beginning_of_a_file_is_truncated() {
    let file = encode(&record(&[5]));
    for length in 1..file.len() {
        let error = decode(&file[..length]).expect_err("its end is missing");
        assert!(matches!(error, SavedError::Truncated { found, .. } if found == length as u64), "{length}: {error}");
    }
    assert_eq!(decode(&[]), Err(SavedError::NoRecord));
}

#[test]
fn what_is_no_record_is_told_from_one_that_is_damaged() {
    let file = encode(&record(&[5]));
    assert_eq!(decode(b"\n{\n  \"fio version\" : \"fio-3.41\",\n"), Err(SavedError::Document));
    assert_eq!(decode(b"fio-3.41\nStarting 1 process\n"), Err(SavedError::NoRecord));
    assert_eq!(decode(b"ferrio record 99\nwhatever"), Err(SavedError::Format("99".to_owned())));
    assert_eq!(decode(&[&file[..], b"more"].concat()), Err(SavedError::Trailing(4)));
    let mut flipped = file.clone();
    *flipped.last_mut().expect("it is not empty") ^= 1;
    assert_eq!(decode(&flipped), Err(SavedError::Checksum));
    assert!(matches!(decode(&framed(b"\xff\xff")), Err(SavedError::Content(ContentFault::Encoding(_)))));
    let mut wide = record(&[5]);
    wide.workers[1].settings.significant_figures = u32::MAX;
    let error = SavedError::Value { name: "significant_figures", value: u32::MAX, max: MAX_DIGITS };
    assert_eq!(decode(&encode(&wide)), Err(error));
    let mut endless = record(&[5]);
    let job = JobOptions { name: "j".to_owned(), group: 0, first_number: 1, n_clones: u32::MAX, options: None };
    endless.provenance.as_deref_mut().expect("a provenance").jobs.push(job);
    let error = SavedError::Value { name: "numjobs", value: u32::MAX, max: MAX_CLONES };
    assert_eq!(decode(&encode(&endless)), Err(error));
    let mut steady = record(&[5]);
    let criterion = SteadyCriterion { metric: SteadyMetric::Lat, is_slope: true, limit: 1.0, is_percent: true };
    let state = SteadyState::new(criterion, 2, MAX_WINDOW_SAMPLES + 1);
    steady.workers[1].steady = Some(SteadyPart::Leads(Box::new(state)));
    assert_eq!(decode(&encode(&steady)), Err(SavedError::Content(ContentFault::SteadyWindows)));
    let other = RunRecord { format: RECORD_FORMAT + 1, ..record(&[5]) };
    assert_eq!(decode(&encode(&other)), Err(SavedError::Format((RECORD_FORMAT + 1).to_string())));
}

proptest! {
    /// Changed content with the right checksum is shown or refused.
    #[test]
    fn hostile_contents_do_not_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut content = record(&[5, 70_000]).pack();
        for (index, byte) in changes {
            let index = index.index(content.len());
            content[index] = byte;
        }
        if let Ok(record) = decode(&framed(&content)) {
            show_all(&record);
        }
    }

    #[test]
    fn hostile_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = decode(&bytes);
        if let Ok(record) = decode(&framed(&bytes)) {
            show_all(&record);
        }
    }
}
