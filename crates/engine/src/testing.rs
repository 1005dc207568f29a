//! Common parts of the engines' tests: a test file, a small loop that drives the contract, and the cases that every
//! engine for files must pass.
//!
//! The loop is simple on purpose: it offers units in order, commits when the engine is busy or the slots are used up,
//! and reaps.
//! Start reading at [`Rig`].

use crate::contract::options::EngineOptions;
use crate::contract::turns::TurnsSetup;
use crate::contract::{
    Cancellation, Completion, Engine, EngineError, EngineFile, EngineSetup, IoUnit, JobFacts, OpenTarget, Queued,
};
use crate::registry;
use ferrio_spec::GivenOptions;
use ferrio_spec::engines::Completes;
use ferrio_spec::engines::options::from_texts;
use ferrio_sys::arena::{Arena, ArenaKind, ArenaRequest};
use ferrio_sys::clock::Clock;
use ferrio_testing::skip_part;
use ferrio_units::Direction;
use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Block size of the tests.
pub(crate) const BLOCK: usize = 4096;

/// Blocks of a test file.
pub(crate) const N_BLOCKS: usize = 64;

/// A file of `N_BLOCKS` blocks, removed when dropped. Block `i` is filled with the byte `i + 1`.
pub(crate) struct TestFile {
    path: PathBuf,
}

impl TestFile {
    pub(crate) fn new(name: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("ferrio-engine-{name}-{}-{count}", std::process::id()));
        let contents: Vec<u8> = (0..N_BLOCKS).flat_map(|block| vec![block as u8 + 1; BLOCK]).collect();
        std::fs::write(&path, contents).unwrap();
        Self { path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn contents(&self) -> Vec<u8> {
        std::fs::read(&self.path).unwrap()
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// What the contract gives an engine, with buffers for this many test blocks.
pub(crate) fn setup(iodepth: u32, clock: &Clock) -> EngineSetup {
    let request = ArenaRequest {
        kind: ArenaKind::Malloc,
        size_bytes: iodepth as usize * BLOCK,
        offset_bytes: 0,
        hugepage_bytes: 2 << 20,
    };
    EngineSetup {
        iodepth,
        max_block_bytes: BLOCK,
        arena: Rc::new(RefCell::new(Arena::new(&request).unwrap())),
        n_files: 2,
        direct: false,
        atomic: false,
        clock: clock.clone(),
        seed: 1,
        job: JobFacts::default(),
    }
}

/// What the contract gives an engine whose work moves no data.
pub(crate) fn turns_setup(clock: &Clock) -> TurnsSetup {
    TurnsSetup { clock: clock.clone(), seed: 1, job: JobFacts::default(), kept: std::sync::Arc::default() }
}

/// A loop device over a [`TestFile`], taken apart when dropped.
pub(crate) struct LoopedTestFile {
    device: PathBuf,
    _file: TestFile,
}

impl LoopedTestFile {
    /// A loop device, or the reason why this machine cannot have one.
    pub(crate) fn new(name: &str) -> Result<Self, String> {
        let file = TestFile::new(name);
        let output = Command::new("losetup").args(["-f", "--show"]).arg(file.path()).output();
        let output = output.map_err(|error| format!("losetup: {error}"))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
        }
        Ok(Self { device: PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()), _file: file })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.device
    }
}

impl Drop for LoopedTestFile {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("-d").arg(&self.device).status();
    }
}

pub(crate) fn given(engine: &str, texts: &[(&str, &str)]) -> GivenOptions {
    from_texts(engine, texts.iter().copied()).expect("a test gives options that the engine has")
}

/// How an engine is set up for a test.
pub(crate) struct RigOptions {
    pub(crate) iodepth: u32,
    pub(crate) direct: bool,
    pub(crate) clock: Clock,
    pub(crate) options: GivenOptions,
}

impl Default for RigOptions {
    fn default() -> Self {
        Self { iodepth: 8, direct: false, clock: Clock::new_virtual(), options: GivenOptions::default() }
    }
}

/// An engine with buffers, whose file 0 is open and whose file 1 is not.
pub(crate) struct Rig {
    // The engine is the first field, so that it is dropped before the file.
    pub(crate) engine: Box<dyn Engine>,
    pub(crate) arena: Rc<RefCell<Arena>>,
    pub(crate) file: Option<File>,
    iodepth: u32,
}

impl Rig {
    /// Makes and starts an engine and opens the file (`None`: a target that the engine owns).
    pub(crate) fn new(name: &str, file: Option<&TestFile>, options: RigOptions) -> Result<Self, EngineError> {
        Self::on_path(name, file.map(TestFile::path), options)
    }

