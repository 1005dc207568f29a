//! librados: its functions, and the connection to a pool of a Ceph cluster, for the engines `rados` and `rbd`.
//!
//! Only the public header `rados/librados.h` was used. Must not know: I/Os. Start reading at [`CephPool::connect`].
#![expect(unsafe_code, reason = "calls a C library")]

use super::mailbox::Ticket;
use crate::contract::EngineError;
use ferrio_sys::Errno;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io;
use std::ptr;

/// What the making of a connection waits for.
pub(super) const AWAITS_MONITORS: &str =
    "the monitors of the cluster have not answered: see mon_host in the configuration, and ceph health detail";

pub(super) type ClientHandle = *mut c_void;

/// What the library calls at the end of an I/O: the completion, and what was given to it.
pub(super) type CompletionCallback = unsafe extern "C" fn(ClientHandle, *mut c_void);

ferrio_sys::vendor_functions! {
    pub(super) struct Librados of "librados" ["librados.so.2"] in "librados2";
    fn rados_create(*mut ClientHandle, *const c_char) -> c_int;
    fn rados_create2(*mut ClientHandle, *const c_char, *const c_char, u64) -> c_int;
    fn rados_conf_read_file(ClientHandle, *const c_char) -> c_int;
    fn rados_conf_set(ClientHandle, *const c_char, *const c_char) -> c_int;
    fn rados_conf_get(ClientHandle, *const c_char, *mut c_char, usize) -> c_int;
    fn rados_connect(ClientHandle) -> c_int;
    fn rados_shutdown(ClientHandle);
    fn rados_ioctx_create(ClientHandle, *const c_char, *mut ClientHandle) -> c_int;
    fn rados_ioctx_destroy(ClientHandle);
    fn rados_write(ClientHandle, *const c_char, *const c_char, usize, u64) -> c_int;
    fn rados_aio_create_completion2(*mut c_void, CompletionCallback, *mut ClientHandle) -> c_int;
    fn rados_aio_get_return_value(ClientHandle) -> c_int;
    fn rados_aio_release(ClientHandle);
    fn rados_aio_read(ClientHandle, *const c_char, ClientHandle, *mut c_char, usize, u64) -> c_int;
    fn rados_aio_write(ClientHandle, *const c_char, ClientHandle, *const c_char, usize, u64) -> c_int;
    fn rados_create_write_op() -> ClientHandle;
    fn rados_release_write_op(ClientHandle);
    fn rados_write_op_zero(ClientHandle, u64, u64);
    fn rados_aio_write_op_operate(ClientHandle, ClientHandle, ClientHandle, *const c_char, *const c_void, c_int) -> c_int;
    maybe fn rados_set_pool_full_try(ClientHandle);
}

/// Longest wait for a monitor, seconds, where the configuration has the library's own 300.
const MOST_MOUNT_SECS: u64 = 30;

/// The library's own longest wait for a monitor, seconds.
const MOUNT_SECS: u64 = 300;

/// How a job reaches its pool.
#[derive(Debug, Clone)]
pub(super) struct CephSettings {
    pub(super) engine: &'static str,
    pub(super) cluster: Option<CString>,
    /// Name of the client, complete if the cluster has a name.
    pub(super) client: Option<CString>,
    pub(super) pool: CString,
    /// The file with the configuration; `None`: the library looks for it.
    pub(super) conf: Option<CString>,
    /// Data is cached in the memory of the client.
    pub(super) is_cached: bool,
}

/// A text as the library takes it.
pub(super) fn c_text(engine: &'static str, option: &'static str, text: &str) -> Result<CString, EngineError> {
    CString::new(text).map_err(|_| EngineError::bad_option(engine, option, text, "it has a zero byte"))
}

impl CephSettings {
    /// Settings of options that `rados` and `rbd` have.
    pub(super) fn new(
        engine: &'static str,
        pool: Option<&str>,
        cluster: Option<&str>,
        client: Option<&str>,
    ) -> Result<Self, EngineError> {
        let Some(pool) = pool else {
            return Err(EngineError::bad_option(engine, "pool", "", format!("{engine} pool name must be provided.")));
        };
        let client = match (cluster, client) {
            (Some(_), None) => Some("client.admin".to_owned()),
            (Some(_), Some(name)) if !name.contains('.') => Some(format!("client.{name}")),
            (_, name) => name.map(str::to_owned),
        };
        let text = |option, text: Option<&str>| text.map(|text| c_text(engine, option, text)).transpose();
        Ok(Self {
            engine,
            cluster: text("clustername", cluster)?,
            client: text("clientname", client.as_deref())?,
            pool: c_text(engine, "pool", pool)?,
            conf: None,
            is_cached: true,
        })
    }

    /// The failure of a call. `returned`: a negative errno.
    pub(super) fn failed(&self, step: &'static str, why: &str, returned: c_int) -> EngineError {
        let what = if why.is_empty() { format!("{step} failed.") } else { format!("{step} failed. ({why})") };
        let source = io::Error::from_raw_os_error(returned.saturating_neg());
        EngineError::Failed { engine: self.engine, step, what, source }
    }
}

pub(super) struct CephPool {
    pub(super) api: &'static Librados,
    cluster: ClientHandle,
    pub(super) io: ClientHandle,
}

// SAFETY: the library's handles may be used in any thread.
unsafe impl Send for CephPool {}

