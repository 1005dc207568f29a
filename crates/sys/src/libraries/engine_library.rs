//! Shared libraries that are engines, by the interface of `include/ferrio_engine.h`, with a safe face: what a library says is checked,
//! and an I/O that it completes wrongly is a fault of the library, not of the program.
//!
//! A library is never closed, because its threads may outlive all uses. What its code does to the memory of the process cannot be
//! checked. Must not know: jobs, how options are written. Start reading at [`EngineLibrary::open`], then [`LibraryEngine`].
#![expect(unsafe_code, reason = "dlopen, and calls of functions that a library has named")]

mod running;
mod structures;

pub use running::{LibraryEngine, LibraryIo, Submitted};

use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;
use structures::{Api, JobCall, RawOption};

pub const VERSION: u32 = 1;

/// Most options of a library: a list without an end is not read further.
const MAX_OPTIONS: usize = 256;

/// Length of the texts in which a library explains a failure, bytes.
const ERROR_BYTES: usize = 512;

/// The function by which a library is an engine.
const ENTRY: &CStr = c"ferrio_engine";

/// What the libraries of fio's engines export.
const ENTRIES_OF_FIO: [&CStr; 2] = [c"ioengine", c"get_ioengine"];

/// Why a library is not an engine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LibraryFault {
    #[error("it is not a regular file")]
    NotAFile,
    /// The loader does not take it; these are its words.
    #[error("{0}")]
    Loader(String),
    #[error(
        "it is made for fio, whose interface ferrio does not have: build it with include/ferrio_engine.h of ferrio"
    )]
    MadeForFio,
    #[error("it has no function ferrio_engine() (see include/ferrio_engine.h)")]
    NoEntry,
    /// Its entry has returned nothing.
    #[error("its engine does not work with version {VERSION} of the interface")]
    Declined,
    /// It has another version of the interface.
    #[error(
        "it has version {0} of the interface, and ferrio has {VERSION}: build it with the ferrio_engine.h of this ferrio"
    )]
    OtherVersion(u32),
    /// Something is missing in the description of its engine.
    #[error("its engine is incomplete: {0}")]
    Incomplete(&'static str),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LibraryFailure {
    pub errno: i32,
    /// The words of the library; may be empty.
    pub text: String,
}

/// An option that a library declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LibraryOption {
    pub name: String,
    /// One line of help.
    pub help: String,
    /// The value in force when a job gives none.
    pub default: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LibraryJob {
    pub name: String,
    /// Most I/Os in flight.
    pub iodepth: u32,
    pub n_targets: u32,
    pub max_io_bytes: u64,
    pub values: Vec<(String, String)>,
}

#[derive(Debug, Clone)]
pub struct EngineLibrary {
    api: Api,
    name: String,
    help: String,
    options: Vec<LibraryOption>,
}

