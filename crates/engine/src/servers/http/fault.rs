//! Why a request has no whole answer.
//!
//! Must not know: what a request asks for. Start reading at [`HttpFault`].

use super::answer::{LARGEST_HEAD_BYTES, MOST_HEADERS};
use super::settings::HttpPlace;
use crate::servers::remote::lookup::LookupError;
use crate::servers::remote::tls::TlsError;
use ferrio_sys::Errno;
use ferrio_units::errno_text;

/// Why a request has no whole answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(super) enum HttpFault {
    /// There was no request: the caller has made none.
    #[error("no request was made")]
    NoRequest,
    /// The server's name has no address.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// There is no connection.
    #[error(transparent)]
    Line(#[from] LineFault),
    /// The answer is not one of HTTP.
    #[error(transparent)]
    Answer(#[from] AnswerFault),
}

impl HttpFault {
    /// The connection was lost, or could not be made; another one may work.
    pub(super) fn is_lost(&self) -> bool {
        match self {
            Self::NoRequest => false,
            Self::Lookup(_) | Self::Line(_) => true,
            Self::Answer(fault) => matches!(fault, AnswerFault::NoAnswer | AnswerFault::Cut(_)),
        }
    }
}

/// Why there is no connection, or none any more.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(super) enum LineFault {
    #[error("no socket: {}", errno_text(.0.raw_os_error()))]
    NoSocket(Errno),
    /// No address of the server takes the connection.
    #[error("no connection to {place}: {}", reason(*last))]
    NoConnection {
        place: Box<HttpPlace>,
        /// The answer of the last address.
        last: Errno,
    },
    #[error("no connection to {0}: the server does not agree on TLS within 30 seconds")]
    NoAgreement(Box<HttpPlace>),
    /// The server does not agree on TLS.
    #[error("no connection to {place}: {fault}")]
    Refused { place: Box<HttpPlace>, fault: Box<TlsError> },
    /// TLS cannot begin.
    #[error("{0}")]
    Tls(Box<TlsError>),
    #[error("{}", lost(*.0))]
    Lost(Errno),
}

fn reason(last: Errno) -> String {
    match last {
        Errno::CONNREFUSED => "connection refused: no server listens on this port".to_owned(),
        Errno::TIMEDOUT => "the server does not take the connection: no answer within 30 seconds".to_owned(),
        errno => errno_text(errno.raw_os_error()),
    }
}

fn lost(errno: Errno) -> String {
    match errno {
        Errno::PIPE | Errno::CONNRESET => "the server has closed the connection, or is gone".to_owned(),
        Errno::PROTO => "the server has sent what is no TLS".to_owned(),
        errno => format!("the connection is lost: {}", errno_text(errno.raw_os_error())),
    }
}

/// What is wrong with an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum AnswerFault {
    /// The connection was closed before the answer.
    #[error("the server has closed the connection without an answer")]
    NoAnswer,
    /// The connection was closed within the answer. With the bytes of the body that have come, and their whole number where it is known.
    #[error("the server has closed the connection in the middle of its answer{}", cut(*.0))]
    Cut(Option<[u64; 2]>),
    /// The bytes are no answer of HTTP.
    #[error("what the server has sent is no answer of HTTP")]
    NotHttp,
    /// The head does not end within its limit.
    #[error("the headers of the answer are longer than {} KiB", LARGEST_HEAD_BYTES >> 10)]
    LongHead,
    #[error("the answer has more than {MOST_HEADERS} headers")]
    TooManyHeaders,
    /// Only interim answers (1xx) come.
    #[error("the server sends interim answers without an end")]
    EndlessInterim,
    /// The header with the length is not one number.
    #[error("the length of the answer is no number, or there are two")]
    BadLength,
    /// The body is encoded in a way that was not asked for.
    #[error("the answer has an encoding that was not asked for: {0}")]
    Encoding(String),
    /// The body does not fit the block of a read.
    #[error("the answer is longer than the block of {block_bytes} bytes that was asked for: a body {}", body(*length_bytes))]
    TooLong {
        block_bytes: usize,
        /// The body, bytes, where its length is known.
        length_bytes: Option<u64>,
    },
    /// A chunk does not end where its size says.
    #[error("a chunk of the answer is longer than it says")]
    LongChunk,
    /// A line between chunks does not end within its limit.
    #[error("the answer has a line without an end between its chunks")]
    LongLine,
    /// A chunk begins without a size.
    #[error("a chunk of the answer has no size")]
    NoChunkSize,
    /// The headers behind the body do not end within their limit.
    #[error("the answer has a trailer without an end")]
    LongTrailer,
}

fn cut(bytes: Option<[u64; 2]>) -> String {
    bytes.map_or_else(String::new, |[come, all]| format!(": {come} of {all} bytes have come"))
}

fn body(length_bytes: Option<u64>) -> String {
    length_bytes.map_or_else(|| "without an end in sight".to_owned(), |bytes| format!("of {bytes} bytes"))
}
