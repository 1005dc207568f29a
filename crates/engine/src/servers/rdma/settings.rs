//! Settings of a connection, from the options of `rdma` and of the job: which end this is, the address, the verb.
//!
//! Must not know: the libraries. Start reading at [`RdmaSettings::new`].

use super::NAME;
use super::message::{MOST_REGIONS, RdmaVerb};
use crate::contract::options::EngineOptions;
use crate::contract::{EngineError, JobFacts};
use ferrio_spec::engines::options::rdma::{BINDNAME, HOSTNAME, PORT, RdmaOperation, VERB};

/// Which end of the connection a job is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RdmaRole {
    /// Connects to a server, and does the I/O.
    Client { host: String, verb: RdmaVerb },
    /// Waits for a client.
    Server,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RdmaSettings {
    pub(super) role: RdmaRole,
    pub(super) port: u16,
    /// Local address.
    pub(super) bind: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) struct GivenRdma {
    host: Option<String>,
    bind: Option<String>,
    port: Option<u16>,
    verb: RdmaOperation,
}

impl GivenRdma {
    pub(super) fn new(options: &EngineOptions) -> Self {
        let text = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
        Self {
            host: text(options.get(&HOSTNAME)),
            bind: text(options.get(&BINDNAME)),
            port: options.get(&PORT).and_then(|port| u16::try_from(port).ok()),
            verb: options.get(&VERB),
        }
    }

    /// Takes what a `filename` says: `HOST/PORT` or `HOST/PORT/VERB`.
    fn take_name(&mut self, name: &str) -> Result<(), EngineError> {
        let why = "bad rdma host/port/protocol; allowed: HOST/PORT and HOST/PORT/VERB with a port from 1 to 65535 and one of the verbs \
                   rdma_write, rdma_read and send";
        let bad = || bad("filename", name, why);
        let (host, rest) = name.split_once('/').ok_or_else(bad)?;
        let (port, verb) = rest.split_once('/').map_or((rest, None), |(port, verb)| (port, Some(verb)));
        self.port = Some(port.parse().ok().filter(|port| *port > 0).ok_or_else(bad)?);
        self.verb = match verb {
            None | Some("rdma_write") => RdmaOperation::Write,
            Some("rdma_read") => RdmaOperation::Read,
            Some("send") => RdmaOperation::Send,
            Some(_) => return Err(bad()),
        };
        self.host = Some(host.to_owned()).filter(|host| !host.is_empty());
        Ok(())
    }
}

fn bad(option: &'static str, value: &str, why: impl Into<String>) -> EngineError {
    EngineError::bad_option(NAME, option, value, why)
}

impl RdmaSettings {
    /// The settings, if the options fit together and the job has this many I/Os in flight.
    pub(super) fn new(mut given: GivenRdma, job: &JobFacts, depth: u32) -> Result<Self, EngineError> {
        if job.reads && job.writes {
            return Err(bad("rw", "rw", "rdma connections must be read OR write"));
        }
        if job.trims {
            return Err(bad("rw", "trim", "rdma connections have no trims; allowed: read, write"));
        }
        if job.is_random {
            return Err(bad("rw", "rand*", "RDMA network IO can't be random; allowed: read, write"));
        }
        if depth as usize > MOST_REGIONS {
            return Err(bad("iodepth", &depth.to_string(), format!("allowed: 1 to {MOST_REGIONS}")));
        }
        match job.filename.as_deref() {
            Some(name) if name.contains('/') => given.take_name(name)?,
            Some(name) => drop(given.host.get_or_insert_with(|| name.to_owned())),
            None => {}
        }
        let Some(port) = given.port else {
            let why = "no port has been specified which is required for the rdma engine; allowed: 1 to 65535";
            return Err(bad("port", "", why));
        };
        let port = u32::from(port).saturating_add(job.clone_index);
        let Ok(port) = u16::try_from(port) else {
            return Err(bad("port", &port.to_string(), "port and number of the clone together are above 65535"));
        };
        let role = if job.reads { RdmaRole::Server } else { client(given.host, given.verb)? };
        Ok(Self { role, port, bind: given.bind })
    }
}

