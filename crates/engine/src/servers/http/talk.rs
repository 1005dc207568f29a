//! An I/O in requests: mostly one; more after a redirection, the question for a password, or a connection that was closed while
//! it was idle.
//!
//! Must not know: units' slots, bytes of answers. Start reading at [`HttpTalk::go_on`].

use super::answer::{BodyUse, plain};
use super::client::HttpClient;
use super::explain;
use super::fault::HttpFault;
use super::line::HttpDoor;
use super::listing::{self, NameCounter};
use super::login::HttpLogin;
use super::request::{HttpRequest, Method};
use super::settings::{HttpProtocol, HttpSettings};
use crate::contract::parts::Complaint;
use crate::contract::{Cancellation, IoUnit};
use crate::servers::remote::tls::{TlsError, TlsSettings};
use ferrio_stats::{ObjectRequestKind, ServerSteps};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// Most redirections of one I/O.
const MOST_HOPS: u32 = 10;

/// Pause before a request is sent again for the first time, and the longest pause.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// fio's name of the step that fails.
pub(super) const STEP: &str = "transfer";

/// What an I/O wants, and what was tried for it.
struct Task {
    method: Method,
    /// Path of the object in the request line.
    target: String,
    range: Option<(u64, u64)>,
    /// The answer is a list of names.
    is_list: bool,
    n_hops: u32,
    n_logins: u32,
    is_repeated: bool,
    n_retries: u32,
    /// Why the request had to be sent again last.
    refusal: Option<Complaint>,
    /// Body that is not the block.
    body: Vec<u8>,
    /// Time before which the request is not sent again.
    resumes_at: Option<Instant>,
}

impl Task {
    fn new(method: Method, target: String, range: Option<(u64, u64)>) -> Self {
        Self {
            method,
            target,
            range,
            is_list: false,
            n_hops: 0,
            n_logins: 0,
            is_repeated: false,
            n_retries: 0,
            refusal: None,
            body: Vec::new(),
            resumes_at: None,
        }
    }
}

/// The requests of a job, one after the other.
pub(super) struct HttpTalk {
    settings: HttpSettings,
    client: HttpClient,
    /// Of the bytes that have moved, those that were asked for.
    told_bytes: u64,
    login: Option<HttpLogin>,
    task: Task,
}

impl HttpTalk {
    /// The error says why the certificates of authorities cannot be read.
    pub(super) fn new(settings: HttpSettings) -> Result<Self, TlsError> {
        let tls = settings.tls.as_ref().map(TlsSettings::new).transpose()?;
        let client = HttpClient::new(HttpDoor { place: settings.place.clone(), tls });
        let target = String::with_capacity(256);
        let task = Task::new(Method::Get, target, None);
        Ok(Self { settings, client, told_bytes: 0, login: None, task })
    }

    /// Makes the connection; false: the call was cancelled.
    pub(super) fn connect(&mut self, cancellation: Cancellation<'_>) -> Result<bool, Complaint> {
        match self.client.connect(cancellation) {
            // The first request tries again.
            Err(_) if self.settings.n_retries > 0 && self.client.has_addresses() => Ok(true),
            connected => connected.map_err(|fault| refused(fault.to_string())),
        }
    }

    /// Ends the connection and the I/O.
    pub(super) fn give_up(&mut self) {
        self.client.drop_line();
        self.task.resumes_at = None;
    }

    /// Why the request of the present I/O had to be sent again, if it had to.
    pub(super) fn take_refusal(&mut self) -> Option<Complaint> {
        self.task.refusal.take()
    }

