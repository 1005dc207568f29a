//! `ioengine=rbd`: an image of a Ceph block device, by librbd. All files of a job are the one image.
//!
//! Only the public header `rbd/librbd.h` was used. Must not know: threads of the library. Start reading at `Image`.
#![expect(unsafe_code, reason = "calls a C library")]

use super::ceph::{CephPool, CephSettings, ClientHandle, CompletionCallback, c_text};
use super::driver::{AwaitedStep, ClientEngine, ClientLink, ClientPlan};
use super::inquiry;
use super::mailbox::Ticket;
use super::rados::write_hint;
use crate::contract::options::EngineOptions;
use crate::contract::parts::Complaint;
use crate::contract::{Cancellation, Engine, EngineError, EngineSetup, IoResult, IoUnit, JobFacts, Prepare, Prepared};
use crate::files::control::error_result;
use crate::servers::remote::silence::limit_of;
use ferrio_spec::engines::options::rbd::{
    BUSY_POLL, CLIENTNAME, CLUSTERNAME, POOL, RBD_ENCRYPTION_FORMAT, RBD_ENCRYPTION_PASSPHRASE, RBDNAME, SERVER_TIMEOUT,
};
use ferrio_sys::Errno;
use ferrio_sys::arena::Region;
use ferrio_units::Direction;
use std::ffi::{CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

const NAME: &str = "rbd";

ferrio_sys::vendor_functions! {
    pub(super) struct Librbd of "librbd" ["librbd.so.1"] in "librbd1";
    fn rbd_open(ClientHandle, *const c_char, *mut ClientHandle, *const c_char) -> c_int;
    fn rbd_open_read_only(ClientHandle, *const c_char, *mut ClientHandle, *const c_char) -> c_int;
    fn rbd_close(ClientHandle) -> c_int;
    fn rbd_get_size(ClientHandle, *mut u64) -> c_int;
    fn rbd_flush(ClientHandle) -> c_int;
    fn rbd_invalidate_cache(ClientHandle) -> c_int;
    fn rbd_aio_create_completion(*mut c_void, CompletionCallback, *mut ClientHandle) -> c_int;
    fn rbd_aio_get_return_value(ClientHandle) -> isize;
    fn rbd_aio_release(ClientHandle);
    fn rbd_aio_read(ClientHandle, u64, usize, *mut c_char, ClientHandle) -> c_int;
    fn rbd_aio_write(ClientHandle, u64, usize, *const c_char, ClientHandle) -> c_int;
    fn rbd_aio_discard(ClientHandle, u64, u64, ClientHandle) -> c_int;
    fn rbd_aio_flush(ClientHandle, ClientHandle) -> c_int;
    maybe fn rbd_encryption_load(ClientHandle, c_int, *const EncryptionOptions, usize) -> c_int;
}

/// `rbd_encryption_luks1_format_options_t`, which is that of luks2 too.
#[repr(C)]
struct EncryptionOptions {
    algorithm: c_int,
    passphrase: *const c_char,
    passphrase_bytes: usize,
}

pub(crate) const PREPARE: Prepare = |options| prepare(options);

fn prepare(options: &EngineOptions) -> Result<Box<dyn Prepared>, EngineError> {
    let pool = CephSettings::new(NAME, options.get(&POOL), options.get(&CLUSTERNAME), options.get(&CLIENTNAME))?;
    let Some(image) = options.get(&RBDNAME) else {
        return Err(EngineError::bad_option(NAME, "rbdname", "", "rbdname must be provided."));
    };
    let encryption = encryption(options.get(&RBD_ENCRYPTION_FORMAT), options.get(&RBD_ENCRYPTION_PASSPHRASE))?;
    let settings = ImageSettings { pool, image: c_text(NAME, "rbdname", image)?, encryption };
    Ok(Box::new(Idle {
        settings,
        spins: options.get(&BUSY_POLL),
        most_silence: limit_of(options.get(&SERVER_TIMEOUT)),
    }))
}

fn encryption(format: Option<&str>, passphrase: Option<&str>) -> Result<Option<(c_int, CString)>, EngineError> {
    let Some(format) = format else { return Ok(None) };
    let refused = |option, value: &str, why: String| EngineError::bad_option(NAME, option, value, why);
    let Some(passphrase) = passphrase else {
        let why = "rbd_encryption_passphrase is required when a rbd_encryption_format is specified.";
        return Err(refused("rbd_encryption_passphrase", "", why.to_owned()));
    };
    let number = match format {
        "luks1" => 0,
        "luks2" => 1,
        _ => {
            let why =
                format!("rbd_encryption_load failed. Unknown rbd_encryption_format: {format}; allowed: luks1, luks2");
            return Err(refused("rbd_encryption_format", format, why));
        }
    };
    Ok(Some((number, c_text(NAME, "rbd_encryption_passphrase", passphrase)?)))
}

/// How a job reaches its image.
#[derive(Debug, Clone)]
struct ImageSettings {
    pool: CephSettings,
    image: CString,
    encryption: Option<(c_int, CString)>,
}

/// The engine before it is started.
struct Idle {
    settings: ImageSettings,
    spins: bool,
    most_silence: Duration,
}

impl Prepared for Idle {
    fn target_bytes(&self, _name: &Path, cancellation: Cancellation<'_>) -> Result<Option<u64>, EngineError> {
        inquiry::ask(NAME, "setup", cancellation, || {
            // The image is closed before the process ends: others wait for half a minute for one that has just disappeared.
            Image::open(&self.settings, false)?.size_bytes(&self.settings)
        })
    }

    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        let Self { mut settings, spins, most_silence } = *self;
        settings.pool.is_cached = !setup.direct;
        let awaited = AwaitedStep::default();
        awaited.set("the cluster has not answered the opening of the image: see mon_host in the configuration, and ceph health detail");
        let connect = move |job: &JobFacts| {
            let mut image = Image::open(&settings, job.writes || job.trims)?;
            image.invalidates = job.invalidates;
            image.settle(&settings)?;
            Ok(image)
        };
        let plan = ClientPlan { engine: NAME, connect: Arc::new(connect), awaited, spins, waits: false, most_silence };
        Ok(Box::new(ClientEngine::new(plan, setup)))
    }
}

