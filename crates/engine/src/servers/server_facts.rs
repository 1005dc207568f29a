//! What servers answer before there is a job, as values.
//!
//! Must not know: servers, words. Start reading at [`ServerFacts`].

use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerFacts {
    /// An export for network block devices.
    Nbd(NbdFacts),
    /// A server that speaks HTTP.
    Web(WebFacts),
    /// Mounts of an export.
    Nfs(Vec<NfsFacts>),
    /// A target, or the targets of a portal.
    Iscsi(IscsiFacts),
}

/// How a connection with TLS was agreed on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TlsFacts {
    /// Version of the protocol, such as `TLS 1.3`.
    pub version: String,
    pub time: Duration,
    /// Why the certificate is not accepted, in words; `None`: it is.
    pub problem: Option<String>,
}

/// An export of a server for network block devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NbdFacts {
    pub size_bytes: u64,
    pub is_read_only: bool,
    /// What the server offers beside reads and writes: the name, and whether it does.
    pub abilities: Vec<(&'static str, bool)>,
    /// Smallest, preferred and largest block, bytes, if the server announces them.
    pub blocks: Option<[u32; 3]>,
    /// The protocol of TLS, if the address asks for it.
    pub tls: Option<TlsFacts>,
}

/// A protocol over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebProtocol {
    /// With its compliance classes.
    Webdav(String),
    S3,
    Swift,
}

/// A server that speaks HTTP.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WebFacts {
    /// TLS, if the address asks for it.
    pub tls: Option<TlsFacts>,
    /// Time until the connection was made, without TLS.
    pub connect: Duration,
    /// From the request until the first byte of the answer.
    pub first_byte: Duration,
    /// Status of a GET of the first byte.
    pub status: u16,
    pub server: Option<String>,
    /// Protocols that it shows to speak.
    pub protocols: Vec<WebProtocol>,
    /// How it wants users to log in, such as `Basic realm="a"`.
    pub challenges: Vec<String>,
    /// Its answer to a request for a part of an object was that part.
    pub has_ranges: bool,
    /// Seconds by which its clock is ahead of this one, if it tells the time.
    pub clock_ahead_s: Option<i64>,
}

/// A mount of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NfsFacts {
    pub version: u32,
    /// The mount, or why there is none, in the library's words.
    pub mount: Result<NfsMountFacts, String>,
}

/// An export that can be mounted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NfsMountFacts {
    /// Longest read and write of one request, bytes.
    pub largest_bytes: [u64; 2],
    /// Size of its file system and free space for this user, bytes, if the server tells.
    pub space_bytes: Option<[u64; 2]>,
    /// This user may read and write the directory of the export, if the server tells.
    pub permissions: Option<[bool; 2]>,
}

/// A target, or the targets of a portal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IscsiFacts {
    /// Names of targets, where the address names none.
    pub targets: Vec<String>,
    /// The LUN, where the address names one.
    pub lun: Option<LunFacts>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LunFacts {
    pub size_bytes: u64,
    pub block_bytes: u32,
    /// It takes UNMAP; `None`: the target does not tell.
    pub has_unmap: Option<bool>,
    /// It is write-protected; `None`: the target does not tell.
    pub is_protected: Option<bool>,
    /// Numbers of all LUNs of the target.
    pub luns: Vec<u16>,
}
