//! The pool compared with the engine itself: the same results and the same data, for every engine.

use super::{Offload, is_needless, pooled, refusal};
use crate::contract::kind::EngineKind;
use crate::contract::options::EngineOptions;
use crate::contract::{
    Cancellation, Engine, EngineError, EngineFile, EngineSetup, IoResult, IoUnit, JobFacts, OpenTarget, Prepare,
    Prepared, Queued,
};
use crate::testing::{BLOCK, N_BLOCKS, TestFile};
use ferrio_spec::engines::{Completes, Data, EngineDef, Handover};
use ferrio_sys::arena::{Arena, ArenaKind, ArenaRequest};
use ferrio_sys::clock::Clock;
use ferrio_units::Direction;
use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::os::fd::AsFd;
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

const DEPTH: usize = 4;

/// A pool with buffers over a file.
struct Pooled {
    engine: Box<dyn Engine>,
    arena: Rc<RefCell<Arena>>,
    file: File,
}

fn pool_over(file: &TestFile, kind: EngineKind) -> Pooled {
    let request =
        ArenaRequest { kind: ArenaKind::Malloc, size_bytes: DEPTH * BLOCK, offset_bytes: 0, hugepage_bytes: 2 << 20 };
    let arena = Rc::new(RefCell::new(Arena::new(&request).unwrap()));
    let prepared = Box::new(Offload::new(kind.def.name, kind.io().unwrap(), EngineOptions::default()).unwrap());
    let setup = EngineSetup {
        iodepth: DEPTH as u32,
        max_block_bytes: BLOCK,
        arena: Rc::clone(&arena),
        n_files: 1,
        direct: false,
        atomic: false,
        clock: Clock::new_virtual(),
        seed: 1,
        job: JobFacts::default(),
    };
    let engine = prepared.start(setup).unwrap();
    let file = OpenOptions::new().read(true).write(true).open(file.path()).unwrap();
    Pooled { engine, arena, file }
}

impl Pooled {
    fn open(&mut self) {
        let range_bytes = (N_BLOCKS * BLOCK) as u64;
        let (target, random) = (OpenTarget::Descriptor(self.file.as_fd()), false);
        let file = EngineFile {
            index: 0,
            target,
            writable: true,
            range_start: 0,
            range_bytes,
            random,
            cancellation: Cancellation::ENDLESS,
        };
        self.engine.open_file(&file).unwrap();
    }

    /// False where the engine wants persistent memory, and the file is none.
    fn can_use_file(&mut self) -> bool {
        let unit = crate::IoUnit {
            direction: Direction::Read,
            file_index: 0,
            offset_bytes: 0,
            length_bytes: BLOCK,
            buffer_offset: 0,
            sync_flags: 0,
            ioprio: 0,
        };
        let mut completions = Vec::with_capacity(DEPTH);
        assert_eq!(self.engine.queue(0, &unit), Queued::Queued);
        assert_eq!(self.engine.commit().unwrap(), 1);
        while completions.is_empty() {
            self.engine.reap(1, 1, &mut completions).unwrap();
        }
        completions[0].result.number() != -i64::from(libc::EOPNOTSUPP)
    }

