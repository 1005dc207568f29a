//! `ioengine=net` and `netsplice`: a job that writes sends data, one that reads receives it, over TCP, UDP, a Unix or a
//! VM socket.
//!
//! A write is one `send`, a read one `recv`; a call that moves less than the block makes a short I/O, which the loop
//! continues. With `pingpong` the reader sends each block back, and the writer waits for it. `netsplice` moves data
//! through a pipe by `splice(2)` where the connection is TCP; on others it is the same as `net`. Deviations beside
//! those of the option table: a connection that closes without the closing word is an error (fio retries for ever), a
//! block larger than a pipe does not hang `netsplice`, and a closing word over a Unix socket is no error.
//! Must not know: how the connection was made. Start reading at `Net`.

mod exchange;
mod link;
mod settings;
#[cfg(test)]
mod tests;

use crate::contract::options::EngineOptions;
use crate::contract::parts::{Connection, Server};
use crate::contract::{
    Cancellation, Engine, EngineError, EngineFile, EngineSetup, IoResult, IoUnit, Prepare, Prepared, Queued,
};
use crate::files::control;
use crate::files::splice::new_pipe;
use exchange::{Exchange, Way};
use ferrio_sys::arena::Arena;
use ferrio_units::Direction;
use link::Link;
use settings::{Options, Settings};
use std::cell::RefCell;
use std::rc::Rc;

pub(crate) const PREPARE: Prepare = |options| prepare("net", false, options);

pub(crate) const PREPARE_SPLICE: Prepare = |options| prepare("netsplice", true, options);

fn prepare(engine: &'static str, splices: bool, options: &EngineOptions) -> Result<Box<dyn Prepared>, EngineError> {
    Ok(Box::new(Idle { options: Options::new(engine, options)?, splices }))
}

/// The engine before it is started.
struct Idle {
    options: Options,
    splices: bool,
}

impl Prepared for Idle {
    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        let way = if self.splices && self.options.protocol.is_tcp() {
            // `splice` to a closed socket raises SIGPIPE, and the call has no flag against that.
            let _ = ferrio_sys::signals::block_broken_pipes();
            Way::Pipe(new_pipe("netsplice")?)
        } else {
            Way::Call
        };
        let is_stream = self.options.protocol.is_stream();
        let has_closing = self.options.protocol != settings::Protocol::Unix;
        let pingpong = self.options.pingpong;
        let settings = Settings::new(self.options, &setup.job)?;
        let exchange = Exchange::new(way, is_stream, has_closing, settings.is_verified);
        Ok(Box::new(Net {
            link: Link::new(settings)?,
            exchange,
            pingpong,
            arena: setup.arena,
            ends: vec![None; setup.n_files as usize],
        }))
    }

    fn hint(&self, _unit: &IoUnit, errno: i32) -> Option<&'static str> {
        hint(errno)
    }
}

fn hint(errno: i32) -> Option<&'static str> {
    match errno {
        libc::ECONNRESET | libc::EPIPE => Some(
            "the other end of the connection is gone: it ended, or was killed, before this job had moved all of its size",
        ),
        libc::EMSGSIZE => Some("a datagram carries no block as large as bs; most networks take up to 65507 bytes"),
        _ => None,
    }
}

/// One end of a connection, and the I/O that goes through it.
struct Net {
    link: Link,
    exchange: Exchange,
    pingpong: bool,
    arena: Rc<RefCell<Arena>>,
    /// End of each target's range, bytes; `None`: the target is not open.
    ends: Vec<Option<u64>>,
}

impl Engine for Net {
    fn open_file(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        if let Some(end) = self.ends.get_mut(file.index as usize) {
            *end = Some(file.range_start.saturating_add(file.range_bytes));
        }
        Ok(())
    }

    fn close_file(&mut self, file_index: u32) {
        if let Some(end) = self.ends.get_mut(file_index as usize) {
            *end = None;
        }
        if self.ends.iter().all(Option::is_none) {
            self.exchange.forget();
            self.link.close();
        }
    }

    fn queue(&mut self, _unit_index: u32, unit: &IoUnit) -> Queued {
        if control::is_control(unit.direction) {
            // A sync has nothing to do; trims are refused before the job starts.
            return Queued::Completed(IoResult::done(unit.length_bytes));
        }
        let end = self.ends.get(unit.file_index as usize).copied().flatten();
        let has_more = end.is_some_and(|end| unit.offset_bytes.saturating_add(unit.length_bytes as u64) < end);
        let mut arena = self.arena.borrow_mut();
        let buffer = arena.slice_mut(unit.buffer_offset, unit.length_bytes);
        Queued::Completed(match (unit.direction, self.pingpong) {
            (Direction::Read, false) => self.exchange.receive(&mut self.link, buffer),
            (Direction::Read, true) => self.exchange.receive_and_return(&mut self.link, buffer),
            (_, false) => self.exchange.send(&self.link, buffer, has_more),
            (_, true) => self.exchange.send_and_await(&mut self.link, buffer),
        })
    }

    fn hint(&self, _unit: &IoUnit, errno: i32) -> Option<&'static str> {
        hint(errno)
    }

    fn server(&mut self) -> Option<&mut dyn Server> {
        Some(self)
    }
}

impl Server for Net {
    fn connect(&mut self, _cancellation: Cancellation<'_>) -> Result<Connection, EngineError> {
        self.link.connect()
    }

    fn n_foreign_datagrams(&self) -> u64 {
        self.link.n_foreign
    }
}
