//! `ioengine=rdma`: a job that writes is the client of a connection by RDMA, one that reads is the server.
//!
//! The client moves blocks by RDMA writes into the memory of the server, by RDMA reads from there, or by sends. The server takes part in
//! sends only, which it receives; otherwise it waits for the end. Both ends understand those of fio 3.41. The libraries are opened when a job
//! needs them. Must not know: functions of the libraries. Start reading at `RdmaLink` in `link`, then `handshake`, `message`.

mod handshake;
mod library;
mod link;
mod manager;
mod message;
mod queue_pair;
mod settings;

use crate::contract::options::EngineOptions;
use crate::contract::{Engine, EngineError, EngineSetup, Prepare, Prepared};
use crate::servers::remote::driven::DrivenEngine;
use crate::servers::remote::silence::limit_of;
use ferrio_spec::engines::options::rdma::SERVER_TIMEOUT;
use link::RdmaLink;
use manager::{RdmaError, RdmaLibraries};
use settings::{GivenRdma, RdmaRole, RdmaSettings};
use std::time::Duration;

const NAME: &str = "rdma";

pub(crate) const PREPARE: Prepare = |options| Ok(prepare(options));

pub(crate) fn open_library() -> ferrio_sys::Result<()> {
    RdmaLibraries::get().map(|_| ())
}

fn prepare(options: &EngineOptions) -> Box<dyn Prepared> {
    Box::new(Idle { given: GivenRdma::new(options), most_silence: limit_of(options.get(&SERVER_TIMEOUT)) })
}

/// The engine before it is started.
struct Idle {
    given: GivenRdma,
    most_silence: Duration,
}

impl Prepared for Idle {
    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        let settings = RdmaSettings::new(self.given, &setup.job, setup.iodepth)?;
        let libraries = RdmaLibraries::get().map_err(|error| EngineError::no_library(NAME, &error))?;
        // A server waits as long as its client has something else to do.
        let most_silence = if settings.role == RdmaRole::Server { Duration::MAX } else { self.most_silence };
        let depth = setup.iodepth as usize;
        let link = RdmaLink::new(libraries, settings, &setup)?;
        Ok(Box::new(DrivenEngine::new(link, depth, most_silence)))
    }
}

/// A call that has failed before the first I/O.
fn failed(error: RdmaError) -> EngineError {
    let hint = match (error.call, error.errno) {
        ("rdma_create_event_channel", _) => {
            "; this host has no RDMA device that libibverbs can use: see /sys/class/infiniband, the Debian package ibverbs-providers and the \
             module rdma_ucm"
        }
        ("ibv_reg_mr", ferrio_sys::Errno::NOMEM) => "; the limit of locked memory (ulimit -l) may be too low",
        ("ibv_reg_mr", _) => "; the device cannot use memory of this kind (option mem)",
        ("rdma_create_qp" | "ibv_create_qp" | "ibv_create_cq", _) => "; a lower iodepth may fit the device",
        ("rdma_bind_addr", _) => "; the port is in use, or the address is not one of this host",
        ("rdma_resolve_addr" | "rdma_resolve_route", _) => "; no RDMA device has a way to this address",
        _ => "",
    };
    let what = format!("rdma: {} fail: {}{hint}", error.call, std::io::Error::from(error.errno));
    EngineError::Unfit { step: error.call, what, is_named: false, errno: error.errno.raw_os_error() }
}