    /// Does one I/O to each block in one direction, as many at a time as there are threads. `each` gets block and
    /// buffer before a write and after a read.
    fn pass(&mut self, direction: Direction, mut each: impl FnMut(usize, &mut [u8])) {
        let mut completions = Vec::with_capacity(DEPTH);
        for first in (0..N_BLOCKS).step_by(DEPTH) {
            for slot in 0..DEPTH {
                if direction == Direction::Write {
                    each(first + slot, self.arena.borrow_mut().slice_mut(slot * BLOCK, BLOCK));
                }
                let unit = crate::IoUnit {
                    direction,
                    file_index: 0,
                    offset_bytes: ((first + slot) * BLOCK) as u64,
                    length_bytes: BLOCK,
                    buffer_offset: slot * BLOCK,
                    sync_flags: 0,
                    ioprio: 0,
                };
                assert_eq!(self.engine.queue(slot as u32, &unit), Queued::Queued);
            }
            assert_eq!(self.engine.commit().unwrap(), DEPTH as u32);
            while completions.len() < DEPTH {
                self.engine.reap(1, DEPTH as u32, &mut completions).unwrap();
            }
            for completion in completions.drain(..) {
                assert_eq!(completion.result.number(), BLOCK as i64);
                let slot = completion.unit_index as usize;
                if direction == Direction::Read {
                    each(first + slot, self.arena.borrow_mut().slice_mut(slot * BLOCK, BLOCK));
                }
            }
        }
    }
}

/// True if the file's contents show what the engine's I/Os did.
fn moves_data(def: &EngineDef) -> bool {
    def.targets.are_opened_by_run() && !def.targets.are_passthrough() && def.data == Data::Kept
}

#[test]
fn every_engine_moves_data_by_a_pool() {
    let can = |kind: &EngineKind| moves_data(&kind.def) && refusal(&kind.def).is_none() && !is_needless(&kind.def);
    for kind in crate::all().filter(can) {
        let file = TestFile::new("offload");
        let mut pooled = pool_over(&file, kind);
        pooled.open();
        if !pooled.can_use_file() {
            continue;
        }
        pooled.pass(Direction::Read, |block, data| {
            assert!(data.iter().all(|byte| *byte == block as u8 + 1), "{}: block {block}", kind.def.name);
        });
        // After the file was opened again, the threads take over the new descriptor.
        pooled.open();
        pooled.pass(Direction::Write, |block, data| data.fill(!(block as u8)));
        drop(pooled);
        let contents = file.contents();
        for (block, data) in contents.chunks(BLOCK).enumerate() {
            assert!(data.iter().all(|byte| *byte == !(block as u8)), "{}: block {block}", kind.def.name);
        }
    }
}

#[test]
fn dropping_waits_for_what_is_in_flight() {
    let file = TestFile::new("offload-drop");
    let mut pooled = pool_over(&file, crate::find("psync").unwrap());
    pooled.open();
    let unit = crate::IoUnit {
        direction: Direction::Write,
        file_index: 0,
        offset_bytes: 0,
        length_bytes: BLOCK,
        buffer_offset: 0,
        sync_flags: 0,
        ioprio: 0,
    };
    assert_eq!(pooled.engine.queue(0, &unit), Queued::Queued);
    assert_eq!(pooled.engine.commit().unwrap(), 1);
    drop(pooled);
    assert!(file.contents()[..BLOCK].iter().all(|byte| *byte == 0));
}

#[test]
fn a_pool_makes_any_engine_asynchronous() {
    for kind in crate::all() {
        let pooled = pooled(kind).def;
        assert_eq!((pooled.completes, pooled.name), (Completes::Later, kind.def.name));
        assert_ne!(pooled.handover, Handover::Waits, "{}", pooled.name);
    }
    for (name, is_refused) in [("sync", true), ("vsync", true), ("psync", false), ("io_uring", false)] {
        assert_eq!(refusal(&crate::find(name).unwrap().def).is_some(), is_refused, "{name}");
    }
}

