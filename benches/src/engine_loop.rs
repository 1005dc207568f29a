//! The loop over an asynchronous engine: fill to the depth in batches, commit, reap, account.
//!
//! Must not know: which engine. Start reading at [`EngineLoop::run`].

use crate::Latencies;
use crate::offsets::{Offsets, Order, length_of};
use anyhow::{Context, Result, bail, ensure};
use ferrio_engine::{
    Cancellation, Completion, Engine, EngineFile, EngineOptions, EngineSetup, IoUnit, JobFacts, OpenTarget, Queued,
};
use ferrio_sys::{Arena, ArenaKind, ArenaRequest, Clock};
use ferrio_units::Direction;
use std::cell::RefCell;
use std::fs::File;
use std::hint::black_box;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::rc::Rc;

/// `O_DIRECT` of Linux on x86-64 and most others.
const O_DIRECT: i32 = 0o40000;

/// Reads through an engine.
pub(crate) struct EngineLoop {
    engine: Box<dyn Engine>,
    clock: Clock,
    offsets: Offsets,
    units: Vec<IoUnit>,
    starts: Vec<u64>,
    issues: Vec<u64>,
    free: Vec<u32>,
    latencies: Latencies,
    /// Kept open while the engine uses it.
    _file: File,
}

impl EngineLoop {
    /// Opens the file, with `O_DIRECT` if it is a block device.
    pub(crate) fn new(name: &str, order: Order, path: &str, (depth, block_bytes): (u32, u64)) -> Result<Self> {
        let is_device = std::fs::metadata(path).with_context(|| path.to_owned())?.file_type().is_block_device();
        let flags = if is_device { O_DIRECT } else { 0 };
        let mut file = File::options().read(true).custom_flags(flags).open(path).with_context(|| path.to_owned())?;
        let file_bytes = length_of(&mut file)?;
        let clock = Clock::new();
        let engine = start_engine(name, &file, file_bytes, (depth, block_bytes as usize), is_device, &clock)?;
        let unit = |index: u32| IoUnit {
            direction: Direction::Read,
            file_index: 0,
            offset_bytes: 0,
            length_bytes: block_bytes as usize,
            buffer_offset: index as usize * block_bytes as usize,
            sync_flags: 0,
            ioprio: 0,
        };
        Ok(Self {
            engine,
            clock,
            offsets: Offsets::new(order, file_bytes, block_bytes)?,
            units: (0..depth).map(unit).collect(),
            starts: vec![0; depth as usize],
            issues: vec![0; depth as usize],
            free: (0..depth).collect(),
            latencies: Latencies::new(),
            _file: file,
        })
    }

    /// Reads `n_ios` blocks, submitting and reaping at least `batch` at a time.
    pub(crate) fn run(mut self, batch: u32, n_ios: u64) -> Result<()> {
        let depth = self.units.len() as u32;
        let mut completions = Vec::with_capacity(depth as usize);
        let mut queued = Vec::with_capacity(depth as usize);
        let mut n_started = 0;
        while n_started < n_ios || self.free.len() < depth as usize {
            let n_wanted = u64::from(batch).min(n_ios - n_started).min(self.free.len() as u64);
            let start = self.clock.stamp();
            (0..n_wanted).try_for_each(|_| self.queue(start, &mut queued))?;
            n_started += n_wanted;
            self.commit(&mut queued)?;
            if self.free.len() < batch as usize || n_started == n_ios {
                self.reap(batch, &mut completions)?;
            }
        }
        black_box(&self.latencies.clat.histogram);
        Ok(())
    }

    fn queue(&mut self, start: u64, queued: &mut Vec<u32>) -> Result<()> {
        let index = self.free.pop().context("a slot is free here")?;
        self.starts[index as usize] = start;
        let unit = &mut self.units[index as usize];
        unit.offset_bytes = self.offsets.next();
        match self.engine.queue(index, unit) {
            Queued::Queued => queued.push(index),
            other => bail!("the engine is not asynchronous: {other:?}"),
        }
        Ok(())
    }

    fn commit(&mut self, queued: &mut Vec<u32>) -> Result<()> {
        let mut n_taken = 0;
        while n_taken < queued.len() {
            n_taken += self.engine.commit()? as usize;
        }
        let stamp = self.clock.stamp();
        queued.drain(..).for_each(|index| self.issues[index as usize] = stamp);
        Ok(())
    }

    fn reap(&mut self, batch: u32, completions: &mut Vec<Completion>) -> Result<()> {
        let n_in_flight = (self.units.len() - self.free.len()) as u32;
        self.engine.reap(batch.min(n_in_flight), n_in_flight, completions)?;
        let done = self.clock.stamp();
        for completion in completions.drain(..) {
            ensure!(
                completion.result.is_done_with(self.units[completion.unit_index as usize].length_bytes),
                "a read gave {:?}",
                completion.result
            );
            let index = completion.unit_index as usize;
            self.latencies.record(&self.clock, self.starts[index], self.issues[index], done);
            self.free.push(completion.unit_index);
        }
        Ok(())
    }
}

/// Buffers with a job's default alignment.
pub(crate) fn page_aligned(size_bytes: usize) -> Result<Arena> {
    let request = ArenaRequest { kind: ArenaKind::Malloc, size_bytes, offset_bytes: 0, hugepage_bytes: 2 << 20 };
    Ok(Arena::new(&request)?)
}

fn start_engine(
    name: &str,
    file: &File,
    file_bytes: u64,
    (depth, block_bytes): (u32, usize),
    direct: bool,
    clock: &Clock,
) -> Result<Box<dyn Engine>> {
    let kind = ferrio_engine::find(name).with_context(|| format!("no engine {name}"))?;
    let prepare = kind.io().with_context(|| format!("{name} moves no data"))?;
    let prepared = prepare(&EngineOptions::default())?;
    let mut engine = prepared.start(EngineSetup {
        iodepth: depth,
        max_block_bytes: block_bytes,
        arena: Rc::new(RefCell::new(page_aligned(depth as usize * block_bytes)?)),
        n_files: 1,
        direct,
        atomic: false,
        clock: clock.clone(),
        seed: 1,
        job: JobFacts::default(),
    })?;
    engine.open_file(&EngineFile {
        index: 0,
        target: OpenTarget::Descriptor(file.as_fd()),
        writable: false,
        range_start: 0,
        range_bytes: file_bytes,
        random: true,
        cancellation: Cancellation::ENDLESS,
    })?;
    Ok(engine)
}
