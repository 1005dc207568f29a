//! `ioengine=external:PATH`: an engine in a shared library, by the interface of `include/ferrio_engine.h`.
//!
//! What a library says is checked in `ferrio_sys::engine_library`. Must not know: what a library does.
//! Start reading at [`describe`] and `Idle`.

use crate::contract::options::EngineOptions;
use crate::contract::parts::{Complaint, Server};
use crate::contract::{
    Cancellation, Completion, Engine, EngineError, EngineFile, EngineSetup, IoResult, IoUnit, OpenTarget, Prepare,
    Prepared, Queued, push_in_room, time_left,
};
use ferrio_spec::engines::options::external::{LIBRARY, LIBRARY_OPTIONS};
use ferrio_sys::Errno;
use ferrio_sys::clock::Clock;
use ferrio_sys::engine_library::{
    EngineLibrary, LibraryEngine, LibraryFailure, LibraryFault, LibraryIo, LibraryJob, Submitted,
};
use ferrio_units::Direction;
use std::io;
use std::path::Path;
use std::time::Duration;

const NAME: &str = "external";

pub(crate) const PREPARE: Prepare = |options| prepare(options);

/// The engine of a library and its options, for help.
pub fn describe(path: &Path) -> Result<EngineLibrary, LibraryFault> {
    EngineLibrary::open(path)
}

fn prepare(options: &EngineOptions) -> Result<Box<dyn Prepared>, EngineError> {
    let Some(path) = options.get(&LIBRARY) else {
        let why = "give the path of the library: ioengine=external:PATH";
        return Err(EngineError::bad_option(NAME, "ioengine", NAME, why));
    };
    let library = EngineLibrary::open(Path::new(path))
        .map_err(|fault| EngineError::bad_option(NAME, "ioengine", &format!("external:{path}"), fault.to_string()))?;
    let values = values(&library, options.get(&LIBRARY_OPTIONS).unwrap_or_default())?;
    Ok(Box::new(Idle { library, values }))
}

/// The values of the options of a library: those that the job gives, and defaults.
fn values(library: &EngineLibrary, given: &str) -> Result<Vec<(String, String)>, EngineError> {
    let mut values: Vec<(String, String)> =
        library.options().iter().filter_map(|option| Some((option.name.clone(), option.default.clone()?))).collect();
    for part in given.split(',').filter(|part| !part.trim().is_empty()) {
        let refused = |why: String| EngineError::bad_option(NAME, LIBRARY_OPTIONS.name(), part, why);
        let (name, value) =
            part.split_once('=').ok_or_else(|| refused("write NAME=VALUE, with commas between them".to_owned()))?;
        let (name, value) = (name.trim(), value.trim());
        if !library.options().iter().any(|option| option.name == name) {
            let names: Vec<&str> = library.options().iter().map(|option| option.name.as_str()).collect();
            let allowed =
                if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", names.join(", ")) };
            return Err(refused(format!("the engine {} has no such option: {allowed}", library.name())));
        }
        values.retain(|(other, _)| other != name);
        values.push((name.to_owned(), value.to_owned()));
    }
    Ok(values)
}

fn failed(library: &EngineLibrary, step: &'static str, of: &str, error: &LibraryFailure) -> EngineError {
    let words = if error.text.is_empty() { String::new() } else { format!(": {}", error.text) };
    EngineError::Failed {
        engine: NAME,
        step,
        what: format!("{}: {step}{of}{words}", library.name()),
        source: io::Error::from_raw_os_error(error.errno),
    }
}

/// The engine before it is started.
struct Idle {
    library: EngineLibrary,
    values: Vec<(String, String)>,
}

impl Idle {
    /// Refuses jobs that need what the library does not have.
    fn check(&self, setup: &EngineSetup) -> Result<(), EngineError> {
        let refused = |what: &str| {
            Err(EngineError::bad_option(
                NAME,
                "rw",
                what,
                format!("the engine {} does not {what}", self.library.name()),
            ))
        };
        if setup.job.writes && !self.library.can_write() {
            return refused("write");
        }
        if setup.job.trims && !self.library.can_trim() {
            return refused("trim");
        }
        Ok(())
    }
}

impl Prepared for Idle {
    fn target_bytes(&self, name: &Path, _cancellation: Cancellation<'_>) -> Result<Option<u64>, EngineError> {
        let name = name.to_string_lossy();
        let job = LibraryJob { values: self.values.clone(), ..LibraryJob::default() };
        let found = self.library.target_bytes(&job, &name);
        let found = found.map_err(|error| failed(&self.library, "size", &format!(" of {name}"), &error))?;
        Ok(Some(found.unwrap_or(0)))
    }

    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        self.check(&setup)?;
        let job = LibraryJob {
            name: setup.job.name.clone(),
            iodepth: setup.iodepth,
            n_targets: setup.n_files,
            max_io_bytes: setup.max_block_bytes as u64,
            values: self.values,
        };
        let engine = LibraryEngine::start(&self.library, &job, setup.arena)
            .map_err(|error| failed(&self.library, "start", "", &error))?;
        let given_up = Vec::with_capacity(setup.iodepth as usize);
        Ok(Box::new(Running { library: self.library, engine, n_queued: 0, given_up, is_told: false }))
    }
}