/// Reports which files its thread opens and closes.
struct Telling {
    tell: Sender<(&'static str, u32)>,
}

/// Channel for these reports; a static, because a plain function makes the engine.
static TOLD: Mutex<Option<Sender<(&'static str, u32)>>> = Mutex::new(None);

impl Prepared for Telling {
    fn start(self: Box<Self>, _: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        Ok(self)
    }
}

impl Engine for Telling {
    fn open_file(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        self.tell.send(("open", file.index)).unwrap();
        Ok(())
    }

    fn close_file(&mut self, file_index: u32) {
        self.tell.send(("close", file_index)).unwrap();
    }

    fn queue(&mut self, _: u32, unit: &IoUnit) -> Queued {
        Queued::Completed(IoResult::done(unit.length_bytes))
    }
}

/// A file that the job has closed is no longer mapped or registered anywhere, also in a thread that gets no more I/Os.
#[test]
fn threads_close_what_the_job_closes() {
    let (tell, told) = channel();
    *TOLD.lock().unwrap() = Some(tell);
    let mut engine = started(|_| Ok(Box::new(Telling { tell: TOLD.lock().unwrap().clone().unwrap() }))).unwrap();
    let next = || told.recv_timeout(Duration::from_secs(60)).unwrap();
    for _ in 0..3 {
        let (range_bytes, random) = (BLOCK as u64, false);
        engine
            .open_file(&EngineFile {
                index: 0,
                target: OpenTarget::Name("own".as_ref()),
                writable: true,
                range_start: 0,
                range_bytes,
                random,
                cancellation: Cancellation::ENDLESS,
            })
            .unwrap();
        // There was no I/O to this file, so no thread has it open.
        engine.close_file(0);
        engine
            .open_file(&EngineFile {
                index: 0,
                target: OpenTarget::Name("own".as_ref()),
                writable: true,
                range_start: 0,
                range_bytes,
                random,
                cancellation: Cancellation::ENDLESS,
            })
            .unwrap();
        for _ in 0..2 {
            assert_eq!(outcome(&mut *engine), [BLOCK as i64]);
        }
        engine.close_file(0);
        assert_eq!([next(), next()], [("open", 0), ("close", 0)]);
        engine.close_file(0);
    }
    drop(engine);
    assert!(told.try_recv().is_err(), "nothing else");
}

/// Panics in `start` or in `queue`, without a message.
struct Panicking {
    in_start: bool,
}

impl Prepared for Panicking {
    fn start(self: Box<Self>, _: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        if self.in_start { std::panic::resume_unwind(Box::new(())) } else { Ok(self) }
    }
}

impl Engine for Panicking {
    fn queue(&mut self, _: u32, _: &IoUnit) -> Queued {
        std::panic::resume_unwind(Box::new(()))
    }
}

fn started(prepare: Prepare) -> Result<Box<dyn Engine>, EngineError> {
    let request = ArenaRequest { kind: ArenaKind::Malloc, size_bytes: BLOCK, offset_bytes: 0, hugepage_bytes: 2 << 20 };
    let prepared = Box::new(Offload::new("null", prepare, EngineOptions::default())?);
    prepared.start(EngineSetup {
        iodepth: 1,
        max_block_bytes: BLOCK,
        arena: Rc::new(RefCell::new(Arena::new(&request).unwrap())),
        n_files: 1,
        direct: false,
        atomic: false,
        clock: Clock::new_virtual(),
        seed: 1,
        job: JobFacts::default(),
    })
}

/// The results of one read.
fn outcome(engine: &mut dyn Engine) -> Vec<i64> {
    let unit = IoUnit {
        direction: Direction::Read,
        file_index: 0,
        offset_bytes: 0,
        length_bytes: BLOCK,
        buffer_offset: 0,
        sync_flags: 0,
        ioprio: 0,
    };
    assert_eq!((engine.queue(0, &unit), engine.commit().unwrap()), (Queued::Queued, 1));
    let mut completions = Vec::new();
    engine.reap(1, 1, &mut completions).unwrap();
    completions.iter().map(|completion| completion.result.number()).collect()
}

/// Without an error the job would wait for ever.
#[test]
fn a_thread_that_panics_is_an_error() {
    assert!(started(|_| Ok(Box::new(Panicking { in_start: true }))).is_err());
    let mut engine = started(|_| Ok(Box::new(Panicking { in_start: false }))).unwrap();
    for _ in 0..2 {
        assert_eq!(outcome(&mut *engine), [-5]);
    }
}
