//! The thread that empties the rings of all workers into a sink.
//!
//! Must not know: how rows look on disk. Start reading at [`LogDrain`], then [`Streams::turn`].

use super::record::{IoRecord, LogRecord, Recorder};
use super::{LogOpener, LogPort, files, filled};
use crate::plan::{RunPlan, WorkerPlan};
use ferrio_stats::Note;
use ferrio_stats::note::{During, RunNote};
use ferrio_stats::{HistogramRow, LogFile, LogId, LogKind, LogRow, LogSink};
use ferrio_sys::errno::EIO;
use ferrio_sys::ring::{Bell, Ring};
use ferrio_sys::scheduling;
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Longest sleep: records of a slow job reach the disk after this time at the latest.
const MAX_SLEEP: Duration = Duration::from_millis(100);
/// Time between two checks whether the caller still waits for the logs.
const PATIENCE: Duration = Duration::from_millis(20);
/// Number of rows that are handed to the sink at once.
const MAX_ROWS: usize = 8192;
/// Number of records taken from one ring before the next ring has its turn.
const MAX_RECORDS: usize = 8 * MAX_ROWS;

const N_KINDS: usize = LogKind::ALL.len();

/// An order of the supervisor to the thread.
enum DrainOrder {
    Add(usize, Box<WorkerLogs>),
    /// A worker is gone; nothing more will be added to its ring.
    Finish(usize),
    /// All workers are gone.
    Stop,
}

/// State that the supervisor and the thread share.
#[derive(Default)]
struct Mail {
    orders: Mutex<Vec<DrainOrder>>,
    problems: Mutex<Problems>,
}

/// Errors of logs.
#[derive(Default)]
struct Problems {
    notes: Vec<Note>,
    n_lost: u32,
}

/// The supervisor's end. Dropping it empties all rings and waits for the thread.
pub(crate) struct LogDrain {
    mail: Arc<Mail>,
    bell: Arc<Bell>,
    thread: Option<JoinHandle<()>>,
    /// Closed when the thread ends.
    end: Receiver<()>,
}

impl LogDrain {
    /// Starts the thread. `None`: no worker logs anything. `cpus`: the CPUs for the thread (`log_compression_cpus`).
    pub(crate) fn start(plan: &RunPlan, opener: &LogOpener) -> io::Result<Option<Self>> {
        let (workers, kept, opener) = (&plan.workers, Arc::clone(&plan.kept), opener.clone());
        if !workers.iter().any(|worker| worker.spec.logs.is_on()) {
            return Ok(None);
        }
        let (mail, bell) = (Arc::<Mail>::default(), Arc::new(Bell::new().map_err(io::Error::other)?));
        let (its_mail, its_bell) = (Arc::clone(&mail), Arc::clone(&bell));
        let lists = workers.iter().filter_map(|worker| worker.spec.logs.compression_cpus.as_ref());
        let cpus: Vec<u32> = lists.flatten().copied().collect();
        let (is_running, end) = mpsc::channel::<()>();
        let thread = std::thread::Builder::new().name("ferrio-logs".to_owned()).spawn(move || {
            let _is_running = is_running;
            let _ = ferrio_sys::signals::block_in_this_thread();
            if !cpus.is_empty() {
                // If this fails the logs are written all the same, from another CPU.
                let _ = scheduling::set_cpu_affinity(&cpus);
            }
            let rows = std::array::from_fn(|_| Vec::with_capacity(MAX_ROWS));
            let mut streams = Streams { of_workers: Vec::new(), sink: opener.open(&kept), rows, mail: its_mail };
            streams.until_stopped(&its_bell);
        })?;
        Ok(Some(Self { mail, bell, thread: Some(thread), end }))
    }

