//! `ioengine=nbd`: an export of a server for network block devices, over TCP or a Unix socket.
//!
//! The protocol is that of <https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md>: fixed newstyle
//! handshake, TLS by certificates, `NBD_OPT_GO`, simple and structured replies. A client of our own instead of a C library:
//! each job has one connection, or as many as it asks for, with as many requests in flight as its depth, and replies in
//! any order. All files of a job are the one export.
//! Must not know: the bytes of a request. Start reading at `Client`, then `handshake`, `connections` and `wire`.

mod connections;
mod handshake;
mod input;
mod protocol;
mod reply;
#[cfg(test)]
mod tests;
mod uri;
mod wire;

use crate::contract::options::EngineOptions;
use crate::contract::parts::{Connection, Server};
use crate::contract::{
    Cancellation, Completion, Engine, EngineError, EngineSetup, IoUnit, JobFacts, Prepare, Prepared, Queued, time_left,
};
use crate::servers::remote::silence::{SILENT, limit_of};
use crate::servers::remote::tls::TlsSettings;
use crate::servers::server_facts::{NbdFacts, TlsFacts};
use connections::Connections;
use ferrio_spec::engines::options::nbd::{CONNECTIONS, SERVER_TIMEOUT, URI};
use ferrio_stats::ServerSteps;
use ferrio_sys::Errno;
use ferrio_sys::arena::Arena;
use ferrio_sys::clock::Clock;
use handshake::reach;
use protocol::Export;
use std::cell::{OnceCell, RefCell};
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;
use uri::Uri;
use wire::Wire;

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
    let asked = options.get(&CONNECTIONS);
    let n_connections = usize::try_from(asked).ok().filter(|number| (1..=connections::MOST).contains(number));
    let Some(n_connections) = n_connections else {
        return Err(EngineError::bad_option(NAME, CONNECTIONS.name(), &asked, "allowed: 1 to 16"));
    };
    let tls = uri.tls.as_ref().map(TlsSettings::new).transpose();
    let tls = tls.map_err(|why| EngineError::bad_option(NAME, "uri", text, why.to_string()))?;
    let most_silence = limit_of(options.get(&SERVER_TIMEOUT));
    Ok(Box::new(Idle { uri, tls, n_connections, most_silence, size_bytes: OnceCell::new() }))
}

/// What the server says of an export; `None`: the call was cancelled.
pub(crate) fn inquire(url: &str, cancellation: Cancellation<'_>) -> Result<Option<NbdFacts>, EngineError> {
    let refused = |why: String| EngineError::bad_option(NAME, "uri", url, why);
    let uri = Uri::parse(url).map_err(|why| refused(why.to_owned()))?;
    let tls = uri.tls.as_ref().map(TlsSettings::new).transpose().map_err(|why| refused(why.to_string()))?;
    let Some(mut agreed) = reach(&uri, tls.as_ref(), cancellation)? else { return Ok(None) };
    let export = agreed.export;
    let tls = agreed.channel.tls_version().map(|version| TlsFacts { version, time: agreed.times.tls, problem: None });
    protocol::say_goodbye(&mut agreed.channel);
    let mut abilities = export.abilities().to_vec();
    abilities.push(("structured replies", agreed.is_structured));
    let is_read_only = export.is_read_only();
    Ok(Some(NbdFacts { size_bytes: export.size_bytes, is_read_only, abilities, blocks: export.announced, tls }))
}

/// The engine before it is started.
struct Idle {
    uri: Uri,
    tls: Option<TlsSettings>,
    n_connections: usize,
    most_silence: Duration,
    /// Size of the export, once the server was asked.
    size_bytes: OnceCell<u64>,
}

impl Prepared for Idle {
    fn target_bytes(&self, _name: &Path, cancellation: Cancellation<'_>) -> Result<Option<u64>, EngineError> {
        if let Some(size_bytes) = self.size_bytes.get() {
            return Ok(Some(*size_bytes));
        }
        let Some(mut agreed) = reach(&self.uri, self.tls.as_ref(), cancellation)? else { return Ok(None) };
        protocol::say_goodbye(&mut agreed.channel);
        Ok(Some(*self.size_bytes.get_or_init(|| agreed.export.size_bytes)))
    }

    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        let Self { uri, tls, n_connections, most_silence, .. } = *self;
        let EngineSetup { iodepth, arena, job, .. } = setup;
        let connections = Connections::new(most_silence);
        let export = Export::default();
        let steps = ServerSteps::default();
        Ok(Box::new(Client { uri, tls, job, iodepth, arena, n_connections, connections, export, steps }))
    }
}

