//! The stream of I/Os of one worker.
//!
//! Must not know: who does the I/Os. Start reading at [`Workload`].

use crate::compat;
use crate::paced::Pace;
use crate::plain::PlainStream;
use crate::plan::{WorkloadError, WorkloadPlan};
use crate::replay::{ReplayFigures, ReplayPlan, ReplayStream, TraceError};
use crate::source::{self, IoSource};
use crate::stream::{Next, NextIo, Stream};
use crate::told::{DrawWatch, ToldStream};
use crate::turns::TurnStream;
use crate::verify::pending::PendingWrite;
use crate::verify::read_back::{ReadBack, Regenerated};
use crate::zoning::{CompletedIo, Unzoned, ZoneRepair, ZoningFailure};
use ferrio_spec::PaceSpec;
use ferrio_units::random::Generator;
use std::time::Duration;

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

/// The stream of one worker.
#[derive(Debug)]
pub struct Workload {
    stream: StreamKind,
    /// The stream of the job, while its writes are read back.
    set_aside: Option<StreamKind>,
}

/// A copy of a stream, in the state that it had when it was made.
#[derive(Debug)]
pub struct StreamCopy(StreamKind);

/// The kind of stream, chosen when it is made. For a plan that fits several kinds, all give the same I/Os.
#[derive(Debug)]
enum StreamKind {
    Plain(Box<PlainStream>),
    Any(Box<Stream>),
    Replay(Box<ReplayStream>),
    /// A stream with zones, rates or pauses.
    Other(Box<dyn IoSource>),
    /// A stream that asks for I/Os of others before each of its own.
    Attended(Box<Attended>),
    ReadBack(ReadBack),
    Regenerated(Box<Regenerated<StreamKind>>),
}

/// A stream that lets its caller insert I/Os.
#[derive(Debug)]
struct Attended {
    stream: StreamKind,
    /// The inserted I/O.
    between: Option<NextIo>,
    /// [`Next::Wait`] was returned since the last I/O.
    has_asked: bool,
}

impl Attended {
    fn next(&mut self) -> Next {
        let next = match self.between.take() {
            Some(io) => Next::Io(io),
            None if self.has_asked => self.stream.next_of_any(),
            None => {
                self.has_asked = true;
                return Next::Wait;
            }
        };
        self.has_asked &= !matches!(next, Next::Io(_));
        next
    }
}

impl StreamKind {
    #[inline(never)]
    fn next_of_any(&mut self) -> Next {
        match self {
            Self::Plain(plain) => plain.next(),
            Self::Any(stream) => stream.next(),
            Self::Replay(replay) => replay.next(),
            Self::Other(source) => source.next(),
            Self::Attended(attended) => attended.next(),
            Self::ReadBack(reads) => reads.next(),
            Self::Regenerated(reads) => reads.next(Self::next_of_any),
        }
    }
}

impl Workload {
    /// Makes the stream; allocates the maps.
    pub fn new(plan: WorkloadPlan) -> Result<Self, WorkloadError> {
        let plan = compat::with_reach(plan);
        let stream = match PlainStream::new(&plan)? {
            Some(stream) => StreamKind::Plain(Box::new(stream)),
            None => Self::general(plan)?,
        };
        Ok(Self::of(stream))
    }

    /// Not inlined: plain jobs do not need this function's stack, and a thousand processes would each have it.
    #[inline(never)]
    fn general(plan: WorkloadPlan) -> Result<StreamKind, WorkloadError> {
        if plan.has_zones() {
            return Ok(StreamKind::Other(source::zoned(plan)?));
        }
        Ok(StreamKind::Any(Box::new(Stream::new(plan, Unzoned)?)))
    }

    /// Makes the stream of a job with rates or pauses: it gives [`Next::Wait`] before each I/O. Allocates the maps.
    pub fn paced(plan: WorkloadPlan, pace: &PaceSpec) -> Result<Self, WorkloadError> {
        Ok(Self::of(StreamKind::Other(source::paced(compat::with_reach(plan), pace)?)))
    }

    /// Makes the stream of a job whose I/Os are `limit` turns of work that move no data. With pauses it gives
    /// [`Next::Wait`] before each.
    pub fn turns(limit: u64, has_pauses: bool) -> Self {
        Self::of(StreamKind::Other(Box::new(TurnStream::new(limit, has_pauses))))
    }

