//! `ioengine=own`: storage of the program around the run, which is no part of ferrio.
//!
//! A program gives a run its storages by name ([`Storages`]); a job names one by the option `storage`. An I/O is done within the call:
//! more of them in flight are clones of the job (`numjobs`), or a pool of threads (`io_submit_mode=offload`).
//! `own_async` (`queue`) hands them over instead, many at a time. Must not know: what a storage is. Start reading at [`Storage`].

mod queue;

use crate::contract::options::EngineOptions;
use crate::contract::{
    Cancellation, Engine, EngineError, EngineFile, EngineSetup, IoResult, IoUnit, OpenTarget, Prepare, Prepared, Queued,
};
use ferrio_spec::engines::options::own::STORAGE;
use ferrio_sys::Errno;
use ferrio_sys::arena::Arena;
use ferrio_units::Direction;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

pub(crate) use queue::PREPARE as ASYNC;
pub use queue::{StorageIo, StorageJob, StorageQueue};

const NAME: &str = "own";

pub(crate) const PREPARE: Prepare = |options| prepare(options);

/// Storage of a program: what a job of the engine `own` reads and writes.
///
/// Calls come from the threads of the jobs, several at the same time. An error is that of the I/O: its errno if it has one, else EIO.
/// The job decides whether it goes on (`continue_on_error`). A call that does not return holds up its job, also when the run is told to end.
pub trait Storage: Send + Sync {
    /// Size of a target, bytes. Targets are the names of the job's `filename`.
    ///
    /// # Errors
    /// There is no such target: the job fails.
    fn size_bytes(&self, target: &str) -> io::Result<u64>;

    /// Opens a target, once for each job of `ioengine=own`.
    ///
    /// # Errors
    /// It cannot be opened: the job fails. EOPNOTSUPP unless the storage overrides this.
    fn open(&self, target: &str, access: StorageAccess) -> io::Result<Box<dyn StorageTarget>> {
        let _ = (target, access);
        Err(Errno::OPNOTSUPP.into())
    }

    /// Makes the queue of a job of `ioengine=own_async`.
    ///
    /// # Errors
    /// It cannot be made: the job fails. EOPNOTSUPP unless the storage overrides this.
    fn queue(&self, job: &StorageJob<'_>) -> io::Result<Box<dyn StorageQueue>> {
        let _ = job;
        Err(Errno::OPNOTSUPP.into())
    }
}

/// How a job uses a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StorageAccess {
    pub writes: bool,
}

pub trait StorageTarget {
    /// Reads at an offset, bytes; returns the number of bytes, fewer than asked for at the end of the target.
    fn read_at(&mut self, offset_bytes: u64, buffer: &mut [u8]) -> io::Result<usize>;

    fn write_at(&mut self, offset_bytes: u64, data: &[u8]) -> io::Result<usize>;

    /// Makes all that was written durable; `fsync` and `fdatasync` of the job end here.
    ///
    /// # Errors
    /// That of the sync; EOPNOTSUPP unless the storage overrides this.
    fn sync(&mut self) -> io::Result<()> {
        Err(Errno::OPNOTSUPP.into())
    }

    /// Discards a range, bytes.
    ///
    /// # Errors
    /// That of the trim; EOPNOTSUPP unless the storage overrides this.
    fn trim(&mut self, _offset_bytes: u64, _length_bytes: u64) -> io::Result<()> {
        Err(Errno::OPNOTSUPP.into())
    }
}

/// The storages of a run, by their names.
#[derive(Clone, Default)]
pub struct Storages(Arc<BTreeMap<String, Arc<dyn Storage>>>);

impl Storages {
    /// Adds a storage; one of the same name is replaced.
    pub fn add(&mut self, name: impl Into<String>, storage: Arc<dyn Storage>) {
        Arc::make_mut(&mut self.0).insert(name.into(), storage);
    }

    fn get(&self, name: &str) -> Option<Arc<dyn Storage>> {
        self.0.get(name).cloned()
    }

    /// What a job may name.
    fn allowed(&self) -> String {
        let names: Vec<&str> = self.0.keys().map(String::as_str).collect();
        if names.is_empty() {
            "no storage was added to this run: a program adds its own with the crate ferrio".to_owned()
        } else {
            format!("allowed: {}", names.join(", "))
        }
    }
}

impl fmt::Debug for Storages {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.0.keys()).finish()
    }
}

