//! `ioengine=http`: objects of a server that speaks WebDAV, S3 or Swift.
//!
//! A read is a GET, a write a PUT, a trim a DELETE, one at a time over one connection, which is kept. The client is our own, over
//! sockets that never wait, so that a silent server holds no job: HTTP/1.1 with answers of any form, in bounded memory. A
//! request that the server answers at once is done within `queue`; else the loop reaps it, and looks at its deadlines meanwhile.
//! Must not know: bytes of requests and answers. Start reading at `Http`, then `talk`, `client` and `answer`.

mod answer;
mod client;
mod explain;
mod fault;
mod fuzzing;
mod inquiry;
mod line;
mod listing;
mod login;
mod multipart;
mod request;
mod settings;
mod signature;
mod talk;
#[cfg(test)]
mod tests;

use crate::compat::counts_data;
use crate::contract::options::EngineOptions;
use crate::contract::parts::{Complaint, Connection, Server};
use crate::contract::{
    Cancellation, Completion, Engine, EngineError, EngineFile, EngineSetup, IoResult, IoUnit, OpenTarget, Prepare,
    Prepared, Queued, push_in_room, time_left,
};
use crate::files::control::error_result;
use crate::mix::MixDraws;
use crate::servers::remote::silence::{SILENT, Silence};
use crate::servers::remote::tls::TlsError;
use client::SLICE;
use ferrio_stats::{ObjectRequest, ObjectRequestKind, ObjectRequests, ServerSteps};
use ferrio_sys::Errno;
use ferrio_sys::arena::Arena;
use ferrio_sys::clock::Clock;
use ferrio_units::Direction;
pub(crate) use fuzzing::take_answer;
pub(crate) use inquiry::inquire;
use multipart::HttpUpload;
use settings::HttpSettings;
use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};
use talk::HttpTalk;

const NAME: &str = "http";

pub(crate) const PREPARE: Prepare = |options| prepare(options);

fn prepare(options: &EngineOptions) -> Result<Box<dyn Prepared>, EngineError> {
    Ok(Box::new(Idle { settings: HttpSettings::new(options)?, counts_data: counts_data(options.compatibility()) }))
}

/// The engine before it is started.
struct Idle {
    settings: HttpSettings,
    counts_data: bool,
}

impl Prepared for Idle {
    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        let (reads, most_silence) = (self.settings.reads.clone(), self.settings.most_silence);
        if setup.job.is_verified && reads.only() != Some(ObjectRequestKind::Get) {
            let why = "only get reads data that can be verified";
            return Err(EngineError::bad_option(NAME, "http_read_mode", "head or list", why));
        }
        let authorities = self.settings.tls.as_ref().and_then(|terms| terms.authorities.as_ref());
        let refused = |why: TlsError| match authorities {
            Some(file) => EngineError::bad_option(NAME, "http_ca", &file.display(), why.to_string()),
            None => EngineError::bad_option(NAME, "https", "on", why.to_string()),
        };
        let talk = HttpTalk::new(self.settings.clone()).map_err(refused)?;
        let upload =
            self.settings.parts.map(|parts| HttpUpload::new(&self.settings, parts)).transpose().map_err(refused)?;
        Ok(Box::new(Http {
            talk,
            upload,
            is_in_parts: false,
            arena: setup.arena,
            names: vec![String::new(); setup.n_files as usize],
            reads: MixDraws::new(reads, setup.seed),
            flight: None,
            requests: ObjectRequests::default(),
            unreached: None,
            complaint: None,
            counts_data: self.counts_data,
            silence: Silence::new(most_silence),
            seen_bytes: 0,
            is_reached: false,
            is_given_up: false,
        }))
    }
}

/// A job's requests to its server.
struct Http {
    talk: HttpTalk,
    /// Writes in parts, where the job wants them.
    upload: Option<HttpUpload>,
    /// The I/O is such a write.
    is_in_parts: bool,
    arena: Rc<RefCell<Arena>>,
    /// Names of the open files.
    names: Vec<String>,
    /// What the next read asks for.
    reads: MixDraws<ObjectRequestKind>,
    /// The I/O that is not done yet.
    flight: Option<HttpFlight>,
    requests: ObjectRequests,
    /// Why no connection was made before the first I/O.
    unreached: Option<Complaint>,
    /// Why the last I/O failed.
    complaint: Option<Complaint>,
    /// A read counts with the bytes that have come.
    counts_data: bool,
    silence: Silence,
    /// Bytes that had moved at the last look.
    seen_bytes: u64,
    is_reached: bool,
    is_given_up: bool,
}

/// An I/O that is not done yet.
#[derive(Debug, Clone, Copy)]
struct HttpFlight {
    unit_index: u32,
    unit: IoUnit,
    kind: ObjectRequestKind,
    begun_at: Instant,
}

