//! The stream of I/Os of one worker.
//!
//! Must not know: who does the I/Os. Start reading at [`Workload`].

use crate::common::CommonStream;
use crate::compat;
use crate::debug_trace::{DrawWatch, TracedStream};
use crate::interleaved::Interleaved;
use crate::io_stream::{IoStream, JobStream};
use crate::next::{IssuedTotals, Next, NextIo, OffsetState};
use crate::pace::Pace;
use crate::parted::Parted;
use crate::plain::PlainStream;
use crate::plan::{WorkForm, WorkloadError, WorkloadPlan};
use crate::replay::{ReplayPlan, ReplayStream, TraceError};
use crate::stream::Stream;
use crate::streams;
use crate::turns::TurnStream;
use crate::verify::pending::PendingWrite;
use crate::verify::read_back::{ReadBack, Regenerated};
use crate::whole_files::WholeFiles;
use crate::zoning::{SharedZoning, Unzoned};
use ferrio_spec::PaceSpec;
use ferrio_stats::DrawCounts;
use std::ops::Range;

/// The stream of one worker.
#[derive(Debug)]
pub struct Workload {
    stream: StreamKind,
    /// The stream of the job, while its writes are read back.
    set_aside: Option<StreamKind>,
}

/// A copy of a stream, in the state that it had when it was made.
#[derive(Debug)]
pub struct StreamCopy(Box<dyn IoStream>);

/// The kind of stream, chosen when it is made. For a plan that fits several kinds, all give the same I/Os. The two most common streams
/// have kinds of their own, because a call through a trait takes up to 12 % more instructions for each I/O.
#[derive(Debug)]
enum StreamKind {
    Plain(Box<PlainStream>),
    General(Box<Stream>),
    Any(Box<dyn IoStream>),
}

impl StreamKind {
    fn of(stream: impl IoStream + 'static) -> Self {
        Self::Any(Box::new(stream))
    }

    fn boxed(self) -> Box<dyn IoStream> {
        match self {
            Self::Plain(stream) => stream,
            Self::General(stream) => stream,
            Self::Any(stream) => stream,
        }
    }

    fn any(&self) -> &dyn IoStream {
        match self {
            Self::Plain(stream) => &**stream,
            Self::General(stream) => &**stream,
            Self::Any(stream) => &**stream,
        }
    }

    fn any_mut(&mut self) -> &mut dyn IoStream {
        match self {
            Self::Plain(stream) => &mut **stream,
            Self::General(stream) => &mut **stream,
            Self::Any(stream) => &mut **stream,
        }
    }

    #[inline(never)]
    fn next_of_any(&mut self) -> Next {
        match self {
            Self::Plain(stream) => stream.draw(),
            Self::General(stream) => stream.draw(),
            Self::Any(stream) => stream.next(),
        }
    }
}

impl Workload {
    /// Makes the stream; allocates the maps.
    pub fn new(plan: WorkloadPlan) -> Result<Self, WorkloadError> {
        let plan = compat::with_reach(plan);
        let simple = if plan.form == WorkForm::Blocks { PlainStream::new(&plan)? } else { None };
        let stream = match simple {
            Some(stream) => StreamKind::Plain(Box::new(stream)),
            None => Self::general(plan)?,
        };
        Ok(Self::of(stream))
    }

    /// Not inlined: plain jobs do not need this function's stack, and a thousand processes would each have it.
    #[inline(never)]
    fn general(plan: WorkloadPlan) -> Result<StreamKind, WorkloadError> {
        match &plan.form {
            WorkForm::Blocks => {}
            WorkForm::WholeFiles => return Ok(StreamKind::of(WholeFiles::new(plan)?)),
            WorkForm::Common(position) => {
                return Ok(StreamKind::of(CommonStream::new(&plan, position.clone())));
            }
            WorkForm::Patterns(parts) => return Ok(StreamKind::of(Parted::new(&plan, parts)?)),
        }
        if plan.limits.ranges_per_trim > 1 {
            return Ok(StreamKind::Any(streams::gathered(plan)?));
        }
        if plan.has_zones() {
            return Ok(StreamKind::Any(streams::zoned(plan)?));
        }
        Ok(StreamKind::General(Box::new(Stream::new(plan, Unzoned)?)))
    }

    /// Makes the stream of a job with rates or pauses: it gives [`Next::Wait`] before each I/O. Allocates the maps.
    pub fn paced(plan: WorkloadPlan, pace: &PaceSpec) -> Result<Self, WorkloadError> {
        Ok(Self::of(StreamKind::Any(streams::paced(compat::with_reach(plan), pace)?)))
    }

    /// Makes the stream of a job whose I/Os are `limit` turns of work that move no data. With pauses it gives
    /// [`Next::Wait`] before each.
    pub fn turns(limit: u64, has_pauses: bool) -> Self {
        Self::of(StreamKind::of(TurnStream::new(limit, has_pauses)))
    }

    /// Makes the stream of a job that replays a trace: it gives [`Next::Wait`] before each I/O.
    pub fn replay(plan: ReplayPlan) -> Result<Self, TraceError> {
        Ok(Self::of(StreamKind::of(ReplayStream::new(plan)?)))
    }

