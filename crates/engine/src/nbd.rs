//! `ioengine=nbd`: an export of a server for network block devices, over TCP or a Unix socket.
//!
//! The protocol is that of <https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md>: fixed newstyle
//! handshake, `NBD_OPT_GO`, simple replies. A client of our own instead of a C library: each job has one connection, with
//! as many requests in flight as its depth, and replies in any order. All files of a job are the one export.
//! Must not know: the bytes of a request. Start reading at `Client`, then `handshake` and `wire`.

mod handshake;
mod protocol;
#[cfg(test)]
mod tests;
mod uri;
mod wire;

use crate::contract::{
    Completion, Connection, Engine, EngineError, EngineSetup, IoUnit, JobFacts, Patience, Prepare, Prepared, Queued,
    time_left,
};
use crate::options::EngineOptions;
use ferrio_spec::engines::options::nbd::URI;
use ferrio_sys::Errno;
use ferrio_sys::clock::Clock;
use handshake::reach;
use protocol::Export;
use std::cell::OnceCell;
use std::io;
use std::path::Path;
use uri::Uri;
use wire::Wire;

/// Name of the engine in messages.
const NAME: &str = "nbd";

pub(crate) const PREPARE: Prepare = |options| prepare(options);

fn prepare(options: &EngineOptions) -> Result<Box<dyn Prepared>, EngineError> {
    let Some(text) = options.get(&URI) else {
        return Err(EngineError::bad_option(
            NAME,
            "uri",
            "",
            "it is required; allowed: nbd://HOST[:PORT]/EXPORT and nbd+unix:///EXPORT?socket=PATH",
        ));
    };
    let uri = Uri::parse(text).map_err(|why| EngineError::bad_option(NAME, "uri", text, why))?;
    Ok(Box::new(Idle { uri, size_bytes: OnceCell::new() }))
}

/// The engine before it is started.
struct Idle {
    uri: Uri,
    /// Size of the export, once the server was asked.
    size_bytes: OnceCell<u64>,
}

impl Prepared for Idle {
    fn target_bytes(&self, _name: &Path, patience: Patience<'_>) -> Result<Option<u64>, EngineError> {
        if let Some(size_bytes) = self.size_bytes.get() {
            return Ok(Some(*size_bytes));
        }
        let Some((socket, export)) = reach(&self.uri, patience)? else { return Ok(None) };
        protocol::say_goodbye(&socket);
        Ok(Some(*self.size_bytes.get_or_init(|| export.size_bytes)))
    }

    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        let wire = Wire::new(setup.iodepth, setup.arena);
        Ok(Box::new(Client { uri: self.uri, job: setup.job, wire, export: Export::default(), is_reached: false }))
    }
}

/// A job's connection to its server.
struct Client {
    uri: Uri,
    job: JobFacts,
    wire: Wire,
    export: Export,
    is_reached: bool,
}

impl Client {
    /// Refuses a job that the export cannot serve.
    fn check(&self) -> Result<(), EngineError> {
        let refused = |what: &str, errno: Errno| {
            Err(EngineError::Failed {
                engine: NAME,
                step: "nbd_connect_uri",
                what: format!("{}: {what}", self.uri),
                source: errno.into(),
            })
        };
        if self.export.is_read_only() && (self.job.writes || self.job.trims) {
            return refused("the export is read-only, and the job writes", Errno::PERM);
        }
        if self.job.trims && !self.export.has_trim() {
            return refused("the server does not offer trims for this export", Errno::INVAL);
        }
        Ok(())
    }
}

impl Engine for Client {
    fn connect(&mut self, patience: Patience<'_>) -> Result<Connection, EngineError> {
        if self.is_reached {
            return Ok(Connection::Made);
        }
        let Some((socket, export)) = reach(&self.uri, patience)? else { return Ok(Connection::Awaited) };
        self.export = export;
        self.wire.connect(socket);
        self.check()?;
        self.is_reached = true;
        Ok(Connection::Reached("NBD server"))
    }

    fn queue(&mut self, unit_index: u32, unit: &IoUnit) -> Queued {
        match self.export.request(unit).and_then(|request| self.wire.queue(unit_index, unit, request)) {
            Ok(()) => Queued::Queued,
            Err(result) => Queued::Completed(result),
        }
    }

    fn commit(&mut self) -> io::Result<u32> {
        Ok(self.wire.commit())
    }

    fn hint(&self, unit: &IoUnit, errno: i32) -> Option<&'static str> {
        match Errno::from_raw_os_error(errno) {
            Errno::INVAL => self.export.objection(unit),
            Errno::CONNRESET => Some("the server has closed the connection, or is gone"),
            Errno::PROTO => Some("the server has sent what is no reply of the protocol"),
            _ => None,
        }
    }

    fn reap(&mut self, min: u32, max: u32, completions: &mut Vec<Completion>) -> io::Result<()> {
        self.wire.reap((min, max), Patience::LOOK, completions);
        Ok(())
    }

    fn reap_until(
        &mut self,
        max: u32,
        until_ns: u64,
        clock: &Clock,
        completions: &mut Vec<Completion>,
    ) -> io::Result<()> {
        self.wire.reap((1, max), time_left(clock, until_ns).min(Patience::LOOK), completions);
        Ok(())
    }

    fn give_up(&mut self) {
        self.wire.give_up();
    }
}
