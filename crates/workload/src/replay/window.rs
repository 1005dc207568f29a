//! A trace as bytes, read through a window of fixed size, so that a trace of any length takes no more memory than the
//! window.
//!
//! Must not know: formats of traces, files. Start reading at [`TraceWindow`].

use std::fmt::Debug;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Source of a trace's bytes. The same bytes can be read several times.
pub trait TraceBytes: Debug + Send + Sync {
    /// Fills a part of `buffer` with the bytes at `offset`; returns 0 only at the end.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
}

impl TraceBytes for Vec<u8> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.len());
        let n = buffer.len().min(self.len() - start);
        buffer[..n].copy_from_slice(&self[start..start + n]);
        Ok(n)
    }
}

const WINDOW_BYTES: usize = 256 << 10;

/// Longest line, bytes: a path of the kernel has at most 4096.
const MAX_LINE_BYTES: usize = 16 << 10;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum TraceLine {
    /// The line is at this place in the window until the next call, without its line end.
    Text(Range<usize>),
    /// The line is longer than any line of a trace.
    TooLong,
}

/// The part of a trace that is in memory.
#[derive(Debug)]
pub(super) struct TraceWindow {
    bytes: Arc<dyn TraceBytes>,
    buffer: Vec<u8>,
    /// Bytes that were read and not yet taken.
    ahead: Range<usize>,
    /// Offset in the trace of the end of `ahead`.
    end_offset: u64,
}

impl TraceWindow {
    pub(super) fn new(bytes: Arc<dyn TraceBytes>) -> Self {
        Self { bytes, buffer: vec![0; WINDOW_BYTES], ahead: 0..0, end_offset: 0 }
    }

    /// Offset in the trace of the next byte.
    pub(super) fn offset(&self) -> u64 {
        self.end_offset - self.ahead.len() as u64
    }

    /// The next bytes: at least `n`, which must fit into the window, or all that are left.
    pub(super) fn peek(&mut self, n: usize) -> io::Result<&[u8]> {
        while self.ahead.len() < n && self.fill()? {}
        Ok(&self.buffer[self.ahead.clone()])
    }

    /// Skips `n` bytes, in the window or beyond it.
    pub(super) fn skip(&mut self, n: u64) {
        let n_here = n.min(self.ahead.len() as u64);
        // Fits: no more than the window has.
        self.ahead.start += n_here as usize;
        self.end_offset = self.end_offset.saturating_add(n - n_here);
    }

    /// The next line; `None` at the end.
    pub(super) fn line(&mut self) -> io::Result<Option<TraceLine>> {
        let mut n_seen = 0;
        loop {
            let ahead = &self.buffer[self.ahead.clone()];
            if let Some(length) = ahead[n_seen..].iter().position(|byte| *byte == b'\n').map(|at| n_seen + at) {
                return Ok(Some(self.take_line(length, 1)));
            }
            n_seen = ahead.len();
            if n_seen > MAX_LINE_BYTES {
                return self.skip_line().map(|()| Some(TraceLine::TooLong));
            }
            if !self.fill()? {
                return Ok((n_seen > 0).then(|| self.take_line(n_seen, 0)));
            }
        }
    }

    fn take_line(&mut self, length: usize, n_end: usize) -> TraceLine {
        let start = self.ahead.start;
        self.ahead.start += length + n_end;
        if length > MAX_LINE_BYTES { TraceLine::TooLong } else { TraceLine::Text(start..start + length) }
    }

    /// Skips the rest of a line, however long it is.
    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let ahead = &self.buffer[self.ahead.clone()];
            if let Some(at) = ahead.iter().position(|byte| *byte == b'\n') {
                self.ahead.start += at + 1;
                return Ok(());
            }
            self.ahead.start = self.ahead.end;
            if !self.fill()? {
                return Ok(());
            }
        }
    }

    pub(super) fn text(&self, range: Range<usize>) -> &[u8] {
        &self.buffer[range]
    }

    /// Reads more bytes into the window; false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        if self.ahead.start > 0 {
            self.buffer.copy_within(self.ahead.clone(), 0);
            self.ahead = 0..self.ahead.len();
        }
        loop {
            match self.bytes.read_at(&mut self.buffer[self.ahead.end..], self.end_offset) {
                Ok(n) => {
                    self.ahead.end += n;
                    self.end_offset += n as u64;
                    return Ok(n > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> Vec<Option<String>> {
        let mut window = TraceWindow::new(Arc::new(text.to_vec()));
        let mut lines = Vec::new();
        while let Some(line) = window.line().unwrap() {
            lines.push(match line {
                TraceLine::Text(range) => Some(String::from_utf8_lossy(window.text(range)).into_owned()),
                TraceLine::TooLong => None,
            });
        }
        assert_eq!(window.offset(), text.len() as u64);
        lines
    }

    #[test]
    fn lines_have_ends_or_not() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(lines(b""), []);
        assert_eq!(lines(b"a\n\nb"), [some("a"), some(""), some("b")]);
        let long = "x".repeat(WINDOW_BYTES * 2);
        assert_eq!(lines(format!("a\n{long}\nb\n").as_bytes()), [some("a"), None, some("b")]);
        assert_eq!(lines(long.as_bytes()), [None]);
        let longest = "y".repeat(MAX_LINE_BYTES);
        assert_eq!(lines(format!("{longest}\n{longest}z\n").as_bytes()), [Some(longest), None]);
    }

    #[test]
    fn many_lines_pass_through_the_window() {
        let text: String = (0..100_000).flat_map(|n| [n.to_string(), "\n".to_owned()]).collect();
        let all = lines(text.as_bytes());
        assert!(all.iter().enumerate().all(|(n, line)| *line == Some(n.to_string())));
    }

    #[test]
    fn bytes_are_peeked_at_and_skipped() {
        let mut window = TraceWindow::new(Arc::new((0..=255_u8).cycle().take(1 << 20).collect::<Vec<u8>>()));
        assert_eq!(window.peek(3).unwrap()[..3], [0, 1, 2]);
        window.skip(300_001);
        assert_eq!((window.offset(), window.peek(1).unwrap()[0]), (300_001, (300_001 % 256) as u8));
        window.skip(u64::MAX);
        assert!(window.peek(1).unwrap().is_empty());
    }
}
