//! The stream of I/Os of one worker.
//!
//! Must not know: who does them. Start reading at [`Workload`].

use crate::paced::PacedStream;
use crate::plain::PlainStream;
use crate::plan::{WorkloadError, WorkloadPlan};
use crate::replay::{ReplayFigures, ReplayPlan, ReplayStream, TraceError};
use crate::stream::{Next, Stream};
use ferrio_job::spec::PaceSpec;

/// The stream of one worker.
#[derive(Debug)]
pub struct Workload {
    stream: Kind,
}

/// Which was chosen when the stream was made. All give the same I/Os where they can be used.
#[derive(Debug)]
enum Kind {
    Plain(Box<PlainStream>),
    Any(Box<Stream>),
    Paced(Box<PacedStream>),
    Replay(Box<ReplayStream>),
}

impl Kind {
    #[inline(never)]
    fn next_of_any(&mut self) -> Next {
        match self {
            Self::Plain(plain) => plain.next(),
            Self::Any(stream) => stream.next(),
            Self::Paced(paced) => paced.next(),
            Self::Replay(replay) => replay.next(),
        }
    }
}

impl Workload {
    /// Makes the stream; allocates the maps.
    pub fn new(plan: WorkloadPlan) -> Result<Self, WorkloadError> {
        let stream = match PlainStream::new(&plan)? {
            Some(stream) => Kind::Plain(Box::new(stream)),
            None => Kind::Any(Box::new(Stream::new(plan)?)),
        };
        Ok(Self { stream })
    }

    /// Makes the stream of a job with rates or pauses: it gives [`Next::Wait`] before each I/O. Allocates the maps.
    pub fn paced(plan: WorkloadPlan, pace: &PaceSpec) -> Result<Self, WorkloadError> {
        Ok(Self { stream: Kind::Paced(Box::new(PacedStream::new(plan, pace)?)) })
    }

    /// Makes the stream of a job that replays a trace: it gives [`Next::Wait`] before each I/O.
    pub fn replay(plan: ReplayPlan) -> Result<Self, TraceError> {
        Ok(Self { stream: Kind::Replay(Box::new(ReplayStream::new(plan)?)) })
    }

    /// Tells the time, nanoseconds of any clock. Gives that at which the next I/O is due if it lies ahead and is known.
    pub fn turn(&mut self, now_ns: u64) -> Option<u64> {
        match &mut self.stream {
            Kind::Paced(paced) => paced.turn(now_ns),
            Kind::Replay(replay) => replay.turn(now_ns),
            _ => None,
        }
    }

    /// How well the times of a trace were kept; `None`: the job replays none.
    pub fn replay_figures(&self) -> Option<ReplayFigures> {
        if let Kind::Replay(replay) = &self.stream { Some(replay.figures()) } else { None }
    }

    /// What is behind [`Next::Failed`].
    pub fn take_error(&mut self) -> Option<TraceError> {
        if let Kind::Replay(replay) = &mut self.stream { replay.take_error() } else { None }
    }

    /// Rates count from now.
    pub fn start_pace(&mut self, now_ns: u64) {
        if let Kind::Paced(paced) = &mut self.stream {
            paced.start(now_ns);
        }
    }

    /// What is behind its rate now does not make up for it.
    pub fn forgive(&mut self, now_ns: u64) {
        match &mut self.stream {
            Kind::Paced(paced) => paced.forgive(now_ns),
            Kind::Replay(replay) => replay.forgive(),
            _ => {}
        }
    }

    /// Rates stood still for a pause.
    pub fn postpone(&mut self, pause_ns: u64) {
        match &mut self.stream {
            Kind::Paced(paced) => paced.postpone(pause_ns),
            Kind::Replay(replay) => replay.postpone(pause_ns),
            _ => {}
        }
    }

    /// When the rate wanted the last read, write or trim to start, on the clock that was told; `None`: it had no rate.
    pub fn intended_ns(&self) -> Option<u64> {
        if let Kind::Paced(paced) = &self.stream { paced.intended_ns() } else { None }
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
            Kind::Paced(paced) => paced.stream.start_pass(),
            Kind::Replay(replay) => replay.start_pass(),
        }
    }

    /// The last I/O issued was a sync.
    pub fn last_was_sync(&self) -> bool {
        match &self.stream {
            Kind::Plain(_) => false,
            Kind::Any(stream) => stream.last_was_sync(),
            Kind::Paced(paced) => paced.stream.last_was_sync(),
            Kind::Replay(replay) => replay.last_was_sync(),
        }
    }

    /// Bytes issued in all passes, whether they count for the limit or not.
    pub fn issued_bytes(&self) -> u64 {
        match &self.stream {
            Kind::Plain(plain) => plain.issued_bytes(),
            Kind::Any(stream) => stream.issued_bytes(),
            Kind::Paced(paced) => paced.stream.issued_bytes(),
            Kind::Replay(replay) => replay.issued_bytes(),
        }
    }

    /// Reads, writes and trims issued in all passes.
    pub fn n_issued(&self) -> u64 {
        match &self.stream {
            Kind::Plain(plain) => plain.n_issued(),
            Kind::Any(stream) => stream.n_issued(),
            Kind::Paced(paced) => paced.stream.n_issued(),
            Kind::Replay(replay) => replay.n_issued(),
        }
    }

    /// Writes issued in all passes.
    pub fn n_writes_issued(&self) -> u64 {
        match &self.stream {
            Kind::Plain(plain) => plain.n_writes_issued(),
            Kind::Any(stream) => stream.n_writes_issued(),
            Kind::Paced(paced) => paced.stream.n_writes_issued(),
            Kind::Replay(replay) => replay.n_writes_issued(),
        }
    }
}
