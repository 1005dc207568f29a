//! The answer to a request, taken from its bytes as they come: status, headers, and a body of a known length, in chunks, or
//! up to the end of the connection (RFC 9112).
//!
//! Memory is bounded whatever the server sends: the body of a read goes to its block, of all others only the beginning is kept.
//! Must not know: sockets, the meaning of a status. Start reading at [`HttpAnswer::take`].

use super::fault::AnswerFault;
use super::listing::NameCounter;

/// Largest head of an answer, bytes: status line and headers.
pub(super) const LARGEST_HEAD_BYTES: usize = 64 << 10;

pub(super) const MOST_HEADERS: usize = 128;

/// Most interim answers (1xx) before the final one.
const MOST_INTERIM: u32 = 16;

/// Most ends of lines before an answer, bytes.
const MOST_BLANK_BYTES: usize = 16;

/// Beginning of a body that is no data of a read, as far as it is kept.
const KEPT_BYTES: usize = 4 << 10;

/// Bytes of such a body that are read. After that, the rest is left unread and the connection is of no more use.
const MOST_UNWANTED_BYTES: u64 = 1 << 20;

/// Longest list of names, bytes.
const MOST_LIST_BYTES: u64 = 64 << 20;

/// Longest line with the size of a chunk, and longest trailer.
const LONGEST_LINE_BYTES: usize = 1 << 10;

/// The part of an answer that comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Part {
    #[default]
    Head,
    /// Body of a known length: bytes left.
    Length(u64),
    ChunkSize,
    /// Bytes left of a chunk.
    Chunk(u64),
    ChunkEnd,
    Trailer,
    /// Body that ends with the connection.
    UntilClose,
    Nothing,
}

/// What is done with the body of a successful answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum BodyUse {
    /// It is the data of a read, in answers with this status and with the second one.
    Data(u16, u16),
    /// It is a list of names, which are counted.
    Names(NameCounter),
    /// There is none, whatever the headers say (HEAD).
    Absent,
    #[default]
    None,
    /// As `None`, and the headers are kept.
    Inquiry,
}

/// Headers of an answer that decide what comes next.
#[derive(Debug, Default)]
pub(super) struct HttpHeaders {
    pub(super) location: Option<String>,
    /// Header `ETag`: the server's name for what was sent.
    pub(super) tag: Option<String>,
    /// Seconds of the header `Retry-After`; 0 without it.
    pub(super) retry_after_s: u64,
    /// Headers `WWW-Authenticate`.
    pub(super) challenges: Vec<String>,
    /// First byte of the part of an object that this is (header `Content-Range`).
    pub(super) range_start: Option<u64>,
    /// All headers of an inquiry: names in small letters, and values.
    pub(super) all: Vec<(String, String)>,
}

/// An answer, as far as it has come.
#[derive(Debug, Default)]
pub(super) struct HttpAnswer {
    part: Part,
    body_use: BodyUse,
    /// Bytes of the unfinished head in which its end was looked for.
    n_searched: usize,
    n_interim: u32,
    n_blank: usize,
    n_trailer_bytes: usize,
    /// The body goes to the block.
    pub(super) is_data: bool,
    /// Something has come.
    pub(super) is_begun: bool,
    pub(super) status: u16,
    /// The connection can be used for another request.
    pub(super) keeps_alive: bool,
    pub(super) headers: HttpHeaders,
    pub(super) n_body_bytes: u64,
    /// Beginning of a body that is no data of a read.
    pub(super) text: Vec<u8>,
}

impl HttpAnswer {
    /// Prepares for the next answer; keeps the memory.
    pub(super) fn clear(&mut self, body_use: BodyUse) {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        *self = Self { body_use, text, ..Self::default() };
    }

    /// All of the answer has come, or all that will be read of it.
    pub(super) fn is_whole(&self) -> bool {
        self.part == Part::Nothing
    }