impl Http {
    fn kind(&mut self, unit: &IoUnit) -> Result<ObjectRequestKind, Complaint> {
        match unit.direction {
            Direction::Read => Ok(self.reads.next()),
            Direction::Write => Ok(ObjectRequestKind::Put),
            Direction::Trim => Ok(ObjectRequestKind::Delete),
            _ => {
                let line = "WARNING: Only DDIR_READ/DDIR_WRITE/DDIR_TRIM are supported!".to_owned();
                Err(Complaint { step: talk::STEP, line: Some(line), why: None })
            }
        }
    }

    fn begin(&mut self, unit: &IoUnit) -> Result<ObjectRequestKind, Complaint> {
        self.complaint = None;
        if let Some(complaint) = self.unreached.take() {
            return Err(complaint);
        }
        let kind = self.kind(unit)?;
        let arena = self.arena.borrow();
        let name = self.names.get(unit.file_index as usize).map_or("", String::as_str);
        let block = arena.slice(unit.buffer_offset, unit.length_bytes);
        let upload =
            self.upload.as_mut().filter(|upload| unit.direction == Direction::Write && upload.takes(unit.length_bytes));
        self.is_in_parts = upload.is_some();
        match upload {
            Some(upload) => {
                upload.begin(self.talk.target(unit, name)?, block);
            }
            None => self.talk.begin(unit, kind, name, block)?,
        }
        Ok(kind)
    }

    /// Goes on with the I/O, for a time at most; `None`: it is not done.
    fn go_on(&mut self, limit: Duration) -> Option<(u32, IoResult)> {
        let flight = self.flight?;
        let HttpFlight { unit_index, unit, .. } = flight;
        if self.is_given_up {
            self.flight = None;
            return Some((unit_index, IoResult::END_OF_DATA));
        }
        let done = {
            let mut arena = self.arena.borrow_mut();
            let block = arena.slice_mut(unit.buffer_offset, unit.length_bytes);
            let end = Instant::now() + limit;
            match self.upload.as_mut().filter(|_| self.is_in_parts) {
                Some(upload) => upload.go_on(block, end),
                None => self.talk.go_on(block, end),
            }
        };
        let Some(done) = done else { return self.note_wait(unit_index, limit) };
        self.silence.end();
        self.flight = None;
        if done.is_ok() {
            self.count(&flight);
        }
        let mut result = self.result(&unit, done);
        let n_bytes = self.n_bytes(&flight);
        if self.counts_data && result.is_done_with(unit.length_bytes) && n_bytes < unit.length_bytes {
            let (have, asked) = (n_bytes, unit.length_bytes);
            let why = if self.talk.is_absent() {
                "the object that the I/O reads is not there".to_owned()
            } else {
                format!("the server has answered with {have} of the {asked} bytes that the I/O reads")
            };
            self.complaint = Some(talk::refused(why));
            result = IoResult::short(n_bytes);
        }
        Some((unit_index, result))
    }

    /// Notes that the I/O is not done after a wait. A server that is gone ends it, and the connection.
    fn note_wait(&mut self, unit_index: u32, waited: Duration) -> Option<(u32, IoResult)> {
        let in_parts = self.upload.iter_mut().flat_map(HttpUpload::talks);
        let (moved_bytes, is_pausing) = std::iter::once(&mut self.talk)
            .chain(in_parts)
            .fold((0, false), |(bytes, pauses), talk| (bytes + talk.moved_bytes(), pauses || talk.is_pausing()));
        if is_pausing || std::mem::replace(&mut self.seen_bytes, moved_bytes) != moved_bytes {
            self.silence.end();
            return None;
        }
        self.silence.add(waited);
        if !self.silence.is_too_long() {
            return None;
        }
        self.silence.end();
        self.flight = None;
        self.drop_lines();
        self.complaint = Some(talk::refused(SILENT.to_owned()));
        Some((unit_index, error_result(Errno::TIMEDOUT)))
    }

    /// Ends the connections and the I/O.
    fn drop_lines(&mut self) {
        self.talk.give_up();
        self.upload.iter_mut().flat_map(HttpUpload::talks).for_each(HttpTalk::give_up);
    }

    /// Bytes that a successful I/O has moved. A request without data counts as a block. As in fio, an object that is not there
    /// counts as one of zeroes, unless reads count with what has come.
    fn n_bytes(&self, flight: &HttpFlight) -> usize {
        match flight.kind {
            ObjectRequestKind::Get if !self.talk.is_absent() => self.talk.n_data_bytes(),
            ObjectRequestKind::Get if self.counts_data => 0,
            _ => flight.unit.length_bytes,
        }
    }