struct Image {
    api: &'static Librbd,
    handle: ClientHandle,
    /// The cache is dropped when a file is opened.
    invalidates: bool,
    /// Given back after the image.
    pool: CephPool,
}

// SAFETY: the library's handles may be used in any thread.
unsafe impl Send for Image {}

impl Image {
    /// Connects and opens the image; without a right to write for a job that only reads.
    fn open(settings: &ImageSettings, writes: bool) -> Result<Self, EngineError> {
        let api = Librbd::get().map_err(|error| EngineError::no_library(NAME, &error))?;
        let mut image =
            Self { api, handle: ptr::null_mut(), invalidates: false, pool: CephPool::connect(&settings.pool)? };
        let name = settings.image.as_ptr();
        // SAFETY: the context is valid, the name lives, the result has a place; null: no snapshot.
        let mut returned = unsafe { (api.rbd_open)(image.pool.io, name, &raw mut image.handle, ptr::null()) };
        let is_refused = matches!(Errno::from_raw_os_error(-returned), Errno::PERM | Errno::ACCESS | Errno::ROFS);
        if returned < 0 && is_refused && !writes {
            // SAFETY: as before.
            returned = unsafe { (api.rbd_open_read_only)(image.pool.io, name, &raw mut image.handle, ptr::null()) };
        }
        if returned < 0 {
            image.handle = ptr::null_mut();
            let why = match Errno::from_raw_os_error(-returned) {
                Errno::PERM | Errno::ACCESS => {
                    "; the client may not use images of this pool (a profile such as rbd or rbd-read-only is needed)"
                }
                _ => "",
            };
            let why = format!("rbdname={}{why}", settings.image.to_string_lossy());
            return Err(settings.pool.failed("rbd_open", &why, returned));
        }
        image.decrypt(settings)?;
        Ok(image)
    }

    fn decrypt(&self, settings: &ImageSettings) -> Result<(), EngineError> {
        let Some((format, passphrase)) = &settings.encryption else { return Ok(()) };
        let Some(load) = self.api.rbd_encryption_load else {
            return Err(settings.pool.failed("rbd_encryption_load", "this librbd has no encryption", -95));
        };
        let options = EncryptionOptions {
            algorithm: 0,
            passphrase: passphrase.as_ptr(),
            passphrase_bytes: passphrase.as_bytes().len(),
        };
        // SAFETY: the image is open; the options are of the format's type and live during the call.
        match unsafe { load(self.handle, *format, &raw const options, size_of::<EncryptionOptions>()) } {
            0 => Ok(()),
            returned => {
                let why = "the image has no such encryption, or another passphrase";
                Err(settings.pool.failed("rbd_encryption_load", why, returned))
            }
        }
    }

    fn size_bytes(&self, settings: &ImageSettings) -> Result<u64, EngineError> {
        let mut size_bytes = 0;
        // SAFETY: the image is open, the result has a place.
        let returned = unsafe { (self.api.rbd_get_size)(self.handle, &raw mut size_bytes) };
        match (returned, size_bytes) {
            (..0, _) => Err(settings.pool.failed("rbd_get_size", "", returned)),
            (_, 0) => Err(settings.pool.failed("rbd_get_size", "image size should be larger than zero.", -22)),
            _ => Ok(size_bytes),
        }
    }

