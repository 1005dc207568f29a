//! The entries of a trace one after another, in any format.
//!
//! Must not know: when entries are due. Start reading at [`Reader::open`], then [`Reader::next`].

use super::TraceError;
use super::blktrace::{BlktraceEvent, ByteOrder, RECORD_BYTES};
use super::depth::DepthMeter;
use super::names::FileNames;
use super::record::{TraceRecord, Verb};
use super::rules::Remarks;
use super::text::{self, Bad, ParsedLine, Version};
use super::window::{TraceBytes, TraceLine, TraceWindow};
use ferrio_stats::note::{TraceFault, TracePlace, TraceRemark};
use ferrio_units::byte_text;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Text(Version),
    Blktrace(ByteOrder),
}

/// Reads a trace from its start to its end.
#[derive(Debug)]
pub(super) struct Reader {
    bytes: Arc<dyn TraceBytes>,
    window: TraceWindow,
    format: Format,
    line_number: u64,
    /// Offset of the last record of blktrace.
    record_offset: u64,
    /// Faults of the trace, collected in a first pass.
    pub(super) remarks: Remarks,
    /// Measures how many requests were in flight.
    pub(super) depth: DepthMeter,
    has_skipped_empty: bool,
}

impl Reader {
    /// Opens a trace and detects its format.
    pub(super) fn open(bytes: Arc<dyn TraceBytes>) -> Result<Self, TraceError> {
        let mut window = TraceWindow::new(Arc::clone(&bytes));
        let start = window.peek(RECORD_BYTES)?;
        if start.is_empty() {
            return Err(TraceFault::Empty.into());
        }
        let format = match ByteOrder::of_trace(start) {
            Some(order) => Format::Blktrace(order),
            None => Format::Text(heading(&mut window)?),
        };
        Ok(Self {
            bytes,
            window,
            format,
            line_number: 1,
            record_offset: 0,
            remarks: Remarks::default(),
            depth: DepthMeter::default(),
            has_skipped_empty: false,
        })
    }

    /// Back to the first entry.
    pub(super) fn rewind(&mut self) -> Result<(), TraceError> {
        let again = Self::open(Arc::clone(&self.bytes))?;
        if again.format != self.format {
            return Err(TraceFault::Changed.into());
        }
        *self = again;
        Ok(())
    }

    /// True if the format shows how many requests were in flight.
    pub(super) fn tells_depth(&self) -> bool {
        matches!(self.format, Format::Blktrace(_))
    }

    /// Place of the last entry.
    pub(super) fn place(&self) -> TracePlace {
        match self.format {
            Format::Text(_) => TracePlace::Line(self.line_number),
            Format::Blktrace(_) => TracePlace::Byte(self.record_offset),
        }
    }

    /// The next entry that can be done; `None` at the end.
    pub(super) fn next(&mut self, names: &mut FileNames) -> Result<Option<TraceRecord>, TraceError> {
        match self.format {
            Format::Text(version) => self.next_line(version, names),
            Format::Blktrace(order) => self.next_event(order, names),
        }
    }

    fn next_line(&mut self, version: Version, names: &mut FileNames) -> Result<Option<TraceRecord>, TraceError> {
        while let Some(line) = self.window.line()? {
            self.line_number += 1;
            let TraceLine::Text(range) = line else {
                self.remarks.add(|| TraceRemark::LongLine { number: self.line_number });
                continue;
            };
            let line = byte_text::of(self.window.text(range));
            let parsed = text::parse(version, &line).and_then(|parsed| possible(&parsed).ok_or(Bad::Form));
            match parsed {
                Ok(parsed) => {
                    let file_index = names.named(parsed.name)?;
                    return Ok(Some(record(&parsed, file_index)));
                }
                Err(fault) => {
                    let number = self.line_number;
                    self.remarks.add(|| bad_line(fault, version, &line, number));
                }
            }
        }
        Ok(None)
    }

    fn next_event(&mut self, order: ByteOrder, names: &mut FileNames) -> Result<Option<TraceRecord>, TraceError> {
        loop {
            let offset = self.window.offset();
            let ahead = self.window.peek(RECORD_BYTES)?;
            let Some(bytes) = ahead.first_chunk::<RECORD_BYTES>() else {
                if !ahead.is_empty() {
                    self.remarks.add(|| TraceRemark::CutRecord { offset });
                }
                return Ok(None);
            };
            let event = BlktraceEvent::parse(order, bytes).map_err(|bad| bad.at(offset))?;
            self.window.skip(RECORD_BYTES as u64 + u64::from(event.n_data_bytes));
            self.depth.see(&event);
            self.record_offset = offset;
            if let Some(record) = self.queued(&event, offset, names)? {
                return Ok(Some(record));
            }
        }
    }

    /// The entry of an event, if the event is one that is replayed.
    fn queued(
        &mut self,
        event: &BlktraceEvent,
        offset: u64,
        names: &mut FileNames,
    ) -> Result<Option<TraceRecord>, TraceError> {
        if !event.is_queued() {
            return Ok(None);
        }
        let verb = event.verb();
        let is_data = matches!(verb, Verb::Io(direction) if !direction.is_sync());
        if is_data && event.bytes == 0 {
            if !std::mem::replace(&mut self.has_skipped_empty, true) {
                self.remarks.add(|| TraceRemark::EmptyIos { offset });
            }
            return Ok(None);
        }
        let (major, minor) = event.device();
        let record = event.offset_bytes().map(|offset_bytes| TraceRecord {
            at_ns: Some(event.time_ns),
            verb,
            file_index: 0,
            offset_bytes: if is_data { offset_bytes } else { 0 },
            length_bytes: event.bytes.into(),
        });
        let Some(record) = record.filter(TraceRecord::is_possible) else {
            self.remarks.add(|| TraceRemark::ImpossibleIo { offset, length_bytes: event.bytes, sector: event.sector });
            return Ok(None);
        };
        Ok(Some(TraceRecord { file_index: names.device(major, minor)?, ..record }))
    }
}

fn heading(window: &mut TraceWindow) -> Result<Version, TraceError> {
    let Some(TraceLine::Text(range)) = window.line()? else { return Err(TraceFault::Unsupported.into()) };
    Ok(Version::of_heading(window.text(range)).ok_or(TraceFault::Unsupported)?)
}

fn record(parsed: &ParsedLine<'_>, file_index: u32) -> TraceRecord {
    TraceRecord {
        at_ns: parsed.time_us.map(|us| us.saturating_mul(1_000)),
        verb: parsed.verb,
        file_index,
        offset_bytes: parsed.offset,
        length_bytes: parsed.length,
    }
}

/// The line, if its action can be done.
fn possible<'a>(parsed: &ParsedLine<'a>) -> Option<ParsedLine<'a>> {
    let is_data = matches!(parsed.verb, Verb::Io(direction) if !direction.is_sync());
    let is_empty = is_data && parsed.length == 0;
    (!is_empty && record(parsed, 0).is_possible()).then_some(*parsed)
}

/// The text is fio 3.41's, with the line added.
fn bad_line(fault: Bad<'_>, version: Version, line: &str, number: u64) -> TraceRemark {
    let version = if version == Version::Two { 2 } else { 3 };
    let line = byte_text::shown(line);
    let line: String = line.chars().take(200).map(|symbol| if symbol.is_control() { '?' } else { symbol }).collect();
    match fault {
        Bad::Form => TraceRemark::BadLine { number, version, line },
        Bad::Action(_) => TraceRemark::BadAction { number, line },
        Bad::Wait(_) => TraceRemark::IgnoredWait { number, line },
    }
}