    /// Takes bytes, and returns how many: fewer than there are if a line is not complete, or the answer is. The error says what is
    /// wrong with the answer.
    pub(super) fn take(&mut self, input: &[u8], block: &mut [u8]) -> Result<usize, AnswerFault> {
        let mut n_used = 0;
        self.is_begun |= !input.is_empty();
        while !self.is_whole() {
            let rest = &input[n_used..];
            let n_taken = match self.part {
                Part::Head => self.take_head(rest, block.len())?,
                Part::Length(n_left) | Part::Chunk(n_left) => self.take_body(rest, n_left, block)?,
                Part::UntilClose => self.take_body(rest, u64::MAX, block)?,
                Part::ChunkSize => self.take_line(rest, Self::begin_chunk)?,
                Part::ChunkEnd => self.take_line(rest, |answer, line| {
                    answer.part = Part::ChunkSize;
                    if line.is_empty() { Ok(()) } else { Err(AnswerFault::LongChunk) }
                })?,
                Part::Trailer => self.take_line(rest, Self::take_trailer)?,
                Part::Nothing => 0,
            };
            n_used += n_taken;
            if n_taken == 0 && !self.is_whole() {
                break;
            }
        }
        Ok(n_used)
    }

    /// The counter of the names in a list, as far as it has come.
    pub(super) fn names(&self) -> Option<NameCounter> {
        match self.body_use {
            BodyUse::Names(counter) => Some(counter),
            _ => None,
        }
    }

    /// The place in the block, and the number of bytes, that are received next if the body is data of a known length.
    pub(super) fn next_data(&self) -> Option<(usize, usize)> {
        match self.part {
            // Both fit: a body that is longer than the block is refused.
            Part::Length(n_left) if self.is_data => Some((self.n_body_bytes as usize, n_left as usize)),
            _ => None,
        }
    }

    /// So many bytes were received to the place that [`Self::next_data`] says.
    pub(super) fn has_received(&mut self, n_bytes: usize) {
        if let Part::Length(n_left) = self.part {
            self.n_body_bytes += n_bytes as u64;
            self.part = if n_left > n_bytes as u64 { Part::Length(n_left - n_bytes as u64) } else { Part::Nothing };
        }
    }

    /// The server has closed the connection. The error says what is missing.
    pub(super) fn close(&mut self) -> Result<(), AnswerFault> {
        self.keeps_alive = false;
        match self.part {
            Part::UntilClose | Part::Nothing => {
                self.part = Part::Nothing;
                Ok(())
            }
            Part::Head if !self.is_begun => Err(AnswerFault::NoAnswer),
            Part::Length(n_left) => {
                Err(AnswerFault::Cut(Some([self.n_body_bytes, self.n_body_bytes.saturating_add(n_left)])))
            }
            _ => Err(AnswerFault::Cut(None)),
        }
    }

    fn take_head(&mut self, input: &[u8], block_bytes: usize) -> Result<usize, AnswerFault> {
        // A server may send a line's end too many behind the answer before.
        let n_blank = input.iter().take_while(|byte| b"\r\n".contains(byte)).count();
        if n_blank > 0 {
            self.n_blank += n_blank;
            let is_answer = self.n_blank <= MOST_BLANK_BYTES;
            return if is_answer { Ok(n_blank) } else { Err(AnswerFault::NotHttp) };
        }
        let from = self.n_searched.saturating_sub(3).min(input.len());
        let ends = [&b"\n\n"[..], b"\n\r\n"];
        let end_at = |at: usize| ends.iter().find(|end| input[at..].starts_with(end)).map(|end| at + end.len());
        let Some(end) = (from..input.len()).find_map(end_at) else {
            self.n_searched = input.len();
            if input.len() >= LARGEST_HEAD_BYTES {
                return Err(AnswerFault::LongHead);
            }
            return Ok(0);
        };
        self.n_searched = 0;
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut head = httparse::Response::new(&mut headers);
        let n_bytes = match head.parse(&input[..end]) {
            Ok(httparse::Status::Complete(n_bytes)) => n_bytes,
            Err(httparse::Error::TooManyHeaders) => {
                return Err(AnswerFault::TooManyHeaders);
            }
            Ok(httparse::Status::Partial) | Err(_) => {
                return Err(AnswerFault::NotHttp);
            }
        };
        let status = head.code.unwrap_or(0);
        if (100..200).contains(&status) && status != 101 {
            self.n_interim += 1;
            return if self.n_interim > MOST_INTERIM { Err(AnswerFault::EndlessInterim) } else { Ok(n_bytes) };
        }
        self.status = status;
        self.keeps_alive = head.version == Some(1);
        let framing = self.take_headers(head.headers)?;
        self.begin_body(framing, block_bytes)?;
        Ok(n_bytes)
    }

