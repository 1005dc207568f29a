//! An engine wrapper that reports I/Os, their buffers and their verification (`--debug`).
//!
//! Must not know: loops. Start reading at [`traced`].

use crate::files::FileSet;
use crate::link::trace::{TraceGroup, Tracer};
use crate::plan::WorkerPlan;
use crate::wrapped::{Wrapped, Wrapper};
use crate::zones::debug_trace::ZoneTrace;
use ferrio_engine::{Completion, Engine, IoResult, IoUnit, Outcome, Queued};
use ferrio_spec::engines::Handover;
use ferrio_spec::{VerifyForm, VerifySpec};
use ferrio_units::Direction;
use ferrio_workload::debug_trace::{Drawn, Draws};
use std::io;

/// Reports the I/Os of an engine.
pub(crate) struct IoTrace<'a> {
    tracer: &'a Tracer<'a>,
    /// Address and name of each file.
    files: Vec<(usize, String)>,
    draws: Draws,
    verify: Option<VerifyTrace>,
    zones: Option<ZoneTrace>,
    engine_name: &'static str,
    /// The engine takes an I/O some time before the kernel does.
    prepares: bool,
    /// By index: the unit in flight, and the number that identifies it in lines.
    units: Vec<Option<(usize, IoUnit)>>,
    n_queued: u32,
    n_in_flight: u32,
    /// Slot of a unit that the engine had no room for: the next unit is the same again.
    refused: Option<u32>,
}

/// Wraps an engine if its I/Os are traced; otherwise returns it as it is.
pub(crate) fn traced<'a>(
    inner: Box<dyn Engine + 'a>,
    worker: &WorkerPlan,
    set: &FileSet,
    tracer: &'a Tracer<'a>,
    draws: &Draws,
) -> Box<dyn Engine + 'a> {
    match io_trace(worker, set, tracer, draws) {
        Some(trace) => Box::new(Wrapped::new(inner, trace)),
        None => inner,
    }
}

/// The trace of a job, if its I/Os are traced.
pub(crate) fn io_trace<'a>(
    worker: &WorkerPlan,
    set: &FileSet,
    tracer: &'a Tracer<'a>,
    draws: &Draws,
) -> Option<IoTrace<'a>> {
    use TraceGroup::{File, Io, Random, Rate, Verify, Zbd};
    if ![File, Io, Random, Rate, Verify, Zbd].into_iter().any(|group| tracer.has(group)) {
        return None;
    }
    tracer.line(Io, || format!("load ioengine {}", worker.engine.def.name));
    let verify = worker.spec.verify.as_ref().filter(|_| tracer.has(Verify));
    Some(IoTrace {
        tracer,
        files: set.files.iter().map(|file| (file.address(), file.name.clone())).collect(),
        draws: draws.clone(),
        verify: verify.map(|spec| VerifyTrace::new(spec, worker)),
        zones: ZoneTrace::new(set, worker.thread_number).filter(|_| tracer.has(Zbd)),
        engine_name: worker.engine.def.name,
        prepares: matches!(worker.engine.def.handover, Handover::Prepared { .. }),
        units: vec![None; worker.queue().iodepth as usize],
        n_queued: 0,
        n_in_flight: 0,
        refused: None,
    })
}

/// Number of a direction in lines.
const fn direction_number(direction: Direction) -> u32 {
    match direction {
        Direction::Read => 0,
        Direction::Write => 1,
        Direction::Trim => 2,
        Direction::Sync => 3,
        Direction::Datasync => 4,
        Direction::SyncFileRange => 5,
        Direction::Syncfs => 6,
    }
}