    /// The same with a path that need not be a file.
    pub(crate) fn on_path(name: &str, path: Option<&Path>, options: RigOptions) -> Result<Self, EngineError> {
        let kind = registry::find(name).unwrap();
        let engine = kind.io().unwrap()(&EngineOptions::new(options.options))?;
        let depth = if kind.def.completes == Completes::InQueue { 1 } else { options.iodepth };
        let setup = EngineSetup { direct: options.direct, ..setup(depth, &options.clock) };
        let arena = Rc::clone(&setup.arena);
        let mut rig = Self { engine: engine.start(setup)?, arena, file: None, iodepth: depth };
        rig.open(path, options.direct)?;
        Ok(rig)
    }

    /// Opens file 1.
    pub(crate) fn open_second(&mut self, fd: BorrowedFd<'_>) {
        let target = OpenTarget::Descriptor(fd);
        let file = EngineFile {
            index: 1,
            target,
            writable: true,
            range_start: 0,
            range_bytes: 0,
            random: false,
            cancellation: Cancellation::ENDLESS,
        };
        self.engine.open_file(&file).unwrap();
    }

    fn open(&mut self, path: Option<&Path>, direct: bool) -> Result<(), EngineError> {
        let flags = if direct { libc::O_DIRECT } else { 0 };
        let open = |path: &Path| OpenOptions::new().read(true).write(true).custom_flags(flags).open(path);
        self.file = path.map(open).transpose().map_err(|source| EngineError::Refused {
            engine: "test",
            what: format!("open (direct: {direct})"),
            source,
            hint: "use another temporary directory".to_owned(),
        })?;
        self.engine.open_file(&file_of(self.file.as_ref()))
    }

    /// Shows file 0 as the engine saw it.
    pub(crate) fn with_file(&self, show: impl FnOnce(&EngineFile<'_>)) {
        show(&file_of(self.file.as_ref()));
    }

    /// A unit of one block; its buffer and slot are given by `run`.
    #[expect(clippy::unused_self, reason = "tests ask their rig for units, whatever it needs for them")]
    pub(crate) fn unit(&self, direction: Direction, block: usize) -> IoUnit {
        IoUnit {
            direction,
            file_index: 0,
            offset_bytes: (block * BLOCK) as u64,
            length_bytes: BLOCK,
            buffer_offset: 0,
            sync_flags: 0,
            ioprio: 0,
        }
    }

    /// Does one unit and returns its bytes, or a negative errno.
    pub(crate) fn one(&mut self, unit: IoUnit) -> i64 {
        self.run(&[unit], |_, _| (), |_, _, _| ())[0]
    }

    /// Does all units, as many at a time as the depth allows; `fill` gets the index of a unit and its buffer before it
    /// is queued, `check` its index, buffer and result when it is done. Returns the results by index.
    pub(crate) fn run(
        &mut self,
        units: &[IoUnit],
        mut fill: impl FnMut(usize, &mut [u8]),
        mut check: impl FnMut(usize, &[u8], i64),
    ) -> Vec<i64> {
        let mut results = vec![None; units.len()];
        let mut slots: Vec<Option<usize>> = vec![None; self.iodepth as usize];
        let mut completions = Vec::with_capacity(self.iodepth as usize);
        let mut next = 0;
        let mut filled = None;
        while next < units.len() || slots.iter().any(Option::is_some) {
            let free = slots.iter().position(Option::is_none);
            let mut must_commit = next >= units.len();
            if let Some(slot) = free.filter(|_| !must_commit) {
                let unit = IoUnit { buffer_offset: slot * BLOCK, ..units[next] };
                if filled != Some((next, slot)) {
                    fill(next, self.arena.borrow_mut().slice_mut(unit.buffer_offset, unit.length_bytes.min(BLOCK)));
                    filled = Some((next, slot));
                }
                match self.engine.queue(slot as u32, &unit) {
                    Queued::Completed(result) => {
                        completions.push(Completion { unit_index: slot as u32, result });
                        slots[slot] = Some(next);
                        next += 1;
                    }
                    Queued::Queued => {
                        slots[slot] = Some(next);
                        next += 1;
                    }
                    Queued::Busy => must_commit = true,
                }
            } else {
                must_commit = true;
            }
            if must_commit {
                self.engine.commit().unwrap();
                if completions.is_empty() {
                    let min = u32::from(slots.iter().any(Option::is_some));
                    self.engine.reap(min, self.iodepth, &mut completions).unwrap();
                }
            }
            for completion in completions.drain(..) {
                let index = slots[completion.unit_index as usize].take().expect("a completion of a unit in flight");
                let arena = self.arena.borrow();
                let buffer = arena.slice(completion.unit_index as usize * BLOCK, units[index].length_bytes.min(BLOCK));
                check(index, buffer, completion.result.number());
                assert!(results[index].replace(completion.result.number()).is_none(), "unit {index} completed twice");
            }
        }
        results.into_iter().map(|result| result.expect("every unit completed")).collect()
    }
}

fn file_of(file: Option<&File>) -> EngineFile<'_> {
    EngineFile {
        index: 0,
        target: match file {
            Some(file) => OpenTarget::Descriptor(file.as_fd()),
            None => OpenTarget::Name("of the engine's own".as_ref()),
        },
        writable: true,
        range_start: 0,
        range_bytes: (N_BLOCKS * BLOCK) as u64,
        random: false,
        cancellation: Cancellation::ENDLESS,
    }
}

