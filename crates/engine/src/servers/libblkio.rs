//! `ioengine=libblkio`: block devices by the drivers of that library, such as `io_uring` or a server of vhost-user-blk.
//!
//! The library is opened when a job needs it. Each job has a connection with one queue, which the thread of the job drives. All files
//! of a job are the one device. Must not know: functions of the library. Start reading at `BlkioLink`, then `device`.

mod device;
mod library;

use crate::contract::options::EngineOptions;
use crate::contract::parts::{Complaint, Connection};
use crate::contract::{Cancellation, Engine, EngineError, EngineSetup, IoResult, IoUnit, JobFacts, Prepare, Prepared};
use crate::files::control::error_result;
use crate::servers::remote::aside::{self, until};
use crate::servers::remote::driven::{DrivenEngine, DrivenFlight, DrivenLink, Judgement, LineState, Refusal};
use crate::servers::remote::silence::{self, limit_of};
use device::{BlkioDevice, BlkioEnd, BlkioError, BlkioOrder, BlkioSession, BlkioSettings, StartedBlkio};
use ferrio_spec::SyncMode;
use ferrio_spec::engines::options::libblkio::{
    BlkioWait, HIPRI, LIBBLKIO_DRIVER, LIBBLKIO_FORCE_ENABLE_COMPLETION_EVENTFD, LIBBLKIO_NUM_ENTRIES, LIBBLKIO_PATH,
    LIBBLKIO_PRE_CONNECT_PROPS, LIBBLKIO_PRE_START_PROPS, LIBBLKIO_QUEUE_SIZE, LIBBLKIO_VECTORED, LIBBLKIO_WAIT_MODE,
    LIBBLKIO_WRITE_ZEROES_ON_TRIM, SERVER_TIMEOUT,
};
use ferrio_stats::ServerSteps;
use ferrio_sys::Errno;
use ferrio_sys::arena::Arena;
use ferrio_sys::file::{FileInfo, FileKind};
use ferrio_sys::mounts::{self, DeviceUse};
use ferrio_sys::nvme::node::{self, BlockSide};
use ferrio_units::Direction;
use library::Libblkio;
use std::cell::RefCell;
use std::ffi::{CStr, CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

const NAME: &str = "libblkio";

/// Time in which a server has to answer before the first I/O.
const LIMIT: Duration = Duration::from_secs(30);

const END_LIMIT: Duration = Duration::from_secs(1);

/// Why a connection is not made.
const NO_ANSWER: &str =
    "the server does not answer; one of vhost-user-blk may have another client, and takes one at a time";

pub(crate) const PREPARE: Prepare = |options| prepare(options);

pub(crate) fn open_library() -> ferrio_sys::Result<()> {
    Libblkio::get().map(|_| ())
}

fn prepare(options: &EngineOptions) -> Result<Box<dyn Prepared>, EngineError> {
    let Some(driver) = options.get(&LIBBLKIO_DRIVER) else {
        let why = "engine libblkio requires option libblkio_driver to be set; allowed: io_uring, nvme-io_uring, \
                   virtio-blk-vhost-user and the other drivers of the library";
        return Err(EngineError::bad_option(NAME, LIBBLKIO_DRIVER.name(), "", why));
    };
    let (has_poll_queue, wait) = (options.get(&HIPRI), options.get(&LIBBLKIO_WAIT_MODE));
    let has_events = options.get(&LIBBLKIO_FORCE_ENABLE_COMPLETION_EVENTFD);
    if has_poll_queue && (has_events || wait == BlkioWait::EventDescriptor) {
        let other = if has_events { "libblkio_force_enable_completion_eventfd" } else { "libblkio_wait_mode=eventfd" };
        let why = format!("option hipri is incompatible with option {other}: poll queues have no events");
        return Err(EngineError::bad_option(NAME, HIPRI.name(), "1", why));
    }
    let api = Libblkio::get().map_err(|error| EngineError::no_library(NAME, &error))?;
    let mut before_start = Vec::new();
    for (name, number) in
        [(c"num-entries", options.get(&LIBBLKIO_NUM_ENTRIES)), (c"queue-size", options.get(&LIBBLKIO_QUEUE_SIZE))]
    {
        if let Some(number) = number {
            before_start.push((name.to_owned(), c_text("a number", &number.to_string())?));
        }
    }
    before_start.extend(properties(LIBBLKIO_PRE_START_PROPS.name(), options.get(&LIBBLKIO_PRE_START_PROPS))?);
    let settings = BlkioSettings {
        driver: c_text(LIBBLKIO_DRIVER.name(), driver)?,
        path: options.get(&LIBBLKIO_PATH).map(|path| c_text(LIBBLKIO_PATH.name(), path)).transpose()?,
        before_connect: properties(LIBBLKIO_PRE_CONNECT_PROPS.name(), options.get(&LIBBLKIO_PRE_CONNECT_PROPS))?,
        before_start,
        has_poll_queue,
        wait,
        has_events,
    };
    let manner = BlkioManner {
        is_vectored: options.get(&LIBBLKIO_VECTORED),
        writes_zeroes: options.get(&LIBBLKIO_WRITE_ZEROES_ON_TRIM),
        is_durable: false,
    };
    Ok(Box::new(Idle { api, settings, manner, most_silence: limit_of(options.get(&SERVER_TIMEOUT)) }))
}

fn c_text(option: &'static str, value: &str) -> Result<CString, EngineError> {
    CString::new(value).map_err(|_| EngineError::bad_option(NAME, option, value, "it has a NUL byte"))
}

/// The properties of a list `name=value:name=value`; a colon or backslash of a value has a backslash before it.
fn properties(option: &'static str, list: Option<&str>) -> Result<Vec<(CString, CString)>, EngineError> {
    let mut parts = vec![String::new()];
    let mut letters = list.unwrap_or_default().chars();
    while let Some(letter) = letters.next() {
        match letter {
            ':' => parts.push(String::new()),
            '\\' => parts.last_mut().into_iter().for_each(|part| part.extend(letters.next())),
            letter => parts.last_mut().into_iter().for_each(|part| part.push(letter)),
        }
    }
    let parts = parts.iter().filter(|part| !part.is_empty());
    let pair = |part: &String| {
        let Some((name, value)) = part.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            let why =
                "write NAME=VALUE, with colons between them; allowed are the properties of the driver (man 3 blkio)";
            return Err(EngineError::bad_option(NAME, option, part, why));
        };
        Ok((c_text(option, name)?, c_text(option, value)?))
    };
    parts.map(pair).collect()
}

