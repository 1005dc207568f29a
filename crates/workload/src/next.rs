//! What a stream gives: the next I/O, or what has to happen before it; and what it tells of itself.
//!
//! Must not know: streams. Start reading at [`Next`].

use ferrio_units::Direction;
use ferrio_units::random::Generator;

/// One I/O to issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextIo {
    pub direction: Direction,
    pub file_index: u32,
    /// Offset in the file; 0 for syncs.
    pub offset_bytes: u64,
    /// Length; 0 for syncs.
    pub length_bytes: u64,
}

/// The next step of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// An I/O. Its file may have to be opened first.
    Io(NextIo),
    /// The file has nothing left in this pass: close it once none of its I/Os is in flight, then ask again.
    Close(u32),
    /// The file starts over (time-based jobs): drop its cache if the job wants that, then ask again.
    Restart(u32),
    /// A job with rates or pauses needs the time ([`Pace::turn`](crate::Pace::turn)); then ask again.
    Wait,
    /// The file must be open from now on (replays); then ask again.
    Open(u32),
    /// A zone cannot be used while I/Os of the job are in flight: wait for all of them, tell
    /// [`SharedZoning::drained`](crate::SharedZoning::drained), then ask again.
    Drain,
    /// A zone cannot be used before another job releases it: wait for
    /// [`SharedZoning::awaited`](crate::SharedZoning::awaited), then ask again. Nothing of the job is in flight.
    Held,
    /// The pass is over.
    PassEnd,
    /// The stream cannot go on; [`SharedZoning::failure`](crate::SharedZoning::failure) or
    /// [`ReplayStream::error`](crate::replay::ReplayStream::error) says why.
    Failed,
}

/// Amounts that a stream has issued in all passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IssuedTotals {
    pub last_was_sync: bool,
    /// Bytes, including those that do not count for the limit.
    pub issued_bytes: u64,
    /// Number of reads, writes and trims.
    pub n_issued: u64,
    pub n_writes_issued: u64,
    /// The job has nothing more to issue.
    pub is_spent: bool,
}

/// State of the generator from which a stream draws its offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OffsetState {
    /// There is none: the offsets come from a trace.
    None,
    /// The generator with 32-bit words.
    Taus88([u32; 3]),
    /// The generator with 64-bit words.
    Taus258([u64; 5]),
}

impl From<&Generator> for OffsetState {
    fn from(generator: &Generator) -> Self {
        match generator {
            Generator::Taus88(stream) => Self::Taus88(stream.words()),
            Generator::Taus258(stream) => Self::Taus258(stream.words()),
        }
    }
}