/// A unit of an engine without files.
pub(crate) fn nowhere(direction: Direction) -> IoUnit {
    IoUnit {
        direction,
        file_index: 0,
        offset_bytes: 0,
        length_bytes: BLOCK,
        buffer_offset: 0,
        sync_flags: 0,
        ioprio: 0,
    }
}

/// Block numbers in an order that is neither ascending nor repeating.
pub(crate) fn shuffled_blocks() -> Vec<usize> {
    // 37 is coprime to 64: every block once.
    (0..N_BLOCKS).map(|index| (index * 37 + 11) % N_BLOCKS).collect()
}

/// The cases that every engine for files must pass, at one depth: reads return the contents of the file, writes reach
/// it, in sequential and random order; a read across the end is short, one behind it is 0; syncs and (refused) trims
/// give their results.
pub(crate) fn check_file_engine(name: &str, make_options: impl Fn() -> RigOptions) {
    let file = TestFile::new(name);
    let mut rig = match Rig::new(name, Some(&file), make_options()) {
        Ok(rig) => rig,
        Err(EngineError::Refused { what, source, .. }) => {
            skip_part!(name, "{what}: {source}");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    check_reads(&mut rig, &(0..N_BLOCKS).collect::<Vec<_>>());
    check_reads(&mut rig, &shuffled_blocks());
    check_writes(&mut rig, &file, &(0..N_BLOCKS).collect::<Vec<_>>(), 100);
    check_writes(&mut rig, &file, &shuffled_blocks(), 150);
    check_syncs(&mut rig);
    let trimmed = rig.one(rig.unit(Direction::Trim, 0));
    assert_eq!(trimmed, -i64::from(libc::ENOTTY), "{name}: trim of a regular file");
}

fn check_reads(rig: &mut Rig, blocks: &[usize]) {
    let units: Vec<_> = blocks.iter().map(|&block| rig.unit(Direction::Read, block)).collect();
    let results = rig.run(
        &units,
        |_, buffer| buffer.fill(0),
        |index, buffer, _| {
            assert!(buffer.iter().all(|&byte| byte == blocks[index] as u8 + 1), "block {}", blocks[index]);
        },
    );
    assert_eq!(results, vec![BLOCK as i64; blocks.len()]);
}

fn check_writes(rig: &mut Rig, file: &TestFile, blocks: &[usize], mark: u8) {
    let units: Vec<_> = blocks.iter().map(|&block| rig.unit(Direction::Write, block)).collect();
    let results = rig.run(&units, |index, buffer| buffer.fill(mark + blocks[index] as u8), |_, _, _| ());
    assert_eq!(results, vec![BLOCK as i64; blocks.len()]);
    let contents = file.contents();
    assert_eq!(contents.len(), N_BLOCKS * BLOCK);
    for (block, bytes) in contents.chunks(BLOCK).enumerate() {
        assert!(bytes.iter().all(|&byte| byte == mark + block as u8), "block {block}");
    }
}

fn check_syncs(rig: &mut Rig) {
    for direction in [Direction::Sync, Direction::Datasync, Direction::Syncfs] {
        let unit = IoUnit { length_bytes: 0, ..rig.unit(direction, 0) };
        assert_eq!(rig.one(unit), 0, "{}", direction.name());
    }
    let range = IoUnit { sync_flags: libc::SYNC_FILE_RANGE_WRITE, ..rig.unit(Direction::SyncFileRange, 1) };
    assert_eq!(rig.one(range), BLOCK as i64, "sync_file_range");
}

/// Reads across and behind the end of the file, for engines that go through the page cache.
pub(crate) fn check_end_of_file(name: &str, options: RigOptions) {
    let file = TestFile::new(name);
    let mut rig = Rig::new(name, Some(&file), options).unwrap();
    let end = (N_BLOCKS * BLOCK) as u64;
    let across = IoUnit { offset_bytes: end - 1000, ..rig.unit(Direction::Read, 0) };
    assert_eq!(rig.one(across), 1000, "{name}: read across the end");
    let behind = IoUnit { offset_bytes: end, ..rig.unit(Direction::Read, 0) };
    assert_eq!(rig.one(behind), 0, "{name}: read behind the end");
}

/// An I/O to a file that is not open gives an error as its result.
pub(crate) fn check_closed_file(name: &str, options: RigOptions) {
    let file = TestFile::new(name);
    let mut rig = Rig::new(name, Some(&file), options).unwrap();
    for direction in [Direction::Read, Direction::Write, Direction::Sync] {
        let unit = IoUnit { file_index: 1, ..rig.unit(direction, 0) };
        assert_eq!(rig.one(unit), -i64::from(libc::EBADF), "{name}: {}", direction.name());
    }
}
