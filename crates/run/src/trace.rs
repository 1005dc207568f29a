//! `--debug`: lines on what a run does inside, by group. Off, it costs nothing per I/O: the engine is wrapped only when
//! I/O is traced.
//!
//! Must not know: where lines are printed. Start reading at [`TraceSettings`].

use crate::events::Stream;
use crate::worker::WorkerMessage;
use crate::wrapped::{Wrapped, Wrapper};
use ferrio_engine::{Completion, Engine, IoUnit, Queued};
use std::io;

/// A group of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceGroup {
    /// Workers: start, state, end.
    Process,
    /// Files: layout, opening, closing.
    File,
    /// Every I/O.
    Io,
    /// Buffers.
    Mem,
    /// Block devices behind files.
    DiskUtil,
    /// The plan of each worker.
    Job,
    /// Regions of a pass of `sprandom`.
    SpRandom,
}

impl TraceGroup {
    /// All groups that have lines.
    pub const ALL: [Self; 7] =
        [Self::Process, Self::File, Self::Io, Self::Mem, Self::DiskUtil, Self::Job, Self::SpRandom];

    /// Name in `--debug`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::File => "file",
            Self::Io => "io",
            Self::Mem => "mem",
            Self::DiskUtil => "diskutil",
            Self::Job => "job",
            Self::SpRandom => "sprandom",
        }
    }
}

/// What is traced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TraceSettings {
    groups: u32,
    /// Only this worker, by its number from 1.
    job_number: Option<u32>,
}

impl TraceSettings {
    /// Groups by name; names without lines are left out.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>, job_number: Option<u32>) -> Self {
        let bit = |name: &str| TraceGroup::ALL.iter().find(|group| group.name() == name).map_or(0, |g| 1 << *g as u32);
        Self { groups: names.into_iter().fold(0, |groups, name| groups | bit(name)), job_number }
    }

    /// The group is traced for this worker.
    pub fn has(self, group: TraceGroup, thread_number: u32) -> bool {
        self.groups & (1 << group as u32) != 0 && self.job_number.is_none_or(|number| number == thread_number)
    }
}

/// One line: group, thread, text.
pub(crate) fn line(group: TraceGroup, text: &str) -> String {
    format!("{:<8} {:<5} {text}", group.name(), ferrio_sys::process::thread_id().as_raw_nonzero())
}

/// Tells what goes through an engine.
struct Teller<'a>(&'a dyn Fn(&WorkerMessage));

/// An engine that tells what goes through it.
pub(crate) fn told<'a>(inner: Box<dyn Engine + 'a>, send: &'a dyn Fn(&WorkerMessage)) -> Box<dyn Engine + 'a> {
    Box::new(Wrapped::new(inner, Teller(send)))
}

impl Teller<'_> {
    fn tell(&self, text: &str) {
        (self.0)(&WorkerMessage::Text(Stream::Trace, line(TraceGroup::Io, text)));
    }
}

impl Wrapper for Teller<'_> {
    fn queue(&mut self, inner: &mut dyn Engine, unit_index: u32, unit: &IoUnit) -> Queued {
        let queued = inner.queue(unit_index, unit);
        self.tell(&format!(
            "queue: io_u {unit_index}: off={:#x},len={:#x},ddir={},file={}: {queued:?}",
            unit.offset,
            unit.length,
            unit.direction.name(),
            unit.file_index
        ));
        queued
    }

    fn committed(&mut self, committed: &io::Result<u32>) {
        self.tell(&format!("commit: {committed:?}"));
    }

    fn reaped(&mut self, min: u32, max: u32, completions: &[Completion]) {
        self.tell(&format!("getevents: min={min}, max={max}: {}", completions.len()));
        for completion in completions {
            self.tell(&format!("complete: io_u {}: result={}", completion.unit_index, completion.result));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_job_numbers_select() {
        let settings = TraceSettings::new(["io", "nonsense"], Some(2));
        assert!(settings.has(TraceGroup::Io, 2));
        assert!(!settings.has(TraceGroup::Io, 1) && !settings.has(TraceGroup::File, 2));
        assert!(TraceSettings::new(["file"], None).has(TraceGroup::File, 7));
    }
}
