//! Entries for fuzz targets: readers of bytes from servers, which are not public otherwise.
//!
//! Must not know: connections. Start reading at [`http_answer`].

use crate::servers::http;

/// What has become of the bytes of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenAnswer {
    /// Its status; 0: there is none.
    pub status: u16,
    /// What is wrong with the answer.
    pub error: Option<String>,
    /// The block, with the data of a read.
    pub block: Vec<u8>,
    /// The reason that a user would see for a refusal.
    pub reason: Option<String>,
    /// True if a user and a password have an answer to its challenges.
    pub has_login: bool,
}

/// Takes the answer of an HTTP server that comes in pieces of so many bytes, after which the connection is closed. `reads`: its body is
/// the data of a read of `block_bytes`.
pub fn http_answer(bytes: &[u8], piece_bytes: usize, block_bytes: usize, reads: bool) -> TakenAnswer {
    http::take_answer(bytes, piece_bytes.max(1), block_bytes, reads)
}
