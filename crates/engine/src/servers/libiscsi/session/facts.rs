//! What a target says of a LUN, and a portal of its targets, by commands that change nothing.
//!
//! Must not know: words. Start reading at [`Lun::facts`] and [`targets`].
#![expect(unsafe_code, reason = "functions of a C library, and their callbacks")]

use super::super::library::{FoundTarget, IscsiContext, Libiscsi, LunList, LunMode, ScsiTask};
use super::{IscsiError, Lun, refusal, unreached};
use crate::contract::Cancellation;
use crate::servers::remote::aside::Caller;
use crate::servers::remote::driven::LineState;
use crate::servers::server_facts::LunFacts;
use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr;

/// `ISCSI_SESSION_DISCOVERY`.
const DISCOVERY: c_int = 1;

/// Room for an answer, bytes.
const ROOM: c_int = 4096;

/// Page of MODE SENSE with all pages.
const ALL_PAGES: c_int = 0x3f;

/// Bit of a disk that is write-protected.
const PROTECTED: u8 = 0x80;

impl Lun {
    /// What the target says. Blocks while it is silent.
    pub(in super::super) fn facts(&mut self, caller: &Caller) -> LunFacts {
        let number = self.number;
        let mut facts = LunFacts {
            size_bytes: self.size_bytes,
            block_bytes: self.block_bytes,
            has_unmap: Some(self.is_thin),
            ..LunFacts::default()
        };
        facts.is_protected = self.told(
            caller,
            |api, context, callback, reply| {
                // SAFETY: the context is valid.
                unsafe { (api.iscsi_modesense6_task)(context, number, 0, 0, ALL_PAGES, 0, 255, callback, reply) }
            },
            |answer| {
                // SAFETY: the unpacked answer to MODE SENSE.
                unsafe { (*answer.cast::<LunMode>()).device_specific & PROTECTED != 0 }
            },
        );
        let luns = self.told(
            caller,
            |api, context, callback, reply| {
                // SAFETY: the context is valid.
                unsafe { (api.iscsi_reportluns_task)(context, 0, ROOM, callback, reply) }
            },
            |answer| {
                // SAFETY: the unpacked answer to REPORT LUNS, in which the numbers follow their count.
                unsafe {
                    let list = answer.cast::<LunList>();
                    let n_luns = ((*list).n_luns as usize).min(ROOM as usize / 8);
                    std::slice::from_raw_parts(list.add(1).cast::<u16>(), n_luns).to_vec()
                }
            },
        );
        facts.luns = luns.unwrap_or_default();
        facts
    }

    /// What the unpacked answer to a command says; `None`: the target does not do it.
    fn told<T>(
        &mut self,
        caller: &Caller,
        send: impl FnOnce(&Libiscsi, *mut IscsiContext, super::IscsiCallback, *mut c_void) -> *mut ScsiTask,
        read: impl FnOnce(*mut c_void) -> T,
    ) -> Option<T> {
        let (api, context) = (self.login.api, self.login.context);
        let is_gone = || caller.is_gone();
        let asked =
            self.ask(Cancellation::new(&is_gone), |callback, reply| !send(api, context, callback, reply).is_null());
        let task = asked.ok().flatten()?.cast::<ScsiTask>();
        if task.is_null() {
            return None;
        }
        // SAFETY: the task belongs to the caller now, and the unpacked answer to the task.
        unsafe {
            let answer = (api.scsi_datain_unmarshall)(task);
            let told = (!answer.is_null()).then(|| read(answer));
            (api.scsi_free_scsi_task)(task);
            told
        }
    }
}

/// Names that a portal has told, once it has.
#[derive(Default)]
struct Discovery {
    names: Vec<String>,
    status: Option<c_int>,
}

unsafe extern "C" fn discovered(_context: *mut IscsiContext, status: c_int, data: *mut c_void, discovery: *mut c_void) {
    // SAFETY: `targets` has given the address of a `Discovery`, which is never freed. The list of the library, and its strings of C, live
    // during the call.
    unsafe {
        let discovery = &mut *discovery.cast::<Discovery>();
        let mut next = if status == 0 { data.cast_const().cast::<FoundTarget>() } else { ptr::null() };
        while !next.is_null() {
            if !(*next).name.is_null() {
                discovery.names.push(CStr::from_ptr((*next).name).to_string_lossy().into_owned());
            }
            next = (*next).next;
        }
        discovery.status = Some(status);
    }
}

/// The targets of a portal. Blocks while it is silent. The error is the library's text, with what failed.
pub(in super::super) fn targets(
    api: &'static Libiscsi,
    url: &str,
    initiator: &str,
    caller: &Caller,
) -> Result<Vec<String>, IscsiError> {
    let unparsable = || IscsiError::BadUrl(url.to_owned());
    let text = CString::new(url).map_err(|_| unparsable())?;
    let initiator = CString::new(initiator).map_err(|_| IscsiError::BadInitiator)?;
    // SAFETY: a string of C.
    let context = unsafe { (api.iscsi_create_context)(initiator.as_ptr()) };
    if context.is_null() {
        return Err(IscsiError::NoContext);
    }
    let mut session = Lun::of_context(api, context);
    // SAFETY: the context is valid, and the address a string of C.
    let parsed = unsafe { (api.iscsi_parse_portal_url)(context, text.as_ptr()) };
    if parsed.is_null() {
        session.give_up();
        return Err(unparsable());
    }
    let is_gone = || caller.is_gone();
    let connected = session.ask(Cancellation::new(&is_gone), |callback, reply| {
        // SAFETY: the library has filled the address with strings of C, and copies what it needs.
        unsafe {
            (api.iscsi_set_session_type)(context, DISCOVERY);
            (api.iscsi_set_noautoreconnect)(context, 1);
            if (*parsed).user[0] != 0 {
                let (user, password) = ((*parsed).user.as_ptr(), (*parsed).password.as_ptr());
                (api.iscsi_set_initiator_username_pwd)(context, user, password);
            }
            (api.iscsi_full_connect_async)(context, (*parsed).portal.as_ptr(), -1, callback, reply) == 0
        }
    });
    // SAFETY: a string of C, which the library has filled.
    let portal = unsafe { CStr::from_ptr((*parsed).portal.as_ptr()) }.to_string_lossy().into_owned();
    // SAFETY: it came from `iscsi_parse_portal_url`, and nobody uses it any more.
    unsafe { (api.iscsi_destroy_url)(parsed) };
    let failed =
        |error: IscsiError| IscsiError::NoConnection { is_lun: false, why: unreached(error.to_string(), &portal) };
    connected.map_err(failed)?;
    // It is never freed: the library calls back once more when a connection is lost later.
    let discovery = Box::into_raw(Box::<Discovery>::default());
    // SAFETY: the context is valid; callbacks write only within calls of the library.
    unsafe {
        if (api.iscsi_discovery_async)(context, discovered, discovery.cast()) != 0 {
            return Err(refusal(api, context));
        }
        while (*discovery).status.is_none() && !caller.is_gone() {
            if session.turn(Cancellation::LOOK) == LineState::Lost {
                return Err(refusal(api, context));
            }
        }
        match (*discovery).status {
            Some(0) => Ok(std::mem::take(&mut (*discovery).names)),
            _ => Err(refusal(api, context)),
        }
    }
}
