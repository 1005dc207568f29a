//! Bytes that were received and not used yet.
//!
//! Must not know: what the bytes mean. Start reading at [`Input`].

use super::reply::LONGEST_FIXED_BYTES;
use crate::servers::remote::channel::Channel;
use ferrio_sys::Errno;

/// Bytes that are received at once, unless data goes to its place directly. Data shorter than that is copied, which costs
/// less than a call of its own.
const INPUT_BYTES: usize = 16 << 10;

const _: () = assert!(LONGEST_FIXED_BYTES <= INPUT_BYTES);

/// Bytes that were received and not used yet.
pub(super) struct Input {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Default for Input {
    fn default() -> Self {
        Self { buffer: vec![0; INPUT_BYTES], start: 0, end: 0 }
    }
}

impl Input {
    /// Receives what has come; false: nothing has.
    fn fill(&mut self, channel: &mut Channel) -> Result<bool, Errno> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let n_bytes = now(channel, &mut self.buffer[self.end..])?;
        self.end += n_bytes.unwrap_or(0);
        Ok(n_bytes.is_some())
    }

    /// The next bytes, at least as many as this, at most [`LONGEST_FIXED_BYTES`], once these have come. They stay.
    pub(super) fn peek(&mut self, channel: &mut Channel, n_bytes: usize) -> Result<Option<&[u8]>, Errno> {
        while self.end - self.start < n_bytes {
            if !self.fill(channel)? {
                return Ok(None);
            }
        }
        Ok(Some(&self.buffer[self.start..self.end]))
    }

    /// Leaves out bytes that were seen.
    pub(super) fn skip(&mut self, n_bytes: usize) {
        self.start += n_bytes;
    }

    /// Moves data to its place, at most as much as fits; returns the number of bytes, `None`: nothing has come.
    pub(super) fn move_to(&mut self, channel: &mut Channel, buffer: &mut [u8]) -> Result<Option<usize>, Errno> {
        if self.start == self.end {
            if buffer.len() >= INPUT_BYTES {
                return now(channel, buffer);
            }
            if !self.fill(channel)? {
                return Ok(None);
            }
        }
        let n_bytes = buffer.len().min(self.end - self.start);
        buffer[..n_bytes].copy_from_slice(&self.buffer[self.start..self.start + n_bytes]);
        self.start += n_bytes;
        Ok(Some(n_bytes))
    }
}

/// Receives what has come; `None`: nothing has.
fn now(channel: &mut Channel, buffer: &mut [u8]) -> Result<Option<usize>, Errno> {
    match channel.receive_now(buffer) {
        Ok(0) => Err(Errno::CONNRESET),
        Ok(n_bytes) => Ok(Some(n_bytes)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        Err(errno) => Err(errno),
    }
}
