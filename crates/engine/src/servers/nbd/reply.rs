//! Replies as bytes: simple ones, and the chunks of structured ones.
//!
//! Must not know: sockets, I/Os. Start reading at [`Head::parse`].

use ferrio_sys::Errno;

/// Bytes by which the kind of a reply and its request are known; all of a simple reply without the data of a read.
pub(super) const HEAD_BYTES: usize = 16;

/// Bytes of the fixed parts of the longest chunk that is understood: head, length, and a hole's offset and size.
pub(super) const LONGEST_FIXED_BYTES: usize = HEAD_BYTES + 4 + 12;

const SIMPLE_MAGIC: u32 = 0x6744_6698;
const CHUNK_MAGIC: u32 = 0x668e_33ef;

/// Flag of the last chunk of a reply.
const DONE: u16 = 1;

/// Kinds of chunks.
const NONE: u16 = 0;
const OFFSET_DATA: u16 = 1;
const OFFSET_HOLE: u16 = 2;
const ERROR_BIT: u16 = 1 << 15;

/// Longest text that goes with an error, bytes, and what stands around it.
const LONGEST_ERROR_BYTES: u32 = 4096 + 16;

/// The beginning of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) cookie: u64,
    pub(super) kind: ReplyForm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplyForm {
    /// A simple reply: all is well, or an error.
    Simple(Option<Errno>),
    Chunk {
        is_last: bool,
        code: u16,
    },
}

impl Head {
    /// The beginning of a reply; `None`: the bytes are none.
    pub(super) fn parse(bytes: [u8; HEAD_BYTES]) -> Option<Self> {
        let [m0, m1, m2, m3, a0, a1, b0, b1, cookie @ ..] = bytes;
        let kind = match u32::from_be_bytes([m0, m1, m2, m3]) {
            SIMPLE_MAGIC => ReplyForm::Simple(errno(u32::from_be_bytes([a0, a1, b0, b1]))),
            CHUNK_MAGIC => {
                let (flags, code) = (u16::from_be_bytes([a0, a1]), u16::from_be_bytes([b0, b1]));
                ReplyForm::Chunk { is_last: flags & DONE != 0, code }
            }
            _ => return None,
        };
        Some(Self { cookie: u64::from_be_bytes(cookie), kind })
    }
}

/// What a chunk brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chunk {
    Nothing,
    /// As many bytes of data follow, for this place of the export.
    Data {
        offset_bytes: u64,
        n_bytes: u32,
    },
    /// As many bytes from this place of the export are zero.
    Hole {
        offset_bytes: u64,
        n_bytes: u32,
    },
    /// An error; as many bytes follow that say more about it.
    Failure {
        errno: Errno,
        n_bytes: u32,
    },
}

/// Bytes of the fixed parts of a chunk of this type, head and length among them; `None`: such a chunk was not asked for.
pub(super) fn fixed_bytes(code: u16) -> Option<usize> {
    let of_type = match code {
        NONE => 0,
        OFFSET_DATA => 8,
        OFFSET_HOLE => 12,
        code if code & ERROR_BIT != 0 => 4,
        _ => return None,
    };
    Some(HEAD_BYTES + 4 + of_type)
}

impl Chunk {
    /// The chunk with these fixed parts, [`fixed_bytes`] long; `None`: they contradict each other.
    pub(super) fn parse(code: u16, bytes: &[u8]) -> Option<Self> {
        let (length, parts) = bytes.get(HEAD_BYTES..)?.split_first_chunk()?;
        let length = u32::from_be_bytes(*length);
        // What follows the fixed parts.
        let n_bytes = length.checked_sub(u32::try_from(parts.len()).ok()?)?;
        match code {
            NONE if n_bytes == 0 => Some(Self::Nothing),
            OFFSET_DATA => Some(Self::Data { offset_bytes: u64::from_be_bytes(*parts.first_chunk()?), n_bytes }),
            OFFSET_HOLE if n_bytes == 0 => {
                let (offset, size) = parts.split_first_chunk()?;
                let n_bytes = u32::from_be_bytes(*size.first_chunk()?);
                Some(Self::Hole { offset_bytes: u64::from_be_bytes(*offset), n_bytes })
            }
            code if code & ERROR_BIT != 0 && length <= LONGEST_ERROR_BYTES => {
                // An error without a number is one nevertheless.
                let errno = errno(u32::from_be_bytes(*parts.first_chunk()?)).unwrap_or(Errno::INVAL);
                Some(Self::Failure { errno, n_bytes })
            }
            _ => None,
        }
    }
}

/// The errno of an error of the protocol; `None`: it is none.
fn errno(error: u32) -> Option<Errno> {
    Some(match error {
        0 => return None,
        1 => Errno::PERM,
        5 => Errno::IO,
        12 => Errno::NOMEM,
        28 => Errno::NOSPC,
        75 => Errno::OVERFLOW,
        95 => Errno::OPNOTSUPP,
        108 => Errno::SHUTDOWN,
        // The protocol: a client takes an unknown error for this one.
        _ => Errno::INVAL,
    })
}