    /// Called before a worker starts: the port for its logs, if it has any.
    pub(crate) fn add(&self, index: usize, plan: &WorkerPlan) -> ferrio_sys::Result<Option<LogPort>> {
        if !plan.spec.logs.is_on() {
            return Ok(None);
        }
        let port = LogPort::new(plan, &self.bell)?;
        let logs = &plan.spec.logs;
        let stream = WorkerLogs {
            filled: filled(plan),
            ring: Arc::clone(&port.ring),
            recorder: Recorder { offset: logs.offset, issue_time: logs.issue_time },
            base_ms: 0,
            files: files(plan),
            logs: [None; N_KINDS],
            is_open: false,
            is_last_turn: false,
        };
        self.order(DrainOrder::Add(index, Box::new(stream)));
        Ok(Some(port))
    }

    /// Called after a worker is gone.
    pub(crate) fn finish(&self, index: usize) {
        self.order(DrainOrder::Finish(index));
    }

    /// Messages about logs that failed since the last call.
    pub(crate) fn take_problems(&self) -> Vec<Note> {
        std::mem::take(&mut lock(&self.mail.problems).notes)
    }

    /// Empties all rings and closes all files, unless `gives_up` returns true before that is done. Returns the
    /// remaining messages, and the number of logs that could not be opened or have lost rows.
    pub(crate) fn stop(mut self, gives_up: &mut dyn FnMut() -> bool) -> (Vec<Note>, u32) {
        self.order(DrainOrder::Stop);
        while self.end.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            if gives_up() {
                // The thread is abandoned.
                self.thread = None;
                let mut problems = lock(&self.mail.problems);
                problems.notes.push(RunNote::LogsStuck.into());
                problems.n_lost += 1;
                break;
            }
        }
        self.join();
        let problems = std::mem::take(&mut *lock(&self.mail.problems));
        (problems.notes, problems.n_lost)
    }

    fn order(&self, order: DrainOrder) {
        lock(&self.mail.orders).push(order);
        self.bell.ring();
    }

    fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.order(DrainOrder::Stop);
            if thread.join().is_err() {
                let mut problems = lock(&self.mail.problems);
                problems.notes.push(RunNote::LogThreadDied.into());
                problems.n_lost += 1;
            }
        }
    }
}

impl Drop for LogDrain {
    fn drop(&mut self) {
        self.join();
    }
}

/// A lock, even if a thread panicked with it: values are only pushed to and taken from the data, so it is intact.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct WorkerLogs {
    ring: Arc<Ring>,
    recorder: Recorder,
    base_ms: u64,
    files: Vec<LogFile>,
    /// Kinds of logs that get a row for each recorded I/O.
    filled: [bool; N_KINDS],
    /// Open logs by kind; a log that failed is removed.
    logs: [Option<LogId>; N_KINDS],
    is_open: bool,
    /// Nothing more will be added to the ring.
    is_last_turn: bool,
}

/// All state of the thread.
struct Streams {
    of_workers: Vec<(usize, Box<WorkerLogs>)>,
    sink: Box<dyn LogSink>,
    /// Rows of the present worker that wait for the sink, by kind.
    rows: [Vec<LogRow>; N_KINDS],
    mail: Arc<Mail>,
}

impl Streams {
    fn until_stopped(&mut self, bell: &Bell) {
        loop {
            let count = bell.count();
            let is_stopping = self.take_orders();
            let n_records = self.turn();
            if n_records == 0 && is_stopping {
                self.close_all();
                return;
            }
            if n_records < MAX_ROWS && !is_stopping {
                bell.sleep(count, MAX_SLEEP);
            }
        }
    }

    /// Takes the waiting orders. True: the thread is to end.
    fn take_orders(&mut self) -> bool {
        let orders = std::mem::take(&mut *lock(&self.mail.orders));
        let mut is_stopping = false;
        for order in orders {
            match order {
                DrainOrder::Add(index, stream) => {
                    debug_assert!(!stream.is_open && !stream.is_last_turn, "logs are added before their worker starts");
                    self.of_workers.push((index, stream));
                }
                DrainOrder::Finish(index) => {
                    let of_worker = self.of_workers.iter_mut().filter(|(other, _)| *other == index);
                    of_worker.for_each(|(_, stream)| stream.is_last_turn = true);
                }
                DrainOrder::Stop => is_stopping = true,
            }
        }
        // Orders are taken only once, so the order to end is left in the mailbox.
        if is_stopping {
            lock(&self.mail.orders).push(DrainOrder::Stop);
        }
        is_stopping
    }

