//! `ioengine=gfapi` and `gfapi_async`: files of a `GlusterFS` volume, by libgfapi, without a mount.
//!
//! Both start I/Os by the library's asynchronous calls, which cost the same; gfapi waits for each where it is queued. Each file has a
//! handle of its own. Only the public header `glusterfs/api/glfs.h` was used. Must not know: threads of the library. Start reading at `Files`.
#![expect(unsafe_code, reason = "calls a C library")]

use super::ceph::{ClientHandle, c_text};
use super::driver::{AwaitedStep, ClientEngine, ClientLink, ClientPlan};
use super::mailbox::Ticket;
use crate::contract::options::EngineOptions;
use crate::contract::parts::Complaint;
use crate::contract::{Engine, EngineError, EngineSetup, IoResult, IoUnit, JobFacts, Prepare, Prepared, TargetFacts};
use crate::files::control::error_result;
use crate::servers::remote::silence::limit_of;
use ferrio_spec::SyncMode;
use ferrio_spec::engines::options::gfapi::{BRICK, SERVER_TIMEOUT, SINGLE_INSTANCE, VOLUME};
use ferrio_sys::Errno;
use ferrio_sys::arena::Region;
use ferrio_units::Direction;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

/// What the library calls at the end of an I/O: the file, what a call returns, attributes before and after, and what was given to it.
type EndOfIo = unsafe extern "C" fn(ClientHandle, isize, *mut c_void, *mut c_void, *mut c_void);

ferrio_sys::vendor_functions! {
    /// Functions of libgfapi, in the form that they have since `GlusterFS` 6.
    pub(super) struct Libgfapi of "libgfapi" ["libgfapi.so.0"] in "libgfapi0";
    fn glfs_new(*const c_char) -> ClientHandle;
    fn glfs_set_volfile_server(ClientHandle, *const c_char, *const c_char, c_int) -> c_int;
    fn glfs_set_logging(ClientHandle, *const c_char, c_int) -> c_int;
    fn glfs_init(ClientHandle) -> c_int;
    fn glfs_fini(ClientHandle) -> c_int;
    fn glfs_open(ClientHandle, *const c_char, c_int) -> ClientHandle;
    fn glfs_creat(ClientHandle, *const c_char, c_int, u32) -> ClientHandle;
    fn glfs_close(ClientHandle) -> c_int;
    fn glfs_lseek(ClientHandle, i64, c_int) -> i64;
    fn glfs_pread_async(ClientHandle, *mut c_void, usize, i64, c_int, EndOfIo, *mut c_void) -> c_int;
    fn glfs_pwrite_async(ClientHandle, *const c_void, c_int, i64, c_int, EndOfIo, *mut c_void) -> c_int;
    fn glfs_fsync_async(ClientHandle, EndOfIo, *mut c_void) -> c_int;
    fn glfs_fdatasync_async(ClientHandle, EndOfIo, *mut c_void) -> c_int;
    fn glfs_discard_async(ClientHandle, i64, usize, EndOfIo, *mut c_void) -> c_int;
    fn glfs_write(ClientHandle, *const c_void, usize, c_int) -> isize;
    // Its presence says that the library is of `GlusterFS` 6 or later.
    fn glfs_copy_file_range(ClientHandle, *mut i64, ClientHandle, *mut i64, usize, u32, *mut c_void, *mut c_void, *mut c_void) -> isize;
}

/// File to which the library writes what it has to say, as in fio.
const LOG: &CStr = c"/tmp/fio_gfapi.log";

/// Level of its log: warnings.
const LOG_LEVEL: c_int = 5;

/// Bytes that one call writes where a file is filled.
const FILL_BYTES: usize = 1 << 20;

pub(crate) const PREPARE_SYNC: Prepare = |options| prepare("gfapi", true, options);

pub(crate) const PREPARE_ASYNC: Prepare = |options| prepare("gfapi_async", false, options);