/// Forms of the requests of a job.
#[derive(Debug, Clone, Copy)]
struct BlkioManner {
    /// Data is described as a list of parts.
    is_vectored: bool,
    writes_zeroes: bool,
    /// Each write is durable when it is done (`sync`).
    is_durable: bool,
}

/// The engine before it is started.
struct Idle {
    api: &'static Libblkio,
    settings: BlkioSettings,
    manner: BlkioManner,
    most_silence: Duration,
}

impl Prepared for Idle {
    fn target_bytes(&self, _name: &Path, cancellation: Cancellation<'_>) -> Result<Option<u64>, EngineError> {
        let (api, settings) = (self.api, self.settings.clone());
        call(cancellation, move || BlkioDevice::connect(api, &settings, (false, false))?.size_bytes())
    }

    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        let depth = setup.iodepth as usize;
        let manner = BlkioManner { is_durable: setup.job.syncs.mode != SyncMode::None, ..self.manner };
        let link = BlkioLink {
            session: None,
            api: self.api,
            settings: self.settings,
            manner,
            is_direct: setup.direct,
            arena: setup.arena,
            job: setup.job,
            depth,
            steps: ServerSteps::default(),
        };
        Ok(Box::new(DrivenEngine::new(link, depth, self.most_silence)))
    }
}

/// Makes calls of the library that may block; `None`: the call was cancelled.
fn call<T: Send + 'static>(
    cancellation: Cancellation<'_>,
    work: impl FnOnce() -> Result<T, BlkioError> + Send + 'static,
) -> Result<Option<T>, EngineError> {
    let is_over = until(cancellation, LIMIT);
    let called = aside::call(Cancellation::new(&is_over), move |_| work());
    let called = called.map_err(|source| EngineError::Failed {
        engine: NAME,
        step: "setup",
        what: "a thread that connects".to_owned(),
        source,
    })?;
    match called {
        None if cancellation.is_over() => Ok(None),
        None => {
            let errno = Errno::TIMEDOUT.raw_os_error();
            Err(failed(BlkioError { errno, text: format!("blkio_connect: {NO_ANSWER}") }))
        }
        Some(called) => called.map(Some).map_err(failed),
    }
}