    /// Empties all rings, and closes the logs of workers that are gone. Returns the number of records taken.
    fn turn(&mut self) -> usize {
        let mut n_records = 0;
        let mut streams = std::mem::take(&mut self.of_workers);
        for (_, stream) in &mut streams {
            let is_last_turn = stream.is_last_turn;
            let n_taken = self.empty(stream);
            n_records += n_taken;
            if is_last_turn && n_taken == 0 {
                self.close(stream);
            }
        }
        streams
            .retain(|(_, stream)| !(stream.is_last_turn && stream.ring.reader().n_waiting() == 0 && !stream.is_open));
        self.of_workers = streams;
        n_records
    }

    /// Empties a ring. It looks at the ring's ends once for many records, because each look takes the cache line from
    /// the worker.
    fn empty(&mut self, stream: &mut WorkerLogs) -> usize {
        let ring = Arc::clone(&stream.ring);
        let mut reader = ring.reader();
        let mut n_records = 0;
        while n_records < MAX_RECORDS {
            let n_waiting = reader.n_waiting();
            let (n_words, n_taken) = self.take_some(stream, n_waiting, |offset| reader.word(offset));
            n_records += n_taken;
            reader.consume(n_words);
            self.flush(stream);
            if n_taken == 0 {
                if n_waiting > 0 {
                    // Only a worker that has overwritten its own memory gets here; the rest of its ring cannot be read.
                    self.problem(RunNote::LogIsBroken { n_words: n_waiting }.into());
                    reader.consume(n_waiting);
                }
                break;
            }
        }
        n_records
    }

    /// Takes the oldest records, up to the number that is handed on at once. Returns the numbers of words and records
    /// taken.
    fn take_some(
        &mut self,
        stream: &mut WorkerLogs,
        n_waiting: usize,
        word: impl Fn(usize) -> u64 + Copy,
    ) -> (usize, usize) {
        let (mut at, mut n_taken) = (0, 0);
        while n_taken < MAX_ROWS {
            let read = stream.recorder.read(n_waiting - at, |offset| word(at + offset));
            let Some((record, n_words)) = read else { break };
            at += n_words;
            n_taken += 1;
            self.take(stream, record);
        }
        debug_assert!(at <= n_waiting, "no more words are taken than the ring has");
        (at, n_taken)
    }

    fn take(&mut self, stream: &mut WorkerLogs, record: LogRecord) {
        match record {
            LogRecord::Epoch(base_ms) => {
                self.flush(stream);
                stream.base_ms = base_ms;
                self.open(stream);
            }
            LogRecord::Io(io) => self.take_io(stream, &io),
            LogRecord::Slat(io) => self.push(stream, LogKind::Slat, &io, io.clat_ns),
            LogRecord::Window { kind, direction, time_ms, value, maximum } => {
                let time_ms = time_ms.saturating_add(stream.base_ms);
                self.rows[kind as usize].push(LogRow::of_window(time_ms, direction, value, maximum));
            }
            LogRecord::Histogram { direction, time_ms, block_bytes, counts } => {
                let time_ms = time_ms.saturating_add(stream.base_ms);
                self.histogram(stream, &HistogramRow { time_ms, direction, block_bytes, counts });
            }
        }
    }

    fn take_io(&mut self, stream: &WorkerLogs, io: &IoRecord) {
        for kind in [LogKind::Bw, LogKind::Iops, LogKind::Clat, LogKind::Lat] {
            let value = match kind {
                LogKind::Bw => bw_kb_per_sec(io.block_bytes, io.clat_ns),
                LogKind::Iops => 1,
                LogKind::Clat => io.clat_ns,
                _ => io.lat_ns,
            };
            self.push(stream, kind, io, value);
        }
    }

