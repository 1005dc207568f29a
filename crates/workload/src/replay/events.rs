//! The events of several traces of blktrace in order of their times: those of one recording have a file for each CPU.
//!
//! Each trace takes a window of fixed size in memory. Must not know: meanings of events. Start reading at
//! [`Events::next`].

use super::TraceError;
use super::blktrace::{BlktraceEvent, ByteOrder, RECORD_BYTES};
use super::window::{TraceBytes, TraceWindow};
use ferrio_stats::note::TraceFault;
use std::sync::Arc;

/// Longest name of a process that is kept, bytes.
const MAX_NAME_BYTES: usize = 64;

#[derive(Debug, Clone)]
pub(super) struct NamedEvent {
    pub(super) event: BlktraceEvent,
    pub(super) name: Option<String>,
}

/// Traces that are read at the same time.
#[derive(Debug)]
pub(super) struct Events(Vec<EventSource>);

#[derive(Debug)]
struct EventSource {
    window: TraceWindow,
    order: ByteOrder,
    next: Option<NamedEvent>,
    is_cut: bool,
}

impl Events {
    /// Reads the start of each trace. The index in an error is that of the trace.
    pub(super) fn open(traces: Vec<Arc<dyn TraceBytes>>) -> Result<Self, (usize, TraceError)> {
        let open = |(index, bytes)| EventSource::open(bytes).map_err(|error| (index, error));
        traces.into_iter().enumerate().map(open).collect::<Result<_, _>>().map(Self)
    }

    /// The next event; `None` at the end of all traces.
    pub(super) fn next(&mut self) -> Result<Option<NamedEvent>, (usize, TraceError)> {
        let times =
            self.0.iter().enumerate().filter_map(|(index, source)| Some((source.next.as_ref()?.event.time_ns, index)));
        let Some((_, index)) = times.min() else { return Ok(None) };
        let next = self.0[index].next.take();
        self.0[index].advance().map_err(|error| (index, error))?;
        Ok(next)
    }

    /// Number of traces that end within a record.
    pub(super) fn n_cut(&self) -> usize {
        self.0.iter().filter(|source| source.is_cut).count()
    }
}

impl EventSource {
    fn open(bytes: Arc<dyn TraceBytes>) -> Result<Self, TraceError> {
        let mut window = TraceWindow::new(bytes);
        let start = window.peek(RECORD_BYTES)?;
        if start.is_empty() {
            return Err(TraceFault::Empty.into());
        }
        let order = ByteOrder::of_trace(start).ok_or(TraceFault::NotBlktrace)?;
        let mut source = Self { window, order, next: None, is_cut: false };
        source.advance()?;
        Ok(source)
    }

    fn advance(&mut self) -> Result<(), TraceError> {
        let offset = self.window.offset();
        let ahead = self.window.peek(RECORD_BYTES)?;
        let Some(record) = ahead.first_chunk::<RECORD_BYTES>() else {
            self.is_cut = !ahead.is_empty();
            return Ok(());
        };
        let event = BlktraceEvent::parse(self.order, record).map_err(|bad| bad.at(offset))?;
        self.window.skip(RECORD_BYTES as u64);
        let n_data_bytes = usize::from(event.n_data_bytes);
        let mut name = None;
        if event.names_process() {
            let bytes = self.window.peek(n_data_bytes.min(MAX_NAME_BYTES))?;
            let bytes = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
            name = Some(String::from_utf8_lossy(bytes).into_owned());
        }
        self.window.skip(n_data_bytes as u64);
        self.next = Some(NamedEvent { event, name });
        Ok(())
    }
}