    /// Begins an I/O on a file of this name, by a request of this kind. `block` is the data of a write.
    pub(super) fn begin(
        &mut self,
        unit: &IoUnit,
        kind: ObjectRequestKind,
        name: &str,
        block: &[u8],
    ) -> Result<(), Complaint> {
        let method = match kind {
            ObjectRequestKind::Put => Method::Put,
            ObjectRequestKind::Delete => Method::Delete,
            ObjectRequestKind::Head => Method::Head,
            ObjectRequestKind::List if self.settings.protocol == HttpProtocol::Webdav => Method::Propfind,
            ObjectRequestKind::Get | ObjectRequestKind::List => Method::Get,
        };
        let is_list = kind == ObjectRequestKind::List;
        let target = if is_list { self.list_target(name)? } else { self.target(unit, name)? };
        let range = Some((unit.offset_bytes, unit.length_bytes as u64));
        let range = range.filter(|(_, length)| self.settings.by_range && kind == ObjectRequestKind::Get && *length > 0);
        self.task = Task { is_list, ..Task::new(method, target, range) };
        self.send(block);
        Ok(())
    }

    /// The path of the object of an I/O in the request line.
    pub(super) fn target(&mut self, unit: &IoUnit, name: &str) -> Result<String, Complaint> {
        let mut target = std::mem::take(&mut self.task.target);
        target.clear();
        self.settings.write_target(&mut target, name).map_err(|why| refused(why.to_owned()))?;
        if !self.settings.by_range {
            // Writing to a text cannot fail.
            let _ = write!(target, "_{}_{}", unit.offset_bytes, unit.length_bytes);
        }
        Ok(target)
    }

    fn list_target(&mut self, name: &str) -> Result<String, Complaint> {
        let mut target = std::mem::take(&mut self.task.target);
        target.clear();
        listing::write_target(&self.settings, name, &mut target).map_err(|why| refused(why.to_owned()))?;
        Ok(target)
    }

    /// True if the object of the last I/O is not there.
    pub(super) fn is_absent(&self) -> bool {
        self.client.answer.status == 404
    }

    /// Bytes of data that the answer to a read had.
    pub(super) fn n_data_bytes(&self) -> usize {
        let answer = &self.client.answer;
        if answer.is_data { answer.n_body_bytes as usize } else { 0 }
    }

    /// Number of names in the list that the last I/O has got; 0: it was none.
    pub(super) fn n_names(&self) -> u64 {
        self.client.answer.names().map_or(0, |names| names.count(&self.settings.protocol))
    }

    /// Begins a request of another kind, with a body of its own or, for a PUT, with the block.
    pub(super) fn request(&mut self, method: Method, target: String, body: Vec<u8>, block: &[u8]) {
        self.task = Task { body, ..Task::new(method, target, None) };
        self.send(block);
    }

    /// The beginning of an answer that is no data.
    pub(super) fn answer_text(&self) -> String {
        String::from_utf8_lossy(&self.client.answer.text).into_owned()
    }

    /// The server's name for what was sent, once.
    pub(super) fn tag(&mut self) -> Option<String> {
        self.client.answer.headers.tag.take()
    }

    pub(super) fn server_steps(&self) -> ServerSteps {
        self.client.server_steps()
    }

    /// Forgets the steps of requests so far.
    pub(super) fn forget_requests(&mut self) {
        self.client.steps.forget_requests();
    }

    /// True if something has moved since this was asked.
    pub(super) fn has_moved(&mut self) -> bool {
        std::mem::take(&mut self.client.has_moved)
    }

    /// Bytes that have moved since this was asked.
    pub(super) fn take_moved_bytes(&mut self) -> u64 {
        let all_bytes = self.moved_bytes();
        all_bytes - std::mem::replace(&mut self.told_bytes, all_bytes)
    }

    pub(super) fn moved_bytes(&self) -> u64 {
        self.client.moved_bytes
    }

    /// True during the pause before a request is sent again.
    pub(super) fn is_pausing(&self) -> bool {
        self.task.resumes_at.is_some()
    }

    /// Waits until the connection can go on.
    pub(super) fn wait(&self, limit: Duration) {
        self.client.wait(limit);
    }

    /// Goes on with the I/O until it is done, or until `end`: `None`. `block` is the data of a write, or takes those of a read.
    pub(super) fn go_on(&mut self, block: &mut [u8], end: Instant) -> Option<Result<(), Complaint>> {
        loop {
            if let Some(resumes_at) = self.task.resumes_at {
                std::thread::sleep(resumes_at.min(end).saturating_duration_since(Instant::now()));
                if resumes_at > end {
                    return None;
                }
                self.task.resumes_at = None;
                self.send(block);
            }
            let judged = match self.client.go_on(block, end)? {
                Ok(()) => self.judge(block),
                Err(fault) => self.excuse(&fault),
            };
            match judged {
                Ok(true) => return Some(Ok(())),
                Ok(false) if self.task.resumes_at.is_some() => {}
                Ok(false) => self.send(block),
                Err(complaint) => return Some(Err(complaint)),
            }
        }
    }