/// `waits`: an I/O is waited for where it is queued, whatever the depth.
fn prepare(engine: &'static str, waits: bool, options: &EngineOptions) -> Result<Box<dyn Prepared>, EngineError> {
    let needed = |option, value: Option<&str>| match value {
        Some(value) => c_text(engine, option, value),
        None => Err(EngineError::bad_option(engine, option, "", format!("{option} must be provided"))),
    };
    let settings = VolumeSettings {
        engine,
        volume: needed("volume", options.get(&VOLUME))?,
        brick: needed("brick", options.get(&BRICK))?,
        is_shared: options.get(&SINGLE_INSTANCE),
    };
    Ok(Box::new(Idle { settings, waits, most_silence: limit_of(options.get(&SERVER_TIMEOUT)) }))
}

/// How a job reaches its volume.
#[derive(Debug, Clone)]
struct VolumeSettings {
    engine: &'static str,
    volume: CString,
    brick: CString,
    /// Jobs of this process share the connection.
    is_shared: bool,
}

impl VolumeSettings {
    fn failed(&self, step: &'static str, what: String) -> EngineError {
        let source = io::Error::last_os_error();
        EngineError::Failed { engine: self.engine, step, what, source }
    }
}

/// The engine before it is started.
struct Idle {
    settings: VolumeSettings,
    waits: bool,
    most_silence: Duration,
}

impl Prepared for Idle {
    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        let Self { settings, waits, most_silence } = *self;
        let engine = settings.engine;
        let flags = if setup.direct { libc::O_DIRECT } else { 0 };
        let awaited = AwaitedStep::default();
        awaited.set("glusterd on brick, or a brick of the volume, has not answered: gluster volume status");
        let connect = move |job: &JobFacts| {
            let volume = Volume::reach(&settings)?;
            let mut files = Files { files: Vec::new(), volume };
            for target in &job.targets {
                let file = files.open(&settings, target, flags, job)?;
                files.files.push(file);
            }
            Ok(files)
        };
        let plan = ClientPlan { engine, connect: Arc::new(connect), awaited, spins: false, waits, most_silence };
        Ok(Box::new(ClientEngine::new(plan, setup)))
    }
}

struct Volume {
    api: &'static Libgfapi,
    handle: ClientHandle,
}

// SAFETY: the library's handles may be used in any thread.
unsafe impl Send for Volume {}
// SAFETY: as before, by several at a time.
unsafe impl Sync for Volume {}

/// A connection that jobs share: its volume, its server.
type SharedVolume = ((CString, CString), Weak<Volume>);

/// Connections that jobs share.
static SHARED: Mutex<Vec<SharedVolume>> = Mutex::new(Vec::new());

impl Volume {
    /// The connection: a new one, or the one that the jobs of this process share.
    fn reach(settings: &VolumeSettings) -> Result<Arc<Self>, EngineError> {
        if !settings.is_shared {
            return Self::connect(settings).map(Arc::new);
        }
        // Others wait while the first one connects.
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (settings.volume.clone(), settings.brick.clone());
        if let Some(volume) = shared.iter().find(|(known, _)| *known == key).and_then(|(_, volume)| volume.upgrade()) {
            return Ok(volume);
        }
        let volume = Arc::new(Self::connect(settings)?);
        shared.retain(|(known, _)| *known != key);
        shared.push((key, Arc::downgrade(&volume)));
        Ok(volume)
    }

    fn connect(settings: &VolumeSettings) -> Result<Self, EngineError> {
        let api = Libgfapi::get().map_err(|error| EngineError::no_library(settings.engine, &error))?;
        // SAFETY: the name lives during the call.
        let handle = unsafe { (api.glfs_new)(settings.volume.as_ptr()) };
        if handle.is_null() {
            return Err(settings.failed("glfs_new", "glfs_new failed.".to_owned()));
        }
        let volume = Self { api, handle };
        // SAFETY: the handle was made above, the names live during the call; 0: the usual port.
        if unsafe { (api.glfs_set_volfile_server)(handle, c"tcp".as_ptr(), settings.brick.as_ptr(), 0) } != 0 {
            return Err(settings.failed("glfs_set_volfile_server", "glfs_set_volfile_server failed.".to_owned()));
        }
        // A log that cannot be written is none.
        // SAFETY: the handle is valid, the name lives.
        unsafe { (api.glfs_set_logging)(handle, LOG.as_ptr(), LOG_LEVEL) };
        // SAFETY: the handle is set up.
        if unsafe { (api.glfs_init)(handle) } != 0 {
            let what = format!(
                "glfs_init failed. Is glusterd running on brick? (volume={} brick={}; see gluster volume status)",
                settings.volume.to_string_lossy(),
                settings.brick.to_string_lossy()
            );
            return Err(settings.failed("glfs_init", what));
        }
        Ok(volume)
    }
}

