//! Why a target does not answer.
//!
//! Must not know: units. Start reading at [`IscsiError`].

/// Why a target does not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in super::super) enum IscsiError {
    /// The address is none of iSCSI. It is shown without its passwords.
    #[error("failed to parse url: {0}")]
    BadUrl(String),
    /// The name of the initiator is no string of C.
    #[error("the name of the initiator has a NUL byte")]
    BadInitiator,
    /// The library has no memory for a session.
    #[error("failed to create iscsi context.")]
    NoContext,
    /// The library's text about the last call.
    #[error("{0}")]
    Library(String),
    #[error("failed to connect{}: {why}", if *.is_lun { " to LUN " } else { "" })]
    NoConnection {
        /// The session was to be for a LUN; otherwise for the list of targets.
        is_lun: bool,
        /// The text of the library or of the system.
        why: String,
    },
    /// The target does not tell the size of the LUN.
    #[error("failed to send readcapacity command: {0}")]
    NoCapacity(String),
    /// The size that the target tells is 0.
    #[error("the LUN has no size")]
    NoSize,
}
