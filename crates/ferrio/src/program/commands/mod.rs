//! The commands, and the drop-in for fio: arguments, a call of the library, a rendering.

pub(crate) mod after_crash;
pub(crate) mod btrace;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod dedupe;
pub(crate) mod drop_in;
pub(crate) mod engines;
pub(crate) mod fit;
pub(crate) mod front;
pub(crate) mod genjob;
pub(crate) mod genzipf;
pub(crate) mod history;
pub(crate) mod man;
pub(crate) mod native;
pub(crate) mod plot;
pub(crate) mod precondition;
pub(crate) mod profile;
pub(crate) mod quick;
pub(crate) mod report;
pub(crate) mod sweep;
pub(crate) mod verify_state;
pub(crate) mod version;