    /// Makes the stream of a job that replays a trace: it gives [`Next::Wait`] before each I/O.
    pub fn replay(plan: ReplayPlan) -> Result<Self, TraceError> {
        Ok(Self::of(StreamKind::Replay(Box::new(ReplayStream::new(plan)?))))
    }

    fn of(stream: StreamKind) -> Self {
        Self { stream, set_aside: None }
    }

    /// From now on the stream gives reads of these writes, until [`Workload::end_read_back`]. Rates and limits do not
    /// apply to them.
    pub fn read_back(&mut self, writes: Vec<PendingWrite>) {
        let stream = std::mem::replace(&mut self.stream, StreamKind::ReadBack(ReadBack::new(writes)));
        self.set_aside.get_or_insert(stream);
    }

    /// A copy of the stream in its present state, for [`Workload::regenerate`]; `None`: the job replays a trace, which
    /// can be read only once.
    pub fn copy(&self) -> Option<StreamCopy> {
        let copy = match self.own() {
            StreamKind::Plain(plain) => StreamKind::Plain(plain.clone()),
            StreamKind::Any(stream) => StreamKind::Any(stream.clone()),
            StreamKind::Other(source) => StreamKind::Other(source.unpaced()),
            StreamKind::Replay(_) | StreamKind::Attended(_) | StreamKind::ReadBack(_) | StreamKind::Regenerated(_) => {
                return None;
            }
        };
        Some(StreamCopy(copy))
    }

    /// From now on the stream gives reads of the `n_writes` writes that were issued since the copy was made, until
    /// [`Workload::end_read_back`].
    pub fn regenerate(&mut self, copy: StreamCopy, n_writes: u64) {
        let reads = StreamKind::Regenerated(Box::new(Regenerated::new(copy.0, n_writes)));
        let stream = std::mem::replace(&mut self.stream, reads);
        self.set_aside.get_or_insert(stream);
    }

    /// Returns to the stream of the job. The result is the stream that repeated the writes, in its present state.
    pub fn end_read_back(&mut self) -> Option<StreamCopy> {
        let reads = std::mem::replace(&mut self.stream, self.set_aside.take()?);
        if let StreamKind::Regenerated(reads) = reads { Some(StreamCopy(reads.into_stream())) } else { None }
    }

    /// While writes are read back: the write that the last read belongs to, and those that are read after it.
    pub fn present_writes(&self) -> &[PendingWrite] {
        if let StreamKind::ReadBack(reads) = &self.stream { reads.present() } else { &[] }
    }

    /// From now on the stream gives [`Next::Wait`] before each I/O, so that the caller can insert one by
    /// [`Workload::put_between`].
    #[must_use]
    pub fn attended(self) -> Self {
        let attended = Attended { stream: self.stream, between: None, has_asked: false };
        Self { stream: StreamKind::Attended(Box::new(attended)), ..self }
    }

    /// The same stream with reports of its draws. A trace draws nothing.
    #[must_use]
    pub fn told(self, watch: DrawWatch) -> Self {
        let told = |stream: Box<dyn IoSource>| StreamKind::Other(Box::new(ToldStream::new(stream, watch)));
        let stream = match self.stream {
            StreamKind::Plain(plain) => told(plain),
            StreamKind::Any(stream) => told(stream),
            StreamKind::Other(source) => told(source),
            other => other,
        };
        Self { stream, ..self }
    }

    /// Inserts an I/O as the next one of an attended stream. Limits and rates do not apply to it.
    pub fn put_between(&mut self, io: NextIo) {
        if let StreamKind::Attended(attended) = &mut self.stream {
            attended.between = Some(io);
        }
    }

    /// The stream of the job itself.
    fn own(&self) -> &StreamKind {
        match self.set_aside.as_ref().unwrap_or(&self.stream) {
            StreamKind::Attended(attended) => &attended.stream,
            other => other,
        }
    }

    /// The same, mutable.
    fn own_mut(&mut self) -> &mut StreamKind {
        match self.set_aside.as_mut().unwrap_or(&mut self.stream) {
            StreamKind::Attended(attended) => &mut attended.stream,
            other => other,
        }
    }

    /// The stream that gives the next I/Os.
    fn present(&self) -> &StreamKind {
        match &self.stream {
            StreamKind::Attended(attended) => &attended.stream,
            other => other,
        }
    }

    /// The same, mutable.
    fn present_mut(&mut self) -> &mut StreamKind {
        match &mut self.stream {
            StreamKind::Attended(attended) => &mut attended.stream,
            other => other,
        }
    }

