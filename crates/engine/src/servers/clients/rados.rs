//! `ioengine=rados`: objects of a pool of a Ceph cluster, one for each file of the job.
//!
//! A read of what is not there (a missing object, bytes behind its end) gives zeroes and counts in full, as in fio. Other errors
//! of operations end the job. Must not know: threads of the library. Start reading at `Objects`.
#![expect(unsafe_code, reason = "calls a C library")]

use super::ceph::{AWAITS_MONITORS, CephPool, CephSettings, ClientHandle, Librados, c_text, rados_ended};
use super::driver::{AwaitedStep, ClientEngine, ClientLink, ClientPlan};
use super::mailbox::Ticket;
use crate::contract::options::EngineOptions;
use crate::contract::parts::Complaint;
use crate::contract::{Engine, EngineError, EngineSetup, IoResult, IoUnit, Prepare, Prepared};
use crate::files::control::error_result;
use crate::servers::remote::silence::limit_of;
use ferrio_spec::engines::options::rados::{
    BUSY_POLL, CLIENTNAME, CLUSTERNAME, CONF, POOL, SERVER_TIMEOUT, TOUCH_OBJECTS,
};
use ferrio_sys::Errno;
use ferrio_sys::arena::Region;
use ferrio_units::Direction;
use std::ffi::CString;
use std::path::Path;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

const NAME: &str = "rados";

pub(crate) const PREPARE: Prepare = |options| prepare(options);

fn prepare(options: &EngineOptions) -> Result<Box<dyn Prepared>, EngineError> {
    let settings = CephSettings::new(NAME, options.get(&POOL), options.get(&CLUSTERNAME), options.get(&CLIENTNAME))?;
    let conf = Some(c_text(NAME, "conf", options.get(&CONF))?);
    let settings = CephSettings { conf, ..settings };
    Ok(Box::new(Idle {
        settings,
        spins: options.get(&BUSY_POLL),
        touches: options.get(&TOUCH_OBJECTS),
        most_silence: limit_of(options.get(&SERVER_TIMEOUT)),
    }))
}

/// The engine before it is started.
struct Idle {
    settings: CephSettings,
    spins: bool,
    touches: bool,
    most_silence: Duration,
}

impl Prepared for Idle {
    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        let Self { settings, spins, touches, most_silence } = *self;
        let awaited = AwaitedStep::default();
        let step = awaited.clone();
        let connect = move |job: &crate::contract::JobFacts| {
            step.set(AWAITS_MONITORS);
            let pool = CephPool::connect(&settings)?;
            step.set("the servers of the pool (OSDs) have not answered the making of an object (touch_objects): ceph health detail");
            let mut objects = Objects { pool, names: Vec::new() };
            for target in &job.targets {
                let name = object_name(&target.path)?;
                if touches {
                    objects.touch(&settings, &name)?;
                }
                objects.names.push(name);
            }
            Ok(objects)
        };
        let plan = ClientPlan { engine: NAME, connect: Arc::new(connect), awaited, spins, waits: false, most_silence };
        Ok(Box::new(ClientEngine::new(plan, setup)))
    }
}

fn object_name(path: &Path) -> Result<CString, EngineError> {
    c_text(NAME, "filename", &path.to_string_lossy())
}

struct Objects {
    pool: CephPool,
    /// Names, by the indexes of the files.
    names: Vec<CString>,
}

impl Objects {
    /// Makes an object unless it is there.
    fn touch(&self, settings: &CephSettings, name: &CString) -> Result<(), EngineError> {
        // SAFETY: the context is valid, the name lives, and no byte of the empty text is used.
        let returned = unsafe { (self.pool.api.rados_write)(self.pool.io, name.as_ptr(), c"".as_ptr(), 0, 0) };
        if returned < 0 {
            let hint = write_hint(Errno::from_raw_os_error(-returned));
            let why = format!("object {}{}{hint}", name.to_string_lossy(), if hint.is_empty() { "" } else { ": " });
            return Err(settings.failed("rados_write", &why, returned));
        }
        Ok(())
    }
}

/// The library's part of an operation.
struct RadosRequest {
    api: &'static Librados,
    completion: ClientHandle,
    /// The operation of a trim, else null.
    operation: ClientHandle,
}

impl Drop for RadosRequest {
    fn drop(&mut self) {
        // SAFETY: the library made both for this operation; they are given back once, after its end or if it never began.
        unsafe {
            if !self.completion.is_null() {
                (self.api.rados_aio_release)(self.completion);
            }
            if !self.operation.is_null() {
                (self.api.rados_release_write_op)(self.operation);
            }
        }
    }
}