fn failed(error: BlkioError) -> EngineError {
    let BlkioError { errno, text } = error;
    EngineError::Unfit { step: "setup", what: format!("libblkio: {text}"), is_named: false, errno }
}

/// The block device whose data a path leads to, if it leads to a device.
fn block_device_at(path: &Path) -> Option<PathBuf> {
    let info = FileInfo::of_path(path).ok()?;
    match info.kind {
        FileKind::Block => Some(path.to_owned()),
        FileKind::Character => match node::block_device_of(info.is_device) {
            Ok(BlockSide::At(device)) => Some(device),
            _ => None,
        },
        _ => None,
    }
}

/// Refuses to write to a device in use.
fn check_free(path: &CStr) -> Result<(), EngineError> {
    let path = Path::new(OsStr::from_bytes(path.to_bytes()));
    let Some(device) = block_device_at(path) else { return Ok(()) };
    let usage = match mounts::use_of_device(&device) {
        Ok(None) => return Ok(()),
        Ok(Some(DeviceUse::Mounted(_))) => "it is mounted".to_owned(),
        Ok(Some(DeviceUse::Swap(_))) => "it is swap space".to_owned(),
        Ok(Some(DeviceUse::HeldBy(name))) => format!("it is part of {name}"),
        Ok(Some(DeviceUse::Claimed)) => "another program or a part of the kernel has claimed it".to_owned(),
        Err(error) => format!("its use cannot be found out: {error}"),
    };
    let errno = Errno::BUSY.raw_os_error();
    let text = format!("{} is not written to: {usage}", path.display());
    Err(EngineError::Unfit { step: "setup", what: text, is_named: false, errno })
}

/// A job's connection to its device.
struct BlkioLink {
    session: Option<BlkioSession>,
    api: &'static Libblkio,
    settings: BlkioSettings,
    manner: BlkioManner,
    is_direct: bool,
    arena: Rc<RefCell<Arena>>,
    job: JobFacts,
    /// Requests in flight, at most.
    depth: usize,
    steps: ServerSteps,
}

impl BlkioLink {
    /// A started device; `None`: the call was cancelled.
    fn reach(&self, cancellation: Cancellation<'_>) -> Result<Option<StartedBlkio>, EngineError> {
        let writes = self.job.writes || self.job.trims;
        if let (true, Some(path)) = (writes, &self.settings.path) {
            check_free(path)?;
        }
        let (api, settings, is_direct) = (self.api, self.settings.clone(), self.is_direct);
        call(cancellation, move || BlkioDevice::connect(api, &settings, (writes, is_direct))?.start(&settings))
    }

    /// The request for a unit; `None`: there is none.
    fn order(&self, unit: &IoUnit) -> Option<BlkioOrder> {
        Some(match unit.direction {
            Direction::Read => BlkioOrder::Read,
            Direction::Write => BlkioOrder::Write(self.manner.is_durable),
            Direction::Trim if self.manner.writes_zeroes => BlkioOrder::WriteZeroes,
            Direction::Trim => BlkioOrder::Discard,
            Direction::Sync | Direction::Datasync => BlkioOrder::Flush,
            _ => return None,
        })
    }
}

fn line_state(looked: Result<(), Errno>) -> LineState {
    if looked.is_ok() { LineState::Alive } else { LineState::Lost }
}

impl DrivenLink for BlkioLink {
    type Status = BlkioEnd;

    const GONE: &'static str = "the library cannot reach the device any more";

    const SILENT: &'static str = silence::SILENT;

    const AWAITED: Option<&'static str> = Some(NO_ANSWER);

