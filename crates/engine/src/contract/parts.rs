//! Optional parts of an engine: what only few engines do beside the I/O. [`Engine`](crate::Engine) returns those that it has.
//!
//! Must not know: which engine has which part. Start reading at [`Server`].

use crate::contract::{Cancellation, EngineError, IoUnit};
use ferrio_stats::ServerSteps;
use ferrio_stats::note::{ProtectionField, ScsiStatus};
use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connection {
    /// The connection is made, or the engine needs none.
    Made,
    /// The connection to a server has just been made. The text names the kind of server.
    Reached(&'static str),
    /// This end has asked the other one to connect, or expects it to.
    Awaited,
    /// This end listens, and no peer has connected yet.
    Listening,
}

/// What an engine says about a failed unit, in place of the line that other failed I/Os have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// The step that failed, a short name.
    pub step: &'static str,
    /// fio's own line, if it has one.
    pub line: Option<String>,
    /// The reason, in one sentence for the user.
    pub why: Option<String>,
}

/// The part of an engine whose I/Os need something outside: a server, the other end of a connection, a library.
pub trait Server {
    /// Makes the connection that the I/Os use, unless it is made already. The loop calls this before it opens a target,
    /// until the connection is made. A call waits for a moment at most, or until it is cancelled. A connection
    /// between two ends ends when the last target is closed.
    fn connect(&mut self, _cancellation: Cancellation<'_>) -> Result<Connection, EngineError> {
        Ok(Connection::Made)
    }

    /// Ends the connection, after the last target is closed and nothing is in flight. What the engine may still keep for the server goes
    /// there first. What is not done when it is cancelled is left behind.
    fn disconnect(&mut self, _cancellation: Cancellation<'_>) {}

    /// Gives up the units in flight, because what the engine waits for outside does not come: [`Engine::reap`](crate::Engine::reap) then
    /// returns each of them at once, as [`Outcome::EndOfData`](crate::Outcome::EndOfData).
    fn give_up(&mut self) {}

    /// Bytes of I/Os in flight that were moved to the outside or from there since this was asked last; 0 of an engine that cannot tell.
    /// Called while the loop waits for something outside.
    fn take_moved_bytes(&mut self) -> u64 {
        0
    }

    /// What the engine says about the unit that failed last, once. Not called on the hot path.
    fn take_complaint(&mut self) -> Option<Complaint> {
        None
    }

    /// Steps by which the engine has reached its server and got replies, if it has one. Not called on the hot path.
    fn server_steps(&self) -> Option<ServerSteps> {
        None
    }

    /// Told when all counts of I/Os begin anew, as after a ramp: those of the engine do so too.
    fn counts_begin_anew(&mut self) {}

    /// Number of datagrams so far that came from others than the other end of the connection.
    fn n_foreign_datagrams(&self) -> u64 {
        0
    }
}

/// What a write leaves in its blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteContent {
    Data,
    Zeroes,
    /// What was there before.
    Unchanged,
}

/// How the commands of an engine bear on the blocks of a verified job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BlockTraits {
    /// Not all writes leave the data of their buffers: [`DeviceCommands::content_of_write`] has to be asked before each.
    pub varies_writes: bool,
    /// Written blocks are not read back, but compared by the device: [`DeviceCommands::set_comparing`].
    pub compares_reads: bool,
}

/// The part of an engine whose commands do more with blocks than reads, writes and trims of one range.
pub trait DeviceCommands {
    /// How its commands bear on the blocks of a verified job.
    fn block_traits(&self) -> BlockTraits;

    /// Decides what the next write of a slot leaves in its blocks. Asked before the write is queued, in verified jobs, of engines with
    /// [`BlockTraits::varies_writes`].
    fn content_of_write(&mut self, unit_index: u32) -> WriteContent;

    /// From now on, reads become comparisons of the data in their buffers with those of the device (or are reads again). Called, while
    /// nothing is in flight, for engines with [`BlockTraits::compares_reads`].
    fn set_comparing(&mut self, is_comparing: bool);

    /// The ranges of the trim that is queued next in a slot, bytes; none: it has the one of the unit. Called before each trim of a job
    /// whose trims have several ranges.
    fn put_ranges(&mut self, unit_index: u32, unit: &IoUnit, ranges: &[Range<u64>]);
}

/// Protection information that is not what it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TagMismatch {
    pub field: ProtectionField,
    /// First block of the I/O.
    pub block: u64,
    pub expected: u64,
    pub actual: u64,
}

/// The part of an engine that knows more of a failed unit than its errno. Not called on the hot path.
pub trait FailureDetails {
    /// The meaning of a status of the device, in one sentence for the user.
    fn status_hint(&self, _status: u16) -> Option<&'static str> {
        None
    }

    /// What was wrong with the protection information of a unit that failed, once.
    fn take_mismatch(&mut self, _unit_index: u32) -> Option<TagMismatch> {
        None
    }

    /// What a SCSI device has said of a failed unit, once.
    fn take_scsi_status(&mut self, _unit_index: u32) -> Option<Box<ScsiStatus>> {
        None
    }

    /// True once for a unit whose error came from its submission, not from the I/O.
    fn take_refusal(&mut self, _unit_index: u32) -> bool {
        false
    }
}