impl Drop for Volume {
    /// Ends the connection in a thread, because that takes several seconds, and all files are closed and written.
    fn drop(&mut self) {
        let (fini, handle) = (self.api.glfs_fini, self.handle.expose_provenance());
        let end = move || {
            // SAFETY: the handle is valid, all files are closed, and it is given back once.
            unsafe { fini(std::ptr::with_exposed_provenance_mut(handle)) };
        };
        // Without a thread the connection stays until the process ends.
        let _ = std::thread::Builder::new().name("glfs_fini".to_owned()).spawn(end);
    }
}

/// The open files of a job.
struct Files {
    files: Vec<ClientHandle>,
    volume: Arc<Volume>,
}

// SAFETY: the library's handles may be used in any thread.
unsafe impl Send for Files {}

impl Files {
    /// Opens a file for reading and writing, makes it if it is missing, and fills it if the job reads more than is there.
    fn open(
        &self,
        settings: &VolumeSettings,
        target: &TargetFacts,
        flags: c_int,
        job: &JobFacts,
    ) -> Result<ClientHandle, EngineError> {
        let name = target.path.to_string_lossy();
        let path = c_text(settings.engine, "filename", &name)?;
        let sync = match job.syncs.mode {
            SyncMode::None => 0,
            SyncMode::Sync => libc::O_SYNC,
            SyncMode::Dsync => libc::O_DSYNC,
        };
        let flags = flags | libc::O_RDWR | sync;
        let api = self.volume.api;
        // SAFETY: the volume is connected, the name lives.
        let mut file = unsafe { (api.glfs_open)(self.volume.handle, path.as_ptr(), flags) };
        let is_absent = || io::Error::last_os_error().raw_os_error() == Some(libc::ENOENT);
        if file.is_null() && is_absent() {
            // SAFETY: as before.
            file = unsafe { (api.glfs_creat)(self.volume.handle, path.as_ptr(), flags | libc::O_CREAT, 0o644) };
        }
        if file.is_null() {
            return Err(settings.failed("glfs_creat", format!("glfs_creat failed. ({name})")));
        }
        match self.fill(file, if job.reads { target.end_bytes } else { 0 }) {
            Ok(()) => Ok(file),
            Err(source) => {
                // SAFETY: the file is open, nothing is in flight.
                unsafe { (api.glfs_close)(file) };
                let what = format!("{name} cannot be filled to {} bytes", target.end_bytes);
                Err(EngineError::Failed { engine: settings.engine, step: "glfs_write", what, source })
            }
        }
    }

    /// Writes what is missing between the end of a file and `end_bytes`.
    fn fill(&self, file: ClientHandle, end_bytes: u64) -> io::Result<()> {
        let api = self.volume.api;
        // SAFETY: the file is open.
        let there = unsafe { (api.glfs_lseek)(file, 0, libc::SEEK_END) };
        let mut there = u64::try_from(there).map_err(|_| io::Error::last_os_error())?;
        if there >= end_bytes {
            return Ok(());
        }
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let block: Vec<u64> = std::iter::repeat_with(|| {
            // Numbers that do not repeat soon, so that nothing on the way can make the data smaller.
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            seed ^ (seed >> 33)
        })
        .take(FILL_BYTES / 8)
        .collect();
        while there < end_bytes {
            let n_bytes = usize::try_from(end_bytes - there).unwrap_or(FILL_BYTES).min(FILL_BYTES);
            // SAFETY: the file is open, the block is that long.
            let written = unsafe { (api.glfs_write)(file, block.as_ptr().cast(), n_bytes, 0) };
            match u64::try_from(written) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => there += written,
                Err(_) => return Err(io::Error::last_os_error()),
            }
        }
        Ok(())
    }
}