    /// Tells the time, nanoseconds of any clock. Returns the due time of the next I/O if that is known and in the
    /// future.
    pub fn turn(&mut self, now_ns: u64) -> Option<u64> {
        match self.present_mut() {
            StreamKind::Other(source) => source.pace().and_then(|pace| pace.turn(now_ns)),
            StreamKind::Replay(replay) => replay.turn(now_ns),
            _ => None,
        }
    }

    /// Figures about how well the times of a trace were kept; `None`: the job replays none.
    pub fn replay_figures(&self) -> Option<ReplayFigures> {
        if let StreamKind::Replay(replay) = self.own() { Some(replay.figures()) } else { None }
    }

    /// The error behind [`Next::Failed`].
    pub fn take_error(&mut self) -> Option<TraceError> {
        if let StreamKind::Replay(replay) = self.present_mut() { replay.take_error() } else { None }
    }

    /// Why the zones do not let the stream continue.
    pub fn zoning_failure(&self) -> Option<ZoningFailure> {
        if let StreamKind::Other(source) = self.own() { source.zoning_failure() } else { None }
    }

    /// Called after an I/O of the job is done or has failed. Only streams with zones of their own need this. `Some`: its
    /// zone was repaired after a failed write.
    pub fn completed(&mut self, io: &CompletedIo<'_>) -> Option<ZoneRepair> {
        match self.own_mut() {
            StreamKind::Other(source) => source.completed(io),
            _ => None,
        }
    }

    /// Called when no I/O of the job is in flight.
    pub fn drained(&mut self) {
        if let StreamKind::Other(source) = self.own_mut() {
            source.drained();
        }
    }

    /// After [`Next::Held`]: sleeps until another job may have released a zone, or for `limit`.
    pub fn wait_for_zone(&mut self, limit: Duration) {
        if let StreamKind::Other(source) = self.own_mut() {
            source.wait_for_zone(limit);
        }
    }

    /// Number of zones that were reset to be written again.
    pub fn n_zone_resets(&self) -> u64 {
        if let StreamKind::Other(source) = self.own() { source.n_zone_resets() } else { 0 }
    }

    /// Rates count from now.
    pub fn start_pace(&mut self, now_ns: u64) {
        if let Some(pace) = self.pace() {
            pace.start(now_ns);
        }
    }

    /// The job does not make up for I/Os that are late by now.
    pub fn forgive(&mut self, now_ns: u64) {
        if let StreamKind::Replay(replay) = self.present_mut() {
            replay.forgive();
        } else if let Some(pace) = self.pace() {
            pace.forgive(now_ns);
        }
    }

    /// Moves all due times by a pause.
    pub fn postpone(&mut self, pause_ns: u64) {
        if let StreamKind::Replay(replay) = self.present_mut() {
            replay.postpone(pause_ns);
        } else if let Some(pace) = self.pace() {
            pace.postpone(pause_ns);
        }
    }

    /// The time at which the rate wanted the last read, write or trim to start, on the clock that was told; `None`: it
    /// had no rate.
    pub fn intended_ns(&self) -> Option<u64> {
        if let StreamKind::Other(source) = self.present() { source.intended_ns() } else { None }
    }

    fn pace(&mut self) -> Option<&mut dyn Pace> {
        if let StreamKind::Other(source) = self.present_mut() { source.pace() } else { None }
    }

    /// The next I/O, or what has to happen before it.
    ///
    /// Inlined into the loop together with the plain stream, so that an I/O stays in registers. A call would hand it
    /// over in memory, and the CPU stalls when it reads such a value back in pieces other than those in which it was
    /// written.
    #[expect(clippy::should_implement_trait, reason = "not an iterator: after `PassEnd` it goes on with the next pass")]
    #[expect(clippy::inline_always, reason = "left to itself the compiler does not")]
    #[inline(always)]
    pub fn next(&mut self) -> Next {
        match &mut self.stream {
            StreamKind::Plain(plain) => plain.next(),
            other => other.next_of_any(),
        }
    }

    /// Called after a file was closed; none of its I/Os is in flight.
    pub fn closed(&mut self, file_index: u32) {
        match self.present_mut() {
            StreamKind::Any(stream) => stream.closed(file_index),
            StreamKind::Other(source) => source.closed(file_index),
            StreamKind::Plain(_)
            | StreamKind::Attended(_)
            | StreamKind::Regenerated(_)
            | StreamKind::Replay(_)
            | StreamKind::ReadBack(_) => {}
        }
    }