    fn send(&mut self, block: &[u8]) {
        let Self { settings, client, login, task, .. } = self;
        let authorization = login.as_mut().zip(settings.login.as_ref());
        let authorization = authorization.map(|(login, person)| login.header(person, task.method.name(), &task.target));
        let is_put = task.method == Method::Put;
        let request = HttpRequest {
            method: task.method,
            target: &task.target,
            range: task.range,
            body: if is_put { block } else { &task.body },
            authorization: authorization.as_deref(),
        };
        let body_use = match (task.method, task.range) {
            _ if task.is_list => BodyUse::Names(NameCounter::new(&settings.protocol)),
            (Method::Head, _) => BodyUse::Absent,
            (Method::Get, None) => BodyUse::Data(200, 200),
            (Method::Get, Some(_)) => BodyUse::Data(200, 206),
            _ => BodyUse::None,
        };
        client.begin(is_put, body_use, |head| request.write(settings, now, head));
    }

    /// What to do about a request without a whole answer. `Ok(false)`: send it again.
    fn excuse(&mut self, fault: &HttpFault) -> Result<bool, Complaint> {
        if fault.is_lost() && self.client.was_stale() && !std::mem::replace(&mut self.task.is_repeated, true) {
            self.client.steps.n_resent += 1;
            return Ok(false);
        }
        let is_lost = fault.is_lost();
        self.again_or(is_lost, Duration::ZERO, refused(fault.to_string()))
    }

    /// `Ok(false)` if the request may, and is to, be sent again; else the complaint, which is kept for the case that it never succeeds.
    fn again_or(&mut self, may: bool, least: Duration, complaint: Complaint) -> Result<bool, Complaint> {
        if may && self.tries_again(least) {
            self.task.refusal = Some(complaint);
            return Ok(false);
        }
        Err(complaint)
    }

    /// True if the request is to be sent again, after a pause that doubles from try to try, and is no shorter than the server asks for.
    fn tries_again(&mut self, least: Duration) -> bool {
        let Task { n_retries, resumes_at, .. } = &mut self.task;
        if *n_retries >= self.settings.n_retries {
            return false;
        }
        let pause = FIRST_PAUSE.saturating_mul(1 << (*n_retries).min(10)).min(LONGEST_PAUSE);
        *resumes_at = Some(Instant::now() + pause.max(least.min(LONGEST_PAUSE)));
        *n_retries += 1;
        self.client.steps.n_retries += 1;
        true
    }

    /// What an answer means. True: the I/O is done; false: another request is to be sent.
    fn judge(&mut self, block: &mut [u8]) -> Result<bool, Complaint> {
        let (method, status) = (self.task.method, self.client.answer.status);
        match (method, status) {
            (Method::Put, 200..=204)
            | (Method::Post, 200)
            | (Method::Delete, 200 | 202 | 204 | 404)
            | (Method::Head, 200 | 204 | 404)
            | (Method::Propfind, 207) => Ok(true),
            (Method::Get, 200 | 206) if status == 200 || self.task.range.is_some() => self.check_range(status),
            // A list of nothing (Swift).
            (Method::Get, 204) if self.task.is_list => Ok(true),
            (Method::Get, 404) if !self.task.is_list => {
                block.fill(0);
                Ok(true)
            }
            (_, 401) if self.logs_in() => Ok(false),
            (_, 429 | 503) => {
                self.client.steps.n_throttled += 1;
                let least = Duration::from_secs(self.client.answer.headers.retry_after_s);
                self.again_or(true, least, self.refusal(None))
            }
            (_, 500 | 502 | 504) => self.again_or(true, Duration::ZERO, self.refusal(None)),
            (_, 301 | 302 | 303 | 307 | 308) => self.follow().map(|()| false),
            _ => Err(self.refusal(None)),
        }
    }