/// Called by libgfapi at the end of an I/O, on one of its threads. The errno is that of the thread.
unsafe extern "C" fn gluster_ended(
    _file: ClientHandle,
    returned: isize,
    _before: *mut c_void,
    _after: *mut c_void,
    ticket: *mut c_void,
) {
    let result = if returned < 0 { -i64::from(errno().raw_os_error()) } else { returned as i64 };
    // SAFETY: a ticket lives until the loop has the result of its I/O, or for ever.
    unsafe { &*ticket.cast::<Ticket>() }.send(result);
}

/// The errno of the thread; EIO where there is none.
fn errno() -> Errno {
    let errno = io::Error::last_os_error().raw_os_error().filter(|errno| *errno > 0);
    errno.map_or(Errno::IO, Errno::from_raw_os_error)
}

impl ClientLink for Files {
    type Request = ();

    fn begin(&mut self, unit: &IoUnit, block: Region, ticket: *const Ticket) -> Result<(), Errno> {
        let file = *self.files.get(unit.file_index as usize).ok_or(Errno::BADF)?;
        let (api, data) = (self.volume.api, ticket.cast_mut().cast());
        let offset = i64::try_from(unit.offset_bytes).map_err(|_| Errno::FBIG)?;
        let (buffer, n_bytes) = (block.as_ptr().cast::<c_void>(), block.len());
        // SAFETY: the file is open; block and ticket stay until the I/O has ended, or for ever (`driver`).
        let returned = unsafe {
            match unit.direction {
                Direction::Read => (api.glfs_pread_async)(file, buffer, n_bytes, offset, 0, gluster_ended, data),
                Direction::Write => {
                    let n_bytes = c_int::try_from(n_bytes).map_err(|_| Errno::INVAL)?;
                    (api.glfs_pwrite_async)(file, buffer, n_bytes, offset, 0, gluster_ended, data)
                }
                Direction::Trim => (api.glfs_discard_async)(file, offset, unit.length_bytes, gluster_ended, data),
                Direction::Sync => (api.glfs_fsync_async)(file, gluster_ended, data),
                Direction::Datasync => (api.glfs_fdatasync_async)(file, gluster_ended, data),
                Direction::SyncFileRange | Direction::Syncfs => return Err(Errno::INVAL),
            }
        };
        if returned < 0 { Err(errno()) } else { Ok(()) }
    }

    fn end(&mut self, unit: &IoUnit, _block: Region, result: i64) -> IoResult {
        match usize::try_from(result) {
            Ok(n_moved) if matches!(unit.direction, Direction::Read | Direction::Write) => {
                IoResult::done(n_moved.min(unit.length_bytes))
            }
            Ok(_) => IoResult::done(unit.length_bytes),
            Err(_) => error_result(Errno::from_raw_os_error((-result) as i32)),
        }
    }

    fn complaint(&self, unit: &IoUnit, _errno: Errno) -> Option<Complaint> {
        matches!(unit.direction, Direction::SyncFileRange | Direction::Syncfs).then(|| Complaint {
            step: "xfer",
            line: Some("unsupported operation.".to_owned()),
            why: None,
        })
    }

    fn hint(&self, _unit: &IoUnit, errno: Errno) -> Option<&'static str> {
        match errno {
            Errno::NOTCONN => Some("no brick of the volume that has this file is reachable (gluster volume status)"),
            // An I/O that comes when the library has seen that the connection is gone.
            Errno::BADFD => {
                Some("the brick that has this file was lost while the file was open (gluster volume status)")
            }
            Errno::NOSPC | Errno::DQUOT => Some("a brick of the volume is full, or a quota is reached"),
            Errno::ROFS => Some("the volume is read-only, or has lost its quorum"),
            _ => None,
        }
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        for file in self.files.drain(..) {
            // SAFETY: the file is open, nothing is in flight; closing it writes what is cached.
            unsafe { (self.volume.api.glfs_close)(file) };
        }
    }
}