    /// Start of the block that did not fit when the file of the last [`Next::Close`] or [`Next::Restart`] ended;
    /// `None`: there was no offset for it. An offset past the end of the range counts from the start of the range.
    pub fn missed_bytes(&self) -> Option<u64> {
        match self.own() {
            StreamKind::Plain(plain) => plain.missed_bytes(),
            StreamKind::Any(stream) => stream.missed_bytes(),
            StreamKind::Other(source) => source.missed_bytes(),
            StreamKind::Replay(_) | StreamKind::Attended(_) | StreamKind::ReadBack(_) | StreamKind::Regenerated(_) => {
                None
            }
        }
    }

    /// Starts the next pass over all files. All files count as closed.
    pub fn start_pass(&mut self) {
        match self.present_mut() {
            StreamKind::Plain(plain) => plain.start_pass(),
            StreamKind::Any(stream) => stream.start_pass(),
            StreamKind::Other(source) => source.start_pass(),
            StreamKind::Replay(replay) => replay.start_pass(),
            StreamKind::Attended(_) | StreamKind::ReadBack(_) | StreamKind::Regenerated(_) => {}
        }
    }

    /// True if the last I/O was a sync.
    pub fn last_was_sync(&self) -> bool {
        match self.own() {
            StreamKind::Plain(_) | StreamKind::Attended(_) | StreamKind::ReadBack(_) | StreamKind::Regenerated(_) => {
                false
            }
            StreamKind::Any(stream) => stream.progress().last_was_sync,
            StreamKind::Other(source) => source.progress().last_was_sync,
            StreamKind::Replay(replay) => replay.last_was_sync(),
        }
    }

    /// Bytes issued in all passes, whether they count for the limit or not.
    pub fn issued_bytes(&self) -> u64 {
        match self.own() {
            StreamKind::Plain(plain) => plain.issued_bytes(),
            StreamKind::Any(stream) => stream.progress().issued_bytes,
            StreamKind::Other(source) => source.progress().issued_bytes,
            StreamKind::Replay(replay) => replay.issued_bytes(),
            StreamKind::Attended(_) | StreamKind::ReadBack(_) | StreamKind::Regenerated(_) => 0,
        }
    }

    /// Reads, writes and trims issued in all passes.
    pub fn n_issued(&self) -> u64 {
        match self.own() {
            StreamKind::Plain(plain) => plain.n_issued(),
            StreamKind::Any(stream) => stream.progress().n_issued,
            StreamKind::Other(source) => source.progress().n_issued,
            StreamKind::Replay(replay) => replay.n_issued(),
            StreamKind::Attended(_) | StreamKind::ReadBack(_) | StreamKind::Regenerated(_) => 0,
        }
    }

    /// True if the job has issued all of its bytes, or all of its reads, writes and trims.
    pub fn is_spent(&self) -> bool {
        match self.own() {
            StreamKind::Plain(plain) => plain.is_spent(),
            StreamKind::Any(stream) => stream.progress().is_spent,
            StreamKind::Other(source) => source.progress().is_spent,
            StreamKind::Replay(_) | StreamKind::Attended(_) | StreamKind::ReadBack(_) | StreamKind::Regenerated(_) => {
                false
            }
        }
    }

    /// State of the generator of the offsets.
    pub fn offset_state(&self) -> OffsetState {
        match self.own() {
            StreamKind::Plain(plain) => plain.offset_state(),
            StreamKind::Any(stream) => stream.offset_state(),
            StreamKind::Other(source) => source.offset_state(),
            StreamKind::Replay(_) | StreamKind::Attended(_) | StreamKind::ReadBack(_) | StreamKind::Regenerated(_) => {
                OffsetState::None
            }
        }
    }

    /// Writes issued in all passes.
    pub fn n_writes_issued(&self) -> u64 {
        match self.own() {
            StreamKind::Plain(plain) => plain.n_writes_issued(),
            StreamKind::Any(stream) => stream.progress().n_writes_issued,
            StreamKind::Other(source) => source.progress().n_writes_issued,
            StreamKind::Replay(replay) => replay.n_writes_issued(),
            StreamKind::Attended(_) | StreamKind::ReadBack(_) | StreamKind::Regenerated(_) => 0,
        }
    }
}
