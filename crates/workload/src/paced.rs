//! The stream of a job with rates or pauses. Before each I/O it wants to be told the time.
//!
//! A stream of its own, so that the others need not ask. Must not know: how time passes.
//! Start reading at [`PacedStream::next`], then [`PacedStream::turn`].

use crate::pace::Arrivals;
use crate::plan::{WorkloadError, WorkloadPlan};
use crate::stream::{Next, NextIo, Stream};
use crate::zoning::{Unzoned, Zoning};
use ferrio_job::spec::PaceSpec;
use ferrio_units::{DataDirection, PerDirection};

/// The stream of a job with rates or pauses.
#[derive(Debug)]
pub(crate) struct PacedStream<Z = Unzoned> {
    pub(crate) stream: Stream<Z>,
    arrivals: PerDirection<Option<Arrivals>>,
    now_ns: u64,
    /// The time was told since the last I/O.
    is_told: bool,
    /// Drawn, and not due yet.
    held: Option<NextIo>,
    /// When the rate wanted the last I/O to start; `None`: its direction has none.
    intended_ns: Option<u64>,
}

impl<Z: Zoning> PacedStream<Z> {
    pub(crate) fn new(plan: WorkloadPlan, pace: &PaceSpec, zones: Z) -> Result<Self, WorkloadError> {
        let arrivals = Arrivals::of_job(pace, &plan.pattern, &plan.seeds);
        let stream = Stream::steered(plan, zones)?;
        Ok(Self { stream, arrivals, now_ns: 0, is_told: false, held: None, intended_ns: None })
    }

    /// The next I/O if its time has come.
    pub(crate) fn next(&mut self) -> Next {
        if !self.is_told {
            return Next::Wait;
        }
        let io = match self.held.take() {
            Some(io) => io,
            None => match self.draw() {
                Next::Io(io) => io,
                other => return other,
            },
        };
        let Some(direction) = io.direction.data() else { return Next::Io(io) };
        self.is_told = false;
        if self.due_ns(direction) > self.now_ns {
            self.held = Some(io);
            return Next::Wait;
        }
        self.intended_ns = self.arrivals[direction].as_ref().map(Arrivals::intended_ns);
        if let Some(arrivals) = &mut self.arrivals[direction] {
            arrivals.issued(io.length_bytes, self.now_ns);
        }
        Next::Io(io)
    }

    fn draw(&mut self) -> Next {
        let dues_ns = PerDirection(DataDirection::ALL.map(|direction| self.due_ns(direction)));
        self.stream.steer(self.now_ns, dues_ns);
        self.stream.next()
    }

    /// When the next I/O of a direction is due; 0: at once.
    #[inline]
    fn due_ns(&self, direction: DataDirection) -> u64 {
        self.arrivals[direction].as_ref().map_or(0, Arrivals::due_ns)
    }

    /// When the rate wanted the last read, write or trim to start; `None`: its direction has no rate.
    pub(crate) fn intended_ns(&self) -> Option<u64> {
        self.intended_ns
    }

    fn each(&mut self, change: impl FnMut(&mut Arrivals)) {
        self.arrivals.0.iter_mut().flatten().for_each(change);
    }
}

/// What wants to know the time.
pub(crate) trait Pace {
    /// Tells the time. Gives that of the next I/O if it lies ahead and is known.
    fn turn(&mut self, now_ns: u64) -> Option<u64>;

    /// Rates count from now.
    fn start(&mut self, now_ns: u64);

    /// What is behind its rate does not make up for it.
    fn forgive(&mut self, now_ns: u64);

    /// Rates stood still for so long.
    fn postpone(&mut self, pause_ns: u64);
}

impl<Z: Zoning> Pace for PacedStream<Z> {
    fn turn(&mut self, now_ns: u64) -> Option<u64> {
        let due_ns = self.held.and_then(|io| io.direction.data()).map(|direction| self.due_ns(direction));
        let ahead_ns = due_ns.filter(|due_ns| *due_ns > now_ns);
        (self.now_ns, self.is_told) = (now_ns, ahead_ns.is_none());
        ahead_ns
    }

    fn start(&mut self, now_ns: u64) {
        self.each(|arrivals| arrivals.start(now_ns));
    }

    fn forgive(&mut self, now_ns: u64) {
        self.each(|arrivals| arrivals.forgive(now_ns));
    }

    fn postpone(&mut self, pause_ns: u64) {
        self.each(|arrivals| arrivals.postpone(pause_ns));
    }
}