impl Objects {
    fn submit(&self, unit: &IoUnit, block: Region, name: &CString, request: &RadosRequest) -> i32 {
        let (api, io, name, completion) = (self.pool.api, self.pool.io, name.as_ptr(), request.completion);
        // SAFETY: the context and the completion are valid, the library copies the name, and the block stays until the
        // operation has ended, or for ever (`driver`).
        unsafe {
            match unit.direction {
                Direction::Read => {
                    (api.rados_aio_read)(io, name, completion, block.as_ptr().cast(), block.len(), unit.offset_bytes)
                }
                Direction::Write => {
                    (api.rados_aio_write)(io, name, completion, block.as_ptr().cast(), block.len(), unit.offset_bytes)
                }
                _ => {
                    (api.rados_write_op_zero)(request.operation, unit.offset_bytes, unit.length_bytes as u64);
                    (api.rados_aio_write_op_operate)(request.operation, io, completion, name, ptr::null(), 0)
                }
            }
        }
    }
}

impl ClientLink for Objects {
    type Request = RadosRequest;

    fn begin(&mut self, unit: &IoUnit, block: Region, ticket: *const Ticket) -> Result<RadosRequest, Errno> {
        if unit.direction.data().is_none() {
            return Err(Errno::INVAL);
        }
        let name = self.names.get(unit.file_index as usize).ok_or(Errno::BADF)?;
        let mut request = RadosRequest { api: self.pool.api, completion: ptr::null_mut(), operation: ptr::null_mut() };
        // SAFETY: the result has a place; the ticket lives until the loop has its result, or for ever.
        let returned = unsafe {
            let ticket = ticket.cast_mut().cast();
            (self.pool.api.rados_aio_create_completion2)(ticket, rados_ended, &raw mut request.completion)
        };
        if returned < 0 {
            return Err(Errno::from_raw_os_error(-returned));
        }
        if unit.direction == Direction::Trim {
            // SAFETY: asks nothing.
            request.operation = unsafe { (self.pool.api.rados_create_write_op)() };
        }
        match self.submit(unit, block, name, &request) {
            returned @ ..0 => Err(Errno::from_raw_os_error(-returned)),
            _ => Ok(request),
        }
    }

    fn end(&mut self, unit: &IoUnit, block: Region, result: i64) -> IoResult {
        let is_absent = -result == i64::from(Errno::NOENT.raw_os_error()) && unit.direction == Direction::Read;
        let n_moved = if is_absent { 0 } else { result };
        let Ok(n_moved) = usize::try_from(n_moved) else {
            return error_result(Errno::from_raw_os_error((-result) as i32));
        };
        if unit.direction == Direction::Read && n_moved < block.len() {
            // SAFETY: the operation has ended, so that nobody else uses the block, which lives as long as the arena.
            unsafe { block.part(n_moved, block.len() - n_moved).as_mut_slice() }.fill(0);
        }
        IoResult::done(unit.length_bytes)
    }

    fn is_durable(&self) -> bool {
        true
    }

    fn complaint(&self, unit: &IoUnit, _errno: Errno) -> Option<Complaint> {
        unit.direction.data().is_none().then(|| Complaint {
            step: "io_u error",
            line: Some("WARNING: Only DDIR_READ, DDIR_WRITE and DDIR_TRIM are supported!".to_owned()),
            why: Some("objects of rados have no sync: an operation ends when it is durable".to_owned()),
        })
    }

    fn hint(&self, _unit: &IoUnit, errno: Errno) -> Option<&'static str> {
        Some(write_hint(errno)).filter(|hint| !hint.is_empty())
    }
}

/// A possible reason for an error of an operation.
pub(super) fn write_hint(errno: Errno) -> &'static str {
    match errno {
        Errno::PERM | Errno::ACCESS => "the client has no permission for this in the pool (ceph auth get CLIENT)",
        Errno::NOSPC | Errno::DQUOT => {
            "the pool is full, or has reached its quota (ceph df, ceph osd pool get-quota POOL)"
        }
        Errno::TIMEDOUT => "the servers of the pool have not answered in time (rados_osd_op_timeout)",
        Errno::FBIG => "an object may have no more than osd_max_object_size bytes, 128 MiB by default",
        _ => "",
    }
}