/// Equal are those that are the same.
impl PartialEq for Storages {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

fn prepare(options: &EngineOptions) -> Result<Box<dyn Prepared>, EngineError> {
    Ok(Box::new(Idle(asked_for(NAME, options)?)))
}

/// The storage that a job of an engine names.
fn asked_for(engine: &'static str, options: &EngineOptions) -> Result<Arc<dyn Storage>, EngineError> {
    let (name, storages) = (options.get(&STORAGE).unwrap_or_default(), options.storages());
    storages.get(name).ok_or_else(|| EngineError::bad_option(engine, STORAGE.name(), name, storages.allowed()))
}

/// The errno of an error of a storage; EIO if it has none.
fn errno_of(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(Errno::IO.raw_os_error())
}

/// The engine before it is started.
struct Idle(Arc<dyn Storage>);

impl Prepared for Idle {
    fn target_bytes(&self, name: &Path, _cancellation: Cancellation<'_>) -> Result<Option<u64>, EngineError> {
        let name = name.to_string_lossy();
        self.0.size_bytes(&name).map(Some).map_err(|source| failed(NAME, "size", &name, source))
    }

    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        let targets = (0..setup.n_files).map(|_| None).collect();
        Ok(Box::new(Running { storage: self.0, targets, arena: setup.arena }))
    }
}

fn failed(engine: &'static str, step: &'static str, target: &str, source: io::Error) -> EngineError {
    EngineError::Failed { engine, step, what: format!("{step} of {target}"), source }
}

/// The engine with its open targets.
struct Running {
    storage: Arc<dyn Storage>,
    targets: Vec<Option<Box<dyn StorageTarget>>>,
    arena: Rc<RefCell<Arena>>,
}

impl Running {
    fn run(&mut self, unit: &IoUnit) -> io::Result<usize> {
        let target = self.targets.get_mut(unit.file_index as usize).and_then(Option::as_mut);
        let target = target.ok_or(Errno::BADF)?;
        let mut arena = self.arena.borrow_mut();
        let length = unit.length_bytes;
        match unit.direction {
            Direction::Read => {
                target.read_at(unit.offset_bytes, arena.slice_mut(unit.buffer_offset, length)).map(|n| n.min(length))
            }
            Direction::Write => {
                target.write_at(unit.offset_bytes, arena.slice_mut(unit.buffer_offset, length)).map(|n| n.min(length))
            }
            Direction::Trim => target.trim(unit.offset_bytes, length as u64).map(|()| length),
            Direction::Sync | Direction::Datasync | Direction::SyncFileRange | Direction::Syncfs => {
                target.sync().map(|()| length)
            }
        }
    }
}

impl Engine for Running {
    fn open_file(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        let OpenTarget::Name(name) = file.target else { return Ok(()) };
        let name = name.to_string_lossy();
        let opened = self.storage.open(&name, StorageAccess { writes: file.writable });
        let opened = opened.map_err(|source| failed(NAME, "open", &name, source))?;
        if let Some(place) = self.targets.get_mut(file.index as usize) {
            *place = Some(opened);
        }
        Ok(())
    }

    fn close_file(&mut self, file_index: u32) {
        if let Some(place) = self.targets.get_mut(file_index as usize) {
            *place = None;
        }
    }

    fn queue(&mut self, _unit_index: u32, unit: &IoUnit) -> Queued {
        Queued::Completed(match self.run(unit) {
            Ok(n_bytes) => IoResult::done(n_bytes),
            Err(error) => IoResult::failed(errno_of(&error)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_spec::GivenOptions;

    struct Nothing;

    impl Storage for Nothing {
        fn size_bytes(&self, target: &str) -> io::Result<u64> {
            if target == "absent" { Err(Errno::NOENT.into()) } else { Ok(4096) }
        }

        fn open(&self, _target: &str, _access: StorageAccess) -> io::Result<Box<dyn StorageTarget>> {
            Err(Errno::ACCESS.into())
        }
    }

    fn options(name: &str) -> EngineOptions {
        EngineOptions::new(GivenOptions::default().with(&STORAGE, name))
    }

    #[test]
    fn a_storage_is_found_by_its_name() {
        let mut storages = Storages::default();
        let refused = |storages: &Storages, name: &str| {
            let refused = prepare(&options(name).with_storages(storages)).err();
            refused.map_or_else(String::new, |error| error.to_string())
        };
        assert!(refused(&storages, "mine").contains("no storage was added"));
        storages.add("mine", Arc::new(Nothing));
        assert!(refused(&storages, "other").ends_with("allowed: mine"));
        let found = prepare(&options("mine").with_storages(&storages)).expect("it is there");
        let never = || false;
        assert_eq!(found.target_bytes(Path::new("a"), Cancellation::new(&never)).expect("a size"), Some(4096));
        let absent = found.target_bytes(Path::new("absent"), Cancellation::new(&never)).expect_err("it is absent");
        assert_eq!(absent.errno(), Errno::NOENT.raw_os_error());
    }
}