/// A job's connections to its server.
struct Client {
    uri: Uri,
    tls: Option<TlsSettings>,
    job: JobFacts,
    iodepth: u32,
    arena: Rc<RefCell<Arena>>,
    /// Connections that the job has asked for.
    n_connections: usize,
    connections: Connections,
    export: Export,
    steps: ServerSteps,
}

impl Client {
    /// Refuses a job that the export cannot serve.
    fn check(&self, export: &Export) -> Result<(), EngineError> {
        let refused = |what: &str, errno: Errno| {
            Err(EngineError::Failed {
                engine: NAME,
                step: "nbd_connect_uri",
                what: format!("{}: {what}", self.uri),
                source: errno.into(),
            })
        };
        if export.is_read_only() && (self.job.writes || self.job.trims) {
            return refused("the export is read-only, and the job writes", Errno::PERM);
        }
        if self.job.trims && !export.has_trim() {
            return refused("the server does not offer trims for this export", Errno::INVAL);
        }
        if self.n_connections > 1 && (self.job.writes || self.job.trims) && !export.has_common_flush() {
            let what = "the server does not promise that a flush on one connection covers the writes of the others; a job \
                        that writes needs connections=1";
            return refused(what, Errno::INVAL);
        }
        if self.connections.len() > 0 && *export != self.export {
            return refused("two connections to the export were told different sizes or abilities", Errno::PROTO);
        }
        Ok(())
    }
}

impl Engine for Client {
    fn queue(&mut self, unit_index: u32, unit: &IoUnit) -> Queued {
        match self.export.request(unit).and_then(|request| self.connections.queue(unit_index, unit, request)) {
            Ok(()) => Queued::Queued,
            Err(result) => Queued::Completed(result),
        }
    }

    fn commit(&mut self) -> io::Result<u32> {
        Ok(self.connections.commit())
    }

    fn hint(&self, unit: &IoUnit, errno: i32) -> Option<&'static str> {
        match Errno::from_raw_os_error(errno) {
            Errno::INVAL => self.export.objection(unit),
            Errno::CONNRESET => Some("the server has closed the connection, or is gone"),
            Errno::TIMEDOUT if self.connections.are_silent() => Some(SILENT),
            Errno::PROTO => Some("the server has sent what is no reply of the protocol"),
            _ => None,
        }
    }

    fn reap(&mut self, min: u32, max: u32, completions: &mut Vec<Completion>) -> io::Result<()> {
        self.connections.reap((min, max), Cancellation::LOOK, completions);
        Ok(())
    }

    fn reap_until(
        &mut self,
        max: u32,
        until_ns: u64,
        clock: &Clock,
        completions: &mut Vec<Completion>,
    ) -> io::Result<()> {
        self.connections.reap((1, max), time_left(clock, until_ns).min(Cancellation::LOOK), completions);
        Ok(())
    }

    fn server(&mut self) -> Option<&mut dyn Server> {
        Some(self)
    }
}

impl Server for Client {
    fn connect(&mut self, cancellation: Cancellation<'_>) -> Result<Connection, EngineError> {
        if self.connections.len() == self.n_connections {
            return Ok(Connection::Made);
        }
        while self.connections.len() < self.n_connections {
            let Some(agreed) = reach(&self.uri, self.tls.as_ref(), cancellation)? else {
                return Ok(Connection::Awaited);
            };
            self.check(&agreed.export)?;
            self.export = agreed.export;
            agreed.times.note_in(&mut self.steps);
            self.connections.add(Wire::new(agreed, self.iodepth, Rc::clone(&self.arena)));
        }
        Ok(Connection::Reached("NBD server"))
    }

    fn give_up(&mut self) {
        self.connections.give_up();
    }

    fn server_steps(&self) -> Option<ServerSteps> {
        let mut steps = self.steps.clone();
        self.connections.tcp_counts().for_each(|counts| steps.network.add(counts));
        Some(steps)
    }
}
