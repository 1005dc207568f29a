//! The stream of I/Os of one worker.
//!
//! Must not know: who does them. Start reading at [`Workload`].

use crate::paced::{Pace, PacedStream};
use crate::plain::PlainStream;
use crate::plan::{WorkloadError, WorkloadPlan};
use crate::replay::{ReplayFigures, ReplayPlan, ReplayStream, TraceError};
use crate::stream::{Next, Progress, Stream};
use crate::strided::Strided;
use crate::verify::pending::PendingWrite;
use crate::verify::read_back::ReadBack;
use crate::zoning::{Unzoned, Zoning};
use ferrio_job::spec::PaceSpec;

/// The stream of one worker.
#[derive(Debug)]
pub struct Workload {
    stream: Kind,
    /// The stream of the job while what it wrote is read back.
    set_aside: Option<Kind>,
}

/// Which was chosen when the stream was made. All give the same I/Os where they can be used.
#[derive(Debug)]
enum Kind {
    Plain(Box<PlainStream>),
    Any(Box<Stream>),
    Replay(Box<ReplayStream>),
    /// With zones, rates or pauses.
    Other(Box<dyn Source>),
    ReadBack(ReadBack),
}

/// What a stream can do, whatever its zones and its pace.
trait Source: std::fmt::Debug {
    fn next(&mut self) -> Next;
    fn start_pass(&mut self);
    fn progress(&self) -> Progress;
    /// What keeps its pace, if it has one.
    fn pace(&mut self) -> Option<&mut dyn Pace>;
    /// When the last I/O was meant to start, if its direction has a rate.
    fn intended_ns(&self) -> Option<u64>;
}

impl<Z: Zoning> Source for Stream<Z> {
    fn next(&mut self) -> Next {
        Self::next(self)
    }

    fn start_pass(&mut self) {
        Self::start_pass(self);
    }

    fn progress(&self) -> Progress {
        Self::progress(self)
    }

    fn pace(&mut self) -> Option<&mut dyn Pace> {
        None
    }

    fn intended_ns(&self) -> Option<u64> {
        None
    }
}

impl<Z: Zoning> Source for PacedStream<Z> {
    fn next(&mut self) -> Next {
        Self::next(self)
    }

    fn start_pass(&mut self) {
        self.stream.start_pass();
    }

    fn progress(&self) -> Progress {
        self.stream.progress()
    }

    fn pace(&mut self) -> Option<&mut dyn Pace> {
        Some(self)
    }

    fn intended_ns(&self) -> Option<u64> {
        Self::intended_ns(self)
    }
}

impl Kind {
    #[inline(never)]
    fn next_of_any(&mut self) -> Next {
        match self {
            Self::Plain(plain) => plain.next(),
            Self::Any(stream) => stream.next(),
            Self::Replay(replay) => replay.next(),
            Self::Other(source) => source.next(),
            Self::ReadBack(reads) => reads.next(),
        }
    }
}

impl Workload {
    /// Makes the stream; allocates the maps.
    pub fn new(plan: WorkloadPlan) -> Result<Self, WorkloadError> {
        let stream = match (PlainStream::new(&plan)?, plan.strided) {
            (Some(stream), _) => Kind::Plain(Box::new(stream)),
            (None, None) => Kind::Any(Box::new(Stream::new(plan, Unzoned)?)),
            (None, Some(spec)) => {
                let zones = Strided::new(spec, plan.time_based);
                Kind::Other(Box::new(Stream::new(plan, zones)?))
            }
        };
        Ok(Self::of(stream))
    }

    /// Makes the stream of a job with rates or pauses: it gives [`Next::Wait`] before each I/O. Allocates the maps.
    pub fn paced(plan: WorkloadPlan, pace: &PaceSpec) -> Result<Self, WorkloadError> {
        let stream: Box<dyn Source> = match plan.strided {
            None => Box::new(PacedStream::new(plan, pace, Unzoned)?),
            Some(spec) => {
                let zones = Strided::new(spec, plan.time_based);
                Box::new(PacedStream::new(plan, pace, zones)?)
            }
        };
        Ok(Self::of(Kind::Other(stream)))
    }

    /// Makes the stream of a job that replays a trace: it gives [`Next::Wait`] before each I/O.
    pub fn replay(plan: ReplayPlan) -> Result<Self, TraceError> {
        Ok(Self::of(Kind::Replay(Box::new(ReplayStream::new(plan)?))))
    }

    fn of(stream: Kind) -> Self {
        Self { stream, set_aside: None }
    }

    /// What comes next are reads of these writes, until [`Workload::end_read_back`]. They know no rates and count for no
    /// limit.
    pub fn read_back(&mut self, writes: Vec<PendingWrite>) {
        let stream = std::mem::replace(&mut self.stream, Kind::ReadBack(ReadBack::new(writes)));
        self.set_aside.get_or_insert(stream);
    }

    /// The stream of the job goes on.
    pub fn end_read_back(&mut self) {
        if let Some(stream) = self.set_aside.take() {
            self.stream = stream;
        }
    }

