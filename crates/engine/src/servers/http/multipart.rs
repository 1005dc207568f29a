//! A write to S3 in parts (multipart upload): begun, parts sent over several connections at a time, finished; given up where a part fails.
//!
//! Must not know: units, connections. Start reading at [`HttpUpload::go_on`].

use super::explain::element;
use super::request::Method;
use super::settings::{HttpSettings, PartSettings};
use super::talk::{HttpTalk, refused};
use crate::contract::parts::Complaint;
use crate::servers::remote::tls::TlsError;
use ferrio_stats::ServerSteps;
use std::fmt::Write as _;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Longest wait for one of several connections.
const TURN: Duration = Duration::from_millis(1);

/// Where a write has got to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UploadStage {
    Begin,
    Parts,
    Finish,
    Abort,
}

/// A write in parts.
pub(super) struct HttpUpload {
    /// One for each connection.
    talks: Vec<HttpTalk>,
    /// The part that each of them sends.
    busy: Vec<Option<usize>>,
    part_bytes: usize,
    stage: UploadStage,
    /// Path of the object in the request line.
    target: String,
    /// The server's name for the upload, encoded for request lines.
    id: String,
    /// What the server calls the parts that it has.
    tags: Vec<Option<String>>,
    next: usize,
    fault: Option<Complaint>,
}

impl HttpUpload {
    pub(super) fn new(settings: &HttpSettings, parts: PartSettings) -> Result<Self, TlsError> {
        let talks: Vec<_> = (0..parts.n_at_once).map(|_| HttpTalk::new(settings.clone())).collect::<Result<_, _>>()?;
        Ok(Self {
            busy: vec![None; talks.len()],
            talks,
            part_bytes: parts.part_bytes,
            stage: UploadStage::Begin,
            target: String::new(),
            id: String::new(),
            tags: Vec::new(),
            next: 0,
            fault: None,
        })
    }

    pub(super) fn talks(&mut self) -> &mut [HttpTalk] {
        &mut self.talks
    }

    /// Adds the steps of all connections so far.
    pub(super) fn add_steps(&self, steps: &mut ServerSteps) {
        self.talks.iter().for_each(|talk| steps.merge(&talk.server_steps()));
    }

    /// True for blocks that are written in parts.
    pub(super) fn takes(&self, length_bytes: usize) -> bool {
        length_bytes > self.part_bytes
    }

    /// Begins a write to an object.
    pub(super) fn begin(&mut self, target: String, block: &[u8]) {
        self.tags = vec![None; block.len().div_ceil(self.part_bytes)];
        (self.stage, self.next, self.fault) = (UploadStage::Begin, 0, None);
        self.busy.fill(None);
        self.target = target;
        self.talks[0].request(Method::Post, format!("{}?uploads=", self.target), Vec::new(), &[]);
    }

    /// Goes on with the write until it is done, or until `end`: `None`.
    pub(super) fn go_on(&mut self, block: &mut [u8], end: Instant) -> Option<Result<(), Complaint>> {
        loop {
            match self.stage {
                UploadStage::Begin => match self.talks[0].go_on(&mut [], end)? {
                    Ok(()) => match element(&self.talks[0].answer_text(), "UploadId") {
                        Some(id) => {
                            self.id = encoded(&id);
                            self.stage = UploadStage::Parts;
                        }
                        None => return Some(Err(refused("the server has begun no upload in parts".to_owned()))),
                    },
                    Err(complaint) => return Some(Err(complaint)),
                },
                UploadStage::Parts => {
                    let has_moved = self.send_parts(block);
                    if self.fault.is_some() {
                        self.abort();
                    } else if self.tags.iter().all(Option::is_some) {
                        self.finish();
                    } else if !has_moved {
                        let left = end.saturating_duration_since(Instant::now());
                        if left.is_zero() {
                            return None;
                        }
                        let waiting = self.busy.iter().position(Option::is_some).unwrap_or(0);
                        self.talks[waiting].wait(left.min(TURN));
                    }
                }
                UploadStage::Finish => {
                    let done = self.talks[0].go_on(&mut [], end)?;
                    // A server may say OK first, and find out later that it is not.
                    let text = self.talks[0].answer_text();
                    self.fault = match (done, element(&text, "Code")) {
                        (Ok(()), Some(code)) => {
                            Some(refused(format!("the parts were not put together: the server says {code}")))
                        }
                        (done, _) => done.err(),
                    };
                    if self.fault.is_none() {
                        return Some(Ok(()));
                    }
                    self.abort();
                }
                UploadStage::Abort => {
                    let _ = self.talks[0].go_on(&mut [], end)?;
                    return self.fault.take().map(Err);
                }
            }
        }
    }

    fn range(&self, part: usize, block_bytes: usize) -> Range<usize> {
        let start = part * self.part_bytes;
        start..(start + self.part_bytes).min(block_bytes)
    }

    /// Sends and receives what is possible now; false: nothing was.
    fn send_parts(&mut self, block: &mut [u8]) -> bool {
        let mut has_moved = false;
        for index in 0..self.talks.len() {
            let part = match self.busy[index] {
                Some(part) => part,
                None if self.next < self.tags.len() => {
                    let part = self.next;
                    self.next += 1;
                    self.busy[index] = Some(part);
                    let target = format!("{}?partNumber={}&uploadId={}", self.target, part + 1, self.id);
                    let range = self.range(part, block.len());
                    self.talks[index].request(Method::Put, target, Vec::new(), &block[range]);
                    part
                }
                None => continue,
            };
            let range = self.range(part, block.len());
            match self.talks[index].go_on(&mut block[range], Instant::now()) {
                None => has_moved |= self.talks[index].has_moved(),
                Some(done) => {
                    has_moved = true;
                    self.busy[index] = None;
                    match done.and_then(|()| {
                        self.talks[index].tag().ok_or_else(|| refused("the server has no name for a part".to_owned()))
                    }) {
                        Ok(tag) => self.tags[part] = Some(tag),
                        Err(complaint) => self.fault = Some(complaint),
                    }
                }
            }
        }
        has_moved
    }

    /// Bytes that have moved since this was asked.
    pub(super) fn take_moved_bytes(&mut self) -> u64 {
        self.talks.iter_mut().map(HttpTalk::take_moved_bytes).sum()
    }

    fn finish(&mut self) {
        let mut list = "<CompleteMultipartUpload>".to_owned();
        for (index, tag) in self.tags.iter().enumerate() {
            let tag = tag.as_deref().unwrap_or_default().replace('&', "&amp;").replace('<', "&lt;");
            // Writing to a text cannot fail.
            let _ = write!(list, "<Part><PartNumber>{}</PartNumber><ETag>{tag}</ETag></Part>", index + 1);
        }
        list.push_str("</CompleteMultipartUpload>");
        self.stage = UploadStage::Finish;
        let target = format!("{}?uploadId={}", self.target, self.id);
        self.talks[0].request(Method::Post, target, list.into_bytes(), &[]);
    }

    /// Tells the server to forget the parts.
    fn abort(&mut self) {
        self.talks.iter_mut().for_each(HttpTalk::give_up);
        self.stage = UploadStage::Abort;
        let target = format!("{}?uploadId={}", self.target, self.id);
        self.talks[0].request(Method::Delete, target, Vec::new(), &[]);
    }
}

/// A value as it may stand in the parameters of a request.
fn encoded(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"_-~.".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}