impl IoTrace<'_> {
    fn tell(&self, group: TraceGroup, text: &str) {
        if self.tracer.has(group) {
            self.tracer.keep(group, text);
        }
    }

    fn tell_unit(&self, step: &str, address: usize, unit: &IoUnit) {
        if !self.tracer.has(TraceGroup::Io) {
            return;
        }
        let (number, file) = (direction_number(unit.direction), &self.files[unit.file_index as usize].1);
        let length = if unit.direction.is_sync() { 0 } else { unit.length_bytes };
        let place = format!("off={:#x},len={length:#x},ddir={number},file={file}", unit.offset_bytes);
        self.tracer.keep(TraceGroup::Io, &format!("{step}: io_u {address:#x}: {place}"));
    }

    /// Reports the draws of the stream for the I/O.
    fn tell_draws(&self) {
        for drawn in self.draws.borrow_mut().drain(..) {
            match drawn {
                Drawn::Output(output) => self.tell(TraceGroup::Random, &format!("off rand {output}")),
                Drawn::Busy(block) => {
                    self.tell(TraceGroup::Random, &format!("get_next_rand_offset: offset {block} busy"));
                }
                Drawn::Rate(direction, ios_per_sec) => {
                    let number = direction_number(direction.into());
                    self.tell(TraceGroup::Rate, &format!("poisson rate iops={ios_per_sec}, ddir={number}"));
                }
            }
        }
    }

    fn prepare(&mut self, unit_index: u32, address: usize, unit: &IoUnit) {
        self.tell_draws();
        let reads_back = self.tracer.reads_back();
        if reads_back && unit.direction == Direction::Read {
            self.tell(TraceGroup::Verify, &format!("get_next_verify: ret io_u {address:#x}"));
        }
        if !reads_back {
            if unit.direction.data().is_some() {
                let (file, name) = &self.files[unit.file_index as usize];
                self.tell(TraceGroup::File, &format!("get_next_file: {file:#x} [{name}]"));
            }
            self.tell_unit("fill", address, unit);
        }
        self.tell_unit("prep", address, unit);
        if self.prepares {
            self.tell(TraceGroup::Io, &format!("prep: io_u {address:#x}: ret=0"));
        }
        if let Some(verify) = &mut self.verify
            && unit.direction == Direction::Write
        {
            verify.tell_write(self.tracer, unit_index, address, unit.length_bytes);
        }
    }

    /// Reports an I/O that the engine is given now.
    pub(crate) fn starts(&mut self, unit_index: u32, unit: &IoUnit) {
        let address = std::ptr::from_ref(unit).addr();
        if self.refused.take() != Some(unit_index) {
            self.prepare(unit_index, address, unit);
        }
        self.tell_unit("queue", address, unit);
        if let Some(zones) = &mut self.zones {
            zones.tell(self.tracer, unit);
        }
        self.tracer.flush();
        self.units[unit_index as usize] = Some((address, *unit));
    }

    pub(crate) fn done(&mut self, unit_index: u32, result: IoResult) {
        let Some((address, unit)) = self.units[unit_index as usize].take() else { return };
        self.tell_unit("complete", address, &unit);
        let reads_back = self.tracer.reads_back();
        let has_moved = matches!(result.outcome(), Outcome::Done(1..));
        match &self.verify {
            Some(verify) if unit.direction == Direction::Write => verify.tell_landed(self.tracer, unit_index),
            Some(verify) if unit.direction == Direction::Read && has_moved && (reads_back || verify.checks_reads) => {
                verify.tell_check(self.tracer, address, unit.length_bytes);
            }
            _ => {}
        }
    }
}