impl CephPool {
    /// Connects, in the order of fio's steps. Blocks while the cluster does not answer.
    pub(super) fn connect(settings: &CephSettings) -> Result<Self, EngineError> {
        let api = Librados::get().map_err(|error| EngineError::no_library(settings.engine, &error))?;
        let mut pool = Self { api, cluster: ptr::null_mut(), io: ptr::null_mut() };
        pool.create(settings)?;
        pool.configure(settings)?;
        // SAFETY: the handle was made above.
        match unsafe { (api.rados_connect)(pool.cluster) } {
            0 => {}
            returned => return Err(settings.failed("rados_connect", connect_hint(returned), returned)),
        }
        // SAFETY: the handle is connected, the name lives, the result has a place.
        match unsafe { (api.rados_ioctx_create)(pool.cluster, settings.pool.as_ptr(), &raw mut pool.io) } {
            0 => {}
            returned => {
                let why = format!("pool={}", settings.pool.to_string_lossy());
                return Err(settings.failed("rados_ioctx_create", &why, returned));
            }
        }
        if let Some(try_full) = api.rados_set_pool_full_try {
            // Writes to a full pool end with an error; else they wait for room.
            // SAFETY: the context was made above.
            unsafe { try_full(pool.io) };
        }
        Ok(pool)
    }

    fn create(&mut self, settings: &CephSettings) -> Result<(), EngineError> {
        let text = |text: &Option<CString>| text.as_ref().map_or(ptr::null(), |text| text.as_ptr());
        let (cluster, client) = (&settings.cluster, &settings.client);
        // SAFETY: the texts live during the call, or are null, which stands for the default; the result has a place.
        let (step, returned) = unsafe {
            if cluster.is_some() {
                let returned = (self.api.rados_create2)(&raw mut self.cluster, text(cluster), text(client), 0);
                ("rados_create2", returned)
            } else {
                ("rados_create", (self.api.rados_create)(&raw mut self.cluster, text(client)))
            }
        };
        if returned == 0 { Ok(()) } else { Err(settings.failed(step, "", returned)) }
    }

    fn configure(&self, settings: &CephSettings) -> Result<(), EngineError> {
        let path = settings.conf.as_ref().map_or(ptr::null(), |path| path.as_ptr());
        // SAFETY: the handle was made by `create`; a null path stands for the usual places.
        let returned = unsafe { (self.api.rados_conf_read_file)(self.cluster, path) };
        if returned != 0 {
            let why = settings.conf.as_ref().map_or_else(
                || "no file of CEPH_CONF, /etc/ceph, ~/.ceph or this directory".to_owned(),
                |path| format!("conf={}", path.to_string_lossy()),
            );
            return Err(settings.failed("rados_conf_read_file", &why, returned));
        }
        if self.get(c"client_mount_timeout").is_none_or(|seconds| seconds == MOUNT_SECS) {
            self.set(c"client_mount_timeout", &MOST_MOUNT_SECS.to_string());
        }
        if !settings.is_cached {
            self.set(c"rbd_cache", "false");
        }
        Ok(())
    }

    /// A whole number of the configuration.
    fn get(&self, name: &CStr) -> Option<u64> {
        let mut buffer = [0 as c_char; 64];
        // SAFETY: the handle is valid, the name lives, the buffer has the length.
        let returned =
            unsafe { (self.api.rados_conf_get)(self.cluster, name.as_ptr(), buffer.as_mut_ptr(), buffer.len()) };
        let text: Vec<u8> = buffer.iter().take_while(|byte| **byte != 0).flat_map(|byte| byte.to_ne_bytes()).collect();
        let text = String::from_utf8(text).ok().filter(|_| returned >= 0)?;
        text.split('.').next()?.trim_end_matches('s').parse().ok()
    }

    fn set(&self, name: &CStr, value: &str) {
        if let Ok(value) = CString::new(value) {
            // A version without this option goes on with what it has.
            // SAFETY: the handle is valid, the texts live.
            let _ = unsafe { (self.api.rados_conf_set)(self.cluster, name.as_ptr(), value.as_ptr()) };
        }
    }
}

/// What may be wrong where no connection is made.
fn connect_hint(returned: c_int) -> &'static str {
    match Errno::from_raw_os_error(returned.saturating_neg()) {
        Errno::TIMEDOUT => "no monitor of the cluster has answered (mon_host in the configuration)",
        Errno::ACCESS | Errno::PERM => "the cluster refuses the key of this client",
        Errno::NOENT => "no key for this client (keyring in the configuration), or no monitor's address",
        _ => "",
    }
}

impl Drop for CephPool {
    fn drop(&mut self) {
        // SAFETY: each handle is null or was made by the library, is given back once, and nothing is in flight.
        unsafe {
            if !self.io.is_null() {
                (self.api.rados_ioctx_destroy)(self.io);
            }
            if !self.cluster.is_null() {
                (self.api.rados_shutdown)(self.cluster);
            }
        }
    }
}

/// Called by librados at the end of an I/O, on one of its threads.
pub(super) unsafe extern "C" fn rados_ended(completion: ClientHandle, ticket: *mut c_void) {
    let Ok(api) = Librados::get() else { return };
    // SAFETY: the completion lives until the loop has its result, which it gets below.
    let result = unsafe { (api.rados_aio_get_return_value)(completion) };
    // SAFETY: a ticket lives until the loop has the result of its I/O, or for ever.
    unsafe { &*ticket.cast::<Ticket>() }.send(result.into());
}