    /// Counts the request of an I/O that has succeeded.
    fn count(&mut self, flight: &HttpFlight) {
        let HttpFlight { unit, kind, begun_at, .. } = *flight;
        let is_absent = !self.is_in_parts && self.talk.is_absent();
        let moves_data = matches!(kind, ObjectRequestKind::Get | ObjectRequestKind::Put) && !is_absent;
        let n_bytes = self.n_bytes(flight);
        self.requests.record(&ObjectRequest {
            kind,
            bytes: if moves_data { n_bytes as u64 } else { 0 },
            is_absent,
            is_short: !is_absent && n_bytes < unit.length_bytes,
            n_names: if kind == ObjectRequestKind::List { self.talk.n_names() } else { 0 },
            time_ns: line::ns(begun_at.elapsed()),
        });
    }

    fn result(&mut self, unit: &IoUnit, done: Result<(), Complaint>) -> IoResult {
        match done {
            Ok(()) => IoResult::done(unit.length_bytes),
            Err(complaint) => {
                self.complaint = Some(complaint);
                error_result(Errno::IO)
            }
        }
    }

    fn reap_within(&mut self, limit: Duration, completions: &mut Vec<Completion>) {
        if let Some((unit_index, result)) = self.go_on(limit.min(SLICE)) {
            push_in_room(completions, Completion { unit_index, result });
        }
    }
}

impl Engine for Http {
    fn open_file(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        if let (Some(name), OpenTarget::Name(path)) = (self.names.get_mut(file.index as usize), file.target) {
            *name = path.to_string_lossy().into_owned();
        }
        Ok(())
    }

    fn queue(&mut self, unit_index: u32, unit: &IoUnit) -> Queued {
        if self.is_given_up {
            return Queued::Completed(IoResult::END_OF_DATA);
        }
        let begun_at = Instant::now();
        match self.begin(unit) {
            Ok(kind) => self.flight = Some(HttpFlight { unit_index, unit: *unit, kind, begun_at }),
            Err(complaint) => return Queued::Completed(self.result(unit, Err(complaint))),
        }
        match self.go_on(SLICE) {
            Some((_, result)) => Queued::Completed(result),
            None => Queued::Queued,
        }
    }

    fn commit(&mut self) -> io::Result<u32> {
        Ok(u32::from(self.flight.is_some()))
    }

    fn reap(&mut self, min: u32, _max: u32, completions: &mut Vec<Completion>) -> io::Result<()> {
        self.reap_within(if min > 0 { SLICE } else { Duration::ZERO }, completions);
        Ok(())
    }

    fn reap_until(
        &mut self,
        _max: u32,
        until_ns: u64,
        clock: &Clock,
        completions: &mut Vec<Completion>,
    ) -> io::Result<()> {
        self.reap_within(time_left(clock, until_ns), completions);
        Ok(())
    }

    fn server(&mut self) -> Option<&mut dyn Server> {
        Some(self)
    }
}

impl Server for Http {
    fn connect(&mut self, cancellation: Cancellation<'_>) -> Result<Connection, EngineError> {
        if !self.is_reached {
            let in_parts = self.upload.as_mut().map(HttpUpload::talks).unwrap_or_default();
            for talk in std::iter::once(&mut self.talk).chain(in_parts) {
                match talk.connect(cancellation) {
                    Ok(false) => return Ok(Connection::Awaited),
                    Ok(true) => {}
                    // As in fio, it is the first I/O that fails.
                    Err(complaint) => {
                        self.unreached = Some(complaint);
                        break;
                    }
                }
            }
            self.is_reached = true;
        }
        Ok(Connection::Made)
    }

    fn give_up(&mut self) {
        self.is_given_up = true;
        self.drop_lines();
        if self.flight.is_some() {
            let in_parts = self.upload.iter_mut().filter(|_| self.is_in_parts).flat_map(HttpUpload::talks);
            self.complaint = std::iter::once(&mut self.talk).chain(in_parts).find_map(HttpTalk::take_refusal);
        }
    }

    fn take_moved_bytes(&mut self) -> u64 {
        self.upload.as_mut().map_or(0, HttpUpload::take_moved_bytes) + self.talk.take_moved_bytes()
    }

    fn take_complaint(&mut self) -> Option<Complaint> {
        self.complaint.take()
    }

    fn server_steps(&self) -> Option<ServerSteps> {
        let mut steps = self.talk.server_steps();
        self.upload.iter().for_each(|upload| upload.add_steps(&mut steps));
        steps.requests.merge(&self.requests);
        Some(steps)
    }

    fn counts_begin_anew(&mut self) {
        self.talk.forget_requests();
        self.requests.clear();
        self.upload.iter_mut().flat_map(HttpUpload::talks).for_each(HttpTalk::forget_requests);
    }
}
