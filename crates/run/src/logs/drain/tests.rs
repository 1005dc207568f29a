//! The draining thread beside a writer that never pauses.
//!
//! Start reading at [`a_ring_that_runs_empty_loses_nothing`].

use super::*;
use ferrio_stats::LogColumns;
use ferrio_units::DataDirection;
use std::path::PathBuf;

/// Values of all rows, in order.
#[derive(Clone, Default)]
struct Values(Arc<Mutex<Vec<u64>>>);

impl LogSink for Values {
    fn open(&mut self, _: &LogFile) -> io::Result<LogId> {
        Ok(LogId(0))
    }
    fn rows(&mut self, _: LogId, rows: &[LogRow]) -> io::Result<()> {
        lock(&self.0).extend(rows.iter().map(|row| row.value));
        Ok(())
    }
    fn histogram(&mut self, _: LogId, _: &HistogramRow) -> io::Result<()> {
        Ok(())
    }
    fn close(&mut self, _: LogId) -> io::Result<()> {
        Ok(())
    }
    fn name(&self, _: &LogFile) -> PathBuf {
        PathBuf::new()
    }
}

fn stream(ring: &Arc<Ring>) -> WorkerLogs {
    let file = LogFile {
        prefix: "x".into(),
        kind: LogKind::Clat,
        worker_number: None,
        columns: LogColumns::default(),
        coarseness: 0,
        compressed_chunk_bytes: None,
    };
    WorkerLogs {
        ring: Arc::clone(ring),
        recorder: Recorder { offset: false, issue_time: false },
        base_ms: 0,
        files: vec![file],
        filled: [true; N_KINDS],
        logs: [None; N_KINDS],
        is_open: false,
        is_last_turn: false,
    }
}

/// Records that arrive between two looks at an empty ring are complete, and come with the next look.
#[test]
fn a_ring_that_runs_empty_loses_nothing() {
    const N_RECORDS: u64 = 400_000;
    let ring = Arc::new(Ring::new(1 << 12).expect("memory"));
    let values = Values::default();
    let rows = std::array::from_fn(|_| Vec::new());
    let mut streams =
        Streams { of_workers: Vec::new(), sink: Box::new(values.clone()), rows, mail: Arc::<Mail>::default() };
    let mut stream = stream(&ring);
    let its_ring = Arc::clone(&ring);
    let writer = std::thread::spawn(move || {
        let mut writer = its_ring.writer();
        let mut send = |record: &[u64]| {
            while !writer.push(record) {
                std::thread::yield_now();
            }
        };
        Recorder::epoch(0, &mut send);
        for clat_ns in 0..N_RECORDS {
            let io = IoRecord {
                direction: DataDirection::Read,
                time_ms: 0,
                block_bytes: 4096,
                ioprio: 0,
                clat_ns,
                lat_ns: clat_ns,
                offset_bytes: 0,
                issue_ns: 0,
            };
            Recorder { offset: false, issue_time: false }.io(&io, &mut send);
        }
    });
    while !writer.is_finished() || ring.reader().n_waiting() > 0 {
        streams.empty(&mut stream);
    }
    writer.join().expect("it only writes");
    assert_eq!(lock(&streams.mail.problems).notes, []);
    let values = lock(&values.0);
    assert_eq!(values.len() as u64, N_RECORDS);
    assert!(values.iter().copied().eq(0..N_RECORDS));
}
