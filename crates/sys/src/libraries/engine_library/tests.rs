//! Libraries that keep to the interface, and that do not.

use super::structures::{RawApi, RawCalls, RawEvent, RawIo, RawJob};
use super::*;
use crate::memory::arena::{Arena, ArenaKind, ArenaRequest};
use std::cell::RefCell;
use std::ptr::null;
use std::rc::Rc;

unsafe extern "C" fn start(_: *const RawJob, engine: *mut *mut c_void, _: *mut c_char, _: usize) -> i32 {
    // SAFETY: the caller gives a valid place.
    unsafe { *engine = std::ptr::dangling_mut::<u64>().cast() };
    0
}

unsafe extern "C" fn refuses(_: *const RawJob, _: *mut *mut c_void, error: *mut c_char, error_bytes: usize) -> i32 {
    assert_eq!(error_bytes, ERROR_BYTES);
    // SAFETY: the text is shorter than the buffer.
    unsafe { std::ptr::copy_nonoverlapping(c"not today".as_ptr(), error, 10) };
    -libc::EBUSY
}

unsafe extern "C" fn queue(_: *mut c_void, _: *const RawIo) -> i32 {
    1
}

unsafe extern "C" fn stop(_: *mut c_void) {}

/// Returns a single event, whatever is asked for.
fn one(events: *mut RawEvent, tag: u32, result: i64) -> i32 {
    // SAFETY: the caller has room for an event.
    unsafe { *events = RawEvent { tag, reserved: 0, result } };
    1
}

unsafe extern "C" fn of_nobody(_: *mut c_void, _: u32, _: u32, _: u64, events: *mut RawEvent) -> i32 {
    one(events, 77, 0)
}

unsafe extern "C" fn too_many(_: *mut c_void, _: u32, _: u32, _: u64, _: *mut RawEvent) -> i32 {
    1000
}

unsafe extern "C" fn too_long(_: *mut c_void, _: u32, _: u32, _: u64, events: *mut RawEvent) -> i32 {
    one(events, 0, 5000)
}

unsafe extern "C" fn right(_: *mut c_void, _: u32, _: u32, _: u64, events: *mut RawEvent) -> i32 {
    one(events, 0, 4096)
}

unsafe extern "C" fn no_errno(_: *mut c_void, _: u32, _: u32, _: u64, events: *mut RawEvent) -> i32 {
    one(events, 0, i64::MIN)
}

fn api() -> RawApi {
    let calls = RawCalls {
        start: Some(start),
        open: None,
        close: None,
        queue: Some(queue),
        commit: None,
        reap: Some(right),
        cancel: Some(stop),
        stop: Some(stop),
    };
    RawApi {
        version: VERSION,
        struct_bytes: size_of::<RawApi>() as u32,
        name: c"test".as_ptr(),
        help: null(),
        flags: 0,
        reserved: 0,
        options: null(),
        target_bytes: None,
        calls,
    }
}

fn library(api: RawApi) -> Result<EngineLibrary, LibraryFault> {
    EngineLibrary::of_api(Box::leak(Box::new(api)))
}

fn arena() -> Rc<RefCell<Arena>> {
    let request = ArenaRequest { kind: ArenaKind::Malloc, size_bytes: 8192, offset_bytes: 0, hugepage_bytes: 2 << 20 };
    Rc::new(RefCell::new(Arena::new(&request).unwrap()))
}

fn job() -> LibraryJob {
    LibraryJob { name: "a".to_owned(), iodepth: 2, n_targets: 1, max_io_bytes: 4096, values: Vec::new() }
}

fn io(tag: u32) -> LibraryIo {
    LibraryIo {
        tag,
        target: 0,
        direction: 0,
        offset_bytes: 0,
        length_bytes: 4096,
        buffer_offset: Some(tag as usize * 4096),
    }
}

