//! The structures of `include/ferrio_engine.h`, and what can be checked of them.
//!
//! Must not know: when they are used. Start reading at [`RawApi`] beside the header.
#![expect(unsafe_code, reason = "a structure that a library has given")]

use super::{LibraryFault, LibraryJob, VERSION, c_text};
use std::ffi::{CString, c_char, c_int, c_void};

pub(super) const CAN_WRITE: u32 = 1;
pub(super) const CAN_TRIM: u32 = 2;
pub(super) const CAN_SYNC: u32 = 4;

/// The exported function.
pub(super) type Entry = unsafe extern "C" fn(version: u32) -> *const RawApi;

#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct RawOption {
    pub(super) name: *const c_char,
    pub(super) help: *const c_char,
    pub(super) default_value: *const c_char,
}

#[repr(C)]
struct RawValue {
    name: *const c_char,
    value: *const c_char,
}

#[repr(C)]
pub(super) struct RawJob {
    struct_bytes: u32,
    iodepth: u32,
    n_targets: u32,
    n_values: u32,
    max_io_bytes: u64,
    values: *const RawValue,
    name: *const c_char,
}

#[repr(C)]
pub(super) struct RawIo {
    pub(super) struct_bytes: u32,
    pub(super) tag: u32,
    pub(super) target: u32,
    pub(super) direction: u32,
    pub(super) offset_bytes: u64,
    pub(super) length_bytes: u64,
    pub(super) buffer: *mut c_void,
}

#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(super) struct RawEvent {
    pub(super) tag: u32,
    pub(super) reserved: u32,
    pub(super) result: i64,
}

type TargetBytes = unsafe extern "C" fn(*const RawJob, *const c_char, *mut u64, *mut c_char, usize) -> c_int;
type Start = unsafe extern "C" fn(*const RawJob, *mut *mut c_void, *mut c_char, usize) -> c_int;
type Open = unsafe extern "C" fn(*mut c_void, u32, *const c_char, c_int, *mut c_char, usize) -> c_int;
type Close = unsafe extern "C" fn(*mut c_void, u32);
type Queue = unsafe extern "C" fn(*mut c_void, *const RawIo) -> c_int;
type Commit = unsafe extern "C" fn(*mut c_void) -> c_int;
pub(super) type Reap = unsafe extern "C" fn(*mut c_void, u32, u32, u64, *mut RawEvent) -> c_int;
type Cancel = unsafe extern "C" fn(*mut c_void);

// tidy: the fields are those of the header, in its order.
#[repr(C)]
pub(super) struct RawApi {
    pub(super) version: u32,
    pub(super) struct_bytes: u32,
    pub(super) name: *const c_char,
    pub(super) help: *const c_char,
    pub(super) flags: u32,
    pub(super) reserved: u32,
    pub(super) options: *const RawOption,
    pub(super) target_bytes: Option<TargetBytes>,
    pub(super) calls: RawCalls,
}

/// The functions that a job uses: the end of the same structure.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct RawCalls {
    pub(super) start: Option<Start>,
    pub(super) open: Option<Open>,
    pub(super) close: Option<Close>,
    pub(super) queue: Option<Queue>,
    pub(super) commit: Option<Commit>,
    pub(super) reap: Option<Reap>,
    pub(super) cancel: Option<Cancel>,
    pub(super) stop: Option<Cancel>,
}

/// The functions that each engine has.
#[derive(Clone, Copy)]
pub(super) struct Needed {
    pub(super) start: Start,
    pub(super) queue: Queue,
    pub(super) stop: Cancel,
}

/// A description of an engine whose version and length are right; it stays as it is for as long as the process lives.
#[derive(Clone, Copy)]
pub(super) struct Api {
    raw: &'static RawApi,
    needed: Needed,
}

impl std::fmt::Debug for Api {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Api").field("version", &self.raw.version).finish_non_exhaustive()
    }
}

// SAFETY: the structure is constant, which libraries promise by the header.
unsafe impl Send for Api {}
// SAFETY: as above.
unsafe impl Sync for Api {}

impl Api {
    pub(super) fn of(raw: *const RawApi) -> Result<Self, LibraryFault> {
        if raw.is_null() {
            return Err(LibraryFault::Declined);
        }
        if !raw.is_aligned() {
            return Err(LibraryFault::Incomplete("its address is not that of a structure"));
        }
        // SAFETY: every version begins with these two numbers.
        let (version, struct_bytes) = unsafe { ((*raw).version, (*raw).struct_bytes) };
        if version != VERSION {
            return Err(LibraryFault::OtherVersion(version));
        }
        if (struct_bytes as usize) < size_of::<RawApi>() {
            return Err(LibraryFault::Incomplete("struct_bytes is too small"));
        }
        // SAFETY: the structure is long enough and stays, which libraries promise by the header.
        let raw: &'static RawApi = unsafe { &*raw };
        let RawCalls { start, queue, stop, .. } = raw.calls;
        let needed = Needed {
            start: start.ok_or(LibraryFault::Incomplete("start is NULL"))?,
            queue: queue.ok_or(LibraryFault::Incomplete("queue is NULL"))?,
            stop: stop.ok_or(LibraryFault::Incomplete("stop is NULL"))?,
        };
        Ok(Self { raw, needed })
    }

    pub(super) fn raw(&self) -> &'static RawApi {
        self.raw
    }

    pub(super) fn needed(&self) -> Needed {
        self.needed
    }
}

/// A job in the form of the header, with the texts that it points to.
pub(super) struct JobCall {
    raw: RawJob,
    _values: Vec<RawValue>,
    _texts: Vec<CString>,
}

impl JobCall {
    pub(super) fn new(job: &LibraryJob) -> Self {
        let mut texts = vec![c_text(&job.name)];
        let mut values = Vec::new();
        for (name, value) in &job.values {
            let (name, value) = (c_text(name), c_text(value));
            // The text itself does not move with its owner.
            values.push(RawValue { name: name.as_ptr(), value: value.as_ptr() });
            texts.extend([name, value]);
        }
        let raw = RawJob {
            struct_bytes: size_of::<RawJob>() as u32,
            iodepth: job.iodepth,
            n_targets: job.n_targets,
            n_values: values.len() as u32,
            max_io_bytes: job.max_io_bytes,
            values: values.as_ptr(),
            name: texts[0].as_ptr(),
        };
        Self { raw, _values: values, _texts: texts }
    }

    pub(super) fn raw(&self) -> &RawJob {
        &self.raw
    }
}