    /// True if the user and the password have an answer to the challenge of the server.
    fn logs_in(&mut self) -> bool {
        let Some(person) = &self.settings.login else { return false };
        let Some(login) = HttpLogin::answer(&self.client.answer.headers.challenges, person) else { return false };
        let is_new = self.login.is_none() || login.is_stale();
        self.task.n_logins += 1;
        if !is_new || self.task.n_logins > 2 {
            return false;
        }
        self.login = Some(login);
        true
    }

    /// Refuses an answer that is another part of the object than was asked for.
    fn check_range(&mut self, status: u16) -> Result<bool, Complaint> {
        let Some((start, _)) = self.task.range else { return Ok(true) };
        let answer = &self.client.answer;
        let is_right =
            if status == 206 { answer.headers.range_start.is_none_or(|other| other == start) } else { start == 0 };
        if is_right {
            return Ok(true);
        }
        Err(refused(match (status, answer.headers.range_start) {
            (206, Some(other)) => {
                format!("the server has sent the object from byte {other} on instead of byte {start}")
            }
            _ => "the server has sent the whole object instead of a part: it does not know ranges".to_owned(),
        }))
    }

    /// Goes on at the place that the answer names.
    fn follow(&mut self) -> Result<(), Complaint> {
        let Some(location) = self.client.answer.headers.location.take() else { return Err(self.refusal(None)) };
        self.task.n_hops += 1;
        if self.task.n_hops > MOST_HOPS {
            return Err(self.refusal(Some("the server redirects the request without an end".to_owned())));
        }
        let own = format!("{}://{}", self.settings.scheme(), self.settings.place.header);
        let path = match location.strip_prefix(&own) {
            Some("") => "/",
            Some(path) => path,
            None => location.as_str(),
        };
        if !path.starts_with('/') || path.starts_with("//") {
            let elsewhere = plain(&location);
            return Err(self.refusal(Some(format!("the server redirects the request to {elsewhere}; see http_host"))));
        }
        // A place that a server names is encoded already.
        if path.bytes().any(|byte| !byte.is_ascii_graphic()) {
            return Err(self.refusal(Some("the place to which the server redirects the request is no path".to_owned())));
        }
        self.task.target.clear();
        self.task.target.push_str(path.split('#').next().unwrap_or_default());
        Ok(())
    }

    fn refusal(&self, why: Option<String>) -> Complaint {
        let answer = &self.client.answer;
        let line = format!("{} failed with HTTP status code {}", self.task.method.fio_name(), answer.status);
        let why = why.or_else(|| explain::reason(self.task.method, answer, self.settings.login.is_some()));
        Complaint { step: STEP, line: Some(line), why }
    }
}

pub(super) fn refused(why: String) -> Complaint {
    Complaint { step: STEP, line: None, why: Some(why) }
}

/// The time, as signatures have it.
fn now() -> String {
    jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string()
}

impl HttpSettings {
    /// Appends the path of an object as it stands in the request line. As in fio, that of WebDAV and Swift is taken as it is, as
    /// far as the protocol allows; that of S3 is encoded, because it is signed in this form.
    pub(super) fn write_target(&self, target: &mut String, path: &str) -> Result<(), &'static str> {
        if !path.starts_with('/') {
            return Err("the name of an object begins with /, as it follows the host directly; see filename");
        }
        let encodes_all = matches!(self.protocol, HttpProtocol::S3(_));
        for byte in path.bytes() {
            match byte {
                b' ' | 0..32 | 127 => {
                    return Err("the name of an object has a blank or a control character; see filename");
                }
                // Writing to a text cannot fail.
                b'#' | 128.. => _ = write!(target, "%{byte:02X}"),
                _ if byte.is_ascii_alphanumeric() || b"_-~./".contains(&byte) || !encodes_all => {
                    target.push(char::from(byte));
                }
                _ => _ = write!(target, "%{byte:02X}"),
            }
        }
        Ok(())
    }
}