impl Wrapper for IoTrace<'_> {
    fn queue(&mut self, inner: &mut dyn Engine, unit_index: u32, unit: &IoUnit) -> Queued {
        self.starts(unit_index, unit);
        let queued = inner.queue(unit_index, unit);
        match queued {
            Queued::Completed(result) => self.done(unit_index, result),
            Queued::Queued => self.n_queued += 1,
            Queued::Busy => self.refused = Some(unit_index),
        }
        queued
    }

    fn commits(&mut self) {
        if self.n_queued > 0 {
            self.tell(TraceGroup::Io, &format!("calling ->commit(), depth {}", self.n_in_flight + self.n_queued));
        }
        self.tracer.flush();
    }

    fn committed(&mut self, committed: &io::Result<u32>) {
        let n_taken = committed.as_ref().map_or(0, |n_taken| *n_taken).min(self.n_queued);
        self.n_queued -= n_taken;
        self.n_in_flight += n_taken;
    }

    fn reaps(&mut self, min: u32) {
        self.tell(TraceGroup::Io, &format!("io_u_queued_complete: min={min}"));
        self.tracer.flush();
    }

    fn reaped(&mut self, _min: u32, _max: u32, completions: &[Completion]) {
        self.n_in_flight = self.n_in_flight.saturating_sub(completions.len() as u32);
        self.tell(TraceGroup::Io, &format!("getevents: {}", completions.len()));
        for completion in completions {
            self.done(completion.unit_index, completion.result);
        }
    }
}

impl Drop for IoTrace<'_> {
    fn drop(&mut self) {
        self.tell_draws();
        self.tell(TraceGroup::Io, &format!("close ioengine {}", self.engine_name));
        self.tell(TraceGroup::Io, &format!("free ioengine {}", self.engine_name));
        self.tracer.flush();
    }
}

/// Reports about blocks that are verified.
struct VerifyTrace {
    method: &'static str,
    has_checksum: bool,
    fills: bool,
    pattern_bytes: Option<usize>,
    interval_bytes: usize,
    /// Writes in flight are recorded for the state file.
    keeps_state: bool,
    checks_reads: bool,
    n_writes: u64,
    /// By index: number of the write in flight.
    numbers: Vec<u64>,
}

impl VerifyTrace {
    fn new(spec: &VerifySpec, worker: &WorkerPlan) -> Self {
        let (content, method) = (&spec.content, spec.content.method.def());
        Self {
            method: method.name,
            has_checksum: matches!(method.form, VerifyForm::Header(Some(_))),
            fills: method.form != VerifyForm::Nothing,
            pattern_bytes: content.pattern.as_ref().map(|pattern| pattern.bytes.len()),
            interval_bytes: content.interval_bytes as usize,
            keeps_state: spec.saves_state,
            checks_reads: !worker.writes(),
            n_writes: 0,
            numbers: vec![0; worker.queue().iodepth as usize],
        }
    }

    /// Lengths of the parts of a block that have headers of their own.
    fn parts(&self, length: usize) -> impl Iterator<Item = usize> {
        let part = if self.interval_bytes == 0 { length.max(1) } else { self.interval_bytes };
        (0..length).step_by(part).map(move |start| part.min(length - start))
    }

    fn tell_write(&mut self, tracer: &Tracer<'_>, unit_index: u32, address: usize, length: usize) {
        let tell = |text: &str| tracer.keep(TraceGroup::Verify, text);
        match self.pattern_bytes {
            _ if !self.fills => {}
            Some(n_bytes) => tell(&format!("fill verify pattern b={n_bytes} len={length}")),
            None => tell(&format!("fill random bytes len={length}")),
        }
        if self.has_checksum {
            self.parts(length).for_each(|part| tell(&format!("fill {} io_u {address:#x}, len {part}", self.method)));
        }
        let number = self.n_writes;
        if self.keeps_state {
            tell(&format!("log_inflight: numberio={number}, inflight_idx={unit_index}"));
        }
        self.numbers[unit_index as usize] = number;
        self.n_writes += 1;
    }

    fn tell_landed(&self, tracer: &Tracer<'_>, unit_index: u32) {
        if self.keeps_state {
            let number = self.numbers[unit_index as usize];
            tracer.keep(
                TraceGroup::Verify,
                &format!("invalidate_inflight: numberio={number}, inflight_idx={unit_index}"),
            );
        }
    }

    fn tell_check(&self, tracer: &Tracer<'_>, address: usize, length: usize) {
        if self.has_checksum {
            for part in self.parts(length) {
                let text = format!("{} verify io_u {address:#x}, len {part}", self.method);
                tracer.keep(TraceGroup::Verify, &text);
            }
        }
    }
}