    fn push(&mut self, stream: &WorkerLogs, kind: LogKind, io: &IoRecord, value: u64) {
        if stream.logs[kind as usize].is_none() || !stream.filled[kind as usize] {
            return;
        }
        let row = LogRow {
            time_ms: io.time_ms.saturating_add(stream.base_ms),
            value,
            maximum: 0,
            direction: io.direction,
            block_bytes: io.block_bytes.into(),
            offset_bytes: io.offset_bytes,
            ioprio: io.ioprio,
            // fio has the issue time only for these two.
            issue_ns: if matches!(kind, LogKind::Slat | LogKind::Clat) { io.issue_ns } else { 0 },
        };
        self.rows[kind as usize].push(row);
    }

    /// Hands the rows to the sink, one kind after another.
    fn flush(&mut self, stream: &mut WorkerLogs) {
        for kind in LogKind::ALL {
            let rows = std::mem::take(&mut self.rows[kind as usize]);
            if let (Some(log), false) = (stream.logs[kind as usize], rows.is_empty()) {
                let written = self.sink.rows(log, &rows);
                self.keep(stream, kind, log, written);
            }
            self.rows[kind as usize] = rows;
            self.rows[kind as usize].clear();
        }
    }

    fn histogram(&mut self, stream: &mut WorkerLogs, row: &HistogramRow) {
        if let Some(log) = stream.logs[LogKind::ClatHist as usize] {
            let written = self.sink.histogram(log, row);
            self.keep(stream, LogKind::ClatHist, log, written);
        }
    }

    /// Keeps a log after a successful write; gives it up with a message after a failed one.
    fn keep(&mut self, stream: &mut WorkerLogs, kind: LogKind, log: LogId, written: io::Result<()>) {
        let Err(error) = written else { return };
        stream.logs[kind as usize] = None;
        let name = stream.files.iter().find(|file| file.kind == kind).map(|file| self.sink.name(file));
        let name = name.unwrap_or_default();
        self.problem(Note::system(During::WriteLog(name.display().to_string()), &error));
        let _ = self.sink.close(log);
    }

    fn open(&mut self, stream: &mut WorkerLogs) {
        if std::mem::replace(&mut stream.is_open, true) {
            return;
        }
        for file in &stream.files {
            match self.sink.open(file) {
                Ok(log) => stream.logs[file.kind as usize] = Some(log),
                Err(error) => {
                    let path = self.sink.name(file).display().to_string();
                    self.problem(RunNote::LogNotOpened { path, errno: error.raw_os_error().unwrap_or(EIO) }.into());
                }
            }
        }
    }

    fn close(&mut self, stream: &mut WorkerLogs) {
        stream.is_open = false;
        for kind in LogKind::ALL {
            let closed = stream.logs[kind as usize].take().map_or(Ok(()), |log| self.sink.close(log));
            if let Err(error) = closed {
                self.problem(Note::system(During::CloseLog(kind.name().into()), &error));
            }
        }
    }

    fn close_all(&mut self) {
        for (_, mut stream) in std::mem::take(&mut self.of_workers) {
            self.close(&mut stream);
        }
    }

    fn problem(&self, note: Note) {
        let mut problems = lock(&self.mail.problems);
        problems.notes.push(note);
        problems.n_lost += 1;
    }
}

/// Bandwidth of a single I/O, kB/s: bytes * 1000000 / ns.
pub(crate) fn bw_kb_per_sec(bytes: u32, clat_ns: u64) -> u64 {
    // Cannot overflow: 2^32 * 10^6 < 2^52.
    u64::from(bytes) * 1_000_000 / clat_ns.max(1)
}

#[cfg(test)]
mod tests;