    /// Makes the cache write back, which it does after a first flush.
    fn settle(&self, settings: &ImageSettings) -> Result<(), EngineError> {
        if !settings.pool.is_cached {
            return Ok(());
        }
        // SAFETY: the image is open.
        match unsafe { (self.api.rbd_flush)(self.handle) } {
            0 => Ok(()),
            returned => Err(settings.pool.failed("rbd_flush", "", returned)),
        }
    }

    fn submit(&self, unit: &IoUnit, block: Region, completion: ClientHandle) -> c_int {
        let (api, image, at) = (self.api, self.handle, unit.offset_bytes);
        // SAFETY: the image and the completion are valid; the block stays until the I/O has ended, or for ever (`driver`).
        unsafe {
            match unit.direction {
                Direction::Read => (api.rbd_aio_read)(image, at, block.len(), block.as_ptr().cast(), completion),
                Direction::Write => (api.rbd_aio_write)(image, at, block.len(), block.as_ptr().cast(), completion),
                Direction::Trim => (api.rbd_aio_discard)(image, at, unit.length_bytes as u64, completion),
                _ => (api.rbd_aio_flush)(image, completion),
            }
        }
    }
}

/// A completion of the library.
struct RbdRequest {
    api: &'static Librbd,
    completion: ClientHandle,
}

impl Drop for RbdRequest {
    fn drop(&mut self) {
        // SAFETY: the library made it, and it is given back once, after its end or if it never began.
        unsafe { (self.api.rbd_aio_release)(self.completion) };
    }
}

/// Called by librbd at the end of an I/O, on one of its threads.
unsafe extern "C" fn rbd_ended(completion: ClientHandle, ticket: *mut c_void) {
    let Ok(api) = Librbd::get() else { return };
    // SAFETY: the completion lives until the loop has its result, which it gets below.
    let result = unsafe { (api.rbd_aio_get_return_value)(completion) };
    // SAFETY: a ticket lives until the loop has the result of its I/O, or for ever.
    unsafe { &*ticket.cast::<Ticket>() }.send(result as i64);
}

impl ClientLink for Image {
    type Request = RbdRequest;

    fn begin(&mut self, unit: &IoUnit, block: Region, ticket: *const Ticket) -> Result<RbdRequest, Errno> {
        if matches!(unit.direction, Direction::Datasync | Direction::SyncFileRange | Direction::Syncfs) {
            return Err(Errno::INVAL);
        }
        let mut completion = ptr::null_mut();
        // SAFETY: the result has a place; the ticket lives until the loop has its result, or for ever.
        let returned =
            unsafe { (self.api.rbd_aio_create_completion)(ticket.cast_mut().cast(), rbd_ended, &raw mut completion) };
        if returned < 0 {
            return Err(Errno::from_raw_os_error(-returned));
        }
        let request = RbdRequest { api: self.api, completion };
        match self.submit(unit, block, completion) {
            returned @ ..0 => Err(Errno::from_raw_os_error(-returned)),
            _ => Ok(request),
        }
    }

    fn end(&mut self, unit: &IoUnit, block: Region, result: i64) -> IoResult {
        match usize::try_from(result) {
            Ok(n_moved) if unit.direction == Direction::Read => IoResult::done(n_moved.min(block.len())),
            Ok(_) => IoResult::done(unit.length_bytes),
            Err(_) => error_result(Errno::from_raw_os_error((-result) as i32)),
        }
    }

    fn complaint(&self, unit: &IoUnit, errno: Errno) -> Option<Complaint> {
        let why = match unit.direction {
            Direction::Datasync | Direction::SyncFileRange | Direction::Syncfs => {
                "an image has no other sync than the flush of fsync".to_owned()
            }
            _ => write_hint(errno).to_owned(),
        };
        Some(Complaint { step: "xfer", line: None, why: Some(why).filter(|why| !why.is_empty()) })
    }

    fn hint(&self, _unit: &IoUnit, errno: Errno) -> Option<&'static str> {
        Some(match errno {
            Errno::ROFS => "the image is open without a right to write, or is a snapshot",
            Errno::SHUTDOWN => "the cluster has shut this client out (ceph osd blocklist ls)",
            errno => write_hint(errno),
        })
        .filter(|hint| !hint.is_empty())
    }

    fn open_file(&mut self, _index: u32, _name: &Path) -> Result<(), EngineError> {
        // An image that has just been opened has nothing in its cache; a later pass may find something there.
        if self.invalidates {
            // SAFETY: the image is open.
            unsafe { (self.api.rbd_invalidate_cache)(self.handle) };
        }
        Ok(())
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: the image is open, nothing is in flight, and its pool is given back later.
            unsafe { (self.api.rbd_close)(self.handle) };
        }
    }
}