    fn connect(&mut self, cancellation: Cancellation<'_>) -> Result<Connection, EngineError> {
        if self.session.is_some() {
            return Ok(Connection::Made);
        }
        let start = Instant::now();
        let Some(started) = self.reach(cancellation)? else { return Ok(Connection::Awaited) };
        let manner = (self.depth, self.settings.wait, self.manner.is_vectored);
        self.session = Some(BlkioSession::new(started, manner, &self.arena.borrow()).map_err(failed)?);
        self.steps.n_connections += 1;
        self.steps.connect.record(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
        Ok(Connection::Made)
    }

    fn send(&mut self, slot: u32, flight: &DrivenFlight) -> Result<(), Refusal> {
        let unit = &flight.unit;
        let Some(order) = self.order(unit) else { return Err(error_result(Errno::INVAL).into()) };
        let moves = matches!(order, BlkioOrder::Read | BlkioOrder::Write(_));
        let region = self.arena.borrow().region(unit.buffer_offset, if moves { unit.length_bytes } else { 0 });
        let Some(session) = &mut self.session else { return Err(IoResult::END_OF_DATA.into()) };
        session.send(slot, order, unit.offset_bytes, region, unit.length_bytes as u64);
        Ok(())
    }

    fn push(&mut self) -> LineState {
        self.session.as_mut().map_or(LineState::Alive, |session| line_state(session.push()))
    }

    fn turn(&mut self, limit: Duration) -> LineState {
        self.session.as_mut().map_or(LineState::Lost, |session| line_state(session.turn(limit)))
    }

    fn take_answer(&mut self) -> Option<(u32, BlkioEnd)> {
        self.session.as_mut().and_then(BlkioSession::take_ended)
    }

    fn judge(&mut self, flight: &DrivenFlight, end: BlkioEnd) -> Judgement {
        let unit = &flight.unit;
        let result = match end.errno {
            0 => return Judgement::Done(IoResult::done(unit.length_bytes)),
            errno => error_result(Errno::from_raw_os_error(errno)),
        };
        let Some(text) = end.text else { return Judgement::Done(result) };
        let file = self.job.targets.get(unit.file_index as usize);
        let line = format!(
            "io_u error on file {}: {text}: {} offset={}, buflen={}",
            file.map_or_else(String::new, |file| file.path.display().to_string()),
            unit.direction.name(),
            unit.offset_bytes,
            unit.length_bytes
        );
        let complaint = Complaint { step: "io_u error", line: Some(line), why: None };
        Judgement::Failed(Refusal { result, complaint: Some(complaint) })
    }

    fn hint(&self, unit: &IoUnit, errno: Errno) -> Option<&'static str> {
        match (errno, unit.direction) {
            (Errno::INVAL, Direction::Read | Direction::Write | Direction::Trim) => Some(
                "offset and length have to be multiples of the property request-alignment of the device, often 512 or 4096 bytes",
            ),
            (Errno::INVAL, _) => Some("a device has no other sync than its flush"),
            (Errno::OPNOTSUPP, _) => Some("the driver, or its kind of queue, does not have such requests"),
            _ => None,
        }
    }

    fn server_steps(&self) -> ServerSteps {
        self.steps.clone()
    }
}

impl Drop for BlkioLink {
    fn drop(&mut self) {
        let Some(session) = self.session.take() else { return };
        if session.is_busy() {
            // The device may still use the buffers, which are never freed then.
            std::mem::forget(session);
            std::mem::forget(Rc::clone(&self.arena));
            return;
        }
        let is_over = until(Cancellation::ENDLESS, END_LIMIT);
        // Without a thread the connection stays until the process ends.
        let started = session.into_started();
        let _ = aside::call(Cancellation::new(&is_over), move |_| drop(started));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_have_colons_between_them() {
        let shown = |list| {
            let found = properties("libblkio_pre_start_props", Some(list)).map_err(|error| error.to_string())?;
            let text = |text: &CString| text.to_string_lossy().into_owned();
            Ok::<_, String>(found.iter().map(|(name, value)| (text(name), text(value))).collect::<Vec<_>>())
        };
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(shown(""), Ok(vec![]));
        assert_eq!(shown("a=1:b-c=x=y"), Ok(vec![pair("a", "1"), pair("b-c", "x=y")]));
        assert_eq!(shown(r"path=/a\:b\\c:"), Ok(vec![pair("path", r"/a:b\c")]));
        for wrong in ["a", "=1", "a=1:b"] {
            assert!(shown(wrong).is_err_and(|text| text.contains("NAME=VALUE")), "{wrong}");
        }
    }
}
