//! No engine allocates between its start and its end: counted by the allocator of this test.
//!
//! Must not know: engines, except for their names. Start reading at [`no_engine_allocates_per_io`].
#![cfg(test)]
#![expect(unsafe_code, reason = "an allocator")]

use ferrio_engine::{
    Cancellation, Completion, Engine, EngineFile, EngineOptions, EngineSetup, IoUnit, JobFacts, OpenTarget, Queued,
    find,
};
use ferrio_spec::engines::options::from_texts;
use ferrio_sys::{Arena, ArenaKind, ArenaRequest, Clock};
use ferrio_testing::skip_part;
use ferrio_units::Direction;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, RefCell};
use std::fs::File;
use std::os::fd::AsFd;
use std::rc::Rc;

const BLOCK: usize = 4096;
const N_BLOCKS: u64 = 64;
const DEPTH: u32 = 8;

thread_local! {
    static N_ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Counts what this thread allocates.
struct Counting;

// SAFETY: hands every request on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        N_ALLOCATIONS.with(|n| n.set(n.get() + 1));
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is the same.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        N_ALLOCATIONS.with(|n| n.set(n.get() + 1));
        // SAFETY: the caller's promise is the same.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Rounds of `DEPTH` units each, reads and writes in turn, with a sync now and then.
fn run_rounds(engine: &mut dyn Engine, n_rounds: u64, completions: &mut Vec<Completion>) {
    for round in 0..n_rounds {
        let mut n_waiting = 0;
        for slot in 0..DEPTH {
            let direction = match (round % 16, round % 2) {
                (7, _) => Direction::Sync,
                (_, 0) => Direction::Read,
                _ => Direction::Write,
            };
            let unit = IoUnit {
                direction,
                file_index: 0,
                offset_bytes: (round * 37 + u64::from(slot) * 11) % N_BLOCKS * BLOCK as u64,
                length_bytes: BLOCK,
                buffer_offset: slot as usize * BLOCK,
                sync_flags: 0,
                ioprio: 0,
            };
            loop {
                match engine.queue(slot, &unit) {
                    Queued::Completed(result) => assert!(result.is_done_with(BLOCK)),
                    Queued::Queued => n_waiting += 1,
                    Queued::Busy => {
                        engine.commit().unwrap();
                        n_waiting -= reap(engine, 0, completions);
                        continue;
                    }
                }
                break;
            }
        }
        while n_waiting > 0 {
            engine.commit().unwrap();
            n_waiting -= reap(engine, 1, completions);
        }
    }
}

fn reap(engine: &mut dyn Engine, min: u32, completions: &mut Vec<Completion>) -> usize {
    completions.clear();
    engine.reap(min, DEPTH, completions).unwrap();
    assert!(completions.iter().all(|completion| completion.result.is_done_with(BLOCK)), "{completions:?}");
    completions.len()
}

fn n_allocations_of(name: &str, options: &[(&str, &str)]) -> Result<u64, String> {
    let kind = find(name).unwrap();
    let options = from_texts(name, options.iter().copied()).expect("the engine has these options");
    let prepared = kind.io().unwrap()(&EngineOptions::new(options)).map_err(|error| error.to_string())?;
    let size_bytes = DEPTH as usize * BLOCK;
    let request = ArenaRequest { kind: ArenaKind::Malloc, size_bytes, offset_bytes: 0, hugepage_bytes: 0 };
    let path = std::env::temp_dir().join(format!("ferrio-no-allocation-{name}-{}", std::process::id()));
    std::fs::write(&path, vec![1; N_BLOCKS as usize * BLOCK]).unwrap();
    let file = File::options().read(true).write(true).open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let mut engine = prepared
        .start(EngineSetup {
            iodepth: DEPTH,
            max_block_bytes: BLOCK,
            arena: Rc::new(RefCell::new(Arena::new(&request).unwrap())),
            n_files: 1,
            direct: false,
            atomic: false,
            clock: Clock::new_virtual(),
            seed: 1,
            job: JobFacts::default(),
        })
        .map_err(|error| error.to_string())?;
    let engine_file = EngineFile {
        index: 0,
        target: if kind.def.targets.are_files() {
            OpenTarget::Descriptor(file.as_fd())
        } else {
            OpenTarget::Name(&path)
        },
        writable: true,
        range_start: 0,
        range_bytes: N_BLOCKS * BLOCK as u64,
        random: true,
        cancellation: Cancellation::ENDLESS,
    };
    engine.open_file(&engine_file).map_err(|error| error.to_string())?;
    let mut completions = Vec::with_capacity(DEPTH as usize);
    let before = N_ALLOCATIONS.with(Cell::get);
    run_rounds(engine.as_mut(), 200, &mut completions);
    Ok(N_ALLOCATIONS.with(Cell::get) - before)
}

#[test]
fn no_engine_allocates_per_io() {
    let sim = [
        ("sim_data", "1"),
        ("sim_channels", "4"),
        ("sim_read_cache", "64k/5us"),
        ("sim_write_cache", "64k/10us/100m"),
        ("sim_stall", "128k/1ms"),
        ("sim_burst", "iops:1000/5000/100"),
        ("sim_fault", "flip@1%,stall@1%"),
    ];
    // Without posixaio: the C library allocates for each request.
    let names = ["null", "sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "io_uring", "mmap", "splice", "sim"];
    for name in names {
        match n_allocations_of(name, if name == "sim" { &sim } else { &[] }) {
            Ok(n_allocations) => assert_eq!(n_allocations, 0, "{name}"),
            Err(reason) => skip_part!("no_engine_allocates_per_io", "with {name}: {reason}"),
        }
    }
}