    fn of(stream: StreamKind) -> Self {
        Self { stream, set_aside: None }
    }

    /// From now on the stream gives reads of these writes, until [`Workload::end_read_back`]. Rates and limits do not
    /// apply to them.
    pub fn read_back(&mut self, writes: Vec<PendingWrite>) {
        self.set_aside_for(StreamKind::of(ReadBack::new(writes)));
    }

    /// From now on the stream gives reads of the `n_writes` writes that were issued since the copy was made, until
    /// [`Workload::end_read_back`].
    pub fn regenerate(&mut self, copy: StreamCopy, n_writes: u64) {
        self.set_aside_for(StreamKind::of(Regenerated::new(copy.0, n_writes)));
    }

    fn set_aside_for(&mut self, reads: StreamKind) {
        let stream = std::mem::replace(&mut self.stream, reads);
        self.set_aside.get_or_insert(stream);
    }

    /// Returns to the stream of the job. The result is the stream that repeated the writes, in its present state.
    pub fn end_read_back(&mut self) -> Option<StreamCopy> {
        let reads = std::mem::replace(&mut self.stream, self.set_aside.take()?);
        reads.boxed().into_repeated().map(StreamCopy)
    }

    /// While writes are read back: the write that the last read belongs to, and those that are read after it.
    pub fn present_writes(&self) -> &[PendingWrite] {
        self.stream.any().present_writes()
    }

    /// A copy of the stream in its present state, for [`Workload::regenerate`]; `None`: the job replays a trace, which
    /// can be read only once.
    pub fn copy(&self) -> Option<StreamCopy> {
        self.job()?.copy().map(StreamCopy)
    }

    /// From now on the stream gives [`Next::Wait`] before each I/O, so that the caller can insert one by
    /// [`Workload::put_between`].
    #[must_use]
    pub fn interleaved(self) -> Self {
        Self { stream: StreamKind::of(Interleaved::new(self.stream.boxed())), ..self }
    }

    /// The same stream with reports of its draws. A trace draws nothing.
    #[must_use]
    pub fn traced(self, watch: DrawWatch) -> Self {
        Self { stream: StreamKind::of(TracedStream::new(self.stream.boxed(), watch)), ..self }
    }

    /// Inserts an I/O as the next one of an interleaved stream. Limits and rates do not apply to it.
    pub fn put_between(&mut self, io: NextIo) {
        if let Some(gap) = self.stream.any_mut().gap() {
            *gap = Some(io);
        }
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
            StreamKind::Plain(plain) => plain.draw(),
            other => other.next_of_any(),
        }
    }

    /// Called after a file was closed; none of its I/Os is in flight.
    pub fn closed(&mut self, file_index: u32) {
        if let Some(job) = self.stream.any_mut().job_mut() {
            job.closed(file_index);
        }
    }

    /// Starts the next pass over all files. All files count as closed.
    pub fn start_pass(&mut self) {
        if let Some(job) = self.stream.any_mut().job_mut() {
            job.start_pass();
        }
    }

    /// The part that keeps the times of the next I/Os; `None`: they have none.
    pub fn pace(&mut self) -> Option<&mut dyn Pace> {
        match &mut self.stream {
            StreamKind::Plain(_) | StreamKind::General(_) => None,
            StreamKind::Any(stream) => stream.pace(),
        }
    }

    /// Start of the block that did not fit when the file of the last [`Next::Close`] or [`Next::Restart`] ended;
    /// `None`: there was no offset for it. An offset past the end of the range counts from the start of the range.
    pub fn missed_bytes(&self) -> Option<u64> {
        self.job()?.missed_bytes()
    }

    /// The ranges of the last trim, bytes, in jobs whose trims have several.
    pub fn ranges(&self) -> &[Range<u64>] {
        self.job().map_or(&[], JobStream::ranges)
    }

    /// Amounts that the job has issued in all passes.
    pub fn progress(&self) -> IssuedTotals {
        self.job().map(JobStream::progress).unwrap_or_default()
    }

    /// What the stream has drawn where options ask for shares; `None`: they do not, or it is not counted.
    pub fn drawn(&self) -> Option<Box<DrawCounts>> {
        self.job()?.drawn()
    }

    pub fn offset_state(&self) -> OffsetState {
        self.job().map_or(OffsetState::None, JobStream::offset_state)
    }

    /// The zones that the job shares with others; `None`: it has none that change when its I/Os complete.
    pub fn zones(&self) -> Option<&dyn SharedZoning> {
        self.job()?.zones()
    }

    /// The same, mutable.
    pub fn zones_mut(&mut self) -> Option<&mut dyn SharedZoning> {
        self.job_mut()?.zones_mut()
    }

    /// The replay; `None`: the job replays no trace.
    pub fn replayed(&self) -> Option<&ReplayStream> {
        self.job()?.replay()
    }

    /// The stream of the job itself, while its writes are read back as well.
    fn job(&self) -> Option<&dyn JobStream> {
        self.set_aside.as_ref().unwrap_or(&self.stream).any().job()
    }

    fn job_mut(&mut self) -> Option<&mut dyn JobStream> {
        self.set_aside.as_mut().unwrap_or(&mut self.stream).any_mut().job_mut()
    }
}
