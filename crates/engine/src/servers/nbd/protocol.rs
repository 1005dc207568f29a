//! The words of the protocol: what an export is, and requests as bytes.
//!
//! Must not know: sockets beyond the goodbye. Start reading at [`Export`].

use crate::contract::{IoResult, IoUnit};
use crate::files::control;
use crate::servers::remote::channel::Channel;
use ferrio_sys::Errno;
use ferrio_units::Direction;
use std::io::IoSlice;

/// Bytes of a request without the data of a write.
pub(super) const REQUEST_BYTES: usize = 28;

const REQUEST_MAGIC: u32 = 0x2560_9513;

/// The largest block where the server announces none, bytes: that of fio's library.
const LARGEST_BYTES: u32 = 64 << 20;

/// Flags of an export.
mod flag {
    pub(super) const READ_ONLY: u16 = 1 << 1;
    pub(super) const FLUSH: u16 = 1 << 2;
    pub(super) const FUA: u16 = 1 << 3;
    pub(super) const TRIM: u16 = 1 << 5;
    pub(super) const WRITE_ZEROES: u16 = 1 << 6;
    pub(super) const MULTI_CONN: u16 = 1 << 8;
}

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub(super) enum NbdCommand {
    Read = 0,
    Write = 1,
    Disconnect = 2,
    Flush = 3,
    Trim = 4,
}

/// What a server says of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Export {
    pub(super) size_bytes: u64,
    flags: u16,
    /// Offsets and lengths are multiples of it, bytes.
    smallest_bytes: u32,
    /// Longest read or write, bytes.
    largest_bytes: u32,
    /// Smallest, preferred and largest block, bytes, as the server announces them.
    pub(super) announced: Option<[u32; 3]>,
}

impl Default for Export {
    fn default() -> Self {
        Self::new(0, 0)
    }
}

impl Export {
    pub(super) fn new(size_bytes: u64, flags: u16) -> Self {
        Self { size_bytes, flags, smallest_bytes: 1, largest_bytes: LARGEST_BYTES, announced: None }
    }

    /// The same export, whose server announces the sizes of its blocks.
    #[must_use]
    pub(super) fn with_blocks(self, announced: [u32; 3]) -> Self {
        let [smallest_bytes, _, largest_bytes] = announced;
        let largest_bytes = if largest_bytes == 0 { LARGEST_BYTES } else { largest_bytes.min(LARGEST_BYTES) };
        Self { smallest_bytes: smallest_bytes.max(1), largest_bytes, announced: Some(announced), ..self }
    }

    /// What the server offers beside reads and writes.
    pub(super) fn abilities(&self) -> [(&'static str, bool); 5] {
        [
            ("flush", flag::FLUSH),
            ("FUA", flag::FUA),
            ("trim", flag::TRIM),
            ("write zeroes", flag::WRITE_ZEROES),
            ("multi-conn", flag::MULTI_CONN),
        ]
        .map(|(name, bit)| (name, self.flags & bit != 0))
    }

    pub(super) fn is_read_only(&self) -> bool {
        self.flags & flag::READ_ONLY != 0
    }

    pub(super) fn has_trim(&self) -> bool {
        self.flags & flag::TRIM != 0
    }

    /// True if a flush on one connection covers what was written on another.
    pub(super) fn has_common_flush(&self) -> bool {
        self.flags & flag::MULTI_CONN != 0
    }

    /// The request for an I/O, or the error of an I/O that the export does not take.
    pub(super) fn request(&self, unit: &IoUnit) -> Result<NbdCommand, IoResult> {
        if self.objection(unit).is_some() {
            return Err(control::error_result(Errno::INVAL));
        }
        Ok(match unit.direction {
            Direction::Read => NbdCommand::Read,
            Direction::Write => NbdCommand::Write,
            Direction::Trim => NbdCommand::Trim,
            _ => NbdCommand::Flush,
        })
    }

    /// Why the export does not take an I/O, if it does not.
    pub(super) fn objection(&self, unit: &IoUnit) -> Option<&'static str> {
        let smallest_bytes = u64::from(self.smallest_bytes);
        let is_odd =
            [unit.offset_bytes, unit.length_bytes as u64].iter().any(|bytes| !bytes.is_multiple_of(smallest_bytes));
        let is_too_long = unit.length_bytes > self.largest_bytes as usize;
        match unit.direction {
            Direction::Read | Direction::Write | Direction::Trim if is_odd => {
                Some("the server takes only multiples of its smallest block (nbdinfo shows it); see bs and blockalign")
            }
            Direction::Read | Direction::Write if is_too_long => {
                Some("the block is larger than the server takes; see bs")
            }
            // The length of a trim is a number of 32 bits.
            Direction::Trim if u32::try_from(unit.length_bytes).is_err() => Some("a trim is below 4 GiB; see bs"),
            Direction::Trim if !self.has_trim() => Some("the server does not offer trims for this export"),
            Direction::Sync if self.flags & flag::FLUSH == 0 => Some("the server does not offer to flush this export"),
            Direction::Datasync | Direction::SyncFileRange | Direction::Syncfs => {
                Some("a server can only flush the whole export; see fsync")
            }
            _ => None,
        }
    }
}

/// The bytes of a request; `cookie` comes back with its reply.
pub(super) fn request(command: NbdCommand, cookie: u64, offset_bytes: u64, length_bytes: u32) -> [u8; REQUEST_BYTES] {
    let mut bytes = [0; REQUEST_BYTES];
    bytes[..4].copy_from_slice(&REQUEST_MAGIC.to_be_bytes());
    bytes[6..8].copy_from_slice(&(command as u16).to_be_bytes());
    bytes[8..16].copy_from_slice(&cookie.to_be_bytes());
    bytes[16..24].copy_from_slice(&offset_bytes.to_be_bytes());
    bytes[24..].copy_from_slice(&length_bytes.to_be_bytes());
    bytes
}

/// Tells the server that the connection ends.
pub(super) fn say_goodbye(channel: &mut Channel) {
    // The server may be gone already.
    let _ = channel.send_parts_now(&[IoSlice::new(&request(NbdCommand::Disconnect, 0, 0, 0))]);
}