#[test]
fn descriptions_that_cannot_be_are_refused() {
    assert_eq!(EngineLibrary::of_api(null()).unwrap_err(), LibraryFault::Declined);
    assert_eq!(library(RawApi { version: 39, ..api() }).unwrap_err(), LibraryFault::OtherVersion(39));
    let broken = [
        RawApi { struct_bytes: 8, ..api() },
        RawApi { name: null(), ..api() },
        RawApi { name: c"".as_ptr(), ..api() },
        RawApi { calls: RawCalls { start: None, ..api().calls }, ..api() },
        RawApi { calls: RawCalls { queue: None, ..api().calls }, ..api() },
        RawApi { calls: RawCalls { stop: None, ..api().calls }, ..api() },
    ];
    for api in broken {
        assert!(matches!(library(api), Err(LibraryFault::Incomplete(_))));
    }
    let option = |name: &'static CStr| RawOption { name: name.as_ptr(), help: null(), default_value: null() };
    for names in [vec![option(c"a"); MAX_OPTIONS + 1], vec![option(c"a=b")], vec![option(c"")]] {
        let options = names.leak().as_ptr();
        assert!(matches!(library(RawApi { options, ..api() }), Err(LibraryFault::Incomplete(_))));
    }
    assert!(library(RawApi { struct_bytes: 4096, ..api() }).is_ok(), "a later library has more fields");
}

#[test]
fn what_is_no_library_is_refused() {
    let open = |path: &str| EngineLibrary::open(Path::new(path)).unwrap_err();
    assert_eq!(open("/no/such/file"), LibraryFault::NotAFile);
    assert_eq!(open("/dev/null"), LibraryFault::NotAFile);
    assert!(matches!(open("/proc/self/comm"), LibraryFault::Loader(_)));
}

#[test]
fn a_refusal_has_the_words_of_the_library() {
    let refusing = library(RawApi { calls: RawCalls { start: Some(refuses), ..api().calls }, ..api() }).unwrap();
    let error = LibraryEngine::start(&refusing, &job(), arena()).unwrap_err();
    assert_eq!(error, LibraryFailure { errno: libc::EBUSY, text: "not today".to_owned() });
}

#[test]
fn a_library_that_completes_wrongly_fails_what_is_in_flight() {
    let reaps: [(structures::Reap, &str); 3] =
        [(of_nobody, "not in flight"), (too_many, "more I/Os"), (too_long, "more bytes")];
    for (reap, fault) in reaps {
        let broken = library(RawApi { calls: RawCalls { reap: Some(reap), ..api().calls }, ..api() }).unwrap();
        let mut engine = LibraryEngine::start(&broken, &job(), arena()).unwrap();
        assert_eq!([engine.queue(&io(0)), engine.queue(&io(1))], [Submitted::Queued; 2]);
        let mut taken = Vec::new();
        engine.reap(1, 2, 0, |tag, result| taken.push((tag, result))).unwrap();
        assert_eq!(taken, [(0, Err(libc::EPROTO)), (1, Err(libc::EPROTO))], "{fault}");
        assert!(engine.fault().is_some_and(|text| text.contains(fault)), "{fault}");
        assert_eq!(engine.queue(&io(0)), Submitted::Failed(libc::EPROTO));
    }
}

#[test]
fn a_library_that_keeps_to_the_rules_goes_on() {
    let right = library(api()).unwrap();
    let mut engine = LibraryEngine::start(&right, &job(), arena()).unwrap();
    let mut taken = Vec::new();
    for _ in 0..3 {
        assert_eq!(engine.queue(&io(0)), Submitted::Queued);
        engine.reap(1, 2, 0, |tag, result| taken.push((tag, result))).unwrap();
    }
    assert_eq!(taken, [(0, Ok(4096)); 3]);
    engine.queue(&io(0));
    let mut given_up = Vec::new();
    engine.give_up(|tag| given_up.push(tag));
    assert_eq!((given_up, engine.fault()), (vec![0], None));
    let odd = library(RawApi { calls: RawCalls { reap: Some(no_errno), ..api().calls }, ..api() }).unwrap();
    let mut engine = LibraryEngine::start(&odd, &job(), arena()).unwrap();
    engine.queue(&io(0));
    engine.reap(1, 1, 0, |tag, result| assert_eq!((tag, result), (0, Err(libc::EIO)))).unwrap();
    let without = library(RawApi { calls: RawCalls { reap: None, ..api().calls }, ..api() }).unwrap();
    let mut engine = LibraryEngine::start(&without, &job(), arena()).unwrap();
    assert_eq!(engine.queue(&io(0)), Submitted::Failed(libc::EPROTO));
}
