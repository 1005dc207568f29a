//! The socket between a run and a viewer: frames in CBOR, each behind its length.
//!
//! Must not know: what frames say. Start reading at [`FrameWriter::send`] and [`FrameReader::receive`].

use crate::live::frame::LiveFrame;
use ferrio_stats::wire;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;

/// Bytes that wait for a viewer at most. Further frames are left out.
const MOST_WAITING_BYTES: usize = 4 << 20;
/// Bytes that are read at once.
pub(crate) const CHUNK_BYTES: usize = 8 << 10;
/// A longer frame is none of ours.
const MOST_FRAME_BYTES: u32 = 64 << 20;

/// The end of the run. It never waits.
#[derive(Debug)]
pub struct FrameWriter {
    socket: UnixStream,
    /// Bytes that the socket has not taken yet.
    waiting: Vec<u8>,
    /// The viewer is gone.
    is_closed: bool,
    /// Number of frames that were left out.
    pub n_lost: u64,
}

/// The end of the viewer.
#[derive(Debug)]
pub struct FrameReader {
    socket: UnixStream,
    frames: FrameDecoder,
}

/// Frames from the bytes of a socket.
#[derive(Debug, Default)]
pub(crate) struct FrameDecoder {
    buffer: Vec<u8>,
}

/// A new socket.
///
/// # Errors
/// The system has no descriptors left.
pub fn pair() -> io::Result<(FrameWriter, FrameReader)> {
    let (writer, reader) = UnixStream::pair()?;
    writer.set_nonblocking(true)?;
    reader.set_nonblocking(true)?;
    let writer = FrameWriter { socket: writer, waiting: Vec::new(), is_closed: false, n_lost: 0 };
    Ok((writer, FrameReader { socket: reader, frames: FrameDecoder::default() }))
}

impl FrameWriter {
    /// Sends a frame, or leaves it out if the viewer is slow or gone.
    pub fn send(&mut self, frame: &LiveFrame) {
        self.flush();
        if self.is_closed || !self.has_room() {
            self.n_lost += 1;
            return;
        }
        let start = self.waiting.len();
        self.waiting.extend([0; 4]);
        wire::write(frame, &mut self.waiting);
        let length = u32::try_from(self.waiting.len() - start - 4).unwrap_or(u32::MAX);
        if length > MOST_FRAME_BYTES {
            self.waiting.truncate(start);
            self.n_lost += 1;
            return;
        }
        self.waiting[start..start + 4].copy_from_slice(&length.to_le_bytes());
        self.flush();
    }

    /// Hands over what waits, as far as the socket takes it.
    pub fn flush(&mut self) {
        let mut n_taken = 0;
        while n_taken < self.waiting.len() && !self.is_closed {
            match self.socket.write(&self.waiting[n_taken..]) {
                Ok(n_bytes) => n_taken += n_bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => self.is_closed = true,
            }
        }
        self.waiting.drain(..n_taken);
    }

    /// True if the next frame is not left out, unless it is too long.
    pub fn has_room(&self) -> bool {
        self.waiting.len() <= MOST_WAITING_BYTES
    }

    /// True if all frames are handed over, or nobody takes them any more.
    pub fn is_idle(&self) -> bool {
        self.is_closed || self.waiting.is_empty()
    }
}

/// What a viewer reads.
#[derive(Debug)]
pub enum ReceivedFrame {
    /// A frame.
    Frame(Box<LiveFrame>),
    /// None is there yet.
    Nothing,
    /// The run is gone, or what it sends is no frame.
    Closed,
}

impl FrameReader {
    /// The next frame, without waiting for it.
    pub fn receive(&mut self) -> ReceivedFrame {
        loop {
            match self.frames.next_frame() {
                ReceivedFrame::Nothing => {}
                found => return found,
            }
            let mut chunk = [0; CHUNK_BYTES];
            match self.socket.read(&mut chunk) {
                Ok(0) => return ReceivedFrame::Closed,
                Ok(n_bytes) => self.frames.push(&chunk[..n_bytes]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return ReceivedFrame::Nothing,
                Err(_) => return ReceivedFrame::Closed,
            }
        }
    }

    /// The socket, which does not block, and what was read from it.
    pub(crate) fn into_parts(self) -> (UnixStream, FrameDecoder) {
        (self.socket, self.frames)
    }
}

impl FrameDecoder {
    /// Takes bytes of the socket.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next frame of these bytes, if it is whole.
    pub(crate) fn next_frame(&mut self) -> ReceivedFrame {
        let Some(length) = self.buffer.first_chunk().map(|bytes| u32::from_le_bytes(*bytes)) else {
            return ReceivedFrame::Nothing;
        };
        if length > MOST_FRAME_BYTES {
            return ReceivedFrame::Closed;
        }
        let end = 4 + length as usize;
        let Some(bytes) = self.buffer.get(4..end) else { return ReceivedFrame::Nothing };
        let frame = wire::from_bytes(bytes);
        self.buffer.drain(..end);
        frame.map_or(ReceivedFrame::Closed, |frame| ReceivedFrame::Frame(Box::new(frame)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_arrive_in_order_and_whole() {
        let (mut writer, mut reader) = pair().unwrap();
        assert!(matches!(reader.receive(), ReceivedFrame::Nothing));
        let long = LiveFrame::Message("x".repeat(1 << 20));
        writer.send(&long);
        writer.send(&LiveFrame::End);
        let mut frames = Vec::new();
        while frames.len() < 2 {
            writer.flush();
            if let ReceivedFrame::Frame(frame) = reader.receive() {
                frames.push(*frame);
            }
        }
        assert!(frames == [long, LiveFrame::End] && writer.is_idle());
        drop(writer);
        assert!(matches!(reader.receive(), ReceivedFrame::Closed));
    }

    #[test]
    fn a_viewer_that_hangs_costs_frames_alone() {
        let (mut writer, reader) = pair().unwrap();
        let frame = LiveFrame::Message("x".repeat(1 << 20));
        for _ in 0..20 {
            writer.send(&frame);
        }
        assert!(writer.n_lost > 10 && writer.waiting.len() <= MOST_WAITING_BYTES + (1 << 20) + 16);
        drop(reader);
        writer.send(&frame);
        assert!(writer.is_idle());
    }

    #[test]
    fn bytes_that_are_no_frame_end_the_reader() {
        for bytes in [&[255, 255, 255, 255, 1][..], &[2, 0, 0, 0, 255, 255]] {
            let (writer, mut reader) = pair().unwrap();
            (&writer.socket).write_all(bytes).unwrap();
            assert!(matches!(reader.receive(), ReceivedFrame::Closed));
        }
    }
}