fn client(host: Option<String>, verb: RdmaOperation) -> Result<RdmaRole, EngineError> {
    let Some(host) = host else {
        return Err(bad("hostname", "", "a job that writes needs the name or address of a server"));
    };
    let verb = match verb {
        RdmaOperation::Write => RdmaVerb::Write,
        RdmaOperation::Read => RdmaVerb::Read,
        RdmaOperation::Send => RdmaVerb::Send,
        RdmaOperation::Recv => {
            let why = "a job that writes cannot receive; allowed: write, read, send";
            return Err(bad("verb", "recv", why));
        }
    };
    Ok(RdmaRole::Client { host, verb })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::given;

    fn settings(options: &[(&str, &str)], job: &JobFacts, depth: u32) -> Result<RdmaSettings, String> {
        let given = GivenRdma::new(&EngineOptions::new(given(NAME, options)));
        RdmaSettings::new(given, job, depth).map_err(|error| error.to_string())
    }

    fn writer() -> JobFacts {
        JobFacts { writes: true, ..JobFacts::default() }
    }

    fn reader() -> JobFacts {
        JobFacts { reads: true, ..JobFacts::default() }
    }

    #[test]
    fn what_does_not_go_together_is_refused_by_its_option() {
        let whole = [("port", "9"), ("hostname", "h")];
        let named = |name: &str| JobFacts { filename: Some(name.to_owned()), ..writer() };
        for (options, job, depth, words) in [
            (
                &whole[..],
                JobFacts { reads: true, ..writer() },
                1,
                "option rw=rw: rdma connections must be read OR write",
            ),
            (&whole, JobFacts { is_random: true, ..writer() }, 1, "RDMA network IO can't be random"),
            (&whole, JobFacts { trims: true, ..JobFacts::default() }, 1, "option rw=trim"),
            (&whole, writer(), 513, "option iodepth=513: allowed: 1 to 512"),
            (
                &whole[1..],
                writer(),
                1,
                "option port=: no port has been specified which is required for the rdma engine",
            ),
            (&[], reader(), 1, "no port has been specified"),
            (&whole[..1], writer(), 1, "option hostname"),
            (&[("port", "9"), ("hostname", "h"), ("verb", "recv")], writer(), 1, "option verb=recv"),
            (&[], named("h/x"), 1, "bad rdma host/port/protocol"),
            (&[], named("h/0"), 1, "bad rdma host/port/protocol"),
            (&[], named("h/65536/send"), 1, "bad rdma host/port/protocol"),
            (&[], named("h/5/recv"), 1, "bad rdma host/port/protocol"),
            (&[], named("/5/send"), 1, "option hostname"),
            (&[], named("h"), 1, "option port"),
            (&[("port", "65535"), ("hostname", "h")], JobFacts { clone_index: 1, ..writer() }, 1, "option port=65536"),
        ] {
            let error = settings(options, &job, depth).unwrap_err();
            assert!(error.contains(words), "{options:?}: {error}");
        }
    }

    #[test]
    fn a_writer_is_the_client_and_a_reader_the_server() {
        let options = [("port", "9"), ("hostname", "h"), ("verb", "read"), ("bindname", "b")];
        let role = RdmaRole::Client { host: "h".to_owned(), verb: RdmaVerb::Read };
        let bind = Some("b".to_owned());
        assert_eq!(settings(&options, &writer(), 512), Ok(RdmaSettings { role, port: 9, bind: bind.clone() }));
        assert_eq!(settings(&options, &reader(), 1), Ok(RdmaSettings { role: RdmaRole::Server, port: 9, bind }));
        let recv = [("port", "9"), ("verb", "recv")];
        assert_eq!(settings(&recv, &reader(), 1).map(|found| found.role), Ok(RdmaRole::Server));
    }

    #[test]
    fn a_filename_says_host_port_and_verb() {
        for (name, verb) in [
            ("10.9.9.1/70", RdmaVerb::Write),
            ("10.9.9.1/70/rdma_write", RdmaVerb::Write),
            ("10.9.9.1/70/rdma_read", RdmaVerb::Read),
            ("10.9.9.1/70/send", RdmaVerb::Send),
        ] {
            let job = JobFacts { filename: Some(name.to_owned()), clone_index: 2, ..writer() };
            let found = settings(&[], &job, 1).unwrap();
            assert_eq!(found.role, RdmaRole::Client { host: "10.9.9.1".to_owned(), verb }, "{name}");
            assert_eq!(found.port, 72);
        }
    }
}