    /// The write that the last read belongs to, while what was written is read back.
    pub fn present_write(&self) -> Option<&PendingWrite> {
        if let Kind::ReadBack(reads) = &self.stream { reads.present() } else { None }
    }

    /// The stream of the job.
    fn own(&self) -> &Kind {
        self.set_aside.as_ref().unwrap_or(&self.stream)
    }

    /// Tells the time, nanoseconds of any clock. Gives that at which the next I/O is due if it lies ahead and is known.
    pub fn turn(&mut self, now_ns: u64) -> Option<u64> {
        match &mut self.stream {
            Kind::Other(source) => source.pace().and_then(|pace| pace.turn(now_ns)),
            Kind::Replay(replay) => replay.turn(now_ns),
            _ => None,
        }
    }

    /// How well the times of a trace were kept; `None`: the job replays none.
    pub fn replay_figures(&self) -> Option<ReplayFigures> {
        if let Kind::Replay(replay) = self.own() { Some(replay.figures()) } else { None }
    }

    /// What is behind [`Next::Failed`].
    pub fn take_error(&mut self) -> Option<TraceError> {
        if let Kind::Replay(replay) = &mut self.stream { replay.take_error() } else { None }
    }

    /// Rates count from now.
    pub fn start_pace(&mut self, now_ns: u64) {
        if let Some(pace) = self.pace() {
            pace.start(now_ns);
        }
    }

    /// What is behind its rate now does not make up for it.
    pub fn forgive(&mut self, now_ns: u64) {
        if let Kind::Replay(replay) = &mut self.stream {
            replay.forgive();
        } else if let Some(pace) = self.pace() {
            pace.forgive(now_ns);
        }
    }

    /// Rates stood still for a pause.
    pub fn postpone(&mut self, pause_ns: u64) {
        if let Kind::Replay(replay) = &mut self.stream {
            replay.postpone(pause_ns);
        } else if let Some(pace) = self.pace() {
            pace.postpone(pause_ns);
        }
    }

    /// When the rate wanted the last read, write or trim to start, on the clock that was told; `None`: it had no rate.
    pub fn intended_ns(&self) -> Option<u64> {
        if let Kind::Other(source) = &self.stream { source.intended_ns() } else { None }
    }

    fn pace(&mut self) -> Option<&mut dyn Pace> {
        if let Kind::Other(source) = &mut self.stream { source.pace() } else { None }
    }

    /// The next I/O, or what has to happen before it.
    ///
    /// Inlined into its loop with the plain stream: its I/Os stay in registers, where a call hands them over in memory, and
    /// reading them back in other pieces than they were written in makes the CPU wait.
    #[expect(clippy::should_implement_trait, reason = "not an iterator: after `PassEnd` it goes on with the next pass")]
    #[expect(clippy::inline_always, reason = "left to itself the compiler does not")]
    #[inline(always)]
    pub fn next(&mut self) -> Next {
        match &mut self.stream {
            Kind::Plain(plain) => plain.next(),
            other => other.next_of_any(),
        }
    }

    /// Starts the next pass over all files. All files count as closed.
    pub fn start_pass(&mut self) {
        match &mut self.stream {
            Kind::Plain(plain) => plain.start_pass(),
            Kind::Any(stream) => stream.start_pass(),
            Kind::Other(source) => source.start_pass(),
            Kind::Replay(replay) => replay.start_pass(),
            Kind::ReadBack(_) => {}
        }
    }

    /// The last I/O issued was a sync.
    pub fn last_was_sync(&self) -> bool {
        match self.own() {
            Kind::Plain(_) | Kind::ReadBack(_) => false,
            Kind::Any(stream) => stream.progress().last_was_sync,
            Kind::Other(source) => source.progress().last_was_sync,
            Kind::Replay(replay) => replay.last_was_sync(),
        }
    }

    /// Bytes issued in all passes, whether they count for the limit or not.
    pub fn issued_bytes(&self) -> u64 {
        match self.own() {
            Kind::Plain(plain) => plain.issued_bytes(),
            Kind::Any(stream) => stream.progress().issued_bytes,
            Kind::Other(source) => source.progress().issued_bytes,
            Kind::Replay(replay) => replay.issued_bytes(),
            Kind::ReadBack(_) => 0,
        }
    }

    /// Reads, writes and trims issued in all passes.
    pub fn n_issued(&self) -> u64 {
        match self.own() {
            Kind::Plain(plain) => plain.n_issued(),
            Kind::Any(stream) => stream.progress().n_issued,
            Kind::Other(source) => source.progress().n_issued,
            Kind::Replay(replay) => replay.n_issued(),
            Kind::ReadBack(_) => 0,
        }
    }

    /// Writes issued in all passes.
    pub fn n_writes_issued(&self) -> u64 {
        match self.own() {
            Kind::Plain(plain) => plain.n_writes_issued(),
            Kind::Any(stream) => stream.progress().n_writes_issued,
            Kind::Other(source) => source.progress().n_writes_issued,
            Kind::Replay(replay) => replay.n_writes_issued(),
            Kind::ReadBack(_) => 0,
        }
    }
}