/// The engine with its I/Os in flight.
struct Running {
    library: EngineLibrary,
    engine: LibraryEngine,
    /// I/Os that were queued since the last commit.
    n_queued: u32,
    /// I/Os that were given up and not reaped yet.
    given_up: Vec<u32>,
    /// The user knows of the fault of the library.
    is_told: bool,
}

impl Running {
    fn wait(&mut self, (min, max): (u32, u32), time: Duration, completions: &mut Vec<Completion>) -> io::Result<()> {
        while let Some(unit_index) = self.given_up.pop() {
            push_in_room(completions, Completion { unit_index, result: IoResult::END_OF_DATA });
        }
        let time_ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let reaped = self.engine.reap(min, max, time_ns, |unit_index, result| {
            let result = result.map_or_else(IoResult::failed, |n_bytes| IoResult::done(n_bytes as usize));
            push_in_room(completions, Completion { unit_index, result });
        });
        reaped.map_err(io::Error::from_raw_os_error)
    }
}

impl Engine for Running {
    fn open_file(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        let OpenTarget::Name(name) = file.target else { return Ok(()) };
        let name = name.to_string_lossy();
        let opened = self.engine.open(file.index, &name, file.writable);
        opened.map_err(|error| failed(&self.library, "open", &format!(" of {name}"), &error))
    }

    fn close_file(&mut self, file_index: u32) {
        self.engine.close(file_index);
    }

    fn queue(&mut self, unit_index: u32, unit: &IoUnit) -> Queued {
        let (direction, buffer_offset) = match unit.direction {
            Direction::Read => (0, Some(unit.buffer_offset)),
            Direction::Write => (1, Some(unit.buffer_offset)),
            Direction::Trim => (2, None),
            _ if !self.library.can_sync() => {
                return Queued::Completed(IoResult::failed(Errno::OPNOTSUPP.raw_os_error()));
            }
            _ => (3, None),
        };
        let io = LibraryIo {
            tag: unit_index,
            target: unit.file_index,
            direction,
            offset_bytes: unit.offset_bytes,
            length_bytes: unit.length_bytes,
            buffer_offset,
        };
        match self.engine.queue(&io) {
            Submitted::Completed => Queued::Completed(IoResult::done(unit.length_bytes)),
            Submitted::Failed(errno) => Queued::Completed(IoResult::failed(errno)),
            Submitted::Busy => Queued::Busy,
            Submitted::Queued => {
                self.n_queued += 1;
                Queued::Queued
            }
        }
    }

    fn commit(&mut self) -> io::Result<u32> {
        if self.n_queued > 0 {
            self.engine.commit().map_err(io::Error::from_raw_os_error)?;
        }
        Ok(std::mem::take(&mut self.n_queued))
    }

    fn reap(&mut self, min: u32, max: u32, completions: &mut Vec<Completion>) -> io::Result<()> {
        self.wait((min, max), if min == 0 { Duration::ZERO } else { Cancellation::LOOK }, completions)
    }

    fn reap_until(
        &mut self,
        max: u32,
        until_ns: u64,
        clock: &Clock,
        completions: &mut Vec<Completion>,
    ) -> io::Result<()> {
        self.wait((1, max), time_left(clock, until_ns).min(Cancellation::LOOK), completions)
    }

    fn hint(&self, unit: &IoUnit, errno: i32) -> Option<&'static str> {
        match Errno::from_raw_os_error(errno) {
            Errno::OPNOTSUPP if unit.direction != Direction::Trim && !self.library.can_sync() => {
                Some("the engine of the library has no syncs")
            }
            Errno::PROTO => Some("the library has broken a rule of include/ferrio_engine.h"),
            _ => None,
        }
    }

    fn server(&mut self) -> Option<&mut dyn Server> {
        Some(self)
    }
}

impl Server for Running {
    fn give_up(&mut self) {
        let given_up = &mut self.given_up;
        self.engine.give_up(|tag| push_in_room(given_up, tag));
    }

    fn take_complaint(&mut self) -> Option<Complaint> {
        let fault = self.engine.fault().filter(|_| !self.is_told)?;
        self.is_told = true;
        let why = Some(format!("the engine {} breaks a rule of its interface: {fault}", self.library.name()));
        Some(Complaint { step: "ferrio_engine", line: None, why })
    }
}