    /// Returns the length of the body, `None` if it has none, and whether it comes in chunks.
    fn take_headers(&mut self, headers: &[httparse::Header<'_>]) -> Result<(Option<u64>, bool), AnswerFault> {
        let (mut length, mut is_chunked) = (None, false);
        for header in headers {
            let value = || String::from_utf8_lossy(header.value).trim().to_owned();
            if self.body_use == BodyUse::Inquiry {
                self.headers.all.push((header.name.to_ascii_lowercase(), plain(&value())));
            }
            match header.name.to_ascii_lowercase().as_str() {
                "content-length" => {
                    let bytes = value().parse::<u64>().ok();
                    let is_plain = header.value.trim_ascii().iter().all(u8::is_ascii_digit);
                    let bytes = bytes.filter(|bytes| is_plain && length.is_none_or(|other| other == *bytes));
                    length = Some(bytes.ok_or(AnswerFault::BadLength)?);
                }
                "transfer-encoding" => match value().to_ascii_lowercase().as_str() {
                    "chunked" => is_chunked = true,
                    "identity" => {}
                    other => {
                        return Err(AnswerFault::Encoding(plain(other)));
                    }
                },
                "connection" => {
                    let value = value().to_ascii_lowercase();
                    let has = |word: &str| value.split(',').any(|part| part.trim() == word);
                    self.keeps_alive = !has("close") && (self.keeps_alive || has("keep-alive"));
                }
                "etag" => self.headers.tag = Some(value()),
                "retry-after" => self.headers.retry_after_s = value().parse().unwrap_or(0),
                "location" => self.headers.location = Some(value()),
                "www-authenticate" => self.headers.challenges.push(value()),
                "content-range" => {
                    let value = value();
                    let start =
                        value.strip_prefix("bytes ").and_then(|range| range.split('-').next()?.trim().parse().ok());
                    self.headers.range_start = start;
                }
                _ => {}
            }
        }
        Ok((length, is_chunked))
    }

    fn begin_body(&mut self, (length, is_chunked): (Option<u64>, bool), block_bytes: usize) -> Result<(), AnswerFault> {
        self.is_data = matches!(self.body_use, BodyUse::Data(one, two) if [one, two].contains(&self.status));
        self.part = match (self.status, is_chunked, length) {
            (204 | 304, ..) | (_, false, Some(0)) => Part::Nothing,
            _ if self.body_use == BodyUse::Absent => Part::Nothing,
            (_, true, _) => Part::ChunkSize,
            (_, false, Some(length)) => {
                if self.is_data && length > block_bytes as u64 {
                    return Err(AnswerFault::TooLong { block_bytes, length_bytes: Some(length) });
                }
                Part::Length(length)
            }
            (_, false, None) => Part::UntilClose,
        };
        // With both, another program on the way may see another end of the answer.
        self.keeps_alive &= self.part != Part::UntilClose && !(is_chunked && length.is_some());
        Ok(())
    }

    fn take_body(&mut self, input: &[u8], n_left: u64, block: &mut [u8]) -> Result<usize, AnswerFault> {
        let n_bytes = usize::try_from(n_left).unwrap_or(usize::MAX).min(input.len());
        let bytes = &input[..n_bytes];
        if self.is_data {
            let start = self.n_body_bytes as usize;
            let Some(place) = block.get_mut(start..start.saturating_add(n_bytes)) else {
                return Err(AnswerFault::TooLong { block_bytes: block.len(), length_bytes: None });
            };
            place.copy_from_slice(bytes);
        } else {
            if let BodyUse::Names(counter) = &mut self.body_use {
                counter.take(bytes);
            }
            let n_kept = KEPT_BYTES.saturating_sub(self.text.len()).min(n_bytes);
            self.text.extend_from_slice(&bytes[..n_kept]);
        }
        self.n_body_bytes += n_bytes as u64;
        let n_left = n_left - n_bytes as u64;
        self.part = match self.part {
            Part::Length(_) if n_left == 0 => Part::Nothing,
            Part::Length(_) => Part::Length(n_left),
            Part::Chunk(_) if n_left == 0 => Part::ChunkEnd,
            Part::Chunk(_) => Part::Chunk(n_left),
            other => other,
        };
        let most_bytes = if matches!(self.body_use, BodyUse::Names(_)) { MOST_LIST_BYTES } else { MOST_UNWANTED_BYTES };
        if !self.is_data && self.n_body_bytes > most_bytes && !self.is_whole() {
            self.part = Part::Nothing;
            self.keeps_alive = false;
        }
        Ok(n_bytes)
    }

    /// Takes a line, if all of it is there, and hands it over without its end.
    fn take_line(
        &mut self,
        input: &[u8],
        take: impl FnOnce(&mut Self, &[u8]) -> Result<(), AnswerFault>,
    ) -> Result<usize, AnswerFault> {
        let Some(end) = input.iter().take(LONGEST_LINE_BYTES).position(|byte| *byte == b'\n') else {
            return if input.len() < LONGEST_LINE_BYTES { Ok(0) } else { Err(AnswerFault::LongLine) };
        };
        take(self, input[..end].strip_suffix(b"\r").unwrap_or(&input[..end]))?;
        Ok(end + 1)
    }

    fn begin_chunk(&mut self, line: &[u8]) -> Result<(), AnswerFault> {
        let digits = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        let digits =
            std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let size = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        self.part = match size.ok_or(AnswerFault::NoChunkSize)? {
            0 => Part::Trailer,
            n_bytes => Part::Chunk(n_bytes),
        };
        Ok(())
    }

    fn take_trailer(&mut self, line: &[u8]) -> Result<(), AnswerFault> {
        self.n_trailer_bytes += line.len() + 1;
        if line.is_empty() {
            self.part = Part::Nothing;
        } else if self.n_trailer_bytes > LARGEST_HEAD_BYTES {
            return Err(AnswerFault::LongTrailer);
        }
        Ok(())
    }
}

/// A text of a server, as it may be shown: one line, without control characters, at most 200 characters.
pub(super) fn plain(text: &str) -> String {
    let mut words = String::new();
    for word in text.split(|character: char| character.is_whitespace() || character.is_control()) {
        if !words.is_empty() && !word.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    words.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const READ: BodyUse = BodyUse::Data(200, 206);

    /// What an answer becomes that comes in pieces of so many bytes, and then the connection is closed.
    fn taken(bytes: &[u8], piece: usize, body_use: BodyUse) -> (HttpAnswer, Result<(), AnswerFault>, [u8; 8]) {
        let (mut answer, mut block, mut input) = (HttpAnswer::default(), [0; 8], Vec::new());
        answer.clear(body_use);
        for piece in bytes.chunks(piece) {
            input.extend_from_slice(piece);
            match answer.take(&input, &mut block) {
                Ok(n_used) => input.drain(..n_used),
                Err(error) => return (answer, Err(error), block),
            };
        }
        let closed = if answer.is_whole() { Ok(()) } else { answer.close() };
        (answer, closed, block)
    }

    #[test]
    fn bodies_of_every_form_reach_the_block() {
        for (head, body) in [
            ("Content-Length: 5", "hello"),
            ("Transfer-Encoding: chunked", "2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nT: u\r\n\r\n"),
            ("Server: x", "hello"),
        ] {
            for piece in [1, 2, 7, 1000] {
                let text = format!("\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n{head}\r\n\r\n{body}");
                let (answer, result, block) = taken(text.as_bytes(), piece, READ);
                assert_eq!((result, answer.status, answer.n_body_bytes), (Ok(()), 200, 5), "{head}");
                assert_eq!(&block, b"hello\0\0\0", "{head}");
                assert_eq!(answer.keeps_alive, head != "Server: x");
            }
        }
    }

    #[test]
    fn only_the_data_of_a_read_goes_to_the_block() {
        let text = b"HTTP/1.1 403 No\r\nContent-Length: 9\r\nConnection: close\r\n\r\n<x>no</x>";
        let (answer, result, block) = taken(text, 3, READ);
        assert_eq!((result, answer.status, block), (Ok(()), 403, [0; 8]));
        assert_eq!((answer.text.as_slice(), answer.keeps_alive), (&b"<x>no</x>"[..], false));
        let (answer, result, _) = taken(b"HTTP/1.1 204 No Content\r\n\r\n", 1000, BodyUse::None);
        assert_eq!((result, answer.is_whole(), answer.keeps_alive), (Ok(()), true, true));
    }

    #[test]
    fn endless_answers_end() {
        let unwanted = [b"HTTP/1.1 500 X\r\n\r\n".to_vec(), vec![b'x'; 2 << 20]].concat();
        let (answer, result, _) = taken(&unwanted, 10_000, READ);
        assert_eq!((result, answer.is_whole(), answer.keeps_alive, answer.text.len()), (Ok(()), true, false, 4096));
        for (endless, why) in [
            ([b"HTTP/1.1 200 OK\r\n".to_vec(), b"A: b\r\n".repeat(20_000)].concat(), "headers"),
            ([b"HTTP/1.1 200 OK\r\n".to_vec(), b"A: b\r\n".repeat(200), b"\r\n".to_vec()].concat(), "more than 128"),
            (b"HTTP/1.1 100 Continue\r\n\r\n".repeat(20), "interim"),
            ([b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), vec![b'x'; 100]].concat(), "longer than the block"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n".to_vec(), "body of 9 bytes"),
            ([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec(), vec![b'0'; 5000]].concat(), "line"),
            (
                [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n".to_vec(), b"A: b\r\n".repeat(20_000)]
                    .concat(),
                "trailer",
            ),
        ] {
            let (_, result, _) = taken(&endless, 1000, READ);
            assert!(result.as_ref().is_err_and(|error| error.to_string().contains(why)), "{why}: {result:?}");
        }
    }

    #[test]
    fn what_is_missing_is_an_error() {
        for (text, why) in [
            ("", "without an answer"),
            ("HTTP/1.1 200", "in the middle"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nabc", "3 of 7 bytes"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", "in the middle"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n", "longer than it says"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "encoding"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n", "there are two"),
            ("HTTP/1.1 200 OK\r\nContent-Length: +3\r\n\r\n", "no number"),
            ("SSH-2.0-OpenSSH\r\n\r\n", "no answer of HTTP"),
        ] {
            let (_, result, _) = taken(text.as_bytes(), 4, READ);
            assert!(result.as_ref().is_err_and(|error| error.to_string().contains(why)), "{text}: {result:?}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
            head in prop_oneof![
                Just("\n\nHTTP/1.0 401 No\r\n\r\n"), Just("HTTP/1.1 200 OK\r\n"), Just("HTTP/1.1 200 OK\r\n\r\n"),
                Just("HTTP/1.1 404 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
                Just("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n"),
            ],
            piece in 1usize..50,
        ) {
            let (whole, first, _) = taken(&[head.as_bytes(), &bytes].concat(), piece, READ);
            let (other, second, _) = taken(&[head.as_bytes(), &bytes].concat(), 1000, READ);
            // The pieces in which an answer comes change nothing.
            prop_assert_eq!(first.is_ok(), second.is_ok());
            prop_assert_eq!(whole.status, other.status);
        }
    }
}