impl EngineLibrary {
    /// Opens a library, which runs its initialisers.
    ///
    /// # Errors
    /// It is no engine for this ferrio.
    pub fn open(path: &Path) -> Result<Self, LibraryFault> {
        if !std::fs::metadata(path).is_ok_and(|found| found.is_file()) {
            return Err(LibraryFault::NotAFile);
        }
        if cfg!(target_feature = "crt-static") {
            return Err(LibraryFault::Loader("this program is linked statically and opens no libraries".to_owned()));
        }
        // A name without a slash would be looked for among the libraries of the system.
        let path = std::fs::canonicalize(path).map_err(|error| LibraryFault::Loader(error.to_string()))?;
        let name = c_text(&path.to_string_lossy());
        // SAFETY: the name ends with a zero byte. The initialisers of the library are what the user has asked for.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return Err(LibraryFault::Loader(loader_text()));
        }
        let Some(entry) = symbol(handle, ENTRY) else {
            let is_of_fio = ENTRIES_OF_FIO.iter().any(|name| symbol(handle, name).is_some());
            return Err(if is_of_fio { LibraryFault::MadeForFio } else { LibraryFault::NoEntry });
        };
        // SAFETY: a library that exports this name promises this type, by the header.
        let entry: structures::Entry = unsafe { std::mem::transmute::<*mut c_void, structures::Entry>(entry) };
        // SAFETY: as above.
        Self::of_api(unsafe { entry(VERSION) })
    }

    fn of_api(api: *const structures::RawApi) -> Result<Self, LibraryFault> {
        let api = Api::of(api)?;
        let name = text(api.raw().name).filter(|name| !name.is_empty()).ok_or(LibraryFault::Incomplete("name"))?;
        let help = text(api.raw().help).unwrap_or_default();
        Ok(Self { api, name, help, options: options(api.raw().options)? })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// One line of help.
    pub fn help(&self) -> &str {
        &self.help
    }

    pub fn options(&self) -> &[LibraryOption] {
        &self.options
    }

    pub fn can_write(&self) -> bool {
        self.api.raw().flags & structures::CAN_WRITE != 0
    }

    pub fn can_trim(&self) -> bool {
        self.api.raw().flags & structures::CAN_TRIM != 0
    }

    pub fn can_sync(&self) -> bool {
        self.api.raw().flags & structures::CAN_SYNC != 0
    }

    /// Size of a target, bytes; `None`: the library does not tell.
    pub fn target_bytes(&self, job: &LibraryJob, target: &str) -> Result<Option<u64>, LibraryFailure> {
        let Some(call) = self.api.raw().target_bytes else { return Ok(None) };
        let job = JobCall::new(job);
        let (target, mut bytes) = (c_text(target), 0);
        with_error_text(|error, error_bytes| {
            // SAFETY: the function has this type; all pointers are valid until it returns.
            unsafe { call(&raw const *job.raw(), target.as_ptr(), &raw mut bytes, error, error_bytes) }
        })?;
        Ok(Some(bytes))
    }
}

fn symbol(handle: *mut c_void, name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the handle is that of an open library, which is never closed.
    let found = unsafe { libc::dlsym(handle, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

/// The loader's own words about the last failure in this thread.
fn loader_text() -> String {
    // SAFETY: the text is valid until the next call of the loader in this thread.
    text(unsafe { libc::dlerror() }).unwrap_or_else(|| "the loader gives no reason".to_owned())
}

/// A text of a library; `None`: a null pointer.
fn text(raw: *const c_char) -> Option<String> {
    // SAFETY: a text that is not null ends with a zero byte, which libraries promise by the header.
    (!raw.is_null()).then(|| unsafe { CStr::from_ptr(raw) }.to_string_lossy().into_owned())
}

/// A text for a library, up to a zero byte in it.
fn c_text(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text.as_bytes()[..end]).unwrap_or_default()
}

fn options(first: *const RawOption) -> Result<Vec<LibraryOption>, LibraryFault> {
    let mut found = Vec::new();
    if first.is_null() {
        return Ok(found);
    }
    for index in 0..=MAX_OPTIONS {
        // SAFETY: the list ends with an entry without a name, which libraries promise by the header; no entry behind it is read.
        let raw = unsafe { first.add(index).read() };
        let Some(name) = text(raw.name) else { return Ok(found) };
        if name.is_empty() || name.contains(['=', ',']) {
            return Err(LibraryFault::Incomplete("an option has no usable name"));
        }
        found.push(LibraryOption { name, help: text(raw.help).unwrap_or_default(), default: text(raw.default_value) });
    }
    Err(LibraryFault::Incomplete("the list of options has no end"))
}

/// Calls a function that may explain its failure.
fn with_error_text(call: impl FnOnce(*mut c_char, usize) -> i32) -> Result<(), LibraryFailure> {
    let mut buffer = [0u8; ERROR_BYTES];
    let returned = call(buffer.as_mut_ptr().cast(), ERROR_BYTES);
    if returned == 0 {
        return Ok(());
    }
    let text = buffer.split(|byte| *byte == 0).next().unwrap_or_default();
    Err(LibraryFailure { errno: errno_of(i64::from(returned)), text: String::from_utf8_lossy(text).into_owned() })
}

/// The errno that a library has returned as a negative number; EIO for what is none.
fn errno_of(returned: i64) -> i32 {
    match returned {
        -4095..=-1 => -returned as i32,
        _ => libc::EIO,
    }
}

#[cfg(test)]
mod tests;
