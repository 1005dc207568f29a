//! Lines of a job file, without comments and surrounding blanks, read within fixed bounds.
//!
//! Hostile input is refused here, with its place: endless files, endless lines and NUL bytes. Must not know: sections,
//! options.

use crate::error::JobError;
use crate::origin::Origin;
use ferrio_units::byte_text;
use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;

/// Longest line, in bytes without its end; fio has the same limit.
pub const MAX_LINE_BYTES: usize = 8191;

/// Most bytes that a job file and all its includes may have together. Far beyond any real job file; it bounds the
/// memory that a file without end can take.
pub const MAX_FILE_BYTES: usize = 4 << 20;

/// Some editors begin a text with this mark; it is skipped.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A line with something in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The text between the blanks, without comment; never empty. Bytes that are not UTF-8 are in it as
    /// [`byte_text::from_bytes`] writes them.
    pub text: String,
    pub origin: Origin,
    /// It stands in a comment, which other programs skip (see [`COMMENT_MARK`]).
    pub is_comment: bool,
}

/// A comment that is a line of its own and begins with this word gives options to this program alone: `# ferrio: NAME=VALUE`.
const COMMENT_MARK: &str = "ferrio:";

pub struct LineReader {
    input: BufReader<Box<dyn Read>>,
    path: Arc<str>,
    line: usize,
}

impl LineReader {
    /// Reads from `input`; `path` is for messages.
    pub fn new(input: Box<dyn Read>, path: Arc<str>) -> Self {
        Self { input: BufReader::new(input), path, line: 0 }
    }

    /// The next line that is not empty; `None` at the end. Takes the bytes read from `budget`.
    pub fn next_line(&mut self, budget: &mut usize) -> Result<Option<Line>, JobError> {
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            self.line += 1;
            if !self.read_line(&mut bytes, budget)? {
                return Ok(None);
            }
            let text = if self.line == 1 { bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes) } else { &bytes };
            if let Some((text, start)) = Self::clean(text) {
                return Ok(Some(Line { text, origin: self.origin(start + 1), is_comment: false }));
            }
            if let Some(text) = Self::option_in_comment(text) {
                return Ok(Some(Line { text, origin: self.origin(1), is_comment: true }));
            }
        }
    }

    fn origin(&self, column: usize) -> Origin {
        Origin::File { path: Arc::clone(&self.path), line: self.line, column }
    }

    fn refuse(&self, column: usize, what: impl Into<String>) -> JobError {
        let place = self.origin(column).with_column().unwrap_or_default();
        JobError::BadFile { place, what: what.into() }
    }

    /// Reads one line without its end, up to one byte more than allowed (so that the caller sees that it is too long);
    /// false at the end of the file.
    fn read_line(&mut self, bytes: &mut Vec<u8>, budget: &mut usize) -> Result<bool, JobError> {
        let limit = MAX_LINE_BYTES as u64 + 2;
        let read = (&mut self.input).take(limit).read_until(b'\n', bytes);
        let n_read = read.map_err(|error| self.refuse(1, ferrio_units::error_text(&error)))?;
        *budget = budget
            .checked_sub(n_read)
            .ok_or_else(|| self.refuse(1, format!("job file longer than {MAX_FILE_BYTES} bytes")))?;
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        }
        if let Some(position) = bytes.iter().position(|byte| *byte == 0) {
            return Err(self.refuse(position + 1, "NUL byte: not a job file"));
        }
        if bytes.len() > MAX_LINE_BYTES {
            return Err(self.refuse(MAX_LINE_BYTES + 1, format!("line longer than {MAX_LINE_BYTES} bytes")));
        }
        Ok(n_read > 0)
    }

    /// The text without comment and blanks, and where it starts; `None` when nothing is left.
    fn clean(bytes: &[u8]) -> Option<(String, usize)> {
        let end = bytes.iter().position(|byte| matches!(byte, b';' | b'#')).unwrap_or(bytes.len());
        let is_text = |byte: &u8| *byte > b' ' && *byte != 0x7f;
        let kept = &bytes[..end];
        let (Some(first), Some(last)) = (kept.iter().position(is_text), kept.iter().rposition(is_text)) else {
            return None;
        };
        Some((byte_text::from_bytes(&kept[first..=last]), first))
    }

    /// The option in a comment that is for this program: what follows the mark, if it is one word with a value.
    fn option_in_comment(bytes: &[u8]) -> Option<String> {
        let text = std::str::from_utf8(bytes).ok()?.trim();
        let option = text.strip_prefix(['#', ';'])?.trim_start().strip_prefix(COMMENT_MARK)?.trim();
        let (name, _) = option.split_once('=')?;
        let is_word = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        is_word.then(|| option.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: impl Read + 'static) -> Result<Vec<(String, String)>, String> {
        let mut reader = LineReader::new(Box::new(input), Arc::from("f"));
        let mut budget = MAX_FILE_BYTES;
        let mut lines = Vec::new();
        while let Some(line) = reader.next_line(&mut budget).map_err(|error| (*error.line()).to_owned())? {
            lines.push((line.text, line.origin.with_column().unwrap()));
        }
        Ok(lines)
    }

    #[test]
    fn comments_and_blanks_go() {
        let text = "; a\n\n  # b\n \tsize=4k \t\r\nname=a;b\n[j] ; c\nx=1#2";
        let expected = [("size=4k", "f:4:3"), ("name=a", "f:5:1"), ("[j]", "f:6:1"), ("x=1", "f:7:1")];
        let expected: Vec<(String, String)> =
            expected.iter().map(|(text, place)| ((*text).to_owned(), (*place).to_owned())).collect();
        assert_eq!(lines(text.as_bytes()).unwrap(), expected);
    }

    #[test]
    fn hostile_input_is_refused_at_its_place() {
        assert_eq!(lines(std::io::repeat(0)).unwrap_err(), "fio: f:1:1: NUL byte: not a job file");
        assert_eq!(lines(std::io::repeat(b'a')).unwrap_err(), "fio: f:1:8192: line longer than 8191 bytes");
        let endless = lines(std::io::repeat(b'\n')).unwrap_err();
        assert!(endless.ends_with("job file longer than 4194304 bytes"), "{endless}");
        assert_eq!(lines(&b"ab\xff"[..]).unwrap(), [(byte_text::from_bytes(b"ab\xff"), "f:1:1".to_owned())]);
    }

    #[test]
    fn a_mark_of_the_byte_order_is_skipped_at_the_start_alone() {
        let place = |place: &str| place.to_owned();
        let read = lines(&b"\xef\xbb\xbf[a]\n\xef\xbb\xbfx=1"[..]).unwrap();
        assert_eq!(read, [("[a]".to_owned(), place("f:1:1")), ("\u{feff}x=1".to_owned(), place("f:2:1"))]);
        assert!(lines(&b"\xef\xbb\xbf"[..]).unwrap().is_empty());
    }

    #[test]
    fn a_comment_may_hold_any_text_encoding() {
        assert_eq!(lines(&b"x=1 ; \xb5s"[..]).unwrap().len(), 1);
    }

    #[test]
    fn the_longest_line_is_kept_whole() {
        let text = "a".repeat(MAX_LINE_BYTES) + "\nb";
        let lines = lines(std::io::Cursor::new(text)).unwrap();
        assert_eq!((lines[0].0.len(), lines[1].0.as_str()), (MAX_LINE_BYTES, "b"));
    }
}
